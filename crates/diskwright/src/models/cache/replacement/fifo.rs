//! First in, first out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, Links, List, Pins, Replacement, Setting};

/// Rule: the block that came first leaves, however often it was accessed. Tie: none can be. Source: Belady, "A study of replacement
/// algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966. Weakness: popular blocks leave like others.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl Fifo {
    pub(super) const SUMMARY: &str =
        "First in, first out: the block that has been in the cache longest leaves.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(FifoState {
            links: Links::new(),
            list: List::default(),
        })
    }
}

/// The blocks, the one to leave at the back.
struct FifoState {
    links: Links,
    list: List,
}

impl Replacement for FifoState {
    fn hit(&mut self, _frame: Frame, _access: &Access) {}
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let frame = self.links.last_free(&mut self.list, pins)?;
        self.remove(frame);
        Some(frame)
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.links.push_front(&mut self.list, frame);
    }
    fn release(&mut self, frame: Frame) {
        self.links.release(&self.list, frame);
    }
    fn remove(&mut self, frame: Frame) {
        self.links.remove(&mut self.list, frame);
    }
}
