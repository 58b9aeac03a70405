//! Cleaning: what is valid in a block is moved within its plane, and the block is erased.

use super::operations::{Action, OpId, Operation, Phase};
use super::{Ssd, kinds};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::models::flash::blocks::Writer;
use crate::models::flash::victims::Candidates;

/// When a plane is cleaned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cleaning {
    /// Cleaning begins when fewer blocks of a plane are free.
    pub begin: u32,
    /// How many blocks of a plane are cleaned at a time, at most.
    pub at_once: usize,
    /// The host opens no block while fewer are free and something can be cleaned.
    pub stop: u32,
    /// Between the two, the host's writes and cleaning take turns, the more cleaning the fewer blocks are free.
    pub is_throttled: bool,
    /// How long a write is delayed for each unit that cleaning moves per unit that it frees, and how long a write is delayed now.
    pub write_delay: Time,
    pub delay: Time,
    /// An operation of cleaning begins only while a read or a program waits for its worker.
    pub is_in_foreground: bool,
    /// In a drive that has been idle for this time, planes are cleaned up to this number of free blocks.
    pub idle: Option<(Time, u32)>,
}

impl Cleaning {
    /// A block is cleaned of whose units so many are valid: writes pay for what is moved. The host's next units find room for `units` - `valid`.
    pub fn delays(&mut self, valid: u32, units: u32) {
        if self.write_delay > Time::ZERO {
            let moved = self.write_delay.ns() * u64::from(valid);
            self.delay = Time::from_ns(moved / u64::from(units - valid));
        }
    }
}

/// A block that is being cleaned.
#[derive(Clone, Debug)]
pub(super) struct Job {
    block: u32,
    /// The first slot that has not been looked at.
    next: u32,
    /// Units that are being moved, with their slots, and how many of them the page had that was read last.
    gathered: Vec<(u32, u32)>,
    pub last: u32,
    /// Map units whose entries the moves have changed.
    changed: Vec<u32>,
}

/// The one of a plane's that cleans a block.
fn job_among(jobs: &mut [Job], block: u32) -> &mut Job {
    jobs.iter_mut()
        .find(|job| job.block == block)
        .expect("it is being cleaned")
}

impl Ssd {
    /// Whether cleaning of a plane goes before the host's operations on its worker. The worker has begun `passed` programs for the host
    /// since the last operation of cleaning.
    pub(super) fn is_urgent(&self, plane: u32, passed: u32) -> bool {
        let free = self.blocks.free_of(plane);
        if free >= self.cleaning.begin.max(self.cleaning.stop) {
            return false;
        }
        !self.cleaning.is_throttled
            || free < self.cleaning.stop
            || passed > free - self.cleaning.stop
    }

    /// Free blocks of a plane that the host leaves to cleaning: each block that is cleaned may need one for what is moved, and those that may fail
    /// have a reserve.
    pub(super) fn left_to_cleaning(&self, plane: u32) -> u32 {
        self.jobs[plane as usize].len().max(1) as u32 + self.blocks.reserve()
    }

    /// Whether cleaning may need the rest of a block that it shares with the host: each block that is cleaned takes less than a free one.
    pub(super) fn is_needed_by_cleaning(&self, plane: u32, writer: Writer) -> bool {
        self.blocks.is_shared(writer)
            && (self.blocks.free_of(plane) as usize) < self.jobs[plane as usize].len()
    }

    /// Whether the host may write the next page of a plane. Cleaning begins here, where it is what is missing.
    pub(super) fn can_write(&mut self, plane: u32, stream: u32, cx: &mut Context<'_>) -> bool {
        if self.slc.is_some() {
            if self.writes_slc(plane) {
                return true;
            }
            if self.waits_for_fold(plane) && self.clean(plane, cx) {
                return false;
            }
        }
        let writer = Writer::Host(stream);
        if !self.blocks.needs_block(plane, writer) {
            return !self.is_needed_by_cleaning(plane, writer);
        }
        let free = self.blocks.free_of(plane);
        let has_more = free > self.left_to_cleaning(plane);
        if has_more && free >= self.cleaning.stop {
            return true;
        }
        !self.clean(plane, cx) && has_more
    }

