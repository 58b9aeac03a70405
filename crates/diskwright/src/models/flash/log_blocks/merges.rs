//! The steps before a page can be written: pages are copied and blocks erased, one step after another.

use std::collections::VecDeque;

use super::choices::Choice;
use super::{Filled, Flash, Log, LogBlocks, LogScheme};

/// A step of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A unit is copied from one slot to another.
    Copy {
        /// The unit.
        unit: u32,
        /// Where it is.
        from: u32,
        /// Where it will be.
        to: u32,
    },
    /// A block is erased.
    Erase(u32),
}

/// What becomes of a block to which pages have been copied.
#[derive(Clone, Copy)]
enum Purpose {
    /// It is the data block.
    Merge,
    /// It stays the log block of its logical block, which had been written up to this page.
    Pad(u32),
}

/// Pages of a logical block that are copied to their own places in a block.
#[derive(Clone, Copy)]
struct Copying {
    logical: u32,
    into: u32,
    /// The next page, and the first one that is not copied.
    at: u32,
    until: u32,
    /// The first page of the block that may be written when they have been copied.
    next: u32,
    /// Only pages of this block are copied.
    only: Option<u32>,
    purpose: Purpose,
}

/// A block that is erased when everything has been copied.
#[derive(Clone, Copy)]
struct Old {
    block: u32,
    /// After a power cut so many of its pages must be looked at.
    to_scan: u32,
    /// Until everything has been copied it is the data block.
    is_data: bool,
}

impl Old {
    fn data(filled: Filled, pages: u32) -> Old {
        Old {
            block: filled.block,
            to_scan: filled.to_scan(pages),
            is_data: true,
        }
    }

    fn log(filled: Filled) -> Old {
        Old {
            block: filled.block,
            to_scan: filled.next,
            is_data: false,
        }
    }
}

/// What a plane does before its next page is written.
#[derive(Default)]
pub(super) struct Job {
    copying: Option<Copying>,
    erases: VecDeque<Old>,
    /// A log block of many logical blocks, each of which is merged by itself, and whether one has been.
    shared: Option<(Filled, bool)>,
}

impl Job {
    /// Blocks that it has, and how many pages of each must be looked at to know what is in it.
    pub fn to_scan(&self) -> impl Iterator<Item = (u32, u32)> {
        let into = self.copying.iter();
        let into = into.map(|copying| match copying.purpose {
            Purpose::Merge => (copying.into, copying.at),
            Purpose::Pad(written) => (copying.into, copying.at - written),
        });
        let shared = self.shared.map(|(log, _)| (log.block, log.next));
        let is_counted = |old: &Old| old.is_data && self.copying.is_some();
        let erases = self.erases.iter().filter(move |old| !is_counted(old));
        into.chain(shared)
            .chain(erases.map(|old| (old.block, old.to_scan)))
    }
}

impl LogBlocks {
    /// Begins what must be done before a unit is written; its first step, or `None` if the unit may be written.
    pub fn make_way(&mut self, unit: u32, flash: &mut Flash<'_>) -> Option<Step> {
        let plane = self.plane_of(unit);
        loop {
            let place = self.place_of(unit);
            let job = match self.choose(plane, place) {
                Choice::Merge(log) => {
                    let log = self.planes[plane as usize].logs.remove(log);
                    match self.rules.scheme {
                        LogScheme::Fast => Job {
                            shared: Some((log.filled, false)),
                            ..Job::default()
                        },
                        _ => self.merge(plane, log, flash)?,
                    }
                }
                Choice::MergeSequential => {
                    let log = self.planes[plane as usize].sequential.take();
                    self.merge(plane, log?, flash)?
                }
                Choice::Pad(log) => self.pad(plane, place, log, flash)?,
                _ => return None,
            };
            self.planes[plane as usize].job = Some(job);
            let step = self.next_step(plane, flash);
            if step.is_some() {
                return step;
            }
        }
    }

    /// The merge of a log block with the data block of its logical block.
    fn merge(&mut self, plane: u32, log: Log, flash: &mut Flash<'_>) -> Option<Job> {
        let data = self.planes[plane as usize].data[log.owner as usize];
        let data = data.expect("what is logged has been written before");
        let data = Old::data(data, self.pages);
        if flash.blocks.block(log.filled.block).valid == 0 {
            self.counts.dropped += 1;
            return Some(Job {
                erases: [Old::log(log.filled)].into(),
                ..Job::default()
            });
        }
        if !log.in_place {
            return self.full_merge(plane, log.owner, [data, Old::log(log.filled)].into(), flash);
        }
        match log.filled.next == self.pages {
            true => self.counts.switch += 1,
            false => self.counts.partial += 1,
        }
        Some(Job {
            copying: Some(Copying {
                logical: log.owner,
                into: log.filled.block,
                at: log.filled.next,
                until: self.pages,
                next: log.filled.next,
                only: None,
                purpose: Purpose::Merge,
            }),
            erases: [data].into(),
            shared: None,
        })
    }

    /// A logical block is copied to a new block, and others are erased.
    fn full_merge(
        &mut self,
        plane: u32,
        logical: u32,
        erases: VecDeque<Old>,
        flash: &mut Flash<'_>,
    ) -> Option<Job> {
        let into = self.open(plane, flash)?;
        self.counts.full += 1;
        Some(Job {
            copying: Some(Copying {
                logical,
                into,
                at: 0,
                until: self.pages,
                next: 0,
                only: None,
                purpose: Purpose::Merge,
            }),
            erases,
            shared: None,
        })
    }

