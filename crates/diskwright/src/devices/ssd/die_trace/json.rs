//! A trace of dies as it stands in the picture of a run.

use serde_json::{Value, json};

use super::{DieTrace, LENGTH, Work};
use crate::base::units::Time;
use crate::devices::ssd::legs::{Cause, Leg, legs};
use crate::devices::ssd::operations::Action;
use crate::devices::ssd::shape::Shape;

fn name(action: Action) -> &'static str {
    match action {
        Action::Read => "read",
        Action::Merge => "merge",
        Action::MapRead => "map read",
        Action::Program => "program",
        Action::MapWrite => "map",
        Action::Parity => "parity",
        Action::Move => "move",
        Action::MoveRead => "move read",
        Action::MoveWrite => "move write",
        Action::MoveParity => "move parity",
        Action::Erase => "erase",
    }
}

impl DieTrace {
    /// `film`, `of` dies: the window `from_ns` to `to_ns`, and what `ended_by`: its `time`, the `run`, or too many `operations`; the `channels` that are
    /// shown, of `all_channels`, with the `workers_of_channel`; and the `operations` under way within the window, in the order of their
    /// beginnings, each with its `steps` [leg, ns]: `legs` lists the names that numbers of legs stand for, with the parts of requests that
    /// they go into. Without `from_ns` the window never began.
    pub fn json(&self, shape: &Shape) -> Value {
        let Some(from) = self.window.from() else {
            return json!({ "of": "dies", "from_ns": null });
        };
        let run_end = self.window.run_end();
        let whole = from + LENGTH;
        let full = self.full.map(|at| at.max(from));
        let to = full.unwrap_or(whole).min(run_end).max(from);
        let ended_by = match () {
            () if full == Some(to) => "operations",
            () if to < whole => "run",
            () => "time",
        };
        let mut works: Vec<Work> = self.before.clone();
        works.extend(self.last.iter().flatten().cloned());
        for work in &mut works {
            if !work.is_whole {
                work.go_on(to, &legs([]));
            }
        }
        works.retain(|work| work.ends > from && work.begins < to);
        works.sort_by_key(|work| (work.begins, work.worker));
        let of_channel = shape.workers_of_channel();
        let operation = |work: &Work| {
            json!({
                "channel": work.worker / of_channel,
                "worker": work.worker % of_channel,
                "action": name(work.action),
                "cause": Cause::from(work.action).name(),
                "request": work.place.request,
                "plane": work.place.plane % shape.planes_of_worker,
                "block": work.place.block,
                "page": work.place.page,
                "planes": work.place.planes,
                "start_ns": work.begins.ns(),
                "steps": work.legs.iter().map(|&(leg, time)| json!([leg as usize, time.ns()])).collect::<Value>(),
            })
        };
        let leg = |leg: Leg| json!({ "name": leg.name(), "part": leg.part().name(), "on_channel": leg.is_on_channel() });
        json!({
            "of": "dies",
            "from_ns": from.ns(),
            "to_ns": to.ns(),
            "ended_by": ended_by,
            "run_end_ns": if run_end == Time::MAX { to.ns() } else { run_end.ns() },
            "channels": self.channels,
            "all_channels": shape.geometry.channels,
            "workers_of_channel": of_channel,
            "worker": shape.worker(),
            "legs": Leg::ALL.map(leg),
            "operations": works.iter().map(operation).collect::<Value>(),
        })
    }
}
