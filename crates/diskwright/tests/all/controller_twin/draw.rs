//! Random cases: a number gives the same one on every machine.

use diskwright::engine::request::Op;

use super::specs::{Asked, Cache, CacheDevice, Case, Memory, Policy, Prefetch, Simple, Writes};
use crate::hdd_twin::specs::Join;
use crate::support::twins::Draw;

const WRITES: [Writes; 3] = [Writes::Synchronous, Writes::Through, Writes::Back];

/// The kinds of requests.
const REQUESTS: [Op; 10] = [
    Op::Read,
    Op::Read,
    Op::Read,
    Op::Read,
    Op::Write,
    Op::Write,
    Op::Write,
    Op::Write,
    Op::Flush,
    Op::Trim,
];

impl Draw {
    fn constant_times(&mut self, blocks: u64) -> Simple {
        // Even times, so that much falls on the same instant.
        Simple {
            blocks,
            read: self.within(0..=4) * 500_000,
            write: self.within(0..=4) * 500_000,
            per_block: self.pick(&[0, 0, 4_000]),
            parallel: self.size(1..=3),
        }
    }

    fn cache_device(&mut self, blocks: u64) -> CacheDevice {
        let capacity = self.within(8..=blocks.max(8) + 8);
        let most = capacity.min(blocks);
        let size = match self.once_in(2) {
            true => most,
            false => self.within(1..=most),
        };
        CacheDevice {
            device: self.constant_times(capacity),
            size,
            writes: self.pick(&WRITES),
            idle_flush: (!self.once_in(3)).then(|| self.within(0..=8) * 500_000),
        }
    }

    fn memory(&mut self) -> Memory {
        let line: u64 = self.pick(&[1, 2, 3, 4, 8]);
        let grains: Vec<u64> = (1..=line)
            .filter(|&grain| line.is_multiple_of(grain))
            .collect();
        let prefetch = [
            Prefetch::None,
            Prefetch::Front,
            Prefetch::Rest,
            Prefetch::Line,
        ];
        Memory {
            lines: self.size(1..=12),
            line,
            policy: self.pick(&[Policy::Lru, Policy::Fifo, Policy::Lifo]),
            prefers_clean: self.once_in(3),
            grain: match self.once_in(2) {
                true => 1,
                false => self.pick(&grains),
            },
            lock: self.once_in(2).then(|| self.within(1..=2 * line)),
            shared_reads: self.once_in(2),
            writes: self.pick(&WRITES),
            read_prefetch: self.pick(&prefetch),
            write_prefetch: self.pick(&prefetch),
            line_by_line: self.once_in(2),
            gather: self.once_in(2).then(|| self.within(1..=3)),
            cluster: self.within(1..=4),
            flush_period: self
                .once_in(3)
                .then(|| self.pick(&[500_000, 3_000_000, 10_000_000])),
            idle_flush: self.once_in(2).then(|| self.within(0..=8) * 500_000),
        }
    }

    fn requests(&mut self, blocks: u64) -> Vec<Asked> {
        let mut requests: Vec<Asked> = Vec::new();
        let scattered = self.pick(&[2, 8]);
        let pause = self.pick(&[1, 2, 6]);
        let mut at = 0;
        for _ in 0..self.within(5..=80) {
            at += match self.within(0..=pause) {
                0 => self.within(0..=9) * 1_000_000,
                1 => self.within(0..=4) * 500_000,
                _ => 0,
            };
            let last = requests.last().copied();
            let last = last.filter(|last| last.op != Op::Flush && !self.once_in(scattered));
            let blocks_of = match last {
                Some(last) if self.once_in(2) => last.blocks,
                _ => self.within(1..=blocks.min(12)),
            };
            let lbn = match last {
                Some(last) => match self.within(0..=3) {
                    0 => last.lbn + last.blocks,
                    1 => last.lbn.saturating_sub(blocks_of),
                    2 => last.lbn,
                    _ => last.lbn + last.blocks + blocks_of,
                },
                None => self.within(0..=blocks - blocks_of),
            };
            let lbn = lbn.min(blocks - blocks_of);
            let op = self.pick(&REQUESTS);
            let op = match last {
                Some(last) if !self.once_in(scattered + 2) => last.op,
                _ => op,
            };
            let (lbn, blocks_of) = match op {
                Op::Flush => (0, 0),
                _ => (lbn, blocks_of),
            };
            requests.push(Asked {
                at,
                op,
                fua: op == Op::Write && self.once_in(5),
                lbn,
                blocks: blocks_of,
            });
        }
        requests
    }
}

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut draw = Draw::new(number, "controller twin");
    let devices: Vec<Simple> = (0..draw.within(1..=3))
        .map(|_| {
            let blocks = draw.within(8..=64);
            draw.constant_times(blocks)
        })
        .collect();
    let blocks = devices.iter().map(|device| device.blocks).sum();
    let kinds = draw.within(0..=3);
    Case {
        queue: (!draw.once_in(3)).then(|| draw.pick(&[1, 2, 3, 8])),
        message: draw.pick(&[0, 0, 100_000, 500_000]),
        one_message: draw.once_in(2),
        block: draw.pick(&[0, 50_000]),
        most: draw.once_in(2).then(|| draw.within(1..=10)),
        scheduler: draw.scheduler_by_lbn(),
        outstanding: (!draw.once_in(3)).then(|| draw.pick(&[1, 1, 2, 3])),
        join: draw.once_in(2).then(|| Join {
            most: draw.within(2..=20),
            reads: kinds != 1,
            writes: kinds != 2,
            is_newest: false,
        }),
        cache: match draw.within(0..=5) {
            0 => Cache::None,
            1 | 2 => Cache::Device(draw.cache_device(blocks)),
            _ => Cache::Memory(draw.memory()),
        },
        requests: draw.requests(blocks),
        devices,
    }
}
