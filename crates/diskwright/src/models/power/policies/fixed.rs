//! One timeout for each state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PowerPolicy, Timeout, known_state};
use crate::base::error::InputError;
use crate::base::units::Time;
use crate::models::power::figures::{PowerFigures, PowerState};

/// Rule: the device goes into a state when it has been idle for the state's timeout. A state without a timeout is never gone into. Source:
/// ACS-3, extended power conditions: a timer for each condition, all of which start when the device has nothing to do.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FixedTimeouts {
    /// Of a disk: less of the electronics powered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_a: Option<Time>,
    /// Of a disk: heads unloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_b: Option<Time>,
    /// Of a disk: heads unloaded, and a lower speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_c: Option<Time>,
    /// Of a disk: stopped, with electronics for a quicker start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standby_y: Option<Time>,
    /// Of a disk: stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standby_z: Option<Time>,
    /// Of an SSD: the link sleeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slumber: Option<Time>,
    /// Of an SSD: all but off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devsleep: Option<Time>,
}

impl FixedTimeouts {
    pub(super) const SUMMARY: &str = "A timeout for each state.";

    pub(super) fn build(&self, figures: &PowerFigures) -> Result<Box<dyn PowerPolicy>, InputError> {
        let timeouts = [
            (PowerState::IdleA, self.idle_a),
            (PowerState::IdleB, self.idle_b),
            (PowerState::IdleC, self.idle_c),
            (PowerState::StandbyY, self.standby_y),
            (PowerState::StandbyZ, self.standby_z),
            (PowerState::Slumber, self.slumber),
            (PowerState::DevSleep, self.devsleep),
        ];
        let mut plan = Vec::new();
        for (state, after) in timeouts {
            let Some(after) = after else { continue };
            let state = known_state(figures, state.name())?;
            plan.push(Timeout { after, state });
        }
        // Of states of the same instant the deepest.
        plan.sort_by_key(|timeout| (timeout.after, std::cmp::Reverse(timeout.state)));
        Ok(Box::new(Timers(plan)))
    }
}

struct Timers(Vec<Timeout>);

impl PowerPolicy for Timers {
    fn plan(&mut self, timeouts: &mut Vec<Timeout>) {
        timeouts.extend_from_slice(&self.0);
    }
}
