//! How far back the last reference to the same object lies: distances in the LRU stack.
//!
//! R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2), 1970; counted with a
//! Fenwick tree over the instants of the last references, as in B. T. Bennett and V. J. Kruskal, "LRU stack processing",
//! IBM Journal of Research and Development 19(4), 1975: exact, in O(log n) for a reference.

use foldhash::quality::FixedState;
use hashbrown::HashMap;

/// The LRU stack of objects, without the stack.
pub struct References {
    /// The instant of each object's last reference.
    last: HashMap<u64, usize, FixedState>,
    /// The object referenced at each instant.
    objects: Vec<u64>,
    /// Whether that was its last reference, summed up as a Fenwick tree does: node `i` covers the `i & -i` instants up to `i`.
    tree: Vec<usize>,
}

/// Instants at first; there are always at least as many as objects.
const LEAST: usize = 1 << 10;

impl Default for References {
    fn default() -> References {
        References {
            last: HashMap::default(),
            objects: Vec::with_capacity(LEAST),
            tree: vec![0; LEAST + 1],
        }
    }
}

impl References {
    /// References an object: how many different ones were referenced since its last reference, or `None` if it is the first.
    pub fn add(&mut self, object: u64) -> Option<u64> {
        if self.objects.len() + 1 == self.tree.len() {
            self.compact();
        }
        let now = self.objects.len();
        self.objects.push(object);
        self.update(now, |count| count + 1);
        let before = self.last.insert(object, now)?;
        self.update(before, |count| count - 1);
        // Every object has one last reference, and this one's is now.
        Some((self.last.len() - 1 - self.up_to(before)) as u64)
    }

    /// How many different objects there are.
    pub fn objects(&self) -> u64 {
        self.last.len() as u64
    }

    fn update(&mut self, instant: usize, change: impl Fn(usize) -> usize) {
        let mut node = instant + 1;
        while let Some(count) = self.tree.get_mut(node) {
            *count = change(*count);
            node += node & node.wrapping_neg();
        }
    }

    /// Last references at this instant or before.
    fn up_to(&self, instant: usize) -> usize {
        let (mut node, mut sum) = (instant + 1, 0);
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum
    }

    /// Forgets the instants that are nobody's last reference, and makes room for as many as are left.
    #[cold]
    fn compact(&mut self) {
        let mut kept = 0;
        for instant in 0..self.objects.len() {
            let object = self.objects[instant];
            let last = self.last.get_mut(&object).expect("it was referenced");
            if *last == instant {
                *last = kept;
                self.objects[kept] = object;
                kept += 1;
            }
        }
        self.objects.truncate(kept);
        let instants = (2 * kept).max(LEAST);
        self.tree.clear();
        // The first `kept` instants count one each; a node's sum is what of its range is among them.
        self.tree.extend((0..=instants).map(|node| {
            let first = node - (node & node.wrapping_neg());
            node.min(kept).saturating_sub(first)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The stack itself, the last one referenced in front.
    fn naive(references: &[u64]) -> Vec<Option<u64>> {
        let mut stack: Vec<u64> = Vec::new();
        let reference = |object: &u64| {
            let at = stack.iter().position(|there| there == object);
            if let Some(at) = at {
                stack.remove(at);
            }
            stack.insert(0, *object);
            at.map(|at| at as u64)
        };
        references.iter().map(reference).collect()
    }

    #[test]
    fn distances_are_counted_by_hand() {
        let mut references = References::default();
        let distances: Vec<_> = [7, 7, 8, 9, 7, 8, 8].map(|o| references.add(o)).into();
        let expected = [None, Some(0), None, None, Some(2), Some(2), Some(0)];
        assert_eq!(distances, expected);
        assert_eq!(references.objects(), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn distances_are_those_of_a_stack(
            few in prop::collection::vec(0u64..40, 0..3_000),
            many in prop::collection::vec(0u64..3_000, 0..3_000),
        ) {
            let all = [few.clone(), many, few].concat();
            let mut references = References::default();
            let distances: Vec<_> = all.iter().map(|object| references.add(*object)).collect();
            prop_assert_eq!(distances, naive(&all));
        }
    }
}
