//! How often caches of many sizes and policies miss on a trace, with no drive behind them.
//!
//! The trace is read once, in chunks that all caches look at side by side. One LRU stack answers for all sizes of LRU caches; of
//! every other policy there is one [`ObjectCache`](crate::models::cache::ObjectCache) a size. Memory grows with the caches and not with
//! the trace. The accesses go through a temporary file, too, where what must be known before the caches begin is known only when the
//! trace has ended: how many distinct objects there are, if a size is a share of them, and the future, if a policy looks into it.

mod accesses;
mod answer;
mod capacity;
mod chunk;
mod lane;
mod listed;
mod plan;
mod policies;
mod sample;
mod spool;
mod stack;

use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

use self::accesses::Accesses;
use self::lane::{Cache, Lane, Worker, sweep};
use self::plan::Plan;
use self::sample::Sample;
use self::spool::{Spool, Spooled};
use self::stack::{Counts, StackDistances};
use crate::base::error::{Error, InputError};
use crate::base::progress::Progress;
use crate::base::random::Stream;
use crate::base::units::Size;
use crate::models::cache::MOST_FRAMES;
use crate::models::cache::replacement::{CustomReplacements, Setting};
use crate::workload::FormatOptions;
use crate::workload::opening::open_seeded;

pub use self::answer::{MissRatios, Point, Sampling};
pub use self::policies::Policy;

/// What to measure, and how.
#[derive(Clone, Debug)]
pub struct MissRatioOptions {
    /// What the reader of the trace is told.
    pub format: FormatOptions,
    /// Only this device.
    pub device: Option<u32>,
    /// Policies as specs have them: `lru,{ slru = { … } }`.
    pub policies: String,
    /// Capacities: `500,10%,64MiB`.
    pub capacities: String,
    /// What a cache holds: `"block"`, every block that requests overlap, or `"object"`, one for each request, named by its first
    /// LBN.
    pub granularity: String,
    /// The size of a cache's block.
    pub block_size: Size,
    /// The share of the objects that are looked at; all of them where it is left out.
    pub sample: Option<f64>,
    /// Independent samples; their spread gives the interval.
    pub sample_seeds: u32,
    /// The seed of the samples, and of what policies leave to chance.
    pub seed: u64,
    /// How many caches are worked on at a time; one for each core where it is left out.
    pub threads: Option<NonZeroUsize>,
    /// Policies that may be named beside those of the registry.
    pub replacements: CustomReplacements,
}

impl Default for MissRatioOptions {
    fn default() -> MissRatioOptions {
        MissRatioOptions {
            format: FormatOptions::default(),
            device: None,
            policies: "lru".to_owned(),
            capacities: "1%,2%,5%,10%,20%,50%,100%".to_owned(),
            granularity: "block".to_owned(),
            block_size: Size::from_blocks(8),
            sample: None,
            sample_seeds: 10,
            seed: 1,
            threads: None,
            replacements: CustomReplacements::default(),
        }
    }
}

/// Reads a trace and tells how often caches miss on it.
///
/// # Errors
/// Options that make no sense; a trace that cannot be read, is malformed somewhere, or has no reads and writes; samples
/// that hold nothing; temporary files that cannot be written; an interruption by `progress`.
pub fn miss_ratio(
    path: &Path,
    options: &MissRatioOptions,
    progress: &mut dyn Progress,
) -> Result<MissRatios, Error> {
    let plan = Plan::new(options)?;
    let reader = open_seeded(path, &options.format, options.seed)?;
    let mut accesses = Accesses::new(reader, options.device, plan.block);
    let pool = pool(options.threads)?;
    let mut measured = first_pass(&plan, &mut accesses, path, &pool, progress)?;
    if let Some(mut spool) = measured.spool.take() {
        second_pass(&plan, &mut measured, &mut spool, &pool, progress)?;
    }
    Ok(answer::answer(path, options, plan, &accesses, &measured))
}

fn pool(threads: Option<NonZeroUsize>) -> Result<ThreadPool, Error> {
    let wanted = threads.or_else(|| thread::available_parallelism().ok());
    let threads = wanted.map_or(1, NonZeroUsize::get);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Simulation(format!("cannot start {threads} threads: {error}")))
}

/// What the passes found.
struct Measured {
    /// The capacities in objects, of the whole trace.
    capacities: Vec<u64>,
    /// The distinct objects, where they were counted; estimated from samples.
    distinct: Option<u64>,
    /// For each point, policies first, the misses in each lane.
    misses: Vec<Vec<Counts>>,
    /// For each lane the distinct objects and the first accesses to them.
    firsts: Vec<Option<(u64, Counts)>>,
    /// The accesses, where they are needed again.
    spool: Option<Spool>,
}

