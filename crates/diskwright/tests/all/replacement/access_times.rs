//! Policies that know what an access to the medium took.

use std::path::Path;

use diskwright::base::random::Stream;
use diskwright::models::cache::replacement::Access;
use diskwright::workload::{FormatOptions, open};
use proptest::prelude::*;

use super::common::{Event, Outcome, Watched, cost, events, futures, policy};
use super::models::Free;
use crate::support::root;

fn outcomes(text: &str, capacity: u32, events: &[Event]) -> Vec<Option<Outcome>> {
    let mut watched = Watched::new(policy(text, capacity), capacity);
    // Nobody knows the future.
    let futures = futures(events).into_iter().map(|access| Access {
        next: u64::MAX,
        ..access
    });
    let steps = events.iter().zip(futures);
    steps
        .map(|(&event, access)| watched.happen(event, &access))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn without_weight_they_are_lru(events in events(30, 400), capacity in 1u32..24) {
        let lru = outcomes("'lru'", capacity, &events);
        for text in [
            "{ atca = { weight = 0 } }",
            "{ atca = { weight = 0, relative_to = 'maximum', per_block = true } }",
            "{ atca = { alpha = 0 } }",
            "{ atca-simple = { bonus = 0 } }",
            "{ atca-simple = { threshold = '1 s' } }",
            "'belady'",
        ] {
            prop_assert_eq!(&outcomes(text, capacity, &events), &lru, "{}", text);
        }
    }

    #[test]
    fn without_costs_they_are_lru_and_lfu(events in events(30, 400), capacity in 1u32..24) {
        let free: Vec<Event> = events.into_iter().filter(|event| !matches!(event, Event::Pay(..))).collect();
        let lru = outcomes("'lru'", capacity, &free);
        for text in ["'atca'", "'atca-simple'", "'greedy-dual'"] {
            prop_assert_eq!(&outcomes(text, capacity, &free), &lru, "{}", text);
        }
        prop_assert_eq!(outcomes("'fac'", capacity, &free), outcomes("'lfu'", capacity, &free));
    }

    #[test]
    fn atca_chooses_the_smallest_worth(events in events(30, 400), capacity in 1u32..24) {
        for (text, model) in [
            ("'atca'", Atca { weight: 1.0, ..Atca::default() }),
            ("{ atca = { weight = 0.3, per_block = true } }", Atca { weight: 0.3, per_block: true, ..Atca::default() }),
            ("{ atca = { weight = 2.0, relative_to = 'maximum' } }", Atca { weight: 2.0, by_longest: true, ..Atca::default() }),
            ("{ atca = { alpha = 1.5 } }", Atca { alpha: Some(1.5), ..Atca::default() }),
        ] {
            follow(text, capacity, &events, model)?;
        }
    }

    #[test]
    fn atca_simple_gives_big_access_times_a_bonus(events in events(30, 400), capacity in 1u32..24) {
        for (text, model) in [
            ("'atca-simple'", AtcaSimple { bonus: 1.0, ..AtcaSimple::default() }),
            ("{ atca-simple = { bonus = 0.4 } }", AtcaSimple { bonus: 0.4, ..AtcaSimple::default() }),
            (
                "{ atca-simple = { bonus = 2.0, threshold = '2 ms' } }",
                AtcaSimple { bonus: 2.0, threshold: Some(2_000_000), ..AtcaSimple::default() },
            ),
        ] {
            follow(text, capacity, &events, model)?;
        }
    }

    #[test]
    fn greedy_dual_is_youngs(events in events(30, 400), capacity in 1u32..24) {
        // Young lowers all when one leaves. Where cheaper ones are pinned, L cannot be told from that.
        let free: Vec<Event> = events.into_iter().filter(|event| !matches!(event, Event::Pin(_))).collect();
        follow("'greedy-dual'", capacity, &free, Young::default())?;
    }
}

