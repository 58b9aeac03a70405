//! Pages that are put on the drive in no time: at the start, and for reads of what was never written.

use super::model::Model;
use super::workers::Writer;

impl Model<'_> {
    /// The part of the drive that was written in order.
    pub fn fill(&mut self) {
        let share = self.drive().fill as f64 / 100.0;
        let host_units = self.drive().host_units();
        let filled = libm::round(host_units as f64 * share) as usize;
        let of_map = self
            .drive()
            .map_cache
            .map_or(0, |_| filled.div_ceil(self.drive().map_entries()));
        let mut lists: Vec<Vec<usize>> = vec![Vec::new(); self.drive().groups()];
        for unit in (0..filled).chain(host_units..host_units + of_map) {
            let group = self.drive().group_of(unit);
            lists[group].push(unit);
            if lists[group].len() == self.drive().units {
                let units = std::mem::take(&mut lists[group]);
                self.put_page(group, &units);
            }
        }
        for (group, units) in lists.iter().enumerate() {
            if !units.is_empty() {
                self.put_page(group, units);
            }
        }
        self.forget_openings();
    }

    /// What is on the drive was written before the run.
    fn forget_openings(&mut self) {
        let blocks = self.planes.iter_mut().flat_map(|plane| &mut plane.blocks);
        blocks.for_each(|block| block.opened = None);
    }

    fn put_page(&mut self, group: usize, units: &[usize]) {
        if self.drive().parity.is_some() {
            return self.put_in_set(units);
        }
        if self.drive().log.is_some() {
            return self.put_logged(units[0]);
        }
        let plane = self.next_plane(group);
        self.put_on(plane, units);
    }

    fn put_on(&mut self, plane: usize, units: &[usize]) {
        let last = self.drive().streams() - 1;
        self.put_with(plane, Writer::Host(last), units);
    }

    fn put_with(&mut self, plane: usize, writer: Writer, units: &[usize]) {
        let (block, page) = self.next_page(plane, writer).expect("it has room");
        self.put_all((plane, block, page), units.iter().copied());
        self.seal_if_full(plane, block, page);
        self.program_ends((plane, block, page));
    }

    /// A unit that was never written is put on the next page of its plane, if there is one: no last page of a block beside an operation, and no
    /// block that cleaning needs.
    pub fn put_at_once(&mut self, unit: usize) {
        let plane = self.next_plane(self.drive().group_of(unit));
        let its = &self.planes[plane];
        let begun = its.host[0].map_or(0, |block| its.blocks[block].begun);
        let worker = self.drive().worker_of(plane);
        if begun + 1 == self.drive().pages && self.workers[worker].running.is_some() {
            return;
        }
        let may_be_filled = match its.host[0] {
            Some(_) => !self.is_left_to_cleaning(plane, 0),
            None => self.may_open(plane),
        };
        if may_be_filled {
            self.put_with(plane, Writer::Host(0), &[unit]);
        }
    }
}
