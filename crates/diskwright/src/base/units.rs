//! Time, addresses and the units in which people write them.
//!
//! Time is integer nanoseconds throughout: no float ever decides the order of events.

pub mod angle;
pub mod percent;
pub mod power;
pub mod quantities;

use std::borrow::Cow;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de};

/// Bytes in one block, the unit of every LBN and request size.
pub const BLOCK_BYTES: u64 = 512;

/// An instant since the start of the simulation, or a length of time; integer nanoseconds.
///
/// In text a time always carries its unit: `"20 ms"`, `"2 s"`, `"0.83 ms"`, `"1 h"`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the simulation, or no time at all.
    pub const ZERO: Time = Time(0);
    /// Later than every instant a simulation reaches (584 years).
    pub const MAX: Time = Time(u64::MAX);

    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns)
    }
    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Time {
        Time(us * 1_000)
    }
    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }
    /// `s` seconds.
    pub const fn from_s(s: u64) -> Time {
        Time(s * 1_000_000_000)
    }
    /// The nearest nanosecond; `None` for a negative, infinite or overlong time.
    pub fn from_ns_f64(ns: f64) -> Option<Time> {
        let rounded = libm::round(ns);
        // 1.8e19 is just under 2^64.
        ((0.0..1.8e19).contains(&rounded)).then_some(Time(rounded as u64))
    }
    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }
    /// Milliseconds.
    pub fn ms(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// Seconds.
    pub fn s(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// `self − earlier`, or zero when `earlier` is the later one.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, or `None` past the representable range.
    pub const fn checked_add(self, span: Time) -> Option<Time> {
        match self.0.checked_add(span.0) {
            Some(ns) => Some(Time(ns)),
            None => None,
        }
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}
impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}
impl SubAssign for Time {
    fn sub_assign(&mut self, other: Time) {
        self.0 -= other.0;
    }
}
impl std::iter::Sum for Time {
    fn sum<I: Iterator<Item = Time>>(times: I) -> Time {
        times.fold(Time::ZERO, Add::add)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The largest unit in which the value is exact to the nanosecond: `2 s`, `8.333333 ms`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale, digits) = match self.0 {
            0 => return f.write_str("0 ms"),
            ns if ns < 1_000 => return write!(f, "{ns} ns"),
            ns if ns < 1_000_000 => ("us", 1_000, 3),
            ns if ns < 1_000_000_000 => ("ms", 1_000_000, 6),
            _ => ("s", 1_000_000_000, 9),
        };
        let whole = self.0 / scale;
        let fraction = format!("{:0digits$}", self.0 % scale);
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() {
            write!(f, "{whole} {unit}")
        } else {
            write!(f, "{whole}.{fraction} {unit}")
        }
    }
}

/// What a quantity in a text should have looked like.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {expected}")]
pub struct UnitError {
    /// The text as written.
    pub found: String,
    /// What would have been accepted.
    pub expected: &'static str,
}

const TIME_EXPECTED: &str =
    "a time with its unit, such as \"20 ms\" (units: ns, us, ms, s, min, h, d)";

/// Splits `"8.5 ms"` into the number's text and the unit's.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-')))
        .unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

/// `number × unit`, exactly, for a decimal number with up to 15 decimals; rounded to the nearest whole.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.len() > 15 {
        return None;
    }
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let parse = |text: &str| {
        if text.is_empty() {
            Some(0)
        } else {
            text.parse::<u128>().ok()
        }
    };
    let scale = 10u128.pow(fraction.len() as u32);
    let value = parse(whole)?
        .checked_mul(scale)?
        .checked_add(parse(fraction)?)?;
    let value = value.checked_mul(u128::from(unit))?;
    u64::try_from((value + scale / 2) / scale).ok()
}

impl FromStr for Time {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Time, UnitError> {
        let error = || UnitError {
            found: text.to_owned(),
            expected: TIME_EXPECTED,
        };
        let (number, unit) = split_unit(text);
        let unit = match unit {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            _ => return Err(error()),
        };
        scaled(number, unit).map(Time).ok_or_else(error)
    }
}

/// Implements serde for a quantity that is written as text with its unit.
macro_rules! serde_as_text {
    ($type:ty, $expected:expr) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::base::schema::text($expected)
            }
        }
    };
}
pub(crate) use serde_as_text;
serde_as_text!(Time, TIME_EXPECTED);

