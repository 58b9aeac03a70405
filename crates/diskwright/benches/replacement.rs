//! The speed of the replacement policies: one thread, the lookup of the object included.
//!
//! 20,000,000 draws of 1,000,000 objects with weights 1, 1/2, 1/3, …; 100,000 objects of one size fit. It is the load that
//! libCacheSim was measured with, draw by draw, and where it has the policy the misses must be its misses: what is faster is not
//! so because it does something else. Policies take turns, so that none has the machine's best minute to itself; the best of
//! three turns counts. Time is that on the processor, where the system tells it, so that a busy neighbour takes none of it. Names as arguments measure those policies alone: `cargo bench --bench replacement -- lru arc`.

use std::fs;
use std::time::{Duration, Instant};

use diskwright::base::document::{Node, from_node};
use diskwright::base::error::Source;
use diskwright::base::random::Stream;
use diskwright::models::cache::ObjectCache;
use diskwright::models::cache::object_cache::Found;
use diskwright::models::cache::replacement::{Access, ReplacementSpec, Setting};

const OBJECTS: usize = 1_000_000;
const DRAWS: usize = 20_000_000;
const CAPACITY: u32 = 100_000;
/// Turns a policy.
const TURNS: usize = 3;

/// What libCacheSim does at commit aa0fc409 with its default parameters: million requests a second, one thread of a machine with two
/// cores, the trace in memory; and its misses. With the policy here that is the same.
const LIBCACHESIM: [(&str, &str, f64, u64); 9] = [
    ("lru", "'lru'", 7.5, 4_437_738),
    ("fifo", "'fifo'", 8.5, 5_038_837),
    (
        "slru",
        "{ slru = { segments = 4, protected = 0.75, variant = 'libcachesim' } }",
        6.7,
        3_732_296,
    ),
    ("arc", "'arc'", 6.1, 3_738_048),
    (
        "s3-fifo",
        "{ s3-fifo = { variant = 'libcachesim' } }",
        3.7,
        3_667_680,
    ),
    ("sieve", "'sieve'", 8.6, 3_699_415),
    ("lfu", "'lfu'", 4.8, 3_699_415),
    ("2q", "'2q'", 3.8, 3_881_716),
    ("clock", "'clock'", 8.0, 4_299_506),
];

/// Where an object is not accessed again.
const NEVER: u32 = u32::MAX;

/// The generator that numpy's `default_rng(42)` is: O'Neill, "PCG: a family of simple fast space-efficient statistically good
/// algorithms for random number generation", HMC-CS-2014-0905, PCG XSL RR 128/64.
struct Pcg64 {
    state: u128,
    increment: u128,
}

