//! Random cases: a number gives the same one on every machine.

use diskwright::engine::request::Op;

use super::specs::{Asked, Case, Fault, Layout, Parity, Rebuild, Simple};
use crate::support::twins::Draw;

impl Draw {
    /// A layout, and how many members it has.
    fn layout(&mut self) -> (Layout, usize) {
        let unit = self.pick(&[1, 2, 4, 8, 8, 16, 40]);
        let read = self.pick(&["least-outstanding", "nearest", "round-robin", "first"]);
        let rotation = self.pick(&[
            "left-symmetric",
            "left-asymmetric",
            "right-symmetric",
            "right-asymmetric",
        ]);
        let parity = Parity {
            threshold: self.once_in(3).then(|| self.size(0..=5)),
            own_chain: self.once_in(3),
        };
        match self.within(0..=11) {
            0 => (Layout::Stripe { unit }, self.size(1..=5)),
            1 | 2 => (Layout::Mirror { read }, self.size(2..=4)),
            3 => (Layout::Concat, self.size(1..=4)),
            4 => (Layout::Raid4 { unit, parity }, self.size(3..=6)),
            5 | 6 => {
                let rows_of_parity = self.once_in(4).then(|| self.within(1..=3));
                let layout = Layout::Raid5 {
                    unit,
                    rows_of_parity,
                    rotation,
                    parity,
                };
                (layout, self.size(3..=6))
            }
            9 | 10 => {
                let layout = Layout::ParityStriping {
                    unit,
                    rotation: self.pick(&["left", "right"]),
                    parity,
                };
                (layout, self.size(2..=6))
            }
            7 | 8 => {
                let layout = Layout::Raid6 {
                    unit,
                    rotation,
                    parity,
                };
                (layout, self.size(4..=7))
            }
            _ => {
                let copies = self.size(2..=3);
                let groups = self.size(1..=3);
                (Layout::Raid10 { unit, copies, read }, copies * groups)
            }
        }
    }

    fn simple(&mut self, blocks: u64) -> Simple {
        let slowest = self.pick(&[300, 3_000]);
        Simple {
            blocks,
            read: self.within(0..=slowest) * 1_000,
            write: self.within(0..=slowest) * 1_000,
            per_block: self.pick(&[0, 1_000, 4_000]),
            parallel: self.pick(&[1, 1, 1, 2, 3]),
        }
    }

    /// All members alike, or each with times of its own; some have more blocks than others.
    fn members(&mut self, count: usize, blocks: u64) -> Vec<Simple> {
        let one = self.simple(blocks);
        let alike = self.once_in(2);
        let mut members = Vec::new();
        for _ in 0..count {
            let mut member = if alike { one } else { self.simple(blocks) };
            if self.once_in(3) {
                member.blocks += self.within(0..=12);
            }
            members.push(member);
        }
        members
    }
}

impl Draw {
    /// Members that fail and blocks that become unreadable, from the start or until an instant.
    fn faults(&mut self, members: &[Simple], until: u64) -> Vec<(u64, Fault)> {
        let mut faults = Vec::new();
        for _ in 0..self.within(1..=3) {
            let at = self.pick(&[0, 1]) * self.within(0..=until / 1_000) * 1_000;
            let member = self.size(0..=members.len() as u64 - 1);
            let fault = if self.once_in(2) {
                Fault::Fails(member)
            } else {
                let blocks = members[member].blocks;
                let from = self.within(0..=blocks - 1);
                let many = self.within(1..=(blocks - from).min(8));
                Fault::Unreadable(member, from, many)
            };
            faults.push((at, fault));
        }
        faults
    }

    /// Spares, and failures that the redundancy makes up for.
    fn spares(&mut self, case: &mut Case, until: u64) {
        for _ in 0..self.within(1..=2) {
            let used = case.used() + self.pick(&[0, 3]);
            case.spares.push(self.simple(used));
        }
        let used = case.used();
        let unit = case.unit();
        case.rebuild = Some(Rebuild {
            per_block: self.pick(&[0, 2_000, 64_000]),
            step: self.pick(&[unit, 2 * unit, used, 1, 7]),
            delay: self.pick(&[0, 0, 1_000, 300_000]),
        });
        case.faults.clear();
        // Of all devices, whatever the redundancy makes up for; or of members, as many as it does.
        let count = case.members.len() as u64;
        let mut failing = Vec::new();
        if self.once_in(3) {
            for _ in 0..self.within(1..=4) {
                failing.push(self.within(0..=count + case.spares.len() as u64 - 1));
            }
        } else {
            let first = self.within(0..=count - 1);
            failing.push(first);
            if case.parities() == 2 {
                failing.push((first + self.within(1..=count - 1)) % count);
            }
        }
        for device in failing {
            let at = self.pick(&[0, 1, 1]) * self.within(0..=until / 1_000) * 1_000;
            case.faults.push((at, Fault::Fails(device as usize)));
        }
    }
}

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut draw = Draw::new(number, "array twin");
    let (layout, count) = draw.layout();
    let rows = draw.within(2..=7);
    let blocks = match layout {
        Layout::Mirror { .. } | Layout::Concat => draw.within(20..=80),
        Layout::Stripe { unit }
        | Layout::Raid4 { unit, .. }
        | Layout::Raid5 { unit, .. }
        | Layout::Raid6 { unit, .. }
        | Layout::Raid10 { unit, .. }
        | Layout::ParityStriping { unit, .. } => unit * rows,
    };
    let members = draw.members(count, blocks);
    let mut case = Case {
        layout,
        members,
        spares: Vec::new(),
        rebuild: None,
        faults: Vec::new(),
        requests: Vec::new(),
    };
    let capacity = case.capacity();
    let region = draw.within(1.max(capacity / 4)..=capacity);
    // Instants that coincide with those of members, or none that do.
    let odd = draw.once_in(2);
    let most = draw.pick(&[4, 24, 400]);
    let gap = draw.pick(&[1, 100, 1_000]);
    let mut at = 0;
    for _ in 0..draw.within(5..=60) {
        at += draw.pick(&[0, 1, 1, 3]) * draw.within(0..=gap) * 1_000;
        if odd {
            at += 1 + draw.within(0..=996);
        }
        let op = draw.pick(&[
            Op::Read,
            Op::Read,
            Op::Read,
            Op::Write,
            Op::Write,
            Op::Write,
            Op::Write,
            Op::Trim,
        ]);
        let op = if draw.once_in(20) { Op::Flush } else { op };
        let blocks = draw.within(1..=most.min(region));
        let lbn = draw.within(0..=region - blocks);
        let (lbn, blocks) = if op == Op::Flush {
            (0, 0)
        } else {
            (lbn, blocks)
        };
        case.requests.push(Asked {
            at,
            op,
            lbn,
            blocks,
            fua: op == Op::Write && draw.once_in(8),
        });
    }
    if draw.once_in(2) {
        case.faults = draw.faults(&case.members, at);
    }
    let mut draw = Draw::new(number, "array twin with spares");
    if case.is_redundant() && draw.once_in(4) {
        draw.spares(&mut case, at);
    }
    case
}
