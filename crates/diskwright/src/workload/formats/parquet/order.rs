//! The rows of a log, which stand in order of completion, in order of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::error::Error;
use crate::workload::record::Record;

/// Rows held back while one that arrived earlier is looked for.
const HELD: usize = 65_536;

/// A row of a log.
#[derive(Clone, Copy)]
pub struct Numbered {
    /// Its place in the order of arrival, from 0.
    pub sequence: u64,
    /// Its place in the file, from 0.
    pub row: u64,
    /// What it says.
    pub record: Record,
}

impl PartialEq for Numbered {
    fn eq(&self, other: &Numbered) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Numbered {}
impl PartialOrd for Numbered {
    fn partial_cmp(&self, other: &Numbered) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Numbered {
    fn cmp(&self, other: &Numbered) -> std::cmp::Ordering {
        (self.sequence, self.row).cmp(&(other.sequence, other.row))
    }
}

/// Sorts a stream in which no row stands more than [`HELD`] rows behind its place; what is later stays late and is counted.
#[derive(Default)]
pub struct Window {
    held: BinaryHeap<Reverse<Numbered>>,
    /// The number after the largest returned: a row that has it need not wait.
    expected: u64,
    late: u64,
}

impl Window {
    /// The next row in order of arrival.
    pub fn next(
        &mut self,
        mut read: impl FnMut() -> Result<Option<Numbered>, Error>,
    ) -> Result<Option<Numbered>, Error> {
        while self.held.len() <= HELD && !self.may_go() {
            match read()? {
                Some(row) => self.held.push(Reverse(row)),
                None => break,
            }
        }
        let Some(Reverse(row)) = self.held.pop() else {
            return Ok(None);
        };
        self.late += u64::from(row.sequence < self.expected);
        self.expected = self.expected.max(row.sequence.saturating_add(1));
        Ok(Some(row))
    }

    fn may_go(&self) -> bool {
        let first = self.held.peek();
        first.is_some_and(|Reverse(row)| row.sequence <= self.expected)
    }

    /// What could not be put in order.
    pub fn warning(&self) -> Option<String> {
        (self.late > 0).then(|| {
            format!(
                "{} requests of the log stand more than {HELD} rows behind later arrivals and are out of order",
                self.late
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::{Lbn, Time};
    use crate::engine::request::Op;

    fn ordered(numbers: impl IntoIterator<Item = u64>) -> (Vec<u64>, u64) {
        let record = Record {
            arrival: Time::ZERO,
            device: 0,
            op: Op::Read,
            fua: false,
            lbn: Lbn(0),
            blocks: 1,
            recorded: None,
        };
        let mut rows = (0..).zip(numbers).map(|(row, sequence)| Numbered {
            sequence,
            row,
            record,
        });
        let mut window = Window::default();
        let mut out = Vec::new();
        while let Some(row) = window.next(|| Ok(rows.next())).unwrap() {
            out.push(row.sequence);
        }
        (out, window.late)
    }

    #[test]
    fn rows_come_in_order_of_arrival() {
        assert_eq!(ordered([2, 0, 1, 5, 3, 4]), ((0..6).collect(), 0));
        // Requests that never completed leave gaps.
        assert_eq!(ordered([7, 3, 5]), (vec![3, 5, 7], 0));
        assert_eq!(ordered([]), (vec![], 0));
    }

    #[test]
    fn a_row_may_be_as_late_as_the_window_is_long() {
        let late_by = |rows: u64| (1..=rows).chain([0]).chain([rows + 1]);
        let held = HELD as u64;
        assert_eq!(ordered(late_by(held)), ((0..held + 2).collect(), 0));
        let expected = late_by(held + 1).collect();
        assert_eq!(ordered(late_by(held + 1)), (expected, 1));
    }

    #[test]
    fn the_last_number_there_is_does_not_overflow() {
        assert_eq!(ordered([u64::MAX, 0]), (vec![0, u64::MAX], 0));
    }
}
