//! Superblocks: blocks of planes on different dies that are written and erased together, with one page of parity in each of their stripes.
//!
//! The pages with one number of the blocks of a superblock are a *stripe*. All but one hold data; the page of parity is the sum of these, and moves
//! from stripe to stripe.

use super::blocks::{Block, Blocks, Writer};
use super::geometry::Geometry;

const NONE: u32 = u32::MAX;

/// A page that has been chosen to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenPage {
    /// Its first slot.
    pub slot: u32,
    /// Whether a superblock was opened for it.
    pub is_first: bool,
    /// The first slot of the page of parity of its stripe, of which it is the last page with data.
    pub parity: Option<u32>,
}

/// A superblock of which pages are written.
#[derive(Clone, Copy, Debug)]
struct OpenSuperblock {
    leader: u32,
    /// The number among its pages with data of the next one.
    next: u32,
}

/// The superblocks of a drive. Each is known by its *leader*, its block on the first plane of its set.
pub struct Superblocks {
    geometry: Geometry,
    /// Planes of a set, each with a page of every stripe.
    width: u32,
    /// The planes, those of a set one after the other.
    planes: Vec<u32>,
    /// The place of each plane among these.
    place_of: Vec<u32>,
    /// The blocks of each plane that belong to superblocks, in ascending order, and the place there of each block.
    blocks_of: Vec<Vec<u32>>,
    index_of: Vec<u32>,
    /// The open superblocks of each set: one for each stream of the host, and one for cleaning.
    open: Vec<Option<OpenSuperblock>>,
    streams: u32,
    /// Pages of an open superblock, those of parity among them, that have not been written, by its leader.
    left: Vec<u32>,
}

impl Superblocks {
    /// The superblocks of planes of which `width` at a time make a set, in their order. Blocks that can be used, but have no counterpart on another
    /// plane of their set, become ones that are bad.
    pub fn new(
        geometry: Geometry,
        planes: Vec<u32>,
        width: u32,
        streams: u32,
        is_bad: &mut [bool],
    ) -> Superblocks {
        let mut blocks_of = vec![Vec::new(); planes.len()];
        let mut index_of = vec![NONE; is_bad.len()];
        let mut place_of = vec![0; planes.len()];
        for (place, &plane) in (0..).zip(&planes) {
            place_of[plane as usize] = place;
        }
        for set in planes.chunks(width as usize) {
            let good = |plane: u32| {
                let first = plane * geometry.blocks;
                first..first + geometry.blocks
            };
            let usable = |plane: u32| good(plane).filter(|&block| !is_bad[block as usize]);
            let count = set.iter().map(|&plane| usable(plane).count()).min();
            for &plane in set {
                let of_plane: Vec<u32> = usable(plane).take(count.unwrap_or(0)).collect();
                for (index, &block) in (0..).zip(&of_plane) {
                    index_of[block as usize] = index;
                }
                blocks_of[plane as usize] = of_plane;
            }
        }
        for (is_bad, &index) in is_bad.iter_mut().zip(&index_of) {
            *is_bad |= index == NONE;
        }
        let sets = planes.len() as u32 / width;
        Superblocks {
            geometry,
            width,
            planes,
            place_of,
            blocks_of,
            left: vec![0; index_of.len()],
            index_of,
            open: vec![None; (sets * (streams + 1)) as usize],
            streams,
        }
    }

    /// Sets of planes.
    pub fn sets(&self) -> u32 {
        self.planes.len() as u32 / self.width
    }

    /// Pages of a stripe, that of parity among them.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The set of a plane.
    #[inline]
    pub fn set_of(&self, plane: u32) -> u32 {
        self.place_of[plane as usize] / self.width
    }

    /// The planes of a set.
    #[inline]
    pub fn planes_of(&self, set: u32) -> &[u32] {
        let first = (set * self.width) as usize;
        &self.planes[first..first + self.width as usize]
    }

    /// The first plane of a set.
    #[inline]
    pub fn first_plane(&self, set: u32) -> u32 {
        self.planes[(set * self.width) as usize]
    }

    /// Pages with data of a superblock.
    pub fn data_pages(&self) -> u32 {
        self.geometry.pages * (self.width - 1)
    }

    /// Units of a superblock.
    pub fn units(&self) -> u32 {
        self.data_pages() * self.geometry.units
    }

