//! Random cases: a number gives the same one on every machine.

use diskwright::engine::request::Op;

use super::specs::{
    Asked, Buffer, Case, Drive, Failures, Link, LogMap, LowState, PowerStates, Queues, Rate,
    Refresh, Retry, Separation, Slc, Suspension,
};
use crate::support::twins::Draw;

/// The case of a number.
pub fn case(number: u64) -> Case {
    let mut draw = Draw::new(number, "ssd twin");
    // What it has besides, which changes nothing else of it.
    let mut more = Draw::new(number, "ssd twin, more");
    let mut drive = drive(&mut draw, &mut more);
    parts_and_frames(number, &mut drive);
    with_requests(draw, more, drive)
}

/// Some drives read parts of pages faster, and have frames on their link.
fn parts_and_frames(number: u64, drive: &mut Drive) {
    let mut draw = Draw::new(number, "ssd twin, parts and frames");
    if draw.coin() {
        let types = draw.within(1..=2);
        drive.read_part = Some((0..types).map(|_| draw.within(1..=90_000)).collect());
    }
    if draw.coin() {
        drive.frames = draw.pick(&[1, 100]) * draw.within(0..=20);
    }
}

/// Some drives enter low power states.
fn power_states(number: u64, drive: &mut Drive) {
    let mut draw = Draw::new(number, "ssd twin, power states");
    if draw.coin() {
        return;
    }
    let mut state = || LowState {
        after: draw.pick(&[0, 1_000, 100_000]) * draw.within(0..=9),
        enter: draw.pick(&[0, 1, 10_000]) * draw.within(0..=30),
        leave: draw.pick(&[0, 1, 100_000]) * draw.within(0..=30),
    };
    let (slumber, mut devsleep) = (state(), state());
    if draw.coin() {
        devsleep.after += slumber.after;
    }
    let states = match draw.within(0..=2) {
        0 => [Some(slumber), None],
        1 => [None, Some(devsleep)],
        _ => [Some(slumber), Some(devsleep)],
    };
    let slowest = states.iter().flatten().map(|state| state.leave);
    let slowest = slowest.max().expect("there is a state");
    drive.power = Some(PowerStates {
        states,
        apst: (draw.within(0..=3) == 0).then(|| slowest + draw.pick(&[0, 1_000])),
    });
}

/// Keeps from the host what the planes cannot hold, with so many blocks of each that may be lost; a page a plane is lost where data do not divide
/// evenly.
fn spare(drive: &mut Drive, lost: usize) {
    let limit = drive.limit(drive.blocks - drive.reserved - lost);
    let room = drive.planes() * (limit - drive.units.min(limit - 1));
    let of_map = match drive.map_cache {
        Some(_) => drive.all_units().div_ceil(drive.map_entries()),
        None => 0,
    };
    let room = room.saturating_sub(of_map).max(1);
    let all = drive.all_units() as f64;
    drive.spare = libm::ceil((1.0 - room as f64 / all) * 100.0).min(99.0);
}

/// The case of a number, of a drive with some of: several streams, operations on several planes, blocks that are cleaned side by side and in idle
/// time, a limited endurance, checkpoints, low power states.
pub fn case_with_more(number: u64) -> Case {
    let mut draw = Draw::new(number, "ssd twin, options");
    let mut more = Draw::new(number, "ssd twin, options, more");
    let mut drive = drive(&mut draw, &mut more);
    options(&mut more, &mut drive);
    parts_and_frames(number, &mut drive);
    power_states(number, &mut drive);
    let mut case = with_requests(draw, more, drive);
    let mut cuts = Draw::new(number, "ssd twin, power cut");
    // What a drive knows of programs that failed is not in the twin, nor is a host that sends streams cut off.
    if case.drive.failures.is_none() && case.drive.queues.is_none() && cuts.coin() {
        let last = case
            .requests
            .iter()
            .rev()
            .nth(2)
            .map_or(0, |asked| asked.at);
        case.cut = Some(cuts.within(1..=1 + last + last / 4));
    }
    case
}

