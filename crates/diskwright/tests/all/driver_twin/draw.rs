//! Random cases: a number gives the same one on every machine.

use diskwright::engine::request::{Class, Op};

use super::specs::{Asked, Case, Simple, Timeout};
use crate::hdd_twin::specs::{By, Join, Scheduler};
use crate::support::twins::Draw;

impl Draw {
    /// One of those that know LBNs alone.
    pub fn scheduler_by_lbn(&mut self) -> Scheduler {
        match self.within(0..=8) {
            0 | 1 => Scheduler::Fcfs { timeout: None },
            2 => Scheduler::Sstf {
                by: By::Lbn,
                alternate: self.once_in(2),
            },
            3 => Scheduler::Look(By::Lbn),
            4 => Scheduler::Scan(By::Lbn),
            5 => Scheduler::CScan(By::Lbn),
            6 => Scheduler::Deadline {
                read_expire: self.within(0..=9) * 1_000_000,
                write_expire: self.within(0..=20) * 1_000_000,
                batch: self.within(0..=4).max(1),
                starved: self.within(0..=3),
            },
            _ => Scheduler::CLook {
                by: By::Lbn,
                from_start: self.once_in(2),
            },
        }
    }
}

/// The kinds of requests.
const REQUESTS: [Op; 8] = [
    Op::Read,
    Op::Read,
    Op::Read,
    Op::Write,
    Op::Write,
    Op::Write,
    Op::Flush,
    Op::Trim,
];

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut draw = Draw::new(number, "driver twin");
    let blocks = draw.within(8..=96);
    let device = Simple {
        blocks,
        read: draw.within(0..=4) * 500_000,
        write: draw.within(0..=4) * 500_000,
        parallel: draw.within(1..=3) as usize,
    };
    let outstanding = (!draw.once_in(8)).then(|| draw.pick(&[1, 1, 1, 2, 3, 5]));
    let kinds = draw.within(0..=3);
    let join = (!draw.once_in(3)).then(|| Join {
        most: draw.within(2..=20),
        reads: kinds != 1,
        writes: kinds != 2,
        is_newest: false,
    });
    let priority = (!draw.once_in(2)).then(|| draw.scheduler_by_lbn());
    let timeout = (!draw.once_in(2)).then(|| Timeout {
        after: draw.within(0..=8) * 1_000_000,
        every: draw.pick(&[1_000, 500_000, 1_000_000, 3_000_000]),
        scheduler: draw.scheduler_by_lbn(),
    });
    let mut case = Case {
        device,
        outstanding,
        scheduler: draw.scheduler_by_lbn(),
        join,
        priority,
        timeout,
        requests: Vec::new(),
    };
    let scattered = draw.pick(&[2, 8]);
    let alike = draw.once_in(2);
    let pause = draw.pick(&[1, 2, 6]);
    let mut at = 0;
    for _ in 0..draw.within(5..=100) {
        at += match draw.within(0..=pause) {
            0 => draw.within(0..=9) * 1_000_000,
            1 => draw.within(0..=4) * 500_000,
            _ => 0,
        };
        let op = draw.pick(&REQUESTS);
        let last = case.requests.last().filter(|_| !draw.once_in(scattered));
        let size = match last {
            Some(last) if last.blocks > 0 && draw.once_in(2) => last.blocks,
            _ => draw.within(1..=blocks.min(9)),
        };
        let lbn = match last {
            // One goes on where another ends, or ends where that begins, or leaves a gap for a third one.
            Some(last) => match draw.within(0..=2) {
                0 => last.lbn + last.blocks,
                1 => last.lbn.saturating_sub(size),
                _ => last.lbn + last.blocks + size,
            },
            None => draw.within(0..=blocks - size),
        };
        let op = last
            .filter(|_| !draw.once_in(scattered + 2))
            .map_or(op, |last| last.op);
        let lbn = lbn.min(blocks - size);
        let (lbn, size) = if op == Op::Flush { (0, 0) } else { (lbn, size) };
        let class = match alike {
            true => Class::Plain,
            false => draw.pick(&[Class::Plain, Class::Plain, Class::Limited, Class::Critical]),
        };
        let awaited = draw.once_in(4).then(|| at + draw.within(0..=6) * 500_000);
        case.requests.push(Asked {
            at,
            op,
            fua: op == Op::Write && draw.once_in(5),
            lbn,
            blocks: size,
            class,
            awaited,
        });
    }
    case
}
