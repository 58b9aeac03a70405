//! What the text formats share: lines with their numbers, fields with their columns, exact numbers.

use std::fmt;
use std::io;
use std::ops::Range;

use crate::base::error::{Error, InputError, Place};
use crate::base::units::Time;

use super::input::Input;

/// A line is shown up to this many characters in an error.
const SHOWN: usize = 120;

/// The lines of a text trace, with the current one at hand for errors.
pub struct Lines {
    input: Input,
    current: Range<usize>,
    number: u64,
}

impl Lines {
    /// The lines of `input`.
    pub fn new(input: Input) -> Lines {
        Lines {
            input,
            current: 0..0,
            number: 0,
        }
    }

    /// The whole file as a place.
    pub fn file(&self) -> Place {
        Place::File(self.input.path().to_owned())
    }

    /// Moves to the next line that is not blank; false at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, is a damaged archive, or the line has no end.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, Error> {
        loop {
            match self.input.line() {
                Ok(Some(line)) => {
                    self.number += 1;
                    self.current = line;
                    if !self.current().iter().all(u8::is_ascii_whitespace) {
                        return Ok(true);
                    }
                }
                Ok(None) => return Ok(false),
                Err(e) => return Err(self.fault(e)),
            }
        }
    }

    /// The current line, without its line break.
    #[inline]
    pub fn current(&self) -> &[u8] {
        self.input.bytes(self.current.clone())
    }

    /// The current line's place, or the file before the first line; `column` is a byte offset in the line.
    pub fn place(&self, column: Option<usize>) -> Place {
        if self.number == 0 {
            return self.file();
        }
        let line = self.current();
        let column = column.map(|at| {
            let before = &line[..at.min(line.len())];
            String::from_utf8_lossy(before).chars().count() as u64 + 1
        });
        Place::Line {
            file: self.input.path().to_owned(),
            line: self.number,
            column,
            text: shown(line),
        }
    }

    /// An error about the field at byte offset `column` of the current line.
    #[cold]
    pub fn wrong(&self, column: usize, message: impl Into<String>) -> InputError {
        InputError::new(message).at(self.place(Some(column)))
    }

    /// An error about the field at byte offset `column`, which is not what was expected there.
    #[cold]
    pub fn expected(&self, column: usize, expected: &str) -> InputError {
        let rest = self.current().get(column..).unwrap_or_default();
        let message = match Fields::new(rest).next() {
            Some(field) => format!("expected {expected}, found {:?}", shown(field.text)),
            None => format!("expected {expected}, found the end of the line"),
        };
        self.wrong(column, message)
    }

    #[cold]
    fn fault(&mut self, error: io::Error) -> Error {
        let place = Place::Line {
            file: self.input.path().to_owned(),
            line: self.number + 1,
            column: None,
            text: shown(self.input.peek(SHOWN).unwrap_or_default()),
        };
        self.input.fault(error, place)
    }
}

/// A line as an error shows it: readable, and not too long.
pub fn shown(line: &[u8]) -> String {
    // Four bytes hold any character, so no more of the line is needed.
    let cut = line.len() > 4 * SHOWN;
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]);
    let mut shown: String = text
        .chars()
        .take(SHOWN)
        .map(|c| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect();
    if cut || text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// The fields of a line, separated by spaces and tabs.
pub struct Fields<'a> {
    line: &'a [u8],
    at: usize,
}

/// A field and where it starts in its line, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The field's bytes.
    pub text: &'a [u8],
    /// Its byte offset in the line.
    pub at: usize,
}

impl<'a> Fields<'a> {
    /// The fields of `line`.
    pub fn new(line: &'a [u8]) -> Fields<'a> {
        Fields { line, at: 0 }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;
    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        let blank = |b: &u8| *b == b' ' || *b == b'\t';
        let start = self.at + self.line[self.at..].iter().position(|b| !blank(b))?;
        let rest = &self.line[start..];
        let length = rest.iter().position(blank).unwrap_or(rest.len());
        self.at = start + length;
        Some(Field {
            text: &rest[..length],
            at: start,
        })
    }
}

/// A whole decimal number; `None` for anything else or one past u64.
#[inline]
pub fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A unit of time as a power of ten of nanoseconds: s, ms, µs, 100 ns or ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeUnit {
    decimals: u8,
}

impl TimeUnit {
    /// Seconds.
    pub const S: TimeUnit = TimeUnit { decimals: 9 };
    /// Milliseconds.
    pub const MS: TimeUnit = TimeUnit { decimals: 6 };
    /// Microseconds.
    pub const US: TimeUnit = TimeUnit { decimals: 3 };
    /// Hundreds of nanoseconds, as Windows counts time.
    pub const NS100: TimeUnit = TimeUnit { decimals: 2 };
    /// Nanoseconds.
    pub const NS: TimeUnit = TimeUnit { decimals: 0 };

