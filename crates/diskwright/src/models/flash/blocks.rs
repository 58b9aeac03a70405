//! What the blocks of a drive are for: which are free, which are written, what is valid in them, how often they were erased.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::geometry::Geometry;

/// The writer of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A stream of the host.
    Host(u32),
    /// Cleaning, which moves data.
    Cleaning,
    /// All streams of the host, in SLC mode.
    Slc,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// Erased, with nothing in it.
    Free,
    /// Its pages are written, one after another.
    Open,
    /// All its pages are written.
    Sealed,
    /// All its pages are written, in SLC mode: it is folded, never a candidate of the victim policy.
    SealedSlc,
    /// It is being cleaned.
    Victim,
    /// A program of it has failed: what is valid in it is moved, and nothing is written in it.
    Retiring,
    /// It failed, and nothing of it is valid.
    Retired,
    /// It cannot be used: from the start, or because it is worn out.
    Bad,
}

impl BlockState {
    /// Whether nothing is written in the block any more, ever.
    pub fn is_lost(self) -> bool {
        matches!(
            self,
            BlockState::Retiring | BlockState::Retired | BlockState::Bad
        )
    }
}

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Units in it that are the newest of their number.
    pub valid: u32,
    /// How often it was erased.
    pub erases: u32,
    /// Pages that have been programmed since.
    pub written: u32,
    /// When it was sealed, counted in sealed blocks of the whole drive.
    pub sealed: u64,
    /// What it is.
    pub state: BlockState,
    /// Its pages are written in SLC mode.
    pub is_slc: bool,
}

/// A block of which pages are written.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    block: u32,
    page: u32,
}

/// The blocks of one plane that are free or written.
#[derive(Debug, Default)]
struct Plane {
    /// Free blocks, the one erased least first, of equals the one with the lowest number; without wear levelling the one freed first.
    free: BinaryHeap<Reverse<(u64, u32)>>,
    valid: u32,
    usable: u32,
    /// Blocks in SLC mode, and of those the sealed ones in the order in which they were sealed.
    slc: u32,
    folds: VecDeque<u32>,
    /// Blocks with a failed program that wait to be cleaned, in the order in which they failed.
    retiring: VecDeque<u32>,
}

/// All blocks of a drive.
pub struct Blocks {
    geometry: Geometry,
    blocks: Vec<Block>,
    planes: Vec<Plane>,
    /// The open blocks of each plane, one for each of its writers.
    open: Vec<Option<OpenBlock>>,
    /// Streams of the host, and writers of a plane, cleaning among them where it is one of its own.
    streams: u32,
    writers: u32,
    /// The SLC cache, if there is one.
    slc: Option<SlcRules>,
    /// Blocks of a plane that are left to cleaning for when others fail.
    reserve: u32,
    /// Sealed blocks so far, and freed ones.
    sealed: u64,
    freed: u64,
    levels_wear: bool,
    endurance: Option<u32>,
    erases: u64,
}

/// What was programmed up to some moment.
#[derive(Clone, Debug, Default)]
pub struct ProgrammedUntil {
    /// Blocks that were sealed.
    sealed: u64,
    /// The blocks that were open, how often they had been erased, and their pages.
    open: Vec<(u32, u32, u32)>,
}

/// How blocks are used.
#[derive(Clone, Copy, Debug)]
pub struct BlockRules {
    /// Of free blocks the one erased least is written next; else the one that has been free longest.
    pub levels_wear: bool,
    /// Streams of the host, each of which writes blocks of its own.
    pub streams: u32,
    /// Cleaning writes blocks of its own; else those of the host's last stream.
    pub is_separate: bool,
    /// The number of erases that a block endures.
    pub endurance: Option<u32>,
    /// The SLC cache, if there is one.
    pub slc: Option<SlcRules>,
    /// Blocks of a plane that are left to cleaning for when others fail.
    pub reserve: u32,
}

/// How many blocks of a plane may be in SLC mode.
#[derive(Clone, Copy, Debug)]
pub struct SlcRules {
    /// Pages of a block in SLC mode.
    pub pages: u32,
    /// Blocks that always may be.
    pub fixed: u32,
    /// Blocks that may be besides, at most, while data need fewer.
    pub dynamic: u32,
}

