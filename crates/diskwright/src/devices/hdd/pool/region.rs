//! Writes that are kept in a region of the medium until they are destaged, with the write cache disabled.

use std::collections::VecDeque;

use super::super::alarm::Alarm;
use super::super::arm::Work;
use super::super::disk::Disk;
use super::super::hardware::Hardware;
use super::super::medium::Medium;
use super::super::pool_description::RegionDescription;
use super::DrivePool;
use super::slot_contents::SlotContents;
use crate::base::error::InputError;
use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::{Op, Part, Parts, RequestId};
use crate::models::cache::Frame;
use crate::models::cache::per_frame::PerFrame;
use crate::models::geometry::layout::Layout;
use crate::models::geometry::mechanics::HeadPosition;

/// Where no slot is.
const NOWHERE: u32 = u32::MAX;

/// Regions of the medium, divided into slots of one extent each, which are written in the order of arrival as far as the platter's turning
/// lets them.
pub(in super::super) struct Regions {
    regions: Vec<Region>,
    surfaces: u32,
    sectors_per_slot: u32,
    /// Of each slot, whether it is taken. All regions have as many.
    taken: Vec<bool>,
    per_region: u32,
    /// The slot of each extent that has one.
    slots: PerFrame<u32>,
    /// Writes that wait to be kept, and since when they can be.
    waiting: VecDeque<(RequestId, Time)>,
    /// What an arm writes.
    pass: Option<RegionPass>,
    pub(super) contents: SlotContents,
}

/// One of them.
#[derive(Clone, Copy)]
struct Region {
    /// Its first slot.
    first: u32,
    first_cylinder: u32,
    sectors_per_track: u32,
    slots_per_track: u32,
    /// The track that is being written, counted from the region's first.
    track: u32,
}

/// Writes that an arm keeps in one pass over a track.
struct RegionPass {
    arm: usize,
    requests: Vec<RequestId>,
    to: HeadPosition,
    start: Time,
    parts: Parts,
}

impl Regions {
    /// Empty regions with slots of one extent each, on a medium on which they have room.
    pub fn new(
        hardware: &Hardware,
        description: &RegionDescription,
        blocks_per_extent: u32,
    ) -> Regions {
        let layout = &hardware.mechanics.layout;
        let sectors_per_slot = blocks_per_extent / hardware.blocks_per_sector;
        let count = description.count;
        let slots = description.size.blocks() / u64::from(blocks_per_extent);
        let per_region = (slots / u64::from(count)) as u32;
        Regions {
            regions: regions(layout, count, (per_region, sectors_per_slot)),
            surfaces: layout.surfaces(),
            sectors_per_slot,
            taken: vec![false; (per_region * count) as usize],
            per_region,
            slots: PerFrame::new(NOWHERE),
            waiting: VecDeque::new(),
            pass: None,
            contents: SlotContents::default(),
        }
    }

    /// Checks that regions have room on a medium.
    ///
    /// # Errors
    /// A slot that is longer than a track; a region that reaches the next one, or the end of the medium.
    pub fn check(
        hardware: &Hardware,
        description: &RegionDescription,
        blocks_per_extent: u32,
    ) -> Result<(), InputError> {
        let layout = &hardware.mechanics.layout;
        let Regions {
            regions,
            surfaces,
            sectors_per_slot,
            per_region,
            ..
        } = Regions::new(hardware, description, blocks_per_extent);
        let ends = regions.iter().skip(1).map(|next| next.first_cylinder);
        for (region, end) in regions.iter().zip(ends.chain([layout.cylinders()])) {
            if region.sectors_per_track < sectors_per_slot {
                return Err(InputError::new(format!(
                    "an extent of {sectors_per_slot} sectors in a region with {} on a track",
                    region.sectors_per_track
                ))
                .help("accepted: extents that fit on a track, such as extent = \"4 KiB\""));
            }
            let tracks = per_region.div_ceil(region.slots_per_track);
            let (needed, free) = (tracks.div_ceil(surfaces), end - region.first_cylinder);
            if needed > free {
                return Err(InputError::new(format!(
                    "a region that takes {needed} cylinders from cylinder {} on, where there are {free}",
                    region.first_cylinder
                ))
                .help("accepted: regions that end before the next one and the end of the medium: a smaller size, or another count"));
            }
        }
        Ok(())
    }

    /// The region, and the track of it, that an arm writes next: the track that is being written, or the next one that has a free slot, of
    /// the region in which the arm is already, or else of the nearest one that has one.
    fn next_track(
        &mut self,
        at: HeadPosition,
        within: Option<usize>,
    ) -> (usize, Region, HeadPosition) {
        let mut nearest: Vec<usize> = (0..self.regions.len()).collect();
        nearest.sort_by_key(|&number| self.regions[number].first_cylinder.abs_diff(at.cylinder));
        let found = within.into_iter().chain(nearest).find_map(|number| {
            let region = self.regions[number];
            let tracks = self.per_region.div_ceil(region.slots_per_track);
            let mut ahead = (0..tracks).map(|ahead| (region.track + ahead) % tracks);
            let track = ahead.find(|&track| {
                let (first, end) = self.slots_of(&Region { track, ..region });
                self.taken[first as usize..end as usize].contains(&false)
            })?;
            Some((number, track))
        });
        let (number, track) = found.expect("fewer extents are dirty than there are slots");
        let region = &mut self.regions[number];
        region.track = track;
        let cylinder = region.first_cylinder + track / self.surfaces;
        let place = HeadPosition {
            cylinder,
            head: track % self.surfaces,
        };
        (number, *region, place)
    }

