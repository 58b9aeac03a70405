//! The service times that a drive's model has for the requests of a recording.

use super::course::Course;
use super::recording::RecordedRequest;
use crate::base::units::Time;
use crate::devices::hdd::Hardware;
use crate::devices::hdd::buffer::{Buffer, Service};
use crate::engine::request::{Op, Part, ServedBy};
use crate::models::geometry::spindle::Spindle;

/// Errors in a row that are too large to be followed, after which the platter is followed all the same: it is lost.
const LOST_AFTER: u32 = 3;

/// How the platter is followed from one request to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Follow {
    /// As it turns in the simulation: each request arrives the recorded gap after the simulated completion of the one before it, as in
    /// a validation.
    Simulated,
    /// As the recording tells: the clock is that of the recording, and where the medium served a request, the platter is put to where it
    /// was then.
    Recorded {
        /// The share of the error of a request that the medium served by which the platter is put right: 1 trusts every single
        /// completion, less evens out what is measured badly.
        gain: f64,
        /// An error of more than this share of a turn, to the nearest turn, does not come from the platter: it is left alone, unless several
        /// such errors follow each other.
        gate: f64,
    },
}

/// A request, recorded and predicted.
#[derive(Clone, Copy, Debug)]
pub struct PredictedRequest {
    /// What the medium or the buffer is predicted to have served.
    pub by: ServedBy,
    /// Whether the request before it was a write.
    pub after_write: bool,
    /// Whether a sector was waited for: of the medium, not only of the buffer.
    pub on_medium: bool,
    /// The predicted service time.
    pub predicted: Time,
    /// The first wait for a sector to come by, where there was one.
    pub first_wait: Option<Time>,
    /// Cylinders from where the arm was to the first sector.
    pub distance: u32,
    /// Whether the first sector is under another head.
    pub switches: bool,
    /// How far the platter had to turn from the request's arrival until the first sector came by, in turns.
    pub angle: f64,
    /// Zone of the first sector, in LBN order.
    pub zone: u32,
    /// Tracks that the request lies on.
    pub tracks: u32,
}

/// Predicts requests in turn on a drive at rest, arm at cylinder 0, platter at angle 0.
pub fn predict(
    mut hardware: Hardware,
    requests: &[RecordedRequest],
    follow: Follow,
) -> Vec<PredictedRequest> {
    let description = hardware.buffer.clone().expect("a drive with a buffer");
    let mut buffer = Buffer::new(description, hardware.chance.clone());
    let mut clock = PlatterClock::new(hardware.mechanics.spindle, follow);
    let mut predictions = Vec::with_capacity(requests.len());
    let (mut free, mut after_write) = (Time::ZERO, false);
    for request in requests {
        let command = &request.command;
        let arrival = free.checked_add(request.wait).unwrap_or(Time::MAX);
        hardware.mechanics.spindle = clock.spindle();
        buffer.advance_to(&hardware, arrival);
        let mut now = arrival;
        let ready = buffer.free_at(&hardware, now);
        let joins = |next| Buffer::joins(command, next);
        if ready > now && !buffer.awaits(1, now).is_some_and(joins) {
            now = ready;
            buffer.advance_to(&hardware, now);
        }
        let target = hardware.target_of(command);
        let track = &target.run;
        let arm = buffer.arm();
        let mut course = Course::default();
        // The wait for what is being written, which is no part of the service.
        course.parts.add(Part::Wait, now - arrival);
        let service = Service {
            command,
            target: &target,
            accepted: arrival,
            now,
            bus_free: free,
            after_write,
        };
        let served = buffer.serve(&hardware, service, &mut course);
        let predicted = served.end - arrival;
        let on_medium = course.parts.get(Part::Transfer) > Time::ZERO;
        let mechanics = &hardware.mechanics;
        let under_head = mechanics.spindle.phase(arrival);
        let turned = mechanics.spindle.turned(target.phase) - mechanics.spindle.turned(under_head);
        predictions.push(PredictedRequest {
            by: served.by,
            after_write,
            on_medium,
            predicted,
            first_wait: course.first_wait,
            distance: arm.cylinder.abs_diff(track.position.cylinder),
            switches: arm.head != track.position.head,
            angle: turned - libm::floor(turned),
            zone: track.position.zone,
            tracks: tracks(&hardware, request),
        });
        clock.completed(on_medium, request.service, predicted);
        (free, after_write) = (served.end, command.op == Op::Write);
    }
    predictions
}

/// The tracks that a request lies on, at least one.
fn tracks(hardware: &Hardware, request: &RecordedRequest) -> u32 {
    let (mut sector, end) = hardware.sectors_of(&request.command);
    let mut tracks = 0;
    while sector < end {
        let run = hardware.mechanics.layout.run(sector, u32::MAX);
        sector += u64::from(run.sectors.max(1));
        tracks += 1;
    }
    tracks
}

/// How far the platter is ahead of the simulation's clock.
struct PlatterClock {
    spindle: Spindle,
    follow: Follow,
    ahead_ns: i64,
    /// Errors in a row that were too large to be followed.
    lost: u32,
}

impl PlatterClock {
    fn new(spindle: Spindle, follow: Follow) -> PlatterClock {
        PlatterClock {
            spindle,
            follow,
            ahead_ns: 0,
            lost: 0,
        }
    }

    /// The spindle as the simulation's clock has it.
    fn spindle(&self) -> Spindle {
        let repeats = self.spindle.repeats_after().ns() as i64;
        let ahead = self.ahead_ns.rem_euclid(repeats);
        self.spindle.ahead_by(Time::from_ns(ahead as u64))
    }

    /// A request was served in `recorded` and was predicted in `predicted`: the simulation's clock is behind the recording's by the
    /// difference. Where the medium served it, the simulated platter is at the request's end at both instants, and so is the recorded one.
    fn completed(&mut self, on_medium: bool, recorded: Time, predicted: Time) {
        let Follow::Recorded { gain, gate } = self.follow else {
            return;
        };
        let behind = recorded.ns() as i64 - predicted.ns() as i64;
        let turn = self.spindle.turn_ns();
        let error = behind as f64 - turn * libm::round(behind as f64 / turn);
        let mut corrected = 0.0;
        if on_medium {
            let is_far = error.abs() > gate * turn;
            self.lost = if is_far { self.lost + 1 } else { 0 };
            if !is_far || self.lost >= LOST_AFTER {
                let share = if is_far { 1.0 } else { gain };
                corrected = share * error;
                self.lost = 0;
            }
        }
        self.ahead_ns += behind - libm::round(corrected) as i64;
    }
}
