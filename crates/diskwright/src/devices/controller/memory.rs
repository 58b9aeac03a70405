//! The memory cache: what it has, and what a request does to its lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::operations::Data;
use super::stages::new_work;
use super::work::{Kind, LineFrame, Stage, WorkId};
use super::{Cache, Controller};
use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, RequestId};
use crate::models::cache::BlockCache;
use crate::models::cache::Frame;
use crate::models::cache::block_cache::{BlockState, Line, LinePiece, Place, Victim};

/// The checker's name of the memory cache. Behind it come the names of what is kept for some work.
pub(super) const OF_CACHE: u32 = 0;

/// When a write is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    /// When it is on its device.
    Synchronous,
    /// When it is in the cache; it goes to its device at once.
    Through,
    /// When it is in the cache.
    Back,
}

/// What of a line is fetched beyond what is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ControllerPrefetch")]
pub enum Prefetch {
    /// Nothing.
    #[default]
    None,
    /// From the line's first block on.
    Front,
    /// Up to the line's last block.
    Rest,
    /// The whole line.
    Line,
}

/// What a spec says of a memory cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryRules {
    /// Blocks of a line that are there, or dirty, together; a line is a whole number of them.
    pub grain: u32,
    pub writes: Writes,
    /// A line is fetched before the next one gets its place.
    pub line_by_line: bool,
    /// The most lines of a fetch, and of a write-back.
    pub fetched_lines: u64,
    pub written_lines: u64,
    pub read_prefetch: Prefetch,
    pub write_prefetch: Prefetch,
    /// The victim is a clean line where there is one, and then a dirty one is written too.
    pub prefers_clean: bool,
    /// All that is dirty is written after each such time.
    pub period: Option<Time>,
    /// What is dirty is written after the devices have been idle for this time.
    pub idle: Option<Time>,
}

/// Blocks of a line that are written together: from the first dirty one to the last one of a run of blocks that the cache has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub from: u64,
    pub end: u64,
    /// The run of blocks that the cache has.
    pub valid: (u64, u64),
    /// Whether what touches it of the lines below and above is written with it.
    pub grows_down: bool,
    pub grows_up: bool,
}

/// A memory cache.
pub(super) struct Memory {
    pub(super) cache: BlockCache,
    pub(super) rules: MemoryRules,
    /// The end of a period is waited for.
    pub(super) waits_for_period: bool,
    /// The lines that the access under way drives out, kept for their memory.
    victims: Vec<Victim>,
}

impl Memory {
    pub(super) fn new(cache: BlockCache, rules: MemoryRules) -> Memory {
        Memory {
            cache: match rules.prefers_clean {
                true => cache.sparing_dirty(),
                false => cache,
            },
            rules,
            waits_for_period: false,
            victims: Vec::new(),
        }
    }

    /// Whether a power cut may take writes that are complete.
    pub(super) fn is_volatile(&self) -> bool {
        self.rules.writes != Writes::Synchronous
    }

    /// What of a line has to be written. As in DiskSim, it grows downwards from the line's first block, and upwards from its last block only
    /// if the first one is dirty, too.
    pub(super) fn dirty_spans(&self, line: Line, whole: LinePiece) -> Vec<Span> {
        let dirty: Vec<(u64, u32)> = self.cache.runs(line, BlockState::Dirty, whole).collect();
        let Some(&(first, _)) = dirty.first() else {
            return Vec::new();
        };
        let start = whole.lbn;
        let behind = start + u64::from(self.cache.blocks_per_line());
        let mut spans = Vec::new();
        for (lbn, blocks) in self.cache.runs(line, BlockState::Valid, whole) {
            let valid = (lbn, lbn + u64::from(blocks));
            let mut within = dirty
                .iter()
                .filter(|run| (valid.0..valid.1).contains(&run.0));
            let Some(&(from, blocks)) = within.next() else {
                continue;
            };
            let &(last, blocks) = within.next_back().unwrap_or(&(from, blocks));
            let end = last + u64::from(blocks);
            spans.push(Span {
                from,
                end,
                valid,
                grows_down: from == start,
                grows_up: first == start && end == behind,
            });
        }
        spans
    }

