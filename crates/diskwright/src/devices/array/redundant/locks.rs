//! What is under way on which rows: of two pieces of work on the same blocks of a row, of which one writes, the later waits for the earlier.
//!
//! Without that, two writes that change the parity of the same blocks may both start from the old parity, and the change of one is lost.
//! Work asks for all that it needs at once and waits for earlier work only, so that none waits for ever.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The rows that work is on: those before `head`, and `count` others, `step` apart; of each the blocks `from..to` of its units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub head: u64,
    pub first: u64,
    pub count: u64,
    pub step: u64,
    pub from: u64,
    pub to: u64,
    /// Whether other work with the same blocks may go on beside it, if that shares them too.
    pub is_shared: bool,
}

impl Rows {
    fn numbers(&self) -> impl Iterator<Item = u64> + use<> {
        let Rows {
            head,
            first,
            count,
            step,
            ..
        } = *self;
        (0..head).chain((0..count).map(move |index| first + index * step))
    }
}

/// Work on a row, under way or waiting.
#[derive(Clone, Copy, Debug)]
struct Entry {
    work: u32,
    from: u64,
    to: u64,
    is_shared: bool,
}

impl Entry {
    fn meets(&self, other: &Entry) -> bool {
        self.from < other.to && other.from < self.to && !(self.is_shared && other.is_shared)
    }
}

/// The rows with work on them.
#[derive(Default)]
pub struct Locks {
    /// The work on each row, in the order in which it came.
    rows: HashMap<u64, Vec<Entry>, FixedState>,
    /// Lists without entries, kept for their memory.
    unused: Vec<Vec<Entry>>,
}

impl Locks {
    /// Puts work on rows behind all that is there; for how many entries it has to wait.
    pub fn add(&mut self, work: u32, rows: &Rows) -> u32 {
        let entry = Entry {
            work,
            from: rows.from,
            to: rows.to,
            is_shared: rows.is_shared,
        };
        let mut before = 0;
        for row in rows.numbers() {
            let unused = &mut self.unused;
            let list = self
                .rows
                .entry(row)
                .or_insert_with(|| unused.pop().unwrap_or_default());
            before += list.iter().filter(|other| other.meets(&entry)).count() as u32;
            list.push(entry);
        }
        before
    }

    /// Takes work off its rows, and tells of each entry that has waited for it, in order.
    pub fn remove(&mut self, work: u32, rows: &Rows, mut waited: impl FnMut(u32)) {
        for row in rows.numbers() {
            let list = self.rows.get_mut(&row).expect("it was added");
            let at = list.iter().position(|entry| entry.work == work);
            let entry = list.remove(at.expect("it was added"));
            let behind = &list[at.unwrap_or(0)..];
            behind
                .iter()
                .filter(|other| other.meets(&entry))
                .for_each(|other| waited(other.work));
            if list.is_empty()
                && let Some(list) = self.rows.remove(&row)
            {
                self.unused.push(list);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some() -> impl Strategy<Value = Rows> {
        (0u64..6, 1u64..4, 1u64..3, 0u64..8, 1u64..5, any::<bool>()).prop_map(
            |(first, count, step, from, length, is_shared)| Rows {
                head: first.saturating_sub(4),
                first,
                count,
                step,
                from,
                to: from + length,
                is_shared,
            },
        )
    }

    fn meet(one: &Rows, other: &Rows) -> bool {
        one.numbers()
            .any(|row| other.numbers().any(|found| found == row))
            && (one.from..one.to).any(|block| (other.from..other.to).contains(&block))
            && !(one.is_shared && other.is_shared)
    }

    proptest! {
        /// Work goes on as soon as nothing that came before it has any of its blocks, and not before.
        #[test]
        fn work_waits_for_what_came_before_it_and_nothing_else(
            all in prop::collection::vec(some(), 1..20), picks in prop::collection::vec(any::<prop::sample::Index>(), 20),
        ) {
            let mut locks = Locks::default();
            let mut waits: Vec<u32> = (0..).zip(&all).map(|(work, rows)| locks.add(work, rows)).collect();
            let mut left: Vec<usize> = (0..all.len()).collect();
            for pick in picks {
                let is_ready = |&work: &usize, left: &[usize]| {
                    left.iter().all(|&other| other >= work || !meet(&all[other], &all[work]))
                };
                for work in &left {
                    prop_assert_eq!(waits[*work] == 0, is_ready(work, &left), "{}", work);
                }
                let ready: Vec<usize> = left.iter().copied().filter(|work| waits[*work] == 0).collect();
                if ready.is_empty() {
                    prop_assert!(left.is_empty());
                    break;
                }
                let done = *pick.get(&ready);
                left.retain(|&work| work != done);
                locks.remove(done as u32, &all[done], |work| waits[work as usize] -= 1);
            }
        }
    }
}
