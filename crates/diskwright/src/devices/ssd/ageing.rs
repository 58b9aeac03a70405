//! What wear, time and reads do to blocks: reads that are retried, and blocks that are refreshed in the background.

use super::drive::{RefreshDescription, RetryDescription};
use super::operations::{Action, Operation};
use super::{Ssd, kinds};
use crate::base::error::InputError;
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::models::flash::blocks::BlockState;

/// The longest time of a retry.
const LONGEST: Time = Time::from_s(10);

/// What a drive knows of the ages of its blocks, and does about them.
pub(super) struct Ageing {
    retry: Option<RetryDescription>,
    refresh: Option<RefreshDescription>,
    /// When the first page of each block was begun; `None` of one that was before the run.
    opened: Vec<Option<Time>>,
    /// Reads of each block since it was opened, or since the run began.
    reads: Vec<u32>,
    /// Retries, and blocks that were refreshed, since the warm-up ended.
    pub retries: u64,
    pub refreshed: u64,
}

impl RetryDescription {
    /// Checks it.
    ///
    /// # Errors
    /// A step of nothing, a retry that is too long.
    pub(super) fn check(&self) -> Result<(), InputError> {
        if self.erases == Some(0) || self.age == Some(Time::ZERO) {
            let error = InputError::new("a retry more for every step of nothing");
            return Err(error.help("erases and age: more than 0, or left out"));
        }
        if self.time > LONGEST {
            let error = InputError::new(format!("a retry that takes {}", self.time));
            return Err(error.help(format!("at most {LONGEST}")));
        }
        Ok(())
    }
}

impl RefreshDescription {
    /// Checks it.
    ///
    /// # Errors
    /// Blocks that are moved all the time.
    pub(super) fn check(&self) -> Result<(), InputError> {
        if self.reads == Some(0) || self.period == Time::ZERO {
            let error = InputError::new("blocks that are refreshed all the time");
            return Err(error.help("reads and period: more than 0"));
        }
        Ok(())
    }
}

impl Ageing {
    /// The ageing of blocks that were all opened before the run; `None` where nothing is retried or refreshed.
    pub fn new(
        retry: Option<RetryDescription>,
        refresh: Option<RefreshDescription>,
        blocks: u32,
    ) -> Option<Box<Ageing>> {
        if retry.is_none() && refresh.is_none() {
            return None;
        }
        Some(Box::new(Ageing {
            retry,
            refresh,
            opened: vec![None; blocks as usize],
            reads: vec![0; blocks as usize],
            retries: 0,
            refreshed: 0,
        }))
    }

    /// How old a block is.
    fn age(&self, block: u32, now: Time) -> Time {
        let before = self.retry.map_or(Time::ZERO, |retry| retry.initial_age);
        match self.opened[block as usize] {
            Some(at) => now - at,
            None => now + before,
        }
    }

    /// A block is opened.
    #[inline(never)]
    pub fn opens(&mut self, block: u32, now: Time) {
        self.opened[block as usize] = Some(now);
        self.reads[block as usize] = 0;
    }

    /// How often a read of a block in the native mode is retried.
    fn retries_of(&self, block: u32, erases: u32, now: Time) -> u32 {
        let Some(retry) = &self.retry else { return 0 };
        let by_wear = retry.erases.map_or(0, |step| erases / step);
        let by_age = retry
            .age
            .map_or(0, |step| self.age(block, now).ns() / step.ns());
        (u64::from(by_wear) + by_age).min(retry.most.into()) as u32
    }
}

impl Ssd {
    /// How much longer the array takes for a read of a slot because of retries, which are counted.
    #[inline]
    pub(super) fn retry_time(&mut self, slot: u32, now: Time) -> Time {
        match self.ageing {
            Some(_) => self.time_of_retries(slot, now),
            None => Time::ZERO,
        }
    }

