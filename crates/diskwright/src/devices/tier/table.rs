//! The table of dirty blocks on the cache device: which of its blocks have changed, and what waits until a change is durable.
//!
//! Commits are numbered from 1. A change is part of the next commit that begins; it is durable once that one has ended.

use std::collections::BTreeSet;

use super::area::Area;
use super::durable::Durable;
use super::work::WorkId;
use crate::base::units::Time;
use crate::engine::timeline::AlarmId;
use crate::models::cache::Frame;

/// How a table is kept.
#[derive(Clone, Copy, Debug)]
pub struct TableRules {
    /// Where it is.
    pub area: Area,
    /// Writes that make blocks dirty wait for a commit, and not only those with FUA.
    pub writes_wait: bool,
    /// The cache device promises what it acknowledges only with a flush.
    pub is_volatile: bool,
    /// The longest time for which a change waits for its commit.
    pub interval: Time,
    /// How long reading it takes after a power cut; `None` where none comes.
    pub recovery: Option<Time>,
}

/// What waits for a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiter {
    /// A write whose data are on the cache device.
    Write(WorkId),
    /// A line that has left its place, dirty or not.
    Line(WorkId),
    /// Work that has got a place that the table may name another line's.
    Place(WorkId),
}

/// What the table says of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The commit that the last change is part of; 0 where it never changed.
    changed: u64,
    /// It names dirty blocks, once that has ended.
    is_dirty: bool,
}

/// The table, and its commits.
pub(super) struct Table {
    pub rules: TableRules,
    /// By place, as far as places ever had dirty blocks.
    entries: Vec<Entry>,
    /// Blocks of the table that have changed since the last commit began.
    changed: BTreeSet<u32>,
    begun: u64,
    ended: u64,
    /// Something waits for the next commit.
    pub is_wanted: bool,
    waiters: Vec<(u64, Waiter)>,
    /// Lines that have become clean, with their places, and with the commit that says so.
    cleaned: Vec<(u64, Frame, u64)>,
    /// When the next commit begins if nothing waits for it.
    pub alarm: Option<AlarmId>,
    /// Runs of blocks of the table that the commit under way writes.
    pub runs: Vec<(u32, u32)>,
    /// The cache device takes no writes any more: what the table says stays as it is.
    pub is_frozen: bool,
    /// What is on the medium, with the checker on.
    pub durable: Option<Durable>,
}

/// The most blocks of the table that are written with one request: 1 MiB.
const MERGED: u32 = 256;

impl Table {
    pub fn new(rules: TableRules) -> Table {
        Table {
            rules,
            entries: Vec::new(),
            changed: BTreeSet::new(),
            begun: 0,
            ended: 0,
            is_wanted: false,
            waiters: Vec::new(),
            cleaned: Vec::new(),
            alarm: None,
            runs: Vec::new(),
            is_frozen: false,
            durable: None,
        }
    }

    /// A line that is held has become clean at its place.
    pub fn cleaned(&mut self, key: u64, frame: Frame) {
        if !self.is_frozen {
            self.cleaned.push((key, frame, self.begun + 1));
        }
    }

    /// The place of a line that has become clean, of which the table on the medium may not say so.
    pub fn cleaned_at(&self, key: u64) -> Option<Frame> {
        let mut cleaned = self.cleaned.iter().rev();
        cleaned
            .find(|(other, ..)| *other == key)
            .map(|&(_, frame, _)| frame)
    }

