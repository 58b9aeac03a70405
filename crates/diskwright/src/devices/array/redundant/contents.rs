//! What the blocks of a row hold, for the checker: parity is computed from what was read and is to be written, and lost blocks from parity,
//! with the numbers that the checker keeps in place of data.
//!
//! Data of different units must not cancel in a sum because they have the same number, so that each is spread over 64 bits by its unit
//! first, without loss; nothing stays nothing, as before the run. The sums are those of RAID-6: eight bytes of GF(2⁸).

use std::collections::BTreeMap;

use super::geometry::{Geometry, Role};

/// The polynomial of GF(2⁸), without its highest bit, as Linux's md has it.
const POLYNOMIAL: u64 = 0x1d;

/// Eight bytes times the generator, each by itself.
fn times_generator(bytes: u64) -> u64 {
    let high = (bytes >> 7) & 0x0101_0101_0101_0101;
    ((bytes & 0x7f7f_7f7f_7f7f_7f7f) << 1) ^ (high * POLYNOMIAL)
}

/// Eight bytes times an element, each by itself.
fn times(bytes: u64, element: u8) -> u64 {
    let mut power = bytes;
    let mut product = 0;
    for bit in 0..8 {
        if element >> bit & 1 == 1 {
            product ^= power;
        }
        power = times_generator(power);
    }
    product
}

/// A power of the generator.
fn power(exponent: usize) -> u8 {
    (0..exponent % 255).fold(1, |element: u8, _| times_generator(element.into()) as u8)
}

/// The inverse of an element other than 0: its power of 254.
fn inverse(element: u8) -> u8 {
    (0..253).fold(element, |product, _| times(product.into(), element) as u8)
}

