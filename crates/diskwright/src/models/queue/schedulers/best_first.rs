//! An exact search for the best of the waiting requests where waiting counts beside positioning time.

use super::{Pending, Slot, Space, View};
use crate::base::units::Time;

/// The request with the least score; of equal ones the one that has waited longer.
///
/// `score` must not fall when the positioning time rises, nor when a later request takes the place of an earlier one.
///
/// Looks through the requests in two orders at a time: from the arm outwards, and from the oldest on. Whatever neither
/// has come to scores no better than a request would that is as near as the next of the one and as old as the next of
/// the other, so the search stops there, and its choice is exact: the threshold algorithm of Fagin, Lotem and Naor,
/// "Optimal aggregation algorithms for middleware", PODS 2001. A request without a target counts as no positioning
/// time. Where requests have been put behind younger ones, or are nowhere, it looks
/// through all.
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
    // Where requests have been put behind younger ones, the order of arrival says nothing of their ages; one that is nowhere is reached at once.
    if view.pool.is_reordered() || view.pool.has_nowhere() {
        by_arrival.by_ref().for_each(|slot| _ = consider(slot));
    }
    while let (Some((distance, near)), Some(old)) = (outwards.next(), by_arrival.next()) {
        // Whatever has been come to in neither order is no nearer than `near` and no older than `old`.
        let soonest = disk.soonest(distance as u32);
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::base::units::Lbn;
    use crate::base::units::quantities::Rotation;
    use crate::engine::request::{Command, Op, RequestId};
    use crate::models::geometry::describe::{HeadOrder, LayoutDescription, ZoneDescription};
    use crate::models::geometry::layout::Layout;
    use crate::models::geometry::mechanics::{HeadPosition, Mechanics};
    use crate::models::geometry::seek::{SeekCurve, SeekDescription};
    use crate::models::geometry::spindle::Spindle;
    use crate::models::queue::pool::{Order, Pool};
    use crate::models::queue::schedulers::DiskSpace;

    /// A thousand cylinders of one track of ten sectors, with a millisecond a cylinder and a sector.
    fn mechanics() -> Mechanics {
        let description = LayoutDescription {
            surfaces: 1,
            cylinders: 1000,
            access_ranges: 1,
            order: HeadOrder::Ascending,
            sectors: None,
            zones: vec![ZoneDescription::plain(0, 999, 10)],
        };
        let seek: SeekDescription =
            toml::from_str("[linear]\nsingle = \"1 ms\"\nfull = \"999 ms\"").expect("a seek curve");
        Mechanics::new(
            Layout::build(&description).expect("a layout"),
            SeekCurve::build(&seek, 1000).expect("a seek curve"),
            Spindle::new(Rotation::Rpm(6000)),
            Time::ZERO,
            0,
        )
    }

    /// How many requests of a thousand, one a cylinder, each a second younger than the one before, are looked at before
    /// the choice; `weight` of age counts.
    fn looked_at(weight: i64) -> usize {
        let m = mechanics();
        let mut pool = Pool::new(Order::Position);
        for number in 0..1000 {
            // The oldest are far from the arm.
            let cylinder = (number + 600) % 1000;
            let lbn = cylinder * 10;
            let command = Command {
                op: Op::Read,
                fua: false,
                lbn: Lbn(lbn),
                blocks: 1,
            };
            let target = m.target(m.layout.run(lbn, 1), false);
            let (request, entered) = (RequestId(number as u32), Time::from_s(number));
            pool.push(Pending::new(
                request,
                command,
                entered,
                Some(target),
                cylinder,
            ));
        }
        let disk = DiskSpace {
            mechanics: &m,
            arm: HeadPosition::default(),
            last: Lbn(0),
            blocks: 10_000,
            read_phase: m.spindle.phase(Time::ZERO),
            write_phase: m.spindle.phase(Time::ZERO),
            arms: &[],
        };
        let view = View {
            now: Time::from_s(1000),
            pool: &pool,
            space: Space::Disk(disk),
        };
        let seen = Cell::new(0);
        let score = |positioning: Time, pending: &Pending| {
            seen.set(seen.get() + 1);
            let waited = (view.now - pending.entered).ns();
            i128::from(positioning.ns()) - i128::from(weight) * i128::from(waited)
        };
        least(&view, score);
        // Three times each at most, and once for the bound.
        seen.get() / 4
    }

    #[test]
    fn what_cannot_be_best_is_not_looked_at() {
        // The arm's own sector is just there.
        assert!(looked_at(0) <= 2, "{}", looked_at(0));
        // The oldest is so much older that nearness makes up for nothing.
        assert!(looked_at(1000) <= 2, "{}", looked_at(1000));
    }
}
