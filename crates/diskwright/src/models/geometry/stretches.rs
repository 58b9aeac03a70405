//! From spares, slips and remaps to stretches: runs of data sectors whose places follow one formula.
//!
//! A zone here is the part of one in an access range, and its places are numbered from that part's first: what
//! [`describe`](super::describe) numbers, less the places of the ranges before. Spares repeat in units of whole
//! tracks; a unit without a defect is a formula, so only units that hold a defect are looked at one by one, and the
//! cost of a layout is that of its defects however large the drive.

use super::describe::{SlipCost, SparePlace, SpareUnit, ZoneDescription};
use crate::base::error::InputError;

/// Data sectors in LBN order, from `first` to the next stretch's `first`.
///
/// The one `n` sectors after `first` is at place `start + n + n / held * spare` of the zone, where `held` and `spare`
/// are its units' data and spare sectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// Its first data sector, counted over the whole drive.
    pub(super) first: u64,
    /// The place of that sector in the zone.
    pub(super) start: u64,
    /// The zone's number, those of the access ranges before counted too.
    pub(super) zone: u32,
    /// Whether it stands in for defective sectors elsewhere.
    pub(super) replacement: bool,
}

/// The units of a zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// Sectors in a unit, spares included.
    pub(super) size: u64,
    /// Spare sectors in a unit.
    pub(super) spare: u64,
    /// Sectors in the zone.
    pub(super) total: u64,
    at: SparePlace,
    slips: SlipCost,
}

impl Units {
    /// The units of a zone of `tracks` tracks, `surfaces` to a cylinder.
    pub(super) fn new(
        zone: &ZoneDescription,
        surfaces: u64,
        tracks: u64,
    ) -> Result<Units, InputError> {
        let per_track = u64::from(zone.sectors_per_track);
        let total = tracks * per_track;
        let Some(spares) = zone.spares else {
            return Ok(Units {
                size: total,
                spare: 0,
                total,
                at: SparePlace::End,
                slips: SlipCost::Capacity,
            });
        };
        let size = match spares.per {
            SpareUnit::Track => per_track,
            SpareUnit::Cylinder => surfaces * per_track,
            SpareUnit::Cylinders(0) => {
                return Err(InputError::new("spares per 0 cylinders")
                    .help("a range of spares has at least one cylinder"));
            }
            SpareUnit::Cylinders(count) => (u64::from(count) * surfaces * per_track).min(total),
            SpareUnit::Zone => total,
        };
        let spare = spares
            .tracks
            .saturating_mul(per_track)
            .saturating_add(spares.sectors);
        if spare >= size {
            return Err(InputError::new(format!(
                "{spare} spare sectors in a unit of {size} leave no room for data"
            ))
            .help("spares are counted per unit (per = \"track\", \"cylinder\", { cylinders = N } or \"zone\")"));
        }
        // A run of cylinders too short to have spares is the only unit of its zone.
        let short = matches!(spares.per, SpareUnit::Cylinders(count) if u64::from(count) * surfaces > tracks);
        Ok(Units {
            size,
            spare: if short { 0 } else { spare },
            total,
            at: spares.at,
            slips: spares.slips,
        })
    }

    /// Data sectors of a unit without defects.
    pub(super) fn held(&self) -> u64 {
        self.size - self.spare
    }
}

/// Sectors that take no data where they are.
pub(super) struct Defects {
    /// Slipped places `from..to`, ascending, none touching the next.
    pub(super) slips: Vec<(u64, u64)>,
    /// Remapped places (first, first replacement, count), ascending.
    remaps: Vec<(u64, u64, u64)>,
    /// Where a remap or a replacement begins or ends, ascending.
    cuts: Vec<u64>,
}

