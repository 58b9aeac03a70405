//! Deadline, against a model with the lists that the kernel keeps, and by hand.

use std::collections::{BTreeMap, VecDeque};

use diskwright::base::units::Time;
use diskwright::engine::request::Op;
use proptest::prelude::*;

use super::common::{Desk, mechanics, reads_and_writes};

/// What the kernel keeps for one direction: requests by start and turn, and in the order of arrival with their expiry.
#[derive(Default)]
struct Lists {
    sorted: BTreeMap<(u64, u32), u32>,
    fifo: VecDeque<(u32, u64, Time)>,
    latest: u64,
}

/// The kernel's rules, with its counters as they are there.
struct Model {
    lists: [Lists; 2],
    last: usize,
    batching: u32,
    starved: u32,
    fifo_batch: u32,
    writes_starved: u32,
    expire: [Time; 2],
}

const READ: usize = 0;
const WRITE: usize = 1;

impl Model {
    fn insert(&mut self, number: u32, op: Op, lbn: u64, now: Time) {
        let direction = usize::from(op == Op::Write);
        let lists = &mut self.lists[direction];
        lists.sorted.insert((lbn, number), number);
        lists
            .fifo
            .push_back((number, lbn, now + self.expire[direction]));
    }

    fn next(&self, direction: usize) -> Option<u32> {
        let lists = &self.lists[direction];
        lists
            .sorted
            .range((lists.latest, 0)..)
            .next()
            .map(|(_, &number)| number)
    }

    fn dispatch(&mut self, now: Time) -> u32 {
        if let Some(next) = self.next(self.last)
            && self.batching < self.fifo_batch
        {
            return self.start(self.last, next);
        }
        let mut direction = WRITE;
        if !self.lists[READ].fifo.is_empty() {
            direction = READ;
            if !self.lists[WRITE].fifo.is_empty() {
                if self.starved >= self.writes_starved {
                    direction = WRITE;
                }
                self.starved += 1;
            }
        }
        if direction == WRITE {
            self.starved = 0;
        }
        let first = self.lists[direction].fifo[0];
        let next = match self.next(direction) {
            Some(next) if first.2 > now => next,
            _ => first.0,
        };
        self.last = direction;
        self.batching = 0;
        self.start(direction, next)
    }

    fn start(&mut self, direction: usize, number: u32) -> u32 {
        self.batching += 1;
        let lists = &mut self.lists[direction];
        let at = lists
            .fifo
            .iter()
            .position(|entry| entry.0 == number)
            .expect("it waits");
        let (_, lbn, _) = lists.fifo.remove(at).expect("it waits");
        lists.sorted.remove(&(lbn, number));
        lists.latest = lbn;
        number
    }
}

proptest! {
    #[test]
    fn picks_what_the_kernel_would(
        arrivals in reads_and_writes(), fifo_batch in 0u32..6, writes_starved in 0u32..4, read_ms in 0u64..200, write_ms in 0u64..400,
        at_a_time in 1usize..4, is_host in any::<bool>(),
    ) {
        let text = format!(
            "{{ deadline = {{ read_expire = \"{read_ms} ms\", write_expire = \"{write_ms} ms\", fifo_batch = {fifo_batch}, \
             writes_starved = {writes_starved} }} }}"
        );
        let m = mechanics(0);
        let mut desk = Desk::new(&m, &text, is_host);
        let mut model = Model {
            lists: Default::default(), last: WRITE, batching: 0, starved: 0, fifo_batch, writes_starved,
            expire: [Time::from_ms(read_ms), Time::from_ms(write_ms)],
        };
        let mut left = arrivals.iter().peekable();
        while left.peek().is_some() || !desk.pool.is_empty() {
            for &(op, lbn) in left.by_ref().take(at_a_time) {
                model.insert(desk.pushed, op, lbn, desk.now);
                desk.push(op, lbn);
            }
            let expected = model.dispatch(desk.now);
            prop_assert_eq!(desk.serve().request.0, expected);
            if is_host {
                desk.now += Time::from_ms(5);
            }
        }
    }
}

/// The LBNs served, after a read at 0 that began a batch, with all of `requests` waiting for as long as said.
fn served(parameters: &str, requests: &[(Op, u64)], waited: Time) -> Vec<u64> {
    let m = mechanics(0);
    let mut desk = Desk::new(&m, &format!("{{ deadline = {{ {parameters} }} }}"), true);
    desk.push(Op::Read, 0);
    desk.serve();
    let start = desk.now;
    for &(op, lbn) in requests {
        desk.push(op, lbn);
    }
    desk.now = start + waited;
    desk.drain()
}

#[test]
fn writes_wait_for_two_batches_of_reads() {
    use Op::{Read, Write};
    let requests = [
        (Write, 500),
        (Read, 40),
        (Read, 30),
        (Read, 20),
        (Read, 10),
        (Write, 400),
    ];
    // Batches of one: two reads, a write, two reads, a write.
    let order = served("fifo_batch = 1", &requests, Time::ZERO);
    assert_eq!(order, [10, 20, 400, 30, 40, 500]);
    // The batch takes all reads above.
    let order = served("", &requests, Time::ZERO);
    assert_eq!(order, [10, 20, 30, 40, 400, 500]);
    // Writes that nothing holds up go first.
    let order = served("fifo_batch = 1, writes_starved = 0", &requests, Time::ZERO);
    assert_eq!(order, [400, 500, 10, 20, 30, 40]);
}

#[test]
fn the_first_batch_of_all_is_of_writes() {
    let m = mechanics(0);
    let mut desk = Desk::new(&m, "\"deadline\"", true);
    for (op, lbn) in [(Op::Read, 10), (Op::Write, 20)] {
        desk.push(op, lbn);
    }
    assert_eq!(desk.drain(), [20, 10]);
}

#[test]
fn a_batch_begins_with_the_oldest_that_has_expired() {
    for (op, expire) in [(Op::Read, Time::from_ms(500)), (Op::Write, Time::from_s(5))] {
        let requests = [40, 30, 50].map(|lbn| (op, lbn));
        let order = |waited| served("fifo_batch = 1", &requests, waited);
        assert_eq!(order(expire), [40, 30, 50]);
        assert_eq!(order(expire - Time::from_ns(1)), [30, 40, 50]);
    }
}

#[test]
fn a_batch_ends_after_sixteen() {
    let m = mechanics(0);
    let mut desk = Desk::new(&m, "\"deadline\"", true);
    for lbn in [0, 30].into_iter().chain(1..30) {
        desk.push(Op::Read, lbn);
    }
    desk.now = Time::from_s(1);
    // All have expired: 0 begins the first batch, 30 the second; nothing is above it, and 16 begins the third.
    let expected = (0..16).chain([30]).chain(16..30);
    assert_eq!(desk.drain(), expected.collect::<Vec<u64>>());
    // Only 30 was not the next anyway.
    assert_eq!(desk.scheduler.promotions(), 1);
}

#[test]
fn a_flush_and_a_trim_go_as_writes() {
    let requests = [(Op::Flush, 0), (Op::Trim, 5), (Op::Read, 10)];
    assert_eq!(served("", &requests, Time::ZERO), [10, 0, 5]);
}
