//! How long the arm takes to move: seek curves, worked out once for every distance.
//!
//! Distances are in cylinders. A curve may fall as well as rise; measured ones do.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::Time;

/// A seek curve as a drive's file gives it: `[seek.FORM]`.
///
/// Numbers under keys that end in `_ms` are milliseconds; every seek time is rounded to the nanosecond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeekDescription {
    /// Measured points, joined by straight lines.
    Table(SeekTable),
    /// A straight line.
    Linear(LinearSeek),
    /// A square root for short seeks and a straight line for long ones.
    Hp(HpSeek),
    /// Lee's curve through three times.
    Lee(LeeSeek),
    /// The same time for every distance.
    Constant(Time),
}

/// Points of a measured curve.
///
/// Between two points the curve is straight, below the first it comes straight from no time at no distance, and beyond
/// the last it continues the line through the last two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeekTable {
    /// Distance and time in ms, by rising distance.
    pub points_ms: Vec<(u32, f64)>,
}

/// T(d) = single + slope · (d − 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearSeek {
    /// Time to the next cylinder.
    pub single: Time,
    /// Time from the first cylinder to the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<Time>,
    /// Nanoseconds for every further cylinder, in place of `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope_ns: Option<f64>,
}

/// T(d) = a + b · √d below the boundary, else c + e · d; the first distances may be listed.
///
/// The form of Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HpSeek {
    /// The first distance on the straight line.
    pub boundary: u32,
    /// a and b.
    pub short_ms: (f64, f64),
    /// c and e.
    pub long_ms: (f64, f64),
    /// Times of the distances 1, 2, 3, … that follow neither.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_ms: Vec<f64>,
}

/// T(d) = a · √(d − 1) + b · (d − 1) + single. a and b follow from the drive's number of cylinders, its average seek time and its full
/// stroke.
///
/// Lee and Katz, "An analytic performance model of disk arrays", SIGMETRICS 1993.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeeSeek {
    /// Time to the next cylinder.
    pub single: Time,
    /// Mean time between random cylinders.
    pub average: Time,
    /// Time from the first cylinder to the last.
    pub full: Time,
}

/// Seek times by distance; copies share them.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    /// Nanoseconds by distance.
    times: Arc<[u32]>,
    /// The least of a time and all later ones.
    floors: Arc<[u32]>,
    longest: u32,
}

impl SeekCurve {
    /// Works out the times of all distances on a drive of `cylinders` cylinders (at least one).
    ///
    /// # Errors
    /// Says what is missing, too much or out of order, or at which distance the curve gives a time that is negative or
    /// above 4 s.
    pub fn build(description: &SeekDescription, cylinders: u32) -> Result<SeekCurve, InputError> {
        let largest = cylinders.max(1) - 1;
        let mut times = Vec::with_capacity(largest as usize + 1);
        times.push(0);
        match description {
            SeekDescription::Table(table) => {
                let line = TableLine::new(table)?;
                let mut after = 1;
                fill(&mut times, largest, |distance| {
                    after = line.after(distance, after);
                    line.time_ns(distance, after)
                })?;
            }
            SeekDescription::Linear(line) => {
                let slope = line.slope_ns(largest)?;
                let single = line.single.ns() as f64;
                fill(&mut times, largest, |distance| {
                    single + slope * f64::from(distance - 1)
                })?;
            }
            SeekDescription::Hp(hp) => {
                fill(&mut times, largest, |distance| hp.time_ms(distance) * 1e6)?;
            }
            SeekDescription::Lee(lee) => {
                let (root, line) = lee.coefficients(cylinders);
                let single = lee.single.ns() as f64;
                fill(&mut times, largest, |distance| {
                    let further = f64::from(distance - 1);
                    root * libm::sqrt(further) + line * further + single
                })?;
            }
            SeekDescription::Constant(time) => {
                fill(&mut times, largest, |_| time.ns() as f64)?;
            }
        }
        Ok(SeekCurve::of(times))
    }

    /// The curve of these times, the first of which is that of distance 0.
    fn of(times: Vec<u32>) -> SeekCurve {
        let mut floors = times.clone();
        for distance in (0..floors.len() - 1).rev() {
            floors[distance] = floors[distance].min(floors[distance + 1]);
        }
        SeekCurve {
            longest: times.iter().copied().max().unwrap_or(0),
            times: times.into(),
            floors: floors.into(),
        }
    }

