//! How a disk takes its film.

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use serde_json::Value;

use super::json::ArmShown;
use super::steps::Steps;
use super::{Purpose, Served, Shown};
use crate::base::units::Time;
use crate::devices::hdd::disk::Disk;
use crate::devices::hdd::tally::Track;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, RequestId, ServedBy};
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::Arm;
use crate::models::queue::Pending;

/// What a film takes of a service.
pub(in crate::devices::hdd) struct Shot {
    pub steps: Steps,
    /// The requests that are served together, each with the track of its first sector when they were picked, from that on, where it had
    /// a place.
    requests: Vec<(RequestId, Option<Run>)>,
}

impl Disk {
    /// Takes the steps of a service that begins now, where the film shows it.
    #[inline]
    pub(in crate::devices::hdd) fn camera(
        &mut self,
        group: usize,
        pending: &Pending,
        cx: &Context<'_>,
    ) -> Option<Shot> {
        match &self.film {
            Some(film) if !film.is_closed => self.ready_camera(group, pending, cx),
            _ => None,
        }
    }

    fn ready_camera(&mut self, group: usize, pending: &Pending, cx: &Context<'_>) -> Option<Shot> {
        let (now, sequence) = (cx.now(), cx.request(pending.request).of_host());
        let film = self.film.as_mut()?;
        if !film.is_near(sequence, now) {
            return None;
        }
        film.open(self.medium.arms.iter().map(|arm| arm.at));
        film.serves(sequence, now);
        self.film_tracks();
        let film = self.film.as_mut()?;
        if film.makes_room(pending.parts(), now) {
            let requests = self.requests_of(group, pending);
            let track = |request| (request, self.track_now(&cx.request(request).command));
            return Some(Shot {
                steps: Steps::default(),
                requests: requests.map(track).collect(),
            });
        }
        self.end_film(group, pending, cx);
        None
    }

    /// Takes the steps of what the cleaner begins now, where the film shows it.
    pub(in crate::devices::hdd) fn camera_behind(&mut self, now: Time) -> Option<Steps> {
        let film = self.film.as_mut()?;
        if !film.is_near_behind(now) {
            return None;
        }
        film.open(self.medium.arms.iter().map(|arm| arm.at));
        film.makes_room(0, now).then(Steps::default)
    }

    /// The track of the first of a command's sectors that has a place now, from that on: what is to be written into a log has none yet.
    fn track_now(&self, command: &Command) -> Option<Run> {
        match &self.log {
            Some(log) => Some(log.target(&self.medium, command, None)?.run),
            None => Some(self.medium.hardware.track_of(command)),
        }
    }

    /// Shows a service that began now, or a share in it: when it ends, where its data are, and whether an arm began to move for it.
    #[inline]
    pub(in crate::devices::hdd) fn show(
        &mut self,
        group: usize,
        pending: &Pending,
        shot: Option<Shot>,
        how: (Time, ServedBy, bool),
        cx: &Context<'_>,
    ) {
        if self.film.is_none() {
            return;
        }
        match shot {
            None => self.show_late(group, pending, how.0),
            Some(shot) => self.show_shot(pending, shot, how, cx),
        }
    }

    /// A share begins beyond the window.
    fn show_late(&mut self, group: usize, pending: &Pending, end: Time) {
        for request in self.requests_of(group, pending).collect::<Vec<_>>() {
            let shared = self.intake.shared.get(&request);
            if let (Some(shared), Some(film)) = (shared, &mut self.film)
                && let Some(number) = shared.number
            {
                film.begins_late(number, end >= shared.end);
            }
        }
    }

    fn show_shot(
        &mut self,
        pending: &Pending,
        shot: Shot,
        (end, by, has_begun): (Time, ServedBy, bool),
        cx: &Context<'_>,
    ) {
        // Where reading ahead was interrupted.
        self.film_tracks();
        let Some(mut film) = self.film.take() else {
            return;
        };
        let shared = &mut self.intake.shared;
        let known = shared.get(&pending.request);
        let number = known.and_then(|shared| shared.number);
        let number = number.unwrap_or_else(|| film.number());
        let Shot { steps, requests } = shot;
        for (request, track) in requests {
            let (mut own_number, mut unbegun, mut is_last) = (number, 0, true);
            if let Some(shared) = shared.get_mut(&request) {
                own_number = *shared.number.get_or_insert(number);
                (unbegun, is_last) = (shared.unbegun, end >= shared.end);
            }
            let served = Served {
                number: own_number,
                start: cx.now(),
                completion: end,
                by,
                steps: steps.steps().to_vec(),
            };
            if shared.contains_key(&request) && film.shows(own_number) {
                film.show_share(served, unbegun, is_last);
            } else {
                let mut shown = Shown::new(request, track, true, cx);
                shown.unbegun = unbegun;
                film.show(shown, served);
            }
        }
        let purpose = Purpose::Service(number, pending.command.op);
        match &self.buffered {
            None => {
                for (arm, course) in steps.courses(cx.now()) {
                    film.work(arm, purpose, course);
                }
            }
            Some(buffered) => {
                for course in steps.beside {
                    film.work(0, purpose, course);
                }
                if pending.command.op == Op::Read && has_begun {
                    film.reads_for = Some(number);
                }
                if buffered.buffer.is_larger_than_a_segment(&pending.command) {
                    steps.left.into_iter().for_each(|track| film.read(track));
                }
            }
        }
        self.film = Some(film);
    }

