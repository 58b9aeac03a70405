//! The sub-queues of a driver, and which is served.

use crate::base::units::{Lbn, Time};
use crate::engine::request::{Command, Op, RequestId};
use crate::models::queue::pool::Order;
use crate::models::queue::{Clustering, Pending, Pool, Scheduler, Slot, Space, View};

/// A sub-queue, by its number.
pub(super) type Lane = usize;

/// The number of the sub-queue that all requests enter which are not urgent.
const BASE: Lane = 0;

/// Requests that wait, with who chooses among them.
struct Queue {
    pool: Pool,
    scheduler: Box<dyn Scheduler>,
    /// The block after the last request that was chosen here.
    last: Lbn,
}

/// Which requests are joined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joins {
    /// Reads are.
    pub reads: bool,
    /// Writes are.
    pub writes: bool,
    /// How.
    pub rule: Clustering,
}

/// When requests have waited too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    /// After this time.
    pub after: Time,
    /// They are looked for at whole multiples of this.
    pub every: Time,
}

/// The sub-queues of a driver.
pub(crate) struct Lanes {
    queues: Vec<Queue>,
    urgent: Option<Lane>,
    /// When requests have waited too long, and where they go.
    late: Option<(Late, Lane)>,
    /// All sub-queues in the order in which they are served.
    order: Vec<Lane>,
    joins: Option<Joins>,
}

impl Lanes {
    /// A queue without urgent requests and without an end of patience.
    pub fn new(scheduler: Box<dyn Scheduler>, joins: Option<Joins>) -> Lanes {
        let mut lanes = Lanes {
            queues: Vec::new(),
            urgent: None,
            late: None,
            order: Vec::new(),
            joins,
        };
        lanes.add_queue(scheduler);
        lanes
    }

    /// With a sub-queue for urgent requests.
    #[must_use]
    pub fn with_urgent(mut self, scheduler: Box<dyn Scheduler>) -> Lanes {
        self.urgent = Some(self.add_queue(scheduler));
        self
    }

    /// With an end of patience: requests then go to the urgent ones, where there are such, or to a sub-queue of their own.
    #[must_use]
    pub fn with_late(mut self, late: Late, scheduler: Box<dyn Scheduler>) -> Lanes {
        let lane = match self.urgent {
            Some(lane) => lane,
            None => self.add_queue(scheduler),
        };
        self.late = Some((late, lane));
        self
    }

    /// Adds a sub-queue that is served before all others.
    fn add_queue(&mut self, scheduler: Box<dyn Scheduler>) -> Lane {
        let pool = Pool::new(scheduler.order());
        self.queues.push(Queue {
            pool: match self.joins {
                Some(_) => pool.with_neighbours(),
                None => pool,
            },
            scheduler,
            last: Lbn(0),
        });
        let lane = self.queues.len() - 1;
        self.order.insert(0, lane);
        lane
    }

    /// How many requests wait, joined ones counted once.
    pub fn waiting(&self) -> usize {
        self.queues.iter().map(|queue| queue.pool.len()).sum()
    }

    /// Whether any wait that may come to wait too long.
    pub fn has_base(&self) -> bool {
        !self.queues[BASE].pool.is_empty()
    }

    /// When requests have waited too long.
    pub fn late(&self) -> Option<Late> {
        self.late.map(|(late, _)| late)
    }

    /// Adds a request.
    pub fn add(&mut self, request: RequestId, command: Command, now: Time, is_urgent: bool) {
        let lane = self.urgent.filter(|_| is_urgent).unwrap_or(BASE);
        self.enter(lane, request, command, now);
    }

    fn enter(&mut self, lane: Lane, request: RequestId, command: Command, entered: Time) {
        let pool = &mut self.queues[lane].pool;
        let key = match pool.order() {
            Order::Arrival | Order::Bands => 0,
            Order::Lbn | Order::Position => command.lbn.0,
        };
        let pending = Pending::new(request, command, entered, None, key);
        match &self.joins {
            Some(joins) if joins.takes(command.op) => drop(joins.rule.add(pool, pending)),
            _ => drop(pool.push(pending)),
        }
    }

    /// Takes out the next request.
    pub fn take(&mut self, now: Time) -> Option<(Lane, Pending)> {
        let queues = &self.queues;
        let mut order = self.order.iter().copied();
        let lane = order.find(|&lane| !queues[lane].pool.is_empty())?;
        let queue = &mut self.queues[lane];
        let view = View {
            now,
            pool: &queue.pool,
            space: Space::Blocks(queue.last),
        };
        let slot = queue.scheduler.pick(&view);
        let pending = *queue.pool.remove(slot);
        queue.last = pending.command.end();
        Some((lane, pending))
    }

    /// All requests that one is made of which was taken out.
    pub fn parts(&self, lane: Lane, pending: &Pending) -> impl Iterator<Item = RequestId> {
        let others = self.queues[lane].pool.others(pending.others);
        std::iter::once(pending.request).chain(others)
    }

    /// Whether a request is part of one.
    pub fn has_part(&self, lane: Lane, pending: &Pending, request: RequestId) -> bool {
        self.parts(lane, pending).any(|part| part == request)
    }

    /// Takes one of the others that a request is made of, and forgets it.
    pub fn release(&mut self, lane: Lane, pending: &mut Pending) -> Option<RequestId> {
        self.queues[lane].pool.release(&mut pending.others)
    }

    /// Moves a waiting request, and those that it was joined with, to the urgent ones: whether it was waiting elsewhere.
    pub fn make_urgent(
        &mut self,
        request: RequestId,
        of: impl Fn(RequestId) -> (Command, Time),
    ) -> bool {
        let Some(urgent) = self.urgent else {
            return false;
        };
        let lanes = (0..self.queues.len()).filter(|&lane| lane != urgent);
        let find = |lane: Lane| {
            let pool = &self.queues[lane].pool;
            let mut slots = pool.by_arrival();
            let slot = slots.find(|&slot| self.has_part(lane, pool.get(slot), request));
            slot.map(|slot| (lane, slot))
        };
        let mut found = lanes.filter_map(find);
        let Some((lane, slot)) = found.next() else {
            return false;
        };
        drop(found);
        self.shift(lane, slot, urgent, &of);
        true
    }

    /// Moves what has waited too long; how many.
    pub fn move_late(&mut self, now: Time, of: impl Fn(RequestId) -> (Command, Time)) -> u64 {
        let Some((late, to)) = self.late else {
            return 0;
        };
        let mut moved = 0;
        while let Some(slot) = self.queues[BASE].pool.longest_waiting()
            && now - self.queues[BASE].pool.get(slot).entered >= late.after
        {
            moved += self.queues[BASE].pool.get(slot).parts() as u64;
            self.shift(BASE, slot, to, &of);
        }
        moved
    }

    /// Moves a request to another sub-queue, which it enters as all its parts in their order.
    fn shift(
        &mut self,
        from: Lane,
        slot: Slot,
        to: Lane,
        of: &impl Fn(RequestId) -> (Command, Time),
    ) {
        let mut pending = *self.queues[from].pool.remove(slot);
        let mut part = Some(pending.request);
        while let Some(request) = part {
            let (command, entered) = of(request);
            self.enter(to, request, command, entered);
            part = self.release(from, &mut pending);
        }
    }
}

impl Joins {
    fn takes(&self, op: Op) -> bool {
        match op {
            Op::Read => self.reads,
            Op::Write => self.writes,
            Op::Flush | Op::Trim | Op::NvCache(_) => false,
        }
    }
}
