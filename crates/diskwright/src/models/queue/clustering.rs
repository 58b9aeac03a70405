//! I/O clustering: requests in a queue that continue one another become one longer request.
//!
//! The paper that proposes it for a SATA disk with native command queuing merges a request with a waiting one of the same direction when
//! the second begins where the first ends and both together have no more blocks than a threshold. All parts of a merged request
//! are complete at its end, each with its own arrival and entry into the queue. Merging never carries a request past
//! another that overlaps it and of which one is a write.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pool::{Pending, Pool, Slot};
use crate::engine::request::{Command, Op};

/// What a merged request counts as in a queue of limited depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Slots {
    /// As many slots as it has parts, each of which keeps its tag.
    #[default]
    Parts,
    /// One slot.
    Merged,
}

/// When a merged request has come, for schedulers that go by the order of arrival; its wait is always that of its
/// oldest part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergedPlace {
    /// With its oldest part: the others move up.
    #[default]
    Oldest,
    /// With its newest part: the others fall back, as often as more join them.
    Newest,
}

/// How requests of a queue are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clustering {
    /// The most blocks of a merged request; larger single ones stay as they are.
    pub threshold: u64,
    /// What it counts as.
    pub slots: Slots,
    /// Its turn in the order of arrival.
    pub place: MergedPlace,
}

impl Clustering {
    /// Adds a request to a queue, merged with those that it continues or that continue it.
    pub fn add(&self, pool: &mut Pool, new: Pending) -> Slot {
        let Some(partner) = self.partner(pool, &new, None) else {
            return pool.push(new);
        };
        pool.absorb(partner, new);
        self.place_merged(pool, partner);
        let mut slot = partner;
        // It may have closed a gap.
        while let Some(other) = self.partner(pool, pool.get(slot), Some(slot)) {
            let (older, younger) = if pool.get(other).ticket < pool.get(slot).ticket {
                (other, slot)
            } else {
                (slot, other)
            };
            let joining = *pool.remove(younger);
            pool.absorb(older, joining);
            self.place_merged(pool, older);
            slot = older;
        }
        slot
    }

    /// Gives a request that was merged its place in the order of arrival.
    fn place_merged(&self, pool: &mut Pool, slot: Slot) {
        if self.place == MergedPlace::Newest {
            pool.make_newest(slot);
        }
    }

    /// The oldest of the waiting requests with which one may be merged; `itself` is where it waits already.
    fn partner(&self, pool: &Pool, new: &Pending, itself: Option<Slot>) -> Option<Slot> {
        let command = &new.command;
        let behind = pool.beginning_at(command.end());
        let before = pool.ending_at(command.lbn);
        let fits = |&slot: &Slot| {
            let other = &pool.get(slot).command;
            other.op == command.op
                && matches!(other.op, Op::Read | Op::Write)
                && other.fua == command.fua
                && u64::from(other.blocks) + u64::from(command.blocks) <= self.threshold
                && !self.would_overtake(pool, new, itself, slot)
        };
        let partners = behind.chain(before).filter(|&slot| Some(slot) != itself);
        partners
            .filter(fits)
            .min_by_key(|&slot| pool.get(slot).ticket)
    }

    /// Whether merging would carry one of the two past a request that conflicts with it.
    fn would_overtake(
        &self,
        pool: &Pool,
        new: &Pending,
        itself: Option<Slot>,
        other: Slot,
    ) -> bool {
        let partner = pool.get(other);
        let is_younger = itself.is_none() || new.ticket > partner.ticket;
        let moves_new = is_younger == (self.place == MergedPlace::Oldest);
        let moved = if moves_new {
            &new.command
        } else {
            &partner.command
        };
        pool.by_arrival()
            .filter(|&slot| slot != other && Some(slot) != itself)
            .any(|slot| conflict(&pool.get(slot).command, moved))
    }
}

/// Whether two commands have blocks in common and one of them changes these.
fn conflict(one: &Command, other: &Command) -> bool {
    let overlap = one.lbn < other.end() && other.lbn < one.end();
    overlap && (one.op != Op::Read || other.op != Op::Read)
}

#[cfg(test)]
mod tests {
    use super::super::pool::Order;
    use super::*;
    use crate::base::units::{Lbn, Time};
    use crate::engine::request::RequestId;
    use proptest::prelude::*;

    const CLUSTERING: Clustering = Clustering {
        threshold: 32,
        slots: Slots::Parts,
        place: MergedPlace::Oldest,
    };

    fn pending(number: u32, op: Op, lbn: u64, blocks: u32) -> Pending {
        let command = Command {
            op,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
        };
        let entered = Time::from_ns(number.into());
        Pending::new(RequestId(number), command, entered, None, lbn)
    }

    /// Adds requests of (operation, LBN, blocks); returns (LBN, blocks, parts) of what waits, in the order of arrival.
    fn added(clustering: Clustering, requests: &[(Op, u64, u32)]) -> Vec<(u64, u32, usize)> {
        let mut pool = Pool::new(Order::Lbn);
        for (number, &(op, lbn, blocks)) in (0..).zip(requests) {
            clustering.add(&mut pool, pending(number, op, lbn, blocks));
        }
        let groups = pool.by_arrival().map(|slot| {
            let group = pool.get(slot);
            (group.command.lbn.0, group.command.blocks, group.parts())
        });
        groups.collect()
    }

