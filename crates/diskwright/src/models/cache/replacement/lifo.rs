//! Last in, first out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, Links, List, Pins, Replacement, Setting};

/// Rule: the block that came last leaves. Tie: none can be. Source: textbooks; good for a loop over a little more than the cache holds.
/// Weakness: what came first stays for ever, whether anyone wants it or not.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lifo {}

impl Lifo {
    pub(super) const SUMMARY: &str = "Last in, first out: the block that came last leaves.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(LifoState {
            links: Links::new(),
            list: List::default(),
        })
    }
}

/// The blocks, the last one at the back.
struct LifoState {
    links: Links,
    list: List,
}

impl Replacement for LifoState {
    fn hit(&mut self, _frame: Frame, _access: &Access) {}
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let frame = self.links.last_free(&mut self.list, pins)?;
        self.remove(frame);
        Some(frame)
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.links.push_back(&mut self.list, frame);
    }
    fn release(&mut self, frame: Frame) {
        self.links.release(&self.list, frame);
    }
    fn remove(&mut self, frame: Frame) {
        self.links.remove(&mut self.list, frame);
    }
}
