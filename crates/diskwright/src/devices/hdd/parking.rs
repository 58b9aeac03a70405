//! A disk in its low power states.
//!
//! A disk is idle while no arm is at work, no request waits for one, nothing that is buffered has to go to the medium, and its cleaner has
//! nothing to do. In a low power state its arms are parked: nothing begins, and the first thing that is wanted of the medium wakes it.

use super::arm::Work;
use super::disk::Disk;
use super::pooled_disk::PooledDisk;
use super::power::Need;
use crate::engine::context::Context;

impl Disk {
    /// The alarm of a disk with low power states.
    pub(super) fn power_rings(&mut self, cx: &mut Context<'_>) {
        let power = self.power.as_mut();
        let power = power.expect("only a disk with low power states sets the alarm");
        let work = match power.rings(cx) {
            true => None,
            false => Some(Work::Parked),
        };
        for arm in &mut self.medium.arms {
            arm.work = work;
        }
    }

    /// Whether an arm is at work, or the buffer.
    fn is_at_work(&self) -> bool {
        let mut arms = self.medium.arms.iter();
        arms.any(|arm| !matches!(arm.work, None | Some(Work::Parked)))
            || self
                .buffered
                .as_ref()
                .is_some_and(|buffered| buffered.begun().next().is_some())
    }

    /// Whether something waits for the medium.
    fn has_waiting(&mut self) -> bool {
        self.queues.iter().any(|queue| !queue.pool.is_empty())
            || self.log.as_mut().is_some_and(|log| log.wants_cleaning())
    }
}

impl PooledDisk {
    /// Has the power follow what there is to do; once idle arms have begun what waits, it is settled.
    #[inline]
    pub(super) fn follow_power(&mut self, is_settled: bool, cx: &mut Context<'_>) {
        if self.disk.power.is_some() {
            self.follow_what_there_is(is_settled, cx);
        }
    }

    fn follow_what_there_is(&mut self, is_settled: bool, cx: &mut Context<'_>) {
        let is_busy = self.disk.is_at_work();
        let is_wanted = is_busy
            || self.disk.has_waiting()
            || self.pool.as_ref().is_some_and(|pool| pool.wants_medium());
        let rests = match &self.disk.buffered {
            Some(buffered) => buffered.buffer.destaged_at(cx.now()),
            None => cx.now(),
        };
        let need = Need {
            is_busy,
            is_wanted,
            is_settled,
        };
        if let Some(power) = &mut self.disk.power {
            power.follow(need, rests, cx);
        }
    }

    /// The parent asks it to stop.
    pub(super) fn stand_by(&mut self, cx: &mut Context<'_>) {
        if let Some(power) = &mut self.disk.power {
            power.stand_by(cx);
        }
    }
}
