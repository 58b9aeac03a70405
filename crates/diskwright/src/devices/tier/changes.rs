//! Changes of the cache in mid-run: another size, its removal, its return. First the dirty blocks of the places that go are written back,
//! then nothing new begins until what is under way has ended, and then the cache is what it is to be.

use std::collections::{BTreeSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::cleaning::CleaningRules;
use super::work::Cause;
use super::{Condition, Tier};
use crate::base::units::{Size, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::models::cache::block_cache::{BlockState, Counts, Place};
use crate::models::cache::{BlockCache, Frame};

/// A change is due.
pub(super) const CHANGE: u32 = 3;
/// The most blocks that are written back together: 1 MiB.
const MERGE: u32 = 2048;

/// A change of the cache in mid-run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TierEvent")]
pub struct EventSpec {
    /// When it begins, in simulated time.
    pub at: Time,
    /// What changes.
    pub kind: EventKind,
}

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "TierEventKind")]
pub enum EventKind {
    /// The cache has this size from then on: a whole number of lines.
    Resize(Size),
    /// The cache device is not used any more: all goes to the backing device.
    Remove,
    /// The cache device is used again, with an empty cache.
    Attach,
}

/// A change that is to come.
pub struct Change {
    /// When it begins.
    pub at: Time,
    /// The change itself.
    pub to: ChangeTo,
}

/// A change of the cache.
pub enum ChangeTo {
    /// An empty cache of the new size, and how it is cleaned.
    Resized(Box<BlockCache>, Option<CleaningRules>),
    /// No cache.
    Removed,
    /// A cache again.
    Attached,
}

/// The changes of a run.
#[derive(Default)]
pub(super) struct Changes {
    /// Those whose instants have not come, in the order of them.
    coming: VecDeque<Change>,
    /// The one under way, and those that wait for its end.
    begun: VecDeque<ChangeTo>,
    /// Places from this one on go with the change under way.
    end: u32,
    /// Lines in them that have dirty blocks, and some that have none any more.
    leaving: BTreeSet<u64>,
    /// Dirty blocks before this one have been seen to.
    next: u64,
    /// A write-back of the change is under way.
    pub is_writing: bool,
    /// The backing device has not taken what the change has written back.
    pub has_failed: bool,
    /// How many there were, and the time from their beginnings to their ends.
    done: u64,
    time: Time,
    since: Time,
}

impl Changes {
    pub fn new(mut changes: Vec<Change>) -> Changes {
        changes.sort_by_key(|change| change.at);
        Changes {
            coming: changes.into(),
            ..Changes::default()
        }
    }

    /// What is told of changes, if there were any.
    pub fn report(&self, report: &mut Map<String, Value>) {
        if self.done > 0 {
            report.insert("changes".to_owned(), json!(self.done));
            report.insert("changes_s".to_owned(), json!(self.time.s()));
        }
    }

    /// Whether one is under way: no line gets a place, and none becomes dirty.
    #[inline]
    pub fn is_under_way(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Whether a place goes with the change under way.
    #[inline]
    pub fn takes(&self, frame: Frame) -> bool {
        self.is_under_way() && frame.0 >= self.end
    }

    /// A line has dirty blocks.
    #[inline]
    pub fn note_dirty(&mut self, key: u64, frame: Frame) {
        if self.takes(frame) {
            self.leaving.insert(key);
        }
    }
}

impl Tier {
    /// Before the run: sets an alarm for each change.
    pub(super) fn prepare_changes(&mut self, cx: &mut Context<'_>) {
        for change in &self.changes.coming {
            cx.background_alarm(change.at, Token::new(CHANGE, 0));
        }
    }

    /// The instant of a change has come.
    pub(super) fn begin_change(&mut self, cx: &mut Context<'_>) {
        if let Some(Change { to, .. }) = self.changes.coming.pop_front() {
            self.changes.begun.push_back(to);
            if self.changes.begun.len() == 1 {
                self.next_change(cx.now());
            }
        }
        self.proceed(cx);
    }

    /// The first of the changes that have begun is under way, if there is one: which places go with it, and what is dirty there.
    fn next_change(&mut self, now: Time) {
        (self.changes.next, self.changes.since) = (0, now);
        self.changes.has_failed = false;
        self.changes.leaving.clear();
        self.changes.end = match self.changes.begun.front() {
            Some(ChangeTo::Resized(map, _)) => map.frames(),
            Some(ChangeTo::Removed) => 0,
            Some(ChangeTo::Attached) | None => u32::MAX,
        };
        for key in self.map.oldest_dirty() {
            if let Some(frame) = self.map.find(key) {
                self.changes.note_dirty(key, frame);
            }
        }
    }

    /// Forgets lines that have no dirty blocks any more: if one is left, the first of them has.
    #[inline]
    pub(super) fn see_what_leaves(&mut self) {
        // Without a change none leaves.
        while self.changes.is_under_way()
            && let Some(&key) = self.changes.leaving.first()
        {
            let line = self.map.find(key).map(|frame| self.map.line(frame));
            let run = line.and_then(|line| {
                self.map
                    .next_run(line, BlockState::Dirty, self.map.whole(key))
            });
            if run.is_some() {
                return;
            }
            self.changes.leaving.remove(&key);
        }
    }

    /// Whether requests wait until those under way have ended, because the cache is about to change.
    pub(super) fn is_closing(&self) -> bool {
        self.changes.is_under_way() && !self.changes.is_writing && self.changes.leaving.is_empty()
    }

