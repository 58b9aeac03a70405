//! Access time against distance: seek and rotation together, for random sectors.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::base::error::Error;
use crate::base::random::Stream;
use crate::base::units::Time;
use crate::engine::request::Op;

use super::bench::Bench;
use super::meter::Meter;
use super::places::{random_apart, reach, spaced};

/// The number of evenly spaced distances, and of distances in equal ratios.
const OF_EACH: u32 = 24;
/// Samples between two looks at whether somebody wants to stop.
pub(super) const SAMPLES_PER_STEP: u32 = 4096;

/// Access times of random sectors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// Mean of seek, head switch, settle and rotation together, ms.
    pub mean_ms: f64,
    /// Mean of seek, head switch and settle, ms.
    pub motion_mean_ms: f64,
    /// Half a per cent of the samples take so long at most, ms.
    pub p005_ms: f64,
    /// Half a per cent of the samples take longer, ms.
    pub p995_ms: f64,
    /// The 99 % confidence interval of the mean, ms; `None` for a single sample.
    pub ci99_ms: Option<[f64; 2]>,
    /// How many samples.
    pub samples: u32,
}

/// Access times at one distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Access {
    /// Cylinders between the arm and the sector.
    pub distance_cylinders: u32,
    /// Mean of seek, head switch and rotation together, ms.
    pub mean_ms: f64,
    /// Half a per cent of the samples take so long at most, ms.
    pub p005_ms: f64,
    /// Half a per cent of the samples take longer, ms.
    pub p995_ms: f64,
    /// The 99 % confidence interval of the mean, ms; `None` for a single sample.
    pub ci99_ms: Option<[f64; 2]>,
    /// How many samples.
    pub samples: u32,
}

/// Access times over all distances, as they come about between random sectors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Overall {
    /// Reads.
    pub read: Times,
    /// Writes, each after a read elsewhere.
    pub write: Times,
}

/// Samples of an access time.
pub(super) struct Sample {
    access: Vec<u64>,
    motion: u128,
}

impl Sample {
    pub fn new(samples: u32) -> Sample {
        Sample {
            access: Vec::with_capacity(samples as usize),
            motion: 0,
        }
    }

    /// Reads `from`, then notes what it takes to reach `to` straight after that.
    pub fn add(&mut self, bench: &mut Bench, from: u64, op: Op, to: u64) -> Result<(), Error> {
        bench.read(from)?;
        let served = bench.request(Time::ZERO, op, to, 1)?;
        self.access.push(served.parts.access().ns());
        self.motion += u128::from(served.motion().ns());
        Ok(())
    }

    pub fn times(mut self) -> Times {
        self.access.sort_unstable();
        let n = self.access.len();
        let sum: u128 = self.access.iter().map(|&ns| u128::from(ns)).sum();
        let mean = sum as f64 / n as f64;
        Times {
            mean_ms: mean / 1e6,
            motion_mean_ms: self.motion as f64 / n as f64 / 1e6,
            p005_ms: nearest_rank(&self.access, 5) as f64 / 1e6,
            p995_ms: nearest_rank(&self.access, 995) as f64 / 1e6,
            ci99_ms: ci99(&self.access, mean).map(|ends| ends.map(|ns| ns / 1e6)),
            samples: n as u32,
        }
    }
}

/// The smallest of the sorted values that at least `thousandths` thousandths of them do not exceed.
fn nearest_rank(sorted: &[u64], thousandths: usize) -> u64 {
    let rank = (sorted.len() * thousandths).div_ceil(1000).max(1);
    sorted[rank - 1]
}

/// The 99 % interval of the mean of independent values, by Student's t.
fn ci99(values: &[u64], mean: f64) -> Option<[f64; 2]> {
    let n = values.len() as f64;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.995);
    let squares: f64 = values
        .iter()
        .map(|&value| (value as f64 - mean) * (value as f64 - mean))
        .sum();
    let half = t * libm::sqrt(squares / (n - 1.0) / n);
    Some([mean - half, mean + half])
}

/// The distances that are measured: none at all, the shortest, the longest between cylinders with data, and a spread.
pub fn distances(bench: &Bench) -> Vec<u32> {
    let (first, last) = reach(bench.layout());
    let all = spaced(last - first, 2 * OF_EACH, OF_EACH);
    std::iter::once(0).chain(all).collect()
}

/// Steps of the meter that [`measure`] and [`overall`] take together.
pub fn steps(distances: usize, samples: u32) -> u64 {
    u64::from(samples) * (distances as u64 + 2)
}

/// Reads random sectors at each distance from the one read before.
///
/// # Errors
/// Those of [`Bench::request`], and an interruption.
pub fn measure(
    bench: &mut Bench,
    distances: &[u32],
    samples: u32,
    seed: u64,
    meter: &mut Meter<'_>,
) -> Result<Vec<Access>, Error> {
    let mut stream = Stream::new(seed, "probe.access");
    let mut found = Vec::with_capacity(distances.len());
    for &distance in distances {
        let mut sample = Sample::new(samples);
        for number in 0..samples {
            let Some((from, to)) = random_apart(bench.layout(), distance, &mut stream) else {
                break;
            };
            sample.add(bench, from, Op::Read, to)?;
            if (number + 1) % SAMPLES_PER_STEP == 0 {
                meter.advance(SAMPLES_PER_STEP.into())?;
            }
        }
        meter.advance((samples % SAMPLES_PER_STEP).into())?;
        // A distance at which there are next to no sectors is left out.
        if sample.access.len() == samples as usize {
            let times = sample.times();
            found.push(Access {
                distance_cylinders: distance,
                mean_ms: times.mean_ms,
                p005_ms: times.p005_ms,
                p995_ms: times.p995_ms,
                ci99_ms: times.ci99_ms,
                samples,
            });
        }
    }
    Ok(found)
}

