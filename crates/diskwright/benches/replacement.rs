//! The speed of the replacement policies: one thread, the lookup of the object included.
//!
//! 20,000,000 draws of 1,000,000 objects with weights 1, 1/2, 1/3, …; 100,000 objects of one size fit. Policies take turns,
//! so that none has the machine's best minute to itself; the best of three turns counts. libCacheSim's figures, where it has
//! the policy, are of a load of the same law on another machine with two cores.

use std::time::Instant;

use diskwright::cache::ObjectCache;
use diskwright::cache::object_cache::Found;
use diskwright::cache::replacement::{Access, ReplacementSpec, Setting};
use diskwright::config::{Node, from_node};
use diskwright::error::Source;
use diskwright::random::Stream;

const OBJECTS: usize = 1_000_000;
const DRAWS: usize = 20_000_000;
const CAPACITY: u32 = 100_000;
/// Turns a policy.
const TURNS: usize = 3;

/// Million requests a second of libCacheSim at commit aa0fc409, one thread.
const LIBCACHESIM: [(&str, f64); 9] = [
    ("lru", 7.5),
    ("fifo", 8.5),
    ("slru", 6.7),
    ("arc", 6.1),
    ("s3-fifo", 3.7),
    ("sieve", 8.6),
    ("lfu", 4.8),
    ("2q", 3.8),
    ("clock", 8.0),
];

/// Where an object is not accessed again.
const NEVER: u32 = u32::MAX;

/// The objects drawn, and when each is drawn next.
fn load() -> Vec<(u32, u32)> {
    let mut total = 0.0;
    let sums: Vec<f64> = (1..=OBJECTS)
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    let mut stream = Stream::new(42, "replacement.zipf");
    let mut draws: Vec<(u32, u32)> = (0..DRAWS)
        .map(|_| {
            let at = stream.unit() * total;
            (sums.partition_point(|&sum| sum <= at) as u32, NEVER)
        })
        .collect();
    let mut next = vec![NEVER; OBJECTS + 1];
    for (index, (object, comes)) in draws.iter_mut().enumerate().rev() {
        *comes = std::mem::replace(&mut next[*object as usize], index as u32);
    }
    draws
}

fn policy(name: &str) -> ReplacementSpec {
    let text = Source::new("benchmark", format!("policy = {name:?}"));
    let node = Node::parse(&text).expect("TOML");
    from_node(node.get("policy").expect("the key above")).expect("a name of the registry")
}

/// Requests a second, and misses.
fn run(spec: &ReplacementSpec, load: &[(u32, u32)]) -> (f64, u64) {
    let chance = Stream::new(1, "replacement");
    let setting = Setting {
        capacity: CAPACITY,
        chance,
    };
    let mut cache = ObjectCache::new(CAPACITY, spec.build(&setting));
    let mut misses = 0;
    let started = Instant::now();
    for &(object, next) in load {
        let next = if next == NEVER { u64::MAX } else { next.into() };
        let access = Access {
            key: object.into(),
            write: false,
            next,
        };
        misses += u64::from(cache.access(&access) != Found::Hit);
    }
    (load.len() as f64 / started.elapsed().as_secs_f64(), misses)
}

fn main() {
    let load = load();
    let policies: Vec<(&str, ReplacementSpec)> = ReplacementSpec::rows()
        .iter()
        .map(|row| (row.name, policy(row.name)))
        .collect();
    let mut best = vec![(0.0f64, 0); policies.len()];
    for _ in 0..TURNS {
        for ((_, spec), best) in policies.iter().zip(&mut best) {
            let (rate, misses) = run(spec, &load);
            *best = (best.0.max(rate), misses);
        }
    }
    println!("requests per second, million; libCacheSim's on another machine");
    println!(
        "{:14}{:>8}{:>14}{:>8}{:>14}",
        "", "here", "libCacheSim", "ratio", "misses"
    );
    for ((name, _), (rate, misses)) in policies.iter().zip(best) {
        let other = LIBCACHESIM.iter().find(|(other, _)| other == name);
        let (other, ratio) = match other {
            Some((_, other)) => (format!("{other:.1}"), format!("{:.2}", rate / 1e6 / other)),
            None => (String::new(), String::new()),
        };
        println!(
            "{name:14}{:8.2}{other:>14}{ratio:>8}{misses:>14}",
            rate / 1e6
        );
    }
}
