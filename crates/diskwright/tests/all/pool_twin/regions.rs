//! The regions of the medium in which the twin keeps writes.

use diskwright::models::geometry::mechanics::HeadPosition;

use super::medium::Medium;
use super::model::{Event, Model};

/// The slots of one region.
struct Region {
    /// Its first cylinder.
    first: u32,
    /// Sectors of a track there.
    per_track: u64,
    /// Slots of a track.
    on_track: usize,
    /// The extent that each slot has, if any.
    slots: Vec<Option<u64>>,
    /// The track that was written last, counted from the first one.
    last: usize,
}

/// All regions of a drive.
pub struct Regions {
    list: Vec<Region>,
    surfaces: u32,
    /// Sectors of an extent.
    size: u64,
    /// Writes whose blocks have crossed and which wait to be kept, the oldest first.
    pub waiting: Vec<usize>,
    /// Writes that are being kept.
    pub kept: Vec<usize>,
}

impl Region {
    fn has_free(&self) -> bool {
        self.slots.contains(&None)
    }

    /// The free slots of a track.
    fn free(&self, track: usize) -> impl Iterator<Item = usize> {
        let from = track * self.on_track;
        let to = (from + self.on_track).min(self.slots.len());
        (from..to).filter(|&slot| self.slots[slot].is_none())
    }

    /// The track with a free slot that comes first from that one on which was written last, around the region's end.
    fn track(&self) -> usize {
        let tracks = self.slots.len().div_ceil(self.on_track);
        let mut in_turn = (self.last..tracks).chain(0..self.last);
        in_turn
            .find(|&track| self.free(track).next().is_some())
            .expect("the region has a free slot")
    }
}

impl Regions {
    /// `count` regions of `slots` slots each, with extents of `size` sectors.
    pub fn new(medium: &Medium, count: u64, slots: u64, size: u64) -> Regions {
        let region = |number| {
            let first = medium.middle(number, count);
            let per_track = medium.track_sectors(first);
            Region {
                first,
                per_track,
                on_track: (per_track / size) as usize,
                slots: vec![None; slots as usize],
                last: 0,
            }
        };
        Regions {
            list: (0..count).map(region).collect(),
            surfaces: medium.surfaces(),
            size,
            waiting: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Free slots on the track of a region that was written last.
    fn free_on_track(&self, place: usize) -> usize {
        let region = &self.list[place];
        region.free(region.last).count()
    }

    /// Slots are free whose extents the medium has in their own places.
    pub fn release(&mut self, is_dirty: impl Fn(u64) -> bool) {
        for slot in self.list.iter_mut().flat_map(|region| &mut region.slots) {
            slot.take_if(|extent| !is_dirty(*extent));
        }
    }

    /// Writes an extent into the next free slot: when it is there, and where the arm is then.
    fn write(
        &mut self,
        medium: &Medium,
        extent: u64,
        (now, arm): (u64, HeadPosition),
        current: &mut Option<usize>,
    ) -> (u64, HeadPosition) {
        let distance = |region: &Region| region.first.abs_diff(arm.cylinder);
        let place = current
            .filter(|&place| self.list[place].has_free())
            .or_else(|| {
                let places = (0..self.list.len()).filter(|&place| self.list[place].has_free());
                places.min_by_key(|&place| distance(&self.list[place]))
            });
        let place = place.expect("there are as many slots as dirty extents");
        *current = Some(place);
        let region = &self.list[place];
        let track = region.track();
        let there = HeadPosition {
            cylinder: region.first + track as u32 / self.surfaces,
            head: track as u32 % self.surfaces,
        };
        let at = now + medium.motion(arm, there, true);
        let (size, from) = (self.size, track * region.on_track);
        let pass = |slot: usize| {
            let sector = (slot - from) as u64 * size;
            let (begin, end) = medium.pass_place(at, sector, size, region.per_track);
            (begin, end, slot)
        };
        let next = region.free(track).map(pass).min();
        let (_, end, slot) = next.expect("the track has a free slot");
        for slot in self.list.iter_mut().flat_map(|region| &mut region.slots) {
            slot.take_if(|other| *other == extent);
        }
        let region = &mut self.list[place];
        region.slots[slot] = Some(extent);
        region.last = track;
        (end, there)
    }
}

impl Model<'_> {
    /// Whether a write waits to be kept, and the arm would do so now.
    pub fn has_to_keep(&self) -> bool {
        let has_destages = self.is_pressing() && !self.candidates.is_empty();
        let mut regions = self.regions.iter();
        !has_destages && regions.any(|regions| !regions.waiting.is_empty())
    }

    /// The extents of a write that the medium does not have in their own places.
    fn to_keep(&self, request: usize) -> Vec<u64> {
        let asked = self.asked(request);
        let all = self.frames.extents(asked.lbn, asked.lbn + asked.blocks);
        all.filter(|&extent| self.is_unsaved(extent)).collect()
    }

    /// Whether an extent is dirty or on its way.
    pub fn is_unsaved(&self, extent: u64) -> bool {
        let frame = self.frames.get(extent);
        frame.is_some_and(|frame| !frame.dirty.is_empty()) || self.is_destaging(extent)
    }

    /// Keeps the writes that wait, as many as make one pass.
    pub fn keep(&mut self) {
        let mut regions = self.regions.take().expect("a write waits for it");
        let (mut at, mut current) = ((self.now, self.arm), None);
        while let Some(&request) = regions.waiting.first() {
            let extents = self.to_keep(request);
            if !regions.kept.is_empty() {
                let free = current.map_or(0, |place| regions.free_on_track(place));
                if free < extents.len() {
                    self.meet("a write does not fit into the pass of another");
                    break;
                }
                self.meet("two writes are kept in one pass");
            }
            if extents.is_empty() {
                self.meet("a write has nothing to be kept");
            }
            regions.waiting.remove(0);
            regions.kept.push(request);
            for extent in extents {
                let before = current;
                at = regions.write(&self.medium, extent, at, &mut current);
                if before.is_some() && before != current {
                    self.meet("a write goes on in another region");
                }
            }
        }
        self.regions = Some(regions);
        let (end, arm) = at;
        self.arm = arm;
        self.is_busy = true;
        self.last_was_host = true;
        self.idle_since = None;
        self.events.push((end, Event::Kept));
    }

    /// The arm has kept writes.
    pub fn kept(&mut self) {
        self.is_busy = false;
        let regions = self.regions.as_mut().expect("it has kept writes");
        for request in std::mem::take(&mut regions.kept) {
            self.at(self.now + self.medium.after(true), Event::Complete(request));
        }
        self.take();
    }

    /// The blocks of a write have crossed: it waits to be kept.
    pub fn crossed(&mut self, request: usize) {
        if self.is_pressing() {
            self.meet("a write waits until destaging is not pressing");
        }
        let regions = self.regions.as_mut().expect("it keeps writes");
        regions.waiting.push(request);
    }
}
