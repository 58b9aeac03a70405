//! Loads.

use diskwright::engine::request::Op;

use super::super::places;
use super::super::specs::{Asked, Case};
use super::{Draw, MS};

pub fn requests(draw: &mut Draw, case: &mut Case) {
    let blocks = places::of(&case.drive.layout).len() as u64 * case.drive.sector;
    // Often few blocks, so that requests meet.
    let region = match draw.percent(40) {
        true => draw.scaled(8..=300).min(blocks),
        false => blocks,
    };
    let first = draw.within(0..=blocks - region);
    let longest = draw.pick(&[1, 4, 16, 16, 200]).min(region);
    let buffer = case.drive.buffer.as_ref();
    let longest = buffer.map_or(longest, |buffer| longest.min(buffer.longest()));
    let unit = draw.pick(&[1, 1, case.drive.sector]).min(longest);
    let writes = draw.pick(&[10, 30, 50, 90]);
    let runs = draw.pick(&[0, 0, 30, 70]);
    let odd = draw.pick(&[0, 3, 10]);
    let gap = draw.scaled(1_000..=30 * MS);
    let mut end = first;
    let mut now = 0;
    for number in 0..draw.within(20..=120) {
        if case.users.is_none() && number > 0 {
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
        let size = draw.scaled(1..=longest) / unit * unit;
        let size = size.max(1);
        let mut lbn = match draw.percent(runs) {
            true => end,
            false => first + draw.within(0..=region - size) / unit * unit,
        };
        if lbn + size > first + region {
            lbn = first;
        }
        if op != Op::Flush {
            end = lbn + size;
        }
        let fua = op == Op::Write && draw.percent(odd);
        let asked = Asked::new(now, (op, fua), (lbn, size));
        case.requests.push(asked);
    }
}
