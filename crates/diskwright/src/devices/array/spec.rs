//! What a spec says of an array.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layouts::{LayoutSpec, Organisation};
use super::redundant::bitmap::{BitmapArea, BitmapRules};
use super::redundant::geometry::Geometry;
use super::redundant::journal::Journal;
use super::redundant::rebuild::RebuildRules;
use super::redundant::resync::ResyncRules;
use super::redundant::scrub::ScrubRules;
use super::redundant::{Redundant, Upkeep};
use super::{Array, Child};
use crate::base::error::{Error, InputError};
use crate::base::units::percent::Percent;
use crate::devices::assembly::{DeviceTree, Site};
use crate::devices::kind::{AnyDevice, Built, DeviceKind};
use crate::devices::spindles::{AngleSpec, Spindles};
use crate::engine::device::Device;

/// Several devices as one: of any kind, by `D`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ArraySpec")]
pub struct ArraySpec<D> {
    /// Which member has which blocks.
    pub layout: LayoutSpec,
    /// How the platters of members that are hard disks turn.
    #[serde(default)]
    pub spindles: SpindlesSpec,
    /// The devices that it is made of.
    pub member: Vec<D>,
    /// Devices that take the place of members that fail, the first one first. Of layouts with redundancy.
    #[serde(default = "none::<D>", skip_serializing_if = "Vec::is_empty")]
    pub spare: Vec<D>,
    /// How a spare is filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildRules>,
    /// How the members are read through in the background; left out, they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<ScrubRules>,
    /// How redundancy is made anew when the power has failed and returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resync: Option<ResyncRules>,
    /// Which regions may be written is kept on the members, so that nothing else is made anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bitmap: Option<BitmapRules>,
    /// A device to which data and parity of writes go before they go to the members. Of layouts with parity.
    #[serde(default = "no_journal::<D>", skip_serializing_if = "Option::is_none")]
    pub journal: Option<Box<D>>,
}

fn none<D>() -> Vec<D> {
    Vec::new()
}

fn no_journal<D>() -> Option<Box<D>> {
    None
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
    /// The largest deviation of a disk's speed from its drive's, at most 10 %. All deviations up to it are equally likely.
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

    /// What the members of the array at `path` hear of them.
    fn around(&self, path: &str) -> Spindles {
        match self {
            SpindlesSpec::Free(free) => Spindles {
                angle: AngleSpec::Random,
                tolerance: free.tolerance.share(),
                together: None,
            },
            SpindlesSpec::Synchronised(_) => Spindles {
                together: Some(path.to_owned()),
                ..Spindles::alone()
            },
        }
    }
}

impl<D: AnyDevice> DeviceKind for ArraySpec<D> {
    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error> {
        if self.member.is_empty() {
            let error = Error::input("an array without members: expected 1 or more");
            return Err(site.locate("member", error));
        }
        let checks = self.spindles.check();
        checks.map_err(|error| site.locate("spindles", error))?;
        let around = self.spindles.around(site.path);
        let mut build = |devices: &[D], name: &str| {
            let built = devices.iter().enumerate().map(|(index, device)| {
                let prefix = format!("{}.{name}[{index}].", site.path);
                device.build_below(site, &prefix, &around, tree)
            });
            built.collect::<Result<Vec<_>, _>>()
        };
        let mut built = build(&self.member, "member")?;
        built.extend(build(&self.spare, "spare")?);
        let prefix = format!("{}.journal.", site.path);
        let journal = self.journal.as_ref();
        let journal = journal.map(|device| device.build_below(site, &prefix, &around, tree));
        let journal = journal.transpose()?;
        if let SpindlesSpec::Synchronised(_) = self.spindles {
            one_speed(&built).map_err(|error| site.locate("spindles", error))?;
        }
        let child = |built: &Built| Child {
            device: built.id,
            blocks: tree.get(built.id).blocks(),
            promise: tree.get(built.id).promise(),
        };
        let journal = journal.as_ref().map(child);
        let children: Vec<Child> = built.iter().map(child).collect();
        let (members, spares) = children.split_at(self.member.len());
        let capacities: Vec<u64> = members.iter().map(|child| child.blocks).collect();
        let has_upkeep = !spares.is_empty()
            || self.rebuild.is_some()
            || self.scrub.is_some()
            || self.resync.is_some()
            || self.bitmap.is_some()
            || self.journal.is_some();
        let layout = match has_upkeep {
            true => self.layout.kept_up(&capacities),
            false => self.layout.build(&capacities),
        };
        let layout = layout.map_err(|error| site.locate("layout", error))?;
        let array: Box<dyn Device> = match layout {
            Organisation::Plain(layout) => Box::new(Array::new(layout, members)),
            Organisation::Redundant(mut geometry, rules) => {
                let smallest = capacities.iter().copied().min().unwrap_or_default();
                let bitmap = self
                    .bitmap
                    .map(|rules| BitmapArea::on(rules, &mut geometry, smallest));
                let bitmap = bitmap.transpose();
                let bitmap = bitmap.map_err(|error| site.locate("bitmap", error))?;
                let used = bitmap.map_or(geometry.used(), |area| area.end());
                let journal = journal
                    .map(|child| journal_on(&child, &geometry))
                    .transpose();
                let journal = journal.map_err(|error| site.locate("journal", error))?;
                for (index, spare) in spares.iter().enumerate() {
                    fits(spare.blocks, used)
                        .map_err(|error| site.locate(&format!("spare[{index}]"), error))?;
                }
                let rebuild = self.rebuild.unwrap_or_default();
                rebuild
                    .check()
                    .map_err(|error| site.locate("rebuild.step", error))?;
                if let Some(scrub) = &self.scrub {
                    let checked = scrub.check();
                    checked.map_err(|error| site.locate("scrub.step", error))?;
                }
                let resync = self.resync.unwrap_or_default();
                resync
                    .check()
                    .map_err(|error| site.locate("resync.step", error))?;
                let upkeep = Upkeep {
                    rebuild,
                    scrub: self.scrub,
                    resync,
                    bitmap,
                };
                Box::new(Redundant::new(
                    geometry, rules, upkeep, members, spares, journal,
                ))
            }
        };
        Ok(Built {
            id: tree.add(site.path, array),
            rotation: None,
        })
    }

