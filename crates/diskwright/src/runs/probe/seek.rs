//! The seek curve: how long the arm moves, by distance, for reads and for writes.

use serde::Serialize;

use crate::base::error::Error;
use crate::base::units::Time;
use crate::engine::request::Op;
use crate::models::geometry::seek::SeekDescription;

use super::bench::Bench;
use super::meter::Meter;
use super::places::{apart, on_track, reach, spaced};

/// Up to this number of cylinders, every distance is measured.
const ALL_UP_TO: u32 = 2000;
/// On a larger drive: the number of evenly spaced distances, and of distances in equal ratios.
const OF_EACH: u32 = 100;

/// The motion over one distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Seek {
    /// Cylinders between start and end.
    pub distance_cylinders: u32,
    /// From the first motion until a read can begin, ms.
    pub read_ms: f64,
    /// From the first motion until a write can begin, its settling included, ms.
    pub write_ms: f64,
}

/// The motion to another head's track of the same cylinder.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HeadSwitch {
    /// Until a read can begin, ms.
    pub read_ms: f64,
    /// Until a write can begin, its settling included, ms.
    pub write_ms: f64,
}

/// The distances that a curve's description names, in no order.
fn named(description: &SeekDescription) -> Vec<u32> {
    match description {
        SeekDescription::Table(table) => table.points_ms.iter().map(|&(d, _)| d).collect(),
        SeekDescription::Hp(hp) => {
            let listed = 1..=hp.first_ms.len() as u32;
            listed
                .chain([hp.boundary.saturating_sub(1), hp.boundary])
                .collect()
        }
        SeekDescription::Linear(_) | SeekDescription::Lee(_) | SeekDescription::Constant(_) => {
            Vec::new()
        }
    }
}

/// The distances at which a drive's curve is measured: a good spread, and all that its description names and that
/// lie between cylinders with data.
pub fn distances(bench: &Bench, description: Option<&SeekDescription>) -> Vec<u32> {
    let (first, last) = reach(bench.layout());
    let longest = last - first;
    let mut distances = spaced(longest, ALL_UP_TO, OF_EACH);
    let named = description.map(named).unwrap_or_default().into_iter();
    distances.extend(named.filter(|distance| (1..=longest).contains(distance)));
    distances.into_iter().collect()
}

/// How long the head moves to `to` when it was last at `from`.
fn motion(bench: &mut Bench, from: u64, op: Op, to: u64) -> Result<Time, Error> {
    bench.read(from)?;
    Ok(bench.request(Time::ZERO, op, to, 1)?.motion())
}

/// Measures the curve: reads an outer sector, then reads or writes one under the same head, a number of cylinders further in.
///
/// # Errors
/// Those of [`Bench::request`], and an interruption.
pub fn measure(
    bench: &mut Bench,
    distances: &[u32],
    meter: &mut Meter<'_>,
) -> Result<Vec<Seek>, Error> {
    let mut curve = Vec::with_capacity(distances.len());
    for &distance in distances {
        if let Some((from, to)) = apart(bench.layout(), distance) {
            curve.push(Seek {
                distance_cylinders: distance,
                read_ms: motion(bench, from, Op::Read, to)?.ms(),
                write_ms: motion(bench, from, Op::Write, to)?.ms(),
            });
        }
        meter.advance(1)?;
    }
    Ok(curve)
}

