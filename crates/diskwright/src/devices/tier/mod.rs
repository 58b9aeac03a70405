//! A cache tier: a device in front of another one, of which it holds the lines that are worth it. `docs/tier.md` defines it.
//!
//! A request is divided by lines. It begins once nothing that it has a line in common with is in its way (`claims`), and takes no time of
//! its own: all that takes time are the requests that it sends to the two devices. What a line has of its blocks, which of them are dirty
//! and which line leaves for another is kept by the [`BlockCache`] that drives have, too.

pub mod admission;
mod area;
mod begin;
pub mod changes;
mod claims;
mod cleaner;
pub mod cleaning;
mod commits;
mod counters;
mod durable;
mod ends;
mod flushes;
pub mod initial;
mod lost;
pub mod metadata;
mod picture;
mod promotions;
mod reads;
mod recovery;
mod retirement;
mod sizes;
pub mod spec;
mod streams;
mod table;
mod work;
mod write_backs;
pub mod write_policies;
mod writes;

use std::collections::VecDeque;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::children::{Children, JobId};
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location};
use crate::engine::request::{DeviceId, Op, Outcome, Promise, RequestId};
use crate::engine::window::ArmTraceWindow;
use crate::models::cache::block_cache::{Counts, Victim};
use crate::models::cache::{BlockCache, Frame};
use admission::Admission;
use changes::{Change, Changes};
use claims::Claims;
use cleaner::Cleaner;
use cleaning::CleaningRules;
use counters::TierCounters;
use flushes::Flushes;
use lost::LostBlocks;
use picture::TierPicture;
use retirement::Retirement;
use streams::Streams;
use table::{Table, TableRules};
use work::{Piece, WorkId, Works};
use write_policies::{HeldLine, WriteRules};

/// A device that a tier is made of.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Its number in the arena.
    pub device: DeviceId,
    /// Its capacity in blocks.
    pub blocks: u64,
    /// What it promises.
    pub promise: Promise,
}

/// What decides in a tier.
pub struct TierParts {
    /// What it does with writes.
    pub rules: WriteRules,
    /// A read that misses is complete once its blocks are on the cache device, and not once they are there.
    pub waits_for_promotion: bool,
    /// Which lines get a place.
    pub admission: Box<dyn Admission>,
    /// Sequential streams, where long ones are bypassed.
    pub streams: Option<Streams>,
    /// When lines are cleaned; `None` for never.
    pub cleaning: Option<CleaningRules>,
    /// The table of dirty blocks on the cache device, if it has one.
    pub table: Option<TableRules>,
    /// How its cache changes in mid-run.
    pub changes: Vec<Change>,
}

/// The checker's name of what a read has fetched and promotes, by the blocks of the backing device.
const FETCHED: u32 = 0;
/// The checker's name of what is written back, by the blocks of the cache device.
const GATHERED: u32 = 1;

/// What the cache device can still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Working,
    /// A write failed: nothing more is written to it.
    ReadOnly,
    /// It is not used, though it works.
    Removed,
    Failed,
}

/// A cache tier.
pub struct Tier {
    cache: Child,
    backing: Child,
    parts: TierParts,
    map: BlockCache,
    claims: Claims,
    works: Works,
    /// Requests of the host that wait for lines, in the order of arrival, with their lines.
    waiting: VecDeque<(WorkId, Range<u64>)>,
    children: Children<Piece>,
    flushes: Flushes,
    table: Option<Table>,
    /// The commit under way.
    committing: Option<JobId>,
    cleaner: Cleaner,
    changes: Changes,
    lost: LostBlocks,
    retirement: Retirement,
    condition: Condition,
    /// No write to the cache device has failed.
    takes_writes: bool,
    has_backing: bool,
    has_power: bool,
    /// Requests of the host under way.
    outstanding: u32,
    /// A child whose queue was full has room again.
    has_room: bool,
    /// Its cache held something before time zero.
    is_warm: bool,
    counters: TierCounters,
    picture: Option<Box<TierPicture>>,
    /// What the maps before the present one had counted, and what that one had when it came.
    counted: Counts,
    counted_from: Counts,
    /// What was counted when counting began.
    counts_before: Counts,
    /// Kept for their memory.
    victims: Vec<Victim>,
    runs: Vec<(u64, u32)>,
}

