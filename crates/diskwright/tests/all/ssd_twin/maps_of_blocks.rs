//! Drives with a map of blocks: where pages go, and the merges that come before them.

use super::blocks::{Place, State};
use super::model::{Model, Programming};
use super::operations::{Running, Work};
use super::parity::Target;
use super::specs::LogMap;

/// A log block, with its logical block if it has one, and when the host wrote it last.
#[derive(Debug)]
struct Log {
    block: usize,
    of: Option<usize>,
    written: u64,
    /// The place before which pages were last copied to it, for the one that is to be written there.
    padded: usize,
}

/// What is left to do of a merge, or of padding.
#[derive(Debug)]
enum Todo {
    /// Pages of a logical block, from one on and before another, are copied to a block; only those of one block, if it is given.
    Copy {
        logical: usize,
        to: usize,
        from: usize,
        until: usize,
        only: Option<usize>,
    },
    /// A block counts as full, whatever was copied to it.
    Full(usize),
    Erase(usize),
    /// What is valid in a shared log block is merged; whether anything was.
    Share {
        block: usize,
        has_merged: bool,
    },
}

/// A step: a copy of a unit, or an erase.
#[derive(Clone, Copy, Debug)]
enum Next {
    Copy {
        unit: usize,
        from: Place,
        block: usize,
        page: usize,
    },
    Erase(usize),
}

/// What the map of a plane has.
#[derive(Debug, Default)]
pub struct LogPlane {
    /// The data block of each logical block.
    data: Vec<Option<usize>>,
    /// Log blocks in the order in which they were begun.
    logs: Vec<Log>,
    /// FAST's sequential log block, and its logical block.
    sequential: Option<(usize, usize)>,
    todo: Vec<Todo>,
    step: Option<Next>,
}

/// Merges by kind, and log blocks of which nothing was valid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Merges {
    pub switch: u64,
    pub partial: u64,
    pub full: u64,
    pub dropped: u64,
}

