//! A write-intent bitmap: which regions may be written, on the members themselves, so that after a power cut these need to be
//! resynchronised and no others.
//!
//! A region is marked before anything in it is written, by a write to every member, for which writes that come meanwhile wait too. Marks are
//! taken away lazily: when nothing in a region has been written for a while, and all members have been flushed. Source: md in Linux, Brown,
//! Documentation/admin-guide/md.rst and drivers/md/md-bitmap.c.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::geometry::Geometry;
use super::members::State;
use super::plan::Plan;
use super::risk::spans;
use super::work::{Kind, Work};
use super::{BITMAP, Redundant};
use crate::base::error::InputError;
use crate::base::units::{Size, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Promise};
use crate::engine::timeline::AlarmId;

/// A bitmap of regions that may be written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BitmapRules {
    /// How much of each member a bit stands for; whole units, one at least. The default is md's.
    pub region: Size,
    /// How long nothing in a region must have been written before its mark is taken away. The default is md's.
    pub delay: Time,
}

impl Default for BitmapRules {
    fn default() -> BitmapRules {
        BitmapRules {
            region: Size::from_blocks(64 * 2048),
            delay: Time::from_s(5),
        }
    }
}

/// Blocks of a page of the bitmap, which is written as a whole: 4 KiB.
const PAGE: u64 = 8;
/// Bits of a page.
const BITS: u64 = PAGE * 4096;

/// Where the bitmap is: behind what the layout uses of each member.
#[derive(Clone, Copy, Debug)]
pub struct BitmapArea {
    pub rules: BitmapRules,
    /// The first block of it on each member.
    at: u64,
    /// Blocks of a region.
    region: u64,
}

impl BitmapArea {
    /// Makes room for a bitmap on members with this number of blocks, of which the layout keeps the rest.
    ///
    /// # Errors
    /// Regions of no blocks, and members that are too small.
    pub fn on(
        rules: BitmapRules,
        geometry: &mut Geometry,
        smallest: u64,
    ) -> Result<BitmapArea, InputError> {
        let blocks = rules.region.blocks();
        if blocks == 0 {
            let error = InputError::new("a bitmap of regions of 0 blocks");
            return Err(error.help("accepted: 1 block or more"));
        }
        // A mirror is a unit of copies: its regions are parts of it.
        let is_one = geometry.rows == 1 && geometry.parities() == 0;
        let grain = if is_one { 1 } else { geometry.unit };
        let region = (blocks / grain).max(1) * grain;
        let pages = smallest.div_ceil(region).div_ceil(BITS);
        let left = smallest
            .checked_sub(pages * PAGE)
            .filter(|&left| left >= grain);
        let Some(left) = left else {
            let error = InputError::new(format!(
                "a bitmap of {} blocks on members of {smallest}",
                pages * PAGE
            ));
            return Err(error.help("accepted: larger members, or larger regions"));
        };
        if is_one {
            geometry.unit = left;
        } else {
            geometry.rows = geometry.rows.min(left / geometry.unit);
        }
        Ok(BitmapArea {
            rules,
            at: geometry.used(),
            region,
        })
    }

    /// The block behind the last one of it.
    pub fn end(&self) -> u64 {
        self.at + self.at.div_ceil(self.region).div_ceil(BITS) * PAGE
    }
}

/// How far a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// To be marked with the next write of the bitmap.
    Wanted,
    /// With the one under way.
    Setting,
    Set,
    /// The mark is being taken away.
    Clearing,
}

/// A region that is marked, or is to be.
#[derive(Clone, Copy, Debug)]
struct Region {
    mark: Mark,
    /// The members have the mark.
    is_on_disk: bool,
    /// Writes of the parent in it.
    writes: u32,
    /// When the last one ended.
    idle_since: Time,
}

/// The bitmap of an array.
pub struct Bitmap {
    area: BitmapArea,
    /// Regions that are not clear.
    regions: BTreeMap<u64, Region>,
    /// Work that waits for marks.
    waiting: Vec<u32>,
    /// It is being written, or the members are flushed before that.
    is_busy: bool,
    alarm: Option<AlarmId>,
}

impl Bitmap {
    pub fn new(area: BitmapArea) -> Bitmap {
        Bitmap {
            area,
            regions: BTreeMap::new(),
            waiting: Vec::new(),
            is_busy: false,
            alarm: None,
        }
    }

