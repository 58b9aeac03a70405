//! A block at random.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, PerFrame, Pins, Replacement, Setting};
use crate::base::random::Stream;

/// Rule: any block leaves, each as likely as another. Tie: none can be. Source: Belady, "A study of replacement algorithms for a
/// virtual-storage computer", IBM Systems Journal 5(2), 1966. Weakness: it learns nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {}

impl Random {
    pub(super) const SUMMARY: &str = "A block at random leaves, each as likely as another.";
    pub(super) fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        Box::new(RandomState {
            frames: Vec::new(),
            places: PerFrame::new(0),
            drawn_from: None,
            chance: setting.chance.clone(),
        })
    }
}

struct RandomState {
    frames: Vec<Frame>,
    /// Where in `frames` a frame is.
    places: PerFrame<u32>,
    /// Those from here on in `frames` are held by [lasting](Pins::lasting) pins, once there were any.
    drawn_from: Option<usize>,
    chance: Stream,
}

impl RandomState {
    fn swap(&mut self, one: usize, other: usize) {
        self.frames.swap(one, other);
        for place in [one, other] {
            self.places[self.frames[place].index()] = place as u32;
        }
    }
}

impl Replacement for RandomState {
    fn hit(&mut self, _frame: Frame, _access: &Access) {}
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let all = self.frames.len();
        let most = match pins.are_lasting() {
            true => *self.drawn_from.get_or_insert(all),
            false => all,
        };
        // A pinned frame that is drawn is put behind those that can be drawn again.
        for drawn_from in (1..=most).rev() {
            let place = self.chance.below(drawn_from as u64) as usize;
            let frame = self.frames[place];
            if !pins.holds(frame) {
                self.remove(frame);
                return Some(frame);
            }
            self.swap(place, drawn_from - 1);
            if pins.are_lasting() {
                self.drawn_from = Some(drawn_from - 1);
            }
        }
        None
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.places[frame.index()] = self.frames.len() as u32;
        self.frames.push(frame);
        self.release(frame);
    }
    fn release(&mut self, frame: Frame) {
        let place = self.places[frame.index()] as usize;
        if let Some(first) = self.drawn_from
            && place >= first
            && self.frames.get(place) == Some(&frame)
        {
            self.swap(place, first);
            self.drawn_from = Some(first + 1);
        }
    }
    fn remove(&mut self, frame: Frame) {
        let mut place = self.places[frame.index()] as usize;
        if let Some(first) = self.drawn_from
            && place < first
        {
            self.swap(place, first - 1);
            self.drawn_from = Some(first - 1);
            place = first - 1;
        }
        self.swap(place, self.frames.len() - 1);
        self.frames.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_that_is_not_pinned_is_as_likely() {
        let setting = Setting {
            capacity: 8,
            chance: Stream::new(1, "random"),
        };
        let mut policy = Random {}.build(&setting);
        let access = Access {
            key: 0,
            write: false,
            next: u64::MAX,
        };
        (0..8).for_each(|frame| policy.insert(Frame(frame), &access));
        let mut pins = Pins::new();
        (0..3).for_each(|frame| pins.pin(Frame(frame)));
        let mut counts = [0u32; 8];
        for _ in 0..50_000 {
            let frame = policy.evict(&pins).expect("five are free");
            counts[frame.index()] += 1;
            policy.insert(frame, &access);
        }
        assert_eq!(counts[..3], [0; 3]);
        // Chi-squared with 4 degrees of freedom exceeds 18.5 once in a thousand.
        let chi: f64 = counts[3..]
            .iter()
            .map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4)
            .sum();
        assert!(chi < 18.5, "{counts:?}");
    }
}
