//! The requests that wait, in order of arrival and, where a scheduler asks for it, in order of place.

use super::bands::Bands;
use super::neighbours::Neighbours;
use crate::base::units::{Lbn, Time};
use crate::engine::request::{Command, RequestId};
use crate::models::geometry::mechanics::Target;

/// A place in the pool; reused after the request has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(u32);

impl Slot {
    /// The first place.
    pub(super) const FIRST: Slot = Slot(0);

    /// Which place it is.
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// The place of a number.
    #[cfg(test)]
    pub(super) fn of(number: u32) -> Slot {
        Slot(number)
    }
}

/// A waiting request, or several that were merged into one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pending {
    /// Whose it is; of a merged one, one of its parts.
    pub request: RequestId,
    /// The other parts.
    pub others: Others,
    /// What it asks; what all parts ask together.
    pub command: Command,
    /// When it entered this queue; the oldest part, if there are several.
    pub entered: Time,
    /// The arm may begin to move for it then, and not sooner, where the controller works beside the medium.
    pub ready: Time,
    /// Where its data is; `None` in a queue that knows LBNs only, and for a flush.
    pub target: Option<Target>,
    /// The key of the order by place: a cylinder or an LBN, as the scheduler asked.
    pub key: u64,
    /// Its turn in the order of arrival; [`Pool::push`] gives it.
    pub ticket: u64,
}

/// The parts of a merged request beside the first; the pool keeps them until they are [released](Pool::release).
#[derive(Clone, Copy, Debug)]
pub struct Others {
    first: u32,
    last: u32,
    count: u32,
}

impl Default for Others {
    fn default() -> Others {
        Others::NONE
    }
}

impl Others {
    /// None.
    pub const NONE: Others = Others {
        first: NONE,
        last: NONE,
        count: 0,
    };

    /// How many.
    pub fn count(&self) -> usize {
        self.count as usize
    }
}

/// A part of a merged request.
#[derive(Clone, Copy, Debug)]
struct Part {
    request: RequestId,
    next: u32,
}

impl Pending {
    /// A request that enters a queue.
    pub fn new(
        request: RequestId,
        command: Command,
        entered: Time,
        target: Option<Target>,
        key: u64,
    ) -> Pending {
        Pending {
            request,
            others: Others::NONE,
            command,
            entered,
            ready: entered,
            target,
            key,
            ticket: 0,
        }
    }

