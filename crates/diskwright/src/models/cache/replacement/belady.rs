//! The offline optimum.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, Pins, Ranking, Replacement, Setting};

/// Rule: the block whose next access is furthest away leaves. Tie, which only blocks without a next access can be in: the least recently
/// accessed. Source: Belady, IBM Systems Journal 5(2), 1966; Mattson et al., IBM Systems Journal 9(2), 1970, who prove it the optimum of
/// those that keep every block accessed. Weakness: it must know the future; where nobody tells it ([`Access::next`]), it is lru.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Belady {}

impl Belady {
    pub(super) const SUMMARY: &str = "The optimum, which knows the future of a trace: the block whose next access is furthest away leaves.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(BeladyState(Ranking::new()))
    }
}

/// The blocks, worth the more the sooner they are accessed again.
struct BeladyState(Ranking);

impl Replacement for BeladyState {
    fn hit(&mut self, frame: Frame, access: &Access) {
        self.0.touch(frame, u64::MAX - access.next);
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        self.0.take_least(pins).map(|(frame, _)| frame)
    }
    fn insert(&mut self, frame: Frame, access: &Access) {
        self.0.touch(frame, u64::MAX - access.next);
    }
    fn release(&mut self, frame: Frame) {
        self.0.release(frame);
    }
    fn remove(&mut self, frame: Frame) {
        self.0.remove(frame);
    }
}
