//! The table of dirty blocks, its commits, and changes of the cache.

use diskwright::engine::request::Op;

use super::clock::Alarm;
use super::model::{Cause, Entry, Held, Model, Stage, Waiter, What};
use super::specs::Event;
use super::write_backs::MOST;

impl Model<'_> {
    /// Entries of a block of the table.
    fn entries_of_block(&self) -> u64 {
        4096 / (8 + 2 * self.case.line.div_ceil(8))
    }

    pub fn entry_names(&self, place: usize) -> bool {
        self.case.metadata.is_some() && self.entries[place].names
    }

    /// What the table says of a place has changed.
    pub fn change_entry(&mut self, place: usize, names: bool) {
        if self.case.metadata.is_some() {
            self.entries[place] = Entry {
                changed: self.begun + 1,
                names,
            };
            self.changed.insert(place as u64 / self.entries_of_block());
        }
    }

    /// The line at a place is as it is, perhaps clean.
    pub fn note_clean(&mut self, place: usize) {
        let at = self.at_place(place).expect("it is held");
        let names = self.held[at].is_dirty();
        if names || self.entry_names(place) {
            self.change_entry(place, names);
        }
    }

    /// A place has no line any more.
    pub fn note_left(&mut self, place: usize) {
        if self.entry_names(place) {
            self.change_entry(place, false);
        }
    }

    /// The commit that has the last change of an entry, if it has not ended.
    pub fn pending(&self, place: usize) -> Option<u64> {
        let changed = self.entries[place].changed;
        (changed > self.ended).then_some(changed)
    }

    /// The commit that has the last change of any.
    pub fn last_change(&self) -> Option<u64> {
        let last = self.begun + u64::from(!self.changed.is_empty());
        (last > self.ended).then_some(last)
    }

    pub fn want(&mut self, commit: u64) {
        self.is_wanted |= commit > self.begun;
    }

    /// Something waits for a place's entry; whether it must.
    pub fn wait(&mut self, place: usize, waiter: Waiter) -> bool {
        let Some(commit) = self.pending(place) else {
            return false;
        };
        if let Waiter::Place(_) = waiter {
            self.met.insert("a free place that the table may name");
        }
        self.want(commit);
        self.waiters.push((commit, waiter));
        true
    }

    /// A line has lost its blocks and its place.
    pub fn struck_out(&mut self, key: u64, place: usize) {
        if self.case.metadata.is_none()
            || !self.entries[place].names && self.pending(place).is_none()
        {
            return;
        }
        self.met.insert("a line that is struck out");
        self.note_left(place);
        let work = self.alone(Cause::Emptied(key), key);
        self.works[work].stage = Stage::Committing;
        self.wait(place, Waiter::Line(work));
    }

    pub fn advance_commits(&mut self) {
        if self.case.metadata.is_none() || self.begun > self.ended {
            return;
        }
        if self.is_wanted {
            self.commit();
        } else if !self.changed.is_empty() && self.commit_alarm.is_none() {
            let interval = self.case.metadata.expect("it is kept").interval;
            self.commit_number += 1;
            self.commit_alarm = Some(self.commit_number);
            self.alarm(self.now + interval, Alarm::Commit(self.commit_number));
        }
    }

    pub fn commit_is_due(&mut self, number: u64) {
        if self.commit_alarm != Some(number) {
            return;
        }
        self.met.insert("a commit that is due");
        self.commit_alarm = None;
        self.is_wanted = !self.changed.is_empty();
        self.advance_commits();
    }

    fn commit(&mut self) {
        self.commit_alarm = None;
        self.is_wanted = false;
        self.begun += 1;
        self.counts.commits += 1;
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for block in std::mem::take(&mut self.changed) {
            match runs.last_mut() {
                Some((first, blocks)) if *first + *blocks == block => *blocks += 1,
                _ => runs.push((block, 1)),
            }
        }
        self.commit_left = runs.len();
        for (_, blocks) in runs {
            self.counts.table_blocks += blocks;
            self.send(0, Op::Write, blocks * 8, What::Commit);
        }
    }

    pub fn commit_ended(&mut self) {
        self.ended = self.begun;
        while let Some(next) = self
            .waiters
            .iter()
            .position(|(commit, _)| *commit <= self.ended)
        {
            match self.waiters.remove(next).1 {
                Waiter::Write(work) => {
                    self.met.insert("a write that waits for a commit");
                    self.end_write(work);
                }
                Waiter::Line(work) => self.line_is_forgotten(work),
                Waiter::Place(work) => self.place_is_free(work),
            }
        }
    }

    /// The instant of a change has come.
    pub fn begin_change(&mut self, number: usize) {
        self.changes.push((number, self.now));
        if self.changes.len() == 1 {
            (self.change_next, self.change_since) = (0, self.now);
        }
        self.proceed();
    }

    pub fn is_closing(&self) -> bool {
        !self.changes.is_empty() && !self.change_writes && !self.something_dirty_goes()
    }

    /// Whether a place goes with the change under way.
    pub fn goes(&self, place: usize) -> bool {
        let number = self.changes.first().map(|&(number, _)| number);
        number.is_some_and(|number| match self.event(number) {
            Event::Resize(lines) => place >= lines,
            Event::Remove => true,
            Event::Attach => false,
        })
    }

    fn something_dirty_goes(&self) -> bool {
        let mut held = self.held.iter();
        held.any(|held| held.is_dirty() && self.goes(held.place))
    }

    /// The first run from a block on that is dirty in places that go, of at most `most` blocks.
    fn next_going(&self, from: u64, most: u64) -> Option<(u64, u64)> {
        let is_so = |lbn: u64| {
            let held = self.find(self.line_of(lbn));
            held.is_some_and(|held| self.goes(self.held[held].place)) && self.is_dirty(lbn)
        };
        let first = (from..self.case.backing.blocks).find(|&lbn| is_so(lbn))?;
        let length = (0..most).take_while(|&block| is_so(first + block)).count();
        Some((first, length as u64))
    }

    /// A change goes on; whether one has ended.
    pub fn advance_change(&mut self) -> bool {
        let mut has_ended = false;
        while !self.changes.is_empty() && !self.change_writes {
            if self.something_dirty_goes() {
                for from in [self.change_next, 0] {
                    let Some((lbn, blocks)) = self.next_going(from, MOST) else {
                        continue;
                    };
                    let ready = self.may_be_cleaned(lbn, blocks);
                    if ready > 0 {
                        self.met.insert("a write-back for a change");
                        self.change_next = lbn + ready;
                        self.change_writes = true;
                        self.write_back(lbn, ready, Cause::Change);
                        break;
                    }
                }
                break;
            }
            if !self.uses.is_empty() {
                self.met.insert("a change that waits for lines in use");
                break;
            }
            if let Some(commit) = self.last_change() {
                self.want(commit);
                break;
            }
            let (number, _) = self.changes.remove(0);
            self.counts.changes += 1;
            self.counts.changes_ns += self.now - self.change_since;
            (self.change_next, self.change_since) = (0, self.now);
            match self.event(number) {
                Event::Resize(lines) => self.resize(lines),
                Event::Remove => {
                    self.met.insert("a cache that is removed");
                    self.removed = true;
                    let mut keys: Vec<u64> = self.held.iter().map(|held| held.key).collect();
                    keys.sort_unstable();
                    for key in keys {
                        self.forget(key * self.case.line, self.case.line);
                        self.remove_if_empty(key);
                    }
                }
                Event::Attach => self.removed = false,
            }
            has_ended = true;
        }
        has_ended
    }

    fn resize(&mut self, lines: usize) {
        self.met.insert("another size");
        if self.held.iter().any(Held::is_dirty) {
            self.met.insert("another size with dirty lines that stay");
        }
        self.lines = lines;
        let before = self.held.len();
        self.held.retain(|held| held.place < lines);
        self.counts.evictions += (before - self.held.len()) as u64;
        self.held.sort_by_key(|held| held.place);
        self.order = self.held.iter().map(|held| held.place).collect();
        self.next_place = self.order.last().map_or(0, |last| last + 1);
        // Of free places the lowest is given out first.
        let is_free = |place: &usize| !self.order.contains(place);
        self.free = (0..self.next_place).rev().filter(is_free).collect();
    }
}