    /// How many requests it is made of.
    pub fn parts(&self) -> usize {
        1 + self.others.count()
    }
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
    /// None but [bands](Bands) of cylinders; not in a queue that knows LBNs only.
    Bands,
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
    bands: Bands,
    len: usize,
    tickets: u64,
    /// Which requests go on where others end, in a queue that often asks.
    neighbours: Option<Box<Neighbours>>,
    /// Parts of merged requests.
    parts: Vec<Part>,
    free_parts: Vec<u32>,
    requests: usize,
    /// A merged request has been put behind others that it had come before.
    is_reordered: bool,
    /// Some requests had no target when all were asked for theirs.
    has_nowhere: bool,
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
            bands: Bands::default(),
            len: 0,
            tickets: 0,
            neighbours: None,
            parts: Vec::new(),
            free_parts: Vec::new(),
            requests: 0,
            is_reordered: false,
            has_nowhere: false,
        }
    }

    /// The same, for a queue that often asks for neighbours.
    #[must_use]
    pub fn with_neighbours(self) -> Pool {
        debug_assert!(self.is_empty(), "what waits is not counted");
        Pool {
            neighbours: Some(Box::default()),
            ..self
        }
    }

    /// The order of place that is kept.
    pub fn order(&self) -> Order {
        self.order
    }

    /// How many requests wait, a merged one counted once.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many requests wait, each part of a merged one counted.
    pub fn requests(&self) -> usize {
        self.requests
    }

    /// A waiting request, or one that was taken out since the last one was added.
    #[inline]
    pub fn get(&self, slot: Slot) -> &Pending {
        &self.entries[slot.0 as usize]
    }

    /// The request whose turn is first in the order of arrival.
    pub fn oldest(&self) -> Option<Slot> {
        (self.oldest != NONE).then_some(Slot(self.oldest))
    }

    /// The request that has waited longest, or one with a part that has.
    pub fn longest_waiting(&self) -> Option<Slot> {
        if !self.is_reordered {
            return self.oldest();
        }
        self.by_arrival().min_by_key(|&slot| self.get(slot).entered)
    }

    /// Whether a request has been put behind others that had entered after it.
    #[inline]
    pub fn is_reordered(&self) -> bool {
        self.is_reordered
    }

    /// Whether a request may have no target, in a queue that knows places.
    #[inline]
    pub fn has_nowhere(&self) -> bool {
        self.has_nowhere
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
        let known = self.neighbours.as_ref();
        let known = known.map_or(usize::MAX, |known| known.beginning_at(lbn));
        let at_lbn = move |slot: &Slot| self.get(*slot).command.lbn == lbn;
        let of_kind = (known > 0).then(|| self.by_arrival().filter(at_lbn));
        of_kind.into_iter().flatten().take(known)
    }

    /// The requests that end right before `lbn`, the oldest first.
    pub fn ending_at(&self, lbn: Lbn) -> impl Iterator<Item = Slot> {
        let known = self.neighbours.as_ref();
        let known = known.map_or(usize::MAX, |known| known.ending_at(lbn));
        let at_lbn = move |slot: &Slot| self.get(*slot).command.end() == lbn;
        let of_kind = (known > 0).then(|| self.by_arrival().filter(at_lbn));
        of_kind.into_iter().flatten().take(known)
    }

    /// All requests with their keys, ascending; equal keys in the order of arrival. Empty when the pool keeps no
    /// order of place.
    #[inline]
    pub fn by_place(&self) -> &[(u64, Slot)] {
        &self.by_place
    }

    /// Adds the newest request.
    pub fn push(&mut self, new: Pending) -> Slot {
        self.add(|pending| *pending = new)
    }

    /// Adds the newest request, written by `fill` where it stays, over one that is not waiting any more and not merged with others.
    #[inline]
    pub fn add(&mut self, fill: impl FnOnce(&mut Pending)) -> Slot {
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.entries.push(Pending::default());
                self.links.push(Link {
                    previous: NONE,
                    next: NONE,
                });
                (self.entries.len() - 1) as u32
            }
        };
        let pending = &mut self.entries[index as usize];
        pending.others = Others::NONE;
        fill(pending);
        let parts = pending.parts();
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.add(&pending.command);
        }
        self.requests += parts;
        self.link_newest(Slot(index));
        self.place(Slot(index));
        self.len += 1;
        Slot(index)
    }

    /// All requests by where they are. Empty when the pool keeps no bands.
    #[inline]
    pub fn bands(&self) -> &Bands {
        &self.bands
    }

    /// Notes where a waiting request is.
    #[inline]
    fn place(&mut self, slot: Slot) {
        let Pending { key, target, .. } = &self.entries[slot.0 as usize];
        match self.order {
            Order::Arrival => {}
            Order::Bands => self.bands.add(slot, target.as_ref()),
            Order::Lbn | Order::Position => {
                let at = self.by_place.partition_point(|(other, _)| other <= key);
                self.by_place.insert(at, (*key, slot));
            }
        }
    }

    /// Forgets where a waiting request is.
    #[inline]
    fn displace(&mut self, slot: Slot) {
        let Pending { key, target, .. } = &self.entries[slot.0 as usize];
        match self.order {
            Order::Arrival => {}
            Order::Bands => self.bands.remove(slot, target.as_ref()),
            Order::Lbn | Order::Position => {
                let first = self.by_place.partition_point(|(other, _)| other < key);
                let within = self.by_place[first..]
                    .iter()
                    .position(|&(_, other)| other == slot);
                self.by_place
                    .remove(first + within.expect("every waiting request has its place"));
            }
        }
    }

    /// Merges one that does not wait here, or no more, with a waiting request that it continues, or that continues it.
    pub fn absorb(&mut self, slot: Slot, other: Pending) {
        self.requests += other.parts();
        let part = Part {
            request: other.request,
            next: NONE,
        };
        let index = match self.free_parts.pop() {
            Some(index) => {
                self.parts[index as usize] = part;
                index
            }
            None => {
                self.parts.push(part);
                (self.parts.len() - 1) as u32
            }
        };
        let mut group = self.entries[slot.0 as usize];
        let before = group.command;
        self.append(&mut group.others, index, index, 1);
        let Others { first, last, count } = other.others;
        if count > 0 {
            self.append(&mut group.others, first, last, count);
        }
        group.command.blocks += other.command.blocks;
        if other.command.end() == before.lbn {
            (group.command.lbn, group.target, group.key) =
                (other.command.lbn, other.target, other.key);
        }
        group.entered = group.entered.min(other.entered);
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.remove(&before);
            neighbours.add(&group.command);
        }
        let has_moved = group.command.lbn != before.lbn;
        if has_moved {
            self.displace(slot);
        }
        self.entries[slot.0 as usize] = group;
        if has_moved {
            self.place_anew(slot);
        }
    }

    /// The same as [`place`](Self::place) of a request that is not the newest: among equal places the order is that of arrival.
    fn place_anew(&mut self, slot: Slot) {
        if let Order::Arrival | Order::Bands = self.order {
            return self.place(slot);
        }
        let Pending { key, ticket, .. } = self.entries[slot.0 as usize];
        let first = self.by_place.partition_point(|&(other, _)| other < key);
        let equal = self.by_place[first..].iter();
        let older = equal
            .take_while(|(other, of)| *other == key && self.get(*of).ticket < ticket)
            .count();
        self.by_place.insert(first + older, (key, slot));
    }

    fn append(&mut self, others: &mut Others, first: u32, last: u32, count: u32) {
        match others.last {
            NONE => others.first = first,
            end => self.parts[end as usize].next = first,
        }
        others.last = last;
        others.count += count;
    }

    /// Takes one part from those of a request that was removed, and forgets it.
    #[inline]
    pub fn release(&mut self, others: &mut Others) -> Option<RequestId> {
        let Part { request, next } = *self.parts.get(others.first as usize)?;
        self.free_parts.push(others.first);
        others.first = next;
        others.count -= 1;
        Some(request)
    }

    /// Tells the parts of a request beside the first.
    #[inline]
    pub fn others(&self, others: Others) -> impl Iterator<Item = RequestId> {
        let part = |index: u32| (index != NONE).then(|| self.parts[index as usize]);
        std::iter::successors(part(others.first), move |before| part(before.next))
            .map(|part| part.request)
    }

    /// Puts a waiting request at the end of the order of arrival.
    pub fn make_newest(&mut self, slot: Slot) {
        self.is_reordered = true;
        self.unlink(slot);
        self.link_newest(slot);
        // Among equal places the order is that of arrival.
        self.displace(slot);
        self.place(slot);
    }

    /// Takes a request out of the order of arrival.
    #[inline]
    fn unlink(&mut self, slot: Slot) {
        let Link { previous, next } = self.links[slot.0 as usize];
        match previous {
            NONE => self.oldest = next,
            previous => self.links[previous as usize].next = next,
        }
        match next {
            NONE => self.newest = previous,
            next => self.links[next as usize].previous = previous,
        }
    }

    /// Gives a request the last turn.
    #[inline]
    fn link_newest(&mut self, slot: Slot) {
        self.entries[slot.0 as usize].ticket = self.tickets;
        self.tickets += 1;
        self.links[slot.0 as usize] = Link {
            previous: self.newest,
            next: NONE,
        };
        match self.newest {
            NONE => self.oldest = slot.0,
            newest => self.links[newest as usize].next = slot.0,
        }
        self.newest = slot.0;
    }

    /// Says anew where the data of every waiting request are: its target and its key.
    pub fn retarget(&mut self, mut aim: impl FnMut(&Command) -> (Option<Target>, u64)) {
        let mut next = self.oldest;
        self.by_place.clear();
        self.bands.clear();
        self.has_nowhere = false;
        while next != NONE {
            let entry = &mut self.entries[next as usize];
            (entry.target, entry.key) = aim(&entry.command);
            self.has_nowhere |= entry.target.is_none();
            match self.order {
                Order::Arrival => {}
                Order::Bands => self.bands.add(Slot(next), entry.target.as_ref()),
                Order::Lbn | Order::Position => self.by_place.push((entry.key, Slot(next))),
            }
            next = self.links[next as usize].next;
        }
        self.by_place.sort_by_key(|&(key, _)| key);
    }

    /// Takes a request out; [`get`](Self::get) tells of it until another one is added. Parts that were merged with it stay known until
    /// they are [released](Self::release).
    #[inline]
    pub fn remove(&mut self, slot: Slot) -> &Pending {
        let pending = &self.entries[slot.0 as usize];
        let parts = pending.parts();
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.remove(&pending.command);
        }
        self.requests -= parts;
        self.unlink(slot);
        self.displace(slot);
        self.free.push(slot.0);
        self.len -= 1;
        self.is_reordered &= self.len > 0;
        &self.entries[slot.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::request::Op;
    use crate::models::geometry::estimate::Aim;
    use proptest::prelude::*;

    fn pending(number: u32, key: u64) -> Pending {
        let command = Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(key),
            blocks: 1,
        };
        Pending::new(RequestId(number), command, Time::ZERO, None, key)
    }

    /// What is merged in front of a request may begin where younger ones do: it is still before them.
    #[test]
    fn among_equal_places_a_merged_request_keeps_its_age() {
        let mut pool = Pool::new(Order::Lbn);
        let oldest = pool.push(pending(0, 3));
        let merged = pool.push(pending(1, 4));
        let young = pool.push(pending(2, 3));
        let youngest = pool.push(pending(3, 3));
        let above = pool.push(pending(4, 5));
        pool.absorb(merged, pending(5, 3));
        let place: Vec<Slot> = pool.by_place().iter().map(|&(_, slot)| slot).collect();
        assert_eq!(place, [oldest, merged, young, youngest, above]);
        pool.make_newest(merged);
        let place: Vec<Slot> = pool.by_place().iter().map(|&(_, slot)| slot).collect();
        assert_eq!(place, [oldest, young, youngest, merged, above]);
    }

    #[test]
    fn a_merged_request_is_aimed_at_where_it_begins_now() {
        let at = |lbn: u64, head: u32, key: u64| {
            let mut target = Target::default();
            target.run.position.head = head;
            target.run.position.cylinder = key as u32;
            Pending {
                key,
                target: Some(target),
                ..pending(lbn as u32, lbn)
            }
        };
        for key in [5, 6] {
            let mut pools = [Order::Position, Order::Bands].map(Pool::new);
            let before = at(7, 2, key);
            for pool in &mut pools {
                let slot = pool.push(at(8, 1, 5));
                pool.absorb(slot, before);
                pool.absorb(slot, at(9, 3, key));
                assert_eq!(pool.get(slot).target, before.target);
            }
            let [by_place, in_bands] = &pools;
            assert_eq!(by_place.by_place().len(), 1);
            assert_eq!(by_place.by_place()[0].0, key);
            let aims: Vec<Aim> = in_bands.bands().all().map(|(_, aim)| aim).collect();
            assert_eq!(
                aims,
                [Aim::at(&before.target.expect("it has one"))],
                "{key}"
            );
        }
    }

    proptest! {
        /// Random pushes and removals against two plain vectors.
        #[test]
        fn agrees_with_plain_vectors(
            knows_neighbours: bool, operations in prop::collection::vec((any::<bool>(), 0u64..8, any::<usize>()), 1..200),
        ) {
            let mut pool = Pool::new(Order::Lbn);
            if knows_neighbours {
                pool = pool.with_neighbours();
            }
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
