//! Requests that were served, and sums over them.

use serde_json::{Value, json};

use crate::base::units::Time;
use crate::engine::request::{Op, ServedBy};

/// A request that was replayed, with its recorded and its simulated service time.
#[derive(Clone, Copy, Debug)]
pub struct ReplayedRequest {
    pub op: Op,
    pub by: ServedBy,
    /// What the request before it was.
    pub after: Option<Op>,
    pub lbn: u64,
    pub blocks: u32,
    pub recorded: Time,
    pub simulated: Time,
}

impl ReplayedRequest {
    /// Simulated − recorded, in ns.
    pub fn error_ns(&self) -> i128 {
        i128::from(self.simulated.ns()) - i128::from(self.recorded.ns())
    }
}

/// Sums over requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    requests: u64,
    recorded_ns: u128,
    simulated_ns: u128,
    /// Σ (simulated − recorded)², ns².
    squares: u128,
}

impl Tally {
    /// Counts a request.
    pub fn add(&mut self, served: &ReplayedRequest) {
        let error = served.error_ns().unsigned_abs();
        self.requests += 1;
        self.recorded_ns += u128::from(served.recorded.ns());
        self.simulated_ns += u128::from(served.simulated.ns());
        self.squares = self.squares.saturating_add(error * error);
    }

    /// How many there are.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// A sum of ns as its mean in ms.
    fn mean_ms(&self, sum_ns: f64) -> f64 {
        sum_ns / self.requests.max(1) as f64 / 1e6
    }

    /// Mean of simulated − recorded, ms.
    pub fn error_mean_ms(&self) -> f64 {
        let size = self.mean_ms(self.simulated_ns.abs_diff(self.recorded_ns) as f64);
        if self.simulated_ns < self.recorded_ns {
            -size
        } else {
            size
        }
    }

    /// Root mean square of simulated − recorded, ms.
    pub fn error_rms_ms(&self) -> f64 {
        libm::sqrt(self.squares as f64 / self.requests.max(1) as f64) / 1e6
    }

    /// The sums as means, for a kind called so, beside those of all requests.
    pub fn json(&self, name: &str, all: &Tally) -> Value {
        json!({
            "name": name,
            "requests": self.requests,
            "recorded_mean_ms": self.mean_ms(self.recorded_ns as f64),
            "simulated_mean_ms": self.mean_ms(self.simulated_ns as f64),
            "error_rms_ms": self.error_rms_ms(),
            "share_of_squared_error": match all.squares {
                0 => 0.0,
                squares => self.squares as f64 / squares as f64,
            },
        })
    }
}
