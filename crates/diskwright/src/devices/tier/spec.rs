//! What a spec says of a cache tier.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::admission::AdmissionSpec;
use super::area::Area;
use super::changes::{Change, ChangeTo, EventKind, EventSpec};
use super::cleaning::CleaningSpec;
use super::initial::InitialSpec;
use super::metadata::{CommitWith, MetadataSpec};
use super::recovery::time_to_read;
use super::streams::BypassSpec;
use super::table::TableRules;
use super::write_policies::WritePolicySpec;
use super::{Child, Tier, TierParts};
use crate::base::error::Error;
use crate::base::units::Size;
use crate::devices::assembly::{DeviceTree, Site};
use crate::devices::kind::{AnyDevice, Built, DeviceKind};
use crate::devices::spindles::Spindles;
use crate::engine::request::Promise;
use crate::models::cache::replacement::ReplacementChoice;

/// A cache tier: one device in front of another, both of any kind.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TierSpec")]
pub struct TierSpec<D> {
    /// The device that is the cache.
    pub cache: D,
    /// The device whose blocks it caches: the tier has as many.
    pub backing: D,
    /// How much of the cache device is used for lines: a whole number of them. Left out, as many as it has room for beside its metadata, but
    /// no more than the backing device has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// The unit of the cache, from 1 block to 1 MiB. A line holds only the blocks that were requested.
    #[serde(default = "four_kib")]
    pub line: Size,
    /// Which line leaves when another needs its place.
    #[serde(default)]
    pub policy: ReplacementChoice,
    /// The write policy.
    #[serde(default)]
    pub write_policy: WritePolicySpec,
    /// Which lines that miss get a place.
    #[serde(default)]
    pub admission: AdmissionSpec,
    /// When a read that misses is complete.
    #[serde(default)]
    pub promotion: Promotion,
    /// When dirty lines are written back, and which first.
    #[serde(default)]
    pub cleaning: CleaningSpec,
    /// Whether the cache device keeps which dirty blocks it has.
    #[serde(default)]
    pub metadata: MetadataSpec,
    /// The contents of the cache at the start. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialSpec>,
    /// How the cache changes in mid-run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event: Vec<EventSpec>,
    /// Which sequential streams pass the cache by; left out, none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass: Option<BypassSpec>,
}

/// When a read that misses is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "TierPromotion")]
pub enum Promotion {
    /// When the backing device's data are there; what is promoted goes to the cache device afterwards.
    #[default]
    Behind,
    /// When what is promoted is on the cache device.
    Waited,
}

fn four_kib() -> Size {
    Size::from_blocks(8)
}

impl<D: AnyDevice> TierSpec<D> {
    /// The changes in mid-run, and the most lines that the cache, which begins with `lines`, ever has.
    fn changes(
        &self,
        lines: u32,
        (cache, backing): (u64, u64),
        site: &Site<'_>,
        tree: &mut DeviceTree,
    ) -> Result<(Vec<Change>, u32), Error> {
        let mut most = lines;
        let changes = self.event.iter().enumerate().map(|(number, event)| {
            let to = match event.kind {
                EventKind::Remove => ChangeTo::Removed,
                EventKind::Attach => ChangeTo::Attached,
                EventKind::Resize(size) => {
                    let locate =
                        |error| site.locate(&format!("event[{number}].kind.resize"), error);
                    let lines = self.lines(Some(size), cache, backing);
                    let (lines, per_line) = lines.map_err(|(_, error)| locate(error))?;
                    most = most.max(lines);
                    let map = self.map((lines, per_line), backing, site, tree)?;
                    let cleaning = self.cleaning.build(u64::from(lines) * u64::from(per_line));
                    let cleaning = cleaning.map_err(|error| locate(error.into()))?;
                    ChangeTo::Resized(Box::new(map), cleaning)
                }
            };
            Ok::<_, Error>(Change { at: event.at, to })
        });
        let changes = changes.collect::<Result<_, _>>()?;
        Ok((changes, most))
    }

    /// How the table of dirty blocks is kept, if it is.
    fn table(
        &self,
        (lines, per_line): (u32, u32),
        promise: Promise,
        site: &Site<'_>,
    ) -> Result<Option<TableRules>, Error> {
        let Some(rules) = self.metadata.build() else {
            return Ok(None);
        };
        let is_volatile = promise != Promise::Durable;
        let area = Area::behind(lines.into(), per_line);
        let recovery = site.run.loses_power.then(|| {
            let mut alone = DeviceTree::default();
            let prefix = format!("{}.cache.", site.path);
            (self.cache).build_below(site, &prefix, &Spindles::alone(), &mut alone)?;
            time_to_read(alone.devices, area)
        });
        Ok(Some(TableRules {
            area,
            writes_wait: match rules.commit {
                Some(commit) => commit == CommitWith::Writes,
                None => !is_volatile,
            },
            is_volatile,
            interval: rules.interval,
            recovery: recovery.transpose()?,
        }))
    }
}

impl<D: AnyDevice> DeviceKind for TierSpec<D> {
    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error> {
        let around = Spindles::alone();
        let mut child = |device: &D, role: &str| {
            let prefix = format!("{}.{role}.", site.path);
            let built = device.build_below(site, &prefix, &around, tree)?;
            Ok::<_, Error>(Child {
                device: built.id,
                blocks: tree.get(built.id).blocks(),
                promise: tree.get(built.id).promise(),
            })
        };
        let (cache, backing) = (
            child(&self.cache, "cache")?,
            child(&self.backing, "backing")?,
        );
        let locate = |(key, error)| site.locate(key, error);
        let (lines, per_line) = self
            .lines(self.size, cache.blocks, backing.blocks)
            .map_err(locate)?;
        let map = self.map((lines, per_line), backing.blocks, site, tree)?;
        let (changes, most) = self.changes(lines, (cache.blocks, backing.blocks), site, tree)?;
        let table = self.table((most, per_line), cache.promise, site)?;
        let cleaning = self.cleaning.build(u64::from(lines) * u64::from(per_line));
        let streams = self.bypass.as_ref().map(BypassSpec::build).transpose();
        let admission = self.admission.build(lines);
        let parts = TierParts {
            rules: self.write_policy.build(),
            waits_for_promotion: self.promotion == Promotion::Waited,
            admission: admission.map_err(|error| site.locate("admission", error))?,
            streams: streams.map_err(|error| site.locate("bypass.streams", error))?,
            cleaning: cleaning.map_err(|error| site.locate("cleaning", error))?,
            table,
            changes,
        };
        let mut tier = Tier::new(cache, backing, map, parts);
        if let Some(initial) = &self.initial {
            initial.warm(&mut tier, site)?;
        }
        Ok(Built {
            id: tree.add(site.path, Box::new(tier)),
            rotation: None,
        })
    }

    fn fill_in(&mut self, _around: &Spindles) {
        let around = Spindles::alone();
        self.cache.fill_in(&around);
        self.backing.fill_in(&around);
    }

    fn draws_spindles(&self, _around: &Spindles) -> bool {
        let around = Spindles::alone();
        self.cache.draws_spindles(&around) || self.backing.draws_spindles(&around)
    }
}
