//! Where requests come from: traces in their formats, synthetic load, and fio's job files, which become synthetic load.

mod clone_options;
mod convert;
mod devices;
mod extents;
pub mod fio;
mod fitted;
pub mod formats;
mod input;
mod inspection;
pub mod opening;
mod output;
mod places;
pub mod processes;
mod profile;
mod record;
mod selection;
mod spec;
pub mod synthetic;
pub mod synthetic_clone;
mod text;
mod writing;

use std::path::Path;

use serde_json::{Map, Value};

use crate::base::error::Error;
use crate::base::units::Time;
use crate::engine::request::Command;

use self::processes::{PlannedRequest, ProcessRules, Processes};
use self::selection::Selection;
use self::synthetic::{StreamPlan, Synthetic};

pub(crate) use self::devices::Devices;
pub(crate) use self::formats::files_beside;

pub use self::clone_options::SyntheticCloneOptions;
pub use self::convert::{Conversion, ConvertOptions, convert};
pub use self::fio::FioSpec;
pub use self::fitted::FittedWorkload;
pub use self::formats::{
    BlkEvent, BlktraceOptions, CsvOptions, Format, FormatOptions, TraceReader,
};
pub use self::input::Input;
pub use self::inspection::{DeviceSummary, InspectOptions, Inspection, inspect};
pub use self::opening::{FORMATS, FormatSummary, format_of, open, open_input, summaries};
pub use self::output::Output;
pub use self::places::DevicePlace;
pub use self::processes::ProcessesSpec;
pub use self::profile::{
    ArrivalProfile, BurstProfile, Class, ClassSizes, Classes, DirectionProfile, Dispersion,
    LogHistogram, Profile, ReferenceProfile, RunProfile, SizeCount, SizeProfile, Sizes,
    SpaceProfile, Summary,
};
pub use self::record::{Record, Recorded};
pub use self::spec::{BadSize, DeviceChoice, OutOfOrder, Pace, PastEnd, WorkloadSpec};
pub use self::synthetic::SyntheticSpec;
pub use self::synthetic_clone::SyntheticCloneSpec;
pub use self::writing::{Holds, Losses, TraceWriter, Writing};

/// A request that is to be handed to the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// When, if the pacing is open; under a closed pacing, what the trace recorded, or 0.
    pub at: Time,
    /// What is asked.
    pub command: Command,
    /// Of which of the load's [streams](Workload::streams) it is, from 0.
    pub stream: u32,
}

impl Arrival {
    /// Becomes another one, where there is one: whether there is.
    fn becomes(&mut self, other: Option<Arrival>) -> bool {
        if let Some(other) = other {
            *self = other;
        }
        other.is_some()
    }
}

/// What became of the trace's records so far, in requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records read from the trace; 0 for a synthetic load.
    pub trace: u64,
    /// Left out, whatever the reason.
    pub skipped: u64,
    /// Cut to fit the drive.
    pub clipped: u64,
    /// Moved to another address or time.
    pub mapped: u64,
}

impl Counts {
    /// As they stand in a result.
    pub fn json(&self) -> Map<String, Value> {
        let counts = [
            ("trace", self.trace),
            ("skipped", self.skipped),
            ("clipped", self.clipped),
            ("mapped", self.mapped),
        ];
        let counts = counts.into_iter();
        counts
            .map(|(key, count)| (key.to_owned(), count.into()))
            .collect()
    }
}

/// How the host is to pull the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// At [`Arrival::at`].
    Open,
    /// Whenever a user is free and has thought.
    Closed {
        /// How many users; the host's outstanding limit when not given.
        users: Option<u32>,
    },
    /// Each stream by its [plan](Workload::take_plans).
    Planned,
    /// By [processes](Workload::process_rules) on simulated processors.
    Processes,
}

/// The requests of a spec, one after the other.
pub struct Workload {
    source: Source,
    pacing: Pacing,
    /// What of the spec's job file was not understood as it says.
    notes: Vec<String>,
}

