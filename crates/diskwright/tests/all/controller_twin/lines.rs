//! The lines of a memory cache: what they have, and which leaves.

use super::model::Model;
use super::specs::{Cache, Memory, Policy};
use crate::support::twins::runs;

#[derive(Clone, Debug)]
pub struct Line {
    pub key: u64,
    /// Of each block, whether it is there, and whether it is newer than on its device.
    pub there: Vec<bool>,
    pub dirty: Vec<bool>,
}

impl Line {
    fn is_dirty(&self) -> bool {
        self.dirty.contains(&true)
    }

    /// The runs of its blocks from one to below another that are there, or are not.
    pub fn runs(&self, from: u64, end: u64, there: bool) -> Vec<(u64, u64)> {
        runs((from..end).filter(|&block| self.there[block as usize] == there))
    }
}

/// What an access to a line comes to.
pub enum Access {
    Held,
    /// It has a place now; and the line that had it, if one had to leave.
    New(Option<Line>),
    /// All lines are in use.
    None,
}

impl Model<'_> {
    pub fn memory(&self) -> Memory {
        match self.case.cache {
            Cache::Memory(memory) => memory,
            _ => unreachable!("there is a memory cache"),
        }
    }

    pub fn line(&self, key: u64) -> Option<&Line> {
        self.lines.iter().find(|line| line.key == key)
    }

    pub fn line_mut(&mut self, key: u64) -> &mut Line {
        let mut lines = self.lines.iter_mut();
        lines.find(|line| line.key == key).expect("it is there")
    }

    /// Whether some work keeps a line.
    pub fn is_kept(&self, key: u64) -> bool {
        self.works.iter().any(|work| work.keeps.contains(&key))
    }

    /// The part of a run that lies in each line: the line, the first block within it, and the one behind its last.
    pub fn parts(&self, (from, end): (u64, u64)) -> Vec<(u64, u64, u64)> {
        let size = self.memory().line;
        let mut parts = Vec::new();
        let mut at = from;
        while at < end {
            let key = at / size;
            let until = end.min((key + 1) * size);
            parts.push((key, at - key * size, until - key * size));
            at = until;
        }
        parts
    }

    pub fn is_there(&self, lbn: u64) -> bool {
        let size = self.memory().line;
        let line = self.line(lbn / size);
        line.is_some_and(|line| line.there[(lbn % size) as usize])
    }

    pub fn is_dirty_in_memory(&self, lbn: u64) -> bool {
        let size = self.memory().line;
        let line = self.line(lbn / size);
        line.is_some_and(|line| line.dirty[(lbn % size) as usize])
    }

    /// The first dirty block from one on, and the dirty ones behind it, at most `most` in all.
    pub fn next_dirty(&self, from: u64, most: u64) -> Option<(u64, u64)> {
        let first = (from..self.case.blocks()).find(|&lbn| self.is_dirty_in_memory(lbn))?;
        let mut end = first + 1;
        while end < first + most && self.is_dirty_in_memory(end) {
            end += 1;
        }
        Some((first, end))
    }

    /// A line is accessed, and gets a place if it has none.
    pub fn access(&mut self, key: u64) -> Access {
        let Memory {
            lines,
            line: size,
            policy,
            prefers_clean,
            ..
        } = self.memory();
        if let Some(at) = self.lines.iter().position(|line| line.key == key) {
            if policy == Policy::Lru {
                let line = self.lines.remove(at);
                self.lines.push(line);
            }
            return Access::Held;
        }
        let mut victim = None;
        if self.lines.len() == lines {
            let mut may: Vec<usize> = (0..lines).collect();
            may.retain(|&at| !self.is_kept(self.lines[at].key));
            if policy == Policy::Lifo {
                may.reverse();
            }
            let is_clean = |at: &&usize| prefers_clean && !self.lines[**at].is_dirty();
            let Some(&at) = may.iter().find(is_clean).or(may.first()) else {
                return Access::None;
            };
            victim = Some(self.lines.remove(at));
        }
        self.lines.push(Line {
            key,
            there: vec![false; size as usize],
            dirty: vec![false; size as usize],
        });
        Access::New(victim)
    }

    /// Some work keeps a line no longer, which loses its place if it has no blocks and nobody keeps it.
    pub fn let_go_of(&mut self, key: u64) {
        if !self.is_kept(key) {
            let is_empty = |line: &Line| line.key == key && !line.there.contains(&true);
            self.lines.retain(|line| !is_empty(line));
        }
    }

    /// Blocks are forgotten, and lines that have none then, unless they are kept.
    pub fn trim_memory(&mut self, run: (u64, u64)) {
        for (key, from, end) in self.parts(run) {
            if self.line(key).is_none() {
                continue;
            }
            let line = self.line_mut(key);
            for block in from as usize..end as usize {
                (line.there[block], line.dirty[block]) = (false, false);
            }
            self.let_go_of(key);
        }
    }

    pub fn count_what_memory_holds(&mut self) {
        let blocks = self.lines.iter().flat_map(|line| &line.dirty);
        let dirty = blocks.filter(|is_dirty| **is_dirty).count() as u64;
        self.add("lines_at_end", self.lines.len() as u64);
        self.add("dirty_blocks_at_end", dirty);
    }
}
