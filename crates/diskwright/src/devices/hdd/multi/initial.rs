//! What a logging drive wrote before time zero.

use super::MultiHdd;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Time};
use crate::engine::device::Device;
use crate::engine::request::{Command, Op, Parts};

/// Writes before time zero: the first logical blocks one after the other, through the drive's own placement.
pub struct InitialWrites {
    /// How many logical blocks; all, where the log has room for fewer.
    pub blocks: u64,
    /// The mean of the exponential gaps from the end of one to the beginning of the next.
    pub gap: Time,
    /// What these are drawn from.
    pub chance: Stream,
}

impl MultiHdd {
    /// Carries out the writes before time zero, once.
    pub(super) fn write_initially(&mut self) {
        let (Some(mut initial), Some(per_slot)) = (self.initial.take(), self.slot_blocks()) else {
            return;
        };
        let most = Device::blocks(self) / per_slot;
        let station = (0..self.stations.len())
            .find(|&station| self.stations[station].can(Op::Write))
            .expect("some arm writes");
        let mut now = Time::ZERO;
        for block in 0..initial.blocks.min(most) {
            let command = Command {
                op: Op::Write,
                fua: false,
                lbn: Lbn(block * per_slot),
                blocks: per_slot as u32,
            };
            now += initial.chance.exponential(initial.gap);
            now = self
                .serve(station, &command, now, &mut Parts::default())
                .end;
            let mut course = std::mem::take(&mut self.course);
            for taken in course.taken.drain(..) {
                let log = self.log.as_mut().expect("there is a log");
                if let Some(before) = log.commit(taken) {
                    self.release(before);
                }
            }
            course.clear();
            self.course = course;
        }
        for arm in &mut self.arms {
            arm.forget_counts();
        }
        self.counters = super::Counters::default();
        self.rewrites = 0;
    }
}
