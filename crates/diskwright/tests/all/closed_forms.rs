//! Simulated means against what probability theory says of them.

use crate::support::{RunOptions, from_text, outcome_of};
use diskwright::metrics::interval::ci95;

fn run(text: &str, seed: u64) -> serde_json::Value {
    outcome_of(
        &from_text(format!("seed = {seed}\n{text}")),
        &RunOptions::default(),
    )
    .expect("the spec runs")
    .json()
}

fn replicate(text: &str, value: impl Fn(&serde_json::Value) -> f64) -> (f64, [f64; 2]) {
    let values: Vec<f64> = (1..=20).map(|seed| value(&run(text, seed))).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, ci95(&values).expect("twenty values"))
}

/// A drive with one zone, a linear seek curve and no skew, read at random in its first 1,000,000 sectors.
struct Linear {
    drive: &'static str,
    rpm: f64,
    single_ms: f64,
    full_ms: f64,
    cylinders: f64,
    surfaces: f64,
    per_track: f64,
    head_switch_ms: f64,
    /// To the two decimals in which it is usually given.
    published_ms: f64,
}

const LINEAR: [Linear; 2] = [
    Linear {
        drive: "ibm-18es-linear",
        rpm: 7200.0,
        single_ms: 1.086,
        full_ms: 12.742,
        cylinders: 11_474.0,
        surfaces: 5.0,
        per_track: 312.0,
        head_switch_ms: 0.062,
        published_ms: 5.68,
    },
    Linear {
        drive: "cheetah-9lp-linear",
        rpm: 10_045.0,
        single_ms: 0.831,
        full_ms: 10.627,
        cylinders: 6962.0,
        surfaces: 12.0,
        per_track: 232.0,
        head_switch_ms: 0.03,
        published_ms: 4.19,
    },
];

impl Linear {
    /// Mean motion + half a revolution + eight sectors.
    fn latency_ms(&self) -> f64 {
        let per_cylinder = self.surfaces * self.per_track;
        let revolution = 60_000.0 / self.rpm;
        let slots = (1_000_000.0 / 8.0) as u64;
        // The share of the requests on each cylinder; the last one is not full.
        let mut shares = Vec::new();
        let mut left = slots as f64 * 8.0;
        while left > 0.0 {
            shares.push(left.min(per_cylinder) / (slots as f64 * 8.0));
            left -= per_cylinder;
        }
        let slope = (self.full_ms - self.single_ms) / (self.cylinders - 2.0);
        let seek = |distance: usize| match distance {
            0 => self.head_switch_ms * (1.0 - 1.0 / self.surfaces),
            distance => self.single_ms + slope * (distance as f64 - 1.0),
        };
        let mut motion = 0.0;
        for (from, a) in shares.iter().enumerate() {
            for (to, b) in shares.iter().enumerate() {
                motion += a * b * seek(from.abs_diff(to));
            }
        }
        motion + revolution / 2.0 + 8.0 * revolution / self.per_track
    }
}

#[test]
fn random_reads_on_a_linear_drive_take_what_the_closed_form_says() {
    for linear in &LINEAR {
        let text = format!(
            "[workload.synthetic]\nrequests = 20_000\narrivals = {{ poisson = \"1 s\" }}\nreads = 1.0\nsize = \"4 KiB\"\n\
             address = {{ uniform = {{ from = 0, blocks = 1_000_000 }} }}\n[measure]\nwarmup = 0\n[device.hdd]\ndrive = \"{}\"\n",
            linear.drive
        );
        let (mean, [low, high]) = replicate(&text, |result| {
            result["access_ms"]["mean"].as_f64().expect("a mean")
                + result["parts_ms"]["transfer"].as_f64().expect("a mean")
        });
        let expected = linear.latency_ms();
        assert!(
            (expected - linear.published_ms).abs() < 0.01,
            "{}: {expected}",
            linear.drive
        );
        assert!(
            low <= expected && expected <= high,
            "{}: {expected} is outside {low}..{high}",
            linear.drive
        );
        assert!(
            (mean / expected - 1.0).abs() < 0.005,
            "{}: {mean} against {expected}",
            linear.drive
        );
    }
}