    /// The blocks of a superblock, in the order of the planes.
    pub fn members(&self, leader: u32) -> impl Iterator<Item = u32> + '_ {
        let set = self.set_of(leader / self.geometry.blocks);
        let index = self.index_of[leader as usize] as usize;
        let planes = self.planes_of(set).iter();
        planes.map(move |&plane| self.blocks_of[plane as usize][index])
    }

    /// The leader of a block's superblock.
    #[inline]
    pub fn leader_of(&self, block: u32) -> u32 {
        let set = self.set_of(block / self.geometry.blocks);
        let leaders = &self.blocks_of[self.first_plane(set) as usize];
        leaders[self.index_of[block as usize] as usize]
    }

    /// The first slot of a page of a superblock, of which the stripe and the place in the set are known.
    fn slot_at(&self, leader: u32, stripe: u32, place: u32) -> u32 {
        let set = self.set_of(leader / self.geometry.blocks);
        let plane = self.planes[(set * self.width + place) as usize];
        let index = self.index_of[leader as usize];
        let block = self.blocks_of[plane as usize][index as usize];
        (block * self.geometry.pages + stripe) * self.geometry.units
    }

    /// The place in the set of the plane with the parity of a stripe: the last one of the first stripe, then the one before.
    fn parity_place(&self, stripe: u32) -> u32 {
        self.width - 1 - stripe % self.width
    }

    /// The first slot of a page with data of a superblock: stripe by stripe, in the order of the planes.
    pub fn data_slot(&self, leader: u32, page: u32) -> u32 {
        let (stripe, column) = (page / (self.width - 1), page % (self.width - 1));
        let place = column + u32::from(column >= self.parity_place(stripe));
        self.slot_at(leader, stripe, place)
    }

    /// The first slot of the page of parity of a stripe.
    pub fn parity_slot(&self, leader: u32, stripe: u32) -> u32 {
        self.slot_at(leader, stripe, self.parity_place(stripe))
    }

    fn place(&self, set: u32, writer: Writer) -> usize {
        let writer = match writer {
            Writer::Host(stream) => stream,
            Writer::Cleaning | Writer::Slc => self.streams,
        };
        (set * (self.streams + 1) + writer) as usize
    }

    /// Whether the next page of a writer begins a superblock.
    #[inline]
    pub fn needs_superblock(&self, set: u32, writer: Writer) -> bool {
        self.open[self.place(set, writer)].is_none()
    }

    /// The next page of a writer in a set. A superblock is opened where it needs one: the free one that the planes would open; `None` if there is
    /// none.
    pub fn next_page(
        &mut self,
        set: u32,
        writer: Writer,
        blocks: &mut Blocks,
    ) -> Option<ChosenPage> {
        let place = self.place(set, writer);
        let open = match self.open[place] {
            Some(open) => open,
            None => {
                let leader = self.open_superblock(set, blocks)?;
                OpenSuperblock { leader, next: 0 }
            }
        };
        let next = OpenSuperblock {
            next: open.next + 1,
            ..open
        };
        self.open[place] = (next.next < self.data_pages()).then_some(next);
        let is_last_of_stripe = next.next.is_multiple_of(self.width - 1);
        let stripe = open.next / (self.width - 1);
        Some(ChosenPage {
            slot: self.data_slot(open.leader, open.next),
            is_first: open.next == 0,
            parity: is_last_of_stripe.then(|| self.parity_slot(open.leader, stripe)),
        })
    }

    fn open_superblock(&mut self, set: u32, blocks: &mut Blocks) -> Option<u32> {
        let leader = blocks.open_block(self.first_plane(set))?;
        for place in 1..self.width {
            let plane = self.planes[(set * self.width + place) as usize];
            let block = blocks.open_block(plane);
            debug_assert_eq!(
                block.map(|block| self.leader_of(block)),
                Some(leader),
                "the blocks of a superblock have been erased together"
            );
        }
        self.left[leader as usize] = self.geometry.pages * self.width;
        Some(leader)
    }

    /// A page of data or parity is on flash: with the last one its superblock is sealed.
    pub fn written(&mut self, slot: u32, blocks: &mut Blocks) {
        blocks.count_written(slot);
        let leader = self.leader_of(self.geometry.block_of(slot));
        let left = &mut self.left[leader as usize];
        *left -= 1;
        if *left == 0 {
            for block in self.members(leader) {
                blocks.seal_block(block);
            }
        }
    }

    /// The superblocks of a set as blocks, with what is valid in all of their blocks, in the order of their leaders.
    pub fn of_set(&self, set: u32, blocks: &Blocks) -> (&[u32], Vec<Block>) {
        let leaders = &self.blocks_of[self.first_plane(set) as usize];
        let all = leaders.iter().map(|&leader| Block {
            valid: self.valid_in(leader, blocks),
            ..*blocks.block(leader)
        });
        (leaders, all.collect())
    }

    /// Valid units of a superblock.
    pub fn valid_in(&self, leader: u32, blocks: &Blocks) -> u32 {
        let members = self.members(leader);
        members.map(|block| blocks.block(block).valid).sum()
    }

    /// Valid units of a set.
    #[inline]
    pub fn valid_of(&self, set: u32, blocks: &Blocks) -> u32 {
        let planes = self.planes_of(set).iter();
        planes.map(|&plane| blocks.valid_of(plane)).sum()
    }

    /// The blocks of superblocks that are being written, and how many pages of each have been chosen.
    pub fn open_blocks(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.open.iter().flatten().flat_map(|open| {
            let (stripes, rest) = (open.next / (self.width - 1), open.next % (self.width - 1));
            let parity = self.parity_place(stripes);
            let members = (0..self.width).zip(self.members(open.leader));
            members.map(move |(place, block)| {
                // Of the stripe that is not full the pages before the next one have been chosen, and its parity has not.
                let column = place - u32::from(place > parity);
                (block, stripes + u32::from(place != parity && column < rest))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Size;
    use crate::models::flash::blocks::{BlockRules, BlockState};
    use crate::models::flash::geometry::GeometryDescription;

    fn geometry() -> Geometry {
        let description = GeometryDescription {
            channels: 4,
            packages: 1,
            dies: 1,
            planes: 1,
            blocks: 5,
            pages: 3,
            page: Size::from_blocks(8),
            unit: None,
        };
        description.build().expect("a small drive")
    }

    fn both(is_bad: &[u32]) -> (Superblocks, Blocks) {
        let rules = BlockRules {
            levels_wear: true,
            streams: 1,
            is_separate: true,
            endurance: None,
            slc: None,
            reserve: 0,
        };
        let mut bad = vec![false; 20];
        for &block in is_bad {
            bad[block as usize] = true;
        }
        let all = Superblocks::new(geometry(), vec![0, 1, 2, 3], 4, 1, &mut bad);
        let blocks = Blocks::new(geometry(), rules, |block| bad[block as usize]);
        (all, blocks)
    }

    /// Slots by their plane and their page, the first superblock being written.
    fn order(all: &mut Superblocks, blocks: &mut Blocks) -> Vec<(u32, Option<u32>)> {
        let next = || all.next_page(0, Writer::Host(0), blocks);
        let pages = std::iter::from_fn(next).take(9);
        pages.map(|page| (page.slot, page.parity)).collect()
    }

    #[test]
    fn pages_go_stripe_by_stripe_and_parity_moves_by_a_plane() {
        let (mut all, mut blocks) = both(&[]);
        // Each plane has 5 blocks of 3 pages: 15 slots.
        let expected = [
            (0, None),
            (15, None),
            (30, Some(45)),
            (1, None),
            (16, None),
            (46, Some(31)),
            (2, None),
            (32, None),
            (47, Some(17)),
        ];
        assert_eq!(order(&mut all, &mut blocks), expected);
        assert!(all.needs_superblock(0, Writer::Host(0)));
    }

    #[test]
    fn a_superblock_is_sealed_when_all_its_pages_are_on_flash() {
        let (mut all, mut blocks) = both(&[]);
        let pages = order(&mut all, &mut blocks);
        let mut slots: Vec<u32> = pages
            .iter()
            .flat_map(|&(slot, parity)| [Some(slot), parity])
            .flatten()
            .collect();
        let last = slots.remove(0);
        for slot in slots {
            all.written(slot, &mut blocks);
            assert_eq!(blocks.block(0).state, BlockState::Open);
        }
        all.written(last, &mut blocks);
        for block in [0, 5, 10, 15] {
            assert_eq!(blocks.block(block).state, BlockState::Sealed);
        }
    }

    #[test]
    fn blocks_that_have_no_counterpart_are_bad() {
        let (all, blocks) = both(&[1, 12, 13]);
        assert_eq!(all.members(0).collect::<Vec<_>>(), [0, 5, 10, 15]);
        assert_eq!(all.members(2).collect::<Vec<_>>(), [2, 6, 11, 16]);
        assert_eq!(all.members(3).collect::<Vec<_>>(), [3, 7, 14, 17]);
        assert_eq!(all.leader_of(14), 3);
        for plane in 0..4 {
            assert_eq!(blocks.usable_of(plane), 3);
        }
    }

    #[test]
    fn of_open_superblocks_it_is_known_how_far_each_block_is() {
        let (mut all, mut blocks) = both(&[]);
        // One stripe and two pages of the next one, whose parity is on the third plane.
        for _ in 0..5 {
            all.next_page(0, Writer::Host(0), &mut blocks);
        }
        let open: Vec<(u32, u32)> = all.open_blocks().collect();
        assert_eq!(open, [(0, 2), (5, 2), (10, 1), (15, 1)]);
    }

    #[test]
    fn what_is_valid_in_a_superblock_is_the_sum_of_its_blocks() {
        let (mut all, mut blocks) = both(&[]);
        for (slot, _) in order(&mut all, &mut blocks) {
            blocks.count(slot, true);
        }
        let (leaders, superblocks) = all.of_set(0, &blocks);
        assert_eq!((leaders[0], superblocks[0].valid), (0, 9));
        assert_eq!(superblocks[1].valid, 0);
        assert_eq!(all.valid_of(0, &blocks), 9);
    }
}