/// The odd factor of a unit.
fn factor(unit: usize) -> u64 {
    mix((unit as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1
}

/// The finalizer of splitmix64, which leaves 0 as it is.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The inverse of [`mix`].
fn unmix(mut bits: u64) -> u64 {
    bits ^= (bits >> 31) ^ (bits >> 62);
    bits = bits.wrapping_mul(0x3196_42b2_d24d_8ec3);
    bits ^= (bits >> 27) ^ (bits >> 54);
    bits = bits.wrapping_mul(0x96de_1b17_3f11_9089);
    bits ^ (bits >> 30) ^ (bits >> 60)
}

/// The inverse of an odd number in 64 bits, by Newton's steps: each doubles the bits that are right, of which there are three.
fn odd_inverse(number: u64) -> u64 {
    (0..5).fold(number, |inverse, _| {
        inverse.wrapping_mul(2u64.wrapping_sub(number.wrapping_mul(inverse)))
    })
}

/// What stands for the data of a unit in sums.
fn spread(unit: usize, number: u64) -> u64 {
    mix(number.wrapping_mul(factor(unit)))
}

/// The number of data that stand in sums as `bits`.
fn gather(unit: usize, bits: u64) -> u64 {
    unmix(bits).wrapping_mul(odd_inverse(factor(unit)))
}

/// What blocks of members are known to hold.
#[derive(Debug, Default)]
pub struct Contents(BTreeMap<(usize, u64), u64>);

impl Contents {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets what a member holds from a block on.
    pub fn forget_from(&mut self, member: usize, first: u64) {
        self.0
            .retain(|&(other, at), _| other != member || at < first);
    }

    /// A block of a member holds this.
    pub fn put(&mut self, member: usize, at: u64, content: u64) {
        self.0.insert((member, at), content);
    }

    /// What a block of a member holds, as far as it was put there.
    pub fn get(&self, member: usize, at: u64) -> Option<u64> {
        self.0.get(&(member, at)).copied()
    }

    /// What a block of a member holds, or what the others in its row make it to be; `None` where they are too few.
    pub fn solve(&self, geometry: &Geometry, member: usize, at: u64) -> Option<u64> {
        self.get(member, at).or_else(|| {
            let row = at / geometry.unit;
            let known = |member| self.get(member, at);
            solve(geometry, row, member, known)
        })
    }

    /// What a block of a member has to hold for what the others hold, whatever it holds itself.
    pub fn anew(&self, geometry: &Geometry, member: usize, at: u64) -> Option<u64> {
        let known = |other: usize| self.get(other, at).filter(|_| other != member);
        solve(geometry, at / geometry.unit, member, known)
    }

    /// The parity that a member has to hold when `new` has been written: `new` tells of a unit that is. `None` where too little is known.
    pub fn parity(
        &self,
        geometry: &Geometry,
        member: usize,
        at: u64,
        new: impl Fn(usize) -> Option<u64>,
    ) -> Option<u64> {
        let row = at / geometry.unit;
        let role = geometry.role(row, member);
        let old = |unit| self.get(geometry.place(row, unit), at);
        let whole = (0..geometry.data()).try_fold(0, |sum, unit| {
            Some(sum ^ weighted(role, unit, new(unit).or_else(|| old(unit))?))
        });
        if whole.is_some() {
            return whole;
        }
        let changed = self.get(member, at).and_then(|parity| {
            let mut written = (0..geometry.data()).filter_map(|unit| Some((unit, new(unit)?)));
            written.try_fold(parity, |sum, (unit, new)| {
                Some(sum ^ weighted(role, unit, old(unit)?) ^ weighted(role, unit, new))
            })
        });
        changed.or_else(|| {
            (0..geometry.data()).try_fold(0, |sum, unit| {
                let solved = || self.solve(geometry, geometry.place(row, unit), at);
                Some(sum ^ weighted(role, unit, new(unit).or_else(solved)?))
            })
        })
    }
}

/// A unit's part of a parity.
fn weighted(role: Role, unit: usize, number: u64) -> u64 {
    match role {
        Role::Q => times(spread(unit, number), power(unit)),
        _ => spread(unit, number),
    }
}

/// What the others of a row make a block of a member to be.
pub fn solve(
    geometry: &Geometry,
    row: u64,
    member: usize,
    known: impl Fn(usize) -> Option<u64>,
) -> Option<u64> {
    if geometry.parities() == 0 {
        return geometry.copies_of(member % geometry.data()).find_map(known);
    }
    let mut missing = Vec::new();
    let (mut sum, mut weights) = (0, 0);
    for unit in 0..geometry.data() {
        match known(geometry.place(row, unit)) {
            Some(number) => {
                sum ^= weighted(Role::P, unit, number);
                weights ^= weighted(Role::Q, unit, number);
            }
            None => missing.push(unit),
        }
    }
    // What the missing units sum up to.
    let p = geometry.p(row).and_then(&known).map(|p| p ^ sum);
    let q = geometry.q(row).and_then(&known).map(|q| q ^ weights);
    let found: Vec<u64> = match (missing.as_slice(), p, q) {
        ([], ..) => Vec::new(),
        ([_], Some(p), _) => vec![p],
        (&[one], None, Some(q)) => vec![times(q, inverse(power(one)))],
        (&[one, other], Some(p), Some(q)) => {
            let (weight, beside) = (power(one), power(other));
            let first = times(times(p, beside) ^ q, inverse(weight ^ beside));
            vec![first, p ^ first]
        }
        _ => return None,
    };
    let unit_of = |unit: usize| missing.iter().position(|&missing| missing == unit);
    match geometry.role(row, member) {
        Role::Data(unit) => match unit_of(unit) {
            Some(index) => Some(gather(unit, found[index])),
            None => known(member),
        },
        role => {
            let weigh = |unit: usize, bits: u64| match role {
                Role::Q => times(bits, power(unit)),
                _ => bits,
            };
            let known = if role == Role::Q { weights } else { sum };
            let missing = missing.iter().zip(&found);
            Some(missing.fold(known, |sum, (&unit, &bits)| sum ^ weigh(unit, bits)))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::geometry::{Rotation, Scheme};
    use super::*;

    #[test]
    fn the_field_is_a_field_and_numbers_come_back() {
        for element in 1..=255u8 {
            assert_eq!(times(inverse(element).into(), element), 1, "{element}");
        }
        let powers: std::collections::BTreeSet<u8> = (0..255).map(power).collect();
        assert_eq!(powers.len(), 255);
        for unit in 0..20 {
            for number in [0, 1, 2, 77, u64::MAX, 1 << 40] {
                assert_eq!(gather(unit, spread(unit, number)), number);
            }
            assert_eq!(spread(unit, 0), 0);
        }
    }

    proptest! {
        /// Any members that may be lost come back from the others, and one more does not.
        #[test]
        fn lost_members_come_back(
            numbers in prop::collection::vec(0u64..1000, 1..9), parities in 1usize..=2, row in 0u64..40, lost in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            let members = numbers.len() + parities;
            let scheme = match parities {
                1 => Scheme::Rotated(Rotation::RightAsymmetric, 1),
                _ => Scheme::Double(Rotation::LeftSymmetric),
            };
            let geometry = Geometry { scheme, members, unit: 1, rows: 40 };
            let mut contents = Contents::default();
            for (unit, &number) in numbers.iter().enumerate() {
                contents.put(geometry.place(row, unit), row, number);
            }
            for parity in geometry.p(row).into_iter().chain(geometry.q(row)) {
                let value = contents.parity(&geometry, parity, row, |_| None);
                contents.put(parity, row, value.expect("all units are known"));
            }
            let all: Vec<u64> = (0..members).map(|member| contents.get(member, row).expect("put")).collect();
            let lost = [lost.0.index(members), lost.1.index(members)];
            let known = |member: usize| (!lost[..parities].contains(&member)).then_some(all[member]);
            for (member, &number) in all.iter().enumerate() {
                prop_assert_eq!(solve(&geometry, row, member, known), Some(number));
            }
            // A change by the old data and the old parity is the change by the whole row.
            let new = |unit: usize| (unit == 0).then_some(5555);
            let mut changed = Contents::default();
            changed.put(geometry.place(row, 0), row, numbers[0]);
            for parity in geometry.p(row).into_iter().chain(geometry.q(row)) {
                changed.put(parity, row, all[parity]);
                prop_assert_eq!(changed.parity(&geometry, parity, row, new), contents.parity(&geometry, parity, row, new));
            }
        }
    }
}
