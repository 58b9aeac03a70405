//! Shortest seek time first.

use serde::{Deserialize, Serialize};

use super::{Order, Scheduler, Slot, View};

/// Rule: the nearest request: by cylinders in a drive, by LBNs in a host. Tie: the one that has waited longer.
/// Source: Denning, "Effects of scheduling on file memory operations", AFIPS 1967.
/// Weakness: blind to rotation; requests far from the crowd starve.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sstf {}

impl Sstf {
    pub(super) const SUMMARY: &str =
        "Shortest seek time first: the nearest cylinder in a drive, the nearest LBN in a host.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for Sstf {
    fn order(&self) -> Order {
        Order::Position
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let places = view.pool.by_place();
        let here = view.space.position();
        let split = places.partition_point(|&(key, _)| key < here);
        let above = places.get(split);
        // The first of the requests that share the nearest key below.
        let below = split.checked_sub(1).map(|last| {
            let nearest = places[last].0;
            &places[places.partition_point(|&(key, _)| key < nearest)]
        });
        let rank = |&&(key, slot): &&(u64, Slot)| (key.abs_diff(here), view.pool.get(slot).ticket);
        let nearest = above.into_iter().chain(below).min_by_key(rank);
        nearest
            .expect("a scheduler is asked only when something waits")
            .1
    }
}
