//! How long a head takes to reach a place and to pass over a run of sectors: pure functions of place and time.

use super::estimate::Steps;
use super::layout::{Layout, Run};
use super::seek::SeekCurve;
use super::spindle::{Phase, Spindle};
use crate::base::error::InputError;
use crate::base::units::Time;

/// The parts of a drive that decide positioning times.
#[derive(Clone)]
pub struct Mechanics {
    /// Where every sector is.
    pub layout: Layout,
    /// Arm motion before a read, and before a write, without the settling. An index finds the one of an access without a branch, which could
    /// not be foreseen.
    seeks: [SeekCurve; 2],
    /// Rotation.
    pub spindle: Spindle,
    /// Time to change the active head.
    pub head_switch: Time,
    /// Settling before a read, which has none, and before a write, ns, once after any motion; some drives' descriptions have it negative.
    settles_ns: [i64; 2],
    /// No distance is covered before a write in less than before a read and this, ns, which is not above zero.
    least_settle_ns: i64,
    /// For [estimates](super::estimate).
    pub(super) steps: Steps,
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
    /// The same in [steps](super::estimate).
    pub angle: i16,
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
    /// Write settling: what a write takes longer than a read.
    pub settle: Time,
}

impl Motion {
    /// The whole motion.
    pub fn total(&self) -> Time {
        self.seek + self.head_switch + self.settle
    }
}

impl Mechanics {
    /// A drive whose writes take the same seeks as reads and settle longer, by a time in ns.
    pub fn new(
        layout: Layout,
        seek: SeekCurve,
        spindle: Spindle,
        head_switch: Time,
        write_settle_ns: i64,
    ) -> Mechanics {
        Mechanics {
            layout,
            steps: Steps::new(&spindle, &seek, head_switch, write_settle_ns),
            seeks: [seek.clone(), seek],
            spindle,
            head_switch,
            settles_ns: [0, write_settle_ns],
            least_settle_ns: write_settle_ns.min(0),
        }
    }

    /// The same with a seek curve for writes, whose times include the settling. What a write settles longer than a read remains for
    /// head switches.
    ///
    /// # Errors
    /// A seek of a write that is not longer than the settling.
    pub fn with_write_seek(self, curve: &SeekCurve) -> Result<Mechanics, InputError> {
        let [read, _] = self.seeks;
        let [_, settle_ns] = self.settles_ns;
        let write = curve.before_settling(settle_ns)?;
        Ok(Mechanics {
            least_settle_ns: read.least_below(&write, settle_ns),
            steps: self.steps.with_write_seek(&write),
            seeks: [read, write],
            ..self
        })
    }

    /// Arm motion before a read.
    #[inline]
    pub fn seek(&self) -> &SeekCurve {
        &self.seeks[usize::from(false)]
    }

