//! Reads, writes and trims.

use diskwright::engine::request::Op;

use super::cache::Given;
use super::model::{Action, Cause, Model, Part, Run, Stage, Use, Waiter, What};

impl Model<'_> {
    pub fn begin_work(&mut self, work: usize) {
        match self.works[work].asked.op {
            Op::Read => self.begin_read(work),
            Op::Write => self.begin_write(work),
            _ => self.begin_trim(work),
        }
    }

    /// Sends a request for a work's stage.
    fn ask(&mut self, work: usize, device: usize, op: Op, blocks: u64) {
        self.works[work].left += 1;
        self.send(device, op, blocks, What::Work(work));
    }

    fn use_line(&mut self, key: u64, work: usize, place: Option<usize>) {
        self.uses.push(Use {
            key,
            work,
            alone: false,
            promoting: false,
            cleaning: false,
            place,
        });
    }

    fn find_lines(&mut self, work: usize) {
        let asked = self.works[work].asked;
        let mut parts = self.parts(asked.lbn, asked.blocks);
        for part in &mut parts {
            part.place = self.find(part.key).map(|at| self.held[at].place);
            self.use_line(part.key, work, part.place);
        }
        for place in parts.iter().filter_map(|part| part.place) {
            self.hit(place);
        }
        for part in parts.iter_mut().filter(|part| part.place.is_none()) {
            let mut reason = self.against(&self.works[work]);
            if reason.is_none() && !self.admits(part.key) {
                reason = Some("admission");
            }
            match reason {
                None => self.place_line(work, part),
                Some(reason) => {
                    self.counts.line_accesses += 1;
                    self.counts.line_misses += 1;
                    match reason {
                        "write_policy" => self.counts.by_write_policy += 1,
                        "sequential" => self.counts.by_sequential += 1,
                        "admission" => self.counts.by_admission += 1,
                        _ => self.counts.by_changing += 1,
                    }
                }
            }
        }
        for part in &mut parts {
            part.action = self.action(work, part);
            let mine = self
                .uses
                .iter_mut()
                .find(|one| one.work == work && one.key == part.key);
            mine.expect("it is used").alone = part.action != Action::Pass;
        }
        self.works[work].parts = parts;
    }

    fn place_line(&mut self, work: usize, part: &mut Part) {
        let Given::Place(place, victim) = self.give(part.key) else {
            self.counts.by_no_line += 1;
            return;
        };
        let mine = self
            .uses
            .iter_mut()
            .find(|one| one.work == work && one.key == part.key);
        mine.expect("it is used").place = Some(place);
        (part.place, part.is_new) = (Some(place), true);
        let waits = match victim {
            Some(victim) => self.leaves(victim, work),
            None => self.wait(place, Waiter::Place(work)),
        };
        self.works[work].awaited += usize::from(waits);
    }

    fn action(&self, work: usize, part: &Part) -> Action {
        let asked = self.works[work].asked;
        let Some(place) = part.place else {
            return Action::Pass;
        };
        if asked.op == Op::Read {
            let fills = !self.has_all(part) && (part.is_new || self.fills(&self.works[work]));
            return if fills { Action::Fill } else { Action::Pass };
        }
        match self.case.write_policy {
            _ if self.removed => Action::Drop,
            "read-only" | "pass-through" => Action::Drop,
            "write-back" if self.goes(place) => Action::Update,
            "write-back" if !asked.fua || self.case.metadata.is_some() => Action::Absorb,
            _ => Action::Update,
        }
    }

    fn begin_read(&mut self, work: usize) {
        let asked = self.works[work].asked;
        let missing = (asked.lbn..asked.lbn + asked.blocks).filter(|&lbn| !self.is_there(lbn));
        let missing: Vec<u64> = missing.collect();
        self.find_lines(work);
        let there = asked.blocks - missing.len() as u64;
        self.counts.read_hit_blocks += there;
        self.counts.read_hits += u64::from(missing.is_empty());
        self.counts.partial_read_hits += u64::from(there > 0 && !missing.is_empty());
        let parts = self.works[work].parts.clone();
        for part in parts.iter().filter(|part| part.action == Action::Fill) {
            let place = part.place.expect("it has one");
            for (lbn, blocks) in self.runs(part.lbn, part.blocks, |lbn| !self.is_there(lbn)) {
                let at = self.at(place, lbn);
                self.works[work].runs.push(Run { lbn, blocks, at });
            }
        }
        self.works[work].stage = Stage::Reading;
        let fetched = missing
            .first()
            .map(|&first| first..=missing[missing.len() - 1]);
        if let Some(fetched) = &fetched {
            self.ask(work, 1, Op::Read, fetched.end() - fetched.start() + 1);
        }
        let is_fetched = |lbn: &u64| {
            fetched
                .as_ref()
                .is_some_and(|fetched| fetched.contains(lbn))
        };
        for part in parts.iter().filter(|part| !part.is_new) {
            if part.place.is_none() {
                continue;
            }
            let before = self.runs(part.lbn, part.blocks, |lbn| {
                self.is_there(lbn)
                    && !is_fetched(&lbn)
                    && fetched.as_ref().is_none_or(|run| lbn < *run.start())
            });
            let after = self.runs(part.lbn, part.blocks, |lbn| {
                self.is_there(lbn) && fetched.as_ref().is_some_and(|run| lbn > *run.end())
            });
            let inside = self.runs(part.lbn, part.blocks, |lbn| {
                self.is_dirty(lbn) && is_fetched(&lbn)
            });
            for (lbn, blocks) in before.into_iter().chain(after).chain(inside) {
                self.read_hit(work, part.key, lbn, blocks);
            }
        }
        if self.works[work].left == 0 {
            self.met.insert("a read from memory");
            self.give_back(work, |_| true);
            self.end_host(work);
        }
    }

    /// Reads blocks from the cache device, but those that another read promotes.
    fn read_hit(&mut self, work: usize, key: u64, lbn: u64, blocks: u64) {
        let promoting = self
            .uses_of(key)
            .find(|one| one.promoting)
            .map(|one| one.work);
        let in_memory: Vec<Run> =
            promoting.map_or(Vec::new(), |other| self.works[other].runs.clone());
        let is_in_memory = |lbn: u64| {
            in_memory
                .iter()
                .any(|run| (run.lbn..run.lbn + run.blocks).contains(&lbn))
        };
        let from_memory = (lbn..lbn + blocks).filter(|&lbn| is_in_memory(lbn)).count() as u64;
        self.counts.blocks_from_memory += from_memory;
        for (_, blocks) in self.runs(lbn, blocks, |lbn| !is_in_memory(lbn)) {
            self.ask(work, 0, Op::Read, blocks);
        }
    }

    pub fn read_ended(&mut self, work: usize) {
        if self.works[work].runs.is_empty() {
            self.give_back(work, |_| true);
            return self.end_host(work);
        }
        for run in self.works[work].runs.clone() {
            for lbn in run.lbn..run.lbn + run.blocks {
                let at = self.find(self.line_of(lbn)).expect("it is held");
                self.held[at].there[(lbn % self.case.line) as usize] = true;
            }
        }
        for part in self.works[work].parts.clone() {
            if part.action == Action::Fill {
                let mine = self
                    .uses
                    .iter_mut()
                    .find(|one| one.work == work && one.key == part.key);
                mine.expect("it is used").promoting = true;
            }
        }
        self.give_back(work, |part| part.action != Action::Fill);
        self.works[work].stage = Stage::Promoting;
        if !self.case.waits_for_promotion {
            self.end_host(work);
            self.works[work].stage = Stage::Promoting;
        }
        self.promote(work);
    }

    fn promote(&mut self, work: usize) {
        if self.works[work].awaited > 0 {
            self.met.insert("a promotion that waits for a place");
            return;
        }
        for run in self.works[work].runs.clone() {
            self.counts.promoted_blocks += run.blocks;
            self.ask(work, 0, Op::Write, run.blocks);
        }
        self.counts.promotions += self.works[work].parts.len() as u64;
    }

    pub fn promotion_ended(&mut self, work: usize) {
        self.give_back(work, |_| true);
        if !self.works[work].completed {
            self.end_host(work);
        }
        self.works[work].stage = Stage::Ended;
    }

    /// The host's request is complete.
    fn end_host(&mut self, work: usize) {
        self.works[work].completed = true;
        self.works[work].stage = Stage::Ended;
        if let Cause::Host(request) = self.works[work].cause {
            self.complete(request);
        }
    }

    fn begin_write(&mut self, work: usize) {
        let asked = self.works[work].asked;
        self.find_lines(work);
        let parts = self.works[work].parts.clone();
        let hit = parts
            .iter()
            .filter(|part| part.place.is_some() && !part.is_new);
        let hit: u64 = hit.map(|part| part.blocks).sum();
        self.counts.write_hit_blocks += hit;
        self.counts.write_hits += u64::from(hit == asked.blocks);
        self.counts.waited_for_place += u64::from(self.works[work].awaited > 0);
        for part in parts.iter().filter(|part| part.action == Action::Drop) {
            self.forget(part.lbn, part.blocks);
        }
        self.works[work].stage = Stage::Writing;
        self.send_write(work);
    }

    fn send_write(&mut self, work: usize) {
        if self.works[work].awaited > 0 {
            return;
        }
        let parts = self.works[work].parts.clone();
        let mut through: Vec<(u64, u64)> = Vec::new();
        for part in &parts {
            if matches!(part.action, Action::Absorb | Action::Update) {
                self.ask(work, 0, Op::Write, part.blocks);
            }
            if part.action != Action::Absorb {
                match through.last_mut() {
                    Some((lbn, blocks)) if *lbn + *blocks == part.lbn => *blocks += part.blocks,
                    _ => through.push((part.lbn, part.blocks)),
                }
            }
        }
        for (_, blocks) in through {
            self.ask(work, 1, Op::Write, blocks);
        }
    }

    /// All data of a write are on the devices.
    pub fn written(&mut self, work: usize) {
        let parts = self.works[work].parts.clone();
        for part in &parts {
            let Some(place) = part.place else { continue };
            match part.action {
                Action::Absorb => {
                    let was_dirty =
                        (part.lbn..part.lbn + part.blocks).all(|lbn| self.is_dirty(lbn));
                    self.put(part.lbn, part.blocks, true);
                    if !was_dirty {
                        self.change_entry(place, true);
                    }
                }
                Action::Update => {
                    self.put(part.lbn, part.blocks, false);
                    self.note_clean(place);
                }
                _ => self.forget(part.lbn, part.blocks),
            }
        }
        let all_absorbed = parts.iter().all(|part| part.action == Action::Absorb);
        self.counts.absorbed_writes += u64::from(all_absorbed);
        let waits = self
            .case
            .metadata
            .is_some_and(|metadata| metadata.writes_wait)
            || self.works[work].asked.fua;
        let absorbed = parts.iter().filter(|part| part.action == Action::Absorb);
        let last = absorbed.filter_map(|part| self.pending(part.place?)).max();
        match last.filter(|_| waits) {
            Some(commit) => {
                self.counts.waited_for_metadata += 1;
                self.works[work].stage = Stage::Committing;
                self.want(commit);
                self.waiters.push((commit, Waiter::Write(work)));
            }
            None => self.end_write(work),
        }
    }

    pub fn end_write(&mut self, work: usize) {
        self.give_back(work, |_| true);
        self.end_host(work);
    }

    fn begin_trim(&mut self, work: usize) {
        let asked = self.works[work].asked;
        for part in self.parts(asked.lbn, asked.blocks) {
            let Some(at) = self.find(part.key) else {
                continue;
            };
            let place = self.held[at].place;
            let was_dirty = (part.lbn..part.lbn + part.blocks).any(|lbn| self.is_dirty(lbn));
            for lbn in part.lbn..part.lbn + part.blocks {
                self.counts.trimmed_blocks += u64::from(self.is_there(lbn));
                self.counts.trimmed_dirty_blocks += u64::from(self.is_dirty(lbn));
            }
            self.forget(part.lbn, part.blocks);
            if self.remove_if_empty(part.key).is_some() {
                self.struck_out(part.key, place);
            } else if was_dirty {
                self.note_clean(place);
            }
        }
        self.works[work].stage = Stage::Trimming;
        self.ask(work, 1, Op::Trim, asked.blocks);
    }

    /// A work is done with some of its lines.
    fn give_back(&mut self, work: usize, which: impl Fn(&Part) -> bool) {
        let parts = self.works[work].parts.clone();
        for part in parts.iter().filter(|part| which(part)) {
            self.uses
                .retain(|one| one.work != work || one.key != part.key);
            if let Some(place) = part.place
                && self.remove_if_empty(part.key).is_some()
            {
                self.struck_out(part.key, place);
            }
        }
        self.works[work].parts.retain(|part| !which(part));
    }

    /// A place is free for the work that waits for it.
    pub fn place_is_free(&mut self, work: usize) {
        self.works[work].awaited -= 1;
        match self.works[work].stage {
            Stage::Writing => self.send_write(work),
            Stage::Promoting => self.promote(work),
            _ => {}
        }
    }
}
