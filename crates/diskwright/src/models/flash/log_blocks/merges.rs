//! The steps before a page can be written: pages are copied and blocks erased, one step after another.

use std::collections::VecDeque;

use super::choices::Choice;
use super::{Flash, Log, LogBlocks, LogScheme};

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
    /// It stays the log block of its logical block.
    Pad,
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

/// What a plane does before its next page is written.
#[derive(Default)]
pub(super) struct Job {
    copying: Option<Copying>,
    /// Blocks that are erased when everything has been copied.
    erases: VecDeque<u32>,
    /// A log block of many logical blocks, each of which is merged by itself, and whether one has been.
    shared: Option<(u32, bool)>,
}

impl Job {
    /// Blocks that it has, and how many pages of each must be looked at to know what is in it.
    pub fn to_scan(&self, pages: u32) -> impl Iterator<Item = (u32, u32)> {
        let into = self.copying.iter();
        let into = into.filter(|copying| matches!(copying.purpose, Purpose::Merge));
        let into = into.map(|copying| (copying.into, copying.at));
        let shared = self.shared.map(|(block, _)| (block, pages));
        // While pages are copied the first of them is still the data block.
        let (counted, of_each) = match self.copying {
            Some(_) => (1, pages),
            None => (0, 1),
        };
        let erases = self.erases.iter().skip(counted);
        into.chain(shared)
            .chain(erases.map(move |&block| (block, of_each)))
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
                            shared: Some((log.filled.block, false)),
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
        let data = data.expect("what is logged has been written before").block;
        if flash.blocks.block(log.filled.block).valid == 0 {
            self.counts.dropped += 1;
            return Some(Job {
                erases: [log.filled.block].into(),
                ..Job::default()
            });
        }
        if !log.in_place {
            return self.full_merge(plane, log.owner, [data, log.filled.block].into(), flash);
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
        erases: VecDeque<u32>,
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
                purpose: Purpose::Pad,
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
            erases: [block].into(),
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
            if let Some(block) = job.erases.pop_front() {
                self.planes[plane as usize].job = Some(job);
                return Some(Step::Erase(block));
            }
            let (block, has_merged) = job.shared?;
            match self.next_of_shared(block, flash) {
                Some(logical) => {
                    let erases = self.blocks_of(plane, logical);
                    // Without a free block the drive is worn out, and everything stays where it is.
                    let mut merge = self.full_merge(plane, logical, erases, flash)?;
                    merge.shared = Some((block, true));
                    job = merge;
                }
                None => {
                    self.counts.dropped += u64::from(!has_merged);
                    job.shared = None;
                    job.erases.push_back(block);
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
            Purpose::Pad => {
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
    fn blocks_of(&mut self, plane: u32, logical: u32) -> VecDeque<u32> {
        let its = &mut self.planes[plane as usize];
        let data = its.data[logical as usize].map(|data| data.block);
        let log = its.sequential.take_if(|log| log.owner == logical);
        data.into_iter()
            .chain(log.map(|log| log.filled.block))
            .collect()
    }
}
