//! Which of several copies is read.

use super::model::Model;
use super::runs::Run;
use super::specs::Layout;

impl Model<'_> {
    fn distance(&self, member: usize, run: Run) -> u64 {
        self.known[member].last_end.abs_diff(run.at)
    }

    /// The member that reads a run, of those that have it and have not been tried.
    pub fn source(&mut self, run: Run, tried: &[usize]) -> Option<usize> {
        let read = match self.case.layout {
            Layout::Mirror { read } | Layout::Raid10 { read, .. } => read,
            _ => return Some(run.member),
        };
        let mut members = self.case.copies(run.member);
        members.retain(|member| !self.known[*member].has_failed && !tried.contains(member));
        let outstanding = |member: usize| self.known[member].outstanding;
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
            copies.contains(member) && !self.known[*member].has_failed && !tried.contains(member)
        })
    }
}
