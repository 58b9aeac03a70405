//! The twin against times worked out by hand.
//!
//! The platter turns in 10 ms past 100 sectors of one block, and a block takes 0.1 ms on the interface. Tracks have no skew, so that sector 0 of
//! each passes at every multiple of 10 ms. A seek takes 1 ms, the controller 0.5 ms before and 0.05 ms after a request that needs the medium,
//! and 0.2 ms for a hit.

use diskwright::engine::request::Op;

use super::model::{Began, Kind, Model};
use super::specs::{Asked, Case, Pool};

const MS: u64 = 1_000_000;

/// Requests as (ms, what, first block, blocks): `R`, `W`, `U` for a FUA write, `F` for a flush, `T` for a trim.
fn case(requests: &[(f64, char, u64, u64)]) -> Case {
    let drive = "name = \"by hand\"\nrotation = \"6000 rpm\"\nheads.switch = \"0 ms\"\nseek.constant = \"1 ms\"\n\
         interface.block_time = \"0.1 ms\"\n\
         [overhead]\nread_after_read = \"0.5 ms\"\nwrite_after_write = \"0.5 ms\"\ncompletion_read = \"0.05 ms\"\ncompletion_write = \"0.05 ms\"\n\
         [layout]\nsurfaces = 1\ncylinders = 50\nzone = [{ cylinders = [0, 49], sectors_per_track = 100 }]\n";
    let asked = |&(ms, what, lbn, blocks): &(f64, char, u64, u64)| Asked {
        at: ns(ms),
        op: match what {
            'R' => Op::Read,
            'F' => Op::Flush,
            'T' => Op::Trim,
            _ => Op::Write,
        },
        fua: what == 'U',
        lbn,
        blocks,
    };
    Case {
        drive: drive.to_owned(),
        pool: Pool {
            frames: 64,
            extent: 4,
            policy: "lru",
            hit_overhead: MS / 5,
            streams: 4,
            after: 1,
            most: 0,
            least: 0,
            yields: true,
            share: 8,
            high: 16,
            low: 8,
            idle: 1_000_000 * MS,
            age: 1_000_000 * MS,
            longest: 256,
            memory: None,
            region: None,
        },
        write_cache: true,
        depth: 32,
        scheduler: "satf",
        users: None,
        requests: requests.iter().map(asked).collect(),
    }
}

fn ns(ms: f64) -> u64 {
    libm::round(ms * 1e6) as u64
}

/// The completions that a case has.
#[track_caller]
fn check<'a>(case: &'a Case, completions: &[f64]) -> Model<'a> {
    let mut model = Model::new(case);
    model.run();
    let found: Vec<Option<u64>> = model.completions.clone();
    let expected: Vec<Option<u64>> = completions.iter().map(|&ms| Some(ns(ms))).collect();
    assert_eq!(found, expected);
    model
}

/// What an arm began, with its time in ms.
fn began(list: &[(u64, u64, f64)]) -> Vec<Began> {
    let with_ns = |&(from, blocks, ms): &(u64, u64, f64)| (from, blocks, ns(ms));
    list.iter().map(with_ns).collect()
}

fn of_kinds(model: &Model<'_>, kinds: &[Kind]) -> Vec<Began> {
    let its = model.began.iter().filter(|(kind, _)| kinds.contains(kind));
    its.map(|&(_, began)| began).collect()
}

/// Destages and writes through.
fn writes(model: &Model<'_>) -> Vec<Began> {
    of_kinds(model, &[Kind::Write, Kind::Destage])
}

/// Pieces of read-ahead.
fn pieces(model: &Model<'_>) -> Vec<Began> {
    of_kinds(model, &[Kind::Piece])
}

#[test]
fn a_miss_and_a_hit() {
    // The arm may move at 0.5 ms, sector 3 passes at 10.3 ms, and its block crosses until 10.5 ms.
    let case = case(&[(0.0, 'R', 3, 1), (20.0, 'R', 3, 1), (20.0, 'R', 2, 2)]);
    // The third read lacks block 2, whose sector passes at 30.2 ms; of its two blocks one is behind the sector's.
    check(&case, &[10.55, 20.3, 30.45]);
}

#[test]
fn blocks_of_a_long_read_cross_after_one_another() {
    // The second read is off the medium at 11.5 ms, when the interface has ten blocks of the first one to carry until 12 ms.
    let mut case = case(&[(0.0, 'R', 0, 10), (0.0, 'R', 50, 10), (0.0, 'R', 62, 1)]);
    case.drive = case.drive.replace("\"0.1 ms\"", "\"0.3 ms\"");
    case.scheduler = "fcfs";
    // m = 11.0, c = max(11.3, 3.0); then m = 16.0, c = max(16.3, 11.3 + 3.0); then m = 16.3, c = max(16.6, 16.3 + 0.3).
    check(&case, &[11.35, 16.35, 16.65]);
}

