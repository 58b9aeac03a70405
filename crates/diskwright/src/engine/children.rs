//! What a device made of devices has under way at its children.
//!
//! A *job* is for a request of the device, or for work of its own. It has *pieces*, requests to children, in *phases*: all pieces of a phase are
//! sent before the first of them ends, the next phase begins once the last has ended, and the job ends where the device sends no more.
//! The tables grow to the most that was ever under way together; then nothing is allocated any more.

use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::{
    Command, DeviceId, Outcome, Part, Parts, Request, RequestId, ServedBy,
};

/// A job's number; reused after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u32);

/// The jobs of a device, with pieces that carry a payload of the device's.
pub struct Children<P> {
    jobs: Vec<Job>,
    free: Vec<JobId>,
    /// The pieces under way, by the numbers of their requests.
    sent: Vec<Option<EndedPiece<P>>>,
}

/// Whether a run goes on for what a device does of its own accord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// It does, as for a rebuild.
    Foreground,
    /// It does not, as for a step of a scrub.
    Background,
    /// As it does for the request that the device [has been handed last](Context::is_behind_background): for what is done behind the requests of
    /// whoever uses the device, such as writing back.
    Behind,
}

impl Ground {
    /// Of what is done behind one request.
    pub fn of(request: &Request) -> Ground {
        match request.is_background {
            true => Ground::Background,
            false => Ground::Foreground,
        }
    }
}

/// A job under way.
#[derive(Clone, Copy, Debug)]
struct Job {
    request: Option<RequestId>,
    /// That of a job of the device's own; a request's is asked of it.
    ground: Ground,
    phase: u32,
    /// Pieces that the present phase has been given.
    pieces: u32,
    /// How many of them have not ended.
    left: u32,
    /// How many of them ended well.
    good: u32,
    /// The first outcome, of all phases, that was not good.
    outcome: Outcome,
}

/// A piece that has come back from its child.
#[derive(Debug)]
#[must_use = "a piece is finished, or another is sent in its place"]
pub struct EndedPiece<P> {
    /// What it is part of.
    pub job: JobId,
    /// Its place in its phase, from 0.
    pub place: u32,
    /// The child that it was sent to.
    pub child: DeviceId,
    /// What the device gave it.
    pub payload: P,
    /// The critical path of the pieces that it was sent in the place of.
    before: Option<Box<CriticalPath>>,
    request: RequestId,
}

/// The end of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the job goes on with another phase, or ends"]
pub struct PhaseEnd {
    /// The job.
    pub job: JobId,
    /// The request that it is for, if it is for one.
    pub request: Option<RequestId>,
    /// Which phase has ended, from 0.
    pub phase: u32,
    /// How many pieces of the phase ended well.
    pub good: u32,
    /// The first outcome of a piece, in this phase or one before, that was not good.
    pub outcome: Outcome,
}

impl<P> Default for Children<P> {
    fn default() -> Children<P> {
        Children {
            jobs: Vec::new(),
            free: Vec::new(),
            sent: Vec::new(),
        }
    }
}

impl<P> Children<P> {
    /// Begins a job for a request of the device: the run goes on for it as it does for that.
    pub fn begin(&mut self, request: RequestId) -> JobId {
        self.begin_in_phase(0, Some(request), Ground::Foreground)
    }

    /// Begins a job for a request that the device itself has spent time on: its pieces come behind that.
    pub fn begin_after_own(&mut self, request: RequestId) -> JobId {
        self.begin_in_phase(1, Some(request), Ground::Foreground)
    }

    fn begin_in_phase(&mut self, phase: u32, request: Option<RequestId>, ground: Ground) -> JobId {
        let job = Job {
            request,
            ground,
            phase,
            pieces: 0,
            left: 0,
            good: 0,
            outcome: Outcome::Ok,
        };
        match self.free.pop() {
            Some(id) => {
                self.jobs[id.0 as usize] = job;
                id
            }
            None => {
                self.jobs.push(job);
                JobId(self.jobs.len() as u32 - 1)
            }
        }
    }

