//! Workers and channels: which operation begins, and what comes after each of its steps.

use super::blocks::{Place, State};
use super::model::{Event, Model, Programming};
use super::operations::{Reading, Running, Step, Work};
use super::parity::Target;

/// Who writes a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// A stream of the host.
    Host(usize),
    Slc,
    Cleaning,
}

impl Model<'_> {
    /// A read or a merge joins the queue of the worker that has its first unit, or had it before the unit was trimmed.
    pub fn queue_read(&mut self, work: Work, units: Vec<usize>, before: Option<Place>) {
        let at = self.map[units[0]].or(before).expect("it was on flash");
        let worker = self.drive().worker_of(at.plane);
        self.has_changed = true;
        self.workers[worker].reads.push(Reading { work, units, at });
    }

    /// Every free channel carries something, the lowest first, until nothing more can begin.
    pub fn look_at_channels(&mut self) {
        loop {
            let mut channels = 0..self.channels.len();
            if !channels.any(|channel| self.channels[channel] <= self.now && self.look_at(channel))
            {
                return;
            }
        }
    }

    /// A free channel carries something, if it can; whether it has, or a queue has changed.
    fn look_at(&mut self, channel: usize) -> bool {
        self.has_changed = false;
        let all = 0..self.workers.len();
        let own: Vec<usize> = all
            .filter(|&w| self.drive().channel_of(w) == channel)
            .collect();
        let since = |worker: usize| {
            let running = self.workers[worker].running.as_ref()?;
            Some((running.waits_since?, running.carried, worker))
        };
        if let Some((.., worker)) = own.iter().filter_map(|&worker| since(worker)).min() {
            self.carry(channel, worker);
            return true;
        }
        let last = self.began_last[channel].and_then(|last| own.iter().position(|&w| w == last));
        let first = last.map_or(0, |place| place + 1);
        for step in 0..own.len() {
            let worker = own[(first + step) % own.len()];
            if self.workers[worker].running.is_none() && self.begin(worker) {
                self.began_last[channel] = Some(worker);
                self.carry(channel, worker);
                return true;
            }
        }
        self.has_changed
    }

    /// The channel carries the next step of a worker's operation.
    fn carry(&mut self, channel: usize, worker: usize) {
        let running = self.workers[worker]
            .running
            .as_mut()
            .expect("it does something");
        running.waits_since = None;
        if matches!(running.steps[0], Step::Gather) {
            self.gather(worker);
        }
        let running = self.workers[worker]
            .running
            .as_mut()
            .expect("it does something");
        let Step::Channel(ns) = running.steps.remove(0) else {
            unreachable!("it waits for the channel");
        };
        let array = match running.steps.first() {
            Some(&Step::Array(ns)) => ns,
            _ => 0,
        };
        if array > 0 {
            running.steps.remove(0);
        }
        if running.steps.is_empty() && array > 0 {
            running.works = Some((self.now + ns, self.now + ns + array));
        }
        self.carried += 1;
        running.carried = self.carried;
        self.channels[channel] = self.now + ns;
        self.later(ns + array, Event::StepDone(worker));
        self.later(ns, Event::ChannelFree);
    }

    /// What a worker's operation had the channel for, and the array, is over.
    pub fn next_step(&mut self, worker: usize) {
        let running = self.workers[worker]
            .running
            .as_mut()
            .expect("it does something");
        if running.steps.is_empty() {
            let ended = self.workers[worker]
                .running
                .take()
                .expect("it does something");
            self.ends(worker, ended);
            self.has_ended_operation = true;
        } else {
            running.waits_since = Some(self.now);
        }
    }

    /// An idle worker begins an operation, if it has one.
    fn begin(&mut self, worker: usize) -> bool {
        if self.drive().parity.is_some() {
            return self.begin_striped(worker);
        }
        if self.drive().log.is_some() {
            return self.begin_logged(worker);
        }
        let its = &self.workers[worker];
        if its.suspended.is_some() {
            return self.begin_read(worker);
        }
        if !self.drive().background && its.reads.is_empty() && its.programs.is_empty() {
            return false;
        }
        if self.is_urgent(worker) && self.begin_cleaning(worker) {
            return true;
        }
        self.begin_read(worker) || self.begin_program(worker) || self.begin_cleaning(worker)
    }

    pub fn runs(&mut self, worker: usize, running: Running) {
        if matches!(
            running.work,
            Work::Read { .. } | Work::Merge { .. } | Work::MapRead { .. }
        ) {
            self.workers[worker].owes_read = false;
        }
        self.workers[worker].running = Some(running);
    }

    /// An operation begins, and others with it.
    fn run_together(&mut self, worker: usize, steps: Vec<Step>, mut together: Vec<Running>) {
        let mut first = together.remove(0);
        (first.steps, first.others) = (steps, together);
        self.runs(worker, first);
    }

    /// Programs of pages of entries, on these pages of blocks, begin together.
    pub fn run_programs(&mut self, worker: usize, pages: &[usize], targets: &[Target]) {
        let steps = self.steps_of_programs(targets);
        let running = pages.iter().zip(targets).map(|(&page, &target)| Running {
            target: Some(target),
            ..Running::new(Work::Program { page }, Vec::new(), Vec::new())
        });
        self.run_together(worker, steps, running.collect());
    }

    pub fn begin_read(&mut self, worker: usize) -> bool {
        while !self.workers[worker].reads.is_empty() {
            let reading = self.workers[worker].reads.remove(0);
            let at = self.place_of(&reading);
            if self.drive().worker_of(at.plane) != worker {
                self.queue_read(reading.work, reading.units, Some(at));
                continue;
            }
            let mut together = vec![(self.without_others(reading, at), at)];
            while let Some(next) = self.next_to_join(worker, &together) {
                let reading = self.workers[worker].reads.remove(next);
                let at = self.place_of(&reading);
                together.push((self.without_others(reading, at), at));
            }
            let steps = self.steps_of_reads(&together);
            let running = together.into_iter().map(|(reading, at)| Running {
                from: Some((at.plane, at.block)),
                ..Running::new(reading.work, reading.units, Vec::new())
            });
            self.run_together(worker, steps, running.collect());
            return true;
        }
        false
    }

    /// Where a read reads: what was trimmed in the meantime is read where it was.
    fn place_of(&self, reading: &Reading) -> Place {
        self.map[reading.units[0]].unwrap_or(reading.at)
    }

    /// What is left of a read that begins on a page: units that are on others now are read by themselves.
    fn without_others(&mut self, mut reading: Reading, at: Place) -> Reading {
        let page_of = |unit: usize| {
            let place = self.map[unit].unwrap_or(at);
            (place.plane, place.block, place.page)
        };
        let runs: Vec<Vec<usize>> = reading
            .units
            .chunk_by(|&a, &b| page_of(a) == page_of(b))
            .map(<[usize]>::to_vec)
            .collect();
        for units in &runs[1..] {
            self.queue_read(reading.work, units.clone(), Some(at));
        }
        reading.units.clone_from(&runs[0]);
        reading
    }

    /// Whether a worker's operation on a plane can be done with others: on another plane of their die.
    pub fn may_join(
        &self,
        worker: usize,
        plane: usize,
        mut others: impl Iterator<Item = usize>,
    ) -> bool {
        let drive = self.drive();
        let die = |plane: usize| plane / drive.counts[3];
        drive.multi_plane.is_some()
            && drive.worker_of(plane) == worker
            && others.all(|other| other != plane && die(other) == die(plane))
    }

    /// The first read in a queue that can be done with these: of a page with their number.
    fn next_to_join(&self, worker: usize, together: &[(Reading, Place)]) -> Option<usize> {
        self.workers[worker].reads.iter().position(|reading| {
            let at = self.place_of(reading);
            let planes = together.iter().map(|(_, other)| other.plane);
            at.page == together[0].1.page && self.may_join(worker, at.plane, planes)
        })
    }

    /// The data of a read or a merge have crossed the channel.
    fn read_is_over(&mut self, work: Work, units: &[usize]) {
        match work {
            Work::Read { request } => {
                let blocks = self.wanted(work, units);
                self.send(request, units.len(), blocks);
            }
            Work::Merge { page } => self.merge_is_over(page),
            Work::MapRead { load } => self.map_read_is_over(load),
            _ => unreachable!("it is a read"),
        }
    }

    fn begin_program(&mut self, worker: usize) -> bool {
        let mut at = 0;
        while at < self.workers[worker].programs.len() {
            let page = match self.workers[worker].programs[at] {
                Programming::Page(page) => page,
                Programming::OfMap { page, erases } => {
                    self.workers[worker].programs.remove(at);
                    let steps = self.steps_of_map_page(page, erases);
                    self.runs(worker, Running::new(Work::ProgramMap, Vec::new(), steps));
                    return true;
                }
            };
            if self.can_begin(page) {
                self.workers[worker].programs.remove(at);
                self.starts_program(worker, page);
                return true;
            }
            let plane = self.plane_of(page);
            if self.planes[plane].jobs.is_empty() && self.goes_elsewhere(page, plane) {
                self.workers[worker].programs.remove(at);
                continue;
            }
            at += 1;
        }
        false
    }

    fn plane_of(&self, page: usize) -> usize {
        self.pages[page].plane.expect("it was chosen")
    }

    /// Whether a page can be written in its plane now. If not, the plane is cleaned.
    fn can_begin(&mut self, page: usize) -> bool {
        let plane = self.plane_of(page);
        let can = self.may_write(plane, self.pages[page].stream);
        if !can {
            self.wants_cleaning(plane);
        }
        can
    }

    /// The writer of a page of entries.
    fn writer_of(&self, page: usize) -> Writer {
        match self.writes_slc(self.plane_of(page)) {
            true => Writer::Slc,
            false => Writer::Host(self.pages[page].stream),
        }
    }

    /// The number in its block of the page that a page of entries would be written on.
    fn number_of(&self, page: usize) -> usize {
        let its = &self.planes[self.plane_of(page)];
        let open = match self.writer_of(page) {
            Writer::Host(stream) => its.host[stream],
            _ => its.slc,
        };
        open.map_or(0, |block| its.blocks[block].begun)
    }

    /// A program that its plane can never write goes to another plane of its group with room.
    fn goes_elsewhere(&mut self, page: usize, plane: usize) -> bool {
        let group = self.pages[page].group;
        let planes = self.drive().group_planes(group);
        if !planes
            .iter()
            .any(|&other| other != plane && self.has_room(other))
        {
            return false;
        }
        let turn = self.turns[group];
        let chosen = self.next_plane(group);
        if chosen == plane {
            self.turns[group] = turn;
            return false;
        }
        self.planes[plane].expected -= self.pages[page].entries.len();
        self.has_changed = true;
        self.send_page(page, chosen);
        true
    }

    /// A program begins, and of other planes those that can be done with it.
    fn starts_program(&mut self, worker: usize, page: usize) {
        let mut pages = vec![page];
        let number = self.number_of(page);
        let mut at = 0;
        while at < self.workers[worker].programs.len() {
            if let Programming::Page(other) = self.workers[worker].programs[at]
                && let planes = pages.iter().map(|&page| self.plane_of(page))
                && self.may_join(worker, self.plane_of(other), planes)
                && self.number_of(other) == number
                && self.can_begin(other)
            {
                self.workers[worker].programs.remove(at);
                pages.push(other);
            } else {
                at += 1;
            }
        }
        self.workers[worker].programs_since += pages.len();
        let mut entries = pages.iter().flat_map(|&page| &self.pages[page].entries);
        let has_host_units =
            entries.any(|&entry| self.entries[entry].unit < self.drive().host_units());
        self.workers[worker].owes_program &= !has_host_units;
        let targets: Vec<Target> = pages.iter().map(|&page| self.starts_page(page)).collect();
        self.run_programs(worker, &pages, &targets);
        for (plane, _, page) in targets {
            self.cleans_if_needed(plane, page == 0);
        }
    }

    /// A page of entries gets its place.
    fn starts_page(&mut self, page: usize) -> Target {
        let (plane, writer) = (self.plane_of(page), self.writer_of(page));
        let (block, number) = self.next_page(plane, writer).expect("it can be written");
        self.slc_pages += u64::from(writer == Writer::Slc);
        self.host_pages += 1;
        for entry in self.pages[page].entries.clone() {
            self.entries[entry].has_begun = true;
            if self.entries[entry].unit < self.drive().host_units() {
                self.erases_for_itself.fill(0);
            }
        }
        (plane, block, number)
    }

    /// A page is written in the open block of a writer; a free one is opened if there is none, and there is one.
    pub fn next_page(&mut self, plane: usize, writer: Writer) -> Option<(usize, usize)> {
        let levelling = self.drive().levelling;
        let pages = match (writer, self.drive().slc) {
            (Writer::Slc, Some(slc)) => slc.pages,
            _ => self.drive().pages,
        };
        let (separate, now) = (self.drive().separate, self.now);
        let its = &mut self.planes[plane];
        let next = its.next_free(levelling);
        let open = match writer {
            Writer::Slc => &mut its.slc,
            Writer::Cleaning if separate => &mut its.cleaning,
            Writer::Cleaning => its.host.last_mut().expect("there is a stream"),
            Writer::Host(stream) => &mut its.host[stream],
        };
        let block = open.or(next)?;
        let page = its.blocks[block].begun;
        *open = (page + 1 < pages).then_some(block);
        its.blocks[block].state = State::Open;
        its.blocks[block].is_slc = writer == Writer::Slc;
        its.blocks[block].begun += 1;
        if page == 0 {
            its.blocks[block].opened = Some(now);
            its.blocks[block].reads = 0;
        }
        Some((block, page))
    }

    /// The last page of a block was written.
    pub fn seal_if_full(&mut self, plane: usize, block: usize, page: usize) {
        let pages = match self.drive().slc {
            Some(slc) if self.planes[plane].blocks[block].is_slc => slc.pages,
            _ => self.drive().pages,
        };
        if page + 1 == pages {
            self.planes[plane].blocks[block].state = State::Sealed(self.sealed);
            self.sealed += 1;
        }
    }

    /// An operation ends, and then those that were done with it.
    fn ends(&mut self, worker: usize, mut ended: Running) {
        let others = std::mem::take(&mut ended.others);
        for ended in std::iter::once(ended).chain(others) {
            self.one_ends(worker, ended);
        }
    }

    fn one_ends(&mut self, worker: usize, ended: Running) {
        if let Some((plane, block)) = ended.from
            && !matches!(ended.work, Work::MapRead { .. })
        {
            self.was_read(plane, block);
        }
        match ended.work {
            Work::Read { .. } | Work::Merge { .. } | Work::MapRead { .. } => {
                self.read_is_over(ended.work, &ended.units);
            }
            Work::Program { page } => {
                let (plane, block, number) = ended.target.expect("it wrote a page");
                if self.program_fails(plane, block, number) {
                    self.block_fails(plane, block);
                    self.host_pages -= 1;
                    self.slc_pages -= u64::from(self.planes[plane].blocks[block].is_slc);
                    self.workers[worker].programs.push(Programming::Page(page));
                    self.folds_on(plane);
                    return;
                }
                let entries = self.pages[page].entries.clone();
                self.planes[plane].expected -= entries.len();
                let units: Vec<usize> = entries
                    .iter()
                    .map(|&entry| self.entries[entry].unit)
                    .collect();
                self.put_all((plane, block, number), units);
                self.seal_if_full(plane, block, number);
                self.program_ends((plane, block, number));
                self.page_programmed();
                self.pages[page].is_over = true;
                for entry in entries {
                    self.entry_is_over(entry);
                }
                self.enter();
                self.folds_on(plane);
            }
            Work::ProgramMap => self.part_written(),
            Work::MergeStep { plane } => self.merge_step_ends(plane, &ended),
            Work::Clean { plane, block } => self.cleaning_ends((plane, block), ended),
            Work::Striped { .. } => self.task_ends(ended),
        }
    }
}
