//! The steps of an access, as they pass.

use crate::base::units::Time;
use crate::devices::hdd::tally::{SlotSpan, Tally, Track};
use crate::engine::request::{Part, Parts};
use crate::models::geometry::mechanics::{HeadPosition, Mechanics};

/// A stretch of time that goes into one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The part.
    pub part: Part,
    /// How long.
    pub time: Time,
    /// The number of the arm.
    pub by: usize,
    /// Where it is at the step's end.
    pub arm: HeadPosition,
    /// The slots that are waited for, or pass.
    pub slots: Option<SlotSpan>,
}

impl Step {
    /// Becomes longer by a step that is no other one, but more of this. Of a transfer the slots are then those of both.
    fn takes(&mut self, next: &Step) -> bool {
        let is_alike = (self.part, self.by, self.arm) == (next.part, next.by, next.arm);
        let goes_on = match (&mut self.slots, next.slots) {
            (Some(slots), Some(more)) if is_alike && self.part == Part::Transfer => {
                let is_next = (slots.first + slots.count) % slots.per_track == more.first;
                slots.count += if is_next { more.count } else { 0 };
                is_next
            }
            (slots, more) => is_alike && *slots == more,
        };
        if goes_on {
            self.time += next.time;
        }
        goes_on
    }
}

/// What the medium does on its own, from an instant on.
#[derive(Clone, Debug)]
pub struct ArmActivity {
    /// When it begins.
    pub begins: Time,
    /// What it does, without a pause.
    pub steps: Vec<Step>,
}

impl ArmActivity {
    /// When it is over.
    pub fn ends(&self) -> Time {
        self.begins + self.steps.iter().map(|step| step.time).sum()
    }

    /// What of some steps moves an arm or waits for the platter, if they begin at `start`: from the first of those to the last one.
    fn of(steps: &[Step], start: Time) -> Option<ArmActivity> {
        let is_idle = |step: &&Step| {
            !matches!(
                step.part,
                Part::Seek | Part::HeadSwitch | Part::Settle | Part::Rotation | Part::Transfer
            )
        };
        let before = steps.iter().take_while(is_idle);
        let behind = steps.iter().rev().take_while(is_idle).count();
        let first = before.clone().count();
        let begins = start + before.map(|step| step.time).sum();
        let steps = steps.get(first..steps.len() - behind)?.to_vec();
        (!steps.is_empty()).then_some(ArmActivity { begins, steps })
    }

    /// Ends at `at`, if it would end later; where its last step leads is kept.
    pub fn cut(&mut self, at: Time) {
        let mut surplus = self.ends().saturating_sub(at);
        for step in self.steps.iter_mut().rev() {
            let less = surplus.min(step.time);
            step.time -= less;
            surplus -= less;
        }
    }

    /// Where the arm is then.
    pub fn arm(&self) -> Option<HeadPosition> {
        Some(self.steps.last()?.arm)
    }
}

impl From<Track> for ArmActivity {
    fn from(track: Track) -> ArmActivity {
        let run = &track.run;
        let mut steps = StepRecorder::default();
        let mut at = track.start;
        steps.heads_for(HeadPosition::over(run));
        for (part, time) in [
            (Part::Seek, track.motion.seek),
            (Part::HeadSwitch, track.motion.head_switch),
            (Part::Settle, track.motion.settle),
        ] {
            steps.add(part, time);
            at += time;
        }
        // Interrupted before the first sector came by, the head waited in vain.
        steps.awaits(SlotSpan::new(
            run.angle,
            track.slots.max(1),
            run.sectors_per_track,
        ));
        let edge = track.edge.min(track.until).max(at);
        steps.add(Part::Rotation, edge - at);
        steps.add(Part::Transfer, track.until.saturating_sub(edge));
        ArmActivity {
            begins: track.start,
            steps: steps.steps,
        }
    }
}

/// Records the steps of a request, and what the medium does beside it.
#[derive(Clone, Debug, Default)]
pub struct StepRecorder {
    sums: Parts,
    steps: Vec<Step>,
    by: usize,
    arm: HeadPosition,
    slots: Option<SlotSpan>,
    /// What the medium does beside the request.
    pub beside: Vec<ArmActivity>,
    /// Tracks that it has left.
    pub left: Vec<Track>,
}

impl StepRecorder {
    /// How the time divides.
    pub fn parts(&self) -> Parts {
        self.sums
    }

    /// The steps of the request.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What of the steps moves an arm or waits for the platter, if they begin at `start` and have no pauses: each with the number of its
    /// arm, one after the other.
    pub fn activities(&self, start: Time) -> impl Iterator<Item = (usize, ArmActivity)> {
        let mut begins = start;
        let by_one = self.steps.chunk_by(|one, next| one.by == next.by);
        by_one.filter_map(move |steps| {
            let activity = ArmActivity::of(steps, begins);
            begins += steps.iter().map(|step| step.time).sum();
            Some((steps[0].by, activity?))
        })
    }
}

