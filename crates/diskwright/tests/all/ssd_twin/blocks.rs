//! Blocks of a plane and what their pages hold.

use super::specs::Drive;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It holds no data ever.
    Reserved,
    Free,
    Open,
    /// A program of it has failed: what is valid in it is moved.
    Retiring,
    /// It failed, and nothing of it is valid.
    Retired,
    /// It has been erased as often as it can be.
    Worn,
    /// Its last page was written; the number is its place in the order in which the drive's blocks were filled.
    Sealed(u64),
}

pub struct Block {
    pub state: State,
    /// The unit in each slot of each page, if it is valid.
    pub slots: Vec<Vec<Option<usize>>>,
    /// When its first page was begun, if that was in the run, and reads since.
    pub opened: Option<u64>,
    pub reads: u64,
    /// It is in SLC mode.
    pub is_slc: bool,
    /// Pages whose programs have begun.
    pub begun: usize,
    /// The places in the order of all of the drive's programs of those that have ended.
    pub ended: Vec<Option<u64>>,
    /// Of a drive with a map of blocks, its pages that have been written since it was erased, and the unit of each.
    pub written: Vec<(usize, usize)>,
    pub erases: u64,
    /// A number that rises with every block that becomes free.
    pub freed: u64,
}

impl Block {
    pub fn can_be_used(&self) -> bool {
        !matches!(
            self.state,
            State::Reserved | State::Retiring | State::Retired | State::Worn
        )
    }

    pub fn valid(&self) -> usize {
        self.slots.iter().flatten().flatten().count()
    }
}

/// Where a unit is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub plane: usize,
    pub block: usize,
    pub page: usize,
    pub slot: usize,
}

impl Place {
    pub fn is_on_page_of(&self, other: &Place) -> bool {
        (self.plane, self.block, self.page) == (other.plane, other.block, other.page)
    }
}

/// A block that is being cleaned.
pub struct Job {
    pub block: usize,
    /// Units that have been moved out of it.
    pub moved: Vec<usize>,
}

pub struct Plane {
    pub blocks: Vec<Block>,
    /// The open blocks of the host's streams.
    pub host: Vec<Option<usize>>,
    /// The open block in SLC mode.
    pub slc: Option<usize>,
    /// The open block of cleaning.
    pub cleaning: Option<usize>,
    /// The blocks that are cleaned.
    pub jobs: Vec<Job>,
    /// Blocks with a failed program that wait to be cleaned.
    pub failed: Vec<usize>,
    /// Erases since a block was last moved for its wear.
    pub erases_since: usize,
    /// Units of pages that wait for the plane or are being programmed.
    pub expected: usize,
}

impl Plane {
    pub fn new(drive: &Drive) -> Plane {
        let block = |number| Block {
            state: if number < drive.reserved {
                State::Reserved
            } else {
                State::Free
            },
            slots: vec![vec![None; drive.units]; drive.pages],
            opened: None,
            reads: 0,
            is_slc: false,
            begun: 0,
            ended: vec![None; drive.pages],
            written: Vec::new(),
            erases: 0,
            freed: 0,
        };
        Plane {
            blocks: (0..drive.blocks).map(block).collect(),
            host: vec![None; drive.streams()],
            slc: None,
            cleaning: None,
            jobs: Vec::new(),
            failed: Vec::new(),
            erases_since: 0,
            expected: 0,
        }
    }

    pub fn free(&self) -> usize {
        self.blocks
            .iter()
            .filter(|block| block.state == State::Free)
            .count()
    }

    pub fn valid(&self) -> usize {
        self.blocks.iter().map(Block::valid).sum()
    }

    /// The free block that is opened next.
    pub fn next_free(&self, levelling: bool) -> Option<usize> {
        let free =
            (0..self.blocks.len()).filter(|&number| self.blocks[number].state == State::Free);
        free.min_by_key(|&number| {
            let block = &self.blocks[number];
            (if levelling { block.erases } else { block.freed }, number)
        })
    }