    /// This curve without a settling that all its times have in them, or with one that is missing in them, where it is negative.
    ///
    /// # Errors
    /// Says at which distance nothing is left before the settling.
    pub(super) fn before_settling(&self, settle_ns: i64) -> Result<SeekCurve, InputError> {
        let mut times = vec![0];
        for (distance, &time) in (1..).zip(&self.times[1..]) {
            let before = i64::from(time) - settle_ns;
            if settle_ns > 0 && before <= 0 {
                return Err(InputError::new(format!(
                    "a write seeks {} ms over {distance} cylinders, and settles {} ms after a head switch",
                    f64::from(time) / 1e6,
                    settle_ns as f64 / 1e6
                ))
                .help("seek times of writes include the settling, and are longer than heads.write_settle"));
            }
            // The longest seek and the longest settling are 4 s each.
            times.push(before.min(i64::from(u32::MAX)) as u32);
        }
        Ok(SeekCurve::of(times))
    }

    /// The time of a seek; none for distance 0.
    ///
    /// # Panics
    /// Where the distance is not below the number of cylinders.
    #[inline]
    pub fn time(&self, distance: u32) -> Time {
        Time::from_ns(u64::from(self.times[distance as usize]))
    }

    /// The times of all distances from 0 on, ns.
    pub(super) fn times(&self) -> &[u32] {
        &self.times
    }

    /// The smallest time of a seek over this distance or any longer one.
    ///
    /// # Panics
    /// Where the distance is not below the number of cylinders.
    #[inline]
    pub fn floor(&self, distance: u32) -> Time {
        Time::from_ns(u64::from(self.floors[distance as usize]))
    }

    /// By how much the floor of another curve of as many cylinders and a settling of `settle_ns` is at least above this one's, at
    /// every distance; no more than zero.
    pub(super) fn least_below(&self, other: &SeekCurve, settle_ns: i64) -> i64 {
        let pairs = self.floors[1..].iter().zip(&other.floors[1..]);
        let above = pairs
            .map(|(&own, &other)| (i64::from(other) + settle_ns).max(0) - i64::from(own))
            .min();
        above.unwrap_or(0).min(0)
    }

    /// The longest time of any seek.
    pub fn longest(&self) -> Time {
        Time::from_ns(u64::from(self.longest))
    }

    /// The time from the first cylinder to the last.
    pub fn full_stroke(&self) -> Time {
        self.time(self.times.len() as u32 - 1)
    }

    /// The mean time between two different random cylinders: what makers call the average seek.
    pub fn mean_random(&self) -> Time {
        let largest = self.times.len() as u128 - 1;
        if largest == 0 {
            return Time::ZERO;
        }
        let sum: u128 = (1..)
            .zip(&self.times[1..])
            .map(|(distance, &time)| (largest + 1 - distance) * u128::from(time))
            .sum();
        let weight = largest * (largest + 1) / 2;
        Time::from_ns(((sum + weight / 2) / weight) as u64)
    }
}

/// The longest seek time, in ns.
const LONGEST_NS: f64 = 4e9;

/// Appends the times of the distances 1 to `largest`, rounded to the nanosecond.
fn fill(
    times: &mut Vec<u32>,
    largest: u32,
    mut time_ns: impl FnMut(u32) -> f64,
) -> Result<(), InputError> {
    for distance in 1..=largest {
        let ns = time_ns(distance);
        // A drive of today has half a million distances: a call for each rounding takes longer than all the rest.
        if !(ns > -0.5 && ns < LONGEST_NS + 0.5) {
            return Err(InputError::new(format!(
                "the seek curve gives {} ms for a distance of {distance} cylinders",
                ns / 1e6
            ))
            .help(
                "a seek takes from 0 to 4000 ms, at every distance up to the drive's last cylinder",
            ));
        }
        let whole = ns as u32;
        times.push(whole + u32::from(ns - f64::from(whole) >= 0.5));
    }
    Ok(())
}

/// A table's points in whole ns, with the origin before them.
struct TableLine {
    points: Vec<(u32, i64)>,
}

