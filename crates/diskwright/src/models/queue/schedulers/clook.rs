//! Circular LOOK.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elevator::{By, upwards};
use super::{Order, Scheduler, Slot, Starvation, Time, View};

/// Rule: the next request at or above the end of the previous one, else the lowest; with `from = "start"` at or above its start. Tie: the one
/// that has waited longer.
/// Source: Merten, 1970, as C-SCAN without the run to the edge; Worthington, Ganger and Patt, SIGMETRICS 1994; DiskSim's
/// policies 3 (by LBN) and 6 (by cylinder), which go on from the start.
/// Weakness: blind to rotation; a stream just ahead of the arm holds up everything behind it; by LBN, a request that
/// begins within the previous one waits for the next sweep.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CLook {
    /// Whether it goes by LBN or by cylinder.
    pub by: By,
    /// Where the previous request leaves off.
    #[serde(skip_serializing_if = "From::is_end")]
    pub from: From,
    /// The place where the last one began that was picked.
    #[serde(skip)]
    last: u64,
}

/// Where a request leaves off, for the one that is picked after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CLookFrom")]
pub enum From {
    /// Behind its last block; by cylinder, where the arm then is.
    #[default]
    End,
    /// Where it began, as in DiskSim: the same place may be served again and again.
    Start,
}

impl From {
    fn is_end(&self) -> bool {
        *self == From::End
    }
}

impl Default for CLook {
    fn default() -> CLook {
        CLook {
            by: By::Lbn,
            from: From::End,
            last: 0,
        }
    }
}

impl CLook {
    pub(super) const SUMMARY: &str =
        "Circular LOOK: upwards, then back to the lowest waiting request.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

impl Scheduler for CLook {
    fn order(&self) -> Order {
        self.by.order()
    }
    fn needs_phases(&self) -> bool {
        false
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let places = view.pool.by_place();
        let here = match self.from {
            From::End => self.by.here(&view.space),
            From::Start => self.last,
        };
        let ahead = upwards(places, here);
        let next = ahead.or_else(|| places.first().copied());
        let (begin, slot) = next.expect("a scheduler is asked only when something waits");
        self.last = begin;
        slot
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        Starvation::Turns(3)
    }
}