    /// The regions of a command.
    fn regions_of(
        &self,
        geometry: &Geometry,
        command: &Command,
    ) -> impl Iterator<Item = u64> + use<> {
        let region = self.area.region;
        let spans = spans(geometry, command).into_iter();
        let mut all: Vec<u64> = spans
            .flat_map(|Range { start, end }| start / region..end.div_ceil(region))
            .collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter()
    }

    /// A write to regions begins; whether all of them are marked.
    fn begin(&mut self, regions: impl Iterator<Item = u64>, now: Time) -> bool {
        let mut are_set = true;
        for number in regions {
            let region = self.regions.entry(number).or_insert(Region {
                mark: Mark::Wanted,
                is_on_disk: false,
                writes: 0,
                idle_since: now,
            });
            if region.mark == Mark::Clearing {
                region.mark = Mark::Wanted;
            }
            region.writes += 1;
            are_set &= region.mark == Mark::Set;
        }
        are_set
    }

    /// Blocks of each member in marked regions, neighbours joined.
    pub fn marked(&self, used: u64) -> Vec<(u64, u64)> {
        let mut all: Vec<(u64, u64)> = Vec::new();
        let size = self.area.region;
        for (&number, _) in self.regions.iter().filter(|(_, region)| region.is_on_disk) {
            let (from, to) = (number * size, ((number + 1) * size).min(used));
            match all.last_mut() {
                Some(last) if last.1 == from => last.1 = to,
                _ => all.push((from, to)),
            }
        }
        all
    }

    /// The power has returned: marks that no member has are gone.
    pub fn power_returned(&mut self, now: Time) {
        self.waiting.clear();
        (self.is_busy, self.alarm) = (false, None);
        self.regions.retain(|_, region| region.is_on_disk);
        for region in self.regions.values_mut() {
            (region.mark, region.writes, region.idle_since) = (Mark::Set, 0, now);
        }
    }

    /// The pages with regions that are at a mark.
    fn pages(&self, mark: Mark) -> Vec<u64> {
        let regions = self
            .regions
            .iter()
            .filter(|(_, region)| region.mark == mark);
        let mut pages: Vec<u64> = regions.map(|(number, _)| number / BITS).collect();
        pages.dedup();
        pages
    }
}

impl Redundant {
    /// Whether a piece of work may go on with what the bitmap has; otherwise it does when its regions are marked.
    pub(super) fn is_marked(&mut self, number: u32, cx: &mut Context<'_>) -> bool {
        let work = &mut self.work[number as usize];
        let is_write = work.kind == Kind::Request && work.command.op == Op::Write;
        let Some(bitmap) = self.bitmap.as_mut().filter(|_| is_write) else {
            return true;
        };
        if std::mem::replace(&mut work.has_mark, true) {
            return true;
        }
        let regions = bitmap.regions_of(&self.geometry, &work.command);
        if bitmap.begin(regions, cx.now()) {
            return true;
        }
        bitmap.waiting.push(number);
        self.counters.waited_for_bitmap += 1;
        self.write_marks(cx);
        false
    }

    /// Writes the marks that are wanted, unless the bitmap is being written.
    fn write_marks(&mut self, cx: &mut Context<'_>) {
        let Some(bitmap) = self.bitmap.as_mut().filter(|bitmap| !bitmap.is_busy) else {
            return;
        };
        let pages = bitmap.pages(Mark::Wanted);
        if !pages.is_empty() {
            bitmap.is_busy = true;
            let wanted = bitmap.regions.values_mut();
            wanted
                .filter(|region| region.mark == Mark::Wanted)
                .for_each(|region| region.mark = Mark::Setting);
            self.write_pages(pages);
        }
        self.wait_to_clear(cx);
    }

    fn write_pages(&mut self, pages: Vec<u64>) {
        let command = Command {
            op: Op::Write,
            fua: true,
            ..Command::default()
        };
        let work = self.begin(Kind::Marks, None, command);
        self.work[work as usize].pages = pages;
        self.ask(work);
    }

    /// What a write of the bitmap is for the members.
    pub(super) fn plan_marks(&self, work: &Work, plan: &mut Plan) {
        let Some(bitmap) = &self.bitmap else { return };
        let slots = (0..self.slots.len()).filter(|&slot| self.slots[slot].state != State::Lost);
        for slot in slots {
            for page in &work.pages {
                let lbn = bitmap.area.at + page * PAGE;
                plan.writes
                    .push(Plan::span(&self.view(work), slot, lbn, PAGE));
            }
        }
    }

