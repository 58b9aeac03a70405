//! What a cache has to do on the medium: in any order, except that what overlaps keeps its order.

use std::collections::{BTreeSet, VecDeque};

use crate::engine::request::{Command, Op, RequestId};
use crate::models::cache::Frame;

/// A transfer's number; reused after it is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferId(pub u32);

/// What a transfer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A request of the host, which ends with it.
    Request(RequestId),
    /// Dirty blocks that had to leave their frames.
    Eviction,
    /// Dirty blocks that stay in their frames, for a flush.
    Flush,
}

/// A read of the medium or a write to it.
#[derive(Debug)]
pub struct Transfer {
    /// What is read or written.
    pub command: Command,
    /// What for.
    pub purpose: Purpose,
    /// The frames of the request's pieces, which are pinned for it, as far as they have frames.
    pub frames: Vec<Option<Frame>>,
    /// Its turn.
    pub sequence: u64,
    /// Unfinished transfers before it that it overlaps.
    blockers: u32,
    /// Those that wait for it.
    waiters: Vec<TransferId>,
}

/// The transfers that are not finished.
///
/// A transfer waits for all before it with which it has blocks in common: two reads too, of which the second then finds in the cache
/// what the first has brought. So the medium, whatever the order in which a drive serves its queue, ends with the data written
/// last.
#[derive(Debug, Default)]
pub struct Transfers {
    entries: Vec<Transfer>,
    free: Vec<TransferId>,
    by_lbn: BTreeSet<(u64, TransferId)>,
    /// The most blocks of any so far: what overlaps a run begins at most so far before it.
    longest: u32,
    /// The turns of unfinished writes.
    writes: BTreeSet<u64>,
    turns: u64,
    /// Those that wait for none.
    ready: VecDeque<TransferId>,
    /// Transfers of requests that are waiting or ready.
    held: u32,
}

impl Transfers {
    /// Adds the newest transfer.
    pub fn add(&mut self, command: Command, purpose: Purpose) -> TransferId {
        let id = self.free.pop().unwrap_or_else(|| {
            let id = TransferId(self.entries.len() as u32);
            self.entries.push(Transfer {
                command,
                purpose,
                frames: Vec::new(),
                sequence: 0,
                blockers: 0,
                waiters: Vec::new(),
            });
            id
        });
        let mut before = std::mem::take(&mut self.entries[id.0 as usize].waiters);
        before.extend(self.overlapping(&command));
        let blockers = before.len() as u32;
        for blocker in before.drain(..) {
            self.entries[blocker.0 as usize].waiters.push(id);
        }
        let entry = &mut self.entries[id.0 as usize];
        (entry.command, entry.purpose, entry.waiters) = (command, purpose, before);
        (entry.sequence, entry.blockers) = (self.turns, blockers);
        entry.frames.clear();
        if command.op == Op::Write {
            self.writes.insert(self.turns);
        }
        self.turns += 1;
        self.longest = self.longest.max(command.blocks);
        self.by_lbn.insert((command.lbn.0, id));
        if blockers == 0 {
            self.ready.push_back(id);
        }
        self.held += u32::from(matches!(purpose, Purpose::Request(_)));
        id
    }

