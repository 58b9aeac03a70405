//! A drive with a block cache in front of its queue, as docs/cache.md defines it. Instants and times are ns.

mod drive;
mod frames;
mod transfers;
mod trims;

use std::collections::VecDeque;

use diskwright::engine::request::Op;

use super::front::Message;
use super::specs::{Asked, BlockCache, Case};
use crate::support::twins::runs;
pub use drive::CachedDrive;
use frames::{Frames, Held, Place};
use transfers::{Purpose, Transfer, Transfers};
use trims::Trims as _;

/// The cache of a drive.
pub struct Cache<'a> {
    settings: &'a BlockCache,
    frames: Frames,
    transfers: Transfers,
    /// Reads, writes and trims that have not been looked up.
    outside: VecDeque<usize>,
    /// Flushes, and the turn before which all that is written has to be on the medium.
    flushes: VecDeque<(usize, u64)>,
    /// What the drive was sent, by the numbers of these requests.
    sent: Vec<(usize, Sent)>,
    /// When the interface is done with the last request that the cache has served.
    free: u64,
}

/// What the drive was sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    Transfer(u64),
    /// A flush or a trim of the host.
    Passed(usize),
}

impl<'a> Cache<'a> {
    pub fn new(settings: &'a BlockCache) -> Cache<'a> {
        Cache {
            settings,
            frames: Frames::new(settings),
            transfers: Transfers::default(),
            outside: VecDeque::new(),
            flushes: VecDeque::new(),
            sent: Vec::new(),
            free: 0,
        }
    }

    pub fn dirty_blocks(&self) -> u64 {
        self.frames.dirty().count() as u64
    }

    /// The run from the first block of a command that is missing to the last; it has the frames of these keys.
    fn missing(&self, asked: &Asked, keys: &[u64]) -> Option<(u64, u64)> {
        let is_missing = |lbn: &u64| {
            let has_frame = keys.contains(&(lbn / self.settings.block));
            !(has_frame && self.frames.has(*lbn))
        };
        let mut blocks = asked.lbn..asked.lbn + asked.blocks;
        let first = blocks.clone().find(is_missing)?;
        let last = blocks.rfind(is_missing)?;
        Some((first, last + 1))
    }
}

/// What the cache does, whatever drive is behind it.
pub trait Cached<'a>: CachedDrive<'a> {
    fn disk(&self) -> &'a Case {
        self.front().disk
    }

    fn asked(&self, request: usize) -> Asked {
        self.front().requests[request]
    }

