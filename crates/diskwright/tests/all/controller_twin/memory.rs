//! What requests do with the lines of a memory cache.

use diskwright::engine::request::Op;

use super::lines::Access;
use super::model::Model;
use super::specs::{Cache, Memory, Writes};
use super::stages::{Kind, Place, Stage, Work};

impl Model<'_> {
    /// The lines that a piece finds when it has its blocks stay.
    pub fn hold_lines(&mut self, work: usize) {
        let Work {
            kind,
            op,
            from,
            end,
            ..
        } = self.works[work];
        let is_host = matches!(kind, Kind::Host(_));
        let has_lines = matches!(self.case.cache, Cache::Memory(_));
        if !is_host || !has_lines || !matches!(op, Op::Read | Op::Write) {
            return;
        }
        for (key, ..) in self.parts((from, end)) {
            let is_there = self.line(key).is_some();
            let of_work = &mut self.works[work];
            of_work.places.push(match is_there {
                true => Place::Found,
                false => Place::Unknown,
            });
            if is_there {
                of_work.keeps.push(key);
            }
        }
    }

    /// The lines of a piece get places from one of them on, and what is missing is fetched.
    pub fn take_lines(&mut self, work: usize, first: usize) {
        let by_line = self.memory().line_by_line;
        for line in first..self.works[work].places.len() {
            self.take_line(work, line);
            if self.works[work].left > 0 {
                return self.next_stage(work, Stage::Lines(line));
            }
            if by_line {
                self.fetch_line(work, line);
                if self.works[work].left > 0 {
                    return self.next_stage(work, Stage::Lines(line + 1));
                }
            }
        }
        if !by_line {
            self.fetch_all(work);
        }
        self.next_stage(work, Stage::Move);
    }

    fn take_line(&mut self, work: usize, line: usize) {
        let Work { from, end, .. } = self.works[work];
        let place = self.works[work].places[line];
        if matches!(place, Place::Taken | Place::None) {
            return;
        }
        let (key, ..) = self.parts((from, end))[line];
        let access = self.access(key);
        let of_work = &mut self.works[work];
        if let Access::None = access {
            of_work.places[line] = Place::None;
            of_work.has_bypassed = true;
            self.add("bypassed_lines", 1);
            return self.meet("a line that passes the cache by", true);
        }
        of_work.places[line] = Place::Taken;
        if place == Place::Unknown {
            of_work.keeps.push(key);
        }
        if let Access::New(victim) = access {
            self.hold_for_others(work, key);
            if let Some(victim) = victim {
                self.evict(work, &victim);
            }
        }
    }

    /// A line has come: it stays for others, too, who have blocks of it.
    fn hold_for_others(&mut self, work: usize, key: u64) {
        let Memory { line, lock, .. } = self.memory();
        if lock.unwrap_or(line).is_multiple_of(line) {
            return;
        }
        for other in self.locks.holders((key * line, (key + 1) * line)) {
            let of_other = &mut self.works[other];
            let first = of_other.from / line;
            if other == work || key < first || key - first >= of_other.places.len() as u64 {
                continue;
            }
            let place = (key - first) as usize;
            of_other.keeps.push(key);
            let is_to_come = of_other.places[place] == Place::Unknown;
            if is_to_come {
                of_other.places[place] = Place::Found;
            }
            self.meet("a line that another request has brought", is_to_come);
            self.meet("a line that came too late for a request", !is_to_come);
        }
    }

    /// A write's data have been moved: they are in the cache.
    pub fn write_to_memory(&mut self, work: usize) {
        let Work {
            op,
            fua,
            from,
            end,
            has_bypassed,
            ..
        } = self.works[work];
        let writes = match self.memory().writes {
            _ if fua => Writes::Synchronous,
            Writes::Through if has_bypassed => Writes::Synchronous,
            writes => writes,
        };
        for (line, (key, first, last)) in self.parts((from, end)).into_iter().enumerate() {
            if self.works[work].places[line] == Place::None {
                if writes == Writes::Back {
                    let base = key * self.memory().line;
                    self.ask(work, op, false, (base + first, base + last));
                }
                continue;
            }
            let (of_grains, to) = self.grains((key, first, last));
            let line = self.line_mut(key);
            for block in first as usize..last as usize {
                line.there[block] = true;
                line.dirty[block] = writes != Writes::Synchronous;
            }
            if writes == Writes::Back {
                for block in of_grains as usize..to as usize {
                    line.dirty[block] |= line.there[block];
                }
            }
        }
        self.works[work].has_missed |= has_bypassed || writes == Writes::Synchronous;
        match writes {
            Writes::Synchronous => self.ask(work, op, fua, (from, end)),
            Writes::Through => self.write_through(work),
            Writes::Back => {}
        }
        self.next_stage(work, Stage::Answer);
    }

    fn write_through(&mut self, work: usize) {
        let Work { op, from, end, .. } = self.works[work];
        let kind = Kind::WriteBack { is_leaving: false };
        let keeps = std::mem::take(&mut self.works[work].keeps);
        self.works.push(Work {
            keeps,
            ..Work::new(kind, op, (from, end))
        });
        let behind = self.works.len() - 1;
        let granted = self.locks.hand_over(work, behind);
        self.wake(granted);
        self.ask_for_memory(behind, op, (from, end));
        self.next_stage(behind, Stage::End);
    }

    /// The blocks of a line that are valid together with some of it.
    pub fn grains(&self, (key, first, end): (u64, u64, u64)) -> (u64, u64) {
        let memory = self.memory();
        let last = memory.line.min(self.case.blocks() - key * memory.line);
        let grain = memory.grain;
        (
            first / grain * grain,
            (end.div_ceil(grain) * grain).min(last),
        )
    }
}
