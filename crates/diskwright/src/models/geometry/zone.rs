//! A zone: adjacent cylinders whose tracks are alike, and how its places are numbered.

use super::describe::{HeadOrder, LayoutDescription, SpareUnit, ZoneDescription};
use super::stretches::{Defects, Units};
use crate::base::divide::{Divisor, WideDivisor};

/// Adjacent cylinders whose tracks are alike, on the surfaces of one access range.
#[derive(Clone, Debug)]
pub struct Zone {
    pub(super) first_cylinder: u32,
    pub(super) last_cylinder: u32,
    pub(super) first_surface: u32,
    pub(super) sectors_per_track: u32,
    /// First data sector; the zone's end is the next zone's first or the capacity.
    pub(super) first: u64,
    pub(super) sectors: u64,
    order: HeadOrder,
    pub(super) surfaces: u32,
    pub(super) by_track: Divisor,
    pub(super) by_surfaces: Divisor,
    offset: u64,
    track_skew: u64,
    /// From sector 0 of a cylinder to sector 0 of the next.
    cylinder_turn: u64,
    by_angle: Divisor,
    pub(super) units: Units,
    pub(super) by_held: WideDivisor,
    drift: Option<Drift>,
}

/// The turn that slipped sectors give to the units after them, where tracks or cylinders have spares of their own.
#[derive(Clone, Debug)]
struct Drift {
    unit_tracks: u64,
    /// Slipped places (from, to) and how many are slipped before them.
    slips: Box<[(u64, u64, u64)]>,
}

impl Drift {
    fn before(&self, track: u64, sectors_per_track: u64) -> u64 {
        let place = track / self.unit_tracks * self.unit_tracks * sectors_per_track;
        let next = self.slips.partition_point(|&(from, ..)| from < place);
        match self.slips[..next].last() {
            Some(&(from, to, before)) => before + to.min(place) - from,
            None => 0,
        }
    }
}

impl Zone {
    /// First cylinder.
    pub fn first_cylinder(&self) -> u32 {
        self.first_cylinder
    }
    /// Last cylinder.
    pub fn last_cylinder(&self) -> u32 {
        self.last_cylinder
    }
    /// The first of the surfaces of its access range.
    pub fn first_surface(&self) -> u32 {
        self.first_surface
    }
    /// The surfaces of its access range: of each cylinder as many tracks are of the zone.
    pub fn surfaces(&self) -> u32 {
        self.surfaces
    }
    /// Number of cylinders.
    pub fn cylinders(&self) -> u32 {
        self.last_cylinder - self.first_cylinder + 1
    }
    /// Sectors on each track, with spare and slipped ones.
    pub fn sectors_per_track(&self) -> u32 {
        self.sectors_per_track
    }
    /// The zone's first data sector.
    pub fn first_sector(&self) -> u64 {
        self.first
    }
    /// Data sectors of the zone.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }
    /// Data sectors of a cylinder without defects, on the surfaces of the access range, on average over the zone.
    pub fn sectors_per_cylinder(&self) -> f64 {
        let data = self.units.held() as f64 / self.units.size as f64;
        f64::from(self.surfaces) * f64::from(self.sectors_per_track) * data
    }
    /// Angle from sector 0 of a track to sector 0 of the next track of the cylinder, in sectors.
    pub fn track_skew(&self) -> u32 {
        self.track_skew as u32
    }
    /// Angle from sector 0 of a cylinder's last track to sector 0 of the next cylinder, in sectors.
    pub fn cylinder_skew(&self) -> u32 {
        let tracks = u64::from(self.surfaces - 1) * self.track_skew % self.s();
        ((self.cylinder_turn + self.s() - tracks) % self.s()) as u32
    }

    /// Sectors on each track.
    pub(super) fn s(&self) -> u64 {
        u64::from(self.sectors_per_track)
    }

    pub(super) fn build(
        layout: &LayoutDescription,
        zone: &ZoneDescription,
        (first, first_surface): (u64, u32),
        defects: &Defects,
        units: Units,
    ) -> Zone {
        let in_range = layout.surfaces / layout.access_ranges;
        let surfaces = u64::from(in_range);
        let per_track = u64::from(zone.sectors_per_track);
        let cylinders = u64::from(zone.cylinders.1 - zone.cylinders.0) + 1;
        let track_skew = u64::from(zone.track_skew) % per_track;
        let cylinder_turn =
            ((surfaces - 1) * track_skew + u64::from(zone.cylinder_skew)) % per_track;
        let slipped: u64 = defects.slips.iter().map(|(from, to)| to - from).sum();
        // Every term of an angle at its largest.
        let angle = per_track * (surfaces + cylinders + 2) + slipped;
        let unit_tracks = match zone.spares.map(|spares| spares.per) {
            Some(SpareUnit::Track) => Some(1),
            Some(SpareUnit::Cylinder) => Some(surfaces),
            _ => None,
        };
        Zone {
            first_cylinder: zone.cylinders.0,
            last_cylinder: zone.cylinders.1,
            first_surface,
            sectors_per_track: zone.sectors_per_track,
            first,
            sectors: 0,
            order: layout.order,
            surfaces: in_range,
            by_track: Divisor::new(per_track, units.total),
            by_surfaces: Divisor::new(surfaces, units.total),
            offset: u64::from(zone.offset) % per_track,
            track_skew,
            cylinder_turn,
            by_angle: Divisor::new(per_track, angle),
            by_held: WideDivisor::new(units.held()),
            units,
            drift: unit_tracks
                .filter(|_| !defects.slips.is_empty())
                .map(|unit_tracks| Drift {
                    unit_tracks,
                    slips: defects
                        .slips
                        .iter()
                        .scan(0, |before, &(from, to)| {
                            let entry = (from, to, *before);
                            *before += to - from;
                            Some(entry)
                        })
                        .collect(),
                }),
        }
    }

    /// The head of a track, given its turn in the cylinder among those of the access range.
    #[inline(always)]
    pub(super) fn head(&self, cylinder: u32, surface: u32) -> u32 {
        let odd = match self.order {
            HeadOrder::Ascending => false,
            HeadOrder::Alternating => cylinder % 2 == 1,
            HeadOrder::AlternatingInZone => (cylinder - self.first_cylinder) % 2 == 1,
        };
        self.first_surface
            + if odd {
                self.surfaces - 1 - surface
            } else {
                surface
            }
    }

    /// The angle of a sector, given its track's number in the zone.
    #[inline(always)]
    pub(super) fn angle(&self, track: u64, cylinder: u64, surface: u64, sector: u64) -> u32 {
        let mut sum =
            self.offset + surface * self.track_skew + cylinder * self.cylinder_turn + sector;
        if let Some(drift) = &self.drift {
            sum += drift.before(track, self.s());
        }
        self.by_angle.divide(sum).1 as u32
    }
}
