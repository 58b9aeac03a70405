//! Static wear levelling: data that nobody writes again are moved from blocks with few erases.

use super::Ssd;
use super::drive::StaticLevellingDescription;
use crate::base::error::InputError;
use crate::engine::context::Context;

/// When blocks are moved for their wear.
pub(super) struct Levelling {
    every: u32,
    spread: u32,
    /// Erases of each plane since a block of it was last moved so.
    since: Vec<u32>,
    /// Blocks moved so since the warm-up ended.
    pub levelled: u64,
}

impl StaticLevellingDescription {
    /// Checks it, for a number of planes.
    ///
    /// # Errors
    /// A rate that leaves nothing to cleaning.
    pub(super) fn build(&self, planes: u32) -> Result<Box<Levelling>, InputError> {
        if self.every < 2 {
            let error = InputError::new(format!("static levelling with every = {}", self.every));
            return Err(error
                .help("accepted: 2 or more; at most one erase in this number is for levelling"));
        }
        Ok(Box::new(Levelling {
            every: self.every,
            spread: self.spread,
            since: vec![0; planes as usize],
            levelled: 0,
        }))
    }
}

impl Ssd {
    /// A block of a plane has been erased: it may be time to move the one that was erased least.
    pub(super) fn level_wear(&mut self, plane: u32, cx: &mut Context<'_>) {
        let may_clean = self.may_clean_anyway(plane);
        let Some(levelling) = &mut self.levelling else {
            return;
        };
        let since = &mut levelling.since[plane as usize];
        *since += 1;
        if *since < levelling.every || !may_clean {
            return;
        }
        if let Some(block) = self.blocks.least_erased(plane, levelling.spread) {
            *since = 0;
            levelling.levelled += 1;
            self.clean_anyway(plane, block, cx);
        }
    }
}