    /// Begins a job of the device's own.
    pub fn begin_own(&mut self, ground: Ground) -> JobId {
        self.begin_in_phase(0, None, ground)
    }

    /// Jobs under way.
    pub fn len(&self) -> usize {
        self.jobs.len() - self.free.len()
    }

    /// Whether no job is under way.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The request that a job is for, if it is for one.
    pub fn request(&self, job: JobId) -> Option<RequestId> {
        self.jobs[job.0 as usize].request
    }

    /// The present phase of a job, from 0.
    pub fn phase(&self, job: JobId) -> u32 {
        self.jobs[job.0 as usize].phase
    }

    /// Sends a piece of a job's present phase to a child, and returns its request. The run does not go on for it where it does not for the job, or for
    /// the job's request.
    pub fn send(
        &mut self,
        job: JobId,
        child: DeviceId,
        command: Command,
        payload: P,
        cx: &mut Context<'_>,
    ) -> RequestId {
        let entry = &mut self.jobs[job.0 as usize];
        let place = entry.pieces;
        entry.pieces += 1;
        entry.left += 1;
        let mut ground = entry.ground;
        let of_host = entry.request.map(|request| {
            let request = cx.request(request);
            ground = Ground::of(request);
            (request.sequence, request.stream, request.class)
        });
        let is_background = match ground {
            Ground::Foreground => false,
            Ground::Background => true,
            Ground::Behind => cx.is_behind_background(),
        };
        let request = cx.submit(child, command);
        if is_background {
            cx.put_in_background(request);
        }
        if let Some(of_host) = of_host {
            let entry = cx.request_mut(request);
            (entry.sequence, entry.stream, entry.class) = of_host;
        }
        let index = request.0 as usize;
        if self.sent.len() <= index {
            self.sent.resize_with(index + 1, || None);
        }
        self.sent[index] = Some(EndedPiece {
            job,
            place,
            child,
            payload,
            before: None,
            request,
        });
        request
    }

    /// Makes the pieces that are under way for a request [urgent](Context::make_urgent), too.
    pub fn make_urgent(&self, request: RequestId, cx: &mut Context<'_>) {
        for piece in self.sent.iter().flatten() {
            if self.request(piece.job) == Some(request) {
                cx.make_urgent(piece.request);
            }
        }
    }

    /// The piece whose request to a child is complete.
    pub fn take(&mut self, request: RequestId) -> EndedPiece<P> {
        let piece = self.sent[request.0 as usize].take();
        piece.expect("a child completes what was submitted to it")
    }

    /// Sends another piece in the place of one that has come back, which is thereby done with: a retry elsewhere. The time of both counts.
    pub fn send_instead(
        &mut self,
        piece: EndedPiece<P>,
        child: DeviceId,
        command: Command,
        payload: P,
        cx: &mut Context<'_>,
    ) -> RequestId {
        let critical_path = piece.critical_path(cx);
        let entry = &mut self.jobs[piece.job.0 as usize];
        (entry.pieces, entry.left) = (entry.pieces - 1, entry.left - 1);
        let request = self.send(piece.job, child, command, payload, cx);
        let sent = self.sent[request.0 as usize].as_mut();
        let sent = sent.expect("it was sent just now");
        (sent.place, sent.before) = (piece.place, Some(Box::new(critical_path)));
        request
    }

    /// A piece has ended, with its own outcome or one that the device has made of it. Where it was the last of its phase, the job's request takes over
    /// its critical path.
    pub fn finish(
        &mut self,
        piece: EndedPiece<P>,
        outcome: Outcome,
        cx: &mut Context<'_>,
    ) -> Option<PhaseEnd> {
        let job = &mut self.jobs[piece.job.0 as usize];
        job.left -= 1;
        job.good += u32::from(outcome == Outcome::Ok);
        if job.outcome == Outcome::Ok {
            job.outcome = outcome;
        }
        if job.left > 0 {
            return None;
        }
        let end = PhaseEnd {
            job: piece.job,
            request: job.request,
            phase: job.phase,
            good: job.good,
            outcome: job.outcome,
        };
        job.phase += 1;
        (job.pieces, job.good) = (0, 0);
        if let Some(request) = end.request {
            if end.phase == 0 && piece.before.is_none() {
                cx.take_over(piece.request, request);
            } else {
                let critical_path = piece.critical_path(cx);
                let critical_path = match end.phase {
                    0 => critical_path,
                    _ => CriticalPath::so_far(cx.request(request)).then(&critical_path),
                };
                critical_path.stamp(cx.request_mut(request));
            }
        }
        Some(end)
    }