    /// The first slot of a region's track, and the one behind its last.
    fn slots_of(&self, region: &Region) -> (u32, u32) {
        let first = region.track * region.slots_per_track;
        let end = (first + region.slots_per_track).min(self.per_region);
        (region.first + first, region.first + end)
    }

    /// The first sector of a slot of a region's track.
    fn sector(&self, region: &Region, slot: u32) -> u32 {
        (slot - self.slots_of(region).0) * self.sectors_per_slot
    }

    /// An extent is on the medium: its slot is free.
    pub fn release(&mut self, frame: Frame) {
        self.contents.release(frame);
        self.free_slot(frame);
    }

    fn free_slot(&mut self, frame: Frame) {
        let slot = std::mem::replace(&mut self.slots[frame.index()], NOWHERE);
        if slot != NOWHERE {
            self.taken[slot as usize] = false;
        }
    }

    /// A write can be kept from an instant on.
    pub fn wait(&mut self, request: RequestId, ready: Time) {
        self.waiting.push_back((request, ready));
    }

    /// Whether a write waits that can be kept now.
    pub fn has_waiting(&self, now: Time) -> bool {
        self.waiting.front().is_some_and(|&(_, ready)| ready <= now)
    }

    /// Whether any write waits to be kept.
    pub fn has_any(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether an arm writes here.
    pub fn is_written_by(&self, arm: usize) -> bool {
        self.pass.as_ref().is_some_and(|pass| pass.arm == arm)
    }
}

/// `count` regions of `slots` slots, each slot of `sectors_per_slot` sectors, in the middles of `count` equal parts of the cylinders.
fn regions(layout: &Layout, count: u32, (slots, sectors_per_slot): (u32, u32)) -> Vec<Region> {
    let region = |number: u32| {
        let parts = u64::from(2 * count);
        let middle = u64::from(layout.cylinders()) * u64::from(2 * number + 1) / parts;
        let first_cylinder = middle as u32;
        let mut zones = layout.zones().iter().rev();
        let zone = zones.find(|zone| zone.first_cylinder() <= first_cylinder);
        let sectors_per_track = zone.map_or(1, |zone| zone.sectors_per_track());
        Region {
            first: number * slots,
            first_cylinder,
            sectors_per_track,
            slots_per_track: (sectors_per_track / sectors_per_slot).max(1),
            track: 0,
        }
    };
    (0..count).map(region).collect()
}

/// An arm on its way over a region.
struct Walk<'a> {
    medium: &'a Medium,
    arm: usize,
    at: HeadPosition,
    now: Time,
    parts: Parts,
    /// The region and the track that it writes, and that region's number.
    track: Option<(usize, Region)>,
    /// The free slots of the track in the order in which they come by, the next one last: when its edge does, and its number.
    free: Vec<(Time, u32)>,
}

impl Walk<'_> {
    /// Goes to the next track that has a free slot.
    fn next_track(&mut self, regions: &mut Regions) -> Region {
        let within = self.track.map(|(number, _)| number);
        let (number, region, to) = regions.next_track(self.at, within);
        let motion = self.medium.hardware.mechanics.motion(self.at, to, true);
        self.parts.add(Part::Seek, motion.seek);
        self.parts.add(Part::HeadSwitch, motion.head_switch);
        self.parts.add(Part::Settle, motion.settle);
        self.now += motion.total();
        self.at = to;
        self.track = Some((number, region));
        let (first, end) = regions.slots_of(&region);
        let free = (first..end).filter(|&slot| !regions.taken[slot as usize]);
        self.free = free
            .map(|slot| (self.passes(regions, &region, slot), slot))
            .collect();
        self.free.sort_unstable_by(|one, other| other.cmp(one));
        region
    }

    /// When the edge of a slot of the arm's track comes by next.
    fn passes(&self, regions: &Regions, region: &Region, slot: u32) -> Time {
        let spindle = &self.medium.arms[self.arm].spindle;
        let sector = regions.sector(region, slot);
        let edge = spindle.edge(sector, region.sectors_per_track);
        self.now + spindle.wait(spindle.phase(self.now), edge)
    }

    /// Writes an extent into the next free slot that comes by, on the next track that has one where this one has none left. The slot that the
    /// extent had is free then, and not before: until then it has what was promised.
    fn write_slot(&mut self, regions: &mut Regions, frame: Frame) {
        let region = match self.track {
            Some((_, region)) if !self.free.is_empty() => region,
            _ => self.next_track(regions),
        };
        let (edge, slot) = self.free.pop().expect("the track has a free slot");
        let spindle = &self.medium.arms[self.arm].spindle;
        let sector = regions.sector(&region, slot);
        let (_, passing) = spindle.come_by(spindle.phase(edge), sector, region.sectors_per_track);
        let end = edge + spindle.passing(&passing, regions.sectors_per_slot);
        self.parts.add(Part::Rotation, edge - self.now);
        self.parts.add(Part::Transfer, end - edge);
        self.now = end;
        regions.taken[slot as usize] = true;
        let before = regions.slots[frame.index()];
        regions.free_slot(frame);
        regions.slots[frame.index()] = slot;
        let (first, end) = regions.slots_of(&region);
        if (first..end).contains(&before) {
            let freed = (self.passes(regions, &region, before), before);
            let place = self.free.partition_point(|&other| other > freed);
            self.free.insert(place, freed);
        }
    }
}

