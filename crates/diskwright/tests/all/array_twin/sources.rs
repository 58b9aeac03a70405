//! Which of several copies is read.

use super::model::Model;
use super::runs::Run;
use super::specs::Layout;

impl Model<'_> {
    fn distance(&self, member: usize, run: Run) -> u64 {
        self.slots[member].last_end.abs_diff(run.at)
    }

    /// The one of some members with the same blocks that reads a run of them.
    pub fn source(&mut self, run: Run, members: Vec<usize>) -> Option<usize> {
        let (Layout::Mirror { read } | Layout::Raid10 { read, .. }) = self.case.layout else {
            return None;
        };
        let outstanding = |member: usize| self.slots[member].outstanding;
        match read {
            "first" => members.first().copied(),
            "round-robin" => {
                // A number among those that are left, which may be fewer than before.
                let turn = self.turn.checked_rem(members.len())?;
                self.turn = (turn + 1) % members.len();
                Some(members[turn])
            }
            "nearest" => {
                let order = |member: &usize| (self.distance(*member, run), outstanding(*member));
                members.into_iter().min_by_key(order)
            }
            _ => {
                let order = |member: &usize| (outstanding(*member), self.distance(*member, run));
                members.into_iter().min_by_key(order)
            }
        }
    }

    /// The member that reads a run after the last one that was tried could not.
    pub fn next_source(&self, run: Run, tried: &[usize]) -> Option<usize> {
        let count = self.case.members.len();
        let last = *tried.last()?;
        let mut next = (1..count).map(|further| (last + further) % count);
        let copies = self.case.copies(run.member);
        next.find(|member| {
            copies.contains(member) && !self.is_lost(*member) && !tried.contains(member)
        })
    }
}