impl Blocks {
    /// Blocks that are all free, but for bad ones.
    pub fn new(geometry: Geometry, rules: BlockRules, is_bad: impl Fn(u32) -> bool) -> Blocks {
        let mut blocks = Blocks {
            geometry,
            blocks: Vec::with_capacity(geometry.all_blocks() as usize),
            planes: Vec::new(),
            open: Vec::new(),
            streams: rules.streams,
            writers: rules.streams + u32::from(rules.is_separate),
            slc: rules.slc,
            reserve: rules.reserve,
            sealed: 0,
            freed: 0,
            levels_wear: rules.levels_wear,
            endurance: rules.endurance,
            erases: 0,
        };
        blocks
            .planes
            .resize_with(geometry.all_planes() as usize, Plane::default);
        blocks
            .open
            .resize((geometry.all_planes() * blocks.stride()) as usize, None);
        for number in 0..geometry.all_blocks() {
            let state = if is_bad(number) {
                BlockState::Bad
            } else {
                BlockState::Free
            };
            blocks.blocks.push(Block {
                valid: 0,
                erases: 0,
                written: 0,
                sealed: 0,
                state,
                is_slc: false,
            });
            if state == BlockState::Free {
                blocks.planes[(number / geometry.blocks) as usize].usable += 1;
                blocks.free(number);
            }
        }
        blocks
    }

    fn free(&mut self, block: u32) {
        let rank = if self.levels_wear {
            u64::from(self.blocks[block as usize].erases)
        } else {
            self.freed += 1;
            self.freed
        };
        self.blocks[block as usize].state = BlockState::Free;
        self.planes[(block / self.geometry.blocks) as usize]
            .free
            .push(Reverse((rank, block)));
    }

    /// The blocks of a plane, from the number of the first one on.
    pub fn of_plane(&self, plane: u32) -> (u32, &[Block]) {
        let first = plane * self.geometry.blocks;
        let end = first + self.geometry.blocks;
        (first, &self.blocks[first as usize..end as usize])
    }

    /// A block.
    pub fn block(&self, block: u32) -> &Block {
        &self.blocks[block as usize]
    }

    /// All blocks.
    pub fn all(&self) -> &[Block] {
        &self.blocks
    }

    /// Free blocks of a plane.
    #[inline]
    pub fn free_of(&self, plane: u32) -> u32 {
        self.planes[plane as usize].free.len() as u32
    }

    /// Free blocks of the drive.
    pub fn free_of_all(&self) -> u64 {
        self.planes
            .iter()
            .map(|plane| plane.free.len() as u64)
            .sum()
    }

    /// Blocks of a plane that are not bad.
    pub fn usable_of(&self, plane: u32) -> u32 {
        self.planes[plane as usize].usable
    }

    /// Valid units of a plane.
    #[inline]
    pub fn valid_of(&self, plane: u32) -> u32 {
        self.planes[plane as usize].valid
    }

    /// Erases so far.
    pub fn erases(&self) -> u64 {
        self.erases
    }

    /// Blocks that were sealed so far: the clock of policies.
    pub fn clock(&self) -> u64 {
        self.sealed
    }

    /// Where the open block of a writer is kept.
    #[inline]
    fn place(&self, plane: u32, writer: Writer) -> usize {
        let writer = match writer {
            Writer::Host(stream) => stream,
            Writer::Cleaning => self.writers - 1,
            Writer::Slc => self.writers,
        };
        (plane * self.stride() + writer) as usize
    }

    /// Places of open blocks of a plane.
    #[inline]
    fn stride(&self) -> u32 {
        self.writers + u32::from(self.slc.is_some())
    }

    /// How many blocks of a plane are written at a time: one for each stream of the host, and one for cleaning unless it shares the last of these.
    pub fn writers(&self) -> u32 {
        self.writers
    }

    /// Whether a writer of the host fills the same blocks as cleaning.
    #[inline]
    pub fn is_shared(&self, writer: Writer) -> bool {
        self.place(0, writer) == self.place(0, Writer::Cleaning)
    }

    /// The blocks of a plane that are kept from data: what is being written, one that cleaning may open, those that may always be in SLC mode, and
    /// the reserve.
    pub fn kept(&self) -> u32 {
        self.streams + 2 + self.slc.map_or(0, |slc| slc.fixed.max(1)) + self.reserve
    }

    /// Blocks of a plane that are left to cleaning for when others fail.
    #[inline]
    pub fn reserve(&self) -> u32 {
        self.reserve
    }

    /// Blocks of a plane that are in SLC mode.
    #[inline]
    pub fn slc_of(&self, plane: u32) -> u32 {
        self.planes[plane as usize].slc
    }

    /// The most blocks of a plane in SLC mode: the fixed ones, and up to `dynamic` of those that neither data nor writing need.
    pub fn slc_most(&self, plane: u32) -> u32 {
        let Some(slc) = self.slc else { return 0 };
        let data = self
            .valid_of(plane)
            .div_ceil(self.geometry.units_of_block());
        let unused = self.usable_of(plane).saturating_sub(self.kept() + data);
        slc.fixed + slc.dynamic.min(unused)
    }

    /// Whether a slot is in a block in SLC mode.
    #[inline]
    pub fn is_slc(&self, slot: u32) -> bool {
        self.slc.is_some() && self.blocks[self.geometry.block_of(slot) as usize].is_slc
    }

