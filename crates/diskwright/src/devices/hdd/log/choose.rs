//! Which slot the next write takes, and where the blocks of waiting requests are.

use super::LogPlacement;
use crate::base::units::{Lbn, Time};
use crate::devices::hdd::medium::{AccessCursor, ArmFilter, Medium};
use crate::engine::request::{Command, Op};
use crate::models::geometry::mechanics::Target;
use crate::models::placement::arm_choice::{Candidate, WriteMode};
use crate::models::placement::soonest::{FreeSlot, Head};

impl LogPlacement {
    /// The slot for the next write, and the arm that writes it; `not_to` is the track that a cleaner empties.
    pub(super) fn choose_slot(
        &self,
        medium: &mut Medium,
        cursor: &AccessCursor,
        not_to: Option<usize>,
    ) -> Option<(usize, FreeSlot)> {
        let find = |medium: &Medium, number: usize| {
            let arm = &medium.arms[number];
            let head = Head {
                mechanics: &medium.hardware.mechanics,
                from: arm.at,
                phase: arm.phase(cursor.now),
                reach: arm.parts.reach,
                not_to,
            };
            let found = match not_to {
                None => self.log.choose(&head),
                Some(_) => self.log.choose_hole(&head),
            }?;
            Some((head.motion_to(&found), found))
        };
        // A rule that knows its arm spares the other arms' searches.
        let named = medium.choice.named(Op::Write);
        let named =
            named.filter(|&arm| arm < medium.arms.len() && medium.may(arm, Op::Write, cursor));
        if let Some((arm, (_, found))) = named.and_then(|arm| Some((arm, find(medium, arm)?))) {
            return Some((arm, found));
        }
        let mut candidates = std::mem::take(&mut medium.candidates);
        let mut found_by = std::mem::take(&mut medium.found);
        candidates.clear();
        found_by.clear();
        for arm in (0..medium.arms.len()).filter(|&arm| medium.may(arm, Op::Write, cursor)) {
            if let Some((motion, found)) = find(medium, arm) {
                candidates.push(Candidate {
                    arm,
                    motion,
                    positioning: found.positioning,
                });
                found_by.push(found);
            }
        }
        let chosen = match candidates.len() {
            0 | 1 => 0,
            _ => medium.choice.choose(Op::Write, &candidates),
        };
        let best = candidates.get(chosen).map(|candidate| candidate.arm);
        let best = best.zip(found_by.get(chosen).copied());
        (medium.candidates, medium.found) = (candidates, found_by);
        best
    }

    /// Where a group's next write would go, for its scheduler.
    pub fn next_write(&self, medium: &Medium, group: usize, now: Time) -> Option<Target> {
        let cursor = AccessCursor::new(ArmFilter::Group(group), now);
        let mechanics = &medium.hardware.mechanics;
        let arms = (0..medium.arms.len()).filter(|&arm| medium.may(arm, Op::Write, &cursor));
        let found = arms.filter_map(|number| {
            let arm = &medium.arms[number];
            self.log.choose(&Head {
                mechanics,
                from: arm.at,
                phase: arm.phase(now),
                reach: arm.parts.reach,
                not_to: None,
            })
        });
        let best = found.min()?;
        let slots = self.log.slots();
        let run = mechanics
            .layout
            .run(slots.sector(best.slot), slots.sectors_per_slot());
        Some(mechanics.target(run, true))
    }

    /// Where a waiting command's data are, or will be.
    pub fn target(
        &self,
        medium: &Medium,
        command: &Command,
        next_write: Option<Target>,
    ) -> Option<Target> {
        if command.op == Op::Write && medium.choice.mode() == WriteMode::Log {
            return next_write;
        }
        let (from, slot) = self
            .covered(command)
            .find_map(|(block, from, _)| Some((from, self.log.map().get(block)?)))?;
        let first = Command {
            lbn: Lbn(self.medium_lbn(slot) + from % self.per_slot),
            blocks: 1,
            ..*command
        };
        Some(medium.hardware.target_of(&first))
    }
}
