//! Workers and channels: which operation begins, and what comes after each of its steps.

use super::blocks::{Place, State};
use super::model::{Event, Model};
use super::operations::{Reading, Running, Step, Work};

/// Who writes a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    Host,
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

    pub fn runs(&mut self, worker: usize, work: Work, units: Vec<usize>, steps: Vec<Step>) {
        if matches!(
            work,
            Work::Read { .. } | Work::Merge { .. } | Work::MapRead { .. }
        ) {
            self.workers[worker].owes_read = false;
        }
        self.workers[worker].running = Some(Running {
            work,
            units,
            steps,
            waits_since: None,
            carried: 0,
            target: None,
            from: None,
            works: None,
            suspensions: 0,
            left: 0,
            moved: Vec::new(),
            task: None,
        });
    }

    pub fn begin_read(&mut self, worker: usize) -> bool {
        while !self.workers[worker].reads.is_empty() {
            let mut reading = self.workers[worker].reads.remove(0);
            let work = reading.work;
            // What was trimmed in the meantime is read where it was, or with the first unit.
            let at = self.map[reading.units[0]].unwrap_or(reading.at);
            if self.drive().worker_of(at.plane) != worker {
                self.queue_read(work, reading.units, Some(at));
                continue;
            }
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
                self.queue_read(work, units.clone(), Some(at));
            }
            reading.units.clone_from(&runs[0]);
            let steps = self.steps_of_read(&reading, at);
            self.runs(worker, work, reading.units, steps);
            let running = self.workers[worker].running.as_mut().expect("it begins");
            running.from = Some((at.plane, at.block));
            return true;
        }
        false
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
            Work::Program { .. } | Work::Clean { .. } | Work::Striped { .. } => {
                unreachable!("it is a read")
            }
        }
    }

    fn begin_program(&mut self, worker: usize) -> bool {
        let mut at = 0;
        while at < self.workers[worker].programs.len() {
            let page = self.workers[worker].programs[at];
            let plane = self.pages[page].plane.expect("it was chosen");
            if self.may_write(plane) {
                self.workers[worker].programs.remove(at);
                self.starts_program(worker, plane, page);
                return true;
            }
            self.wants_cleaning(plane);
            if self.planes[plane].victim.is_none() && self.goes_elsewhere(page, plane) {
                self.workers[worker].programs.remove(at);
                continue;
            }
            at += 1;
        }
        false
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

    fn starts_program(&mut self, worker: usize, plane: usize, page: usize) {
        let writer = if self.writes_slc(plane) {
            Writer::Slc
        } else {
            Writer::Host
        };
        let (block, number) = self.next_page(plane, writer);
        let steps = self.steps_of_program(plane, block, number);
        self.slc_pages += u64::from(writer == Writer::Slc);
        for entry in self.pages[page].entries.clone() {
            self.entries[entry].has_begun = true;
        }
        self.workers[worker].programs_since += 1;
        self.workers[worker].owes_program = false;
        self.host_pages += 1;
        self.runs(worker, Work::Program { page }, Vec::new(), steps);
        let running = self.workers[worker].running.as_mut().expect("it begins");
        running.target = Some((plane, block, number));
        if self.planes[plane].free() < self.drive().begin {
            self.wants_cleaning(plane);
        }
    }

    /// A page is written in the open block of a writer, which is opened if there is none.
    pub fn next_page(&mut self, plane: usize, writer: Writer) -> (usize, usize) {
        let levelling = self.drive().levelling;
        let pages = match (writer, self.drive().slc) {
            (Writer::Slc, Some(slc)) => slc.pages,
            _ => self.drive().pages,
        };
        let (separate, now) = (self.drive().separate, self.now);
        let its = &mut self.planes[plane];
        let open = match writer {
            Writer::Slc => its.slc,
            Writer::Cleaning if separate => its.cleaning,
            _ => its.host,
        };
        let block = open.unwrap_or_else(|| its.next_free(levelling).expect("a free block"));
        its.blocks[block].state = State::Open;
        its.blocks[block].is_slc = writer == Writer::Slc;
        let page = its.blocks[block].begun;
        its.blocks[block].begun += 1;
        if page == 0 {
            its.blocks[block].opened = Some(now);
            its.blocks[block].reads = 0;
        }
        let still = (page + 1 < pages).then_some(block);
        match writer {
            Writer::Slc => its.slc = still,
            Writer::Cleaning if separate => its.cleaning = still,
            _ => its.host = still,
        }
        (block, page)
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

    fn ends(&mut self, worker: usize, ended: Running) {
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
                    self.workers[worker].programs.push(page);
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
                self.pages[page].is_over = true;
                for entry in entries {
                    self.entry_is_over(entry);
                }
                self.enter();
                self.folds_on(plane);
            }
            Work::Clean { plane } if self.drive().log.is_some() => {
                self.merge_step_ends(plane, &ended);
            }
            Work::Clean { plane } => self.cleaning_ends(worker, plane, ended),
            Work::Striped { .. } => self.task_ends(ended),
        }
    }
}
