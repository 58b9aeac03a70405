//! Scrubbing: all rows are read, so that blocks that cannot be read are found, and written again, while their rows still make up for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rebuild::check_step;
use super::work::{Kind, Work};
use super::{Redundant, SCRUB};
use crate::base::error::InputError;
use crate::base::units::quantities::Rate;
use crate::base::units::{BLOCK_BYTES, Size, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::Command;

/// How an array is scrubbed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScrubRules {
    /// How many bytes a second of each member are read at most.
    pub rate: Rate,
    /// How much of each member is read at a time. The rows of it are closed to writes until it is done.
    #[serde(default = "step")]
    pub step: Size,
    /// When the first pass begins.
    #[serde(default)]
    pub at: Time,
    /// How long after the beginning of a pass the next one begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Time>,
}

/// 256 KiB.
fn step() -> Size {
    Size::from_blocks(512)
}

impl ScrubRules {
    /// Refuses what cannot be.
    ///
    /// # Errors
    /// Steps of no blocks, and those that are too large for a request.
    pub fn check(&self) -> Result<(), InputError> {
        check_step(self.step)
    }
}

/// A pass under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// Blocks of each member that have been read.
    done: u64,
    began: Time,
    step_began: Time,
    /// When it goes on, or the next one begins; a step under way is done anew after an outage.
    next: Option<Time>,
    /// The first one has begun, or its alarm is set.
    has_begun: bool,
}

impl Redundant {
    /// Sets the alarm of the first pass, or, after an outage, of the step that is next.
    pub(super) fn plan_scrubs(&mut self, cx: &mut Context<'_>) {
        let Some(rules) = &self.upkeep.scrub else {
            return;
        };
        if !std::mem::replace(&mut self.pass.has_begun, true) {
            self.pass.next = Some(rules.at);
        }
        // A row of which a part was read before the outage is read as a whole.
        self.pass.done -= self.pass.done % self.risk.chunk;
        if let Some(next) = self.pass.next {
            cx.background_alarm(next.max(cx.now()), Token::new(SCRUB, 0));
        }
    }

    /// The next step of a pass, or the first one of another.
    pub(super) fn scrub(&mut self, cx: &mut Context<'_>) {
        let rules = self.upkeep.scrub.expect("it has rules");
        let geometry = self.geometry;
        if self.pass.done == 0 {
            self.pass.began = cx.now();
        }
        self.pass.step_began = cx.now();
        let from = self.pass.done;
        let (to, rows) = self.rows_of_step(from, geometry.used(), rules.step.blocks());
        let work = self.begin(Kind::Scrub { from, to }, None, Command::default());
        self.work[work as usize].rows = Some(rows);
        self.ask(work);
    }

    /// Has the checker look whether what a step has read fits together.
    pub(super) fn compare(&self, work: &Work, (from, to): (u64, u64), cx: &mut Context<'_>) {
        let Some((checker, _)) = cx.checker() else {
            return;
        };
        let geometry = &self.geometry;
        if self.has_trimmed {
            return;
        }
        for at in from..to {
            let row = at / geometry.unit;
            let known = |slot: usize| work.contents.get(slot, at);
            if self.risk.is_suspect(&(at..at + 1)) {
                continue;
            }
            for slot in 0..geometry.members {
                let others = |other: usize| known(other).filter(|_| other != slot);
                let solved = super::contents::solve(geometry, row, slot, others);
                if let (Some(held), Some(solved)) = (known(slot), solved)
                    && held != solved
                {
                    checker.found(format!(
                        "the members of row {row} do not fit together at block {at} of member {slot}"
                    ));
                }
            }
        }
    }

    /// A step has ended.
    pub(super) fn has_scrubbed(&mut self, (from, to): (u64, u64), cx: &mut Context<'_>) {
        let rules = self.upkeep.scrub.expect("it has rules");
        self.counters.scrubbed += to - from;
        self.pass.done = to;
        let least = self.pass.step_began + rules.rate.time((to - from) * BLOCK_BYTES);
        let mut next = Some(least);
        if to == self.geometry.used() {
            self.counters.passes += 1;
            self.pass.done = 0;
            next = rules.every.map(|every| least.max(self.pass.began + every));
        }
        self.pass.next = next;
        if let Some(next) = next {
            cx.background_alarm(next.max(cx.now()), Token::new(SCRUB, 0));
        }
    }
}
