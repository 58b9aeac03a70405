//! From sectors to places and back: zones, skews, spares, slipped and remapped sectors.
//!
//! An address here counts physical sectors. How the places of a zone are numbered and which of them hold data is said
//! in [`describe`](super::describe); `docs/model/geometry.md` gives the rule as a whole.

use super::describe::LayoutDescription;
pub use super::limits::{MAX_CYLINDERS, MAX_SECTORS_PER_TRACK, MAX_SURFACES};
use super::limits::{check_size, check_zone, in_zone};
use super::ranges::Ranges;
use super::stretches::{Defects, Stretch, Stretcher, Units};
pub use super::zone::Zone;
use crate::base::error::InputError;

/// The place of a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Number of the zone, in LBN order: its place in [`Layout::zones_by_lbn`].
    pub zone: u32,
    /// Cylinder, from 0 at the drive's first.
    pub cylinder: u32,
    /// Which track of the cylinder, in LBN order.
    pub surface: u32,
    /// The head that serves it.
    pub head: u32,
    /// Which sector of the track, from 0.
    pub sector: u32,
}

/// The longest run of consecutive data sectors from a start that pass under one head in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Where the first sector is.
    pub position: Position,
    /// Angle of the first sector's leading edge, in sectors of this track: skews and zone offset included.
    pub angle: u32,
    /// Sectors on the track.
    pub sectors_per_track: u32,
    /// Data sectors in the run.
    pub sectors: u32,
    /// Sectors that pass from the first one's start to the last one's end, slipped ones between them included.
    pub span: u32,
}

/// The sectors of a drive and their places.
#[derive(Clone, Debug)]
pub struct Layout {
    cylinders: u32,
    ranges: Ranges,
    sectors: u64,
    /// In LBN order: those of the first access range, then the same of the next.
    zones: Box<[Zone]>,
    /// In LBN order, with a last one that begins at the capacity and belongs to no zone.
    stretches: Box<[Stretch]>,
    /// Numbers of the stretches in the order of their places; of two at one place the replacement is first.
    by_place: Box<[u32]>,
    /// For each equal part of the address space, the stretch that holds its first sector.
    buckets: Box<[u32]>,
    bucket_shift: u32,
    warnings: Vec<String>,
}

impl Layout {
    /// Checks a description and works out the places of all sectors.
    ///
    /// # Errors
    /// Says which zone and value do not fit, and what would: sizes out of range, surfaces that cannot be divided among the
    /// access ranges, zones that overlap or are out of order, skews of more than a track, spares that leave no room, defects outside their zone or listed twice, a
    /// drive without capacity.
    pub fn build(description: &LayoutDescription) -> Result<Layout, InputError> {
        check_size("cylinders", description.cylinders, MAX_CYLINDERS)?;
        check_size("surfaces", description.surfaces, MAX_SURFACES)?;
        let ranges = Ranges::new(description)?;
        let mut zones: Vec<Zone> = Vec::with_capacity(description.zones.len());
        let mut stretches = Vec::new();
        let mut next = 0;
        for range in 0..ranges.count {
            let mut above = None;
            for (number, zone) in description.zones.iter().enumerate() {
                let named = |error| in_zone(number, zone, error);
                check_zone(description, zone, above).map_err(named)?;
                above = Some(zone.cylinders.1);
                let cylinders = u64::from(zone.cylinders.1 - zone.cylinders.0) + 1;
                let surfaces = u64::from(ranges.surfaces);
                let units = Units::new(zone, surfaces, cylinders * surfaces).map_err(named)?;
                let defects =
                    Defects::new(zone, units.total, (range, ranges.count)).map_err(named)?;
                let first = (next, range * ranges.surfaces);
                let mut built = Zone::build(description, zone, first, &defects, units);
                let stretcher = Stretcher {
                    zone: zones.len() as u32,
                    units,
                    defects: &defects,
                    front: zone.front,
                    next,
                    stretches: &mut stretches,
                };
                next = stretcher.walk();
                built.sectors = next - built.first;
                if built.sectors == 0 {
                    return Err(named(
                        InputError::new(format!("no sector of {} is left for data", units.total))
                            .help("front, spares and slipped sectors take places away from data"),
                    ));
                }
                zones.push(built);
            }
        }
        if next == 0 {
            return Err(InputError::new("a drive without zones holds nothing")
                .help("write at least one [[layout.zone]]"));
        }
        if let Some(addressed) = description.sectors {
            ranges.cut(addressed, next, &mut stretches, &mut zones)?;
            next = addressed;
        }
        stretches.push(Stretch {
            first: next,
            start: 0,
            zone: u32::MAX,
            replacement: false,
        });
        let by_place = by_place(&stretches);
        let warnings = shared_places(&stretches, &by_place, &zones, description.zones.len());
        let (buckets, bucket_shift) = buckets(&stretches, next);
        Ok(Layout {
            cylinders: description.cylinders,
            ranges,
            sectors: next,
            zones: zones.into(),
            stretches: stretches.into(),
            by_place,
            buckets,
            bucket_shift,
            warnings,
        })
    }