    /// Takes a piece that has come back out of its phase, which does not end with it: the device goes on from there, with pieces that are
    /// [sent after it](Self::send_after), or ends the job's request with [what has passed](Passed::stamp).
    pub fn leave(&mut self, piece: EndedPiece<P>, cx: &Context<'_>) -> (P, Passed) {
        let passed = Passed(piece.critical_path(cx));
        let entry = &mut self.jobs[piece.job.0 as usize];
        (entry.pieces, entry.left) = (entry.pieces - 1, entry.left - 1);
        (piece.payload, passed)
    }

    /// Sends a piece for which another one was waited: its critical path begins with that of the other.
    pub fn send_after(
        &mut self,
        (job, passed): (JobId, &Passed),
        child: DeviceId,
        command: Command,
        payload: P,
        cx: &mut Context<'_>,
    ) -> RequestId {
        let request = self.send(job, child, command, payload, cx);
        let sent = self.sent[request.0 as usize].as_mut();
        sent.expect("it was sent just now").before = Some(Box::new(passed.0));
        request
    }

    /// Ends a job between its phases, or one that was never given a piece.
    pub fn end(&mut self, job: JobId) {
        debug_assert_eq!(self.jobs[job.0 as usize].left, 0, "pieces are under way");
        self.free.push(job);
    }
}

impl<P> EndedPiece<P> {
    /// Its critical path, with that of the pieces that it was sent in the place of.
    fn critical_path(&self, cx: &Context<'_>) -> CriticalPath {
        let own = CriticalPath::of(cx.request(self.request));
        match &self.before {
            None => own,
            Some(before) => before.then(&own),
        }
    }
}

/// The critical path up to the end of a piece.
#[derive(Clone, Copy, Debug)]
pub struct Passed(CriticalPath);

impl Passed {
    /// Has a request, which ends now, take over this path; what lies between its end and now is waiting.
    pub fn stamp(&self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        let mut path = self.0;
        path.parts.add(Part::Wait, now - path.completion);
        path.stamp(cx.request_mut(request));
    }
}

/// What a request takes over from the pieces on its critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CriticalPath {
    acceptance: Time,
    start: Time,
    completion: Time,
    parts: Parts,
    media: Time,
    served_by: ServedBy,
    shares_access: bool,
}

impl CriticalPath {
    fn of(piece: &Request) -> CriticalPath {
        CriticalPath {
            acceptance: piece.acceptance,
            start: piece.start,
            completion: piece.completion,
            parts: piece.parts,
            media: piece.media,
            served_by: piece.served_by,
            shares_access: piece.shares_access,
        }
    }

    /// That of a request that is not complete, up to the end of its last phase.
    fn so_far(request: &Request) -> CriticalPath {
        CriticalPath {
            completion: request.start + request.parts.total(),
            ..CriticalPath::of(request)
        }
    }

    /// This one and then another; what lies between is waiting.
    fn then(&self, next: &CriticalPath) -> CriticalPath {
        let mut parts = self.parts;
        parts.add(Part::Wait, next.start - self.completion);
        parts.add_all(&next.parts);
        CriticalPath {
            acceptance: self.acceptance,
            start: self.start,
            completion: next.completion,
            parts,
            media: self.media + next.media,
            served_by: next.served_by,
            shares_access: false,
        }
    }

    fn stamp(&self, request: &mut Request) {
        (request.acceptance, request.start) = (self.acceptance, self.start);
        (request.parts, request.media) = (self.parts, self.media);
        request.served_by = self.served_by;
        request.shares_access = self.shares_access;
    }
}
