//! How writes become requests to members: which blocks are read first, so that the parity of their rows can be made.
//!
//! A row of which units are written is cut into segments, in each of which the same units are written, all of it. The parity of a segment
//! is made in one of three ways: from all other units of the row (reconstruction); from the old data and the old parity (read-modify-write);
//! or, where members are missing on both sides, from all that is left.

use super::geometry::Geometry;
use super::plan::{Plan, Segment, View};
use super::reading::lacking;
use super::spec::WritesSpec;
use crate::engine::request::Outcome;

/// The units of a row that a write has blocks of: the first and the last, the first block in the first one, and the block behind the last
/// in the last one.
#[derive(Clone, Copy)]
struct Touched {
    row: u64,
    first: usize,
    last: usize,
    from: u64,
    to: u64,
}

impl Touched {
    /// Those of a write of the blocks `first..end`, if it has some in the row. They follow each other.
    fn of(geometry: &Geometry, row: u64, first: u64, end: u64) -> Option<Touched> {
        let begin = |unit: usize| geometry.lbn(row, unit);
        let is_written = |&unit: &usize| begin(unit) < end && first < begin(unit) + geometry.unit;
        let mut units = (0..geometry.data()).filter(is_written);
        let first_unit = units.next()?;
        let last_unit = units.next_back().unwrap_or(first_unit);
        Some(Touched {
            row,
            first: first_unit,
            last: last_unit,
            from: first.saturating_sub(begin(first_unit)),
            to: (end - begin(last_unit)).min(geometry.unit),
        })
    }

    /// How many units a rule that counts them sees: two pieces that have no block of their units in common are each a row of their own.
    fn count(&self) -> usize {
        let is_apart = self.last == self.first + 1 && self.to < self.from;
        if is_apart {
            1
        } else {
            self.last - self.first + 1
        }
    }

    /// The segments, each with the first unit and the last that are written in it.
    fn segments(&self, unit: u64) -> impl Iterator<Item = (usize, usize, Segment)> + use<> {
        let touched = *self;
        let mut cuts = [0, touched.from, touched.to, unit];
        cuts.sort_unstable();
        let is_one = touched.first == touched.last;
        (0..3).filter_map(move |index| {
            let (from, to) = (cuts[index], cuts[index + 1]);
            let is_in_first = from >= touched.from;
            let is_in_last = to <= touched.to;
            let is_written = from < to && (!is_one || is_in_first && is_in_last);
            let first = touched.first + usize::from(!is_in_first && !is_one);
            let last = (touched.last + usize::from(is_in_last || is_one)).checked_sub(1)?;
            (is_written && first <= last).then_some((first, last, (touched.row, from, to)))
        })
    }
}

/// What members do for a write of the blocks `first..end` of an array with parity. After a member has failed in the middle of it (`is_torn`)
/// some of it may be on the members already: old data and old parity do not fit together any more. Rows whose redundancy does not suffice
/// then stay as they are, and all others are written.
///
/// # Errors
/// The outcome, where the redundancy does not suffice, and nothing has been written.
pub fn plan_write(
    view: &View<'_>,
    rule: WritesSpec,
    (first, end): (u64, u64),
    is_torn: bool,
    plan: &mut Plan,
) -> Result<(), Outcome> {
    let geometry = view.geometry;
    let rows = geometry.rows_of(first, end).into_iter().flatten();
    for touched in rows.filter_map(|row| Touched::of(geometry, row, first, end)) {
        for (from, to, segment) in touched.segments(geometry.unit) {
            let way = Way {
                view,
                written: (from, to),
                segment,
            };
            let prefers_modifying = prefers_modifying(view, rule, &touched, (from, to));
            match way.plan(prefers_modifying, is_torn, plan) {
                Ok(()) => {}
                // The other rows have to fit together again all the same.
                Err(_) if is_torn => plan.undone.push(touched.row),
                Err(outcome) => return Err(outcome),
            }
        }
    }
    Ok(())
}

