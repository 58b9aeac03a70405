//! Which sectors and distances to ask a drive for.

use std::collections::BTreeSet;

use crate::base::random::Stream;
use crate::models::geometry::layout::Layout;

/// The most cylinders that are tried as the start of a seek of one distance.
const STARTS: u32 = 4096;
/// The most random places that are tried for one that holds data.
const TRIES: u32 = 4096;

/// The first cylinder with data and the last.
pub fn reach(layout: &Layout) -> (u32, u32) {
    (layout.cylinder(0), layout.cylinder(layout.sectors() - 1))
}

/// A sector of a cylinder under a head, if it has one there.
fn under_head(layout: &Layout, cylinder: u32, head: u32) -> Option<u64> {
    (0..layout.surfaces()).find_map(|surface| {
        let first = on_track(layout, cylinder, surface)?;
        (layout.locate(first).head == head).then_some(first)
    })
}

/// The first data sector of a track.
pub fn on_track(layout: &Layout, cylinder: u32, surface: u32) -> Option<u64> {
    let per_track = sectors_per_track(layout, cylinder)?;
    (0..per_track).find_map(|sector| layout.sector_at(cylinder, surface, sector))
}

/// The sectors on a cylinder's tracks; `None` for a cylinder in no zone.
fn sectors_per_track(layout: &Layout, cylinder: u32) -> Option<u32> {
    let zones = layout.zones();
    let zone = zones.get(zones.partition_point(|zone| zone.last_cylinder() < cylinder))?;
    (zone.first_cylinder() <= cylinder).then(|| zone.sectors_per_track())
}

/// Two sectors `distance` cylinders apart under one head, the outer one first; `None` where there are none.
pub fn apart(layout: &Layout, distance: u32) -> Option<(u64, u64)> {
    let (first, last) = reach(layout);
    let starts = first..=last.checked_sub(distance)?;
    starts.take(STARTS as usize).find_map(|cylinder| {
        let from =
            (0..layout.surfaces()).find_map(|surface| on_track(layout, cylinder, surface))?;
        let to = under_head(layout, cylinder + distance, layout.locate(from).head)?;
        Some((from, to))
    })
}

/// Two random sectors `distance` cylinders apart, in either direction: cylinder, track and place all as likely as each
/// other; `None` where none were found.
pub fn random_apart(layout: &Layout, distance: u32, stream: &mut Stream) -> Option<(u64, u64)> {
    let (first, last) = reach(layout);
    let starts = last.checked_sub(distance)?.checked_sub(first)? + 1;
    let on_cylinder = |cylinder: u32, stream: &mut Stream| {
        let surface = stream.below(layout.surfaces().into()) as u32;
        let sector = stream.below(sectors_per_track(layout, cylinder)?.into()) as u32;
        layout.sector_at(cylinder, surface, sector)
    };
    (0..TRIES).find_map(|_| {
        let near = first + stream.below(starts.into()) as u32;
        let inwards = stream.below(2) == 1;
        let ends = (near, near + distance);
        let (from, to) = if inwards { ends } else { (ends.1, ends.0) };
        Some((on_cylinder(from, stream)?, on_cylinder(to, stream)?))
    })
}

/// Distances from 1 to `longest`: all of them up to `all_up_to`; of more, `of_each` evenly spaced ones and `of_each` in equal ratios, the
/// shortest and the longest among them.
pub fn spaced(longest: u32, all_up_to: u32, of_each: u32) -> BTreeSet<u32> {
    if longest <= all_up_to {
        return (1..=longest).collect();
    }
    let steps = f64::from(of_each - 1);
    (0..of_each)
        .flat_map(|step| {
            let share = f64::from(step) / steps;
            let even = 1.0 + share * f64::from(longest - 1);
            let ratio = libm::exp(share * libm::log(f64::from(longest)));
            [even, ratio].map(|distance| (libm::round(distance) as u32).clamp(1, longest))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::bench::tests::bench;
    use super::*;
    use crate::devices::drives;

    #[test]
    fn spaced_distances_reach_from_end_to_end() {
        assert_eq!(spaced(0, 2000, 100), BTreeSet::new());
        assert_eq!(spaced(2000, 2000, 100).len(), 2000);
        for longest in [2001, 11_473, 482_249, (1 << 24) - 1] {
            let distances = spaced(longest, 2000, 100);
            assert!((150..=200).contains(&distances.len()), "{longest}");
            let ends = (distances.first(), distances.last());
            assert_eq!(ends, (Some(&1), Some(&longest)));
            assert!(distances.range(2..20).count() > 5);
        }
    }

    #[test]
    fn pairs_are_as_far_apart_as_wanted() {
        let mut stream = Stream::new(1, "places");
        for name in drives::names_of("hdd") {
            let bench = bench(name);
            let layout = bench.layout();
            let (first, last) = reach(layout);
            for distance in spaced(last - first, 0, 20) {
                let (from, to) = apart(layout, distance).expect("the library's drives have one");
                let (from, to) = (layout.locate(from), layout.locate(to));
                assert_eq!(to.cylinder - from.cylinder, distance, "{name}");
                assert_eq!(from.head, to.head, "{name}");
                let (from, to) = random_apart(layout, distance, &mut stream).expect("one");
                let (from, to) = (layout.cylinder(from), layout.cylinder(to));
                assert_eq!(from.abs_diff(to), distance, "{name}");
            }
            assert_eq!(apart(layout, last - first + 1), None);
            assert_eq!(random_apart(layout, last - first + 1, &mut stream), None);
        }
    }

    #[test]
    fn random_pairs_go_both_ways_and_everywhere() {
        let bench = bench("ibm-18es");
        let layout = bench.layout();
        let mut stream = Stream::new(7, "places");
        let pairs: Vec<_> = (0..1000)
            .map(|_| random_apart(layout, 5000, &mut stream).expect("a pair"))
            .collect();
        let inwards = pairs.iter().filter(|(from, to)| from < to).count();
        assert!((430..570).contains(&inwards), "{inwards}");
        let near = |&(from, to): &(u64, u64)| layout.cylinder(from.min(to));
        let mean = pairs.iter().map(|pair| f64::from(near(pair))).sum::<f64>() / 1000.0;
        // From 0 to 6473; the standard error is 59.
        assert!((mean - 6473.0 / 2.0).abs() < 240.0, "{mean}");
    }
}
