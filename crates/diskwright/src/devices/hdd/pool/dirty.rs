//! Which extents of a pool are dirty or on their way to the medium, and which of them may be destaged.

use crate::base::units::{Lbn, Time};
use crate::engine::request::{Command, Op, RequestId};
use crate::models::cache::Frame;
use crate::models::cache::per_frame::PerFrame;
use crate::models::geometry::mechanics::Target;
use crate::models::queue::pool::Order;
use crate::models::queue::{Pending, Pool, Slot};

/// What is known of a frame whose extent is dirty or on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ExtentState {
    /// Since when it has been dirty, if it is.
    since: Option<Time>,
    /// What was dirty in it is on its way to the medium.
    is_leaving: bool,
    /// It may be destaged: by the arms of which group, and where it waits for them.
    candidate: Option<(u32, Slot)>,
}

/// The extents of a pool that are dirty or on their way to the medium.
pub(super) struct DirtyExtents {
    /// How many there may be, and from how many on destaging is pressing, and at how many it is not any more.
    most: u32,
    high: u32,
    low: u32,
    states: PerFrame<ExtentState>,
    held: u32,
    is_over: bool,
    /// What may be destaged, by the group of arms.
    candidates: Vec<Pool>,
}

impl DirtyExtents {
    /// None, of at most `most`; `high` and `low` are shares of that.
    pub fn new(most: u32, (high, low): (f64, f64), groups: usize) -> DirtyExtents {
        let share = |share: f64| (f64::from(most) * share).ceil() as u32;
        DirtyExtents {
            most,
            high: share(high),
            low: share(low),
            states: PerFrame::new(ExtentState::default()),
            held: 0,
            is_over: false,
            candidates: (0..groups).map(|_| Pool::new(Order::Bands)).collect(),
        }
    }

    /// How many there may be.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// How many there are.
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Whether there are too many, so that some have to be destaged.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether an extent is dirty or on its way.
    pub fn holds(&self, frame: Frame) -> bool {
        let state = &self.states[frame.index()];
        state.since.is_some() || state.is_leaving
    }

    /// Since when an extent has been dirty.
    pub fn since(&self, frame: Frame) -> Option<Time> {
        self.states[frame.index()].since
    }

    /// What may be destaged by a group.
    pub fn candidates(&self, group: usize) -> &Pool {
        &self.candidates[group]
    }

    /// Whether an extent may be destaged by a group.
    pub fn is_candidate(&self, frame: Frame, group: usize) -> bool {
        let candidate = self.states[frame.index()].candidate;
        candidate.is_some_and(|(of, _)| of as usize == group)
    }

    /// An extent is dirty from `now` on, unless it is already. Whether it was neither dirty nor on its way.
    pub fn soil(&mut self, frame: Frame, now: Time) -> bool {
        let is_new = !self.holds(frame);
        self.states[frame.index()].since.get_or_insert(now);
        self.count(u32::from(is_new), 0);
        is_new
    }

    /// An extent has no dirty blocks any more. Whether it is not on its way either.
    pub fn clean(&mut self, frame: Frame) -> bool {
        let was_held = self.holds(frame);
        self.states[frame.index()].since = None;
        let is_over = was_held && !self.holds(frame);
        self.count(0, u32::from(is_over));
        is_over
    }

    /// What was dirty in an extent begins its way to the medium.
    pub fn leave(&mut self, frame: Frame) {
        debug_assert!(self.holds(frame), "a frame that leaves is dirty");
        self.states[frame.index()].is_leaving = true;
    }

    /// It has come there. Whether the extent is not dirty either.
    pub fn arrive(&mut self, frame: Frame) -> bool {
        self.states[frame.index()].is_leaving = false;
        let is_over = !self.holds(frame);
        self.count(0, u32::from(is_over));
        is_over
    }

    fn count(&mut self, more: u32, fewer: u32) {
        self.held = self.held + more - fewer;
        self.is_over = self.held >= self.high.max(1) || self.is_over && self.held > self.low;
    }

    /// An extent may be destaged by a group from a block on, or may not.
    pub fn offer(&mut self, frame: Frame, from: Option<(u32, u64, Option<Target>)>) {
        let state = &mut self.states[frame.index()];
        if let (Some((group, slot)), Some((to, lbn, _))) = (state.candidate, from)
            && group == to
            && self.candidates[group as usize].get(slot).command.lbn.0 == lbn
        {
            return;
        }
        if let Some((group, slot)) = state.candidate.take() {
            self.candidates[group as usize].remove(slot);
        }
        let Some((group, lbn, target)) = from else {
            return;
        };
        let command = Command {
            op: Op::Write,
            fua: false,
            lbn: Lbn(lbn),
            blocks: 1,
        };
        let of_frame = RequestId(frame.0);
        let pending = Pending::new(of_frame, command, Time::ZERO, target, 0);
        let slot = self.candidates[group as usize].push(pending);
        state.candidate = Some((group, slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destaging_is_pressing_from_high_to_low() {
        let mut dirty = DirtyExtents::new(10, (0.8, 0.25), 1);
        let ms = Time::from_ms;
        for frame in 0..7 {
            assert!(dirty.soil(Frame(frame), ms(u64::from(frame))));
        }
        assert!(!dirty.is_over());
        assert!(!dirty.soil(Frame(0), ms(50)));
        assert_eq!(dirty.since(Frame(0)), Some(ms(0)));
        assert!(dirty.soil(Frame(7), ms(7)));
        assert!(dirty.is_over());
        for frame in 0..5 {
            dirty.leave(Frame(frame));
            assert!(!dirty.clean(Frame(frame)), "it is on its way");
            assert_eq!(dirty.held(), 8 - frame);
            assert!(dirty.arrive(Frame(frame)));
            assert_eq!(dirty.is_over(), frame < 4, "{frame}");
        }
        // Written again on its way, it stays.
        dirty.leave(Frame(5));
        assert!(!dirty.clean(Frame(5)));
        assert!(!dirty.soil(Frame(5), ms(60)));
        assert!(!dirty.arrive(Frame(5)));
        assert_eq!((dirty.held(), dirty.since(Frame(5))), (3, Some(ms(60))));
    }
}