    /// Shows what the cleaner began now.
    pub(in crate::devices::hdd) fn show_behind(&mut self, steps: &Steps, op: Op, now: Time) {
        if let Some(film) = &mut self.film {
            for (arm, course) in steps.courses(now) {
                film.work(arm, Purpose::Cleaning(op), course);
            }
        }
    }

    /// Shows that a scheduler moves an arm from now on.
    pub(in crate::devices::hdd) fn show_travel(
        &mut self,
        arm: usize,
        to: Arm,
        time: Time,
        now: Time,
    ) {
        self.film_tracks();
        if let Some(film) = &mut self.film {
            film.travel(arm, to, time, now);
        }
    }

    /// Takes what the buffer's medium has read.
    fn film_tracks(&mut self) {
        if let (Some(film), Some(buffered)) = (&mut self.film, &mut self.buffered)
            && film.is_rolling()
        {
            buffered.buffer.tracks().for_each(|track| film.read(track));
        }
    }

    /// Everything that begins from now on, with the service of `next`, is beyond the window.
    fn end_film(&mut self, group: usize, next: &Pending, cx: &Context<'_>) {
        let rest = self.rest_of_film();
        let Some(mut film) = self.film.take() else {
            return;
        };
        rest.into_iter().for_each(|track| film.read(track));
        if let Some(buffered) = &mut self.buffered {
            buffered.buffer.forget_tracks();
        }
        let mut queued: Vec<(usize, &Pending)> = Vec::new();
        for (number, queue) in self.queues.iter().enumerate() {
            let pool = &queue.pool;
            queued.extend(pool.by_arrival().map(|slot| (number, pool.get(slot))));
        }
        if self.queues.len() > 1 {
            queued.sort_by_key(|(_, pending)| pending.entered);
        }
        // A request waits in the queues of several groups, and of some of them it may have got an arm.
        let mut seen: HashSet<RequestId, FixedState> = HashSet::default();
        let mut requests: Vec<(RequestId, bool)> = Vec::new();
        for (group, pending) in std::iter::once((group, next)).chain(queued) {
            for request in self.requests_of(group, pending) {
                let shared = self.intake.shared.get(&request);
                let number = shared.and_then(|shared| shared.number);
                if seen.insert(request) && !number.is_some_and(|number| film.shows(number)) {
                    requests.push((request, true));
                }
            }
        }
        let outside = self.intake.outside.iter();
        requests.extend(outside.map(|&request| (request, false)));
        film.close(requests.into_iter(), |command| self.track_now(command), cx);
        self.film = Some(film);
    }

    /// What the medium reads up to the window's end behind the last service.
    fn rest_of_film(&self) -> Vec<Track> {
        match (&self.film, &self.buffered) {
            (Some(film), Some(buffered)) if film.is_rolling() => {
                let hardware = &self.medium.hardware;
                buffered.buffer.tracks_until(hardware, film.window.to())
            }
            _ => Vec::new(),
        }
    }

    /// A request that waits for a group of arms, and those that were merged with it.
    fn requests_of(&self, group: usize, pending: &Pending) -> impl Iterator<Item = RequestId> {
        let others = self.queues[group].pool.others(pending.others);
        std::iter::once(pending.request).chain(others)
    }

    /// The film as it stands in the picture of a run.
    pub(in crate::devices::hdd) fn film_json(&self) -> Option<Value> {
        let film = self.film.as_ref()?;
        let arms = self.medium.arms.iter().map(|arm| ArmShown {
            angle: arm.parts.angle.turns(),
            at: arm.at,
            reads: arm.parts.reads,
            writes: arm.parts.writes,
            reach: arm.parts.reach,
        });
        let arms: Vec<ArmShown> = arms.collect();
        Some(film.json(&self.medium.hardware, &arms, || self.rest_of_film()))
    }
}
