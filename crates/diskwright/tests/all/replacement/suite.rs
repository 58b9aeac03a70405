//! What holds for every policy of the registry.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use diskwright::base::document::{Node, from_node};
use diskwright::base::error::{Error, Source};
use diskwright::base::random::Stream;
use diskwright::base::units::Time;
use diskwright::models::cache::block_cache::{Line, Place};
use diskwright::models::cache::object_cache::Found;
use diskwright::models::cache::replacement::{
    Access, Cost, CustomReplacements, ReplacementChoice, ReplacementSpec, Setting,
};
use diskwright::models::cache::{BlockCache, Frame, ObjectCache, Pins};
use proptest::prelude::*;

use super::common::{Watched, accesses, all, events, futures, misses, policy, spec};

/// A cache whose frames are held for long, twice: one search hears of releases, the other looks at all frames each time.
fn passed_over(text: &str, steps: &[(u64, u8, u32)], capacity: u32) {
    let mut hearing = policy(text, capacity);
    let mut looking = policy(text, capacity);
    let (mut lasting, mut pins, mut in_use) = (Pins::lasting(), Pins::new(), Pins::new());
    let mut keys: BTreeMap<u64, Frame> = BTreeMap::new();
    let mut free: Vec<Frame> = (0..capacity).rev().map(Frame).collect();
    for (at, &(key, what, bits)) in steps.iter().enumerate() {
        let held = |key: &u64, keys: &BTreeMap<u64, Frame>| keys.get(key).copied();
        match (what, held(&key, &keys)) {
            (0, Some(frame)) if !lasting.holds(frame) => {
                hearing.remove(frame);
                looking.remove(frame);
                keys.remove(&key);
                free.push(frame);
            }
            (1 | 2, Some(frame)) => {
                lasting.pin(frame);
                pins.pin(frame);
            }
            (3, Some(frame)) if lasting.holds(frame) => {
                pins.unpin(frame);
                if lasting.unpin(frame) {
                    hearing.release(frame);
                }
            }
            // Of all lines, some become dirty, and some of the dirty ones clean.
            (4 | 5, _) => {
                for (bit, frame) in keys.values().copied().enumerate() {
                    if bits >> bit & 1 == 0 {
                        continue;
                    }
                    if !lasting.holds(frame) {
                        lasting.pin(frame);
                        pins.pin(frame);
                    } else if what == 5 {
                        pins.unpin(frame);
                        if lasting.unpin(frame) {
                            hearing.release(frame);
                        }
                    }
                }
            }
            (6, Some(frame)) => {
                let cost = Cost {
                    media: Time::from_ns(u64::from(bits % 9_000)),
                    blocks: 1,
                };
                hearing.paid(frame, cost);
                looking.paid(frame, cost);
            }
            (_, Some(frame)) => {
                let access = Access {
                    key,
                    write: false,
                    next: at as u64 + u64::from(bits % 50),
                };
                hearing.hit(frame, &access);
                looking.hit(frame, &access);
            }
            (_, None) => {
                let access = Access {
                    key,
                    write: false,
                    next: at as u64 + u64::from(bits % 50),
                };
                hearing.miss(&access);
                looking.miss(&access);
                if free.is_empty() {
                    // Where all are held, one that is not in use leaves, as in a cache that spares dirty lines.
                    let all_held = lasting.len() == capacity as usize;
                    if all_held && bits % 3 == 0 {
                        in_use.pin(Frame(bits % capacity));
                    }
                    let mut chosen = None;
                    if !all_held || bits % 2 == 0 {
                        chosen = hearing.evict(&lasting);
                        let found = looking.evict(&pins);
                        assert_eq!(chosen.is_some(), !all_held, "{text}");
                        assert!(
                            text.contains("random") || chosen == found,
                            "{text}: {chosen:?} for {found:?}"
                        );
                        if text.contains("random")
                            && let (Some(chosen), Some(found)) = (chosen, found)
                        {
                            looking.insert(found, &access);
                            looking.remove(chosen);
                        }
                    }
                    if all_held {
                        chosen = hearing.evict(&in_use);
                        let found = looking.evict(&in_use);
                        assert_eq!(chosen.is_some(), in_use.len() < capacity as usize);
                        assert!(
                            text.contains("random") || chosen == found,
                            "{text}: {chosen:?} for {found:?}"
                        );
                        if let (true, Some(chosen), Some(found)) =
                            (text.contains("random"), chosen, found)
                        {
                            looking.insert(found, &access);
                            looking.remove(chosen);
                        }
                    }
                    let in_use_now: Vec<Frame> = in_use.pinned().collect();
                    for frame in in_use_now {
                        in_use.unpin(frame);
                    }
                    let Some(chosen) = chosen else { continue };
                    let before = keys.len();
                    keys.retain(|_, frame| *frame != chosen);
                    assert_eq!(keys.len(), before - 1, "{text}");
                    while pins.holds(chosen) {
                        pins.unpin(chosen);
                    }
                    free.push(chosen);
                }
                let frame = free.pop().expect("one is free");
                hearing.insert(frame, &access);
                looking.insert(frame, &access);
                keys.insert(key, frame);
                while lasting.holds(frame) {
                    if lasting.unpin(frame) {
                        hearing.release(frame);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// [`Watched`] sees that an evicted block is there and not pinned, that no more blocks are kept than there is room for, and that a
    /// policy gives up only where every frame is pinned.
    #[test]
    fn no_policy_breaks_its_promises(events in events(40, 500), capacity in 1u32..33) {
        let futures = futures(&events);
        for text in all() {
            let run = || {
                let mut watched = Watched::new(policy(&text, capacity), capacity);
                let outcomes = events.iter().zip(&futures).map(|(&event, access)| watched.happen(event, access));
                outcomes.collect::<Vec<_>>()
            };
            prop_assert_eq!(run(), run(), "{}", text);
        }
    }

    /// A cache of lines and one that only counts have the same after every access and every trim: a policy means one thing in a simulation
    /// and in `miss-ratio`, what it sheds included.
    #[test]
    fn a_cache_of_lines_holds_what_one_of_objects_holds(
        steps in prop::collection::vec((0u64..40, 0u64..40, 0u8..12, any::<bool>()), 1..300),
        capacity in 1u32..33,
        per_line in prop::sample::select(vec![1u32, 8]),
    ) {
        for text in all().iter().filter(|text| *text != "\"belady\"") {
            let mut lines = BlockCache::new(capacity, per_line, policy(text, capacity));
            let mut objects = ObjectCache::new(capacity, policy(text, capacity));
            let mut victims = Vec::new();
            for &(one, other, what, write) in &steps {
                let key = one.min(other);
                let whole = lines.whole(key);
                if what == 0 {
                    lines.trim(whole.lbn, per_line, |_, _| {});
                    objects.remove(key);
                } else {
                    let place = lines.access(key, write, &mut victims);
                    let found = objects.access(&Access { key, write, next: u64::MAX });
                    prop_assert_eq!(matches!(place, Place::Held(_)), found == Found::Hit, "{}", text);
                    let (Place::Held(frame) | Place::New(frame)) = place else {
                        panic!("nothing is pinned")
                    };
                    lines.put(frame, &whole, write);
                    victims.drain(..).for_each(|victim| lines.release(victim));
                }
                prop_assert!(objects.len() <= capacity as usize && lines.held() == objects.len());
                for key in 0..40 {
                    let (line, object) = (lines.find(key), objects.find(key));
                    prop_assert_eq!(line, object, "{}", text);
                    prop_assert!(line.is_none_or(|frame| lines.line(frame) != Line::EMPTY));
                }
            }
        }
    }

    /// Frames that were passed over because they were held for long are chosen again when they have been released, in their turn: a search that
    /// remembers what it passed finds what one over all frames finds. A policy that draws at random finds one that may leave.
    #[test]
    fn no_policy_loses_sight_of_what_it_passes_over(
        steps in prop::collection::vec((0u64..60, 0u8..16, any::<u32>()), 1..400),
        capacity in 1u32..25,
    ) {
        for text in all() {
            passed_over(&text, &steps, capacity);
        }
    }

    #[test]
    fn none_misses_less_than_the_optimum(keys in prop::collection::vec(0u64..24, 1..300), capacity in 1u32..20) {
        let accesses = accesses(&keys);
        let least = misses("'belady'", capacity, &accesses);
        for text in all() {
            prop_assert!(misses(&text, capacity, &accesses) >= least, "{}", text);
        }
    }

    #[test]
    fn the_optimum_is_the_best_of_all_choices(keys in prop::collection::vec(0u64..6, 1..14), capacity in 1u32..5) {
        let all_choices = fewest(&keys, &BTreeSet::new(), capacity as usize, &mut BTreeMap::new());
        prop_assert_eq!(misses("'belady'", capacity, &accesses(&keys)), all_choices);
    }

    /// Only `slru` in libCacheSim's reading gives up blocks for which there is room.
    #[test]
    fn what_fits_misses_once(keys in prop::collection::vec(0u64..16, 1..200), spare in 0u32..3) {
        let distinct: BTreeSet<u64> = keys.iter().copied().collect();
        let capacity = distinct.len() as u32 + spare;
        for text in all().iter().filter(|text| !text.contains("slru = { segments = 4")) {
            prop_assert_eq!(misses(text, capacity, &accesses(&keys)), distinct.len(), "{}", text);
        }
    }

    /// Of those that know nothing but order: what fits comes back after a flood with one miss each. Policies that remember
    /// popularity, or doubt what is new, may let it miss again and again.
    #[test]
    fn what_fits_comes_back_after_a_flood(keys in prop::collection::vec(0u64..8, 8..80), flood in prop::collection::vec(0u64..40, 1..100)) {
        let distinct: BTreeSet<u64> = keys.iter().copied().collect();
        let together: Vec<u64> = flood.iter().chain(&keys).copied().collect();
        for text in ["'lru'", "'fifo'"] {
            let mut cache = ObjectCache::new(8, policy(text, 8));
            let found: Vec<Found> = accesses(&together).iter().map(|access| cache.access(access)).collect();
            let misses = found[flood.len()..].iter().filter(|found| **found != Found::Hit);
            prop_assert!(misses.count() <= distinct.len(), "{}", text);
        }
    }
}

/// The fewest misses of all ways to choose victims.
fn fewest(
    keys: &[u64],
    held: &BTreeSet<u64>,
    capacity: usize,
    known: &mut BTreeMap<(usize, BTreeSet<u64>), usize>,
) -> usize {
    let Some((&key, rest)) = keys.split_first() else {
        return 0;
    };
    if held.contains(&key) {
        return fewest(rest, held, capacity, known);
    }
    if let Some(&misses) = known.get(&(keys.len(), held.clone())) {
        return misses;
    }
    let mut with = held.clone();
    with.insert(key);
    let misses = if held.len() < capacity {
        1 + fewest(rest, &with, capacity, known)
    } else {
        let leave = held.iter().map(|gone| {
            let mut left = with.clone();
            left.remove(gone);
            1 + fewest(rest, &left, capacity, known)
        });
        leave.min().expect("a cache of one block at least")
    };
    known.insert((keys.len(), held.clone()), misses);
    misses
}

#[test]
fn a_spec_is_written_as_it_is_read() {
    for text in all() {
        let built = spec(&text).expect("a policy");
        let written = serde_json::to_value(&built).expect("plain data");
        let toml = match &written {
            serde_json::Value::String(name) => format!("{name:?}"),
            other => toml::Value::try_from(other).expect("TOML").to_string(),
        };
        let again = spec(&toml).unwrap_or_else(|error| panic!("{toml}: {error}"));
        let again = serde_json::to_value(&again).expect("plain data");
        assert_eq!(again, written, "{text}");
    }
}

#[test]
fn wrong_parameters_are_told() {
    for (text, words) in [
        ("'lrru'", "did you mean \"lru\""),
        ("{ slru = { segments = 1 } }", "expected 2 to 16"),
        ("{ slru = { protected = 1.5 } }", "from 0 to 1"),
        ("{ atca = { weight = -1 } }", "from 0 to 1000000"),
        ("{ atca = { wieght = 1 } }", "did you mean \"weight\""),
        ("{ s3-fifo = { variant = 'books' } }", "libcachesim"),
        ("{ lru = { hits = 1 } }", "hits"),
    ] {
        let error = spec(text).expect_err(text).to_string();
        assert!(error.contains(words), "{text}: no {words:?} in\n{error}");
    }
}

#[test]
fn a_program_adds_its_own() {
    let read = |text: &str| -> Result<ReplacementChoice, Error> {
        let node = Node::parse(&Source::new("test", format!("policy = {text}")))?;
        Ok(from_node(node.get("policy").expect("the key above"))?)
    };
    let setting = Setting {
        capacity: 2,
        chance: Stream::new(1, "replacement"),
    };
    let mut custom = CustomReplacements::default();
    let choice = read("{ custom = 'mine' }").expect("a choice");
    let error = choice.build_for(&setting, &custom).err();
    let error = error.expect("not added").to_string();
    assert!(error.contains("replacements={…}"), "{error}");
    // One that is told its setting: the first it gives up is the second block.
    let lifo = |setting: &Setting| {
        let lifo = spec("'lifo'").expect("a policy of the registry");
        lifo.build(setting)
    };
    custom.add_for("mine", lifo).expect("a free name");
    for taken in ["", "lru", "min", "custom"] {
        let error = custom.add_for(taken, lifo).expect_err(taken).to_string();
        assert!(error.contains("w-tinylfu"), "{error}");
    }
    let mine = choice.build_for(&setting, &custom).expect("added");
    let mut cache = ObjectCache::new(setting.capacity, mine);
    let last = accesses(&[1, 2, 3])
        .iter()
        .map(|access| cache.access(access))
        .last();
    assert_eq!(last, Some(Found::Miss(Some(2))));
    let known = read("'arc'").expect("a choice");
    assert_eq!(known.name(), "arc");
    assert!(known.build_for(&setting, &custom).is_ok());
    let error = read("{ custom = 'mien' }")
        .expect("a choice")
        .build_for(&setting, &custom);
    let error = error.err().expect("not added").to_string();
    assert!(error.contains("did you mean \"mine\""), "{error}");
}

#[test]
fn the_manual_has_a_row_for_each() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/model/replacement.md");
    let page = fs::read_to_string(path).expect("the manual's page");
    // Name, rule, parameters, source.
    let rows = page.lines().filter(|line| line.matches('|').count() == 5);
    let rows: Vec<&str> = rows.filter(|line| line.starts_with("| `")).collect();
    for policy in ReplacementSpec::rows() {
        let start = format!("| `{}` |", policy.name);
        let found: Vec<&str> = rows
            .iter()
            .filter(|line| line.starts_with(&start))
            .copied()
            .collect();
        let [found] = found[..] else {
            panic!("{} rows begin with {start}", found.len());
        };
        let built = spec(&format!("{:?}", policy.name)).expect("a policy");
        let written = serde_json::to_value(&built).expect("plain data");
        let parameters = written.get(policy.name).and_then(|value| value.as_object());
        let parameters = parameters.into_iter().flatten();
        let parameters = parameters.map(|(key, value)| format!("`{key} = {value}`"));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        assert_eq!(
            found.split('|').nth(3).map(str::trim),
            Some(&*parameters),
            "{start}"
        );
    }
    assert_eq!(
        rows.len(),
        ReplacementSpec::rows().len(),
        "a row is of no policy"
    );
}
