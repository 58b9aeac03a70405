//! Parts of something as specs write them: `"10 %"`, or `"1 GiB"` of a range.

use std::fmt;
use std::str::FromStr;

use crate::base::units::{Size, UnitError, serde_as_text};

/// A percentage from 0 to 100: `"10 %"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Percent(f64);

const PERCENT_EXPECTED: &str = "a percentage from 0 to 100, such as \"10 %\"";

impl Percent {
    /// Accepts 0 to 100 only.
    pub fn new(percent: f64) -> Option<Percent> {
        (0.0..=100.0).contains(&percent).then_some(Percent(percent))
    }
    /// 0 to 100.
    pub const fn value(self) -> f64 {
        self.0
    }
    /// 0 to 1.
    pub fn share(self) -> f64 {
        self.0 / 100.0
    }
    /// So much of `whole`, to the nearest.
    pub fn of(self, whole: u64) -> u64 {
        (libm::round(whole as f64 * self.share()) as u64).min(whole)
    }
}

impl FromStr for Percent {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Percent, UnitError> {
        let number = text.trim().strip_suffix('%');
        number
            .and_then(|number| number.trim().parse().ok())
            .and_then(Percent::new)
            .ok_or_else(|| UnitError {
                found: text.to_owned(),
                expected: PERCENT_EXPECTED,
            })
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

serde_as_text!(Percent, PERCENT_EXPECTED);

/// A part of a range: a percentage of it, or a number of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Portion {
    /// A percentage.
    Percent(Percent),
    /// So much.
    Size(Size),
}

const PORTION_EXPECTED: &str = "a percentage such as \"10 %\" or a size such as \"1 GiB\"";

impl Portion {
    /// The part's blocks, in a range of `blocks` blocks.
    pub fn of(self, blocks: u64) -> u64 {
        match self {
            Portion::Percent(percent) => percent.of(blocks),
            Portion::Size(size) => size.blocks(),
        }
    }
}

impl FromStr for Portion {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Portion, UnitError> {
        let portion = if text.trim().ends_with('%') {
            text.parse().map(Portion::Percent)
        } else {
            text.parse().map(Portion::Size)
        };
        portion.map_err(|_| UnitError {
            found: text.to_owned(),
            expected: PORTION_EXPECTED,
        })
    }
}

impl fmt::Display for Portion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Portion::Percent(percent) => percent.fmt(f),
            Portion::Size(size) => size.fmt(f),
        }
    }
}

serde_as_text!(Portion, PORTION_EXPECTED);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_read_back_as_written() {
        for (text, blocks) in [("10 %", 100), ("0.05%", 1), ("100 %", 1_000), ("4 KiB", 8)] {
            let portion: Portion = text.parse().unwrap();
            assert_eq!(portion.of(1_000), blocks, "{text}");
            assert_eq!(portion.to_string().parse(), Ok(portion), "{text}");
        }
    }

    #[test]
    fn what_is_no_portion_says_what_is() {
        for text in ["", "10", "-1 %", "101 %", "nan %", "ten %", "1 parsec"] {
            let error = text.parse::<Portion>().unwrap_err().to_string();
            assert!(error.contains("\"10 %\""), "{text}: {error}");
        }
    }
}
