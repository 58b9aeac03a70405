//! An LRU stack as a row of slots: every reference takes the next one, and an item is marked where it was referenced last. Its
//! depth is the number of marks behind it (B. T. Bennett and V. J. Kruskal, "LRU stack processing", IBM Journal of Research and
//! Development 19(4), 1975; F. Olken, "Efficient methods for calculating the success function of fixed space replacement policies",
//! LBL-12370, 1981): exact, in O(log n).

use super::marks::Marks;

/// The fewest slots of the row.
pub(super) const FEWEST: usize = 1 << 12;
/// Slots for each item that is kept, when the row is full and renumbered.
const SLOTS: usize = 3;

/// Items in the order of their last reference. The holder of the stack knows the slot of each, and is told where renumbering moves it to.
#[derive(Clone, Debug)]
pub(super) struct LruStack<T> {
    /// The item of each slot that was taken.
    items: Vec<T>,
    marks: Marks,
}

impl<T> Default for LruStack<T> {
    fn default() -> LruStack<T> {
        LruStack {
            items: Vec::new(),
            marks: Marks::new(FEWEST, 0),
        }
    }
}

impl<T: Copy> LruStack<T> {
    /// How many items there are.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.marks.marked()
    }

    /// Whether the next reference needs [`renumber`](LruStack::renumber) in front of it.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.items.len() == self.marks.slots()
    }

    /// Gives the items the first slots, in their order, and says which has which.
    #[cold]
    pub(super) fn renumber(&mut self, mut moved: impl FnMut(T, usize)) {
        let mut kept = 0;
        for slot in self.marks.iter() {
            let item = self.items[slot];
            self.items[kept] = item;
            moved(item, kept);
            kept += 1;
        }
        self.items.truncate(kept);
        self.marks = Marks::new(FEWEST.max(SLOTS * kept), kept);
    }

    /// Puts a new item on top, and tells its slot.
    #[inline]
    pub(super) fn push(&mut self, item: T) -> usize {
        let slot = self.items.len();
        self.items.push(item);
        self.marks.mark(slot);
        slot
    }

    /// Brings an item to the top, and tells its new slot and how deep it lay, 0 on top.
    #[inline]
    pub(super) fn touch(&mut self, item: T, before: usize) -> (usize, u64) {
        let slot = self.items.len();
        self.items.push(item);
        // The slot just taken is not marked yet: the last mark is before it.
        let depth = self.marks.between(before, slot);
        self.marks.shift(before, slot);
        (slot, depth)
    }

    /// The item at a depth, 0 on top; `depth` must be below [`len`](LruStack::len).
    #[inline]
    pub(super) fn at(&self, depth: u64) -> T {
        self.items[self.marks.nth(self.len() - 1 - depth)]
    }

    /// Takes the deepest item away.
    #[inline]
    pub(super) fn take_deepest(&mut self) -> Option<T> {
        self.marks.take_first().map(|slot| self.items[slot])
    }

    /// Slots there are.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.marks.slots()
    }
}
