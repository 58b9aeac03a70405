//! The film of a drive with several arms, or a log.

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use serde_json::Value;

use super::MultiHdd;
use crate::base::units::Time;
use crate::devices::hdd::film::json::ArmShown;
use crate::devices::hdd::film::steps::Steps;
use crate::devices::hdd::film::{Purpose, Served, Shown};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, RequestId, ServedBy};
use crate::models::geometry::layout::Run;
use crate::models::queue::Pending;

/// What a film takes of a service.
pub(super) struct Take {
    pub steps: Steps,
    /// The track of the request's first sector when it was picked, from that on, where it had a place.
    track: Option<Run>,
}

impl MultiHdd {
    /// Takes the steps of a service that begins now, where the film shows it.
    #[inline]
    pub(super) fn camera(&mut self, pending: &Pending, cx: &Context<'_>) -> Option<Take> {
        match self.film {
            Some(_) => self.ready_camera(pending, cx),
            None => None,
        }
    }

    fn ready_camera(&mut self, pending: &Pending, cx: &Context<'_>) -> Option<Take> {
        let film = self.film.as_mut()?;
        let (now, sequence) = (cx.now(), cx.request(pending.request).of_host());
        if !film.is_near(sequence, now) {
            return None;
        }
        film.open(self.arms.iter().map(|arm| arm.at));
        film.serves(sequence, now);
        if film.makes_room(1, now) {
            return Some(Take {
                steps: Steps::default(),
                track: self.track_now(&pending.command),
            });
        }
        self.end_film(pending, cx);
        None
    }

    /// Takes the steps of what the cleaner begins now, where the film shows it.
    pub(super) fn camera_behind(&mut self, now: Time) -> Option<Steps> {
        let film = self.film.as_mut()?;
        if !film.is_near_behind(now) {
            return None;
        }
        film.open(self.arms.iter().map(|arm| arm.at));
        film.makes_room(0, now).then(Steps::default)
    }

    /// The track of the first of a command's sectors that has a place now, from that on: what is to be written into a log has none yet.
    fn track_now(&self, command: &Command) -> Option<Run> {
        match self.log {
            Some(_) => Some(self.target_in_log(command, None)?.run),
            None => Some(self.hardware.track_of(command)),
        }
    }

    /// Shows a service that began now, or a share in it; `is_last` says whether no other share ends later.
    #[inline]
    pub(super) fn show(
        &mut self,
        pending: &Pending,
        take: Option<Take>,
        (end, is_last): (Time, bool),
        cx: &Context<'_>,
    ) {
        let Some(film) = &mut self.film else {
            return;
        };
        let shared = self.shared.get_mut(&pending.request);
        let Some(Take { steps, track }) = take else {
            if let Some(number) = shared.and_then(|shared| shared.number) {
                film.begins_late(number, is_last);
            }
            return;
        };
        let (number, unbegun) = match shared {
            Some(shared) => (
                *shared.number.get_or_insert_with(|| film.number()),
                shared.unbegun,
            ),
            None => (film.number(), 0),
        };
        let purpose = Purpose::Service(number, pending.command.op);
        for (arm, course) in steps.courses(cx.now()) {
            film.work(arm, purpose, course);
        }
        let served = Served {
            number,
            start: cx.now(),
            completion: end,
            by: ServedBy::Medium,
            steps: steps.steps().to_vec(),
        };
        if film.shows(number) {
            film.show_share(served, unbegun, is_last);
        } else {
            let mut shown = Shown::new(pending.request, track, true, cx);
            shown.unbegun = unbegun;
            film.show(shown, served);
        }
    }

    /// Shows what the cleaner began now.
    pub(super) fn show_behind(&mut self, steps: &Steps, op: Op, now: Time) {
        if let Some(film) = &mut self.film {
            for (arm, course) in steps.courses(now) {
                film.work(arm, Purpose::Cleaning(op), course);
            }
        }
    }

    /// Everything that begins from now on, with the service of `next`, is beyond the window.
    fn end_film(&mut self, next: &Pending, cx: &Context<'_>) {
        let Some(mut film) = self.film.take() else {
            return;
        };
        let mut queued: Vec<&Pending> = Vec::new();
        for station in &self.stations {
            let pool = &station.pool;
            queued.extend(pool.by_arrival().map(|slot| pool.get(slot)));
        }
        queued.sort_by_key(|pending| pending.entered);
        // A request waits in the queues of several stations, and of some of them it may have got an arm.
        let mut seen: HashSet<RequestId, FixedState> = HashSet::default();
        let mut requests: Vec<(RequestId, bool)> = Vec::new();
        for pending in std::iter::once(next).chain(queued) {
            let shared = self.shared.get(&pending.request);
            let number = shared.and_then(|shared| shared.number);
            if seen.insert(pending.request) && !number.is_some_and(|number| film.shows(number)) {
                requests.push((pending.request, true));
            }
        }
        requests.extend(self.outside.iter().map(|&request| (request, false)));
        film.close(requests.into_iter(), |command| self.track_now(command), cx);
        self.film = Some(film);
    }

    /// The film as it stands in the picture of a run.
    pub(super) fn film_json(&self) -> Option<Value> {
        let film = self.film.as_ref()?;
        let arms = self.arms.iter().map(|arm| ArmShown {
            angle: arm.parts.angle.turns(),
            at: arm.at,
            reads: arm.parts.reads,
            writes: arm.parts.writes,
            reach: arm.parts.reach,
        });
        Some(film.json(&self.hardware, &arms.collect::<Vec<_>>(), Vec::new))
    }
}
