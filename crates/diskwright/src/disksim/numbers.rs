//! Numbers as parameter files write them, and names with numbers.

use super::syntax::{Data, SourceSpan};
use crate::base::error::InputError;

/// The value that a text without marks is: a whole number, a number with a point or an exponent, or itself.
pub(super) fn scalar(text: &str, at: &SourceSpan) -> Result<Data, InputError> {
    let too_large = || {
        at.error(format!("the number {text} is too large"))
            .help("accepted: whole numbers below 2^63 and numbers below 1.8e308")
    };
    let (sign, magnitude) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    let hex = magnitude
        .strip_prefix("0x")
        .or_else(|| magnitude.strip_prefix("0X"));
    if let Some(digits) = hex.filter(|digits| all(digits, |b| b.is_ascii_hexdigit())) {
        let number = i64::from_str_radix(digits, 16).map_err(|_| too_large())?;
        return Ok(Data::Integer(sign * number));
    }
    if all(magnitude, |b| b.is_ascii_digit()) {
        let number: i64 = magnitude.parse().map_err(|_| too_large())?;
        return Ok(Data::Integer(sign * number));
    }
    if is_float(magnitude) {
        let number: f64 = text.parse().map_err(|_| too_large())?;
        return match number.is_finite() {
            true => Ok(Data::Float(number)),
            false => Err(too_large()),
        };
    }
    Ok(Data::Text(text.to_owned()))
}

fn all(text: &str, is: impl Fn(&u8) -> bool) -> bool {
    !text.is_empty() && text.as_bytes().iter().all(is)
}

/// Digits with a point among, before or after them, or an exponent, or both.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let sound = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    sound && digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

/// The two ends of a range that is written as one word, `disk0..disk9`.
pub(super) fn range_word(text: &str) -> Option<(&str, &str)> {
    let (first, last) = text.split_once("..")?;
    let numbered = |text: &str| {
        let (stem, number) = stem_and_number(text);
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        !stem.is_empty() && !number.is_empty() && stem.chars().all(plain)
    };
    (numbered(first) && numbered(last)).then_some((first, last))
}

/// The digits at the end of a name, and what is before them.
fn stem_and_number(name: &str) -> (&str, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem, &name[stem.len()..])
}

/// The names of a range: `disk0 .. disk2` are disk0, disk1 and disk2. `room` is how many may still be named.
pub(super) fn expand(
    first: &str,
    last: &str,
    room: usize,
    at: &SourceSpan,
) -> Result<impl Iterator<Item = String> + use<>, InputError> {
    let ((stem, from), (other, to)) = (stem_and_number(first), stem_and_number(last));
    let help =
        "a range goes up from one number to another after the same name, such as disk0 .. disk9";
    if stem != other || from.is_empty() || to.is_empty() {
        return Err(at
            .error(format!(
                "a range from {first:?} to {last:?}, which are no two numbers of one name"
            ))
            .help(help));
    }
    let (Ok(from), Ok(to)) = (from.parse::<u64>(), to.parse::<u64>()) else {
        return Err(at
            .error(format!(
                "a range from {first:?} to {last:?}, whose numbers are too large"
            ))
            .help(help));
    };
    if from > to {
        return Err(at
            .error(format!("a range from {first:?} down to {last:?}"))
            .help(help));
    }
    if to - from >= room as u64 {
        return Err(at
            .error(format!(
                "the range from {first:?} to {last:?} names {} components",
                u128::from(to - from) + 1
            ))
            .help(format!(
                "a system has at most {} components",
                super::system::MAX_NAMES
            )));
    }
    let stem = stem.to_owned();
    Ok((from..=to).map(move |number| format!("{stem}{number}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Source;

    fn nowhere() -> SourceSpan {
        SourceSpan::new(&Source::new("t", ""), 0, 0)
    }

    #[test]
    fn numbers_are_told_from_texts() {
        for (text, expected) in [
            ("0", "Integer(0)"),
            ("-17", "Integer(-17)"),
            ("+5", "Integer(5)"),
            ("0x1F", "Integer(31)"),
            ("-0x10", "Integer(-16)"),
            ("007", "Integer(7)"),
            ("9223372036854775807", "Integer(9223372036854775807)"),
            ("1.50", "Float(1.5)"),
            ("-1.000", "Float(-1.0)"),
            (".5", "Float(0.5)"),
            ("5.", "Float(5.0)"),
            ("1e3", "Float(1000.0)"),
            ("1.5E-2", "Float(0.015)"),
        ] {
            let found = scalar(text, &nowhere()).expect(text);
            assert_eq!(format!("{found:?}"), expected, "{text}");
        }
        for text in [
            "inf", "nan", "NaN", "-", "+", ".", "e5", "1e", "1e+", "0x", "0xg", "1.2.3", "--1",
            "1_000", "disk0", "3com", "-e1", "",
        ] {
            assert!(
                matches!(scalar(text, &nowhere()), Ok(Data::Text(_))),
                "{text}"
            );
        }
        for text in [
            "9223372036854775808",
            "0x8000000000000000",
            "1e999",
            "-1e999",
        ] {
            let error = scalar(text, &nowhere()).expect_err(text).to_string();
            assert!(error.contains("too large"), "{error}");
        }
    }

    #[test]
    fn ranges_are_expanded_within_bounds() {
        let names = |first: &str, last: &str, room| {
            expand(first, last, room, &nowhere()).map(Iterator::collect::<Vec<_>>)
        };
        assert_eq!(
            names("p3", "p5", 3).expect("three"),
            ["p3", "p4", "p5"].map(String::from)
        );
        assert_eq!(names("a9", "a9", 1).expect("one"), ["a9".to_owned()]);
        for (first, last, wrong) in [
            ("p3", "p5", "names 3"),
            ("p5", "p3", "down"),
            ("p3", "q5", "no two numbers"),
            ("p", "p5", "no two numbers"),
            ("p0", "p18446744073709551615", "names 18446744073709551616"),
            ("p0", "p18446744073709551616", "too large"),
        ] {
            let error = names(first, last, 2).expect_err(first);
            assert!(error.message.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_range_in_one_word_has_two_numbers() {
        assert_eq!(range_word("disk0..disk17"), Some(("disk0", "disk17")));
        for word in [
            "../x.seek",
            "a..b",
            "disk0..",
            "..disk0",
            "1..2",
            "a1..b/c2",
        ] {
            assert_eq!(range_word(word), None, "{word}");
        }
    }
}
