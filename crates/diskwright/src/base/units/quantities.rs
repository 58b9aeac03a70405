//! Quantities that only drive descriptions have: speeds of rotation and of transfer, and times that may be negative.

use std::fmt;
use std::str::FromStr;

use super::{Time, UnitError, serde_as_text};

/// How fast the platters turn: `"7200 rpm"`, `"10045.5 rpm"`, or the time of a revolution, `"8.333333 ms"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Whole revolutions a minute.
    Rpm(u32),
    /// The time of a revolution, in picoseconds.
    PeriodPs(u64),
}

const ROTATION_EXPECTED: &str = "a speed of rotation from 10 to 1000000 rpm, such as \"7200 rpm\", or the time of a revolution, such as \"8.3333 ms\"";
const MINUTE_PS: f64 = 60e12;

impl Rotation {
    /// Revolutions a minute.
    pub fn rpm(self) -> f64 {
        match self {
            Rotation::Rpm(rpm) => f64::from(rpm),
            Rotation::PeriodPs(period) => MINUTE_PS / period as f64,
        }
    }
    /// The same speed times 1 + `deviation`, to the picosecond of a revolution and from 10 to 1000000 rpm.
    #[must_use]
    pub fn deviating(self, deviation: f64) -> Rotation {
        if deviation == 0.0 {
            return self;
        }
        let nominal = match self {
            Rotation::Rpm(rpm) => MINUTE_PS / f64::from(rpm),
            Rotation::PeriodPs(period) => period as f64,
        };
        let period = nominal / (1.0 + deviation);
        let period = period.clamp(MINUTE_PS / 1e6, MINUTE_PS / 10.0);
        Rotation::PeriodPs(libm::round(period) as u64)
    }
    /// Seconds a revolution.
    pub fn period_s(self) -> f64 {
        60.0 / self.rpm()
    }
}

impl FromStr for Rotation {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Rotation, UnitError> {
        let error = || UnitError {
            found: text.to_owned(),
            expected: ROTATION_EXPECTED,
        };
        let (number, unit) = split(text);
        let number = decimal(number).ok_or_else(error)?;
        let period = match unit {
            "rpm" if (10.0..=1e6).contains(&number) && libm::trunc(number) == number => {
                return Ok(Rotation::Rpm(number as u32));
            }
            "rpm" => MINUTE_PS / number,
            "us" | "µs" => number * 1e6,
            "ms" => number * 1e9,
            "s" => number * 1e12,
            _ => return Err(error()),
        };
        // From a million revolutions a minute to ten: the picoseconds of two turns, times a track's sectors, fit 64 bits.
        if !(MINUTE_PS / 1e6..=MINUTE_PS / 10.0).contains(&period) {
            return Err(error());
        }
        Ok(Rotation::PeriodPs(libm::round(period) as u64))
    }
}

impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rotation::Rpm(rpm) => write!(f, "{rpm} rpm"),
            Rotation::PeriodPs(period) => {
                let (whole, rest) = (period / 1_000_000_000, period % 1_000_000_000);
                let digits = format!("{whole}.{rest:09}");
                write!(
                    f,
                    "{} ms",
                    digits.trim_end_matches('0').trim_end_matches('.')
                )
            }
        }
    }
}

/// A rate of transfer: `"300 MB/s"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    bytes_per_s: u64,
}

const RATE_EXPECTED: &str = "a rate of transfer above 0, such as \"300 MB/s\" (units: B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s)";

impl Rate {
    /// A rate in bytes a second; `None` for no rate at all.
    pub fn from_bytes_per_s(bytes_per_s: u64) -> Option<Rate> {
        (bytes_per_s > 0).then_some(Rate { bytes_per_s })
    }
    /// Bytes a second.
    pub fn bytes_per_s(self) -> u64 {
        self.bytes_per_s
    }
    /// The time to transfer `bytes` bytes, to the nearest nanosecond.
    pub fn time(self, bytes: u64) -> Time {
        let rate = self.bytes_per_s;
        let scaled = bytes.checked_mul(1_000_000_000);
        if let Some(scaled) = scaled.and_then(|scaled| scaled.checked_add(rate / 2)) {
            return Time::from_ns(scaled / rate);
        }
        let scaled = u128::from(bytes) * 1_000_000_000;
        let rate = u128::from(rate);
        Time::from_ns(((scaled + rate / 2) / rate) as u64)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Rate, UnitError> {
        let error = || UnitError {
            found: text.to_owned(),
            expected: RATE_EXPECTED,
        };
        let (number, unit) = split(text);
        let scale = match unit {
            "B/s" => 1.0,
            "kB/s" | "KB/s" => 1e3,
            "MB/s" => 1e6,
            "GB/s" => 1e9,
            "KiB/s" => 1024.0,
            "MiB/s" => 1024.0 * 1024.0,
            "GiB/s" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err(error()),
        };
        let rate = libm::round(decimal(number).ok_or_else(error)? * scale);
        if rate > 1e15 {
            return Err(error());
        }
        Rate::from_bytes_per_s(rate as u64).ok_or_else(error)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes_per_s {
            rate if rate % 1_000_000 == 0 => write!(f, "{} MB/s", rate / 1_000_000),
            rate => write!(f, "{rate} B/s"),
        }
    }
}

/// A length of time that may be negative, such as what writes settle longer than reads: `"0.461 ms"`, `"-0.2 ms"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedTime {
    ns: i64,
}

