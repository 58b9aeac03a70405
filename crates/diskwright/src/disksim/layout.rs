//! From `dm_layout_g1` to a layout's description.

use super::component::{Component, Item};
use super::syntax::SourceSpan;
use super::warnings::Warnings;
use crate::base::error::InputError;
use crate::models::geometry::describe::{
    HeadOrder, LayoutDescription, SlipCost, SparePlace, SpareUnit, Spares, ZoneDescription,
};
use crate::models::geometry::layout::Layout;

/// How a zone's angles are written.
#[derive(Clone, Copy, PartialEq)]
enum SkewUnits {
    Sectors,
    Revolutions,
}

/// The layout that a `dm_disk` describes.
pub(super) fn layout(
    model: &Component,
    warnings: &mut Warnings,
) -> Result<LayoutDescription, InputError> {
    let layout = model.block("Layout Model")?;
    let order = match layout.integer("LBN-to-PBN mapping scheme")? {
        0 => HeadOrder::Ascending,
        1 => HeadOrder::AlternatingInZone,
        _ => HeadOrder::Alternating,
    };
    let units = match layout.item("Skew units") {
        Some(_) => skew_units(layout)?,
        None => SkewUnits::Sectors,
    };
    let scheme = Scheme {
        number: layout.integer("Sparing scheme used")?,
        range: layout.count("Rangesize for sparing")?,
    };
    if scheme.number == 0 {
        warnings.push(layout.at("Sparing scheme used"), "with sparing scheme 0 DiskSim 4.0 gives a zone no blocks; here it has all that are not slipped");
    }
    let zones = layout.list("Zones")?;
    let zones = zones.iter().map(|zone| {
        let zone = zone.block("a zone")?;
        if zone.module.name != "dm_layout_g1_zone" {
            return Err(zone.at.error(format!(
                "found a block of {}, expected dm_layout_g1_zone",
                zone.module.name
            )));
        }
        describe(zone, &scheme, units, warnings)
    });
    let zones: Vec<ZoneDescription> = zones.collect::<Result<_, _>>()?;
    Ok(LayoutDescription {
        surfaces: model.count("Number of data surfaces")?,
        cylinders: cylinders(model, &zones, warnings)?,
        access_ranges: 1,
        order,
        sectors: None,
        zones,
    })
}

/// The declared number of cylinders, or that of the zones: their sectors count in DiskSim, wherever they are.
fn cylinders(
    model: &Component,
    zones: &[ZoneDescription],
    warnings: &mut Warnings,
) -> Result<u32, InputError> {
    let declared = model.count("Number of cylinders")?;
    let last = zones.iter().map(|zone| zone.cylinders.1).max();
    let needed = last.map_or(0, |last| last.saturating_add(1));
    if needed > declared {
        warnings.push(
            model.at("Number of cylinders"),
            format_args!("{declared} cylinders, but a zone ends at cylinder {}: the drive has {needed}, as in DiskSim", needed - 1),
        );
    }
    Ok(declared.max(needed))
}

/// Where the zone stands that makes a layout unsound, if that is due to a zone.
pub(super) fn unsound_zone(model: &Component, layout: &LayoutDescription) -> Option<SourceSpan> {
    let zones = model
        .block("Layout Model")
        .and_then(|layout| layout.list("Zones"))
        .ok()?;
    let counts: Vec<usize> = (1..=zones.len()).collect();
    // A zone that does not fit those before it does not fit them with more after it, either.
    let sound = counts.partition_point(|&count| {
        let first = LayoutDescription {
            zones: layout.zones[..count].to_vec(),
            ..layout.clone()
        };
        Layout::build(&first).is_ok()
    });
    zones.get(sound).map(|zone| zone.at.clone())
}

/// A sparing scheme of DiskSim's.
struct Scheme {
    number: i64,
    /// Cylinders that share spares, with scheme 8.
    range: u32,
}

impl Scheme {
    /// Whether defects are whole tracks.
    fn of_tracks(&self) -> bool {
        self.number == 1
    }

    /// The spares of a zone with `spares` in each unit; none where the scheme leaves no mark on the zone.
    fn spares(&self, spares: u64, slips: bool) -> Option<Spares> {
        let per = match self.number {
            0 | 7 => return None,
            3 => SpareUnit::Track,
            2 | 4 | 5 | 6 => SpareUnit::Cylinder,
            8 => SpareUnit::Cylinders(self.range),
            _ => SpareUnit::Zone,
        };
        if spares == 0 && !slips {
            return None;
        }
        let (sectors, tracks) = match self.of_tracks() {
            true => (0, spares),
            false => (spares, 0),
        };
        Some(Spares {
            per,
            sectors,
            tracks,
            at: match self.number {
                5 | 6 => SparePlace::Front,
                _ => SparePlace::End,
            },
            slips: match self.number {
                4 | 6 | 10 => SlipCost::Capacity,
                _ => SlipCost::Spare,
            },
        })
    }
}