    /// Arm motion before a write, without the settling.
    fn write_seek(&self) -> &SeekCurve {
        &self.seeks[usize::from(true)]
    }

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
        target.angle = self.spindle.steps(target.phase);
        target.write = write;
    }

    /// The time to move from one place to another: the longer of the seek, that of a read or of a write, and the head switch, which
    /// overlap, and then the write settling if anything moved.
    #[inline]
    pub fn motion_time(&self, from: HeadPosition, to: HeadPosition, write: bool) -> Time {
        self.settled(self.moved(from, to, write), write)
    }

    /// The longer of seek and head switch.
    #[inline]
    fn moved(&self, from: HeadPosition, to: HeadPosition, write: bool) -> Time {
        // Both ways are worked out, so that nothing hangs on a branch that cannot be foreseen.
        let curve = &self.seeks[usize::from(write)];
        let seek = curve.time(from.cylinder.abs_diff(to.cylinder));
        let switched = seek.max(self.head_switch);
        if from.head == to.head { seek } else { switched }
    }

    /// A motion with the settling behind it that a write needs.
    #[inline]
    fn settled(&self, motion: Time, write: bool) -> Time {
        if motion == Time::ZERO {
            return motion;
        }
        let settle = self.settles_ns[usize::from(write)];
        Time::from_ns((motion.ns() as i64 + settle).max(0) as u64)
    }

    /// [`Self::motion_time`], divided: what a write takes longer than a read would is settling. A negative settling time shortens the
    /// motion before it.
    pub fn motion(&self, from: HeadPosition, to: HeadPosition, write: bool) -> Motion {
        let before_settle = self.moved(from, to, false);
        let total = self.motion_time(from, to, write);
        let moved = before_settle.min(total);
        let is_seek = before_settle == self.seek().time(from.cylinder.abs_diff(to.cylinder));
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

    /// No place at least `distance` cylinders away, at least one, can be written to sooner than this. It does not fall with the distance.
    #[inline]
    pub fn soonest_write(&self, distance: u32) -> Time {
        match self.write_seek().floor(distance).ns() {
            // Where a seek takes no time, nothing settles.
            0 => Time::ZERO,
            motion => Time::from_ns(motion.saturating_add_signed(self.settles_ns[1])),
        }
    }

    /// No motion before a write takes longer.
    pub fn longest_write(&self) -> Time {
        let motion = self.write_seek().longest().max(self.head_switch).ns();
        Time::from_ns(motion.saturating_add_signed(self.settles_ns[1]))
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
        let floor = self.seek().floor(distance).ns();
        Time::from_ns(floor.saturating_add_signed(self.least_settle_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::quantities::Rotation;
    use crate::models::geometry::describe::{HeadOrder, LayoutDescription, ZoneDescription};
    use crate::models::geometry::seek::{SeekDescription, SeekTable};
    use proptest::prelude::*;

    const CYLINDERS: u32 = 40;

    fn curve(points: &[(u32, f64)]) -> SeekCurve {
        let points_ms = points.to_vec();
        let table = SeekDescription::Table(SeekTable { points_ms });
        SeekCurve::build(&table, CYLINDERS).expect("a seek curve")
    }

    /// Forty cylinders of two tracks.
    fn mechanics(points: &[(u32, f64)], switch_us: u64, settle_ns: i64) -> Mechanics {
        let description = LayoutDescription {
            surfaces: 2,
            cylinders: CYLINDERS,
            access_ranges: 1,
            order: HeadOrder::Ascending,
            sectors: None,
            zones: vec![ZoneDescription::plain(0, CYLINDERS - 1, 10)],
        };
        Mechanics::new(
            Layout::build(&description).expect("a layout"),
            curve(points),
            Spindle::new(Rotation::Rpm(6000)),
            Time::from_us(switch_us),
            settle_ns,
        )
    }

    fn at(cylinder: u32, head: u32) -> HeadPosition {
        HeadPosition { cylinder, head }
    }

    #[test]
    fn a_write_takes_its_own_curve_or_a_switch_and_the_settling() {
        let m = mechanics(&[(1, 0.2), (39, 4.0)], 1_000, 300_000)
            .with_write_seek(&curve(&[(1, 0.5), (2, 1.2), (4, 1.4), (39, 4.9)]))
            .expect("longer than the settling");
        for (cylinder, head, read, write) in [
            (10, 0, 0, 0),
            // The switch and the settling.
            (10, 1, 1_000, 1_300),
            (11, 0, 200, 500),
            (9, 1, 1_000, 1_300),
            (12, 1, 1_000, 1_300),
            (12, 0, 300, 1_200),
            // The seek is longer, which has the settling in it.
            (14, 1, 1_000, 1_400),
            (14, 0, 500, 1_400),
            (10 + 25, 1, 2_600, 3_500),
        ] {
            for (is_write, us) in [(false, read), (true, write)] {
                let found = m.motion_time(at(10, 0), at(cylinder, head), is_write);
                assert_eq!(found, Time::from_us(us), "{cylinder} {head} {is_write}");
            }
        }
        assert_eq!(m.longest_write(), Time::from_us(4_900));
        // What the write takes longer than a read is settling.
        let motion = m.motion(at(10, 0), at(14, 1), true);
        let (switch, settle) = (Time::from_us(1_000), Time::from_us(400));
        let expected = Motion {
            head_switch: switch,
            settle,
            ..Motion::default()
        };
        assert_eq!(motion, expected);
        let motion = m.motion(at(10, 0), at(12, 0), true);
        assert_eq!(
            (motion.seek, motion.settle),
            (Time::from_us(300), Time::from_us(900))
        );
    }

    #[test]
    fn a_seek_of_a_write_is_longer_than_the_settling() {
        let refused = |settle_ns| {
            let m = mechanics(&[(1, 1.0)], 0, settle_ns);
            m.with_write_seek(&curve(&[(1, 0.9), (3, 0.4), (39, 8.0)]))
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(refused(399_999), None);
        assert_eq!(refused(-400_000), None);
        let error = refused(400_000).expect("refused");
        assert!(
            error.contains("0.4 ms over 3 cylinders") && error.contains("heads.write_settle"),
            "{error}"
        );
    }

    fn points() -> impl Strategy<Value = Vec<(u32, f64)>> {
        let point = (1..CYLINDERS, 0u32..3_000);
        prop::collection::btree_map(point.0, point.1, 1..8).prop_map(|map| {
            let mut points: Vec<_> = map
                .into_iter()
                .map(|(distance, us)| (distance, f64::from(us) / 1e3))
                .collect();
            // Beyond the last point the curve does not fall.
            let &(last, ms) = points.last().expect("a point");
            if last < CYLINDERS - 1 {
                points.push((CYLINDERS - 1, ms));
            }
            points
        })
    }

    proptest! {
        /// The bounds of the searches hold for every place, with and without a curve for writes.
        #[test]
        fn nothing_is_reached_sooner_than_the_bounds(
            read in points(), write in prop::option::of(points()), switch_us in 0u64..2_000, settle_ns in -1_000_000i64..1_000_000,
        ) {
            let mut m = mechanics(&read, switch_us, settle_ns);
            if let Some(mut write) = write {
                for (_, ms) in &mut write {
                    *ms += settle_ns.max(0) as f64 / 1e6 + 0.001;
                }
                // A table comes straight from no time at no distance.
                write.insert(0, (1, write[0].1));
                write.dedup_by_key(|point| point.0);
                m = m.with_write_seek(&curve(&write)).expect("longer than the settling");
            }
            let (mut before, mut before_write) = (Time::ZERO, Time::ZERO);
            for distance in 0..CYLINDERS {
                for head in [0, 1] {
                    let motion = |write| m.motion_time(at(0, 0), at(distance, head), write);
                    prop_assert!(m.soonest(distance) <= motion(false).min(motion(true)));
                    prop_assert!(distance == 0 || m.soonest_write(distance) <= motion(true));
                    prop_assert!(motion(true) <= m.longest_write());
                    prop_assert_eq!(m.motion(at(0, 0), at(distance, head), true).total(), motion(true));
                    prop_assert!(m.farthest_write(motion(true)) >= distance);
                }
                prop_assert!(m.soonest(distance) >= before);
                prop_assert!(m.soonest_write(distance) >= before_write || distance < 2);
                (before, before_write) = (m.soonest(distance), m.soonest_write(distance));
            }
        }
    }
}
