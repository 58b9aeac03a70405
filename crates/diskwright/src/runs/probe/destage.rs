//! How long a drive takes to bring to the medium what its memory has absorbed: in idle time, and for a flush.

use serde::Serialize;

use crate::base::error::Error;
use crate::base::units::{Lbn, Time};
use crate::devices::hdd::drive::DriveDescription;
use crate::devices::hdd::spec::settings::Memory as Kind;
use crate::engine::request::{Command, Op};
use crate::runs::simulation;

use super::ProbeOptions;
use super::load::{Load, Served, Subject};
use super::memory::{Memory, Missing, WriteCache, states};
use super::meter::Meter;
use super::writes::{BYTES, Places};

/// Steps of the meter for a state.
const STEPS: u64 = 10_000;

const NOTHING_IS_ABSORBED: &str = "every write waits for the medium";

/// What becomes of bursts of random writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Destages {
    /// Size of a write, bytes.
    pub request_bytes: u64,
    /// The states of the write cache in which memory absorbs writes.
    pub states: Vec<Destage>,
    /// The others.
    pub missing: Vec<Missing>,
}

/// What becomes of a burst of random writes, one after another, that fills the memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Destage {
    /// The state of the write cache.
    pub write_cache: WriteCache,
    /// Whether the drive ships in it.
    pub ships: bool,
    /// Writes that are complete before the first that would have to wait.
    pub writes: u64,
    /// How much they wrote.
    pub bytes: u64,
    /// From the first one's issue to the last one's completion, ms.
    pub burst_ms: f64,
    /// From then on until the medium has everything, with no requests at all, ms; `None` for a segmented buffer, which waits for no idle
    /// time: the flush at once tells.
    pub idle_destage_ms: Option<f64>,
    /// How long a flush takes after that, ms.
    pub flush_after_idle_ms: f64,
    /// How long a flush takes that comes at the end of the burst, ms.
    pub flush_at_once_ms: f64,
}

/// Writes one after another until one has waited, or none is left.
struct Writing {
    places: Places,
    left: u64,
    absorbed: u64,
    has_waited: bool,
    until: Time,
}

impl Writing {
    fn new(places: Places, left: u64) -> Writing {
        Writing {
            places,
            left,
            absorbed: 0,
            has_waited: false,
            until: Time::ZERO,
        }
    }
}

impl Load for Writing {
    fn next(&mut self, _user: u32) -> Option<Command> {
        if self.has_waited {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        Some(self.places.write())
    }

    fn served(&mut self, served: &Served) {
        self.has_waited = served.has_waited;
        if !served.has_waited {
            self.absorbed += 1;
            self.until = served.at;
        }
    }
}

/// A single flush.
#[derive(Default)]
struct Flushing {
    is_issued: bool,
    response: Time,
}

impl Load for Flushing {
    fn next(&mut self, _user: u32) -> Option<Command> {
        let flush = Command {
            op: Op::Flush,
            fua: false,
            lbn: Lbn(0),
            blocks: 0,
        };
        (!std::mem::replace(&mut self.is_issued, true)).then_some(flush)
    }

    fn served(&mut self, served: &Served) {
        self.response = served.response;
    }
}

/// How long a flush takes that is issued now.
fn flush(subject: &mut Subject, meter: &mut Meter<'_>) -> Result<Time, Error> {
    let mut load = Flushing::default();
    subject.run(1, &mut load, meter)?;
    Ok(load.response)
}

/// Steps of the meter that [`measure`] takes.
pub fn steps(drive: &DriveDescription) -> u64 {
    STEPS * absorbing(drive).0.len() as u64
}

/// The states in which memory absorbs writes, and the others.
fn absorbing(drive: &DriveDescription) -> (Vec<WriteCache>, Vec<Missing>) {
    let (mut there, mut missing) = states(drive);
    let others = there.extract_if(.., |state| !state.absorbs());
    missing.extend(others.map(|write_cache| Missing {
        write_cache,
        reason: NOTHING_IS_ABSORBED,
    }));
    (there, missing)
}

/// Fills the memory in each state in which it absorbs writes.
///
/// # Errors
/// Those of [`Subject::run`].
pub fn measure(
    drive: &str,
    options: &ProbeOptions,
    memory: &Memory,
    meter: &mut Meter<'_>,
) -> Result<Destages, Error> {
    let (there, mut missing) = absorbing(&simulation::drive(drive)?.description);
    let mut states = Vec::new();
    for write_cache in there {
        match of_state(drive, write_cache, options, memory, meter)? {
            Some(destage) => states.push(destage),
            None => missing.push(Missing {
                write_cache,
                reason: NOTHING_IS_ABSORBED,
            }),
        }
        meter.advance(STEPS)?;
    }
    Ok(Destages {
        request_bytes: BYTES,
        states,
        missing,
    })
}

/// Three times the same burst on a drive at rest: to see how long it is, to let it go to the medium in idle time, to flush it.
fn of_state(
    drive: &str,
    write_cache: WriteCache,
    options: &ProbeOptions,
    memory: &Memory,
    meter: &mut Meter<'_>,
) -> Result<Option<Destage>, Error> {
    let mut burst = |most| {
        let drive = simulation::drive(drive)?;
        let places = Places::new(options.seed, drive.hardware.blocks());
        let mut subject = Subject::new(drive, Some(write_cache.is_enabled()))?;
        let mut load = Writing::new(places, most);
        subject.run(1, &mut load, meter)?;
        Ok::<_, Error>((subject, load))
    };
    let writes = burst(memory.most_filling(BYTES))?.1.absorbed;
    if writes == 0 {
        return Ok(None);
    }
    let (mut idle, load) = burst(writes)?;
    let (mut pressed, _) = burst(writes)?;
    let destaged = idle.settle(meter)?;
    let waits_for_idle_time = memory.kind == Kind::Pool;
    Ok(Some(Destage {
        write_cache,
        ships: memory.write_cache == Some(write_cache),
        writes,
        bytes: writes * BYTES,
        burst_ms: load.until.ms(),
        idle_destage_ms: waits_for_idle_time.then(|| (destaged - load.until).ms()),
        flush_after_idle_ms: flush(&mut idle, meter)?.ms(),
        flush_at_once_ms: flush(&mut pressed, meter)?.ms(),
    }))
}
