//! Programs and erases that fail: pages that are written elsewhere, blocks that are retired, and the end of the spare blocks.

use serde_json::{Value, json};

use super::Ssd;
use super::operations::{Action, OpId};
use crate::engine::context::Context;
use crate::models::flash::blocks::BlockState;
use crate::models::flash::failures::Failures;

/// What fails on a drive, and what has since the warm-up ended.
pub(super) struct Failing {
    pub rules: Failures,
    pub programs: u64,
    pub erases: u64,
}

impl Failing {
    pub fn new(rules: Failures) -> Failing {
        Failing {
            rules,
            programs: 0,
            erases: 0,
        }
    }
}

impl Ssd {
    /// A program of a page of the host's ends; whether it has failed: then the page is to be written elsewhere in its plane.
    #[inline(never)]
    pub(super) fn program_fails(&mut self, id: OpId, cx: &mut Context<'_>) -> bool {
        let operation = *self.operations.get(id);
        if !self.page_fails(operation.to, cx) {
            return false;
        }
        if self.blocks.is_slc(operation.to) {
            self.counters.slc_pages = self.counters.slc_pages.saturating_sub(1);
        }
        if self.read_only_since.is_some() {
            self.unqueue(id);
            self.give_up_page(id, cx);
        } else {
            self.operations.remove(id);
            let again = self.operations.add(Action::Program, operation.plane);
            let entry = self.operations.get_mut(again);
            (entry.unit, entry.stream) = (operation.unit, operation.stream);
            entry.entries = operation.entries;
            // What it has had of the flash so far was for nothing, but its requests have waited for it.
            entry.channel_time = operation.channel_time;
            entry.read_time = operation.read_time;
            entry.program_time = operation.program_time;
            entry.erase_time = operation.erase_time;
            self.enqueue(again, cx);
        }
        self.fold_on(operation.plane, cx);
        true
    }

    /// The program of the page that begins at a slot ends; whether it has failed: nothing more is written in its block, which is cleaned and
    /// retired.
    pub(super) fn page_fails(&mut self, slot: u32, cx: &mut Context<'_>) -> bool {
        let Some(failing) = &mut self.failing else {
            return false;
        };
        let block = self.geometry.block_of(slot);
        let page = self.geometry.page_in_block(slot);
        let erases = self.blocks.block(block).erases;
        if !failing.rules.program_fails(block, erases, page) {
            return false;
        }
        failing.programs += 1;
        self.blocks.fail(block);
        let plane = block / self.geometry.blocks;
        self.spare_lost(plane, cx);
        self.clean_failed(plane, cx);
        true
    }

    /// The erase of a block ends; whether it has failed: the block is retired.
    pub(super) fn erase_fails(&mut self, block: u32) -> bool {
        let Some(failing) = &mut self.failing else {
            return false;
        };
        let erases = self.blocks.block(block).erases;
        if !failing.rules.erase_fails(block, erases) {
            return false;
        }
        failing.erases += 1;
        self.blocks.fail_erase(block);
        true
    }

    /// Cleans a block of a plane with a failed program, if one waits and no block of the plane is being cleaned.
    pub(super) fn clean_failed(&mut self, plane: u32, cx: &mut Context<'_>) {
        if self.failing.is_some() && self.blocks.may_retire(plane) {
            self.clean(plane, cx);
        }
    }

    /// Whether a block is retired when nothing of it is valid any more, and not erased.
    pub(super) fn is_retiring(&self, block: u32) -> bool {
        self.failing.is_some() && self.blocks.block(block).state == BlockState::Retiring
    }

    /// Cleaning finds no free block for what it moves: it ends, and the drive can only be read from now on. What was to be moved stays where it is.
    pub(super) fn cleaning_ends(
        &mut self,
        channel: u32,
        worker: u32,
        id: OpId,
        cx: &mut Context<'_>,
    ) {
        let operation = *self.operations.get(id);
        self.operations.remove(id);
        self.drop_job(operation.plane, operation.unit);
        let state = &mut self.workers[worker as usize];
        state.current = None;
        if state.has_work() {
            self.is_ready(channel, worker);
        }
        self.turn_read_only(cx);
    }

    /// Programs that failed: their pages are not what the host's, moved or map pages are.
    pub(super) fn failed_pages(&self) -> u64 {
        self.failing.as_ref().map_or(0, |failing| failing.programs)
    }

    /// What results tell of failures, where there may be some.
    pub(super) fn failures_json(&self) -> Option<Value> {
        let failing = self.failing.as_ref()?;
        let count = |state| {
            let all = self.blocks.all().iter();
            all.filter(|block| block.state == state).count()
        };
        Some(json!({
            "programs": failing.programs,
            "erases": failing.erases,
            "retiring_blocks_at_end": count(BlockState::Retiring),
            "retired_blocks": count(BlockState::Retired),
        }))
    }

    /// Why a drive with failures can only be read.
    pub(super) fn doubt_of_failures(&self) -> Option<String> {
        let at = self.read_only_since?;
        self.failing.as_ref()?;
        let lost = self.blocks.all().iter();
        let lost = lost.filter(|block| block.state.is_lost()).count();
        Some(format!(
            "at {at} there was no spare block left, with {lost} blocks bad, failed or worn out: from then on the drive could only be read"
        ))
    }
}
