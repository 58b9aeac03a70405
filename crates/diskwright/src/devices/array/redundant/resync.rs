//! Resynchronisation: after the power has returned, rows that may have been written when it failed are read, and redundancy that may not fit
//! their data is made anew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::geometry::Scheme;
use super::locks::Rows;
use super::members::State;
use super::plan::{Plan, Segment};
use super::reading::recover;
use super::rebuild::{STEP, check_step};
use super::work::{Kind, Work};
use super::{REBUILD, RESYNC, Redundant};
use crate::base::error::InputError;
use crate::base::units::quantities::Rate;
use crate::base::units::{BLOCK_BYTES, Size, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, Outcome};

/// How an array is resynchronised when the power returns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResyncRules {
    /// How many bytes a second of each member are read at most; left out, as many as the members manage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How much of each member is read at a time. The rows of it are closed to writes until it is done.
    pub step: Size,
    /// Whether it begins by itself. If not, rows stay as the power cut has left them until a scrub comes to them, or they are written as a whole.
    pub automatic: bool,
}

impl Default for ResyncRules {
    fn default() -> ResyncRules {
        ResyncRules {
            rate: None,
            step: Size::from_blocks(STEP),
            automatic: true,
        }
    }
}

impl ResyncRules {
    /// Refuses what cannot be.
    ///
    /// # Errors
    /// Steps of no blocks, and those that are too large for a request.
    pub fn check(&self) -> Result<(), InputError> {
        check_step(self.step)
    }
}

/// A resynchronisation under way: blocks of each member that are still to be read, the first ones last.
#[derive(Debug)]
pub struct Resync {
    left: Vec<(u64, u64)>,
    step_began: Time,
}

/// A resynchronisation that has ended, or not.
#[derive(Clone, Debug)]
pub struct ResyncRecord {
    pub begun: Time,
    pub ended: Option<Time>,
    /// Blocks of each member that were read.
    pub blocks: u64,
    /// Rows whose redundancy was made anew.
    pub rows: u64,
}

