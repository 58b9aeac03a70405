//! The period of a revolution, from reading one sector again and again.

use crate::base::error::Error;
use crate::base::units::Time;
use crate::engine::request::Op;

use super::bench::Bench;

/// How long revolutions are counted. At a whole number of revolutions a minute it makes the answer exact; at any other
/// speed a nanosecond's rounding is spread over all of them.
const COUNTED: Time = Time::from_s(60);

/// The turning of a platter, as measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turning {
    revolutions: u64,
    elapsed: Time,
}

impl Turning {
    /// The time of a revolution, ms.
    pub fn revolution_ms(&self) -> f64 {
        self.elapsed.ms() / self.revolutions as f64
    }
    /// Revolutions a minute.
    pub fn rpm(&self) -> f64 {
        self.revolutions as f64 * 60e9 / self.elapsed.ns() as f64
    }
}

/// Counts revolutions for a minute.
///
/// A sector that was just read ends at a fixed angle. Reading it again takes a whole number of revolutions, however late
/// the request comes, and one more where it came too late for the one before: the step is a revolution. Longer and longer
/// spans, each short enough to be sure of the count, then make it exact.
///
/// # Errors
/// Those of [`Bench::request`].
pub fn measure(bench: &mut Bench) -> Result<Turning, Error> {
    let again = |bench: &mut Bench, pause: u64| -> Result<u64, Error> {
        bench.read(0)?;
        let pause = Time::from_ns(pause);
        Ok((pause + bench.request(pause, Op::Read, 0, 1)?.response).ns())
    };
    let soonest = again(bench, 0)?;
    // The ends of a sector are rounded: a nanosecond more is no revolution.
    let step_of = |elapsed: u64| elapsed.checked_sub(soonest).filter(|&step| step > 1);
    let (mut early, mut late) = (0, 1);
    let mut step = loop {
        match step_of(again(bench, late)?) {
            Some(step) => break step,
            None => (early, late) = (late, 2 * late),
        }
    };
    // A request that is the shortest time too late misses exactly one revolution.
    while late - early > 1 {
        let pause = u64::midpoint(early, late);
        match step_of(again(bench, pause)?) {
            Some(missed) => (late, step) = (pause, missed),
            None => early = pause,
        }
    }
    let mut turning = Turning {
        revolutions: 1,
        elapsed: Time::from_ns(step),
    };
    let mut span = step;
    while span < COUNTED.ns() {
        span = (2 * span).min(COUNTED.ns());
        let elapsed = again(bench, span.saturating_sub(soonest))?;
        let revolution = turning.elapsed.ns() as f64 / turning.revolutions as f64;
        turning = Turning {
            revolutions: libm::round(elapsed as f64 / revolution) as u64,
            elapsed: Time::from_ns(elapsed),
        };
    }
    Ok(turning)
}

#[cfg(test)]
mod tests {
    use super::super::bench::tests::bench;
    use super::*;
    use crate::base::units::quantities::Rotation;
    use crate::devices::drives;
    use crate::runs::simulation::drive;

    fn turning_at(rotation: &str, overhead: Time) -> (Turning, Rotation) {
        let rotation = rotation.parse().expect("a speed of rotation");
        let mut drive = drive("ibm-18es").expect("a drive of the library");
        drive.description.rotation = rotation;
        drive.description.overhead.read_after_read = overhead;
        drive.hardware = drive.description.hardware().expect("a sound drive");
        let mut bench = Bench::new(drive).expect("a sound drive");
        let turning = measure(&mut bench).expect("a measurement");
        (turning, rotation)
    }

    #[test]
    fn whole_speeds_come_out_exactly() {
        for name in drives::names_of("hdd") {
            let summary = crate::runs::simulation::drive_summary(name).expect("a sound drive");
            let turning = measure(&mut bench(name)).expect("a measurement");
            assert_eq!(Some(turning.rpm()), summary["rpm"].as_f64(), "{name}");
        }
    }

    #[test]
    fn any_speed_and_any_overhead_will_do() {
        for speed in [
            "10 rpm",
            "59 rpm",
            "5396 rpm",
            "1000000 rpm",
            "10044.5 rpm",
            "8.333 ms",
            "6 s",
        ] {
            for overhead in [Time::ZERO, Time::from_us(700), Time::from_ms(20)] {
                let (turning, rotation) = turning_at(speed, overhead);
                let off = turning.revolution_ms() / 1e3 / rotation.period_s() - 1.0;
                // A nanosecond in a minute.
                assert!(off.abs() < 2e-11, "{speed}, {overhead}: {turning:?}");
            }
        }
    }
}
