//! The event queue: what happens when, in (time, sequence) order and nothing else.
//!
//! Only the future is kept here: the next few alarms in a short sorted list, which is all that most runs need, the others behind
//! it. An alarm is known by a slot and a generation; cancelling one moves its slot to the next generation, and the stale entry is dropped
//! when its time comes. Alarms in the background are counted apart: a run
//! does not go on for them.

use crate::base::units::Time;
use crate::engine::lanes::Lanes;
use crate::engine::token::Token;

/// A set alarm, to cancel it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlarmId {
    slot: u32,
    generation: u32,
}

/// An alarm that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The device that set it.
    pub owner: u32,
    /// What it told itself.
    pub token: Token,
}

/// An alarm among the others. The derived order compares time, then sequence, which is unique.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Time,
    sequence: u64,
    slot: u32,
    generation: u32,
}

impl Entry {
    /// Time and sequence in a number. It is above 0, which is nobody's.
    #[inline]
    fn key(&self) -> u128 {
        (u128::from(self.at.ns()) << 64 | u128::from(self.sequence)) + 1
    }
}

#[derive(Clone, Copy)]
struct Slot {
    generation: u32,
    is_background: bool,
    due: Due,
}

/// The most alarms of the short list.
const NEAR: usize = 8;

/// The pending alarms of a run.
///
/// Setting costs O(log n) in the number of pending alarms at most, cancelling O(1).
#[derive(Default)]
pub struct Timeline {
    /// The next alarms, the first of all at the end.
    near: Vec<Entry>,
    /// The others: none of them before any of `near`.
    far: Lanes<Entry>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    sequence: u64,
    /// Alarms that are set and not in the background.
    foreground: usize,
    /// Entries of alarms that were cancelled.
    stale: usize,
}

impl Timeline {
    /// Sets an alarm. Alarms of one instant are due in the order in which they were set.
    pub fn set(&mut self, at: Time, owner: u32, token: Token) -> AlarmId {
        self.add(at, Due { owner, token }, false)
    }

    /// Sets an alarm in the background, in the same order.
    pub fn set_background(&mut self, at: Time, owner: u32, token: Token) -> AlarmId {
        self.add(at, Due { owner, token }, true)
    }

    #[inline]
    fn add(&mut self, at: Time, due: Due, is_background: bool) -> AlarmId {
        self.foreground += usize::from(!is_background);
        let slot = match self.free.pop() {
            Some(slot) => {
                let entry = &mut self.slots[slot as usize];
                (entry.due, entry.is_background) = (due, is_background);
                slot
            }
            None => {
                self.slots.push(Slot {
                    generation: 0,
                    is_background,
                    due,
                });
                (self.slots.len() - 1) as u32
            }
        };
        let generation = self.slots[slot as usize].generation;
        self.sort_in(Entry {
            at,
            sequence: self.sequence,
            slot,
            generation,
        });
        self.sequence += 1;
        AlarmId { slot, generation }
    }

    #[inline]
    fn sort_in(&mut self, entry: Entry) {
        if self.far.first().is_some_and(|first| first < entry.key()) {
            return self.far.add(entry.key(), entry);
        }
        if self.near.len() == NEAR {
            if self.near[0] < entry {
                return self.far.add(entry.key(), entry);
            }
            let last = self.near.remove(0);
            self.far.add(last.key(), last);
        }
        self.near.push(entry);
        let mut at = self.near.len() - 1;
        while at > 0 && self.near[at - 1] < entry {
            self.near.swap(at - 1, at);
            at -= 1;
        }
    }

    /// The first entry of an alarm that is set.
    #[inline]
    fn first(&mut self) -> Option<&Entry> {
        if self.near.is_empty() || self.stale > 0 {
            self.bring_up();
        }
        self.near.last()
    }

    /// Brings the first entry of an alarm that is set to the end of the short list, if there is one.
    #[inline(never)]
    fn bring_up(&mut self) {
        loop {
            match self.near.last() {
                Some(entry) if self.is_live(entry) => return,
                Some(_) => {
                    self.near.pop();
                    self.stale -= 1;
                }
                None => match self.far.pop() {
                    Some((_, entry)) => self.near.push(entry),
                    None => return,
                },
            }
        }
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.near.iter().chain(self.far.iter())
    }

    /// Cancels an alarm; one that has rung or was cancelled is left alone.
    pub fn cancel(&mut self, alarm: AlarmId) {
        if self.slots[alarm.slot as usize].generation == alarm.generation {
            self.release(alarm.slot);
            self.stale += 1;
        }
    }

    /// Cancels all alarms of an owner.
    pub fn cancel_all_of(&mut self, owner: u32) {
        let its = self.entries().filter(|entry| {
            self.is_live(entry) && self.slots[entry.slot as usize].due.owner == owner
        });
        let slots: Vec<u32> = its.map(|entry| entry.slot).collect();
        self.stale += slots.len();
        slots.into_iter().for_each(|slot| self.release(slot));
    }

