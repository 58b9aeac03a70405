//! What a unit of waiting time is worth, as an exact number: no float decides which request is next.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::base::units::Time;

/// A number from 0 to 1000, to the nearest 2⁻³².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// In 2⁻³².
    scaled: u64,
}

const ONE: f64 = 4_294_967_296.0;
const LARGEST: f64 = 1000.0;

impl Weight {
    /// The nearest weight to `value`, if that is from 0 to 1000.
    pub fn new(value: f64) -> Option<Weight> {
        (0.0..=LARGEST).contains(&value).then(|| Weight {
            scaled: libm::round(value * ONE) as u64,
        })
    }

    /// A time on the scale of [`Self::times`].
    pub(super) fn scaled(self, time: Time) -> i128 {
        i128::from(time.ns()) << 32
    }

    /// The weight times a time, in 2⁻³² ns.
    pub(super) fn times(self, time: Time) -> i128 {
        i128::from(self.scaled) * i128::from(time.ns())
    }

    /// The shortest time that is worth at least `time`; none with a weight of 0.
    pub(super) fn worth(self, time: Time) -> Option<Time> {
        let ns = (u128::from(time.ns()) << 32).div_ceil(u128::from(self.scaled.max(1)));
        (self.scaled > 0).then(|| u64::try_from(ns).map_or(Time::MAX, Time::from_ns))
    }
}

impl schemars::JsonSchema for Weight {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Weight".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "number",
            "description": "What a unit of waiting time is worth in positioning time.",
            "minimum": 0,
            "maximum": LARGEST,
        })
    }
}

impl Serialize for Weight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The shortest decimal that reads back as this weight: nine digits are finer than 2⁻³².
        let value = self.scaled as f64 / ONE;
        serializer.serialize_f64(libm::round(value * 1e9) / 1e9)
    }
}

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Weight, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Weight::new(value).ok_or_else(|| {
            de::Error::custom(format!(
                "{value} is not a weight: expected a number from 0 to {LARGEST}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_read_and_written_as_the_same_number() {
        for text in ["0.0", "0.006", "0.2", "1.0", "6.3", "1000.0", "0.000000001"] {
            let weight: Weight = serde_json::from_str(text).expect("a weight");
            assert_eq!(
                serde_json::to_string(&weight)
                    .expect("a number")
                    .parse::<f64>(),
                text.parse()
            );
        }
        for text in ["-0.1", "1000.1", "1e300"] {
            assert!(serde_json::from_str::<Weight>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_a_time_is_worth_is_rounded_up() {
        let worth = |value: f64, ns: u64| {
            let weight = Weight::new(value).expect("a weight");
            weight.worth(Time::from_ns(ns)).map(Time::ns)
        };
        assert_eq!(worth(0.0, 5), None);
        assert_eq!(worth(1.0, 5), Some(5));
        assert_eq!(worth(0.5, 5), Some(10));
        assert_eq!(worth(2.0, 5), Some(3));
        assert_eq!(worth(0.25, u64::MAX), Some(u64::MAX));
    }
}
