//! Random cases: a number gives the same one on every machine.

use diskwright::engine::request::Op;

use super::specs::{Asked, Case, Cleaning, Event, Metadata, Simple};
use crate::support::twins::Draw;

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut draw = Draw::new(number, "tier twin");
    let lines = draw.size(1..=12);
    let line = draw.pick(&[1, 3, 4, 8]);
    let events = if draw.once_in(4) {
        draw.within(1..=3)
    } else {
        0
    };
    let events = (0..events).map(|_| {
        let event = match draw.within(0..=4) {
            0 => Event::Remove,
            1 => Event::Attach,
            _ => Event::Resize(draw.size(1..=12)),
        };
        (draw.within(0..=400_000_000), event)
    });
    let events: Vec<(u64, Event)> = events.collect();
    let simple = |draw: &mut Draw, blocks, slowest: u64| Simple {
        blocks,
        read: draw.within(0..=slowest) * 1_000,
        write: draw.within(0..=slowest) * 1_000,
        per_block: draw.pick(&[0, 1_000, 4_000]),
        parallel: draw.size(1..=3),
    };
    let write_policy = draw.pick(&[
        "write-back",
        "write-back",
        "write-back",
        "write-back",
        "write-through",
        "write-around",
        "read-only",
        "pass-through",
    ]);
    let merge = draw.within(1..=30);
    let pause = draw.pick(&[0, 0, 3_000_000]);
    let cleaning = match draw.within(0..=3) {
        0 => Cleaning::None,
        1 => Cleaning::Aggressive { merge, pause },
        _ => {
            let high = draw.within(0..=100);
            let marks = draw.once_in(2).then(|| (high, draw.within(0..=high)));
            let idle =
                (marks.is_none() || draw.once_in(2)).then(|| draw.within(0..=20_000) * 1_000);
            Cleaning::Oldest {
                idle,
                marks,
                merge,
                pause,
            }
        }
    };
    let initial = draw.once_in(4).then(|| {
        let dirty = if write_policy == "write-back" {
            draw.within(0..=100)
        } else {
            0
        };
        (draw.within(0..=100), dirty)
    });
    // A last line that is shorter, now and then.
    let backing = 12 * 8 + draw.within(0..=200);
    let mut case = Case {
        cache: simple(&mut draw, 12 * 8 + 32, 3_000),
        backing: simple(&mut draw, backing, 12_000),
        lines,
        line,
        policy: draw.pick(&["lru", "fifo"]),
        write_policy,
        admission: draw
            .once_in(4)
            .then(|| (draw.size(1..=3), draw.size(1..=20))),
        waits_for_promotion: draw.once_in(3),
        cleaning,
        metadata: (!draw.once_in(3)).then(|| Metadata {
            writes_wait: draw.once_in(2),
            interval: draw.pick(&[0, 1_000_000, 20_000_000, 1_000_000_000]),
        }),
        bypass: draw
            .once_in(4)
            .then(|| (draw.within(0..=40), draw.size(1..=3))),
        initial,
        events,
        requests: Vec::new(),
    };
    let region = draw.within(20..=backing);
    let mut at = 0;
    let mut next = 0;
    for _ in 0..draw.within(5..=120) {
        at += draw.pick(&[1, 1_000, 1_000_000, 30_000_000]) * draw.within(0..=9)
            + 1
            + draw.within(0..=996);
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
        let blocks = draw.within(1..=20.min(region));
        let lbn = draw.within(0..=region - blocks);
        let lbn = if draw.once_in(5) && next + blocks <= region {
            next
        } else {
            lbn
        };
        let is_flush = draw.once_in(20);
        let (op, lbn, blocks) = if is_flush {
            (Op::Flush, 0, 0)
        } else {
            (op, lbn, blocks)
        };
        next = lbn + blocks;
        case.requests.push(Asked {
            at,
            op,
            lbn,
            blocks,
            fua: op == Op::Write && draw.once_in(8),
        });
    }
    // The counters are those of a tier that has nothing to do any more.
    case.requests.push(Asked {
        at: at + 10_000_000_000,
        op: Op::Read,
        lbn: 0,
        blocks: 1,
        fua: false,
    });
    case
}