/// Whether a segment is better modified than reconstructed, where both can be done.
fn prefers_modifying(
    view: &View<'_>,
    rule: WritesSpec,
    touched: &Touched,
    (first, last): (usize, usize),
) -> bool {
    let data = view.geometry.data();
    match rule {
        WritesSpec::FewestReads => {
            let written = last - first + 1;
            written + view.geometry.parities() < data - written
        }
        WritesSpec::Threshold(threshold) => {
            touched.count() < data && touched.count() < threshold as usize
        }
    }
}

/// One segment with the units of it that are written.
struct Way<'a> {
    view: &'a View<'a>,
    written: (usize, usize),
    segment: Segment,
}

impl Way<'_> {
    /// The places of the units that are written, or of the others.
    fn places(&self, written: bool) -> impl Iterator<Item = usize> {
        let (first, last) = self.written;
        let units = 0..self.view.geometry.data();
        let units = units.filter(move |unit| (first..=last).contains(unit) == written);
        units.map(|unit| self.view.geometry.place(self.segment.0, unit))
    }

    fn plan(&self, prefers_modifying: bool, is_torn: bool, plan: &mut Plan) -> Result<(), Outcome> {
        let (view, segment) = (self.view, self.segment);
        if view.is_beyond(segment) {
            return Err(Outcome::FailedDevice);
        }
        let reads = |slot: usize| view.reads(slot, segment);
        let keeps = |slot: &usize| view.writes(*slot, segment);
        let parities = || view.parities(segment.0).filter(keeps);
        if parities().next().is_some() {
            let reconstructs = self.places(false).all(reads);
            let is_suspect = view.is_suspect(segment);
            let modifies = !is_torn && self.places(true).all(reads) && parities().all(reads);
            if reconstructs && (!modifies || !prefers_modifying || is_suspect) {
                let before = plan.reads.len();
                self.places(false)
                    .for_each(|slot| plan.read(view, slot, segment));
                match plan.reads.len() - before {
                    0 => plan.full += 1,
                    _ => plan.reconstructed += 1,
                }
            } else if modifies {
                self.places(true)
                    .chain(parities())
                    .for_each(|slot| plan.read(view, slot, segment));
                plan.modified += 1;
            } else {
                self.recover(is_torn, plan)?;
            }
        }
        for slot in self.places(true).filter(keeps) {
            plan.write(view, slot, segment);
        }
        for slot in parities() {
            plan.write_parity(view, slot, segment);
        }
        Ok(())
    }

    /// Reads all that is left, and computes the others from it.
    fn recover(&self, is_torn: bool, plan: &mut Plan) -> Result<(), Outcome> {
        let (view, segment) = (self.view, self.segment);
        let reads = |slot: &usize| view.reads(*slot, segment);
        let unread = self.places(false).filter(|slot| !reads(slot));
        let geometry = view.geometry;
        for unit in 0..geometry.data() {
            let is_written = (self.written.0..=self.written.1).contains(&unit);
            if !is_written && !reads(&geometry.place(segment.0, unit)) {
                plan.computes(view, unit, segment);
            }
        }
        if is_torn {
            // What the old parity had of them is gone with the data that were overwritten.
            self.places(false)
                .filter(reads)
                .for_each(|slot| plan.read(view, slot, segment));
            for slot in unread {
                lose(view, slot, segment, plan);
            }
            return Ok(());
        }
        let places = || self.places(true).chain(self.places(false));
        let missing = places().filter(|slot| !reads(slot)).count();
        let parities = || view.parities(segment.0).filter(reads);
        if missing > parities().count() {
            return Err(lacking(view, segment));
        }
        places()
            .filter(reads)
            .chain(parities())
            .for_each(|slot| plan.read(view, slot, segment));
        plan.reconstructed += 1;
        Ok(())
    }
}

/// Gives a segment of data up: it becomes zeros, so that its row fits together again.
pub fn lose(view: &View<'_>, slot: usize, segment: Segment, plan: &mut Plan) {
    let (row, from, to) = segment;
    if let super::geometry::Role::Data(unit) = view.geometry.role(row, slot) {
        plan.lost.push((row, unit, from, to));
        if view.writes(slot, segment) {
            plan.write(view, slot, segment);
        }
    }
}
