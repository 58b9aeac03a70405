//! The `[workload.processes]` part of a spec.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::DistributionSpec;
use crate::base::error::InputError;
use crate::base::units::{Share, Size, Time};

/// Processes on simulated processors, each of which computes, makes a request, and waits for it or not: the synthetic generators of
/// DiskSim 4.0, request for request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessesSpec {
    /// The run ends at once when a process plans its next request and all processes together have gone on from this many requests. What is under way
    /// then is not counted.
    pub requests: u64,
    /// The run ends at once when a process plans its next request at this instant or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// How many processors there are. A process keeps its processor while it computes, and gives it up only to wait for a request: with
    /// fewer processors than processes that do not wait, some never make a request.
    #[serde(default = "one")]
    pub processors: u32,
    /// What becomes of a processor that has no process to go on with.
    #[serde(default)]
    pub idle_processors: IdleProcessors,
    /// What the time of all computing is multiplied by.
    #[serde(default = "unscaled")]
    pub time_scale: f64,
    /// The seed of the first request of each generator, of which the lowest 32 bits count. Default: the spec's `seed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seed: Option<u64>,
    /// The seed of all requests after the first ones: DiskSim has a constant here.
    #[serde(default = "later_seed")]
    pub later_seed: u64,
    /// The generators, each of which is a process.
    pub generator: Vec<GeneratorSpec>,
}

/// What becomes of a processor that has no process to go on with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleProcessors {
    /// It is not used again, unless it is the first one: as in DiskSim 4.0, where all interrupts are handled by the first one.
    #[default]
    Lost,
    /// It goes on with the next process that has waited.
    Resumed,
}

/// One generator of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratorSpec {
    /// The name under which its requests are reported. Default: its place, `generator[0]`, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The numbers of its devices, one of which is drawn for each request that is neither sequential nor local: `workload.devices` says where
    /// they are. Default: the one device there is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<u32>,
    /// How much of each device it uses, from its beginning. Default: all of the smallest one. Up to 1 % more is accepted; requests past the
    /// end are mapped, their place modulo the device's capacity, and counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Size>,
    /// Places and sizes are multiples of this. A capacity that is none is not used to its end.
    #[serde(default = "block")]
    pub unit: Size,
    /// The share of requests that begin where the one before has ended, with its size, its device and its direction.
    #[serde(default)]
    pub sequential: Share,
    /// The share of requests that are at a distance from the one before, on the same device.
    #[serde(default)]
    pub local: Share,
    /// The share of reads; all others are writes.
    #[serde(default = "all")]
    pub reads: Share,
    /// The share of time-critical requests: the process waits for them.
    #[serde(default)]
    pub critical: Share,
    /// The share of time-limited requests: the process waits for them if they are under way when their time is over.
    #[serde(default)]
    pub limited: Share,
    /// The time of time-limited requests, in ms; needed where there are some. Drawn again while it is below 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<DistributionSpec>,
    /// The time for which the process computes before a request, in ms; drawn again while it is below 0.
    pub gap_ms: DistributionSpec,
    /// The same before a sequential request. Default: that of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_gap_ms: Option<DistributionSpec>,
    /// The same before a local request. Default: that of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_gap_ms: Option<DistributionSpec>,
    /// From the first block of the request before to that of a local one, in blocks; needed where there are some. Rounded towards 0
    /// to whole units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance_blocks: Option<DistributionSpec>,
    /// The sizes of requests, in blocks: rounded towards 0 to a block, then up to whole units. Drawn again while it is 0 or less, or does not
    /// fit, together with the place.
    pub size_blocks: DistributionSpec,
}

/// The constant that DiskSim 4.0 seeds its random numbers with once the first requests are drawn.
pub(crate) const LATER_SEED: u64 = 1_000_003;

fn later_seed() -> u64 {
    LATER_SEED
}

fn one() -> u32 {
    1
}

fn unscaled() -> f64 {
    1.0
}

fn all() -> Share {
    Share::new(1.0).expect("1 is a share")
}

fn block() -> Size {
    Size::from_blocks(1)
}

/// More processors than this are a mistake.
const MOST_PROCESSORS: u32 = 1 << 16;

fn wrong(what: impl std::fmt::Display) -> InputError {
    InputError::new(format!("workload.processes.{what}"))
}

impl ProcessesSpec {
    /// Refuses what makes no sense on any device.
    ///
    /// # Errors
    /// The key concerned is in the message, with what was found and what is accepted.
    pub fn check(&self) -> Result<(), InputError> {
        if self.requests == 0 {
            return Err(wrong("requests is 0: expected 1 or more"));
        }
        if !(1..=MOST_PROCESSORS).contains(&self.processors) {
            let found = self.processors;
            return Err(wrong(format_args!(
                "processors is {found}: expected 1 to {MOST_PROCESSORS}"
            )));
        }
        if !(self.time_scale.is_finite() && self.time_scale >= 0.0) {
            let found = self.time_scale;
            return Err(wrong(format_args!(
                "time_scale is {found}: expected a number from 0"
            )));
        }
        if self.generator.is_empty() {
            return Err(wrong(
                "generator has no generators: expected one or more tables [[workload.processes.generator]]",
            ));
        }
        for (index, generator) in self.generator.iter().enumerate() {
            generator.check(index)?;
        }
        Ok(())
    }
}

impl GeneratorSpec {
    /// An error about a key of the generator of this number.
    pub(super) fn wrong(index: usize, what: impl std::fmt::Display) -> InputError {
        wrong(format_args!("generator[{index}].{what}"))
    }

    fn check(&self, index: usize) -> Result<(), InputError> {
        let wrong = |what: String| Err(Self::wrong(index, what));
        for (first, second, keys) in [
            (self.sequential, self.local, "sequential and local"),
            (self.critical, self.limited, "critical and limited"),
        ] {
            let sum = first.value() + second.value();
            // Two shares as they are written may add up to a little more than 1.
            if sum > 1.0 + 1e-9 {
                return wrong(format!("{keys} are {sum} together: expected at most 1"));
            }
        }
        if self.unit.blocks() == 0 {
            return wrong("unit is 0 blocks: expected 1 or more".to_owned());
        }
        if self.unit.blocks() > u64::from(u32::MAX) {
            let (unit, most) = (self.unit, u32::MAX);
            return wrong(format!("unit is {unit}: expected at most {most} blocks"));
        }
        let needed = [
            (self.limited, &self.limit_ms, "limited", "limit_ms"),
            (
                self.local,
                &self.distance_blocks,
                "local",
                "distance_blocks",
            ),
        ];
        for (share, distribution, key, needs) in needed {
            if share.value() > 0.0 && distribution.is_none() {
                let share = share.value();
                return wrong(format!("{needs} is missing: {key} is {share}"));
            }
        }
        let distributions = [
            ("limit_ms", self.limit_ms.as_ref()),
            ("gap_ms", Some(&self.gap_ms)),
            ("sequential_gap_ms", self.sequential_gap_ms.as_ref()),
            ("local_gap_ms", self.local_gap_ms.as_ref()),
            ("distance_blocks", self.distance_blocks.as_ref()),
            ("size_blocks", Some(&self.size_blocks)),
        ];
        for (key, distribution) in distributions {
            if let Some(Err(what)) = distribution.map(DistributionSpec::check) {
                return wrong(format!("{key}: {what}"));
            }
        }
        Ok(())
    }
}
