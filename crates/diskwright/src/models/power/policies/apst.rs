//! Autonomous power state transitions of NVM Express, as an operating system sets them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PowerPolicy, Timeout};
use crate::base::error::InputError;
use crate::base::units::Time;
use crate::models::power::figures::{LowState, PowerFigures};

/// Rule: from the beginning of an idle period, or from when it is in a state, the device goes into the next deeper state with a way back of
/// at most `max_latency` after 50 times as long as this state's ways in and back take together, rounded up to the millisecond: so no more than
/// 2 % of the time is spent on them. Source: Linux 5.4, `nvme_configure_apst` (drivers/nvme/host/core.c); NVM Express 1.4, 8.4.2.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApstTable {
    /// The longest way back that is accepted.
    pub max_latency: Time,
}

impl Default for ApstTable {
    fn default() -> ApstTable {
        ApstTable {
            max_latency: Time::from_ms(100),
        }
    }
}

/// How many times as long as both ways take the device is idle first.
const IDLE_FOR: u64 = 50;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;

impl ApstTable {
    pub(super) const SUMMARY: &str = "Each low power state after 50 times as long as its ways in and back take: the autonomous transitions of NVMe, as Linux sets them.";

    pub(super) fn build(&self, figures: &PowerFigures) -> Result<Box<dyn PowerPolicy>, InputError> {
        let states = figures.low.iter().enumerate();
        let quick = states.filter(|(_, low)| low.leave.0 <= self.max_latency);
        let mut plan = Vec::new();
        let mut at = Time::ZERO;
        for (state, low) in quick {
            let after = at.checked_add(idle_for(low)).unwrap_or(Time::MAX);
            plan.push(Timeout { after, state });
            at = after.checked_add(low.enter.0).unwrap_or(Time::MAX);
        }
        if plan.is_empty() {
            let what = format!(
                "the drive has no low power state that it leaves within {}",
                self.max_latency
            );
            return Err(InputError::new(what)
                .help("a longer max_latency, or figures of a state beside policy"));
        }
        Ok(Box::new(Apst(plan)))
    }
}

/// The idle time before a state. The drive tells its latencies in microseconds, and the table has milliseconds.
fn idle_for(low: &LowState) -> Time {
    let both = low.enter.0.ns() / US + low.leave.0.ns() / US;
    Time::from_ns((both * IDLE_FOR * US).div_ceil(MS) * MS)
}

struct Apst(Vec<Timeout>);

impl PowerPolicy for Apst {
    fn plan(&mut self, timeouts: &mut Vec<Timeout>) {
        timeouts.extend_from_slice(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::power::Power;
    use crate::models::power::figures::PowerState;

    fn figures(ways_us: &[(u64, u64)]) -> PowerFigures {
        let states = [PowerState::Slumber, PowerState::DevSleep];
        let low = states.into_iter().zip(ways_us);
        PowerFigures {
            idle: Power::from_microwatts(1_000_000),
            low: low
                .map(|(state, &(enter, leave))| LowState {
                    state,
                    power: Power::default(),
                    enter: (Time::from_us(enter), 0),
                    leave: (Time::from_us(leave), 0),
                })
                .collect(),
        }
    }

    fn plan(max_latency: Time, figures: &PowerFigures) -> Vec<(u64, usize)> {
        let mut policy = ApstTable { max_latency }.build(figures).expect("sound");
        let mut plan = Vec::new();
        policy.plan(&mut plan);
        let each = plan.iter();
        each.map(|due| (due.after.ns(), due.state)).collect()
    }

    #[test]
    fn states_follow_after_fifty_times_their_ways() {
        // 210 + 1200 us: 70.5 ms are 71; then 0.21 ms on the way and 50 · 10 ms.
        let figures = figures(&[(210, 1_200), (2_000, 8_000)]);
        let both = [(71_000_000, 0), (571_210_000, 1)];
        assert_eq!(plan(Time::from_ms(100), &figures), both);
        assert_eq!(plan(Time::from_us(8_000), &figures), both);
        assert_eq!(plan(Time::from_us(7_999), &figures), both[..1]);
    }

    #[test]
    fn a_state_that_is_left_too_slowly_is_passed_over() {
        let figures = figures(&[(0, 9_000), (20, 20)]);
        assert_eq!(plan(Time::from_us(20), &figures), [(2_000_000, 1)]);
        let refused = ApstTable {
            max_latency: Time::from_us(19),
        };
        let error = refused.build(&figures).err().expect("refused").to_string();
        assert!(error.contains("leaves within 19 us"), "{error}");
    }
}