#[test]
fn an_absorbed_write_and_one_through() {
    let requests = [(0.0, 'W', 3, 1), (1.0, 'R', 3, 1), (2.0, 'U', 3, 2)];
    let mut case = case(&requests);
    // The FUA write crosses until 2.7 ms, and its sectors pass from 10.3 to 10.5 ms.
    let model = check(&case, &[0.3, 1.3, 10.55]);
    assert_eq!(writes(&model), began(&[(3, 2, 2.0)]));
    assert_eq!(model.dirty(), 1);
    case.write_cache = false;
    // The first write ends at 10.4 ms; its block is valid at once. The other waits for it.
    check(&case, &[10.45, 1.3, 20.55]);
    // A persistent memory takes FUA writes, too.
    case.pool.memory = Some(8);
    check(&case, &[0.3, 1.3, 2.4]);
}

#[test]
fn a_flush_destages_what_is_reached_soonest() {
    let mut case = case(&[
        (0.0, 'W', 50, 1),
        (0.0, 'W', 20, 1),
        (0.0, 'W', 80, 3),
        (0.0, 'W', 84, 1),
        (0.0, 'W', 83, 1),
        (5.0, 'F', 0, 0),
    ]);
    let completions = [0.3, 0.6, 1.1, 1.4, 1.7, 12.6];
    let model = check(&case, &completions);
    assert_eq!(
        writes(&model),
        began(&[(50, 1, 5.0), (80, 5, 5.1), (20, 1, 8.5)])
    );
    case.pool.longest = 4;
    // The fifth block of the run is another destage, which comes just in time.
    let model = check(&case, &completions);
    let expected = [(50, 1, 5.0), (80, 4, 5.1), (84, 1, 8.4), (20, 1, 8.5)];
    assert_eq!(writes(&model), began(&expected));
}

#[test]
fn idle_time_and_age_destage() {
    let mut case = case(&[
        (0.0, 'W', 50, 1),
        (0.0, 'R', 10, 1),
        (40.0, 'W', 0, 1),
        (70.0, 'R', 200, 1),
    ]);
    case.pool.idle = 3 * MS;
    // Block 10 passes until 1.1 ms, and the arm has nothing to do until 4.1 ms. The second write comes after a long idle time.
    let completions = [0.3, 1.25, 40.3, 80.25];
    let model = check(&case, &completions);
    assert_eq!(writes(&model), began(&[(50, 1, 4.1), (0, 1, 40.0)]));
    case.pool.idle = 1_000 * MS;
    case.pool.age = 20 * MS;
    let model = check(&case, &completions);
    assert_eq!(writes(&model), began(&[(50, 1, 20.0), (0, 1, 60.0)]));
}

#[test]
fn a_cache_of_one_slot_makes_writes_wait() {
    let mut case = case(&[
        (0.0, 'W', 50, 1),
        (0.0, 'W', 20, 1),
        (0.0, 'W', 21, 1),
        (0.0, 'W', 0, 5),
    ]);
    case.pool.share = 1;
    case.pool.frames = 16;
    // Two extents are more than there may be: that write waits behind the others, and goes through at 5.1 ms, when the interface has
    // carried the blocks of those that were absorbed then. It waits for its turn with the destage of blocks 20 and 21, which comes first.
    let mut model = Model::new(&case);
    model.run();
    assert_eq!(writes(&model)[0], (50, 1, 0));
    assert_eq!(model.completions[0], Some(ns(0.3)));
    assert_eq!(model.completions[1..3], [Some(ns(5.4)), Some(ns(5.7))]);
    assert_eq!(writes(&model)[1], (0, 5, ns(5.1)));
    // 5.7 ms, the controller's 0.5 ms and 0.5 ms on the interface: sector 0 passes at 10 ms.
    assert_eq!(model.completions[3], Some(ns(10.55)));
}

#[test]
fn pressing_destages_take_turns_with_the_host() {
    let mut case = case(&[
        (0.0, 'W', 50, 1),
        (0.0, 'W', 20, 1),
        (0.1, 'R', 25, 1),
        (0.1, 'R', 30, 1),
        (2.0, 'R', 55, 1),
    ]);
    (case.pool.high, case.pool.low) = (1, 0);
    // Two of 32 extents are enough, and destaging presses until none is left. After a destage the host is next; block 30 comes by sooner
    // than block 50, block 55 does not.
    let model = check(&case, &[0.3, 0.6, 2.75, 3.25, 5.75]);
    assert_eq!(writes(&model), began(&[(20, 1, 0.0), (50, 1, 3.1)]));
}

#[test]
fn a_region_takes_writes_into_the_next_free_slots() {
    let mut case = case(&[
        (0.0, 'W', 3, 1),
        (3.0, 'W', 50, 1),
        (5.0, 'W', 3, 1),
        (10.1, 'W', 3, 1),
        (20.9, 'W', 3, 1),
        (21.0, 'F', 0, 0),
    ]);
    case.write_cache = false;
    case.pool.memory = Some(16);
    case.pool.region = Some((1, 20));
    // A slot passes in 0.4 ms. The arm is on cylinder 25 at 1.6 ms, as slot 4 comes by, and stays there. Slots 9 and 14 come just in time,
    // slot 2 at 10.8 ms, and slot 4, which is free again, at 21.6 ms.
    check(&case, &[2.05, 4.05, 6.05, 11.25, 22.05, 21.5]);
}

