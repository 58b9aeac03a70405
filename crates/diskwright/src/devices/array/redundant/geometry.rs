//! Where the units of a redundant layout are: pure functions of the row.
//!
//! A row is one unit of each member at the same place: some hold data, others parity, or copies of data.

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

/// What the members of a row hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Parity on the last member.
    Fixed,
    /// Parity that moves on after this many rows.
    Rotated(Rotation, u64),
    /// Two parities beside each other, which move on after each row.
    Double(Rotation),
    /// This many copies of each unit.
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
            Scheme::Fixed | Scheme::Rotated(..) => 1,
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
        let at = |rotation, turn: u64| {
            let turn = (turn % self.members as u64) as usize;
            match rotation {
                Rotation::LeftSymmetric | Rotation::LeftAsymmetric => last - turn,
                Rotation::RightSymmetric | Rotation::RightAsymmetric => turn,
            }
        };
        match self.scheme {
            Scheme::Fixed => Some(last),
            Scheme::Rotated(rotation, rows) => Some(at(rotation, row / rows)),
            Scheme::Double(rotation) => Some(at(rotation, row)),
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
        let (Scheme::Rotated(rotation, _) | Scheme::Double(rotation)) = self.scheme else {
            return unit;
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
        let (unit, within) = (lbn / self.unit, lbn % self.unit);
        let data = self.data() as u64;
        (unit / data, (unit % data) as usize, within)
    }

    /// The first block of a unit of data.
    pub fn lbn(&self, row: u64, unit: usize) -> u64 {
        (row * self.data() as u64 + unit as u64) * self.unit
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

    #[test]
    fn every_block_has_one_place_and_the_place_has_the_block() {
        for rotation in ROTATIONS {
            for members in 3..8 {
                let mut schemes = vec![
                    Scheme::Fixed,
                    Scheme::Rotated(rotation, 1),
                    Scheme::Rotated(rotation, 3),
                    Scheme::Copies(members),
                    Scheme::Copies(1),
                ];
                if members > 3 {
                    schemes.push(Scheme::Double(rotation));
                }
                for scheme in schemes {
                    let geometry = Geometry {
                        scheme,
                        members,
                        unit: 3,
                        rows: 20,
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
                    for row in 0..20 {
                        let parities = (0..members)
                            .filter(|&member| !matches!(geometry.role(row, member), Role::Data(_)));
                        assert_eq!(parities.count(), geometry.parities());
                    }
                }
            }
        }
    }
}
