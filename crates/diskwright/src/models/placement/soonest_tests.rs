use super::*;
use proptest::prelude::*;

use crate::base::random::Stream;
use crate::base::units::quantities::Rotation;
use crate::models::geometry::describe::{HeadOrder, LayoutDescription, ZoneDescription};
use crate::models::geometry::layout::Layout;
use crate::models::geometry::seek::{SeekCurve, SeekDescription, SeekTable};
use crate::models::placement::slots::Track;

/// A small drive.
#[derive(Clone, Debug)]
struct Small {
    surfaces: u32,
    /// Each surface has LBNs of its own.
    ranges: bool,
    /// One or two.
    zones: u32,
    /// Of each zone.
    cylinders: u32,
    per_track: (u32, u32),
    skews: (u32, u32),
    slipped: Vec<u32>,
    seek: &'static str,
    /// Writes have a curve of their own.
    write_seek: bool,
    switch_ns: u64,
    settle_ns: i64,
    rpm: u32,
}

fn small() -> impl Strategy<Value = Small> {
    let seeks = prop::sample::select(vec![
        "[linear]\nsingle = \"0.7 ms\"\nfull = \"6 ms\"",
        "[table]\npoints_ms = [[1, 1.0], [3, 0.4], [4, 2.0], [40, 3.0]]",
        "[constant]\n",
        "[zero]\n",
        "[table]\npoints_ms = [[1, 0.0], [5, 0.0], [9, 1.0], [40, 11.0]]",
    ]);
    (
        (
            1u32..4,
            1u32..3,
            1u32..50,
            (8u32..90, 8u32..90),
            (0u32..8, 0u32..8),
        ),
        prop::collection::vec(0u32..400, 0..3),
        seeks,
        (
            prop_oneof![Just(0), 0u64..900_000, 0u64..20_000_000],
            prop_oneof![-300_000i64..500_000, 0i64..30_000_000],
            1_000u32..12_000,
            any::<bool>(),
            any::<bool>(),
        ),
    )
        .prop_map(
            |(
                (surfaces, zones, cylinders, per_track, skews),
                slipped,
                seek,
                (switch_ns, settle_ns, rpm, ranges, write_seek),
            )| Small {
                surfaces,
                ranges,
                zones,
                cylinders,
                per_track,
                skews,
                slipped,
                seek,
                write_seek,
                switch_ns,
                settle_ns,
                rpm,
            },
        )
}

impl Small {
    fn mechanics(&self) -> Mechanics {
        let zone = |first, per_track| {
            let mut zone = ZoneDescription::plain(first, first + self.cylinders - 1, per_track);
            (zone.track_skew, zone.cylinder_skew) = self.skews;
            zone
        };
        let mut zones = vec![
            zone(0, self.per_track.0),
            zone(self.cylinders, self.per_track.1),
        ];
        zones.truncate(self.zones as usize);
        let places = self.cylinders * self.surfaces * self.per_track.0;
        let mut slipped: Vec<u64> = self
            .slipped
            .iter()
            .map(|place| u64::from(place % places))
            .collect();
        slipped.sort_unstable();
        slipped.dedup();
        if (slipped.len() as u32) < places {
            zones[0].slipped = slipped;
        }
        let layout = LayoutDescription {
            surfaces: self.surfaces,
            cylinders: self.zones * self.cylinders,
            access_ranges: if self.ranges { self.surfaces } else { 1 },
            order: HeadOrder::Alternating,
            sectors: None,
            zones,
        };
        let layout = Layout::build(&layout).expect("a layout");
        let seek: SeekDescription = if self.seek == "[constant]\n" {
            SeekDescription::Constant(Time::from_us(900))
        } else if self.seek == "[zero]\n" {
            SeekDescription::Constant(Time::ZERO)
        } else {
            toml::from_str(self.seek).expect("a seek curve")
        };
        let cylinders = layout.cylinders();
        let mechanics = Mechanics::new(
            layout,
            SeekCurve::build(&seek, cylinders).expect("a seek curve"),
            Spindle::new(Rotation::Rpm(self.rpm)),
            Time::from_ns(self.switch_ns),
            self.settle_ns,
        );
        if !self.write_seek {
            return mechanics;
        }
        let settle_ms = self.settle_ns as f64 / 1e6;
        // It falls, and is partly below that of reads.
        let before = [(1, 0.3), (2, 0.9), (7, 0.6), (40, 2.5), (100, 2.0)];
        let points_ms = before
            .map(|(distance, ms)| (distance, ms + settle_ms))
            .into();
        let curve = SeekDescription::Table(SeekTable { points_ms });
        let curve = SeekCurve::build(&curve, cylinders).expect("a seek curve");
        mechanics
            .with_write_seek(&curve)
            .expect("longer than the settling")
    }
}

