//! Access time against the distance in blocks, as the device `curve` takes it: of a drive of which no more is to be known.

use std::collections::BTreeSet;

use serde::Serialize;

use super::access::{SAMPLES_PER_STEP, Sample};
use super::bench::Bench;
use super::meter::Meter;
use crate::base::error::Error;
use crate::base::random::Stream;
use crate::engine::request::Op;

/// The number of distances in equal ratios, and of evenly spaced ones.
const IN_RATIOS: u32 = 40;
const EVENLY: u32 = 16;

/// Access times at one distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Blocks of 512 bytes between the end of a request and the beginning of the next, in either direction.
    pub distance_blocks: u64,
    /// Mean of seek, head switch, settle and rotation together, ms.
    pub mean_ms: f64,
    /// Half a per cent of the samples take so long at most, ms.
    pub low_ms: f64,
    /// Half a per cent of the samples take longer, ms.
    pub high_ms: f64,
}

/// The curves of a drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curves {
    /// Reads.
    pub read: Vec<Point>,
    /// Writes.
    pub write: Vec<Point>,
    /// Samples of each point.
    pub samples: u32,
}

/// The distances that are measured, in sectors: from none up to that from one end of the drive to the other.
pub fn distances(sectors: u64) -> Vec<u64> {
    let longest = match sectors {
        0 | 1 => return Vec::new(),
        2 => return vec![0],
        _ => sectors - 2,
    };
    let share = |step: u32, of: u32| f64::from(step) / f64::from(of - 1);
    let ratios =
        (0..IN_RATIOS).map(|step| libm::exp(share(step, IN_RATIOS) * libm::log(longest as f64)));
    let even = (0..EVENLY).map(|step| 1.0 + share(step, EVENLY) * (longest - 1) as f64);
    let distances = ratios
        .chain(even)
        .map(|distance| libm::round(distance) as u64);
    let found: BTreeSet<u64> = distances
        .map(|distance| distance.clamp(1, longest))
        .chain([0])
        .collect();
    found.into_iter().collect()
}

/// Two random sectors of which the second is so far from the end of the first.
fn apart(sectors: u64, distance: u64, stream: &mut Stream) -> (u64, u64) {
    // Backwards from nowhere is forwards.
    if distance == 0 || stream.below(2) == 0 {
        let from = stream.below(sectors - 1 - distance);
        (from, from + 1 + distance)
    } else {
        let to = stream.below(sectors + 1 - distance);
        (to + distance - 1, to)
    }
}

/// Steps of the whole measurement.
pub fn steps(distances: usize, samples: u32) -> u64 {
    2 * distances as u64 * u64::from(samples)
}

/// Reads and writes sectors at all these distances.
///
/// # Errors
/// Those of [`Bench::request`], and an interruption.
pub fn measure(
    bench: &mut Bench,
    distances: &[u64],
    samples: u32,
    seed: u64,
    meter: &mut Meter<'_>,
) -> Result<Curves, Error> {
    let sectors = bench.layout().sectors();
    let per_sector = u64::from(bench.blocks_per_sector());
    let mut curve = |op, name| {
        let mut stream = Stream::new(seed, name);
        let mut points = Vec::with_capacity(distances.len());
        for &distance in distances {
            let mut sample = Sample::new(samples);
            for number in 0..samples {
                let (from, to) = apart(sectors, distance, &mut stream);
                sample.add(bench, from, op, to)?;
                if (number + 1) % SAMPLES_PER_STEP == 0 {
                    meter.advance(SAMPLES_PER_STEP.into())?;
                }
            }
            meter.advance((samples % SAMPLES_PER_STEP).into())?;
            let times = sample.times();
            points.push(Point {
                distance_blocks: distance * per_sector,
                mean_ms: times.mean_ms,
                // Of some hundreds of samples the mean may lie outside of what nearly all of them take.
                low_ms: times.p005_ms.min(times.mean_ms),
                high_ms: times.p995_ms.max(times.mean_ms),
            });
        }
        Ok::<_, Error>(points)
    };
    Ok(Curves {
        read: curve(Op::Read, "probe.curve.reads")?,
        write: curve(Op::Write, "probe.curve.writes")?,
        samples,
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::tests::bench;
    use super::*;

    #[test]
    fn pairs_are_on_the_drive_and_as_far_apart_as_they_should_be() {
        let mut stream = Stream::new(1, "pairs");
        for sectors in [2, 3, 10, 1_000] {
            for distance in 0..=sectors - 2 {
                for _ in 0..50 {
                    let (from, to) = apart(sectors, distance, &mut stream);
                    assert!(from < sectors && to < sectors);
                    assert_eq!((from + 1).abs_diff(to), distance);
                }
            }
        }
    }

    #[test]
    fn distances_reach_from_end_to_end() {
        assert!(distances(1).is_empty());
        for sectors in [2, 3, 100, 5_000_000_000] {
            let found = distances(sectors);
            assert!(found.is_sorted() && found[0] == 0);
            assert_eq!(found[found.len() - 1], sectors - 2);
        }
        assert!(distances(17_000_000).len() > 50);
    }

    /// Over zones and skews the wait is uniform over a turn: the interval is a turn wide and some more, for the seeks differ, and
    /// the mean is in its middle.
    #[test]
    fn far_accesses_take_a_seek_and_half_a_turn() {
        let mut bench = bench("ibm-18es");
        let sectors = bench.layout().sectors();
        let found = measure(&mut bench, &[sectors / 2], 4_000, 1, &mut Meter::idle());
        let Curves { read, write, .. } = found.expect("measured");
        for point in [read[0], write[0]] {
            let turn = 60_000.0 / 7_200.0;
            let width = point.high_ms - point.low_ms;
            assert!((0.95..1.25).contains(&(width / turn)), "{point:?}");
            let middle = (point.high_ms + point.low_ms) / 2.0;
            assert!((point.mean_ms - middle).abs() < 0.05 * turn, "{point:?}");
        }
    }
}
