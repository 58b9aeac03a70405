//! Requests of more blocks than a segment of the buffer holds, against a model that goes block by block.

use diskwright::base::document::{Node, from_node};
use diskwright::base::error::Source;
use diskwright::base::units::{Lbn, Size, Time};
use diskwright::devices::drives;
use diskwright::devices::hdd::buffer::{Buffer, Service};
use diskwright::devices::hdd::buffer_description::{BufferDescription, WriteCompletion};
use diskwright::devices::hdd::drive::DriveDescription;
use diskwright::devices::hdd::{Hardware, Overhead};
use diskwright::engine::request::{Command, Op, Parts};
use diskwright::models::geometry::mechanics::HeadPosition;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Case {
    lbn: u64,
    blocks: u32,
    segment: u32,
    /// Blocks of the low water mark.
    mark: u32,
    /// The high water mark, in hundredths of a segment.
    high: u32,
    kept: bool,
    block_us: u64,
    step_us: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let bus = (
        any::<bool>(),
        prop::sample::select(vec![1u64, 20, 40, 100, 900]),
        0u64..300,
    );
    (
        0u64..5_000,
        2u32..400,
        1u32..60,
        (0u32..60, 0u32..=100),
        bus,
    )
        .prop_map(
            |(lbn, extra, segment, (mark, high), (kept, block_us, step_us))| Case {
                lbn,
                blocks: segment + extra,
                segment,
                mark: mark.min(segment),
                high,
                kept,
                block_us,
                step_us,
            },
        )
}

fn hardware(case: &Case) -> Hardware {
    let text = drives::text("ibm-18es").expect("a drive of the library");
    let node = Node::parse(&Source::new("ibm-18es", text.to_owned())).expect("valid TOML");
    let mut description: DriveDescription = from_node(&node).expect("a drive");
    description.overhead = Overhead::default();
    description.interface.block_time = Some(Time::from_us(case.block_us));
    let mut buffer = BufferDescription {
        segment_size: Size::from_blocks(u64::from(case.segment)),
        ..description.buffer.expect("the drive has a buffer")
    };
    buffer.write.complete = WriteCompletion::Buffered;
    buffer.write.buffered_after_read = Time::ZERO;
    buffer.write.extra_disconnection = None;
    buffer.bus.kept_by_writes = case.kept;
    buffer.bus.kept_by_reads = case.kept;
    buffer.bus.high_water = f64::from(case.high) / 100.0;
    buffer.bus.low_water = f64::from(case.mark) / f64::from(case.segment);
    buffer.bus.preparation = Time::from_us(case.step_us);
    buffer.bus.reselect_again = Time::from_us(2 * case.step_us);
    buffer.bus.reselect = Time::from_us(2 * case.step_us);
    buffer.bus.disconnect_write = Time::from_us(3 * case.step_us);
    buffer.bus.disconnect_read_after_read = Time::from_us(3 * case.step_us);
    description.buffer = Some(buffer);
    description.hardware().expect("the drive makes sense")
}

fn buffer_of(hardware: &Hardware) -> Buffer {
    let description = hardware.buffer.clone().expect("the drive has a buffer");
    Buffer::new(description, hardware.chance.clone())
}

/// A read's way over the bus, in step with the medium.
struct ReadBus<'a> {
    case: &'a Case,
    /// When each block had left the medium.
    passed: Vec<Time>,
    /// Blocks from the first of these to before the other cross from `from` on.
    chunk: (usize, usize),
    from: Time,
    /// Since when the bus has been left, if it has.
    left: Option<Time>,
}

impl ReadBus<'_> {
    /// When what is under way has crossed.
    fn crossed(&self) -> Time {
        self.from + Time::from_us(self.case.block_us * (self.chunk.1 - self.chunk.0) as u64)
    }

    /// Lets happen what happens up to `now`.
    fn advance(&mut self, now: Time) {
        let us = Time::from_us;
        let steps = us(3 * self.case.step_us);
        let segment = self.case.segment as usize;
        let water = (segment * self.case.high as usize / 100).max(1);
        loop {
            let next = self.chunk.1;
            let begins = match self.left {
                Some(free) => {
                    let wanted = (next + water).min(self.case.blocks as usize);
                    self.passed.get(wanted - 1).map(|&at| free.max(at) + steps)
                }
                None if next == self.case.blocks as usize || self.crossed() > now => return,
                None if self
                    .passed
                    .get(next)
                    .is_some_and(|&at| at <= self.crossed()) =>
                {
                    Some(self.crossed())
                }
                None if self.case.kept => self.passed.get(next).copied(),
                None => {
                    self.left = Some(self.crossed() + steps);
                    continue;
                }
            };
            let Some(begins) = begins.filter(|&begins| begins <= now) else {
                return;
            };
            let there = self.passed.iter().take_while(|&&at| at <= begins).count();
            (self.chunk, self.from, self.left) = ((next, there), begins, None);
        }
    }

    /// How many blocks have crossed at `now`, up to when all has happened.
    fn out(&self, now: Time) -> usize {
        let blocks = now.saturating_sub(self.from).ns() / (self.case.block_us * 1000);
        (self.chunk.0 + blocks as usize).min(self.chunk.1)
    }
}

