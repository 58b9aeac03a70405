//! Lines that have been accessed several times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Admission;
use crate::base::error::InputError;
use crate::models::cache::recent_counts::RecentCounts;

/// Rule: a line is admitted at its n-th access that misses, as far as the accesses are remembered: those of the `remembered` lines that
/// missed last. Tie: none can be. Source: the promotion policy `nhit` of Open CAS, whose table is larger. Weakness: the first
/// accesses to a line that becomes popular go to the backing device.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct After {
    /// At which access a line is admitted, from 1.
    pub accesses: u32,
    /// Of how many lines that missed the accesses are counted; as many as the cache has, if it is left out. The line that missed least
    /// recently is forgotten for another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remembered: Option<u32>,
}

impl Default for After {
    fn default() -> After {
        After {
            accesses: 2,
            remembered: None,
        }
    }
}

impl After {
    pub(super) const SUMMARY: &str = "A line gets a place at its n-th access that misses.";
    pub(super) fn build(&self, lines: u32) -> Result<Box<dyn Admission>, InputError> {
        let wrong = |message: &str| Err(InputError::new(message).help("accepted: 1 or more"));
        match (self.accesses, self.remembered) {
            (0, _) => wrong("a line that is admitted at access 0"),
            (_, Some(0)) => wrong("accesses that are remembered of 0 lines"),
            _ => Ok(Box::new(Counted {
                least: self.accesses,
                counts: RecentCounts::new(self.remembered(lines)),
            })),
        }
    }

    /// The number of lines whose accesses are counted, for a cache of `lines` lines.
    pub fn remembered(&self, lines: u32) -> u32 {
        self.remembered.unwrap_or(lines)
    }
}

/// How often lines that are not held were accessed.
struct Counted {
    least: u32,
    counts: RecentCounts,
}

impl Admission for Counted {
    fn would_admit(&self, line: u64) -> bool {
        self.counts.get(line) + 1 >= self.least
    }
    fn accessed(&mut self, line: u64) -> bool {
        let is_admitted = self.would_admit(line);
        if is_admitted {
            self.counts.forget(line);
        } else {
            self.counts.add(line);
        }
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which accesses to these lines are admitted.
    fn admitted(spec: &After, lines: &[u64]) -> Vec<usize> {
        let mut policy = spec.build(4).expect("it is sound");
        let mut found = Vec::new();
        for (at, &line) in lines.iter().enumerate() {
            let would = policy.would_admit(line);
            assert_eq!(policy.accessed(line), would);
            if would {
                found.push(at);
            }
        }
        found
    }

    #[test]
    fn a_line_is_admitted_at_its_nth_access_that_is_remembered() {
        let third = After {
            accesses: 3,
            remembered: Some(2),
        };
        // Line 3 drives out line 2, of the two that are counted the one that missed less recently.
        assert_eq!(
            admitted(&third, &[1, 1, 1, 1, 2, 2, 1, 3, 2, 2, 2]),
            [2, 10]
        );
        assert_eq!(admitted(&After::default(), &[7, 7, 7, 7]), [1, 3]);
        let first = After {
            accesses: 1,
            remembered: None,
        };
        assert_eq!(admitted(&first, &[9, 9]), [0, 1]);
    }

    #[test]
    fn numbers_without_sense_are_refused() {
        for (accesses, remembered) in [(0, None), (2, Some(0))] {
            let spec = After {
                accesses,
                remembered,
            };
            assert!(spec.build(4).is_err());
        }
    }
}
