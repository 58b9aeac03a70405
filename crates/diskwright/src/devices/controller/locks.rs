//! Runs of blocks that work under way has for itself, or shares with other readers.
//!
//! Who asks for a run gets it once it meets none that is held by another, and none that another has asked for before: first come, first
//! served. Two that read may have one run at the same time, where that is allowed.

use std::collections::BTreeMap;
use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::work::WorkId;

/// A run that is held, or asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lock {
    owner: WorkId,
    from: u64,
    end: u64,
    is_shared: bool,
    /// Its turn; 0 before all others.
    turn: u64,
    /// How many locks of an earlier turn it waits for; with none it is held.
    waits_for: u32,
}

impl Lock {
    fn conflicts(&self, other: &Lock) -> bool {
        let meets = self.from < other.end && other.from < self.end;
        meets && !(self.is_shared && other.is_shared)
    }
}

/// The locks of a controller.
#[derive(Debug)]
pub(super) struct Locks {
    /// Blocks that are locked together.
    grain: u64,
    /// Whether reads of one run may be under way at the same time.
    shares_reads: bool,
    turns: u64,
    /// Those that are held and those that wait, by their first block and their owner.
    all: BTreeMap<(u64, WorkId), Lock>,
    /// The first block of each owner's.
    places: HashMap<WorkId, u64, FixedState>,
    /// How many are held.
    held: usize,
    /// The most blocks that one has had.
    longest: u64,
}

impl Locks {
    /// No run is held; `grain` blocks are locked together, which is 1 at least.
    pub fn new(grain: u64, shares_reads: bool) -> Locks {
        Locks {
            grain,
            shares_reads,
            turns: 0,
            all: BTreeMap::new(),
            places: HashMap::default(),
            held: 0,
            longest: 0,
        }
    }

    /// Whether what has a block of a line locked has the whole line locked.
    pub fn cover_lines(&self, blocks_per_line: u32) -> bool {
        self.grain.is_multiple_of(blocks_per_line.into())
    }

    fn lock(&self, owner: WorkId, (from, end): (u64, u64), reads: bool) -> Lock {
        Lock {
            owner,
            from: from / self.grain * self.grain,
            end: end.next_multiple_of(self.grain),
            is_shared: reads && self.shares_reads,
            turn: 0,
            waits_for: 0,
        }
    }

    fn add(&mut self, lock: Lock) {
        self.longest = self.longest.max(lock.end - lock.from);
        self.held += usize::from(lock.waits_for == 0);
        self.places.insert(lock.owner, lock.from);
        self.all.insert((lock.from, lock.owner), lock);
    }

    /// Where those can be that meet a lock: none begins further before it than the longest one reaches.
    fn near(&self, lock: &Lock) -> Range<(u64, WorkId)> {
        let from = lock.from.saturating_sub(self.longest);
        (from, WorkId(0))..(lock.end, WorkId(0))
    }

    /// Those that are in the way of a lock.
    fn conflicting(&self, lock: Lock) -> impl Iterator<Item = &Lock> {
        let near = self.all.range(self.near(&lock));
        near.map(|(_, other)| other)
            .filter(move |other| other.conflicts(&lock))
    }

    /// Asks for the run from a block to the one behind its last; whether it is there at once.
    pub fn ask(&mut self, owner: WorkId, run: (u64, u64), reads: bool) -> bool {
        let mut lock = self.lock(owner, run, reads);
        self.turns += 1;
        lock.turn = self.turns;
        lock.waits_for = self.conflicting(lock).count() as u32;
        self.add(lock);
        lock.waits_for == 0
    }

    /// Takes a run that nobody uses before those who have asked for it.
    pub fn take(&mut self, owner: WorkId, run: (u64, u64)) {
        let lock = self.lock(owner, run, false);
        let near = self.near(&lock);
        let waiting = (self.all.range_mut(near)).filter(|(_, other)| other.waits_for > 0);
        for (_, other) in waiting.filter(|(_, other)| other.conflicts(&lock)) {
            other.waits_for += 1;
        }
        self.add(lock);
    }

    /// Whether a run meets one that is held or asked for.
    pub fn are_wanted(&self, run: (u64, u64)) -> bool {
        self.owners(run).next().is_some()
    }

    /// The locks that meet a run.
    fn meeting(&self, run: (u64, u64)) -> impl Iterator<Item = &Lock> {
        self.conflicting(self.lock(WorkId(u32::MAX), run, false))
    }

    /// Those who hold a run that meets this one, or have asked for it.
    pub fn owners(&self, run: (u64, u64)) -> impl Iterator<Item = WorkId> {
        self.meeting(run).map(|lock| lock.owner)
    }

    /// Those who hold a run that meets this one.
    pub fn holders(&self, run: (u64, u64)) -> impl Iterator<Item = WorkId> {
        let held = self.meeting(run).filter(|lock| lock.waits_for == 0);
        held.map(|lock| lock.owner)
    }

    /// Gives what one holds to another, which only reads it; those that get what they have asked for are added to `granted`.
    pub fn hand_over(&mut self, owner: WorkId, to: WorkId, granted: &mut Vec<WorkId>) {
        let Some(before) = self.remove(owner) else {
            return;
        };
        let mut now = before;
        (now.owner, now.is_shared) = (to, self.shares_reads);
        self.pass(&before, Some(&now), granted);
        self.add(now);
    }

    /// Gives back what an owner holds; those that get what they have asked for are added to `granted`.
    pub fn free(&mut self, owner: WorkId, granted: &mut Vec<WorkId>) {
        if let Some(before) = self.remove(owner) {
            self.pass(&before, None, granted);
        }
    }