    /// Cleans a plane that has too few free blocks: one block of it, and more of them side by side as the free ones change.
    pub(super) fn clean_if_needed(&mut self, plane: u32, has_changed: bool, cx: &mut Context<'_>) {
        let free = self.blocks.free_of(plane);
        let jobs = self.jobs[plane as usize].len();
        let may_have_another = has_changed && jobs < self.cleaning.at_once && free > jobs as u32;
        if free < self.cleaning.begin && (jobs == 0 || may_have_another) {
            self.clean_block(plane, cx);
        }
    }

    /// Cleans a plane; whether there is anything to clean, or it is being cleaned already.
    pub(super) fn clean(&mut self, plane: u32, cx: &mut Context<'_>) -> bool {
        !self.jobs[plane as usize].is_empty() || self.clean_block(plane, cx)
    }

    /// Begins to clean a block of a plane; whether there is one that may be cleaned.
    #[inline(never)]
    fn clean_block(&mut self, plane: u32, cx: &mut Context<'_>) -> bool {
        if self.read_only_since.is_some() {
            return false;
        }
        let failed = match self.failing {
            Some(_) => self.blocks.choose_retiring(plane),
            None => None,
        };
        let first = failed.or_else(|| self.blocks.choose_fold(plane));
        let Some(block) = first.or_else(|| self.choose_paid_victim(plane)) else {
            return false;
        };
        self.begin_job(plane, block, cx);
        true
    }

    /// Chooses a victim for which writes pay from now on.
    fn choose_paid_victim(&mut self, plane: u32) -> Option<u32> {
        let block = self.choose_victim(plane)?;
        let valid = self.blocks.block(block).valid;
        self.cleaning.delays(valid, self.geometry.units_of_block());
        Some(block)
    }

    fn begin_job(&mut self, plane: u32, block: u32, cx: &mut Context<'_>) {
        self.jobs[plane as usize].push(Job {
            block,
            next: block * self.geometry.units_of_block(),
            gathered: Vec::new(),
            last: 0,
            changed: Vec::new(),
        });
        self.next_step(plane, block, cx);
    }

    /// Whether a block of a plane may be cleaned that frees no room: nothing else is, and the host is left a block.
    pub(super) fn may_clean_anyway(&self, plane: u32) -> bool {
        let (is_cleaned, least) = match &self.log {
            Some(log) => (log.blocks.is_merging(plane), 1),
            None => (
                !self.jobs[plane as usize].is_empty(),
                2 + self.blocks.reserve(),
            ),
        };
        !is_cleaned && self.blocks.free_of(plane) >= least && self.read_only_since.is_none()
    }

    /// Begins to clean a sealed block, however much of it is valid.
    pub(super) fn clean_anyway(&mut self, plane: u32, block: u32, cx: &mut Context<'_>) {
        if self.log.is_some() {
            return self.relocate(plane, block, cx);
        }
        self.blocks.choose(block);
        self.begin_job(plane, block, cx);
    }

    /// The block that an operation cleans.
    pub(super) fn job_of(&self, operation: &Operation) -> &Job {
        let mut jobs = self.jobs[operation.plane as usize].iter();
        jobs.find(|job| job.block == operation.unit)
            .expect("it is being cleaned")
    }

    fn job_mut(&mut self, operation: &Operation) -> &mut Job {
        job_among(&mut self.jobs[operation.plane as usize], operation.unit)
    }

    /// Whether a page is the first of its block: a block has been opened for it.
    pub(super) fn is_first_page(&self, slot: u32) -> bool {
        self.geometry.is_first_of_block(slot)
    }