impl Tally for StepRecorder {
    fn add(&mut self, part: Part, time: Time) {
        self.sums.add(part, time);
        if time == Time::ZERO {
            return;
        }
        let step = Step {
            part,
            time,
            by: self.by,
            arm: self.arm,
            slots: self
                .slots
                .filter(|_| matches!(part, Part::Rotation | Part::Transfer)),
        };
        if !self.steps.last_mut().is_some_and(|last| last.takes(&step)) {
            self.steps.push(step);
        }
    }

    fn each(&self, mut visit: impl FnMut(Part, Time)) {
        for step in &self.steps {
            visit(step.part, step.time);
        }
    }

    fn by_arm(&mut self, number: usize) {
        self.by = number;
    }

    fn heads_for(&mut self, to: HeadPosition) {
        (self.arm, self.slots) = (to, None);
    }

    fn moves(&mut self, mechanics: &Mechanics, from: HeadPosition, to: HeadPosition, write: bool) {
        let motion = mechanics.motion(from, to, write);
        self.heads_for(to);
        self.add(Part::Seek, motion.seek);
        self.add(Part::HeadSwitch, motion.head_switch);
        self.add(Part::Settle, motion.settle);
    }

    fn awaits(&mut self, slots: SlotSpan) {
        self.slots = Some(slots);
    }

    fn beside(&mut self, begins: Time, medium: StepRecorder) {
        self.beside.extend(ArmActivity::of(&medium.steps, begins));
    }

    fn leaves(&mut self, track: impl FnOnce() -> Track) {
        self.left.push(track());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: HeadPosition = HeadPosition {
        cylinder: 7,
        head: 1,
    };

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    fn some() -> StepRecorder {
        let mut steps = StepRecorder::default();
        steps.add(Part::Overhead, us(10));
        steps.heads_for(PLACE);
        steps.add(Part::Seek, us(100));
        steps.add(Part::HeadSwitch, Time::ZERO);
        steps.awaits(SlotSpan::new(4, 3, 90));
        steps.add(Part::Rotation, us(20));
        steps.add(Part::Rotation, us(5));
        steps.add(Part::Transfer, us(2));
        steps.awaits(SlotSpan::new(7, 1, 90));
        steps.add(Part::Transfer, us(1));
        steps.add(Part::Bus, us(1));
        steps
    }

    #[test]
    fn steps_add_up_to_the_parts() {
        let steps = some();
        let found: Vec<_> = steps.steps().iter().map(|s| (s.part, s.time)).collect();
        assert_eq!(
            found,
            [
                (Part::Overhead, us(10)),
                (Part::Seek, us(100)),
                (Part::Rotation, us(25)),
                (Part::Transfer, us(3)),
                (Part::Bus, us(1)),
            ]
        );
        let mut sums = Parts::default();
        steps.each(|part, time| sums.add(part, time));
        assert_eq!(sums, steps.parts());
    }

    #[test]
    fn an_arms_activity_is_without_the_controllers_work() {
        let steps = some();
        let mut activities = steps.activities(us(1_000));
        let (by, activity) = activities.next().expect("the arm moves");
        assert_eq!((by, activities.count()), (0, 0));
        assert_eq!((activity.begins, activity.ends()), (us(1_010), us(1_138)));
        assert_eq!(activity.steps[0].arm, PLACE);
        assert_eq!(activity.steps[0].slots, None);
        assert_eq!(activity.steps[2].slots, Some(SlotSpan::new(4, 4, 90)));
        let mut cut = activity.clone();
        cut.cut(us(2_000));
        assert_eq!(cut.ends(), activity.ends());
        cut.cut(us(1_120));
        assert_eq!((cut.ends(), cut.arm()), (us(1_120), Some(PLACE)));
        let mut idle = StepRecorder::default();
        idle.add(Part::Overhead, us(1));
        assert_eq!(idle.activities(Time::ZERO).count(), 0);
    }

    #[test]
    fn each_arm_has_its_activities() {
        let mut steps = StepRecorder::default();
        steps.add(Part::Overhead, us(10));
        for by in [1, 0, 1] {
            steps.by_arm(by);
            steps.heads_for(PLACE);
            steps.add(Part::Settle, us(3));
            steps.add(Part::Transfer, us(2));
            steps.add(Part::Bus, us(1));
        }
        let found = steps.activities(us(100));
        let found: Vec<_> = found.map(|(by, c)| (by, c.begins, c.ends())).collect();
        let at = |by, from, to| (by, us(from), us(to));
        assert_eq!(found, [at(1, 110, 115), at(0, 116, 121), at(1, 122, 127)]);
        // The same part at the same place is another step where another arm does it.
        let mut steps = StepRecorder::default();
        for by in [0, 1, 1] {
            steps.by_arm(by);
            steps.add(Part::Settle, us(2));
        }
        let found: Vec<_> = steps.steps().iter().map(|s| (s.by, s.time)).collect();
        assert_eq!(found, [(0, us(2)), (1, us(4))]);
    }
}
