//! Random cases: a number gives the same one on every machine.

use diskwright::engine::request::Op;

use super::specs::{Case, Curve, Kind};
use crate::support::twins::{Asked, Draw, Simple};

const MS: u64 = 1_000_000;
/// Times of a block that rates have exactly, ns.
const PER_BLOCK: [u64; 5] = [0, 0, 512, 1_000, 5_120];

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut draw = Draw::new(number, "timed twin");
    let blocks = draw.scaled(8..=100_000);
    let per_block = draw.pick(&PER_BLOCK);
    let kind = match draw.coin() {
        true => Kind::Simple(Simple {
            blocks,
            read: draw.time(4 * MS),
            write: draw.time(4 * MS),
            per_block,
            parallel: draw.pick(&[1, 1, 2, 3, 8]),
        }),
        false => Kind::Curve(Curve {
            blocks,
            read: curve(&mut draw, blocks),
            write: curve(&mut draw, blocks),
            per_block,
        }),
    };
    let mut case = Case {
        kind,
        users: draw.coin().then(|| draw.scaled(1..=12)),
        requests: Vec::new(),
    };
    requests(&mut draw, &mut case);
    case
}

fn curve(draw: &mut Draw, blocks: u64) -> Vec<(u64, u64)> {
    let mut points = Vec::new();
    let mut distance = draw.pick(&[0, 0, 1, 10]);
    for _ in 0..draw.within(1..=6) {
        points.push((distance, draw.time(9 * MS)));
        distance += draw.scaled(1..=blocks);
    }
    points
}

fn requests(draw: &mut Draw, case: &mut Case) {
    let blocks = case.kind.blocks();
    let odd = draw.pick(&[0, 5, 30]);
    let gap = draw.scaled(1_000..=5 * MS);
    // Often requests at round instants, so that arrivals and ends meet.
    let round = draw.pick(&[1, 1, MS / 2]);
    let mut now = 0;
    for _ in 0..draw.within(10..=120) {
        if case.users.is_none() {
            now += draw.within(0..=gap) / round * round;
        }
        let size = draw.scaled(1..=blocks.min(64));
        let op = match (draw.percent(odd), draw.coin()) {
            (true, true) => Op::Flush,
            (true, false) => Op::Trim,
            (false, true) => Op::Write,
            (false, false) => Op::Read,
        };
        let lbn = draw.within(0..=blocks - size);
        let fua = op == Op::Write && draw.percent(odd);
        let asked = Asked::new(now, (op, fua), (lbn, size));
        case.requests.push(asked);
    }
}