/// The logical number of a 512-byte block on a device.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Lbn(pub u64);

impl Lbn {
    /// The LBN `blocks` further on.
    pub const fn after(self, blocks: u64) -> Lbn {
        Lbn(self.0 + blocks)
    }
}

impl fmt::Display for Lbn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A run of whole blocks, written with its unit: `"8 blocks"`, `"4 KiB"`, `"18 TB"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size {
    blocks: u64,
}

const SIZE_EXPECTED: &str = "a size with its unit, a multiple of 512 bytes, such as \"8 blocks\" or \"4 KiB\" (units: blocks, B, KiB, MiB, GiB, TiB, kB, MB, GB, TB)";

impl Size {
    /// A size of `blocks` 512-byte blocks.
    pub const fn from_blocks(blocks: u64) -> Size {
        Size { blocks }
    }
    /// The number of 512-byte blocks.
    pub const fn blocks(self) -> u64 {
        self.blocks
    }
    /// The number of bytes.
    pub const fn bytes(self) -> u128 {
        self.blocks as u128 * BLOCK_BYTES as u128
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.blocks {
            1 => f.write_str("1 block"),
            blocks => write!(f, "{blocks} blocks"),
        }
    }
}

impl FromStr for Size {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Size, UnitError> {
        let error = || UnitError {
            found: text.to_owned(),
            expected: SIZE_EXPECTED,
        };
        let (number, unit) = split_unit(text);
        let unit = match unit {
            "block" | "blocks" => return whole_blocks(number).ok_or_else(error),
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "TiB" => 1 << 40,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            _ => return Err(error()),
        };
        let bytes = scaled(number, unit)
            .filter(|b| b % BLOCK_BYTES == 0)
            .ok_or_else(error)?;
        Ok(Size {
            blocks: bytes / BLOCK_BYTES,
        })
    }
}

fn whole_blocks(number: &str) -> Option<Size> {
    let blocks = number.replace('_', "").parse().ok()?;
    Some(Size { blocks })
}

serde_as_text!(Size, SIZE_EXPECTED);

/// A part of a whole, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Share(f64);

impl schemars::JsonSchema for Share {
    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "number",
            "description": "A part of a whole, from 0 to 1.",
            "minimum": 0,
            "maximum": 1,
        })
    }
}

impl Share {
    /// Accepts 0 ≤ `value` ≤ 1 only.
    pub fn new(value: f64) -> Option<Share> {
        (0.0..=1.0).contains(&value).then_some(Share(value))
    }
    /// The share as a number from 0 to 1.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Share::new(value).ok_or_else(|| {
            de::Error::custom(format!(
                "{value} is not a share: expected a number from 0 to 1"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly() {
        for (text, ns) in [
            ("20 ms", 20_000_000),
            ("0.25229 ms", 252_290),
            ("2 s", 2_000_000_000),
            ("1.5us", 1_500),
            ("1_000 ns", 1_000),
            ("1 h", 3_600_000_000_000),
            ("0 ms", 0),
            ("0.0000005 ms", 1),
        ] {
            assert_eq!(text.parse::<Time>().unwrap().ns(), ns, "{text}");
        }
    }

    #[test]
    fn times_without_sense_are_refused() {
        for text in [
            "",
            "20",
            "ms",
            "-1 ms",
            "1e3 ms",
            "1.2.3 s",
            "99999999999999999 d",
            "5 parsecs",
            "- s",
            "+1 s",
        ] {
            let error = text.parse::<Time>().unwrap_err();
            assert!(error.to_string().contains("20 ms"), "{text}: {error}");
        }
    }

    #[test]
    fn a_printed_time_reads_back_as_itself() {
        for ns in [
            0,
            1,
            999,
            1_000,
            1_234_567,
            999_999_999,
            1_000_000_000,
            86_400_000_000_001,
        ] {
            let time = Time::from_ns(ns);
            assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
        }
    }

    #[test]
    fn sizes_are_whole_blocks() {
        assert_eq!("4 KiB".parse::<Size>().unwrap().blocks(), 8);
        assert_eq!("1 block".parse::<Size>().unwrap().blocks(), 1);
        assert_eq!("18 TB".parse::<Size>().unwrap().blocks(), 35_156_250_000);
        for text in ["513 B", "-8 blocks", "8", "1.5 blocks", "lots"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
