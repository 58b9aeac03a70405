//! Where each sector is, as docs/model/geometry.md defines it: a list of all sectors of a small drive.

use super::specs::{Layout, Order, Per, Zone};

/// The place of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub cylinder: u64,
    pub head: u64,
    /// Its slot in the direction of rotation, and the slots of its track.
    pub slot: u64,
    pub slots: u64,
    /// Its number on the track.
    pub number: u64,
}

impl Place {
    pub fn is_on_track_of(&self, other: &Place) -> bool {
        (self.cylinder, self.head) == (other.cylinder, other.head)
    }

    /// Whether the next address belongs to the same run.
    pub fn is_followed_by(&self, next: &Place) -> bool {
        next.number > self.number && self.is_on_track_of(next)
    }
}

/// A zone in an access range: its sectors by their numbers in that part of the zone.
struct Part<'a> {
    zone: &'a Zone,
    /// Surfaces of the range.
    surfaces: u64,
    /// The number of the part's first sector and track in the zone.
    first_sector: u64,
    first_track: u64,
}

impl Part<'_> {
    fn cylinders(&self) -> u64 {
        self.zone.last - self.zone.first + 1
    }

    fn tracks(&self) -> u64 {
        self.cylinders() * self.surfaces
    }

    fn is_slipped(&self, sector: u64) -> bool {
        let track = self.first_track + sector / self.zone.per_track;
        self.zone.slipped.contains(&(self.first_sector + sector))
            || self.zone.slipped_tracks.contains(&track)
    }

    /// The sector that has the data of a sector.
    fn home(&self, sector: u64) -> u64 {
        let per_track = self.zone.per_track;
        let number = self.first_sector + sector;
        let remapped = self.zone.remapped.iter();
        if let Some((_, to)) = remapped.clone().find(|(from, _)| *from == number) {
            return to - self.first_sector;
        }
        let track = self.first_track + sector / per_track;
        let mut tracks = self.zone.remapped_tracks.iter();
        match tracks.find(|(from, _)| *from == track) {
            Some((_, to)) => (to - self.first_track) * per_track + sector % per_track,
            None => sector,
        }
    }

    /// Its units as ranges of sectors, and whether each has spares.
    fn units(&self) -> Vec<(u64, u64, bool)> {
        let track = self.zone.per_track;
        let cylinder = track * self.surfaces;
        let all = self.tracks() * track;
        let size = match self.zone.spares.map(|spares| spares.per) {
            None | Some(Per::Zone) => all,
            Some(Per::Track) => track,
            Some(Per::Cylinder) => cylinder,
            Some(Per::Cylinders(count)) => cylinder * count,
        };
        let firsts = (0..all).step_by(size as usize);
        firsts
            .map(|first| {
                (
                    first,
                    (first + size).min(all),
                    first + size <= all && self.zone.spares.is_some(),
                )
            })
            .collect()
    }

    /// The sectors that keep data, in their order.
    fn kept(&self) -> Vec<u64> {
        let mut kept = Vec::new();
        for (from, to, has_spares) in self.units() {
            let mut good: Vec<u64> = (from..to).filter(|&at| !self.is_slipped(at)).collect();
            if let Some(spares) = self.zone.spares.filter(|_| has_spares) {
                let spare = spares.sectors + spares.tracks * self.zone.per_track;
                let slipped = (to - from) - good.len() as u64;
                let wanted = match spares.slips_cost_capacity {
                    true => (to - from).saturating_sub(spare + slipped),
                    false => (to - from).saturating_sub(spare),
                };
                let wanted = wanted.min(good.len() as u64) as usize;
                match spares.at_front {
                    true => drop(good.drain(..good.len() - wanted)),
                    false => good.truncate(wanted),
                }
            }
            kept.extend(good);
        }
        kept.drain(..(self.zone.front as usize).min(kept.len()));
        kept
    }

    /// For each track, the sectors that slipped before its unit, where that shifts its angles.
    fn drifts(&self) -> Vec<u64> {
        let mut drifts = Vec::new();
        let (shifts, tracks_of_unit) = match self.zone.spares.map(|spares| spares.per) {
            Some(Per::Track) => (true, 1),
            Some(Per::Cylinder) => (true, self.surfaces),
            _ => (false, self.tracks()),
        };
        let mut slipped = 0;
        while (drifts.len() as u64) < self.tracks() {
            let first = drifts.len() as u64 * self.zone.per_track;
            drifts.extend((0..tracks_of_unit).map(|_| if shifts { slipped } else { 0 }));
            let unit = first..first + tracks_of_unit * self.zone.per_track;
            slipped += unit.filter(|&at| self.is_slipped(at)).count() as u64;
        }
        drifts
    }

    /// Where the data of a sector are.
    fn place(&self, layout: &Layout, range: u64, drifts: &[u64], sector: u64) -> Place {
        let zone = self.zone;
        let sector = self.home(sector);
        let track = sector / zone.per_track;
        let (cylinder, surface) = (track / self.surfaces, track % self.surfaces);
        let slot = zone.offset
            + (surface + (self.surfaces - 1) * cylinder) * zone.track_skew
            + cylinder * zone.cylinder_skew
            + drifts[track as usize]
            + sector % zone.per_track;
        let is_turned = match layout.order {
            Order::Ascending => false,
            Order::Alternating => (zone.first + cylinder) % 2 == 1,
            Order::AlternatingInZone => cylinder % 2 == 1,
        };
        let head = match is_turned {
            true => self.surfaces - 1 - surface,
            false => surface,
        };
        Place {
            cylinder: zone.first + cylinder,
            head: range * self.surfaces + head,
            slot: slot % zone.per_track,
            slots: zone.per_track,
            number: sector % zone.per_track,
        }
    }
}

/// The places of all sectors that have an address, by their addresses.
pub fn of(layout: &Layout) -> Vec<Place> {
    let surfaces = layout.surfaces / layout.ranges;
    let mut places = Vec::new();
    for range in 0..layout.ranges {
        let first = places.len();
        for zone in &layout.zones {
            let tracks = (zone.last - zone.first + 1) * surfaces;
            let part = Part {
                zone,
                surfaces,
                first_sector: range * tracks * zone.per_track,
                first_track: range * tracks,
            };
            let drifts = part.drifts();
            let kept = part.kept().into_iter();
            places.extend(kept.map(|sector| part.place(layout, range, &drifts, sector)));
        }
        if let Some(sectors) = layout.sectors {
            places.truncate(first + (sectors / layout.ranges) as usize);
        }
    }
    places
}
