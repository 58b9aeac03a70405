//! Where a page of the host is written: at its own place in the data block, or in a log block; or what must be merged before it.

use super::{Filled, Flash, Log, LogBlocks, LogScheme, LogVictim, NONE, PlaneLogs};

/// Where a page is written, or the step that must come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// At its own place in the data block.
    Data,
    /// On the next page of a log block.
    Log(usize),
    /// On the first page of a new log block.
    NewLog,
    /// On the next page of the log block of sequential writes.
    Sequential,
    /// On the first page of a new one.
    NewSequential,
    /// A log block is merged first.
    Merge(usize),
    /// That of sequential writes is merged first.
    MergeSequential,
    /// The pages before it in its logical block are first copied to the block that replaces the data block; to a new one where there is
    /// none.
    Pad(Option<usize>),
}

impl PlaneLogs {
    fn log_of(&self, logical: u32) -> Option<usize> {
        self.logs.iter().position(|log| log.owner == logical)
    }
}

impl LogBlocks {
    /// Where a page of a logical block of a plane is written next.
    pub(super) fn choose(&self, plane: u32, (logical, page): (u32, u32)) -> Choice {
        let its = &self.planes[plane as usize];
        if its.data[logical as usize].is_none_or(|data| data.next <= page) {
            return Choice::Data;
        }
        match self.rules.scheme {
            LogScheme::Block => self.choose_in_place(its, logical, page),
            LogScheme::Bast => self.choose_of_block(its, logical),
            LogScheme::Fast => self.choose_of_all(its, logical, page),
        }
    }

    fn choose_in_place(&self, its: &PlaneLogs, logical: u32, page: u32) -> Choice {
        let Some(log) = its.log_of(logical) else {
            return match self.has_log_to_begin(its) {
                true if page == 0 => Choice::NewLog,
                true => Choice::Pad(None),
                false => Choice::Merge(self.victim(its)),
            };
        };
        match its.logs[log].filled.next {
            next if next == page => Choice::Log(log),
            next if next < page => Choice::Pad(Some(log)),
            _ => Choice::Merge(log),
        }
    }

    fn choose_of_block(&self, its: &PlaneLogs, logical: u32) -> Choice {
        match its.log_of(logical) {
            Some(log) if its.logs[log].filled.next < self.pages => Choice::Log(log),
            Some(log) => Choice::Merge(log),
            None if self.has_log_to_begin(its) => Choice::NewLog,
            None => Choice::Merge(self.victim(its)),
        }
    }

    fn choose_of_all(&self, its: &PlaneLogs, logical: u32, page: u32) -> Choice {
        if page == 0 {
            return match its.sequential {
                None => Choice::NewSequential,
                Some(_) => Choice::MergeSequential,
            };
        }
        if let Some(log) = its.sequential.filter(|log| log.owner == logical) {
            return match log.filled.next == page {
                true => Choice::Sequential,
                false => Choice::MergeSequential,
            };
        }
        match its.logs.last() {
            Some(last) if last.filled.next < self.pages => Choice::Log(its.logs.len() - 1),
            _ if self.has_log_to_begin(its) => Choice::NewLog,
            _ => Choice::Merge(self.victim(its)),
        }
    }

    /// Whether one more log block may be begun.
    fn has_log_to_begin(&self, its: &PlaneLogs) -> bool {
        let of_others = match self.rules.scheme {
            LogScheme::Fast => self.rules.logs - 1,
            _ => self.rules.logs,
        };
        its.logs.len() < of_others as usize
    }

    /// The log block that is merged for another one.
    fn victim(&self, its: &PlaneLogs) -> usize {
        match self.rules.victim {
            LogVictim::Fifo => 0,
            LogVictim::Lru => {
                let logs = its.logs.iter().enumerate();
                let least = logs.min_by_key(|(_, log)| log.written);
                least.map_or(0, |(place, _)| place)
            }
        }
    }

    /// The number in its block of the page on which a unit would be written at once.
    pub fn number_of(&self, unit: u32) -> Option<u32> {
        let plane = self.plane_of(unit);
        let its = &self.planes[plane as usize];
        let (logical, page) = self.place_of(unit);
        if its.job.is_some() {
            return None;
        }
        match self.choose(plane, (logical, page)) {
            Choice::Data => Some(page),
            Choice::Log(log) => Some(its.logs[log].filled.next),
            Choice::NewLog | Choice::NewSequential => Some(0),
            Choice::Sequential => its.sequential.map(|log| log.filled.next),
            Choice::Merge(_) | Choice::MergeSequential | Choice::Pad(_) => None,
        }
    }

    /// The slot on which a unit is written, before which nothing is to be merged; `None` without a free block.
    pub fn write(&mut self, unit: u32, flash: &mut Flash<'_>) -> Option<u32> {
        let plane = self.plane_of(unit);
        let (logical, page) = self.place_of(unit);
        let log = match self.choose(plane, (logical, page)) {
            Choice::Data => return self.write_data(plane, (logical, page), flash),
            Choice::NewLog => {
                let owner = match self.rules.scheme {
                    LogScheme::Fast => NONE,
                    _ => logical,
                };
                let log = self.begin_log(plane, owner, flash)?;
                let logs = &mut self.planes[plane as usize].logs;
                logs.push(log);
                logs.last_mut()
            }
            Choice::NewSequential => {
                let log = self.begin_log(plane, logical, flash)?;
                let sequential = &mut self.planes[plane as usize].sequential;
                *sequential = Some(log);
                sequential.as_mut()
            }
            Choice::Log(log) => self.planes[plane as usize].logs.get_mut(log),
            Choice::Sequential => self.planes[plane as usize].sequential.as_mut(),
            Choice::Merge(_) | Choice::MergeSequential | Choice::Pad(_) => None,
        };
        let log = log?;
        let next = log.filled.next;
        log.filled.next += 1;
        log.in_place &= log.owner == logical && next == page;
        self.written += 1;
        log.written = self.written;
        Some(log.filled.block * self.pages + next)
    }

    fn write_data(
        &mut self,
        plane: u32,
        (logical, page): (u32, u32),
        flash: &mut Flash<'_>,
    ) -> Option<u32> {
        let data = self.planes[plane as usize].data[logical as usize];
        let block = match data {
            Some(data) => data.block,
            None => self.open(plane, flash)?,
        };
        self.set_data(plane, logical, block, page + 1, flash);
        Some(block * self.pages + page)
    }

    /// A block is the data block of a logical block, with its pages before one written.
    pub(super) fn set_data(
        &mut self,
        plane: u32,
        logical: u32,
        block: u32,
        next: u32,
        flash: &mut Flash<'_>,
    ) {
        self.planes[plane as usize].data[logical as usize] = Some(Filled { block, next });
        if next == self.pages {
            flash.blocks.seal_block(block);
        }
    }

    pub(super) fn begin_log(
        &mut self,
        plane: u32,
        owner: u32,
        flash: &mut Flash<'_>,
    ) -> Option<Log> {
        let block = self.open(plane, flash)?;
        Some(Log {
            filled: Filled { block, next: 0 },
            owner,
            in_place: true,
            written: self.written,
        })
    }

    /// Opens a free block.
    pub(super) fn open(&mut self, plane: u32, flash: &mut Flash<'_>) -> Option<u32> {
        let block = flash.blocks.open_block(plane)?;
        self.opened = Some(block);
        Some(block)
    }
}
