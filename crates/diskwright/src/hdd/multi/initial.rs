//! What a logging drive wrote before time zero.

use super::MultiHdd;
use crate::device::Device;
use crate::random::Stream;
use crate::request::{Command, Op, Parts};
use crate::units::{Lbn, Time};

impl MultiHdd {
    /// The same drive after the first `blocks` logical blocks were written one after the other, through the drive's own placement: with
    /// exponential gaps of mean `gap` from the end of one to the beginning of the next, drawn from `chance`. Where the log has room for
    /// fewer, all.
    #[must_use]
    pub fn after_writing(mut self, blocks: u64, gap: Time, mut chance: Stream) -> MultiHdd {
        let Some(per_slot) = self.slot_blocks() else {
            return self;
        };
        let most = Device::blocks(&self) / per_slot;
        let station = (0..self.stations.len())
            .find(|&station| self.stations[station].can(Op::Write))
            .expect("some arm writes");
        let mut now = Time::ZERO;
        for block in 0..blocks.min(most) {
            let command = Command {
                op: Op::Write,
                fua: false,
                lbn: Lbn(block * per_slot),
                blocks: per_slot as u32,
            };
            now += chance.exponential(gap);
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
        self
    }
}
