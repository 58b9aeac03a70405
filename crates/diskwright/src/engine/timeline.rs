//! The event queue: what happens when, in (time, sequence) order and nothing else.
//!
//! Only the future is kept here. An alarm is known by a slot and its number; cancelling one frees its slot, and the stale entry is dropped when its
//! time comes. Alarms in the background are counted apart: a run does not go on for them.

use crate::base::units::Time;
use crate::engine::lanes::Lanes;
use crate::engine::token::Token;

/// A set alarm, to cancel it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlarmId {
    slot: u32,
    number: u64,
}

/// An alarm that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The device that set it.
    pub owner: u32,
    /// What it told itself.
    pub token: Token,
}

#[derive(Clone, Copy)]
struct Slot {
    /// The number of the alarm that is set here.
    number: u64,
    is_background: bool,
    due: Due,
}

/// The number of no alarm.
const NOBODY: u64 = u64::MAX;

/// The pending alarms of a run.
///
/// Setting costs O(log n) in the number of pending alarms at most, cancelling O(1).
#[derive(Default)]
pub struct Timeline {
    /// The slots of alarms by their instants, and of those that were cancelled.
    alarms: Lanes<u32>,
    slots: Vec<Slot>,
    free: Vec<u32>,
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
            Some(slot) => slot,
            None => self.new_slot(due),
        };
        let number = self.alarms.add(at.ns(), slot);
        let entry = &mut self.slots[slot as usize];
        (entry.number, entry.is_background) = (number, is_background);
        (entry.due.owner, entry.due.token) = (due.owner, due.token);
        AlarmId { slot, number }
    }

    #[cold]
    fn new_slot(&mut self, due: Due) -> u32 {
        self.slots.push(Slot {
            number: NOBODY,
            is_background: false,
            due,
        });
        (self.slots.len() - 1) as u32
    }

    /// Drops entries of cancelled alarms from the front.
    #[inline(never)]
    fn drop_stale(&mut self) {
        while let Some((ticket, slot)) = self.alarms.first()
            && self.slots[*slot as usize].number != ticket.number
        {
            self.alarms.pop();
            self.stale -= 1;
        }
    }

    fn live(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.number != NOBODY)
    }

    /// Cancels an alarm; one that has rung or was cancelled is left alone.
    pub fn cancel(&mut self, alarm: AlarmId) {
        if self.slots[alarm.slot as usize].number == alarm.number {
            self.release(alarm.slot);
            self.stale += 1;
        }
    }

    /// Cancels all alarms of an owner.
    pub fn cancel_all_of(&mut self, owner: u32) {
        let slots = (0..).zip(&self.slots);
        let its = slots.filter(|(_, slot)| slot.number != NOBODY && slot.due.owner == owner);
        let slots: Vec<u32> = its.map(|(number, _)| number).collect();
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
        let foreground = self.live().filter(|slot| !slot.is_background);
        foreground.map(|slot| slot.due.owner)
    }

    /// The instant of the next alarm.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        if self.stale > 0 {
            self.drop_stale();
        }
        self.alarms.first_key().map(Time::from_ns)
    }

    /// Takes the next alarm that is due at `now`, which must not be later than [`Self::next_time`].
    #[inline]
    pub fn pop_due(&mut self, now: Time) -> Option<Due> {
        if self.next_time()? > now {
            return None;
        }
        let (_, slot) = self.alarms.pop()?;
        let due = self.slots[slot as usize].due;
        self.release(slot);
        Some(due)
    }

    /// The devices that set the pending alarms.
    pub fn owners(&self) -> impl Iterator<Item = u32> {
        self.live().map(|slot| slot.due.owner)
    }

    #[inline]
    fn release(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        entry.number = NOBODY;
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
