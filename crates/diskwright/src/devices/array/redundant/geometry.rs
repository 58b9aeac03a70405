//! Where the units of a redundant layout are: pure functions of the row.
//!
//! A row is one unit of each member at the same place: some hold data, others parity, or copies of data.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How parity goes from member to member, row after row: the four of Lee and Katz, "Performance consequences of parity placement in disk
/// arrays", ASPLOS 1991.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ParityRotation")]
pub enum Rotation {
    /// Parity from the last member down; data begin behind it and go round.
    #[default]
    LeftSymmetric,
    /// Parity from the last member down; data from the first member on, past the parity.
    LeftAsymmetric,
    /// Parity from the first member up; data begin behind it and go round.
    RightSymmetric,
    /// Parity from the first member up; data from the first member on, past the parity.
    RightAsymmetric,
}

impl Rotation {
    fn direction(self) -> Direction {
        match self {
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => Direction::Left,
            Rotation::RightSymmetric | Rotation::RightAsymmetric => Direction::Right,
        }
    }
}

/// Where parity begins, and where it goes from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ParityDirection")]
pub enum Direction {
    /// From the last member down.
    #[default]
    Left,
    /// From the first member up.
    Right,
}

/// What the members of a row hold, and in which order the array's blocks are in their units of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Parity on the last member. Row by row.
    Fixed,
    /// Parity that moves on after this many rows. Row by row.
    Rotated(Rotation, u64),
    /// Parity that moves on after each row. Member by member: the blocks of one follow each other, past its parity.
    ByMember(Direction),
    /// Two parities beside each other, which move on after each row. Row by row.
    Double(Rotation),
    /// This many copies of each unit. Row by row.
    Copies(usize),
}

/// What a member holds in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The unit of this number in the row, from 0.
    Data(usize),
    /// The parity of all units: their sum.
    P,
    /// The second parity: their weighted sum.
    Q,
}

/// A redundant layout over members, which are known by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub scheme: Scheme,
    /// Places of members.
    pub members: usize,
    /// Blocks of a unit.
    pub unit: u64,
    /// Rows, of one unit on each member.
    pub rows: u64,
}

impl Geometry {
    /// Units of data in a row.
    pub fn data(&self) -> usize {
        match self.scheme {
            Scheme::Copies(copies) => self.members / copies,
            _ => self.members - self.parities(),
        }
    }

    /// Units of parity in a row.
    pub fn parities(&self) -> usize {
        match self.scheme {
            Scheme::Fixed | Scheme::Rotated(..) | Scheme::ByMember(_) => 1,
            Scheme::Double(_) => 2,
            Scheme::Copies(_) => 0,
        }
    }

    /// Members that have each block.
    pub fn copies(&self) -> usize {
        match self.scheme {
            Scheme::Copies(copies) => copies,
            _ => 1,
        }
    }

    /// The members that have the blocks of the first of them, itself included.
    pub fn copies_of(&self, first: usize) -> impl Iterator<Item = usize> + use<> {
        let data = self.data();
        (0..self.copies()).map(move |copy| first + copy * data)
    }

    /// Capacity in blocks.
    pub fn blocks(&self) -> u64 {
        self.unit * self.data() as u64 * self.rows
    }

    /// Blocks of a member that are used.
    pub fn used(&self) -> u64 {
        self.unit * self.rows
    }

    /// The member with the parity of a row.
    pub fn p(&self, row: u64) -> Option<usize> {
        let last = self.members - 1;
        let at = |direction, turn: u64| {
            let turn = (turn % self.members as u64) as usize;
            match direction {
                Direction::Left => last - turn,
                Direction::Right => turn,
            }
        };
        match self.scheme {
            Scheme::Fixed => Some(last),
            Scheme::Rotated(rotation, rows) => Some(at(rotation.direction(), row / rows)),
            Scheme::ByMember(direction) => Some(at(direction, row)),
            Scheme::Double(rotation) => Some(at(rotation.direction(), row)),
            Scheme::Copies(_) => None,
        }
    }

    /// The member with the second parity of a row.
    pub fn q(&self, row: u64) -> Option<usize> {
        match self.scheme {
            Scheme::Double(_) => Some((self.p(row)? + 1) % self.members),
            _ => None,
        }
    }

