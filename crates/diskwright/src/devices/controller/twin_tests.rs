//! A naive twin of the memory cache, written from `docs/controller.md` with a list of lines: one request at a time, over two disks that take
//! 10 ms for whatever they are asked at an instant. Both must ask the disks the same things in the same order, and take the same time.

use proptest::prelude::*;

use super::memory::{MemoryRules, Prefetch, Writes};
use super::tests::{RULES, Setup};
use crate::engine::fakes::{asked, command, faults, run};
use crate::engine::request::{Command, Op};

/// Blocks of a line, and of a disk.
const LINE: u64 = 8;
const DISK: u64 = 100;
const DISK_MS: f64 = 10.0;

/// A line: which it is, and of each block whether it is there and whether it is dirty.
#[derive(Clone, Copy)]
struct Line {
    key: u64,
    valid: [bool; LINE as usize],
    dirty: [bool; LINE as usize],
}

impl Line {
    fn new(key: u64) -> Line {
        Line {
            key,
            valid: [false; LINE as usize],
            dirty: [false; LINE as usize],
        }
    }
}

struct Twin {
    capacity: usize,
    rules: MemoryRules,
    /// The line that was accessed last comes first.
    lines: Vec<Line>,
    asked: [Vec<String>; 2],
}

/// The runs of blocks from `from` to below `end` of which something holds.
fn runs(from: u64, end: u64, holds: impl Fn(u64) -> bool) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for lbn in (from..end).filter(|&lbn| holds(lbn)) {
        match runs.last_mut() {
            Some(run) if run.1 == lbn => run.1 += 1,
            _ => runs.push((lbn, lbn + 1)),
        }
    }
    runs
}

impl Twin {
    /// Asks the disks for some runs at one instant; how long that takes.
    fn ask(&mut self, op: Op, runs: &[(u64, u64)], fua: bool) -> f64 {
        for &(from, end) in runs {
            for (disk, base) in [(0, 0), (1, DISK)] {
                let (from, end) = (from.max(base), end.min(base + DISK));
                if from < end {
                    let fua = if fua { " fua" } else { "" };
                    let text = format!("{} {}+{}{fua}", op.name(), from - base, end - from);
                    self.asked[disk].push(text);
                }
            }
        }
        if runs.is_empty() { 0.0 } else { DISK_MS }
    }

    fn line(&mut self, key: u64) -> Option<&mut Line> {
        self.lines.iter_mut().find(|line| line.key == key)
    }

    /// A line gets its place; how long that takes, or that there is none.
    fn take(&mut self, key: u64, in_use: &[u64]) -> (f64, bool) {
        if let Some(at) = self.lines.iter().position(|line| line.key == key) {
            let line = self.lines.remove(at);
            self.lines.insert(0, line);
            return (0.0, true);
        }
        let mut time = 0.0;
        if self.lines.len() == self.capacity {
            let is_free = |line: &Line| !in_use.contains(&line.key);
            let Some(at) = self.lines.iter().rposition(is_free) else {
                return (0.0, false);
            };
            let victim = self.lines.remove(at);
            let base = victim.key * LINE;
            let dirty = runs(base, base + LINE, |lbn| victim.dirty[(lbn - base) as usize]);
            time = self.ask(Op::Write, &dirty, false);
        }
        self.lines.insert(0, Line::new(key));
        (time, true)
    }

    /// What is to be fetched of a line for a request.
    fn missing(&mut self, key: u64, command: &Command) -> Vec<(u64, u64)> {
        let (base, grain) = (key * LINE, u64::from(self.rules.grain));
        let (from, end) = (command.lbn.0.max(base), command.end().0.min(base + LINE));
        let Some(&mut line) = self.line(key) else {
            // It has no place.
            let is_read = command.op == Op::Read;
            return if is_read {
                vec![(from, end)]
            } else {
                Vec::new()
            };
        };
        let (first, last) = (
            from / grain * grain,
            end.next_multiple_of(grain).min(2 * DISK),
        );
        let is_wanted = |lbn: u64| command.op == Op::Read || !(from..end).contains(&lbn);
        runs(first, last, |lbn| {
            is_wanted(lbn) && !line.valid[(lbn - base) as usize]
        })
    }

    fn fill(&mut self, fetched: &[(u64, u64)]) {
        for lbn in fetched.iter().flat_map(|&(from, end)| from..end) {
            if let Some(line) = self.line(lbn / LINE) {
                line.valid[(lbn % LINE) as usize] = true;
            }
        }
    }