impl Tier {
    /// A tier of two devices whose cache, which is empty, is `map`: its lines are on the cache device from its first block on.
    pub fn new(cache: Child, backing: Child, map: BlockCache, mut parts: TierParts) -> Tier {
        Tier {
            cache,
            backing,
            map: map.sparing_dirty(),
            claims: Claims::default(),
            works: Works::default(),
            waiting: VecDeque::new(),
            children: Children::default(),
            flushes: Flushes::default(),
            table: parts.table.map(Table::new),
            committing: None,
            cleaner: Cleaner::new(parts.cleaning),
            changes: Changes::new(std::mem::take(&mut parts.changes)),
            lost: LostBlocks::default(),
            retirement: Retirement::default(),
            condition: Condition::Working,
            takes_writes: true,
            has_backing: true,
            has_power: true,
            outstanding: 0,
            has_room: false,
            is_warm: false,
            counters: TierCounters::default(),
            picture: None,
            counted: Counts::default(),
            counted_from: Counts::default(),
            counts_before: Counts::default(),
            victims: Vec::new(),
            runs: Vec::new(),
            parts,
        }
    }

    /// Where a block of the line in a frame is on the cache device.
    fn place(&self, frame: Frame, block: u32) -> u64 {
        u64::from(frame.0) * u64::from(self.map.blocks_per_line()) + u64::from(block)
    }

    /// Whether acknowledged writes may be on the cache device alone.
    fn absorbs(&self) -> bool {
        self.parts.rules.held == HeldLine::Absorbing
    }

    /// Completes a request of the host.
    fn complete(&mut self, request: RequestId, outcome: Outcome, cx: &mut Context<'_>) {
        self.outstanding -= 1;
        cx.complete(request, outcome);
        if self.outstanding == 0 {
            self.host_is_idle(cx);
        }
    }

    /// Goes on with what waits, after something has ended.
    fn proceed(&mut self, cx: &mut Context<'_>) {
        if self.has_waiting() {
            self.begin_waiting(cx);
        }
        self.advance_commits(cx);
        self.clean_beyond_marks(cx);
        let now = cx.now();
        self.counters.dirty.clock(now, self.map.dirty_blocks());
        self.note_picture(now);
    }

    /// Whether anything may wait for what has ended, but for commits and cleaning.
    #[inline]
    fn has_waiting(&self) -> bool {
        let is_frozen = self.table.as_ref().is_some_and(|table| table.is_frozen);
        !self.waiting.is_empty()
            || self.flushes.has_any()
            || self.changes.is_under_way()
            || self.retirement.is_under_way()
            || is_frozen
    }

    #[inline(never)]
    fn begin_waiting(&mut self, cx: &mut Context<'_>) {
        self.stop_waiting(cx);
        loop {
            self.advance_flush(cx);
            while self.begin_first(cx) {
                self.advance_flush(cx);
            }
            let has_changed = self.advance_change(cx);
            if !(self.advance_retirement(cx) || has_changed) {
                break;
            }
        }
        self.see_what_leaves();
    }

    /// Free slots of the child that has fewer, one that has failed left out.
    fn free_slots(&self, of: impl Fn(DeviceId) -> DeviceStatus) -> u32 {
        let is_used = !matches!(self.condition, Condition::Failed | Condition::Removed);
        let cache = is_used.then_some(self.cache.device);
        let backing = self.has_backing.then_some(self.backing.device);
        let slots = cache.into_iter().chain(backing);
        let slots = slots.map(|device| of(device).free_slots);
        slots.min().unwrap_or(u32::MAX)
    }
}

impl Device for Tier {
    fn children(&self) -> Vec<DeviceId> {
        vec![self.cache.device, self.backing.device]
    }

