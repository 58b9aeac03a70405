//! Entries of the FQueue go to the medium: at the watermarks, and while the Request Queue is empty.

use super::fqueue::{Entry, Merged};
use super::{Access, FlashBacked, IdleSpec};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::Op;

impl FlashBacked {
    /// The high watermark is reached.
    pub(super) fn begin_flushing(&mut self) {
        if !self.is_flushing {
            self.is_flushing = true;
            self.is_flushs_turn = true;
            self.counters.flushings += 1;
        }
    }

    /// Entries have left: flushing ends at the low watermark.
    pub(super) fn end_flushing(&mut self) {
        let low = if self.is_degraded { 0 } else { self.parts.low };
        if self.fqueue.blocks() <= low {
            self.is_flushing = false;
        }
    }

    /// Writes the oldest entry to the medium with all that is contiguous with it, unless it is not in the NV cache yet.
    pub(super) fn flush_oldest(&mut self, is_idle: bool, cx: &mut Context<'_>) -> bool {
        let is_ready = |entry: &&Entry| entry.under_way == 0 && !self.is_stuck;
        let oldest = self.fqueue.oldest().filter(is_ready);
        let Some(entry) = oldest else {
            return false;
        };
        let Merged { run, entries, .. } = self.fqueue.merged(&(entry.lbn..entry.end()));
        self.counters.flushed_entries += entries;
        let access = Access {
            request: None,
            op: Op::Write,
            fua: false,
            run,
            takes_entries: true,
            is_idle,
        };
        self.is_flushs_turn = false;
        self.begin(access, cx);
        true
    }

    /// The Request Queue is empty and the medium idle: the FQueue is purged, now or later. That does not keep a run alive, unless
    /// a request waits for it.
    pub(super) fn is_idle(&mut self, cx: &mut Context<'_>) {
        if !self.unbacked.is_empty() {
            self.flush_oldest(true, cx);
            return;
        }
        let is_ready = |entry: &Entry| entry.under_way == 0 && !self.is_stuck;
        if self.idle_alarm.is_some() || !self.fqueue.oldest().is_some_and(is_ready) {
            return;
        }
        if self.lets_medium_rest(cx) {
            return;
        }
        let goes_on = self.is_purging || self.is_flushing;
        let delay = match self.parts.idle {
            _ if goes_on => Time::ZERO,
            IdleSpec::Eager => Time::ZERO,
            IdleSpec::Delay(delay) => delay,
            IdleSpec::Watermark => return,
        };
        // A delay beyond all time is none at all.
        if let Some(at) = cx.now().checked_add(delay) {
            self.idle_alarm = Some(cx.background_alarm(at, Token::new(0, 0)));
        }
    }

    /// The drive's medium has stopped, and nothing but idleness speaks for waking it.
    fn lets_medium_rest(&self, cx: &Context<'_>) -> bool {
        !self.is_flushing && cx.is_down(self.parts.hybrid)
    }

    /// The alarm of idleness rings.
    pub(super) fn purge(&mut self, cx: &mut Context<'_>) {
        if self.access.is_none() && self.pool.is_empty() && !self.lets_medium_rest(cx) {
            self.is_purging = self.parts.idle != IdleSpec::Watermark;
            self.flush_oldest(true, cx);
        }
    }
}
