//! Lists of frames, linked by index: any number of lists over the same frames, a frame in at most one of them.

use super::passed_over::PassedOver;
use super::per_frame::PerFrame;
use super::{Frame, Pins};

const NONE: u32 = u32::MAX;

/// A list: the front is where it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    front: u32,
    back: u32,
    len: usize,
    /// The foremost of the frames from the back on that a search has passed over.
    passed: u32,
    /// Its name among the lists of which frames were passed over; 0 before that.
    name: u32,
}

impl Default for List {
    fn default() -> List {
        List {
            front: NONE,
            back: NONE,
            len: 0,
            passed: NONE,
            name: 0,
        }
    }
}

impl List {
    /// Frames in it.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }
    /// The first frame.
    #[cfg(test)]
    fn front(&self) -> Option<Frame> {
        (self.front != NONE).then_some(Frame(self.front))
    }
    /// The last frame.
    #[inline]
    pub(super) fn back(&self) -> Option<Frame> {
        (self.back != NONE).then_some(Frame(self.back))
    }
}

#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
}

/// The links of all frames of a cache.
#[derive(Clone, Debug)]
pub(super) struct Links {
    of: PerFrame<Link>,
    passed_over: PassedOver,
}

impl Links {
    /// No frame is in a list.
    pub(super) fn new() -> Links {
        let none = Link {
            previous: NONE,
            next: NONE,
        };
        Links {
            of: PerFrame::new(none),
            passed_over: PassedOver::new(),
        }
    }

    /// The frame behind one, nearer to the back.
    #[cfg(test)]
    fn next(&self, frame: Frame) -> Option<Frame> {
        let next = self.of[frame.index()].next;
        (next != NONE).then_some(Frame(next))
    }

    /// The frame before one, nearer to the front.
    #[inline]
    pub(super) fn previous(&self, frame: Frame) -> Option<Frame> {
        let previous = self.of[frame.index()].previous;
        (previous != NONE).then_some(Frame(previous))
    }

    /// Puts a frame that is in no list at the front of one.
    #[inline]
    pub(super) fn push_front(&mut self, list: &mut List, frame: Frame) {
        let next = list.front;
        self.of[frame.index()] = Link {
            previous: NONE,
            next,
        };
        match next {
            NONE => list.back = frame.0,
            next => self.of[next as usize].previous = frame.0,
        }
        list.front = frame.0;
        list.len += 1;
    }

    /// Puts a frame that is in no list at the back of one.
    #[inline]
    pub(super) fn push_back(&mut self, list: &mut List, frame: Frame) {
        let previous = list.back;
        self.of[frame.index()] = Link {
            previous,
            next: NONE,
        };
        match previous {
            NONE => list.front = frame.0,
            previous => self.of[previous as usize].next = frame.0,
        }
        list.back = frame.0;
        list.len += 1;
        if list.passed != NONE {
            self.passed_over.put_behind(list.name, frame);
        }
    }

    /// Takes a frame out of the list that it is in.
    #[inline]
    pub(super) fn remove(&mut self, list: &mut List, frame: Frame) {
        let Link { previous, next } = self.of[frame.index()];
        match previous {
            NONE => list.front = next,
            previous => self.of[previous as usize].next = next,
        }
        match next {
            NONE => list.back = previous,
            next => self.of[next as usize].previous = previous,
        }
        list.len -= 1;
        // Where none of the list was passed over, this one was not: to ask would be an access to memory.
        if list.passed != NONE && self.passed_over.has(frame) {
            if list.passed == frame.0 {
                list.passed = next;
            }
            self.passed_over.forget(list.name, frame);
        }
    }

    /// Moves a frame of a list to its front.
    #[inline]
    pub(super) fn move_to_front(&mut self, list: &mut List, frame: Frame) {
        if list.front != frame.0 {
            self.remove(list, frame);
            self.push_front(list, frame);
        }
    }

