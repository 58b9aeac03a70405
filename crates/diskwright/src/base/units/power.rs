//! Power and energy, as data sheets give them: integers, so that sums over a run are exact.

use std::fmt;
use std::str::FromStr;

use super::{Time, UnitError, serde_as_text};

/// A power: `"1.4 W"`, `"5 mW"`; integer microwatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Power {
    microwatts: u64,
}

/// Femtojoules in a joule: a microwatt over a nanosecond is a femtojoule.
pub const FEMTOJOULES: f64 = 1e15;

const POWER_EXPECTED: &str = "a power from 0 to 1 kW, such as \"1.4 W\" (units: uW, mW, W)";
const ENERGY_EXPECTED: &str = "an energy from 0 to 1 MJ, such as \"12 J\" (units: uJ, mJ, J)";

impl Power {
    /// A power in microwatts.
    pub const fn from_microwatts(microwatts: u64) -> Power {
        Power { microwatts }
    }
    /// Microwatts.
    pub const fn microwatts(self) -> u64 {
        self.microwatts
    }
    /// Watts.
    pub fn watts(self) -> f64 {
        self.microwatts as f64 / 1e6
    }
    /// What it comes to over a time, in femtojoules.
    pub fn over(self, time: Time) -> u128 {
        u128::from(self.microwatts) * u128::from(time.ns())
    }
    /// How much more than another power it comes to over a time, in femtojoules; negative where it is less.
    pub fn over_beyond(self, other: Power, time: Time) -> i128 {
        let more = i128::from(self.microwatts) - i128::from(other.microwatts);
        more * i128::from(time.ns())
    }
}

impl FromStr for Power {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Power, UnitError> {
        let scales = [("uW", 1.0), ("µW", 1.0), ("mW", 1e3), ("W", 1e6)];
        let microwatts = scaled(text, &scales, 1e9, POWER_EXPECTED)?;
        Ok(Power { microwatts })
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.microwatts {
            micro if micro < 1_000 && micro > 0 => write!(f, "{micro} uW"),
            micro if micro < 1_000_000 && micro > 0 => write!(f, "{} mW", micro as f64 / 1e3),
            micro => write!(f, "{} W", micro as f64 / 1e6),
        }
    }
}

/// An energy: `"12 J"`, `"650 mJ"`; integer microjoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Energy {
    microjoules: u64,
}

impl Energy {
    /// Femtojoules.
    pub fn femtojoules(self) -> u128 {
        u128::from(self.microjoules) * 1_000_000_000
    }
}

impl FromStr for Energy {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Energy, UnitError> {
        let scales = [("uJ", 1.0), ("µJ", 1.0), ("mJ", 1e3), ("J", 1e6)];
        let microjoules = scaled(text, &scales, 1e12, ENERGY_EXPECTED)?;
        Ok(Energy { microjoules })
    }
}

impl fmt::Display for Energy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} J", self.microjoules as f64 / 1e6)
    }
}

/// The number of a text in the smallest unit, at most `most`.
fn scaled(
    text: &str,
    scales: &[(&str, f64)],
    most: f64,
    expected: &'static str,
) -> Result<u64, UnitError> {
    let error = || UnitError {
        found: text.to_owned(),
        expected,
    };
    let (number, unit) = super::split_unit(text);
    let number: f64 = number.replace('_', "").parse().map_err(|_| error())?;
    let scale = scales.iter().find(|(name, _)| *name == unit);
    let value = libm::round(number * scale.ok_or_else(error)?.1);
    match (0.0..=most).contains(&value) {
        true => Ok(value as u64),
        false => Err(error()),
    }
}

serde_as_text!(Power, POWER_EXPECTED);
serde_as_text!(Energy, ENERGY_EXPECTED);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_energies_read_back_as_they_are_written() {
        for (text, microwatts) in [
            ("1.4 W", 1_400_000),
            ("5 mW", 5_000),
            ("2.5mW", 2_500),
            ("7 uW", 7),
            ("0 W", 0),
        ] {
            let power: Power = text.parse().expect(text);
            assert_eq!(power.microwatts(), microwatts, "{text}");
            assert_eq!(power.to_string().parse(), Ok(power), "{text}");
        }
        let energy: Energy = "12.5 J".parse().expect("an energy");
        assert_eq!(energy.femtojoules(), 12_500_000_000_000_000);
        assert_eq!(energy.to_string().parse(), Ok(energy));
        for wrong in ["1.4", "W", "-1 W", "1 J", "2 kW", "1e9 W"] {
            assert!(wrong.parse::<Power>().is_err(), "{wrong}");
        }
        assert!("1 W".parse::<Energy>().is_err());
    }

    #[test]
    fn a_power_over_a_time_is_exact() {
        let power = Power::from_microwatts(1_100_000);
        let hour = Time::from_s(3_600);
        assert_eq!(power.over(hour), 3_960_000_000_000_000_000);
        let less = Power::from_microwatts(1_200_000);
        assert_eq!(
            power.over_beyond(less, Time::from_s(1)),
            -100_000_000_000_000
        );
    }
}