/// The best of all free slots, each looked at.
fn brute_force(
    free: &FreeSlots,
    slots: &DriveSlots,
    head: &Head<'_>,
    ties: Ties,
    lowest: u32,
) -> Option<FreeSlot> {
    let Mechanics { layout, .. } = head.mechanics;
    let mut best: Option<FreeSlot> = None;
    // Where the slots of a cylinder come in the order of the rule: the least is best.
    let rank = |cylinder: u32| {
        let in_cylinder = |track: &&Track| track.cylinder == cylinder;
        let tracks = slots.tracks().iter().enumerate();
        let number_free: u32 = tracks
            .filter(|(_, track)| in_cylinder(track))
            .map(|(number, _)| free.on_track(number))
            .sum();
        let here = i64::from(head.from.cylinder);
        let offset = i64::from(cylinder) - here;
        let (distance, other_side) = (offset.unsigned_abs(), |is: bool| u64::from(is));
        match ties {
            Ties::Outward => other_side(offset < 0) * (1 << 32) + distance,
            Ties::Emptier => {
                let most = (1 << 31) - 1 - u64::from(number_free);
                most * (1 << 33) + 2 * distance + other_side(offset < 0)
            }
            Ties::Inward => other_side(offset > 0) * (1 << 32) + distance,
        }
    };
    for (number, track) in slots.tracks().iter().enumerate() {
        for slot in 0..track.slots {
            let id = slots.id(number, slot);
            if !free.is_free(id)
                || track.cylinder < lowest
                || !head.reach.holds(track.cylinder, track.head)
                || head.not_to.is_some_and(|cleaned| {
                    number == cleaned || free.on_track(number) == track.slots
                })
            {
                continue;
            }
            let run = layout.run(slots.sector(id), slots.sectors_per_slot());
            assert_eq!(
                (run.position.cylinder, run.position.head),
                (track.cylinder, track.head)
            );
            assert_eq!(
                run.sectors,
                slots.sectors_per_slot(),
                "a slot lies on one track"
            );
            let target = head.mechanics.target(run, true);
            let found = FreeSlot {
                positioning: head.mechanics.positioning(head.from, head.phase, &target),
                is_away: track.cylinder != head.from.cylinder,
                rank: rank(track.cylinder),
                is_other_head: track.head != head.from.head,
                head: track.head,
                slot: id,
                cylinder: track.cylinder,
            };
            best = best.into_iter().chain([found]).min();
        }
    }
    best
}

