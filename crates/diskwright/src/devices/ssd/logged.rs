//! A map of blocks: pages go where it says, and merges come before them, in the place of cleaning.

use serde_json::{Value, json};

use super::Ssd;
use super::operations::{Action, OpId, Operation, Phase};
use crate::base::error::InputError;
use crate::engine::context::Context;
use crate::models::flash::log_blocks::{Flash, LogBlocks, LogScheme, Step};
use crate::models::flash::map::{PageMap, Whereabouts};

use super::entries::{Entries, EntryId};

/// A drive's map of blocks.
pub(super) struct Logged {
    pub blocks: LogBlocks,
    pub scheme: LogScheme,
}

/// Where a unit is on flash.
fn home(map: &PageMap, entries: &Entries, unit: u32) -> Option<u32> {
    match map.whereabouts(unit) {
        Whereabouts::Nowhere => None,
        Whereabouts::Slot(slot) => Some(slot),
        Whereabouts::Held(oldest) => entries.get(EntryId(oldest)).home(),
    }
}

impl Ssd {
    /// Does something with the map of blocks and what is on flash.
    fn with_log<T>(&mut self, act: impl FnOnce(&mut LogBlocks, &mut Flash<'_>) -> T) -> Option<T> {
        let log = self.log.as_mut()?;
        let (map, entries) = (&self.map, &self.writes.entries);
        let mut flash = Flash {
            blocks: &mut self.blocks,
            map,
            home: &|unit| home(map, entries, unit),
        };
        Some(act(&mut log.blocks, &mut flash))
    }

    /// The unit that a program writes.
    fn unit_of_program(&self, id: OpId) -> Option<u32> {
        let entry = self.operations.get(id).entries.first()?;
        Some(self.writes.entries.get(entry).unit)
    }

    /// The operation that a worker begins next: a read, a merge or padding that programs wait for, a program.
    #[inline(never)]
    pub(super) fn choose_logged(&mut self, worker: u32, cx: &mut Context<'_>) -> Option<OpId> {
        if let Some(id) = self.choose_read(worker, cx) {
            return Some(id);
        }
        let merge = self.workers[worker as usize].cleaning.front();
        if merge.is_some() {
            return merge;
        }
        let mut at = self.workers[worker as usize].writes.front();
        while let Some(id) = at {
            if self.may_write_logged(id, cx) {
                return Some(id);
            }
            at = self.operations.after(id);
            self.operations.get_mut(id).was_blocked = true;
        }
        self.workers[worker as usize].cleaning.front()
    }

    /// Whether a program may begin; what must be done before it begins here.
    fn may_write_logged(&mut self, id: OpId, cx: &mut Context<'_>) -> bool {
        let plane = self.operations.get(id).plane;
        let is_merging = |log: &super::Logged| log.blocks.is_merging(plane);
        if self.log.as_ref().is_none_or(|log| is_merging(log)) {
            return false;
        }
        let Some(unit) = self.unit_of_program(id) else {
            return false;
        };
        let step = self.with_log(|log, flash| log.make_way(unit, flash));
        self.note_log_opened(cx);
        match step.flatten() {
            Some(step) => {
                self.enqueue_step(plane, step, cx);
                false
            }
            None => true,
        }
    }

    /// The number in its block of the page that a program would write at once.
    pub(super) fn number_of_logged(&self, id: OpId) -> Option<u32> {
        let log = self.log.as_ref()?;
        log.blocks.number_of(self.unit_of_program(id)?)
    }

    /// Whether no other program of its plane waits before it.
    pub(super) fn is_first_of_plane(&self, worker: u32, id: OpId) -> bool {
        let plane = self.operations.get(id).plane;
        let mut at = self.workers[worker as usize].writes.front();
        while let Some(first) = at
            && self.operations.get(first).plane != plane
        {
            at = self.operations.after(first);
        }
        at == Some(id)
    }

    /// The page of a program, before which nothing is to be merged.
    #[inline(never)]
    pub(super) fn page_of_logged(&mut self, id: OpId, cx: &Context<'_>) -> Option<u32> {
        let unit = self.unit_of_program(id)?;
        let slot = self.with_log(|log, flash| log.write(unit, flash))?;
        self.note_log_opened(cx);
        slot
    }

    /// A block may have been opened.
    fn note_log_opened(&mut self, cx: &Context<'_>) {
        let opened = self.log.as_mut().and_then(|log| log.blocks.take_opened());
        if let (Some(ageing), Some(block)) = (&mut self.ageing, opened) {
            ageing.opens(block, cx.now());
        }
    }

    /// A step of what a plane does before its next program waits for its worker.
    fn enqueue_step(&mut self, plane: u32, step: Step, cx: &mut Context<'_>) {
        let id = match step {
            Step::Copy { unit, from, to } => {
                let id = self.operations.add(Action::Move, plane);
                let copy = self.operations.get_mut(id);
                (copy.unit, copy.from, copy.to) = (unit, from, to);
                id
            }
            Step::Erase(block) => {
                let id = self.operations.add(Action::Erase, plane);
                self.operations.get_mut(id).unit = block;
                id
            }
        };
        self.enqueue(id, cx);
    }

    /// A step begins.
    pub(super) fn begin_step(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let Operation {
            action,
            unit,
            from,
            to,
            ..
        } = *self.operations.get(id);
        let now = cx.now();
        if action == Action::Erase {
            self.operations.get_mut(id).phase = Phase::Last;
            let command = self.timing.erase_command;
            self.carry(channel, id, command, now);
            let erase = self.erase_time(unit);
            return self.ring(worker, id, now + command + erase, cx);
        }
        let read = self.read_time(from, self.geometry.unit_blocks) + self.retry_time(from, now);
        if self.copy_back {
            let commands = self.timing.read_command + self.timing.program_command;
            let number = self.geometry.page_in_block(to);
            let program = self.timing.program_time(number, self.geometry.pages);
            return self.program(channel, worker, id, (commands, read + program), cx);
        }
        self.operations.get_mut(id).phase = Phase::Sense;
        let command = self.timing.read_command;
        self.carry(channel, id, command, now);
        self.ring(worker, id, now + command + read, cx);
    }

    /// A page has been copied. What was trimmed in the meantime has been copied for nothing.
    pub(super) fn step_copied(&mut self, id: OpId, cx: &mut Context<'_>) {
        let Operation {
            plane,
            unit,
            from,
            to,
            ..
        } = *self.operations.get(id);
        self.operations.remove(id);
        self.counters.moved_pages += 1;
        self.unit_moved(unit, (from, to), cx);
        self.next_log_step(plane, cx);
    }

    /// The next step of a plane waits for its worker, if there is one.
    pub(super) fn next_log_step(&mut self, plane: u32, cx: &mut Context<'_>) {
        let step = self.with_log(|log, flash| log.next_step(plane, flash));
        self.note_log_opened(cx);
        if let Some(step) = step.flatten() {
            self.enqueue_step(plane, step, cx);
        }
    }

    /// Whether the drive has a map of blocks and a page of a block is still being programmed: the map does not say yet that it is there, so that a copy
    /// of the block would leave it out.
    pub(super) fn is_incomplete(&self, block: u32) -> bool {
        let worker = self.worker_of(block / self.geometry.blocks);
        let current = self.workers[worker as usize].current;
        let mut begun = current.into_iter().chain(self.suspended_of(worker));
        self.log.is_some()
            && begun.any(|id| {
                self.operations.together(id).any(|id| {
                    let operation = self.operations.get(id);
                    operation.action == Action::Program
                        && self.geometry.block_of(operation.to) == block
                })
            })
    }

    /// What is in a data block is copied to another one.
    pub(super) fn relocate(&mut self, plane: u32, block: u32, cx: &mut Context<'_>) {
        let step = self.with_log(|log, flash| log.relocate(plane, block, flash));
        self.note_log_opened(cx);
        if let Some(step) = step.flatten() {
            self.enqueue_step(plane, step, cx);
        }
    }

    /// Writes a unit in no time, with all that comes before it.
    ///
    /// # Errors
    /// The drive is worn out by it.
    pub(super) fn log_at_once(&mut self, unit: u32) -> Result<(), InputError> {
        while let Some(mut step) = self
            .with_log(|log, flash| log.make_way(unit, flash))
            .flatten()
        {
            loop {
                match step {
                    Step::Copy { unit, to, .. } => self.put_in_slot(unit, to),
                    Step::Erase(block) => _ = self.blocks.erase(block),
                }
                let plane = self.log.as_ref().map_or(0, |log| log.blocks.plane_of(unit));
                let next = self.with_log(|log, flash| log.next_step(plane, flash));
                match next.flatten() {
                    Some(next) => step = next,
                    None => break,
                }
            }
        }
        let slot = self.with_log(|log, flash| log.write(unit, flash)).flatten();
        let slot = slot.ok_or_else(|| {
            InputError::new("the drive is worn out before the run")
                .help("less overwrite, or more endurance")
        })?;
        self.put_in_slot(unit, slot);
        Ok(())
    }

    /// What results tell of the map of blocks, if there is one.
    pub(super) fn logged_json(&self) -> Option<Value> {
        let log = self.log.as_ref()?;
        let (counts, logs) = log.blocks.counts();
        let scheme = match log.scheme {
            LogScheme::Block => "block",
            LogScheme::Bast => "bast",
            LogScheme::Fast => "fast",
        };
        Some(json!({
            "scheme": scheme,
            "merges": { "switch": counts.switch, "partial": counts.partial, "full": counts.full },
            "dropped_log_blocks": counts.dropped,
            "log_blocks_at_end": logs,
        }))
    }
}
