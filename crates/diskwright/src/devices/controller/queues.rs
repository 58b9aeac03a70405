//! The queue that a controller keeps for each of its devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Child;
use crate::base::units::{Lbn, Time};
use crate::engine::request::{Command, Op, RequestId};
use crate::models::queue::clustering::{MergedPlace, Slots};
use crate::models::queue::{Clustering, Pending, Pool, Scheduler, Space, View};

/// Which operations that wait and continue one another become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ControllerJoin")]
pub struct JoinSpec {
    /// Reads are joined.
    #[serde(default = "yes")]
    pub reads: bool,
    /// Writes are joined.
    #[serde(default = "yes")]
    pub writes: bool,
    /// The most blocks of a joined operation.
    pub most: crate::base::units::Size,
}

fn yes() -> bool {
    true
}

/// A device of a controller, and what waits for it.
pub(super) struct ChildQueue {
    pub child: Child,
    /// The controller's block that is its first one.
    pub base: u64,
    pool: Pool,
    scheduler: Box<dyn Scheduler>,
    join: Option<JoinSpec>,
    /// Operations under way in it, joined ones counted once, and the most of them.
    under_way: u32,
    most: u32,
    /// What the scheduler takes for the present place.
    last: Lbn,
    pub has_failed: bool,
}

impl ChildQueue {
    /// An empty queue of a device whose first block is the controller's block `base`; at most `most` operations are under way in the device.
    pub fn new(
        child: Child,
        base: u64,
        scheduler: Box<dyn Scheduler>,
        most: u32,
        join: Option<JoinSpec>,
    ) -> ChildQueue {
        let pool = Pool::new(scheduler.order());
        ChildQueue {
            child,
            base,
            pool: match join {
                Some(_) => pool.with_neighbours(),
                None => pool,
            },
            scheduler,
            join,
            under_way: 0,
            most,
            last: Lbn(0),
            has_failed: false,
        }
    }

    /// The block of the controller behind its last one.
    pub fn end(&self) -> u64 {
        self.base + self.child.blocks
    }

    /// An operation waits.
    pub fn push(&mut self, number: u32, command: Command, now: Time) {
        let joins = self.join.filter(|join| match command.op {
            Op::Read => join.reads,
            Op::Write => join.writes,
            _ => false,
        });
        let pending = Pending::new(RequestId(number), command, now, None, command.lbn.0);
        match joins {
            Some(join) => {
                let clustering = Clustering {
                    threshold: join.most.blocks(),
                    slots: Slots::Merged,
                    place: MergedPlace::Oldest,
                };
                clustering.add(&mut self.pool, pending);
            }
            None => _ = self.pool.push(pending),
        }
    }

    /// The operation that goes to the device now, if one may: its parts are added to `parts`.
    pub fn next(&mut self, now: Time, parts: &mut Vec<u32>) -> Option<Command> {
        if self.pool.is_empty() || self.under_way == self.most {
            return None;
        }
        let view = View {
            now,
            pool: &self.pool,
            space: Space::Blocks(self.last),
        };
        let slot = self.scheduler.pick(&view);
        let mut group = *self.pool.remove(slot);
        parts.push(group.request.0);
        while let Some(part) = self.pool.release(&mut group.others) {
            parts.push(part.0);
        }
        if matches!(group.command.op, Op::Read | Op::Write) {
            self.last = group.command.end();
        }
        self.under_way += 1;
        Some(group.command)
    }

    /// An operation has come back.
    pub fn ended(&mut self) {
        self.under_way -= 1;
    }

    /// How many operations wait although the device could have one.
    pub fn neglected(&self) -> usize {
        match self.under_way < self.most {
            true => self.pool.requests(),
            false => 0,
        }
    }

    /// Whether nothing waits and nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.pool.is_empty() && self.under_way == 0
    }
}
