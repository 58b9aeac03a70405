//! The cached map: map units on flash, of which the controller has some in its memory. Requests wait for those that are not there.

use serde_json::{Value, json};

use super::Ssd;
use super::drive::MappingDescription;
use super::entries::{EntryId, EntryState};
use super::operations::{Action, OpId};
use super::watch::CleaningWatch;
use crate::base::error::InputError;
use crate::base::units::Size;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, RequestId};
use crate::models::flash::geometry::Geometry;
use crate::models::flash::map::Whereabouts;
use crate::models::flash::map_cache::{LookUp, MapCache};

/// Bytes of an entry of the map.
pub(super) const ENTRY_BYTES: u64 = 4;

/// A map unit that is read.
struct Load {
    operation: OpId,
    number: u32,
    /// Requests that wait for it.
    waiting: Vec<RequestId>,
}

/// A map of which the controller has a part in its memory.
pub(super) struct Mapping {
    cache: MapCache,
    /// Units of the host whose entries a map unit holds.
    entries: u32,
    /// Map units that are read for what is in memory, or was.
    loads: Vec<Load>,
    /// Lists of requests that are over, to be used again.
    spare: Vec<Vec<RequestId>>,
    pub counts: MappingCounts,
    /// Whether cleaning gains anything.
    pub watch: CleaningWatch,
}

/// Counts since the warm-up ended.
#[derive(Clone, Copy, Default)]
pub(super) struct MappingCounts {
    look_ups: u64,
    misses: u64,
    reads: u64,
    pub writes: u64,
}

/// The map units of a map of `units` units.
pub(super) fn map_units(units: u32, geometry: &Geometry) -> u32 {
    units.div_ceil(entries_of(geometry))
}

/// Units of which a map unit holds the entries.
fn entries_of(geometry: &Geometry) -> u32 {
    (geometry.unit_bytes() / ENTRY_BYTES) as u32
}

impl MappingDescription {
    /// The cached map of a drive with this number of the host's units; `None` where all of the map is in memory.
    ///
    /// # Errors
    /// Memory for no map unit, log blocks.
    pub(super) fn build(
        &self,
        units: u32,
        geometry: &Geometry,
    ) -> Result<Option<Box<Mapping>>, InputError> {
        let least = Size::from_blocks(geometry.unit_blocks.into());
        if self.log_blocks.is_some() || self.victim.is_some() {
            let error = InputError::new("log blocks of a map of pages");
            return Err(error.help(
                "accepted: log_blocks and victim with scheme = \"block\", \"bast\" or \"fast\"",
            ));
        }
        let Some(cache) = self.cache else {
            return Ok(None);
        };
        let room = cache.blocks() / u64::from(geometry.unit_blocks);
        if room == 0 {
            let error = InputError::new(format!("{cache} of the map in memory"));
            return Err(error.help(format!("accepted: a unit, {least}, or more")));
        }
        let all = map_units(units, geometry);
        Ok(Some(Box::new(Mapping {
            cache: MapCache::new(all, room.min(all.into()) as u32),
            entries: entries_of(geometry),
            loads: Vec::new(),
            spare: Vec::new(),
            counts: MappingCounts::default(),
            watch: CleaningWatch::new(geometry.all_planes()),
        })))
    }
}

impl Mapping {
    /// A list of requests without any.
    fn empty_list(&mut self) -> Vec<RequestId> {
        self.spare.pop().unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        let MappingCounts {
            look_ups,
            misses,
            reads,
            writes,
        } = self.counts;
        json!({ "look_ups": look_ups, "misses": misses, "read_units": reads, "written_units": writes })
    }
}

impl Ssd {
    /// Whether a unit holds a part of the map.
    #[inline]
    pub(super) fn is_of_map(&self, unit: u32) -> bool {
        unit >= self.host_units
    }