    fn remove(&mut self, owner: WorkId) -> Option<Lock> {
        let from = self.places.remove(&owner)?;
        let lock = self.all.remove(&(from, owner))?;
        self.held -= usize::from(lock.waits_for == 0);
        Some(lock)
    }

    /// A lock is no longer what it was, but something that others conflict with less, or nothing.
    fn pass(&mut self, before: &Lock, now: Option<&Lock>, granted: &mut Vec<WorkId>) {
        let mut turns = Vec::new();
        let near = self.near(before);
        for (_, other) in self.all.range_mut(near) {
            let has_waited = other.waits_for > 0
                && other.turn > before.turn
                && other.conflicts(before)
                && now.is_none_or(|now| !other.conflicts(now));
            if has_waited {
                other.waits_for -= 1;
                if other.waits_for == 0 {
                    turns.push((other.turn, other.owner));
                }
            }
        }
        self.held += turns.len();
        turns.sort_unstable();
        granted.extend(turns.into_iter().map(|(_, owner)| owner));
    }

    /// How many wait for what nothing is in the way of: none, unless the locks are wrong.
    pub fn forgotten(&self) -> usize {
        match self.held {
            0 => self.all.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn freed(locks: &mut Locks, owner: u32) -> Vec<u32> {
        let mut granted = Vec::new();
        locks.free(WorkId(owner), &mut granted);
        granted.into_iter().map(|owner| owner.0).collect()
    }

    #[test]
    fn who_asks_first_is_served_first() {
        let mut locks = Locks::new(8, true);
        assert!(locks.ask(WorkId(0), (0, 4), false));
        // The same eight blocks, and the next ones.
        assert!(!locks.ask(WorkId(1), (7, 8), false));
        assert!(locks.ask(WorkId(2), (8, 9), false));
        // It would not meet what is held, but what was asked for before.
        assert!(!locks.ask(WorkId(3), (8, 16), true));
        assert!(!locks.ask(WorkId(4), (0, 24), false));
        assert!(!locks.ask(WorkId(5), (16, 17), true));
        assert_eq!(freed(&mut locks, 0), [1]);
        assert_eq!(freed(&mut locks, 2), [3]);
        assert_eq!(freed(&mut locks, 3), [] as [u32; 0]);
        assert_eq!(freed(&mut locks, 1), [4]);
        assert_eq!(freed(&mut locks, 4), [5]);
        assert!(!locks.ask(WorkId(6), (23, 24), false));
        assert_eq!(locks.forgotten(), 0);
    }

    #[test]
    fn reads_share_where_they_may() {
        for shares in [false, true] {
            let mut locks = Locks::new(1, shares);
            assert!(locks.ask(WorkId(0), (0, 8), true));
            assert_eq!(locks.ask(WorkId(1), (4, 12), true), shares);
            assert!(!locks.ask(WorkId(2), (7, 8), false));
        }
    }

    #[test]
    fn what_is_taken_comes_before_what_was_asked_for() {
        let mut locks = Locks::new(1, true);
        assert!(locks.ask(WorkId(0), (0, 8), false));
        assert!(!locks.ask(WorkId(1), (0, 16), false));
        locks.take(WorkId(2), (8, 16));
        assert!(locks.are_wanted((15, 16)) && !locks.are_wanted((16, 17)));
        assert_eq!(freed(&mut locks, 0), [] as [u32; 0]);
        assert_eq!(freed(&mut locks, 2), [1]);
    }

    /// Who holds what and who waits, in the order of their turns: the rule itself.
    #[derive(Default)]
    struct Model {
        held: Vec<Lock>,
        waiting: Vec<Lock>,
    }

    impl Model {
        fn grant(&mut self) -> Vec<WorkId> {
            let (mut granted, mut still) = (Vec::new(), Vec::<Lock>::new());
            for lock in std::mem::take(&mut self.waiting) {
                let mut before = self.held.iter().chain(&still);
                if before.any(|other| other.conflicts(&lock)) {
                    still.push(lock);
                } else {
                    granted.push(lock.owner);
                    self.held.push(lock);
                }
            }
            self.waiting = still;
            granted
        }
    }

    proptest! {
        #[test]
        fn agree_with_the_rule(steps in prop::collection::vec((0u32..10, 0u64..40, 1u64..12, any::<bool>()), 1..60), shares: bool, grain in 1u64..5) {
            let (mut locks, mut model) = (Locks::new(grain, shares), Model::default());
            for (number, (kind, from, blocks, reads)) in (0..).zip(steps) {
                let owner = WorkId(number);
                let run = (from, from + blocks);
                match kind {
                    0..=5 => {
                        let lock = locks.lock(owner, run, reads);
                        let is_free = !model.held.iter().chain(&model.waiting).any(|other| other.conflicts(&lock));
                        match is_free {
                            true => model.held.push(lock),
                            false => model.waiting.push(lock),
                        }
                        prop_assert_eq!(locks.ask(owner, run, reads), is_free);
                    }
                    6 if !model.held.iter().any(|other| other.conflicts(&locks.lock(owner, run, false))) => {
                        model.held.push(locks.lock(owner, run, false));
                        locks.take(owner, run);
                    }
                    _ if !model.held.is_empty() => {
                        let at = from as usize % model.held.len();
                        let mut granted = Vec::new();
                        if kind == 7 {
                            let old = model.held[at].owner;
                            (model.held[at].owner, model.held[at].is_shared) = (owner, shares);
                            locks.hand_over(old, owner, &mut granted);
                        } else {
                            let freed = model.held.remove(at);
                            locks.free(freed.owner, &mut granted);
                        }
                        prop_assert_eq!(granted, model.grant());
                    }
                    _ => {}
                }
                prop_assert_eq!(locks.forgotten(), 0);
            }
        }
    }
}
