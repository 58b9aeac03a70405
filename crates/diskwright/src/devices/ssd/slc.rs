//! The SLC cache: which pages of the host are written in SLC mode, and when blocks in SLC mode are folded into the native mode.

use serde_json::{Value, json};

use super::Ssd;
use super::drive::{SlcDescription, SlcFull};
use crate::base::error::InputError;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::context::Context;
use crate::models::flash::blocks::{SlcRules, Writer};
use crate::models::flash::geometry::Geometry;

/// The longest time of a page or block in SLC mode.
const LONGEST: Time = Time::from_s(10);

/// An SLC cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlcCache {
    pub rules: SlcRules,
    pub read: Time,
    pub program: Time,
    erase: Option<Time>,
    /// The host waits for a fold where the cache is full, and writes no native page.
    is_waited_for: bool,
    /// An idle drive folds after so long.
    fold_after: Option<Time>,
}

impl SlcDescription {
    /// Checks it against the flash.
    ///
    /// # Errors
    /// Blocks in SLC mode with no page or as many pages as others, no block at all, more than a plane has, a time that is too long.
    pub(super) fn build(
        &self,
        geometry: &Geometry,
        in_background: bool,
    ) -> Result<SlcCache, InputError> {
        if self.pages == 0 || self.pages >= geometry.pages {
            let error = InputError::new(format!("blocks of {} pages in SLC mode", self.pages));
            let help = match geometry.pages {
                1 => "a block of one page has none to spare: no SLC cache".to_owned(),
                pages => format!("accepted: 1 to {}, fewer than a block has", pages - 1),
            };
            return Err(error.help(help));
        }
        let most = u64::from(self.fixed) + u64::from(self.dynamic);
        if most == 0 || most > u64::from(geometry.blocks) {
            let error = InputError::new(format!("{most} blocks of a plane in SLC mode"));
            let help = format!(
                "accepted: fixed and dynamic of together 1 to {}, the blocks of a plane",
                geometry.blocks
            );
            return Err(error.help(help));
        }
        if self.fold_after.is_some() && !in_background {
            let error = InputError::new("an idle drive that folds, and background = false");
            let help = "accepted: fold_after with cleaning.background = true: nothing waits in an idle drive";
            return Err(error.help(help));
        }
        let times = [Some(self.read), Some(self.program), self.erase];
        match times.into_iter().flatten().max() {
            Some(time) if time > LONGEST => Err(InputError::new(format!(
                "flash in SLC mode that takes {time}"
            ))
            .help(format!("at most {LONGEST}"))),
            _ => Ok(SlcCache {
                rules: SlcRules {
                    pages: self.pages,
                    fixed: self.fixed,
                    dynamic: self.dynamic,
                },
                read: self.read,
                program: self.program,
                erase: self.erase,
                is_waited_for: self.full == SlcFull::Fold,
                fold_after: self.fold_after,
            }),
        }
    }
}

impl Ssd {
    /// Whether the host's next page of a plane is written in SLC mode: there is an open block, or one may be opened.
    pub(super) fn writes_slc(&self, plane: u32) -> bool {
        if !self.blocks.needs_block(plane, Writer::Slc) {
            return true;
        }
        let free = self.blocks.free_of(plane);
        free > self.left_to_cleaning(plane)
            && free >= self.cleaning.begin.max(self.cleaning.stop)
            && self.blocks.slc_of(plane) < self.blocks.slc_most(plane)
    }

    /// Whether the host leaves the native mode to what is folded.
    pub(super) fn waits_for_fold(&self, plane: u32) -> bool {
        self.slc.is_some_and(|slc| slc.is_waited_for) && self.blocks.slc_of(plane) > 0
    }

    /// The writer of the next page of a stream of the host.
    #[inline]
    pub(super) fn host_writer(&self, plane: u32, stream: u32) -> Writer {
        match self.slc {
            Some(_) if self.writes_slc(plane) => Writer::Slc,
            _ => Writer::Host(stream),
        }
    }

    /// The time of the array for the erase of a block.
    pub(super) fn erase_time(&self, block: u32) -> Time {
        let of_slc = self.slc.and_then(|slc| slc.erase);
        match of_slc {
            Some(erase) if self.blocks.block(block).is_slc => erase,
            _ => self.timing.erase,
        }
    }

    /// After how long an idle drive folds.
    pub(super) fn folds_after(&self) -> Option<Time> {
        self.slc?.fold_after
    }

    /// Whether the drive has been idle for long enough to fold.
    fn is_idle_for_folds(&self, now: Time) -> bool {
        self.serving == 0
            && self
                .folds_after()
                .is_some_and(|after| now - self.idle_since >= after)
    }

    /// Folds blocks of all planes, if the drive has been idle for long enough.
    pub(super) fn fold_when_idle(&mut self, cx: &mut Context<'_>) {
        for plane in 0..self.geometry.all_planes() {
            self.fold_on(plane, cx);
        }
    }

    /// Goes on with folding in an idle drive.
    #[inline]
    pub(super) fn fold_on(&mut self, plane: u32, cx: &mut Context<'_>) {
        if self.slc.is_some() {
            self.fold_more(plane, cx);
        }
    }

    #[inline(never)]
    fn fold_more(&mut self, plane: u32, cx: &mut Context<'_>) {
        if self.blocks.has_fold(plane) && self.is_idle_for_folds(cx.now()) {
            self.clean(plane, cx);
        }
    }

    /// What results tell of the cache, if there is one.
    pub(super) fn slc_json(&self) -> Option<Value> {
        let slc = self.slc?;
        let planes = 0..self.geometry.all_planes();
        let in_mode: u32 = planes.clone().map(|plane| self.blocks.slc_of(plane)).sum();
        let most: u64 = planes
            .map(|plane| u64::from(self.blocks.slc_most(plane)))
            .sum();
        let of_page = u64::from(self.geometry.unit_blocks * self.geometry.units) * BLOCK_BYTES;
        let capacity = most * u64::from(slc.rules.pages) * of_page;
        Some(json!({
            "pages": self.counters.slc_pages,
            "folded_pages": self.counters.folded_pages,
            "blocks_at_end": in_mode,
            "capacity_mb_at_end": capacity as f64 / 1e6,
        }))
    }
}
