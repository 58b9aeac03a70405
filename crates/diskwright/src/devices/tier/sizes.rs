//! How many lines a cache has, what of a spec makes no cache, and its map, for which there must be memory.

use super::area::most_places;
use super::spec::TierSpec;
use crate::base::error::{Error, InputError};
use crate::base::units::Size;
use crate::devices::assembly::{DeviceTree, Site};
use crate::models::cache::replacement::{ReplacementChoice, Setting, lines_memory};
use crate::models::cache::{BlockCache, MOST_FRAMES, MOST_LINE_BLOCKS};

impl<D> TierSpec<D> {
    /// How many lines the cache has, and how many blocks each.
    ///
    /// # Errors
    /// The key and what is wrong with its value: lines of no size or above 1 MiB, a size that is no whole number of lines, or more than
    /// one of the devices has, a policy that only a run over a whole trace can have.
    pub(super) fn lines(
        &self,
        size: Option<Size>,
        cache: u64,
        backing: u64,
    ) -> Result<(u32, u32), (&'static str, Error)> {
        let wrong = |key, message: String, help: String| {
            Err((key, Error::from(InputError::new(message).help(help))))
        };
        let line = self.line.blocks();
        if !(1..=u64::from(MOST_LINE_BLOCKS)).contains(&line) {
            let help = "accepted: 1 block to 1 MiB, such as \"4 KiB\"".to_owned();
            return wrong("line", format!("lines of {}", self.line), help);
        }
        // Behind the lines the cache device has its metadata.
        let metadata = self.metadata.build().is_some();
        let room = match metadata {
            true => most_places(cache, line as u32) * line,
            false => cache,
        };
        let most = room.min(backing) / line * line;
        let is_given = size.is_some();
        let size = size.map_or(most, Size::blocks);
        if size == 0 {
            let help = format!("accepted: 1 line of {} or more", self.line);
            return wrong(
                if is_given { "size" } else { "line" },
                "a cache without lines".to_owned(),
                help,
            );
        }
        if !size.is_multiple_of(line) {
            let message = format!(
                "a cache of {} is no whole number of lines of {}",
                Size::from_blocks(size),
                self.line
            );
            let help = format!(
                "write a multiple of line, such as \"{} blocks\"",
                (size / line).max(1) * line
            );
            return wrong("size", message, help);
        }
        if size <= cache.min(backing) && size > most {
            let message = format!(
                "a cache of {} and its metadata are larger than the cache device, which has {}",
                Size::from_blocks(size),
                Size::from_blocks(cache)
            );
            let help = format!("accepted: up to \"{most} blocks\", or metadata = \"none\"");
            return wrong("size", message, help);
        }
        for (blocks, role) in [(cache, "cache"), (backing, "backing")] {
            if size > blocks {
                let message = format!(
                    "a cache of {} is larger than the {role} device, which has {}",
                    Size::from_blocks(size),
                    Size::from_blocks(blocks)
                );
                return wrong(
                    "size",
                    message,
                    format!("accepted: up to \"{most} blocks\""),
                );
            }
        }
        let lines = u32::try_from(size / line).unwrap_or(u32::MAX);
        if lines > MOST_FRAMES {
            let message = format!(
                "a cache of {} in lines of {}",
                Size::from_blocks(size),
                self.line
            );
            return wrong("line", message, "accepted: below 2^31 lines".to_owned());
        }
        if let ReplacementChoice::Known(policy) = &self.policy
            && policy.needs_future()
        {
            let message = format!("{:?} must know future requests", policy.name());
            let help = "a simulation does not: `diskwright miss-ratio` has it beside the others";
            return wrong("policy", message, help.to_owned());
        }
        Ok((lines, line as u32))
    }

    /// The map of an empty cache, for which there must be memory.
    pub(super) fn map(
        &self,
        (lines, per_line): (u32, u32),
        backing: u64,
        site: &Site<'_>,
        tree: &mut DeviceTree,
    ) -> Result<BlockCache, Error> {
        let keys = backing.div_ceil(per_line.into());
        let of_policy = match &self.policy {
            ReplacementChoice::Known(policy) => policy.memory(lines, keys),
            ReplacementChoice::Custom(_) => 0,
        };
        let needs = [
            (
                "line",
                lines_memory(lines, per_line, keys),
                format!("a cache of {lines} lines of {}", self.line),
                "write a smaller size, or larger lines",
            ),
            (
                "policy",
                of_policy,
                format!("{:?} for {lines} lines", self.policy.name()),
                "give the policy fewer ghosts or the cache a smaller size",
            ),
            (
                "admission",
                self.admission.memory(lines, keys),
                format!("{:?} for {lines} lines", self.admission.name()),
                "write a smaller number for remembered",
            ),
        ];
        for (key, bytes, what, help) in needs {
            let taken = tree.memory.take(bytes, what, help);
            taken.map_err(|error| site.locate(key, error))?;
        }
        let setting = Setting {
            capacity: lines,
            chance: site.stream(""),
        };
        let policy = site.replacement(&self.policy, "policy", &setting)?;
        Ok(BlockCache::new(lines, per_line, policy))
    }
}
