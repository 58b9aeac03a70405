//! The closed form of a media access against a model that goes sector by sector and block by block.

use diskwright::base::units::quantities::Rotation;
use diskwright::base::units::{Lbn, Time};
use diskwright::devices::hdd::access::{Arrivals, Beginning, read, write};
use diskwright::devices::hdd::interface::Interface;
use diskwright::devices::hdd::{Hardware, Overhead};
use diskwright::engine::request::{Command, Op, Parts};
use diskwright::models::geometry::describe::{HeadOrder, LayoutDescription, ZoneDescription};
use diskwright::models::geometry::layout::Layout;
use diskwright::models::geometry::mechanics::{HeadPosition, Mechanics};
use diskwright::models::geometry::seek::{SeekCurve, SeekDescription};
use diskwright::models::geometry::spindle::Spindle;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Case {
    spt: [u32; 2],
    skews: [u32; 2],
    slipped: Vec<u64>,
    rpm: u32,
    blocks_per_sector: u32,
    block_ns: u64,
    overlapped: bool,
    start: u64,
    cylinder: u32,
    lbn: u64,
    blocks: u32,
    own_write_curve: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let drive = (
        [8u32..40, 8u32..40],
        [0u32..8, 0u32..8],
        prop::collection::btree_set(0u64..120, 0..6),
        prop::sample::select(vec![5400u32, 7200, 10_045]),
        prop::sample::select(vec![1u32, 8]),
    );
    // From much faster than any track here to much slower; `None` for as fast as a track, but for some nanoseconds.
    let rates = [0u64, 1_000, 50_000, 300_000, 900_000].map(Some);
    let rates = rates.into_iter().chain([None, None]);
    let interface = (
        prop::sample::select(rates.collect::<Vec<_>>()),
        0u64..9,
        any::<bool>(),
    );
    let access = (
        0u64..1 << 45,
        0u32..10,
        any::<prop::sample::Index>(),
        1u32..90,
        any::<bool>(),
    );
    (drive, interface, access).prop_map(
        |((spt, skews, slipped, rpm, blocks_per_sector), (block_ns, more, overlapped), access)| {
            let track = u64::from(rpm) * u64::from(spt[0] * blocks_per_sector);
            let block_ns = block_ns.unwrap_or(60_000_000_000 / track + more - 4);
            let (start, cylinder, lbn, blocks, own_write_curve) = access;
            let slipped: Vec<u64> = slipped.into_iter().collect();
            let capacity = (spt[0] + spt[1]) as usize * 15 - slipped.len();
            let blocks = blocks.min(capacity as u32);
            let lbn =
                lbn.index((capacity * blocks_per_sector as usize) - blocks as usize + 1) as u64;
            Case {
                spt,
                skews,
                slipped,
                rpm,
                blocks_per_sector,
                block_ns,
                overlapped,
                start,
                cylinder,
                lbn,
                blocks,
                own_write_curve,
            }
        },
    )
}

fn mechanics(case: &Case) -> Mechanics {
    let mut zones = vec![
        ZoneDescription::plain(0, 4, case.spt[0]),
        ZoneDescription::plain(5, 9, case.spt[1]),
    ];
    for zone in &mut zones {
        zone.track_skew = case.skews[0];
        zone.cylinder_skew = case.skews[1];
    }
    zones[0].slipped = case.slipped.clone();
    let description = LayoutDescription {
        surfaces: 3,
        cylinders: 10,
        access_ranges: 1,
        order: HeadOrder::Alternating,
        sectors: None,
        zones,
    };
    let seek: SeekDescription =
        toml::from_str("[linear]\nsingle = \"0.8 ms\"\nfull = \"4 ms\"").expect("a seek curve");
    let mechanics = Mechanics::new(
        Layout::build(&description).expect("a layout"),
        SeekCurve::build(&seek, 10).expect("a seek curve"),
        Spindle::new(Rotation::Rpm(case.rpm)),
        Time::from_us(600),
        150_000,
    );
    if !case.own_write_curve {
        return mechanics;
    }
    let seek: SeekDescription =
        toml::from_str("[table]\npoints_ms = [[1, 0.9], [4, 3.0], [9, 2.5]]")
            .expect("a seek curve");
    let curve = SeekCurve::build(&seek, 10).expect("a seek curve");
    mechanics
        .with_write_seek(&curve)
        .expect("longer than the settling")
}

