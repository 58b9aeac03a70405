//! What a cache or a pool has to do on the medium: in any order, except that what overlaps keeps its order.

use std::collections::VecDeque;
use std::ops::Range;

use crate::base::units::Lbn;
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
    /// Dirty blocks that stay in their frames, when an arm finds the time.
    Destage,
    /// Blocks that nobody has asked for yet.
    ReadAhead,
}

/// A read of the medium or a write to it.
#[derive(Debug)]
pub struct Transfer {
    /// What is read or written.
    pub command: Command,
    /// What for.
    pub purpose: Purpose,
    /// All that the request asks for, of which it may be a part.
    pub whole: Command,
    /// The frames of the request's pieces, which are pinned for it, as far as they have frames.
    pub frames: Vec<Option<Frame>>,
    /// Its turn.
    pub sequence: u64,
    /// It is in the hands of the disk, or about to be.
    is_taken: bool,
    /// It has had to wait for others.
    pub has_waited: bool,
    /// Unfinished transfers before it that it overlaps.
    blockers: u32,
    /// Those that wait for it.
    waiters: Vec<TransferId>,
}

/// A destage that a trim has cut.
pub struct Cut {
    /// The old transfer, and what it is for.
    pub id: TransferId,
    pub purpose: Purpose,
    /// Those that have what is left of it, of which the first is the old one, if there is any.
    pub parts: Vec<TransferId>,
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
    /// The unfinished ones by their first blocks. There are as few as a queue has slots, so that to move those behind one costs less than a tree.
    by_lbn: Vec<(u64, TransferId)>,
    /// The most blocks of any so far: what overlaps a run begins at most so far before it.
    longest: u32,
    /// How many writes of each turn are unfinished, from the turn `writes_from` on, which has some if any has.
    writes: VecDeque<u32>,
    writes_from: u64,
    turns: u64,
    /// Those that wait for none, in the order in which they began to; of those that began at once, in the order of their turns.
    ready: VecDeque<TransferId>,
    /// Transfers of requests that are waiting or ready.
    held: u32,
}

impl Transfers {
    /// Adds the newest transfer.
    pub fn add(&mut self, command: Command, purpose: Purpose) -> TransferId {
        let id = self.vacant(command, purpose);
        let mut blockers = 0;
        let at = self.first_from(command.lbn.0);
        for other in self.near(at, &command) {
            let blocker = &mut self.entries[self.by_lbn[other].1.0 as usize];
            if blocker.command.end() > command.lbn {
                blocker.waiters.push(id);
                blockers += 1;
            }
        }
        let entry = &mut self.entries[id.0 as usize];
        (entry.sequence, entry.blockers) = (self.turns, blockers);
        entry.has_waited = blockers > 0;
        self.turns += 1;
        self.longest = self.longest.max(command.blocks);
        self.enter(id, at);
        if blockers == 0 {
            self.ready.push_back(id);
        }
        self.held += u32::from(matches!(purpose, Purpose::Request(_)));
        id
    }

    /// An entry for a transfer of which nothing else is known yet.
    fn vacant(&mut self, command: Command, purpose: Purpose) -> TransferId {
        let id = self.free.pop().unwrap_or_else(|| {
            let id = TransferId(self.entries.len() as u32);
            self.entries.push(Transfer {
                command,
                purpose,
                whole: command,
                frames: Vec::new(),
                sequence: 0,
                is_taken: false,
                has_waited: false,
                blockers: 0,
                waiters: Vec::new(),
            });
            id
        });
        let entry = &mut self.entries[id.0 as usize];
        (entry.command, entry.purpose, entry.is_taken) = (command, purpose, false);
        entry.whole = command;
        entry.frames.clear();
        id
    }

    /// A transfer is found by its blocks from now on. At or behind its first block others begin `at` a place.
    fn enter(&mut self, id: TransferId, at: usize) {
        let Transfer {
            command, sequence, ..
        } = *self.get(id);
        if command.op == Op::Write {
            *self.writes_of(sequence) += 1;
        }
        self.insert_by_lbn(at, command.lbn, id);
    }

