//! Division by a number that is known when a layout or a drive is built.

use std::hint::select_unpredictable;

/// The quotient by a number that mostly is a power of two: dividing by any other one takes far longer.
#[inline]
pub(crate) fn quotient(dividend: u64, divisor: u64) -> u64 {
    match divisor.is_power_of_two() {
        true => dividend >> divisor.trailing_zeros(),
        false => divided(dividend, divisor),
    }
}

/// Out of line, for few divisors need it.
#[inline(never)]
fn divided(dividend: u64, divisor: u64) -> u64 {
    dividend / divisor
}

/// Divides by the same number again and again, with one multiplication and without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    divisor: u64,
    /// ⌊(2^64 - 1) / divisor⌋.
    reciprocal: u64,
}

impl Divisor {
    /// A divisor of at least 1, for dividends up to `largest`: (`largest` + 1) · `divisor` is at most 2^64.
    ///
    /// With m = ⌊(2^64 - 1) / d⌋, e = 2^64 - d·m is from 1 to d. Of n = q·d + r, (n + 1)·m / 2^64 is q + (r + 1) / d less (n + 1)·e / (d·2^64): less
    /// than q + 1, and not below q, for (n + 1)·e is at most 2^64.
    pub(crate) fn new(divisor: u64, largest: u64) -> Divisor {
        assert!(
            (u128::from(largest) + 1) * u128::from(divisor) <= 1 << 64,
            "{largest} / {divisor} takes more than one multiplication"
        );
        Divisor {
            divisor,
            reciprocal: u64::MAX / divisor,
        }
    }

    /// Quotient and remainder of a dividend up to the largest one announced.
    #[inline(always)]
    pub(crate) fn divide(self, dividend: u64) -> (u64, u64) {
        let product = u128::from(dividend + 1) * u128::from(self.reciprocal);
        let quotient = (product >> 64) as u64;
        (quotient, dividend - quotient * self.divisor)
    }
}

/// Divides numbers of 32 bits by the same number again and again: a [`Divisor`] that suits all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShortDivisor(Divisor);

impl ShortDivisor {
    /// A divisor of at least 1.
    pub(crate) fn new(divisor: u32) -> ShortDivisor {
        ShortDivisor(Divisor::new(divisor.into(), u32::MAX.into()))
    }

    /// The quotient.
    #[inline(always)]
    pub(crate) fn quotient(self, dividend: u32) -> u32 {
        self.0.divide(dividend.into()).0 as u32
    }

    /// The remainder.
    #[inline(always)]
    pub(crate) fn remainder(self, dividend: u32) -> u32 {
        self.0.divide(dividend.into()).1 as u32
    }
}

/// Divides any dividend by the same number again and again, with two multiplications and without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WideDivisor {
    divisor: u64,
    /// ⌊(2^64 - 1) / divisor⌋.
    reciprocal: u64,
}

impl WideDivisor {
    /// A divisor of at least 1.
    pub(crate) fn new(divisor: u64) -> WideDivisor {
        WideDivisor {
            divisor,
            reciprocal: u64::MAX / divisor,
        }
    }

    /// Quotient and remainder.
    ///
    /// With m = ⌊(2^64 - 1) / d⌋, n·m / 2^64 is below n / d by n·(2^64 - d·m) / (d·2^64), which is at most n / 2^64 and so less than 1: its
    /// floor is the quotient, or one less.
    #[inline(always)]
    pub(crate) fn divide(self, dividend: u64) -> (u64, u64) {
        let quotient = ((u128::from(dividend) * u128::from(self.reciprocal)) >> 64) as u64;
        let remainder = dividend - quotient * self.divisor;
        let is_one_less = remainder >= self.divisor;
        let rest = remainder.wrapping_sub(self.divisor);
        (
            quotient + u64::from(is_one_less),
            select_unpredictable(is_one_less, rest, remainder),
        )
    }

    /// What part of the divisor a number below it is, in 2^64ths: rounded down, and less than the number and one too small.
    #[inline(always)]
    pub(crate) fn part(self, number: u64) -> u64 {
        number * self.reciprocal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_quotient_is_exact(dividend in any::<u64>(), divisor in 1u64.., power in 0u32..64) {
            prop_assert_eq!(quotient(dividend, divisor), dividend / divisor);
            prop_assert_eq!(quotient(dividend, 1 << power), dividend / (1 << power));
        }
    }

    #[test]
    fn edges_are_exact() {
        for divisor in [1, 2, 3, 7, 254, 255, 256, 65_535, 1 << 24] {
            let largest = u64::MAX / divisor - 1;
            let by = Divisor::new(divisor, largest);
            for quotient in [0, 1, 2, 1_000, largest / divisor] {
                let edge = quotient * divisor;
                for dividend in [edge.saturating_sub(1), edge, edge.saturating_add(1)] {
                    if dividend <= largest {
                        assert_eq!(
                            by.divide(dividend),
                            (dividend / divisor, dividend % divisor)
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn edges_of_any_dividend_are_exact() {
        let largest = [60_000_000_000, u64::MAX - 1, u64::MAX];
        for divisor in [1, 2, 3, 7, 254, 255, 256, 65_535, 1 << 24]
            .into_iter()
            .chain(largest)
        {
            let by = WideDivisor::new(divisor);
            for quotient in [0, 1, 2, 1_000, u64::MAX / divisor] {
                let edge = quotient.saturating_mul(divisor);
                for dividend in [
                    edge.saturating_sub(1),
                    edge,
                    edge.saturating_add(1),
                    u64::MAX,
                ] {
                    let expected = (dividend / divisor, dividend % divisor);
                    assert_eq!(by.divide(dividend), expected);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn it_divides_any_dividend(divisor in 1u64.., bits in 0u32..64, dividend: u64, multiple: u64) {
            let divisor = (divisor >> bits).max(1);
            let multiple = multiple % (u64::MAX / divisor) * divisor;
            for dividend in [dividend, dividend >> bits, multiple, multiple.wrapping_sub(1)] {
                let expected = (dividend / divisor, dividend % divisor);
                prop_assert_eq!(WideDivisor::new(divisor).divide(dividend), expected);
            }
        }

        #[test]
        fn it_divides_any_short_dividend(divisor in 1u32.., bits in 0u32..32, dividend: u32, multiple: u32) {
            let divisor = (divisor >> bits).max(1);
            let by = ShortDivisor::new(divisor);
            let edge = multiple % (u32::MAX / divisor) * divisor;
            for dividend in [dividend, dividend >> bits, edge, edge.wrapping_sub(1), u32::MAX] {
                let found = (by.quotient(dividend), by.remainder(dividend));
                prop_assert_eq!(found, (dividend / divisor, dividend % divisor));
            }
        }

        #[test]
        fn it_divides(divisor in 1u64..=1 << 63, bits in 0u32..64, dividend: u64, multiple: u64) {
            let divisor = (divisor >> bits).max(1);
            let largest = u64::MAX / divisor - 1;
            let by = Divisor::new(divisor, largest);
            let edge = multiple % (largest / divisor + 1) * divisor;
            for dividend in [dividend, dividend >> bits, edge, edge.saturating_sub(1), largest] {
                let dividend = dividend.min(largest);
                prop_assert_eq!(by.divide(dividend), (dividend / divisor, dividend % divisor));
            }
        }
    }

    #[test]
    #[should_panic(expected = "more than one multiplication")]
    fn a_dividend_too_many_is_refused() {
        Divisor::new(1 << 20, 1 << 44);
    }
}
