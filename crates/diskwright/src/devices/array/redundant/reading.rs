//! How reads become requests to members, where some of them may be missing.

use super::geometry::{Geometry, Role};
use super::plan::{Plan, Segment, View};
use crate::engine::request::Outcome;

/// The segments of units that blocks of an array are in: row, unit, and blocks of the unit.
pub fn pieces(geometry: &Geometry, first: u64, end: u64) -> impl Iterator<Item = (usize, Segment)> {
    let blocks = geometry.unit;
    (first / blocks..end.div_ceil(blocks)).map(move |number| {
        let begin = number * blocks;
        let from = first.max(begin) - begin;
        let to = end.min(begin + blocks) - begin;
        let (row, unit) = geometry.unit(number);
        (unit, (row, from, to))
    })
}

/// What reads do for the blocks `first..end` of an array with parity.
///
/// # Errors
/// The outcome, where the redundancy does not suffice.
pub fn plan_read(view: &View<'_>, first: u64, end: u64, plan: &mut Plan) -> Result<(), Outcome> {
    for (unit, segment) in pieces(view.geometry, first, end) {
        let slot = view.geometry.place(segment.0, unit);
        if view.reads(slot, segment) {
            plan.read(view, slot, segment);
            continue;
        }
        recover(view, slot, segment, plan)?;
        plan.recovered += segment.2 - segment.1;
        if view.has(slot, segment) {
            plan.repaired += segment.2 - segment.1;
            plan.write(view, slot, segment);
        }
    }
    Ok(())
}

/// Whether all blocks are on members that have them.
pub fn is_direct(view: &View<'_>, first: u64, end: u64) -> bool {
    pieces(view.geometry, first, end).all(|(unit, segment)| {
        let slot = view.geometry.place(segment.0, unit);
        view.reads(slot, segment)
    })
}

/// Reads what a segment of a member can be computed from.
///
/// # Errors
/// The outcome, where that is not there.
pub fn recover(
    view: &View<'_>,
    slot: usize,
    segment: Segment,
    plan: &mut Plan,
) -> Result<(), Outcome> {
    let geometry = view.geometry;
    let row = segment.0;
    if geometry.parities() == 0 {
        let mut copies = geometry.copies_of(slot % geometry.data());
        let from = copies.find(|&copy| copy != slot && view.reads(copy, segment));
        plan.read(view, from.ok_or_else(|| lacking(view, segment))?, segment);
        return Ok(());
    }
    let mut missing = 0;
    let holes = plan.holes.len();
    for unit in 0..geometry.data() {
        let place = geometry.place(row, unit);
        if place != slot && view.reads(place, segment) {
            plan.read(view, place, segment);
        } else {
            plan.computes(view, unit, segment);
            missing += 1;
        }
    }
    debug_assert!(
        missing > 0 || !matches!(geometry.role(row, slot), Role::Data(_)),
        "a member that is recovered is missing"
    );
    let parities = view.parities(row);
    let parities = parities.filter(|&parity| parity != slot && view.reads(parity, segment));
    for parity in parities.take(missing) {
        plan.read(view, parity, segment);
        missing -= 1;
    }
    match missing {
        0 => Ok(()),
        _ => {
            plan.holes.truncate(holes);
            Err(lacking(view, segment))
        }
    }
}

/// Why a segment is not there: members are missing, or blocks of those that are there cannot be read.
pub fn lacking(view: &View<'_>, segment: Segment) -> Outcome {
    match view.is_beyond(segment) {
        true => Outcome::FailedDevice,
        false => Outcome::MediaError,
    }
}
