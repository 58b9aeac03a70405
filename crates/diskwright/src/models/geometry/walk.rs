//! The layout's rule done the slow way, sector by sector, to compare with; and the tests that do.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::describe::*;
use super::layout::{Layout, Position, Run};

/// Surfaces of an access range.
fn in_range(layout: &LayoutDescription) -> u32 {
    layout.surfaces / layout.access_ranges
}

/// Sectors of a zone in one access range, with and without data.
fn zone_total(layout: &LayoutDescription, zone: &ZoneDescription) -> u64 {
    let tracks = in_range(layout) * (zone.cylinders.1 - zone.cylinders.0 + 1);
    u64::from(zone.sectors_per_track) * u64::from(tracks)
}

/// The access range of a zone that is numbered in LBN order, and the zone.
fn zone_of(layout: &LayoutDescription, number: u32) -> (u64, &ZoneDescription) {
    let number = number as usize;
    let (range, zone) = (number / layout.zones.len(), number % layout.zones.len());
    (range as u64, &layout.zones[zone])
}

/// Every data sector's place (zone in LBN order, place in the zone of its access range), in LBN order, without remaps.
fn own_places(layout: &LayoutDescription) -> Vec<(u32, u64)> {
    let size = layout.sectors.map_or(usize::MAX, |sectors| {
        sectors as usize / layout.access_ranges as usize
    });
    (0..layout.access_ranges)
        .flat_map(|range| own_places_of(layout, range).into_iter().take(size))
        .collect()
}

fn own_places_of(layout: &LayoutDescription, range: u32) -> Vec<(u32, u64)> {
    let mut all = Vec::new();
    for (number, zone) in layout.zones.iter().enumerate() {
        let number = range as usize * layout.zones.len() + number;
        let per_track = u64::from(zone.sectors_per_track);
        let per_cylinder = per_track * u64::from(in_range(layout));
        let total = zone_total(layout, zone);
        let before = total * u64::from(range);
        let slipped: BTreeSet<u64> = zone
            .slipped
            .iter()
            .copied()
            .chain(
                zone.slipped_tracks
                    .iter()
                    .flat_map(|track| track * per_track..(track + 1) * per_track),
            )
            .filter_map(|place| place.checked_sub(before))
            .collect();
        let (unit, spare) = match zone.spares {
            None => (total, 0),
            Some(spares) => {
                let unit = match spares.per {
                    SpareUnit::Track => per_track,
                    SpareUnit::Cylinder => per_cylinder,
                    SpareUnit::Cylinders(count) => per_cylinder * u64::from(count),
                    SpareUnit::Zone => total,
                };
                (unit, spares.sectors + spares.tracks * per_track)
            }
        };
        let mut data = Vec::new();
        let mut from = 0;
        while from < total {
            let whole = from + unit <= total;
            let to = (from + unit).min(total);
            let spare = if whole { spare } else { 0 };
            let mut usable: Vec<u64> = (from..to)
                .filter(|place| !slipped.contains(place))
                .collect();
            let spares = zone.spares;
            let keep = if spares.is_some_and(|spares| spares.slips == SlipCost::Spare) {
                usable.len().min((to - from - spare) as usize)
            } else {
                usable.len().saturating_sub(spare as usize)
            };
            if spares.is_some_and(|spares| spares.at == SparePlace::Front) {
                usable.drain(..usable.len() - keep);
            } else {
                usable.truncate(keep);
            }
            data.extend(usable);
            from = to;
        }
        all.extend(
            data.into_iter()
                .skip(zone.front as usize)
                .map(|place| (number as u32, place)),
        );
    }
    all
}

/// Every data sector's place, in LBN order.
fn places(layout: &LayoutDescription) -> Vec<(u32, u64)> {
    let mut all = own_places(layout);
    for (number, place) in &mut all {
        let (range, zone) = zone_of(layout, *number);
        let before = range * zone_total(layout, zone);
        let per_track = u64::from(zone.sectors_per_track);
        *place += before;
        let sector = zone.remapped.iter().find(|(original, _)| original == place);
        let track = zone
            .remapped_tracks
            .iter()
            .find(|(original, _)| *original == *place / per_track);
        if let Some((_, replacement)) = sector {
            *place = *replacement;
        } else if let Some((_, replacement)) = track {
            *place = replacement * per_track + *place % per_track;
        }
        *place -= before;
    }
    all
}

