//! Units of writes in the controller's memory, and the pages that they fill.

use super::model::{Entry, Model, Page};
use super::operations::Work;

impl Model<'_> {
    /// The units of a write enter.
    pub fn enter(&mut self, request: usize) {
        for unit in self.units_of(request) {
            let is_first = self.first_entry(unit).is_none();
            let is_whole = self.covered(request, unit) == self.drive().unit_blocks;
            self.missing[request] += 1;
            self.entries.push(Entry {
                unit,
                is_whole,
                request,
                is_over: false,
            });
            if is_first {
                self.becomes_ready(self.entries.len() - 1);
            }
        }
        self.forms_pages = true;
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

    fn becomes_ready(&mut self, entry: usize) {
        let group = self.drive().group_of(self.entries[entry].unit);
        self.ready[group].push(entry);
    }

    /// Ready entries are put on pages, the lowest list first.
    pub fn form_pages(&mut self) {
        if !std::mem::take(&mut self.forms_pages) {
            return;
        }
        for group in 0..self.ready.len() {
            let ready = std::mem::take(&mut self.ready[group]);
            for entries in ready.chunks(self.drive().units) {
                self.form_page(group, entries.to_vec());
            }
        }
    }

    fn form_page(&mut self, group: usize, entries: Vec<usize>) {
        let number = self.pages.len();
        let partial = entries.iter().map(|&entry| &self.entries[entry]);
        let partial = partial.filter(|entry| !entry.is_whole && self.map[entry.unit].is_some());
        let units: Vec<usize> = partial.map(|entry| entry.unit).collect();
        self.pages.push(Page {
            group,
            entries,
            merges: units.len(),
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
        let plane = self.next_plane(self.pages[page].group);
        self.send_page(page, plane);
    }

    pub fn send_page(&mut self, page: usize, plane: usize) {
        self.planes[plane].expected += self.pages[page].entries.len();
        self.pages[page].plane = Some(plane);
        let worker = self.drive().worker_of(plane);
        self.workers[worker].programs.push(page);
    }

    pub fn has_room(&self, plane: usize) -> bool {
        self.planes[plane].valid() + self.planes[plane].expected < self.drive().limit()
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
        let (request, unit) = (self.entries[entry].request, self.entries[entry].unit);
        self.missing[request] -= 1;
        if self.missing[request] == 0 {
            self.done(request);
        }
        if let Some(next) = self.first_entry(unit) {
            self.becomes_ready(next);
        }
        self.forms_pages = true;
    }
}