    fn prepare(&mut self, cx: &mut Context<'_>) {
        self.prepare_table(cx);
        self.begin_warm(cx);
        self.prepare_changes(cx);
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.outstanding += 1;
        self.host_is_active(cx);
        let command = cx.request(request).command;
        self.counters.arrives();
        if command.op == Op::Flush {
            self.flushes.wait(request);
        } else {
            self.arrive(request, &command, cx);
        }
        self.proceed(cx);
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match token.kind() {
            commits::COMMIT => self.commit_is_due(cx),
            changes::CHANGE => self.begin_change(cx),
            _ => self.clean(token, cx),
        }
    }

    fn child_completed(&mut self, _child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        self.piece_ended(request, cx);
        self.proceed(cx);
    }

    fn child_has_room(&mut self, _child: DeviceId, cx: &mut Context<'_>) {
        // Both may have room again within an instant: that is told once, after it.
        if cx.has_parent() && !self.has_room {
            self.has_room = true;
            cx.wake();
        }
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        self.has_room = false;
        if self.free_slots(|child| cx.status(child)) > 0 {
            cx.announce_room();
        }
    }

    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        match fault {
            Fault::PowerLost => self.lose_power(),
            Fault::ChildFailed(child) => {
                let was_full = self.free_slots(|child| cx.status(child)) == 0;
                if child == self.cache.device {
                    self.lose_cache(cx);
                } else {
                    self.has_backing = false;
                }
                if was_full {
                    self.child_has_room(child, cx);
                }
                self.proceed(cx);
            }
        }
    }

    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        let places = 0..self.waiting.len();
        let ready = places.filter(|&place| self.may_begin(place)).count();
        let others = [
            self.may_advance_flush(),
            self.may_commit(),
            self.may_retire(),
        ];
        ready + others.map(usize::from).iter().sum::<usize>()
    }

    fn status(&self, now: Time, below: &[Box<dyn Device>]) -> DeviceStatus {
        let of = |child: DeviceId| {
            let index = child.0 as usize;
            below[index].status(now, &below[..index])
        };
        DeviceStatus {
            outstanding: self.outstanding,
            free_slots: self.free_slots(of),
            is_down: self.has_backing && of(self.backing.device).is_down,
        }
    }

    fn made_urgent(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.children.make_urgent(request, cx);
    }

    fn stand_by(&mut self, cx: &mut Context<'_>) {
        cx.stand_by(self.backing.device);
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        self.copy_of(lbn, copy)
    }

    fn blocks(&self) -> u64 {
        self.backing.blocks
    }

    fn promise(&self) -> Promise {
        if !self.absorbs() {
            return self.backing.promise;
        }
        let waits = self
            .table
            .as_ref()
            .is_some_and(|table| table.rules.writes_wait);
        match (waits, self.cache.promise, self.backing.promise) {
            (true, Promise::Durable, Promise::Durable) => Promise::Durable,
            _ => Promise::AfterFlush,
        }
    }

    fn measure_from(&mut self, now: Time) {
        self.note_picture(now);
        self.counters.forget(now, self.map.dirty_blocks());
        self.counts_before = self.counts();
        self.recount_picture();
    }

    fn collect_picture(&mut self, _window: Option<&ArmTraceWindow>) {
        self.begin_picture();
    }

    fn picture(&self) -> Option<Map<String, Value>> {
        self.picture_json()
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        let counts = self.counts().since(&self.counts_before);
        let lost = self.lost.blocks();
        let mut report = (self.counters).report(&self.map, &counts, lost, elapsed);
        if self.table.is_some() {
            self.counters.report_commits(&mut report);
        }
        self.changes.report(&mut report);
        self.retirement.report(&mut report);
        self.report_recovery(&mut report);
        report
    }

    fn warnings(&self) -> Vec<String> {
        let evictions = self.counts().evictions;
        if self.is_warm
            || evictions >= u64::from(self.map.frames())
            || !self.parts.rules.caches_reads
        {
            return Vec::new();
        }
        vec![format!(
            "the cache of {} lines evicted {evictions}: the run is shorter than a turnover, so what was cold at its start shows in the \
             results (a longer run, or a smaller cache)",
            self.map.frames(),
        )]
    }
}

#[cfg(test)]
mod dirty_tests;
#[cfg(test)]
mod metadata_tests;
#[cfg(test)]
mod retirement_tests;
#[cfg(test)]
mod tests;
