//! An LRU stack of numbered members, found by their depth.

use super::lru_stack::LruStack;

/// Members, numbered from 0 as they come, in the order of their last reference. A reference and a look take O(log n), memory
/// is about 20 bytes for each member.
#[derive(Clone, Debug, Default)]
pub struct NumberedLruStack {
    /// The slot of each member's last reference.
    last: Vec<usize>,
    stack: LruStack<u32>,
}

impl NumberedLruStack {
    /// How many members there are.
    pub fn len(&self) -> u64 {
        self.last.len() as u64
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Puts a new member on top.
    pub fn push(&mut self) -> u32 {
        self.make_room();
        let member = self.last.len() as u32;
        self.last.push(self.stack.push(member));
        member
    }

    /// Brings a member to the top.
    pub fn touch(&mut self, member: u32) {
        self.make_room();
        let last = &mut self.last[member as usize];
        (*last, _) = self.stack.touch(member, *last);
    }

    /// The member at a depth, 0 on top; `depth` must be below [`len`](NumberedLruStack::len).
    pub fn at(&self, depth: u64) -> u32 {
        self.stack.at(depth)
    }

    fn make_room(&mut self) {
        if self.stack.is_full() {
            let last = &mut self.last;
            self.stack
                .renumber(|member, slot| last[member as usize] = slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn members_lie_as_in_a_list(depths in prop::collection::vec(0u64..600, 1..12_000)) {
            let mut stack = NumberedLruStack::default();
            let mut list: Vec<u32> = Vec::new();
            for depth in depths {
                // Every tenth member is new, and so is a member that would lie deeper than the stack.
                if depth % 10 == 0 || depth >= list.len() as u64 {
                    list.insert(0, stack.push());
                } else {
                    let member = stack.at(depth);
                    prop_assert_eq!(member, list.remove(depth as usize));
                    stack.touch(member);
                    list.insert(0, member);
                }
            }
            prop_assert_eq!(stack.len(), list.len() as u64);
            for (depth, member) in list.iter().enumerate() {
                prop_assert_eq!(stack.at(depth as u64), *member);
            }
        }
    }
}
