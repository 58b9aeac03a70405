//! Hit ratios under independent references against Che's approximation: Che, Tung and Wang, "Hierarchical Web caching systems", IEEE JSAC
//! 20(7), 2002; for FIFO as in Martina, Garetto and Leonardi, "A unified approach to the performance analysis of caching
//! systems", INFOCOM 2014.

use crate::support::{RunOptions, run_with};

/// Lines of the backing device.
const LINES: u32 = 20_000;
/// The seeds of the runs of which the mean counts.
const SEEDS: [u32; 3] = [1, 2, 3];
/// How far a measured ratio may be from the approximation.
const WITHIN: f64 = 0.002;

/// The share of requests that each line gets.
fn zipf(theta: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=LINES)
        .map(|rank| f64::from(rank).powf(-theta))
        .collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// The hit ratio of a cache of `capacity` lines. It holds a line with probability `p` with the probability `held(p · t)`, where the
/// characteristic time `t` is such that the lines fill the cache.
fn approximation(popularity: &[f64], capacity: u32, held: impl Fn(f64) -> f64) -> f64 {
    let lines = |t: f64| popularity.iter().map(|p| held(p * t)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if lines(middle) < f64::from(capacity) {
            low = middle;
        } else {
            high = middle;
        }
    }
    popularity.iter().map(|p| p * held(p * low)).sum()
}

fn measured(seed: u32, theta: f64, capacity: u32, policy: &str) -> f64 {
    let blocks = |lines: u32| format!("{} blocks", lines * 8);
    let text = format!(
        "seed = {seed}\n[workload.synthetic]\nrequests = 400_000\narrivals = {{ closed = {{ users = 1, think = \"50 ms\" }} }}\nreads = 1.0\nsize = \"8 blocks\"\n\
         address = {{ zipf = {{ theta = {theta} }} }}\n[measure]\nwarmup = 80_000\n[device.tier]\npolicy = \"{policy}\"\nsize = \"{size}\"\n\
         [device.tier.cache.simple]\ncapacity = \"{all}\"\nread = \"0.1 ms\"\nwrite = \"0.1 ms\"\n\
         [device.tier.backing.simple]\ncapacity = \"{all}\"\nread = \"10 ms\"\nwrite = \"10 ms\"\n",
        size = blocks(capacity),
        all = blocks(LINES),
    );
    let result = run_with(&text, &RunOptions::default());
    result["devices"]["tier"]["read_hit_ratio"]
        .as_f64()
        .expect("a ratio")
}

#[test]
fn lru_and_fifo_hit_as_ches_approximation_says() {
    for (theta, capacity) in [(1.0, 2_000), (0.8, 5_000)] {
        let popularity = zipf(theta);
        let lru = approximation(&popularity, capacity, |x| 1.0 - (-x).exp());
        let fifo = approximation(&popularity, capacity, |x| x / (1.0 + x));
        for (policy, expected) in [("lru", lru), ("fifo", fifo)] {
            let found = SEEDS.map(|seed| measured(seed, theta, capacity, policy));
            let found = found.iter().sum::<f64>() / SEEDS.len() as f64;
            println!("{policy}, theta {theta}, {capacity} lines: {found:.4}, by Che {expected:.4}");
            assert!(
                (found - expected).abs() < WITHIN,
                "{policy}: {found}, by Che {expected}"
            );
        }
        assert!(lru > fifo + 0.02, "they are told apart");
    }
}
