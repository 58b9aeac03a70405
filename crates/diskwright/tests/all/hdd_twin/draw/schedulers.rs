//! Schedulers with their parameters.

use super::super::specs::{By, Scheduler};
use super::{Draw, MS};

pub fn scheduler(draw: &mut Draw) -> Scheduler {
    let by = draw.pick(&[By::Lbn, By::Cylinder]);
    match draw.within(0..=14) {
        0..=1 => Scheduler::Fcfs { timeout: None },
        2 => Scheduler::Sstf {
            by,
            alternate: draw.percent(50),
        },
        3 => Scheduler::Look(by),
        4 => Scheduler::Scan(by),
        5 => Scheduler::CLook {
            by,
            from_start: draw.percent(50),
        },
        6 => Scheduler::CScan(by),
        7 => Scheduler::VScan {
            sixteenths: draw.pick(&[0, 1, 3, 8, 15, 16]),
            by,
        },
        8..=9 => Scheduler::Satf,
        10 => Scheduler::Aged(draw.pick(&[0, 6, 64, 512, 1024, 100_000])),
        11 => Scheduler::Weighted {
            window: draw.pick(&[0, 20 * MS, 100 * MS, 2_000 * MS]),
        },
        12 => Scheduler::Batch,
        13 => Scheduler::Ncq {
            timeout: draw.pick(&[0, 20 * MS, 60 * MS, 2_000 * MS]),
        },
        _ => Scheduler::Deadline {
            read_expire: draw.time(100 * MS),
            write_expire: draw.time(300 * MS),
            batch: draw.within(0..=6),
            starved: draw.within(0..=3),
        },
    }
}
