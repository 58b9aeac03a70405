//! Write-backs: of victims, for flushes and for cleaning.

use diskwright::engine::request::Op;

use super::clock::Alarm;
use super::model::{Cause, FlushUnderWay, Held, Model, Run, Stage, Use, Waiter, What};
use super::specs::{Asked, Cleaning};

/// The most blocks that are written back together for a flush or a change.
pub const MOST: u64 = 2048;

fn nothing() -> Asked {
    Asked {
        at: 0,
        op: Op::Write,
        fua: false,
        lbn: 0,
        blocks: 0,
    }
}

impl Model<'_> {
    /// A work that changes a line alone, for no request of the host.
    pub fn alone(&mut self, cause: Cause, key: u64) -> usize {
        let work = self.work(cause, nothing());
        self.uses.push(Use {
            key,
            work,
            alone: true,
            promoting: false,
            cleaning: false,
            place: None,
        });
        work
    }

    /// A line has left its place for another one's work; whether that must wait.
    pub fn leaves(&mut self, victim: Held, waiter: usize) -> bool {
        let Held { key, place, .. } = victim;
        let first = key * self.case.line;
        let is_dirty = |lbn: u64| victim.dirty[(lbn - first) as usize];
        let runs = self.runs(first, self.case.line, is_dirty);
        if runs.is_empty() && self.pending(place).is_none() {
            return false;
        }
        let number = self.victims;
        self.victims += 1;
        self.leaving.push(number);
        let work = self.alone(Cause::Victim(number, key, place, waiter), key);
        if runs.is_empty() {
            self.met.insert("a clean victim that the table may name");
            self.works[work].stage = Stage::Committing;
            return self.wait(place, Waiter::Line(work));
        }
        self.met.insert("a dirty victim");
        for (lbn, blocks) in runs {
            let at = self.at(place, lbn);
            self.works[work].runs.push(Run { lbn, blocks, at });
        }
        self.gather(work);
        true
    }

    /// Writes back a dirty run of lines that may be.
    pub fn write_back(&mut self, lbn: u64, blocks: u64, cause: Cause) {
        let work = self.work(
            cause,
            Asked {
                lbn,
                blocks,
                ..nothing()
            },
        );
        for part in self.parts(lbn, blocks) {
            let at = self.find(part.key).expect("dirty blocks are held");
            let place = self.held[at].place;
            self.uses.push(Use {
                key: part.key,
                work,
                alone: false,
                promoting: false,
                cleaning: true,
                place: Some(place),
            });
            let at = self.at(place, part.lbn);
            let runs = &mut self.works[work].runs;
            match runs.last_mut() {
                Some(last) if last.at + last.blocks == at => {
                    self.met.insert("a run that goes on in the next place");
                    last.blocks += part.blocks;
                }
                _ => runs.push(Run {
                    lbn: part.lbn,
                    blocks: part.blocks,
                    at,
                }),
            }
        }
        self.gather(work);
    }

    fn gather(&mut self, work: usize) {
        self.works[work].stage = Stage::Gathering;
        match self.works[work].cause {
            Cause::Victim(..) => self.counts.of_victims += 1,
            Cause::Cleaning => self.counts.of_cleaning += 1,
            Cause::Flush => self.counts.of_flushes += 1,
            Cause::Change => self.counts.of_changes += 1,
            Cause::Host(_) | Cause::Emptied(_) => {}
        }
        for run in self.works[work].runs.clone() {
            self.works[work].left += 1;
            self.send(0, Op::Read, run.blocks, What::Work(work));
        }
    }

    /// All dirty runs have been read.
    pub fn spread(&mut self, work: usize) {
        self.works[work].stage = Stage::Spreading;
        let mut writes: Vec<(u64, u64)> = Vec::new();
        for run in self.works[work].runs.clone() {
            match writes.last_mut() {
                Some((lbn, blocks)) if *lbn + *blocks == run.lbn => *blocks += run.blocks,
                _ => writes.push((run.lbn, run.blocks)),
            }
        }
        for (_, blocks) in writes {
            self.counts.written_back_blocks += blocks;
            self.works[work].left += 1;
            self.send(1, Op::Write, blocks, What::Work(work));
        }
    }

    /// A write-back is durable on the backing device.
    pub fn written_back(&mut self, work: usize) {
        let cause = self.works[work].cause;
        if let Cause::Victim(_, _, place, _) = cause {
            self.works[work].stage = Stage::Committing;
            self.note_left(place);
            if !self.wait(place, Waiter::Line(work)) {
                self.line_is_forgotten(work);
            }
            return;
        }
        self.works[work].stage = Stage::Ended;
        let Asked { lbn, blocks, .. } = self.works[work].asked;
        for block in lbn..lbn + blocks {
            if let Some(at) = self.find(self.line_of(block)) {
                self.held[at].dirty[(block % self.case.line) as usize] = false;
            }
        }
        self.uses.retain(|one| one.work != work);
        for part in self.parts(lbn, blocks) {
            if let Some(at) = self.find(part.key) {
                let place = self.held[at].place;
                let names = self.held[at].is_dirty();
                if names || self.entry_names(place) {
                    self.change_entry(place, names);
                }
            }
        }
        match cause {
            Cause::Flush => {
                if let Some(flush) = &mut self.flush {
                    flush.is_writing = false;
                }
            }
            Cause::Change => self.change_writes = false,
            _ => {
                self.is_cleaning = false;
                let (Cleaning::Aggressive { pause, .. } | Cleaning::Oldest { pause, .. }) =
                    self.case.cleaning
                else {
                    return;
                };
                self.rests = self.now + pause;
            }
        }
    }

    /// A line that left its place is not named any more.
    pub fn line_is_forgotten(&mut self, work: usize) {
        self.works[work].stage = Stage::Ended;
        self.uses.retain(|one| one.work != work);
        if let Cause::Victim(number, _, _, waiter) = self.works[work].cause {
            self.leaving.retain(|&other| other != number);
            self.place_is_free(waiter);
        }
    }

    /// Flushes go on, one after the other.
    pub fn advance_flush(&mut self) {
        loop {
            if self.flush.is_none() {
                if self.flushes.is_empty() {
                    return;
                }
                let request = self.flushes.remove(0);
                let commit = self.last_change().unwrap_or(0);
                self.want(commit);
                self.flush = Some(FlushUnderWay {
                    request,
                    next: 0,
                    victims: None,
                    commit,
                    is_writing: false,
                });
            }
            let Some(flush) = self.flush else { return };
            if flush.is_writing {
                return;
            }
            if self.case.metadata.is_some() && self.case.absorbs() {
                if flush.commit > self.ended {
                    self.met.insert("a flush that waits for a commit");
                    return;
                }
            } else if let (None, Some((lbn, blocks))) =
                (flush.victims, self.next_dirty(flush.next, MOST))
            {
                let ready = self.may_be_cleaned(lbn, blocks);
                if ready > 0 {
                    self.flush = Some(FlushUnderWay {
                        next: lbn + ready,
                        is_writing: true,
                        ..flush
                    });
                    self.write_back(lbn, ready, Cause::Flush);
                } else {
                    self.met.insert("a flush that waits for a line");
                }
                return;
            } else {
                let end = flush.victims.unwrap_or(self.victims);
                let victims = Some(end);
                self.flush = Some(FlushUnderWay { victims, ..flush });
                if self.leaving.iter().any(|&number| number < end) {
                    self.met.insert("a flush that waits for a victim");
                    return;
                }
            }
            self.flush = None;
            let devices = if self.removed { vec![1] } else { vec![0, 1] };
            self.flush_left.push((flush.request, devices.len()));
            for device in devices {
                self.send(device, Op::Flush, 0, What::Flush(flush.request));
            }
        }
    }

    /// No request of the host is under way.
    pub fn host_is_idle(&mut self) {
        if let Cleaning::Oldest {
            idle: Some(idle), ..
        } = self.case.cleaning
        {
            self.idle_number += 1;
            self.alarm(self.now + idle, Alarm::Idle(self.idle_number));
        }
    }

    pub fn idle_for_long(&mut self, number: u64) {
        if number == self.idle_number {
            self.is_idle = true;
            self.advance_cleaning();
        }
    }

    fn wants_to_clean(&self) -> bool {
        let has_reason = match self.case.cleaning {
            Cleaning::None => false,
            Cleaning::Aggressive { .. } => true,
            Cleaning::Oldest { .. } => self.is_idle || self.is_beyond,
        };
        has_reason && !self.is_cleaning && self.held.iter().any(Held::is_dirty)
    }

    /// Sets the alarm of the cleaner if there is reason to.
    pub fn advance_cleaning(&mut self) {
        if let Cleaning::Oldest {
            marks: Some((high, low)),
            ..
        } = self.case.cleaning
        {
            let all = self.lines as u64 * self.case.line;
            let of = |percent: u64| (percent as f64 / 100.0 * all as f64).round() as u64;
            let dirty = self.dirty_blocks();
            self.is_beyond = dirty > of(high) || self.is_beyond && dirty > of(low);
        }
        if !self.has_next && self.wants_to_clean() {
            self.has_next = true;
            self.alarm(self.rests.max(self.now), Alarm::Clean);
        }
    }

    pub fn clean(&mut self) {
        self.has_next = false;
        if !self.wants_to_clean() {
            return;
        }
        if let Some((lbn, blocks)) = self.next_to_clean() {
            self.met.insert("a write-back for cleaning");
            self.is_cleaning = true;
            self.position = lbn + blocks;
            self.write_back(lbn, blocks, Cause::Cleaning);
        }
    }

    fn next_to_clean(&mut self) -> Option<(u64, u64)> {
        let (merge, is_oldest) = match self.case.cleaning {
            Cleaning::None => return None,
            Cleaning::Aggressive { merge, .. } => (merge, false),
            Cleaning::Oldest { merge, .. } => (merge, true),
        };
        let mut dirty: Vec<&Held> = self.held.iter().filter(|held| held.is_dirty()).collect();
        let mut begins: Vec<u64> = Vec::new();
        if is_oldest {
            dirty.sort_by_key(|held| held.since);
            begins.extend(dirty.iter().map(|held| held.key * self.case.line));
        } else {
            dirty.sort_by_key(|held| held.key);
            let lines = |held: &&&Held| held.key * self.case.line;
            begins.push(self.position);
            begins.extend(
                dirty
                    .iter()
                    .filter(|held| lines(held) > self.position)
                    .map(|held| lines(&held)),
            );
            begins.extend(
                dirty
                    .iter()
                    .filter(|held| lines(held) <= self.position)
                    .map(|held| lines(&held)),
            );
        }
        for begin in begins {
            let Some((lbn, blocks)) = self.next_dirty(begin, merge) else {
                continue;
            };
            let ready = self.may_be_cleaned(lbn, blocks);
            if ready > 0 {
                return Some((lbn, ready));
            }
            self.met.insert("a line that the cleaner passes over");
        }
        None
    }
}
