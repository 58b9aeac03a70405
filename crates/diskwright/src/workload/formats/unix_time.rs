//! Seconds since 1970 as a date.

/// `2023-11-14T22:13:20` of the seconds since 1970, UTC.
pub fn iso_date(seconds: u32) -> String {
    const DAY: u32 = 86_400;
    let (day, second) = (seconds / DAY, seconds % DAY);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    // Days are counted from a first of March, so that a leap day is the last of its year. 1968-03-01 is 671 days before 1970.
    let day = day + 671;
    // Until the 28th of February 2100 every fourth year is a leap year; 2100 is none.
    let day = day + u32::from(day >= DAYS_TO_2100);
    let (cycle, day) = (day / CYCLE, day % CYCLE);
    let year = (day / 365).min(3);
    let day = day - 365 * year;
    // Months from March on, in which 153 days are five of them.
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = 1968 + 4 * cycle + year + next;
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}")
}

/// Days in four years.
const CYCLE: u32 = 4 * 365 + 1;
/// From 1968-03-01 to 2100-03-01, less the leap day that 2100 has not.
const DAYS_TO_2100: u32 = 33 * CYCLE - 1;

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
}