impl Defects {
    /// The defects of a zone in the access range with number `range` of `ranges`, in each of which it has `size` sectors.
    pub(super) fn new(
        zone: &ZoneDescription,
        size: u64,
        (range, ranges): (u32, u32),
    ) -> Result<Defects, InputError> {
        let per_track = u64::from(zone.sectors_per_track);
        let total = size * u64::from(ranges);
        let tracks = total / per_track;
        // Whole tracks: none of what follows lies in two ranges.
        let before = size * u64::from(range);
        let here = |place: u64| (before..before + size).contains(&place);
        let inside = |what: &str, number: u64, count: u64| {
            if number < count {
                return Ok(());
            }
            Err(
                InputError::new(format!("{what} {number} is outside the zone")).help(format!(
                    "{what}s of this zone are numbered from 0 to {}",
                    count - 1
                )),
            )
        };
        let mut slips = Vec::new();
        for &sector in &zone.slipped {
            inside("sector", sector, total)?;
            slips.push((sector, sector + 1));
        }
        for &track in &zone.slipped_tracks {
            inside("track", track, tracks)?;
            slips.push((track * per_track, (track + 1) * per_track));
        }
        let mut remaps = Vec::new();
        for &(original, replacement) in &zone.remapped {
            inside("sector", original, total)?;
            inside("sector", replacement, total)?;
            remaps.push((original, replacement, 1));
        }
        for &(original, replacement) in &zone.remapped_tracks {
            inside("track", original, tracks)?;
            inside("track", replacement, tracks)?;
            remaps.push((original * per_track, replacement * per_track, per_track));
        }
        if let Some((from, to, _)) = remaps
            .iter()
            .find(|(from, to, _)| here(*from) && !here(*to))
        {
            return Err(InputError::new(format!(
                "sector {from} of the zone is kept in sector {to}, in another access range"
            ))
            .help(format!(
                "accepted: a replacement in its own range, from {before} to {}",
                before + size - 1
            )));
        }
        // A sector that replaces itself is no defect.
        remaps.retain(|&(original, replacement, _)| original != replacement);
        remaps.sort_unstable();
        disjoint(
            remaps.iter().map(|&(original, _, count)| (original, count)),
            "remapped",
        )?;
        let mut replacements: Vec<_> = remaps.iter().map(|&(_, to, count)| (to, count)).collect();
        replacements.sort_unstable();
        disjoint(replacements.into_iter(), "used as a replacement")?;
        remaps.retain(|&(original, ..)| here(original));
        for (original, replacement, _) in &mut remaps {
            *original -= before;
            *replacement -= before;
        }
        let mut cuts: Vec<u64> = remaps
            .iter()
            .flat_map(|&(from, to, count)| [from, from + count, to, to + count])
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        slips.sort_unstable();
        disjoint(slips.iter().map(|&(from, to)| (from, to - from)), "slipped")?;
        slips.retain(|&(from, _)| here(from));
        for (from, to) in &mut slips {
            *from -= before;
            *to -= before;
        }
        slips.dedup_by(|next, previous| {
            let touching = previous.1 == next.0;
            if touching {
                previous.1 = next.1;
            }
            touching
        });
        Ok(Defects {
            slips,
            remaps,
            cuts,
        })
    }

    /// The place that holds the data of `place`, if that is another.
    fn replacement(&self, place: u64) -> Option<u64> {
        let next = self
            .remaps
            .partition_point(|&(original, ..)| original <= place);
        let &(original, replacement, count) = self.remaps[..next].last()?;
        (place < original + count).then(|| replacement + (place - original))
    }

    /// The units that are not like the others, ascending.
    fn units(&self, units: &Units) -> Vec<u64> {
        let mut special: Vec<u64> = Vec::new();
        let slips = self.slips.iter().copied();
        let moved = self
            .remaps
            .iter()
            .flat_map(|&(from, to, count)| [(from, from + count), (to, to + count)]);
        for (from, to) in slips.chain(moved) {
            special.extend(from / units.size..=(to - 1) / units.size);
        }
        // The last one may be short.
        special.push((units.total - 1) / units.size);
        special.sort_unstable();
        special.dedup();
        special
    }
}

/// Refuses ranges (first, count), in ascending order, of which two share a sector.
fn disjoint(ranges: impl Iterator<Item = (u64, u64)>, what: &str) -> Result<(), InputError> {
    let mut end = 0;
    for (first, count) in ranges {
        if first < end {
            return Err(
                InputError::new(format!("sector {first} of the zone is {what} twice"))
                    .help("list every sector and track once"),
            );
        }
        end = first + count;
    }
    Ok(())
}

