//! The arithmetic of `mqsim-clean` in a bare loop: the map, allocation, the times of packages and channels, cleaning. A channel and a package are booked when
//! a request comes, so that requests wait in the order of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use diskwright::base::random::Stream;

const CHANNELS: usize = 8;
const PACKAGES: usize = 32;
const PLANES: usize = 128;
const BLOCKS: usize = 64;
const PAGES_OF_BLOCK: usize = 256;
/// Pages of the flash.
pub const PAGES: u64 = (PLANES * BLOCKS * PAGES_OF_BLOCK) as u64;

/// Nanoseconds.
const READ: u64 = 75_000;
const PROGRAM: u64 = 750_000;
const ERASE: u64 = 3_800_000;
const READ_COMMAND: u64 = 290;
const PROGRAM_COMMAND: u64 = 361;
const TRANSFER: u64 = 12_288;
const HOST: u64 = 1_327;

/// A plane is cleaned when fewer of its blocks are free.
const BEGIN: usize = 10;
/// Blocks that are drawn for a victim.
const DRAWN: usize = 6;
const NONE: u32 = u32::MAX;

struct Plane {
    free: Vec<u32>,
    open: u32,
    next: u32,
}

/// The drive.
pub struct Flash {
    slot_of: Vec<u32>,
    page_of: Vec<u32>,
    valid: Vec<u16>,
    is_full: Vec<bool>,
    planes: Vec<Plane>,
    package_free: [u64; PACKAGES],
    channel_free: [u64; CHANNELS],
    chance: Stream,
    programmed: u64,
}

impl Flash {
    /// An empty one.
    pub fn new() -> Flash {
        let plane = |plane: usize| {
            let first = (plane * BLOCKS) as u32;
            // One block holds the map.
            let mut free: Vec<u32> = (first + 1..first + BLOCKS as u32).rev().collect();
            let open = free.pop().expect("many blocks");
            Plane {
                free,
                open,
                next: 0,
            }
        };
        Flash {
            slot_of: vec![NONE; PAGES as usize],
            page_of: vec![NONE; PAGES as usize],
            valid: vec![0; PLANES * BLOCKS],
            is_full: vec![false; PLANES * BLOCKS],
            planes: (0..PLANES).map(plane).collect(),
            package_free: [0; PACKAGES],
            channel_free: [0; CHANNELS],
            chance: Stream::new(1, "bare.victims"),
            programmed: 0,
        }
    }

    /// Runs a closed loop on the first `pages`; how many pages were programmed.
    pub fn run(&mut self, writes: bool, outstanding: u32, pages: u64, requests: u64) -> u64 {
        let mut address = Stream::new(1, "bare.address");
        let mut done: BinaryHeap<Reverse<u64>> = (0..outstanding).map(|_| Reverse(0)).collect();
        for _ in 0..requests {
            let Reverse(now) = done.pop().expect("as many as are outstanding");
            let page = address.below(pages) as usize;
            let end = match writes {
                true => self.write(now, page),
                false => self.read(now, page),
            };
            done.push(Reverse(end + HOST));
        }
        self.programmed
    }

    fn plane_of(page: usize) -> usize {
        let (channel, package) = (page % 8, page / 8 % 4);
        (channel * 4 + package) * 4 + page / 32 % 2 * 2 + page / 64 % 2
    }

    /// When a package and its channel are free for what comes now.
    fn begin(&self, now: u64, package: usize, channel: usize) -> u64 {
        now.max(self.package_free[package])
            .max(self.channel_free[channel])
    }

    fn read(&mut self, now: u64, page: usize) -> u64 {
        let plane = match self.slot_of[page] {
            NONE => {
                let plane = Flash::plane_of(page);
                self.place(plane, page as u32);
                plane
            }
            slot => slot as usize / PAGES_OF_BLOCK / BLOCKS,
        };
        let (package, channel) = (plane / 4, plane / 16);
        let begin = self.begin(now, package, channel);
        // The channel is booked until the data have crossed.
        let end = begin + READ_COMMAND + READ + TRANSFER;
        self.channel_free[channel] = end;
        self.package_free[package] = end;
        end
    }

    fn write(&mut self, now: u64, page: usize) -> u64 {
        let plane = Flash::plane_of(page);
        let (package, channel) = (plane / 4, plane / 16);
        let begin = self.begin(now, package, channel);
        let carried = begin + PROGRAM_COMMAND + TRANSFER;
        self.channel_free[channel] = carried;
        self.package_free[package] = carried + PROGRAM;
        self.place(plane, page as u32);
        while self.planes[plane].free.len() < BEGIN && self.clean(plane) {}
        carried + PROGRAM
    }

    /// Puts a page into the open block of a plane.
    fn place(&mut self, plane: usize, page: u32) {
        let state = &mut self.planes[plane];
        let slot = state.open * PAGES_OF_BLOCK as u32 + state.next;
        self.valid[state.open as usize] += 1;
        state.next += 1;
        if state.next as usize == PAGES_OF_BLOCK {
            self.is_full[state.open as usize] = true;
            state.open = state.free.pop().expect("cleaning keeps some");
            state.next = 0;
        }
        let before = std::mem::replace(&mut self.slot_of[page as usize], slot);
        if before != NONE {
            self.page_of[before as usize] = NONE;
            self.valid[before as usize / PAGES_OF_BLOCK] -= 1;
        }
        self.page_of[slot as usize] = page;
        self.programmed += 1;
    }

    /// Moves what is valid of a block and erases it.
    fn clean(&mut self, plane: usize) -> bool {
        let first = plane * BLOCKS;
        let victim = (0..DRAWN)
            .map(|_| first + self.chance.below(BLOCKS as u64) as usize)
            .filter(|&block| self.is_full[block])
            .min_by_key(|&block| self.valid[block]);
        let Some(victim) = victim else {
            return true;
        };
        if self.valid[victim] as usize == PAGES_OF_BLOCK {
            return false;
        }
        self.is_full[victim] = false;
        let package = plane / 4;
        for slot in victim * PAGES_OF_BLOCK..(victim + 1) * PAGES_OF_BLOCK {
            let page = self.page_of[slot];
            if page != NONE {
                self.place(plane, page);
                self.package_free[package] += READ + PROGRAM + 2 * TRANSFER;
            }
        }
        self.package_free[package] += ERASE;
        self.planes[plane].free.push(victim as u32);
        true
    }
}