    /// The bitmap has been written.
    pub(super) fn has_written_marks(&mut self, cx: &mut Context<'_>) {
        let Some(bitmap) = &mut self.bitmap else {
            return;
        };
        bitmap.is_busy = false;
        let mut cleared = 0;
        bitmap.regions.retain(|_, region| {
            match region.mark {
                Mark::Setting => (region.mark, region.is_on_disk) = (Mark::Set, true),
                // The write that was to take it away had begun when it was wanted again.
                Mark::Wanted => region.is_on_disk = false,
                _ => {}
            }
            cleared += u64::from(region.mark == Mark::Clearing);
            region.mark != Mark::Clearing
        });
        self.counters.cleared_regions += cleared;
        for number in std::mem::take(&mut bitmap.waiting) {
            let work = &self.work[number as usize];
            let mut regions = bitmap.regions_of(&self.geometry, &work.command);
            match regions.all(|region| bitmap.regions[&region].mark == Mark::Set) {
                true => self.ready.push_back(number),
                false => bitmap.waiting.push(number),
            }
        }
        self.write_marks(cx);
    }

    /// A write of the parent has ended, well or not.
    pub(super) fn leaves_regions(&mut self, work: &Work, cx: &mut Context<'_>) {
        let Some(bitmap) = self.bitmap.as_mut().filter(|_| work.has_mark) else {
            return;
        };
        for number in bitmap.regions_of(&self.geometry, &work.command) {
            if let Some(region) = bitmap.regions.get_mut(&number) {
                region.writes -= 1;
                region.idle_since = cx.now();
            }
        }
        self.wait_to_clear(cx);
    }

    /// Whether marks may be taken away: not while a member is missing, which may come to need them, nor while redundancy is made anew.
    fn may_clear(&self) -> bool {
        let is_whole = self.slots.iter().all(|slot| slot.state == State::Good);
        is_whole && self.resync.is_none() && !self.is_replaying()
    }

    /// Sets the alarm at which the next region has been idle for long enough, if there is one.
    pub(super) fn wait_to_clear(&mut self, cx: &mut Context<'_>) {
        let may_clear = self.may_clear();
        let idle = self.bitmap.as_mut();
        let Some(bitmap) =
            idle.filter(|bitmap| may_clear && !bitmap.is_busy && bitmap.alarm.is_none())
        else {
            return;
        };
        let regions = bitmap.regions.values();
        let idle = regions.filter(|region| region.mark == Mark::Set && region.writes == 0);
        let delay = bitmap.area.rules.delay;
        if let Some(first) = idle.map(|region| region.idle_since + delay).min() {
            let at = first.max(cx.now());
            bitmap.alarm = Some(cx.background_alarm(at, Token::new(BITMAP, 0)));
        }
    }

    /// Takes away the marks of regions that have been idle.
    pub(super) fn clear_marks(&mut self, cx: &mut Context<'_>) {
        let may_clear = self.may_clear();
        let Some(bitmap) = &mut self.bitmap else {
            return;
        };
        bitmap.alarm = None;
        if may_clear && !bitmap.is_busy {
            let (now, delay) = (cx.now(), bitmap.area.rules.delay);
            for region in bitmap.regions.values_mut() {
                let is_idle = region.writes == 0 && region.idle_since + delay <= now;
                if region.mark == Mark::Set && is_idle {
                    region.mark = Mark::Clearing;
                }
            }
            let pages = bitmap.pages(Mark::Clearing);
            if !pages.is_empty() {
                bitmap.is_busy = true;
                if self.promise == Promise::AfterFlush {
                    let flush = self.begin(Kind::Unmark, None, Command::default());
                    self.work[flush as usize].flush = self.risk.flush_begins();
                    self.ask(flush);
                } else {
                    self.write_pages(pages);
                }
            }
        }
        self.wait_to_clear(cx);
    }

    /// All members have been flushed: marks may go.
    pub(super) fn may_unmark(&mut self, cx: &mut Context<'_>) {
        let Some(bitmap) = &mut self.bitmap else {
            return;
        };
        // Those that are wanted again stay marked on the members until the next write of their page.
        let pages = bitmap.pages(Mark::Clearing);
        match pages.is_empty() {
            false => self.write_pages(pages),
            true => self.has_written_marks(cx),
        }
    }
}
