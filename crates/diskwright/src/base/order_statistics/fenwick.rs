//! Sums over counts that change: P. M. Fenwick, "A new data structure for cumulative frequency tables", Software: Practice and
//! Experience 24(3), 1994. Changing a count and finding the one that holds a given place take O(log n); moves and sums between near
//! places climb only to where both meet, so that they cost the logarithm of the distance.

/// Counts by index, with their sums; 8 bytes a count.
#[derive(Clone, Debug, Default)]
pub struct Fenwick {
    /// Node `i`, from 1, holds the sum of the `i & -i` counts up to `i`.
    tree: Vec<u64>,
    total: u64,
}

/// How many counts a node covers: its lowest bit.
fn span(node: usize) -> usize {
    node & node.wrapping_neg()
}

impl Fenwick {
    /// With these counts.
    pub fn new(counts: impl IntoIterator<Item = u64>) -> Fenwick {
        let mut tree = vec![0];
        tree.extend(counts);
        let total = tree.iter().sum();
        for node in 1..tree.len() {
            let above = node + span(node);
            if above < tree.len() {
                tree[above] += tree[node];
            }
        }
        Fenwick { tree, total }
    }

    /// How many counts there are.
    pub fn len(&self) -> usize {
        self.tree.len().saturating_sub(1)
    }

    /// Whether there are no counts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sum of all counts.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Adds one to a count.
    #[inline]
    pub fn raise(&mut self, index: usize) {
        self.total += 1;
        let mut node = index + 1;
        while let Some(sum) = self.tree.get_mut(node) {
            *sum += 1;
            node += span(node);
        }
    }

    /// Takes one from a count, which must not be 0.
    #[inline]
    pub fn lower(&mut self, index: usize) {
        self.total -= 1;
        let mut node = index + 1;
        while let Some(sum) = self.tree.get_mut(node) {
            *sum -= 1;
            node += span(node);
        }
    }

    /// Takes one from a count, which must not be 0, and adds it to another.
    #[inline]
    pub fn shift(&mut self, from: usize, to: usize) {
        let (mut less, mut more) = (from + 1, to + 1);
        let end = self.tree.len();
        while less != more {
            if less < more {
                self.tree[less] -= 1;
                less = (less + span(less)).min(end);
            } else {
                self.tree[more] += 1;
                more = (more + span(more)).min(end);
            }
        }
    }

    /// The index whose count holds the place `at`, from 0, of all that is counted, and the place among what it counts; `at` must
    /// be below the total.
    pub fn find(&self, mut at: u64) -> (usize, u64) {
        debug_assert!(at < self.total, "place {at} of {}", self.total);
        let mut node = 0;
        let mut step = self.tree.len().next_power_of_two();
        while step > 0 {
            if let Some(&sum) = self.tree.get(node + step)
                && sum <= at
            {
                at -= sum;
                node += step;
            }
            step /= 2;
        }
        (node, at)
    }

    /// The sum of the counts from one index to the one in front of another that is not smaller.
    #[inline]
    pub fn between(&self, from: usize, to: usize) -> u64 {
        let (mut from, mut to) = (from, to);
        let (mut more, mut less) = (0, 0);
        while to > from {
            more += self.tree[to];
            to -= span(to);
        }
        while from > to {
            less += self.tree[from];
            from -= span(from);
        }
        more - less
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Which count changes how: one more, one less, or one that moves to another.
    fn changes() -> impl Strategy<Value = Vec<(usize, usize, u8)>> {
        prop::collection::vec((0usize..70, 0usize..70, 0u8..3), 0..60)
    }

    proptest! {
        #[test]
        fn sums_and_places_are_those_of_a_list(
            counts in prop::collection::vec(0u64..5, 1..70),
            changes in changes(),
        ) {
            let mut counts = counts;
            let mut sums = Fenwick::new(counts.iter().copied());
            prop_assert_eq!(sums.len(), counts.len());
            for (index, other, change) in changes {
                let (index, other) = (index % counts.len(), other % counts.len());
                match change {
                    0 => {
                        counts[index] += 1;
                        sums.raise(index);
                    }
                    _ if counts[index] == 0 => {}
                    1 => {
                        counts[index] -= 1;
                        sums.lower(index);
                    }
                    _ => {
                        counts[index] -= 1;
                        counts[other] += 1;
                        sums.shift(index, other);
                    }
                }
            }
            let all: Vec<(usize, u64)> = counts
                .iter()
                .enumerate()
                .flat_map(|(index, count)| (0..*count).map(move |place| (index, place)))
                .collect();
            prop_assert_eq!(sums.total(), all.len() as u64);
            for (at, found) in all.iter().enumerate() {
                prop_assert_eq!(sums.find(at as u64), *found);
            }
            for from in 0..=counts.len() {
                for to in from..=counts.len() {
                    prop_assert_eq!(sums.between(from, to), counts[from..to].iter().sum::<u64>());
                }
            }
        }
    }

    #[test]
    fn nothing_counts_to_nothing() {
        for sums in [Fenwick::default(), Fenwick::new([])] {
            assert_eq!((sums.len(), sums.total(), sums.is_empty()), (0, 0, true));
        }
    }
}
