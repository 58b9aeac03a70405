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

/// Divides by the same number again and again with one multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    divisor: u64,
    /// ⌈2^64 / divisor⌉, or 0 where the multiplication would not be exact and the processor has to divide.
    reciprocal: u64,
}

impl Divisor {
    /// A divisor for dividends up to `largest`.
    ///
    /// With m = ⌈2^64 / d⌉ the error of n·m / 2^64 is below n·d / 2^64 / d, so that its floor is ⌊n / d⌋ for every
    /// n·d < 2^64.
    pub(crate) fn new(divisor: u64, largest: u64) -> Divisor {
        let exact = divisor > 1 && divisor.checked_mul(largest).is_some();
        Divisor {
            divisor,
            reciprocal: if exact { u64::MAX / divisor + 1 } else { 0 },
        }
    }

    /// Quotient and remainder of a dividend up to the largest one announced.
    #[inline(always)]
    pub(crate) fn divide(self, dividend: u64) -> (u64, u64) {
        let quotient = if self.reciprocal != 0 {
            ((u128::from(dividend) * u128::from(self.reciprocal)) >> 64) as u64
        } else if self.divisor == 1 {
            dividend
        } else {
            // In line, though few divisors need it: a call would have others keep what they work with in memory.
            dividend / self.divisor
        };
        (quotient, dividend - quotient * self.divisor)
    }

    /// A divisor for all dividends of 32 bits.
    pub(crate) fn of_u32(divisor: u32) -> Divisor {
        Divisor::new(u64::from(divisor), u64::from(u32::MAX))
    }

    /// The quotient of a dividend of 32 bits, of a [divisor for those](Self::of_u32).
    #[inline(always)]
    pub(crate) fn quotient(self, dividend: u32) -> u32 {
        self.divide(u64::from(dividend)).0 as u32
    }

    /// The remainder of a dividend of 32 bits, of a [divisor for those](Self::of_u32).
    #[inline(always)]
    pub(crate) fn remainder(self, dividend: u32) -> u32 {
        self.divide(u64::from(dividend)).1 as u32
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
            let largest = u64::MAX / divisor;
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
        fn it_divides(divisor in 1u64.., dividend: u64, largest: u64) {
            let dividend = dividend.min(largest);
            let by = Divisor::new(divisor, largest);
            prop_assert_eq!(by.divide(dividend), (dividend / divisor, dividend % divisor));
            let (of_u32, dividend_u32) = (divisor as u32 | 1, dividend as u32);
            let by = Divisor::of_u32(of_u32);
            prop_assert_eq!(by.quotient(dividend_u32), dividend_u32 / of_u32);
            prop_assert_eq!(by.remainder(dividend_u32), dividend_u32 % of_u32);
            let small = divisor % (1 << 20) + 1;
            let dividend = dividend % (1 << 44);
            prop_assert_eq!(
                Divisor::new(small, 1 << 44).divide(dividend),
                (dividend / small, dividend % small)
            );
        }
    }
}
