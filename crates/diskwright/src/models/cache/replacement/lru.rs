//! Least recently used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, Links, List, Pins, Replacement, Setting};

/// Rule: the block that was accessed least recently leaves. Tie: none can be. Source: Mattson et al., "Evaluation techniques for
/// storage hierarchies", IBM Systems Journal 9(2), 1970. Weakness: one pass over many blocks drives everything out.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lru {}

impl Lru {
    pub(super) const SUMMARY: &str =
        "Least recently used: the block whose last access is longest ago leaves.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(LruState {
            links: Links::new(),
            list: List::default(),
        })
    }
}

/// The blocks, the one to leave at the back.
struct LruState {
    links: Links,
    list: List,
}

impl Replacement for LruState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        self.links.move_to_front(&mut self.list, frame);
    }
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