    fn serve(&mut self, command: &Command) -> f64 {
        if command.op == Op::Flush {
            return self.flush();
        }
        let (from, end) = (command.lbn.0, command.end().0);
        let keys: Vec<u64> = (from / LINE..end.div_ceil(LINE)).collect();
        let mut in_use: Vec<u64> = keys.clone();
        in_use.retain(|&key| self.line(key).is_some());
        let mut time = 0.0;
        let mut bypassed = Vec::new();
        for &key in &keys {
            let (waits, has_place) = self.take(key, &in_use);
            time += waits;
            match has_place {
                true => in_use.push(key),
                false => bypassed.push(key),
            }
            if self.rules.line_by_line {
                let fetched = self.missing(key, command);
                time += self.ask(Op::Read, &fetched, false);
                self.fill(&fetched);
            }
        }
        if !self.rules.line_by_line {
            // Neighbours together, but what has a place apart from what has none.
            let mut fetched: Vec<(u64, u64, bool)> = Vec::new();
            for &key in &keys {
                let has_place = !bypassed.contains(&key);
                for (from, end) in self.missing(key, command) {
                    match fetched.last_mut() {
                        Some(run) if run.1 == from && run.2 == has_place => run.1 = end,
                        _ => fetched.push((from, end, has_place)),
                    }
                }
            }
            let fetched: Vec<(u64, u64)> = fetched.into_iter().map(|run| (run.0, run.1)).collect();
            time += self.ask(Op::Read, &fetched, false);
            self.fill(&fetched);
        }
        if command.op == Op::Write {
            time += self.write(command, &bypassed);
        }
        time
    }

    fn write(&mut self, command: &Command, bypassed: &[u64]) -> f64 {
        let (from, end) = (command.lbn.0, command.end().0);
        let is_back = self.rules.writes == Writes::Back && !command.fua;
        let grain = u64::from(self.rules.grain);
        for lbn in from..end {
            let Some(line) = self.line(lbn / LINE) else {
                continue;
            };
            line.valid[(lbn % LINE) as usize] = true;
            line.dirty[(lbn % LINE) as usize] = false;
            if is_back {
                let first = lbn / grain * grain;
                for lbn in first..(first + grain).min(2 * DISK) {
                    line.dirty[(lbn % LINE) as usize] = true;
                }
            }
        }
        if is_back {
            let apart: Vec<(u64, u64)> = bypassed
                .iter()
                .map(|key| (from.max(key * LINE), end.min((key + 1) * LINE)))
                .collect();
            return self.ask(Op::Write, &apart, false);
        }
        let time = self.ask(Op::Write, &[(from, end)], command.fua);
        let waits = self.rules.writes != Writes::Through || command.fua || !bypassed.is_empty();
        if waits { time } else { 0.0 }
    }

    fn flush(&mut self) -> f64 {
        let is_dirty = |twin: &Twin, lbn: u64| {
            let mut lines = twin.lines.iter();
            lines.any(|line| line.key == lbn / LINE && line.dirty[(lbn % LINE) as usize])
        };
        let mut dirty = Vec::new();
        for key in 0..(2 * DISK).div_ceil(LINE) {
            for (base, end) in [(0, DISK), (DISK, 2 * DISK)] {
                let (from, end) = ((key * LINE).max(base), ((key + 1) * LINE).min(end));
                dirty.extend(runs(from, end, |lbn| is_dirty(self, lbn)));
            }
        }
        let time = self.ask(Op::Write, &dirty, false);
        self.lines
            .iter_mut()
            .for_each(|line| line.dirty = [false; LINE as usize]);
        self.asked
            .iter_mut()
            .for_each(|asked| asked.push("flush 0+0".to_owned()));
        time + DISK_MS
    }
}

fn commands() -> impl Strategy<Value = Vec<Command>> {
    let one = (0u32..10, 0u64..2 * DISK, 1u32..30, 0u32..8).prop_map(|(kind, lbn, blocks, fua)| {
        let blocks = blocks.min((2 * DISK - lbn) as u32);
        match kind {
            0 => command(Op::Flush, 0, 0),
            1..=5 => command(Op::Read, lbn, blocks),
            _ => Command {
                fua: fua == 0,
                ..command(Op::Write, lbn, blocks)
            },
        }
    });
    prop::collection::vec(one, 1..40)
}

proptest! {
    #[test]
    fn a_memory_cache_does_what_its_twin_does(
        commands in commands(),
        capacity in 1u32..12,
        grain in prop::sample::select(vec![1u32, 2, 4, 8]),
        line_by_line: bool,
        writes in prop::sample::select(vec![Writes::Synchronous, Writes::Through, Writes::Back]),
    ) {
        let rules = MemoryRules {
            grain,
            line_by_line,
            writes,
            read_prefetch: Prefetch::None,
            ..RULES
        };
        let mut twin = Twin {
            capacity: capacity as usize,
            rules,
            lines: Vec::new(),
            asked: Default::default(),
        };
        let expected: Vec<f64> = commands.iter().map(|command| twin.serve(command)).collect();
        let (engine, ended) = run(Setup::memory(capacity, rules).devices(), &commands, &[]);
        prop_assert_eq!(faults(&engine), &[] as &[String]);
        let times: Vec<f64> = ended.iter().map(|request| request.response().ms()).collect();
        prop_assert_eq!(times, expected);
        for disk in 0..2 {
            prop_assert_eq!(asked(&engine, disk), twin.asked[disk].clone());
        }
    }
}
