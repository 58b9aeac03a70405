//! Random cases: a number gives the same one on every machine.

mod buffer;
mod layouts;
mod requests;
mod schedulers;

use diskwright::engine::request::Op;

use super::specs::{
    Asked, BlockCache, Buffer, Case, Clustering, Drive, Interface, Join, Overhead, Policy,
    Rotation, Scheduler, Seek,
};
use crate::support::twins::Draw;

const MS: u64 = 1_000_000;

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut draw = Draw::new(number, "hdd twin");
    let drive = drive(&mut draw);
    let mut case = Case {
        drive,
        angle: match draw.percent(50) {
            true => 0,
            false => draw.within(1..=63),
        },
        depth: draw.scaled(1..=40),
        scheduler: schedulers::scheduler(&mut draw),
        clustering: None,
        cache: None,
        users: draw.percent(50).then(|| draw.scaled(1..=24)),
        requests: Vec::new(),
    };
    // How a sector of several blocks is written in part where another's data are is left out.
    if case.drive.sector > 1 {
        for zone in &mut case.drive.layout.zones {
            zone.remapped.clear();
            zone.remapped_tracks.clear();
        }
    }
    let mut draws = Draw::new(number, "hdd twin's buffer");
    if draws.percent(50) {
        buffer::buffer(&mut draws, &mut case);
    }
    requests::requests(&mut draw, &mut case);
    clustering(&mut Draw::new(number, "hdd twin's clustering"), &mut case);
    let mut draws = Draw::new(number, "hdd twin's cache");
    if draws.percent(40) {
        case.cache = Some(block_cache(&mut draws));
        if draws.coin() {
            flushes_and_trims(&mut draws, &mut case.requests);
        }
    }
    case
}

/// Makes flushes and trims of some requests.
fn flushes_and_trims(draw: &mut Draw, requests: &mut [Asked]) {
    for asked in requests {
        match draw.within(0..=9) {
            0 => *asked = Asked::new(asked.at, (Op::Flush, false), (0, 0)),
            1 if asked.op != Op::Flush => (asked.op, asked.fua) = (Op::Trim, false),
            _ => {}
        }
    }
}

pub fn block_cache(draw: &mut Draw) -> BlockCache {
    BlockCache {
        frames: draw.scaled(1..=60),
        block: draw.pick(&[1, 2, 3, 8, 8, 64, 100]),
        policy: draw.pick(&[
            Policy::Lru,
            Policy::Lru,
            Policy::Fifo,
            Policy::Lifo,
            Policy::Lfu,
        ]),
        is_write_back: draw.percent(60),
        hit_overhead: draw.percent(60).then(|| draw.time(400_000)),
    }
}

/// Has requests merged in the queues of some drives.
fn clustering(draw: &mut Draw, case: &mut Case) {
    if draw.percent(60) {
        return;
    }
    let longest = case.drive.buffer.as_ref().map_or(300, Buffer::longest);
    if longest < 2 {
        return;
    }
    let is_newest = draw.percent(40);
    if let Scheduler::Fcfs { timeout } = &mut case.scheduler {
        *timeout = draw.pick(&[None, Some(0), Some(5 * MS), Some(30 * MS)]);
    }
    case.clustering = Some(Clustering {
        join: Join {
            reads: true,
            writes: true,
            most: draw.scaled(2..=longest),
            is_newest,
        },
        shares_slots: draw.percent(40),
    });
}

fn drive(draw: &mut Draw) -> Drive {
    let layout = layouts::layout(draw);
    let rotation = match draw.within(0..=4) {
        0 => Rotation::Period(draw.within(4_000_000_000..=12_000_000_000)),
        1 => Rotation::Rpm(draw.within(3_000..=15_000)),
        _ => Rotation::Rpm(draw.pick(&[5_400, 7_200, 10_045, 15_000])),
    };
    let write_settle = draw.pick(&[0, 0, 350_000, -120_000]);
    let block = match draw.within(0..=2) {
        0 => 0,
        1 => draw.scaled(100..=30_000),
        _ => draw.scaled(100..=400_000),
    };
    let most = draw.pick(&[0, 0, 300_000, 2 * MS]);
    let mut overhead = || match most {
        0 => 0,
        _ => draw.time(most),
    };
    let overhead = Overhead {
        read_after_read: overhead(),
        read_after_write: overhead(),
        write_after_read: overhead(),
        write_after_write: overhead(),
        completion_read: overhead(),
        completion_write: overhead(),
    };
    Drive {
        sector: draw.pick(&[1, 1, 2, 8]),
        rotation,
        head_switch: draw.time(MS),
        write_settle,
        seek: seek(draw, layout.cylinders, 300_000),
        write_seek: draw
            .percent(25)
            .then(|| seek(draw, layout.cylinders, 500_000)),
        overhead,
        interface: Interface {
            block,
            write_block: match draw.percent(70) {
                true => block,
                false => draw.scaled(0..=100_000),
            },
            overlapped: draw.percent(75),
        },
        layout,
        buffer: None,
    }
}

/// A curve of times that are not below `least`.
fn seek(draw: &mut Draw, cylinders: u64, least: u64) -> Seek {
    let single = draw.within(least..=2 * MS);
    let full = single + draw.within(1..=7 * MS);
    match draw.within(0..=6) {
        0 => {
            let mut points_ms = Vec::new();
            let mut at = 1;
            while at < cylinders && points_ms.len() < 6 {
                let us = draw.within(least / 1000..=9_000);
                points_ms.push((at, us as f64 / 1000.0));
                at += draw.scaled(1..=cylinders);
            }
            // The line through the last two must not fall to nothing.
            points_ms.push((at, 10.0));
            Seek::Table { points_ms }
        }
        1 => Seek::Slope {
            single,
            slope_ns: draw.within(0..=400_000) as f64 / 8.0,
        },
        2 => {
            let ms = |us: u64| us as f64 / 1000.0;
            let listed = draw.within(0..=3);
            Seek::Hp {
                boundary: draw.within(1..=cylinders + 1),
                short_ms: (
                    ms(draw.within(least / 1000..=2_000)),
                    ms(draw.within(0..=900)),
                ),
                long_ms: (
                    ms(draw.within(least / 1000..=9_000)),
                    ms(draw.within(0..=90)),
                ),
                first_ms: (0..listed)
                    .map(|_| ms(draw.within(least / 1000..=2_000)))
                    .collect(),
            }
        }
        3 => {
            // A curve that bends in the middle.
            let average = single + (full - single) * draw.within(45..=60) / 100;
            Seek::Lee {
                single,
                average,
                full,
            }
        }
        4 => Seek::Constant(single),
        _ => Seek::Linear { single, full },
    }
}