    /// Whether an alarm is set that is not in the background.
    #[inline]
    pub fn has_foreground(&self) -> bool {
        self.foreground > 0
    }

    /// The devices that set the pending alarms that are not in the background.
    pub fn foreground_owners(&self) -> impl Iterator<Item = u32> {
        let live = self.entries().filter(|entry| self.is_live(entry));
        let slots = live.map(|entry| &self.slots[entry.slot as usize]);
        slots
            .filter(|slot| !slot.is_background)
            .map(|slot| slot.due.owner)
    }

    /// The instant of the next alarm.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        Some(self.first()?.at)
    }

    /// Takes the next alarm that is due at `now`, which must not be later than [`Self::next_time`].
    #[inline]
    pub fn pop_due(&mut self, now: Time) -> Option<Due> {
        let &Entry { at, slot, .. } = self.first()?;
        if at > now {
            return None;
        }
        self.near.pop();
        let due = self.slots[slot as usize].due;
        self.release(slot);
        Some(due)
    }

    /// The devices that set the pending alarms.
    pub fn owners(&self) -> impl Iterator<Item = u32> {
        let live = self.entries().filter(|entry| self.is_live(entry));
        live.map(|entry| self.slots[entry.slot as usize].due.owner)
    }

    #[inline]
    fn is_live(&self, entry: &Entry) -> bool {
        self.slots[entry.slot as usize].generation == entry.generation
    }

    #[inline]
    fn release(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        entry.generation = entry.generation.wrapping_add(1);
        self.foreground -= usize::from(!entry.is_background);
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn alarms_of_one_instant_ring_in_the_order_they_were_set() {
        let mut timeline = Timeline::default();
        for token in 0..10 {
            timeline.set(Time::from_ms(5), 0, Token::new(0, token));
        }
        let rung: Vec<u32> = std::iter::from_fn(|| timeline.pop_due(Time::from_ms(5)))
            .map(|due| due.token.value())
            .collect();
        assert_eq!(rung, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn an_alarm_is_not_due_a_nanosecond_early() {
        let mut timeline = Timeline::default();
        timeline.set(Time::from_ns(100), 3, Token::new(0, 7));
        assert_eq!(timeline.pop_due(Time::from_ns(99)), None);
        assert_eq!(
            timeline.pop_due(Time::from_ns(100)),
            Some(Due {
                owner: 3,
                token: Token::new(0, 7)
            })
        );
        assert_eq!(timeline.next_time(), None);
    }

    #[test]
    fn cancelling_twice_does_not_cancel_the_slots_next_alarm() {
        let mut timeline = Timeline::default();
        let first = timeline.set(Time::from_ns(1), 0, Token::new(0, 1));
        timeline.cancel(first);
        timeline.set(Time::from_ns(2), 0, Token::new(0, 2));
        timeline.cancel(first);
        assert_eq!(timeline.next_time(), Some(Time::from_ns(2)));
    }

    proptest! {
        /// Random sets, cancels and pops against a sorted list.
        #[test]
        fn agrees_with_a_sorted_list(operations in prop::collection::vec((0u8..20, 0u64..50), 1..400)) {
            let mut timeline = Timeline::default();
            let mut model: Vec<(u64, u32, AlarmId, bool)> = Vec::new();
            for (token, (kind, at)) in operations.into_iter().enumerate() {
                let token = token as u32;
                let (time, due) = (Time::from_ns(at), Token::new(0, token));
                let owner = token % 3;
                match kind {
                    0..6 => model.push((at, token, timeline.set(time, owner, due), false)),
                    6..12 => model.push((at, token, timeline.set_background(time, owner, due), true)),
                    12..14 if !model.is_empty() => {
                        let (_, _, alarm, _) = model.remove(at as usize % model.len());
                        timeline.cancel(alarm);
                    }
                    14 if at < 5 => {
                        timeline.cancel_all_of(owner);
                        model.retain(|&(_, token, _, _)| token % 3 != owner);
                    }
                    _ => {
                        let expected = model.iter().map(|&(at, token, _, _)| (at, token)).min();
                        let popped = timeline.next_time().and_then(|now| timeline.pop_due(now));
                        prop_assert_eq!(popped.map(|due| due.token.value()), expected.map(|(_, token)| token));
                        model.retain(|&(_, token, _, _)| Some(token) != expected.map(|(_, token)| token));
                    }
                }
                let has_foreground = model.iter().any(|&(_, _, _, is_background)| !is_background);
                prop_assert_eq!(timeline.has_foreground(), has_foreground);
            }
        }
    }
}