/// Single-sector reads on one track of `ibm-18es-linear`, Poisson arrivals at a load `rho`.
struct OneTrack {
    sector_ms: f64,
    sectors: f64,
}

const ONE_TRACK: OneTrack = OneTrack {
    sector_ms: 60_000.0 / 7200.0 / 312.0,
    sectors: 312.0,
};

impl OneTrack {
    /// Mean and second moment of a service that begins at a sector's edge: 1 to S sectors, each as likely.
    fn at_an_edge(&self) -> (f64, f64) {
        let (s, tau) = (self.sectors, self.sector_ms);
        (
            (s + 1.0) / 2.0 * tau,
            (s + 1.0) * (2.0 * s + 1.0) / 6.0 * tau * tau,
        )
    }
    /// The same for a service that begins at a random instant: uniform over a revolution, and a sector.
    fn at_random(&self) -> (f64, f64) {
        let revolution = self.sectors * self.sector_ms;
        let mean = revolution / 2.0 + self.sector_ms;
        (mean, revolution * revolution / 12.0 + mean * mean)
    }
    fn rate(&self, rho: f64) -> f64 {
        rho / self.at_random().0
    }
    /// Pollaczek and Khinchine: every service as if it began at a random instant.
    fn pollaczek_khinchine(&self, rho: f64) -> f64 {
        let (mean, square) = self.at_random();
        let rate = self.rate(rho);
        mean + rate * square / (2.0 * (1.0 - rate * mean))
    }
    /// M/G/1 in which the first service of a busy period differs from the others (Welch, Operations Research 12, 1964).
    fn exceptional_first(&self, rho: f64) -> f64 {
        let (b, b2) = self.at_an_edge();
        let (b0, b02) = self.at_random();
        let rate = self.rate(rho);
        let first = 1.0 - rate * (b - b0);
        b0 / first + rate * (b02 - b2) / (2.0 * first) + rate * b2 / (2.0 * (1.0 - rate * b))
    }
}

/// Compares the mean response time of 20 runs with the continuous formula, and with the one that knows that a service
/// which follows another begins at a sector's edge.
fn compare_one_track(rho: f64, requests: u32, tolerance: f64) {
    let gap_ns = (1e6 / ONE_TRACK.rate(rho)).round();
    let text = format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ poisson = \"{gap_ns} ns\" }}\nreads = 1.0\nsize = \"1 block\"\n\
         address = {{ uniform = {{ from = 0, blocks = 312 }} }}\n[measure]\nwarmup = 10_000\n[device.hdd]\ndrive = \"ibm-18es-linear\"\n"
    );
    let (mean, _) = replicate(&text, |result| {
        result["response_ms"]["mean"].as_f64().expect("a mean")
    });
    let continuous = ONE_TRACK.pollaczek_khinchine(rho);
    let corrected = ONE_TRACK.exceptional_first(rho);
    assert!(
        (mean / continuous - 1.0).abs() < tolerance,
        "rho {rho}: {mean} against {continuous}"
    );
    assert!(
        (mean / corrected - 1.0).abs() < 0.003,
        "rho {rho}: {mean} against {corrected}"
    );
    assert!(corrected < continuous);
}

#[test]
fn one_track_at_half_load_is_a_queue_of_pollaczek_and_khinchine() {
    compare_one_track(0.5, 400_000, 0.01);
}

/// The standard error of so strongly correlated times is below 0.1 % only after 100 million requests.
#[test]
#[ignore = "takes a minute in release mode"]
fn one_track_at_four_fifths_load_is_a_queue_of_pollaczek_and_khinchine() {
    compare_one_track(0.8, 5_000_000, 0.015);
}
