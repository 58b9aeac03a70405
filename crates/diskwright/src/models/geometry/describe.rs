//! How a drive description writes down the places of its sectors.
//!
//! Sectors and tracks in a zone are numbered from the zone's first track in physical order: access range by access range, in
//! each cylinder by cylinder, in a cylinder surface by surface in LBN order, on a track sector by sector, whether or not they
//! hold data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The surfaces, the cylinders and the zones of a drive: `[layout]` in a drive's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutDescription {
    /// Recorded surfaces, each with its head.
    pub surfaces: u32,
    /// Cylinders from the outermost to the innermost place of the arm; those in no zone hold no data but count in
    /// seek distances.
    pub cylinders: u32,
    /// Parts of the address space, one after the other, each through all cylinders on surfaces of its own: as many as there are
    /// actuators that each have a part of the LBNs. The surfaces are divided equally among them. One where it is left out.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub access_ranges: u32,
    /// Which head serves the first sectors of a cylinder; with several access ranges, of those of the range.
    #[serde(default)]
    pub order: HeadOrder,
    /// Data sectors with an address, where the drive has fewer than its zones hold; the others are the last ones, with several
    /// access ranges those of each, which are then of one size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sectors: Option<u64>,
    /// The zones in LBN order, which is the order of their cylinders.
    #[serde(rename = "zone")]
    pub zones: Vec<ZoneDescription>,
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

/// The order in which the heads of a cylinder take their turn as LBNs rise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeadOrder {
    /// Head 0 first in every cylinder.
    #[default]
    Ascending,
    /// The last head first in cylinders with an odd number.
    Alternating,
    /// The last head first in every other cylinder of a zone, beginning with its second.
    AlternatingInZone,
}

/// Adjacent cylinders whose tracks are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneDescription {
    /// First and last cylinder.
    pub cylinders: (u32, u32),
    /// Sectors on each track, spare and slipped ones included.
    pub sectors_per_track: u32,
    /// Angle of sector 0 of the zone's first track, in sectors.
    #[serde(default)]
    pub offset: u32,
    /// Sectors at the front of the zone, in every access range, that could hold data but do not.
    #[serde(default)]
    pub front: u64,
    /// Angle from sector 0 of a track to sector 0 of the next track of the cylinder, in sectors.
    #[serde(default)]
    pub track_skew: u32,
    /// Angle from sector 0 of a cylinder's last track to sector 0 of the next cylinder, in sectors.
    #[serde(default)]
    pub cylinder_skew: u32,
    /// Sectors kept free for defects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spares: Option<Spares>,
    /// Defective sectors that LBNs skip.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slipped: Vec<u64>,
    /// Defective tracks that LBNs skip.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slipped_tracks: Vec<u64>,
    /// Pairs of sectors of the zone, of the same access range: the data of the first are kept in the second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remapped: Vec<(u64, u64)>,
    /// Pairs of tracks of the zone, of the same access range: the data of the first are kept on the second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remapped_tracks: Vec<(u64, u64)>,
}

impl ZoneDescription {
    /// A zone of plain tracks: no skew, no spares, no defects.
    pub fn plain(first: u32, last: u32, sectors_per_track: u32) -> ZoneDescription {
        ZoneDescription {
            cylinders: (first, last),
            sectors_per_track,
            offset: 0,
            front: 0,
            track_skew: 0,
            cylinder_skew: 0,
            spares: None,
            slipped: Vec::new(),
            slipped_tracks: Vec::new(),
            remapped: Vec::new(),
            remapped_tracks: Vec::new(),
        }
    }
}

/// Sectors kept free in every unit of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spares {
    /// The unit that has its own spares.
    pub per: SpareUnit,
    /// Spare sectors of each unit.
    #[serde(default)]
    pub sectors: u64,
    /// Spare tracks of each unit, in addition to `sectors`.
    #[serde(default)]
    pub tracks: u64,
    /// Which end of the unit they are at.
    #[serde(default)]
    pub at: SparePlace,
    /// What a slipped sector costs.
    #[serde(default)]
    pub slips: SlipCost,
}

/// What has spares of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpareUnit {
    /// Every track.
    Track,
    /// Every cylinder.
    Cylinder,
    /// Every run of this number of cylinders, counted from the zone's first; a shorter run at the zone's end has none.
    Cylinders(u32),
    /// The zone as a whole, in each access range.
    Zone,
}

/// Where in its unit the spares are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SparePlace {
    /// After the data.
    #[default]
    End,
    /// Before the data.
    Front,
}

/// Whether a slipped sector uses up a spare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlipCost {
    /// A slipped sector takes one of the unit's spares; the capacity stays.
    #[default]
    Spare,
    /// The spares are kept for later defects; a slipped sector takes one off the capacity.
    Capacity,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_read_and_written_alike() {
        for (text, spares) in [
            (
                "per = \"track\"\nsectors = 2",
                (SpareUnit::Track, 2, 0, SparePlace::End, SlipCost::Spare),
            ),
            (
                "per = \"cylinder\"\nsectors = 3\nat = \"front\"",
                (
                    SpareUnit::Cylinder,
                    3,
                    0,
                    SparePlace::Front,
                    SlipCost::Spare,
                ),
            ),
            (
                "per = { cylinders = 10 }\ntracks = 1\nslips = \"capacity\"",
                (
                    SpareUnit::Cylinders(10),
                    0,
                    1,
                    SparePlace::End,
                    SlipCost::Capacity,
                ),
            ),
            (
                "per = \"zone\"\nat = \"end\"\nslips = \"spare\"",
                (SpareUnit::Zone, 0, 0, SparePlace::End, SlipCost::Spare),
            ),
        ] {
            let read: Spares = toml::from_str(text).expect(text);
            let (per, sectors, tracks, at, slips) = spares;
            let expected = Spares {
                per,
                sectors,
                tracks,
                at,
                slips,
            };
            assert_eq!(read, expected, "{text}");
            let written = toml::to_string(&read).expect("can be written");
            assert_eq!(toml::from_str(&written), Ok(read), "{written}");
        }
        for (word, order) in [
            ("ascending", HeadOrder::Ascending),
            ("alternating", HeadOrder::Alternating),
            ("alternating-in-zone", HeadOrder::AlternatingInZone),
        ] {
            let text = format!(
                "surfaces = 1\ncylinders = 1\norder = \"{word}\"\n[[zone]]\ncylinders = [0, 0]\nsectors_per_track = 9\n"
            );
            let layout: LayoutDescription = toml::from_str(&text).expect(word);
            assert_eq!((layout.order, layout.access_ranges), (order, 1));
            let written = toml::to_string(&layout).expect("can be written");
            assert!(!written.contains("access_ranges"), "{written}");
            let divided: LayoutDescription =
                toml::from_str(&format!("access_ranges = 2\n{text}")).expect(word);
            assert_eq!(divided.access_ranges, 2);
            let written = toml::to_string(&divided).expect("can be written");
            assert_eq!(toml::from_str(&written), Ok(divided), "{written}");
            assert_eq!(layout.zones, [ZoneDescription::plain(0, 0, 9)]);
        }
    }
}
