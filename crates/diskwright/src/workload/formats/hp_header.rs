//! The text header of an HP trace: when it was recorded, and how large the sectors of its disks are.
//!
//! The header is a list of `name = value;` with values nested in braces; a disk is `number -> { … }` within `disks`. Only
//! what is needed is looked at, so that a header with unknown entries is no error.

/// A header longer than this is not one.
pub const MAX_HEADER: usize = 1 << 20;

/// What a reader needs of the header.
#[derive(Debug, Default, PartialEq)]
pub struct Header {
    /// When the recording began: ISO 8601, or as written where that is not understood.
    pub start_date: Option<String>,
    /// Device and bytes in one of its sectors.
    sectors: Vec<(u32, u32)>,
}

impl Header {
    /// Reads what is there; nothing in a header is an error.
    pub fn parse(text: &str) -> Header {
        let mut header = Header::default();
        let mut depth = 0u32;
        // The names before the last two `=`: at the top, and within a disk.
        let mut entry = "";
        let mut field = "";
        let mut word = "";
        let mut device = None;
        for token in Tokens(text) {
            match token {
                "{" => {
                    depth += 1;
                    if depth == 2 && entry == "disks" {
                        device = word.parse().ok();
                    }
                }
                "}" => {
                    depth = depth.saturating_sub(1);
                    field = "";
                }
                "=" if depth == 0 => entry = word,
                "=" if depth == 2 => field = word,
                "," | ";" => field = "",
                "=" | "->" => {}
                value => {
                    word = value;
                    if depth == 0 && entry == "tracedate" && header.start_date.is_none() {
                        header.start_date = value.strip_prefix('"').map(iso_date);
                    }
                    if depth == 2
                        && field == "sectorsize"
                        && let (Some(device), Ok(bytes)) = (device, value.parse())
                    {
                        header.sectors.push((device, bytes));
                    }
                }
            }
        }
        header
    }

    /// Bytes in a sector of `device`, where the header says.
    #[inline]
    pub fn sector_bytes(&self, device: u32) -> Option<u32> {
        let found = self.sectors.iter().find(|(d, _)| *d == device);
        found.map(|(_, bytes)| *bytes)
    }
}

/// Words, braces, `=`, `->`, separators; a quoted text is one token with its opening quote and without the closing one.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;
    fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let first = text.chars().next()?;
        if first == '"' {
            let end = text[1..].find('"').map_or(text.len(), |i| i + 1);
            self.0 = text.get(end + 1..).unwrap_or("");
            return Some(&text[..end]);
        }
        let special = |c: char| matches!(c, '{' | '}' | '=' | ',' | ';' | '"');
        let end = if special(first) {
            1
        } else {
            text.find(|c: char| special(c) || c.is_whitespace())
                .unwrap_or(text.len())
        };
        self.0 = &text[end..];
        Some(&text[..end])
    }
}

/// `"Sat May 30 00:03:06 1992` as `1992-05-30T00:03:06`; anything else as it is, without the quote.
fn iso_date(text: &str) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let text = text.trim_start_matches('"');
    let iso = || {
        let mut words = text.split_whitespace().skip(1);
        let month = words.next()?;
        let month = MONTHS.iter().position(|m| *m == month)? + 1;
        let day: u8 = words.next()?.parse().ok()?;
        let time = words.next()?;
        let year: u16 = words.next()?.parse().ok()?;
        Some(format!("{year:04}-{month:02}-{day:02}T{time}"))
    };
    iso().unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_numbers_are_not_taken_for_disks() {
        let header = Header::parse(
            "$$TR\nversion = 1.3;\ntracedate\t= \"Sat May 30 00:03:06 1992\";\ndisks = { 0 -> { rpm = 4002, adaptor = 1 -> { hp_ib },\n description = \"a } brace\", sectorsize = 256, sections = { 8 -> { sectorsize = 1 } } }, 3 -> { sectorsize = 1024, } };",
        );
        assert_eq!(header.start_date.as_deref(), Some("1992-05-30T00:03:06"));
        assert_eq!(header.sector_bytes(0), Some(256));
        assert_eq!(header.sector_bytes(3), Some(1024));
        for device in [1, 2, 8] {
            assert_eq!(header.sector_bytes(device), None);
        }
    }

    #[test]
    fn a_broken_header_is_read_as_far_as_it_goes() {
        for text in [
            "",
            "}",
            "}}}{{{",
            "\"",
            "disks = { -> {",
            "tracedate = \"",
            "= = =",
            "ä\"ö",
        ] {
            Header::parse(text);
        }
        let header = Header::parse("tracedate = \"some day\";");
        assert_eq!(header.start_date.as_deref(), Some("some day"));
    }
}
