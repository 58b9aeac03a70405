//! Instants as dates, counted from 1970, UTC.

use chrono::{DateTime, NaiveDateTime};

use crate::base::units::Time;

/// `2023-11-14T22:13:20` of the seconds since 1970, UTC.
pub fn iso_date(seconds: u32) -> String {
    let date = DateTime::from_timestamp(seconds.into(), 0).unwrap_or_default();
    date.format("%Y-%m-%dT%H:%M:%S").to_string()
}

/// The time since 1970 of a date and a time of day as ISO 8601 has them, `2023-11-14T22:13:20.5+01:00`: with a space in place of the `T`,
/// and as UTC where it names no zone. `None` for anything else, and before 1970.
pub fn iso_time(text: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(text).ok()?;
    let local = || {
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
            .into_iter()
            .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
    };
    let instant = match DateTime::parse_from_rfc3339(text) {
        Ok(instant) => instant.to_utc(),
        Err(_) => local()?.and_utc(),
    };
    let ns = u64::try_from(instant.timestamp_nanos_opt()?).ok()?;
    Some(Time::from_ns(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days and years counted one by one.
    #[test]
    fn every_day_of_the_clock_has_its_date() {
        let leap =
            |y: u32| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
        let (mut year, mut month, mut date) = (1970, 1, 1);
        for day in 0..=u32::MAX / 86_400 {
            let expected = format!("{year:04}-{month:02}-{date:02}T00:00:00");
            assert_eq!(iso_date(day * 86_400), expected);
            let days = match month {
                2 => 28 + u32::from(leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            date += 1;
            if date > days {
                (month, date) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    #[test]
    fn seconds_are_split() {
        assert_eq!(iso_date(1_700_000_000), "2023-11-14T22:13:20");
        assert_eq!(iso_date(u32::MAX), "2106-02-07T06:28:15");
    }

    #[test]
    fn dates_with_and_without_a_zone_are_times() {
        let seconds = 1_700_000_000 * 1_000_000_000;
        for (text, ns) in [
            ("2023-11-14T22:13:20Z", seconds),
            ("2023-11-14T22:13:20", seconds),
            ("2023-11-14 22:13:20.000000001", seconds + 1),
            ("2023-11-14T23:13:20.5+01:00", seconds + 500_000_000),
            ("2023-11-14 22:13:20Z", seconds),
            ("1970-01-01T00:00:00Z", 0),
        ] {
            assert_eq!(iso_time(text.as_bytes()), Some(Time::from_ns(ns)), "{text}");
        }
        for text in [
            "1969-12-31T23:59:59Z",
            "2023-11-14",
            "22:13:20",
            "2023-02-30T00:00:00",
            "1700000000",
            "",
            "3000-01-01T00:00:00Z",
        ] {
            assert_eq!(iso_time(text.as_bytes()), None, "{text}");
        }
        assert_eq!(iso_time(b"\xff"), None);
    }
}
