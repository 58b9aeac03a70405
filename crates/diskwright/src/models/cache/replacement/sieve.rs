//! SIEVE: a clock whose hand moves while the blocks stay.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Frame, Links, List, PerFrame, Pins, Replacement, Setting};

/// Rule: a hand goes from the oldest block to the youngest and round again; what was accessed since it came by is passed, the first that
/// was not leaves. Tie: none can be. Source: Zhang et al., "SIEVE is simpler than LRU", NSDI 2024. Weakness: blocks that were popular
/// once stay until the hand has come round.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sieve {}

impl Sieve {
    pub(super) const SUMMARY: &str = "As clock, but what the hand passes stays where it is, so that new blocks are looked at soon.";
    pub(super) fn build(&self, _setting: &Setting) -> Box<dyn Replacement> {
        Box::new(SieveState {
            links: Links::new(),
            list: List::default(),
            hand: None,
            accessed: PerFrame::new(false),
            numbers: PerFrame::new(0),
            last: 0,
            free: None,
        })
    }
}

/// The blocks, the oldest at the back.
struct SieveState {
    links: Links,
    list: List,
    /// The block looked at next; `None` for the oldest.
    hand: Option<Frame>,
    accessed: PerFrame<bool>,
    /// In which order the blocks came; 0 of frames that have none.
    numbers: PerFrame<u64>,
    last: u64,
    /// By their numbers, those that are not held by [lasting](Pins::lasting) pins, as far as it is known, once there were any.
    free: Option<BTreeMap<u64, Frame>>,
}

impl SieveState {
    /// The hand goes on, over those only that may be free.
    fn evict_from_many(&mut self, pins: &Pins) -> Option<Frame> {
        let SieveState {
            links,
            list,
            numbers,
            ..
        } = self;
        let free = self.free.get_or_insert_with(|| {
            let all = links.back_to_front(list);
            all.map(|frame| (numbers[frame.index()], frame)).collect()
        });
        let mut from = self.hand.map_or(0, |frame| numbers[frame.index()]);
        loop {
            let next = free.range(from..).next().or_else(|| free.iter().next());
            let (&number, &frame) = next?;
            if pins.holds(frame) {
                free.remove(&number);
            } else if !std::mem::take(&mut self.accessed[frame.index()]) {
                self.hand = Some(frame);
                self.remove(frame);
                return Some(frame);
            }
            from = number + 1;
        }
    }
}

impl Replacement for SieveState {
    fn hit(&mut self, frame: Frame, _access: &Access) {
        self.accessed[frame.index()] = true;
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        if pins.are_lasting() {
            return self.evict_from_many(pins);
        }
        // One round at most takes the marks away, another finds a block without, if one is not pinned.
        for _ in 0..2 * self.list.len() {
            let frame = self.hand.or(self.list.back())?;
            if !pins.holds(frame) && !std::mem::take(&mut self.accessed[frame.index()]) {
                self.hand = Some(frame);
                self.remove(frame);
                return Some(frame);
            }
            self.hand = self.links.previous(frame);
        }
        None
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.accessed[frame.index()] = false;
        self.links.push_front(&mut self.list, frame);
        self.last += 1;
        self.numbers[frame.index()] = self.last;
        self.release(frame);
    }
    fn release(&mut self, frame: Frame) {
        let number = self.numbers[frame.index()];
        if let Some(free) = &mut self.free
            && number > 0
        {
            free.insert(number, frame);
        }
    }
    fn remove(&mut self, frame: Frame) {
        if self.hand == Some(frame) {
            self.hand = self.links.previous(frame);
        }
        self.links.remove(&mut self.list, frame);
        let number = std::mem::take(&mut self.numbers[frame.index()]);
        if let Some(free) = &mut self.free {
            free.remove(&number);
        }
    }
}
