//! What a drive finds again after a power cut, and how long it looks for it: checkpoints of the map, and the spare areas of pages.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Ssd;
use super::entries::EntryId;
use super::operations::Action;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::context::Context;
use crate::models::flash::blocks::{BlockState, ProgrammedUntil};
use crate::models::flash::map::{NOWHERE, Whereabouts};

/// Bytes of an entry of the map.
const ENTRY_BYTES: u64 = 4;

/// What the spare areas of slots say: which unit is there, and how new it is. Kept with the checker only.
struct SpareAreas {
    units: Vec<u32>,
    versions: Vec<u64>,
}

/// Checkpoints of a drive.
struct Checkpoints {
    /// A checkpoint begins when this number of pages has been programmed since the last one began.
    every: u64,
    programmed: u64,
    /// Parts of the map, each a page of it, that have changed since the last one began.
    changed: Vec<u64>,
    /// Units of such a part.
    units: u32,
    /// Pages of the one under way that are not written, and what was programmed when it began.
    under_way: Option<(u32, ProgrammedUntil)>,
    /// Where in the order of planes the next page of the map goes.
    turn: u32,
    /// Pages of the map that each plane has been given.
    given: Vec<u64>,
}

/// What there is to find after a power cut.
pub(super) struct Recovery {
    spare: Option<SpareAreas>,
    checkpoints: Option<Checkpoints>,
    /// What had been programmed when the last checkpoint that is over began.
    covered: ProgrammedUntil,
    /// After a power cut: where units are, as the spare areas have it, and what it took to find them.
    found: Option<Vec<u32>>,
    report: Option<Value>,
}

impl Recovery {
    /// The recovery of a drive with `units` units and `planes` planes. `checkpoint` is the pages between checkpoints, and the units of a
    /// map page.
    pub fn new(units: u32, checkpoint: Option<(u64, u32)>, planes: u32) -> Recovery {
        let checkpoints = checkpoint.map(|(every, of_part)| Checkpoints {
            every,
            programmed: 0,
            changed: vec![0; units.div_ceil(of_part).div_ceil(64) as usize],
            units: of_part,
            under_way: None,
            turn: 0,
            given: vec![0; planes as usize],
        });
        Recovery {
            spare: None,
            checkpoints,
            covered: ProgrammedUntil::default(),
            found: None,
            report: None,
        }
    }

    /// The place of a unit on flash has changed.
    #[inline]
    pub fn changed(&mut self, unit: u32) {
        if let Some(checkpoints) = &mut self.checkpoints {
            let part = unit / checkpoints.units;
            checkpoints.changed[part as usize / 64] |= 1 << (part % 64);
        }
    }

    /// A slot has been written with a unit, the data of which are of this version.
    #[inline]
    pub fn wrote(&mut self, slot: u32, unit: u32, version: u64) {
        if let Some(spare) = &mut self.spare {
            spare.units[slot as usize] = unit;
            spare.versions[slot as usize] = version;
        }
    }

    /// A slot has been written with what is in another.
    #[inline]
    pub fn copied(&mut self, from: u32, to: u32) {
        if let Some(spare) = &mut self.spare {
            spare.units[to as usize] = spare.units[from as usize];
            spare.versions[to as usize] = spare.versions[from as usize];
        }
    }

    /// Slots have been erased.
    #[inline]
    pub fn erased(&mut self, slots: std::ops::Range<u32>) {
        if let Some(spare) = &mut self.spare {
            spare.units[slots.start as usize..slots.end as usize].fill(NOWHERE);
        }
    }

    /// What it took to recover from a power cut.
    pub fn json(&self) -> Option<&Value> {
        self.report.as_ref()
    }
}

impl Checkpoints {
    /// The parts of the map that have changed, which have not from now on.
    fn take_changed(&mut self) -> Vec<u32> {
        let words = (0..).zip(&self.changed);
        let parts = words.flat_map(|(word, &bits)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| word * 64 + bit)
        });
        let parts = parts.collect();
        self.changed.fill(0);
        parts
    }
}

