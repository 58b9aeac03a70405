//! Shortest seek time first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elevator::{By, Direction, Sides};
use super::{Order, Scheduler, Slot, View};

/// Rule: the nearest request. Tie: the one that has waited longer; with `ties = "alternate"` upwards and downwards in turn.
/// Source: Denning, "Effects of scheduling on file memory operations", AFIPS 1967; DiskSim's policies 4 (by LBN) and 7
/// (by cylinder). Weakness: blind to rotation; requests far from the crowd starve.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sstf {
    /// Whether it goes by LBN or by cylinder.
    pub by: By,
    /// Which of two is next that are as near, one on either side.
    #[serde(skip_serializing_if = "Ties::is_oldest")]
    pub ties: Ties,
    #[serde(skip)]
    next_tie: Direction,
}

/// Which of two requests is next that are as near.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "SstfTies")]
pub enum Ties {
    /// The one that has waited longer.
    #[default]
    Oldest,
    /// The upper one and the lower one in turn, the upper one first, as in DiskSim.
    Alternate,
}

impl Ties {
    fn is_oldest(&self) -> bool {
        *self == Ties::Oldest
    }
}

impl Default for Sstf {
    fn default() -> Sstf {
        Sstf {
            by: By::Cylinder,
            ties: Ties::Oldest,
            next_tie: Direction::Up,
        }
    }
}

impl Sstf {
    pub(super) const SUMMARY: &str = "Shortest seek time first: the nearest waiting request.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for Sstf {
    fn order(&self) -> Order {
        self.by.order()
    }
    fn needs_phases(&self) -> bool {
        false
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let here = self.by.here(&view.space);
        let Sides { up, down } = Sides::of(view.pool.by_place(), self.by, &view.space);
        if self.ties == Ties::Alternate
            && let (Some((above, upper)), Some((below, lower))) = (up, down)
            && upper != lower
            && above.abs_diff(here) == below.abs_diff(here)
        {
            let chosen = match self.next_tie {
                Direction::Up => upper,
                Direction::Down => lower,
            };
            self.next_tie = self.next_tie.reversed();
            return chosen;
        }
        let rank = |&(key, slot): &(u64, Slot)| (key.abs_diff(here), view.pool.get(slot).ticket);
        let nearest = up.into_iter().chain(down).min_by_key(rank);
        nearest
            .expect("a scheduler is asked only when something waits")
            .1
    }
}