const SIGNED_EXPECTED: &str = "a time with its unit, which may be negative, such as \"0.5 ms\" or \"-0.2 ms\" (units: ns, us, ms, s, min, h, d)";

impl SignedTime {
    /// `ns` nanoseconds.
    pub const fn from_ns(ns: i64) -> SignedTime {
        SignedTime { ns }
    }
    /// Nanoseconds.
    pub const fn ns(self) -> i64 {
        self.ns
    }
}

impl FromStr for SignedTime {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<SignedTime, UnitError> {
        let error = || UnitError {
            found: text.to_owned(),
            expected: SIGNED_EXPECTED,
        };
        let trimmed = text.trim();
        let (magnitude, sign) = match trimmed.strip_prefix('-') {
            Some(rest) => (rest, -1),
            None => (trimmed, 1),
        };
        let magnitude: Time = magnitude.parse().map_err(|_| error())?;
        let ns = i64::try_from(magnitude.ns()).map_err(|_| error())?;
        Ok(SignedTime { ns: sign * ns })
    }
}

impl fmt::Display for SignedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.ns < 0 { "-" } else { "" };
        write!(f, "{sign}{}", Time::from_ns(self.ns.unsigned_abs()))
    }
}

serde_as_text!(Rotation, ROTATION_EXPECTED);
serde_as_text!(Rate, RATE_EXPECTED);
serde_as_text!(SignedTime, SIGNED_EXPECTED);

/// The text before the unit, and the unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_')))
        .unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// A plain decimal number without sign or exponent.
fn decimal(text: &str) -> Option<f64> {
    text.replace('_', "")
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_read_exactly() {
        for (text, rotation) in [
            ("7200 rpm", Rotation::Rpm(7200)),
            ("10_045rpm", Rotation::Rpm(10_045)),
            ("10 rpm", Rotation::Rpm(10)),
            ("10045.5 rpm", Rotation::PeriodPs(5_972_823_652)),
            ("8.333333333 ms", Rotation::PeriodPs(8_333_333_333)),
            ("11111.111111 us", Rotation::PeriodPs(11_111_111_111)),
            ("6 s", Rotation::PeriodPs(6_000_000_000_000)),
        ] {
            assert_eq!(text.parse::<Rotation>().as_ref(), Ok(&rotation), "{text}");
            assert_eq!(
                rotation.to_string().parse::<Rotation>(),
                Ok(rotation),
                "{text}"
            );
        }
        assert!((Rotation::PeriodPs(5_972_823_652).rpm() - 10_045.5).abs() < 1e-3);
        for text in [
            "",
            "7200",
            "0 rpm",
            "9 rpm",
            "9.5 rpm",
            "-10 rpm",
            "1e6 rpm",
            "1000001 rpm",
            "6.1 s",
            "1 us",
            "1 h",
        ] {
            let error = text.parse::<Rotation>().expect_err(text);
            assert!(error.to_string().contains("7200 rpm"), "{error}");
        }
    }

    #[test]
    fn a_speed_deviates_to_both_sides_and_not_beyond_what_a_speed_may_be() {
        let rotation = Rotation::Rpm(7_200);
        assert_eq!(rotation.deviating(0.0), rotation);
        assert_eq!(rotation.deviating(0.25), Rotation::PeriodPs(6_666_666_667));
        assert_eq!(
            rotation.deviating(-0.25),
            Rotation::PeriodPs(11_111_111_111)
        );
        let uneven = Rotation::PeriodPs(10_000_000_001);
        assert_eq!(uneven.deviating(0.25), Rotation::PeriodPs(8_000_000_001));
        for (rpm, deviation, limit) in [(10, -0.01, 10.0), (1_000_000, 0.01, 1e6)] {
            let limited = Rotation::Rpm(rpm).deviating(deviation);
            assert!((limited.rpm() - limit).abs() < 1e-6 * limit, "{limited}");
            assert_eq!(limited.to_string().parse(), Ok(limited));
        }
    }

    #[test]
    fn rates_give_the_time_of_a_block() {
        let rate: Rate = "300 MB/s".parse().expect("a rate");
        assert_eq!(rate.bytes_per_s(), 300_000_000);
        assert_eq!(rate.time(512).ns(), 1_707);
        assert_eq!(
            "1.5 MiB/s".parse::<Rate>().expect("a rate").bytes_per_s(),
            1_572_864
        );
        for text in ["512 B/s", "300 MB/s", "1.5 MB/s"] {
            let rate: Rate = text.parse().expect("a rate");
            assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
        }
        for text in ["", "300", "0 MB/s", "-1 MB/s", "300 MB", "1000000000 GB/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_settle_may_be_negative() {
        for (text, ns) in [
            ("0.461 ms", 461_000),
            ("-0.2 ms", -200_000),
            ("0 ms", 0),
            ("-3 ns", -3),
        ] {
            let time: SignedTime = text.parse().expect("a time");
            assert_eq!(time.ns(), ns);
            assert_eq!(time.to_string().parse::<SignedTime>(), Ok(time));
        }
        for text in ["", "-", "--1 ms", "1", "-20000000000 s", "400 d d"] {
            let error = text.parse::<SignedTime>().expect_err(text);
            assert!(error.to_string().contains("-0.2 ms"), "{error}");
        }
    }
}