    /// The same of a drive whose flash ages.
    #[inline(never)]
    fn time_of_retries(&mut self, slot: u32, now: Time) -> Time {
        let Some(ageing) = &mut self.ageing else {
            return Time::ZERO;
        };
        let block = self.geometry.block_of(slot);
        if self.blocks.is_slc(slot) {
            return Time::ZERO;
        }
        let retries = ageing.retries_of(block, self.blocks.block(block).erases, now);
        ageing.retries += u64::from(retries);
        let time = ageing.retry.map_or(Time::ZERO, |retry| retry.time);
        Time::from_ns(time.ns() * u64::from(retries))
    }

    /// A page is begun in a block, which it may open.
    #[inline]
    pub(super) fn note_opened(&mut self, slot: u32, now: Time) {
        if let Some(ageing) = &mut self.ageing
            && self.geometry.is_first_of_block(slot)
        {
            ageing.opens(self.geometry.block_of(slot), now);
        }
    }

    /// A read of a block is over, which may have been one too many.
    #[inline(never)]
    pub(super) fn note_read(&mut self, operation: &Operation, cx: &mut Context<'_>) {
        // Reads of the map that a refresh brings would bring others.
        if !matches!(operation.action, Action::Read | Action::Merge) {
            return;
        }
        let block = self.geometry.block_of(operation.from);
        let Some(ageing) = &mut self.ageing else {
            return;
        };
        let reads = &mut ageing.reads[block as usize];
        *reads = reads.saturating_add(1);
        let most = ageing.refresh.and_then(|refresh| refresh.reads);
        let is_due = most.is_some_and(|most| *reads >= most);
        if is_due && self.blocks.block(block).state == BlockState::Sealed {
            self.refresh(block, cx);
        }
    }

    /// Whether a block of a plane may be refreshed now. Between two refreshes of a worker a program and a read get their turns: blocks that are
    /// too old at every look would keep them waiting for ever.
    fn may_refresh(&self, plane: u32) -> bool {
        let worker = &self.workers[self.worker_of(plane) as usize];
        let has_turns = (worker.writes.is_empty() || !worker.owes_program)
            && (worker.reads.is_empty() || !worker.owes_read);
        has_turns && self.may_clean_anyway(plane)
    }

    fn refresh(&mut self, block: u32, cx: &mut Context<'_>) {
        let plane = block / self.geometry.blocks;
        if !self.may_refresh(plane) || self.is_incomplete(block) {
            return;
        }
        if let Some(ageing) = &mut self.ageing {
            ageing.refreshed += 1;
        }
        let worker = self.worker_of(plane);
        let state = &mut self.workers[worker as usize];
        (state.owes_program, state.owes_read) = (true, true);
        self.watch_anew();
        self.clean_anyway(plane, block, cx);
    }

    /// Sets the alarm for the next look for old blocks.
    pub(super) fn set_patrol(&mut self, cx: &mut Context<'_>) {
        let refresh = self.ageing.as_ref().and_then(|ageing| ageing.refresh);
        if let Some(refresh) = refresh.filter(|refresh| refresh.age.is_some()) {
            cx.background_alarm(cx.now() + refresh.period, Token::new(kinds::PATROL, 0));
        }
    }

    /// Each plane refreshes its oldest block, if that is too old.
    pub(super) fn patrol(&mut self, cx: &mut Context<'_>) {
        for plane in 0..self.geometry.all_planes() {
            if let Some(block) = self.too_old(plane, cx.now()) {
                self.refresh(block, cx);
            }
        }
        self.set_patrol(cx);
    }

    /// The oldest sealed native block of a plane, if it is too old.
    fn too_old(&self, plane: u32, now: Time) -> Option<u32> {
        let ageing = self.ageing.as_ref()?;
        let most = ageing.refresh?.age?;
        let (first, blocks) = self.blocks.of_plane(plane);
        let sealed = (first..)
            .zip(blocks)
            .filter(|(_, block)| block.state == BlockState::Sealed);
        let (age, std::cmp::Reverse(block)) = sealed
            .map(|(block, _)| (ageing.age(block, now), std::cmp::Reverse(block)))
            .max()?;
        (age > most).then_some(block)
    }
}