#[test]
fn a_trim_waits_and_what_it_trims_is_not_destaged() {
    let mut case = case(&[
        (0.0, 'W', 80, 4),
        (1.0, 'T', 80, 4),
        (2.0, 'F', 0, 0),
        (10.0, 'R', 50, 1),
        (11.0, 'T', 50, 1),
        (12.0, 'R', 60, 1),
        (30.0, 'R', 50, 1),
    ]);
    case.scheduler = "fcfs";
    // The second trim is taken when block 50 has been read, at 15.1 ms, and the read behind it then.
    let model = check(&case, &[0.6, 1.5, 2.5, 15.25, 15.6, 16.25, 35.25]);
    assert_eq!(writes(&model), []);
}

#[test]
fn what_was_read_ahead_of_a_stream_that_is_given_up_is_dropped() {
    let mut case = stream(&[(60.0, 'R', 250, 1), (80.0, 'R', 148, 2), (90.0, 'R', 20, 1)]);
    case.pool.streams = 1;
    // Block 148 is in an extent that goes beyond the stream's end, block 20 in one that was dropped.
    check(&case, &[11.15, 22.15, 65.25, 80.4, 92.25]);
}

/// A stream that begins with blocks 0 to 9.
fn stream(more: &[(f64, char, u64, u64)]) -> Case {
    let mut requests = vec![(0.0, 'R', 0, 10), (15.0, 'R', 10, 10)];
    requests.extend(more);
    let mut case = case(&requests);
    case.pool.most = 130;
    case
}

#[test]
fn a_stream_is_read_ahead_track_by_track() {
    // The second read ends at 22 ms, and its blocks go on as pieces to the end of the track, and on the next one to block 150.
    let case = stream(&[(60.0, 'R', 20, 130), (60.0, 'R', 150, 1)]);
    // The last read finds nothing: its sector passes at 65 ms, and its block crosses behind those of the hit.
    let model = check(&case, &[11.15, 22.15, 73.2, 73.35]);
    assert_eq!(
        pieces(&model)[..2],
        began(&[(20, 80, 22.0), (100, 50, 30.0)])
    );
}

#[test]
fn a_piece_is_interrupted_between_sectors_and_in_its_motion() {
    // Sectors 20 to 29 have passed at 23.05 ms. The arm may move at 23.55 ms, and is there at 24.55 ms; it goes on where it was.
    let yielding = stream(&[(23.05, 'R', 250, 1), (60.0, 'R', 20, 10)]);
    let model = check(&yielding, &[11.15, 22.15, 25.25, 61.2]);
    let first = began(&[(20, 80, 22.0), (30, 70, 25.1)]);
    assert_eq!(pieces(&model)[..2], first);
    // In the motion to the second track: it ends at 31 ms.
    let yielding = stream(&[(30.2, 'R', 250, 1)]);
    let model = check(&yielding, &[11.15, 22.15, 35.25]);
    assert_eq!(pieces(&model)[1], (100, 50, ns(30.0)));
    assert_eq!(pieces(&model)[2], (100, 50, ns(35.1)));
    // A drive that does not yield reads to the end of the piece.
    let mut stubborn = stream(&[(23.05, 'R', 250, 1)]);
    stubborn.pool.yields = false;
    check(&stubborn, &[11.15, 22.15, 35.25]);
}

#[test]
fn an_arm_stays_with_a_stream() {
    // The arm goes to the waiting read at 22 ms and reads its block at 25 ms, then a piece.
    let others = [(15.5, 'R', 250, 1), (60.0, 'R', 20, 30)];
    let leaving = stream(&others);
    let model = check(&leaving, &[11.15, 22.15, 25.25, 63.2]);
    assert_eq!(pieces(&model)[0].0, 20);
    // Block 49 has passed at 25 ms, and the arm misses block 250 in this turn.
    let mut staying = stream(&others);
    staying.pool.least = 30;
    let model = check(&staying, &[11.15, 22.15, 35.25, 63.2]);
    assert_eq!(pieces(&model)[0], (20, 80, ns(22.0)));
    assert_eq!(pieces(&model)[1], (50, 50, ns(35.1)));
    // Beyond the end of the track the arm stays for another piece, of which block 119 has passed at 42 ms.
    let mut longer = stream(&others);
    longer.pool.least = 100;
    let model = check(&longer, &[11.15, 22.15, 45.25, 63.2]);
    assert_eq!(
        pieces(&model)[..2],
        began(&[(20, 80, 22.0), (100, 50, 30.0)])
    );
}

#[test]
fn a_read_waits_for_the_piece_that_has_its_blocks() {
    let case = stream(&[(23.05, 'R', 90, 20)]);
    // The piece ends at 30 ms, and the read lacks blocks 100 to 109, which it reads instead of a piece. It is no read of the stream.
    let model = check(&case, &[11.15, 22.15, 41.15]);
    assert_eq!(pieces(&model)[0], (20, 80, ns(22.0)));
}