/// When the last block of a read that follows none has crossed the bus.
fn read_block_by_block(case: &Case, hardware: &Hardware) -> Time {
    let mechanics = &hardware.mechanics;
    let mut bus = ReadBus {
        case,
        passed: Vec::new(),
        chunk: (0, 0),
        from: Time::ZERO,
        left: Some(Time::from_us(3 * case.step_us)),
    };
    let (mut arm, mut now) = (HeadPosition::default(), Time::ZERO);
    for k in 0..case.blocks as usize {
        let run = mechanics.layout.run(case.lbn + k as u64, 1);
        now += mechanics.motion_time(arm, HeadPosition::over(&run), false);
        arm = HeadPosition::over(&run);
        let spindle = &mechanics.spindle;
        let edge = spindle.edge(run.angle, run.sectors_per_track);
        let mut at = now + spindle.wait(spindle.phase(now), edge);
        bus.advance(at);
        while k - bus.out(at) >= case.segment as usize {
            at += Time::from_ns(1);
            at += spindle.wait(spindle.phase(at), edge);
            bus.advance(at);
        }
        let phase = spindle.phase(at);
        now = at + spindle.pass(phase, run.angle, 1, run.sectors_per_track).1;
        bus.passed.push(now);
    }
    bus.advance(Time::from_s(1000));
    bus.crossed()
}

/// When the last block of a write has crossed the bus, and when it is on the medium.
fn write_block_by_block(case: &Case, hardware: &Hardware) -> (Time, Time) {
    let mechanics = &hardware.mechanics;
    let us = Time::from_us;
    let (size, n) = (case.segment as usize, case.blocks as usize);
    let mark = if case.kept {
        size - 1
    } else {
        (case.mark as usize).min(size - 1)
    };
    let mut written: Vec<Time> = Vec::new();
    let (mut arm, mut now) = (HeadPosition::default(), Time::ZERO);
    let mut from = us(case.step_us);
    let (mut begun, mut until) = (0, size);
    let mut crossed = Time::ZERO;
    for k in 0..n {
        if k == until {
            let room = written[k - mark - 1];
            from = if case.kept {
                crossed.max(room)
            } else {
                (crossed + us(3 * case.step_us)).max(room) + us(3 * case.step_us)
            };
            (begun, until) = (k, k + size - mark);
        }
        crossed = from + us(case.block_us * (k - begun + 1) as u64);
        let run = mechanics.layout.run(case.lbn + k as u64, 1);
        now += mechanics.motion_time(arm, HeadPosition::over(&run), true);
        arm = HeadPosition::over(&run);
        let spindle = &mechanics.spindle;
        let edge = spindle.edge(run.angle, run.sectors_per_track);
        // To the nanosecond an edge that has just passed comes a revolution later: a sector goes on where the last ended.
        let mut at = now + spindle.wait(spindle.phase(now), edge);
        while at < crossed {
            at += Time::from_ns(1);
            at += spindle.wait(spindle.phase(at), edge);
        }
        let phase = spindle.phase(at);
        now = at + spindle.pass(phase, run.angle, 1, run.sectors_per_track).1;
        written.push(now);
    }
    (crossed, now)
}

proptest! {
    #[test]
    fn a_write_larger_than_a_segment_takes_as_long_as_block_by_block(case in cases()) {
        let hardware = hardware(&case);
        let mut buffer = buffer_of(&hardware);
        let command = Command { op: Op::Write, fua: false, lbn: Lbn(case.lbn), blocks: case.blocks };
        let service = Service { command: &command, target: &hardware.target_of(&command), accepted: Time::ZERO, now: Time::ZERO, bus_free: Time::ZERO, after_write: false };
        let served = buffer.serve(&hardware, service, &mut Parts::default());
        let (crossed, written) = write_block_by_block(&case, &hardware);
        let near = |a: Time, b: Time| a.max(b) - a.min(b) <= Time::from_ns(u64::from(case.blocks));
        prop_assert!(near(served.end, crossed), "crossed: {} for {}", served.end, crossed);
        prop_assert!(near(buffer.destaged_at(Time::ZERO), written), "written: {} for {}", buffer.destaged_at(Time::ZERO), written);
    }

    #[test]
    fn a_read_larger_than_a_segment_takes_as_long_as_block_by_block(case in cases()) {
        let hardware = hardware(&case);
        let mut buffer = buffer_of(&hardware);
        let command = Command { op: Op::Read, fua: false, lbn: Lbn(case.lbn), blocks: case.blocks };
        let service = Service { command: &command, target: &hardware.target_of(&command), accepted: Time::ZERO, now: Time::ZERO, bus_free: Time::ZERO, after_write: false };
        let mut parts = Parts::default();
        let served = buffer.serve(&hardware, service, &mut parts);
        prop_assert_eq!(parts.total(), served.end);
        let crossed = read_block_by_block(&case, &hardware);
        let near = |a: Time, b: Time| a.max(b) - a.min(b) <= Time::from_ns(u64::from(case.blocks));
        prop_assert!(near(served.end, crossed), "crossed: {} for {}", served.end, crossed);
    }
}
