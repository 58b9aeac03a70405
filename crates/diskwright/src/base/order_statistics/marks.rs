//! Which slots of a row are marked, and how many marks come after one: bits of words, and a Fenwick tree of the sums over words.

use super::fenwick::Fenwick;

const BITS: usize = u64::BITS as usize;

/// Marks on the slots of a row, two bits of memory a slot. Slots are marked from the front to the back, each once.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    words: Vec<u64>,
    /// The marks in each word.
    sums: Fenwick,
    /// No mark is in a word before this one.
    first: usize,
}

/// The word of a slot and its place in it.
fn place(slot: usize) -> (usize, u32) {
    (slot / BITS, (slot % BITS) as u32)
}

/// The place of the bit of a word that has `before` set bits below it.
fn nth_bit(word: u64, mut before: u32) -> u32 {
    let (mut at, mut width) = (0, u64::BITS / 2);
    while width > 0 {
        let low = (word >> at) & ((1 << width) - 1);
        if let Some(rest) = before.checked_sub(low.count_ones()) {
            before = rest;
            at += width;
        }
        width /= 2;
    }
    at
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
        let sums = Fenwick::new(words.iter().map(|word| u64::from(word.count_ones())));
        Marks {
            words,
            sums,
            first: 0,
        }
    }

    /// How many slots there are.
    #[inline]
    pub(super) fn slots(&self) -> usize {
        self.words.len() * BITS
    }

    /// How many marks there are.
    #[inline]
    pub(super) fn marked(&self) -> u64 {
        self.sums.total()
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
        u64::from(ends) + self.sums.between(low + 1, high)
    }

    /// The marked slot with `before` marks in front of it, which must be fewer than there are.
    #[inline]
    pub(super) fn nth(&self, before: u64) -> usize {
        let (word, before) = self.sums.find(before);
        word * BITS + nth_bit(self.words[word], before as u32) as usize
    }

    /// Marks a slot that is not marked.
    #[inline]
    pub(super) fn mark(&mut self, slot: usize) {
        let (word, bit) = place(slot);
        self.words[word] |= 1 << bit;
        self.sums.raise(word);
    }

    /// Moves a mark to a slot further on that is not marked.
    #[inline]
    pub(super) fn shift(&mut self, from: usize, to: usize) {
        let ((low, from), (high, to)) = (place(from), place(to));
        self.words[low] &= !(1 << from);
        self.words[high] |= 1 << to;
        self.sums.shift(low, high);
    }

    /// Takes the first mark away, and tells where it was.
    pub(super) fn take_first(&mut self) -> Option<usize> {
        let rest = self.words[self.first..].iter();
        self.first += rest.take_while(|word| **word == 0).count();
        let Some(word) = self.words.get_mut(self.first) else {
            // The next mark may be in a word that has just been passed.
            self.first = 0;
            return None;
        };
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        self.sums.lower(self.first);
        Some(self.first * BITS + bit as usize)
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
                prop_assert_eq!(marks.marked(), model.len() as u64);
                if let Some(&last) = model.last() {
                    for (at, &from) in model.iter().enumerate() {
                        prop_assert_eq!(marks.between(from, last), (model.len() - 1 - at) as u64);
                        prop_assert_eq!(marks.nth(at as u64), from);
                    }
                }
            }
        }

        #[test]
        fn bits_are_found_by_their_number(word in any::<u64>(), sparse in any::<u64>()) {
            for word in [word, word & sparse, word | sparse, u64::MAX] {
                let set = (0..u64::BITS).filter(|bit| word >> bit & 1 == 1);
                for (before, bit) in set.enumerate() {
                    prop_assert_eq!(nth_bit(word, before as u32), bit);
                }
            }
        }
    }
}
