//! An array with redundancy: parity or copies, kept as its members fail and are replaced.
//!
//! A request is cut into segments of rows, and becomes at most one request for each run of blocks of a member: reads, pre-reads, writes that
//! wait for these. Work on the same blocks of a row, of which some writes, is done in the order in which it came. A member that fails, or one
//! that fails to write, is left out from then on; what it held is computed from the others, and a spare takes its place.

pub(super) mod bitmap;
pub(crate) mod contents;
mod counters;
mod exchange;
pub(crate) mod geometry;
pub(super) mod journal;
mod locks;
mod members;
mod plan;
mod reading;
pub(super) mod rebuild;
mod requests;
pub(super) mod resync;
mod risk;
pub(super) mod scrub;
pub(crate) mod spec;
mod work;
mod writing;

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::{Child, MUCH_UNUSED};
use crate::base::units::{Lbn, Time};
use crate::engine::children::Children;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location, Restart};
use crate::engine::request::{DeviceId, Op, Promise, RequestId};
use crate::engine::{Ranges, Token};
use bitmap::{Bitmap, BitmapArea};
use counters::{Condition, Counters, RebuildRecord};
use geometry::Geometry;
use journal::Journal;
use locks::Locks;
use members::{Slot, State};
use plan::View;
use rebuild::{Rebuild, RebuildRules};
use resync::{Resync, ResyncRecord, ResyncRules};
use risk::Risk;
use scrub::{Pass, ScrubRules};
use spec::Rules;
use work::{Sent, Work, fresh};

/// The alarm of the next step of a rebuild.
const REBUILD: u32 = 0;
/// The alarm of the next step of a scrub.
const SCRUB: u32 = 1;
/// The alarm of the next step of a resynchronisation.
const RESYNC: u32 = 2;
/// The alarm at which marks of idle regions are taken away.
const BITMAP: u32 = 3;
/// In place of that of a member: the journal.
const JOURNAL: usize = usize::MAX;

/// What an array does besides serving requests.
#[derive(Clone, Copy, Debug)]
pub struct Upkeep {
    pub rebuild: RebuildRules,
    pub scrub: Option<ScrubRules>,
    pub resync: ResyncRules,
    pub bitmap: Option<BitmapArea>,
}

/// An array with redundancy.
pub struct Redundant {
    geometry: Geometry,
    rules: Rules,
    upkeep: Upkeep,
    slots: Vec<Slot>,
    /// All devices: the members in the order of the spec, then the spares, then that of the journal.
    devices: Vec<DeviceId>,
    /// Spares that wait for a member to fail, the next one last.
    spares: Vec<DeviceId>,
    promise: Promise,
    /// The share of the members' blocks that the layout has no use for.
    unused: f64,
    children: Children<Sent>,
    work: Vec<Work>,
    free: Vec<u32>,
    /// Work that has all its rows.
    ready: VecDeque<u32>,
    /// Requests of the parent under way.
    open: u32,
    locks: Locks,
    /// Blocks whose data are lost, until they are written.
    lost: Ranges,
    rebuild: Option<Rebuild>,
    rebuilds: Vec<RebuildRecord>,
    /// The pass of the scrub.
    pass: Pass,
    /// Members have been sent trims: each may keep or forget what was trimmed.
    has_trimmed: bool,
    /// Rows that were being written when the power failed.
    open_rows: u64,
    /// What power cuts have left in doubt.
    risk: Risk,
    /// Whether the rows that are written are kept in mind, because the power fails and returns.
    tracks_rows: bool,
    /// It has been written since all of it was known to fit together.
    has_changed: bool,
    resync: Option<Resync>,
    resyncs: Vec<ResyncRecord>,
    bitmap: Option<Bitmap>,
    journal: Option<Journal>,
    /// Blocks of the array that a replay may still change, while there is no power.
    replayable: Ranges,
    counters: Counters,
    /// A member whose queue was full has room again.
    has_room: bool,
}

