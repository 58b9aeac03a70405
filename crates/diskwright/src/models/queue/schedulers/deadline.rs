//! Linux' deadline scheduler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Order, Pending, Scheduler, Slot, Starvation, Time, View};
use crate::engine::request::Op;

/// Rule: batches of reads or of writes, each upwards by LBN from where the last request of its kind began. A batch ends
/// after `fifo_batch` requests, or with none of its kind above. The next one is of reads if any wait, unless writes
/// have waited through `writes_starved` of those. It goes on upwards, but begins with the oldest of its kind if that
/// has expired or none is above. The first batch of all is of writes if any wait. Tie: the one that has waited longer.
/// Source: Linux, block/mq-deadline.c (6.x), one priority class. There, times are in jiffies, adjacent requests merge,
/// a flush goes past the scheduler and asynchronous requests may use only a part of the tags; here times are exact,
/// nothing merges, and a flush is a write at its LBN.
/// Weakness: deadlines are when a request may go first, not when it is done; blind to rotation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Deadline {
    /// The wait after which a read expires.
    pub read_expire: Time,
    /// The wait after which a write, flush or trim expires.
    pub write_expire: Time,
    /// The most requests of a batch; 0 is as 1.
    pub fifo_batch: u32,
    /// How many batches of reads are begun while writes wait; with 0, writes always go first.
    pub writes_starved: u32,
    #[serde(skip)]
    state: State,
}

#[derive(Clone, Debug)]
struct State {
    /// The present batch's kind, and how many of it were picked.
    kind: Kind,
    picked: u32,
    /// Batches of reads begun since the last one of writes while writes waited.
    starved: u32,
    /// The first LBN of the last request of each kind.
    latest: [u64; 2],
    promotions: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
}

impl Kind {
    fn of(pending: &Pending) -> Kind {
        match pending.command.op {
            Op::Read => Kind::Read,
            Op::Write | Op::Flush | Op::Trim | Op::NvCache(_) => Kind::Write,
        }
    }
}

impl Default for State {
    fn default() -> State {
        State {
            kind: Kind::Write,
            picked: 0,
            starved: 0,
            latest: [0; 2],
            promotions: 0,
        }
    }
}

impl Default for Deadline {
    fn default() -> Deadline {
        Deadline {
            read_expire: Time::from_ms(500),
            write_expire: Time::from_s(5),
            fifo_batch: 16,
            writes_starved: 2,
            state: State::default(),
        }
    }
}

impl Deadline {
    pub(super) const SUMMARY: &str = "Linux' mq-deadline: batches upwards by LBN, reads before writes, begun with the oldest when that has expired.";
    pub(super) fn build(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }

    /// The oldest of a kind.
    fn oldest(view: &View<'_>, kind: Kind) -> Option<Slot> {
        let mut by_arrival = view.pool.by_arrival();
        by_arrival.find(|&slot| Kind::of(view.pool.get(slot)) == kind)
    }

    /// The next of a kind, upwards from where the last one began.
    fn next(&self, view: &View<'_>, kind: Kind) -> Option<Slot> {
        let places = view.pool.by_place();
        let from = self.state.latest[kind as usize];
        let ahead = places.partition_point(|&(key, _)| key < from);
        let mut above = places[ahead..].iter().map(|&(_, slot)| slot);
        above.find(|&slot| Kind::of(view.pool.get(slot)) == kind)
    }

    /// The kind of the next batch, and its oldest request.
    fn next_kind(&mut self, view: &View<'_>) -> (Kind, Slot) {
        let reads = Deadline::oldest(view, Kind::Read);
        let writes = Deadline::oldest(view, Kind::Write);
        match (reads, writes) {
            (Some(read), None) => (Kind::Read, read),
            (Some(read), Some(_)) if self.state.starved < self.writes_starved => {
                self.state.starved += 1;
                (Kind::Read, read)
            }
            (_, write) => {
                self.state.starved = 0;
                let write = write.expect("a scheduler is asked only when something waits");
                (Kind::Write, write)
            }
        }
    }

    fn expire(&self, kind: Kind) -> Time {
        match kind {
            Kind::Read => self.read_expire,
            Kind::Write => self.write_expire,
        }
    }
}

impl Scheduler for Deadline {
    fn order(&self) -> Order {
        Order::Lbn
    }
    fn needs_phases(&self) -> bool {
        false
    }
    fn pick(&mut self, view: &View<'_>) -> Slot {
        let next = self.next(view, self.state.kind);
        let slot = match next {
            Some(next) if self.state.picked < self.fifo_batch => next,
            _ => {
                let (kind, oldest) = self.next_kind(view);
                let next = self.next(view, kind);
                let waited = view.now.saturating_sub(view.pool.get(oldest).entered);
                let is_expired = waited >= self.expire(kind);
                self.state.promotions +=
                    u64::from(is_expired && next.is_some_and(|next| next != oldest));
                (self.state.kind, self.state.picked) = (kind, 0);
                next.filter(|_| !is_expired).unwrap_or(oldest)
            }
        };
        self.state.picked += 1;
        self.state.latest[self.state.kind as usize] = view.pool.get(slot).key;
        slot
    }
    fn promotions(&self) -> u64 {
        self.state.promotions
    }
    fn starvation(&self, _slowest: Time) -> Starvation {
        if self.writes_starved == 0 {
            return Starvation::Unbounded;
        }
        let batch = u64::from(self.fifo_batch.max(1));
        Starvation::Age {
            after: self.read_expire.max(self.write_expire),
            under_way: batch - 1,
            each: batch * (u64::from(self.writes_starved) + 1),
        }
    }
}
