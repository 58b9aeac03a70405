//! Lines of values between commas, without a header and without quotes.

use crate::error::InputError;
use crate::workload::text::{Field, Lines, shown};

/// The values of a line, without the blanks around them.
pub struct Commas<'a> {
    line: &'a [u8],
    /// Where the next value starts; past the line after the last one.
    at: usize,
}

impl<'a> Commas<'a> {
    /// The values of `line`.
    pub fn new(line: &'a [u8]) -> Commas<'a> {
        Commas { line, at: 0 }
    }

    /// The next value, as `parse` understands it.
    ///
    /// # Errors
    /// There is none, or it is not what was `expected`.
    #[inline]
    pub fn value<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&'a [u8]) -> Option<T>,
    ) -> Result<T, Wrong> {
        let end = self.line.len();
        let field = self.next().ok_or(Wrong { at: end, expected })?;
        parse(field.text).ok_or(Wrong {
            at: field.at,
            expected,
        })
    }

    /// Nothing is left.
    ///
    /// # Errors
    /// Something is.
    #[inline]
    pub fn end(&mut self) -> Result<(), Wrong> {
        match self.next() {
            None => Ok(()),
            Some(extra) => Err(Wrong {
                at: extra.at,
                expected: "the end of the line",
            }),
        }
    }
}

impl<'a> Iterator for Commas<'a> {
    type Item = Field<'a>;
    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        let rest = self.line.get(self.at..)?;
        // Values are a few bytes long, for which a plain loop is the fastest search.
        let length = rest.iter().position(|b| *b == b',');
        let value = &rest[..length.unwrap_or(rest.len())];
        let leading = value.len() - value.trim_ascii_start().len();
        let at = self.at + leading;
        self.at += value.len() + 1;
        Some(Field {
            text: value.trim_ascii(),
            at,
        })
    }
}

/// A value that is missing or wrong: where, and what it should have been.
#[derive(Debug)]
pub struct Wrong {
    /// Its byte offset in the line.
    pub at: usize,
    /// What should be there.
    pub expected: &'static str,
}

impl Wrong {
    /// The error, about the current line.
    #[cold]
    pub fn error(&self, lines: &Lines, help: &str) -> InputError {
        let rest = lines.current().get(self.at..).filter(|r| !r.is_empty());
        let found = match rest.and_then(|rest| Commas::new(rest).next()) {
            Some(value) => format!("{:?}", shown(value.text)),
            None => "the end of the line".to_owned(),
        };
        let message = format!("expected {}, found {found}", self.expected);
        lines.wrong(self.at, message).help(help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_where_they_start() {
        let values = |line: &'static str| -> Vec<(&str, usize)> {
            Commas::new(line.as_bytes())
                .map(|f| (std::str::from_utf8(f.text).unwrap(), f.at))
                .collect()
        };
        assert_eq!(
            values("a, \tbc ,,d"),
            [("a", 0), ("bc", 4), ("", 8), ("d", 9)]
        );
        assert_eq!(values("a,"), [("a", 0), ("", 2)]);
        assert_eq!(values(" "), [("", 1)]);
    }

    #[test]
    fn what_is_missing_or_too_much_is_wrong_at_its_place() {
        let mut line = Commas::new(b"1, x");
        assert_eq!(line.value("one", |text| Some(text.len())).unwrap(), 1);
        let wrong = line.value("a number", |_| None::<()>).unwrap_err();
        assert_eq!((wrong.at, wrong.expected), (3, "a number"));
        let wrong = line.value("more", |_| Some(())).unwrap_err();
        assert_eq!(wrong.at, 4);
        assert!(line.end().is_ok());
        assert_eq!(Commas::new(b"1").end().unwrap_err().at, 0);
    }
}
