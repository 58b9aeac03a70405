//! Random cases: a number gives the same one on every machine.

use diskwright::engine::request::{NvCacheCommand as Nv, Op};

use super::specs::{Asked, Case, Motor, Times};
use crate::support::twins::Draw;

impl Draw {
    fn times(&mut self, blocks: u64, slowest_us: u64) -> Times {
        Times {
            blocks,
            read: self.within(0..=slowest_us) * 1_000,
            write: self.within(0..=slowest_us) * 1_000,
            per_block: self.pick(&[0, 1_000, 4_000]),
            parallel: self.within(1..=3) as usize,
        }
    }
}

/// The kinds of requests, reads and writes apart from the commands; the last two lose data.
const REQUESTS: [Op; 9] = [
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
const COMMANDS: [Nv; 17] = [
    Nv::Pin,
    Nv::Pin,
    Nv::Pin,
    Nv::PinAndPopulate,
    Nv::QueryPinned,
    Nv::FlushUnpinned,
    Nv::FlushUnpinned,
    Nv::PowerModeOn,
    Nv::PowerModeOn,
    Nv::PowerModeOff,
    Nv::ReadMedium,
    Nv::WriteMedium,
    Nv::WriteMedium,
    Nv::PinAndWrite,
    Nv::PinAndWrite,
    Nv::WriteMediumAndUnpin,
    Nv::Unpin,
];
/// How many of them lose data.
const LOSING: usize = 2;

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut draw = Draw::new(number, "hybrid twin");
    let blocks = draw.within(20..=120);
    let places = draw.within(4..=40);
    let has_motor = !draw.once_in(5);
    let motor = has_motor.then(|| Motor {
        timeout: (!draw.once_in(3))
            .then(|| draw.within(0..=40_000) * draw.pick(&[0, 1_000, 1_000])),
        down: draw.within(0..=3_000) * 1_000,
        up: draw.within(0..=30_000) * 1_000,
    });
    let mut case = Case {
        medium: draw.times(blocks, 12_000),
        motor,
        flash: draw.times(places, 3_000),
        command: draw.pick(&[0, 5_000, 1_000_000]),
        power_mode: draw.once_in(3),
        high_power: draw.pick(&[0, 0, 1_000_000, 50_000_000]),
        requests: Vec::new(),
    };
    let region = draw.within(8..=blocks);
    let unpins = draw.once_in(2);
    let commands = draw.pick(&[3, 3, 8]);
    let mut at = 0;
    for _ in 0..draw.within(5..=120) {
        at += draw.pick(&[1, 1_000, 1_000_000, 30_000_000]) * draw.within(0..=9)
            + draw.within(0..=997);
        let op = if draw.once_in(commands) {
            let all = if unpins {
                COMMANDS.len()
            } else {
                COMMANDS.len() - LOSING
            };
            Op::NvCache(draw.pick(&COMMANDS[..all]))
        } else {
            draw.pick(&REQUESTS)
        };
        let most = draw.pick(&[4, 12, 20]);
        let blocks = draw.within(1..=region.min(most));
        let lbn = draw.within(0..=region - blocks);
        let has_blocks = !matches!(
            op,
            Op::Flush | Op::NvCache(Nv::FlushUnpinned | Nv::PowerModeOn | Nv::PowerModeOff)
        );
        let (lbn, blocks) = if has_blocks { (lbn, blocks) } else { (0, 0) };
        case.requests.push(Asked {
            at,
            op,
            lbn,
            blocks,
        });
    }
    // The counters are those of a drive that has nothing to do any more.
    case.requests.push(Asked {
        at: at + 10_000_000_000,
        op: Op::Flush,
        lbn: 0,
        blocks: 0,
    });
    case
}
