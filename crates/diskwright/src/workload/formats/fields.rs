//! What formats of one request a line share: fields asked for in order, and an error for one that is not as it should be.

use std::ops::Range;

use crate::base::error::InputError;
use crate::base::units::Time;
use crate::workload::text::{Field, Fields, Lines, shown, whole};

/// A field that is missing or wrong: where, and what it should have been.
pub struct Wrong {
    at: Range<usize>,
    expected: &'static str,
}

impl Wrong {
    /// The error about the current line of `lines`; `help` says what a line is.
    #[cold]
    pub fn error(&self, lines: &Lines, help: &str) -> InputError {
        let line = lines.current();
        let found = match line.get(self.at.clone()) {
            Some(text) if self.at.start < line.len() => format!("{:?}", shown(text)),
            _ => "the end of the line".to_owned(),
        };
        lines
            .wrong(
                self.at.start,
                format!("expected {}, found {found}", self.expected),
            )
            .help(help)
    }
}

/// The fields of a line, asked for one after the other.
pub struct Row<I> {
    fields: I,
    /// The line's length.
    end: usize,
}

/// A line whose fields are separated by spaces and tabs.
#[inline]
pub fn blanks(line: &[u8]) -> Row<Fields<'_>> {
    Row {
        fields: Fields::new(line),
        end: line.len(),
    }
}

/// A line whose fields are separated by commas; spaces and tabs around them do not matter.
#[inline]
pub fn commas(line: &[u8]) -> Row<Commas<'_>> {
    Row {
        fields: Commas { line, at: 0 },
        end: line.len(),
    }
}

impl<'a, I: Iterator<Item = Field<'a>>> Row<I> {
    /// The next field as `parse` understands it, which is none where it does not.
    ///
    /// # Errors
    /// There is no next field, or it is not what was `expected`.
    #[inline]
    pub fn take<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&'a [u8]) -> Option<T>,
    ) -> Result<T, Wrong> {
        let Some(field) = self.fields.next() else {
            return Err(Wrong {
                at: self.end..self.end,
                expected,
            });
        };
        understood(field, expected, parse)
    }

    /// The next field as [`Row::take`] has it, where there is one.
    ///
    /// # Errors
    /// The next field is not what was `expected`.
    #[inline]
    pub fn take_if_any<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&'a [u8]) -> Option<T>,
    ) -> Result<Option<T>, Wrong> {
        let field = self.fields.next();
        field
            .map(|field| understood(field, expected, parse))
            .transpose()
    }

    /// No field is left.
    ///
    /// # Errors
    /// There is one.
    #[inline]
    pub fn end(&mut self) -> Result<(), Wrong> {
        self.take_if_any("the end of the line", |_| None::<()>)
            .map(|_| ())
    }
}

#[inline]
fn understood<'a, T>(
    field: Field<'a>,
    expected: &'static str,
    parse: impl FnOnce(&'a [u8]) -> Option<T>,
) -> Result<T, Wrong> {
    parse(field.text).ok_or(Wrong {
        at: field.at..field.at + field.text.len(),
        expected,
    })
}

/// The fields of a line, separated by commas.
pub struct Commas<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Commas<'a> {
    type Item = Field<'a>;
    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        let rest = self.line.get(self.at..)?;
        let length = rest.iter().position(|b| *b == b',').unwrap_or(rest.len());
        let text = rest[..length].trim_ascii_start();
        let at = self.at + length - text.len();
        self.at += length + 1;
        Some(Field {
            text: text.trim_ascii_end(),
            at,
        })
    }
}

/// A whole number below 2^32.
#[inline]
pub fn number(text: &[u8]) -> Option<u32> {
    whole(text).and_then(|n| u32::try_from(n).ok())
}

/// A whole number of units of `ns` nanoseconds.
#[inline]
pub fn time(text: &[u8], ns: u64) -> Option<Time> {
    whole(text)?.checked_mul(ns).map(Time::from_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_between_commas_know_where_they_start() {
        let fields: Vec<_> = Commas {
            line: b"a, bc\t,,d ,",
            at: 0,
        }
        .map(|f| (f.text.to_vec(), f.at))
        .collect();
        let expected = [("a", 0), ("bc", 3), ("", 7), ("d", 8), ("", 11)];
        assert_eq!(fields, expected.map(|(text, at)| (text.into(), at)));
        let mut empty = Commas { line: b"", at: 0 };
        assert_eq!(empty.next().map(|f| f.at), Some(0));
        assert!(empty.next().is_none());
    }

    #[test]
    fn what_is_wrong_is_where_it_is() {
        let mut row = commas(b"1, x");
        assert!(row.take("a number", whole).is_ok());
        let wrong = row.take("a number", whole).unwrap_err_at();
        assert_eq!(wrong, (3..4, "a number"));
        assert_eq!(
            row.take("a number", whole).unwrap_err_at(),
            (4..4, "a number")
        );
        assert!(row.end().is_ok());
        assert_eq!(
            blanks(b"  7").end().unwrap_err_at(),
            (2..3, "the end of the line")
        );
    }

    trait WrongAt {
        fn unwrap_err_at(self) -> (Range<usize>, &'static str);
    }
    impl<T> WrongAt for Result<T, Wrong> {
        fn unwrap_err_at(self) -> (Range<usize>, &'static str) {
            match self {
                Ok(_) => panic!("nothing wrong"),
                Err(wrong) => (wrong.at, wrong.expected),
            }
        }
    }

    #[test]
    fn numbers_and_times_end_where_they_must() {
        assert_eq!(number(b"4294967295"), Some(u32::MAX));
        assert_eq!(number(b"4294967296"), None);
        assert_eq!(
            time(b"18446744073", 1_000_000_000).map(Time::ns),
            Some(18_446_744_073_000_000_000)
        );
        assert_eq!(time(b"18446744074", 1_000_000_000), None);
        assert_eq!(time(b"1.5", 1_000), None);
    }
}