    fn fill_in(&mut self, _around: &Spindles) {
        let around = self.spindles.around("");
        let journal = self.journal.as_deref_mut();
        for member in self.member.iter_mut().chain(&mut self.spare).chain(journal) {
            member.fill_in(&around);
        }
    }

    fn draws_spindles(&self, _around: &Spindles) -> bool {
        let around = self.spindles.around("");
        let mut members = (self.member.iter())
            .chain(&self.spare)
            .chain(self.journal.as_deref());
        members.any(|member| member.draws_spindles(&around))
    }
}

/// A journal of a layout, which has parity.
fn journal_on(child: &Child, geometry: &Geometry) -> Result<Journal, InputError> {
    if geometry.parities() == 0 {
        let error = InputError::new("a journal of a layout without parity");
        return Err(error.help("accepted: raid-4, raid-5, raid-6, parity-striping"));
    }
    Journal::on(child)
}

/// Refuses a spare that has no room for what a member holds.
fn fits(blocks: u64, used: u64) -> Result<(), InputError> {
    if blocks < used {
        let error = InputError::new(format!(
            "a spare of {blocks} blocks, but {used} of each member are used"
        ));
        return Err(error.help(format!("accepted: devices of {used} blocks or more")));
    }
    Ok(())
}

/// Refuses disks that cannot turn together.
fn one_speed(members: &[Built]) -> Result<(), InputError> {
    let mut speeds = members.iter().filter_map(|member| member.rotation);
    let Some(first) = speeds.next() else {
        return Ok(());
    };
    match speeds.find(|speed| *speed != first) {
        Some(other) => Err(InputError::new(format!(
            "disks that turn at {first} and at {other} cannot be synchronised"
        ))
        .help("write spindles = \"free\", or give all members drives of one speed")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::document::{Node, from_node};
    use crate::base::error::Source;

    fn spindles(text: &str) -> SpindlesSpec {
        let node = Node::parse(&Source::new("spec", format!("spindles = {text}"))).expect("TOML");
        from_node(node.get("spindles").expect("the key above")).expect(text)
    }

    #[test]
    fn free_spindles_deviate_by_their_tolerance_at_most_and_by_half_of_it_on_average() {
        let spec = spindles("{ free = { tolerance = '2 %' } }");
        let drawn: Vec<f64> = (0..10_000)
            .map(|disk| {
                spec.around("")
                    .deviation(1, &format!("array.member[{disk}].hdd"))
            })
            .collect();
        assert!(drawn.iter().all(|deviation| deviation.abs() <= 0.02));
        let mean = |of: fn(f64) -> f64| drawn.iter().copied().map(of).sum::<f64>() / 1e4;
        // The standard error of uniform numbers from -0.02 to 0.02 is 0.04/√12/100, and half of that of their magnitudes.
        assert!(mean(|deviation| deviation).abs() < 4.0 * 1.2e-4);
        assert!((mean(f64::abs) - 0.01).abs() < 4.0 * 0.6e-4);
        let again = |seed| spec.around("").deviation(seed, "array.member[7].hdd");
        assert_eq!((again(1), again(1) == again(2)), (drawn[7], false));
    }

    #[test]
    fn spindles_are_free_unless_said() {
        assert_eq!(spindles("'free'"), SpindlesSpec::default());
        assert_eq!(
            spindles("'synchronised'").around("").deviation(1, "hdd"),
            0.0
        );
        assert_eq!(
            spindles("{ free = { tolerance = '0 %' } }")
                .around("")
                .deviation(1, "hdd"),
            0.0
        );
        for (text, is_good) in [("10", true), ("10.1", false), ("0", true)] {
            let spec = spindles(&format!("{{ free = {{ tolerance = '{text} %' }} }}"));
            assert_eq!(spec.check().is_ok(), is_good, "{text}");
        }
    }
}