impl Redundant {
    /// An idle array of these members and spares.
    pub fn new(
        geometry: Geometry,
        rules: Rules,
        upkeep: Upkeep,
        members: &[Child],
        spares: &[Child],
        journal: Option<Journal>,
    ) -> Redundant {
        let all = || members.iter().chain(spares);
        let is_durable = all().all(|child| child.promise == Promise::Durable);
        let blocks: u64 = members.iter().map(|child| child.blocks).sum();
        let used = geometry.used() * members.len() as u64;
        let slot = |child: &Child| Slot {
            member: fresh(child.device),
            state: State::Good,
        };
        Redundant {
            geometry,
            rules,
            upkeep,
            slots: members.iter().map(slot).collect(),
            devices: all()
                .map(|child| child.device)
                .chain(journal.as_ref().map(|journal| journal.device))
                .collect(),
            spares: spares.iter().rev().map(|child| child.device).collect(),
            promise: match is_durable {
                true => Promise::Durable,
                false => Promise::AfterFlush,
            },
            unused: (blocks - used) as f64 / blocks as f64,
            children: Children::default(),
            work: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            open: 0,
            locks: Locks::default(),
            lost: Ranges::default(),
            rebuild: None,
            rebuilds: Vec::new(),
            pass: Pass::default(),
            has_trimmed: false,
            open_rows: 0,
            risk: Risk::new(&geometry),
            tracks_rows: false,
            has_changed: false,
            resync: None,
            resyncs: Vec::new(),
            bitmap: upkeep.bitmap.map(Bitmap::new),
            journal,
            replayable: Ranges::default(),
            counters: Counters::new(members.len(), spares.len()),
            has_room: false,
        }
    }

    /// The members as they are.
    fn view<'a>(&'a self, work: &'a Work) -> View<'a> {
        View {
            geometry: &self.geometry,
            slots: &self.slots,
            bad: &work.bad,
            risk: &self.risk,
        }
    }

    fn condition(&self) -> Condition {
        let is_whole = self.slots.iter().all(|slot| slot.state == State::Good);
        match (is_whole, &self.rebuild) {
            (true, _) if self.resync.is_some() => Condition::Resyncing,
            (true, _) if !self.rebuilds.is_empty() => Condition::Rebuilt,
            (true, _) if !self.resyncs.is_empty() => Condition::Resynced,
            (true, _) => Condition::Healthy,
            (false, Some(_)) => Condition::Rebuilding,
            (false, None) => Condition::Degraded,
        }
    }

    /// Whether more members are missing altogether than the redundancy makes up for.
    fn is_beyond(&self) -> bool {
        let view = View {
            geometry: &self.geometry,
            slots: &self.slots,
            bad: &[],
            risk: &self.risk,
        };
        view.is_beyond((self.geometry.rows - 1, 0, self.geometry.unit))
    }

    /// A place has nothing any more.
    fn lose_slot(&mut self, number: usize, cx: &mut Context<'_>) {
        let slot = &mut self.slots[number];
        if slot.state == State::Lost {
            return;
        }
        slot.state = State::Lost;
        slot.member.has_failed = true;
        self.abandon_rebuild(number, cx);
        self.begin_rebuild(cx);
    }

    /// Rows of which some members may have been written and others not.
    fn rows_in_writing(&self) -> u64 {
        let is_open = |work: &&Work| work.is_open_write();
        let mut rows = Vec::new();
        for work in self.work.iter().filter(is_open) {
            for write in &work.plan.writes {
                rows.extend(write.rows.0..=write.rows.1);
            }
        }
        rows.sort_unstable();
        rows.dedup();
        rows.len() as u64
    }

    /// Free slots of the queue of the member that has the fewest, those that are missing left out.
    fn free_slots(&self, of: impl Fn(DeviceId) -> DeviceStatus) -> u32 {
        let slots = self.present().map(|member| of(member).free_slots);
        slots.min().unwrap_or(u32::MAX)
    }

    /// The devices at places that are not lost.
    fn present(&self) -> impl Iterator<Item = DeviceId> {
        let present = self.slots.iter().filter(|slot| slot.state != State::Lost);
        present.map(|slot| slot.member.device)
    }
}

impl Device for Redundant {
    fn children(&self) -> Vec<DeviceId> {
        self.devices.clone()
    }

    fn prepare(&mut self, cx: &mut Context<'_>) {
        self.tracks_rows = cx.has_outages();
        self.plan_scrubs(cx);
    }

    fn restart(&self) -> Restart {
        Restart::InPlace
    }

    fn power_returned(&mut self, cx: &mut Context<'_>) {
        self.begin_anew(cx);
        self.go_on(cx);
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.take(request, cx);
        self.go_on(cx);
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match token.kind() {
            REBUILD => self.step(cx),
            SCRUB => self.scrub(cx),
            RESYNC => self.step_resync(cx),
            BITMAP => self.clear_marks(cx),
            kind => unreachable!("an array sets no alarm of kind {kind}"),
        }
        self.go_on(cx);
    }

