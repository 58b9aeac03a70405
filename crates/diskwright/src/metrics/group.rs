//! What is measured of some of the requests: those of an operation, or of a stream.

use serde_json::{Value, json};

use super::series::Series;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::request::{Op, Request};

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
    #[inline]
    pub fn add(&mut self, request: &Request) {
        let blocks = u64::from(request.command.blocks);
        self.blocks += blocks;
        if matches!(request.command.op, Op::Read | Op::Write) {
            self.moved += blocks;
        }
        self.response.add(request.response());
        self.service.add(request.service());
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

/// So many a second of a span; 0 where nothing passed.
pub fn rate(count: f64, span: Time) -> f64 {
    match span {
        Time::ZERO => 0.0,
        span => count / span.s(),
    }
}