/// A model that is told costs.
trait Priced {
    fn access(&mut self);
    fn touch(&mut self, key: u64, capacity: u32);
    fn pay(&mut self, key: u64, time: u64, blocks: u32, capacity: u32);
    fn evict(&mut self, free: Free<'_>) -> Option<u64>;
    fn remove(&mut self, key: u64);
}

fn follow(
    text: &str,
    capacity: u32,
    events: &[Event],
    mut model: impl Priced,
) -> Result<(), TestCaseError> {
    let mut watched = Watched::new(policy(text, capacity), capacity);
    for (&event, access) in events.iter().zip(&futures(events)) {
        let pinned = watched.pinned.clone();
        let free = |key: u64| !pinned.contains_key(&key);
        let is_full = watched.blocks.len() == capacity as usize;
        let holds = |key: u64| watched.blocks.contains_key(&key);
        match event {
            Event::Access(key) => {
                let is_hit = holds(key);
                model.access();
                let left = if is_full && !is_hit {
                    model.evict(&free)
                } else {
                    None
                };
                if is_hit || !is_full || left.is_some() {
                    model.touch(key, capacity);
                }
                let outcome = watched.happen(event, access);
                prop_assert_eq!(outcome, Some((is_hit, left)), "{}", text);
            }
            Event::Pay(key, time, blocks) if holds(key) => {
                model.pay(key, time, blocks, capacity);
                watched.happen(event, access);
            }
            Event::Remove(key) if holds(key) && free(key) => {
                model.remove(key);
                watched.happen(event, access);
            }
            _ => {
                watched.happen(event, access);
            }
        }
    }
    Ok(())
}

/// Key, number of the last access, access time in ns, worth in 2⁻¹⁶; the least recently accessed first.
#[derive(Default)]
struct Atca {
    weight: f64,
    alpha: Option<f64>,
    by_longest: bool,
    per_block: bool,
    now: u64,
    /// Time and count of every media access, by block.
    paid: Vec<(f64, f64)>,
    blocks: Vec<(u64, u64, f64, u64)>,
}

/// The mean of times that count so often.
fn mean(paid: &[(f64, f64)]) -> f64 {
    let times: f64 = paid.iter().map(|(time, count)| time * count).sum();
    times / paid.iter().map(|(_, count)| count).sum::<f64>()
}

impl Atca {
    fn worth(&self, last: u64, time: f64, capacity: u32) -> u64 {
        let scale = if self.by_longest {
            self.paid.iter().map(|paid| paid.0).fold(0.0, f64::max)
        } else {
            mean(&self.paid)
        };
        let alpha = match self.alpha {
            Some(alpha) => alpha / 1e6,
            None if scale > 0.0 => self.weight * f64::from(capacity) / scale,
            None => 0.0,
        };
        (last << 16) + (alpha * time * 65536.0).round() as u64
    }
}

impl Priced for Atca {
    fn access(&mut self) {
        self.now += 1;
    }
    fn touch(&mut self, key: u64, capacity: u32) {
        let old = self.blocks.iter().find(|block| block.0 == key);
        let time = old.map_or(0.0, |block| block.2);
        self.remove(key);
        let worth = self.worth(self.now, time, capacity);
        self.blocks.push((key, self.now, time, worth));
    }
    fn pay(&mut self, key: u64, time: u64, blocks: u32, capacity: u32) {
        let parts = if self.per_block { u64::from(blocks) } else { 1 };
        let time = (time * 100_000 / parts) as f64;
        self.paid.push((time, 1.0 / f64::from(blocks)));
        let at = self.blocks.iter().position(|block| block.0 == key);
        let at = at.expect("it is there");
        let last = self.blocks[at].1;
        self.blocks[at] = (key, last, time, self.worth(last, time, capacity));
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        let blocks = self.blocks.iter().filter(|block| free(block.0));
        let key = blocks.min_by_key(|block| block.3)?.0;
        self.remove(key);
        Some(key)
    }
    fn remove(&mut self, key: u64) {
        self.blocks.retain(|block| block.0 != key);
    }
}

/// Key, number of the last access, whether its access time was big; the least recently accessed first.
#[derive(Default)]
struct AtcaSimple {
    bonus: f64,
    threshold: Option<u64>,
    capacity: u32,
    now: u64,
    /// Time and count of every media access, by block.
    paid: Vec<(f64, f64)>,
    blocks: Vec<(u64, u64, bool)>,
}

impl Priced for AtcaSimple {
    fn access(&mut self) {
        self.now += 1;
    }
    fn touch(&mut self, key: u64, capacity: u32) {
        self.capacity = capacity;
        let old = self.blocks.iter().find(|block| block.0 == key);
        let is_big = old.is_some_and(|block| block.2);
        self.remove(key);
        self.blocks.push((key, self.now, is_big));
    }
    fn pay(&mut self, key: u64, time: u64, blocks: u32, _capacity: u32) {
        let time = time * 100_000;
        self.paid.push((time as f64, 1.0 / f64::from(blocks)));
        let mean = mean(&self.paid);
        let block = self.blocks.iter_mut().find(|block| block.0 == key);
        block.expect("it is there").2 = match self.threshold {
            Some(threshold) => time > threshold,
            // Sums in another order may differ in their last places.
            None => time as f64 > mean * (1.0 + 1e-6),
        };
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        let blocks = self.blocks.iter().filter(|block| free(block.0));
        let bonus = (self.bonus * f64::from(self.capacity) * 65536.0).round() as u64;
        let worth = |block: &&(u64, u64, bool)| (block.1 << 16) + if block.2 { bonus } else { 0 };
        let key = blocks.min_by_key(worth)?.0;
        self.remove(key);
        Some(key)
    }
    fn remove(&mut self, key: u64) {
        self.blocks.retain(|block| block.0 != key);
    }
}

/// Key, worth, access time; the least recently accessed first.
#[derive(Default)]
struct Young(Vec<(u64, u64, u64)>);

impl Priced for Young {
    fn access(&mut self) {}
    fn touch(&mut self, key: u64, _capacity: u32) {
        let old = self.0.iter().find(|block| block.0 == key);
        let time = old.map_or(0, |block| block.2);
        self.remove(key);
        self.0.push((key, time, time));
    }
    fn pay(&mut self, key: u64, time: u64, _blocks: u32, _capacity: u32) {
        let block = self.0.iter_mut().find(|block| block.0 == key);
        *block.expect("it is there") = (key, time, time);
    }
    fn evict(&mut self, _free: Free<'_>) -> Option<u64> {
        let &(key, least, _) = self.0.iter().min_by_key(|block| block.1)?;
        self.remove(key);
        self.0.iter_mut().for_each(|block| block.1 -= least);
        Some(key)
    }
    fn remove(&mut self, key: u64) {
        self.0.retain(|block| block.0 != key);
    }
}

#[test]
fn fac_adds_up_accesses_and_times() {
    let access = |key| Access {
        key,
        write: false,
        next: u64::MAX,
    };
    let run = |text: &str, keys: &[(u64, u64)]| {
        let mut watched = Watched::new(policy(text, 2), 2);
        let mut left = Vec::new();
        for &(key, time) in keys {
            let (is_hit, gone) = watched.access(&access(key));
            left.extend(gone);
            if !is_hit {
                let frame = watched.blocks[&key];
                watched.policy.paid(frame, cost(time, 1));
            }
        }
        left
    };
    // Block 1 is worth 2 + 2, block 2 is worth 3 + 0.6: the longest time so far is 10.
    assert_eq!(
        run("'fac'", &[(1, 10), (2, 2), (1, 0), (2, 0), (2, 0), (3, 10)]),
        [2]
    );
    // The next time is twice as long, and the longest goes a tenth of the way: 3 is worth 2, and leaves before 1.
    assert_eq!(
        run("'fac'", &[(1, 10), (2, 2), (1, 0), (3, 20), (4, 5)]),
        [2, 3]
    );
    // With ageing block 3 is worth 2 more, what the last to leave was; block 1, accessed before, is not.
    let aged = "{ fac = { ageing = true } }";
    let keys = [(1, 10), (2, 10), (2, 0), (1, 0), (3, 10), (4, 10)];
    assert_eq!(run("'fac'", &keys), [2, 3]);
    assert_eq!(run(aged, &keys), [2, 1]);
}

/// Blocks of 4 KiB that a trace touches, each with the time that a media access for it would take, made up.
fn blocks(path: &Path) -> Vec<(u64, u64)> {
    // Five columns of numbers could be several formats.
    let format = path
        .parent()
        .is_some_and(|folder| folder.ends_with("mqsim"));
    let options = FormatOptions {
        format: format.then(|| "mqsim".to_owned()),
        ..FormatOptions::default()
    };
    let mut reader = open(path, &options).expect("opened");
    let mut times = Stream::new(1, "times");
    let mut blocks = Vec::new();
    while let Some(record) = reader.next().expect("read") {
        let time = times.below(200);
        let last = record.lbn.0 + u64::from(record.blocks).max(1) - 1;
        blocks.extend((record.lbn.0 / 8..=last / 8).map(|block| (block, time)));
    }
    blocks
}

/// An eviction of ATCA without weight is LRU's, on a recorded trace.
fn check_evictions(path: &Path) {
    let blocks = blocks(path);
    for capacity in [256, 16_384] {
        let mut atca = Watched::new(policy("{ atca = { weight = 0 } }", capacity), capacity);
        let mut weighted = Watched::new(policy("'atca'", capacity), capacity);
        let mut lru = Watched::new(policy("'lru'", capacity), capacity);
        let (mut left, mut differ) = (0, 0);
        for &(key, time) in &blocks {
            let access = Access {
                key,
                write: false,
                next: u64::MAX,
            };
            let expected = lru.access(&access);
            assert_eq!(atca.access(&access), expected, "{}", path.display());
            left += u32::from(expected.1.is_some());
            let (is_hit, gone) = weighted.access(&access);
            differ += u32::from(gone != expected.1);
            for (cache, is_hit) in [(&mut atca, expected.0), (&mut weighted, is_hit)] {
                if !is_hit {
                    let frame = cache.blocks[&key];
                    cache.policy.paid(frame, cost(time, 1));
                }
            }
        }
        // With a weight of 1 the same trace is another matter, where there is enough of it.
        let is_long = left > 1000;
        assert!(differ > 0 || !is_long, "{} {capacity}", path.display());
    }
}

#[test]
fn without_weight_every_eviction_of_a_recorded_trace_is_lrus() {
    check_evictions(&root().join("examples/traces/debian-guest.csv.zst"));
}

mod reference_data {
    use super::check_evictions;
    use crate::support::reference::reference;

    #[test]
    #[cfg_attr(
        not(reference = "all"),
        ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
    )]
    fn without_weight_every_eviction_of_the_reference_traces_is_lrus() {
        for name in [
            "disksim/ajw.1week.srt",
            "disksim/ascii.trace",
            "disksim/cheetah9LP.trace",
            "disksim/expected/stress_cheetah9LP.trace",
            "disksim/expected/stress_hp_c3323a.trace",
            "disksim/expected/stress_ibm18es.trace",
            "disksim/hp_c3323a.trace",
            "disksim/ibm18es.trace",
            "libcachesim/cloudPhysicsIO.vscsi",
            "mqsim/tpcc-small.trace",
            "mqsim/wsrch-small.trace",
        ] {
            check_evictions(&reference(name));
        }
    }
}
