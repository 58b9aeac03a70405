//! Cleaning: dirty lines are written back while the policy says so, one write-back at a time.

use super::cleaning::{Begins, CleaningOrder, CleaningRules};
use super::work::Cause;
use super::{Condition, Tier};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::timeline::AlarmId;

/// The host has been idle for long enough.
const IDLE: u32 = 0;
/// The next write-back is due.
const NEXT: u32 = 1;

/// What cleaning remembers.
pub(super) struct Cleaner {
    rules: Option<CleaningRules>,
    /// A write-back of it is under way.
    is_working: bool,
    /// The host has had no request for long enough.
    is_idle: bool,
    /// More was dirty than the high mark, and not less than the low one since.
    is_beyond: bool,
    /// The alarm that says that the host has been idle.
    idle: Option<AlarmId>,
    /// The alarm for the next write-back is set.
    has_next: bool,
    /// It rests until then.
    rests: Time,
    /// The block behind the last write-back.
    position: u64,
}

impl Cleaner {
    pub fn new(rules: Option<CleaningRules>) -> Cleaner {
        Cleaner {
            rules,
            is_working: false,
            is_idle: false,
            is_beyond: false,
            idle: None,
            has_next: false,
            rests: Time::ZERO,
            position: 0,
        }
    }
}

impl Tier {
    /// A request of the host arrives.
    pub(super) fn host_is_active(&mut self, cx: &mut Context<'_>) {
        self.cleaner.is_idle = false;
        if let Some(alarm) = self.cleaner.idle.take() {
            cx.cancel(alarm);
        }
    }

    /// No request of the host is under way.
    pub(super) fn host_is_idle(&mut self, cx: &mut Context<'_>) {
        if let Some(CleaningRules {
            begins: Begins::When {
                idle: Some(idle), ..
            },
            ..
        }) = self.cleaner.rules
        {
            let at = cx.now() + idle;
            self.cleaner.idle = Some(cx.background_alarm(at, Token::new(IDLE, 0)));
        }
    }

    /// An alarm of the cleaner is due.
    pub(super) fn clean(&mut self, token: Token, cx: &mut Context<'_>) {
        if token.kind() == IDLE {
            (self.cleaner.idle, self.cleaner.is_idle) = (None, true);
            return self.clean_beyond_marks(cx);
        }
        self.cleaner.has_next = false;
        if self.wants_to_clean()
            && let Some((lbn, blocks)) = self.next_to_clean()
        {
            self.cleaner.is_working = true;
            self.cleaner.position = lbn + u64::from(blocks);
            self.write_back(lbn, blocks, Cause::Cleaning, cx);
        }
    }

    /// A write-back of the cleaner is over.
    pub(super) fn cleaned(&mut self, cx: &Context<'_>) {
        self.cleaner.is_working = false;
        let pause = self.cleaner.rules.map_or(Time::ZERO, |rules| rules.pause);
        self.cleaner.rests = cx.now() + pause;
    }

    /// Sets the alarm for the next write-back, if there is reason for one.
    pub(super) fn clean_beyond_marks(&mut self, cx: &mut Context<'_>) {
        let Some(rules) = self.cleaner.rules else {
            return;
        };
        if let Begins::When {
            marks: Some((high, low)),
            ..
        } = rules.begins
        {
            let dirty = self.map.dirty_blocks();
            self.cleaner.is_beyond = dirty > high || self.cleaner.is_beyond && dirty > low;
        }
        if !self.cleaner.has_next && self.wants_to_clean() {
            self.cleaner.has_next = true;
            let at = self.cleaner.rests.max(cx.now());
            cx.background_alarm(at, Token::new(NEXT, 0));
        }
    }

    /// Whether there is reason for a write-back, and none is under way.
    fn wants_to_clean(&self) -> bool {
        let Some(rules) = self.cleaner.rules else {
            return false;
        };
        let has_reason = match rules.begins {
            Begins::Always => true,
            Begins::When { .. } => self.cleaner.is_idle || self.cleaner.is_beyond,
        };
        has_reason
            && !self.cleaner.is_working
            && self.has_backing
            && self.condition != Condition::Failed
            && self.map.dirty_lines() > 0
    }

    /// Lines are cleaned by other rules.
    pub(super) fn set_cleaning(&mut self, rules: Option<CleaningRules>) {
        self.cleaner.rules = rules;
    }

    /// The rules of cleaning, if there are any.
    pub(super) fn cleaner_rules(&self) -> Option<CleaningRules> {
        self.cleaner.rules
    }

    /// The run that is written back next, which the cleaner is done with.
    pub(super) fn clean_next(&mut self) -> Option<(u64, u32)> {
        let (lbn, blocks) = self.next_to_clean()?;
        self.cleaner.position = lbn + u64::from(blocks);
        Some((lbn, blocks))
    }

    /// The run that is written back next; none where every dirty line is in use.
    fn next_to_clean(&self) -> Option<(u64, u32)> {
        let CleaningRules { order, merge, .. } = self.cleaner.rules?;
        let per_line = u64::from(self.map.blocks_per_line());
        let ready = |(lbn, blocks): (u64, u32)| {
            let ready = self.may_be_cleaned(lbn, blocks).min(blocks);
            (ready > 0).then_some((lbn, ready))
        };
        match order {
            CleaningOrder::Oldest => self.map.oldest_dirty().find_map(|key| {
                let run = self.map.next_dirty(key * per_line, merge)?;
                ready(run)
            }),
            CleaningOrder::Ascending => {
                let mut from = self.cleaner.position;
                // Each dirty line at most once, and the one in which it begins once more.
                for _ in 0..=self.map.dirty_lines() {
                    let run = self.map.next_dirty(from, merge);
                    let run = run.or_else(|| self.map.next_dirty(0, merge))?;
                    if let Some(run) = ready(run) {
                        return Some(run);
                    }
                    from = (run.0 / per_line + 1) * per_line;
                }
                None
            }
        }
    }
}