    /// The member with a unit of data of a row; of several copies the first.
    pub fn place(&self, row: u64, unit: usize) -> usize {
        let rotation = match self.scheme {
            Scheme::Fixed | Scheme::Copies(_) => return unit,
            Scheme::ByMember(_) => Rotation::LeftAsymmetric,
            Scheme::Rotated(rotation, _) | Scheme::Double(rotation) => rotation,
        };
        let p = self.p(row).expect("it has parity");
        match rotation {
            Rotation::LeftSymmetric | Rotation::RightSymmetric => {
                (p + self.parities() + unit) % self.members
            }
            Rotation::LeftAsymmetric | Rotation::RightAsymmetric => {
                // The parity units that stand at this place or before it; Q may have gone round to the first member.
                let q = self.q(row).unwrap_or(p);
                let (low, high) = (p.min(q), p.max(q));
                let at = unit + usize::from(unit >= low);
                at + usize::from(high != low && at >= high)
            }
        }
    }

    /// What a member holds in a row.
    pub fn role(&self, row: u64, member: usize) -> Role {
        if self.p(row) == Some(member) {
            return Role::P;
        }
        let q = self.q(row);
        if q == Some(member) {
            return Role::Q;
        }
        match self.scheme {
            Scheme::Fixed => Role::Data(member),
            Scheme::Copies(_) => Role::Data(member % self.data()),
            Scheme::ByMember(_) => Role::Data(member - usize::from(self.p(row) < Some(member))),
            Scheme::Rotated(rotation, _) | Scheme::Double(rotation) => {
                let p = self.p(row).expect("it has parity");
                Role::Data(match rotation {
                    Rotation::LeftSymmetric | Rotation::RightSymmetric => {
                        (member + self.members - p - self.parities()) % self.members
                    }
                    Rotation::LeftAsymmetric | Rotation::RightAsymmetric => {
                        let before = |parity: usize| usize::from(parity < member);
                        member - before(p) - q.map_or(0, before)
                    }
                })
            }
        }
    }

    /// Where a block is: its row, its unit in that, and its place in the unit.
    pub fn locate(&self, lbn: u64) -> (u64, usize, u64) {
        let (row, unit) = self.unit(lbn / self.unit);
        (row, unit, lbn % self.unit)
    }

    /// The first block of a unit of data.
    pub fn lbn(&self, row: u64, unit: usize) -> u64 {
        let number = match self.scheme {
            Scheme::ByMember(_) => self.number(row, self.place(row, unit)),
            _ => row * self.data() as u64 + unit as u64,
        };
        number * self.unit
    }

    /// The row of the array's unit of a number, and its number in that.
    pub fn unit(&self, number: u64) -> (u64, usize) {
        let Scheme::ByMember(direction) = self.scheme else {
            let data = self.data() as u64;
            return (number / data, (number % data) as usize);
        };
        let member = self.member_of(number);
        let (of_member, data) = (number - self.first_of(member), self.data() as u64);
        let (turn, within) = (of_member / data, of_member % data);
        let skipped = self.first_parity(direction, member);
        let row = turn * self.members as u64 + within + u64::from(within >= skipped);
        match self.role(row, member) {
            Role::Data(unit) => (row, unit),
            _ => unreachable!("rows with parity of the member are passed over"),
        }
    }

    /// The rows that blocks of the array are in, perhaps with some between: those of two ranges, the first of which begins with row 0 if the
    /// second has any.
    pub fn rows_of(&self, first: u64, end: u64) -> [Range<u64>; 2] {
        let (first, last) = (first / self.unit, (end - 1) / self.unit);
        let (from, to) = (self.unit(first).0, self.unit(last).0 + 1);
        let members = match self.scheme {
            Scheme::ByMember(_) => self.member_of(last) - self.member_of(first),
            _ => 0,
        };
        match members {
            0 => [from..to, 0..0],
            1 if to < from => [0..to, from..self.rows],
            _ => [0..self.rows, 0..0],
        }
    }

    /// The first row whose parity a member has, where parity moves on after each.
    fn first_parity(&self, direction: Direction, member: usize) -> u64 {
        match direction {
            Direction::Left => (self.members - 1 - member) as u64,
            Direction::Right => member as u64,
        }
    }

