//! The caches that see the same accesses, side by side.

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::chunk::{Chunk, Source};
use super::sample::Sample;
use super::stack::{Counts, StackDistances};
use crate::base::error::Error;
use crate::base::progress::Progress;
use crate::models::cache::ObjectCache;
use crate::models::cache::object_cache::Found;
use crate::models::cache::replacement::{self, Replacement};

/// What looks at accesses.
pub(super) enum Worker {
    /// LRU caches of all sizes.
    Stack(StackDistances),
    /// How many objects there are.
    Firsts(Firsts),
    /// One cache.
    Cache(Box<Cache>),
}

impl Worker {
    fn take(&mut self, chunk: &Chunk) {
        match self {
            Worker::Stack(stack) => {
                for access in chunk.accesses() {
                    stack.access(access.object(), access.write());
                }
            }
            Worker::Firsts(firsts) => firsts.take(chunk),
            Worker::Cache(cache) => cache.take(chunk),
        }
    }
}

/// The distinct objects, and the first accesses to them.
#[derive(Default)]
pub(super) struct Firsts {
    seen: HashSet<u64, FixedState>,
    accesses: Counts,
}

impl Firsts {
    fn take(&mut self, chunk: &Chunk) {
        for access in chunk.accesses() {
            let is_first = self.seen.insert(access.object());
            self.accesses[usize::from(access.write())] += u64::from(is_first);
        }
    }
}

/// One cache of one policy.
pub(super) struct Cache {
    cache: ObjectCache,
    /// Whether its policy is told of the future, where that is known.
    needs_future: bool,
    /// Which of the points it is for.
    pub(super) point: usize,
    pub(super) misses: Counts,
}

impl Cache {
    /// An empty one of `capacity` objects, for which the policy was built, for one of the points.
    pub(super) fn new(
        policy: Box<dyn Replacement>,
        capacity: u32,
        needs_future: bool,
        point: usize,
    ) -> Cache {
        Cache {
            cache: ObjectCache::new(capacity, policy),
            needs_future,
            point,
            misses: [0; 2],
        }
    }

    fn take(&mut self, chunk: &Chunk) {
        // A policy of the program's own finds the same whatever others are measured beside it.
        let known = if self.needs_future { chunk.next() } else { &[] };
        let mut next = known.iter();
        for access in chunk.accesses() {
            let found = self.cache.access(&replacement::Access {
                key: access.object(),
                write: access.write(),
                next: next.next().copied().unwrap_or(u64::MAX),
            });
            let missed = matches!(found, Found::Miss(_));
            self.misses[usize::from(access.write())] += u64::from(missed);
        }
    }
}

/// Those that see all accesses, or those to the objects of a sample.
pub(super) struct Lane {
    sample: Option<Sample>,
    sampled: Chunk,
    workers: Vec<Worker>,
    /// How many accesses they have seen.
    seen: u64,
}

impl Lane {
    pub(super) fn new(sample: Option<Sample>) -> Lane {
        Lane {
            sample,
            sampled: Chunk::default(),
            workers: Vec::new(),
            seen: 0,
        }
    }

    pub(super) fn add(&mut self, worker: Worker) {
        self.workers.push(worker);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.workers.is_empty()
    }

    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// The stack, if there is one.
    pub(super) fn stack(&self) -> Option<&StackDistances> {
        self.workers.iter().find_map(|worker| match worker {
            Worker::Stack(stack) => Some(stack),
            Worker::Firsts(_) | Worker::Cache(_) => None,
        })
    }

    /// The caches.
    pub(super) fn caches(&self) -> impl Iterator<Item = &Cache> {
        self.workers.iter().filter_map(|worker| match worker {
            Worker::Cache(cache) => Some(&**cache),
            Worker::Stack(_) | Worker::Firsts(_) => None,
        })
    }

    /// The number of distinct objects and the first accesses to them, where all were kept.
    pub(super) fn firsts(&self) -> Option<(u64, Counts)> {
        self.workers.iter().find_map(|worker| match worker {
            Worker::Stack(stack) => stack.firsts(),
            Worker::Firsts(firsts) => Some((firsts.seen.len() as u64, firsts.accesses)),
            Worker::Cache(_) => None,
        })
    }

