//! Cleaning: what is valid in a block is moved within its plane, and the block is erased.

use super::operations::{Action, OpId, Operation};
use super::{Ssd, kinds};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::RequestId;
use crate::models::flash::blocks::Writer;
use crate::models::flash::victims::Candidates;

/// When a plane is cleaned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cleaning {
    /// Cleaning begins when fewer blocks of a plane are free.
    pub begin: u32,
    /// The host opens no block while fewer are free and something can be cleaned.
    pub stop: u32,
    /// Between the two, the host's writes and cleaning take turns, the more cleaning the fewer blocks are free.
    pub is_throttled: bool,
    /// In an idle drive, planes are cleaned up to so many free blocks, after so long.
    pub idle: Option<(Time, u32)>,
}

/// A block that is being cleaned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    block: u32,
    /// The first slot that has not been looked at.
    next: u32,
}

/// The request of operations that are for none.
const NO_REQUEST: RequestId = RequestId(u32::MAX);

impl Ssd {
    /// Whether cleaning of a plane goes before what the host wants of its worker, which has begun so many programs since the last operation of
    /// cleaning.
    pub(super) fn is_urgent(&self, plane: u32, passed: u32) -> bool {
        let free = self.blocks.free_of(plane);
        if free >= self.cleaning.begin.max(self.cleaning.stop) {
            return false;
        }
        !self.cleaning.is_throttled
            || free < self.cleaning.stop
            || passed > free - self.cleaning.stop
    }

    /// Whether the host may write the next page of a plane. Cleaning begins here, where it is what is missing.
    pub(super) fn can_write(&mut self, plane: u32, cx: &mut Context<'_>) -> bool {
        if !self.blocks.needs_block(plane, Writer::Host) {
            return true;
        }
        let free = self.blocks.free_of(plane);
        if free > 1 && free >= self.cleaning.stop {
            return true;
        }
        !self.clean(plane, cx) && free > 1
    }

    /// Cleans a plane that has too few free blocks.
    pub(super) fn clean_if_needed(&mut self, plane: u32, cx: &mut Context<'_>) {
        if self.blocks.free_of(plane) < self.cleaning.begin {
            self.clean(plane, cx);
        }
    }

    /// Cleans a plane; whether there is anything to clean, or it is being cleaned already.
    fn clean(&mut self, plane: u32, cx: &mut Context<'_>) -> bool {
        if self.jobs[plane as usize].is_some() {
            return true;
        }
        if self.read_only_since.is_some() {
            return false;
        }
        let Some(block) = self.choose_victim(plane) else {
            return false;
        };
        self.jobs[plane as usize] = Some(Job {
            block,
            next: block * self.geometry.units_of_block(),
        });
        self.next_step(plane, cx);
        true
    }

    /// Chooses the block of a plane that is cleaned next.
    pub(super) fn choose_victim(&mut self, plane: u32) -> Option<u32> {
        let (first, blocks) = self.blocks.of_plane(plane);
        let candidates = Candidates {
            blocks,
            units: self.geometry.units_of_block(),
            clock: self.blocks.clock(),
        };
        let block = first + self.victims.choose(&candidates, &mut self.chance)?;
        self.blocks.choose(block);
        Some(block)
    }

    /// The next page of the block that is cleaned is moved; without any left, the block is erased.
    fn next_step(&mut self, plane: u32, cx: &mut Context<'_>) {
        let Job { block, next } = self.jobs[plane as usize].expect("it is being cleaned");
        let end = (block + 1) * self.geometry.units_of_block();
        let valid = (next..end).find_map(|slot| Some((slot, self.map.unit(slot)?)));
        let operation = match valid {
            Some((slot, unit)) => {
                self.jobs[plane as usize] = Some(Job {
                    block,
                    next: slot + 1,
                });
                let mut operation = Operation::new(Action::Move, NO_REQUEST, plane, unit);
                operation.from = slot;
                operation
            }
            None => Operation::new(Action::Erase, NO_REQUEST, plane, block),
        };
        let id = self.operations.add(operation);
        self.enqueue(id, cx);
    }