    fn child_completed(&mut self, child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        self.came_back(child, request, cx);
        self.go_on(cx);
    }

    fn made_urgent(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.children.make_urgent(request, cx);
    }

    fn child_has_room(&mut self, _child: DeviceId, cx: &mut Context<'_>) {
        // Several members may have room again within an instant: that is told once, after it.
        if cx.has_parent() && !self.has_room {
            self.has_room = true;
            cx.wake();
        }
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        self.has_room = false;
        if self.free_slots(|member| cx.status(member)) > 0 {
            cx.announce_room();
        }
    }

    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        let Fault::ChildFailed(child) = fault else {
            return self.power_lost();
        };
        if self
            .journal
            .as_ref()
            .is_some_and(|journal| journal.device == child)
        {
            self.lose_journal(cx);
            return self.go_on(cx);
        }
        let was_full = self.free_slots(|member| cx.status(member)) == 0;
        self.spares.retain(|&spare| spare != child);
        let mut slots = self.slots.iter();
        if let Some(slot) = slots.position(|slot| slot.member.device == child) {
            self.lose_slot(slot, cx);
        }
        if was_full {
            self.child_has_room(child, cx);
        }
        self.go_on(cx);
    }

    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        self.ready.len()
    }

    fn status(&self, now: Time, below: &[Box<dyn Device>]) -> DeviceStatus {
        let of = |member: DeviceId| {
            let index = member.0 as usize;
            below[index].status(now, &below[..index])
        };
        DeviceStatus {
            outstanding: self.open,
            free_slots: self.free_slots(of),
            is_down: self.present().any(|member| of(member).is_down),
        }
    }

    fn stand_by(&mut self, cx: &mut Context<'_>) {
        for member in self.present() {
            cx.stand_by(member);
        }
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        let block = lbn.0..lbn.0 + 1;
        if self.lost.meets(&block) || self.risk.holes.meets(&block) || self.replayable.meets(&block)
        {
            return None;
        }
        let geometry = &self.geometry;
        let (row, unit, within) = geometry.locate(lbn.0);
        let first = geometry.place(row, unit);
        let copies = geometry.copies_of(first).map(|copy| &self.slots[copy]);
        let at = Lbn(row * geometry.unit + within);
        let mut good = copies.filter(|slot| slot.has(at.0 + 1));
        let slot = good.nth(copy as usize)?;
        Some(Location::On(slot.member.device, at))
    }

    fn blocks(&self) -> u64 {
        self.geometry.blocks()
    }

    fn promise(&self) -> Promise {
        self.promise
    }

    fn measure_from(&mut self, _now: Time) {
        self.counters.forget();
    }

    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        let mut report = self.counters.report(&self.rebuilds, &self.resyncs);
        if let Some(journal) = &self.journal {
            report.extend(journal.report());
        }
        if self.open_rows > 0 {
            report.insert("rows_open_at_power_cut".to_owned(), self.open_rows.into());
        }
        report
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let lost = self.lost.blocks();
        if lost > 0 {
            warnings.push(format!(
                "{lost} blocks of the array are lost: more was missing of their rows than its redundancy makes up for"
            ));
        }
        if self.open_rows > 0 {
            warnings.push(format!(
                "{} rows were being written when the power failed: their redundancy may not fit their data (the write hole)",
                self.open_rows
            ));
        }
        if self
            .journal
            .as_ref()
            .is_some_and(|journal| journal.has_failed)
        {
            warnings
                .push("the device of the journal has failed: the array went on without".to_owned());
        }
        if self.counters.holes > 0 {
            warnings.push(format!(
                "{} blocks were computed from rows whose redundancy may not fit their data since a power cut (the write hole): {} reads may be wrong",
                self.counters.holes, self.counters.hole_reads
            ));
        }
        warnings
    }

    fn notes(&self) -> Vec<String> {
        if self.unused <= MUCH_UNUSED {
            return Vec::new();
        }
        vec![format!(
            "{:.1} % of the members' blocks have no use: the array is as large as its smallest member lets it be",
            100.0 * self.unused
        )]
    }
}

/// Whether a request of the array is for blocks.
fn has_blocks(op: Op) -> bool {
    op != Op::Flush
}

#[cfg(test)]
mod tests;
