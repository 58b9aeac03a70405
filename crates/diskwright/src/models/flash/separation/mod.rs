//! Separation: which of the host's streams a unit is written with, so that data of one lifetime come to the same blocks.

mod by_size;
mod multi_hash;
mod single_stream;

use crate::base::registry::{policies, schema_of_family};

policies! {
    /// A rule that tells hot data from cold and its parameters, as a spec names it.
    pub enum SeparationSpec of "separation policy" builds Box<dyn Separation> {
        SingleStream = "single-stream" [] in single_stream::SingleStream,
        BySize = "by-size" [] in by_size::BySize,
        MultiHash = "multi-hash" [] in multi_hash::MultiHash,
    }
}

schema_of_family!(
    SeparationSpec,
    "Separation",
    "Which units are written to the same blocks."
);

impl Default for SeparationSpec {
    fn default() -> SeparationSpec {
        SeparationSpec::SingleStream(single_stream::SingleStream {})
    }
}

/// A rule that divides what the host writes into streams. The last stream is for what stays longest.
pub trait Separation: Send {
    /// How many streams there are.
    fn streams(&self) -> u32;

    /// The stream of a unit that is about to be written, by a request of `blocks` 512-byte blocks. Called once for each write of the unit
    /// to flash.
    fn stream(&mut self, unit: u32, blocks: u32) -> u32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn build(name: &str, parameters: serde_json::Value) -> Box<dyn Separation> {
        let spec: SeparationSpec =
            serde_json::from_value(json!({ name: parameters })).expect("a policy");
        spec.build()
    }

    #[test]
    fn large_writes_are_cold() {
        let mut rule = build("by-size", json!({ "cold": "32 KiB" }));
        assert_eq!((rule.stream(0, 63), rule.stream(0, 64)), (0, 1));
    }

    #[test]
    fn what_is_written_again_and_again_is_hot_until_it_is_not() {
        let mut rule = build(
            "multi-hash",
            json!({ "counters": 1024, "hot": 4, "decay": 64 }),
        );
        let streams: Vec<u32> = (0..5).map(|_| rule.stream(7, 8)).collect();
        assert_eq!(streams, [1, 1, 1, 0, 0]);
        // Two halvings later, one more write is not enough.
        let others: Vec<u32> = (100..228).map(|unit| rule.stream(unit, 8)).collect();
        assert!(others.iter().all(|&stream| stream == 1));
        assert_eq!(rule.stream(7, 8), 1);
    }
}