fn position(layout: &LayoutDescription, (number, place): (u32, u64)) -> Position {
    let (range, zone) = zone_of(layout, number);
    let track = (place / u64::from(zone.sectors_per_track)) as u32;
    let surfaces = in_range(layout);
    let before = range as u32 * surfaces;
    let surface = track % surfaces;
    let cylinder = zone.cylinders.0 + track / surfaces;
    let turned = match layout.order {
        HeadOrder::Ascending => false,
        HeadOrder::Alternating => cylinder % 2 == 1,
        HeadOrder::AlternatingInZone => track / surfaces % 2 == 1,
    };
    Position {
        zone: number,
        cylinder,
        surface: before + surface,
        head: before
            + if turned {
                surfaces - 1 - surface
            } else {
                surface
            },
        sector: (place % u64::from(zone.sectors_per_track)) as u32,
    }
}

/// The angle of a place, turning the platter track by track from the zone's first in the access range.
fn angle(layout: &LayoutDescription, (number, place): (u32, u64)) -> u32 {
    let (range, zone) = zone_of(layout, number);
    let before = range * zone_total(layout, zone);
    let per_track = zone.sectors_per_track;
    let mut angle = zone.offset;
    for track in 1..=place / u64::from(per_track) {
        angle += if track % u64::from(in_range(layout)) == 0 {
            zone.cylinder_skew
        } else {
            zone.track_skew
        };
    }
    let per_track = u64::from(per_track);
    let tracks_of_unit = match zone.spares.map(|spares| spares.per) {
        Some(SpareUnit::Track) => 1,
        Some(SpareUnit::Cylinder) => u64::from(in_range(layout)),
        _ => return ((u64::from(angle) + place) % per_track) as u32,
    };
    let unit = place / (per_track * tracks_of_unit) * per_track * tracks_of_unit;
    // Slipped tracks turn by whole revolutions.
    let slips = zone.slipped.iter();
    let slips = slips
        .filter(|&&slip| (before..before + unit).contains(&slip))
        .count();
    ((u64::from(angle) + place + slips as u64) % per_track) as u32
}

fn run(layout: &LayoutDescription, places: &[(u32, u64)], sector: usize, max: u32) -> Run {
    let first = places[sector];
    let start = position(layout, first);
    let mut last = first;
    let mut sectors = 1;
    while sectors < max {
        let Some(&next) = places.get(sector + sectors as usize) else {
            break;
        };
        let at = position(layout, next);
        if next <= last
            || (at.zone, at.cylinder, at.surface) != (start.zone, start.cylinder, start.surface)
        {
            break;
        }
        last = next;
        sectors += 1;
    }
    Run {
        position: start,
        angle: angle(layout, first),
        sectors_per_track: zone_of(layout, first.0).1.sectors_per_track,
        sectors,
        span: (last.1 - first.1) as u32 + 1,
    }
}

/// Compares a layout with the walk: every data sector, every place, runs of several lengths.
pub(super) fn agree(description: &LayoutDescription) {
    let places = places(description);
    let layout = Layout::build(description).expect("a sound description");
    assert_eq!(layout.sectors(), places.len() as u64);
    for (number, zone) in (0..).zip(layout.zones_by_lbn()) {
        let mut of_zone = places.iter().zip(0..).filter(|((of, _), _)| *of == number);
        let first = of_zone.next().map(|(_, sector)| sector);
        let count = u64::from(first.is_some()) + of_zone.count() as u64;
        let shown = format!("zone {number} of {description:?}");
        assert_eq!(zone.sectors(), count, "{shown}");
        assert!(
            first.is_none_or(|first| zone.first_sector() == first),
            "{shown}"
        );
        assert_eq!(zone.surfaces(), in_range(description), "{shown}");
        let range = number / description.zones.len() as u32;
        assert_eq!(zone.first_surface(), range * zone.surfaces(), "{shown}");
    }
    let mut holds = BTreeMap::new();
    for (sector, &place) in places.iter().enumerate() {
        let expected = position(description, place);
        let shown = format!("sector {sector} of {description:?}");
        assert_eq!(layout.locate(sector as u64), expected, "{shown}");
        assert_eq!(layout.cylinder(sector as u64), expected.cylinder, "{shown}");
        for max in [1, 2, 3, 5, u32::MAX] {
            assert_eq!(
                layout.run(sector as u64, max),
                run(description, &places, sector, max),
                "{max} from {shown}"
            );
        }
        let at = (expected.cylinder, expected.surface, expected.sector);
        assert_eq!(
            holds.insert(at, sector as u64),
            None,
            "two at one place: {shown}"
        );
    }
    let widest = description
        .zones
        .iter()
        .map(|zone| zone.sectors_per_track)
        .max();
    for cylinder in 0..=description.cylinders {
        for surface in 0..=description.surfaces {
            for sector in 0..=widest.expect("a zone") {
                assert_eq!(
                    layout.sector_at(cylinder, surface, sector),
                    holds.get(&(cylinder, surface, sector)).copied(),
                    "{cylinder},{surface},{sector} of {description:?}"
                );
            }
        }
    }
}

