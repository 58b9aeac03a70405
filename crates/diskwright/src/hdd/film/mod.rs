//! What a picture of a run shows of a disk at work: every step of the arm and of the requests in a short window of time.
//!
//! A request's steps are those of its critical path, and add up to the parts in the log of requests. What the arm does is
//! told beside: without a buffer it is the same; with one the arm also reads ahead, and writes behind completed requests.

mod json;
pub mod steps;

use super::Hdd;
use super::buffer::Track;
use crate::device::Context;
use crate::geometry::layout::Run;
use crate::geometry::mechanics::Arm;
use crate::metrics::picture::window::Window;
use crate::queue::Pending;
use crate::request::{Command, Op, Part, RequestId, ServedBy};
use crate::units::Time;
use steps::{Course, Step, Steps};

/// The most requests that a film shows.
const MOST: usize = 2_000;
/// The most that it shows waiting at its end.
const MOST_WAITING: usize = 500;

/// A request in the film.
struct Shown {
    sequence: Option<u64>,
    command: Command,
    arrival: Time,
    /// When it got a slot in the drive's queue, if it has one.
    acceptance: Option<Time>,
    /// The track of its first sector, from that on.
    track: Run,
    /// How it was served, if it was.
    service: Option<Served>,
}

/// How a request was served.
struct Served {
    /// Counts services: the name of this one.
    number: u64,
    start: Time,
    completion: Time,
    by: ServedBy,
    steps: Vec<Step>,
}

/// What an arm did.
struct Work {
    /// The number of the service that it was for; none where the scheduler moved it.
    service: Option<u64>,
    /// Whether it wrote.
    write: bool,
    course: Course,
}

/// Collected while a disk runs.
pub struct Film {
    window: Window,
    /// Where the arm is before the first work.
    rest: Arm,
    shown: Vec<Shown>,
    works: Vec<Work>,
    /// Those that wait when the window ends, and how many more there are.
    waiting: Vec<Shown>,
    left_out: usize,
    services: u64,
    /// The service for which the medium began to read.
    reads_for: Option<u64>,
    is_open: bool,
    is_closed: bool,
}

impl Film {
    /// An empty film of a window.
    pub fn new(window: Window) -> Film {
        Film {
            window,
            rest: Arm::default(),
            shown: Vec::new(),
            works: Vec::new(),
            waiting: Vec::new(),
            left_out: 0,
            services: 0,
            reads_for: None,
            is_open: false,
            is_closed: false,
        }
    }

    /// Forgets what is over before the window begins.
    fn forget(&mut self, now: Time) {
        let from = self.window.from().unwrap_or(now).min(now);
        let is_shown = |shown: &Shown| {
            let service = shown.service.as_ref();
            service.is_none_or(|service| service.completion > from)
        };
        self.shown.retain(is_shown);
        let rest = &mut self.rest;
        self.works.retain(|work| {
            let is_kept = work.course.ends() > from;
            if !is_kept && let Some(arm) = work.course.arm() {
                *rest = arm;
            }
            is_kept
        });
    }

    fn work(&mut self, service: Option<u64>, write: bool, course: Course) {
        if course.steps.is_empty() {
            return;
        }
        // Of what was broken off for it, no more is seen.
        if let Some(last) = self.works.last_mut() {
            last.course.cut(course.begins);
        }
        self.works.push(Work {
            service,
            write,
            course,
        });
    }

    /// The medium has read a track.
    fn read(&mut self, track: Track) {
        self.work(self.reads_for, false, track.into());
    }
}

impl Hdd {
    /// Takes the steps of a service that begins now, where the film shows it.
    #[inline]
    pub(super) fn camera(&mut self, pending: &Pending, cx: &Context<'_>) -> Option<Steps> {
        match &self.film {
            Some(film) if !film.is_closed => self.ready_camera(pending, cx),
            _ => None,
        }
    }