impl Ssd {
    /// Before the run: what is on the drive is in a checkpoint, and with the checker on the spare areas are kept.
    pub(super) fn prepare_recovery(&mut self, cx: &mut Context<'_>) {
        if let Some(checkpoints) = &mut self.recovery.checkpoints {
            checkpoints.changed.fill(0);
            self.recovery.covered = self.blocks.programmed_until();
        }
        if cx.checker().is_some() {
            let slots = self.geometry.slots() as usize;
            self.recovery.spare = Some(SpareAreas {
                units: vec![NOWHERE; slots],
                versions: vec![0; slots],
            });
            for unit in 0..self.map.units() {
                if let Some(slot) = self.home_of(unit) {
                    self.recovery.wrote(slot, unit, 0);
                }
            }
        }
    }

    /// A page of the host's or of cleaning has been programmed: a checkpoint may be due.
    #[inline]
    pub(super) fn note_programmed(&mut self, cx: &mut Context<'_>) {
        if self.recovery.checkpoints.is_some() {
            self.count_programmed(cx);
        }
    }

    fn count_programmed(&mut self, cx: &mut Context<'_>) {
        let Some(checkpoints) = &mut self.recovery.checkpoints else {
            return;
        };
        checkpoints.programmed += 1;
        let is_due = checkpoints.programmed >= checkpoints.every;
        if !is_due || checkpoints.under_way.is_some() || self.read_only_since.is_some() {
            return;
        }
        checkpoints.programmed = 0;
        let parts = checkpoints.take_changed();
        let count = parts.len() as u32;
        let until = self.blocks.programmed_until();
        if let Some(checkpoints) = &mut self.recovery.checkpoints {
            checkpoints.under_way = Some((count, until));
        }
        for _ in &parts {
            let Some(checkpoints) = &mut self.recovery.checkpoints else {
                return;
            };
            let plane = self.allocation.plane_at(checkpoints.turn);
            checkpoints.turn = (checkpoints.turn + 1) % self.geometry.all_planes();
            let given = &mut checkpoints.given[plane as usize];
            let id = self.operations.add(Action::MapWrite, plane);
            let write = self.operations.get_mut(id);
            let pages = u64::from(self.geometry.pages);
            // The page of its block, and whether the block must be erased first.
            write.unit = (*given % pages) as u32;
            let is_used = *given >= u64::from(self.reserved) * pages;
            write.count = u32::from(is_used && write.unit == 0);
            *given += 1;
            self.enqueue(id, cx);
        }
        if parts.is_empty() {
            self.checkpoint_over();
        }
    }

    /// A page of the map has been written.
    pub(super) fn map_write_over(&mut self) {
        self.counters.map_pages += 1;
        let Some(checkpoints) = &mut self.recovery.checkpoints else {
            return;
        };
        if let Some((left, _)) = &mut checkpoints.under_way {
            *left -= 1;
            if *left == 0 {
                self.checkpoint_over();
            }
        }
    }

    /// The blocks that are being written, and how many pages of each have been begun.
    fn open_blocks(&self) -> BTreeMap<u32, u32> {
        match &self.stripes {
            Some(striped) => striped.superblocks.open_blocks().collect(),
            None => self.blocks.open_blocks().collect(),
        }
    }

    fn checkpoint_over(&mut self) {
        if let Some(checkpoints) = &mut self.recovery.checkpoints
            && let Some((_, covered)) = checkpoints.under_way.take()
        {
            self.recovery.covered = covered;
        }
    }

    /// The power has failed: a capacitor saves what is in the buffer; of all else the drive knows only what is on flash.
    pub(super) fn power_lost(&mut self, cx: &mut Context<'_>) {
        self.recovery.report = Some(self.time_to_recover());
        if let Some(spare) = &self.recovery.spare {
            let mut found: Vec<(u32, u64)> = vec![(NOWHERE, 0); self.map.units() as usize];
            for (slot, (&unit, &version)) in (0..).zip(spare.units.iter().zip(&spare.versions)) {
                if unit != NOWHERE {
                    let entry = &mut found[unit as usize];
                    // Of copies of the same data any will do.
                    if entry.0 == NOWHERE || version >= entry.1 {
                        *entry = (slot, version);
                    }
                }
            }
            self.recovery.found = Some(found.into_iter().map(|(slot, _)| slot).collect());
        }
        if self
            .writes
            .buffer
            .is_some_and(|buffer| buffer.has_capacitor)
        {
            for unit in 0..self.host_units {
                if let Whereabouts::Held(oldest) = self.map.whereabouts(unit) {
                    self.save(unit, EntryId(oldest), cx);
                }
            }
        }
    }

