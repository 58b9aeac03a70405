//! Plain models of the policies of several lists: vectors, oldest first.

use super::models::{Free, Model};

pub fn take(list: &mut Vec<u64>, key: u64) -> bool {
    let at = list.iter().position(|&other| other == key);
    at.map(|at| list.remove(at)).is_some()
}

pub fn first_free(list: &mut Vec<u64>, free: Free<'_>) -> Option<u64> {
    let at = list.iter().position(|&key| free(key))?;
    Some(list.remove(at))
}

/// In libCacheSim's reading the lowest segment has a size as well.
pub struct Slru {
    pub segments: Vec<Vec<u64>>,
    pub room: Vec<usize>,
    pub fills_upwards: bool,
    pub falls_out: bool,
}

impl Model for Slru {
    fn hit(&mut self, key: u64) {
        let top = self.segments.len() - 1;
        let at = self
            .segments
            .iter()
            .position(|segment| segment.contains(&key));
        let at = at.expect("it is there");
        let to = (at + 1).min(top);
        take(&mut self.segments[at], key);
        self.segments[to].push(key);
        if at < top && self.segments[to].len() > self.room[to] {
            let falls = self.segments[to].remove(0);
            self.segments[at].push(falls);
            self.falls_out |= at == 0;
        }
    }
    fn shed(&mut self, free: Free<'_>) -> Option<u64> {
        // It is asked again at the next hit, until there are no more than its room.
        let is_over = self.segments[0].len() > self.room[0];
        self.falls_out &= self.fills_upwards && is_over;
        self.falls_out
            .then(|| first_free(&mut self.segments[0], free))?
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        let mut segments = self.segments.iter_mut();
        segments.find_map(|segment| first_free(segment, free))
    }
    fn insert(&mut self, key: u64) {
        self.falls_out = false;
        let mut segments = 0..self.segments.len();
        let low =
            segments.find(|&at| self.fills_upwards && self.segments[at].len() < self.room[at]);
        self.segments[low.unwrap_or(0)].push(key);
    }
    fn remove(&mut self, key: u64) {
        self.segments.iter_mut().for_each(|segment| {
            take(segment, key);
        });
    }
}

#[derive(Default)]
pub struct TwoQ {
    pub room: usize,
    pub remembers: usize,
    pub first: Vec<u64>,
    pub again: Vec<u64>,
    pub out: Vec<u64>,
    pub is_back: bool,
}

impl TwoQ {
    fn evict_first(&mut self, free: Free<'_>) -> Option<u64> {
        let key = first_free(&mut self.first, free)?;
        self.out.push(key);
        if self.out.len() > self.remembers {
            self.out.remove(0);
        }
        Some(key)
    }
}

impl Model for TwoQ {
    fn hit(&mut self, key: u64) {
        if take(&mut self.again, key) {
            self.again.push(key);
        }
    }
    fn miss(&mut self, key: u64) {
        self.is_back = take(&mut self.out, key);
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        if self.first.len() > self.room {
            let key = self.evict_first(free);
            key.or_else(|| first_free(&mut self.again, free))
        } else {
            let key = first_free(&mut self.again, free);
            key.or_else(|| self.evict_first(free))
        }
    }
    fn insert(&mut self, key: u64) {
        if self.is_back {
            self.again.push(key);
        } else {
            self.first.push(key);
        }
    }
    fn remove(&mut self, key: u64) {
        take(&mut self.first, key);
        take(&mut self.again, key);
    }
}

/// The paper's figure 4; the target in 2⁻³² of a block.
pub struct Arc {
    pub capacity: usize,
    pub target: u64,
    pub t: [Vec<u64>; 2],
    pub b: [Vec<u64>; 2],
    pub was_in: Option<usize>,
}

impl Arc {
    fn replace(&mut self, free: Free<'_>) -> Option<u64> {
        let once = (self.t[0].len() as u64) << 32;
        let from_first =
            once > 0 && (once > self.target || once == self.target && self.was_in == Some(1));
        let order = if from_first { [0, 1] } else { [1, 0] };
        order.into_iter().find_map(|list| {
            let key = first_free(&mut self.t[list], free)?;
            self.b[list].push(key);
            Some(key)
        })
    }
}

