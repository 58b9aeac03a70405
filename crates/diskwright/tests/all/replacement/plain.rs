//! Plain models of the policies of one list: linear searches in vectors, oldest first.

use super::models::{Free, Model};

/// LRU, FIFO and LIFO.
#[derive(Default)]
pub struct Queue {
    pub moves_at_hits: bool,
    pub last_leaves: bool,
    pub blocks: Vec<u64>,
}

impl Model for Queue {
    fn hit(&mut self, key: u64) {
        if self.moves_at_hits {
            self.remove(key);
            self.blocks.push(key);
        }
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        let at = if self.last_leaves {
            self.blocks.iter().rposition(|&key| free(key))
        } else {
            self.blocks.iter().position(|&key| free(key))
        };
        at.map(|at| self.blocks.remove(at))
    }
    fn insert(&mut self, key: u64) {
        self.blocks.push(key);
    }
    fn remove(&mut self, key: u64) {
        self.blocks.retain(|&other| other != key);
    }
}

#[derive(Default)]
pub struct Clock(Vec<(u64, bool)>);

impl Model for Clock {
    fn hit(&mut self, key: u64) {
        let block = self.0.iter_mut().find(|block| block.0 == key);
        block.expect("it is there").1 = true;
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        loop {
            let at = self.0.iter().position(|block| free(block.0))?;
            let (key, is_marked) = self.0.remove(at);
            if !is_marked {
                return Some(key);
            }
            self.0.push((key, false));
        }
    }
    fn insert(&mut self, key: u64) {
        self.0.push((key, false));
    }
    fn remove(&mut self, key: u64) {
        self.0.retain(|block| block.0 != key);
    }
}

#[derive(Default)]
pub struct Sieve {
    blocks: Vec<(u64, bool)>,
    hand: usize,
}

impl Model for Sieve {
    fn hit(&mut self, key: u64) {
        let block = self.blocks.iter_mut().find(|block| block.0 == key);
        block.expect("it is there").1 = true;
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        self.blocks.iter().find(|block| free(block.0))?;
        loop {
            let (key, is_marked) = &mut self.blocks[self.hand];
            if free(*key) {
                if !*is_marked {
                    let key = *key;
                    self.remove(key);
                    return Some(key);
                }
                *is_marked = false;
            }
            self.hand += 1;
            if self.hand == self.blocks.len() {
                self.hand = 0;
            }
        }
    }
    fn insert(&mut self, key: u64) {
        self.blocks.push((key, false));
    }
    fn remove(&mut self, key: u64) {
        let at = self.blocks.iter().position(|block| block.0 == key);
        let at = at.expect("it is there");
        self.blocks.remove(at);
        if at < self.hand {
            self.hand -= 1;
        }
        // Past the youngest comes the oldest.
        if self.hand == self.blocks.len() {
            self.hand = 0;
        }
    }
}

/// Key, accesses, and when it reached them.
#[derive(Default)]
pub struct Lfu {
    blocks: Vec<(u64, u32, usize)>,
    now: usize,
}

impl Model for Lfu {
    fn hit(&mut self, key: u64) {
        self.now += 1;
        let block = self.blocks.iter_mut().find(|block| block.0 == key);
        let block = block.expect("it is there");
        (block.1, block.2) = (block.1 + 1, self.now);
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        let blocks = self.blocks.iter().filter(|block| free(block.0));
        let key = blocks.min_by_key(|block| (block.1, block.2))?.0;
        self.remove(key);
        Some(key)
    }
    fn insert(&mut self, key: u64) {
        self.now += 1;
        self.blocks.push((key, 1, self.now));
    }
    fn remove(&mut self, key: u64) {
        self.blocks.retain(|block| block.0 != key);
    }
}

/// Blocks worth less leave first; `worth` is told what it may depend on.
pub struct Belady {
    pub next: std::rc::Rc<std::cell::RefCell<u64>>,
    pub blocks: Vec<(u64, u64)>,
}

impl Model for Belady {
    fn hit(&mut self, key: u64) {
        self.remove(key);
        self.insert(key);
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        // Of those without a next access the first in the vector is the least recent.
        let blocks = self.blocks.iter().rev().filter(|block| free(block.0));
        let key = blocks.max_by_key(|block| block.1)?.0;
        self.remove(key);
        Some(key)
    }
    fn insert(&mut self, key: u64) {
        self.blocks.push((key, *self.next.borrow()));
    }
    fn remove(&mut self, key: u64) {
        self.blocks.retain(|block| block.0 != key);
    }
}