/// Appends the stretches of one zone to those of the zones before it.
pub(super) struct Stretcher<'a> {
    pub(super) zone: u32,
    pub(super) units: Units,
    pub(super) defects: &'a Defects,
    /// Sectors at the zone's front still to be left unused.
    pub(super) front: u64,
    /// The next data sector of the drive.
    pub(super) next: u64,
    pub(super) stretches: &'a mut Vec<Stretch>,
}

impl Stretcher<'_> {
    /// Walks the zone; returns the first data sector after it.
    pub(super) fn walk(mut self) -> u64 {
        let mut done = 0;
        for special in self.defects.units(&self.units) {
            self.alike(done, special - done);
            self.unit(special);
            done = special + 1;
        }
        self.next
    }

    /// `count` units without defects, from unit `first` on.
    fn alike(&mut self, mut first: u64, mut count: u64) {
        let held = self.units.held();
        let lead = match self.units.at {
            SparePlace::End => 0,
            SparePlace::Front => self.units.spare,
        };
        let unused = (self.front / held).min(count);
        self.front -= unused * held;
        first += unused;
        count -= unused;
        if self.front > 0 && count > 0 {
            self.line(first * self.units.size + lead, held, false);
            first += 1;
            count -= 1;
        }
        if count > 0 {
            self.push(first * self.units.size + lead, count * held, false);
        }
    }

    /// One unit, by the rule: of its sectors that are not slipped, the first ones hold data (the last ones, where
    /// spares come first), as many as its spares leave.
    fn unit(&mut self, unit: u64) {
        let from = unit * self.units.size;
        let to = (from + self.units.size).min(self.units.total);
        let spare = if to - from == self.units.size {
            self.units.spare
        } else {
            0
        };
        let defects = self.defects;
        let begin = defects.slips.partition_point(|&(_, end)| end <= from);
        let slips = defects.slips[begin..]
            .iter()
            .take_while(|&&(start, _)| start < to);
        let mut usable: Vec<(u64, u64)> = Vec::new();
        let mut at = from;
        for &(start, end) in slips {
            if at < start {
                usable.push((at, start));
            }
            at = end;
        }
        if at < to {
            usable.push((at, to));
        }
        let count: u64 = usable.iter().map(|(start, end)| end - start).sum();
        let mut kept = match self.units.slips {
            SlipCost::Spare => count.min(to - from - spare),
            SlipCost::Capacity => count.saturating_sub(spare),
        };
        let mut passed = match self.units.at {
            SparePlace::End => 0,
            SparePlace::Front => count - kept,
        };
        for (start, end) in usable {
            let skip = passed.min(end - start);
            passed -= skip;
            let take = kept.min(end - start - skip);
            kept -= take;
            self.pieces(start + skip, take);
        }
    }

    /// `count` data sectors side by side from `place` on, but for those kept elsewhere.
    fn pieces(&mut self, place: u64, count: u64) {
        let defects = self.defects;
        let end = place + count;
        let begin = defects.cuts.partition_point(|&cut| cut <= place);
        let inner = defects.cuts[begin..]
            .iter()
            .copied()
            .take_while(|&cut| cut < end);
        let mut at = place;
        for cut in inner.chain([end]) {
            match defects.replacement(at) {
                None => self.line(at, cut - at, false),
                Some(replacement) => self.line(replacement, cut - at, true),
            }
            at = cut;
        }
    }

    /// `count` data sectors side by side, less those of the unused front.
    ///
    /// Cut so that none is longer than a unit's data: the formula of a stretch would put a gap there.
    fn line(&mut self, place: u64, count: u64, replacement: bool) {
        let unused = self.front.min(count);
        self.front -= unused;
        let (mut place, mut count) = (place + unused, count - unused);
        let longest = if self.units.spare == 0 {
            u64::MAX
        } else {
            self.units.held()
        };
        while count > 0 {
            let length = count.min(longest);
            self.push(place, length, replacement);
            place += length;
            count -= length;
        }
    }

    fn push(&mut self, start: u64, count: u64, replacement: bool) {
        if count > 0 {
            self.stretches.push(Stretch {
                first: self.next,
                start,
                zone: self.zone,
                replacement,
            });
            self.next += count;
        }
    }
}