    /// Of an array that goes member by member: the number of a member's first unit of data.
    fn first_of(&self, member: usize) -> u64 {
        let (members, before) = (self.members as u64, member as u64);
        let (turns, left) = (self.rows / members, self.rows % members);
        let begun = match self.scheme {
            Scheme::ByMember(Direction::Left) => (before + left).saturating_sub(members),
            _ => before.min(left),
        };
        before * (self.rows - turns) - begun
    }

    /// Of an array that goes member by member: the blocks that a member has of it.
    pub fn blocks_of(&self, member: usize) -> Range<u64> {
        self.first_of(member) * self.unit..self.first_of(member + 1) * self.unit
    }

    /// The member with the unit of a number.
    fn member_of(&self, number: u64) -> usize {
        // No member has more units than this.
        let most = self.rows - self.rows / self.members as u64;
        let mut member = (number / most) as usize;
        while member + 1 < self.members && self.first_of(member + 1) <= number {
            member += 1;
        }
        member
    }

    /// The number of the unit that a member has in a row.
    fn number(&self, row: u64, member: usize) -> u64 {
        let Scheme::ByMember(direction) = self.scheme else {
            unreachable!("rows are numbered member by member");
        };
        let members = self.members as u64;
        let skipped = self.first_parity(direction, member);
        let parities = row / members + u64::from(row % members > skipped);
        self.first_of(member) + row - parities
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROTATIONS: [Rotation; 4] = [
        Rotation::LeftSymmetric,
        Rotation::LeftAsymmetric,
        Rotation::RightSymmetric,
        Rotation::RightAsymmetric,
    ];

    /// The rows of a layout as a picture: a letter for each unit of data in their order, P and Q.
    fn picture(scheme: Scheme, members: usize, rows: u64) -> Vec<String> {
        let geometry = Geometry {
            scheme,
            members,
            unit: 1,
            rows,
        };
        let row = |row| {
            let letter = |member| match geometry.role(row, member) {
                Role::Data(unit) => {
                    char::from(b'a' + (row * geometry.data() as u64 + unit as u64) as u8)
                }
                Role::P => 'P',
                Role::Q => 'Q',
            };
            (0..members).map(letter).collect()
        };
        (0..rows).map(row).collect()
    }

    /// The tables of the handbook of md, and those of Lee and Katz.
    #[test]
    fn the_rotations_are_those_of_the_tables() {
        let five = |rotation| picture(Scheme::Rotated(rotation, 1), 4, 5);
        assert_eq!(
            five(Rotation::LeftSymmetric),
            ["abcP", "efPd", "iPgh", "Pjkl", "mnoP"]
        );
        assert_eq!(
            five(Rotation::LeftAsymmetric),
            ["abcP", "dePf", "gPhi", "Pjkl", "mnoP"]
        );
        assert_eq!(
            five(Rotation::RightSymmetric),
            ["Pabc", "fPde", "hiPg", "jklP", "Pmno"]
        );
        assert_eq!(
            five(Rotation::RightAsymmetric),
            ["Pabc", "dPef", "ghPi", "jklP", "Pmno"]
        );
        let six = |rotation| picture(Scheme::Double(rotation), 4, 5);
        assert_eq!(
            six(Rotation::LeftSymmetric),
            ["QabP", "cdPQ", "fPQe", "PQgh", "QijP"]
        );
        assert_eq!(
            six(Rotation::LeftAsymmetric),
            ["QabP", "cdPQ", "ePQf", "PQgh", "QijP"]
        );
        assert_eq!(
            six(Rotation::RightSymmetric),
            ["PQab", "dPQc", "efPQ", "QghP", "PQij"]
        );
        assert_eq!(
            six(Rotation::RightAsymmetric),
            ["PQab", "cPQd", "efPQ", "QghP", "PQij"]
        );
        assert_eq!(picture(Scheme::Fixed, 3, 2), ["abP", "cdP"]);
        assert_eq!(picture(Scheme::Copies(2), 4, 2), ["abab", "cdcd"]);
        assert_eq!(
            picture(Scheme::Rotated(Rotation::LeftSymmetric, 2), 3, 4),
            ["abP", "cdP", "fPe", "hPg"]
        );
    }

    /// Member by member: the columns read from the top, past the parity.
    #[test]
    fn data_that_stay_together_go_down_the_members() {
        let columns = |direction, members, rows: u64| -> Vec<String> {
            let geometry = Geometry {
                scheme: Scheme::ByMember(direction),
                members,
                unit: 1,
                rows,
            };
            let letter = |row, member| match geometry.role(row, member) {
                Role::Data(unit) => char::from(b'a' + geometry.lbn(row, unit) as u8),
                _ => 'P',
            };
            (0..members)
                .map(|member| (0..rows).map(|row| letter(row, member)).collect())
                .collect()
        };
        assert_eq!(columns(Direction::Left, 3, 5), ["abPcd", "ePfgP", "PhiPj"]);
        assert_eq!(columns(Direction::Right, 3, 5), ["PabPc", "dPefP", "ghPij"]);
        assert_eq!(columns(Direction::Left, 3, 1), ["a", "b", "P"]);
        assert_eq!(columns(Direction::Right, 3, 1), ["P", "a", "b"]);
    }

    #[test]
    fn rows_of_blocks_are_those_that_have_them() {
        for scheme in [
            Scheme::Fixed,
            Scheme::Rotated(Rotation::RightSymmetric, 1),
            Scheme::ByMember(Direction::Left),
            Scheme::ByMember(Direction::Right),
        ] {
            for rows in 1..9 {
                let geometry = Geometry {
                    scheme,
                    members: 3,
                    unit: 2,
                    rows,
                };
                for first in 0..geometry.blocks() {
                    for end in first + 1..=geometry.blocks() {
                        let ranges = geometry.rows_of(first, end);
                        let members = (first..end).map(|lbn| {
                            let (row, unit, _) = geometry.locate(lbn);
                            let places = ranges.iter().filter(|rows| rows.contains(&row));
                            assert_eq!(places.count(), 1, "{scheme:?} {first} {end} {ranges:?}");
                            (geometry.place(row, unit), row)
                        });
                        let places: std::collections::BTreeSet<_> = members.collect();
                        // A row without any of them is one between two of a member, with that member's parity.
                        let is_by_member = matches!(scheme, Scheme::ByMember(_));
                        for row in ranges.iter().cloned().flatten() {
                            let has_some = places.iter().any(|place| place.1 == row);
                            let is_passed =
                                (places.iter()).any(|&(member, _)| geometry.p(row) == Some(member));
                            assert!(has_some || is_by_member && is_passed, "{first} {end} {row}");
                        }
                        assert!(ranges[1].is_empty() || ranges[0].start == 0);
                    }
                }
            }
        }
    }

    #[test]
    fn every_block_has_one_place_and_the_place_has_the_block() {
        for rotation in ROTATIONS {
            for members in 3..8 {
                let mut schemes = vec![
                    Scheme::Fixed,
                    Scheme::Rotated(rotation, 1),
                    Scheme::Rotated(rotation, 3),
                    Scheme::ByMember(rotation.direction()),
                    Scheme::Copies(members),
                    Scheme::Copies(1),
                ];
                if members > 3 {
                    schemes.push(Scheme::Double(rotation));
                }
                for scheme in schemes {
                    let rows = 20;
                    let geometry = Geometry {
                        scheme,
                        members,
                        unit: 3,
                        rows,
                    };
                    let mut seen = std::collections::HashSet::new();
                    for lbn in 0..geometry.blocks() {
                        let (row, unit, within) = geometry.locate(lbn);
                        assert_eq!(geometry.lbn(row, unit) + within, lbn);
                        let member = geometry.place(row, unit);
                        assert!(row < geometry.rows && within < 3 && member < members);
                        assert!(
                            seen.insert((member, row * 3 + within)),
                            "{scheme:?} {lbn}: two blocks are at one place"
                        );
                        assert_eq!(geometry.role(row, member), Role::Data(unit));
                    }
                    for row in 0..rows {
                        let parities = (0..members)
                            .filter(|&member| !matches!(geometry.role(row, member), Role::Data(_)));
                        assert_eq!(parities.count(), geometry.parities());
                    }
                }
            }
        }
    }
}