    /// Looks up what a request needs of the map, with which it goes on when all of that has been read; whether it can go on at once.
    #[inline(never)]
    pub(super) fn has_mapping(&mut self, request: RequestId, cx: &mut Context<'_>) -> bool {
        let command = self.open[request.0 as usize].command;
        let changes = match command.op {
            Op::Read => false,
            Op::Write | Op::Trim => true,
            _ => return true,
        };
        let Some(numbers) = self.map_units_of(&command) else {
            return true;
        };
        let mut loads = 0;
        for number in numbers {
            loads += u32::from(self.look_up_map(number, changes, Some(request), cx));
        }
        self.open[request.0 as usize].loads = loads;
        loads == 0
    }

    /// The map units with the entries of what a command is about.
    fn map_units_of(&self, command: &Command) -> Option<std::ops::RangeInclusive<u32>> {
        let of = self.mapping.as_ref()?.entries;
        let units = self.units_of(command);
        (!units.is_empty()).then(|| units.start / of..=(units.end - 1) / of)
    }

    /// The map unit with the entry of a unit of the host.
    pub(super) fn map_unit_of(&self, unit: u32) -> Option<u32> {
        let mapping = self.mapping.as_ref()?;
        (!self.is_of_map(unit)).then(|| unit / mapping.entries)
    }

    /// A block has been cleaned: the map units of all that has moved are changed together, each once.
    pub(super) fn units_moved(&mut self, mut numbers: Vec<u32>, cx: &mut Context<'_>) {
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            self.look_up_map(number, true, None, cx);
        }
    }

    /// Looks a map unit up; returns whether the request must wait until it has been read.
    fn look_up_map(
        &mut self,
        number: u32,
        changes: bool,
        request: Option<RequestId>,
        cx: &mut Context<'_>,
    ) -> bool {
        let Some(mapping) = &mut self.mapping else {
            return false;
        };
        mapping.counts.look_ups += 1;
        let LookUp::Brought { changed } = mapping.cache.look_up(number, changes) else {
            // The last one that reads it does so for what is in memory.
            let mut loads = mapping.loads.iter_mut();
            let Some(load) = loads.rfind(|load| load.number == number) else {
                return false;
            };
            load.waiting.extend(request);
            return true;
        };
        mapping.counts.misses += 1;
        if let Some(leaves) = changed {
            self.write_map_unit(leaves, cx);
        }
        let unit = self.host_units + number;
        let Whereabouts::Slot(slot) = self.map.whereabouts(unit) else {
            return false;
        };
        let plane = self.geometry.plane_of(slot);
        let id = self.operations.add(Action::MapRead, plane);
        let read = self.operations.get_mut(id);
        (read.unit, read.from) = (unit, slot);
        if let Some(mapping) = &mut self.mapping {
            let mut waiting = mapping.empty_list();
            waiting.extend(request);
            mapping.loads.push(Load {
                operation: id,
                number,
                waiting,
            });
        }
        self.enqueue(id, cx);
        true
    }

    /// A map unit that has changed leaves the memory: it becomes an entry, or goes into the last one of its own.
    fn write_map_unit(&mut self, number: u32, cx: &mut Context<'_>) {
        let unit = self.host_units + number;
        self.writes.may_form = true;
        if let Whereabouts::Held(oldest) = self.map.whereabouts(unit) {
            let last = self.writes.entries.newest(EntryId(oldest));
            if self.writes.entries.get(last).state != EntryState::Begun {
                return;
            }
        }
        let whole = (0, self.geometry.unit_blocks);
        self.add_entry(unit, whole, self.geometry.unit_blocks, cx.now());
    }

    /// A map unit has been read: requests that have waited for it alone go on.
    #[inline(never)]
    pub(super) fn map_read_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        self.operations.remove(id);
        let Some(mapping) = &mut self.mapping else {
            return;
        };
        mapping.counts.reads += 1;
        let place = mapping.loads.iter().position(|load| load.operation == id);
        let Load { mut waiting, .. } = mapping.loads.remove(place.expect("it was begun"));
        for request in waiting.drain(..) {
            let open = &mut self.open[request.0 as usize];
            open.loads -= 1;
            if open.loads == 0 {
                self.mapped(request, cx);
            }
        }
        if let Some(mapping) = &mut self.mapping {
            mapping.spare.push(waiting);
        }
    }
}