fn options(more: &mut Draw, drive: &mut Drive) {
    if more.coin() {
        drive.separation = match more.coin() {
            true => Separation::BySize(more.within(1..=2 * drive.unit_blocks)),
            false => Separation::MultiHash {
                counters: more.within(1..=40),
                hot: more.within(1..=4) as u8,
                decay: more.within(1..=60),
            },
        };
    }
    if more.coin() {
        drive.at_once = more.size(2..=4);
        drive.separate = true;
    }
    if more.coin() {
        drive.write_delay = more.within(1..=9_000);
    }
    if more.coin() {
        drive.multi_plane = Some([more.within(0..=900), more.within(0..=900)]);
        drive.counts[3] = more.size(1..=4);
    }
    if more.coin() && drive.background {
        let after = more.pick(&[1, 1_000, 100_000]) * more.within(0..=9);
        drive.idle = Some((after, more.size(1..=6)));
    }
    let mut lost = drive.failures.map_or(0, |_| 2);
    if more.within(0..=3) == 0 {
        drive.endurance = Some(more.within(1..=5));
        lost += more.size(0..=2);
    }
    if more.coin() {
        drive.reserved = more.size(1..=2);
        drive.checkpoint = Some(more.within(1..=20));
    }
    // Room for their blocks.
    drive.blocks += lost + drive.reserved + drive.streams() - 1;
    spare(drive, lost);
}

/// The case of a number, of a drive with parity.
pub fn case_with_parity(number: u64) -> Case {
    let mut draw = Draw::new(number, "ssd twin, parity");
    let mut more = Draw::new(number, "ssd twin, parity, more");
    let mut drive = drive(&mut draw, &mut more);
    parity(&mut more, &mut drive);
    parts_and_frames(number, &mut drive);
    with_requests(draw, more, drive)
}

/// The case of a number, of a drive with a map of blocks.
pub fn case_with_blocks(number: u64) -> Case {
    let mut draw = Draw::new(number, "ssd twin, blocks");
    let mut more = Draw::new(number, "ssd twin, blocks, more");
    let mut drive = drive(&mut draw, &mut more);
    blocks(&mut more, &mut drive);
    parts_and_frames(number, &mut drive);
    with_requests(draw, more, drive)
}

/// Gives a drive a map of blocks, and takes from it what has no meaning with that, or is not in the twin.
fn blocks(more: &mut Draw, drive: &mut Drive) {
    let scheme = more.pick(&["block", "bast", "fast"]);
    let log = LogMap {
        scheme,
        log_blocks: more.size(1..=4) + usize::from(scheme == "fast"),
        victim: match scheme {
            "fast" => more.pick(&[None, Some("fifo")]),
            _ => more.pick(&[None, Some("fifo"), Some("lru")]),
        },
    };
    drive.log = Some(log);
    (drive.units, drive.fixed, drive.reads_allocate) = (1, 4, false);
    (drive.slc, drive.failures, drive.map_cache) = (None, None, None);
    if let Some(buffer) = &mut drive.buffer {
        buffer.entries = buffer.entries.max(1);
    }
    if more.coin() {
        drive.multi_plane = Some([more.within(0..=900), more.within(0..=900)]);
        drive.counts[3] = more.size(1..=4);
    }
    // Whole logical blocks, beside log blocks and one to merge into.
    let logical = more.size(1..=6);
    drive.blocks = drive.reserved + logical + log.log_blocks + 1 + more.size(0..=2);
    drive.blocks = drive.blocks.max(4);
    let units = drive.planes() * (logical * drive.pages - more.size(0..=drive.pages as u64 - 1));
    let all = drive.all_units() as f64;
    drive.spare = libm::ceil((1.0 - units as f64 / all) * 1e4) / 1e2;
}

/// Gives a drive parity, and takes from it what has no meaning with that.
fn parity(more: &mut Draw, drive: &mut Drive) {
    drive.counts = [
        more.size(1..=3),
        more.size(1..=2),
        more.size(1..=2),
        more.size(1..=2),
    ];
    let dies = |drive: &Drive| drive.counts[..3].iter().product::<usize>();
    if dies(drive) == 1 {
        drive.counts[0] = 2;
    }
    let dies = dies(drive);
    let stripes: Vec<usize> = (2..=dies).filter(|stripe| dies % stripe == 0).collect();
    drive.order = more.pick(&[[0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3], [2, 1, 0, 3]]);
    (drive.fixed, drive.separate) = (0, true);
    (drive.reads_allocate, drive.copy_back) = (false, false);
    (drive.slc, drive.failures, drive.refresh) = (None, None, None);
    (drive.levelled_by, drive.map_cache) = (None, None);
    let width = more.pick(&stripes);
    drive.parity = Some(width);
    let limit = drive.limit_of_set(drive.blocks - drive.reserved, width);
    let room = drive.planes() / width * (limit - drive.units.min(limit - 1));
    // Some are nearly full, most have room for what they clean.
    let room = room * more.size(6..=10) / 10;
    let all = drive.all_units() as f64;
    drive.spare = libm::ceil((1.0 - room.max(1) as f64 / all) * 100.0).min(99.0);
}

