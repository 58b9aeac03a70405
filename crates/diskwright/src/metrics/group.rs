//! What is measured of some of the requests: those of an operation, or of a stream.

use serde_json::{Value, json};

use super::series::Series;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::request::{Command, Op, Request};

/// Counts and distributions of some of the requests.
#[derive(Default)]
pub struct Group {
    /// Blocks that they asked for.
    blocks: u64,
    /// Those of reads and writes.
    moved: u64,
    /// Response times.
    pub response: Series,
    /// Service times.
    pub service: Series,
}

impl Group {
    /// Adds a request that is complete.
    pub fn add(&mut self, request: &Request) {
        let Command { op, blocks, .. } = request.command;
        let response = [request.response().ns()];
        self.add_all(op, blocks.into(), &response, &[request.service().ns()]);
    }

    /// Adds requests of an operation, by the blocks that they asked for together, and their response and service times, ns, in the order of
    /// their completions.
    pub fn add_all(&mut self, op: Op, blocks: u64, response: &[u64], service: &[u64]) {
        self.blocks += blocks;
        if matches!(op, Op::Read | Op::Write) {
            self.moved += blocks;
        }
        self.response.add_all(response);
        self.service.add_all(service);
    }

    /// How many they are.
    pub fn count(&self) -> u64 {
        self.response.count()
    }

    /// 10^6 bytes of reads and writes a second of a span.
    pub fn mb_per_s(&self, span: Time) -> f64 {
        rate(self.moved as f64 * BLOCK_BYTES as f64 / 1e6, span)
    }

    /// The object of results, with rates over `span`.
    pub fn json(&self, span: Time) -> Value {
        json!({
            "count": self.count(),
            "blocks": self.blocks,
            "iops": rate(self.count() as f64, span),
            "mb_per_s": self.mb_per_s(span),
            "response_ms": self.response.json(),
            "service_ms": self.service.json(),
        })
    }
}

/// The rate of `count` events in a span, per second; 0 for an empty span.
pub fn rate(count: f64, span: Time) -> f64 {
    match span {
        Time::ZERO => 0.0,
        span => count / span.s(),
    }
}
