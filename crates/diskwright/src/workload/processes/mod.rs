//! Processes that make requests: DiskSim's synthetic generators. What each process is doing, and on which processor, is the host's business.

mod distribution;
mod generator;
mod random;
mod spec;

use crate::base::error::{Error, InputError};
use crate::base::units::{Lbn, Time};
use crate::engine::request::{Class, Command, Op};

use self::generator::{Draft, Generator};
use self::random::Random48;

pub use self::distribution::{
    DistributionSpec, ExponentialDistribution, NormalDistribution, PoissonDistribution,
    TwoValueDistribution, UniformDistribution,
};
pub(crate) use self::spec::LATER_SEED;
pub use self::spec::{GeneratorSpec, IdleProcessors, ProcessesSpec};

/// A request that a process is going to make.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannedRequest {
    /// How long the process computes before it, in ms.
    pub gap_ms: f64,
    /// How long after the request the process waits for it if it is still under way, in ms; of a time-limited request.
    pub limit_ms: Option<f64>,
    /// Whether the process waits for it.
    pub class: Class,
    /// What is asked.
    pub command: Command,
}

/// The rules that processes are run by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessRules {
    /// How many generators there are, each of which is a process.
    pub generators: usize,
    /// How many processors there are.
    pub processors: u32,
    /// What becomes of idle ones.
    pub idle: IdleProcessors,
    /// What the time of computing is multiplied by.
    pub time_scale: f64,
    /// The run ends when a process goes on from a request and so many have been gone on from.
    pub requests: u64,
    /// The run ends when a process goes on from a request then or later.
    pub end: Time,
}

/// Where a device that generators name begins, on the one that takes the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The device's number.
    pub device: u32,
    /// Its first block.
    pub begin: u64,
    /// Its blocks.
    pub blocks: u64,
}

/// The generators of a load.
pub struct Processes {
    rules: ProcessRules,
    generators: Vec<Generator>,
    /// Where the devices of each generator begin.
    begins: Vec<Vec<u64>>,
    names: Vec<String>,
    /// The first request of each, until it is taken.
    first: Vec<Option<Draft>>,
    random: Random48,
    /// Whose turn it is when nobody says, and how many requests have been drawn so.
    turn: usize,
    drawn: u64,
}

impl Processes {
    /// Prepares the load for devices in these regions of the one that takes the requests, and draws the first request of each generator.
    ///
    /// # Errors
    /// A value that makes no sense or does not fit the devices; the message names its key.
    pub fn new(
        spec: &ProcessesSpec,
        seed: u64,
        regions: &[Region],
    ) -> Result<Processes, InputError> {
        spec.check()?;
        let (mut generators, mut begins) = (Vec::new(), Vec::new());
        for (index, generator) in spec.generator.iter().enumerate() {
            let of_generator = regions_of(generator, index, regions)?;
            let smallest = of_generator.iter().map(|region| region.blocks).min();
            let smallest = smallest.expect("a generator has a device");
            let blocks = generator
                .capacity
                .map_or(smallest, |capacity| capacity.blocks());
            if blocks > smallest {
                let what = format_args!(
                    "capacity is {blocks} blocks: expected at most the {smallest} of its smallest device"
                );
                return Err(GeneratorSpec::wrong(index, what));
            }
            let devices = of_generator.len();
            generators.push(Generator::new(generator, index, devices, blocks)?);
            begins.push(of_generator.iter().map(|region| region.begin).collect());
        }
        let mut random = Random48::new(spec.first_seed.unwrap_or(seed));
        let mut first = vec![None; generators.len()];
        for (generator, first) in generators.iter_mut().zip(&mut first).rev() {
            *first = Some(generator.next(&mut random)?);
        }
        let has_names = spec.generator.len() > 1;
        let name = |(index, generator): (usize, &GeneratorSpec)| match &generator.name {
            Some(name) => Some(name.clone()),
            None => has_names.then(|| format!("generator[{index}]")),
        };
        Ok(Processes {
            rules: ProcessRules {
                generators: generators.len(),
                processors: spec.processors,
                idle: spec.idle_processors,
                time_scale: spec.time_scale,
                requests: spec.requests,
                end: spec.duration.unwrap_or(Time::MAX),
            },
            names: spec.generator.iter().enumerate().filter_map(name).collect(),
            generators,
            begins,
            first,
            random: Random48::new(spec.later_seed),
            turn: 0,
            drawn: 0,
        })
    }

    /// The names that requests are reported under, one for each generator; none where there is nothing to tell apart.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rules that the processes are run by.
    pub fn rules(&self) -> ProcessRules {
        self.rules
    }

    /// The next request of a generator, from 0.
    ///
    /// # Errors
    /// A distribution has nothing that fits.
    pub fn plan(&mut self, generator: usize) -> Result<PlannedRequest, Error> {
        let draft = match self.first[generator].take() {
            Some(first) => first,
            None => self.generators[generator].next(&mut self.random)?,
        };
        let unit = self.generators[generator].unit();
        let begin = self.begins[generator][draft.device];
        Ok(PlannedRequest {
            gap_ms: draft.gap_ms,
            limit_ms: draft.limit_ms,
            class: draft.class,
            command: Command {
                op: if draft.is_read { Op::Read } else { Op::Write },
                fua: false,
                lbn: Lbn(begin + draft.place as u64 * unit),
                blocks: (draft.size as u64 * unit) as u32,
            },
        })
    }

    /// The next request of the generators in turn, for those who want requests without a run; `None` after the load's number.
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub fn in_turn(&mut self) -> Result<Option<(usize, PlannedRequest)>, Error> {
        if self.drawn == self.rules.requests {
            return Ok(None);
        }
        self.drawn += 1;
        let generator = self.turn;
        self.turn = (generator + 1) % self.generators.len();
        Ok(Some((generator, self.plan(generator)?)))
    }
}

/// The regions of a generator's devices, in its order.
fn regions_of(
    generator: &GeneratorSpec,
    index: usize,
    regions: &[Region],
) -> Result<Vec<Region>, InputError> {
    if generator.devices.is_empty() {
        return match regions {
            [one] => Ok(vec![*one]),
            _ => Err(GeneratorSpec::wrong(
                index,
                format_args!("devices is missing: {}", known(regions)),
            )),
        };
    }
    let region = |&device: &u32| {
        let found = regions.iter().find(|region| region.device == device);
        found.copied().ok_or_else(|| {
            GeneratorSpec::wrong(
                index,
                format_args!("devices has {device}: {}", known(regions)),
            )
        })
    };
    generator.devices.iter().map(region).collect()
}

/// Which devices there are.
fn known(regions: &[Region]) -> String {
    let numbers = regions.iter().map(|region| region.device.to_string());
    let numbers: Vec<_> = numbers.collect();
    format!(
        "the load's devices are {} ([[workload.devices]] says where they are)",
        numbers.join(", ")
    )
}
