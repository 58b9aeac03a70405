//! How long a head takes to reach a place and to pass over a run of sectors: pure functions of place and time.

use super::layout::{Layout, Run};
use super::seek::SeekCurve;
use super::spindle::{Phase, Spindle};
use crate::base::units::Time;

/// The parts of a drive that decide positioning times.
#[derive(Clone)]
pub struct Mechanics {
    /// Where every sector is.
    pub layout: Layout,
    /// Arm motion.
    pub seek: SeekCurve,
    /// Rotation.
    pub spindle: Spindle,
    /// Time to change the active head.
    pub head_switch: Time,
    /// Extra settling before a write, ns, once after any motion; some drives' descriptions have it negative.
    pub write_settle_ns: i64,
}

/// Where an arm is and which of its heads is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadPosition {
    /// Cylinder.
    pub cylinder: u32,
    /// Active head.
    pub head: u32,
}

/// Which surfaces and cylinders an arm's heads reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reach {
    /// First and last surface, by their heads.
    pub heads: (u32, u32),
    /// First and last cylinder.
    pub cylinders: (u32, u32),
}

impl Reach {
    /// All of a drive.
    pub const ALL: Reach = Reach {
        heads: (0, u32::MAX),
        cylinders: (0, u32::MAX),
    };

    /// Whether they are all of a drive.
    pub fn holds_all(&self, layout: &Layout) -> bool {
        let Reach { heads, cylinders } = self;
        heads.0 == 0
            && cylinders.0 == 0
            && heads.1.saturating_add(1) >= layout.surfaces()
            && cylinders.1.saturating_add(1) >= layout.cylinders()
    }

    /// Whether a track is among them.
    #[inline]
    pub fn holds(&self, cylinder: u32, head: u32) -> bool {
        (self.heads.0..=self.heads.1).contains(&head)
            && (self.cylinders.0..=self.cylinders.1).contains(&cylinder)
    }
}

/// A place to reach: what a scheduler needs to know of a request, worked out once when it is queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The track of the request's first sector, from that sector on.
    pub run: Run,
    /// When the first sector's leading edge comes by.
    pub phase: Phase,
    /// Whether the head must settle for writing.
    pub write: bool,
}

impl Target {
    /// Cylinder and head.
    #[inline]
    pub fn arm(&self) -> HeadPosition {
        HeadPosition::over(&self.run)
    }
}

/// What decides how soon a target is reached, in few bytes: a search compares many of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    phase: Phase,
    cylinder: u32,
    head: u16,
    write: bool,
}

impl Aim {
    /// Of a target.
    #[inline]
    pub fn at(target: &Target) -> Aim {
        Aim {
            phase: target.phase,
            cylinder: target.run.position.cylinder,
            // A layout has at most 2^10 surfaces.
            head: target.run.position.head as u16,
            write: target.write,
        }
    }

    /// The cylinder.
    #[inline]
    pub fn cylinder(&self) -> u32 {
        self.cylinder
    }
}

impl HeadPosition {
    /// Over the track of a run.
    #[inline]
    pub fn over(run: &Run) -> HeadPosition {
        HeadPosition {
            cylinder: run.position.cylinder,
            head: run.position.head,
        }
    }
}

/// The motion of an arm, divided into its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Motion {
    /// Arm motion, where it is what is waited for.
    pub seek: Time,
    /// Head switch, where it is what is waited for.
    pub head_switch: Time,
    /// Write settling.
    pub settle: Time,
}

impl Motion {
    /// The whole motion.
    pub fn total(&self) -> Time {
        self.seek + self.head_switch + self.settle
    }
}

impl Mechanics {
    /// The target of an access that begins with `run`.
    #[inline]
    pub fn target(&self, run: Run, write: bool) -> Target {
        let mut target = Target {
            run,
            ..Target::default()
        };
        self.aim(&mut target, write);
        target
    }

