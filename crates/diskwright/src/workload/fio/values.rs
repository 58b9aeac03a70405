//! Numbers as job files write them: with suffixes, per direction, with percentages. fio's HOWTO, "Parameter types".

use crate::base::units::Time;
use crate::workload::text::whole;

/// What a suffix of 1000 or 1024 stands for: `kb_base`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// As everywhere else: k is 1000, ki is 1024.
    Si,
    /// fio's own, unless told otherwise: k is 1024, ki is 1000.
    Swapped,
}

/// A whole number with a suffix: `4k`, `1MiB`, `0x1000`.
pub fn number(text: &str, base: Base) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let value = whole(&text.as_bytes()[..end])?;
    let suffix = text[end..].trim();
    let suffix = suffix.strip_suffix('b').unwrap_or(suffix);
    let (letter, binary) = match suffix.strip_suffix('i') {
        Some(letter) => (letter, base == Base::Si),
        None => (suffix, base == Base::Swapped),
    };
    let power = match letter {
        "" if suffix.is_empty() => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let unit = if binary { 1024u64 } else { 1000 };
    value.checked_mul(unit.pow(power))
}

/// A time: `10s`, `5ms`, or a bare number of `unit`s.
pub fn time(text: &str, unit: Time) -> Option<Time> {
    let text = text.trim().to_ascii_lowercase();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let value = whole(&text.as_bytes()[..end])?;
    let unit = match text[end..].trim() {
        "" => unit,
        "d" => Time::from_s(86_400),
        "h" => Time::from_s(3_600),
        "m" => Time::from_s(60),
        "s" | "sec" => Time::from_s(1),
        "ms" | "msec" => Time::from_ms(1),
        "us" | "usec" => Time::from_us(1),
        "ns" | "nsec" => Time::from_ns(1),
        _ => return None,
    };
    value.checked_mul(unit.ns()).map(Time::from_ns)
}

/// A size in bytes, or a percentage of something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// 0 to 100.
    Percent(f64),
}

/// `4g` or `20%`.
pub fn amount(text: &str, base: Base) -> Option<Amount> {
    match text.trim().strip_suffix('%') {
        Some(percent) => self::percent(percent).map(Amount::Percent),
        None => number(text, base).map(Amount::Bytes),
    }
}

/// A number from 0 to 100.
pub fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (0.0..=100.0).contains(&number).then_some(number)
}

/// What is said of reads, writes and trims: one for all, or several with commas, the last of which holds for those that
/// follow; nothing between commas says nothing.
pub fn per_direction(text: &str) -> [Option<&str>; 3] {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    std::array::from_fn(|direction| {
        let part = parts.get(direction).or(parts.last()).copied();
        part.filter(|part| !part.is_empty())
    })
}

/// The parts of `a/b:c/d`, each with what follows its slash.
pub fn weighted(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    text.split(':').map(|entry| match entry.split_once('/') {
        Some((first, second)) => (first.trim(), Some(second.trim()).filter(|s| !s.is_empty())),
        None => (entry.trim(), None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_swapped_unless_told_otherwise() {
        for (text, swapped, si) in [
            ("0", 0, 0),
            ("512", 512, 512),
            ("512B", 512, 512),
            ("4k", 4096, 4000),
            ("4K", 4096, 4000),
            ("4kb", 4096, 4000),
            ("4ki", 4000, 4096),
            ("4KiB", 4000, 4096),
            ("2m", 2 << 20, 2_000_000),
            ("1 g", 1 << 30, 1_000_000_000),
            ("1t", 1 << 40, 1_000_000_000_000),
            ("0x1000", 4096, 4096),
        ] {
            assert_eq!(number(text, Base::Swapped), Some(swapped), "{text}");
            assert_eq!(number(text, Base::Si), Some(si), "{text}");
        }
        for text in [
            "",
            "k",
            "-1",
            "4x",
            "4kk",
            "4i",
            "1.5k",
            "99999999999999999999",
            "99999999p",
            "0xg",
        ] {
            assert_eq!(number(text, Base::Swapped), None, "{text}");
        }
    }

    #[test]
    fn times_have_the_unit_of_their_option() {
        let us = Time::from_us(1);
        for (text, ns) in [
            ("5", 5_000),
            ("5us", 5_000),
            ("2ms", 2_000_000),
            ("1s", 1_000_000_000),
            ("1m", 60_000_000_000),
            ("1D", 86_400_000_000_000),
        ] {
            assert_eq!(time(text, us), Some(Time::from_ns(ns)), "{text}");
        }
        for text in ["", "s", "1.5s", "-1", "1 parsec", "99999999999d"] {
            assert_eq!(time(text, us), None, "{text}");
        }
    }

    #[test]
    fn directions_follow_the_one_before() {
        for (text, all) in [
            ("4k", [Some("4k"), Some("4k"), Some("4k")]),
            ("8k,32k", [Some("8k"), Some("32k"), Some("32k")]),
            ("8k,32k,", [Some("8k"), Some("32k"), None]),
            (",8k", [None, Some("8k"), Some("8k")]),
            (",8k,", [None, Some("8k"), None]),
            ("1,2,3", [Some("1"), Some("2"), Some("3")]),
        ] {
            assert_eq!(per_direction(text), all, "{text}");
        }
    }

    #[test]
    fn amounts_and_weights() {
        assert_eq!(amount("20%", Base::Swapped), Some(Amount::Percent(20.0)));
        assert_eq!(amount("1k", Base::Swapped), Some(Amount::Bytes(1024)));
        assert_eq!(
            (amount("120%", Base::Swapped), amount("nan%", Base::Swapped)),
            (None, None)
        );
        let all: Vec<_> = weighted("4k/50:1k/:32k").collect();
        assert_eq!(all, [("4k", Some("50")), ("1k", None), ("32k", None)]);
    }
}