fn with_requests(mut draw: Draw, mut more: Draw, drive: Drive) -> Case {
    let blocks = drive.host_units() as u64 * drive.unit_blocks;
    let mut at = 0;
    let mut requests = Vec::new();
    for _ in 0..draw.within(10..=400) {
        at += draw.pick(&[0, 0, 1_000, 100_000]) * draw.within(0..=9);
        let op = draw.pick(&[
            Op::Read,
            Op::Read,
            Op::Write,
            Op::Write,
            Op::Write,
            Op::Trim,
        ]);
        let length = draw.within(1..=(3 * drive.unit_blocks).min(blocks));
        let lbn = draw.within(0..=blocks - length);
        let (op, lbn, length) = match drive.buffer {
            Some(_) if draw.within(0..=15) == 0 => (Op::Flush, 0, 0),
            _ => (op, lbn, length),
        };
        requests.push(Asked {
            at,
            op,
            lbn,
            blocks: length,
            fua: op == Op::Write && draw.within(0..=7) == 0,
            stream: more.size(0..=4),
        });
    }
    // The counters are those of a drive that has nothing to do any more: the reads may bring parts of the map, for which others are written, and the
    // run ends with the flush, behind all of it. A drive that patrols always has something to do, and its counters are not compared.
    let apart = if drive.patrols() {
        200_000_000
    } else {
        100_000_000_000
    };
    let last = [(1, Op::Read), (2, Op::Read), (3, Op::Flush)];
    requests.extend(last.map(|(later, op)| Asked {
        at: at + later * apart,
        op,
        lbn: 0,
        blocks: u64::from(op == Op::Read),
        fua: false,
        stream: 0,
    }));
    Case {
        drive,
        requests,
        cut: None,
    }
}

fn suspension(draw: &mut Draw) -> Suspension {
    Suspension {
        cost: draw.pick(&[0, 1, 1_000]) * draw.within(0..=30),
        resume: draw.pick(&[0, 1, 1_000]) * draw.within(0..=30),
        gap: draw.pick(&[0, 1, 10_000]) * draw.within(0..=30),
        most: draw.size(1..=4),
    }
}

fn link(draw: &mut Draw) -> Link {
    if draw.coin() {
        return Link::Sata {
            generation: draw.within(1..=3) as u32,
            handshake: draw.pick(&[0, 1, 100]) * draw.within(0..=20),
        };
    }
    Link::Pcie {
        generation: draw.within(1..=5) as u32,
        lanes: draw.pick(&[1, 2, 4, 8, 16]),
        payload: draw.pick(&[128, 256, 512, 1024, 2048, 4096]),
        latency: draw.pick(&[0, 1, 100]) * draw.within(0..=20),
    }
}

/// A cache of a drive, which gets blocks for it.
fn slc(draw: &mut Draw, drive: &mut Drive) -> Slc {
    let (fixed, dynamic) = (draw.size(0..=3), draw.size(0..=6));
    drive.blocks += fixed;
    Slc {
        pages: draw.size(1..=drive.pages as u64 - 1),
        fixed,
        dynamic: dynamic.max(usize::from(fixed == 0)),
        read: draw.within(1..=90_000),
        program: draw.within(1..=300_000),
        erase: draw.coin().then(|| draw.within(1..=3_000_000)),
        folds_when_full: draw.coin(),
        fold_after: (drive.background && draw.coin()).then(|| draw.within(0..=900_000)),
    }
}

/// A rate of at most one of these percentages.
fn rate(more: &mut Draw, most: &[f64]) -> Rate {
    let most = more.pick(most);
    let mut part = || most * more.within(0..=10) as f64 / 10.0;
    let (new, worn) = (part(), part());
    Rate {
        new,
        worn,
        erases: more.within(1..=6),
    }
}

/// Failures of a drive, which gets blocks for them; the blocks of a plane that its data do not count on.
fn failures(more: &mut Draw, drive: &mut Drive) -> usize {
    let failures = Failures {
        program: (more.within(0..=3) > 0).then(|| rate(more, &[1.0, 3.0, 10.0])),
        erase: more.coin().then(|| rate(more, &[10.0, 40.0])),
        reserve: more.size(0..=2),
    };
    let spare = more.size(1..=6);
    drive.blocks += failures.reserve + spare;
    drive.failures = Some(failures);
    spare
}

fn queues(more: &mut Draw) -> Queues {
    let count = more.size(1..=4);
    let weights = more.coin().then(|| [(); 3].map(|()| more.size(1..=4)));
    let class = |more: &mut Draw| more.pick(&["urgent", "high", "medium", "low"]);
    let given = match weights {
        Some(_) => more.size(0..=count as u64),
        None => 0,
    };
    Queues {
        count,
        depth: more.coin().then(|| more.size(1..=8)),
        burst: more.size(1..=3),
        weights,
        classes: (0..given).map(|_| class(more)).collect(),
    }
}

