//! What the blocks of a drive are for: which are free, which are written, what is valid in them, how often they were erased.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::geometry::Geometry;

/// Who writes a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// The host.
    Host,
    /// Cleaning, which moves data.
    Cleaning,
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
    /// It is being cleaned.
    Victim,
    /// It cannot be used.
    Bad,
}

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Units in it that are the newest of their number.
    pub valid: u32,
    /// How often it was erased.
    pub erases: u32,
    /// When it was sealed, counted in sealed blocks of the whole drive.
    pub sealed: u64,
    /// What it is.
    pub state: BlockState,
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
    open: [Option<OpenBlock>; 2],
    valid: u32,
    usable: u32,
}

/// All blocks of a drive.
pub struct Blocks {
    geometry: Geometry,
    blocks: Vec<Block>,
    planes: Vec<Plane>,
    /// Sealed blocks so far, and freed ones.
    sealed: u64,
    freed: u64,
    levels_wear: bool,
    /// Cleaning writes blocks of its own.
    is_separate: bool,
    endurance: Option<u32>,
    erases: u64,
}

/// How blocks are used.
#[derive(Clone, Copy, Debug)]
pub struct BlockRules {
    /// Of free blocks the one erased least is written next; else the one that has been free longest.
    pub levels_wear: bool,
    /// Cleaning writes blocks of its own; else those that the host writes.
    pub is_separate: bool,
    /// After so many erases a block cannot be used any more.
    pub endurance: Option<u32>,
}

impl Blocks {
    /// Blocks that are all free, but for bad ones.
    pub fn new(geometry: Geometry, rules: BlockRules, is_bad: impl Fn(u32) -> bool) -> Blocks {
        let mut blocks = Blocks {
            geometry,
            blocks: Vec::with_capacity(geometry.all_blocks() as usize),
            planes: Vec::new(),
            sealed: 0,
            freed: 0,
            levels_wear: rules.levels_wear,
            is_separate: rules.is_separate,
            endurance: rules.endurance,
            erases: 0,
        };
        blocks
            .planes
            .resize_with(geometry.all_planes() as usize, Plane::default);
        for number in 0..geometry.all_blocks() {
            let state = if is_bad(number) {
                BlockState::Bad
            } else {
                BlockState::Free
            };
            blocks.blocks.push(Block {
                valid: 0,
                erases: 0,
                sealed: 0,
                state,
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

    fn stream(&self, writer: Writer) -> usize {
        if self.is_separate { writer as usize } else { 0 }
    }

    /// Whether the next page of a writer begins a new block.
    #[inline]
    pub fn needs_block(&self, plane: u32, writer: Writer) -> bool {
        self.planes[plane as usize].open[self.stream(writer)].is_none()
    }

    /// Whether the next page of a writer is the last one of its block.
    pub fn is_last_page(&self, plane: u32, writer: Writer) -> bool {
        let open = self.planes[plane as usize].open[self.stream(writer)];
        open.map_or(0, |open| open.page) + 1 == self.geometry.pages
    }

    /// The next page of a writer on a plane: its first slot. A new block is opened where it needs one; `None` if there is none. When
    /// its data are on it, [`written`](Self::written) is called.
    #[inline]
    pub fn next_page(&mut self, plane: u32, writer: Writer) -> Option<u32> {
        let stream = self.stream(writer);
        let state = &mut self.planes[plane as usize];
        let open = match state.open[stream] {
            Some(open) => open,
            None => {
                let Reverse((_, block)) = state.free.pop()?;
                self.blocks[block as usize].state = BlockState::Open;
                OpenBlock { block, page: 0 }
            }
        };
        let next = OpenBlock {
            page: open.page + 1,
            ..open
        };
        state.open[stream] = (next.page < self.geometry.pages).then_some(next);
        Some((open.block * self.geometry.pages + open.page) * self.geometry.units)
    }

    /// The page that begins at a slot is written: the last one seals its block.
    #[inline]
    pub fn written(&mut self, slot: u32) {
        let units = self.geometry.units_of_block();
        if slot % units == units - self.geometry.units {
            let block = &mut self.blocks[(slot / units) as usize];
            block.state = BlockState::Sealed;
            block.sealed = self.sealed;
            self.sealed += 1;
        }
    }

    /// A slot holds the newest data of a unit from now on, or no longer.
    #[inline]
    pub fn count(&mut self, slot: u32, is_valid: bool) {
        let block = self.geometry.block_of(slot);
        let plane = &mut self.planes[(block / self.geometry.blocks) as usize];
        let block = &mut self.blocks[block as usize];
        if is_valid {
            (block.valid, plane.valid) = (block.valid + 1, plane.valid + 1);
        } else {
            (block.valid, plane.valid) = (block.valid - 1, plane.valid - 1);
        }
    }

    /// A sealed block is cleaned from now on.
    pub fn choose(&mut self, block: u32) {
        let state = &mut self.blocks[block as usize].state;
        debug_assert_eq!(*state, BlockState::Sealed, "only sealed blocks are cleaned");
        *state = BlockState::Victim;
    }

    /// A block without valid units is erased: it is free, or worn out. Whether it is free.
    pub fn erase(&mut self, block: u32) -> bool {
        let entry = &mut self.blocks[block as usize];
        debug_assert_eq!(entry.valid, 0, "what is valid is not erased");
        entry.erases += 1;
        self.erases += 1;
        if self.endurance.is_some_and(|most| entry.erases >= most) {
            entry.state = BlockState::Bad;
            self.planes[(block / self.geometry.blocks) as usize].usable -= 1;
            return false;
        }
        self.free(block);
        true
    }
}