    /// Completes a target of which the run is known.
    #[inline]
    pub fn aim(&self, target: &mut Target, write: bool) {
        let Run {
            angle,
            sectors_per_track,
            ..
        } = target.run;
        target.phase = self.spindle.edge(angle, sectors_per_track);
        target.write = write;
    }

    /// The time to move from one place to another: the longer of seek and head switch, which overlap,
    /// and then the write settling if anything moved.
    #[inline]
    pub fn motion_time(&self, from: HeadPosition, to: HeadPosition, write: bool) -> Time {
        // Both ways are worked out, so that nothing hangs on a branch that cannot be foreseen.
        let seek = self.seek.time(from.cylinder.abs_diff(to.cylinder));
        let switched = seek.max(self.head_switch);
        let motion = if from.head == to.head { seek } else { switched };
        self.settled(motion, write)
    }

    /// A motion with the settling behind it that a write needs.
    #[inline]
    fn settled(&self, motion: Time, write: bool) -> Time {
        if motion == Time::ZERO {
            return motion;
        }
        let settle = if write { self.write_settle_ns } else { 0 };
        Time::from_ns((motion.ns() as i64 + settle).max(0) as u64)
    }

    /// [`Self::motion_time`], divided. A negative settling time shortens the motion before it.
    pub fn motion(&self, from: HeadPosition, to: HeadPosition, write: bool) -> Motion {
        let seek = self.seek.time(from.cylinder.abs_diff(to.cylinder));
        let switched = seek.max(self.head_switch);
        let before_settle = if from.head == to.head { seek } else { switched };
        let total = self.settled(before_settle, write);
        let moved = before_settle.min(total);
        let is_seek = seek == before_settle;
        let if_so = |condition: bool| if condition { moved } else { Time::ZERO };
        Motion {
            seek: if_so(is_seek),
            head_switch: if_so(!is_seek),
            settle: total - moved,
        }
    }

    /// Positioning time to `target` for an access that begins when the platter is at `now`: motion, then
    /// the wait for the first sector. Transfer is not counted.
    #[inline]
    pub fn positioning(&self, from: HeadPosition, now: Phase, target: &Target) -> Time {
        let motion = self.motion_time(from, target.arm(), target.write);
        motion
            + self
                .spindle
                .wait(self.spindle.later(now, motion), target.phase)
    }

    /// How far a target is to be reached from a place, in the spindle's units, as [`Spindle::reach`] tells it, for an access that begins when
    /// the platter is at `phases`, that of a read and that of a write.
    #[inline(always)]
    pub fn reach(&self, from: HeadPosition, phases: [Phase; 2], aim: &Aim) -> u64 {
        let to = HeadPosition {
            cylinder: aim.cylinder,
            head: aim.head.into(),
        };
        let motion = self.motion_time(from, to, aim.write);
        self.spindle
            .reach(phases[usize::from(aim.write)], motion, aim.phase)
    }

    /// No place at least `distance` cylinders away, at least one, can be written to sooner than this. It does not fall with the distance.
    #[inline]
    pub fn soonest_write(&self, distance: u32) -> Time {
        match self.seek.floor(distance).ns() {
            // Where a seek takes no time, nothing settles.
            0 => Time::ZERO,
            motion => Time::from_ns(motion.saturating_add_signed(self.write_settle_ns)),
        }
    }

    /// No place farther away than this can be written to within `span`.
    pub fn farthest_write(&self, span: Time) -> u32 {
        let (mut near, mut far) = (0, self.layout.cylinders());
        while far - near > 1 {
            let middle = near + (far - near) / 2;
            if self.soonest_write(middle) <= span {
                near = middle;
            } else {
                far = middle;
            }
        }
        near
    }

    /// No target `distance` or more cylinders away is reached sooner than this.
    #[inline]
    pub fn soonest(&self, distance: u32) -> Time {
        let settle = self.write_settle_ns.min(0);
        Time::from_ns(self.seek.floor(distance).ns().saturating_add_signed(settle))
    }
}
