//! The course of a request between the host and the flash.

use diskwright::engine::request::Op;

use super::model::{Event, Model};
use super::operations::Work;

impl Model<'_> {
    /// Takes requests while there is room for them.
    pub fn take(&mut self) {
        while !self.sleeps()
            && self.under_way < self.drive().queue_depth
            && let Some(request) = self.fetch()
        {
            self.under_way += 1;
            self.erases_for_itself.fill(0);
            if let Some(link) = self.drive().link {
                self.takes_over_link(request, link);
                continue;
            }
            let mut at = self.now;
            if self.asked(request).op == Op::Write {
                let data = self.link_time(self.asked(request).blocks, false);
                let frames = self.drive().frames;
                self.from_host = self
                    .from_host
                    .max(at + self.drive().start_write + self.write_delay)
                    + frames
                    + data;
                at = self.from_host;
            } else {
                at += self.drive().start_read;
            }
            at += self.drive().mapping;
            if at == self.now {
                self.arrives(request);
            } else {
                self.events.push((at, Event::Mapped(request)));
            }
        }
    }

    /// The time that blocks take on the link, ns.
    pub fn link_time(&self, blocks: u64, to_host: bool) -> u64 {
        if let Some(link) = self.drive().link {
            return link.of_data(blocks * 512, to_host);
        }
        let bytes = (blocks * 512) as f64;
        libm::round(bytes * 1e3 / self.drive().rate as f64) as u64
    }

    /// The units of a request are handled.
    pub fn mapped(&mut self, request: usize) {
        match self.asked(request).op {
            Op::Read => self.read(request),
            Op::Write => self.write(request),
            Op::Trim => self.trim(request),
            Op::Flush => self.flush(request),
            Op::NvCache(command) => command.is_in_no_workload(),
        }
    }

    /// A request other than a read is done.
    pub fn done(&mut self, request: usize) {
        self.done.push(request);
    }

    fn trim(&mut self, request: usize) {
        for unit in self.units_of(request) {
            let is_whole = self.covered(request, unit) == self.drive().unit_blocks;
            if is_whole && !self.is_held(unit) && self.forget(unit) {
                self.trimmed_units += 1;
            }
        }
        self.let_all_in();
        self.done(request);
    }

    fn read(&mut self, request: usize) {
        let units: Vec<usize> = self.units_of(request).collect();
        self.missing[request] = units.len();
        // Blocks that come from no flash.
        let mut at_once = (0, 0);
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for unit in units {
            if self.map[unit].is_none() && !self.is_held(unit) && self.drive().reads_allocate {
                self.put_at_once(unit);
            }
            let Some(place) = self.map[unit].filter(|_| !self.is_buffered(request, unit)) else {
                at_once = (at_once.0 + 1, at_once.1 + self.covered(request, unit));
                continue;
            };
            let last = runs.last_mut();
            let continues = last.filter(|run| {
                let before = run[run.len() - 1];
                let its = self.map[before].expect("it is on flash");
                before + 1 == unit && its.is_on_page_of(&place)
            });
            match continues {
                Some(run) => run.push(unit),
                None => runs.push(vec![unit]),
            }
        }
        if at_once.0 > 0 {
            self.send(request, at_once.0, at_once.1);
        }
        for units in runs {
            self.queue_read(Work::Read { request }, units, None);
        }
    }

    /// Data of a read cross the link behind what was sent before.
    pub fn send(&mut self, request: usize, units: usize, blocks: u64) {
        let time = self.link_time(blocks, true);
        self.crosses(true, time);
        self.missing[request] -= units;
        if self.missing[request] == 0 {
            self.done.push(request);
        }
    }
}