    /// The operation of cleaning that a worker does next: the first one, but a block is not erased before all others of its plane that are being
    /// cleaned have been moved.
    pub(super) fn next_cleaning(&self, worker: u32) -> Option<OpId> {
        let mut at = self.workers[worker as usize].cleaning.front();
        while let Some(id) = at {
            let operation = self.operations.get(id);
            let jobs = &self.jobs[operation.plane as usize];
            let has_other = || jobs.iter().any(|job| self.next_valid(job).is_some());
            if jobs.len() == 1 || self.next_valid(self.job_of(operation)).is_some() || !has_other()
            {
                return Some(id);
            }
            at = self.operations.after(id);
        }
        None
    }

    /// Chooses the block of a plane that is cleaned next.
    pub(super) fn choose_victim(&mut self, plane: u32) -> Option<u32> {
        let (first, blocks) = self.blocks.of_plane(plane);
        let candidates = Candidates {
            blocks,
            units: self.geometry.units_of_block(),
            most: self.geometry.worth_cleaning(),
            clock: self.blocks.clock(),
        };
        let block = first + self.victims.choose(&candidates, &mut self.chance)?;
        self.blocks.choose(block);
        Some(block)
    }

    /// The next step of cleaning a block waits for its worker.
    fn next_step(&mut self, plane: u32, block: u32, cx: &mut Context<'_>) {
        let id = self.operations.add(Action::Move, plane);
        self.operations.get_mut(id).unit = block;
        self.enqueue(id, cx);
    }

    /// A step of cleaning begins: the next units that are valid are moved; without any left, the block is erased.
    #[inline(never)]
    pub(super) fn begin_cleaning(
        &mut self,
        channel: u32,
        worker: u32,
        id: OpId,
        cx: &mut Context<'_>,
    ) {
        if self.log.is_some() {
            return self.begin_step(channel, worker, id, cx);
        }
        if self.stripes.is_some() {
            return self.begin_striped(channel, worker, id, cx);
        }
        let operation = *self.operations.get(id);
        self.job_mut(&operation).gathered.clear();
        if self.next_valid(self.job_of(&operation)).is_some() {
            let Some(to) = self.blocks.next_page(operation.plane, Writer::Cleaning) else {
                debug_assert!(self.failing.is_some(), "the host leaves it a block");
                return self.cleaning_ends(channel, worker, id, cx);
            };
            self.operations.get_mut(id).to = to;
            self.note_opened(to, cx.now());
            self.sense_move(channel, worker, id, cx);
            if self.is_first_page(to) {
                self.clean_if_needed(operation.plane, true, cx);
            }
            return;
        }
        let entry = self.operations.get_mut(id);
        (entry.action, entry.phase) = (Action::Erase, Phase::Last);
        let (command, erase) = match self.is_retiring(operation.unit) {
            true => (Time::ZERO, Time::ZERO),
            false => (self.timing.erase_command, self.erase_time(operation.unit)),
        };
        self.carry(channel, id, command, cx.now());
        self.ring(worker, id, cx.now() + command + erase, cx);
    }

    /// The next slot of the block that is cleaned whose unit is valid.
    fn next_valid(&self, job: &Job) -> Option<u32> {
        let end = (job.block + 1) * self.geometry.units_of_block();
        (job.next..end).find(|&slot| self.map.unit(slot).is_some())
    }