    #[test]
    fn a_request_joins_the_one_that_it_continues_and_the_one_that_continues_it() {
        use Op::{Read, Write};
        assert_eq!(
            added(CLUSTERING, &[(Read, 0, 8), (Read, 8, 8)]),
            [(0, 16, 2)]
        );
        assert_eq!(
            added(CLUSTERING, &[(Read, 8, 8), (Read, 0, 8)]),
            [(0, 16, 2)]
        );
        assert_eq!(added(CLUSTERING, &[(Read, 0, 8), (Write, 8, 8)]).len(), 2);
        assert_eq!(added(CLUSTERING, &[(Read, 0, 8), (Read, 9, 8)]).len(), 2);
        assert_eq!(added(CLUSTERING, &[(Read, 0, 8), (Read, 7, 8)]).len(), 2);
    }

    #[test]
    fn the_threshold_bounds_the_whole() {
        let two = |first, second| {
            added(
                CLUSTERING,
                &[(Op::Read, 0, first), (Op::Read, first.into(), second)],
            )
            .len()
        };
        assert_eq!(two(16, 16), 1);
        assert_eq!(two(16, 17), 2);
        assert_eq!(two(100, 1), 2);
    }

    #[test]
    fn one_that_closes_a_gap_joins_both_sides() {
        let requests = [
            (Op::Write, 0, 8),
            (Op::Write, 100, 1),
            (Op::Write, 16, 8),
            (Op::Write, 8, 8),
        ];
        assert_eq!(added(CLUSTERING, &requests), [(0, 24, 3), (100, 1, 1)]);
        let newest = Clustering {
            place: MergedPlace::Newest,
            ..CLUSTERING
        };
        assert_eq!(added(newest, &requests), [(100, 1, 1), (0, 24, 3)]);
    }

    #[test]
    fn nothing_is_carried_past_what_it_conflicts_with() {
        use Op::{Read, Write};
        // The second read of block 8 must see what the write before it leaves there.
        let requests = [(Read, 0, 8), (Write, 8, 8), (Read, 8, 8)];
        assert_eq!(added(CLUSTERING, &requests).len(), 3);
        // Behind the write it would stay where the newest is; but the older part would fall behind a write of its own blocks.
        let newest = Clustering {
            place: MergedPlace::Newest,
            ..CLUSTERING
        };
        assert_eq!(added(newest, &requests), [(8, 8, 1), (0, 16, 2)]);
        assert_eq!(
            added(newest, &[(Read, 0, 8), (Write, 0, 8), (Read, 8, 8)]).len(),
            3
        );
        // Reads pass each other as they like.
        assert_eq!(
            added(CLUSTERING, &[(Read, 0, 8), (Read, 12, 8), (Read, 8, 8)]).len(),
            2
        );
    }

    proptest! {
        /// Whatever comes, every part waits exactly once, in a group that it makes up with the others without gap or
        /// overlap, of one direction and within the threshold.
        #[test]
        fn groups_are_made_of_their_parts(
            requests in prop::collection::vec((any::<bool>(), 0u64..60, 1u32..12), 1..40), newest: bool, threshold in 1u64..40,
        ) {
            let place = if newest { MergedPlace::Newest } else { MergedPlace::Oldest };
            let clustering = Clustering { threshold, place, ..CLUSTERING };
            let mut pool = Pool::new(Order::Lbn);
            let mut model = Vec::new();
            for (number, (write, lbn, blocks)) in (0u32..).zip(requests) {
                let op = if write { Op::Write } else { Op::Read };
                let new = pending(number, op, lbn, blocks);
                model.push(new.command);
                clustering.add(&mut pool, new);
                prop_assert_eq!(pool.requests(), model.len());
            }
            let mut seen = vec![false; model.len()];
            while let Some(slot) = pool.oldest() {
                let mut group = *pool.remove(slot);
                let mut parts = vec![group.request];
                while let Some(request) = pool.release(&mut group.others) {
                    parts.push(request);
                }
                prop_assert!(parts.len() == 1 || u64::from(group.command.blocks) <= threshold);
                prop_assert_eq!(group.entered.ns(), parts.iter().map(|part| u64::from(part.0)).min().unwrap_or(0));
                let mut commands: Vec<Command> = parts.iter().map(|part| model[part.0 as usize]).collect();
                commands.sort_by_key(|command| command.lbn);
                let mut at = group.command.lbn;
                for command in &commands {
                    prop_assert_eq!((command.lbn, command.op), (at, group.command.op));
                    at = command.end();
                }
                prop_assert_eq!(at, group.command.end());
                for part in parts {
                    prop_assert!(!std::mem::replace(&mut seen[part.0 as usize], true));
                }
            }
            prop_assert!(seen.into_iter().all(|seen| seen));
            prop_assert_eq!(pool.requests(), 0);
        }
    }
}
