//! Flushes of the host: what is dirty is written back, then both devices are flushed.

use std::collections::{BTreeSet, VecDeque};

use super::work::{Cause, Piece, What, WorkId};
use super::{Condition, Tier};
use crate::engine::children::PhaseEnd;
use crate::engine::context::Context;
use crate::engine::request::{Outcome, RequestId};

/// The most blocks that a flush writes back together: 1 MiB.
const MERGE: u32 = 2048;

/// The flushes that are not passed on yet, and the victims that they wait for.
#[derive(Default)]
pub(super) struct Flushes {
    waiting: VecDeque<RequestId>,
    current: Option<Current>,
    /// The numbers of the victims that are being written back.
    leaving: BTreeSet<u64>,
    /// How many victims there have been.
    victims: u64,
}

/// The flush that goes on.
#[derive(Clone, Copy)]
struct Current {
    request: RequestId,
    /// Dirty blocks before this one have been seen to.
    next: u64,
    /// Once nothing is left to be written back: victims with lower numbers must be on the backing device. They may have been dirty when it
    /// began.
    victims: Option<u64>,
    /// The commit that makes what was dirty when it began durable, if one must.
    commit: Option<u64>,
    /// A write-back of it is under way.
    is_writing: bool,
    /// The first outcome of a write-back that was not good: it makes not everything durable.
    outcome: Outcome,
}

impl Flushes {
    /// A flush arrives.
    pub fn wait(&mut self, request: RequestId) {
        self.waiting.push_back(request);
    }

    /// Whether one waits or goes on.
    #[inline]
    pub fn has_any(&self) -> bool {
        self.current.is_some() || !self.waiting.is_empty()
    }

    /// A dirty victim leaves; its number.
    pub fn victim_leaves(&mut self) -> u64 {
        let number = self.victims;
        self.victims += 1;
        self.leaving.insert(number);
        number
    }

    /// A victim has been written back.
    pub fn victim_has_left(&mut self, number: u64) {
        self.leaving.remove(&number);
    }

    /// Whether a victim is being written back.
    pub fn has_victims(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// A write-back of the flush that goes on is over.
    pub fn write_back_ended(&mut self, outcome: Outcome) {
        if let Some(current) = &mut self.current {
            current.is_writing = false;
            if current.outcome == Outcome::Ok {
                current.outcome = outcome;
            }
        }
    }
}

/// What a flush does next.
enum Step {
    /// It waits for lines or victims, or for its write-back.
    Wait,
    /// It writes a run back.
    Write(u64, u32),
    /// Nothing is left but victims that are on their way.
    Await,
    /// Everything is on the backing device.
    Pass,
}

impl Tier {
    /// Goes on with flushes, one after the other.
    pub(super) fn advance_flush(&mut self, cx: &mut Context<'_>) {
        loop {
            if self.flushes.current.is_none() {
                let Some(request) = self.flushes.waiting.pop_front() else {
                    return;
                };
                let now = cx.now();
                let entry = cx.request_mut(request);
                (entry.acceptance, entry.start) = (now, now);
                let commit = self.last_change();
                self.flushes.current = Some(Current {
                    request,
                    commit,
                    next: 0,
                    victims: None,
                    is_writing: false,
                    outcome: Outcome::Ok,
                });
            }
            let Some(current) = self.flushes.current else {
                return;
            };
            match self.step(&current) {
                Step::Wait => return,
                Step::Write(lbn, blocks) => {
                    self.flushes.current = Some(Current {
                        next: lbn + u64::from(blocks),
                        is_writing: true,
                        ..current
                    });
                    self.write_back(lbn, blocks, Cause::Flush, cx);
                    return;
                }
                Step::Await => {
                    self.flushes.current = Some(Current {
                        victims: Some(self.flushes.victims),
                        ..current
                    });
                }
                Step::Pass if current.outcome != Outcome::Ok => {
                    self.flushes.current = None;
                    self.end_at_once(current.request, current.outcome, cx);
                }
                Step::Pass => {
                    self.flushes.current = None;
                    self.pass_flush(current.request, cx);
                }
            }
        }
    }

    /// Whether flushes could go on, though nothing happens.
    pub(super) fn may_advance_flush(&self) -> bool {
        match &self.flushes.current {
            None => !self.flushes.waiting.is_empty(),
            Some(current) => !matches!(self.step(current), Step::Wait),
        }
    }

    /// The commit with which all that has changed is durable, if that has not ended: it is waited for.
    pub(super) fn last_change(&mut self) -> Option<u64> {
        let table = self.table.as_mut()?;
        let commit = table.last_change();
        commit.into_iter().for_each(|commit| table.want(commit));
        commit
    }

    fn step(&self, current: &Current) -> Step {
        if current.is_writing || self.retirement.is_under_way() {
            return Step::Wait;
        }
        if self.keeps_dirty()
            && let Some(table) = &self.table
        {
            let is_durable = current.commit.is_none_or(|commit| table.has_ended(commit));
            return if is_durable { Step::Pass } else { Step::Wait };
        }
        if current.victims.is_none()
            && self.has_backing
            && let Some((lbn, blocks)) = self.map.next_dirty(current.next, MERGE)
        {
            return match self.may_be_cleaned(lbn, blocks) {
                0 => Step::Wait,
                ready => Step::Write(lbn, ready.min(blocks)),
            };
        }
        match (self.flushes.leaving.first(), current.victims) {
            (Some(_), None) => Step::Await,
            (Some(&first), Some(end)) if first < end => Step::Wait,
            _ => Step::Pass,
        }
    }

    /// Flushes both devices for a flush of the host.
    fn pass_flush(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let job = self.children.begin(request);
        let flush = cx.request(request).command;
        let works_on = |is_cache| Piece {
            work: WorkId(u32::MAX),
            what: What::Barrier { is_cache },
        };
        if !matches!(self.condition, Condition::Failed | Condition::Removed) {
            self.children
                .send(job, self.cache.device, flush, works_on(true), cx);
        }
        self.children
            .send(job, self.backing.device, flush, works_on(false), cx);
    }

    /// Both devices have been flushed. While blocks are lost, not everything that was acknowledged is durable.
    pub(super) fn flush_ended(&mut self, end: PhaseEnd, cx: &mut Context<'_>) {
        self.children.end(end.job);
        let request = end.request.expect("a flush is the host's");
        if end.outcome == Outcome::Ok && self.flush_waits_for_record(request) {
            return;
        }
        let outcome = match end.outcome {
            Outcome::Ok => self.lost.first().unwrap_or(Outcome::Ok),
            outcome => outcome,
        };
        self.complete(request, outcome, cx);
    }
}