/// Measures the switch to another head in the first cylinder with data under two of them; `None` where there is none.
///
/// # Errors
/// Those of [`Bench::request`].
pub fn head_switch(bench: &mut Bench) -> Result<Option<HeadSwitch>, Error> {
    let layout = bench.layout();
    let (first, last) = reach(layout);
    let pair = (first..=last).find_map(|cylinder| {
        let mut tracks =
            (0..layout.surfaces()).filter_map(|surface| on_track(layout, cylinder, surface));
        Some((tracks.next()?, tracks.next()?))
    });
    let Some((from, to)) = pair else {
        return Ok(None);
    };
    Ok(Some(HeadSwitch {
        read_ms: motion(bench, from, Op::Read, to)?.ms(),
        write_ms: motion(bench, from, Op::Write, to)?.ms(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::bench::tests::bench;
    use super::*;
    use crate::devices::{drives, hdd::drive::DriveDescription};
    use crate::models::geometry::seek::SeekCurve;
    use crate::runs::simulation::{drive, hardware};

    fn description(name: &str) -> DriveDescription {
        drive(name).expect("sound").description
    }

    /// Every distance that is measured agrees with the table that the drive runs on, to the nanosecond.
    #[test]
    fn the_curve_is_the_one_that_went_in() {
        for name in drives::names_of("hdd") {
            let (mut bench, hardware) = (bench(name), hardware(name).expect("a drive"));
            let mechanics = &hardware.mechanics;
            let described = description(name);
            let distances = distances(&bench, Some(&described.seek));
            let curve = measure(&mut bench, &distances, &mut Meter::idle()).expect("measured");
            assert_eq!(curve.len(), distances.len(), "{name}");
            let cylinders = mechanics.layout.cylinders();
            let settle = described.heads.write_settle.ns();
            let writes = described.write_seek.as_ref();
            let writes = writes.map(|curve| SeekCurve::build(curve, cylinders).expect("sound"));
            for seek in curve {
                let distance = seek.distance_cylinders;
                let time = mechanics.seek().time(distance);
                let settled = match &writes {
                    Some(curve) => curve.time(distance),
                    None => Time::from_ns(time.ns().saturating_add_signed(settle)),
                };
                assert_eq!(seek.read_ms, time.ms(), "{name} {seek:?}");
                assert_eq!(seek.write_ms, settled.ms(), "{name} {seek:?}");
            }
        }
    }

    #[test]
    fn tabulated_distances_are_measured_as_tabulated() {
        let drive = description("ibm-18es");
        let SeekDescription::Table(table) = &drive.seek else {
            panic!("the drive has a table");
        };
        let mut bench = bench("ibm-18es");
        let distances = distances(&bench, Some(&drive.seek));
        let curve = measure(&mut bench, &distances, &mut Meter::idle()).expect("measured");
        for &(distance, ms) in &table.points_ms {
            let seek = curve
                .iter()
                .find(|seek| seek.distance_cylinders == distance)
                .unwrap_or_else(|| panic!("{distance} is missing"));
            assert!((seek.read_ms - ms).abs() < 1e-9, "{seek:?}");
            assert!((seek.write_ms - ms - 0.126).abs() < 1e-9, "{seek:?}");
        }
    }

    /// The parts of a request say how long the head moved. So does the latest issue that still catches a sector in one
    /// certain revolution: it is earlier by the motion than without one.
    #[test]
    fn the_latest_issue_that_is_in_time_tells_the_same() {
        let mut bench = bench("ibm-18es");
        // A minute is a whole number of revolutions: trials that begin at one are alike.
        let mut minutes = 0;
        // When `to` ends that is issued at `issue`, after `from` was read; both from the minute on.
        let mut end_of = |from: u64, to: u64, issue: u64| {
            minutes += 1;
            let wait = Time::from_s(60 * minutes) - bench.now();
            let first = bench.request(wait, Op::Read, from, 1).expect("served");
            let rest = Time::from_ns(issue) - first.response;
            let second = bench.request(rest, Op::Read, to, 1).expect("served");
            issue + second.response.ns()
        };
        let hardware = hardware("ibm-18es").expect("a drive");
        let mechanics = &hardware.mechanics;
        for distance in [1, 2, 10, 777, 3400, 11_377] {
            let (from, to) = apart(&mechanics.layout, distance).expect("a pair");
            let end = end_of(to, to, 50_000_000);
            let mut latest = |from: u64| {
                let (mut in_time, mut late) = (30_000_000, end);
                assert!(end_of(from, to, in_time) <= end);
                while late - in_time > 1 {
                    let issue = u64::midpoint(in_time, late);
                    if end_of(from, to, issue) <= end {
                        in_time = issue;
                    } else {
                        late = issue;
                    }
                }
                in_time
            };
            let found = latest(to) - latest(from);
            assert_eq!(found, mechanics.seek().time(distance).ns(), "{distance}");
        }
    }
}
