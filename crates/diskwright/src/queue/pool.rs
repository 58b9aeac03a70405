//! The requests that wait, in order of arrival and, where a scheduler asks for it, in order of place.

use crate::geometry::mechanics::Target;
use crate::request::{Command, RequestId};
use crate::units::{Lbn, Time};

/// A place in the pool; reused after the request has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

/// A waiting request.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Whose it is.
    pub request: RequestId,
    /// What it asks.
    pub command: Command,
    /// When it entered this queue.
    pub entered: Time,
    /// Where its data is; `None` in a queue that knows LBNs only, and for a flush.
    pub target: Option<Target>,
    /// The key of the order by place: a cylinder or an LBN, as the scheduler asked.
    pub key: u64,
    /// Its turn in the order of arrival; [`Pool::push`] gives it.
    pub ticket: u64,
}

/// The order of place that a scheduler wants kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// None.
    Arrival,
    /// By first LBN.
    Lbn,
    /// By cylinder; in a queue that knows LBNs only, by LBN.
    Position,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
}

/// The waiting requests.
///
/// Arrival order is an index-linked list; order of place a sorted array, whose insertion moves at most
/// as many entries as wait: for the depths of real queues that is faster than any tree.
#[derive(Debug)]
pub struct Pool {
    order: Order,
    entries: Vec<Pending>,
    links: Vec<Link>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    by_place: Vec<(u64, Slot)>,
    len: usize,
    tickets: u64,
    /// How many waiting requests have first LBNs of each kind: of most LBNs it can be told at once that none begins there.
    begins: Box<[u32; KINDS]>,
}

/// Kinds of LBNs.
const KINDS: usize = 256;

/// The kind of an LBN: neighbours and multiples of a size are of different ones.
#[inline]
fn kind(lbn: Lbn) -> usize {
    (lbn.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
}

impl Pool {
    /// An empty pool that keeps `order`.
    pub fn new(order: Order) -> Pool {
        Pool {
            order,
            entries: Vec::new(),
            links: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
            by_place: Vec::new(),
            len: 0,
            tickets: 0,
            begins: Box::new([0; KINDS]),
        }
    }

    /// The order of place that is kept.
    pub fn order(&self) -> Order {
        self.order
    }

    /// How many requests wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A waiting request.
    #[inline]
    pub fn get(&self, slot: Slot) -> &Pending {
        &self.entries[slot.0 as usize]
    }

    /// The request that has waited longest.
    pub fn oldest(&self) -> Option<Slot> {
        (self.oldest != NONE).then_some(Slot(self.oldest))
    }

    /// All requests, the oldest first.
    pub fn by_arrival(&self) -> impl Iterator<Item = Slot> {
        std::iter::successors(self.oldest(), |slot| {
            let next = self.links[slot.0 as usize].next;
            (next != NONE).then_some(Slot(next))
        })
    }

    /// The requests that begin at `lbn`, the oldest first.
    pub fn beginning_at(&self, lbn: Lbn) -> impl Iterator<Item = Slot> {
        let begun = self.begins[kind(lbn)] as usize;
        let at_lbn = move |slot: &Slot| self.get(*slot).command.lbn == lbn;
        let of_kind = (begun > 0).then(|| self.by_arrival().filter(at_lbn));
        of_kind.into_iter().flatten().take(begun)
    }

    /// All requests with their keys, ascending; equal keys in the order of arrival. Empty when the pool keeps no
    /// order of place.
    #[inline]
    pub fn by_place(&self) -> &[(u64, Slot)] {
        &self.by_place
    }

    /// Adds the newest request.
    pub fn push(&mut self, mut pending: Pending) -> Slot {
        pending.ticket = self.tickets;
        self.tickets += 1;
        self.begins[kind(pending.command.lbn)] += 1;
        let link = Link {
            previous: self.newest,
            next: NONE,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.entries[index as usize] = pending;
                self.links[index as usize] = link;
                index
            }
            None => {
                self.entries.push(pending);
                self.links.push(link);
                (self.entries.len() - 1) as u32
            }
        };
        match self.newest {
            NONE => self.oldest = index,
            newest => self.links[newest as usize].next = index,
        }
        self.newest = index;
        if self.order != Order::Arrival {
            let at = self
                .by_place
                .partition_point(|&(key, _)| key <= pending.key);
            self.by_place.insert(at, (pending.key, Slot(index)));
        }
        self.len += 1;
        Slot(index)
    }

    /// Takes a request out.
    pub fn remove(&mut self, slot: Slot) -> Pending {
        let pending = self.entries[slot.0 as usize];
        let Link { previous, next } = self.links[slot.0 as usize];
        match previous {
            NONE => self.oldest = next,
            previous => self.links[previous as usize].next = next,
        }
        match next {
            NONE => self.newest = previous,
            next => self.links[next as usize].previous = previous,
        }
        if self.order != Order::Arrival {
            let first = self.by_place.partition_point(|&(key, _)| key < pending.key);
            let within = self.by_place[first..]
                .iter()
                .position(|&(_, other)| other == slot);
            self.by_place
                .remove(first + within.expect("every waiting request has its place"));
        }
        self.begins[kind(pending.command.lbn)] -= 1;
        self.free.push(slot.0);
        self.len -= 1;
        pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Op;
    use proptest::prelude::*;

    fn pending(number: u32, key: u64) -> Pending {
        let command = Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(key),
            blocks: 1,
        };
        Pending {
            request: RequestId(number),
            command,
            entered: Time::ZERO,
            target: None,
            key,
            ticket: 0,
        }
    }

    proptest! {
        /// Random pushes and removals against two plain vectors.
        #[test]
        fn agrees_with_plain_vectors(operations in prop::collection::vec((any::<bool>(), 0u64..8, any::<usize>()), 1..200)) {
            let mut pool = Pool::new(Order::Lbn);
            let mut model: Vec<(u64, u32, Slot)> = Vec::new();
            for (number, (push, key, pick)) in operations.into_iter().enumerate() {
                if push || model.is_empty() {
                    let slot = pool.push(pending(number as u32, key));
                    model.push((key, number as u32, slot));
                } else {
                    let (key, number, slot) = model.remove(pick % model.len());
                    let removed = pool.remove(slot);
                    prop_assert_eq!((removed.key, removed.request.0), (key, number));
                }
                prop_assert_eq!(pool.len(), model.len());
                let arrival: Vec<u32> = pool.by_arrival().map(|slot| pool.get(slot).request.0).collect();
                prop_assert_eq!(arrival, model.iter().map(|entry| entry.1).collect::<Vec<_>>());
                for lbn in 0..8 {
                    let there: Vec<Slot> = pool.beginning_at(Lbn(lbn)).collect();
                    let wanted = model.iter().filter(|entry| entry.0 == lbn).map(|entry| entry.2);
                    prop_assert_eq!(there, wanted.collect::<Vec<_>>());
                }
                let mut sorted = model.clone();
                sorted.sort_by_key(|entry| (entry.0, entry.1));
                let place: Vec<(u64, Slot)> = sorted.iter().map(|entry| (entry.0, entry.2)).collect();
                prop_assert_eq!(pool.by_place(), &place[..]);
            }
        }
    }
}
