//! The files that blktrace writes, one of each CPU.

use std::path::{Path, PathBuf};

use crate::base::error::Error;

/// A path that ends in `.blktrace.N`, or that and the extension of a compression, in its parts.
struct PerCpu<'a> {
    /// The name before the number.
    before: &'a str,
    cpu: u32,
    /// What follows the number.
    after: &'a str,
}

impl<'a> PerCpu<'a> {
    fn new(name: &'a str) -> Option<PerCpu<'a>> {
        const MARK: &str = ".blktrace.";
        let (before, rest) = name.split_at(name.rfind(MARK)? + MARK.len());
        let digits = rest.bytes().position(|b| !b.is_ascii_digit());
        let (number, after) = rest.split_at(digits.unwrap_or(rest.len()));
        let cpu: u32 = number.parse().ok()?;
        // A number with zeros before it is not blktrace's.
        let plain = number.len() == 1 || !number.starts_with('0');
        (plain && matches!(after, "" | ".gz" | ".zst")).then_some(PerCpu { before, cpu, after })
    }
}

/// The file given and, if it is one of a CPU, those of the other CPUs, in their order.
pub fn files_beside(given: &Path) -> Result<Vec<PathBuf>, Error> {
    let name = given.file_name().and_then(|name| name.to_str());
    let Some(of) = name.and_then(PerCpu::new) else {
        return Ok(vec![given.to_owned()]);
    };
    let folder = match given.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let failed = |e| Error::file(folder, "read", e);
    let mut found = vec![(of.cpu, given.to_owned())];
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let sibling = name.to_str().and_then(PerCpu::new).filter(|other| {
            (other.before, other.after) == (of.before, of.after) && other.cpu != of.cpu
        });
        if let Some(sibling) = sibling {
            found.push((sibling.cpu, given.with_file_name(&name)));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_cpus_are_known_by_their_names() {
        for (name, known) in [
            ("sda.blktrace.0", Some(("sda.blktrace.", 0, ""))),
            (
                "a.blktrace.1.blktrace.12.gz",
                Some(("a.blktrace.1.blktrace.", 12, ".gz")),
            ),
            ("sda.blktrace.3.zst", Some(("sda.blktrace.", 3, ".zst"))),
            (".blktrace.0", Some((".blktrace.", 0, ""))),
            ("sda.blktrace.00", None),
            ("sda.blktrace.", None),
            ("sda.blktrace.0.txt", None),
            ("sda.blktrace.0x", None),
            ("sda.blktrace", None),
            ("sda.blktrace.99999999999", None),
        ] {
            let found = PerCpu::new(name).map(|f| (f.before, f.cpu, f.after));
            assert_eq!(found, known, "{name}");
        }
    }
}
