//! A film as it stands in the picture of a run.

use serde_json::{Value, json};

use super::{Served, Shown, Work};
use crate::geometry::mechanics::Arm;
use crate::hdd::Hdd;
use crate::hdd::buffer::Track;
use crate::hdd::film::steps::Step;
use crate::request::{Op, Part, ServedBy};
use crate::units::Time;

/// What a request's data were served by, in the film.
fn name(by: ServedBy) -> &'static str {
    match by {
        ServedBy::Medium => "medium",
        ServedBy::Both => "both",
        ServedBy::Buffer => "buffer",
    }
}

impl Hdd {
    /// `film`: the window `from_ns` to `to_ns`, and what `ended_by`: its `time`, the `run`, or too many `accesses`; what to draw
    /// the drive from; `requests` in service within the window, in the order of their starts, with all their instants and
    /// their `steps` [part, ns]; what the arms did; and those that were `waiting` at the window's end. All times are ns, angles turns,
    /// and `parts` lists the names that numbers of parts stand for. Without `from_ns` the window never began.
    pub(in crate::hdd) fn film_json(&self) -> Option<Value> {
        let film = self.film.as_ref()?;
        let window = &film.window;
        let Some(from) = window.from() else {
            return Some(json!({ "from_ns": null }));
        };
        let to = window.to();
        let tracks = self.rest_of_film();
        let late = tracks
            .into_iter()
            .map(|track: Track| Work {
                service: film.reads_for,
                write: false,
                course: track.into(),
            })
            .collect::<Vec<_>>();
        let mut rest = if film.is_open { film.rest } else { self.arm };
        let mut works: Vec<&Work> = Vec::new();
        for work in film.works.iter().chain(&late) {
            if work.course.ends() <= from {
                rest = work.course.arm().unwrap_or(rest);
            } else if work.course.begins < to {
                works.push(work);
            }
        }
        let requests: Vec<(&Shown, &Served)> = film
            .shown
            .iter()
            .filter_map(|shown| Some((shown, shown.service.as_ref()?)))
            .filter(|(_, service)| service.completion > from && service.start < to)
            .collect();
        let number = |service: Option<u64>| {
            let service = service?;
            requests
                .iter()
                .position(|(_, served)| served.number == service)
        };
        let mechanics = &self.hardware.mechanics;
        let (layout, spindle) = (&mechanics.layout, &mechanics.spindle);
        let zones = layout.zones().iter().map(|zone| {
            json!({
                "first_cylinder": zone.first_cylinder(),
                "last_cylinder": zone.last_cylinder(),
                "sectors_per_track": zone.sectors_per_track(),
            })
        });
        let arm = json!({ "angle": 0.0, "first_cylinder": 0, "cylinder": rest.cylinder, "head": rest.head });
        let waiting: Vec<Value> = film.waiting.iter().map(shown).collect();
        Some(json!({
            "from_ns": from.ns(),
            "to_ns": to.ns().max(from.ns()),
            "ended_by": window.ended_by(),
            "run_end_ns": window.run_end().ns(),
            "turn_ns": spindle.turn_ns(),
            "phase": spindle.turned(spindle.phase(from)),
            "cylinders": layout.cylinders(),
            "surfaces": layout.surfaces(),
            "zones": zones.collect::<Vec<_>>(),
            "arms": [arm],
            "parts": Part::ALL.iter().map(|part| part.name()).collect::<Vec<_>>(),
            "requests": requests.iter().map(|(request, service)| served(request, service)).collect::<Vec<_>>(),
            "work": works.iter().map(|work| worked(work, number(work.service))).collect::<Vec<_>>(),
            "waiting": waiting,
            "waiting_left_out": film.left_out,
        }))
    }
}

fn shown(shown: &Shown) -> Value {
    let track = &shown.track;
    json!({
        "sequence": shown.sequence,
        "op": shown.command.op.name(),
        "lbn": shown.command.lbn.0,
        "blocks": shown.command.blocks,
        "arrival_ns": shown.arrival.ns(),
        "acceptance_ns": shown.acceptance.map(Time::ns),
        "cylinder": track.position.cylinder,
        "head": track.position.head,
        "angle": f64::from(track.angle) / f64::from(track.sectors_per_track),
    })
}

fn served(request: &Shown, service: &Served) -> Value {
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
fn worked(work: &Work, request: Option<usize>) -> Value {
    let op = if work.write { Op::Write } else { Op::Read };
    let step = |step: &Step| {
        let Arm { cylinder, head } = step.arm;
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
        "arm": 0,
        "service": work.service,
        "request": request,
        "op": work.service.map(|_| op.name()),
        "start_ns": work.course.begins.ns(),
        "steps": work.course.steps.iter().map(step).collect::<Vec<_>>(),
    })
}
