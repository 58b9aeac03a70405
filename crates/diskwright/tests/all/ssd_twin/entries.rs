//! Units of writes in the controller's memory, and the pages that they fill.

use super::model::{Entry, Event, Model, Page, Programming};
use super::operations::Work;

impl Model<'_> {
    /// Whether a write waits until it is on flash.
    fn waits_for_flash(&self, request: usize) -> bool {
        let buffer = self.drive().buffer;
        buffer.is_none_or(|buffer| self.asked(request).fua && !buffer.has_capacitor)
    }

    /// The units of a write enter, behind those of writes before it.
    pub fn write(&mut self, request: usize) {
        if self.drive().buffer.is_some() && self.waits_for_flash(request) {
            self.urgent.push(request);
        }
        self.entering.push((request, self.units_of(request).start));
        self.enter();
    }

    /// Writes enter as far as there is room.
    pub fn enter(&mut self) {
        while let Some(&(request, from)) = self.entering.first() {
            for unit in from..self.units_of(request).end {
                if !self.enters(request, unit) {
                    self.entering[0].1 = unit;
                    return;
                }
            }
            self.entering.remove(0);
            self.done_if_nothing_is_missing(request);
        }
    }

    /// A unit of a write enters, if there is room.
    fn enters(&mut self, request: usize, unit: usize) -> bool {
        let part = self.part_of(request, unit);
        let waits = self.waits_for_flash(request);
        let last = self
            .entries
            .iter_mut()
            .rfind(|entry| entry.unit == unit && !entry.is_over);
        if let Some(last) = last
            && !waits
            && last.request.is_none()
            && !last.has_begun
            && part.start <= last.until
            && last.from <= part.end
        {
            (last.from, last.until) = (last.from.min(part.start), last.until.max(part.end));
            return true;
        }
        let held = self.entries.iter().filter(|entry| !entry.is_over).count();
        if self
            .drive()
            .buffer
            .is_some_and(|buffer| held >= buffer.entries)
        {
            return false;
        }
        let is_first = !self.is_held(unit);
        self.missing[request] += usize::from(waits);
        self.entries.push(Entry {
            unit,
            from: part.start,
            until: part.end,
            written_by: self.asked(request).blocks,
            request: waits.then_some(request),
            ready_at: 0,
            has_begun: false,
            is_over: false,
        });
        if is_first {
            self.becomes_ready(self.entries.len() - 1);
        }
        true
    }

    /// A write that has entered is done when no entry is missing.
    fn done_if_nothing_is_missing(&mut self, request: usize) {
        let is_entering = self.entering.iter().any(|&(other, _)| other == request);
        if self.missing[request] == 0 && !is_entering {
            self.urgent.retain(|&other| other != request);
            self.done(request);
        }
    }

    /// A flush is done when all that is in memory is on flash, unless that survives a power cut.
    pub fn flush(&mut self, request: usize) {
        let waits = self
            .drive()
            .buffer
            .is_some_and(|buffer| !buffer.has_capacitor);
        let all = 0..self.entries.len();
        let held: Vec<usize> = all.filter(|&entry| !self.entries[entry].is_over).collect();
        if waits && !held.is_empty() {
            self.flushes.push((request, held));
        } else {
            self.done(request);
        }
    }

    /// Whether all blocks that a request wants of a unit are in the buffer.
    pub fn is_buffered(&self, request: usize, unit: usize) -> bool {
        let of_unit =
            || { self.entries.iter() }.filter(|entry| entry.unit == unit && !entry.is_over);
        self.drive().buffer.is_some()
            && self
                .part_of(request, unit)
                .all(|block| of_unit().any(|entry| (entry.from..entry.until).contains(&block)))
    }

    /// Whether a unit has entries.
    pub fn is_held(&self, unit: usize) -> bool {
        self.first_entry(unit).is_some()
    }

    /// The entry of a unit that came first.
    fn first_entry(&self, unit: usize) -> Option<usize> {
        let mut its = self.entries.iter();
        its.position(|entry| entry.unit == unit && !entry.is_over)
    }

    pub fn becomes_ready(&mut self, entry: usize) {
        self.entries[entry].ready_at = self.now;
        let Entry {
            unit, written_by, ..
        } = self.entries[entry];
        let stream = self.stream_of(unit, written_by);
        let list = self.drive().group_of(unit) * self.drive().streams() + stream;
        self.ready[list].push(entry);
    }

    /// Ready entries are put on pages, the lowest list first.
    pub fn form_pages(&mut self) {
        let forms_all =
            self.drive().buffer.is_none() || !self.urgent.is_empty() || !self.flushes.is_empty();
        for list in 0..self.ready.len() {
            while self.ready[list].len() >= self.drive().units
                || forms_all && !self.ready[list].is_empty()
            {
                self.form_page(list);
            }
            if let (Some(buffer), Some(&first)) = (self.drive().buffer, self.ready[list].first()) {
                let until = self.entries[first].ready_at + buffer.hold;
                let is_foreseen =
                    |&(at, ref event): &(u64, Event)| at == until && matches!(event, Event::Held);
                if until > self.now && !self.events.iter().any(is_foreseen) {
                    self.events.push((until, Event::Held));
                }
            }
        }
        if !self.entering.is_empty() && self.pages.iter().all(|page| page.is_over) {
            let lists = 0..self.ready.len();
            let fullest = lists.rev().max_by_key(|&list| self.ready[list].len());
            if let Some(list) = fullest.filter(|&list| !self.ready[list].is_empty()) {
                self.form_page(list);
            }
        }
    }

    /// Forms pages of entries of which the first has been ready for long enough.
    pub fn held_long_enough(&mut self) {
        let hold = self.drive().buffer.map_or(0, |buffer| buffer.hold);
        for list in 0..self.ready.len() {
            let first = self.ready[list].first();
            if first.is_some_and(|&first| self.entries[first].ready_at + hold <= self.now) {
                self.form_page(list);
            }
        }
    }

    /// Puts the first entries of a list on a page.
    fn form_page(&mut self, list: usize) {
        let number = self.pages.len();
        let most = self.ready[list].len().min(self.drive().units);
        let entries: Vec<usize> = self.ready[list].drain(..most).collect();
        let partial = entries
            .iter()
            .map(|&entry| &self.entries[entry])
            .filter(|entry| {
                entry.until - entry.from < self.drive().unit_blocks
                    && self.map[entry.unit].is_some()
            });
        let units: Vec<usize> = partial.map(|entry| entry.unit).collect();
        let streams = self.drive().streams();
        self.pages.push(Page {
            group: list / streams,
            stream: list % streams,
            entries,
            merges: units.len(),
            is_over: false,
            plane: None,
        });
        self.merged_units += units.len() as u64;
        for &unit in &units {
            self.queue_read(Work::Merge { page: number }, vec![unit], None);
        }
        if units.is_empty() {
            self.page_is_whole(number);
        }
    }

    pub fn merge_is_over(&mut self, page: usize) {
        self.pages[page].merges -= 1;
        if self.pages[page].merges == 0 {
            self.page_is_whole(page);
        }
    }

    /// The plane of a page is chosen, and it joins the programs of its worker.
    fn page_is_whole(&mut self, page: usize) {
        if self.drive().parity.is_some() {
            return self.page_to_set(page);
        }
        let plane = self.next_plane(self.pages[page].group);
        self.send_page(page, plane);
    }

    pub fn send_page(&mut self, page: usize, plane: usize) {
        self.planes[plane].expected += self.pages[page].entries.len();
        self.pages[page].plane = Some(plane);
        let worker = self.drive().worker_of(plane);
        self.workers[worker].programs.push(Programming::Page(page));
    }

    pub fn has_room(&self, plane: usize) -> bool {
        let its = &self.planes[plane];
        its.valid() + its.expected < self.drive().limit(its.usable())
    }

    /// The next plane of a group in turn, one with room if there is any; the turn goes on behind it.
    pub fn next_plane(&mut self, group: usize) -> usize {
        let planes = self.drive().group_planes(group);
        let turn = self.turns[group];
        let places = (0..planes.len()).map(|step| (turn + step) % planes.len());
        let with_room = { places }.find(|&place| self.has_room(planes[place]));
        let chosen = with_room.unwrap_or(turn);
        self.turns[group] = (chosen + 1) % planes.len();
        planes[chosen]
    }

    /// An entry's page has been programmed.
    pub fn entry_is_over(&mut self, entry: usize) {
        self.entries[entry].is_over = true;
        let unit = self.entries[entry].unit;
        self.written_map_units += u64::from(unit >= self.drive().host_units());
        if let Some(request) = self.entries[entry].request {
            self.missing[request] -= 1;
            self.done_if_nothing_is_missing(request);
        }
        for (_, entries) in &mut self.flushes {
            entries.retain(|&other| other != entry);
        }
        while let Some(at) = self
            .flushes
            .iter()
            .position(|(_, entries)| entries.is_empty())
        {
            let (request, _) = self.flushes.remove(at);
            self.done(request);
        }
        if let Some(next) = self.first_entry(unit) {
            self.becomes_ready(next);
        }
    }
}
