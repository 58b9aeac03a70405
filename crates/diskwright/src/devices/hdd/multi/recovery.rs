//! After a loss of power: how a logging drive finds its map again, and how long that takes.

use super::MultiHdd;
use super::course::{Data, Way, Who, on_medium};
use crate::base::units::Time;
use crate::engine::request::{Op, Parts};
use crate::models::geometry::mechanics::{Arm, Mechanics};

/// What a recovery was.
pub(super) struct Recovered {
    /// When the power failed.
    pub at: Time,
    /// How many blocks have a slot afterwards.
    pub blocks: u64,
    /// How long it took.
    pub time: Time,
}

impl MultiHdd {
    /// Loses the map at `now`, and finds it again from the medium.
    pub(super) fn recover(&mut self, now: Time) {
        if self.log.is_none() {
            return;
        }
        let time = self.recovery_time(now);
        let log = self.log.as_mut().expect("it was there");
        log.recover();
        self.recovered = Some(Recovered {
            at: now,
            blocks: log.map().mapped(),
            time,
        });
    }

    /// How long a recovery would take from `now` on.
    fn recovery_time(&mut self, now: Time) -> Time {
        let log = self.log.as_ref().expect("there is a log");
        match log.map_slots() {
            None => scan_time(&self.hardware.mechanics),
            Some(parts) => {
                for arm in &mut self.arms {
                    arm.work = None;
                }
                let per_slot = self.slot_blocks().expect("there is a log") as u32;
                let mut way = Way::new(Who::Any, now);
                for slot in parts {
                    let command = on_medium(Op::Read, self.medium_lbn(slot), per_slot);
                    self.access(&command, Data::Drive, &mut way, &mut Parts::default());
                    way.arm = None;
                }
                way.now - now
            }
        }
    }
}

/// The time of reading every track of a drive with one arm, cylinder by cylinder: each in one revolution, whichever sector comes first.
pub(super) fn scan_time(mechanics: &Mechanics) -> Time {
    let Mechanics {
        layout, spindle, ..
    } = mechanics;
    let (surfaces, cylinders) = (u64::from(layout.surfaces()), u64::from(layout.cylinders()));
    let place = |cylinder, head| Arm { cylinder, head };
    let switch = match surfaces {
        1 => Time::ZERO,
        _ => mechanics.motion_time(place(0, 0), place(0, 1), false),
    };
    let step = match cylinders {
        1 => Time::ZERO,
        _ => mechanics.motion_time(place(0, surfaces as u32 - 1), place(1, 0), false),
    };
    let ns = cylinders * surfaces * spindle.period().ns()
        + cylinders * (surfaces - 1) * switch.ns()
        + (cylinders - 1) * step.ns();
    Time::from_ns(ns)
}