    /// A move reads the next page that has something valid: as much of it as fits the page that is written.
    #[inline(never)]
    pub(super) fn sense_move(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let operation = *self.operations.get(id);
        let units = self.geometry.units;
        let Some(first) = self.next_valid(self.job_of(&operation)) else {
            // What was left when the last page was read has been overwritten since.
            return self.write_back(channel, worker, id, cx);
        };
        let page = self.geometry.page_of(first);
        let job = job_among(&mut self.jobs[operation.plane as usize], operation.unit);
        let before = job.gathered.len();
        let mut slot = first;
        while slot < (page + 1) * units && job.gathered.len() < units as usize {
            if let Some(unit) = self.map.unit(slot) {
                job.gathered.push((unit, slot));
                // When it has been copied, it is asked whether it is still the newest.
                self.map.prefetch(unit);
            }
            slot += 1;
        }
        job.next = slot;
        let taken = (job.gathered.len() - before) as u32;
        job.last = taken;
        let is_whole = taken == units;
        let read = self.read_time(first, taken * self.geometry.unit_blocks)
            + self.retry_time(first, cx.now());
        let entry = self.operations.get_mut(id);
        entry.from = first;
        if is_whole && self.copy_back {
            let commands = self.timing.read_command + self.timing.program_command;
            let number = self.geometry.page_in_block(self.operations.get(id).to);
            let program = self.timing.program_time(number, self.geometry.pages);
            return self.program(channel, worker, id, (commands, read + program), cx);
        }
        entry.phase = Phase::Sense;
        let command = self.timing.read_command;
        self.carry(channel, id, command, cx.now());
        self.ring(worker, id, cx.now() + command + read, cx);
    }

    /// What a move waits for when what it read is in the controller: to read another page, or to write.
    pub(super) fn after_gathering(&self, id: OpId) -> Phase {
        if self.log.is_some() {
            return Phase::Back;
        }
        let job = self.job_of(self.operations.get(id));
        let is_full = job.gathered.len() == self.geometry.units as usize;
        if is_full || self.next_valid(job).is_none() {
            Phase::Back
        } else {
            Phase::Again
        }
    }