proptest! {

    /// At every fill from empty to full, with and without limits to where the arm reaches.
    #[test]
    fn the_search_finds_what_looking_at_every_slot_finds(
        small in small(), per_slot in 1u32..9, seed in any::<u64>(), fill in prop::sample::select(vec![0u64, 300, 700, 950, 990, 999, 1000]),
        clustered in any::<bool>(), limited in any::<bool>(), cleans in any::<bool>(),
        ties in prop::sample::select(vec![Ties::Outward, Ties::Emptier, Ties::Inward]),
    ) {
        let mechanics = small.mechanics();
        let Ok(slots) = DriveSlots::new(&mechanics.layout, per_slot) else {
            return Ok(());
        };
        let mut free = FreeSlots::all(&slots, &mechanics.layout);
        prop_assert_eq!(free.count(), slots.count());
        let mut draw = Stream::new(seed, "fill");
        let all: Vec<SlotId> = slots.tracks().iter().enumerate()
            .flat_map(|(number, track)| (0..track.slots).map(move |slot| (number, slot)))
            .map(|(number, slot)| slots.id(number, slot))
            .collect();
        for (index, &slot) in all.iter().enumerate() {
            let is_taken = if clustered { (index as u64) < all.len() as u64 * fill / 1000 } else { draw.below(1000) < fill };
            if is_taken {
                free.take(&slots, &mechanics.layout, slot);
            }
        }
        for _ in 0..20 {
            let cylinders = mechanics.layout.cylinders();
            let bound = |draw: &mut Stream, n: u32| draw.below(u64::from(n)) as u32;
            let reach = if limited {
                let lowest = bound(&mut draw, cylinders);
                Reach { heads: (bound(&mut draw, small.surfaces), small.surfaces - 1), cylinders: (lowest, cylinders - 1 - bound(&mut draw, cylinders - lowest)) }
            } else {
                Reach::ALL
            };
            // At any instant, or just when the edge of a sector comes by.
            let spindle = &mechanics.spindle;
            let mut phase = spindle.phase(Time::from_ns(draw.below(1 << 40)));
            if draw.below(2) == 0 {
                let per_track = small.per_track.0;
                phase = spindle.later(phase, spindle.wait(phase, spindle.edge(bound(&mut draw, per_track), per_track)));
            }
            let head = Head {
                mechanics: &mechanics,
                from: HeadPosition { cylinder: bound(&mut draw, cylinders), head: bound(&mut draw, small.surfaces) },
                phase,
                reach,
                not_to: cleans.then(|| draw.below(slots.tracks().len() as u64) as usize),
            };
            let lowest = if limited { bound(&mut draw, cylinders) } else { 0 };
            prop_assert_eq!(free.soonest(&slots, &head, ties, lowest), brute_force(&free, &slots, &head, ties, lowest));
            let nearest = free.in_nearest_cylinder(&slots, &head, ties);
            prop_assert_eq!(nearest.is_some(), brute_force(&free, &slots, &head, ties, 0).is_some());
            if let Some(nearest) = nearest {
                let same_distance = |cylinder: u32| head.from.cylinder.abs_diff(cylinder) <= head.from.cylinder.abs_diff(nearest.cylinder);
                let mut only_near = free.clone();
                for &slot in all.iter().filter(|&&slot| !same_distance(slots.tracks()[slots.place(slot).0].cylinder)) {
                    if only_near.is_free(slot) {
                        only_near.take(&slots, &mechanics.layout, slot);
                    }
                }
                let expected = brute_force(&only_near, &slots, &head, ties, 0);
                prop_assert_eq!(Some(nearest).map(|found| found.slot), expected.map(|found| found.slot));
            }
            // What is found is taken, and now and then something is freed.
            if let Some(found) = free.soonest(&slots, &head, ties, 0) {
                free.take(&slots, &mechanics.layout, found.slot);
            }
            let freed = all[draw.below(all.len() as u64) as usize];
            if fill > 0 && !free.is_free(freed) {
                free.release(&slots, &mechanics.layout, freed);
            }
            let count = all.iter().filter(|&&slot| free.is_free(slot)).count();
            prop_assert_eq!(free.count(), count as u64);
        }
    }

    /// Nothing that comes by has passed.
    #[test]
    fn the_sector_under_the_head_has_passed_last(small in small(), per_slot in 1u32..9, at in 0u64..1 << 50) {
        let mechanics = small.mechanics();
        let Ok(slots) = DriveSlots::new(&mechanics.layout, per_slot) else {
            return Ok(());
        };
        let Mechanics { spindle, layout, .. } = &mechanics;
        let now = spindle.phase(Time::from_ns(at));
        for track in slots.tracks() {
            let passed = slots.passed(layout, track, spindle.sector(now, track.per_track));
            let wait = |slot| spindle.wait(now, spindle.edge(slots.angle(layout, track, slot), track.per_track));
            let next = (passed + 1) % track.slots;
            let soonest = (0..track.slots).min_by_key(|&slot| wait(slot)).expect("a track has slots");
            prop_assert!(wait(next) == wait(soonest) || wait(passed) == wait(soonest));
        }
    }
}