/// Reads the trace: lets LRU stacks see it, and caches whose sizes are known; otherwise counts the objects and keeps the accesses.
fn first_pass(
    plan: &Plan,
    accesses: &mut Accesses,
    path: &Path,
    pool: &ThreadPool,
    progress: &mut dyn Progress,
) -> Result<Measured, Error> {
    let needs_more = plan.needs_second_pass();
    let mut spool = needs_more.then(Spool::new).transpose()?;
    let known = plan.capacities(None).filter(|_| !needs_more);
    let scaled = known
        .as_deref()
        .map(|known| plan.scaled(known))
        .transpose()?;
    let lanes = plan.lanes();
    let mut lanes: Vec<Lane> = lanes.map(Lane::new).collect();
    for (number, lane) in lanes.iter_mut().enumerate() {
        if plan.has_stack() {
            let deepest = scaled.iter().flatten().max();
            let stack = StackDistances::new(deepest.copied().unwrap_or(u64::MAX));
            lane.add(Worker::Stack(stack));
        } else if needs_more {
            lane.add(Worker::Firsts(lane::Firsts::default()));
        }
        if let (Some(scaled), false) = (&scaled, needs_more) {
            add_caches(plan, lane, number, scaled, u64::MAX)?;
        }
    }
    match &mut spool {
        None => sweep(accesses, &mut lanes, pool, progress)?,
        Some(spool) => {
            let mut source = Spooled {
                source: accesses,
                spool,
                samples: &plan.samples,
            };
            sweep(&mut source, &mut lanes, pool, progress)?;
        }
    }
    accesses.check_found(path)?;
    if lanes.iter().any(|lane| lane.seen() == 0) {
        return Err(plan.nothing_sampled().into());
    }
    let firsts: Vec<_> = lanes.iter().map(Lane::firsts).collect();
    let distinct = plan.distinct(&firsts);
    let capacities = match known {
        Some(known) => known,
        None => plan
            .capacities(distinct)
            .expect("all objects were kept and counted"),
    };
    let mut measured = Measured {
        misses: vec![vec![[0; 2]; lanes.len()]; plan.points()],
        capacities,
        distinct,
        firsts,
        spool,
    };
    let scaled = plan.scaled(&measured.capacities)?;
    for (number, lane) in lanes.iter().enumerate() {
        if let Some(stack) = lane.stack() {
            for (point, misses) in plan.stack_points().zip(stack.misses(&scaled)) {
                measured.misses[point][number] = misses;
            }
        }
        measured.count(number, lane);
    }
    Ok(measured)
}

impl Measured {
    /// Notes the misses of a lane's caches.
    fn count(&mut self, number: usize, lane: &Lane) {
        for cache in lane.caches() {
            self.misses[cache.point][number] = cache.misses;
        }
    }
}

/// Lets the caches see what the first pass has kept, now that their sizes are known.
fn second_pass(
    plan: &Plan,
    measured: &mut Measured,
    spool: &mut Spool,
    pool: &ThreadPool,
    progress: &mut dyn Progress,
) -> Result<(), Error> {
    let scaled = plan.scaled(&measured.capacities)?;
    let mut lanes: Vec<Lane> = plan.lanes().map(Lane::new).collect();
    for (number, lane) in lanes.iter_mut().enumerate() {
        let (distinct, firsts) = measured.firsts[number].expect("all objects were counted");
        // A cache that all objects fit in misses first accesses only, whatever its policy.
        for (point, _, capacity) in plan.simulated() {
            if scaled[capacity] >= distinct {
                measured.misses[point][number] = firsts;
            }
        }
        add_caches(plan, lane, number, &scaled, distinct)?;
    }
    if lanes.iter().all(Lane::is_idle) {
        return Ok(());
    }
    if plan.needs_future() {
        spool.look_ahead(progress)?;
    }
    spool.rewind()?;
    sweep(spool, &mut lanes, pool, progress)?;
    for (number, lane) in lanes.iter().enumerate() {
        measured.count(number, lane);
    }
    Ok(())
}

/// Adds the caches of all points that are simulated one by one, but for those that hold `enough` objects.
fn add_caches(
    plan: &Plan,
    lane: &mut Lane,
    number: usize,
    scaled: &[u64],
    enough: u64,
) -> Result<(), Error> {
    for (point, policy, capacity) in plan.simulated() {
        let objects = scaled[capacity];
        if objects >= enough {
            continue;
        }
        let capacity = u32::try_from(objects).unwrap_or(u32::MAX);
        if capacity > MOST_FRAMES {
            let message = format!("a cache of {objects} objects: expected up to {MOST_FRAMES}");
            let error = InputError::new(message).help("--sample simulates smaller ones");
            return Err(error.into());
        }
        let chance = Stream::new(plan.seed, &format!("miss_ratio.replacement.{number}"));
        let setting = Setting { capacity, chance };
        let built = policy.choice.build_for(&setting, &plan.replacements)?;
        let cache = Cache::new(built, capacity, policy.needs_future(), point);
        lane.add(Worker::Cache(Box::new(cache)));
    }
    Ok(())
}