    /// A page has been moved. What was written in the meantime is newer.
    pub(super) fn move_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        let operation = *self.operations.get(id);
        self.operations.remove(id);
        self.blocks.written(operation.to);
        self.counters.moved_pages += 1;
        if self.map.slot(operation.unit) == Some(operation.from) {
            let (from, to) = (
                self.lbn_of_slot(operation.from),
                self.lbn_of_slot(operation.to),
            );
            if let Some((checker, device)) = cx.checker() {
                checker.moved_on_medium(device, from, to, self.geometry.unit_blocks);
            }
            self.settle(operation.unit, operation.to);
        }
        self.next_step(operation.plane, cx);
    }

    /// A block has been erased.
    pub(super) fn erase_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        let Operation {
            plane, unit: block, ..
        } = *self.operations.get(id);
        self.operations.remove(id);
        self.jobs[plane as usize] = None;
        let blocks = self.geometry.units_of_block() * self.geometry.unit_blocks;
        let first = self.lbn_of_slot(block * self.geometry.units_of_block());
        if let Some((checker, device)) = cx.checker() {
            checker.cleared(device, first, blocks);
        }
        if !self.blocks.erase(block) {
            self.worn_out(plane, cx);
        }
        let is_idle = self.serving == 0
            && self
                .cleaning
                .idle
                .is_some_and(|(_, most)| self.blocks.free_of(plane) < most);
        if is_idle {
            self.clean(plane, cx);
        } else {
            self.clean_if_needed(plane, cx);
        }
    }

    /// A block of a plane is worn out: without another in its place the drive can only be read from now on.
    fn worn_out(&mut self, plane: u32, cx: &mut Context<'_>) {
        let group = self.group_of_plane(plane);
        let members =
            (0..self.allocation.members()).map(|member| self.allocation.plane(group, member));
        let limit: u64 = members.map(|plane| u64::from(self.limit(plane))).sum();
        let has_spare = limit >= self.units_of_group() && self.blocks.free_of(plane) > 0;
        if self.read_only_since.is_some() || has_spare {
            return;
        }
        self.read_only_since = Some(cx.now());
        let mut given_up = Vec::new();
        for worker in &mut self.workers {
            let mut at = std::mem::take(&mut worker.writes).front();
            while let Some(id) = at {
                given_up.push(id);
                at = self.operations.after(id);
            }
        }
        for id in given_up {
            self.queued[self.operations.get(id).plane as usize] -= 1;
            self.write_failed(id, cx);
        }
    }

    fn group_of_plane(&self, plane: u32) -> u32 {
        let is_in = |&group: &u32| {
            (0..self.allocation.members())
                .any(|member| self.allocation.plane(group, member) == plane)
        };
        (0..self.allocation.groups())
            .find(is_in)
            .expect("every plane is in a group")
    }

    /// The most units that one group of planes may have to hold.
    pub(super) fn units_of_group(&self) -> u64 {
        let pages = u64::from(self.map.units()).div_ceil(u64::from(self.geometry.units));
        pages.div_ceil(u64::from(self.allocation.groups())) * u64::from(self.geometry.units)
    }

    /// The drive serves no request any more.
    pub(super) fn idle(&mut self, cx: &mut Context<'_>) {
        self.idle_since = cx.now();
        if let Some((after, _)) = self.cleaning.idle {
            cx.background_alarm(cx.now() + after, Token::new(kinds::IDLE, 0));
        }
    }

    /// Cleans all planes that have fewer free blocks than an idle drive wants, if it has been idle for long enough.
    pub(super) fn clean_when_idle(&mut self, cx: &mut Context<'_>) {
        let Some((after, most)) = self.cleaning.idle else {
            return;
        };
        if self.serving > 0 || cx.now() - self.idle_since < after {
            return;
        }
        for plane in 0..self.geometry.all_planes() {
            if self.blocks.free_of(plane) < most {
                self.clean(plane, cx);
            }
        }
    }
}