    fn insert_by_lbn(&mut self, at: usize, lbn: Lbn, id: TransferId) {
        let behind = self.by_lbn[at..].iter();
        let same = behind.take_while(|&&other| other < (lbn.0, id)).count();
        self.by_lbn.insert(at + same, (lbn.0, id));
    }

    fn remove_by_lbn(&mut self, lbn: Lbn, id: TransferId) {
        let mut at = self.first_from(lbn.0);
        while self.by_lbn[at].1 != id {
            at += 1;
        }
        self.by_lbn.remove(at);
    }

    /// Where the unfinished transfers begin whose first blocks are at or behind a block.
    #[inline]
    fn first_from(&self, lbn: u64) -> usize {
        self.by_lbn.partition_point(|&(first, _)| first < lbn)
    }

    /// How many writes of a turn are unfinished. The turns before the first one that has some are not kept.
    fn writes_of(&mut self, turn: u64) -> &mut u32 {
        if self.writes.is_empty() {
            self.writes_from = turn;
        }
        let index = (turn - self.writes_from) as usize;
        if index >= self.writes.len() {
            self.writes.resize(index + 1, 0);
        }
        &mut self.writes[index]
    }

    /// By what transfers are in the order of their turns, and parts of one in that of their blocks.
    fn turn(&self, id: TransferId) -> (u64, Lbn) {
        let transfer = self.get(id);
        (transfer.sequence, transfer.command.lbn)
    }

    /// A destage that has not been taken and has blocks in common with a trim.
    fn unsent_destage(&self, trim: &Command) -> Option<TransferId> {
        self.overlapping(trim).find(|&id| {
            let transfer = self.get(id);
            !transfer.is_taken && !matches!(transfer.purpose, Purpose::Request(_))
        })
    }