impl Pcg64 {
    /// As `numpy.random.PCG64(42).state` says.
    fn seeded_with_42() -> Pcg64 {
        Pcg64 {
            state: 0xcea4_4f67_9879_8f2a_acbc_7c9d_6886_0ac8,
            increment: 0xfa50_5436_c9a8_416e_66ca_f2e2_8d25_abff,
        }
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    fn unit(&mut self) -> f64 {
        const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
        self.state = self
            .state
            .wrapping_mul(MULTIPLIER)
            .wrapping_add(self.increment);
        let (high, low) = ((self.state >> 64) as u64, self.state as u64);
        let bits = (high ^ low).rotate_right((high >> 58) as u32);
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The objects drawn, and when each is drawn next.
fn load() -> Vec<(u32, u32)> {
    let mut total = 0.0;
    let mut sums: Vec<f64> = (1..=OBJECTS)
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    sums.iter_mut().for_each(|sum| *sum /= total);
    let mut generator = Pcg64::seeded_with_42();
    let mut draws: Vec<(u32, u32)> = (0..DRAWS)
        .map(|_| {
            let at = generator.unit();
            (sums.partition_point(|&sum| sum < at) as u32, NEVER)
        })
        .collect();
    let mut next = vec![NEVER; OBJECTS + 1];
    for (index, (object, comes)) in draws.iter_mut().enumerate().rev() {
        *comes = std::mem::replace(&mut next[*object as usize], index as u32);
    }
    let distinct = next.iter().filter(|&&first| first != NEVER).count();
    assert_eq!(distinct, 914_864, "it is another load");
    draws
}

/// Time since it was started: on the processor where Linux tells it, else by the wall.
struct Clock {
    started: Instant,
    spent: Option<Duration>,
}

impl Clock {
    fn start() -> Clock {
        Clock {
            started: Instant::now(),
            spent: Clock::spent(),
        }
    }

    fn elapsed(&self) -> Duration {
        let spent = Clock::spent().zip(self.spent);
        spent.map_or_else(|| self.started.elapsed(), |(now, then)| now - then)
    }

    /// What this thread has spent on the processor: the first number, ns (the kernel's sched-stats.rst).
    fn spent() -> Option<Duration> {
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let ns = text.split(' ').next()?.parse().ok()?;
        (ns > 0).then(|| Duration::from_nanos(ns))
    }
}

/// A policy that is measured.
struct Case {
    name: &'static str,
    /// Which of those of libCacheSim it is.
    other: Option<(f64, u64)>,
    spec: ReplacementSpec,
    /// Requests a second, the most of all turns.
    best: f64,
    misses: u64,
}

impl Case {
    fn new(name: &'static str) -> Case {
        let other = LIBCACHESIM.iter().find(|other| other.0 == name);
        let quoted = format!("{name:?}");
        let text = other.map_or(quoted.as_str(), |other| other.1);
        let text = Source::new("benchmark", format!("policy = {text}"));
        let node = Node::parse(&text).expect("TOML");
        Case {
            name,
            other: other.map(|&(.., rate, misses)| (rate, misses)),
            spec: from_node(node.get("policy").expect("the key above")).expect("a policy"),
            best: 0.0,
            misses: 0,
        }
    }

    fn run(&mut self, load: &[(u32, u32)]) {
        let chance = Stream::new(1, "replacement");
        let setting = Setting {
            capacity: CAPACITY,
            chance,
        };
        let mut cache = ObjectCache::new(CAPACITY, self.spec.build(&setting));
        self.misses = 0;
        let clock = Clock::start();
        for &(object, next) in load {
            let next = if next == NEVER { u64::MAX } else { next.into() };
            let access = Access {
                key: object.into(),
                write: false,
                next,
            };
            self.misses += u64::from(cache.access(&access) != Found::Hit);
        }
        let rate = load.len() as f64 / clock.elapsed().as_secs_f64();
        self.best = self.best.max(rate);
        if let Some((_, misses)) = self.other {
            assert_eq!(self.misses, misses, "{} decides otherwise", self.name);
        }
    }
}

fn main() {
    // Cargo says --bench, too.
    let arguments = std::env::args()
        .skip(1)
        .filter(|text| !text.starts_with('-'));
    let wanted: Vec<String> = arguments.collect();
    let rows = ReplacementSpec::rows();
    let names = rows.iter().map(|row| row.name);
    let names = names.filter(|name| wanted.is_empty() || wanted.iter().any(|one| one == name));
    let mut cases: Vec<Case> = names.map(Case::new).collect();
    let load = load();
    for _ in 0..TURNS {
        cases.iter_mut().for_each(|case| case.run(&load));
    }
    println!(
        "replacement policies, million requests a second; the goal is libCacheSim's rate on another machine"
    );
    println!(
        "{:14}{:>8}{:>8}{:>8}{:>14}",
        "", "here", "goal", "ratio", "misses"
    );
    for case in cases {
        let rate = case.best / 1e6;
        let (goal, ratio) = match case.other {
            Some((goal, _)) => (format!("{goal:.1}"), format!("{:.2}", rate / goal)),
            None => (String::new(), String::new()),
        };
        println!(
            "{:14}{rate:8.2}{goal:>8}{ratio:>8}{:>14}",
            case.name, case.misses
        );
    }
}
