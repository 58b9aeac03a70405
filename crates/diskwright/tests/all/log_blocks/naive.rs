//! What the rules of docs/model/flash.md do to a list of writes, counted with lists and searches: no time, one plane, no wear.

use super::drive::{Act, Drive};

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub switch: u64,
    pub partial: u64,
    pub full: u64,
    pub dropped: u64,
    pub moved: u64,
    pub erases: u64,
    pub logs: u64,
}

/// A block: what was written on its pages, in the order of the pages, up to the last one that has been written or passed over.
#[derive(Clone, Default)]
struct Written {
    pages: Vec<Option<usize>>,
    /// When it was written last.
    last: usize,
}

pub struct Naive<'a> {
    drive: &'a Drive<'a>,
    blocks: Vec<Written>,
    /// The data block of each logical block.
    data: Vec<Option<usize>>,
    /// Log blocks with their logical blocks, in the order in which they were begun; of those that all share, none.
    logs: Vec<(usize, Option<usize>)>,
    sequential: Option<(usize, usize)>,
    /// Where the newest data of a page are.
    newest: Vec<Option<(usize, usize)>>,
    clock: usize,
    counts: Counts,
}

impl Naive<'_> {
    /// What a drive counts.
    pub fn counts(drive: &Drive<'_>, acts: &[Act]) -> Counts {
        let mut naive = Naive {
            drive,
            blocks: Vec::new(),
            data: vec![None; drive.data],
            logs: Vec::new(),
            sequential: None,
            newest: vec![None; drive.data * drive.pages],
            clock: 0,
            counts: Counts::default(),
        };
        if drive.filled {
            (0..drive.data * drive.pages).for_each(|page| naive.write(page));
            naive.counts = Counts::default();
        }
        for &act in acts {
            match act {
                Act::Write(page) => naive.write(page),
                Act::Trim(page) => naive.newest[page] = None,
            }
        }
        let logs = naive.logs.len() + usize::from(naive.sequential.is_some());
        Counts {
            logs: logs as u64,
            ..naive.counts
        }
    }

    fn new_block(&mut self) -> usize {
        self.blocks.push(Written::default());
        self.blocks.len() - 1
    }

    /// Puts a page on a place of a block; those before it that are not written are passed over.
    fn put(&mut self, page: usize, block: usize, place: usize) {
        self.clock += 1;
        let written = &mut self.blocks[block];
        assert!(
            place >= written.pages.len(),
            "pages are written in their order"
        );
        written.pages.resize(place, None);
        written.pages.push(Some(page));
        written.last = self.clock;
        self.newest[page] = Some((block, place));
    }

    fn append(&mut self, page: usize, block: usize) {
        let place = self.blocks[block].pages.len();
        self.put(page, block, place);
    }

    fn write(&mut self, page: usize) {
        let (logical, place) = (page / self.drive.pages, page % self.drive.pages);
        let fits = match self.data[logical] {
            None => true,
            Some(block) => self.blocks[block].pages.len() <= place,
        };
        if fits {
            let block = self.data[logical].unwrap_or_else(|| self.new_block());
            self.data[logical] = Some(block);
            return self.put(page, block, place);
        }
        match self.drive.scheme {
            "block" => self.write_in_place(page, logical, place),
            "bast" => self.write_to_its_log(page, logical),
            _ => self.write_to_shared_log(page, logical, place),
        }
    }

    /// The log block of a logical block, in the list.
    fn log_of(&self, logical: usize) -> Option<usize> {
        self.logs.iter().position(|&(_, of)| of == Some(logical))
    }

    /// A new log block of a logical block; if there is none left another one is merged.
    fn new_log(&mut self, logical: usize) -> usize {
        if self.logs.len() == self.drive.log_blocks {
            let oldest = match self.drive.victim {
                Some("lru") => {
                    let mut oldest = 0;
                    for place in 1..self.logs.len() {
                        if self.blocks[self.logs[place].0].last
                            < self.blocks[self.logs[oldest].0].last
                        {
                            oldest = place;
                        }
                    }
                    oldest
                }
                _ => 0,
            };
            let (log, of) = self.logs.remove(oldest);
            self.merge(log, of.expect("it is of one"));
        }
        let log = self.new_block();
        self.logs.push((log, Some(logical)));
        log
    }

    fn write_in_place(&mut self, page: usize, logical: usize, place: usize) {
        if let Some(at) = self.log_of(logical)
            && self.blocks[self.logs[at].0].pages.len() > place
        {
            let (log, _) = self.logs.remove(at);
            self.merge(log, logical);
        }
        let log = match self.log_of(logical) {
            Some(at) => self.logs[at].0,
            None => self.new_log(logical),
        };
        self.copy(logical, log, self.blocks[log].pages.len()..place);
        self.put(page, log, place);
    }

    fn write_to_its_log(&mut self, page: usize, logical: usize) {
        if let Some(at) = self.log_of(logical)
            && self.blocks[self.logs[at].0].pages.len() == self.drive.pages
        {
            let (log, _) = self.logs.remove(at);
            self.merge(log, logical);
            // Its data block may have pages left now.
            return self.write(page);
        }
        let log = match self.log_of(logical) {
            Some(at) => self.logs[at].0,
            None => self.new_log(logical),
        };
        self.append(page, log);
    }

    fn write_to_shared_log(&mut self, page: usize, logical: usize, place: usize) {
        if place == 0 {
            if let Some((log, of)) = self.sequential.take() {
                self.merge(log, of);
                // It may have been that of the page.
                return self.write(page);
            }
            let log = self.new_block();
            self.sequential = Some((log, logical));
            return self.append(page, log);
        }
        if let Some((log, of)) = self.sequential.filter(|&(_, of)| of == logical) {
            if self.blocks[log].pages.len() == place {
                return self.append(page, log);
            }
            self.sequential = None;
            self.merge(log, of);
            return self.write(page);
        }
        let is_full = |&(log, _): &(usize, _)| self.blocks[log].pages.len() == self.drive.pages;
        if self.logs.last().is_none_or(is_full) {
            if self.logs.len() == self.drive.log_blocks - 1 {
                let (victim, _) = self.logs.remove(0);
                self.merge_shared(victim);
                return self.write(page);
            }
            let log = self.new_block();
            self.logs.push((log, None));
        }
        let (log, _) = *self.logs.last().expect("one is there");
        self.append(page, log);
    }

    /// Copies the pages at these places of a logical block that have data elsewhere to a block.
    fn copy(&mut self, logical: usize, to: usize, places: std::ops::Range<usize>) {
        for place in places {
            let page = logical * self.drive.pages + place;
            if self.newest[page].is_some_and(|(block, _)| block != to) {
                let last = self.blocks[to].last;
                self.put(page, to, place);
                // Copies are no writes.
                self.blocks[to].last = last;
                self.counts.moved += 1;
            }
        }
    }

    fn is_newest(&self, block: usize, place: usize) -> bool {
        let page = self.blocks[block].pages[place];
        page.is_some_and(|page| self.newest[page] == Some((block, place)))
    }

    fn has_valid(&self, block: usize) -> bool {
        (0..self.blocks[block].pages.len()).any(|place| self.is_newest(block, place))
    }

    fn merge(&mut self, log: usize, logical: usize) {
        self.counts.erases += 1;
        if !self.has_valid(log) {
            self.counts.dropped += 1;
            return;
        }
        let of_log = self.blocks[log].pages.clone();
        let mut in_place = (0..).zip(&of_log);
        let is_in_place = in_place.all(|(place, page)| {
            page.is_none_or(|page| page == logical * self.drive.pages + place)
        });
        if !is_in_place {
            self.counts.erases += 1;
            return self.merge_all_of(logical);
        }
        match of_log.len() == self.drive.pages {
            true => self.counts.switch += 1,
            false => self.counts.partial += 1,
        }
        self.copy(logical, log, of_log.len()..self.drive.pages);
        self.data[logical] = Some(log);
    }

    /// Copies a logical block to a new block.
    fn merge_all_of(&mut self, logical: usize) {
        self.counts.full += 1;
        let into = self.new_block();
        self.copy(logical, into, 0..self.drive.pages);
        self.data[logical] = Some(into);
    }

    fn merge_shared(&mut self, victim: usize) {
        let mut has_merged = false;
        while let Some(place) =
            (0..self.blocks[victim].pages.len()).find(|&place| self.is_newest(victim, place))
        {
            let page = self.blocks[victim].pages[place].expect("it was written");
            let logical = page / self.drive.pages;
            self.merge_all_of(logical);
            self.counts.erases += 1;
            if self.sequential.is_some_and(|(_, of)| of == logical) {
                self.sequential = None;
                self.counts.erases += 1;
            }
            has_merged = true;
        }
        self.counts.dropped += u64::from(!has_merged);
        self.counts.erases += 1;
    }
}
