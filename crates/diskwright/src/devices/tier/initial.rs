//! What a tier's cache holds at the start: put there before time zero, in no time.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Tier;
use super::cleaning::Begins;
use super::work::{Action, Work, WorkLine};
use crate::base::error::{Error, InputError};
use crate::base::units::percent::Percent;
use crate::devices::assembly::{Site, WarmingLoad};
use crate::engine::context::Context;
use crate::engine::device::Device;
use crate::engine::request::{Command, Op};
use crate::models::cache::block_cache::Place;

/// What the cache holds at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "TierInitial")]
pub enum InitialSpec {
    /// Whole lines, by where they are or by how popular they are.
    Rank(RankedLines),
    /// What the requests of this trace leave there, each of which is complete long before the next arrives.
    Trace(#[schemars(extend("format" = "path"))] PathBuf),
    /// The contents after this number of requests of the run's own load, from its first on. The run itself begins with the first request,
    /// too.
    Requests(u64),
}

/// Whole lines by their rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TierRankedLines")]
pub struct RankedLines {
    /// What ranks them.
    pub by: RankedBy,
    /// How many there are: a share of the lines that the cache has.
    pub fill: Percent,
    /// The share of them that is dirty: those that were accessed last. Only with write-back.
    pub dirty: Percent,
}

/// What ranks lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "TierRankedBy")]
pub enum RankedBy {
    /// Where they are: the first ones of the backing device, accessed in ascending order.
    #[default]
    Address,
    /// How popular they are with the run's own load, which has the addresses `zipf`: the most popular ones, that of rank 1 accessed last.
    Popularity,
}

impl Default for RankedLines {
    fn default() -> RankedLines {
        RankedLines {
            by: RankedBy::default(),
            fill: Percent::new(100.0).expect("a percentage"),
            dirty: Percent::default(),
        }
    }
}

impl InitialSpec {
    /// Puts lines into the cache of a tier.
    ///
    /// # Errors
    /// Dirty lines without write-back, a load that is another device's or has no ranks, a trace that cannot be read; with the place.
    pub fn warm(&self, tier: &mut Tier, site: &Site<'_>) -> Result<(), Error> {
        let wrong = |key: &str, message: &str, help: &str| {
            let error = InputError::new(message).help(help);
            Err(site.locate(&format!("initial.{key}"), error))
        };
        let is_root = !site.path.contains('.');
        let capacity = tier.backing.blocks;
        match self {
            InitialSpec::Rank(ranked) => {
                if ranked.dirty > Percent::default() && !tier.absorbs() {
                    return wrong(
                        "rank.dirty",
                        "dirty lines in a cache whose write policy makes none",
                        "write_policy = \"write-back\"",
                    );
                }
                let lines = ranked.fill.of(tier.map.frames().into());
                let dirty = |lines: u64| ranked.dirty.of(lines);
                match ranked.by {
                    RankedBy::Address => tier.hold(0..lines, lines - dirty(lines)),
                    RankedBy::Popularity if !is_root => {
                        return wrong("rank.by", OTHER_LOAD, "by = \"address\"");
                    }
                    RankedBy::Popularity => {
                        let keys = tier.most_popular(lines, site)?;
                        let lines = keys.len() as u64;
                        tier.hold(keys.into_iter(), lines - dirty(lines));
                    }
                }
                Ok(())
            }
            InitialSpec::Requests(_) if !is_root => {
                wrong("requests", OTHER_LOAD, "{ trace = \"FILE\" }")
            }
            InitialSpec::Requests(requests) => {
                let mut left = *requests;
                let load = WarmingLoad::Own;
                let warmed = (site.run.warming)(&load, capacity, &mut |command| {
                    if left > 0 {
                        left -= 1;
                        tier.warm_with(command);
                    }
                    left > 0
                });
                warmed.map_err(|error| site.locate("initial.requests", error))
            }
            InitialSpec::Trace(path) => {
                let load = WarmingLoad::Trace(path);
                let warmed = (site.run.warming)(&load, capacity, &mut |command| {
                    tier.warm_with(command);
                    true
                });
                warmed.map_err(|error| site.locate("initial.trace", error))
            }
        }
    }
}

const OTHER_LOAD: &str = "the run's load goes to another device than this tier";

impl Tier {
    /// The lines with blocks of the load's most popular places, the least popular of them first.
    fn most_popular(&self, lines: u64, site: &Site<'_>) -> Result<Vec<u64>, Error> {
        let per_line = u64::from(self.map.blocks_per_line());
        let all = self.backing.blocks.div_ceil(per_line);
        let mut is_taken = vec![false; all as usize];
        let mut keys = Vec::new();
        let found = (site.run.warming)(&WarmingLoad::Ranks, self.backing.blocks, &mut |command| {
            for piece in self.map.pieces(command.lbn.0, command.blocks) {
                let is_taken = &mut is_taken[piece.key as usize];
                if !*is_taken && (keys.len() as u64) < lines {
                    *is_taken = true;
                    keys.push(piece.key);
                }
            }
            (keys.len() as u64) < lines
        });
        found.map_err(|error| site.locate("initial.rank.by", error))?;
        keys.reverse();
        Ok(keys)
    }