    /// Puts a frame that is in no list in the place of one that is in `list`.
    #[inline]
    pub(super) fn replace(&mut self, list: &mut List, frame: Frame, by: Frame) {
        debug_assert_eq!(list.passed, NONE, "no search passes over anything here");
        let link = self.of[frame.index()];
        self.of[by.index()] = link;
        match link.previous {
            NONE => list.front = by.0,
            previous => self.of[previous as usize].next = by.0,
        }
        match link.next {
            NONE => list.back = by.0,
            next => self.of[next as usize].previous = by.0,
        }
    }

    /// The first frame of a list, from its back, that is not held. Where what is held stays so for [long](Pins::lasting), frames that were
    /// passed over once are not looked at again before they have been [released](Self::release): on average over many calls, with those for
    /// frames that come and go, it takes logarithmic time.
    #[inline]
    pub(super) fn last_free(&mut self, list: &mut List, pins: &Pins) -> Option<Frame> {
        if pins.are_lasting() {
            return self.last_free_of_many(list, pins);
        }
        self.back_to_front(list).find(|&frame| !pins.holds(frame))
    }

    fn last_free_of_many(&mut self, list: &mut List, pins: &Pins) -> Option<Frame> {
        let is_held = |frame| pins.holds(frame);
        if let Some(frame) = self.passed_over.first_released(list.name, is_held) {
            return Some(frame);
        }
        let mut at = match list.passed {
            NONE => list.back(),
            passed => self.previous(Frame(passed)),
        };
        while let Some(frame) = at
            && is_held(frame)
        {
            if list.name == 0 {
                list.name = self.passed_over.name_list();
            }
            self.passed_over.pass(frame);
            list.passed = frame.0;
            at = self.previous(frame);
        }
        at
    }

    /// A frame of a list is no longer held by pins that [last](Pins::lasting).
    #[inline]
    pub(super) fn release(&mut self, list: &List, frame: Frame) {
        if list.passed != NONE {
            self.passed_over.release(list.name, frame);
        }
    }

    /// The frames of a list from the back to the front.
    pub(super) fn back_to_front(&self, list: &List) -> impl Iterator<Item = Frame> {
        std::iter::successors(list.back(), |&frame| self.previous(frame))
    }

    /// A frame and those before it, up to the front of its list.
    pub(super) fn starting_at(&self, frame: Frame) -> impl Iterator<Item = Frame> {
        std::iter::successors(Some(frame), |&frame| self.previous(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agree_with_plain_queues(operations in prop::collection::vec((0u32..6, 0usize..3, 0u8..3, 0u32..6), 1..200)) {
            let mut links = Links::new();
            let mut lists = [List::default(); 2];
            let mut model = [VecDeque::new(), VecDeque::new()];
            for (frame, to, what, other) in operations {
                let frame = Frame(frame);
                if let Some(at) = model.iter().position(|queue| queue.contains(&frame)) {
                    let other = Frame(other);
                    if what == 2 && !model.iter().any(|queue| queue.contains(&other)) {
                        links.replace(&mut lists[at], frame, other);
                        model[at].iter_mut().filter(|it| **it == frame).for_each(|it| *it = other);
                    } else {
                        model[at].retain(|&other| other != frame);
                        if what == 1 {
                            links.move_to_front(&mut lists[at], frame);
                            model[at].push_front(frame);
                        } else {
                            links.remove(&mut lists[at], frame);
                        }
                    }
                } else if to < 2 && what == 0 {
                    links.push_back(&mut lists[to], frame);
                    model[to].push_back(frame);
                } else if to < 2 {
                    links.push_front(&mut lists[to], frame);
                    model[to].push_front(frame);
                }
                for (list, queue) in lists.iter().zip(&model) {
                    prop_assert_eq!(list.len(), queue.len());
                    prop_assert_eq!(list.front(), queue.front().copied());
                    let back_to_front: Vec<Frame> = links.back_to_front(list).collect();
                    prop_assert_eq!(&back_to_front, &queue.iter().rev().copied().collect::<Vec<_>>());
                    let from_front: Vec<Frame> = std::iter::successors(list.front(), |&frame| links.next(frame)).collect();
                    prop_assert_eq!(&from_front, &queue.iter().copied().collect::<Vec<_>>());
                }
            }
        }
    }
}
