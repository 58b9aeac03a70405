//! The clock, or second chance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, Links, List, PerFrame, Pins, Replacement, Setting, second_chance};

/// Rule: as fifo, but a block that was accessed since the hand last passed it, or since it came, is passed once more. Tie: none can be.
/// Source: Corbato, "A paging experiment with the Multics system", 1968. Weakness: as lru's; it tells one access from none, no more.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clock {}

impl Clock {
    pub(super) const SUMMARY: &str =
        "Second chance: as fifo, but a block accessed since the hand last came by is passed once.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(ClockState {
            links: Links::new(),
            list: List::default(),
            accessed: PerFrame::new(false),
        })
    }
}

/// The blocks, the hand at the back; what it passes goes to the front.
struct ClockState {
    links: Links,
    list: List,
    accessed: PerFrame<bool>,
}

impl Replacement for ClockState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        self.accessed[frame.index()] = true;
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let ClockState {
            links,
            list,
            accessed,
        } = self;
        let passes = |frame: Frame| std::mem::take(&mut accessed[frame.index()]);
        let frame = second_chance(links, list, pins, passes)?;
        self.remove(frame);
        Some(frame)
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.accessed[frame.index()] = false;
        self.links.push_front(&mut self.list, frame);
    }
    fn release(&mut self, frame: Frame) {
        self.links.release(&self.list, frame);
    }
    fn remove(&mut self, frame: Frame) {
        self.links.remove(&mut self.list, frame);
    }
}