impl TableLine {
    fn new(table: &SeekTable) -> Result<TableLine, InputError> {
        let help = "points_ms is a list like [[1, 0.831], [2, 1.003]]: distance in cylinders, from 1, and time in ms";
        if table.points_ms.is_empty() {
            return Err(InputError::new("a seek table without points").help(help));
        }
        let mut points = vec![(0, 0)];
        for &(distance, ms) in &table.points_ms {
            let ns = libm::round(ms * 1e6);
            if !(0.0..=LONGEST_NS).contains(&ns) {
                return Err(InputError::new(format!(
                    "a seek of {distance} cylinders takes {ms} ms"
                ))
                .help("a seek takes from 0 to 4000 ms"));
            }
            let (before, _) = points[points.len() - 1];
            if distance <= before {
                return Err(InputError::new(format!(
                    "distance {distance} of the seek table does not come after {before}"
                ))
                .help(help));
            }
            points.push((distance, ns as i64));
        }
        Ok(TableLine { points })
    }

    /// The first point behind the distance, or the last point, if it is not before `from`.
    fn after(&self, distance: u32, from: usize) -> usize {
        let behind = |point: &usize| self.points[*point].0 > distance;
        let last = self.points.len() - 1;
        (from..last).find(behind).unwrap_or(last)
    }

    /// On the line through the points around the distance, of which the second is `after`.
    fn time_ns(&self, distance: u32, after: usize) -> f64 {
        let ((near, near_ns), (far, far_ns)) = (self.points[after - 1], self.points[after]);
        let run = f64::from(far - near);
        near_ns as f64 + (far_ns - near_ns) as f64 * f64::from(distance - near) / run
    }
}

impl LinearSeek {
    fn slope_ns(&self, largest: u32) -> Result<f64, InputError> {
        match (self.full, self.slope_ns) {
            (Some(full), None) => {
                // With one cylinder or two there is no further distance.
                let further = f64::from(largest.max(2) - 1);
                Ok((full.ns() as f64 - self.single.ns() as f64) / further)
            }
            (None, Some(slope)) => Ok(slope),
            _ => Err(
                InputError::new("a linear seek curve needs one of full and slope_ns")
                    .help("write full = \"12.742 ms\" or slope_ns = 1016.0"),
            ),
        }
    }
}

impl HpSeek {
    fn time_ms(&self, distance: u32) -> f64 {
        if let Some(&listed) = self.first_ms.get(distance as usize - 1) {
            return listed;
        }
        let d = f64::from(distance);
        if distance < self.boundary {
            self.short_ms.0 + self.short_ms.1 * libm::sqrt(d)
        } else {
            self.long_ms.0 + self.long_ms.1 * d
        }
    }
}

