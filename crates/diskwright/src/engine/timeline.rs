//! The event queue: what happens when, in (time, sequence) order and nothing else.
//!
//! Only the future is kept here. The few next alarms are a short sorted list, for most devices never set more; what comes later is in
//! lanes, each of them ascending. An alarm that is cancelled is dropped when its time comes. Alarms in the background are counted apart: a
//! run does not go on for them.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use crate::base::units::Time;
use crate::engine::lanes::{Lanes, Ticket};
use crate::engine::token::Token;

/// A set alarm, to cancel it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlarmId(Ticket);

/// An alarm that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The device that set it.
    pub owner: u32,
    /// What it told itself.
    pub token: Token,
}

/// A set alarm but for its ticket: in two words, which are kept in registers.
#[derive(Clone, Copy, Debug)]
struct Alarm {
    /// The owner, and below that whether it is in the foreground.
    who: u64,
    token: Token,
}

impl Alarm {
    #[inline]
    fn new(owner: u32, is_foreground: bool, token: Token) -> Alarm {
        Alarm {
            who: u64::from(owner) << 1 | u64::from(is_foreground),
            token,
        }
    }

    #[inline]
    fn owner(self) -> u32 {
        (self.who >> 1) as u32
    }

    #[inline]
    fn is_foreground(self) -> bool {
        self.who & 1 > 0
    }
}

/// The most alarms that are kept in the sorted list.
const NEXT: usize = 4;

/// The pending alarms of a run.
///
/// Setting an alarm costs O(log n) in the number of pending alarms at most. So does cancelling one, unless it is in the heap of what fits no lane.
pub struct Timeline {
    /// The next alarms, the first one last; not empty while any is set.
    next: Vec<(Ticket, Alarm)>,
    /// All behind them.
    later: Lanes<Alarm>,
    /// Alarms that were ever set.
    set: u64,
    /// Alarms that are set and not in the background.
    foreground: usize,
    /// The numbers of pending alarms that were cancelled.
    cancelled: HashSet<u64, FixedState>,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline {
            next: Vec::with_capacity(NEXT),
            later: Lanes::default(),
            set: 0,
            foreground: 0,
            cancelled: HashSet::default(),
        }
    }
}

impl Timeline {
    /// Sets an alarm. Alarms of one instant are due in the order in which they were set.
    #[inline]
    pub fn set(&mut self, at: Time, owner: u32, token: Token) -> AlarmId {
        self.foreground += 1;
        self.add(at, Alarm::new(owner, true, token))
    }

    /// Sets an alarm in the background, in the same order.
    pub fn set_background(&mut self, at: Time, owner: u32, token: Token) -> AlarmId {
        self.add(at, Alarm::new(owner, false, token))
    }

    #[inline]
    fn add(&mut self, at: Time, alarm: Alarm) -> AlarmId {
        let ticket = Ticket {
            key: at.ns(),
            number: self.set,
        };
        self.set += 1;
        // Of one instant it is the last.
        let is_next = self.next.len() < NEXT
            && self
                .later
                .first_key()
                .is_none_or(|later| ticket.key < later);
        if is_next {
            self.add_to_next(ticket, alarm);
        } else {
            self.add_behind(ticket, alarm);
        }
        AlarmId(ticket)
    }

    /// Puts an alarm in its place among the next ones, of which there are not too many.
    #[inline]
    fn add_to_next(&mut self, ticket: Ticket, alarm: Alarm) {
        self.next.push((ticket, alarm));
        let mut place = self.next.len() - 1;
        while place > 0 && self.next[place - 1].0.key <= ticket.key {
            self.next.swap(place - 1, place);
            place -= 1;
        }
    }

    /// Adds an alarm where there are many.
    #[inline(never)]
    fn add_behind(&mut self, ticket: Ticket, alarm: Alarm) {
        if ticket.key >= self.next[0].0.key {
            return self.later.add(ticket, alarm);
        }
        if self.next.len() == NEXT {
            let (ticket, alarm) = self.next.remove(0);
            self.later.add_first(ticket, alarm);
        }
        self.add_to_next(ticket, alarm);
    }

    /// Drops the first alarm, cancelled or not.
    #[inline]
    fn drop_first(&mut self) {
        self.next.truncate(self.next.len().saturating_sub(1));
        if self.next.is_empty() && self.later.first_key().is_some() {
            self.refill();
        }
    }

    /// Makes the first of the later alarms the next one.
    #[inline(never)]
    fn refill(&mut self) {
        self.next.extend(self.later.pop());
    }

    /// Drops cancelled alarms from the front.
    #[cold]
    fn drop_cancelled(&mut self) {
        while let Some((ticket, _)) = self.next.last()
            && self.cancelled.remove(&ticket.number)
        {
            self.drop_first();
        }
    }

    fn live(&self) -> impl Iterator<Item = (Ticket, &Alarm)> {
        let next = self.next.iter().map(|(ticket, alarm)| (*ticket, alarm));
        let all = next.chain(self.later.iter());
        all.filter(|(ticket, _)| !self.cancelled.contains(&ticket.number))
    }

    /// Cancels an alarm; one that has rung or was cancelled is left alone.
    pub fn cancel(&mut self, AlarmId(ticket): AlarmId) {
        let mut next = self.next.iter();
        let next = next.find(|(other, _)| *other == ticket);
        let next = next.map(|(_, alarm)| alarm);
        if let Some(&alarm) = next.or_else(|| self.later.get(ticket))
            && self.cancelled.insert(ticket.number)
        {
            self.foreground -= usize::from(alarm.is_foreground());
        }
    }

    /// Cancels all alarms of an owner.
    pub fn cancel_all_of(&mut self, owner: u32) {
        let its = self.live().filter(|(_, alarm)| alarm.owner() == owner);
        let its: Vec<AlarmId> = its.map(|(ticket, _)| AlarmId(ticket)).collect();
        its.into_iter().for_each(|alarm| self.cancel(alarm));
    }

    /// Whether an alarm is set that is not in the background.
    #[inline]
    pub fn has_foreground(&self) -> bool {
        self.foreground > 0
    }

    /// The devices that set the pending alarms that are not in the background.
    pub fn foreground_owners(&self) -> impl Iterator<Item = u32> {
        let foreground = self.live().filter(|(_, alarm)| alarm.is_foreground());
        foreground.map(|(_, alarm)| alarm.owner())
    }

    /// The instant of the next alarm.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        if !self.cancelled.is_empty() {
            self.drop_cancelled();
        }
        let (ticket, _) = self.next.last()?;
        Some(Time::from_ns(ticket.key))
    }

    /// Takes the next alarm that is due at `now`, which must not be later than [`Self::next_time`].
    #[inline]
    pub fn pop_due(&mut self, now: Time) -> Option<Due> {
        if self.next_time()? > now {
            return None;
        }
        let &(_, alarm) = self.next.last()?;
        self.foreground -= usize::from(alarm.is_foreground());
        self.drop_first();
        Some(Due {
            owner: alarm.owner(),
            token: alarm.token,
        })
    }

    /// The devices that set the pending alarms.
    pub fn owners(&self) -> impl Iterator<Item = u32> {
        self.live().map(|(_, alarm)| alarm.owner())
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