    /// Units have been moved. What was written in the meantime is newer.
    #[inline(never)]
    pub(super) fn move_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        if self.log.is_some() {
            return self.step_copied(id, cx);
        }
        let operation = *self.operations.get(id);
        self.operations.remove(id);
        if self.page_fails(operation.to, cx) {
            let job = self.job_mut(&operation);
            // What it read is still where it was.
            job.next = job.gathered.first().map_or(job.next, |&(_, from)| from);
            return self.next_step(operation.plane, operation.unit, cx);
        }
        self.blocks.written(operation.to);
        match self.blocks.block(operation.unit).is_slc {
            true => self.counters.folded_pages += 1,
            false => self.counters.moved_pages += 1,
        }
        let job = self.job_mut(&operation);
        let gathered = std::mem::take(&mut job.gathered);
        let mut changed = std::mem::take(&mut job.changed);
        for (to, &(unit, from)) in (operation.to..).zip(&gathered) {
            if self.unit_moved(unit, (from, to), cx) {
                changed.extend(self.map_unit_of(unit));
            }
        }
        let job = self.job_mut(&operation);
        (job.gathered, job.changed) = (gathered, changed);
        self.note_programmed(cx);
        self.next_step(operation.plane, operation.unit, cx);
    }

    /// A block has been erased.
    #[inline(never)]
    pub(super) fn erase_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        let Operation {
            plane, unit: block, ..
        } = *self.operations.get(id);
        self.operations.remove(id);
        let job = self.drop_job(plane, block);
        if self.is_retiring(block) {
            self.blocks.retire(block);
            if let (Some(job), Some(_)) = (job, &self.mapping) {
                self.units_moved(job.changed, cx);
            }
            return self.clean_on(plane, cx);
        }
        let slots = self.geometry.units_of_block();
        self.recovery.erased(block * slots..(block + 1) * slots);
        let blocks = self.geometry.units_of_block() * self.geometry.unit_blocks;
        let first = self.lbn_of_slot(block * self.geometry.units_of_block());
        if let Some((checker, device)) = cx.checker() {
            checker.cleared(device, first, blocks);
        }
        if self.stripes.is_some() {
            return self.block_of_superblock_erased(plane, block, cx);
        }
        if self.erase_fails(block) || !self.blocks.erase(block) {
            self.spare_lost(plane, cx);
        }
        if let (Some(job), Some(_)) = (job, &self.mapping) {
            self.units_moved(job.changed, cx);
            self.watch_cleaning(plane, cx);
        }
        if self.log.is_some() {
            self.next_log_step(plane, cx);
        }
        if self.levelling.is_some() {
            self.level_wear(plane, cx);
        }
        self.clean_on(plane, cx);
    }

    /// A block that was cleaned is not a block of cleaning any more.
    pub(super) fn drop_job(&mut self, plane: u32, block: u32) -> Option<Job> {
        let jobs = &mut self.jobs[plane as usize];
        let place = jobs.iter().position(|job| job.block == block);
        place.map(|place| jobs.remove(place))
    }

    /// A block of a plane has been cleaned: others may have to be.
    fn clean_on(&mut self, plane: u32, cx: &mut Context<'_>) {
        self.clean_failed(plane, cx);
        match self.idle_cleaning(cx.now()) {
            Some(most) if self.blocks.free_of(plane) < most => _ = self.clean(plane, cx),
            _ => self.clean_if_needed(plane, true, cx),
        }
        self.fold_on(plane, cx);
    }

    /// A block of a plane is worn out or has failed: without another in its place the drive can only be read from now on. Behind failures cleaning
    /// goes on while it finds blocks.
    pub(super) fn spare_lost(&mut self, plane: u32, cx: &mut Context<'_>) {
        let limit = self.room_of_group(self.group_of_plane(plane));
        let has_spare = match &self.log {
            Some(log) => self.blocks.usable_of(plane) >= log.blocks.needed(plane),
            None => {
                let has_free = self.failing.is_some() || self.blocks.free_of(plane) > 0;
                limit >= self.units_of_group() && has_free
            }
        };
        if self.read_only_since.is_some() || has_spare {
            return;
        }
        self.turn_read_only(cx);
    }

    /// The drive can only be read from now on.
    pub(super) fn turn_read_only(&mut self, cx: &mut Context<'_>) {
        if self.read_only_since.is_some() {
            return;
        }
        self.read_only_since = Some(cx.now());
        let mut given_up = self.take_waiting_pages();
        for worker in &mut self.workers {
            let mut at = std::mem::take(&mut worker.writes).front();
            while let Some(id) = at {
                given_up.push(id);
                at = self.operations.after(id);
            }
        }
        self.give_up_writes(&given_up, cx);
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

    /// Units that a group of planes can take; with parity there is one group, of sets.
    pub(super) fn room_of_group(&self, group: u32) -> u64 {
        if let Some(striped) = &self.stripes {
            return self.room_of_sets(striped);
        }
        let members = 0..self.allocation.members();
        let planes = members.map(|member| self.allocation.plane(group, member));
        planes.map(|plane| u64::from(self.limit(plane))).sum()
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
        if let Some(after) = self.folds_after() {
            cx.background_alarm(cx.now() + after, Token::new(kinds::FOLD, 0));
        }
    }

    /// How many free blocks each plane is to have, in a drive that has been idle for long enough.
    pub(super) fn idle_cleaning(&self, now: Time) -> Option<u32> {
        let (after, most) = self.cleaning.idle?;
        (self.serving == 0 && now - self.idle_since >= after).then_some(most)
    }

    /// Cleans all planes that have fewer free blocks than an idle drive wants, if it has been idle for long enough.
    pub(super) fn clean_when_idle(&mut self, cx: &mut Context<'_>) {
        let Some(most) = self.idle_cleaning(cx.now()) else {
            return;
        };
        if self.stripes.is_some() {
            return self.clean_sets_when_idle(most, cx);
        }
        for plane in 0..self.geometry.all_planes() {
            if self.blocks.free_of(plane) < most {
                self.clean(plane, cx);
            }
        }
    }
}
