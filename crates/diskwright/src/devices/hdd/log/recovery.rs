//! After a loss of power: how a logging drive finds its map again, and how long that takes.

use super::LogPlacement;
use super::service::Pass;
use crate::base::units::Time;
use crate::devices::hdd::medium::{AccessCursor, ArmFilter, DataPath, Medium, on_medium};
use crate::engine::request::{Op, Parts};
use crate::models::geometry::mechanics::{HeadPosition, Mechanics};

/// What a recovery was.
pub(super) struct Recovered {
    /// When the power failed.
    pub at: Time,
    /// How many blocks have a slot afterwards.
    pub blocks: u64,
    /// How long it took.
    pub time: Time,
}

impl LogPlacement {
    /// Loses the map at `now`, and finds it again from the medium.
    pub fn recover(&mut self, medium: &mut Medium, now: Time) {
        let time = self.recovery_time(medium, now);
        self.log.recover();
        self.recovered = Some(Recovered {
            at: now,
            blocks: self.log.map().mapped(),
            time,
        });
    }

    /// How long a recovery would take from `now` on.
    fn recovery_time(&self, medium: &mut Medium, now: Time) -> Time {
        let Some(parts) = self.log.map_slots() else {
            return scan_time(&medium.hardware.mechanics);
        };
        for arm in &mut medium.arms {
            arm.work = None;
        }
        let mut cursor = AccessCursor::new(ArmFilter::Any, now);
        for slot in parts {
            let command = on_medium(Op::Read, self.medium_lbn(slot), self.per_slot as u32);
            let mut pass = Pass {
                medium,
                cursor: &mut cursor,
                parts: &mut Parts::default(),
            };
            pass.access(&command, DataPath::Drive);
            cursor.arm = None;
        }
        cursor.now - now
    }
}

/// The time of reading every track of a drive with one arm, cylinder by cylinder: each in one revolution, whichever sector comes first.
pub(super) fn scan_time(mechanics: &Mechanics) -> Time {
    let Mechanics {
        layout, spindle, ..
    } = mechanics;
    let (surfaces, cylinders) = (u64::from(layout.surfaces()), u64::from(layout.cylinders()));
    let place = |cylinder, head| HeadPosition { cylinder, head };
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
