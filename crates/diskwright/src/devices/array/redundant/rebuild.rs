//! Rebuilding: a spare takes the place of a member that has failed, and is written what that held.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::geometry::Scheme;
use super::locks::Rows;
use super::members::State;
use super::plan::Plan;
use super::reading::recover;
use super::work::{Kind, Work, fresh};
use super::writing::lose;
use super::{REBUILD, Redundant};
use crate::base::error::InputError;
use crate::base::units::quantities::Rate;
use crate::base::units::{BLOCK_BYTES, Size, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, DeviceId, Outcome};
use crate::engine::timeline::AlarmId;

/// How a spare is filled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RebuildRules {
    /// How many bytes a second of the spare are written at most; left out, as many as the members manage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How much of the spare is written at a time. The rows of it are closed to writes until it is done.
    pub step: Size,
    /// How long after a failure the rebuild begins.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay: Time,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(time: &Time) -> bool {
    *time == Time::ZERO
}

/// 1 MiB.
pub(super) const STEP: u64 = 2048;
/// 1 GiB.
const LARGEST_STEP: u64 = 1 << 21;

impl Default for RebuildRules {
    fn default() -> RebuildRules {
        RebuildRules {
            rate: None,
            step: Size::from_blocks(STEP),
            delay: Time::ZERO,
        }
    }
}

/// Refuses steps of members that cannot be.
///
/// # Errors
/// Steps of no blocks, and those that are too large for a request.
pub(super) fn check_step(step: Size) -> Result<(), InputError> {
    match step.blocks() {
        1..=LARGEST_STEP => Ok(()),
        _ => Err(InputError::new(format!("steps of {step}")).help("accepted: 1 block to 1 GiB")),
    }
}

impl RebuildRules {
    /// Refuses what cannot be.
    ///
    /// # Errors
    /// Steps of no blocks, and those that are too large for a request.
    pub fn check(&self) -> Result<(), InputError> {
        check_step(self.step)
    }
}

/// A rebuild under way.
#[derive(Debug)]
pub struct Rebuild {
    slot: usize,
    spare: DeviceId,
    /// When the step under way began.
    step_began: Time,
    pub(super) alarm: Option<AlarmId>,
}

impl Redundant {
    /// Begins to rebuild a place that is lost, if a spare is there and the others have what it held.
    pub(super) fn begin_rebuild(&mut self, cx: &mut Context<'_>) {
        let mut slots = self.slots.iter();
        let lost = slots.position(|slot| slot.state == State::Lost);
        let Some(slot) =
            lost.filter(|_| self.rebuild.is_none() && self.resync.is_none() && !self.is_beyond())
        else {
            return;
        };
        let Some(spare) = self.spares.pop() else {
            return;
        };
        self.slots[slot].member = fresh(spare);
        self.slots[slot].state = State::Rebuilding(0);
        let begun = cx.now() + self.upkeep.rebuild.delay;
        let alarm = cx.alarm(begun, Token::new(REBUILD, 0));
        self.rebuild = Some(Rebuild {
            slot,
            spare,
            step_began: begun,
            alarm: Some(alarm),
        });
        let spare = self.devices.iter().position(|&device| device == spare);
        self.rebuilds.push(super::RebuildRecord {
            member: slot,
            spare: spare.expect("it is a child") - self.slots.len(),
            begun,
            ended: None,
            blocks: 0,
            is_complete: false,
        });
    }

    /// The place that is being rebuilt, if it is on this spare: what was begun for another one does not count for it.
    pub(super) fn slot_rebuilt_on(&self, spare: DeviceId) -> Option<usize> {
        let now = self.rebuild.as_ref();
        now.filter(|now| now.spare == spare).map(|now| now.slot)
    }

    /// The next step of the rebuild.
    pub(super) fn step(&mut self, cx: &mut Context<'_>) {
        let Some(rebuild) = &mut self.rebuild else {
            return;
        };
        rebuild.alarm = None;
        rebuild.step_began = cx.now();
        let Rebuild { slot, spare, .. } = *rebuild;
        let State::Rebuilding(done) = self.slots[slot].state else {
            unreachable!("a place that is rebuilt is neither good nor lost");
        };
        let geometry = self.geometry;
        let used = geometry.used();
        if done == used {
            let seal = self.begin(Kind::Seal { spare }, None, Command::default());
            return self.ask(seal);
        }
        let to = (done + self.upkeep.rebuild.step.blocks()).min(used);
        // Whole rows, or a part of one.
        let row = done / geometry.unit;
        let to = match to / geometry.unit {
            last if last > row => last * geometry.unit,
            _ => to.min((row + 1) * geometry.unit),
        };
        let is_of_one_row = to <= (row + 1) * geometry.unit;
        let (from_within, to_within) = match is_of_one_row {
            true => (done - row * geometry.unit, to - row * geometry.unit),
            false => (0, geometry.unit),
        };
        let (first, step) = match geometry.scheme {
            Scheme::Copies(_) => {
                let data = geometry.data() as u64;
                (row * data + slot as u64 % data, data)
            }
            _ => (row, 1),
        };
        let kind = Kind::Rebuild {
            spare,
            from: done,
            to,
        };
        let work = self.begin(kind, None, Command::default());
        self.work[work as usize].rows = Some(Rows {
            head: 0,
            first,
            count: to.div_ceil(geometry.unit) - row,
            step,
            from: from_within,
            to: to_within,
            is_shared: false,
        });
        self.ask(work);
    }