    /// Puts whole lines into the cache, of which the first `clean` ones are clean and the others dirty.
    fn hold(&mut self, keys: impl Iterator<Item = u64>, clean: u64) {
        let per_line = u64::from(self.map.blocks_per_line());
        for (index, key) in (0..).zip(keys) {
            let lbn = key * per_line;
            let blocks = (self.backing.blocks - lbn).min(per_line) as u32;
            let write = index >= clean;
            let place = self.map.access(key, write, &mut self.victims);
            if let (Place::New(frame), Some(piece)) = (place, self.map.pieces(lbn, blocks).next()) {
                self.map.put(frame, &piece, write);
            }
            self.release_victims();
        }
    }

    /// Before the run: what is held is in no count.
    pub(super) fn begin_warm(&mut self, cx: &mut Context<'_>) {
        if self.map.held() == 0 {
            return;
        }
        self.is_warm = true;
        self.measure_from(cx.now());
        if self.map.dirty_lines() > 0 {
            self.host_is_idle(cx);
            self.clean_beyond_marks(cx);
        }
    }

    fn release_victims(&mut self) {
        while let Some(victim) = self.victims.pop() {
            self.map.release(victim);
        }
    }

    /// A request that is complete, with all that follows it, long before another one arrives.
    fn warm_with(&mut self, command: &Command) {
        match command.op {
            Op::Flush if self.keeps_dirty() => return,
            Op::Flush => {}
            Op::Trim => drop(self.map.trim(command.lbn.0, command.blocks, |_, _| {})),
            Op::Read | Op::Write => self.warm_lines(command),
            // A tier has none.
            Op::NvCache(_) => return,
        }
        self.clean_at_once(command.op == Op::Flush);
    }

    fn warm_lines(&mut self, command: &Command) {
        let op = command.op;
        let write = op == Op::Write;
        let streams = self.parts.streams.as_mut();
        let mut work = Work {
            command: *command,
            is_bypassed: streams.is_some_and(|streams| streams.arrives(command)),
            ..Work::default()
        };
        for piece in self.map.pieces(command.lbn.0, command.blocks) {
            let frame = self.map.find(piece.key);
            frame.into_iter().for_each(|frame| self.map.pin(frame));
            work.lines.push(WorkLine {
                piece,
                frame,
                is_new: false,
                is_exclusive: false,
                action: Action::Pass,
                in_memory_of: None,
            });
        }
        let mut lines = std::mem::take(&mut work.lines);
        for line in lines.iter().filter(|line| line.frame.is_some()) {
            self.map.access(line.piece.key, write, &mut self.victims);
        }
        for line in lines.iter_mut().filter(|line| line.frame.is_none()) {
            let key = line.piece.key;
            if self.reason(&work, op).is_some() || !self.parts.admission.accessed(key) {
                self.map.pass(key, write);
            } else if let Place::New(frame) = self.map.access(key, write, &mut self.victims) {
                self.map.pin(frame);
                (line.frame, line.is_new) = (Some(frame), true);
            }
        }
        self.release_victims();
        for line in &lines {
            let Some(frame) = line.frame else { continue };
            match self.action(&work, line) {
                Action::Pass => {}
                Action::Fill => self.map.fill(frame, &line.piece),
                Action::Absorb => self.map.put(frame, &line.piece, true),
                Action::Update => self.map.put(frame, &line.piece, false),
                Action::Drop => self.map.forget(frame, &line.piece),
            }
            self.map.unpin(frame);
            self.map.remove_if_empty(frame);
        }
    }

    /// What is cleaned before the next request arrives: all that is dirty where idleness is a reason, and else down to the low mark.
    fn clean_at_once(&mut self, is_flush: bool) {
        let least = match self.cleaner_rules().map(|rules| rules.begins) {
            _ if is_flush => 0,
            None => return,
            Some(Begins::Always | Begins::When { idle: Some(_), .. }) => 0,
            Some(Begins::When { marks, .. }) => match marks {
                Some((high, low)) if self.map.dirty_blocks() > high => low,
                _ => return,
            },
        };
        while self.map.dirty_blocks() > least {
            let Some((lbn, blocks)) = self.clean_next() else {
                // Without rules, from the first block on.
                match self.map.next_dirty(0, u32::MAX) {
                    Some((lbn, blocks)) => self.map.clean(lbn, blocks),
                    None => return,
                }
                continue;
            };
            self.map.clean(lbn, blocks);
        }
    }
}
