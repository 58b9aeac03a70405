//! The line that has been dirty longest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Begins, CleaningOrder, CleaningRules, MERGE, merged};
use crate::base::error::InputError;
use crate::base::units::percent::Percent;
use crate::base::units::{Size, Time};

/// Rule: while the host has been idle for some time, or while too much is dirty, the run of the line that has been dirty longest is
/// written back, with the dirty blocks that follow it. Tie: none can be. Source: the cleaning policy `alru` of Open CAS, and the
/// watermarks of writeback in bcache. Weakness: in the order of age a disk seeks between any two runs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "OldestFirst")]
pub struct Oldest {
    /// How long the host has had no request before cleaning begins. Left out, 100 ms without `high`, and with it idleness is no reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Time>,
    /// The dirty share of the cache from which on it is cleaned during requests of the host. Without it, it never is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<Percent>,
    /// The share at which that ends; left out, `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<Percent>,
    /// The most that is written back together.
    pub merge: Size,
    /// How long cleaning rests after each write-back.
    pub pause: Time,
}

/// How long the host has been idle, unless the spec says otherwise: an estimate, longer than the gaps of a busy host.
const IDLE: Time = Time::from_ms(100);

impl Default for Oldest {
    fn default() -> Oldest {
        Oldest {
            idle: None,
            high: None,
            low: None,
            merge: MERGE,
            pause: Time::ZERO,
        }
    }
}

impl Oldest {
    pub(super) const SUMMARY: &str =
        "The line that has been dirty longest first, while the host is idle or too much is dirty.";
    pub(super) fn build(&self, blocks: u64) -> Result<Option<CleaningRules>, InputError> {
        let marks = match (self.high, self.low) {
            (None, None) => None,
            (None, Some(low)) => {
                let error = InputError::new(format!("low = \"{low}\" without high"));
                return Err(error.help("write high, or leave low out"));
            }
            (Some(high), low) => {
                let low = low.unwrap_or(high);
                if low > high {
                    let error =
                        InputError::new(format!("low = \"{low}\" is above high = \"{high}\""));
                    return Err(error.help("accepted for low: up to high"));
                }
                Some((high.of(blocks), low.of(blocks)))
            }
        };
        let idle = match marks {
            None => Some(self.idle.unwrap_or(IDLE)),
            Some(_) => self.idle,
        };
        Ok(Some(CleaningRules {
            begins: Begins::When { idle, marks },
            order: CleaningOrder::Oldest,
            merge: merged(self.merge)?,
            pause: self.pause,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(text: &str) -> Result<Begins, String> {
        let spec: Oldest = toml::from_str(text).expect(text);
        let rules = spec.build(1000).map_err(|error| error.to_string())?;
        Ok(rules.expect("it cleans").begins)
    }

    #[test]
    fn it_begins_for_idleness_or_for_marks() {
        let when = |idle: Option<u64>, marks| Begins::When {
            idle: idle.map(Time::from_ms),
            marks,
        };
        assert_eq!(built(""), Ok(when(Some(100), None)));
        assert_eq!(built("idle = '2 s'"), Ok(when(Some(2000), None)));
        assert_eq!(built("high = '20 %'"), Ok(when(None, Some((200, 200)))));
        let all = "idle = '1 ms'\nhigh = '20 %'\nlow = '5 %'";
        assert_eq!(built(all), Ok(when(Some(1), Some((200, 50)))));
        for wrong in [
            "low = '5 %'",
            "low = '5 %'\nhigh = '4 %'",
            "merge = '0 B'",
            "merge = '1 GiB'",
        ] {
            assert!(built(wrong).is_err(), "{wrong}");
        }
    }
}