    fn ready_camera(&mut self, pending: &Pending, cx: &Context<'_>) -> Option<Steps> {
        let film = self.film.as_mut()?;
        let (now, sequence) = (cx.now(), cx.request(pending.request).of_host());
        if !film.window.is_near(sequence, now) {
            return None;
        }
        if !film.is_open {
            film.is_open = true;
            film.rest = self.buffer.as_ref().map_or(self.arm, |buffer| buffer.arm());
        }
        film.window.serves(sequence, now);
        self.film_tracks();
        let film = self.film.as_mut()?;
        film.forget(now);
        if film.shown.len() + pending.parts() > MOST
            && film.window.from().is_some_and(|from| from <= now)
        {
            film.window.fill(now);
        }
        if now >= film.window.to() {
            self.end_film(pending, cx);
            return None;
        }
        Some(Steps::default())
    }

    /// Shows a service that began now, and its requests: when it ends, where its data are, and whether the arm began to move for it.
    pub(super) fn show(
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
        let number = film.services;
        film.services += 1;
        for request in self.parts_of(pending) {
            let service = Served {
                number,
                start: cx.now(),
                completion: end,
                by,
                steps: steps.steps().to_vec(),
            };
            let shown = self.shown(request, Some(service), true, cx);
            film.shown.push(shown);
        }
        let write = pending.command.op == Op::Write;
        match &self.buffer {
            None => {
                if let Some(course) = steps.course(cx.now()) {
                    film.work(Some(number), write, course);
                }
            }
            Some(buffer) => {
                for course in steps.beside {
                    film.work(Some(number), write, course);
                }
                if !write && has_begun {
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
    pub(super) fn show_travel(&mut self, to: Arm, time: Time, now: Time) {
        self.film_tracks();
        let Some(film) = &mut self.film else { return };
        if film.is_open && !film.is_closed && now < film.window.to() {
            let step = Step {
                part: Part::Seek,
                time,
                arm: to,
                slots: None,
            };
            let steps = vec![step];
            film.work(None, false, Course { begins: now, steps });
        }
    }

    /// Takes what the buffer's medium has read.
    pub(super) fn film_tracks(&mut self) {
        if let (Some(film), Some(buffer)) = (&mut self.film, &mut self.buffer)
            && film.is_open
            && !film.is_closed
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
        film.is_closed = true;
        if let Some(buffer) = &mut self.buffer {
            buffer.forget_tracks();
        }
        let to = film.window.to();
        let slots = self.pool.by_arrival();
        let queued = slots.flat_map(|slot| self.parts_of(self.pool.get(slot)));
        let queued = self.parts_of(next).chain(queued);
        let outside = self.outside.iter().map(|&request| (request, false));
        for (request, has_slot) in queued.map(|request| (request, true)).chain(outside) {
            let entry = cx.request(request);
            if entry.arrival.min(entry.acceptance) >= to {
                continue;
            }
            if film.waiting.len() < MOST_WAITING {
                let shown = self.shown(request, None, has_slot, cx);
                film.waiting.push(shown);
            } else {
                film.left_out += 1;
            }
        }
        self.film = Some(film);
    }

    /// What the medium reads up to the window's end behind the last service.
    fn rest_of_film(&self) -> Vec<Track> {
        match (&self.film, &self.buffer) {
            (Some(film), Some(buffer)) if film.is_open && !film.is_closed => {
                buffer.tracks_until(&self.hardware, film.window.to())
            }
            _ => Vec::new(),
        }
    }

    /// A request and those that were merged with it.
    fn parts_of(&self, pending: &Pending) -> impl Iterator<Item = RequestId> {
        std::iter::once(pending.request).chain(self.pool.others(pending.others))
    }

    fn shown(
        &self,
        request: RequestId,
        service: Option<Served>,
        has_slot: bool,
        cx: &Context<'_>,
    ) -> Shown {
        let entry = cx.request(request);
        Shown {
            sequence: entry.of_host(),
            command: entry.command,
            arrival: entry.arrival,
            acceptance: has_slot.then_some(entry.acceptance),
            track: self.hardware.track_of(&entry.command),
            service,
        }
    }
}