    /// The pages before one are copied to the block that is to replace the data block.
    fn pad(
        &mut self,
        plane: u32,
        (logical, page): (u32, u32),
        log: Option<usize>,
        flash: &mut Flash<'_>,
    ) -> Option<Job> {
        let log = match log {
            Some(log) => self.planes[plane as usize].logs[log],
            None => {
                let log = self.begin_log(plane, logical, flash)?;
                self.planes[plane as usize].logs.push(log);
                log
            }
        };
        Some(Job {
            copying: Some(Copying {
                logical,
                into: log.filled.block,
                at: log.filled.next,
                until: page,
                next: page,
                only: None,
                purpose: Purpose::Pad(log.filled.next),
            }),
            ..Job::default()
        })
    }

    /// What is in a data block is copied to another one, because of wear, reads or age; its first step, `None` if the block is no data block or
    /// no other is free.
    pub fn relocate(&mut self, plane: u32, block: u32, flash: &mut Flash<'_>) -> Option<Step> {
        let its = &self.planes[plane as usize];
        let mut data = (0..).zip(&its.data);
        let (logical, data) = data.find_map(|(logical, data)| {
            data.filter(|data| data.block == block)
                .map(|data| (logical, data))
        })?;
        let into = self.open(plane, flash)?;
        self.planes[plane as usize].job = Some(Job {
            copying: Some(Copying {
                logical,
                into,
                at: 0,
                until: self.pages,
                next: data.next,
                only: Some(block),
                purpose: Purpose::Merge,
            }),
            erases: [Old::data(data, self.pages)].into(),
            shared: None,
        });
        self.next_step(plane, flash)
    }

    /// The next step of what a plane does before its next page is written; `None` when that is over.
    pub fn next_step(&mut self, plane: u32, flash: &mut Flash<'_>) -> Option<Step> {
        loop {
            let mut job = self.planes[plane as usize].job.take()?;
            if let Some(copying) = &mut job.copying {
                let step = self.next_copy(plane, copying, flash);
                if step.is_none() {
                    let over = *copying;
                    job.copying = None;
                    self.copied(plane, over, flash);
                }
                self.planes[plane as usize].job = Some(job);
                if step.is_some() {
                    return step;
                }
                continue;
            }
            if let Some(old) = job.erases.pop_front() {
                self.planes[plane as usize].job = Some(job);
                return Some(Step::Erase(old.block));
            }
            let (log, has_merged) = job.shared?;
            match self.next_of_shared(log.block, flash) {
                Some(logical) => {
                    let erases = self.blocks_of(plane, logical);
                    // Without a free block the drive is worn out, and everything stays where it is.
                    let mut merge = self.full_merge(plane, logical, erases, flash)?;
                    merge.shared = Some((log, true));
                    job = merge;
                }
                None => {
                    self.counts.dropped += u64::from(!has_merged);
                    job.shared = None;
                    job.erases.push_back(Old::log(log));
                }
            }
            self.planes[plane as usize].job = Some(job);
        }
    }

    /// The next page that is copied.
    fn next_copy(&self, plane: u32, copying: &mut Copying, flash: &Flash<'_>) -> Option<Step> {
        while copying.at < copying.until {
            let page = copying.at;
            copying.at += 1;
            let Some(unit) = self.unit_at(plane, copying.logical, page) else {
                continue;
            };
            let Some(from) = (flash.home)(unit) else {
                continue;
            };
            let block = from / self.pages;
            if block != copying.into && copying.only.is_none_or(|only| only == block) {
                copying.next = copying.next.max(page + 1);
                let to = copying.into * self.pages + page;
                return Some(Step::Copy { unit, from, to });
            }
        }
        None
    }

    /// All pages have been copied.
    fn copied(&mut self, plane: u32, copying: Copying, flash: &mut Flash<'_>) {
        let Copying {
            logical,
            into,
            next,
            purpose,
            ..
        } = copying;
        match purpose {
            Purpose::Merge => self.set_data(plane, logical, into, next, flash),
            Purpose::Pad(_) => {
                let mut logs = self.planes[plane as usize].logs.iter_mut();
                if let Some(log) = logs.find(|log| log.filled.block == into) {
                    log.filled.next = next;
                }
            }
        }
    }

    /// The logical block of the first valid page of a log block.
    fn next_of_shared(&self, block: u32, flash: &Flash<'_>) -> Option<u32> {
        let mut slots = block * self.pages..(block + 1) * self.pages;
        let unit = slots.find_map(|slot| flash.map.unit(slot))?;
        Some(self.place_of(unit).0)
    }

    /// The blocks that are erased when a logical block has been copied: its data block, and its log block of sequential writes.
    fn blocks_of(&mut self, plane: u32, logical: u32) -> VecDeque<Old> {
        let its = &mut self.planes[plane as usize];
        let data = its.data[logical as usize].map(|data| Old::data(data, self.pages));
        let log = its.sequential.take_if(|log| log.owner == logical);
        let log = log.map(|log| Old::log(log.filled));
        data.into_iter().chain(log).collect()
    }
}
