//! What a spec and a drive's file say of a map of blocks, checked against all that has no meaning with one.

use super::drive::{MapScheme, MappingDescription, SsdDescription};
use super::logged::Logged;
use super::refusal::Refusal;
use super::spec::SsdSpec;
use crate::base::error::InputError;
use crate::models::flash::allocation::Allocation;
use crate::models::flash::geometry::Geometry;
use crate::models::flash::log_blocks::{LogBlocks, LogRules, LogScheme, LogVictim};
use crate::models::flash::separation::SeparationSpec;

/// Log blocks of a plane unless said: the sequential one of FAST and one besides.
const LOG_BLOCKS: u32 = 2;

impl MapScheme {
    /// Where pages go that are written again; `None` of a map of pages.
    fn logged(self) -> Option<LogScheme> {
        match self {
            MapScheme::Page => None,
            MapScheme::Block => Some(LogScheme::Block),
            MapScheme::Bast => Some(LogScheme::Bast),
            MapScheme::Fast => Some(LogScheme::Fast),
        }
    }

    /// Its name in a spec.
    fn name(self) -> &'static str {
        match self {
            MapScheme::Page => "page",
            MapScheme::Block => "block",
            MapScheme::Bast => "bast",
            MapScheme::Fast => "fast",
        }
    }
}

/// The block map of a drive with this number of the host's units; `None` for a drive with a page map.
///
/// # Errors
/// What has no meaning with one.
pub(super) fn logged(
    spec: &SsdSpec,
    drive: &SsdDescription,
    units: u32,
    geometry: &Geometry,
    allocation: &Allocation,
) -> Result<Option<Box<Logged>>, Refusal> {
    let Some(mapping) = drive.mapping else {
        return Ok(None);
    };
    let Some(scheme) = mapping.scheme.logged() else {
        return Ok(None);
    };
    check_others(spec, drive, geometry, mapping.scheme)?;
    let rules = rules(&mapping, scheme).map_err(|error| ("mapping", error.into()))?;
    let order = (0..allocation.groups()).map(|group| allocation.plane(group, 0));
    Ok(Some(Box::new(Logged {
        blocks: LogBlocks::new(rules, geometry.pages, units, order.collect()),
        scheme,
    })))
}

fn rules(mapping: &MappingDescription, scheme: LogScheme) -> Result<LogRules, InputError> {
    let unless_said = match scheme {
        LogScheme::Block => 1,
        _ => LOG_BLOCKS,
    };
    let logs = mapping.log_blocks.unwrap_or(unless_said);
    let least = match scheme {
        LogScheme::Fast => 2,
        _ => 1,
    };
    let name = mapping.scheme.name();
    if logs < least {
        let error = InputError::new(format!("scheme = \"{name}\" with log_blocks = {logs}"));
        let help = match scheme {
            LogScheme::Fast => "accepted: 2 or more: one for sequential writes, and one for others",
            _ => "accepted: 1 or more",
        };
        return Err(error.help(help));
    }
    if mapping.cache.is_some() {
        let error = InputError::new(format!("a cached map, and scheme = \"{name}\""));
        return Err(error.help("a map of blocks is so small that all of it is in memory: no cache"));
    }
    let victim = mapping.victim.unwrap_or_default();
    if scheme == LogScheme::Fast && victim == LogVictim::Lru {
        let error = InputError::new("scheme = \"fast\" with victim = \"lru\"");
        let help = "accepted: fifo: log blocks of all writes are written one after another, so the one begun first was written least recently";
        return Err(error.help(help));
    }
    Ok(LogRules {
        scheme,
        logs,
        victim,
    })
}

/// Refuses what needs a map of pages.
fn check_others(
    spec: &SsdSpec,
    drive: &SsdDescription,
    geometry: &Geometry,
    scheme: MapScheme,
) -> Result<(), Refusal> {
    let single = matches!(drive.allocation.separation, SeparationSpec::SingleStream(_));
    let faults = [
        (
            geometry.units > 1,
            "flash",
            "units smaller than a page",
            "log blocks hold whole pages: leave flash.unit out, or give it the size of a page",
        ),
        (
            drive.allocation.fixed != 4,
            "allocation",
            "pages whose planes are chosen when they are written",
            "a page has its own place in its block: allocation.fixed = 4",
        ),
        (
            !single,
            "allocation",
            "streams of the host in blocks of their own",
            "the number of a page decides in which block it is: separation = \"single-stream\"",
        ),
        (
            drive.slc.is_some(),
            "slc",
            "an SLC cache",
            "a page of a block in SLC mode is not at its place in a native block: no slc",
        ),
        (
            drive.failures.is_some(),
            "failures",
            "programs and erases that fail",
            "a page of a block that failed cannot be written elsewhere: no failures",
        ),
        (
            drive.recovery.is_some(),
            "recovery",
            "checkpoints of the map",
            "a map of blocks is found by one page of each block: no recovery",
        ),
        (
            drive.reads_allocate,
            "reads_allocate",
            "reads that give pages their places",
            "the number of a page decides where it is: reads_allocate = false",
        ),
        (
            spec.cleaning.is_some(),
            "cleaning",
            "cleaning",
            "blocks are freed by merges of log blocks: mapping.log_blocks and mapping.victim in place of cleaning",
        ),
    ];
    let fault = faults.into_iter().find(|(is_there, ..)| *is_there);
    let Some((_, key, what, help)) = fault else {
        return Ok(());
    };
    let error = InputError::new(format!("{what}, and scheme = \"{}\"", scheme.name()));
    Err((key, error.help(help).into()))
}

impl super::Ssd {
    /// Refuses a drive whose planes do not have the blocks that its map takes.
    pub(super) fn check_logs(&self, log: &Logged) -> Result<(), Refusal> {
        for plane in 0..self.geometry.all_planes() {
            let (usable, needed) = (self.blocks.usable_of(plane), log.blocks.needed(plane));
            if usable < needed {
                let logs = log.blocks.logs();
                let error = InputError::new(format!(
                    "a plane of {usable} usable blocks for {} of data, {logs} log blocks and one to merge into",
                    needed - logs - 1
                ));
                let help = "more spare flash ([device.….spare]), more blocks a plane, fewer bad or reserved ones, fewer mapping.log_blocks";
                return Err(("spare", error.help(help).into()));
            }
        }
        Ok(())
    }
}