    /// The runs of some blocks that the cache does not have.
    pub(super) fn lacks(&self, (from, end): (u64, u64)) -> impl Iterator<Item = (u64, u32)> {
        let pieces = self.cache.pieces(from, (end - from) as u32);
        pieces.flat_map(|piece| {
            let frame = self.cache.find(piece.key);
            let missing = frame.map(|frame| {
                let line = self.cache.line(frame);
                self.cache.runs(line, BlockState::Missing, piece)
            });
            let all = frame.is_none().then_some((piece.lbn, piece.blocks()));
            missing.into_iter().flatten().chain(all)
        })
    }

    /// The part of a run of blocks that lies in its line of a number.
    pub(super) fn piece(&self, (from, end): (u64, u64), line: usize) -> LinePiece {
        let whole = self.cache.whole(self.cache.key_of(from) + line as u64);
        let piece = whole.within(from, (end - from) as u32);
        piece.expect("the run has blocks of the line")
    }
}

impl Controller {
    /// The lines of a piece that the cache has stay until the piece is done with. From then on a device has the newest of each block of
    /// the piece that the cache lacks: whatever is written there meanwhile is the same.
    pub(super) fn hold_lines(&mut self, id: WorkId) {
        let Cache::Memory(memory) = &mut self.cache else {
            return;
        };
        let work = self.works.get_mut(id);
        if !matches!(work.command.op, Op::Read | Op::Write) || work.kind != Kind::Host {
            return;
        }
        for piece in memory.cache.pieces(work.from, work.blocks()) {
            work.frames.push(match memory.cache.find(piece.key) {
                Some(frame) => {
                    memory.cache.pin(frame);
                    LineFrame::Found(frame)
                }
                None => LineFrame::Unknown,
            });
        }
    }

    /// The lines of a piece get places, one after the other, and what is missing of them is fetched.
    pub(super) fn lines(&mut self, id: WorkId, first: usize, cx: &mut Context<'_>) {
        let line_by_line = self.memory().rules.line_by_line;
        let lines = self.works.get(id).frames.len();
        for line in first..lines {
            self.take_line(id, line, cx);
            // A dirty victim is on its way: the line's place is not free yet.
            if self.works.get(id).left > 0 {
                return self.next_stage(id, Stage::Lines { line });
            }
            if line_by_line {
                self.fetch_line(id, line, cx);
                if self.works.get(id).left > 0 {
                    return self.next_stage(id, Stage::Lines { line: line + 1 });
                }
            }
        }
        if !line_by_line {
            self.fetch_all(id, cx);
        }
        self.next_stage(id, Stage::Move);
    }

    /// A line of a piece gets its place, if it has none.
    fn take_line(&mut self, id: WorkId, line: usize, cx: &mut Context<'_>) {
        let work = self.works.get(id);
        let (run, place) = ((work.from, work.end), work.frames[line]);
        if !matches!(place, LineFrame::Unknown | LineFrame::Found(_)) {
            return;
        }
        let is_write = work.command.op == Op::Write;
        let Cache::Memory(memory) = &mut self.cache else {
            unreachable!("there is a memory cache");
        };
        let key = memory.piece(run, line).key;
        let found = place.frame().or_else(|| memory.cache.find(key));
        let cache = &mut memory.cache;
        let accessed = cache.access_found(found, key, is_write, &mut memory.victims);
        let taken = match accessed {
            Place::Held(frame) | Place::New(frame) => {
                if place.frame().is_none() {
                    cache.pin(frame);
                }
                LineFrame::Taken(frame)
            }
            Place::None => LineFrame::None,
        };
        let work = self.works.get_mut(id);
        work.frames[line] = taken;
        work.has_bypassed |= taken == LineFrame::None;
        self.counters.bypassed += u64::from(taken == LineFrame::None);
        if let Place::New(frame) = accessed {
            self.hold_for_others(id, key, frame);
        }
        self.evict(id, cx);
    }

    /// A line has come into a frame: for others who have blocks of it locked, too, it stays until they are done with.
    fn hold_for_others(&mut self, id: WorkId, key: u64, frame: Frame) {
        let Cache::Memory(memory) = &mut self.cache else {
            unreachable!("there is a memory cache");
        };
        let per_line = memory.cache.blocks_per_line();
        if self.locks.cover_lines(per_line) {
            return;
        }
        let whole = memory.cache.whole(key);
        let run = (whole.lbn, whole.lbn + u64::from(per_line));
        for other in self.locks.holders(run).filter(|&other| other != id) {
            let work = self.works.get_mut(other);
            // What is locked may reach beyond the lines of a piece. The controller's own work and trims need no lines.
            let line = key.checked_sub(memory.cache.key_of(work.from));
            if work.kind == Kind::Host
                && let Some(line) = line
                && let Some(place) = work.frames.get_mut(line as usize)
            {
                memory.cache.pin(frame);
                *place = place.brought(frame);
            }
        }
    }

