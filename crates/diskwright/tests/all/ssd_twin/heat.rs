//! Streams of the host: which one each unit is written with.

use super::model::Model;
use super::specs::{Drive, Separation};

const HASHES: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];

/// Counters of writes.
pub struct Heat {
    counters: Vec<u8>,
    writes: u64,
}

impl Heat {
    pub fn new(drive: &Drive) -> Heat {
        let counters = match drive.separation {
            Separation::MultiHash { counters, .. } => counters,
            _ => 0,
        };
        Heat {
            counters: vec![0; counters as usize],
            writes: 0,
        }
    }

    fn is_hot(&mut self, unit: usize, hot: u8, decay: u64) -> bool {
        let hash = |factor: u64| (unit as u64 + 1).wrapping_mul(factor) >> 32;
        let mut its = HASHES
            .map(|factor| hash(factor) as usize % self.counters.len())
            .to_vec();
        its.dedup();
        for &counter in &its {
            self.counters[counter] = (self.counters[counter] + 1).min(15);
        }
        let is_hot = its.iter().all(|&counter| self.counters[counter] >= hot);
        self.writes += 1;
        if self.writes.is_multiple_of(decay) {
            self.counters.iter_mut().for_each(|counter| *counter /= 2);
        }
        is_hot
    }
}

impl Model<'_> {
    /// The stream of a unit that is ready, of a write of so many blocks. Map units are of the first one.
    pub fn stream_of(&mut self, unit: usize, written_by: u64) -> usize {
        if unit >= self.drive().host_units() {
            return 0;
        }
        match self.drive().separation {
            Separation::Single => 0,
            Separation::BySize(cold) => usize::from(written_by >= cold),
            Separation::MultiHash { hot, decay, .. } => {
                usize::from(!self.heat.is_hot(unit, hot, decay))
            }
        }
    }
}