    fn save(&self, unit: u32, oldest: EntryId, cx: &mut Context<'_>) {
        for id in self.writes.entries.of_unit(oldest) {
            let entry = self.writes.entries.get(id);
            let lbn = u64::from(unit) * u64::from(self.geometry.unit_blocks);
            let run = (lbn + u64::from(entry.from), entry.until - entry.from);
            let to = self.lbn_of_saved(id) + u64::from(entry.from);
            if let Some((checker, device)) = cx.checker() {
                checker.drained_to(device, id.0, run, to);
            }
        }
    }

    /// The first block of what a capacitor has saved of an entry, behind all slots.
    fn lbn_of_saved(&self, id: EntryId) -> u64 {
        self.lbn_of_slot(self.geometry.slots())
            + u64::from(id.0) * u64::from(self.geometry.unit_blocks)
    }

    /// Where a block of a unit is, as the checker knows it; after a power cut, where the drive finds it.
    pub(super) fn place_of(&self, unit: u32, block: u32) -> Option<u64> {
        let Some(found) = &self.recovery.found else {
            let home = self.home_of(unit)?;
            return Some(self.lbn_of_slot(home) + u64::from(block));
        };
        if let (Whereabouts::Held(oldest), Some(buffer)) =
            (self.map.whereabouts(unit), self.writes.buffer)
            && buffer.has_capacitor
        {
            let entries = self.writes.entries.of_unit(EntryId(oldest));
            let saved = entries
                .filter(|&id| self.writes.entries.get(id).holds(block))
                .last();
            if let Some(id) = saved {
                return Some(self.lbn_of_saved(id) + u64::from(block));
            }
        }
        let slot = found[unit as usize];
        (slot != NOWHERE).then(|| self.lbn_of_slot(slot) + u64::from(block))
    }

    /// How long it takes to read the map of the last checkpoint, and the spare areas of what was programmed since.
    fn time_to_recover(&self) -> Value {
        let workers = self.workers.len() as u64;
        let map_bytes = u64::from(self.map.units()) * ENTRY_BYTES;
        let page_blocks = self.geometry.unit_blocks * self.geometry.units;
        let map_pages = match &self.recovery.checkpoints {
            Some(_) => map_bytes.div_ceil(u64::from(page_blocks) * BLOCK_BYTES),
            None => 0,
        };
        let mut scanned = vec![0u64; self.workers.len()];
        let of_logged = self.log.iter().flat_map(|log| log.blocks.to_scan());
        for (block, pages) in of_logged {
            let worker = self.worker_of(block / self.geometry.blocks);
            scanned[worker as usize] += u64::from(pages);
        }
        let open = self.open_blocks();
        for (block, state) in (0..).zip(self.blocks.all()) {
            let is_left_out = matches!(
                state.state,
                BlockState::Free | BlockState::Bad | BlockState::Retired
            );
            if self.log.is_some() || is_left_out {
                continue;
            }
            let now = open.get(&block).copied();
            let covered = &self.recovery.covered;
            let pages = self.blocks.programmed_since(block, now, covered);
            let is_whole = !matches!(state.state, BlockState::Open | BlockState::Retiring);
            let has_summary = is_whole && self.timing.summary > Time::ZERO;
            let worker = self.worker_of(block / self.geometry.blocks);
            scanned[worker as usize] += match has_summary {
                true => u64::from(pages.min(1)),
                false => u64::from(pages),
            };
        }
        let command = self.timing.read_command;
        let array = self.timing.read_time(0, false);
        let of_map = self.timing.transfer(page_blocks);
        let of_spare = self.timing.transfer(1);
        let times = |pages: u64, time: Time| Time::from_ns(time.ns() * pages);
        let share = map_pages.div_ceil(workers);
        let of_worker = |scanned: u64| {
            times(share, command + array + of_map) + times(scanned, command + array + of_spare)
        };
        let slowest = scanned.iter().map(|&pages| of_worker(pages)).max();
        let of_channel = scanned.chunks(self.workers_of_channel as usize).map(|of| {
            let map = times(share * of.len() as u64, command + of_map);
            map + times(of.iter().sum(), command + of_spare)
        });
        let time = of_channel.chain(slowest).max().unwrap_or(Time::ZERO);
        json!({
            "map_pages": map_pages,
            "scanned_pages": scanned.iter().sum::<u64>(),
            "s": time.s(),
        })
    }
}