    /// The sealed native block erased least, if another was erased more than `spread` times oftener.
    pub fn erased_too_little(
        &self,
        spread: u64,
        is_sealed: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let used = self.blocks.iter().filter(|block| block.can_be_used());
        let most = used.map(|block| block.erases).max()?;
        let sealed = (0..self.blocks.len()).filter(|&number| is_sealed(number));
        let (least, number) = sealed
            .map(|number| (self.blocks[number].erases, number))
            .min()?;
        (most > least + spread).then_some(number)
    }

    /// Blocks that can be used.
    pub fn usable(&self) -> usize {
        let all = self.blocks.iter();
        all.filter(|block| block.can_be_used()).count()
    }

    /// Whether a block with a failed program may be cleaned: another one stays free.
    pub fn may_retire(&self) -> bool {
        !self.failed.is_empty() && self.free() >= 2
    }

    /// Blocks in SLC mode.
    pub fn in_slc(&self) -> usize {
        self.blocks.iter().filter(|block| block.is_slc).count()
    }

    /// Whether a block is being cleaned.
    pub fn cleans(&self, block: usize) -> bool {
        self.jobs.iter().any(|job| job.block == block)
    }

    /// The block in SLC mode that is folded next.
    fn next_fold(&self) -> Option<usize> {
        let sealed = self.blocks.iter().enumerate();
        let sealed = sealed.filter_map(|(number, block)| match block.state {
            State::Sealed(since) if block.is_slc && !self.cleans(number) => Some((since, number)),
            _ => None,
        });
        sealed.min().map(|(_, number)| number)
    }

    /// Whether a block waits to be folded.
    pub fn has_fold(&self) -> bool {
        self.next_fold().is_some()
    }

    /// How many blocks may be in SLC mode.
    pub fn slc_most(&self, drive: &Drive) -> usize {
        let Some(slc) = drive.slc else { return 0 };
        let data = self.valid().div_ceil(drive.block_units());
        let unused = self.usable().saturating_sub(drive.kept() + data);
        slc.fixed + slc.dynamic.min(unused)
    }

    /// The block to clean, of those that are sealed and worth it; `sealed` were sealed so far on the whole drive.
    pub fn choose_victim(&self, drive: &Drive, sealed: u64) -> Option<usize> {
        if let Some(fold) = self.next_fold() {
            return Some(fold);
        }
        // What is being cleaned is no candidate, nor anything else that is not sealed.
        let state = |number, block: &Block| match self.cleans(number) {
            true => State::Open,
            false => block.state,
        };
        let blocks = self.blocks.iter().enumerate();
        let blocks = blocks.map(|(number, block)| (state(number, block), block.valid()));
        worth_most(drive, sealed, drive.pages, blocks)
    }
}

/// Of blocks, or superblocks, of so many pages with data the one to clean, given what each is and how much of it is valid: the sealed one with the
/// largest worth, a fraction, the first of equals.
pub fn worth_most(
    drive: &Drive,
    sealed: u64,
    pages: usize,
    blocks: impl Iterator<Item = (State, usize)>,
) -> Option<usize> {
    let (all, most) = (pages * drive.units, (pages - 1) * drive.units);
    let mut best: Option<(usize, i128, i128)> = None;
    for (number, (state, valid)) in blocks.enumerate() {
        let State::Sealed(since) = state else {
            continue;
        };
        if valid > most {
            continue;
        }
        let (valid, all) = (valid as i128, all as i128);
        let (worth, of) = match drive.victim {
            "fifo" => (-i128::from(since), 1),
            "cost-benefit" => (i128::from(sealed - since) * (all - valid), all + valid),
            _ => (-valid, 1),
        };
        if best.is_none_or(|(_, most, its)| worth * its > most * of) {
            best = Some((number, worth, of));
        }
    }
    best.map(|(number, ..)| number)
}