impl Model for Arc {
    fn hit(&mut self, key: u64) {
        self.remove(key);
        self.t[1].push(key);
    }
    fn miss(&mut self, key: u64) {
        let (one, two) = (self.b[0].len() as u64, self.b[1].len() as u64);
        let step = |hit: u64, other: u64| ((other << 32) / hit).max(1 << 32);
        self.was_in = (0..2).find(|&list| self.b[list].contains(&key));
        match self.was_in {
            Some(0) => {
                let most = (self.capacity as u64) << 32;
                self.target = (self.target + step(one, two)).min(most);
            }
            Some(_) => self.target = self.target.saturating_sub(step(two, one)),
            None => {}
        }
        self.b.iter_mut().for_each(|list| {
            take(list, key);
        });
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        let l1 = self.t[0].len() + self.b[0].len();
        let all = l1 + self.t[1].len() + self.b[1].len();
        if self.was_in.is_none() && l1 >= self.capacity {
            if self.b[0].is_empty() {
                return first_free(&mut self.t[0], free);
            }
            self.b[0].remove(0);
        } else if self.was_in.is_none() && all >= 2 * self.capacity {
            self.b[1].remove(0);
        }
        self.replace(free)
    }
    fn insert(&mut self, key: u64) {
        self.t[usize::from(self.was_in.is_some())].push(key);
        if self.t[0].len() + self.b[0].len() > self.capacity && !self.b[0].is_empty() {
            self.b[0].remove(0);
        }
    }
    fn remove(&mut self, key: u64) {
        self.t.iter_mut().for_each(|list| {
            take(list, key);
        });
    }
}

/// Key, hits.
#[derive(Default)]
pub struct S3Fifo {
    pub small_room: usize,
    pub main_room: usize,
    pub remembers: usize,
    pub is_libcachesim: bool,
    pub small: Vec<(u64, u32)>,
    pub main: Vec<(u64, u32)>,
    pub ghosts: Vec<u64>,
    pub is_back: bool,
}

impl S3Fifo {
    fn evict_main(&mut self, free: Free<'_>) -> Option<u64> {
        loop {
            let at = self.main.iter().position(|block| free(block.0))?;
            let (key, hits) = self.main.remove(at);
            if hits == 0 {
                return Some(key);
            }
            self.main.push((key, hits.min(3) - 1));
        }
    }
    fn evict_small(&mut self, free: Free<'_>) -> Option<u64> {
        loop {
            let at = self.small.iter().position(|block| free(block.0))?;
            let (key, hits) = self.small.remove(at);
            if hits < 2 {
                self.ghosts.push(key);
                if self.ghosts.len() > self.remembers {
                    self.ghosts.remove(0);
                }
                return Some(key);
            }
            self.main.push((key, 0));
            if !self.is_libcachesim && self.main.len() > self.main_room {
                return self.evict_main(free);
            }
        }
    }
}

impl Model for S3Fifo {
    fn hit(&mut self, key: u64) {
        let mut blocks = self.small.iter_mut().chain(&mut self.main);
        blocks.find(|block| block.0 == key).expect("it is there").1 += 1;
    }
    fn miss(&mut self, key: u64) {
        self.is_back = take(&mut self.ghosts, key);
    }
    fn evict(&mut self, free: Free<'_>) -> Option<u64> {
        if self.small.len() >= self.small_room {
            let key = self.evict_small(free);
            key.or_else(|| self.evict_main(free))
        } else {
            let key = self.evict_main(free);
            key.or_else(|| self.evict_small(free))
        }
    }
    fn insert(&mut self, key: u64) {
        if self.is_back {
            self.main.push((key, 0));
        } else {
            self.small.push((key, 0));
        }
    }
    fn remove(&mut self, key: u64) {
        self.small.retain(|block| block.0 != key);
        self.main.retain(|block| block.0 != key);
    }
}