    /// Capacity, in data sectors.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }
    /// Cylinders the arm reaches, those in no zone included.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }
    /// Recorded surfaces.
    pub fn surfaces(&self) -> u32 {
        self.ranges.count * self.ranges.surfaces
    }
    /// Parts of the address space, one after the other, each on surfaces of its own.
    pub fn access_ranges(&self) -> u32 {
        self.ranges.count
    }
    /// The zones in the order of their cylinders, as the first access range has them; all others have the same.
    pub fn zones(&self) -> &[Zone] {
        self.zones_of(0)
    }
    /// The zones of all access ranges, in LBN order.
    pub fn zones_by_lbn(&self) -> &[Zone] {
        &self.zones
    }
    /// The zones of an access range, in LBN order.
    fn zones_of(&self, range: u32) -> &[Zone] {
        let each = self.zones.len() / self.ranges.count as usize;
        &self.zones[range as usize * each..][..each]
    }
    /// What the description says against itself, yet can be simulated: a replacement in the place of other data.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The place of a data sector.
    ///
    /// # Panics
    /// Where `sector` is not below [`sectors`](Layout::sectors).
    pub fn locate(&self, sector: u64) -> Position {
        self.run(sector, 1).position
    }

    /// The cylinder of a data sector.
    ///
    /// # Panics
    /// Where `sector` is not below [`sectors`](Layout::sectors).
    #[inline]
    pub fn cylinder(&self, sector: u64) -> u32 {
        let stretch = self.stretches[self.stretch_of(sector)];
        let zone = &self.zones[stretch.zone as usize];
        let (place, _) = place_in(zone, &stretch, sector);
        let (track, _) = zone.by_track.divide(place);
        zone.first_cylinder + zone.by_surfaces.divide(track).0 as u32
    }

    /// The longest run of at most `max` consecutive data sectors from `sector` on that stay on one track, each after
    /// the one before it; sectors between them that hold no data are passed over.
    ///
    /// # Panics
    /// Where `sector` is not below [`sectors`](Layout::sectors). A `max` of 0 is taken as 1.
    #[inline]
    pub fn run(&self, sector: u64, max: u32) -> Run {
        let mut run = Run::default();
        self.write_run(sector, max, &mut run);
        run
    }

    /// [`Self::run`], written where it is wanted.
    #[inline(never)]
    pub fn write_run(&self, sector: u64, max: u32, run: &mut Run) {
        let number = self.stretch_of(sector);
        let stretch = self.stretches[number];
        let zone = &self.zones[stretch.zone as usize];
        let (place, unit_left) = place_in(zone, &stretch, sector);
        let (track, on_track) = zone.by_track.divide(place);
        let (cylinder, surface) = zone.by_surfaces.divide(track);
        let max = u64::from(max.max(1));
        let stretch_left = self.stretches[number + 1].first - sector;
        let sectors = max
            .min(zone.s() - on_track)
            .min(unit_left)
            .min(stretch_left);
        let (sectors, end) = if sectors == stretch_left && sectors < max {
            self.extend(number + 1, zone, track, place + sectors, sectors, max)
        } else {
            (sectors, place + sectors)
        };
        let cylinder_number = zone.first_cylinder + cylinder as u32;
        let position = &mut run.position;
        position.zone = stretch.zone;
        position.cylinder = cylinder_number;
        position.surface = zone.first_surface + surface as u32;
        position.head = zone.head(cylinder_number, surface as u32);
        position.sector = on_track as u32;
        run.angle = zone.angle(track, cylinder, surface, on_track);
        run.sectors_per_track = zone.sectors_per_track;
        run.sectors = sectors as u32;
        run.span = (end - place) as u32;
    }

    /// Lengthens a run of `sectors` sectors that ends at `end` with the stretches that follow on the same track.
    #[inline(never)]
    fn extend(
        &self,
        mut number: usize,
        zone: &Zone,
        track: u64,
        mut end: u64,
        mut sectors: u64,
        max: u64,
    ) -> (u64, u64) {
        let zone_number = self.stretches[number - 1].zone;
        let track_end = (track + 1) * zone.s();
        while sectors < max {
            let stretch = self.stretches[number];
            if stretch.zone != zone_number || stretch.start < end || stretch.start >= track_end {
                break;
            }
            let length = self.stretches[number + 1].first - stretch.first;
            // A stretch of several units fills the track it begins on: no gap to mind.
            let take = length.min(max - sectors).min(track_end - stretch.start);
            sectors += take;
            end = stretch.start + take;
            if take < length {
                break;
            }
            number += 1;
        }
        (sectors, end)
    }