fn spares() -> impl Strategy<Value = Option<Spares>> {
    let per = prop_oneof![
        Just(SpareUnit::Track),
        Just(SpareUnit::Cylinder),
        (1u32..4).prop_map(SpareUnit::Cylinders),
        Just(SpareUnit::Zone)
    ];
    let at = prop_oneof![Just(SparePlace::End), Just(SparePlace::Front)];
    let slips = prop_oneof![Just(SlipCost::Spare), Just(SlipCost::Capacity)];
    proptest::option::weighted(
        0.8,
        (per, 0u64..5, 0u64..2, at, slips).prop_map(|(per, sectors, tracks, at, slips)| Spares {
            per,
            sectors,
            tracks: if per == SpareUnit::Track { 0 } else { tracks },
            at,
            slips,
        }),
    )
}

/// Zones of a few tracks, some with defects; remapped sectors are filled in later.
fn layouts() -> impl Strategy<Value = (LayoutDescription, Vec<(usize, usize)>)> {
    let zone = (
        (1u32..7, 0u32..2, 3u32..12),
        (0u32..12, 0u32..12, 0u32..12),
        0u64..20,
        spares(),
        proptest::collection::btree_set(0u64..120, 0..7),
        proptest::collection::btree_set(0u64..12, 0..2),
    );
    let order = prop_oneof![
        Just(HeadOrder::Ascending),
        Just(HeadOrder::Alternating),
        Just(HeadOrder::AlternatingInZone)
    ];
    (
        (1u32..4, 1u32..4),
        order,
        proptest::collection::vec(zone, 1..4),
        proptest::collection::vec((any::<usize>(), any::<usize>()), 0..5),
    )
        .prop_filter_map(
            "leaves room for data",
            |((each, access_ranges), order, zones, moves)| {
                let surfaces = each * access_ranges;
                let mut first = 0;
                let mut described = Vec::new();
                for (
                    (count, gap, per_track),
                    (offset, track_skew, cylinder_skew),
                    front,
                    spares,
                    slipped,
                    tracks,
                ) in zones
                {
                    let last = first + gap + count - 1;
                    let total_tracks = u64::from(count * surfaces);
                    let slipped_tracks: Vec<u64> = tracks
                        .into_iter()
                        .filter(|&track| track < total_tracks)
                        .collect();
                    described.push(ZoneDescription {
                        offset: offset.min(per_track),
                        track_skew: track_skew.min(per_track),
                        cylinder_skew: cylinder_skew.min(per_track),
                        front,
                        spares,
                        slipped: slipped
                            .into_iter()
                            .filter(|sector| {
                                let track = sector / u64::from(per_track);
                                track < total_tracks && !slipped_tracks.contains(&track)
                            })
                            .collect(),
                        slipped_tracks,
                        ..ZoneDescription::plain(first + gap, last, per_track)
                    });
                    first = last + 1;
                }
                let layout = LayoutDescription {
                    surfaces,
                    cylinders: first + 1,
                    access_ranges,
                    order,
                    sectors: None,
                    zones: described,
                };
                Layout::build(&layout).is_ok().then_some((layout, moves))
            },
        )
}

