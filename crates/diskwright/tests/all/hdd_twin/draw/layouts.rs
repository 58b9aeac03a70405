//! Layouts.

use super::super::specs::{Layout, Order, Per, Spares, Zone};
use super::Draw;

pub fn layout(draw: &mut Draw) -> Layout {
    let ranges = draw.pick(&[1, 1, 1, 2, 3]);
    let surfaces = ranges * draw.within(1..=3);
    let cylinders = draw.within(3..=60);
    let order = draw.pick(&[
        Order::Ascending,
        Order::Ascending,
        Order::Alternating,
        Order::AlternatingInZone,
    ]);
    let mut zones = Vec::new();
    let mut first = if draw.percent(15) { 1 } else { 0 };
    for _ in 0..draw.within(1..=3) {
        if first >= cylinders {
            break;
        }
        let last = draw.within(first..=cylinders - 1);
        zones.push(zone(draw, first, last, surfaces / ranges, ranges));
        first = last + 1 + if draw.percent(10) { 1 } else { 0 };
    }
    let mut layout = Layout {
        surfaces,
        cylinders,
        ranges,
        order,
        sectors: None,
        zones,
    };
    if draw.percent(20) {
        let all = super::super::places::of(&layout).len() as u64;
        // Not more than each range has.
        let of_range = all / ranges * 9 / 10;
        if of_range > 20 {
            layout.sectors = Some(draw.within(20..=of_range) * ranges);
        }
    }
    layout
}

fn zone(draw: &mut Draw, first: u64, last: u64, surfaces: u64, ranges: u64) -> Zone {
    let per_track = draw.within(5..=60);
    let mut zone = Zone {
        first,
        last,
        per_track,
        offset: draw.pick(&[0, 0, per_track / 3]),
        front: 0,
        track_skew: draw.within(0..=per_track - 1),
        cylinder_skew: draw.within(0..=per_track - 1),
        spares: None,
        slipped: Vec::new(),
        slipped_tracks: Vec::new(),
        remapped: Vec::new(),
        remapped_tracks: Vec::new(),
    };
    if draw.percent(50) {
        zone.spares = Some(spares(draw, per_track, surfaces, last - first + 1));
    }
    if draw.percent(20) {
        zone.front = draw.scaled(0..=per_track / 4);
    }
    if draw.percent(40) {
        defects(draw, &mut zone, surfaces, ranges);
    }
    zone
}

fn spares(draw: &mut Draw, per_track: u64, surfaces: u64, cylinders: u64) -> Spares {
    let per = draw.pick(&[
        Per::Track,
        Per::Cylinder,
        Per::Cylinders(2),
        Per::Cylinders(3),
        Per::Zone,
    ]);
    let tracks = match per {
        Per::Track => 1,
        Per::Cylinder => surfaces,
        Per::Cylinders(count) => count * surfaces,
        Per::Zone => cylinders * surfaces,
    };
    Spares {
        per,
        sectors: draw.scaled(1..=per_track / 2).min(per_track - 1),
        tracks: match tracks > 2 && cylinders > 2 && draw.percent(30) {
            true => 1,
            false => 0,
        },
        at_front: draw.percent(30),
        slips_cost_capacity: draw.percent(30),
    }
}

fn defects(draw: &mut Draw, zone: &mut Zone, surfaces: u64, ranges: u64) {
    let tracks = (zone.last - zone.first + 1) * surfaces;
    let sectors = tracks * zone.per_track;
    let mut slipped: Vec<u64> = (0..draw.scaled(0..=6))
        .map(|_| draw.within(0..=sectors * ranges - 1))
        .collect();
    slipped.sort_unstable();
    slipped.dedup();
    // A quarter of a track may be in front and a half of it spare: something is to be left for data.
    slipped.truncate(sectors as usize / 5);
    zone.slipped = slipped;
    if tracks > 4 && draw.percent(20) {
        let track = draw.within(0..=tracks * ranges - 1);
        zone.slipped
            .retain(|sector| sector / zone.per_track != track);
        zone.slipped_tracks = vec![track];
    }
    let used = |zone: &Zone, sector: u64| {
        zone.slipped.contains(&sector)
            || zone.slipped_tracks.contains(&(sector / zone.per_track))
            || zone
                .remapped
                .iter()
                .any(|&(from, to)| from == sector || to == sector)
    };
    for _ in 0..draw.pick(&[0, 0, 1, 4]) {
        let range = draw.within(0..=ranges - 1) * sectors;
        let from = range + draw.within(0..=sectors - 1);
        let to = match draw.percent(30) {
            true => (from + draw.within(1..=3)).min(range + sectors - 1),
            false => range + draw.within(0..=sectors - 1),
        };
        if from != to && !used(zone, from) && !used(zone, to) {
            zone.remapped.push((from, to));
        }
    }
    if tracks > 4 && zone.remapped.is_empty() && draw.percent(20) {
        let range = draw.within(0..=ranges - 1) * tracks;
        let (from, to) = (draw.within(0..=tracks - 1), draw.within(0..=tracks - 1));
        let is_free = |track: u64| {
            let mut slipped = zone.slipped.iter();
            !zone.slipped_tracks.contains(&track)
                && !slipped.any(|sector| sector / zone.per_track == track)
        };
        if from != to && is_free(range + from) && is_free(range + to) {
            zone.remapped_tracks = vec![(range + from, range + to)];
        }
    }
}
