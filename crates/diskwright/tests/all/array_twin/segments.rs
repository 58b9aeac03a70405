//! Rows are cut into segments in which the same units are written.

use super::runs::Run;
use super::specs::{Asked, Case};

/// Places of a row at which the same units are written.
#[derive(Clone, Debug)]
pub struct Segment {
    pub row: u64,
    /// Places in the units.
    pub from: u64,
    pub to: u64,
    /// The units that are written.
    pub written: Vec<usize>,
}

impl Segment {
    /// A member's part of it.
    pub fn of(&self, member: usize, unit: u64) -> Run {
        Run {
            member,
            at: self.row * unit + self.from,
            blocks: self.to - self.from,
        }
    }
}

/// The segments of all rows that a request writes.
pub fn of(case: &Case, asked: &Asked) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for row in case.rows_of(asked) {
        for offset in 0..case.unit() {
            let is_written = |unit: &usize| {
                let lbn = case.first_block(row, *unit) + offset;
                (asked.lbn..asked.lbn + asked.blocks).contains(&lbn)
            };
            let written: Vec<usize> = (0..case.data_units()).filter(is_written).collect();
            if written.is_empty() {
                continue;
            }
            match segments.last_mut() {
                Some(last) if last.row == row && last.to == offset && last.written == written => {
                    last.to += 1;
                }
                _ => segments.push(Segment {
                    row,
                    from: offset,
                    to: offset + 1,
                    written,
                }),
            }
        }
    }
    segments
}

/// How many units of a row are written; two count as one if the second piece ends before the place at which the first begins.
pub fn touched(segments: &[Segment], row: u64) -> usize {
    let of_row: Vec<&Segment> = segments
        .iter()
        .filter(|segment| segment.row == row)
        .collect();
    let mut units: Vec<usize> = Vec::new();
    for segment in &of_row {
        units.extend(&segment.written);
    }
    units.sort_unstable();
    units.dedup();
    // A segment of the one, a gap, and a segment of the other.
    let are_apart = of_row.len() == 2 && of_row[0].to < of_row[1].from;
    if units.len() == 2 && are_apart {
        1
    } else {
        units.len()
    }
}
