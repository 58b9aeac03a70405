//! What a spec says of an array.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spec::{AngleSpec, DeviceSpec};
use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::devices::array::layouts::LayoutSpec;
use crate::workload::synthetic::Percent;

/// Several devices as one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArraySpec {
    /// Which member has which blocks.
    pub layout: LayoutSpec,
    /// How the platters of those members turn that are hard disks.
    #[serde(default)]
    pub spindles: SpindlesSpec,
    /// The devices that it is made of.
    pub member: Vec<DeviceSpec>,
}

/// How the platters of several disks turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpindlesSpec {
    /// Each by itself: from a random angle, at a speed of its own near the drive's.
    Free(FreeParams),
    /// All together, at the drive's speed: from the same angle, unless a member's `angle` says another.
    Synchronised(SynchronisedParams),
}

/// How far free spindles deviate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FreeParams {
    /// The most by which a disk's speed is above or below its drive's: any deviation up to that is as likely. At most 10 %.
    pub tolerance: Percent,
}

/// Nothing but that they turn together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SynchronisedParams {}

/// The default tolerance in percent: an estimate. ATA-1 (ANSI X3.221-1994) has a bit in word 0 of what IDENTIFY DRIVE answers for
/// disks whose speed is not within 0.5 %; disks whose motor is locked to a crystal stay well within that.
const TOLERANCE: f64 = 0.1;
/// The largest tolerance in percent.
const MOST_TOLERANCE: f64 = 10.0;

impl Default for FreeParams {
    fn default() -> FreeParams {
        FreeParams {
            tolerance: Percent::new(TOLERANCE).expect("it is a percentage"),
        }
    }
}

impl Default for SpindlesSpec {
    fn default() -> SpindlesSpec {
        SpindlesSpec::Free(FreeParams::default())
    }
}

impl SpindlesSpec {
    /// Refuses what no spindles do.
    ///
    /// # Errors
    /// A tolerance above 10 %.
    pub fn check(&self) -> Result<(), InputError> {
        match self {
            SpindlesSpec::Free(free) if free.tolerance.value() > MOST_TOLERANCE => {
                Err(InputError::new(format!(
                    "spindles that deviate by up to {} from their speed",
                    free.tolerance
                ))
                .help("accepted: 0 % to 10 %"))
            }
            _ => Ok(()),
        }
    }

    /// Where platters of which nothing is said stand at time zero.
    fn angle(&self) -> AngleSpec {
        match self {
            SpindlesSpec::Free(_) => AngleSpec::Random,
            SpindlesSpec::Synchronised(_) => AngleSpec::default(),
        }
    }

    /// By which part of its drive's speed the disk at `path` in the tree of devices turns faster.
    pub fn deviation(&self, seed: u64, path: &str) -> f64 {
        match self {
            SpindlesSpec::Free(free) => {
                let unit = Stream::new(seed, &format!("{path}.speed")).unit();
                (2.0 * unit - 1.0) * free.tolerance.share()
            }
            SpindlesSpec::Synchronised(_) => 0.0,
        }
    }
}

impl ArraySpec {
    /// Whether the seed decides how any of the spindles in it turns.
    pub(super) fn draws_spindles(&self) -> bool {
        let drifts = match &self.spindles {
            SpindlesSpec::Free(free) => free.tolerance.value() > 0.0,
            SpindlesSpec::Synchronised(_) => false,
        };
        self.member
            .iter()
            .any(|member| drifts && matches!(member, DeviceSpec::Hdd(_)) || member.draws_spindles())
    }

    /// Fills in what follows from other keys where it is not given.
    pub(super) fn fill_in(&mut self) {
        for member in &mut self.member {
            match member {
                DeviceSpec::Hdd(disk) => disk.fill_in(self.spindles.angle()),
                DeviceSpec::Array(array) => array.fill_in(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Source;
    use crate::config::{Node, from_node};

    fn spindles(text: &str) -> SpindlesSpec {
        let node = Node::parse(&Source::new("spec", format!("spindles = {text}"))).expect("TOML");
        from_node(node.get("spindles").expect("the key above")).expect(text)
    }

    #[test]
    fn free_spindles_deviate_by_their_tolerance_at_most_and_by_half_of_it_on_average() {
        let spec = spindles("{ free = { tolerance = '2 %' } }");
        let drawn: Vec<f64> = (0..10_000)
            .map(|disk| spec.deviation(1, &format!("array.member[{disk}].hdd")))
            .collect();
        assert!(drawn.iter().all(|deviation| deviation.abs() <= 0.02));
        let mean = |of: fn(f64) -> f64| drawn.iter().copied().map(of).sum::<f64>() / 1e4;
        // The standard error of uniform numbers from -0.02 to 0.02 is 0.04/√12/100, and half of that of their magnitudes.
        assert!(mean(|deviation| deviation).abs() < 4.0 * 1.2e-4);
        assert!((mean(f64::abs) - 0.01).abs() < 4.0 * 0.6e-4);
        let again = |seed| spec.deviation(seed, "array.member[7].hdd");
        assert_eq!((again(1), again(1) == again(2)), (drawn[7], false));
    }

    #[test]
    fn spindles_are_free_unless_said() {
        assert_eq!(spindles("'free'"), SpindlesSpec::default());
        assert_eq!(spindles("'synchronised'").deviation(1, "hdd"), 0.0);
        assert_eq!(
            spindles("{ free = { tolerance = '0 %' } }").deviation(1, "hdd"),
            0.0
        );
        for (text, is_good) in [("10", true), ("10.1", false), ("0", true)] {
            let spec = spindles(&format!("{{ free = {{ tolerance = '{text} %' }} }}"));
            assert_eq!(spec.check().is_ok(), is_good, "{text}");
        }
    }
}