    fn cached_mut(&mut self) -> &mut Cache<'a> {
        let cache = self.front_mut().cache.as_mut();
        cache.expect("it has a cache")
    }

    /// What happens in this instant takes its course.
    fn deliver(&mut self) {
        while let Some(message) = self.front_mut().messages.pop_front() {
            match message {
                Message::Arrives(request) if self.front().cache.is_some() => {
                    self.comes_to_cache(request);
                }
                Message::Arrives(request) => self.comes_to_disk(request),
                Message::Ended(request) if self.front().is_of_host(request) => {
                    let now = self.now();
                    self.front_mut().host.hears();
                    self.front_mut().issue(now);
                }
                Message::Ended(request) => self.ended_for_cache(request),
            }
        }
    }

    fn complete(&mut self, request: usize) {
        let now = self.now();
        let front = self.front_mut();
        if let Some(completion) = front.completions.get_mut(request) {
            *completion = Some(now);
        }
        front.messages.push_back(Message::Ended(request));
    }

    /// Slots of the queue that are free. One whose request has ended is taken until the cache has dealt with that.
    fn free_slots(&self) -> u64 {
        let front = self.front();
        let sent = front.cache.iter().flat_map(|cache| &cache.sent);
        let is_of_transfer = |ended: &usize| {
            let mut sent = sent.clone();
            sent.any(|(child, sent)| child == ended && matches!(sent, Sent::Transfer(_)))
        };
        let unheard = front.unheard().filter(is_of_transfer);
        let taken = self.taken_slots() + unheard.count() as u64;
        front.disk.depth.saturating_sub(taken)
    }

    /// A request of the host arrives. A flush does not wait for its turn.
    fn comes_to_cache(&mut self, request: usize) {
        match self.asked(request).op {
            Op::Flush => self.flush(request),
            _ => {
                self.cached_mut().outside.push_back(request);
                self.proceed();
            }
        }
    }

    /// Sends what is ready, and looks requests up, while slots are free.
    fn proceed(&mut self) {
        loop {
            self.send_ready();
            let Some(&next) = self.cached_mut().outside.front() else {
                return;
            };
            let asked = self.asked(next);
            if asked.op == Op::Trim && self.call_off(&asked) {
                continue;
            }
            if !self.may_look_up(&asked) {
                return;
            }
            self.cached_mut().outside.pop_front();
            match asked.op {
                Op::Trim => self.trim(next),
                _ => self.look_up(next),
            }
        }
    }

    fn may_look_up(&mut self, asked: &Asked) -> bool {
        if asked.op == Op::Trim {
            return !self.is_in_use(asked);
        }
        let free = self.free_slots();
        let depth = self.disk().depth;
        let transfers = &self.cached_mut().transfers;
        !transfers.has_ready() && free > transfers.held() && transfers.leaving() < depth
    }

    fn look_up(&mut self, request: usize) {
        let asked = self.asked(request);
        let size = self.cached_mut().settings.block;
        let mut keys = Vec::new();
        let mut victims = Vec::new();
        for key in asked.lbn / size..(asked.lbn + asked.blocks).div_ceil(size) {
            self.count("frame_accesses", 1);
            let place = self.cached_mut().frames.access(key, &mut victims);
            if place != Place::Held {
                self.count("frame_misses", 1);
            }
            match place {
                Place::Held => (),
                Place::None => {
                    self.count("bypassed", 1);
                    continue;
                }
                Place::New { evicts } => {
                    self.count("insertions", 1);
                    self.count("evictions", u64::from(evicts));
                    self.restore(key, &mut victims);
                }
            }
            self.cached_mut().frames.get(key).pins += 1;
            keys.push(key);
        }
        self.write_back(victims);
        match asked.op {
            Op::Read => self.look_up_read(request, keys),
            _ => self.look_up_write(request, keys),
        }
    }

    /// A frame that is new gets what is on the way to the medium of its blocks.
    fn restore(&mut self, key: u64, victims: &mut Vec<Held>) {
        if let Some(at) = victims.iter().position(|victim| victim.key == key) {
            self.count("a block that is evicted and accessed by one request", 1);
            let victim = victims.remove(at);
            let frame = self.cached_mut().frames.get(key);
            (frame.there, frame.dirty) = (victim.there, victim.dirty);
            return;
        }
        let size = self.cached_mut().settings.block;
        let writes = self
            .cached_mut()
            .transfers
            .writes(key * size, key * size + size);
        for (from, to, is_of_request) in writes {
            for lbn in from.max(key * size)..to.min(key * size + size) {
                // What a request writes past the frames is not in them.
                let is_there = !is_of_request;
                self.cached_mut().frames.set(lbn, is_there, false);
            }
            self.count(
                match is_of_request {
                    true => "a frame for what is written past the cache",
                    false => "a frame for what is still on its way",
                },
                1,
            );
        }
    }

    /// Dirty blocks that were evicted go to the medium, those that follow one another in one transfer.
    fn write_back(&mut self, mut victims: Vec<Held>) {
        let size = self.cached_mut().settings.block;
        victims.sort_by_key(|victim| victim.key);
        let dirty = victims.iter().flat_map(|victim| {
            let dirty = (0..).zip(&victim.dirty).filter(|(_, dirty)| **dirty);
            dirty.map(|(at, _)| victim.key * size + at)
        });
        for (from, to) in runs(dirty) {
            let purpose = Purpose::Eviction;
            self.cached_mut()
                .transfers
                .add(Op::Write, (from, to), purpose);
        }
    }

    fn look_up_read(&mut self, request: usize, keys: Vec<u64>) {
        let asked = self.asked(request);
        match self.cached_mut().missing(&asked, &keys) {
            None => self.hit(request, &keys),
            Some(run) => self.transfer(request, run, keys),
        }
    }

    fn look_up_write(&mut self, request: usize, keys: Vec<u64>) {
        let asked = self.asked(request);
        let cache = self.cached_mut();
        let size = cache.settings.block;
        let end = asked.lbn + asked.blocks;
        let has_all = keys.len() as u64 == end.div_ceil(size) - asked.lbn / size;
        let is_absorbed = cache.settings.is_write_back && !asked.fua && has_all;
        for lbn in (asked.lbn..end).filter(|lbn| keys.contains(&(lbn / size))) {
            cache.frames.set(lbn, true, is_absorbed);
        }
        if is_absorbed {
            self.count("absorbed_writes", 1);
            self.serve_from_cache(request, &keys);
        } else {
            self.transfer(request, (asked.lbn, end), keys);
        }
    }

    /// What a request needs of the medium.
    fn transfer(&mut self, request: usize, run: (u64, u64), keys: Vec<u64>) {
        let op = self.asked(request).op;
        let purpose = Purpose::Request { request, keys };
        let waits = self.cached_mut().transfers.add(op, run, purpose);
        self.count("conflicts", u64::from(waits));
    }

    fn hit(&mut self, request: usize, keys: &[u64]) {
        self.count("read_hits", 1);
        self.serve_from_cache(request, keys);
    }

    /// The cache serves a request: one after the other.
    fn serve_from_cache(&mut self, request: usize, keys: &[u64]) {
        let Asked { op, blocks, .. } = self.asked(request);
        let drive = &self.disk().drive;
        let (now, write) = (self.now(), op == Op::Write);
        let cache = self.cached_mut();
        cache.frames.unpin(keys);
        let work = cache.settings.hit_overhead.unwrap_or_else(|| {
            let completion = match write {
                true => drive.overhead.completion_write,
                false => drive.overhead.completion_read,
            };
            drive.overhead.before(write, write) + completion
        });
        let block = match write {
            true => drive.interface.write_block,
            false => drive.interface.block,
        };
        cache.free = cache.free.max(now) + work + blocks * block;
        let end = cache.free;
        self.served_from_cache_at(end, request);
    }

    /// Sends transfers that wait for no others to the drive, while it has slots.
    fn send_ready(&mut self) {
        while let Some(transfer) = self.cached_mut().transfers.first_ready() {
            let Transfer {
                id,
                op,
                from,
                to,
                purpose,
                ..
            } = transfer;
            let (mut run, mut fua) = ((from, to), false);
            if let Purpose::Request { request, keys } = &purpose {
                let asked = self.asked(*request);
                fua = asked.fua;
                if op == Op::Read {
                    // Others may have brought something meanwhile.
                    let Some(missing) = self.cached_mut().missing(&asked, keys) else {
                        self.hit(*request, keys);
                        self.count("a read that has waited and hits", 1);
                        self.cached_mut().transfers.finish(id);
                        continue;
                    };
                    run = missing;
                    if run != (from, to) {
                        self.count("a read that has waited and misses less", 1);
                    }
                }
            }
            if self.free_slots() == 0 {
                return;
            }
            self.cached_mut().transfers.take(id);
            let asked = Asked {
                at: self.now(),
                op,
                fua,
                lbn: run.0,
                blocks: run.1 - run.0,
            };
            self.send(asked, Sent::Transfer(id));
        }
    }

    fn send(&mut self, asked: Asked, what: Sent) {
        let requests = &mut self.front_mut().requests;
        let child = requests.len();
        requests.push(asked);
        self.cached_mut().sent.push((child, what));
        self.comes_to_disk(child);
    }

    /// The drive has done what it was sent.
    fn ended_for_cache(&mut self, child: usize) {
        let sent = &mut self.cached_mut().sent;
        let at = sent.iter().position(|(other, _)| *other == child);
        match sent.remove(at.expect("it was sent")).1 {
            Sent::Passed(request) => self.complete(request),
            Sent::Transfer(id) => {
                self.transferred(id, child);
                self.cached_mut().transfers.finish(id);
                self.pass_flushes();
                self.proceed();
            }
        }
    }

    fn transferred(&mut self, id: u64, child: usize) {
        let Asked {
            op, lbn, blocks, ..
        } = self.asked(child);
        let Purpose::Request { request, keys } =
            self.cached_mut().transfers.get(id).purpose.clone()
        else {
            self.count("destages", 1);
            self.count("destaged_blocks", blocks);
            return;
        };
        let asked = self.asked(request);
        if op == Op::Read {
            let wanted = lbn.max(asked.lbn)..(lbn + blocks).min(asked.lbn + asked.blocks);
            let cache = self.cached_mut();
            for lbn in wanted.filter(|lbn| keys.contains(&(lbn / cache.settings.block))) {
                if !cache.frames.has(lbn) {
                    cache.frames.set(lbn, true, false);
                }
            }
        }
        self.cached_mut().frames.unpin(&keys);
        self.count("partial_read_hits", u64::from(blocks < asked.blocks));
        self.complete(request);
    }

    /// A flush: what is dirty goes to the medium first.
    fn flush(&mut self, request: usize) {
        let cache = self.cached_mut();
        if !cache.settings.is_write_back {
            return self.pass(request);
        }
        for run in runs(cache.frames.dirty()) {
            cache.transfers.add(Op::Write, run, Purpose::Flush);
            (run.0..run.1).for_each(|lbn| cache.frames.set(lbn, true, false));
        }
        let turn = cache.transfers.turns;
        if cache.transfers.are_written_before(turn) {
            return self.pass(request);
        }
        cache.flushes.push_back((request, turn));
        self.count("a flush that waits", 1);
        self.proceed();
    }

    /// Flushes before which everything has been written go on to the drive.
    fn pass_flushes(&mut self) {
        while let Some(&(request, turn)) = self.cached_mut().flushes.front()
            && self.cached_mut().transfers.are_written_before(turn)
        {
            self.cached_mut().flushes.pop_front();
            self.pass(request);
        }
    }

    fn pass(&mut self, request: usize) {
        self.send(self.asked(request), Sent::Passed(request));
    }
}

impl<'a, D: CachedDrive<'a>> Cached<'a> for D {}
