//! Sums over counts that change: P. M. Fenwick, "A new data structure for cumulative frequency tables", Software: Practice and
//! Experience 24(3), 1994. Changing a count and finding the one that holds a given place take O(log n).

/// Counts by index, with their sums.
#[derive(Clone, Debug, Default)]
pub struct Fenwick {
    /// Node `i`, from 1, holds the sum of the `i & -i` counts up to `i`.
    tree: Vec<u64>,
    total: u64,
}

impl Fenwick {
    /// With these counts.
    pub fn new(counts: &[u64]) -> Fenwick {
        let mut tree = vec![0; counts.len() + 1];
        let mut total = 0;
        for (index, count) in counts.iter().enumerate() {
            let node = index + 1;
            tree[node] += count;
            total += count;
            let above = node + (node & node.wrapping_neg());
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

    /// The sum of all counts.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Adds one to a count.
    pub fn raise(&mut self, index: usize) {
        self.total += 1;
        self.each(index, |sum| *sum += 1);
    }

    /// Takes one from a count, which must not be 0.
    pub fn lower(&mut self, index: usize) {
        self.total -= 1;
        self.each(index, |sum| *sum -= 1);
    }

    fn each(&mut self, index: usize, change: impl Fn(&mut u64)) {
        let mut node = index + 1;
        while let Some(sum) = self.tree.get_mut(node) {
            change(sum);
            node += node & node.wrapping_neg();
        }
    }

    /// The index whose count holds the place `at`, from 0, of all that is counted; `at` must be below the total.
    pub fn find(&self, mut at: u64) -> usize {
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
        node
    }

    /// The sum of the counts in front of an index.
    pub fn before(&self, index: usize) -> u64 {
        let (mut node, mut sum) = (index, 0);
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_found_as_in_a_list(
            counts in prop::collection::vec(0u64..5, 1..40),
            changes in prop::collection::vec((0usize..40, any::<bool>()), 0..60),
        ) {
            let mut counts = counts;
            let mut sums = Fenwick::new(&counts);
            for (index, up) in changes {
                let index = index % counts.len();
                if up {
                    counts[index] += 1;
                    sums.raise(index);
                } else if counts[index] > 0 {
                    counts[index] -= 1;
                    sums.lower(index);
                }
            }
            let all: Vec<usize> = counts
                .iter()
                .enumerate()
                .flat_map(|(index, count)| (0..*count).map(move |_| index))
                .collect();
            prop_assert_eq!(sums.total(), all.len() as u64);
            for (at, index) in all.iter().enumerate() {
                prop_assert_eq!(sums.find(at as u64), *index);
            }
            for index in 0..counts.len() {
                prop_assert_eq!(sums.before(index), counts[..index].iter().sum::<u64>());
            }
        }
    }
}
