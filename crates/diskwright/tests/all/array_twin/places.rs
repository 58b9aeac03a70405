//! Where the blocks of an array are.

use super::specs::{Asked, Case, Layout, Parity};

/// Where a block of the array is, and what its row has to do with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The first member that has it.
    pub member: usize,
    /// The block of the member.
    pub at: u64,
}

impl Case {
    pub fn unit(&self) -> u64 {
        match self.layout {
            Layout::Stripe { unit }
            | Layout::Raid4 { unit, .. }
            | Layout::Raid5 { unit, .. }
            | Layout::Raid6 { unit, .. }
            | Layout::Raid10 { unit, .. }
            | Layout::ParityStriping { unit, .. } => unit,
            Layout::Mirror { .. } | Layout::Concat => 1,
        }
    }

    pub fn is_mirror(&self) -> bool {
        matches!(self.layout, Layout::Mirror { .. })
    }

    /// Whether what a member has not is made up for by others, and written again.
    pub fn is_redundant(&self) -> bool {
        self.parity().is_some() || matches!(self.layout, Layout::Raid10 { .. })
    }

    /// How writes of rows are made, of layouts with parity.
    pub fn parity(&self) -> Option<Parity> {
        match self.layout {
            Layout::Raid4 { parity, .. }
            | Layout::Raid5 { parity, .. }
            | Layout::Raid6 { parity, .. }
            | Layout::ParityStriping { parity, .. } => Some(parity),
            _ => None,
        }
    }

    /// How many parities a row has.
    pub fn parities(&self) -> usize {
        match self.layout {
            Layout::Raid4 { .. } | Layout::Raid5 { .. } | Layout::ParityStriping { .. } => 1,
            Layout::Raid6 { .. } => 2,
            _ => 0,
        }
    }

    /// How many units of data a row has.
    pub fn data_units(&self) -> usize {
        match self.layout {
            Layout::Raid10 { copies, .. } => self.members.len() / copies,
            _ => self.members.len() - self.parities(),
        }
    }

    fn smallest(&self) -> u64 {
        let blocks = self.members.iter().map(|member| member.blocks);
        blocks.min().expect("there are members")
    }

    /// The blocks of a member that the array uses, of layouts with rows.
    pub fn used(&self) -> u64 {
        self.smallest() / self.unit() * self.unit()
    }

    pub fn capacity(&self) -> u64 {
        match self.layout {
            Layout::Mirror { .. } => self.smallest(),
            Layout::Concat => self.members.iter().map(|member| member.blocks).sum(),
            _ => self.data_units() as u64 * self.used(),
        }
    }

    /// The members with the parities of a row, the first parity first.
    pub fn parity_members(&self, row: u64) -> Vec<usize> {
        let members = self.members.len();
        let first = match self.layout {
            Layout::Raid4 { .. } => members - 1,
            Layout::Raid5 {
                rotation,
                rows_of_parity,
                ..
            } => rotated(rotation, row / rows_of_parity.unwrap_or(1), members),
            Layout::Raid6 { rotation, .. } | Layout::ParityStriping { rotation, .. } => {
                rotated(rotation, row, members)
            }
            _ => return Vec::new(),
        };
        (0..self.parities())
            .map(|next| (first + next) % members)
            .collect()
    }

    /// The member with a unit of data of a row.
    pub fn data_member(&self, row: u64, unit: usize) -> usize {
        let parities = self.parity_members(row);
        let members = self.members.len();
        let goes_round = match self.layout {
            Layout::Raid5 { rotation, .. } | Layout::Raid6 { rotation, .. } => {
                rotation.ends_with("-symmetric")
            }
            _ => false,
        };
        if goes_round {
            let last = parities.last().expect("it has parity");
            return (last + 1 + unit) % members;
        }
        let mut without = (0..members).filter(|member| !parities.contains(member));
        without.nth(unit).expect("a row has all its units")
    }

    /// The row of a block of the array, its unit in it, and its place in the unit.
    pub fn in_row(&self, lbn: u64) -> (u64, usize, u64) {
        let number = lbn / self.unit();
        let (row, unit) = if matches!(self.layout, Layout::ParityStriping { .. }) {
            let mut of_members = self.by_members();
            of_members
                .nth(number as usize)
                .expect("a unit of the array")
        } else {
            let units = self.data_units() as u64;
            (number / units, (number % units) as usize)
        };
        (row, unit, lbn % self.unit())
    }

    /// The rows of a request, from the first one to the last. Where the members' data stay together and it goes on with the next member: those from
    /// its first one to the end and from the beginning to its last one; with one between, all.
    pub fn rows_of(&self, asked: &Asked) -> Vec<u64> {
        let last = asked.lbn + asked.blocks - 1;
        let (from, to) = (self.in_row(asked.lbn).0, self.in_row(last).0);
        if !matches!(self.layout, Layout::ParityStriping { .. }) {
            return (from..=to).collect();
        }
        let apart = self.place(last).member - self.place(asked.lbn).member;
        let is_of_it = |row: &u64| match apart {
            0 => (from..=to).contains(row),
            1 => *row >= from || *row <= to,
            _ => true,
        };
        (0..self.used() / self.unit()).filter(is_of_it).collect()
    }

    /// The first block of a unit of a row.
    pub fn first_block(&self, row: u64, unit: usize) -> u64 {
        let number = if matches!(self.layout, Layout::ParityStriping { .. }) {
            let mut of_members = self.by_members();
            let number = of_members.position(|other| other == (row, unit));
            number.expect("a unit of the array") as u64
        } else {
            row * self.data_units() as u64 + unit as u64
        };
        number * self.unit()
    }

    /// All units of data of the first member, then those of the next one: their rows, and which they are in these.
    fn by_members(&self) -> impl Iterator<Item = (u64, usize)> {
        let rows = self.used() / self.unit();
        let all =
            (0..self.members.len()).flat_map(move |member| (0..rows).map(move |row| (member, row)));
        all.filter_map(|(member, row)| {
            let parity = self.parity_members(row)[0];
            (member != parity).then_some((row, if parity < member { member - 1 } else { member }))
        })
    }

    /// Where a block is first.
    pub fn place(&self, lbn: u64) -> Place {
        match self.layout {
            Layout::Mirror { .. } => Place { member: 0, at: lbn },
            Layout::Concat => {
                let mut at = lbn;
                for (member, device) in self.members.iter().enumerate() {
                    if at < device.blocks {
                        return Place { member, at };
                    }
                    at -= device.blocks;
                }
                panic!("block {lbn} is behind the last one");
            }
            _ => {
                let (row, unit, offset) = self.in_row(lbn);
                Place {
                    member: self.data_member(row, unit),
                    at: row * self.unit() + offset,
                }
            }
        }
    }

    /// The members that have the same blocks as one, itself among them.
    pub fn copies(&self, member: usize) -> Vec<usize> {
        match self.layout {
            Layout::Mirror { .. } => (0..self.members.len()).collect(),
            Layout::Raid10 { copies, .. } => {
                let groups = self.data_units();
                (0..copies).map(|copy| member + copy * groups).collect()
            }
            _ => vec![member],
        }
    }
}

/// The member with the first parity of the row of a number.
fn rotated(rotation: &str, row: u64, members: usize) -> usize {
    let turned = row as usize % members;
    if rotation.starts_with("left") {
        members - 1 - turned
    } else {
        turned
    }
}
