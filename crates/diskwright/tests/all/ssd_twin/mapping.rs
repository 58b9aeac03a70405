//! The cached map.

use std::collections::BTreeSet;

use diskwright::engine::request::Op;

use super::model::{Entry, Load, Model};
use super::operations::Work;

impl Model<'_> {
    /// A request is in the controller: it looks up its map units.
    pub fn arrives(&mut self, request: usize) {
        let op = self.asked(request).op;
        if self.drive().map_cache.is_none() || op == Op::Flush {
            self.mapped(request);
            return;
        }
        let entries = self.drive().map_entries();
        let mut numbers: Vec<usize> = self.units_of(request).map(|unit| unit / entries).collect();
        numbers.dedup();
        for number in numbers {
            self.look_up(number, op != Op::Read, Some(request));
        }
        if !self.waits_for_map(request) {
            self.mapped(request);
        }
    }

    fn waits_for_map(&self, request: usize) -> bool {
        let mut loads = self.loads.iter();
        loads.any(|load| !load.is_over && load.waiting.contains(&request))
    }

    /// A block has been cleaned: the map units of what has moved are changed, each once.
    pub fn changes_map(&mut self, units: Vec<usize>) {
        if self.drive().map_cache.is_none() {
            return;
        }
        let (host, entries) = (self.drive().host_units(), self.drive().map_entries());
        let of_host = units.into_iter().filter(|&unit| unit < host);
        let numbers: BTreeSet<usize> = of_host.map(|unit| unit / entries).collect();
        for number in numbers {
            self.look_up(number, true, None);
        }
    }

    fn look_up(&mut self, number: usize, changes: bool, request: Option<usize>) {
        self.look_ups += 1;
        let unit = self.drive().host_units() + number;
        if let Some(at) = self
            .in_memory
            .iter()
            .position(|&(other, _)| other == number)
        {
            let (_, changed) = self.in_memory.remove(at);
            self.in_memory.insert(0, (number, changed || changes));
            let mut loads = self.loads.iter_mut().rev();
            let last = loads.find(|load| load.number == number && !load.is_over);
            if let Some(load) = last {
                load.waiting.extend(request);
            }
            return;
        }
        self.misses += 1;
        if Some(self.in_memory.len()) == self.drive().map_cache
            && let Some((leaves, true)) = self.in_memory.pop()
        {
            self.write_map_unit(leaves);
        }
        self.in_memory.insert(0, (number, changes));
        if self.is_held(unit) || self.map[unit].is_none() {
            return;
        }
        self.loads.push(Load {
            number,
            waiting: request.into_iter().collect(),
            is_over: false,
        });
        let load = self.loads.len() - 1;
        self.queue_read(Work::MapRead { load }, vec![unit], None);
    }

    fn write_map_unit(&mut self, number: usize) {
        let unit = self.drive().host_units() + number;
        let mut entries = self.entries.iter();
        let last = entries.rfind(|entry| entry.unit == unit && !entry.is_over);
        if last.is_some_and(|last| !last.has_begun) {
            return;
        }
        let is_first = last.is_none();
        self.entries.push(Entry {
            unit,
            from: 0,
            until: self.drive().unit_blocks,
            written_by: 0,
            request: None,
            ready_at: 0,
            has_begun: false,
            is_over: false,
        });
        if is_first {
            self.becomes_ready(self.entries.len() - 1);
        }
    }

    pub fn map_read_is_over(&mut self, load: usize) {
        self.loads[load].is_over = true;
        for request in self.loads[load].waiting.clone() {
            if !self.waits_for_map(request) {
                self.mapped(request);
            }
        }
    }
}
