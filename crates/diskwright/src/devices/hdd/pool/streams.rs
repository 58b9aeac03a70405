//! The sequential streams that a pool follows.

use std::collections::VecDeque;

use crate::base::units::Lbn;
use crate::engine::request::Command;

/// A sequence of reads each of which begins where the one before ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stream {
    /// The block behind its last read.
    pub next: u64,
    /// The block behind what has been read ahead, and not before `next`.
    pub end: u64,
    /// Reads that have continued it.
    count: u32,
    /// The read with which it began, which tells it from others that had its place.
    pub began: u64,
    /// There was no frame to read ahead into.
    is_stalled: bool,
}

/// The streams.
#[derive(Debug, Default)]
pub(super) struct Streams {
    most: usize,
    after: u32,
    streams: Vec<Stream>,
    /// The next block of each, and the number of the read that continued it last, apart from the rest: every read goes through them.
    nexts: Vec<u64>,
    turns: Vec<u64>,
    /// Their numbers, the one that was continued longest ago first.
    oldest_first: VecDeque<usize>,
    /// Reads so far.
    reads: u64,
    /// Streams that are to be read ahead.
    wanted: usize,
}

impl Streams {
    /// None yet, of at most `most`, which are read ahead once `after` reads have continued them.
    pub fn new(most: u32, after: u32) -> Streams {
        Streams {
            most: most as usize,
            after,
            ..Streams::default()
        }
    }

    /// A read is taken. What was read ahead of a stream that had to go for it is returned: from where to where.
    pub fn note(&mut self, read: &Command) -> Option<(u64, u64)> {
        self.reads += 1;
        let next = read.end().0;
        if self.nexts.contains(&read.lbn.0) {
            self.goes_on(read.lbn.0, next);
            return None;
        }
        let new = Stream {
            next,
            end: next,
            count: 0,
            began: self.reads,
            is_stalled: false,
        };
        if self.streams.len() < self.most {
            self.add(new);
            return None;
        }
        let number = self.oldest_first.pop_front()?;
        self.oldest_first.push_back(number);
        let given_up = self.put(number, new);
        (given_up.next < given_up.end).then_some((given_up.next, given_up.end))
    }

    /// The stream that a read at a block continues goes on up to block `next`: of several the one that was continued last.
    #[inline(never)]
    fn goes_on(&mut self, lbn: u64, next: u64) {
        let numbers = 0..self.nexts.len();
        let continued = numbers.filter(|&number| self.nexts[number] == lbn);
        let number = continued.max_by_key(|&number| self.turns[number]);
        let number = number.expect("there is one");
        let Stream { end, count, .. } = self.streams[number];
        let continued = Stream {
            next,
            end: end.max(next),
            count: count.saturating_add(1),
            is_stalled: false,
            ..self.streams[number]
        };
        let place = self.oldest_first.iter().position(|&other| other == number);
        self.oldest_first.remove(place.expect("it is followed"));
        self.oldest_first.push_back(number);
        self.put(number, continued);
    }

    /// One more stream is followed, with the read that is taken.
    #[cold]
    fn add(&mut self, new: Stream) {
        self.wanted += usize::from(self.is_wanted(&new));
        self.nexts.push(new.next);
        self.turns.push(self.reads);
        self.oldest_first.push_back(self.streams.len());
        self.streams.push(new);
    }

    /// Puts a stream into the place of another, which is returned; the read that is taken is its last.
    fn put(&mut self, number: usize, stream: Stream) -> Stream {
        (self.nexts[number], self.turns[number]) = (stream.next, self.reads);
        self.wanted += usize::from(self.is_wanted(&stream));
        self.wanted -= usize::from(self.is_wanted(&self.streams[number]));
        std::mem::replace(&mut self.streams[number], stream)
    }

    fn is_wanted(&self, stream: &Stream) -> bool {
        stream.count >= self.after && !stream.is_stalled
    }

    /// Whether any is to be read ahead.
    #[inline]
    pub fn are_wanted(&self) -> bool {
        self.wanted > 0
    }

