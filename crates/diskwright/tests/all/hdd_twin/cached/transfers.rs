//! What the cache has to do on the medium: what has blocks in common keeps its order.

use diskwright::engine::request::Op;

#[derive(Clone)]
pub struct Transfer {
    pub id: u64,
    /// Its turn; parts of one transfer have the same.
    pub turn: u64,
    pub op: Op,
    pub from: u64,
    pub to: u64,
    pub purpose: Purpose,
    stage: Stage,
}

#[derive(Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A request of the host, which needs the frames of these keys.
    Request {
        request: usize,
        keys: Vec<u64>,
    },
    Eviction,
    Flush,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// For others.
    Waits,
    Ready,
    Sent,
}

#[derive(Default)]
pub struct Transfers {
    /// Those that have not ended.
    all: Vec<Transfer>,
    /// Those that wait for no others and have not been sent, in this order.
    ready: Vec<u64>,
    pub turns: u64,
    ids: u64,
}

impl Transfer {
    fn meets(&self, from: u64, to: u64) -> bool {
        self.from < to && from < self.to
    }

    fn is_of_request(&self) -> bool {
        matches!(self.purpose, Purpose::Request { .. })
    }
}

impl Transfers {
    /// Adds one; whether it has to wait for others.
    pub fn add(&mut self, op: Op, (from, to): (u64, u64), purpose: Purpose) -> bool {
        let turn = self.turns;
        self.turns += 1;
        let id = self.enter(turn, op, (from, to), purpose);
        self.let_go_on();
        self.get(id).stage == Stage::Waits
    }

    fn enter(&mut self, turn: u64, op: Op, (from, to): (u64, u64), purpose: Purpose) -> u64 {
        let id = self.ids;
        self.ids += 1;
        self.all.push(Transfer {
            id,
            turn,
            op,
            from,
            to,
            purpose,
            stage: Stage::Waits,
        });
        id
    }

    pub fn get(&mut self, id: u64) -> &mut Transfer {
        let mut all = self.all.iter_mut();
        all.find(|transfer| transfer.id == id)
            .expect("it has not ended")
    }

    /// Those that wait for nothing any more are ready, in the order of their turns.
    fn let_go_on(&mut self) {
        let waits = |one: &&Transfer| {
            let mut others = self.all.iter();
            one.stage == Stage::Waits
                && !others.any(|other| other.turn < one.turn && other.meets(one.from, one.to))
        };
        let free = self.all.iter().filter(waits);
        let mut free: Vec<_> = free.map(|one| (one.turn, one.from, one.id)).collect();
        free.sort_unstable();
        for (_, _, id) in free {
            self.get(id).stage = Stage::Ready;
            self.ready.push(id);
        }
    }

    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub fn first_ready(&mut self) -> Option<Transfer> {
        let first = *self.ready.first()?;
        Some(self.get(first).clone())
    }

    /// One that is ready is sent.
    pub fn take(&mut self, id: u64) {
        self.ready.retain(|ready| *ready != id);
        self.get(id).stage = Stage::Sent;
    }

    pub fn finish(&mut self, id: u64) {
        self.ready.retain(|ready| *ready != id);
        self.all.retain(|transfer| transfer.id != id);
        self.let_go_on();
    }

    /// Requests whose transfers have not been sent.
    pub fn held(&self) -> u64 {
        let of_requests = self.all.iter().filter(|transfer| transfer.is_of_request());
        of_requests
            .filter(|transfer| transfer.stage != Stage::Sent)
            .count() as u64
    }

    /// Transfers of what was evicted.
    pub fn leaving(&self) -> u64 {
        let leaving = self.all.iter();
        leaving
            .filter(|transfer| transfer.purpose == Purpose::Eviction)
            .count() as u64
    }

    pub fn any_meets(&self, from: u64, to: u64) -> bool {
        self.all.iter().any(|transfer| transfer.meets(from, to))
    }

    /// The writes that have some of these blocks, in the order of their turns, and which of them are of requests.
    pub fn writes(&self, from: u64, to: u64) -> Vec<(u64, u64, bool)> {
        let writes = self.all.iter().filter(|transfer| transfer.op == Op::Write);
        let mut writes: Vec<_> = writes.filter(|write| write.meets(from, to)).collect();
        writes.sort_by_key(|write| (write.turn, write.from));
        let writes = writes.into_iter();
        writes
            .map(|write| (write.from, write.to, write.is_of_request()))
            .collect()
    }

    pub fn are_written_before(&self, turn: u64) -> bool {
        let mut all = self.all.iter();
        !all.any(|transfer| transfer.op == Op::Write && transfer.turn < turn)
    }

    /// Cuts blocks out of what has to leave the cache and has not been sent; how many transfers had some.
    pub fn cut(&mut self, from: u64, to: u64) -> usize {
        let is_cut = |transfer: &&Transfer| {
            let may_be = transfer.stage != Stage::Sent && !transfer.is_of_request();
            may_be && transfer.meets(from, to)
        };
        let cut: Vec<Transfer> = self.all.iter().filter(is_cut).cloned().collect();
        for transfer in &cut {
            let head = (transfer.from, from);
            let tail = (to, transfer.to);
            let mut left = [head, tail].into_iter().filter(|(from, to)| from < to);
            match left.next() {
                Some(first) => {
                    let rest = self.get(transfer.id);
                    (rest.from, rest.to) = first;
                }
                None => {
                    self.ready.retain(|ready| *ready != transfer.id);
                    self.all.retain(|other| other.id != transfer.id);
                }
            }
            if let Some(second) = left.next() {
                let purpose = transfer.purpose.clone();
                self.enter(transfer.turn, transfer.op, second, purpose);
            }
        }
        self.let_go_on();
        cut.len()
    }
}
