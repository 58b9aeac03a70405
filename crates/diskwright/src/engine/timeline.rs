//! The event queue: what happens when, in (time, sequence) order and nothing else.
//!
//! Only the future is kept here. An alarm is known by a slot and a generation; cancelling one moves
//! its slot to the next generation, and the stale entry is dropped when its time comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::units::Time;
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
    /// Who set it.
    pub owner: u32,
    /// What it told itself.
    pub token: Token,
}

/// An entry of the heap. The derived order compares time, then sequence, which is unique.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Time,
    sequence: u64,
    slot: u32,
    generation: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    generation: u32,
    due: Due,
}

/// The pending alarms of a run.
///
/// Setting costs O(log n) in the number of pending alarms, cancelling O(1).
#[derive(Default)]
pub struct Timeline {
    heap: BinaryHeap<Reverse<Entry>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    sequence: u64,
}

impl Timeline {
    /// Sets an alarm. Alarms of one instant are due in the order in which they were set.
    pub fn set(&mut self, at: Time, owner: u32, token: Token) -> AlarmId {
        let due = Due { owner, token };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize].due = due;
                slot
            }
            None => {
                self.slots.push(Slot { generation: 0, due });
                (self.slots.len() - 1) as u32
            }
        };
        let generation = self.slots[slot as usize].generation;
        self.heap.push(Reverse(Entry {
            at,
            sequence: self.sequence,
            slot,
            generation,
        }));
        self.sequence += 1;
        AlarmId { slot, generation }
    }

    /// Cancels an alarm; one that has rung or was cancelled is left alone.
    pub fn cancel(&mut self, alarm: AlarmId) {
        if self.slots[alarm.slot as usize].generation == alarm.generation {
            self.release(alarm.slot);
        }
    }

    /// The instant of the next alarm.
    pub fn next_time(&mut self) -> Option<Time> {
        loop {
            let Reverse(entry) = self.heap.peek()?;
            if self.is_live(entry) {
                return Some(entry.at);
            }
            self.heap.pop();
        }
    }

    /// Takes the next alarm that is due at `now`, which must not be later than [`Self::next_time`].
    pub fn pop_due(&mut self, now: Time) -> Option<Due> {
        if self.next_time()? > now {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        let due = self.slots[entry.slot as usize].due;
        self.release(entry.slot);
        Some(due)
    }

    fn is_live(&self, entry: &Entry) -> bool {
        self.slots[entry.slot as usize].generation == entry.generation
    }

    fn release(&mut self, slot: u32) {
        let generation = &mut self.slots[slot as usize].generation;
        *generation = generation.wrapping_add(1);
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
        fn agrees_with_a_sorted_list(operations in prop::collection::vec((0u8..4, 0u64..50), 1..200)) {
            let mut timeline = Timeline::default();
            let mut model: Vec<(u64, u32, AlarmId)> = Vec::new();
            for (token, (kind, at)) in operations.into_iter().enumerate() {
                let token = token as u32;
                match kind {
                    0 | 1 => model.push((at, token, timeline.set(Time::from_ns(at), 0, Token::new(0, token)))),
                    2 if !model.is_empty() => {
                        let (_, _, alarm) = model.remove(at as usize % model.len());
                        timeline.cancel(alarm);
                    }
                    _ => {
                        let expected = model.iter().map(|&(at, token, _)| (at, token)).min();
                        let popped = timeline.next_time().and_then(|now| timeline.pop_due(now));
                        prop_assert_eq!(popped.map(|due| due.token.value()), expected.map(|(_, token)| token));
                        model.retain(|&(_, token, _)| Some(token) != popped.map(|due| due.token.value()));
                    }
                }
            }
        }
    }
}
