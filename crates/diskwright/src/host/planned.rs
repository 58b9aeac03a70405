//! Streams that begin and end by their plans: stages, durations, rates and pauses.
//!
//! What a stream waits for sets one alarm: its beginning, the instant at which its rate lets the next request pass, the end of a pause,
//! a user who thinks, the next arrival. No alarm of a stream lies behind its end, at which it stops.

use crate::base::error::Error;
use crate::base::units::Time;
use crate::engine::request::Op;
use crate::engine::{Port, Token};
use crate::workload::Arrival;
use crate::workload::synthetic::{Refill, Source, StreamPlan};

use super::Host;

/// Kinds of alarms, whose value is the number of a stream.
const BEGIN: u32 = 2;
const RATE: u32 = 3;
const RESUME: u32 = 4;
const THINK: u32 = 5;
const ARRIVE: u32 = 6;

/// How far a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It has not begun.
    Waiting,
    /// It issues requests.
    Running,
    /// It waits for what is under way before it pauses.
    Quiescing,
    /// It pauses.
    Pausing,
    /// It issues nothing more and waits for what is under way.
    Ending,
    /// All of its requests have completed.
    Ended,
}

/// A stream and how far it has come.
struct Stream {
    plan: StreamPlan,
    phase: Phase,
    begin: Time,
    /// It issues nothing from then on.
    end: Time,
    /// Users that may issue: they have no request under way, do not think, and wait for no others.
    idle: u32,
    under_way: u32,
    /// An alarm for its rate is set.
    is_held_back: bool,
    /// Requests since the last pause, and when that ended.
    since_pause: u64,
    resumed: Time,
    /// The next request of a stream with arrival times, whose alarm is set.
    ahead: Arrival,
}

impl Stream {
    fn is_open(&self) -> bool {
        self.plan.source == Source::Arrivals
    }

    /// A user is ready for its next request.
    fn free(&mut self) {
        let refill = self.plan.refill.as_mut();
        self.idle += refill.map_or(1, Refill::ready);
    }

    /// Whether a pause is due before the next request.
    fn is_to_pause(&self, now: Time) -> bool {
        self.plan.pause.is_some_and(|pause| {
            let many = pause.requests.is_some_and(|most| self.since_pause >= most);
            let long = pause
                .period
                .is_some_and(|most| now.saturating_sub(self.resumed) >= most);
            self.since_pause > 0 && (many || long)
        })
    }
}

/// The streams of a planned load.
#[derive(Default)]
pub(super) struct Streams {
    all: Vec<Stream>,
    /// The stages that there are, the next one last.
    stages: Vec<u32>,
    /// Streams of the present stage that have not ended.
    left: usize,
}

impl Streams {
    pub(super) fn new(plans: Vec<StreamPlan>) -> Streams {
        let mut stages: Vec<u32> = plans.iter().map(|plan| plan.stage).collect();
        stages.sort_unstable_by_key(|stage| std::cmp::Reverse(*stage));
        stages.dedup();
        let stream = |plan| Stream {
            plan,
            phase: Phase::Waiting,
            begin: Time::ZERO,
            end: Time::MAX,
            idle: 0,
            under_way: 0,
            is_held_back: false,
            since_pause: 0,
            resumed: Time::ZERO,
            ahead: Arrival::default(),
        };
        Streams {
            all: plans.into_iter().map(stream).collect(),
            stages,
            left: 0,
        }
    }

    /// Whether requests of a stream arrive whatever the device does.
    pub(super) fn has_open(&self) -> bool {
        self.all.iter().any(Stream::is_open)
    }

    /// A stream issues nothing more.
    fn stop(&mut self, stream: u32) {
        let one = &mut self.all[stream as usize];
        match one.phase {
            Phase::Ending | Phase::Ended => {}
            _ if one.under_way > 0 => one.phase = Phase::Ending,
            _ => self.end(stream),
        }
    }

