//! Every request of a run, kept in memory as columns.

use arrow_array::RecordBatch;

use super::log::{ROWS_PER_BATCH, batch};
use crate::request::Request;

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