    /// Cuts the blocks of a trim out of all destages that have not been taken. What is left of one keeps its turn.
    pub fn cut(&mut self, trim: &Command) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let mut freed = Vec::new();
        while let Some(id) = self.unsent_destage(trim) {
            let purpose = self.get(id).purpose;
            let parts = self.cut_one(id, trim, &mut freed);
            cuts.push(Cut { id, purpose, parts });
        }
        freed.sort_unstable_by_key(|&id| self.turn(id));
        self.ready.extend(freed);
        cuts
    }

    /// Cuts the blocks of a trim out of a destage; the transfers that have what is left of it, of which the first is the old one, if there is
    /// any. Those that wait for none any more are `freed`.
    fn cut_one(
        &mut self,
        id: TransferId,
        trim: &Command,
        freed: &mut Vec<TransferId>,
    ) -> Vec<TransferId> {
        let whole = self.get(id).command;
        let part = |from: Lbn, end: Lbn| Command {
            lbn: from,
            blocks: (end.0 - from.0) as u32,
            ..whole
        };
        let head = (whole.lbn < trim.lbn).then(|| part(whole.lbn, trim.lbn));
        let tail = (trim.end() < whole.end()).then(|| part(trim.end(), whole.end()));
        let Some(first) = head.or(tail) else {
            self.unlink(id, None, freed);
            self.ready.retain(|&ready| ready != id);
            // Another cut may have freed it.
            freed.retain(|&freed| freed != id);
            self.finish(id);
            return Vec::new();
        };
        let mut parts = vec![id];
        if let (Some(_), Some(tail)) = (head, tail) {
            parts.push(self.add_part(id, tail, freed));
        }
        self.unlink(id, Some(&first), freed);
        self.remove_by_lbn(whole.lbn, id);
        self.insert_by_lbn(self.first_from(first.lbn.0), first.lbn, id);
        self.get_mut(id).command = first;
        parts
    }

    /// Adds a part of a transfer as one of its own, with the same turn.
    fn add_part(
        &mut self,
        id: TransferId,
        part: Command,
        freed: &mut Vec<TransferId>,
    ) -> TransferId {
        let Transfer {
            purpose, sequence, ..
        } = *self.get(id);
        let overlapping = self.overlapping(&part).filter(|&other| other != id);
        let mut others: Vec<TransferId> = overlapping.collect();
        others.sort_unstable_by_key(|&other| self.get(other).sequence);
        let rest = self.vacant(part, purpose);
        let (mut blockers, mut waiters) = (0, Vec::new());
        for other in others {
            if self.get(other).sequence < sequence {
                // Beside the transfer of which it was a part, so that they go on in the order of their turns.
                let waiting = &mut self.get_mut(other).waiters;
                let at = waiting.iter().position(|&waiter| waiter == id);
                waiting.insert(at.expect("the whole waits for it") + 1, rest);
                blockers += 1;
            } else {
                self.get_mut(other).blockers += 1;
                waiters.push(other);
            }
        }
        let entry = self.get_mut(rest);
        (entry.sequence, entry.blockers, entry.waiters) = (sequence, blockers, waiters);
        self.enter(rest, self.first_from(part.lbn.0));
        if blockers == 0 {
            freed.push(rest);
        }
        rest
    }

    /// Ends the waiting between a transfer and those that have no blocks in common with what is `left` of it.
    fn unlink(&mut self, id: TransferId, left: Option<&Command>, freed: &mut Vec<TransferId>) {
        let Transfer {
            command: whole,
            sequence,
            blockers,
            ..
        } = *self.get(id);
        let apart = |other: &Command| {
            left.is_none_or(|left| other.end() <= left.lbn || left.end() <= other.lbn)
        };
        let others = self.overlapping(&whole);
        let others = others.filter(|&other| {
            let other = self.get(other);
            other.sequence != sequence && apart(&other.command)
        });
        for other in others.collect::<Vec<_>>() {
            if self.get(other).sequence < sequence {
                self.get_mut(other).waiters.retain(|&waiter| waiter != id);
                self.get_mut(id).blockers -= 1;
                continue;
            }
            self.get_mut(id).waiters.retain(|&waiter| waiter != other);
            let waiting = self.get_mut(other);
            waiting.blockers -= 1;
            if waiting.blockers == 0 {
                freed.push(other);
            }
        }
        if blockers > 0 && self.get(id).blockers == 0 {
            freed.push(id);
        }
    }

    /// All that are not finished, by their first blocks.
    pub fn unfinished(&self) -> impl Iterator<Item = TransferId> {
        self.by_lbn.iter().map(|&(_, id)| id)
    }

    /// The unfinished transfers that have blocks in common with a command, by their first blocks.
    pub fn overlapping(&self, command: &Command) -> impl Iterator<Item = TransferId> + use<'_> {
        let lbn = command.lbn;
        let near = self.near(self.first_from(lbn.0), command);
        let near = self.by_lbn[near].iter();
        near.map(|&(_, id)| id)
            .filter(move |&id| self.get(id).command.end() > lbn)
    }

    /// Where the transfers are that begin before a command's end, and not so long before it that none reaches it. At or behind its first block
    /// they begin `at` a place.
    #[inline]
    fn near(&self, at: usize, command: &Command) -> Range<usize> {
        let (lbn, end) = (command.lbn.0, command.end().0);
        let from = lbn.saturating_sub(self.longest.into());
        let (before, behind) = self.by_lbn.split_at(at);
        let before = before.iter().rev();
        let before = before.take_while(|&&(first, _)| first >= from);
        let behind = behind.iter().take_while(|&&(first, _)| first < end);
        at - before.count()..at + behind.count()
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
        self.get_mut(id).is_taken = true;
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
        self.remove_by_lbn(command.lbn, id);
        if command.op == Op::Write {
            *self.writes_of(sequence) -= 1;
            while self.writes.front() == Some(&0) {
                self.writes.pop_front();
                self.writes_from += 1;
            }
        }
        if !self.get(id).waiters.is_empty() {
            self.release_waiters(id);
        }
        self.free.push(id);
    }

    /// Those that waited for a transfer wait for it no longer.
    fn release_waiters(&mut self, id: TransferId) {
        let mut waiters = std::mem::take(&mut self.get_mut(id).waiters);
        for waiter in waiters.drain(..) {
            let waiting = self.get_mut(waiter);
            waiting.blockers -= 1;
            if waiting.blockers == 0 {
                self.ready.push_back(waiter);
            }
        }
        self.get_mut(id).waiters = waiters;
    }

    /// The turn of the next transfer.
    pub fn next_turn(&self) -> u64 {
        self.turns
    }

    /// Whether every write before a turn is finished.
    pub fn are_written_before(&self, turn: u64) -> bool {
        self.writes.is_empty() || self.writes_from >= turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        /// Whatever the order in which transfers end, those that overlap are sent in turn, and all are sent but for what trims
        /// have cut out of those that were not sent yet. What becomes ready at once does so in the order of turns.
        #[test]
        fn what_overlaps_keeps_its_order(
            commands in prop::collection::vec((0u8..7, 0u64..40, 1u32..12, 0usize..3), 1..60),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 60),
        ) {
            let overlap = |one: &Command, other: &Command| one.lbn < other.end() && other.lbn < one.end();
            let mut transfers = Transfers::default();
            let mut known: Vec<TransferId> = Vec::new();
            let mut has_turns = |transfers: &Transfers| {
                let ready: Vec<TransferId> = transfers.ready.iter().copied().collect();
                let new = ready.iter().filter(|id| !known.contains(id));
                let in_turn = new.is_sorted_by_key(|&id| transfers.turn(id));
                known = ready;
                in_turn
            };
            let mut sent: Vec<TransferId> = Vec::new();
            let mut unfinished: Vec<(Command, TransferId)> = Vec::new();
            let mut coming = commands.into_iter();
            for pick in picks.iter().cycle() {
                let (mut most, mut is_last) = (usize::MAX, true);
                if let Some((what, lbn, blocks, sends)) = coming.next() {
                    let command = command(what < 3, lbn, blocks);
                    let overlaps = |other: &Command| overlap(other, &command);
                    let mut expected: Vec<TransferId> =
                        unfinished.iter().filter(|(other, _)| overlaps(other)).map(|&(_, id)| id).collect();
                    let mut found: Vec<TransferId> = transfers.overlapping(&command).collect();
                    expected.sort_unstable();
                    found.sort_unstable();
                    prop_assert_eq!(found, expected);
                    if what < 5 {
                        unfinished.push((command, transfers.add(command, Purpose::Eviction)));
                    }
                    let cuts = if what < 5 { Vec::new() } else { transfers.cut(&command) };
                    for Cut { id, parts, .. } in cuts {
                        let at = unfinished.iter().position(|&(_, other)| other == id).expect("unfinished");
                        let whole = unfinished.remove(at).0;
                        let wanted: Vec<u64> = (whole.lbn.0..whole.end().0)
                            .filter(|&lbn| lbn < command.lbn.0 || lbn >= command.end().0)
                            .collect();
                        let parts = parts.into_iter().map(|id| (transfers.get(id).command, id));
                        let parts: Vec<_> = parts.collect();
                        let left = parts.iter().flat_map(|(part, _)| part.lbn.0..part.end().0);
                        prop_assert_eq!(left.collect::<Vec<_>>(), wanted);
                        unfinished.splice(at..at, parts);
                    }
                    prop_assert!(has_turns(&transfers));
                    let unsent = unfinished.iter().filter(|(_, id)| !sent.contains(id));
                    let mut unsent = unsent.map(|(other, _)| other);
                    prop_assert!(what < 5 || !unsent.any(overlaps));
                    (most, is_last) = (sends, false);
                }
                while most > 0 && let Some(id) = transfers.ready() {
                    most -= 1;
                    transfers.take_ready();
                    let at = unfinished.iter().position(|&(_, other)| other == id).expect("unfinished");
                    let of = unfinished[at].0;
                    prop_assert!(!unfinished[..at].iter().any(|(before, _)| overlap(before, &of)));
                    sent.push(id);
                }
                if !sent.is_empty() {
                    let id = sent.swap_remove(pick.index(sent.len()));
                    unfinished.retain(|&(_, other)| other != id);
                    transfers.finish(id);
                    prop_assert!(has_turns(&transfers));
                } else if is_last {
                    break;
                }
            }
            prop_assert!(unfinished.is_empty(), "{:?} were never sent", unfinished);
            prop_assert!(transfers.by_lbn.is_empty() && transfers.writes.is_empty());
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