    /// Goes on with a change.
    /// Whether one has ended.
    pub(super) fn advance_change(&mut self, cx: &mut Context<'_>) -> bool {
        let mut has_ended = false;
        while self.changes.is_under_way() && !self.changes.is_writing {
            self.see_what_leaves();
            let is_left = !self.changes.leaving.is_empty();
            let gives_up = is_left && self.changes.has_failed;
            let is_usable = self.has_backing && self.condition != Condition::Failed;
            if is_left && is_usable && !gives_up {
                self.write_back_for_change(cx);
                break;
            }
            if !gives_up && (self.claims.has_any(0..u64::MAX) || self.last_change().is_some()) {
                break;
            }
            let now = cx.now();
            if let Some(to) = self.changes.begun.pop_front() {
                self.changes.done += 1;
                self.changes.time += now - self.changes.since;
                self.change(to);
                self.next_change(now);
                has_ended = true;
            }
        }
        has_ended
    }

    /// The first dirty run from a block on in places that go.
    fn next_leaving(&self, from: u64) -> Option<(u64, u32)> {
        let per_line = u64::from(self.map.blocks_per_line());
        let keys = self.changes.leaving.range(from / per_line..);
        let mut runs = keys.filter_map(|&key| {
            let run = self.map.next_dirty(from.max(key * per_line), MERGE)?;
            (run.0 / per_line == key).then_some(run)
        });
        let (lbn, blocks) = runs.next()?;
        // It goes on in lines that stay, perhaps.
        let pieces = self.map.pieces(lbn, blocks);
        let goes = |frame: Option<Frame>| frame.is_some_and(|frame| self.changes.takes(frame));
        let going = pieces.take_while(|piece| goes(self.map.find(piece.key)));
        Some((lbn, going.map(|piece| piece.blocks()).sum()))
    }

    /// Writes back the next dirty run that may be, if there is one.
    fn write_back_for_change(&mut self, cx: &mut Context<'_>) {
        for from in [self.changes.next, 0] {
            if let Some((lbn, blocks)) = self.next_leaving(from) {
                let ready = self.may_be_cleaned(lbn, blocks).min(blocks);
                if ready > 0 {
                    self.changes.next = lbn + u64::from(ready);
                    self.changes.is_writing = true;
                    return self.write_back(lbn, ready, Cause::Change, cx);
                }
            }
        }
    }

    /// The cache is what it is to be. Nothing is under way, and nothing dirty in the places that go, unless the cache device or the backing device has
    /// failed, or has refused a write-back.
    fn change(&mut self, to: ChangeTo) {
        match to {
            ChangeTo::Resized(map, cleaning) => {
                if self.changes.leaving.is_empty() {
                    self.resize(*map);
                    self.set_cleaning(cleaning);
                }
            }
            ChangeTo::Removed
                if self.condition != Condition::Failed && self.changes.leaving.is_empty() =>
            {
                self.forget_lines();
                self.condition = Condition::Removed;
            }
            ChangeTo::Attached if self.condition == Condition::Removed => {
                self.condition = match self.takes_writes {
                    true => Condition::Working,
                    false => Condition::ReadOnly,
                };
            }
            ChangeTo::Removed | ChangeTo::Attached => {}
        }
    }

    /// Lines in places that there are still stay where they are, for a policy that begins anew: it hears of them in the order of their places.
    fn resize(&mut self, map: BlockCache) {
        let mut map = map.sparing_dirty();
        let mut places: Vec<Option<u64>> = Vec::new();
        for (frame, key) in self.map.lines_held() {
            if frame.index() >= places.len() {
                places.resize(frame.index() + 1, None);
            }
            places[frame.index()] = Some(key);
        }
        places.truncate(map.frames() as usize);
        while places.last() == Some(&None) {
            places.pop();
        }
        // Keys behind all lines keep the places that are free meanwhile.
        let behind = self.map.pieces(self.backing.blocks - 1, 1).next();
        let behind = behind.map_or(0, |last| last.key + 1);
        let kept = places.iter().flatten().count();
        let left = self.map.held() - kept;
        let mut fillers = Vec::new();
        for (place, key) in (0u64..).zip(&places) {
            let at = key.unwrap_or(behind + place);
            let Place::New(frame) = map.access(at, false, &mut self.victims) else {
                unreachable!("a cache has as many places as it has room for");
            };
            debug_assert_eq!(
                u64::from(frame.0),
                place,
                "places are given in ascending order"
            );
            match key {
                None => fillers.push(frame),
                Some(key) => {
                    let whole = self.map.whole(*key);
                    let from = self.map.find(*key).expect("it is held");
                    let line = self.map.line(from);
                    for (lbn, blocks) in self.map.runs(line, BlockState::Valid, whole) {
                        let piece = whole.within(lbn, blocks).expect("it is of the line");
                        map.put(frame, &piece, false);
                    }
                }
            }
        }
        for &frame in fillers.iter().rev() {
            map.remove_if_empty(frame);
        }
        // What is dirty stays so, the oldest first.
        for key in self.map.oldest_dirty() {
            let whole = self.map.whole(key);
            let from = self.map.find(key).expect("it is held");
            let to = map.find(key).expect("it stays");
            let line = self.map.line(from);
            for (lbn, blocks) in self.map.runs(line, BlockState::Dirty, whole) {
                let piece = whole.within(lbn, blocks).expect("it is of the line");
                map.put(to, &piece, true);
            }
        }
        self.counted = self.counts();
        self.counted.evictions += left as u64;
        self.map = map;
        self.counted_from = *self.map.counts();
    }

    /// What the maps so far have counted.
    pub(super) fn counts(&self) -> Counts {
        let now = self.map.counts().since(&self.counted_from);
        Counts {
            accesses: self.counted.accesses + now.accesses,
            hits: self.counted.hits + now.hits,
            insertions: self.counted.insertions + now.insertions,
            evictions: self.counted.evictions + now.evictions,
        }
    }
}