/// What one sector at a time gives: the end, the arm, and the tracks rewritten.
fn stepwise(m: &Mechanics, case: &Case, op: Op) -> (Time, HeadPosition, u32) {
    let bps = u64::from(case.blocks_per_sector);
    let bus = |blocks: u64| Time::from_ns(case.block_ns * blocks);
    let start = Time::from_ns(case.start);
    let (first, end) = (
        case.lbn / bps,
        (case.lbn + u64::from(case.blocks)).div_ceil(bps),
    );
    let mut arm = HeadPosition {
        cylinder: case.cylinder,
        head: 0,
    };
    let mut now = start;
    let mut rewritten = 0;
    let mut bus_free = Time::ZERO;
    if op == Op::Write && !case.overlapped {
        now += bus(case.blocks.into());
    }
    let covered = |sector: u64| {
        let from = case.lbn.max(sector * bps);
        let to = (case.lbn + u64::from(case.blocks)).min((sector + 1) * bps);
        (from - case.lbn, to - case.lbn)
    };
    let is_partial = |sector: u64| {
        let (from, to) = covered(sector);
        to - from < bps
    };
    // Waits for a sector and returns the instants of its two edges.
    let wait = |now: Time, sector: u64| {
        let run = m.layout.run(sector, 1);
        let (wait, whole) =
            m.spindle
                .pass(m.spindle.phase(now), run.angle, 1, run.sectors_per_track);
        (now + wait, now + whole)
    };
    let on_one_track = |from: u64| m.layout.run(from, (end - from) as u32).sectors;
    let mut sector = first;
    let mut track_end = first;
    while sector < end {
        if sector == track_end {
            let run = m.layout.run(sector, 1);
            let to = HeadPosition {
                cylinder: run.position.cylinder,
                head: run.position.head,
            };
            now += m.motion_time(arm, to, op == Op::Write);
            arm = to;
            track_end = sector + u64::from(on_one_track(sector));
            if op == Op::Write {
                let partial: Vec<u64> = (sector..track_end)
                    .filter(|&sector| is_partial(sector))
                    .collect();
                if !partial.is_empty() {
                    rewritten += 1;
                    // From the first partial sector on, up to the last one.
                    for sector in partial[0]..=partial[partial.len() - 1] {
                        now = wait(now, sector).1;
                    }
                }
            }
        }
        if op == Op::Write && case.overlapped {
            // A sector whose blocks have not all come when its edge passes is missed.
            let (_, until) = covered(sector);
            let mut edge = wait(now, sector).0;
            while start + bus(until) > edge {
                now = edge + Time::from_ns(1);
                edge = wait(now, sector).0;
            }
        }
        now = wait(now, sector).1;
        if op == Op::Read {
            let (from, to) = covered(sector);
            bus_free = bus_free.max(now) + bus(to - from);
        }
        sector += 1;
    }
    let end = match (op, case.overlapped) {
        (Op::Read, true) => bus_free.max(now),
        (Op::Read, false) => now + bus(case.blocks.into()),
        _ => now,
    };
    (end, arm, rewritten)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn the_closed_form_is_the_sum_of_its_sectors(case in cases(), is_write in any::<bool>()) {
        let op = if is_write { Op::Write } else { Op::Read };
        let command = Command { op, fua: false, lbn: Lbn(case.lbn), blocks: case.blocks };
        let block_ps = case.block_ns * 1000;
        let interface = Interface { block_ps, write_block_ps: block_ps, overlapped: case.overlapped };
        let hardware = Hardware::new(mechanics(&case), case.blocks_per_sector, Overhead::default(), interface, None);
        let arm = HeadPosition { cylinder: case.cylinder, head: 0 };
        let start = Time::from_ns(case.start);
        let mut parts = Parts::default();
        let first = Beginning::of_command(&command, &hardware.target_of(&command), &hardware);
        let access = if is_write {
            write(&hardware, arm, start, Arrivals::from(start), &command, first, &mut parts)
        } else {
            read(&hardware, arm, start, &command, first, &mut parts)
        };
        let (end, arm, rewritten) = stepwise(&hardware.mechanics, &case, op);
        prop_assert_eq!(access.end, end);
        prop_assert_eq!((access.arm, access.read_modify_writes), (arm, rewritten));
        prop_assert_eq!(parts.total(), access.end - start);
    }
}