impl Model<'_> {
    fn log(&self) -> LogMap {
        self.drive().log.expect("a drive with a map of blocks")
    }

    /// Logical blocks of each plane, empty at first.
    pub fn prepare_logs(&mut self) {
        let drive = self.drive();
        if drive.log.is_none() {
            return;
        }
        let of_plane = drive.host_units().div_ceil(drive.planes());
        let count = of_plane.div_ceil(drive.pages);
        self.logs = (0..drive.planes())
            .map(|_| LogPlane {
                data: vec![None; count],
                ..LogPlane::default()
            })
            .collect();
    }

    /// The log blocks of all planes.
    pub fn log_blocks(&self) -> usize {
        let of = |its: &LogPlane| its.logs.len() + usize::from(its.sequential.is_some());
        self.logs.iter().map(of).sum()
    }

    /// The logical block of a unit, and its place there.
    fn logical(&self, unit: usize) -> (usize, usize) {
        let of_plane = unit / self.drive().planes();
        (of_plane / self.drive().pages, of_plane % self.drive().pages)
    }

    /// The unit at a place of a logical block, if the drive has one.
    fn unit_at(&self, plane: usize, logical: usize, place: usize) -> Option<usize> {
        let planes = self.drive().planes();
        let position = (0..planes).find(|&i| self.drive().plane_at(i) == plane)?;
        let unit = (logical * self.drive().pages + place) * planes + position;
        (unit < self.drive().host_units()).then_some(unit)
    }

    fn begun(&self, plane: usize, block: usize) -> usize {
        self.planes[plane].blocks[block].begun
    }

    fn is_full(&self, plane: usize, block: usize) -> bool {
        self.begun(plane, block) == self.drive().pages
    }

    fn take_block(&mut self, plane: usize) -> usize {
        let levelling = self.drive().levelling;
        let block = self.planes[plane].next_free(levelling);
        let block = block.expect("one is kept to merge into");
        let its = &mut self.planes[plane].blocks[block];
        (its.state, its.opened, its.reads) = (State::Open, Some(self.now), 0);
        block
    }

    /// The logical block of which a block is the full data block.
    fn full_data(&self, plane: usize, block: usize) -> Option<usize> {
        let data = &self.logs[plane].data;
        let logical = data.iter().position(|&its| its == Some(block))?;
        self.is_full(plane, block).then_some(logical)
    }

    /// Whether a block is sealed, as blocks of a map of pages are.
    pub fn is_full_data(&self, plane: usize, block: usize) -> bool {
        self.full_data(plane, block).is_some()
    }

    /// Whether a page of a block is being programmed, or its program is suspended.
    pub fn is_being_programmed(&self, plane: usize, block: usize) -> bool {
        let worker = &self.workers[self.drive().worker_of(plane)];
        let suspended = worker.suspended.as_ref().map(|(suspended, _)| suspended);
        let mut begun = worker.running.iter().chain(suspended);
        begun.any(|first| {
            let mut all = std::iter::once(first).chain(&first.others);
            all.any(|one| {
                let target = one.target.map(|(plane, block, _)| (plane, block));
                matches!(one.work, Work::Program { .. }) && target == Some((plane, block))
            })
        })
    }

    /// Whether a full data block of a plane may be copied now.
    pub fn may_relocate(&self, plane: usize) -> bool {
        !self.is_merging(plane) && self.planes[plane].free() > 0
    }

    /// What is valid in a full data block is copied to a free block, which takes its place.
    pub fn relocates(&mut self, plane: usize, block: usize) {
        let logical = self.full_data(plane, block).expect("it is one");
        let to = self.take_block(plane);
        self.logs[plane].data[logical] = Some(to);
        let until = self.drive().pages;
        self.logs[plane].todo.extend([
            Todo::Copy {
                logical,
                to,
                from: 0,
                until,
                only: Some(block),
            },
            Todo::Full(to),
            Todo::Erase(block),
        ]);
        self.goes_on_merging(plane);
    }

    fn is_merging(&self, plane: usize) -> bool {
        self.logs[plane].step.is_some()
    }

    /// Where the page of a unit is written now; what comes before it is begun, where something does.
    fn page_of(&mut self, plane: usize, unit: usize) -> Option<(usize, usize)> {
        loop {
            let (logical, place) = self.logical(unit);
            match self.logs[plane].data[logical] {
                None => {
                    let block = self.take_block(plane);
                    self.logs[plane].data[logical] = Some(block);
                    return Some((block, place));
                }
                Some(block) if self.begun(plane, block) <= place => return Some((block, place)),
                Some(_) => {}
            }
            let found = match self.log().scheme {
                "block" => self.page_in_place(plane, logical, place),
                "bast" => self.page_of_its_log(plane, logical),
                _ => self.page_of_shared_log(plane, logical, place),
            };
            if found.is_some() {
                return found;
            }
            // What comes before it may have no steps at all.
            self.goes_on_merging(plane);
            if self.is_merging(plane) {
                return None;
            }
        }
    }

    fn log_of(&self, plane: usize, logical: usize) -> Option<usize> {
        let mut logs = self.logs[plane].logs.iter();
        logs.position(|log| log.of == Some(logical))
    }

    /// A log block of a logical block, if there is room for one; else another one is to be merged.
    fn new_log(&mut self, plane: usize, logical: usize) -> Option<usize> {
        if self.logs[plane].logs.len() == self.log().log_blocks {
            let logs = &self.logs[plane].logs;
            let oldest = match self.log().victim {
                Some("lru") => (0..logs.len()).min_by_key(|&log| logs[log].written),
                _ => Some(0),
            };
            self.merges(plane, oldest.expect("there are some"));
            return None;
        }
        let block = self.take_block(plane);
        self.logs[plane].logs.push(Log {
            block,
            of: Some(logical),
            written: 0,
            padded: 0,
        });
        Some(self.logs[plane].logs.len() - 1)
    }

    fn page_in_place(
        &mut self,
        plane: usize,
        logical: usize,
        place: usize,
    ) -> Option<(usize, usize)> {
        let its = self.log_of(plane, logical);
        if let Some(log) = its
            && self.begun(plane, self.logs[plane].logs[log].block) > place
        {
            self.merges(plane, log);
            return None;
        }
        let log = match its {
            Some(log) => log,
            None => self.new_log(plane, logical)?,
        };
        let block = self.logs[plane].logs[log].block;
        let from = self.begun(plane, block);
        let padded = (from..place).any(|place| {
            let unit = self.unit_at(plane, logical, place);
            unit.is_some_and(|unit| self.map[unit].is_some())
        });
        if padded {
            self.logs[plane].logs[log].padded = place;
            self.logs[plane].todo.push(Todo::Copy {
                logical,
                to: block,
                from,
                until: place,
                only: None,
            });
            return None;
        }
        Some((block, place))
    }

    fn page_of_its_log(&mut self, plane: usize, logical: usize) -> Option<(usize, usize)> {
        let log = match self.log_of(plane, logical) {
            Some(log) if self.is_full(plane, self.logs[plane].logs[log].block) => {
                self.merges(plane, log);
                return None;
            }
            Some(log) => log,
            None => self.new_log(plane, logical)?,
        };
        let block = self.logs[plane].logs[log].block;
        Some((block, self.begun(plane, block)))
    }

    fn page_of_shared_log(
        &mut self,
        plane: usize,
        logical: usize,
        place: usize,
    ) -> Option<(usize, usize)> {
        let sequential = self.logs[plane].sequential;
        if place == 0 && sequential.is_none() {
            let block = self.take_block(plane);
            self.logs[plane].sequential = Some((block, logical));
            return Some((block, 0));
        }
        if let Some((block, of)) = sequential
            && (place == 0 || of == logical)
        {
            if place > 0 && self.begun(plane, block) == place {
                return Some((block, place));
            }
            self.logs[plane].sequential = None;
            self.merges_one(plane, block, of);
            return None;
        }
        let last = self.logs[plane].logs.last().map(|log| log.block);
        let block = match last {
            Some(block) if !self.is_full(plane, block) => block,
            _ if self.logs[plane].logs.len() == self.log().log_blocks - 1 => {
                let first = self.logs[plane].logs.remove(0);
                self.logs[plane].todo.push(Todo::Share {
                    block: first.block,
                    has_merged: false,
                });
                return None;
            }
            _ => {
                let block = self.take_block(plane);
                self.logs[plane].logs.push(Log {
                    block,
                    of: None,
                    written: 0,
                    padded: 0,
                });
                block
            }
        };
        Some((block, self.begun(plane, block)))
    }

    fn merges(&mut self, plane: usize, log: usize) {
        let log = self.logs[plane].logs.remove(log);
        self.merges_one(plane, log.block, log.of.expect("it is of one"));
    }

    /// Merges a log block of one logical block.
    fn merges_one(&mut self, plane: usize, block: usize, logical: usize) {
        let pages = self.drive().pages;
        if self.planes[plane].blocks[block].valid() == 0 {
            self.merge_counts.dropped += 1;
            self.logs[plane].todo.push(Todo::Erase(block));
            return;
        }
        let written = &self.planes[plane].blocks[block].written;
        let is_in_place = written
            .iter()
            .all(|&(page, unit)| self.logical(unit) == (logical, page));
        let old = self.logs[plane].data[logical];
        if is_in_place {
            let begun = self.begun(plane, block);
            match begun == pages {
                true => self.merge_counts.switch += 1,
                false => self.merge_counts.partial += 1,
            }
            self.logs[plane].data[logical] = Some(block);
            let todo = &mut self.logs[plane].todo;
            todo.push(Todo::Copy {
                logical,
                to: block,
                from: begun,
                until: pages,
                only: None,
            });
            todo.extend(old.map(Todo::Erase));
            return;
        }
        self.merges_fully(plane, logical);
        self.logs[plane].todo.push(Todo::Erase(block));
    }

    /// A logical block is copied to a free block, and its old data block is erased.
    fn merges_fully(&mut self, plane: usize, logical: usize) {
        self.merge_counts.full += 1;
        let to = self.take_block(plane);
        let old = self.logs[plane].data[logical].replace(to);
        let until = self.drive().pages;
        let todo = &mut self.logs[plane].todo;
        todo.push(Todo::Copy {
            logical,
            to,
            from: 0,
            until,
            only: None,
        });
        todo.extend(old.map(Todo::Erase));
    }

    /// The next step of a plane waits for its worker, if there is one.
    fn goes_on_merging(&mut self, plane: usize) {
        self.logs[plane].step = self.next_of_merge(plane);
        if self.is_merging(plane) {
            let worker = self.drive().worker_of(plane);
            self.workers[worker].merging.push(plane);
        }
    }

    fn next_of_merge(&mut self, plane: usize) -> Option<Next> {
        while !self.logs[plane].todo.is_empty() {
            match self.logs[plane].todo.remove(0) {
                Todo::Erase(block) => return Some(Next::Erase(block)),
                Todo::Full(block) => {
                    self.planes[plane].blocks[block].begun = self.drive().pages;
                }
                Todo::Copy {
                    logical,
                    to,
                    from,
                    until,
                    only,
                } => {
                    let found = (from..until).find_map(|place| {
                        let unit = self.unit_at(plane, logical, place)?;
                        let at = self.map[unit].filter(|at| at.block != to)?;
                        let is_copied = only.is_none_or(|only| only == at.block);
                        is_copied.then_some((place, unit, at))
                    });
                    let Some((page, unit, from)) = found else {
                        continue;
                    };
                    let rest = Todo::Copy {
                        logical,
                        to,
                        from: page + 1,
                        until,
                        only,
                    };
                    self.logs[plane].todo.insert(0, rest);
                    let block = &mut self.planes[plane].blocks[to];
                    block.begun = page + 1;
                    block.written.push((page, unit));
                    return Some(Next::Copy {
                        unit,
                        from,
                        block: to,
                        page,
                    });
                }
                Todo::Share { block, has_merged } => {
                    let slots = self.planes[plane].blocks[block].slots.iter().flatten();
                    let Some(&unit) = slots.flatten().next() else {
                        self.merge_counts.dropped += u64::from(!has_merged);
                        return Some(Next::Erase(block));
                    };
                    let (logical, _) = self.logical(unit);
                    self.merges_fully(plane, logical);
                    if let Some((sequential, of)) = self.logs[plane].sequential
                        && of == logical
                    {
                        self.logs[plane].sequential = None;
                        self.logs[plane].todo.push(Todo::Erase(sequential));
                    }
                    self.logs[plane].todo.push(Todo::Share {
                        block,
                        has_merged: true,
                    });
                }
            }
        }
        None
    }

    /// An idle worker begins an operation, if it has one.
    pub fn begin_logged(&mut self, worker: usize) -> bool {
        if self.begin_read(worker) {
            return true;
        }
        if self.workers[worker].suspended.is_some() {
            return false;
        }
        self.begin_merge(worker) || self.begin_logged_program(worker) || self.begin_merge(worker)
    }

    fn begin_merge(&mut self, worker: usize) -> bool {
        if self.workers[worker].merging.is_empty() {
            return false;
        }
        let plane = self.workers[worker].merging.remove(0);
        let step = self.logs[plane].step.expect("the plane merges");
        let steps = match step {
            Next::Erase(block) => self.steps_of_erase(plane, block),
            Next::Copy { from, page, .. } if self.drive().copy_back => {
                self.steps_of_copy(from, page)
            }
            Next::Copy {
                from, block, page, ..
            } => {
                let mut steps = self.steps_of_reading_on(from, 1);
                steps.pop();
                steps.extend(self.steps_of_program(plane, block, page));
                steps
            }
        };
        self.runs(
            worker,
            Running::new(Work::MergeStep { plane }, Vec::new(), steps),
        );
        if let Next::Copy { block, page, .. } = step {
            let running = self.workers[worker].running.as_mut().expect("it begins");
            running.target = Some((plane, block, page));
        }
        true
    }

    fn begin_logged_program(&mut self, worker: usize) -> bool {
        for at in 0..self.workers[worker].programs.len() {
            let Programming::Page(page) = self.workers[worker].programs[at] else {
                unreachable!("it has no checkpoints");
            };
            let plane = self.pages[page].plane.expect("it was chosen");
            if self.is_merging(plane) {
                continue;
            }
            let unit = self.unit_of_page(page);
            let Some((block, number)) = self.page_of(plane, unit) else {
                continue;
            };
            self.workers[worker].programs.remove(at);
            self.workers[worker].owes_program = false;
            self.starts_logged_page(page, (plane, block, number));
            let (mut pages, mut targets) = (vec![page], vec![(plane, block, number)]);
            while let Some((place, page)) = self.next_program_to_join(worker, &pages, number) {
                self.workers[worker].programs.remove(place);
                let plane = self.pages[page].plane.expect("it was chosen");
                let found = self.page_of(plane, self.unit_of_page(page));
                let (block, number) = found.expect("it is written at once");
                self.starts_logged_page(page, (plane, block, number));
                pages.push(page);
                targets.push((plane, block, number));
            }
            self.run_programs(worker, &pages, &targets);
            return true;
        }
        false
    }

    fn unit_of_page(&self, page: usize) -> usize {
        self.entries[self.pages[page].entries[0]].unit
    }

    /// The first program in a worker's queue that can be done with these, on a page of this number: the first one of its plane, before which nothing is
    /// to be done. Its place in the queue, and its page.
    fn next_program_to_join(
        &self,
        worker: usize,
        together: &[usize],
        number: usize,
    ) -> Option<(usize, usize)> {
        let plane_of = |page: usize| self.pages[page].plane.expect("it was chosen");
        let programs = self.workers[worker].programs.iter().enumerate();
        let pages: Vec<(usize, usize)> = programs
            .filter_map(|(place, program)| match program {
                Programming::Page(page) => Some((place, *page)),
                Programming::OfMap { .. } => None,
            })
            .collect();
        pages.iter().copied().find(|&(place, page)| {
            let plane = plane_of(page);
            let mut before = pages.iter().filter(|&&(other, _)| other < place);
            let is_first = !before.any(|&(_, other)| plane_of(other) == plane);
            let planes = together.iter().map(|&page| plane_of(page));
            is_first
                && self.may_join(worker, plane, planes)
                && self.number_at_once(plane, self.unit_of_page(page)) == Some(number)
        })
    }

    /// The number of the page on which a unit is written if nothing is to be merged or padded before.
    fn number_at_once(&self, plane: usize, unit: usize) -> Option<usize> {
        if self.is_merging(plane) {
            return None;
        }
        let (logical, place) = self.logical(unit);
        let its = &self.logs[plane];
        let is_at_its_place =
            its.data[logical].is_none_or(|block| self.begun(plane, block) <= place);
        if is_at_its_place {
            return Some(place);
        }
        let own = self.log_of(plane, logical);
        let begun = own.map(|log| {
            let log = &its.logs[log];
            self.begun(plane, log.block).max(log.padded)
        });
        let has_room = |log_blocks: usize| its.logs.len() < log_blocks;
        let log_blocks = self.log().log_blocks;
        match self.log().scheme {
            "block" => match begun {
                None => (place == 0 && has_room(log_blocks)).then_some(0),
                Some(begun) => (begun == place).then_some(place),
            },
            "bast" => match begun {
                None => has_room(log_blocks).then_some(0),
                Some(begun) => (begun < self.drive().pages).then_some(begun),
            },
            _ => match (its.sequential, its.logs.last()) {
                (None, _) if place == 0 => Some(0),
                (Some(_), _) if place == 0 => None,
                (Some((block, of)), _) if of == logical => {
                    (self.begun(plane, block) == place).then_some(place)
                }
                (_, Some(last)) if !self.is_full(plane, last.block) => {
                    Some(self.begun(plane, last.block))
                }
                _ => has_room(log_blocks - 1).then_some(0),
            },
        }
    }

    /// A page of an entry begins to be written.
    fn starts_logged_page(&mut self, page: usize, (plane, block, number): Target) {
        let entry = self.pages[page].entries[0];
        self.entries[entry].has_begun = true;
        self.host_pages += 1;
        self.writes_logged(plane, block, number, self.entries[entry].unit);
    }

    /// The host writes a page of a block.
    fn writes_logged(&mut self, plane: usize, block: usize, number: usize, unit: usize) {
        self.host_writes += 1;
        let its = &mut self.planes[plane].blocks[block];
        its.begun = number + 1;
        its.written.push((number, unit));
        let mut logs = self.logs[plane].logs.iter_mut();
        if let Some(log) = { &mut logs }.find(|log| log.block == block) {
            log.written = self.host_writes;
        }
    }

    pub fn merge_step_ends(&mut self, plane: usize, ended: &Running) {
        let step = self.logs[plane].step.take().expect("the plane merges");
        let has_erased = matches!(step, Next::Erase(_));
        match step {
            Next::Copy {
                unit,
                from,
                block,
                page,
            } => {
                debug_assert!(ended.target.is_some());
                self.moved_pages += 1;
                if self.map[unit] == Some(from) {
                    self.put_all((plane, block, page), [unit]);
                }
            }
            Next::Erase(block) => {
                self.freed += 1;
                let block = &mut self.planes[plane].blocks[block];
                block.state = State::Free;
                block.erases += 1;
                block.freed = self.freed;
                block.begun = 0;
                block.written.clear();
            }
        }
        self.goes_on_merging(plane);
        if has_erased {
            self.levels_wear(plane);
        }
    }

    /// A unit is written in no time, before the run: in order, so that nothing is to be merged.
    pub fn put_logged(&mut self, unit: usize) {
        let plane = self.next_plane(self.drive().group_of(unit));
        let (block, page) = self.page_of(plane, unit).expect("it is written in order");
        self.writes_logged(plane, block, page, unit);
        self.put_all((plane, block, page), [unit]);
    }
}
