//! On which plane a unit is written: fixed by its number, or chosen when it is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::geometry::Geometry;
use super::separation::SeparationSpec;
use crate::base::divide::ShortDivisor;
use crate::base::error::InputError;

/// A level of the hierarchy of planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The channel.
    Channel,
    /// The package of a channel.
    Package,
    /// The die of a package.
    Die,
    /// The plane of a die.
    Plane,
}

/// How units are spread over the planes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AllocationDescription {
    /// The levels, each once; from one page to the next the first one changes, and each of the others when the one before it has gone round.
    pub order: Vec<Level>,
    /// How many of these, from the first one on, the logical number decides. Over the others pages are spread as they are written.
    pub fixed: u32,
    /// Which units are written to the same blocks.
    pub separation: SeparationSpec,
}

impl Default for AllocationDescription {
    fn default() -> AllocationDescription {
        AllocationDescription {
            order: vec![Level::Channel, Level::Package, Level::Die, Level::Plane],
            fixed: 4,
            separation: SeparationSpec::default(),
        }
    }
}

impl AllocationDescription {
    /// The planes in groups: in which group a unit is, its number decides.
    ///
    /// # Errors
    /// A level that is left out or there twice, more fixed levels than there are.
    pub fn build(&self, geometry: &Geometry) -> Result<Allocation, InputError> {
        let all = [Level::Channel, Level::Package, Level::Die, Level::Plane];
        let is_there = |level| self.order.iter().filter(|&&other| other == level).count() == 1;
        if self.order.len() != all.len() || !all.into_iter().all(is_there) {
            return Err(InputError::new("an order of allocation without all levels")
                .help("name channel, package, die and plane, each once"));
        }
        if self.fixed as usize > all.len() {
            return Err(
                InputError::new(format!("{} fixed levels", self.fixed)).help("accepted: 0 to 4")
            );
        }
        let count = |level: Level| match level {
            Level::Channel => geometry.channels,
            Level::Package => geometry.packages,
            Level::Die => geometry.dies,
            Level::Plane => geometry.planes,
        };
        let planes = (0..geometry.all_planes()).map(|position| {
            let (mut rest, mut at) = (position, [0; 4]);
            for &level in &self.order {
                at[level as usize] = rest % count(level);
                rest /= count(level);
            }
            let [channel, package, die, plane] = at;
            ((channel * geometry.packages + package) * geometry.dies + die) * geometry.planes
                + plane
        });
        let groups = self.order[..self.fixed as usize]
            .iter()
            .map(|&level| count(level))
            .product();
        Ok(Allocation {
            planes: planes.collect(),
            groups,
            members: geometry.all_planes() / groups,
            by_units: ShortDivisor::new(geometry.units),
            by_groups: ShortDivisor::new(groups),
        })
    }
}

/// The planes in the order in which pages are spread over them.
#[derive(Clone, Debug)]
pub struct Allocation {
    planes: Vec<u32>,
    groups: u32,
    members: u32,
    by_units: ShortDivisor,
    by_groups: ShortDivisor,
}

impl Allocation {
    /// Groups of planes.
    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// Planes of a group.
    pub fn members(&self) -> u32 {
        self.members
    }

    /// The group of a unit.
    #[inline]
    pub fn group_of(&self, unit: u32) -> u32 {
        self.by_groups.remainder(self.by_units.quotient(unit))
    }

    /// The plane at a position of all.
    pub fn plane_at(&self, position: u32) -> u32 {
        self.planes[position as usize]
    }

    /// The plane at a place of a group.
    #[inline]
    pub fn plane(&self, group: u32, member: u32) -> u32 {
        self.planes[(group + member * self.groups) as usize]
    }
}