impl DrivePool {
    /// Has an idle arm of a group keep the writes that wait for it, as many as one pass over a track takes.
    #[inline(always)]
    pub(super) fn begin_region_pass(
        &mut self,
        group: usize,
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) -> bool {
        self.region.is_some() && self.begin_pass(group, disk, cx)
    }

    #[inline(never)]
    fn begin_pass(&mut self, group: usize, disk: &mut Disk, cx: &mut Context<'_>) -> bool {
        let now = cx.now();
        let Some(region) = &mut self.region else {
            return false;
        };
        let medium = &mut disk.medium;
        if region.pass.is_some() || !region.has_waiting(now) || !medium.groups[group].can(Op::Write)
        {
            return false;
        }
        let Some(arm) = medium.idle_arm(group) else {
            return false;
        };
        let mut walk = Walk {
            medium,
            arm,
            at: medium.arms[arm].at,
            now,
            parts: Parts::default(),
            track: None,
            free: Vec::new(),
        };
        let (mut requests, mut written) = (Vec::new(), Vec::new());
        while let Some(&(request, ready)) = region.waiting.front() {
            let command = cx.request(request).command;
            let cache = &self.memory.cache;
            let pieces = self.memory.pieces(&command);
            let frames = pieces.filter_map(|piece| cache.find(piece.key));
            let frames: Vec<Frame> = frames.filter(|&frame| self.dirty.holds(frame)).collect();
            // One pass is over one track, but for a first write that needs more.
            let fits = requests.is_empty() || walk.free.len() >= frames.len();
            if ready > now || !fits {
                break;
            }
            region.waiting.pop_front();
            for frame in frames {
                walk.write_slot(region, frame);
                written.push(frame);
            }
            requests.push(request);
        }
        let Walk {
            at: to,
            now: until,
            parts,
            ..
        } = walk;
        medium.arms[arm].work = Some(Work::Region);
        region.pass = Some(RegionPass {
            arm,
            requests,
            to,
            start: now,
            parts,
        });
        self.take_for_pass(&written, cx);
        self.busy += 1;
        self.counters.region_passes += 1;
        cx.alarm(until, Alarm::ArmDone(arm as u32).token());
        true
    }

    /// Whether an arm keeps writes in the region.
    pub fn writes_region(&self, arm: usize) -> bool {
        let region = self.region.as_ref();
        region.is_some_and(|region| region.is_written_by(arm))
    }

    /// An arm has kept writes in the region: they are complete.
    #[inline(never)]
    pub fn region_rings(&mut self, disk: &mut Disk, cx: &mut Context<'_>) {
        let pass = self.region.as_mut().and_then(|region| region.pass.take());
        let pass = pass.expect("the alarm of a pass over the region");
        let now = cx.now();
        let medium = &mut disk.medium;
        let from = medium.counted_from(pass.start);
        let arm = &mut medium.arms[pass.arm];
        let distance = arm.at.cylinder.abs_diff(pass.to.cylinder);
        arm.moved(pass.to, from, now);
        arm.done();
        medium.count_access(distance, 0);
        medium.count_busy(from, now);
        medium.counters.spent(&pass.parts);
        if let Some(power) = &mut disk.power {
            power.worked(Op::Write, &pass.parts, pass.start, now);
        }
        disk.ended = now;
        self.pass_is_written(disk.medium.hardware.blocks(), cx);
        self.busy -= 1;
        self.rest_since = now;
        let after = self.parts.overhead.completion(true);
        for request in pass.requests {
            let entry = cx.request_mut(request);
            let so_far = entry.start + entry.parts.total();
            entry.parts.add(Part::Wait, pass.start - so_far);
            for &part in Part::ALL {
                entry.parts.add(part, pass.parts.get(part));
            }
            entry.parts.add(Part::Overhead, after);
            entry.media = pass.parts.access();
            self.complete_at(request, now + after, cx);
        }
        self.complete_due(disk, cx);
        cx.wake();
    }
}
