//! An LRU stack whose members are found by their depth.

use super::fenwick::Fenwick;

/// Members, numbered from 0 as they come, in the order of their last reference. A reference and a look take O(log n), memory
/// is a few words for each member.
#[derive(Debug, Default)]
pub struct Stack {
    /// The instant of each member's last reference.
    last: Vec<usize>,
    /// The member referenced at each instant.
    members: Vec<u32>,
    /// 1 for each instant that is its member's last reference.
    live: Fenwick,
}

/// Instants at first; later twice as many as members.
const LEAST: usize = 1 << 10;

impl Stack {
    /// How many members there are.
    pub fn len(&self) -> u64 {
        self.last.len() as u64
    }

    /// Puts a new member on top.
    pub fn push(&mut self) -> u32 {
        let member = self.last.len() as u32;
        self.last.push(usize::MAX);
        self.reference(member);
        member
    }

    /// Brings a member to the top.
    pub fn touch(&mut self, member: u32) {
        self.live.lower(self.last[member as usize]);
        self.reference(member);
    }

    /// The member at a depth, 0 on top; `depth` must be below [`Self::len`].
    pub fn at(&self, depth: u64) -> u32 {
        self.members[self.live.find(self.len() - 1 - depth)]
    }

    fn reference(&mut self, member: u32) {
        if self.members.len() == self.room() {
            self.compact(member);
        }
        let now = self.members.len();
        self.members.push(member);
        self.last[member as usize] = now;
        self.live.raise(now);
    }

    fn room(&self) -> usize {
        self.live.len()
    }

    /// Forgets the instants that are nobody's last reference, of which `coming` has none, and makes room for as many as are
    /// left.
    #[cold]
    fn compact(&mut self, coming: u32) {
        let mut kept = 0;
        for instant in 0..self.members.len() {
            let member = self.members[instant];
            let last = &mut self.last[member as usize];
            if member != coming && *last == instant {
                *last = kept;
                self.members[kept] = member;
                kept += 1;
            }
        }
        self.members.truncate(kept);
        let mut live = vec![0; (2 * self.last.len()).max(LEAST)];
        live[..kept].fill(1);
        self.live = Fenwick::new(&live);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn members_lie_as_in_a_list(depths in prop::collection::vec(0u64..600, 1..6_000)) {
            let mut stack = Stack::default();
            let mut list: Vec<u32> = Vec::new();
            for depth in depths {
                // Every tenth is new, and so is whoever would lie deeper than there are members.
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