    /// The lines that were driven out leave: what is dirty of them is written, and the work waits for that.
    fn evict(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let mut victims = std::mem::take(&mut self.memory().victims);
        for victim in victims.drain(..) {
            let memory = self.memory();
            let whole = memory.cache.whole(victim.key);
            let spans = memory.dirty_spans(victim.line, whole);
            if let Some((checker, device)) = cx.checker() {
                for (lbn, blocks) in memory.cache.runs(victim.line, BlockState::Valid, whole) {
                    let is_written =
                        |at: u64| spans.iter().any(|span| (span.from..span.end).contains(&at));
                    for at in (lbn..lbn + u64::from(blocks)).filter(|&at| !is_written(at)) {
                        checker.dropped(device, OF_CACHE, at, 1);
                    }
                }
            }
            memory.cache.release(victim);
            self.counters.dirty_victims += u64::from(!spans.is_empty());
            for span in spans {
                self.write_victim(id, span, cx);
            }
            if self.memory().rules.prefers_clean {
                self.write_first_back(cx);
            }
        }
        self.memory().victims = victims;
    }

    /// A read's data are in the cache, and have been moved to the host.
    pub(super) fn read_from_memory(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let work = self.works.get(id);
        let (run, request) = ((work.from, work.end), work.request);
        let request = request.expect("the host waits for it");
        if let Some((checker, device)) = cx.checker() {
            let Cache::Memory(memory) = &self.cache else {
                unreachable!("there is a memory cache");
            };
            for (line, place) in work.frames.iter().enumerate() {
                if place.frame().is_some() {
                    let piece = memory.piece(run, line);
                    checker.read_buffered(device, OF_CACHE, request, piece.lbn, piece.blocks());
                }
            }
        }
        self.next_stage(id, Stage::Answer);
    }

    /// A write's data have been moved from the host: they are in the cache now.
    pub(super) fn write_to_memory(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let work = self.works.get(id);
        let (run, fua, bypasses) = ((work.from, work.end), work.command.fua, work.has_bypassed);
        let request = work.request.expect("the host waits for it");
        let writes = match self.memory().rules.writes {
            _ if fua => Writes::Synchronous,
            // What no line has room for cannot be kept.
            Writes::Through if bypasses => Writes::Synchronous,
            writes => writes,
        };
        let is_dirty = writes != Writes::Synchronous;
        for line in 0..self.works.get(id).frames.len() {
            let piece = self.memory().piece(run, line);
            let place = self.works.get(id).frames[line];
            if let LineFrame::Beside(frame) = place {
                self.bring_up_to_date(frame, &piece, request, cx);
            }
            match place.frame() {
                Some(frame) => {
                    self.memory().cache.put(frame, &piece, is_dirty);
                    if writes == Writes::Back {
                        self.dirty_grains(frame, &piece);
                    }
                    if let Some((checker, device)) = cx.checker() {
                        let blocks = piece.blocks();
                        checker.buffered(device, OF_CACHE, request, piece.lbn, blocks);
                    }
                }
                None if writes == Writes::Back => self.pass(id, &piece, cx),
                None => {}
            }
        }
        self.works.get_mut(id).has_missed |= bypasses || writes == Writes::Synchronous;
        if writes == Writes::Synchronous {
            let whole = self.piece(id);
            self.ask(id, whole, None, Data::Host, cx);
        }
        if writes == Writes::Through {
            self.write_through(id, cx);
        }
        self.next_stage(id, Stage::Answer);
    }

    /// What goes past the cache to a device is in a line that another piece has brought meanwhile, as far as that has the blocks.
    fn bring_up_to_date(
        &mut self,
        frame: Frame,
        piece: &LinePiece,
        request: RequestId,
        cx: &mut Context<'_>,
    ) {
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        let cache = &self.memory().cache;
        for (lbn, blocks) in cache.runs(cache.line(frame), BlockState::Valid, *piece) {
            checker.buffered(device, OF_CACHE, request, lbn, blocks);
        }
    }