    fn take(&mut self, chunk: &Chunk) {
        let chunk = match &self.sample {
            None => chunk,
            Some(sample) => {
                self.sampled.copy_sampled(chunk, sample);
                &self.sampled
            }
        };
        self.seen += chunk.accesses().len() as u64;
        let workers = self.workers.par_iter_mut().with_max_len(1);
        workers.for_each(|worker| worker.take(chunk));
    }
}

/// Lets the lanes see all that a source has. While they work on one chunk, the next one is read in the caller's thread. A worker
/// sees the accesses in their order, and no other worker: the number of threads changes nothing.
///
/// # Errors
/// The source's.
pub(super) fn sweep(
    source: &mut dyn Source,
    lanes: &mut [Lane],
    pool: &ThreadPool,
    progress: &mut dyn Progress,
) -> Result<(), Error> {
    let (mut chunk, mut coming) = (Chunk::default(), Chunk::default());
    source.fill(&mut chunk, progress)?;
    while !chunk.is_empty() {
        coming.clear();
        let filled = pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                let lanes = lanes.par_iter_mut().with_max_len(1);
                lanes.for_each(|lane| lane.take(&chunk));
            });
            source.fill(&mut coming, progress)
        });
        filled?;
        std::mem::swap(&mut chunk, &mut coming);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::chunk::Access;
    use super::super::spool::Spool;
    use super::*;
    use crate::base::random::Stream;
    use crate::models::cache::replacement::{ReplacementSpec, Setting};
    use proptest::prelude::*;

    fn cache(policy: &ReplacementSpec, capacity: u32, point: usize) -> Worker {
        let chance = Stream::new(1, "test");
        let policy = policy.build(&Setting { capacity, chance });
        Worker::Cache(Box::new(Cache::new(policy, capacity, false, point)))
    }

    /// The misses of each cache, and of the stack for the same sizes, in a lane.
    fn misses(lane: &Lane, capacities: &[u64]) -> (Vec<Counts>, Vec<Counts>) {
        let stack = lane.stack().expect("a stack was added");
        let caches = lane.caches().map(|cache| cache.misses).collect();
        (caches, stack.misses(capacities))
    }

    proptest! {
        #[test]
        fn the_stack_misses_as_caches_do_also_in_samples(
            seed in any::<u64>(),
            objects in 1u64..4_000,
            accesses in 1usize..6_000,
            capacities in prop::collection::vec(1u64..2_500, 1..5),
            threads in 1usize..4,
        ) {
            let mut stream = Stream::new(seed, "objects");
            // Popular objects and others.
            let mut object = || {
                let range = if stream.bits().is_multiple_of(2) { objects } else { objects.div_ceil(10) };
                Access::new(stream.below(range), stream.bits().is_multiple_of(3))
            };
            let accesses: Vec<Access> = (0..accesses).map(|_| object()).collect();
            let mut spool = Spool::new().expect("a temporary file");
            spool.write(&accesses).expect("written");
            spool.rewind().expect("read");
            let samples = Sample::several(0.4, 2, seed);
            let sampled = samples.into_iter().map(Some);
            let mut lanes: Vec<Lane> = std::iter::once(None).chain(sampled).map(Lane::new).collect();
            let lru = ReplacementSpec::default();
            for lane in &mut lanes {
                lane.add(Worker::Stack(StackDistances::new(2_500)));
                lane.add(Worker::Firsts(Firsts::default()));
                for (point, &capacity) in capacities.iter().enumerate() {
                    lane.add(cache(&lru, capacity as u32, point));
                }
            }
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            sweep(&mut spool, &mut lanes, &pool, &mut ()).expect("read");
            for lane in &lanes {
                let (caches, stack) = misses(lane, &capacities);
                prop_assert_eq!(caches, stack);
                let is_in = |access: &&Access| lane.sample.is_none_or(|s| s.takes(access.object()));
                let seen: Vec<_> = accesses.iter().filter(is_in).collect();
                prop_assert_eq!(lane.seen(), seen.len() as u64);
                let distinct: std::collections::BTreeSet<u64> = seen.iter().map(|a| a.object()).collect();
                let firsts = lane.workers.iter().find_map(|worker| match worker {
                    Worker::Firsts(firsts) => Some((firsts.seen.len(), firsts.accesses.iter().sum::<u64>())),
                    _ => None,
                });
                prop_assert_eq!(firsts, Some((distinct.len(), distinct.len() as u64)));
            }
        }
    }
}