    /// Pages of a block as it is written now.
    #[inline]
    fn pages_of(&self, block: u32) -> u32 {
        match self.slc {
            Some(slc) if self.blocks[block as usize].is_slc => slc.pages,
            _ => self.geometry.pages,
        }
    }

    /// Whether a plane has a sealed block in SLC mode.
    #[inline]
    pub fn has_fold(&self, plane: u32) -> bool {
        !self.planes[plane as usize].folds.is_empty()
    }

    /// The block of a plane in SLC mode that was sealed first is cleaned from now on.
    pub fn choose_fold(&mut self, plane: u32) -> Option<u32> {
        let block = self.planes[plane as usize].folds.pop_front()?;
        self.blocks[block as usize].state = BlockState::Victim;
        Some(block)
    }

    /// Whether the next page of a writer begins a new block.
    #[inline]
    pub fn needs_block(&self, plane: u32, writer: Writer) -> bool {
        self.open[self.place(plane, writer)].is_none()
    }

    /// The number in its block of the next page of a writer.
    #[inline]
    pub fn next_number(&self, plane: u32, writer: Writer) -> u32 {
        self.open[self.place(plane, writer)].map_or(0, |open| open.page)
    }

    /// The next page of a writer on a plane: its first slot. A new block is opened where it needs one; `None` if there is none. When
    /// its data are on it, [`written`](Self::written) is called.
    #[inline]
    pub fn next_page(&mut self, plane: u32, writer: Writer) -> Option<u32> {
        let place = self.place(plane, writer);
        let open = match self.open[place] {
            Some(open) => open,
            None => {
                let Reverse((_, block)) = self.planes[plane as usize].free.pop()?;
                self.blocks[block as usize].state = BlockState::Open;
                if writer == Writer::Slc {
                    self.blocks[block as usize].is_slc = true;
                    self.planes[plane as usize].slc += 1;
                }
                OpenBlock { block, page: 0 }
            }
        };
        let next = OpenBlock {
            page: open.page + 1,
            ..open
        };
        let pages = self.pages_of(open.block);
        self.open[place] = (next.page < pages).then_some(next);
        Some((open.block * self.geometry.pages + open.page) * self.geometry.units)
    }

    /// The page that begins at a slot is written: the last one seals its block.
    #[inline]
    pub fn written(&mut self, slot: u32) {
        self.count_written(slot);
        if self.slc.is_some() && self.is_slc(slot) {
            self.written_slc(slot);
        } else if self.geometry.is_last_page(slot) {
            self.seal(self.geometry.block_of(slot), BlockState::Sealed);
        }
    }

    /// Counts a page that is written, the one that begins at a slot.
    #[inline]
    pub fn count_written(&mut self, slot: u32) {
        self.blocks[self.geometry.block_of(slot) as usize].written += 1;
    }

    fn written_slc(&mut self, slot: u32) {
        let block = self.geometry.block_of(slot);
        if self.geometry.page_in_block(slot) + 1 == self.pages_of(block) {
            self.seal(block, BlockState::SealedSlc);
            let plane = block / self.geometry.blocks;
            self.planes[plane as usize].folds.push_back(block);
        }
    }

    #[inline]
    fn seal(&mut self, block: u32, state: BlockState) {
        let block = &mut self.blocks[block as usize];
        block.state = state;
        block.sealed = self.sealed;
        self.sealed += 1;
    }

    /// Opens the free block of a plane that is next, for a caller that knows what is written in it.
    pub fn open_block(&mut self, plane: u32) -> Option<u32> {
        let Reverse((_, block)) = self.planes[plane as usize].free.pop()?;
        self.blocks[block as usize].state = BlockState::Open;
        Some(block)
    }

    /// All that is to be written in a block has been.
    pub fn seal_block(&mut self, block: u32) {
        self.seal(block, BlockState::Sealed);
    }

    /// A slot holds the newest data of a unit from now on, or no longer.
    #[inline]
    pub fn count(&mut self, slot: u32, is_valid: bool) {
        let plane = &mut self.planes[self.geometry.plane_of(slot) as usize];
        let block = &mut self.blocks[self.geometry.block_of(slot) as usize];
        if is_valid {
            (block.valid, plane.valid) = (block.valid + 1, plane.valid + 1);
        } else {
            (block.valid, plane.valid) = (block.valid - 1, plane.valid - 1);
        }
    }

    /// All slots of the page that begins at a slot hold the newest data of units from now on.
    pub fn count_page(&mut self, slot: u32) {
        let block = self.geometry.block_of(slot);
        self.planes[(block / self.geometry.blocks) as usize].valid += self.geometry.units;
        self.blocks[block as usize].valid += self.geometry.units;
    }

