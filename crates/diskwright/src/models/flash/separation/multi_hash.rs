//! Separation by how often units are written, with several hash functions over one table of counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Separation;

/// The number of hash functions, and so of the counters of a unit.
const HASHES: u64 = 2;
/// The most that a counter counts.
const MOST: u8 = 15;

/// Rule: a unit has two counters of a table, which count its writes up to 15; others may share them, and the two may be one, which then counts once. It is hot, and of the first stream, when both have
/// come to `hot` with this write; else it is of the second. After every `decay` writes all counters are halved. The counters of unit n are those of numbers
/// ⌊(n + 1) · k mod 2⁶⁴ / 2³²⌋ mod `counters`, with k = 0x9E3779B97F4A7C15 and k = 0xC2B2AE3D27D4EB4F. Source: Hsieh, Kuo and Chang, "Efficient identification of hot data for
/// flash memory storage systems", ACM Transactions on Storage 2(1), 2006.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MultiHash {
    /// Counters of the table.
    #[schemars(range(min = 1, max = 268_435_456))]
    pub counters: u32,
    /// From how many writes on a unit is hot.
    #[schemars(range(min = 1, max = 15))]
    pub hot: u8,
    /// Writes after which all counters are halved.
    #[schemars(range(min = 1))]
    pub decay: u32,
}

impl Default for MultiHash {
    fn default() -> MultiHash {
        MultiHash {
            counters: 65_536,
            hot: 4,
            decay: 65_536,
        }
    }
}

impl MultiHash {
    pub(super) const SUMMARY: &str = "Units that were written often lately are hot.";
    pub(super) fn build(&self) -> Box<dyn Separation> {
        Box::new(Counters {
            rule: *self,
            table: vec![0; self.counters.max(1) as usize],
            writes: 0,
        })
    }
}

/// The multipliers of the hash functions: odd numbers without a pattern in their bits.
const MULTIPLIERS: [u64; HASHES as usize] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];

struct Counters {
    rule: MultiHash,
    table: Vec<u8>,
    writes: u32,
}

impl Separation for Counters {
    fn streams(&self) -> u32 {
        2
    }

    fn stream(&mut self, unit: u32, _blocks: u32) -> u32 {
        let places = MULTIPLIERS.map(|multiplier| {
            let hash = (u64::from(unit) + 1).wrapping_mul(multiplier) >> 32;
            hash as usize % self.table.len()
        });
        for (number, &place) in places.iter().enumerate() {
            // A unit whose hashes meet counts once.
            if !places[..number].contains(&place) {
                self.table[place] = (self.table[place] + 1).min(MOST);
            }
        }
        let is_hot = places
            .iter()
            .all(|&place| self.table[place] >= self.rule.hot);
        self.writes += 1;
        if self.writes >= self.rule.decay {
            self.writes = 0;
            self.table.iter_mut().for_each(|count| *count /= 2);
        }
        u32::from(!is_hot)
    }
}
