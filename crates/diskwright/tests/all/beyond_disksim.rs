//! What drives may do and those of DiskSim's validation do not: sectors read out of turn, hits that are late at times, a rate of
//! its own to the drive, arms that set off early.

use crate::support::{checked, from_text_in, outcome_of};
use diskwright::base::units::{Lbn, Size, Time};
use diskwright::devices::drives;
use diskwright::devices::hdd::buffer::{Buffer, Move, Service};
use diskwright::devices::hdd::buffer_description::{LateHits, ReadAheadEnd, WriteCompletion};
use diskwright::devices::hdd::drive::DriveDescription;
use diskwright::devices::hdd::{Hardware, Overhead};
use diskwright::engine::request::{Command, Op, Parts};
use diskwright::models::geometry::mechanics::HeadPosition;
use proptest::prelude::*;

/// Blocks of the first tracks of the drive.
const TRACK: u64 = 390;

/// A drive whose electronics take no time, changed.
fn hardware(change: impl FnOnce(&mut DriveDescription)) -> Hardware {
    let text = drives::text("ibm-18es").expect("a drive of the library");
    let mut description: DriveDescription = toml::from_str(text).expect("a sound description");
    description.overhead = Overhead::default();
    description.interface.block_time = Some(Time::ZERO);
    let buffer = description.buffer.as_mut().expect("the drive has a buffer");
    buffer.segment_size = Size::from_blocks(1024);
    buffer.read.hit_after_read = Time::ZERO;
    buffer.write.complete = WriteCompletion::Buffered;
    buffer.write.buffered_after_read = Time::ZERO;
    change(&mut description);
    description.hardware().expect("the drive makes sense")
}

fn buffer(hardware: &Hardware) -> Buffer {
    let description = hardware.buffer.clone().expect("the drive has a buffer");
    Buffer::new(description, hardware.chance.clone())
}

/// The time of a request that comes at `at`, once it is complete and the buffer is up to date.
fn time(hardware: &Hardware, buffer: &mut Buffer, at: Time, op: Op, lbn: u64, blocks: u32) -> Time {
    let command = Command {
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks,
    };
    buffer.advance_to(hardware, at);
    let service = Service {
        command: &command,
        target: &hardware.target_of(&command),
        accepted: at,
        now: at,
        bus_free: Time::ZERO,
        after_write: false,
    };
    buffer.serve(hardware, service, &mut Parts::default()).end - at
}

proptest! {
    /// Each sector is read when it passes whole for the first time.
    #[test]
    fn a_track_is_read_from_whatever_sector_comes(at in 0u64..1 << 40, first in 0..TRACK, blocks in 1u32..391) {
        let blocks = blocks.min((TRACK - first) as u32);
        let set = |drive: &mut DriveDescription| {
            drive.buffer.as_mut().expect("a buffer").read_ahead.while_waiting = true;
        };
        let (hardware, at) = (hardware(set), Time::from_ns(at));
        let found = time(&hardware, &mut buffer(&hardware), at, Op::Read, first, blocks);
        let (spindle, to) = (&hardware.mechanics.spindle, hardware.mechanics.layout.run(first, 1));
        let motion = hardware.mechanics.motion_time(HeadPosition::default(), HeadPosition::over(&to), false);
        let (at, found) = (at + motion, found.saturating_sub(motion));
        let expected = |at: Time| {
            let passed = |lbn: u64| {
                let run = hardware.mechanics.layout.run(lbn, 1);
                spindle.pass(spindle.phase(at), run.angle, 1, run.sectors_per_track).1
            };
            (first..first + u64::from(blocks)).map(passed).max().expect("a block")
        };
        // A sector whose edge comes with the head, to the nanosecond, may be caught or missed.
        let ns = Time::from_ns;
        let near = [at.saturating_sub(ns(3)), at, at + ns(3)].map(expected);
        let is_near = |expected: &Time| found.max(*expected) - found.min(*expected) <= ns(5);
        prop_assert!(near.iter().any(is_near), "{found} for {near:?}");
        // A track and the rest of a sector at most.
        prop_assert!(found <= spindle.period() + Time::from_us(22));
    }
}