/// Moves some data sectors to places that hold none.
fn remap(layout: &mut LayoutDescription, moves: &[(usize, usize)]) {
    let data = own_places(layout);
    for &(original, replacement) in moves {
        let (number, original) = data[original % data.len()];
        let (range, zone) = zone_of(layout, number);
        let total = zone_total(layout, zone);
        let original = range * total + original;
        let free: Vec<u64> = (0..total)
            .filter(|place| !data.contains(&(number, *place)))
            .map(|place| range * total + place)
            .filter(|place| zone.remapped.iter().all(|(_, to)| to != place))
            .collect();
        let each = layout.zones.len();
        let zone = &mut layout.zones[number as usize % each];
        let known = zone.remapped.iter().any(|(from, _)| *from == original);
        if !known && !free.is_empty() {
            zone.remapped
                .push((original, free[replacement % free.len()]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_layout_is_the_walk_of_its_tracks((mut layout, moves) in layouts(), cut in 0u64..30) {
        let ranges = layout.access_ranges;
        let held = (0..ranges).map(|range| own_places_of(&layout, range).len() as u64).min().expect("a range");
        if cut % 2 == 1 && cut < held {
            layout.sectors = Some((held - cut) * u64::from(ranges));
        }
        remap(&mut layout, &moves);
        agree(&layout);
    }
}

/// Two zones with a cylinder between them.
pub(super) fn two_zones() -> LayoutDescription {
    let zone = |first, last| ZoneDescription {
        track_skew: 3,
        cylinder_skew: 4,
        offset: 2,
        ..ZoneDescription::plain(first, last, 7)
    };
    LayoutDescription {
        surfaces: 3,
        cylinders: 12,
        access_ranges: 1,
        order: HeadOrder::Ascending,
        sectors: None,
        zones: vec![zone(0, 4), zone(6, 10)],
    }
}

pub(super) fn spare(per: SpareUnit, sectors: u64) -> Option<Spares> {
    Some(Spares {
        per,
        sectors,
        tracks: 0,
        at: SparePlace::End,
        slips: SlipCost::Spare,
    })
}

#[test]
fn remapped_tracks_move_whole() {
    let mut layout = two_zones();
    layout.zones[0].spares = Some(Spares {
        tracks: 2,
        ..spare(SpareUnit::Zone, 0).expect("some")
    });
    layout.zones[0].slipped_tracks = vec![4];
    layout.zones[0].remapped_tracks = vec![(2, 14), (5, 5)];
    layout.zones[0].front = 9;
    agree(&layout);
    let built = Layout::build(&layout).expect("sound");
    // Track 2 begins at data sector 2 · 7 − 9 and is now the zone's last.
    let run = built.run(5, 100);
    assert_eq!(
        (run.position.cylinder, run.position.surface, run.sectors),
        (4, 2, 7)
    );
}

#[test]
fn a_run_passes_over_slipped_sectors_only() {
    let mut layout = two_zones();
    layout.zones[0].slipped = vec![2, 4];
    let built = Layout::build(&layout).expect("sound");
    let run = built.run(1, 100);
    assert_eq!((run.sectors, run.span, run.angle), (4, 6, 3));
    assert_eq!((built.run(1, 1).sectors, built.run(1, 1).span), (1, 1));
    assert_eq!((built.run(1, 2).sectors, built.run(1, 2).span), (2, 3));
    assert_eq!(built.sectors(), 2 * 5 * 3 * 7 - 2);
    // Sector 3 now lives in sector 7 of the zone: the run stops before it and it is a run of its own.
    layout.zones[0].spares = spare(SpareUnit::Zone, 3);
    layout.zones[0].remapped = vec![(5, 104)];
    let built = Layout::build(&layout).expect("sound");
    assert_eq!(built.run(0, 100).sectors, 3);
    assert_eq!(built.run(3, 100).sectors, 1);
    assert_eq!(built.locate(3).cylinder, 4);
    assert_eq!(built.run(4, 100).sectors, 1);
    assert_eq!(built.sector_at(4, 2, 6), Some(3));
    assert_eq!(built.sector_at(0, 0, 5), None);
}

#[test]
fn a_short_last_unit_may_hold_more_than_a_whole_one() {
    let mut layout = two_zones();
    layout.surfaces = 1;
    for at in [SparePlace::End, SparePlace::Front] {
        // Units of three cylinders hold 21 − 9 sectors; the last two cylinders hold 14.
        layout.zones[0].spares = Some(Spares {
            at,
            ..spare(SpareUnit::Cylinders(3), 9).expect("some")
        });
        agree(&layout);
        assert_eq!(
            Layout::build(&layout).expect("sound").zones()[0].sectors(),
            12 + 14
        );
    }
}

#[test]
fn a_replacement_in_the_place_of_data_is_warned_of() {
    let mut layout = two_zones();
    layout.zones[1].remapped = vec![(3, 20)];
    let built = Layout::build(&layout).expect("can be simulated");
    assert_eq!(built.warnings().len(), 1, "{:?}", built.warnings());
    assert!(
        built.warnings()[0].contains("sector 20"),
        "{:?}",
        built.warnings()
    );
    assert_eq!(built.locate(105 + 3), built.locate(105 + 20));
    assert_eq!(built.sector_at(6, 2, 6), Some(105 + 20));
    layout.zones[1].spares = spare(SpareUnit::Zone, 1);
    layout.zones[1].remapped = vec![(3, 104)];
    assert!(Layout::build(&layout).expect("sound").warnings().is_empty());
}

#[test]
fn more_than_four_billion_sectors_are_addressed() {
    let layout = LayoutDescription {
        surfaces: 20,
        cylinders: 600_000,
        access_ranges: 1,
        order: HeadOrder::Ascending,
        sectors: None,
        zones: vec![ZoneDescription {
            track_skew: 40,
            cylinder_skew: 80,
            spares: spare(SpareUnit::Track, 2),
            slipped: vec![5_000_000_001],
            ..ZoneDescription::plain(0, 599_999, 500)
        }],
    };
    let built = Layout::build(&layout).expect("sound");
    assert_eq!(built.sectors(), 600_000 * 20 * 498);
    for sector in [
        0,
        4_294_967_295,
        4_294_967_296,
        4_980_000_000,
        built.sectors() - 1,
    ] {
        let at = built.locate(sector);
        assert_eq!(
            built.sector_at(at.cylinder, at.surface, at.sector),
            Some(sector)
        );
        assert_eq!(
            (u64::from(at.cylinder) * 20 + u64::from(at.surface)) * 498,
            sector - sector % 498
        );
    }
    // Track 10 000 000 has its sector 1 slipped, and the tracks after it turn by one.
    let on = |sector| (built.locate(sector).sector, built.run(sector, 1).angle);
    let first = 10_000_000 * 498;
    let turn = (500_000 * (19 * 40 + 80)) % 500;
    assert_eq!(on(first), (0, turn));
    assert_eq!(on(first + 1), (2, turn + 2));
    assert_eq!(on(first + 498), (0, turn + 41));
}

/// As many sectors as a zone may have, on tracks as long as they may be.
fn largest() -> LayoutDescription {
    LayoutDescription {
        surfaces: 2,
        cylinders: 1 << 21,
        access_ranges: 1,
        order: HeadOrder::Ascending,
        sectors: None,
        zones: vec![ZoneDescription {
            offset: (1 << 20) - 1,
            track_skew: (1 << 20) - 3,
            cylinder_skew: (1 << 20) - 5,
            ..ZoneDescription::plain(0, (1 << 21) - 1, 1 << 20)
        }],
    }
}

#[test]
fn the_largest_zone_is_addressed_without_error() {
    let built = Layout::build(&largest()).expect("sound");
    assert_eq!(built.sectors(), 1 << 42);
    for track in [0, 1, 2, 1 << 21, (1 << 22) - 2, (1 << 22) - 1] {
        for sector in [0, 1, 1 << 19, (1 << 20) - 1] {
            let lbn = (track << 20) + sector;
            let at = built.locate(lbn);
            let (cylinder, surface) = (track / 2, track % 2);
            assert_eq!(
                (at.cylinder, at.surface, at.sector),
                (cylinder as u32, surface as u32, sector as u32)
            );
            // Each track is 3 sectors before the one before it, and each cylinder another 5.
            let angle = sector as i64 - 1 - 3 * (surface + cylinder) as i64 - 5 * cylinder as i64;
            let found = built.run(lbn, 1).angle;
            assert_eq!(
                i64::from(found),
                angle.rem_euclid(1 << 20),
                "{track} {sector}"
            );
        }
    }
}

#[test]
fn descriptions_without_sense_are_refused() {
    type Change = fn(&mut LayoutDescription);
    let cases: [(Change, &str); 28] = [
        (|l| l.cylinders = 10, "the drive has no cylinder 10"),
        (|l| l.cylinders = 0, "0 cylinders"),
        (|l| l.cylinders = u32::MAX, "accepted: 1 to"),
        (|l| l.surfaces = 0, "0 surfaces"),
        (|l| l.zones.clear(), "without zones"),
        (|l| l.access_ranges = 0, "accepted: 1, 3"),
        (
            |l| l.access_ranges = 2,
            "access_ranges = 2, but surfaces = 3",
        ),
        (|l| l.access_ranges = 6, "accepted: 1, 3"),
        (
            |l| {
                l.access_ranges = 3;
                l.sectors = Some(209);
            },
            "multiples of 3 from 3 to 210",
        ),
        (
            |l| {
                // The second range holds 69 sectors; the others 70.
                l.access_ranges = 3;
                l.zones[0].slipped = vec![40];
                l.sectors = Some(208);
            },
            "from 3 to 207",
        ),
        (
            |l| {
                l.access_ranges = 3;
                l.zones[0].remapped = vec![(34, 35)];
            },
            "from 0 to 34",
        ),
        (|l| l.sectors = Some(0), "accepted: 1 to 210"),
        (|l| l.sectors = Some(211), "sectors = 211"),
        (
            |l| l.zones[1].cylinders = (4, 9),
            "zone 1 (cylinders 4 to 9)",
        ),
        (|l| l.zones.swap(0, 1), "do not overlap"),
        (|l| l.zones[0].cylinders = (4, 3), "above the last"),
        (|l| l.zones[0].sectors_per_track = 0, "0 sectors_per_track"),
        (
            |l| {
                *l = largest();
                l.surfaces += 1;
            },
            "accepted: up to 4398046511104 sectors",
        ),
        (|l| l.zones[0].track_skew = 8, "track_skew of 8"),
        (|l| l.zones[0].cylinder_skew = 8, "accepted: 0 to 7 sectors"),
        (|l| l.zones[0].offset = 8, "offset of 8"),
        (|l| l.zones[0].front = 105, "no sector of 105 is left"),
        (
            |l| l.zones[0].spares = spare(SpareUnit::Track, 7),
            "7 spare sectors in a unit of 7",
        ),
        (
            |l| l.zones[0].spares = spare(SpareUnit::Cylinders(0), 1),
            "per 0 cylinders",
        ),
        (|l| l.zones[0].slipped = vec![105], "numbered from 0 to 104"),
        (
            |l| {
                l.zones[0].slipped = vec![8];
                l.zones[0].slipped_tracks = vec![1];
            },
            "slipped twice",
        ),
        (
            |l| l.zones[0].remapped = vec![(1, 105)],
            "sector 105 is outside",
        ),
        (
            |l| l.zones[0].remapped = vec![(1, 9), (2, 9)],
            "replacement twice",
        ),
    ];
    for (change, said) in cases {
        let mut layout = two_zones();
        change(&mut layout);
        let error = Layout::build(&layout).expect_err(said).to_string();
        assert!(error.contains(said), "{error} does not say {said:?}");
    }
    // The other side of the edges.
    let edges: [Change; 10] = [
        |l| {
            l.access_ranges = 3;
            l.sectors = Some(207);
            l.zones[0].slipped = vec![40];
        },
        |l| {
            l.access_ranges = 3;
            l.sectors = Some(3);
        },
        |l| {
            l.access_ranges = 3;
            l.zones[0].spares = spare(SpareUnit::Zone, 1);
            l.zones[0].remapped = vec![(33, 34), (35, 69)];
        },
        |l| l.cylinders = 11,
        |l| l.sectors = Some(210),
        |l| l.sectors = Some(1),
        |l| l.zones[1].cylinders = (5, 10),
        |l| l.zones[0].track_skew = 7,
        |l| l.zones[0].front = 104,
        |l| l.zones[0].spares = spare(SpareUnit::Track, 6),
    ];
    for change in edges {
        let mut layout = two_zones();
        change(&mut layout);
        agree(&layout);
    }
}