    /// The streams that are to be read ahead, by their numbers: the one of which least has been read ahead first, of several the one that
    /// was continued last.
    pub fn wanting(&self, list: &mut Vec<usize>) {
        list.clear();
        let streams = self.streams.iter().enumerate();
        list.extend(
            streams
                .filter(|(_, stream)| self.is_wanted(stream))
                .map(|(number, _)| number),
        );
        list.sort_unstable_by_key(|&number| {
            let stream = &self.streams[number];
            (stream.end - stream.next, u64::MAX - self.turns[number])
        });
    }

    /// The stream to be read ahead of which the blocks up to this one have been read: of several the one that was continued last.
    pub fn ending_at(&self, end: u64) -> Option<usize> {
        if !self.are_wanted() {
            return None;
        }
        let ends_there = |&number: &usize| {
            let stream = &self.streams[number];
            stream.end == end && self.is_wanted(stream)
        };
        let there = (0..self.streams.len()).filter(ends_there);
        there.max_by_key(|&number| self.turns[number])
    }

    /// A stream.
    pub fn get(&self, number: usize) -> &Stream {
        &self.streams[number]
    }

    /// A stream, unless it has been given up, has been read ahead up to a block.
    pub fn read_ahead(&mut self, (number, began): (usize, u64), end: Lbn) {
        let stream = &mut self.streams[number];
        if stream.began == began {
            stream.end = end.0.max(stream.next);
        }
    }

    /// A stream is not read ahead until it is continued.
    pub fn stall(&mut self, number: usize) {
        self.wanted -= usize::from(self.is_wanted(&self.streams[number]));
        self.streams[number].is_stalled = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::request::Op;

    fn read(lbn: u64, blocks: u32) -> Command {
        Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
        }
    }

    #[test]
    fn streams_are_told_apart_and_the_one_continued_longest_ago_goes() {
        let mut streams = Streams::new(2, 1);
        let mut wanting = Vec::new();
        assert_eq!(streams.note(&read(0, 8)), None);
        assert_eq!(streams.note(&read(1000, 8)), None);
        streams.wanting(&mut wanting);
        assert!(wanting.is_empty(), "nothing has been continued");
        assert_eq!(streams.note(&read(8, 8)), None);
        assert_eq!(streams.note(&read(1008, 8)), None);
        streams.wanting(&mut wanting);
        assert_eq!(wanting, [1, 0], "the one that was continued last");
        streams.read_ahead((1, 2), Lbn(1100));
        streams.read_ahead((0, 2), Lbn(2000));
        streams.wanting(&mut wanting);
        assert_eq!(wanting, [0, 1], "the one of which less has been read");
        streams.stall(0);
        streams.wanting(&mut wanting);
        assert_eq!(wanting, [1]);
        assert_eq!(streams.note(&read(16, 8)), None);
        streams.wanting(&mut wanting);
        assert_eq!(wanting, [0, 1], "it was continued");
        // Another one takes the place of the second.
        assert_eq!(streams.note(&read(5000, 8)), Some((1016, 1100)));
        assert_eq!(streams.get(1).next, 5008);
    }

    #[test]
    fn of_streams_that_end_at_a_block_the_one_continued_last_is_found() {
        let mut streams = Streams::new(4, 1);
        for (lbn, blocks) in [(0, 8), (1000, 8), (8, 8), (4, 4)] {
            assert_eq!(streams.note(&read(lbn, blocks)), None);
        }
        assert_eq!(streams.ending_at(16), Some(0));
        assert_eq!(streams.ending_at(1008), None, "nothing has continued it");
        assert_eq!(streams.note(&read(8, 8)), None, "it continues the last one");
        assert_eq!(streams.ending_at(16), Some(2));
        streams.read_ahead((2, 4), Lbn(30));
        assert_eq!(streams.ending_at(16), Some(0));
        streams.stall(0);
        assert_eq!(streams.ending_at(16), None);
    }

    #[test]
    fn where_none_is_followed_nothing_is_read_ahead() {
        let mut streams = Streams::new(0, 0);
        assert_eq!(streams.note(&read(0, 8)), None);
        let mut wanting = Vec::new();
        streams.wanting(&mut wanting);
        assert!(wanting.is_empty());
    }
}
