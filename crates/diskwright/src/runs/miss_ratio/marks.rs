//! Which slots of a row are marked, and how many marks come after one.
//!
//! The slots are bits of words; a Fenwick tree holds the sums over words (Fenwick, "A new data structure for cumulative frequency
//! tables", Software: Practice and Experience 24(3), 1994). Moves and counts between near places climb only to where both meet,
//! so that they cost the logarithm of the distance and not of the row.

const BITS: usize = u64::BITS as usize;

/// Marks on the slots of a row. Slots are marked from the front to the back, each once.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    words: Vec<u64>,
    /// `sums[i]` is of the words that node `i` of the tree covers, counted from 1; `sums[0]` is not used.
    sums: Vec<u64>,
    /// No mark is in a word before this one.
    first: usize,
}

/// The word of a slot and its place in it.
fn place(slot: usize) -> (usize, u32) {
    (slot / BITS, (slot % BITS) as u32)
}

/// The node's lowest bit: how many words it covers.
fn span(node: usize) -> usize {
    node & node.wrapping_neg()
}

impl Marks {
    /// A row of at least `slots` slots, the first `marked` of which are marked.
    pub(super) fn new(slots: usize, marked: usize) -> Marks {
        debug_assert!(marked <= slots, "{marked} marks on {slots} slots");
        let mut words = vec![0; slots.div_ceil(BITS).max(1)];
        let (whole, rest) = place(marked);
        words[..whole].fill(u64::MAX);
        if rest > 0 {
            words[whole] = (1 << rest) - 1;
        }
        let mut sums = vec![0; words.len() + 1];
        for node in 1..sums.len() {
            sums[node] += u64::from(words[node - 1].count_ones());
            let parent = node + span(node);
            if parent < sums.len() {
                sums[parent] += sums[node];
            }
        }
        Marks {
            words,
            sums,
            first: 0,
        }
    }

    /// How many slots there are.
    pub(super) fn slots(&self) -> usize {
        self.words.len() * BITS
    }

    /// How many marks there are after slot `from`, which is not after the last of them, `last`.
    #[inline]
    pub(super) fn between(&self, from: usize, last: usize) -> u64 {
        let ((low, from), (high, last)) = (place(from), place(last));
        let after_from = u64::MAX << from << 1;
        let up_to_last = u64::MAX >> (BITS as u32 - 1 - last);
        if low == high {
            return u64::from((self.words[low] & after_from & up_to_last).count_ones());
        }
        let ends = (self.words[low] & after_from).count_ones()
            + (self.words[high] & up_to_last).count_ones();
        // The words between: `low + 1` to `high - 1`, which nodes from 1 count as `low + 2` to `high`.
        u64::from(ends) + self.sum(low + 1, high)
    }

    /// The marks in the words of nodes `from + 1` to `to`.
    #[inline]
    fn sum(&self, mut from: usize, mut to: usize) -> u64 {
        let (mut more, mut less) = (0, 0);
        while to > from {
            more += self.sums[to];
            to -= span(to);
        }
        while from > to {
            less += self.sums[from];
            from -= span(from);
        }
        more - less
    }

    /// Marks a slot that is not marked.
    #[inline]
    pub(super) fn mark(&mut self, slot: usize) {
        let (word, bit) = place(slot);
        self.words[word] |= 1 << bit;
        let mut node = word + 1;
        while node < self.sums.len() {
            self.sums[node] += 1;
            node += span(node);
        }
    }

    /// Takes a mark away.
    #[inline]
    fn clear(&mut self, slot: usize) {
        let (word, bit) = place(slot);
        self.words[word] &= !(1 << bit);
        let mut node = word + 1;
        while node < self.sums.len() {
            self.sums[node] -= 1;
            node += span(node);
        }
    }

    /// Moves a mark to a slot further on that is not marked.
    #[inline]
    pub(super) fn shift(&mut self, from: usize, to: usize) {
        let ((low, from), (high, to)) = (place(from), place(to));
        self.words[low] &= !(1 << from);
        self.words[high] |= 1 << to;
        let (mut less, mut more) = (low + 1, high + 1);
        let end = self.sums.len();
        while less != more {
            if less < more {
                self.sums[less] -= 1;
                less = (less + span(less)).min(end);
            } else {
                self.sums[more] += 1;
                more = (more + span(more)).min(end);
            }
        }
    }

    /// Takes the first mark away, and tells where it was.
    pub(super) fn take_first(&mut self) -> Option<usize> {
        let rest = self.words[self.first..].iter();
        self.first += rest.take_while(|word| **word == 0).count();
        let Some(word) = self.words.get(self.first) else {
            // The next mark may be in a word that has just been passed.
            self.first = 0;
            return None;
        };
        let slot = self.first * BITS + word.trailing_zeros() as usize;
        self.clear(slot);
        Some(slot)
    }

    /// The marked slots from the front to the back.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(word, &bits)| {
            let rests = std::iter::successors(Some(bits), |rest| Some(rest & (rest - 1)));
            let rests = rests.take(bits.count_ones() as usize);
            rests.map(move |rest| word * BITS + rest.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agree_with_a_plain_row(
            operations in prop::collection::vec((0usize..3, any::<prop::sample::Index>()), 1..600),
            slots in 1usize..700,
            marked in any::<prop::sample::Index>(),
        ) {
            let marked = marked.index(slots + 1);
            let mut marks = Marks::new(slots, marked);
            prop_assert!(marks.slots() >= slots && marks.slots() < slots + BITS);
            let mut model: Vec<usize> = (0..marked).collect();
            for (next, (what, which)) in (marked..marks.slots()).zip(operations) {
                match what {
                    0 if !model.is_empty() => {
                        let from = model.remove(which.index(model.len()));
                        marks.shift(from, next);
                        model.push(next);
                    }
                    1 => prop_assert_eq!(
                        marks.take_first(),
                        (!model.is_empty()).then(|| model.remove(0))
                    ),
                    _ => {
                        marks.mark(next);
                        model.push(next);
                    }
                }
                prop_assert_eq!(marks.iter().collect::<Vec<_>>(), model.clone());
                if let Some(&last) = model.last() {
                    for (at, &from) in model.iter().enumerate() {
                        prop_assert_eq!(marks.between(from, last), (model.len() - 1 - at) as u64);
                    }
                }
            }
        }
    }
}
