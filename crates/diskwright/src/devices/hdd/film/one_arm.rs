//! The film of a disk with one arm, whose data are in place.

use serde_json::Value;

use super::json::ArmShown;
use super::steps::Steps;
use super::{Purpose, Served, Shown};
use crate::base::units::Time;
use crate::devices::hdd::Hdd;
use crate::devices::hdd::buffer::Track;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, RequestId, ServedBy};
use crate::models::geometry::mechanics::{Arm, Reach};
use crate::models::queue::Pending;

impl Hdd {
    /// Takes the steps of a service that begins now, where the film shows it.
    #[inline]
    pub(in crate::devices::hdd) fn camera(
        &mut self,
        pending: &Pending,
        cx: &Context<'_>,
    ) -> Option<Steps> {
        match &self.film {
            Some(film) if !film.is_closed => self.ready_camera(pending, cx),
            _ => None,
        }
    }

    fn ready_camera(&mut self, pending: &Pending, cx: &Context<'_>) -> Option<Steps> {
        let film = self.film.as_mut()?;
        let (now, sequence) = (cx.now(), cx.request(pending.request).of_host());
        if !film.is_near(sequence, now) {
            return None;
        }
        let arm = self.buffer.as_ref().map_or(self.arm, |buffer| buffer.arm());
        film.open(std::iter::once(arm));
        film.serves(sequence, now);
        self.film_tracks();
        let film = self.film.as_mut()?;
        if film.makes_room(pending.parts(), now) {
            return Some(Steps::default());
        }
        self.end_film(pending, cx);
        None
    }

    /// Shows a service that began now, and its requests: when it ends, where its data are, and whether the arm began to move for it.
    pub(in crate::devices::hdd) fn show(
        &mut self,
        pending: &Pending,
        steps: Steps,
        (end, by, has_begun): (Time, ServedBy, bool),
        cx: &Context<'_>,
    ) {
        // Where reading ahead was interrupted.
        self.film_tracks();
        let Some(mut film) = self.film.take() else {
            return;
        };
        let number = film.number();
        for request in self.parts_of(pending) {
            let served = Served {
                number,
                start: cx.now(),
                completion: end,
                by,
                steps: steps.steps().to_vec(),
            };
            let track = self.hardware.track_of(&cx.request(request).command);
            film.show(Shown::new(request, Some(track), true, cx), served);
        }
        let purpose = Purpose::Service(number, pending.command.op);
        match &self.buffer {
            None => {
                for (arm, course) in steps.courses(cx.now()) {
                    film.work(arm, purpose, course);
                }
            }
            Some(buffer) => {
                for course in steps.beside {
                    film.work(0, purpose, course);
                }
                if pending.command.op == Op::Read && has_begun {
                    film.reads_for = Some(number);
                }
                if buffer.is_larger_than_a_segment(&pending.command) {
                    steps.left.into_iter().for_each(|track| film.read(track));
                }
            }
        }
        self.film = Some(film);
    }

    /// Shows that the scheduler moves the arm from now on.
    pub(in crate::devices::hdd) fn show_travel(&mut self, to: Arm, time: Time, now: Time) {
        self.film_tracks();
        if let Some(film) = &mut self.film {
            film.travel(0, to, time, now);
        }
    }

    /// Takes what the buffer's medium has read.
    fn film_tracks(&mut self) {
        if let (Some(film), Some(buffer)) = (&mut self.film, &mut self.buffer)
            && film.is_rolling()
        {
            buffer.tracks().for_each(|track| film.read(track));
        }
    }

    /// Everything that begins from now on, with the service of `next`, is beyond the window.
    fn end_film(&mut self, next: &Pending, cx: &Context<'_>) {
        let rest = self.rest_of_film();
        let Some(mut film) = self.film.take() else {
            return;
        };
        rest.into_iter().for_each(|track| film.read(track));
        if let Some(buffer) = &mut self.buffer {
            buffer.forget_tracks();
        }
        let slots = self.pool.by_arrival();
        let queued = slots.flat_map(|slot| self.parts_of(self.pool.get(slot)));
        let queued = self.parts_of(next).chain(queued);
        let outside = self.outside.iter().map(|&request| (request, false));
        let requests = queued.map(|request| (request, true)).chain(outside);
        let track = |command: &Command| Some(self.hardware.track_of(command));
        film.close(requests, track, cx);
        self.film = Some(film);
    }

    /// What the medium reads up to the window's end behind the last service.
    fn rest_of_film(&self) -> Vec<Track> {
        match (&self.film, &self.buffer) {
            (Some(film), Some(buffer)) if film.is_rolling() => {
                buffer.tracks_until(&self.hardware, film.window.to())
            }
            _ => Vec::new(),
        }
    }

    /// A request and those that were merged with it.
    fn parts_of(&self, pending: &Pending) -> impl Iterator<Item = RequestId> {
        std::iter::once(pending.request).chain(self.pool.others(pending.others))
    }

    /// [`Film::json`] of the disk as it is.
    pub(in crate::devices::hdd) fn film_json(&self) -> Option<Value> {
        let film = self.film.as_ref()?;
        let arm = ArmShown {
            angle: 0.0,
            at: self.arm,
            reads: true,
            writes: true,
            reach: Reach::ALL,
        };
        Some(film.json(&self.hardware, &[arm], || self.rest_of_film()))
    }
}