    /// A stream has ended, and with it those that have nothing under way and end with it.
    fn end(&mut self, stream: u32) {
        let mut ended = vec![stream as usize];
        while let Some(index) = ended.pop() {
            let one = &mut self.all[index];
            if one.phase == Phase::Ended {
                continue;
            }
            one.phase = Phase::Ended;
            self.left -= 1;
            let stage = one.plan.stage;
            if !one.plan.ends_stage {
                continue;
            }
            for (other, one) in self.all.iter_mut().enumerate() {
                if one.plan.stage != stage || one.phase == Phase::Ended {
                    continue;
                }
                match one.under_way {
                    0 => ended.push(other),
                    _ => one.phase = Phase::Ending,
                }
            }
        }
    }
}

impl Host<'_> {
    fn planned(&mut self, stream: u32) -> &mut Stream {
        &mut self.planned.all[stream as usize]
    }

    /// Begins the next stages, as long as the present one has ended.
    pub(super) fn begin_stages(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        while self.planned.left == 0
            && let Some(stage) = self.planned.stages.pop()
        {
            let of_stage = self.planned.all.iter();
            let of_stage = of_stage.filter(|stream| stream.plan.stage == stage);
            self.planned.left = of_stage.count();
            for stream in 0..self.planned.all.len() as u32 {
                let one = self.planned(stream);
                if one.plan.stage != stage || one.phase != Phase::Waiting {
                    continue;
                }
                if one.plan.start > port.now() {
                    port.alarm(one.plan.start, Token::new(BEGIN, stream));
                } else {
                    self.begin(stream, port)?;
                }
            }
        }
        Ok(())
    }

    /// An alarm of a stream is due.
    pub(super) fn planned_alarm(&mut self, token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        let stream = token.value();
        let one = self.planned(stream);
        let has_stopped = matches!(one.phase, Phase::Ending | Phase::Ended);
        match token.kind() {
            BEGIN if !has_stopped => self.begin(stream, port)?,
            RATE => {
                one.is_held_back = false;
                self.fill_stream(stream, port)?;
            }
            RESUME if !has_stopped => {
                (one.phase, one.since_pause, one.resumed) = (Phase::Running, 0, port.now());
                self.fill_stream(stream, port)?;
            }
            THINK => {
                one.free();
                self.fill_stream(stream, port)?;
            }
            ARRIVE if !has_stopped => self.arrive_of(stream, port)?,
            _ => {}
        }
        self.begin_stages(port)
    }

    /// A request of a stream has completed.
    #[inline(never)]
    pub(super) fn planned_completed(
        &mut self,
        stream: u32,
        port: &mut Port<'_>,
    ) -> Result<(), Error> {
        let one = self.planned(stream);
        one.under_way -= 1;
        if one.phase == Phase::Ending {
            if one.under_way == 0 {
                self.planned.end(stream);
            }
            return self.begin_stages(port);
        }
        if one.is_open() {
            return Ok(());
        }
        let think = match self.workload.is_at_end(stream) {
            true => Time::ZERO,
            false => self.workload.think(stream),
        };
        let one = self.planned(stream);
        if think > Time::ZERO && one.phase == Phase::Running {
            self.wake(stream, THINK, port.now().checked_add(think), port);
            return Ok(());
        }
        one.free();
        if one.phase == Phase::Quiescing && one.under_way == 0 {
            self.pause(stream, port);
            return Ok(());
        }
        self.fill_stream(stream, port)?;
        self.begin_stages(port)
    }

    /// Sets an alarm of a stream, not behind its end.
    fn wake(&mut self, stream: u32, kind: u32, at: Option<Time>, port: &mut Port<'_>) {
        let at = at.unwrap_or(Time::MAX).min(self.planned(stream).end);
        port.alarm(at.max(port.now()), Token::new(kind, stream));
    }

    fn begin(&mut self, stream: u32, port: &mut Port<'_>) -> Result<(), Error> {
        let now = port.now();
        let most = self.policy.outstanding.unwrap_or(1);
        let one = self.planned(stream);
        one.phase = Phase::Running;
        (one.begin, one.resumed) = (now, now);
        let duration = one.plan.duration.unwrap_or(Time::MAX);
        one.end = now.checked_add(duration).unwrap_or(Time::MAX);
        let measured_from = now.checked_add(one.plan.warmup).unwrap_or(Time::MAX);
        let source = one.plan.source;
        if let Source::Users(users) = source {
            one.idle = users.unwrap_or(most);
            if let Some(refill) = &mut one.plan.refill {
                refill.begin(one.idle);
            }
        }
        self.recorder.stream_begins(stream, now, measured_from);
        match source {
            Source::Arrivals => self.await_next_of(stream, port),
            Source::Users(_) => self.fill_stream(stream, port),
        }
    }

    /// Waits until what is under way has completed, and then for the time of a pause.
    fn pause(&mut self, stream: u32, port: &mut Port<'_>) {
        let one = self.planned(stream);
        if one.under_way > 0 {
            one.phase = Phase::Quiescing;
            return;
        }
        one.phase = Phase::Pausing;
        let time = one.plan.pause.map_or(Time::ZERO, |pause| pause.time);
        self.wake(stream, RESUME, port.now().checked_add(time), port);
    }

    /// Whether requests that arrive at an instant are still taken.
    pub(super) fn takes(&self, at: Time) -> bool {
        let first = self.first_arrival.unwrap_or(at);
        let most = self.policy.extent.duration;
        most.is_none_or(|most| at.saturating_sub(first) <= most)
    }

    /// The idle users of a stream make requests, as far as its plan lets them.
    fn fill_stream(&mut self, stream: u32, port: &mut Port<'_>) -> Result<(), Error> {
        let now = port.now();
        loop {
            let one = self.planned(stream);
            if one.phase != Phase::Running {
                return Ok(());
            }
            if now >= one.end {
                self.planned.stop(stream);
                return Ok(());
            }
            if one.idle == 0 || one.is_held_back {
                return Ok(());
            }
            if self.workload.is_at_end(stream) || !self.takes(now) {
                self.planned.stop(stream);
                return Ok(());
            }
            if self.planned(stream).is_to_pause(now) {
                self.pause(stream, port);
                return Ok(());
            }
            let one = &mut self.planned.all[stream as usize];
            if let Some(rate) = &one.plan.rate {
                let passes = one.begin.checked_add(rate.next());
                if passes.is_none_or(|at| at > now) && !self.workload.has_flush_next(stream) {
                    one.is_held_back = true;
                    self.wake(stream, RATE, passes, port);
                    return Ok(());
                }
            }
            let mut next = Arrival::default();
            if !self.pull_of(stream, &mut next)? {
                self.planned.stop(stream);
                return Ok(());
            }
            let one = self.planned(stream);
            one.idle -= 1;
            one.under_way += 1;
            if let Some(refill) = &mut one.plan.refill {
                refill.issue();
            }
            if next.command.op != Op::Flush {
                one.since_pause += 1;
                if let Some(rate) = &mut one.plan.rate {
                    rate.issue(next.command.blocks);
                }
            }
            self.arrive(&next, stream, port);
        }
    }

    /// The awaited request of a stream with arrival times arrives.
    fn arrive_of(&mut self, stream: u32, port: &mut Port<'_>) -> Result<(), Error> {
        let one = self.planned(stream);
        if port.now() >= one.end {
            self.planned.stop(stream);
            return Ok(());
        }
        one.under_way += 1;
        let arrival = std::mem::take(&mut one.ahead);
        self.arrive(&arrival, stream, port);
        self.await_next_of(stream, port)
    }

    /// Sets the alarm for the next request of a stream with arrival times.
    fn await_next_of(&mut self, stream: u32, port: &mut Port<'_>) -> Result<(), Error> {
        let mut next = Arrival::default();
        if !self.pull_of(stream, &mut next)? {
            self.planned.stop(stream);
            return Ok(());
        }
        let one = self.planned(stream);
        one.ahead = next;
        let at = one.begin.checked_add(next.at);
        if at.is_some_and(|at| !self.takes(at)) {
            self.planned.stop(stream);
            return Ok(());
        }
        self.wake(stream, ARRIVE, at, port);
        Ok(())
    }

    /// Writes the next request of a stream, unless the run's extent is reached.
    fn pull_of(&mut self, stream: u32, next: &mut Arrival) -> Result<bool, Error> {
        match self.takes_more() {
            true => self.workload.fill_of(stream, next),
            false => Ok(false),
        }
    }
}
