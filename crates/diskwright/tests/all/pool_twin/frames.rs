//! The frames of the twin's pool: a list in the order in which they leave.

use std::collections::BTreeSet;

/// A frame, with some or all blocks of one extent.
pub struct Frame {
    /// The extent's number.
    pub extent: u64,
    pub valid: BTreeSet<u64>,
    pub dirty: BTreeSet<u64>,
    /// When it got its first dirty block after having had none.
    pub since: u64,
}

/// All frames.
pub struct Frames {
    /// The next victim first.
    list: Vec<Frame>,
    most: usize,
    /// Blocks of an extent.
    size: u64,
    /// Whether an access makes an extent the last one to leave.
    is_lru: bool,
}

impl Frames {
    pub fn new(most: usize, size: u64, is_lru: bool) -> Frames {
        Frames {
            list: Vec::new(),
            most,
            size,
            is_lru,
        }
    }

    /// The extents of the blocks `from..to`.
    pub fn extents(&self, from: u64, to: u64) -> std::ops::Range<u64> {
        from / self.size..to.div_ceil(self.size)
    }

    /// The blocks of an extent.
    pub fn blocks(&self, extent: u64) -> (u64, u64) {
        (extent * self.size, (extent + 1) * self.size)
    }

    pub fn all(&self) -> &[Frame] {
        &self.list
    }

    pub fn get(&self, extent: u64) -> Option<&Frame> {
        self.list.iter().find(|frame| frame.extent == extent)
    }

    fn of_block(&mut self, block: u64) -> Option<&mut Frame> {
        let extent = block / self.size;
        self.list.iter_mut().find(|frame| frame.extent == extent)
    }

    pub fn is_valid(&self, block: u64) -> bool {
        self.get(block / self.size)
            .is_some_and(|frame| frame.valid.contains(&block))
    }

    pub fn is_dirty(&self, block: u64) -> bool {
        self.get(block / self.size)
            .is_some_and(|frame| frame.dirty.contains(&block))
    }

    /// An access to an extent: whether it has a frame then.
    pub fn access(&mut self, extent: u64, is_pinned: impl Fn(&Frame) -> bool) -> bool {
        if let Some(at) = self.list.iter().position(|frame| frame.extent == extent) {
            if self.is_lru {
                let frame = self.list.remove(at);
                self.list.push(frame);
            }
            return true;
        }
        if self.list.len() == self.most {
            let Some(victim) = self.list.iter().position(|frame| !is_pinned(frame)) else {
                return false;
            };
            self.list.remove(victim);
        }
        self.list.push(Frame {
            extent,
            valid: BTreeSet::new(),
            dirty: BTreeSet::new(),
            since: 0,
        });
        true
    }

    /// Takes an extent out.
    pub fn remove(&mut self, extent: u64) {
        self.list.retain(|frame| frame.extent != extent);
    }

    /// A block becomes valid, if its extent has a frame.
    pub fn make_valid(&mut self, block: u64) {
        if let Some(frame) = self.of_block(block) {
            frame.valid.insert(block);
        }
    }

    /// A block becomes valid and dirty; its extent has a frame.
    pub fn make_dirty(&mut self, block: u64, now: u64) {
        let frame = self.of_block(block).expect("a frame");
        if frame.dirty.is_empty() {
            frame.since = now;
        }
        frame.valid.insert(block);
        frame.dirty.insert(block);
    }

    /// A block is on its way to the medium.
    pub fn make_clean(&mut self, block: u64) {
        let frame = self.of_block(block).expect("a frame");
        frame.dirty.remove(&block);
    }

    /// A block is trimmed.
    pub fn forget(&mut self, block: u64) {
        if let Some(frame) = self.of_block(block) {
            frame.valid.remove(&block);
            frame.dirty.remove(&block);
        }
    }
}