    /// Part of a request goes to the devices past the cache.
    pub(super) fn pass(&mut self, id: WorkId, piece: &LinePiece, cx: &mut Context<'_>) {
        let command = command_of(self.works.get(id).command.op, (piece.lbn, piece.blocks()));
        self.ask(id, command, None, Data::Host, cx);
    }

    /// What a write has put into the cache goes to its device; nobody waits for that.
    fn write_through(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let command = self.piece(id);
        let work = new_work(Kind::WriteBack { leaving: None }, command, cx.now());
        let behind = self.works.begin(work);
        let frames = std::mem::take(&mut self.works.get_mut(id).frames);
        self.works.get_mut(behind).frames = frames;
        self.locks.hand_over(id, behind, &mut self.granted);
        self.wake_granted();
        self.ask(behind, command, None, Data::Segment(OF_CACHE), cx);
        self.next_stage(behind, Stage::End);
    }

    /// What the cache has of a written piece's grains is dirty with it.
    fn dirty_grains(&mut self, frame: Frame, piece: &LinePiece) {
        let whole = self.grains_of(piece);
        let cache = &mut self.memory().cache;
        let valid = cache.runs(cache.line(frame), BlockState::Valid, whole);
        let valid: Vec<(u64, u32)> = valid.collect();
        for (lbn, blocks) in valid {
            let part = whole.within(lbn, blocks);
            cache.put(frame, &part.expect("it is a part of it"), true);
        }
    }

    /// The blocks that are valid together with those of a piece of a line.
    pub(super) fn grains_of(&mut self, piece: &LinePiece) -> LinePiece {
        let end = self.blocks_in_all();
        let memory = self.memory();
        let whole = memory.cache.whole(piece.key);
        let last = (end - whole.lbn).min(u64::from(whole.end)) as u32;
        let grain = memory.rules.grain;
        let first = piece.first / grain * grain;
        LinePiece {
            first,
            end: piece.end.next_multiple_of(grain).min(last),
            lbn: whole.lbn + u64::from(first),
            ..*piece
        }
    }

    /// The controller's capacity.
    pub(super) fn blocks_in_all(&self) -> u64 {
        self.queues[self.addressed - 1].end()
    }

    /// Blocks are forgotten, clean or dirty.
    pub(super) fn trim_memory(&mut self, command: &Command, cx: &mut Context<'_>) {
        let checker = cx.checker();
        let memory = self.memory();
        match checker {
            Some((checker, device)) => {
                memory
                    .cache
                    .trim(command.lbn.0, command.blocks, |lbn, blocks| {
                        checker.dropped(device, OF_CACHE, lbn, blocks);
                    })
            }
            None => memory.cache.trim(command.lbn.0, command.blocks, |_, _| {}),
        };
    }

    /// What a fetch has brought is in its lines, which are pinned.
    pub(super) fn fill_memory(&mut self, kept: &[(u64, u32)]) {
        let memory = self.memory();
        for &(lbn, blocks) in kept {
            for piece in memory.cache.pieces(lbn, blocks) {
                let frame = memory.cache.find(piece.key);
                memory.cache.fill(frame.expect("it is pinned"), &piece);
            }
        }
    }

    /// A device has written what it was asked to write for the memory cache, or has failed to.
    pub(super) fn memory_operation_ended(
        &mut self,
        (kind, op): (Kind, Op),
        (lbn, blocks): (u64, u32),
        outcome: Outcome,
    ) {
        let memory = self.memory();
        match (kind, op, outcome) {
            (Kind::WriteBack { .. }, Op::Write, Outcome::Ok) => memory.cache.clean(lbn, blocks),
            (Kind::WriteBack { leaving: Some(run) }, Op::Write, _) => {
                let end = run.1.min(lbn + u64::from(blocks));
                self.lost_blocks += end.saturating_sub(run.0.max(lbn));
            }
            // Its device has failed: trying again would change nothing.
            (Kind::WriteBack { leaving: None }, Op::Write, _) => memory.rules.period = None,
            _ => {}
        }
    }
}

/// A read or a write of a run of blocks.
pub(super) fn command_of(op: Op, (lbn, blocks): (u64, u32)) -> Command {
    Command {
        op,
        fua: false,
        lbn: crate::base::units::Lbn(lbn),
        blocks,
    }
}