    /// What a step reads and writes.
    pub(super) fn plan_rebuild(
        &self,
        work: &Work,
        spare: DeviceId,
        (from, to): (u64, u64),
        plan: &mut Plan,
    ) -> Result<(), Outcome> {
        let slot = self.slot_rebuilt_on(spare);
        let slot = slot.filter(|&slot| self.slots[slot].state == State::Rebuilding(from));
        let slot = slot.ok_or(Outcome::FailedDevice)?;
        let view = self.view(work);
        let unit = self.geometry.unit;
        for row in from / unit..to.div_ceil(unit) {
            let begin = row * unit;
            let segment = (row, from.max(begin) - begin, to.min(begin + unit) - begin);
            let reads = plan.reads.len();
            let members = 0..self.slots.len();
            let bad = members.filter(|&other| {
                other != slot && view.has(other, segment) && !view.reads(other, segment)
            });
            match recover(&view, slot, segment, plan) {
                Ok(()) => bad.for_each(|other| {
                    plan.repaired += segment.2 - segment.1;
                    plan.write(&view, other, segment);
                }),
                Err(Outcome::MediaError) => {
                    plan.reads.truncate(reads);
                    self.give_up(work, slot, segment, plan);
                    continue;
                }
                Err(outcome) => return Err(outcome),
            }
            plan.write(&view, slot, segment);
        }
        Ok(())
    }

    /// Not enough of a segment can be read: what is missing of its data is lost. It is written as zeros, and with it the parity, so that the
    /// row fits together.
    fn give_up(&self, work: &Work, slot: usize, segment: super::plan::Segment, plan: &mut Plan) {
        let view = self.view(work);
        let geometry = &self.geometry;
        let row = segment.0;
        if geometry.parities() == 0 {
            lose(&view, slot % geometry.data(), segment, plan);
        }
        for unit in 0..geometry.data() {
            let place = geometry.place(row, unit);
            if geometry.parities() > 0 && place != slot && view.reads(place, segment) {
                plan.read(&view, place, segment);
            } else if geometry.parities() > 0 {
                lose(&view, place, segment, plan);
            }
        }
        let copies = geometry.copies_of(slot % geometry.data()).skip(1);
        let others = copies.filter(|_| geometry.parities() == 0);
        for other in others.chain(view.parities(row)) {
            if other != slot && view.writes(other, segment) {
                plan.write(&view, other, segment);
            }
        }
        plan.write(&view, slot, segment);
    }

    /// A piece of work that is no request has ended.
    pub(super) fn has_ended(
        &mut self,
        (kind, entry): (Kind, Option<u64>),
        outcome: Outcome,
        cx: &mut Context<'_>,
    ) {
        match kind {
            Kind::Rebuild { spare, from, to } => {
                let now = self.rebuild.as_mut();
                let Some(rebuild) = now.filter(|now| now.spare == spare) else {
                    return;
                };
                let slot = rebuild.slot;
                if self.slots[slot].state != State::Rebuilding(from) {
                    return;
                }
                if outcome != Outcome::Ok {
                    return self.lose_slot(slot, cx);
                }
                self.slots[slot].state = State::Rebuilding(to);
                let record = self.rebuilds.last_mut().expect("it has begun");
                record.blocks += to - from;
                let rate = self.upkeep.rebuild.rate;
                let least = rate.map_or(Time::ZERO, |rate| rate.time((to - from) * BLOCK_BYTES));
                let next = cx.now().max(rebuild.step_began + least);
                rebuild.alarm = Some(cx.alarm(next, Token::new(REBUILD, 0)));
            }
            Kind::Seal { spare } => {
                let Some(slot) = self.slot_rebuilt_on(spare) else {
                    return;
                };
                if self.slots[slot].state != State::Rebuilding(self.geometry.used()) {
                    return;
                }
                self.slots[slot].state = State::Good;
                self.rebuild = None;
                let record = self.rebuilds.last_mut().expect("it has begun");
                (record.ended, record.is_complete) = (Some(cx.now()), true);
                self.begin_rebuild(cx);
                self.wait_to_clear(cx);
            }
            Kind::Scrub { from, to } => self.has_scrubbed((from, to), cx),
            Kind::Resync { from, to } => self.has_resynced((from, to), cx),
            Kind::Settle => {
                if !self.has_settled_replay() {
                    self.has_settled(outcome, cx);
                }
            }
            Kind::Marks => self.has_written_marks(cx),
            Kind::Unmark => self.may_unmark(cx),
            Kind::Entries => self.has_logged(cx),
            Kind::Reclaim => self.may_reclaim(cx),
            Kind::Tail => self.has_freed(entry, cx),
            Kind::Replay { .. } => self.replay_next(),
            Kind::None | Kind::Request | Kind::Flush => {}
        }
    }

    /// The place that is being rebuilt is lost again.
    pub(super) fn abandon_rebuild(&mut self, slot: usize, cx: &mut Context<'_>) {
        let Some(rebuild) = self.rebuild.take_if(|rebuild| rebuild.slot == slot) else {
            return;
        };
        if let Some(alarm) = rebuild.alarm {
            cx.cancel(alarm);
        }
        self.spares.retain(|&spare| spare != rebuild.spare);
        let record = self.rebuilds.last_mut().expect("it has begun");
        record.ended = Some(cx.now());
    }
}
