//! DiskSim 4.0's own result for every request of recordings and of generated traces: is ours the same?
//!
//! DiskSim loses a little of the platter's phase in every sector that it passes over. So each request here arrives when it
//! did there, and when the medium is at rest the phase is set anew by what the last request was off, if that was next to
//! nothing.

use std::fs;

use crate::support::reference::reference;
use diskwright::base::units::{Lbn, Time};
use diskwright::devices::drives;
use diskwright::devices::hdd::Hardware;
use diskwright::devices::hdd::buffer::{Buffer, Service};
use diskwright::devices::hdd::drive::DriveDescription;
use diskwright::engine::request::{Command, Op, Parts};

/// The most that a service time may be off, in ms.
const TOLERANCE_MS: f64 = 0.01;

/// Less than this is the rounding of times.
const NANOSECOND_MS: f64 = 1e-6;

struct Expected {
    command: Command,
    arrival_ms: f64,
    service_ms: f64,
}

fn time(ms: f64) -> Time {
    Time::from_ns_f64(ms * 1e6).expect("a time")
}

/// The requests of a recording with DiskSim's results: each arrives its predecessor's gap after the completion of that.
fn expected(trace: &str, log: &str) -> Vec<Expected> {
    let mut arrival_ms = 0.0;
    let rows = trace.lines().zip(log.lines());
    rows.map(|(asked, done)| {
        let asked: Vec<&str> = asked.split_whitespace().collect();
        let done = done.split_whitespace().map(str::parse);
        let done: Vec<f64> = done.collect::<Result<_, _>>().expect("numbers");
        let command = Command {
            op: if asked[0] == "R" { Op::Read } else { Op::Write },
            fua: false,
            lbn: Lbn(asked[2].parse().expect("an LBN")),
            blocks: asked[3].parse().expect("a number of blocks"),
        };
        assert_eq!(
            (command.lbn.0 as f64, f64::from(command.blocks)),
            (done[2], done[3])
        );
        let request = Expected {
            command,
            arrival_ms,
            service_ms: done[1],
        };
        let gap_us: f64 = asked[5].parse().expect("a gap");
        arrival_ms = done[0] + gap_us / 1000.0;
        request
    })
    .collect()
}

/// A drive of the library as DiskSim takes it: with all sectors that its zones hold.
fn drive(name: &str) -> (Hardware, Buffer) {
    let text = drives::text(name).expect("a drive of the library");
    let mut description: DriveDescription = toml::from_str(text).expect("a sound description");
    description.layout.sectors = None;
    let hardware = description.hardware().expect("a sound description");
    let buffer = hardware.buffer.clone().expect("a drive with a buffer");
    let chance = hardware.chance.clone();
    (hardware, Buffer::new(buffer, chance))
}

/// The numbers of the requests whose service time is off, and how many requests there are.
fn off(name: &str, trace: &str, log: &str) -> (Vec<usize>, usize) {
    let read = |name: &str| fs::read_to_string(reference(name)).expect("text");
    let requests = expected(&read(trace), &read(log));
    let (mut hardware, mut buffer) = drive(name);
    let (mut after_write, mut ahead) = (false, Time::ZERO);
    let mut off = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        let accepted = time(request.arrival_ms);
        buffer.advance_to(&hardware, accepted);
        if buffer.is_at_rest() {
            let spindle = &mut hardware.mechanics.spindle;
            *spindle = spindle.ahead_by(ahead);
            ahead = Time::ZERO;
        }
        let awaited = buffer.awaits(1, accepted);
        let now = if awaited.is_some_and(|next| Buffer::joins(&request.command, next)) {
            accepted
        } else {
            buffer.free_at(&hardware, accepted)
        };
        buffer.advance_to(&hardware, now);
        let mut parts = Parts::default();
        let service = Service {
            command: &request.command,
            target: &hardware.target_of(&request.command),
            accepted,
            now,
            bus_free: Time::ZERO,
            after_write,
        };
        let end = buffer.serve(&hardware, service, &mut parts).end;
        assert_eq!(parts.total(), end - now, "{name} {number}");
        after_write = request.command.op == Op::Write;
        let late_ms = end.ms() - request.arrival_ms - request.service_ms;
        if late_ms.abs() > TOLERANCE_MS {
            println!(
                "{trace} {number}: {:?} off by {late_ms:.3} ms",
                request.command
            );
            off.push(number);
        } else if late_ms.abs() > NANOSECOND_MS {
            let turn = hardware.mechanics.spindle.period();
            ahead = if late_ms > 0.0 {
                time(late_ms)
            } else {
                turn - time(-late_ms)
            };
        }
    }
    (off, requests.len())
}

/// The recordings of three real drives, and DiskSim's result for each request.
#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn every_request_of_the_recordings_takes_as_long_as_in_disksim() {
    for (drive, file, count) in [
        ("cheetah-9lp", "cheetah9LP", 10_000),
        ("ibm-18es", "ibm18es", 10_000),
        ("hp-c3323a", "hp_c3323a", 9_074),
    ] {
        let trace = format!("disksim/{file}.trace");
        let log = format!("disksim/expected/{file}.dslog");
        assert_eq!(off(drive, &trace, &log), (Vec::new(), count), "{drive}");
    }
}

/// Generated requests that overlap, follow and chase each other. Those that are off come after a write into blocks that
/// were being read ahead, or after such a one: DiskSim keeps serving the old data, or loses more than was replaced.
#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn nearly_all_requests_that_collide_take_as_long_as_in_disksim() {
    for (drive, file, known) in [
        ("cheetah-9lp", "cheetah9LP", &[][..]),
        ("ibm-18es", "ibm18es", &[581, 745, 746]),
        (
            "hp-c3323a",
            "hp_c3323a",
            &[46, 652, 1308, 1309, 2051, 2052, 2053],
        ),
    ] {
        let trace = format!("disksim/expected/stress_{file}.trace");
        let log = format!("disksim/expected/stress_{file}.dslog");
        let (off, count) = off(drive, &trace, &log);
        assert_eq!(count, 2_500, "{drive}");
        assert_eq!(off, known, "{drive}");
    }
}
