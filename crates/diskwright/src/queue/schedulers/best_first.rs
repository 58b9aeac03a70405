//! An exact search for the best of the waiting requests where waiting counts beside positioning time.

use super::{Pending, Slot, Space, View};
use crate::units::Time;

/// The request with the least score; of equal ones the one that has waited longer.
///
/// `score` must not fall when the positioning time rises, nor when a later request takes the place of an earlier one.
///
/// Looks through the requests in two orders at a time: from the arm outwards, and from the oldest on. Whatever neither
/// has come to scores no better than a request would that is as near as the next of the one and as old as the next of
/// the other, so the search stops there, and its choice is exact: the threshold algorithm of Fagin, Lotem and Naor,
/// "Optimal aggregation algorithms for middleware", PODS 2001. A request without a target counts as no positioning
/// time.
pub(super) fn least<S: Ord + Copy>(view: &View<'_>, score: impl Fn(Time, &Pending) -> S) -> Slot {
    let Space::Disk(disk) = &view.space else {
        unreachable!("a queue without geometry is given no scheduler that needs it");
    };
    let mut best: Option<(S, u64, Slot)> = None;
    let mut consider = |slot: Slot| {
        let pending = view.pool.get(slot);
        let is_beaten = |time: Time| {
            best.is_some_and(|(least, ticket, _)| {
                (score(time, pending), pending.ticket) >= (least, ticket)
            })
        };
        let time = match &pending.target {
            // Most requests are told apart by their motion, which is cheap.
            Some(target) if is_beaten(disk.motion(target)) => return best,
            Some(target) => disk.positioning(target),
            None => Time::ZERO,
        };
        if !is_beaten(time) {
            best = Some((score(time, pending), pending.ticket, slot));
        }
        best
    };
    let mut outwards = Outwards::new(view.pool.by_place(), disk.arm.cylinder.into());
    let mut by_arrival = view.pool.by_arrival();
    while let (Some((distance, near)), Some(old)) = (outwards.next(), by_arrival.next()) {
        // Both are seen to before the bound is asked again; what the bound speaks of are these two and all after them.
        let soonest = disk.mechanics.soonest(distance as u32);
        let pending = view.pool.get(old);
        let threshold = (score(soonest, pending), pending.ticket);
        let found = consider(old);
        if found.is_some_and(|(least, ticket, _)| (least, ticket) < threshold) {
            break;
        }
        consider(near);
    }
    best.expect("a scheduler is asked only when something waits")
        .2
}

/// Requests in the order of their distance from a place, with that distance.
struct Outwards<'a> {
    places: &'a [(u64, Slot)],
    here: u64,
    above: usize,
    below: usize,
}

impl<'a> Outwards<'a> {
    fn new(places: &'a [(u64, Slot)], here: u64) -> Outwards<'a> {
        let above = places.partition_point(|&(key, _)| key < here);
        Outwards {
            places,
            here,
            above,
            below: above,
        }
    }
}

impl Iterator for Outwards<'_> {
    type Item = (u64, Slot);
    fn next(&mut self) -> Option<(u64, Slot)> {
        let up = self.places.get(self.above);
        let down = self.places[..self.below].last();
        match (up, down) {
            (Some(&(up, slot)), down)
                if down.is_none_or(|&(down, _)| up - self.here <= self.here - down) =>
            {
                self.above += 1;
                Some((up - self.here, slot))
            }
            (_, Some(&(down, slot))) => {
                self.below -= 1;
                Some((self.here - down, slot))
            }
            _ => None,
        }
    }
}
