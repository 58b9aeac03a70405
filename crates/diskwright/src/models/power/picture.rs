//! What a device drew over the time of a run.

use serde_json::{Value, json};

use crate::base::units::Time;
use crate::base::units::power::FEMTOJOULES;
use crate::metrics::picture::bins::{Bins, Join};

/// The most bins of a run.
const BINS: usize = 600;
/// The number of bins that are shown.
const SHOWN: usize = 200;

#[derive(Clone, Debug, Default)]
struct Drawn(i128);

impl Join for Drawn {
    fn join(&mut self, next: Drawn) {
        self.0 += next.0;
    }
}

/// Collected while a device runs.
#[derive(Clone, Debug)]
pub struct PowerPicture {
    bins: Bins<Drawn>,
    /// The last instant that is in it.
    until: Time,
}

impl Default for PowerPicture {
    fn default() -> PowerPicture {
        PowerPicture {
            bins: Bins::new(BINS),
            until: Time::ZERO,
        }
    }
}

impl PowerPicture {
    /// Adds an energy in femtojoules, drawn evenly between two instants.
    pub fn drew(&mut self, from: Time, to: Time, energy: i128) {
        self.until = self.until.max(to);
        let whole = i128::from((to.saturating_sub(from)).ns().max(1));
        let (each, rest) = (energy.div_euclid(whole), energy.rem_euclid(whole));
        self.bins.over(from, to, |bin, ns| {
            bin.0 += each * i128::from(ns) + rest * i128::from(ns) / whole;
        });
    }

    /// The mean power of each bin of time, in watts, of a run.
    pub fn json(self) -> Value {
        let bins = self.bins.coarsened(SHOWN);
        let last = bins.len().saturating_sub(1);
        let last_width = bins.last_width(self.until);
        let watts: Vec<f64> = bins
            .iter()
            .enumerate()
            .map(|(index, bin)| {
                let width = if index == last {
                    last_width
                } else {
                    bins.width()
                };
                bin.0 as f64 / FEMTOJOULES / width.s().max(1e-9)
            })
            .collect();
        json!({
            "start_s": bins.start().s(),
            "bin_s": bins.width().s(),
            "last_bin_s": last_width.s(),
            "watts": watts,
        })
    }
}