impl Redundant {
    /// The power has returned.
    pub(super) fn begin_anew(&mut self, cx: &mut Context<'_>) {
        self.children = Default::default();
        self.work.clear();
        self.free.clear();
        self.ready.clear();
        self.locks = Default::default();
        self.open = 0;
        self.has_room = false;
        for slot in &mut self.slots {
            slot.member.outstanding = 0;
        }
        self.plan_scrubs(cx);
        self.forget_resync(cx.now());
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.power_returned(cx.now());
        }
        self.wait_to_clear(cx);
        if !self.begin_replay(cx) {
            self.look_for_doubt(cx);
        }
    }

    /// Begins to make anew what is in doubt; where nothing is, rebuilding goes on.
    pub(super) fn look_for_doubt(&mut self, cx: &mut Context<'_>) {
        let regions = self.regions_in_doubt();
        match regions.is_empty() || !self.upkeep.resync.automatic {
            true => self.go_on_rebuilding(cx),
            false => self.begin_resync(regions, cx),
        }
    }

    /// A resynchronisation that the power has cut short.
    fn forget_resync(&mut self, now: Time) {
        if self.resync.take().is_some()
            && let Some(record) = self.resyncs.last_mut()
        {
            record.ended = Some(now);
        }
    }

    /// The blocks of each member that may have been written when the power failed, for all that the array can know.
    fn regions_in_doubt(&self) -> Vec<(u64, u64)> {
        if let Some(bitmap) = &self.bitmap {
            return bitmap.marked(self.geometry.used());
        }
        let has_journal = self
            .journal
            .as_ref()
            .is_some_and(|journal| !journal.has_failed);
        let has_changed = self.has_changed && !has_journal;
        match has_changed || self.risk.has_suspects() {
            true => vec![(0, self.geometry.used())],
            false => Vec::new(),
        }
    }

    fn begin_resync(&mut self, mut regions: Vec<(u64, u64)>, cx: &mut Context<'_>) {
        regions.reverse();
        self.resync = Some(Resync {
            left: regions,
            step_began: cx.now(),
        });
        self.resyncs.push(ResyncRecord {
            begun: cx.now(),
            ended: None,
            blocks: 0,
            rows: 0,
        });
        cx.alarm(cx.now(), Token::new(RESYNC, 0));
    }

    /// A rebuild goes on, or begins.
    fn go_on_rebuilding(&mut self, cx: &mut Context<'_>) {
        match &mut self.rebuild {
            Some(rebuild) => rebuild.ring_at(cx.now(), cx),
            None => self.begin_rebuild(cx),
        }
    }

    /// The next step of a resynchronisation.
    pub(super) fn step_resync(&mut self, cx: &mut Context<'_>) {
        let Some(resync) = &mut self.resync else {
            return;
        };
        resync.step_began = cx.now();
        let Some(&(from, end)) = resync.left.last() else {
            let seal = self.begin(Kind::Settle, None, Command::default());
            self.work[seal as usize].flush = self.risk.flush_begins();
            return self.ask(seal);
        };
        let (to, rows) = self.rows_of_step(from, end, self.upkeep.resync.step.blocks());
        let work = self.begin(Kind::Resync { from, to }, None, Command::default());
        self.work[work as usize].rows = Some(rows);
        self.ask(work);
    }

    /// How far a step of all members from a block on goes, and which rows it takes: whole ones, or a part of one.
    pub(super) fn rows_of_step(&self, from: u64, end: u64, step: u64) -> (u64, Rows) {
        let geometry = &self.geometry;
        let row = from / geometry.unit;
        let end = (from + step).min(end);
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
        let rows = Rows {
            head: 0,
            first: row * per_row,
            count: (to.div_ceil(geometry.unit) - row) * per_row,
            step: 1,
            from: from_within,
            to: to_within,
            is_shared: false,
        };
        (to, rows)
    }

    /// What a step reads, and what it writes.
    pub(super) fn plan_step(&self, work: &Work, (from, to): (u64, u64), plan: &mut Plan) {
        let unit = self.geometry.unit;
        for row in from / unit..to.div_ceil(unit) {
            let begin = row * unit;
            for (from, to) in self.parts(from.max(begin), to.min(begin + unit)) {
                self.plan_part(work, (row, from - begin, to - begin), plan);
            }
        }
    }

    /// Parts of these blocks, each of which a member that is being rebuilt has all of or nothing.
    fn parts(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let rebuilt = self.slots.iter().filter_map(|slot| match slot.state {
            State::Rebuilding(done) if from < done && done < to => Some(done),
            _ => None,
        });
        let mut cuts: Vec<u64> = [from, to].into_iter().chain(rebuilt).collect();
        cuts.sort_unstable();
        cuts.windows(2).map(|part| (part[0], part[1])).collect()
    }

    fn plan_part(&self, work: &Work, segment: Segment, plan: &mut Plan) {
        match self.view(work).is_suspect(segment) {
            false => self.plan_reading(work, segment, plan),
            true if self.geometry.parities() == 0 => self.copy_anew(work, segment, plan),
            true => self.parity_anew(work, segment, plan),
        }
    }

    /// Reads a row that fits together, and writes again what cannot be read.
    fn plan_reading(&self, work: &Work, segment: Segment, plan: &mut Plan) {
        let view = self.view(work);
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

    /// Writes the first copy over the others.
    fn copy_anew(&self, work: &Work, segment: Segment, plan: &mut Plan) {
        let (view, geometry) = (self.view(work), &self.geometry);
        for unit in 0..geometry.data() {
            let copies = geometry.copies_of(unit);
            let copies: Vec<usize> = copies.filter(|&copy| view.has(copy, segment)).collect();
            let mut good = copies.iter().filter(|&&copy| view.reads(copy, segment));
            let Some(&first) = good.next() else { continue };
            if copies.len() > 1 {
                plan.read(&view, first, segment);
            }
            for &other in copies.iter().filter(|&&copy| copy != first) {
                plan.write(&view, other, segment);
            }
        }
    }

    /// Makes parity anew from the data; data that are missing are what the old parity makes them to be, and in doubt.
    fn parity_anew(&self, work: &Work, segment: Segment, plan: &mut Plan) {
        let (view, geometry) = (self.view(work), &self.geometry);
        let places = (0..geometry.data()).map(|unit| geometry.place(segment.0, unit));
        let (good, missing): (Vec<usize>, Vec<usize>) =
            places.partition(|&place| view.reads(place, segment));
        let mut unread: Vec<usize> = view.parities(segment.0).collect();
        unread.retain(|&parity| view.has(parity, segment));
        if let Some(&first) = missing.first() {
            let before = plan.reads.len();
            if recover(&view, first, segment, plan).is_err() {
                plan.reads.truncate(before);
                plan.undone.push(segment.0);
                return;
            }
            let is_read = |slot: usize| plan.reads[before..].iter().any(|io| io.slot == slot);
            unread.retain(|&parity| !is_read(parity));
        } else {
            good.iter()
                .for_each(|&slot| plan.read(&view, slot, segment));
        }
        for slot in missing.into_iter().filter(|&slot| view.has(slot, segment)) {
            plan.repaired += segment.2 - segment.1;
            plan.write(&view, slot, segment);
        }
        for parity in unread {
            plan.write_parity(&view, parity, segment);
        }
    }

    /// A step has ended.
    pub(super) fn has_resynced(&mut self, (from, to): (u64, u64), cx: &mut Context<'_>) {
        let Some(resync) = &mut self.resync else {
            return;
        };
        match resync.left.last_mut() {
            Some(region) if to < region.1 => region.0 = to,
            _ => drop(resync.left.pop()),
        }
        if let Some(record) = self.resyncs.last_mut() {
            record.blocks += to - from;
        }
        let rate = self.upkeep.resync.rate;
        let least = rate.map_or(Time::ZERO, |rate| rate.time((to - from) * BLOCK_BYTES));
        let next = cx.now().max(resync.step_began + least);
        cx.alarm(next, Token::new(RESYNC, 0));
    }

    /// All members have been flushed behind a resynchronisation.
    pub(super) fn has_settled(&mut self, outcome: Outcome, cx: &mut Context<'_>) {
        if self.resync.take().is_none() {
            return;
        }
        if let Some(record) = self.resyncs.last_mut() {
            record.ended = Some(cx.now());
        }
        self.has_changed &= outcome != Outcome::Ok;
        self.go_on_rebuilding(cx);
        self.wait_to_clear(cx);
    }
}

impl super::Rebuild {
    /// Has the next step begin at an instant.
    fn ring_at(&mut self, at: Time, cx: &mut Context<'_>) {
        self.alarm = Some(cx.alarm(at, Token::new(REBUILD, 0)));
    }
}
