//! The slots of a drive: the places, each for one logical block, among which a logging drive chooses.

use crate::base::error::InputError;
use crate::models::geometry::layout::{Layout, Zone};

/// The number of a slot. Numbers are not consecutive: each track's slots begin at a multiple of a power of two.
pub type SlotId = u32;

/// Consecutive sectors of one track that hold slots, one after the other from the first sector on.
///
/// A track is one of them unless some of its sectors were moved elsewhere; sectors that are left over behind the last slot
/// are not used.
#[derive(Clone, Copy, Debug)]
pub struct Track {
    /// The first data sector.
    pub first: u64,
    /// Its leading edge, in sectors of this track.
    pub angle: u32,
    /// Sectors on the track.
    pub per_track: u32,
    /// Cylinder.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// How many slots.
    pub slots: u32,
    /// No slipped sector lies between those of its slots.
    is_even: bool,
}

/// Tracks of a zone.
pub(super) fn tracks(zone: &Zone) -> u64 {
    let cylinders = u64::from(zone.last_cylinder() - zone.first_cylinder()) + 1;
    cylinders * u64::from(zone.surfaces())
}

/// The power of two of which the numbers of a track's slots are a multiple, where the longest track has `most` of them.
pub(super) fn shift(most: u32) -> u32 {
    most.next_power_of_two().trailing_zeros().max(6)
}

/// The slots of a layout.
#[derive(Clone, Debug)]
pub struct DriveSlots {
    sectors_per_slot: u32,
    /// By cylinder.
    tracks: Box<[Track]>,
    /// The number of each cylinder's first track, and of the one behind the last.
    first_tracks: Box<[u32]>,
    shift: u32,
    count: u64,
}

impl DriveSlots {
    /// Bytes that the slots of `sectors` sectors of a layout take, while the list of its tracks grows.
    pub(super) fn memory(layout: &Layout, sectors: u32) -> u64 {
        let tracks: u64 = layout
            .zones_by_lbn()
            .iter()
            .filter(|zone| zone.sectors_per_track() >= sectors)
            .map(tracks)
            .sum();
        let of_track = 3 * size_of::<Track>() as u64;
        tracks * of_track + u64::from(layout.cylinders()) * 4
    }

    /// Divides every track into slots of `sectors_per_slot` sectors.
    ///
    /// # Errors
    /// A drive on which no slot fits, or that has more than 2³² numbers for them.
    pub fn new(layout: &Layout, sectors_per_slot: u32) -> Result<DriveSlots, InputError> {
        let mut tracks = Vec::new();
        let (mut sector, mut most, mut count) = (0, 0, 0);
        while sector < layout.sectors() {
            let run = layout.run(sector, u32::MAX);
            let slots = run.sectors / sectors_per_slot;
            if slots > 0 {
                tracks.push(Track {
                    first: sector,
                    angle: run.angle,
                    per_track: run.sectors_per_track,
                    cylinder: run.position.cylinder,
                    head: run.position.head,
                    slots,
                    is_even: run.sectors == run.span,
                });
            }
            most = most.max(slots);
            count += u64::from(slots);
            sector += u64::from(run.sectors);
        }
        if count == 0 {
            return Err(InputError::new(
                "no block fits on any track of the drive: it must lie on one track",
            )
            .help("give a smaller placement block"));
        }
        let shift = shift(most);
        if (tracks.len() as u64) << shift > u64::from(u32::MAX) {
            return Err(InputError::new(format!(
                "the drive has {count} blocks of this size: too many to keep a map of"
            ))
            .help("give a larger placement block, such as \"64 KiB\""));
        }
        tracks.sort_by_key(|track| track.cylinder);
        let first_tracks = (0..=layout.cylinders())
            .map(|cylinder| tracks.partition_point(|track| track.cylinder < cylinder) as u32)
            .collect();
        Ok(DriveSlots {
            sectors_per_slot,
            tracks: tracks.into(),
            first_tracks,
            shift,
            count,
        })
    }

    /// How many slots there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sectors of a slot.
    pub fn sectors_per_slot(&self) -> u32 {
        self.sectors_per_slot
    }

    /// All tracks, by cylinder.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// The numbers of a cylinder's tracks.
    #[inline]
    pub fn tracks_of(&self, cylinder: u32) -> std::ops::Range<usize> {
        let cylinder = cylinder as usize;
        self.first_tracks[cylinder] as usize..self.first_tracks[cylinder + 1] as usize
    }

    /// Cylinders, those without slots included.
    pub fn cylinders(&self) -> u32 {
        self.first_tracks.len() as u32 - 1
    }

    /// 64-bit words that hold a bit for every slot number of a track.
    #[inline]
    pub(super) fn words_per_track(&self) -> usize {
        1 << (self.shift - 6)
    }

    /// The number of a track's slot.
    #[inline]
    pub fn id(&self, track: usize, slot: u32) -> SlotId {
        (track as u32) << self.shift | slot
    }

    /// A slot's track and its place there.
    #[inline]
    pub fn place(&self, id: SlotId) -> (usize, u32) {
        ((id >> self.shift) as usize, id & ((1 << self.shift) - 1))
    }

    /// Numbers that slots may have: all are smaller.
    pub fn end(&self) -> u64 {
        (self.tracks.len() as u64) << self.shift
    }

    /// A slot's first sector.
    #[inline]
    pub fn sector(&self, id: SlotId) -> u64 {
        let (track, slot) = self.place(id);
        self.tracks[track].first + u64::from(slot) * u64::from(self.sectors_per_slot)
    }

    /// The leading edge of a track's slot, in sectors of the track.
    #[inline]
    pub fn angle(&self, layout: &Layout, track: &Track, slot: u32) -> u32 {
        let offset = slot * self.sectors_per_slot;
        if !track.is_even {
            return layout.run(track.first + u64::from(offset), 1).angle;
        }
        let angle = track.angle + offset;
        if angle >= track.per_track {
            angle - track.per_track
        } else {
            angle
        }
    }

    /// The slot of a track whose leading edge is that of a sector.
    #[inline]
    pub(super) fn beginning_at(&self, layout: &Layout, track: &Track, sector: u32) -> Option<u32> {
        let slot = self.passed(layout, track, sector);
        (self.angle(layout, track, slot) == sector).then_some(slot)
    }

    /// The last of a track's slots whose edge has passed when `sector` is under the head; the last one of all before the
    /// first has.
    #[inline]
    pub(super) fn passed(&self, layout: &Layout, track: &Track, sector: u32) -> u32 {
        let behind = |angle: u32| {
            let way = angle + track.per_track - track.angle;
            if way >= track.per_track {
                way - track.per_track
            } else {
                way
            }
        };
        let way = behind(sector);
        if track.is_even {
            return (way / self.sectors_per_slot).min(track.slots - 1);
        }
        let (mut good, mut bad) = (0, track.slots);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if behind(self.angle(layout, track, middle)) <= way {
                good = middle;
            } else {
                bad = middle;
            }
        }
        good
    }
}