enum Source {
    Trace {
        reader: Box<dyn TraceReader>,
        selection: Box<Selection>,
    },
    Synthetic(Box<Synthetic>),
    Processes(Box<Processes>),
}

impl Workload {
    /// Begins with the requests of `spec` for a drive of `capacity_blocks`; relative paths start at `base`.
    ///
    /// # Errors
    /// A spec that contradicts itself or does not fit the drive, a trace that cannot be read or is of several devices when
    /// none is chosen.
    pub fn open(
        spec: &WorkloadSpec,
        base: &Path,
        seed: u64,
        capacity_blocks: u64,
    ) -> Result<Workload, Error> {
        spec.fit(base, capacity_blocks)?.open(seed)
    }

    /// The places of a synthetic load that prefers some, of its first size, from the most popular one on; `None` for other loads.
    pub fn popular_places(&self) -> Option<impl Iterator<Item = Command> + '_> {
        match &self.source {
            Source::Synthetic(synthetic) => synthetic.popular_places(),
            Source::Trace { .. } | Source::Processes(_) => None,
        }
    }

    /// The next request, or `None` after the last one.
    ///
    /// # Errors
    /// A record that cannot be read or that a policy refuses, with its place in the trace.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a request can fail to be read"
    )]
    pub fn next(&mut self) -> Result<Option<Arrival>, Error> {
        match &mut self.source {
            Source::Synthetic(synthetic) => synthetic.draw(),
            Source::Processes(processes) => {
                let next = processes.in_turn()?;
                Ok(next.map(|(generator, planned)| Arrival {
                    at: Time::ZERO,
                    command: planned.command,
                    stream: generator as u32,
                }))
            }
            Source::Trace { reader, selection } => selection.next(&mut **reader),
        }
    }

    /// The next request of a user of a closed load, from 0, or `None` when there is nothing left for that user.
    ///
    /// # Errors
    /// As [`Self::next`].
    #[inline]
    pub fn next_for(&mut self, user: u32) -> Result<Option<Arrival>, Error> {
        let mut next = Arrival::default();
        Ok(self.fill_for(user, &mut next)?.then_some(next))
    }

    /// [`Self::next_for`], written where it is wanted: `false` when there is nothing left for the user.
    ///
    /// # Errors
    /// As [`Self::next`].
    #[inline(always)]
    pub fn fill_for(&mut self, user: u32, next: &mut Arrival) -> Result<bool, Error> {
        match &mut self.source {
            Source::Synthetic(synthetic) => synthetic.fill_for(user, next),
            Source::Trace { .. } | Source::Processes(_) => self.fill_recorded(next),
        }
    }

    /// The same of what is recorded.
    #[inline(never)]
    fn fill_recorded(&mut self, next: &mut Arrival) -> Result<bool, Error> {
        Ok(next.becomes(self.next()?))
    }

    /// Whether it is a single synthetic load, of which the next request is the same whoever makes it.
    pub fn is_one_load(&self) -> bool {
        match &self.source {
            Source::Synthetic(synthetic) => synthetic.is_one_load(),
            Source::Trace { .. } | Source::Processes(_) => false,
        }
    }

    /// How long a user of a closed load waits from a completion to the next request.
    #[inline]
    pub fn think(&mut self, user: u32) -> Time {
        match &mut self.source {
            Source::Synthetic(synthetic) => synthetic.think(user),
            Source::Trace { .. } | Source::Processes(_) => Time::ZERO,
        }
    }

    /// The plans of the load's streams, in their order; none where the pacing is not [`Pacing::Planned`].
    pub fn take_plans(&mut self) -> Vec<StreamPlan> {
        match &mut self.source {
            Source::Synthetic(synthetic) => synthetic.take_plans(),
            Source::Trace { .. } | Source::Processes(_) => Vec::new(),
        }
    }

    /// The rules of the load's processes, where the pacing is [`Pacing::Processes`].
    pub fn process_rules(&self) -> ProcessRules {
        match &self.source {
            Source::Processes(processes) => processes.rules(),
            Source::Synthetic(_) | Source::Trace { .. } => ProcessRules::default(),
        }
    }

    /// What the process of a generator, from 0, does next.
    ///
    /// # Errors
    /// A distribution of the generator has nothing that fits.
    ///
    /// # Panics
    /// The load has no processes.
    pub fn plan_of(&mut self, generator: usize) -> Result<PlannedRequest, Error> {
        match &mut self.source {
            Source::Processes(processes) => processes.plan(generator),
            Source::Synthetic(_) | Source::Trace { .. } => {
                unreachable!("only processes ask for plans")
            }
        }
    }

    /// Writes the next request of a stream with a plan where it is wanted: `false` after its last one. Its time is from the stream's
    /// beginning.
    ///
    /// # Errors
    /// As [`Self::next`].
    #[inline]
    pub fn fill_of(&mut self, stream: u32, next: &mut Arrival) -> Result<bool, Error> {
        match &mut self.source {
            Source::Synthetic(synthetic) => synthetic.fill_of(stream, next),
            Source::Trace { .. } | Source::Processes(_) => Ok(false),
        }
    }

    /// Whether a stream with a plan has no request left.
    #[inline]
    pub fn is_at_end(&mut self, stream: u32) -> bool {
        match &mut self.source {
            Source::Synthetic(synthetic) => synthetic.is_at_end(stream),
            Source::Trace { .. } | Source::Processes(_) => true,
        }
    }

    /// Whether the next request of a stream with a plan is a flush that follows a number of writes: no rate holds it back.
    #[inline]
    pub fn has_flush_next(&mut self, stream: u32) -> bool {
        match &mut self.source {
            Source::Synthetic(synthetic) => synthetic.has_flush_next(stream),
            Source::Trace { .. } | Source::Processes(_) => false,
        }
    }

    /// The names of the streams that the requests come from, as they are reported, where the load has several or a name.
    pub fn streams(&self) -> Vec<String> {
        match &self.source {
            Source::Synthetic(synthetic) => synthetic.names().to_vec(),
            Source::Processes(processes) => processes.names().to_vec(),
            Source::Trace { .. } => Vec::new(),
        }
    }

    /// How the host is to pull.
    pub fn pacing(&self) -> Pacing {
        self.pacing
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        match &self.source {
            Source::Synthetic(_) => Counts::default(),
            Source::Processes(processes) => Counts {
                mapped: processes.mapped(),
                ..Counts::default()
            },
            Source::Trace { reader, selection } => {
                let counts = selection.counts();
                Counts {
                    trace: counts.trace + reader.discarded(),
                    skipped: counts.skipped + reader.discarded(),
                    ..counts
                }
            }
        }
    }

    /// How many requests there are in all, where that is known without reading them.
    pub fn total_hint(&self) -> Option<u64> {
        match &self.source {
            Source::Synthetic(synthetic) => synthetic.total(),
            Source::Processes(processes) => Some(processes.rules().requests),
            Source::Trace { .. } => None,
        }
    }

    /// Whether requests can be drawn without end: time alone ends the load.
    pub fn is_endless(&self) -> bool {
        match &self.source {
            Source::Synthetic(synthetic) => synthetic.is_endless(),
            Source::Trace { .. } | Source::Processes(_) => false,
        }
    }

    /// What the user should know of how the requests so far were read, without doubting them.
    pub fn notes(&self) -> Vec<String> {
        match &self.source {
            Source::Synthetic(_) | Source::Processes(_) => Vec::new(),
            Source::Trace { reader, selection } => {
                let mut notes = reader.notes();
                notes.extend(selection.notes());
                notes
            }
        }
    }

    /// What makes results of the requests so far doubtful.
    pub fn warnings(&self) -> Vec<String> {
        match &self.source {
            Source::Synthetic(load) => {
                let mut warnings = self.notes.clone();
                warnings.append(&mut load.warnings());
                warnings
            }
            Source::Processes(_) => Vec::new(),
            Source::Trace { reader, selection } => {
                let mut warnings = reader.warnings();
                warnings.extend(selection.warnings());
                warnings
            }
        }
    }
}

#[cfg(test)]
mod tests;
