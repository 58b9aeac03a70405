//! Angles of a platter, in turns.

/// A place on the circle: a fraction of a turn, in units of 2⁻⁶⁴ turn, so that a turn is never reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Angle(u64);

/// 2⁶⁴: the units of a turn.
const TURN: f64 = 18_446_744_073_709_551_616.0;

impl Angle {
    /// `turns` of a turn; `None` unless 0 ≤ `turns` < 1.
    pub fn from_turns(turns: f64) -> Option<Angle> {
        // The product is exact, for only its exponent changes, and below 2⁶⁴.
        (0.0..1.0)
            .contains(&turns)
            .then_some(Angle((turns * TURN) as u64))
    }

    /// The angle of 64 bits, every one of them as likely: for random angles.
    pub fn from_bits(bits: u64) -> Angle {
        Angle(bits)
    }

    /// In turns: what [`Self::from_turns`] was given, to 2⁻⁶⁴ turn.
    pub fn turns(self) -> f64 {
        self.0 as f64 / TURN
    }

    /// The nearest whole number of units of which `turn` make a turn; less than `turn`.
    pub fn of(self, turn: u64) -> u64 {
        let product = u128::from(self.0) * u128::from(turn);
        let nearest = ((product + (1 << 63)) >> 64) as u64;
        if nearest == turn { 0 } else { nearest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_edges_of_a_turn() {
        let below_one = 1.0 - f64::EPSILON / 2.0;
        for outside in [-f64::MIN_POSITIVE, 1.0, 1.5, f64::NAN, f64::INFINITY] {
            assert_eq!(Angle::from_turns(outside), None, "{outside}");
        }
        let last = Angle::from_turns(below_one).expect("less than a turn");
        assert_eq!(last.turns(), below_one);
        // Half a unit before the turn is as near to the turn's start as to its last unit.
        assert_eq!((last.of(1 << 53), last.of(1 << 52)), ((1 << 53) - 1, 0));
        assert_eq!(Angle::from_bits(u64::MAX).of(60_000_000_000), 0);
        assert_eq!(Angle::from_turns(-0.0), Some(Angle::default()));
    }

    proptest! {
        #[test]
        fn a_decimal_angle_is_exact_where_the_units_are(thousandths in 0u64..1000) {
            let angle = Angle::from_turns(thousandths as f64 / 1000.0).expect("less than a turn");
            prop_assert_eq!(angle.of(60_000_000_000), thousandths * 60_000_000);
        }

        #[test]
        fn an_angle_is_what_was_given(turns in 0.0f64..1.0, turn in 1u64..60_000_000_000_000) {
            let angle = Angle::from_turns(turns).expect("less than a turn");
            prop_assert!((angle.turns() - turns).abs() <= 1.0 / TURN);
            prop_assert_eq!(Angle::from_turns(angle.turns()), Some(angle));
            let units = angle.of(turn);
            prop_assert!(units < turn);
            let away = (u128::from(units) << 64).abs_diff(u128::from(angle.0) * u128::from(turn));
            let whole = u128::from(turn) << 64;
            prop_assert!(away.min(whole - away) <= 1 << 63);
        }
    }
}
