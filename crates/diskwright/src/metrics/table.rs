//! Every request of a run, kept in memory as columns.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt64Type};

use super::log::{ROWS_PER_BATCH, batch};
use crate::engine::request::{Outcome, Request};

/// A table that grows by a row with every completed request, with the columns of a
/// [`RequestLog`](super::RequestLog): some 130 bytes of memory for each.
#[derive(Clone, Debug, Default)]
pub struct RequestTable {
    full: Vec<RecordBatch>,
    waiting: Vec<Request>,
}

impl RequestTable {
    /// Adds a row. The request must be complete.
    #[inline]
    pub fn add(&mut self, request: &Request) {
        self.waiting.push(request.clone());
        if self.waiting.len() == ROWS_PER_BATCH {
            self.full.push(batch(&self.waiting));
            self.waiting.clear();
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.full.len() * ROWS_PER_BATCH + self.waiting.len()
    }

    /// All rows in the order of completion; at least one batch, which knows the columns.
    pub fn batches(&self) -> Vec<RecordBatch> {
        let mut batches = self.full.clone();
        if !self.waiting.is_empty() || batches.is_empty() {
            batches.push(batch(&self.waiting));
        }
        batches
    }
}

/// The response times in ns, sorted, of the `measured` last requests by arrival that ended well: a warm-up is always the
/// beginning of a run.
pub fn responses(batches: &[RecordBatch], measured: u64) -> Vec<u64> {
    let mut rows: Vec<(u64, u64)> = batches.iter().flat_map(in_order).collect();
    rows.sort_unstable();
    let warm_up = (rows.len() as u64).saturating_sub(measured) as usize;
    let mut times: Vec<u64> = rows[warm_up..].iter().map(|&(_, time)| time).collect();
    times.sort_unstable();
    times
}

/// Sequence and response time of the requests that ended well.
fn in_order(batch: &RecordBatch) -> Vec<(u64, u64)> {
    let column = |name| {
        let found = batch.column_by_name(name).expect("a column of the log");
        found.as_primitive::<UInt64Type>().values()
    };
    let outcomes = batch
        .column_by_name("outcome")
        .expect("a column of the log");
    let outcomes = outcomes.as_dictionary::<Int8Type>().keys().values();
    let (arrivals, completions) = (column("arrival_ns"), column("completion_ns"));
    let rows = column("sequence").iter().enumerate();
    rows.filter(|&(row, _)| outcomes[row] == Outcome::Ok as i8)
        .map(|(row, &sequence)| (sequence, completions[row] - arrivals[row]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::{Lbn, Time};
    use crate::engine::request::{Command, DeviceId, Op};

    fn request(sequence: u64, response: u64, outcome: Outcome) -> Request {
        let command = Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(sequence),
            blocks: 1,
        };
        let mut request = Request::new(command, Time::from_ns(sequence), None, DeviceId(0));
        request.arrival = Time::from_ns(sequence);
        request.completion = Time::from_ns(sequence + response);
        request.sequence = sequence;
        request.outcome = Some(outcome);
        request
    }

    #[test]
    fn an_empty_table_knows_its_columns() {
        let table = RequestTable::default();
        let batches = table.batches();
        assert_eq!(
            (table.rows(), batches.len(), batches[0].num_rows()),
            (0, 1, 0)
        );
        assert!(responses(&batches, 0).is_empty());
    }

    #[test]
    fn rows_stay_in_their_order_past_the_end_of_a_batch() {
        for rows in [1, ROWS_PER_BATCH, ROWS_PER_BATCH + 1] {
            let mut table = RequestTable::default();
            // They complete in the opposite order of arrival.
            for sequence in (0..rows as u64).rev() {
                table.add(&request(sequence, 10 + sequence, Outcome::Ok));
            }
            let batches = table.batches();
            assert_eq!(table.rows(), rows);
            assert_eq!(
                batches.iter().map(RecordBatch::num_rows).sum::<usize>(),
                rows
            );
            let last: Vec<u64> = (0..rows as u64).skip(rows / 2).map(|s| 10 + s).collect();
            assert_eq!(responses(&batches, last.len() as u64), last);
        }
    }

    #[test]
    fn what_failed_is_no_response() {
        let mut table = RequestTable::default();
        for (sequence, outcome) in [
            (0, Outcome::Ok),
            (1, Outcome::FailedDevice),
            (2, Outcome::Ok),
        ] {
            table.add(&request(sequence, 5 - sequence, outcome));
        }
        assert_eq!(responses(&table.batches(), 2), [3, 5]);
        assert_eq!(responses(&table.batches(), 1), [3]);
    }
}