/// Reads and writes random sectors of the whole drive, each after reading another one.
///
/// # Errors
/// Those of [`Bench::request`], and an interruption.
pub fn overall(
    bench: &mut Bench,
    samples: u32,
    seed: u64,
    meter: &mut Meter<'_>,
) -> Result<Overall, Error> {
    let sectors = bench.layout().sectors();
    let mut kind = |op, name| {
        let mut stream = Stream::new(seed, name);
        let mut sample = Sample::new(samples);
        for number in 0..samples {
            let (from, to) = (stream.below(sectors), stream.below(sectors));
            sample.add(bench, from, op, to)?;
            if (number + 1) % SAMPLES_PER_STEP == 0 {
                meter.advance(SAMPLES_PER_STEP.into())?;
            }
        }
        meter.advance((samples % SAMPLES_PER_STEP).into())?;
        Ok::<_, Error>(sample.times())
    };
    Ok(Overall {
        read: kind(Op::Read, "probe.reads")?,
        write: kind(Op::Write, "probe.writes")?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::tests::bench;
    use super::*;
    use crate::devices::drives;
    use crate::runs::simulation::hardware;

    const SAMPLES: u32 = 4000;

    fn between(value: f64, (low, high): (f64, f64)) -> bool {
        (low..=high).contains(&value)
    }

    /// A seek, and a wait that is uniform over a revolution.
    #[test]
    fn access_is_seek_and_half_a_revolution() {
        for name in ["ibm-18es", "cheetah-9lp", "exos-x20"] {
            let (mut bench, hardware) = (bench(name), hardware(name).expect("a drive"));
            let turn = hardware.mechanics.spindle.period().ms();
            let mut meter = Meter::idle();
            let distances = distances(&bench);
            let found = measure(&mut bench, &distances, SAMPLES, 3, &mut meter);
            let found = found.expect("measured");
            assert!(found.len() > 40, "{name}");
            let mut held = 0;
            for access in &found[1..] {
                // Between neighbours a switch to another head may be longer than the seek.
                let seek = hardware
                    .mechanics
                    .seek()
                    .time(access.distance_cylinders)
                    .ms();
                let switch = hardware.mechanics.head_switch.ms();
                let heads = f64::from(hardware.mechanics.layout.surfaces());
                let motion = seek + (switch - seek).max(0.0) * (1.0 - 1.0 / heads);
                let [low, high] = access.ci99_ms.expect("many samples");
                held += usize::from(between(motion + turn / 2.0, (low, high)));
                assert!((access.mean_ms - motion - turn / 2.0).abs() < 0.05 * turn);
                let longest = seek.max(switch);
                let first = (seek, longest + 0.015 * turn);
                let last = (seek + 0.985 * turn, longest + turn);
                assert!(between(access.p005_ms, first), "{name} {access:?}");
                assert!(between(access.p995_ms, last), "{name} {access:?}");
            }
            // 99 of 100 are expected to, so of some 47 all but a few.
            assert!(held + 4 >= found.len() - 1, "{name}: {held}");
        }
    }

    #[test]
    fn all_drives_are_measured_at_every_distance() {
        for name in drives::names_of("hdd") {
            let mut bench = bench(name);
            let distances = distances(&bench);
            let found = measure(&mut bench, &distances, 20, 1, &mut Meter::idle());
            assert_eq!(found.expect("measured").len(), distances.len(), "{name}");
        }
    }

    #[test]
    fn writes_settle_longer() {
        let mut bench = bench("ibm-18es");
        let Overall { read, write } =
            overall(&mut bench, 20_000, 1, &mut Meter::idle()).expect("measured");
        // All but a few move, and settle 0.126 ms; two means of a motion with a deviation of 2.8 ms differ by 0.028 ms.
        let settle = write.motion_mean_ms - read.motion_mean_ms;
        assert!((settle - 0.126).abs() < 0.1, "{settle}");
        assert!(read.mean_ms > read.motion_mean_ms + 4.0);
    }

    #[test]
    fn seeds_decide() {
        let found = |seed| {
            let mut bench = bench("cheetah-9lp-linear");
            measure(&mut bench, &[100], 50, seed, &mut Meter::idle()).expect("measured")
        };
        assert_eq!(found(1), found(1));
        assert_ne!(found(1), found(2));
    }

    #[test]
    fn ranks_and_intervals() {
        let values: Vec<u64> = (1..=1000).collect();
        assert_eq!(nearest_rank(&values, 5), 5);
        assert_eq!(nearest_rank(&values, 995), 995);
        assert_eq!(nearest_rank(&values[..1], 5), 1);
        assert_eq!(nearest_rank(&values[..150], 995), 150);
        assert_eq!(ci99(&[1], 1.0), None);
        // Mean 5.5, standard deviation 3.0277, t(9) = 3.249836.
        let [low, high] = ci99(&values[..10], 5.5).expect("ten values");
        assert!((low - 2.388_519).abs() < 1e-5 && (high - 8.611_481).abs() < 1e-5);
    }
}