    /// The data sector kept at a place, in LBN order of surfaces; `None` for spare, slipped and unused places, those
    /// outside the drive, and those whose data were moved elsewhere. Where two sectors share a place (see
    /// [`warnings`](Layout::warnings)) it is the one whose own place it is.
    pub fn sector_at(&self, cylinder: u32, surface: u32, sector: u32) -> Option<u64> {
        if surface >= self.surfaces() {
            return None;
        }
        let (range, turn) = (
            surface / self.ranges.surfaces,
            surface % self.ranges.surfaces,
        );
        let zones = self.zones_of(range);
        let in_range = zones.partition_point(|zone| zone.last_cylinder < cylinder);
        let zone = zones.get(in_range)?;
        if cylinder < zone.first_cylinder || sector >= zone.sectors_per_track {
            return None;
        }
        let zone_number = range as usize * zones.len() + in_range;
        let track =
            u64::from(cylinder - zone.first_cylinder) * u64::from(zone.surfaces) + u64::from(turn);
        let place = track * zone.s() + u64::from(sector);
        let key = (zone_number as u32, place);
        let after = self.by_place.partition_point(|&number| {
            let stretch = &self.stretches[number as usize];
            (stretch.zone, stretch.start) <= key
        });
        let number = self.by_place[..after].last().copied()? as usize;
        let stretch = &self.stretches[number];
        if stretch.zone != key.0 {
            return None;
        }
        let length = self.stretches[number + 1].first - stretch.first;
        let mut offset = place - stretch.start;
        if zone.units.spare > 0 {
            let (unit, within) = (offset / zone.units.size, offset % zone.units.size);
            if within >= zone.units.held() {
                return None;
            }
            offset = unit * zone.units.held() + within;
        }
        (offset < length).then(|| stretch.first + offset)
    }

    /// The number of the stretch that holds a data sector.
    #[inline(always)]
    fn stretch_of(&self, sector: u64) -> usize {
        assert!(
            sector < self.sectors,
            "sector {sector} of a drive with {}",
            self.sectors
        );
        let bucket = (sector >> self.bucket_shift) as usize;
        let (low, high) = (
            self.buckets[bucket] as usize,
            self.buckets[bucket + 1] as usize,
        );
        if low == high {
            return low;
        }
        low + self.stretches[low + 1..=high].partition_point(|stretch| stretch.first <= sector)
    }
}

/// The place in its zone of a sector of a stretch, and how many data sectors its unit holds from there on.
#[inline(always)]
fn place_in(zone: &Zone, stretch: &Stretch, sector: u64) -> (u64, u64) {
    let offset = sector - stretch.first;
    if zone.units.spare == 0 {
        return (stretch.start + offset, u64::MAX);
    }
    let (unit, within) = zone.by_held.divide(offset);
    let place = stretch.start + offset + unit * zone.units.spare;
    (place, zone.units.held() - within)
}

/// Divides the address space into a power of two of parts, so many for each stretch that few hold the end of one, and finds their first
/// stretches.
fn buckets(stretches: &[Stretch], sectors: u64) -> (Box<[u32]>, u32) {
    let wanted = (stretches.len() as u64 * 16).clamp(64, 1 << 16);
    let mut shift = 0;
    while (sectors - 1) >> shift >= wanted {
        shift += 1;
    }
    let last = ((sectors - 1) >> shift) + 1;
    let mut number = 0;
    let buckets = (0..=last)
        .map(|bucket| {
            let first = (bucket << shift).min(sectors - 1);
            while stretches[number + 1].first <= first {
                number += 1;
            }
            number as u32
        })
        .collect();
    (buckets, shift)
}

/// Sorts the numbers of all stretches but the closing one by place.
fn by_place(stretches: &[Stretch]) -> Box<[u32]> {
    let mut order: Vec<u32> = (0..stretches.len() as u32 - 1).collect();
    order.sort_by_key(|&number| {
        let stretch = &stretches[number as usize];
        (stretch.zone, stretch.start, !stretch.replacement)
    });
    order.into()
}

/// A warning for every replacement that lies in the place of other data; `each` is the number of zones in an access range.
fn shared_places(
    stretches: &[Stretch],
    by_place: &[u32],
    zones: &[Zone],
    each: usize,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for pair in by_place.windows(2) {
        let (number, next) = (pair[0] as usize, &stretches[pair[1] as usize]);
        let stretch = &stretches[number];
        let zone = &zones[stretch.zone as usize];
        let (last, _) = place_in(zone, stretch, stretches[number + 1].first - 1);
        if stretch.zone == next.zone
            && next.start <= last
            && (stretch.replacement || next.replacement)
        {
            let (range, number) = (stretch.zone as usize / each, stretch.zone as usize % each);
            warnings.push(format!(
                "zone {number} (cylinders {} to {}): sector {} of the zone replaces another, but holds data of its own",
                zone.first_cylinder,
                zone.last_cylinder,
                range as u64 * zone.units.total + next.start
            ));
        }
    }
    warnings
}