    /// All lines that have become clean.
    pub fn all_cleaned(&self) -> impl Iterator<Item = u64> + '_ {
        self.cleaned.iter().map(|&(key, ..)| key)
    }

    /// Those of a range of lines.
    pub fn cleaned_within(
        &self,
        keys: std::ops::Range<u64>,
    ) -> impl Iterator<Item = (u64, Frame)> + '_ {
        let cleaned = self
            .cleaned
            .iter()
            .filter(move |(key, ..)| keys.contains(key));
        cleaned.map(|&(key, frame, _)| (key, frame))
    }

    /// The table names dirty blocks of a place, on the medium too.
    pub fn name(&mut self, frame: Frame) {
        let entry = self.entry(frame);
        entry.is_dirty = true;
    }

    fn entry(&mut self, frame: Frame) -> &mut Entry {
        let index = frame.index();
        if self.entries.len() <= index {
            self.entries.resize(index + 1, Entry::default());
        }
        &mut self.entries[index]
    }

    /// What the table says of a place has changed; whether that has dirty blocks now.
    pub fn change(&mut self, frame: Frame, is_dirty: bool) {
        if self.is_frozen {
            return;
        }
        let changed = self.begun + 1;
        *self.entry(frame) = Entry { changed, is_dirty };
        self.changed.insert(self.rules.area.block_of(frame.0));
    }

    /// The commit with which all that was said of a place is durable, if that has not ended.
    #[inline]
    pub fn pending(&self, frame: Frame) -> Option<u64> {
        let changed = self.entries.get(frame.index())?.changed;
        (changed > self.ended && !self.is_frozen).then_some(changed)
    }

    /// Whether the table names dirty blocks of a place, or may do so on the medium.
    #[inline]
    pub fn may_name(&self, frame: Frame) -> bool {
        let entry = self.entries.get(frame.index());
        !self.is_frozen && entry.is_some_and(|entry| entry.is_dirty || entry.changed > self.ended)
    }

    /// Whether the table names dirty blocks of a place.
    pub fn names(&self, frame: Frame) -> bool {
        let entry = self.entries.get(frame.index());
        entry.is_some_and(|entry| entry.is_dirty)
    }

    /// The commit with which all that has changed so far is durable, if that has not ended.
    pub fn last_change(&self) -> Option<u64> {
        let last = self.begun + u64::from(!self.changed.is_empty());
        (last > self.ended && !self.is_frozen).then_some(last)
    }

    /// Whether a commit has ended, or cannot come.
    pub fn has_ended(&self, commit: u64) -> bool {
        commit <= self.ended || self.is_frozen
    }

    /// A commit is waited for.
    pub fn want(&mut self, commit: u64) {
        self.is_wanted |= commit > self.begun;
    }

    /// Something waits for a commit.
    pub fn wait(&mut self, commit: u64, waiter: Waiter) {
        self.want(commit);
        self.waiters.push((commit, waiter));
    }

    /// Whether a commit is under way.
    pub fn is_committing(&self) -> bool {
        self.begun > self.ended
    }

    /// Whether a change waits for a commit that nothing has begun.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// A commit begins: what has changed is written.
    pub fn begin(&mut self) {
        self.begun += 1;
        self.is_wanted = false;
        self.runs.clear();
        for &block in &self.changed {
            match self.runs.last_mut() {
                Some((first, blocks)) if *first + *blocks == block && *blocks < MERGED => {
                    *blocks += 1;
                }
                _ => self.runs.push((block, 1)),
            }
        }
        self.changed.clear();
        if let Some(durable) = &mut self.durable {
            durable.begin();
        }
    }

    /// The commit under way has ended: it is on the medium, or parts of it may be, if it has written any.
    pub fn end(&mut self, is_good: bool, has_written: bool) {
        self.ended = self.begun;
        let ended = self.ended;
        self.cleaned.retain(|&(.., commit)| commit > ended);
        match &mut self.durable {
            Some(durable) if is_good => durable.end(),
            Some(durable) if has_written => durable.tear(),
            Some(durable) => durable.abandon(),
            None => {}
        }
    }

    /// The cache device takes no writes any more.
    pub fn freeze(&mut self) {
        self.is_frozen = true;
        self.changed.clear();
        self.cleaned.clear();
        self.is_wanted = false;
    }

    /// The next of those that wait for a commit that has ended or cannot come, in the order in which they began to wait.
    pub fn next_served(&mut self) -> Option<Waiter> {
        let mut waiters = self.waiters.iter();
        let next = waiters.position(|&(commit, _)| self.has_ended(commit))?;
        Some(self.waiters.remove(next).1)
    }
}