    /// Of the sealed native blocks of a plane the one that was erased least, if any block of the plane was erased more than `spread` times
    /// oftener.
    pub fn least_erased(&self, plane: u32, spread: u32) -> Option<u32> {
        let (first, blocks) = self.of_plane(plane);
        let used = blocks.iter().filter(|block| !block.state.is_lost());
        let most = used.map(|block| block.erases).max()?;
        let sealed = (first..)
            .zip(blocks)
            .filter(|(_, block)| block.state == BlockState::Sealed);
        let (number, least) = sealed.min_by_key(|(_, block)| block.erases)?;
        (most - least.erases > spread).then_some(number)
    }

    /// A sealed block is cleaned from now on.
    pub fn choose(&mut self, block: u32) {
        let state = &mut self.blocks[block as usize].state;
        debug_assert_eq!(*state, BlockState::Sealed, "only sealed blocks are cleaned");
        *state = BlockState::Victim;
    }

    /// The blocks that are being written page by page, with the numbers of their next pages.
    pub fn open_blocks(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let open = self.open.iter().flatten();
        open.map(|open| (open.block, open.page))
    }

    /// What has been programmed so far.
    pub fn programmed_until(&self) -> ProgrammedUntil {
        let all = (0..).zip(&self.blocks);
        let open = all.filter(|(_, block)| block.state == BlockState::Open);
        ProgrammedUntil {
            sealed: self.sealed,
            open: open
                .map(|(number, block)| (number, block.erases, block.written))
                .collect(),
        }
    }

    /// Pages of a block that is open, or was sealed, that have been programmed since, or are under way; `now` says how many have been begun of one
    /// that is being written.
    pub fn programmed_since(&self, block: u32, now: Option<u32>, since: &ProgrammedUntil) -> u32 {
        let entry = &self.blocks[block as usize];
        let mut then = since.open.iter();
        let then = then.find(|&&(other, erases, _)| (other, erases) == (block, entry.erases));
        let before = then.map_or(0, |&(.., pages)| pages);
        let all = self.pages_of(block);
        match entry.state {
            BlockState::Open => {
                // The last pages of a block are under way when it is open for nobody any more.
                now.unwrap_or(all).saturating_sub(before)
            }
            _ if entry.sealed >= since.sealed => all - before,
            _ => 0,
        }
    }

    /// A block without valid units is erased: it is free, or worn out. Whether it is free.
    pub fn erase(&mut self, block: u32) -> bool {
        self.count_erase(block);
        let entry = &mut self.blocks[block as usize];
        if self.endurance.is_some_and(|most| entry.erases >= most) {
            entry.state = BlockState::Bad;
            self.planes[(block / self.geometry.blocks) as usize].usable -= 1;
            return false;
        }
        self.free(block);
        true
    }

    fn count_erase(&mut self, block: u32) {
        let entry = &mut self.blocks[block as usize];
        (entry.erases, entry.written) = (entry.erases + 1, 0);
        self.erases += 1;
        self.leave_slc(block);
    }

    /// A block is not in SLC mode any more.
    fn leave_slc(&mut self, block: u32) {
        let entry = &mut self.blocks[block as usize];
        debug_assert_eq!(entry.valid, 0, "what is valid is neither erased nor lost");
        if std::mem::replace(&mut entry.is_slc, false) {
            self.planes[(block / self.geometry.blocks) as usize].slc -= 1;
        }
    }

    /// The erase of a block without valid units has failed.
    pub fn fail_erase(&mut self, block: u32) {
        self.count_erase(block);
        self.blocks[block as usize].state = BlockState::Retired;
        self.planes[(block / self.geometry.blocks) as usize].usable -= 1;
    }

    /// A program of a block has failed: the block counts as sealed, and waits to be cleaned a last time.
    pub fn fail(&mut self, block: u32) {
        let (plane, stride) = (block / self.geometry.blocks, self.stride());
        let first = (plane * stride) as usize;
        for open in &mut self.open[first..first + stride as usize] {
            _ = open.take_if(|open| open.block == block);
        }
        self.seal(block, BlockState::Retiring);
        let plane = &mut self.planes[plane as usize];
        plane.usable -= 1;
        plane.retiring.push_back(block);
    }

    /// Whether a plane has a block with a failed program that waits to be cleaned, and another one to move its data to without the last free one.
    pub fn may_retire(&self, plane: u32) -> bool {
        self.free_of(plane) >= 2 && !self.planes[plane as usize].retiring.is_empty()
    }

    /// The block of a plane that failed first is cleaned from now on.
    pub fn choose_retiring(&mut self, plane: u32) -> Option<u32> {
        match self.may_retire(plane) {
            true => self.planes[plane as usize].retiring.pop_front(),
            false => None,
        }
    }

    /// Nothing of a block is valid any more of which a program failed.
    pub fn retire(&mut self, block: u32) {
        self.leave_slc(block);
        self.blocks[block as usize].state = BlockState::Retired;
    }
}