fn describe(
    zone: &Component,
    scheme: &Scheme,
    units: SkewUnits,
    warnings: &mut Warnings,
) -> Result<ZoneDescription, InputError> {
    let units = match zone.item("Skew units") {
        Some(_) => skew_units(zone)?,
        None => units,
    };
    let sectors_per_track = zone.count("Blocks per track")?;
    let mut turn = |name: &str| match zone.item(name) {
        Some(item) => turn(name, item, units, sectors_per_track, warnings),
        None => Ok(0),
    };
    let (offset, track_skew, cylinder_skew) = (
        turn("Offset of first block")?,
        turn("Skew for track switch")?,
        turn("Skew for cylinder switch")?,
    );
    let number = |item: &Item| {
        let number = item.integer("a defect")?;
        u64::try_from(number).map_err(|_| item.unlike("a defect", "a number from 0"))
    };
    let slips = zone
        .list("slips")?
        .iter()
        .map(number)
        .collect::<Result<Vec<_>, _>>()?;
    let list = zone.list("defects")?;
    if list.len() % 2 == 1 {
        return Err(zone.at("defects").error(format!(
            "{} numbers, expected pairs of a defect and its replacement",
            list.len()
        )));
    }
    let defects = list.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let defects: Vec<_> = defects
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let spares = u64::from(zone.count("Number of spares")?);
    match scheme.number {
        0 | 7 if spares > 0 => warnings.push(
            zone.at("Number of spares"),
            format_args!(
                "sparing scheme {} has no spares in a zone; these {spares} are left out",
                scheme.number
            ),
        ),
        1 | 9 if slips.len() as u64 > spares => warnings.push(
            zone.at("slips"),
            format_args!(
                "{} slips and {spares} spares: the zone holds less than DiskSim says",
                slips.len()
            ),
        ),
        _ => {}
    }
    let mut described = ZoneDescription {
        offset,
        front: u64::from(zone.count("Empty space at zone front")?),
        track_skew,
        cylinder_skew,
        spares: scheme.spares(spares, !slips.is_empty()),
        ..ZoneDescription::plain(
            zone.count("First cylinder number")?,
            zone.count("Last cylinder number")?,
            sectors_per_track,
        )
    };
    if scheme.of_tracks() {
        (described.slipped_tracks, described.remapped_tracks) = (slips, defects);
    } else {
        (described.slipped, described.remapped) = (slips, defects);
    }
    Ok(described)
}

fn skew_units(block: &Component) -> Result<SkewUnits, InputError> {
    match block.text("Skew units")?.as_str() {
        "sectors" => Ok(SkewUnits::Sectors),
        "revolutions" => Ok(SkewUnits::Revolutions),
        _ => Err(block
            .required("Skew units")?
            .unlike("Skew units", "sectors or revolutions")),
    }
}

/// An angle in whole sectors, from 0 to below a revolution.
///
/// As in DiskSim a part of a sector is dropped; a part of a revolution goes to the nearest sector, for our tracks have
/// no places between.
fn turn(
    name: &str,
    item: &Item,
    units: SkewUnits,
    sectors_per_track: u32,
    warnings: &mut Warnings,
) -> Result<u32, InputError> {
    let number = item.float(name)?;
    let track = f64::from(sectors_per_track);
    let sectors = match units {
        SkewUnits::Sectors => libm::trunc(number),
        SkewUnits::Revolutions => libm::round(number * track),
    };
    // Beyond this, floats do not tell sectors apart.
    if libm::fabs(sectors) > 9e15 {
        return Err(item.unlike(name, "a number of sectors or revolutions below 9e15"));
    }
    let off = match units {
        SkewUnits::Sectors => number - sectors,
        SkewUnits::Revolutions => number * track - sectors,
    };
    // The six decimals that such files have leave a ten-thousandth of a sector undecided on tracks of a few hundred.
    if libm::fabs(off) > 1e-3 {
        let rule = match units {
            SkewUnits::Sectors => "as in DiskSim",
            SkewUnits::Revolutions => "the nearest",
        };
        warnings.push(
            &item.at,
            format_args!("{name:?} is taken as {sectors} whole sectors, {rule}"),
        );
    }
    Ok((sectors as i64).rem_euclid(i64::from(sectors_per_track)) as u32)
}
