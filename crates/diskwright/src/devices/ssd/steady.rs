//! Whether a drive's writes have come to a steady state.
//!
//! As the Performance Test Specification of the SNIA has it: over five rounds the rates lie within a fifth of their mean, and a straight line
//! through them moves by less than a tenth of it.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::base::units::Time;

/// Rounds that are looked at together.
const ROUNDS: usize = 5;
/// How far their rates may lie apart, and how far a line through them may move, of their mean.
const RANGE: f64 = 0.2;
const MOVE: f64 = 0.1;

/// The rates of the last rounds.
pub(super) struct Steady {
    /// 512-byte blocks that the host writes in a round.
    round: u64,
    written: u64,
    began: Option<Time>,
    rates: Rounds,
    reached: Option<Time>,
    rounds: u64,
}

impl Steady {
    /// With rounds of `round` blocks.
    pub fn new(round: u64) -> Steady {
        Steady {
            round: round.max(1),
            written: 0,
            began: None,
            rates: Rounds::default(),
            reached: None,
            rounds: 0,
        }
    }

    /// The host has written `blocks` blocks.
    #[inline]
    pub fn wrote(&mut self, blocks: u32, now: Time) {
        self.written += u64::from(blocks);
        if self.written >= self.round || self.began.is_none() {
            self.end_round(now);
        }
    }

    #[inline(never)]
    fn end_round(&mut self, now: Time) {
        let Some(began) = self.began.replace(now) else {
            return;
        };
        let is_steady = (self.rates).end(self.written as f64 / (now - began).s().max(1e-9));
        (self.written, self.rounds) = (0, self.rounds + 1);
        if self.reached.is_none() && is_steady {
            self.reached = Some(now);
        }
    }

    pub fn json(&self) -> Value {
        json!({ "reached": self.reached.is_some(), "at_s": self.reached.map(Time::s) })
    }

    /// A warning, where the drive was written for a while, but not long enough.
    pub fn doubt(&self) -> Option<String> {
        (self.rounds > 0 && self.reached.is_none()).then(|| {
            format!(
                "writes have not come to a steady state within {} rounds: a longer run, or [device.….initial] with overwrite = \"until-steady\"",
                self.rounds
            )
        })
    }
}

/// What the last rounds came to.
#[derive(Default)]
pub(super) struct Rounds(VecDeque<f64>);

impl Rounds {
    /// Another round has come to `rate`: whether the last five show a steady state.
    pub fn end(&mut self, rate: f64) -> bool {
        if self.0.len() == ROUNDS {
            self.0.pop_front();
        }
        self.0.push_back(rate);
        self.0.len() == ROUNDS && is_steady(&self.0)
    }
}

/// Whether five rates show a steady state.
fn is_steady(rates: &VecDeque<f64>) -> bool {
    let mean = rates.iter().sum::<f64>() / ROUNDS as f64;
    let most = rates.iter().copied().fold(f64::MIN, f64::max);
    let least = rates.iter().copied().fold(f64::MAX, f64::min);
    // The slope of the least squares; the places are −2 to 2.
    let slope = (-2..=2)
        .zip(rates)
        .map(|(at, rate)| f64::from(at) * rate)
        .sum::<f64>()
        / 10.0;
    most - least <= RANGE * mean && (slope * (ROUNDS - 1) as f64).abs() <= MOVE * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rates: &[u64]) -> Steady {
        let mut steady = Steady::new(1000);
        let mut now = Time::ZERO;
        steady.wrote(0, now);
        for rate in rates {
            now += Time::from_us(1_000_000 / rate);
            steady.wrote(1000, now);
        }
        steady
    }

    #[test]
    fn five_rounds_of_one_rate_are_steady() {
        assert!(after(&[10, 10, 10, 10, 10]).doubt().is_none());
        assert!(after(&[100, 50, 10, 10, 10, 11, 10]).reached.is_some());
        for rates in [
            &[10, 10, 10, 10][..],
            &[100, 80, 60, 50, 40],
            &[1000, 970, 940, 910, 880],
        ] {
            assert!(after(rates).doubt().is_some(), "{rates:?}");
        }
        assert!(after(&[]).doubt().is_none());
    }
}