    /// The unit called `name`.
    pub fn named(name: &str) -> Option<TimeUnit> {
        Some(match name {
            "s" | "sec" | "seconds" => TimeUnit::S,
            "ms" => TimeUnit::MS,
            "us" => TimeUnit::US,
            "100ns" => TimeUnit::NS100,
            "ns" => TimeUnit::NS,
            _ => return None,
        })
    }

    /// A decimal number of this unit, exact to the nanosecond (halves up); `None` for anything that is no time.
    #[inline]
    pub fn time(self, text: &[u8]) -> Option<Time> {
        let mut value = 0u64;
        let mut decimals = self.decimals;
        let mut digits = 0usize;
        let mut point = false;
        let mut round_up = false;
        let mut wanted = true;
        for &byte in text {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                match byte {
                    b'.' if !point => point = true,
                    b'e' | b'E' => return self.with_exponent(text),
                    _ => return None,
                }
                continue;
            }
            digits += 1;
            if !point || decimals > 0 {
                value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
                decimals -= u8::from(point);
            } else if wanted {
                round_up = digit >= 5;
                wanted = false;
            }
        }
        if digits == 0 {
            return None;
        }
        let ns = value.checked_mul(10u64.pow(u32::from(decimals)))?;
        Some(Time::from_ns(ns.checked_add(u64::from(round_up))?))
    }

    /// A time as a decimal number of this unit, exact to the nanosecond, without zeros at its end.
    pub fn decimal(self, time: Time) -> impl fmt::Display {
        Decimal {
            ns: time.ns(),
            decimals: self.decimals,
        }
    }

    /// `1.5e3` and the like: to the precision of a double.
    #[cold]
    fn with_exponent(self, text: &[u8]) -> Option<Time> {
        let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        Time::from_ns_f64(number * 10u64.pow(u32::from(self.decimals)) as f64)
    }
}

struct Decimal {
    ns: u64,
    decimals: u8,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10u64.pow(u32::from(self.decimals));
        let (whole, mut part, mut width) =
            (self.ns / unit, self.ns % unit, usize::from(self.decimals));
        if part == 0 {
            return write!(f, "{whole}");
        }
        while part.is_multiple_of(10) {
            part /= 10;
            width -= 1;
        }
        write!(f, "{whole}.{part:0width$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers() {
        assert_eq!(whole(b"0"), Some(0));
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        for text in ["", "18446744073709551616", "-1", "1.0", "1 ", "x"] {
            assert_eq!(whole(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn times_are_exact() {
        for (unit, text, ns) in [
            (TimeUnit::MS, "13.191135", 13_191_135),
            (TimeUnit::MS, "0", 0),
            (TimeUnit::MS, "7", 7_000_000),
            (TimeUnit::MS, ".5", 500_000),
            (TimeUnit::MS, "5.", 5_000_000),
            (TimeUnit::MS, "0.0000014", 1),
            (TimeUnit::MS, "0.0000015", 2),
            (TimeUnit::MS, "0.00000149", 1),
            (TimeUnit::US, "15362.00000", 15_362_000),
            (TimeUnit::S, "1.000000001", 1_000_000_001),
            (
                TimeUnit::NS100,
                "128166372003061629",
                12_816_637_200_306_162_900,
            ),
            (TimeUnit::MS, "1.5e3", 1_500_000_000),
        ] {
            assert_eq!(unit.time(text.as_bytes()).map(Time::ns), Some(ns), "{text}");
        }
        for text in [
            "",
            ".",
            "-1",
            "1.2.3",
            "nan",
            "1e99",
            "99999999999999999999",
            "1+1",
        ] {
            assert_eq!(TimeUnit::MS.time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        for (unit, ns, text) in [
            (TimeUnit::MS, 13_191_135, "13.191135"),
            (TimeUnit::MS, 13_000_000, "13"),
            (TimeUnit::S, 1, "0.000000001"),
            (TimeUnit::S, 1_050_000_000, "1.05"),
            (TimeUnit::NS, 7, "7"),
            (TimeUnit::NS100, 7, "0.07"),
            (TimeUnit::S, u64::MAX, "18446744073.709551615"),
        ] {
            let time = Time::from_ns(ns);
            assert_eq!(unit.decimal(time).to_string(), text);
            assert_eq!(unit.time(text.as_bytes()), Some(time));
        }
    }

    #[test]
    fn fields_know_where_they_start() {
        let fields: Vec<_> = Fields::new(b" a\t bc ")
            .map(|f| (f.text.to_vec(), f.at))
            .collect();
        assert_eq!(fields, [(b"a".to_vec(), 1), (b"bc".to_vec(), 4)]);
    }

    #[test]
    fn a_shown_line_is_short_and_readable() {
        assert_eq!(shown(b"a\x00b"), "a\u{fffd}b");
        assert_eq!(shown(&[b'x'; 120]).chars().count(), 120);
        assert_eq!(shown(&[b'x'; 121]).chars().count(), 121);
        assert!(shown(&[0xff; 10_000]).ends_with('…'));
    }
}
