//! Random cases: a number gives the same one on every machine.

use diskwright::engine::request::Op;
use std::fmt::Write as _;

use super::medium::Medium;
use super::specs::{Asked, Case, Pool};
use crate::support::twins::Draw;

const MS: u64 = 1_000_000;

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut draw = Draw::new(number, "pool twin");
    let sector = draw.pick(&[1, 2, 8, 8]);
    let drive = drive(&mut draw, sector);
    let pool = pool(&mut draw, sector);
    let mut case = Case {
        drive,
        pool,
        write_cache: draw.percent(65),
        depth: draw.scaled(1..=40),
        scheduler: draw.pick(&["fcfs", "satf", "satf"]),
        users: draw.percent(50).then(|| draw.scaled(1..=24)),
        requests: Vec::new(),
    };
    requests(&mut draw, &mut case);
    let mut draw = Draw::new(number, "pool twin's regions");
    if draw.percent(25) {
        region(&mut draw, &mut case);
    }
    case
}

/// Regions that keep a persistent memory, as many as the drive has room for.
fn region(draw: &mut Draw, case: &mut Case) {
    let Pool { frames, extent, .. } = case.pool;
    let memory = *case
        .pool
        .memory
        .get_or_insert(extent * draw.scaled(1..=frames));
    case.write_cache = false;
    let medium = Medium::new(case.hardware());
    let kept = memory / extent;
    let most = draw.within(1..=4);
    let fitting = (1..=most).rev().find_map(|count| {
        let slots = (kept + 1 + draw.scaled(0..=2 * kept)).div_ceil(count);
        let fits = |number| {
            let first = medium.middle(number, count);
            let on_track = medium.track_sectors(first) / (extent / medium.sector());
            let tracks = slots.div_ceil(on_track) as u32;
            first + tracks.div_ceil(medium.surfaces()) <= medium.cylinders()
        };
        (0..count).all(fits).then_some((count, slots))
    });
    case.pool.region = fitting;
}

fn drive(draw: &mut Draw, sector: u64) -> String {
    let surfaces = draw.within(1..=3);
    let cylinders = draw.within(20..=200);
    let mut text = format!(
        "name = \"random\"\nrotation = \"{} rpm\"\nsector_size = \"{sector} blocks\"\n",
        draw.pick(&[5_400, 7_200, 10_045, 15_000])
    );
    let heads = (draw.time(MS), draw.pick(&[0, 0, 350_000, -120_000]));
    let seek = (draw.within(300_000..=2 * MS), draw.within(2 * MS..=9 * MS));
    _ = writeln!(
        text,
        "heads = {{ switch = \"{} ns\", write_settle = \"{} ns\" }}\nseek.linear = {{ single = \"{} ns\", full = \"{} ns\" }}",
        heads.0, heads.1, seek.0, seek.1
    );
    _ = match draw.within(0..=3) {
        0 => Ok(()),
        1 => writeln!(text, "interface.rate = \"{} MB/s\"", draw.scaled(1..=600)),
        2 => writeln!(
            text,
            "interface.block_time = \"{} ns\"",
            draw.scaled(100..=400_000)
        ),
        _ => {
            let each = (draw.scaled(100..=90_000), draw.scaled(100..=90_000));
            writeln!(
                text,
                "interface = {{ block_time = \"{} ns\", write_block_time = \"{} ns\" }}",
                each.0, each.1
            )
        }
    };
    for key in [
        "read_after_read",
        "write_after_write",
        "completion_read",
        "completion_write",
    ] {
        let most = draw.pick(&[0, 0, 300_000, 2 * MS]);
        if most > 0 {
            _ = writeln!(text, "overhead.{key} = \"{} ns\"", draw.time(most));
        }
    }
    _ = writeln!(
        text,
        "[layout]\nsurfaces = {surfaces}\ncylinders = {cylinders}"
    );
    let edge = draw.within(1..=cylinders - 2);
    let zones = match draw.percent(50) {
        true => vec![(0, cylinders - 1)],
        false => vec![(0, edge - 1), (edge, cylinders - 1)],
    };
    for (from, to) in zones {
        let skews = (draw.within(0..=12), draw.within(0..=19));
        _ = writeln!(
            text,
            "[[layout.zone]]\ncylinders = [{from}, {to}]\nsectors_per_track = {}\ntrack_skew = {}\ncylinder_skew = {}",
            draw.within(20..=100),
            skews.0,
            skews.1
        );
    }
    text
}

