//! What a spec says of a hybrid drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Child, Hybrid, Settings};
use crate::base::error::{Error, InputError};
use crate::base::units::Time;
use crate::devices::assembly::{DeviceTree, Site};
use crate::devices::kind::{AnyDevice, Built, DeviceKind};
use crate::devices::spindles::Spindles;

/// A hybrid drive: a medium and an NV cache in one device, both of any kind.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HybridSpec")]
pub struct HybridSpec<D> {
    /// The device that is the medium: the drive has its blocks.
    pub media: D,
    /// The device that is the NV cache.
    pub nvcache: D,
    /// How long a command takes that only changes which blocks are pinned.
    #[serde(default = "five_us")]
    pub command: Time,
    /// NV cache power mode is on from the start: the NV cache takes all writes that it has room for, and the medium is stopped whenever it
    /// has nothing to do.
    #[serde(default)]
    pub power_mode: bool,
    /// In NV cache power mode, how long the medium is left turning after it has come back: the minimum high-power time.
    #[serde(default)]
    pub high_power: Time,
}

/// An estimate: the paper says that pinning takes microseconds, since only bits in volatile memory are set.
fn five_us() -> Time {
    Time::from_us(5)
}

/// The longest time of such a command.
const LONGEST: Time = Time::from_s(1);

impl<D: AnyDevice> DeviceKind for HybridSpec<D> {
    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error> {
        if self.command > LONGEST {
            let error = InputError::new(format!("a command that takes {}", self.command));
            let error = error.help(format!("accepted: up to {LONGEST}"));
            return Err(site.locate("command", error));
        }
        let around = Spindles::alone();
        let mut child = |device: &D, role: &str| {
            let prefix = format!("{}.{role}.", site.path);
            let built = device.build_below(site, &prefix, &around, tree)?;
            let blocks = tree.get(built.id).blocks();
            Ok::<_, Error>(Child {
                device: built.id,
                blocks,
                promise: tree.get(built.id).promise(),
            })
        };
        let medium = child(&self.media, "media")?;
        let flash = child(&self.nvcache, "nvcache")?;
        let settings = Settings {
            command: self.command,
            power_mode: self.power_mode,
            high_power: self.high_power,
        };
        let hybrid = Hybrid::new(medium, flash, settings);
        Ok(Built {
            id: tree.add(site.path, Box::new(hybrid)),
            rotation: None,
        })
    }

    fn fill_in(&mut self, _around: &Spindles) {
        let around = Spindles::alone();
        self.media.fill_in(&around);
        self.nvcache.fill_in(&around);
    }

    fn draws_spindles(&self, _around: &Spindles) -> bool {
        let around = Spindles::alone();
        self.media.draws_spindles(&around) || self.nvcache.draws_spindles(&around)
    }
}