#[test]
fn hits_are_late_as_often_as_the_drive_says() {
    let late_ones = |share: f64| {
        let by = Time::from_us(180);
        let hardware = hardware(|drive| {
            let buffer = drive.buffer.as_mut().expect("a buffer");
            buffer.read.late_hits = Some(LateHits { share, by });
            buffer.read_ahead.until = ReadAheadEnd::Track;
        });
        let mut buffer = buffer(&hardware);
        time(&hardware, &mut buffer, Time::ZERO, Op::Read, 0, 4);
        let times = (1..=1000).map(|n| {
            let at = Time::from_ms(100 * n);
            time(&hardware, &mut buffer, at, Op::Read, 8, 4)
        });
        let times: Vec<_> = times.collect();
        assert!(times.iter().all(|&time| time == Time::ZERO || time == by));
        times.iter().filter(|&&time| time == by).count()
    };
    assert_eq!((late_ones(0.0), late_ones(1.0)), (0, 1000));
    // Five standard deviations of a thousand draws.
    assert!(late_ones(0.33).abs_diff(330) < 75);
}

#[test]
fn blocks_to_the_drive_take_a_time_of_their_own() {
    let hardware = hardware(|drive| {
        drive.interface.block_time = Some(Time::from_us(10));
        drive.interface.write_block_time = Some(Time::from_us(30));
        drive.buffer.as_mut().expect("a buffer").read_ahead.until = ReadAheadEnd::Track;
    });
    let mut buffer = buffer(&hardware);
    let written = time(&hardware, &mut buffer, Time::ZERO, Op::Write, 0, 8);
    assert_eq!(written, Time::from_us(240));
    time(&hardware, &mut buffer, Time::from_s(1), Op::Read, 100, 4);
    let hit = time(&hardware, &mut buffer, Time::from_s(2), Op::Read, 104, 8);
    assert_eq!(hit, Time::from_us(80));
}

/// When the last of some reads is complete that come at once, ms.
fn end_ms(pre_seek: &str, reads: &[(u64, u32)]) -> f64 {
    let text = format!(
        "[workload]\ntrace = \"reads.csv\"\nformat = \"csv\"\n[device.hdd]\ndrive = \"ibm-18es\"\n[device.hdd.queue]\ndepth = 2\n\
         [device.hdd.buffer]\npre_seek = \"{pre_seek}\"\nread_ahead.until = \"none\"\n[measure]\nwarmup = 0\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let lines = reads
        .iter()
        .map(|(lbn, blocks)| format!("0,R,{lbn},{blocks}\n"));
    let trace = "time_us,op,lbn,blocks\n".to_owned() + &lines.collect::<String>();
    std::fs::write(folder.path().join("reads.csv"), trace).expect("written");
    let outcome = outcome_of(&from_text_in(text, folder.path()), &checked());
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    outcome.json()["simulated_s"].as_f64().expect("a number") * 1e3
}

/// The second read's positioning begins when the first leaves the arm, and its data wait for the bus.
#[test]
fn the_arm_sets_off_while_the_first_read_still_crosses() {
    let first = (1_000, 300);
    let alone = end_ms("after-completion", &[first]);
    for lbn in [5_000_000, 9_999_992, 123_456] {
        let [late, completing, early] = ["after-completion", "while-completing", "after-medium"]
            .map(|pre_seek| end_ms(pre_seek, &[first, (lbn, 8)]));
        // The completion of a read takes this drive no time.
        assert_eq!(late, completing);
        assert!(late > alone + 2.0);
        // 300 blocks leave the medium in 6.4 ms and cross in 30: the second read's are there when the bus is free.
        assert!(
            (early - alone - 8.0 * 0.101).abs() < 1e-5,
            "{early} {alone}"
        );
    }
}

/// A flush that came before the second write is answered when the first one is on the medium: it must be there by then.
#[test]
fn what_was_written_first_is_on_the_medium_though_another_write_has_joined_it() {
    let hardware = hardware(|drive| {
        drive.buffer.as_mut().expect("a buffer").write.appends = true;
    });
    let mut buffer = buffer(&hardware);
    buffer.moves();
    let crossed = time(&hardware, &mut buffer, Time::ZERO, Op::Write, 1000, 4);
    let first = buffer.destaged_at(crossed);
    time(&hardware, &mut buffer, crossed, Op::Write, 1004, 4);
    assert_eq!(buffer.counters.appends, 1);
    let mut drained = |at: Time| -> Vec<(u64, u32)> {
        buffer.advance_to(&hardware, at);
        let drains = buffer.moves().filter_map(|step| match step {
            Move::Drain(stretch) => Some((stretch.lbn, stretch.blocks)),
            Move::Fill(_) => None,
        });
        drains.collect()
    };
    assert_eq!(drained(first - Time::from_ns(1)), []);
    assert_eq!(drained(first), [(1000, 4)]);
    assert_eq!(drained(Time::from_s(1)), [(1004, 4)]);
}