fn pool(draw: &mut Draw, sector: u64) -> Pool {
    let frames = draw.scaled(2..=64);
    let extent = sector * draw.pick(&[1, 1, 2, 2, 3, 4, 8]).min(16 / sector);
    let high = match draw.percent(30) {
        true => 16,
        false => draw.within(1..=16),
    };
    let low = match draw.percent(30) {
        true => high,
        false => draw.within(0..=high),
    };
    let most = match draw.percent(25) {
        true => 0,
        false => draw.scaled(1..=frames * extent),
    };
    Pool {
        frames,
        extent,
        policy: draw.pick(&["lru", "lru", "fifo"]),
        hit_overhead: draw.time(200_000),
        streams: draw.scaled(1..=8),
        after: draw.within(0..=2),
        most,
        least: match draw.percent(50) {
            true => 0,
            false => draw.scaled(0..=most),
        },
        yields: draw.percent(70),
        share: match draw.percent(30) {
            true => 16,
            false => draw.within(1..=16),
        },
        high,
        low,
        idle: match draw.percent(35) {
            true => 10_000 * MS,
            false => draw.time(60 * MS),
        },
        age: match draw.percent(50) {
            true => draw.scaled(1..=30 * MS),
            false => 10_000 * MS,
        },
        longest: extent * draw.scaled(1..=8),
        memory: draw.percent(60).then(|| extent * draw.scaled(1..=frames)),
        region: None,
    }
}

fn requests(draw: &mut Draw, case: &mut Case) {
    let hardware = case.hardware();
    let (blocks, sector) = (hardware.blocks(), u64::from(hardware.blocks_per_sector));
    let of_pool = case.pool.frames * case.pool.extent;
    // Often few blocks, so that requests meet in the pool.
    let region = match draw.percent(65) {
        true => (of_pool * draw.within(1..=4)).clamp(40, blocks),
        false => blocks,
    };
    let first = draw.within(0..=blocks - region);
    let longest = draw.pick(&[1, 4, 16, 16, of_pool]).clamp(1, region / 2);
    let unit = draw.pick(&[1, 1, sector, case.pool.extent]);
    let writes = draw.pick(&[10, 30, 50, 90]);
    let runs = draw.pick(&[0, 30, 60, 90]);
    let odd = draw.pick(&[0, 3, 10]);
    let gap = draw.scaled(1_000..=30 * MS);
    let mut ends = vec![first; draw.within(1..=3) as usize];
    let mut now = 0;
    for _ in 0..draw.within(50..=300) {
        if case.users.is_none() && !case.requests.is_empty() {
            now += match draw.percent(3) {
                true => draw.within(0..=300 * MS),
                false => draw.within(0..=gap),
            };
        }
        let op = match (draw.percent(odd), draw.percent(writes)) {
            (true, true) => Op::Flush,
            (true, false) => Op::Trim,
            (false, true) => Op::Write,
            (false, false) => Op::Read,
        };
        let size = (draw.scaled(1..=longest).div_ceil(unit) * unit).min(region / 2);
        let run = draw.within(0..=ends.len() as u64 - 1) as usize;
        let mut lbn = match draw.percent(runs) {
            true => ends[run],
            false => first + draw.within(0..=region - size) / unit * unit,
        };
        if lbn + size > first + region {
            lbn = first;
        }
        if op != Op::Flush {
            ends[run] = lbn + size;
        }
        let fua = op == Op::Write && draw.percent(odd);
        let asked = Asked::new(now, (op, fua), (lbn, size));
        case.requests.push(asked);
    }
}
