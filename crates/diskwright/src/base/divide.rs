//! Division by a number that is known when a layout or a drive is built.

/// Divides by the same number again and again with one multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    divisor: u64,
    /// ⌈2^(63 + shift) / divisor⌉, or 0 where the multiplication would not be exact and the processor has to divide.
    reciprocal: u64,
    /// ⌊log2 divisor⌋.
    shift: u32,
}

/// No dividend of an exact multiplication is larger.
const LARGEST: u64 = 1 << 62;

impl Divisor {
    /// A divisor for dividends up to `largest`.
    ///
    /// With m = ⌈2^(63 + s) / d⌉ the error of n·m / 2^(63 + s) is below n / 2^(63 + s), so that its floor is ⌊n / d⌋ for every
    /// n·d ≤ 2^(63 + s). That holds for n up to 2^62, for d is below 2^(s + 1).
    pub(crate) fn new(divisor: u64, largest: u64) -> Divisor {
        let shift = divisor.checked_ilog2().unwrap_or(0);
        let exact = divisor > 0 && largest <= LARGEST;
        let reciprocal = if exact {
            (1u128 << (63 + shift)).div_ceil(u128::from(divisor)) as u64
        } else {
            0
        };
        Divisor {
            divisor,
            reciprocal,
            shift,
        }
    }

    /// Quotient and remainder of a dividend up to the largest one announced.
    #[inline(always)]
    pub(crate) fn divide(self, dividend: u64) -> (u64, u64) {
        let quotient = if self.reciprocal != 0 {
            // Twice the dividend, so that the reciprocal of 1 is a number of 64 bits, too.
            let product = u128::from(dividend << 1) * u128::from(self.reciprocal);
            ((product >> 64) as u64) >> self.shift
        } else {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_are_exact() {
        let divisors = [
            1,
            2,
            3,
            7,
            254,
            255,
            256,
            65_535,
            1 << 24,
            LARGEST - 1,
            LARGEST,
            LARGEST + 1,
            u64::MAX,
        ];
        for (divisor, largest) in divisors.into_iter().flat_map(|divisor| {
            [LARGEST - 1, LARGEST, LARGEST + 1, u64::MAX].map(|largest| (divisor, largest))
        }) {
            let by = Divisor::new(divisor, largest);
            assert_eq!(by.divide(largest), (largest / divisor, largest % divisor));
            for quotient in [0, 1, 2, 1_000, largest / divisor] {
                let edge = quotient.saturating_mul(divisor);
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

    proptest! {
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