    /// The unfinished transfers that have blocks in common with a command, by their first blocks.
    pub fn overlapping(&self, command: &Command) -> impl Iterator<Item = TransferId> + use<'_> {
        let from = command.lbn.0.saturating_sub(self.longest.into());
        let (lbn, end) = (command.lbn, command.end().0);
        self.by_lbn
            .range((from, TransferId(0))..(end, TransferId(0)))
            .map(|&(_, id)| id)
            .filter(move |&id| self.get(id).command.end() > lbn)
    }

    /// An unfinished transfer.
    #[inline]
    pub fn get(&self, id: TransferId) -> &Transfer {
        &self.entries[id.0 as usize]
    }

    /// The same, to change its frames.
    #[inline]
    pub fn get_mut(&mut self, id: TransferId) -> &mut Transfer {
        &mut self.entries[id.0 as usize]
    }

    /// Whether an unfinished transfer waits for others.
    pub fn is_waiting(&self, id: TransferId) -> bool {
        self.get(id).blockers > 0
    }

    /// The first that waits for none and has not been sent.
    #[inline]
    pub fn ready(&self) -> Option<TransferId> {
        self.ready.front().copied()
    }

    /// The first that is ready is sent, or was found unnecessary.
    #[inline]
    pub fn take_ready(&mut self) {
        let id = self.ready.pop_front().expect("one is ready");
        let is_request = matches!(self.get(id).purpose, Purpose::Request(_));
        self.held -= u32::from(is_request);
    }

    /// Requests whose transfers have not been sent yet.
    #[inline]
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Ends a transfer that was taken. Its frames are left to be unpinned.
    pub fn finish(&mut self, id: TransferId) {
        let Transfer {
            command, sequence, ..
        } = *self.get(id);
        self.by_lbn.remove(&(command.lbn.0, id));
        if command.op == Op::Write {
            self.writes.remove(&sequence);
        }
        let mut waiters = std::mem::take(&mut self.get_mut(id).waiters);
        for waiter in waiters.drain(..) {
            let waiting = self.get_mut(waiter);
            waiting.blockers -= 1;
            if waiting.blockers == 0 {
                self.ready.push_back(waiter);
            }
        }
        self.get_mut(id).waiters = waiters;
        self.free.push(id);
    }

    /// The turn of the next transfer.
    pub fn next_turn(&self) -> u64 {
        self.turns
    }

    /// Whether every write before a turn is finished.
    pub fn are_written_before(&self, turn: u64) -> bool {
        self.writes.first().is_none_or(|&oldest| oldest >= turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Lbn;
    use proptest::prelude::*;

    fn command(write: bool, lbn: u64, blocks: u32) -> Command {
        Command {
            op: if write { Op::Write } else { Op::Read },
            fua: false,
            lbn: Lbn(lbn),
            blocks,
        }
    }

    proptest! {
        /// Whatever the order in which transfers end, those that overlap are sent in turn, and all are sent.
        #[test]
        fn what_overlaps_keeps_its_order(
            commands in prop::collection::vec((any::<bool>(), 0u64..40, 1u32..12), 1..60),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 120),
        ) {
            let mut transfers = Transfers::default();
            let mut sent: Vec<TransferId> = Vec::new();
            let mut unfinished: Vec<(Command, TransferId)> = Vec::new();
            let mut coming = commands.into_iter();
            let mut ended = 0;
            let total = coming.len();
            for pick in picks {
                if let Some((write, lbn, blocks)) = coming.next() {
                    let command = command(write, lbn, blocks);
                    let overlaps = |other: &Command| other.lbn < command.end() && command.lbn < other.end();
                    let mut expected: Vec<TransferId> =
                        unfinished.iter().filter(|(other, _)| overlaps(other)).map(|&(_, id)| id).collect();
                    let mut found: Vec<TransferId> = transfers.overlapping(&command).collect();
                    expected.sort_unstable();
                    found.sort_unstable();
                    prop_assert_eq!(found, expected);
                    unfinished.push((command, transfers.add(command, Purpose::Eviction)));
                }
                while let Some(id) = transfers.ready() {
                    transfers.take_ready();
                    let at = unfinished.iter().position(|&(_, other)| other == id).expect("unfinished");
                    let of = unfinished[at].0;
                    for (before, _) in &unfinished[..at] {
                        prop_assert!(before.end() <= of.lbn || of.end() <= before.lbn);
                    }
                    sent.push(id);
                }
                if !sent.is_empty() {
                    let id = sent.swap_remove(pick.index(sent.len()));
                    unfinished.retain(|&(_, other)| other != id);
                    transfers.finish(id);
                    ended += 1;
                }
            }
            prop_assert_eq!(ended, total);
        }
    }

    #[test]
    fn writes_before_a_turn_are_known() {
        let mut transfers = Transfers::default();
        let first = transfers.add(command(true, 0, 8), Purpose::Flush);
        transfers.add(command(false, 100, 8), Purpose::Flush);
        let turn = transfers.next_turn();
        let later = transfers.add(command(true, 200, 8), Purpose::Flush);
        assert!(!transfers.are_written_before(turn));
        for _ in 0..3 {
            transfers.take_ready();
        }
        transfers.finish(first);
        assert!(transfers.are_written_before(turn));
        assert!(!transfers.are_written_before(transfers.next_turn()));
        transfers.finish(later);
        assert!(transfers.are_written_before(transfers.next_turn()));
    }
}
