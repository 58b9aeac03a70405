//! Random cases: a number gives the same one on every machine.

use super::log::Log;
use super::specs::{Adaptive, Allocator, ArmSpec, Case, Choice, Cleaner, LogSpec, Ties};
use crate::hdd_twin;
use crate::hdd_twin::medium::Medium;
use crate::support::twins::Draw;

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut disk = hdd_twin::random_case(number);
    (disk.drive.buffer, disk.cache) = (None, None);
    let mut draw = Draw::new(number, "arms twin");
    let is_independent = draw.coin();
    let layout = &disk.drive.layout;
    let all = ArmSpec {
        angle: 0,
        reads: true,
        writes: true,
        surfaces: (0, layout.surfaces - 1),
        cylinders: (0, layout.cylinders - 1),
        start: 0,
    };
    let mut of_log = Draw::new(number, "arms twin's log");
    let has_log = of_log.coin();
    let mut arms = match (has_log, is_independent) {
        (false, true) => independent(&mut draw, all),
        (false, false) => one_at_a_time(&mut draw, all),
        (true, _) => over_all(&mut of_log, all, is_independent),
    };
    for arm in &mut arms {
        arm.angle = match draw.within(0..=3) {
            0 => 0,
            1 => 32,
            _ => draw.within(0..=63),
        };
        arm.start = match draw.coin() {
            true => arm.cylinders.0,
            false => draw.within(arm.cylinders.0..=arm.cylinders.1),
        };
    }
    let number_of = |draw: &mut Draw| draw.size(0..=arms.len() as u64 - 1);
    let choice = match draw.within(0..=3) {
        0 => Choice::Nearest,
        1 => Choice::Split {
            reads: number_of(&mut draw),
            writes: number_of(&mut draw),
        },
        _ => Choice::Soonest,
    };
    let choice = match of_log.percent(15) {
        true => Choice::Adaptive(Adaptive {
            window: of_log.scaled(1..=20),
            margin: of_log.pick(&[0, 1, 20]),
            reads: number_of(&mut of_log),
            writes: number_of(&mut of_log),
        }),
        false => choice,
    };
    let mut case = Case {
        disk,
        is_independent,
        choice,
        arms,
        log: None,
    };
    if has_log {
        log(&mut of_log, &mut case);
    }
    case
}

/// The case of a number of drives with a cache in front of their queue.
pub fn cached(number: u64) -> Case {
    let mut case = case(number);
    let mut draw = Draw::new(number, "arms twin's cache");
    case.disk.cache = Some(hdd_twin::random_cache(&mut draw));
    case
}

/// Puts the data of a drive in a log, as far as slots fit on its tracks.
fn log(draw: &mut Draw, case: &mut Case) {
    let drive = &case.disk.drive;
    let mut spec = LogSpec {
        sectors: draw.pick(&[1, 2, 4, 8]),
        allocator: draw.pick(&[
            Allocator::Soonest,
            Allocator::Soonest,
            Allocator::NearestCylinder,
            Allocator::Edge,
        ]),
        ties: draw.pick(&[Ties::Outward, Ties::Emptier, Ties::Inward]),
        reserve: draw.pick(&[0, 1, 8, 32]),
        has_virtual_log: draw.percent(25),
        cleaner: match draw.within(0..=3) {
            0 => Some(Cleaner::Idle {
                after: draw.time(20_000_000),
                empty: 64 - draw.scaled(1..=63),
            }),
            1 => Some(Cleaner::Watermark {
                low: 64 - draw.scaled(1..=64),
                high: 64 - draw.scaled(1..=64),
            }),
            _ => None,
        },
        initial: draw.pick(&[0, 0, 5, 60]),
    };
    // A cleaner has something to do.
    if spec.cleaner.is_some() {
        spec.initial = draw.pick(&[5, 20, 60, 200]);
    }
    let medium = Medium::new(&case.disk);
    let log = Log::new(spec, &medium);
    let capacity = log.blocks * spec.sectors * drive.sector;
    if log.blocks < 4 {
        return;
    }
    // Few blocks that are written again and again, often.
    let region = match draw.percent(60) {
        true => draw.scaled(1..=capacity).max(spec.sectors * drive.sector),
        false => capacity,
    };
    for asked in &mut case.disk.requests {
        asked.blocks = asked.blocks.min(region);
        asked.lbn %= region - asked.blocks + 1;
    }
    case.log = Some(spec);
}

/// Arms that reach all of a drive.
fn over_all(draw: &mut Draw, all: ArmSpec, is_independent: bool) -> Vec<ArmSpec> {
    let count = draw.size(1..=3);
    match (draw.within(0..=2), is_independent) {
        (0, true) => vec![reader(all), writer(all), writer(all)],
        (0, false) => vec![reader(all), writer(all), all],
        (1, _) => vec![reader(all), writer(all)],
        _ => vec![all; count],
    }
}

/// Arms of which each track has one that reads and one that writes.
fn one_at_a_time(draw: &mut Draw, all: ArmSpec) -> Vec<ArmSpec> {
    let mut arms = match draw.within(0..=3) {
        0 => halves(draw, all),
        1 => vec![reader(all), writer(all)],
        _ => vec![all],
    };
    for _ in 0..draw.within(u64::from(arms.len() == 1)..=2) {
        let mut arm = match draw.coin() {
            true => all,
            false => part(draw, all),
        };
        match draw.within(0..=3) {
            0 => arm.reads = false,
            1 => arm.writes = false,
            _ => {}
        }
        arms.push(arm);
    }
    arms
}

fn reader(all: ArmSpec) -> ArmSpec {
    ArmSpec {
        writes: false,
        ..all
    }
}

fn writer(all: ArmSpec) -> ArmSpec {
    ArmSpec {
        reads: false,
        ..all
    }
}

/// Arms that serve the same requests, or none in common.
fn independent(draw: &mut Draw, all: ArmSpec) -> Vec<ArmSpec> {
    let kinds = match draw.within(0..=2) {
        0 => vec![all],
        1 => halves(draw, all),
        _ => vec![reader(all), writer(all)],
    };
    let mut arms = Vec::new();
    for kind in &kinds {
        let least = 1 + u64::from(kinds.len() == 1);
        arms.extend((0..draw.within(least..=3)).map(|_| *kind));
    }
    arms
}

/// Two arms with a part of the surfaces or of the cylinders each; one where there is no more.
fn halves(draw: &mut Draw, all: ArmSpec) -> Vec<ArmSpec> {
    let (surfaces, cylinders) = (all.surfaces.1 + 1, all.cylinders.1 + 1);
    let (mut lower, mut upper) = (all, all);
    if surfaces > 1 && draw.coin() {
        let from = draw.within(1..=surfaces - 1);
        lower.surfaces.1 = from - 1;
        upper.surfaces.0 = from;
    } else {
        let from = draw.within(1..=cylinders - 1);
        lower.cylinders.1 = from - 1;
        upper.cylinders.0 = from;
    }
    vec![lower, upper]
}

/// An arm with some of the surfaces and of the cylinders.
fn part(draw: &mut Draw, all: ArmSpec) -> ArmSpec {
    let mut some = |(first, last): (u64, u64)| {
        let from = draw.within(first..=last);
        (from, draw.within(from..=last))
    };
    ArmSpec {
        surfaces: some(all.surfaces),
        cylinders: some(all.cylinders),
        ..all
    }
}
