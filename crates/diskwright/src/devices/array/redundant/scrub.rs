//! Scrubbing: all rows are read, so that blocks that cannot be read are found, and written again, while their rows still make up for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::geometry::Scheme;
use super::locks::Rows;
use super::plan::{Plan, View};
use super::reading::recover;
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

/// 1 GiB.
const LARGEST_STEP: u64 = 1 << 21;

impl ScrubRules {
    /// Refuses what cannot be.
    ///
    /// # Errors
    /// Steps of no blocks, and those that are too large for a request.
    pub fn check(&self) -> Result<(), InputError> {
        match self.step.blocks() {
            1..=LARGEST_STEP => Ok(()),
            _ => Err(InputError::new(format!("steps of {}", self.step))
                .help("accepted: 1 block to 1 GiB")),
        }
    }
}

/// A pass under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// Blocks of each member that have been read.
    done: u64,
    began: Time,
    step_began: Time,
}

impl Redundant {
    /// Sets the alarm of the first pass.
    pub(super) fn plan_scrubs(&self, cx: &mut Context<'_>) {
        if let Some(rules) = &self.upkeep.scrub {
            cx.background_alarm(rules.at.max(cx.now()), Token::new(SCRUB, 0));
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
        // Whole rows, or a part of one.
        let row = from / geometry.unit;
        let end = (from + rules.step.blocks()).min(geometry.used());
        let to = match end / geometry.unit {
            last if last > row => last * geometry.unit,
            _ => end,
        };
        let is_of_one_row = to <= (row + 1) * geometry.unit;
        let (from_within, to_within) = match is_of_one_row {
            true => (from - row * geometry.unit, to - row * geometry.unit),
            false => (0, geometry.unit),
        };
        let per_row = match geometry.scheme {
            Scheme::Copies(_) => geometry.data() as u64,
            _ => 1,
        };
        let work = self.begin(Kind::Scrub { from, to }, None, Command::default());
        self.work[work as usize].rows = Some(Rows {
            first: row * per_row,
            count: (to.div_ceil(geometry.unit) - row) * per_row,
            step: 1,
            from: from_within,
            to: to_within,
            is_shared: false,
        });
        self.ask(work);
    }

    /// What a step reads, and what it writes again.
    pub(super) fn plan_scrub(&self, work: &Work, (from, to): (u64, u64), plan: &mut Plan) {
        let view: View<'_> = self.view(work);
        let unit = self.geometry.unit;
        for row in from / unit..to.div_ceil(unit) {
            let begin = row * unit;
            let segment = (row, from.max(begin) - begin, to.min(begin + unit) - begin);
            for slot in (0..self.slots.len()).filter(|&slot| view.has(slot, segment)) {
                if view.reads(slot, segment) {
                    plan.read(&view, slot, segment);
                    continue;
                }
                let reads = plan.reads.len();
                match recover(&view, slot, segment, plan) {
                    Ok(()) => {
                        plan.repaired += segment.2 - segment.1;
                        plan.write(&view, slot, segment);
                    }
                    // It stays as it is: what cannot be made up for now may be overwritten yet.
                    Err(_) => plan.reads.truncate(reads),
                }
            }
        }
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
        if let Some(next) = next {
            cx.background_alarm(next.max(cx.now()), Token::new(SCRUB, 0));
        }
    }
}
