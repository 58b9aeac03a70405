//! What is to be measured: the options, checked.

use super::capacity::{Capacity, CapacityAmount};
use super::policies::Policy;
use super::stack::Counts;
use super::{MissRatioOptions, Sample};
use crate::base::error::{Error, InputError, unknown_name};
use crate::base::units::Size;
use crate::models::cache::replacement::CustomReplacements;

/// What a cache can hold.
const GRANULARITIES: [&str; 2] = ["block", "object"];
/// The most independent samples.
const MOST_SAMPLES: u32 = 1_000;
/// Caches of more frames than this together, some hundred megabytes, are not made before it is known whether there are as many
/// objects.
const ROOMY: u64 = 1 << 23;

/// Options that make sense.
pub(super) struct Plan {
    pub(super) policies: Vec<Policy>,
    /// What policies may be beside those of the registry.
    pub(super) replacements: CustomReplacements,
    pub(super) listed: Vec<Capacity>,
    /// The size of a cache's block; none where a request is an object.
    pub(super) block: Option<Size>,
    /// Empty where all objects are looked at.
    pub(super) samples: Vec<Sample>,
    /// The share of the objects that are.
    pub(super) rate: f64,
    pub(super) seed: u64,
}

impl Plan {
    /// # Errors
    /// Options that make no sense.
    pub(super) fn new(options: &MissRatioOptions) -> Result<Plan, Error> {
        let granularity = options.granularity.as_str();
        if !GRANULARITIES.contains(&granularity) {
            return Err(unknown_name("granularity", granularity, &GRANULARITIES).into());
        }
        let block = (granularity == "block").then_some(options.block_size);
        if options.block_size.blocks() == 0 {
            return Err(Error::input("blocks of a cache have 512 bytes or more"));
        }
        let rate = options.sample.unwrap_or(1.0);
        if !(rate > 0.0 && rate <= 1.0) {
            let message = format!(
                "a sample of {rate} of the objects: expected a share above 0 and up to 1, such as 0.01"
            );
            return Err(Error::input(message));
        }
        if !(1..=MOST_SAMPLES).contains(&options.sample_seeds) {
            let message = format!(
                "{} samples: expected 1 to {MOST_SAMPLES}",
                options.sample_seeds
            );
            return Err(Error::input(message));
        }
        let samples = if rate < 1.0 {
            Sample::several(rate, options.sample_seeds, options.seed)
        } else {
            Vec::new()
        };
        Ok(Plan {
            policies: Policy::listed(&options.policies, &options.replacements)?,
            replacements: options.replacements.clone(),
            listed: Capacity::listed(&options.capacities, block)?,
            block,
            samples,
            rate,
            seed: options.seed,
        })
    }

    /// How many points there are: those of a policy together, in the order of the capacities.
    pub(super) fn points(&self) -> usize {
        self.policies.len() * self.listed.len()
    }

    /// The policy and the capacity of a point.
    pub(super) fn point(&self, point: usize) -> (&Policy, usize) {
        let sizes = self.listed.len();
        (&self.policies[point / sizes], point % sizes)
    }

    /// The points that the LRU stack answers for, one for each capacity.
    pub(super) fn stack_points(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.points()).filter(|point| self.point(*point).0.is_stack())
    }

    /// The other points, with their policies and capacities.
    pub(super) fn simulated(&self) -> impl Iterator<Item = (usize, &Policy, usize)> {
        let points = (0..self.points()).map(|point| (point, self.point(point)));
        let points = points.map(|(point, (policy, capacity))| (point, policy, capacity));
        points.filter(|(_, policy, _)| !policy.is_stack())
    }

    /// Whether there is a policy for which one stack answers.
    pub(super) fn has_stack(&self) -> bool {
        self.policies.iter().any(Policy::is_stack)
    }

    /// Whether a policy looks into the future.
    pub(super) fn needs_future(&self) -> bool {
        self.policies.iter().any(Policy::needs_future)
    }

    /// Whether the accesses must be kept, because the caches can begin only when the trace has ended.
    pub(super) fn needs_second_pass(&self) -> bool {
        let frames = self
            .simulated()
            .map(|(_, _, capacity)| match self.listed[capacity].amount {
                CapacityAmount::Objects(objects) => (objects as f64 * self.rate) as u64,
                CapacityAmount::Percent(_) => u64::MAX,
            });
        let lanes = self.samples.len().max(1) as u64;
        let frames = frames.fold(0, u64::saturating_add).saturating_mul(lanes);
        frames > ROOMY || self.needs_future()
    }

    /// What each lane looks at: all objects, or those of a sample.
    pub(super) fn lanes(&self) -> impl Iterator<Item = Option<Sample>> {
        let all = self.samples.is_empty().then_some(None);
        all.into_iter()
            .chain(self.samples.iter().copied().map(Some))
    }

    /// The capacities in objects of the whole trace; `None` where they depend on how many are `distinct` and that is not known.
    pub(super) fn capacities(&self, distinct: Option<u64>) -> Option<Vec<u64>> {
        let objects = |capacity: &Capacity| capacity.objects(distinct);
        self.listed.iter().map(objects).collect()
    }

    /// The capacities of a lane's caches.
    ///
    /// # Errors
    /// One is too small for the share of the objects that is looked at.
    pub(super) fn scaled(&self, capacities: &[u64]) -> Result<Vec<u64>, Error> {
        if self.samples.is_empty() {
            return Ok(capacities.to_vec());
        }
        let scaled =
            |(&capacity, listed): (&u64, &Capacity)| match libm::round(capacity as f64 * self.rate)
                as u64
            {
                0 => Err(self.too_small(&listed.text, capacity)),
                objects => Ok(objects),
            };
        capacities.iter().zip(&self.listed).map(scaled).collect()
    }

    #[cold]
    fn too_small(&self, text: &str, capacity: u64) -> Error {
        let fits = 1.0 / capacity as f64;
        let message = format!(
            "a cache of {capacity} objects ({text}) is less than one object in a sample of {}",
            self.rate
        );
        InputError::new(message)
            .help(format!(
                "leave the capacity out, or sample more: --sample {fits:.2e} or above"
            ))
            .into()
    }

    #[cold]
    pub(super) fn nothing_sampled(&self) -> InputError {
        let message = format!(
            "a sample of {} of the objects holds none of the trace's",
            self.rate
        );
        InputError::new(message).help("sample more (--sample), or all: leave the option out")
    }

    /// How many distinct objects the whole trace has, from what each lane has seen, where all were counted.
    pub(super) fn distinct(&self, firsts: &[Option<(u64, Counts)>]) -> Option<u64> {
        let counts = firsts.iter().map(|lane| lane.map(|(objects, _)| objects));
        let sum: u64 = counts.sum::<Option<u64>>()?;
        let mean = sum as f64 / firsts.len() as f64;
        Some(match self.samples.is_empty() {
            true => sum,
            false => libm::round(mean / self.rate) as u64,
        })
    }
}
