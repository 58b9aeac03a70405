//! The segments of a buffer, as docs/model/buffer.md defines them.

/// The blocks `from..to`; none where the two are equal.
pub type Blocks = (u64, u64);

/// A segment, when it was last used (larger numbers later), and up to where its reads have asked for more.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    pub data: Blocks,
    pub used: u64,
    pub limit: u64,
}

pub struct Segments {
    pub all: Vec<Segment>,
    /// Blocks of each.
    pub size: u64,
    /// Whether the first is for writes alone.
    pub has_own: bool,
    uses: u64,
}

/// Which segment a read uses, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All of its blocks are there: in the segment that is being filled, or in an idle one.
    Hit {
        segment: usize,
        is_filling: bool,
    },
    /// The first of its blocks are there.
    Partial {
        segment: usize,
        is_filling: bool,
    },
    Miss {
        segment: usize,
    },
}

fn meets(one: Blocks, other: Blocks) -> bool {
    one.0 < other.1 && other.0 < one.1
}

impl Segments {
    pub fn new(count: u64, size: u64, has_own: bool) -> Segments {
        Segments {
            all: vec![Segment::default(); count as usize],
            size,
            has_own,
            uses: 0,
        }
    }

    /// The least recently used of some.
    fn oldest(&self, which: impl Fn(usize, &Segment) -> bool) -> Option<usize> {
        let all = self.all.iter().enumerate();
        let fitting = all.filter(|(number, segment)| which(*number, segment));
        fitting
            .min_by_key(|(_, segment)| segment.used)
            .map(|(number, _)| number)
    }

    /// The segment for a read; `filling` is the one that is being filled.
    pub fn of_read(&self, (from, to): Blocks, filling: Option<usize>) -> Found {
        let may = |number: usize| !(self.has_own && number == 0);
        let has = |segment: &Segment, block: u64| (segment.data.0..segment.data.1).contains(&block);
        let is_filling = |number: usize| Some(number) == filling;
        let find = |wants_filling: bool, wants_all: bool| {
            self.oldest(|number, segment| {
                let has_enough = has(segment, from) && (!wants_all || has(segment, to - 1));
                may(number) && is_filling(number) == wants_filling && has_enough
            })
        };
        for wants_all in [true, false] {
            for is_filling in [true, false] {
                if let Some(segment) = find(is_filling, wants_all) {
                    return match wants_all {
                        true => Found::Hit {
                            segment,
                            is_filling,
                        },
                        false => Found::Partial {
                            segment,
                            is_filling,
                        },
                    };
                }
            }
        }
        let is_empty = |segment: &Segment| segment.data.0 == segment.data.1;
        let segment = self
            .oldest(|number, segment| may(number) && !is_filling(number) && is_empty(segment))
            .or_else(|| self.oldest(|number, _| may(number) && !is_filling(number)))
            .or(filling)
            .expect("there is one");
        Found::Miss { segment }
    }

    /// The segment for a write.
    pub fn of_write(&self, blocks: Blocks, filling: Option<usize>) -> usize {
        if self.has_own {
            return 0;
        }
        let is_idle = |number: usize| Some(number) != filling;
        self.oldest(|number, segment| is_idle(number) && meets(segment.data, blocks))
            .or_else(|| {
                self.oldest(|number, segment| is_idle(number) && segment.data.0 == segment.data.1)
            })
            .or_else(|| self.oldest(|number, _| is_idle(number)))
            .or(filling)
            .expect("there is one")
    }

    /// A request uses a segment.
    pub fn touch(&mut self, segment: usize) {
        self.uses += 1;
        self.all[segment].used = self.uses;
    }

    pub fn empty(&mut self, segment: usize) {
        self.all[segment].data = (0, 0);
    }

    /// A write replaces blocks: other segments that have some of them are emptied; the one that was being filled keeps those behind it, or
    /// those before it.
    pub fn replace(&mut self, blocks: Blocks, its: usize, filled: Option<usize>) {
        for number in 0..self.all.len() {
            let data = self.all[number].data;
            if number == its || !meets(data, blocks) {
                continue;
            }
            let kept = match (Some(number) == filled, data.1 > blocks.1) {
                (false, _) => (0, 0),
                (true, true) => (blocks.1, data.1),
                (true, false) => (data.0, blocks.0.max(data.0)),
            };
            self.all[number].data = kept;
        }
    }
}
