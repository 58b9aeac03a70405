//! An arm trace as it stands in the picture of a run.

use serde_json::{Value, json};

use super::steps::Step;
use super::{ArmTrace, ArmWork, Purpose, TracedRequest, TracedService};
use crate::base::units::Time;
use crate::devices::hdd::PARTS;
use crate::devices::hdd::hardware::Hardware;
use crate::devices::hdd::tally::Track;
use crate::engine::request::{Op, ServedBy};
use crate::models::geometry::mechanics::{HeadPosition, Reach};

/// An arm of the disk that an arm trace shows.
pub struct TracedArm {
    /// Where its heads stand around the spindle, in turns from angle 0, the way the platters turn.
    pub angle: f64,
    /// Where it is.
    pub at: HeadPosition,
    /// Whether its heads can read.
    pub reads: bool,
    /// Whether they can write.
    pub writes: bool,
    /// What they reach.
    pub reach: Reach,
}

/// What a request's data were served by, in the arm trace.
fn name(by: ServedBy) -> &'static str {
    match by {
        ServedBy::Medium => "medium",
        ServedBy::Both => "both",
        ServedBy::Buffer => "buffer",
    }
}

impl ArmTrace {
    /// `film`, `of` arms: the window `from_ns` to `to_ns`, and what `ended_by`: its `time`, the `run`, or too many `accesses`; what to draw
    /// the drive from; `requests` in service within the window, in the order of their starts, with all their instants and
    /// their `steps` [part, ns]; what the arms did; and those that were `waiting` at the window's end. All times are ns, angles turns,
    /// and `parts` lists the names that numbers of parts stand for. Without `from_ns` the window never began. `late` is what
    /// the medium reads up to the window's end behind the last service.
    pub fn json(
        &self,
        hardware: &Hardware,
        arms: &[TracedArm],
        late: impl FnOnce() -> Vec<Track>,
    ) -> Value {
        let trace = self;
        let window = &trace.window;
        let Some(from) = window.from() else {
            return json!({ "of": "arms", "from_ns": null });
        };
        let to = window.to();
        let late = late().into_iter().map(|track| ArmWork {
            arm: 0,
            purpose: trace.reads(),
            activity: track.into(),
        });
        let late: Vec<ArmWork> = late.collect();
        let mut rest: Vec<HeadPosition> = arms.iter().map(|arm| arm.at).collect();
        if trace.is_open {
            rest.clone_from(&trace.rest);
        }
        let mut works: Vec<&ArmWork> = Vec::new();
        for work in trace.works.iter().chain(&late) {
            if work.activity.ends() <= from {
                rest[work.arm] = work.activity.arm().unwrap_or(rest[work.arm]);
            } else if work.activity.begins < to {
                works.push(work);
            }
        }
        works.sort_by_key(|work| work.activity.begins);
        let mut requests: Vec<(&TracedRequest, &TracedService)> = trace
            .shown
            .iter()
            .filter(|shown| shown.unbegun == 0)
            .filter_map(|shown| Some((shown, shown.service.as_ref()?)))
            .filter(|(_, service)| service.completion > from && service.start < to)
            .collect();
        requests.sort_by_key(|(_, service)| service.start);
        let place = |service: u64| {
            requests
                .iter()
                .position(|(_, served)| served.number == service)
        };
        let unbegun = |shown: &&TracedRequest| trace.is_closed && shown.unbegun > 0;
        let waiting = trace.shown.iter().filter(unbegun).chain(&trace.waiting);
        let mechanics = &hardware.mechanics;
        let (layout, spindle) = (&mechanics.layout, &mechanics.spindle);
        let zones = layout.zones().iter().map(|zone| {
            json!({
                "first_cylinder": zone.first_cylinder(),
                "last_cylinder": zone.last_cylinder(),
                "sectors_per_track": zone.sectors_per_track(),
            })
        });
        let arms = arms.iter().zip(&rest).map(|(arm, rest)| {
            let reach = arm.reach;
            json!({
                "angle": arm.angle,
                "reads": arm.reads,
                "writes": arm.writes,
                "first_cylinder": reach.cylinders.0,
                "last_cylinder": reach.cylinders.1.min(layout.cylinders() - 1),
                "first_surface": reach.heads.0,
                "last_surface": reach.heads.1.min(layout.surfaces() - 1),
                "cylinder": rest.cylinder,
                "head": rest.head,
            })
        });
        json!({
            "of": "arms",
            "from_ns": from.ns(),
            "to_ns": to.ns().max(from.ns()),
            "ended_by": window.ended_by(),
            "run_end_ns": window.run_end().ns(),
            "turn_ns": spindle.turn_ns(),
            "phase": spindle.turned(spindle.phase(from)),
            "cylinders": layout.cylinders(),
            "surfaces": layout.surfaces(),
            "zones": zones.collect::<Vec<_>>(),
            "arms": arms.collect::<Vec<_>>(),
            "parts": PARTS.iter().map(|part| part.name()).collect::<Vec<_>>(),
            "requests": requests.iter().map(|(request, service)| served(request, service)).collect::<Vec<_>>(),
            "work": works.iter().map(|work| worked(work, place)).collect::<Vec<_>>(),
            "waiting": waiting.map(shown).collect::<Vec<_>>(),
            "waiting_left_out": trace.left_out,
        })
    }
}

fn shown(shown: &TracedRequest) -> Value {
    let track = shown.track.as_ref();
    json!({
        "sequence": shown.sequence,
        "op": shown.command.op.name(),
        "lbn": shown.command.lbn.0,
        "blocks": shown.command.blocks,
        "arrival_ns": shown.arrival.ns(),
        "acceptance_ns": shown.acceptance.map(Time::ns),
        "cylinder": track.map(|track| track.position.cylinder),
        "head": track.map(|track| track.position.head),
        "angle": track.map(|track| f64::from(track.angle) / f64::from(track.sectors_per_track)),
    })
}

fn served(request: &TracedRequest, service: &TracedService) -> Value {
    let mut json = shown(request);
    json["start_ns"] = service.start.ns().into();
    json["completion_ns"] = service.completion.ns().into();
    json["service"] = service.number.into();
    json["served_by"] = name(service.by).into();
    let steps = service.steps.iter();
    json["steps"] = steps
        .map(|step| json!([step.part as usize, step.time.ns()]))
        .collect();
    json
}

/// One thing that an arm did: [part, ns, cylinder and head at the end, and the first slot, the slots and those of the track,
/// where sectors are waited for or pass].
/// `place` tells which request a service is of.
fn worked(work: &ArmWork, place: impl Fn(u64) -> Option<usize>) -> Value {
    let (purpose, service, op) = match work.purpose {
        Purpose::Service(number, op) => ("request", Some(number), Some(op)),
        Purpose::ReadAhead => ("read-ahead", None, Some(Op::Read)),
        Purpose::Cleaning(op) => ("cleaning", None, Some(op)),
        Purpose::Travel => ("travel", None, None),
    };
    let step = |step: &Step| {
        let HeadPosition { cylinder, head } = step.arm;
        match step.slots {
            None => json!([step.part as usize, step.time.ns(), cylinder, head]),
            Some(slots) => json!([
                step.part as usize,
                step.time.ns(),
                cylinder,
                head,
                slots.first,
                slots.count,
                slots.per_track
            ]),
        }
    };
    json!({
        "arm": work.arm,
        "purpose": purpose,
        "service": service,
        "request": service.and_then(place),
        "op": op.map(|op| op.name()),
        "start_ns": work.activity.begins.ns(),
        "steps": work.activity.steps.iter().map(step).collect::<Vec<_>>(),
    })
}