fn drive(draw: &mut Draw, more: &mut Draw) -> Drive {
    let mut order = [0, 1, 2, 3];
    order.rotate_left(draw.size(0..=3));
    let times = |draw: &mut Draw, most| {
        (0..draw.within(1..=2))
            .map(|_| draw.within(1..=most))
            .collect()
    };
    let mut drive = Drive {
        counts: [(); 4].map(|()| draw.size(1..=2)),
        blocks: draw.size(8..=14),
        pages: draw.size(2..=8),
        units: draw.size(1..=3),
        unit_blocks: draw.pick(&[1, 4, 8]),
        parallel: draw.pick(&["dies", "packages", "planes"]),
        order,
        fixed: draw.size(0..=4),
        reads_allocate: draw.coin(),
        copy_back: draw.coin(),
        queue_depth: draw.size(1..=32),
        read: times(draw, 90_000),
        program: times(draw, 900_000),
        erase: draw.within(1..=3_000_000),
        summary: draw.within(0..=90_000),
        read_command: draw.within(0..=400),
        program_command: draw.within(0..=400),
        erase_command: draw.within(0..=400),
        block: draw.within(1..=4_000),
        start_read: draw.within(0..=9_000),
        start_write: draw.within(0..=9_000),
        mapping: draw.within(0..=900),
        read_end: draw.within(0..=900),
        write_end: draw.within(0..=900),
        rate: draw.within(50..=4_000),
        link: None,
        spare: 0.0,
        reserved: draw.size(0..=1),
        begin: draw.size(0..=4),
        stop: draw.size(0..=4),
        victim: draw.pick(&["greedy", "fifo", "cost-benefit"]),
        separate: draw.coin(),
        throttled: draw.coin(),
        background: draw.coin(),
        levelling: draw.coin(),
        fill: draw.pick(&[0, 50, 100]),
        buffer: None,
        slc: None,
        retry: None,
        refresh: None,
        levelled_by: None,
        map_cache: None,
        suspend_program: None,
        suspend_erase: None,
        failures: None,
        queues: None,
        parity: None,
        log: None,
        read_part: None,
        frames: 0,
        separation: Separation::Single,
        at_once: 1,
        write_delay: 0,
        multi_plane: None,
        idle: None,
        endurance: None,
        checkpoint: None,
        power: None,
    };
    if draw.within(0..=2) == 0 {
        drive.suspend_program = Some(suspension(draw));
    }
    if draw.within(0..=2) == 0 {
        drive.suspend_erase = Some(suspension(draw));
    }
    if draw.within(0..=2) == 0 {
        drive.slc = Some(slc(draw, &mut drive));
    }
    if draw.within(0..=2) == 0 {
        drive.map_cache = Some(draw.size(1..=4));
    }
    if draw.within(0..=2) == 0 {
        drive.levelled_by = Some((draw.within(0..=2), draw.size(2..=4)));
    }
    if draw.within(0..=2) == 0 {
        drive.retry = Some(Retry {
            time: draw.within(0..=90_000),
            erases: draw.coin().then(|| draw.within(1..=3)),
            age: draw.coin().then(|| draw.within(1..=90_000_000)),
            most: draw.within(0..=9),
            initial_age: draw.pick(&[0, 1_000_000]) * draw.within(0..=90),
        });
    }
    if draw.within(0..=2) == 0 {
        drive.refresh = Some(Refresh {
            reads: draw.coin().then(|| draw.within(1..=30)),
            age: draw.coin().then(|| draw.within(0..=90_000_000)),
            // Rarely at an instant at which a request arrives; of some drives oftener than they can refresh.
            period: match draw.within(0..=3) {
                0 => 200_007 + draw.within(0..=90) * 10_000,
                _ => 5_000_007 + draw.within(0..=90) * 1_000_000,
            },
        });
    }
    if draw.within(0..=2) == 0 {
        drive.link = Some(link(draw));
    }
    let spared = match more.within(0..=2) {
        0 => failures(more, &mut drive),
        _ => 0,
    };
    if more.within(0..=2) == 0 {
        drive.queues = Some(queues(more));
    }
    spare(&mut drive, spared);
    if draw.coin() {
        drive.buffer = Some(Buffer {
            entries: draw.size(1..=24).max(drive.units),
            has_capacitor: draw.coin(),
            hold: draw.pick(&[1, 30_000, 3_000_000]) * draw.within(1..=9),
        });
    }
    drive
}