impl LeeSeek {
    /// ns for each root of a cylinder and for each cylinder beyond the first.
    fn coefficients(&self, cylinders: u32) -> (f64, f64) {
        let [single, average, full] =
            [self.single, self.average, self.full].map(|time| time.ns() as f64);
        let cylinders = f64::from(cylinders);
        let root = (-10.0 * single + 15.0 * average - 5.0 * full) / (3.0 * libm::sqrt(cylinders));
        let line = (7.0 * single - 15.0 * average + 8.0 * full) / (3.0 * cylinders);
        (root, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(text: &str) -> Time {
        format!("{text} ms").parse().expect("a time")
    }

    fn table(points: &[(u32, f64)], cylinders: u32) -> Result<SeekCurve, InputError> {
        let points_ms = points.to_vec();
        SeekCurve::build(&SeekDescription::Table(SeekTable { points_ms }), cylinders)
    }

    #[test]
    fn a_table_is_straight_between_and_beyond_its_points() {
        let curve = table(&[(2, 1.0), (4, 1.5), (10, 1.2), (12, 1.3)], 21).expect("sound");
        for (distance, time) in [
            (0, "0"),
            (1, "0.5"),
            (2, "1"),
            (3, "1.25"),
            (4, "1.5"),
            (5, "1.45"),
            (9, "1.25"),
            (10, "1.2"),
            (11, "1.25"),
            (12, "1.3"),
            (13, "1.35"),
            (20, "1.7"),
        ] {
            assert_eq!(curve.time(distance), ms(time), "{distance}");
        }
        assert_eq!(curve.full_stroke(), ms("1.7"));
        // From 3 on no seek is faster than the 1.2 ms at 10, and from 11 on none than itself.
        assert_eq!(curve.floor(0), Time::ZERO);
        assert_eq!(curve.floor(2), ms("1"));
        assert_eq!(curve.floor(3), ms("1.2"));
        assert_eq!(curve.floor(10), ms("1.2"));
        assert_eq!(curve.floor(11), ms("1.25"));
    }

    #[test]
    fn one_point_makes_a_line_through_the_origin() {
        let curve = table(&[(4, 2.0)], 9).expect("sound");
        assert_eq!((curve.time(1), curve.time(8)), (ms("0.5"), ms("4")));
    }

    #[test]
    fn times_are_rounded_to_the_nearest_nanosecond() {
        let curve = table(&[(1, 0.000_001), (4, 0.000_003)], 5).expect("sound");
        let times: Vec<u64> = (1..5).map(|distance| curve.time(distance).ns()).collect();
        assert_eq!(times, [1, 2, 2, 3]);
    }

    #[test]
    fn they_are_rounded_as_any_number_is() {
        let below_half = 0.5f64.next_down();
        for ns in [
            -0.5,
            -below_half,
            -0.0,
            below_half,
            0.5,
            1.5,
            2.5,
            1e9 + below_half,
            4e9,
            4e9 + 0.25,
            4e9 + 0.5,
            f64::NAN,
        ] {
            let mut times = Vec::new();
            let filled = fill(&mut times, 1, |_| ns);
            let rounded = libm::round(ns);
            if (0.0..=LONGEST_NS).contains(&rounded) {
                filled.expect("a time");
                assert_eq!(times, [rounded as u32], "{ns}");
            } else {
                filled.expect_err("no time");
            }
        }
    }

    #[test]
    fn tables_without_sense_are_refused() {
        for (points, said) in [
            (&[][..], "without points"),
            (&[(0, 0.0), (1, 1.0)], "distance 0"),
            (&[(2, 1.0), (2, 1.0)], "does not come after 2"),
            (&[(1, -0.5)], "-0.5 ms"),
            (&[(1, f64::NAN)], "NaN ms"),
            (&[(1, 4000.1)], "4000.1 ms"),
            (&[(1, 2.0), (2, 1.0)], "distance of 4 cylinders"),
        ] {
            let error = table(points, 9).expect_err(said).to_string();
            assert!(error.contains(said), "{error} does not say {said:?}");
        }
        assert!(table(&[(1, 2.0), (2, 1.0)], 4).is_ok());
    }

    #[test]
    fn a_line_goes_through_both_its_ends() {
        let line = |full, slope_ns| {
            let single = ms("1.086");
            SeekCurve::build(
                &SeekDescription::Linear(LinearSeek {
                    single,
                    full,
                    slope_ns,
                }),
                11_474,
            )
        };
        let curve = line(Some(ms("12.742")), None).expect("sound");
        assert_eq!(
            (curve.time(1), curve.time(11_473)),
            (ms("1.086"), ms("12.742"))
        );
        assert_eq!(curve.time(5_737), ms("6.914"));
        let curve = line(None, Some(1_000.0)).expect("sound");
        assert_eq!(curve.time(3), ms("1.088"));
        for (full, slope) in [(None, None), (Some(ms("2")), Some(1.0))] {
            let error = line(full, slope).expect_err("ambiguous").to_string();
            assert!(error.contains("one of full and slope_ns"), "{error}");
        }
        let short = SeekDescription::Linear(LinearSeek {
            single: ms("1"),
            full: Some(ms("3")),
            slope_ns: None,
        });
        for cylinders in [1, 2, 3] {
            let curve = SeekCurve::build(&short, cylinders).expect("sound");
            let full = [Time::ZERO, ms("1"), ms("3")][cylinders as usize - 1];
            assert_eq!(curve.full_stroke(), full, "{cylinders}");
        }
    }

    #[test]
    fn the_hp_curve_changes_form_at_its_boundary() {
        let hp = |first_ms: &[f64]| {
            let curve = HpSeek {
                boundary: 300,
                short_ms: (3.75, 0.33),
                long_ms: (7.69, 0.0059),
                first_ms: first_ms.to_vec(),
            };
            SeekCurve::build(&SeekDescription::Hp(curve), 2_982).expect("sound")
        };
        let curve = hp(&[]);
        assert_eq!(curve.time(1), ms("4.08"));
        assert_eq!(curve.time(289), ms("9.36"));
        assert_eq!(curve.time(299).ns(), 9_456_233);
        assert_eq!(curve.time(300), ms("9.46"));
        assert_eq!(curve.time(2_981), ms("25.2779"));
        let curve = hp(&[2.63, 3.42]);
        assert_eq!((curve.time(1), curve.time(2)), (ms("2.63"), ms("3.42")));
        assert_eq!(curve.time(4), ms("4.41"));
    }

    #[test]
    fn lees_curve_has_the_average_it_is_given() {
        let lee = LeeSeek {
            single: ms("1"),
            average: ms("8"),
            full: ms("16"),
        };
        let curve = SeekCurve::build(&SeekDescription::Lee(lee), 20_000).expect("sound");
        assert_eq!(curve.time(1), ms("1"));
        let near = |time: Time, wanted: f64| (time.ms() - wanted).abs() < 0.01 * wanted;
        assert!(near(curve.full_stroke(), 16.0), "{:?}", curve.full_stroke());
        assert!(near(curve.mean_random(), 8.0), "{:?}", curve.mean_random());
    }

    #[test]
    fn every_form_is_read_from_text() {
        for (text, at_9) in [
            ("[table]\npoints_ms = [[1, 1], [9, 1.5]]", "1.5"),
            ("[linear]\nsingle = \"1 ms\"\nfull = \"2 ms\"", "2"),
            ("[linear]\nsingle = \"1 ms\"\nslope_ns = 1000", "1.008"),
            (
                "[hp]\nboundary = 10\nshort_ms = [1, 0.5]\nlong_ms = [0, 1]",
                "2.5",
            ),
            (
                "[hp]\nboundary = 1\nshort_ms = [0, 0]\nlong_ms = [1, 0.5]\nfirst_ms = [2]",
                "5.5",
            ),
            ("constant = \"3 ms\"", "3"),
        ] {
            let form: SeekDescription = toml::from_str(text).expect(text);
            let curve = SeekCurve::build(&form, 10).expect(text);
            assert_eq!(curve.time(9), ms(at_9), "{text}");
            let written = toml::to_string(&form).expect("can be written");
            assert_eq!(toml::from_str(&written), Ok(form), "{written}");
        }
        let lee = "[lee]\nsingle = \"1 ms\"\naverage = \"8 ms\"\nfull = \"16 ms\"";
        assert!(matches!(toml::from_str(lee), Ok(SeekDescription::Lee(_))));
    }

    #[test]
    fn a_constant_is_the_same_everywhere_but_at_home() {
        let curve = SeekCurve::build(&SeekDescription::Constant(ms("5")), 3).expect("sound");
        assert_eq!(
            [0, 1, 2].map(|d| curve.time(d)),
            [Time::ZERO, ms("5"), ms("5")]
        );
        assert_eq!(curve.mean_random(), ms("5"));
        let alone = SeekCurve::build(&SeekDescription::Constant(ms("5")), 1).expect("sound");
        assert_eq!(
            (alone.mean_random(), alone.full_stroke()),
            (Time::ZERO, Time::ZERO)
        );
    }

    #[test]
    fn the_mean_counts_pairs_of_cylinders() {
        // Of 4 cylinders 3 pairs are 1 apart, 2 are 2 apart and 1 is 3 apart.
        let curve = table(&[(1, 1.0), (2, 2.0), (3, 6.0)], 4).expect("sound");
        assert_eq!(curve.mean_random().ns(), 2_166_667);
    }

    proptest! {
        #[test]
        fn the_floor_is_the_least_of_what_follows(times in proptest::collection::vec(0u32..50, 1..60)) {
            let points: Vec<_> = (1..).zip(times.iter().map(|&time| f64::from(time))).collect();
            let curve = table(&points, times.len() as u32 + 1).expect("sound");
            for (before, time) in times.iter().enumerate() {
                prop_assert_eq!(curve.time(before as u32 + 1), Time::from_ms(u64::from(*time)));
                let least = *times[before..].iter().min().expect("not empty");
                prop_assert_eq!(curve.floor(before as u32 + 1), Time::from_ms(u64::from(least)));
            }
        }
    }
}
