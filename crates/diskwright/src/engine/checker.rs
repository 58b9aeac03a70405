//! The checker: does every read see the data it must, and does every request end once and add up?
//!
//! Each write of the host gets a version. Media report which blocks they wrote and read; the checker keeps
//! what every medium holds and what every read was served. A read may see any version that no
//! other write had replaced when the read was issued: a write replaces the versions that were
//! acknowledged before that write was issued, so writes outstanding together may take effect in any order.
//! This is the consistency of an atomic register, block by block (Lamport, "On interprocess communication",
//! Distributed Computing 1, 1986).
//!
//! A write is *promised* once it must survive a power cut: when it is acknowledged, if the device promises that or the
//! write was FUA, else when a flush completes that was issued after the acknowledgement. After a power cut every
//! block must hold a version that no promised write has replaced.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::engine::request::{
    Command, DeviceId, NvCacheCommand, Op, Outcome, Promise, Request, RequestId,
};

/// A write's number, from 1; 0 is what a block held before the run.
type Version = u64;
/// The order of issues and completions.
type Moment = u64;

/// The host's write to the medium beneath an NV cache: complete when it is durable.
const WRITE_MEDIUM: Op = Op::NvCache(NvCacheCommand::WriteMedium);
/// The same, with commands that change which blocks are pinned.
const WRITE_MEDIUM_AND_UNPIN: Op = Op::NvCache(NvCacheCommand::WriteMediumAndUnpin);
const PIN_AND_WRITE: Op = Op::NvCache(NvCacheCommand::PinAndWrite);

/// Whether a request changes what blocks hold.
fn changes(op: Op) -> bool {
    matches!(
        op,
        Op::Write | Op::Trim | WRITE_MEDIUM | WRITE_MEDIUM_AND_UNPIN | PIN_AND_WRITE
    )
}

/// In place of a version: a device has reported that the block may be wrong.
const REPORTED: Version = Version::MAX;

/// How many faults are described; further ones are counted.
const DESCRIBED: usize = 20;

/// One version of a block that a read may still see.
#[derive(Clone, Copy, Debug)]
struct Visible {
    version: Version,
    /// When the write of it ended, well or not.
    acknowledged: Option<Moment>,
    replaced: Option<Moment>,
    /// A write that replaced it was promised: it may not be what a power cut leaves.
    buried: bool,
    /// It stands for a trim, and for all versions below this one: read, the block may be empty or what it ever was before, and a power cut
    /// may leave any of that. 0 for a write.
    trimmed: Version,
}

/// A write that was acknowledged, but not promised yet.
#[derive(Debug)]
struct Unpromised {
    command: Command,
    issued: Moment,
    acknowledged: Moment,
}

/// A request under way: the host's, or one that a device submitted to a child for it.
#[derive(Debug)]
struct Open {
    command: Command,
    issued: Moment,
    version: Version,
    /// What the blocks carry: the versions to write, or those that were read.
    payload: Vec<Version>,
}

impl Open {
    /// Where blocks of the request are in its payload.
    fn span(&self, lbn: u64, blocks: u32) -> std::ops::Range<usize> {
        let first = (lbn - self.command.lbn.0) as usize;
        first..first + blocks as usize
    }
}

/// The checker of one run.
#[derive(Default)]
pub struct Checker {
    moment: Moment,
    version: Version,
    open: HashMap<RequestId, Open, FixedState>,
    blocks: HashMap<u64, Vec<Visible>, FixedState>,
    media: HashMap<(DeviceId, u64), Version, FixedState>,
    /// What segments of buffers hold: a device, its segment, a block.
    buffers: HashMap<(DeviceId, u32, u64), Version, FixedState>,
    promise: Promise,
    unpromised: Vec<Unpromised>,
    /// What devices are called, by their numbers.
    names: Vec<String>,
    faults: Vec<String>,
    fault_count: u64,
    checked: u64,
}

impl Checker {
    /// A checker of a tree whose root gives this promise.
    pub fn new(promise: Promise) -> Checker {
        Checker {
            promise,
            ..Checker::default()
        }
    }
    /// Descriptions of the first faults found.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
    /// The number of faults found.
    pub fn fault_count(&self) -> u64 {
        self.fault_count
    }
    /// The number of completed requests that were checked.
    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// Gives devices the names, by their numbers, by which faults are told of them.
    pub fn name_devices(&mut self, names: Vec<String>) {
        self.names = names;
    }

    /// A device does not go on with its requests.
    pub(crate) fn stalled(&mut self, device: usize, what: &str) {
        let name = self.names.get(device).cloned();
        let name = name.unwrap_or_else(|| format!("device {device}"));
        self.fault(format!("{name} {what}"));
    }

    fn fault(&mut self, text: String) {
        self.fault_count += 1;
        if self.faults.len() < DESCRIBED {
            self.faults.push(text);
        }
    }

    /// The host issues a request.
    pub fn issued(&mut self, id: RequestId, command: &Command) {
        self.moment += 1;
        let version = match command.op {
            op if changes(op) => {
                self.version += 1;
                self.version
            }
            _ => 0,
        };
        if changes(command.op) {
            // What is trimmed may be gone at once, or never.
            let (version, trimmed) = match command.op {
                Op::Trim => (0, version),
                _ => (version, 0),
            };
            for lbn in command.lbn.0..command.end().0 {
                let entry = Visible {
                    version,
                    acknowledged: None,
                    replaced: None,
                    buried: false,
                    trimmed,
                };
                self.blocks
                    .entry(lbn)
                    .or_insert_with(|| vec![INITIAL])
                    .push(entry);
            }
        }
        self.begin(id, command, version);
    }

    fn begin(&mut self, id: RequestId, command: &Command, version: Version) {
        let open = Open {
            command: *command,
            issued: self.moment,
            version,
            payload: vec![version; command.blocks as usize],
        };
        if self.open.insert(id, open).is_some() {
            self.fault(format!("request {} was issued again before it ended", id.0));
        }
    }

    /// A device submits a request to a child. What a write of it carries comes from [`carried`](Self::carried) or
    /// [`read_buffered`](Self::read_buffered).
    pub fn submitted(&mut self, id: RequestId, command: &Command) {
        self.begin(id, command, 0);
    }

    /// Blocks of one request become those of another: a child's of its parent's, or the other way.
    pub fn carried(&mut self, from: RequestId, to: RequestId, lbn: u64, blocks: u32) {
        self.moved((from, lbn), (to, lbn), blocks);
    }

    /// The same where the blocks have other numbers in the second request than in the first.
    pub fn moved(&mut self, from: (RequestId, u64), to: (RequestId, u64), blocks: u32) {
        let ((from, from_lbn), (to, to_lbn)) = (from, to);
        let versions = self.open.get(&from).map(|open| open.span(from_lbn, blocks));
        let versions = versions.map(|span| self.open[&from].payload[span].to_vec());
        match (versions, self.open.get_mut(&to)) {
            (Some(versions), Some(open)) => {
                let span = open.span(to_lbn, blocks);
                open.payload[span].copy_from_slice(&versions);
            }
            _ => self.fault(format!(
                "data went from request {} to request {}, which are not both under way",
                from.0, to.0
            )),
        }
    }

    /// What a block of a request under way carries, as a number, for a device that computes others from it.
    pub fn content(&self, id: RequestId, lbn: u64) -> Option<u64> {
        let open = self.open.get(&id)?;
        open.payload.get(open.span(lbn, 1)).map(|found| found[0])
    }

    /// A block of a request under way carries this.
    pub fn set_content(&mut self, id: RequestId, lbn: u64, content: u64) {
        match self.open.get_mut(&id) {
            Some(open) => {
                let span = open.span(lbn, 1);
                open.payload[span].fill(content);
            }
            None => self.fault(format!(
                "data went to request {}, which is not under way",
                id.0
            )),
        }
    }

    /// A device has found that what it holds does not fit together.
    pub fn found(&mut self, what: String) {
        self.fault(what);
    }

    /// A request to a child is complete, and its parent has taken what it wants of it.
    pub fn ended(&mut self, id: RequestId, request: &Request) {
        match self.open.remove(&id) {
            Some(open) => self.check_times(&open, request),
            None => self.fault(format!("request {} ended, but was not under way", id.0)),
        }
    }

    /// A medium has written part of a request: `blocks` blocks from the request's block `offset`, at `lbn`
    /// of the medium.
    pub fn wrote(&mut self, medium: DeviceId, id: RequestId, offset: u32, lbn: u64, blocks: u32) {
        let Some(open) = self.open.get(&id) else {
            return self.fault(format!(
                "a medium wrote for request {}, which is not under way",
                id.0
            ));
        };
        for block in 0..blocks {
            let version = open.payload[(offset + block) as usize];
            self.media.insert((medium, lbn + u64::from(block)), version);
        }
    }

    /// A medium has read part of a request.
    pub fn read(&mut self, medium: DeviceId, id: RequestId, offset: u32, lbn: u64, blocks: u32) {
        let Some(open) = self.open.get_mut(&id) else {
            return self.fault(format!(
                "a medium read for request {}, which is not under way",
                id.0
            ));
        };
        for block in 0..blocks {
            let held = self
                .media
                .get(&(medium, lbn + u64::from(block)))
                .copied()
                .unwrap_or(0);
            open.payload[(offset + block) as usize] = held;
        }
    }

    /// A medium holds nothing in some blocks, as before the run.
    pub fn cleared(&mut self, medium: DeviceId, lbn: u64, blocks: u32) {
        for block in 0..u64::from(blocks) {
            self.media.remove(&(medium, lbn + block));
        }
    }

    /// A medium has what it holds of some blocks elsewhere too.
    pub fn moved_on_medium(&mut self, medium: DeviceId, from: u64, to: u64, blocks: u32) {
        for block in 0..u64::from(blocks) {
            let held = self
                .media
                .get(&(medium, from + block))
                .copied()
                .unwrap_or(0);
            self.media.insert((medium, to + block), held);
        }
    }

    /// Blocks of a request are in a segment of a device's buffer, which loses them with the power.
    pub fn buffered(
        &mut self,
        device: DeviceId,
        segment: u32,
        id: RequestId,
        lbn: u64,
        blocks: u32,
    ) {
        self.buffered_at((id, lbn), (device, segment, lbn), blocks);
    }

    /// The same where the blocks have other numbers in the segment than in the request.
    pub fn buffered_at(
        &mut self,
        (id, from): (RequestId, u64),
        (device, segment, to): (DeviceId, u32, u64),
        blocks: u32,
    ) {
        let Some(open) = self.open.get(&id) else {
            return self.fault(format!(
                "a buffer took data of request {}, which is not under way",
                id.0
            ));
        };
        let versions = &open.payload[open.span(from, blocks)];
        for (lbn, &version) in (to..).zip(versions) {
            self.buffers.insert((device, segment, lbn), version);
        }
    }

    /// Blocks of a request are those of a segment: it is served from there, or writes what is there.
    pub fn read_buffered(
        &mut self,
        device: DeviceId,
        segment: u32,
        id: RequestId,
        lbn: u64,
        blocks: u32,
    ) {
        self.read_buffered_at((device, segment, lbn), (id, lbn), blocks);
    }

    /// The same where the blocks have other numbers in the request than in the segment.
    pub fn read_buffered_at(
        &mut self,
        (device, segment, from): (DeviceId, u32, u64),
        (id, to): (RequestId, u64),
        blocks: u32,
    ) {
        let Some(open) = self.open.get_mut(&id) else {
            return self.fault(format!(
                "a buffer served request {}, which is not under way",
                id.0
            ));
        };
        let mut missing = None;
        let span = open.span(to, blocks);
        for (lbn, version) in (from..).zip(&mut open.payload[span]) {
            match self.buffers.get(&(device, segment, lbn)) {
                Some(&held) => *version = held,
                None => missing = Some(lbn),
            }
        }
        if let Some(lbn) = missing {
            self.fault(format!(
                "request {} was served block {lbn} from segment {segment}, which never held it",
                id.0
            ));
        }
    }

    /// What a segment has of some blocks is in another one too.
    pub fn copied(&mut self, device: DeviceId, from: u32, to: u32, lbn: u64, blocks: u32) {
        for lbn in lbn..lbn + u64::from(blocks) {
            let Some(&held) = self.buffers.get(&(device, from, lbn)) else {
                return self.fault(format!(
                    "block {lbn} went from segment {from} to {to}, but the first never held it"
                ));
            };
            self.buffers.insert((device, to, lbn), held);
        }
    }

    /// A segment no longer has some blocks.
    pub fn dropped(&mut self, device: DeviceId, segment: u32, lbn: u64, blocks: u32) {
        for lbn in lbn..lbn + u64::from(blocks) {
            self.buffers.remove(&(device, segment, lbn));
        }
    }

    /// A medium filled blocks of a segment of its device's buffer.
    pub fn filled(&mut self, device: DeviceId, segment: u32, lbn: u64, blocks: u32) {
        for lbn in lbn..lbn + u64::from(blocks) {
            let held = self.media.get(&(device, lbn)).copied().unwrap_or(0);
            self.buffers.insert((device, segment, lbn), held);
        }
    }

    /// Blocks of a segment were written to the device's medium.
    pub fn drained(&mut self, device: DeviceId, segment: u32, lbn: u64, blocks: u32) {
        self.drained_to(device, segment, (lbn, blocks), lbn);
    }

    /// The same, at a place of the medium.
    pub fn drained_to(&mut self, device: DeviceId, segment: u32, run: (u64, u32), to: u64) {
        for (lbn, to) in (run.0..run.0 + u64::from(run.1)).zip(to..) {
            let Some(&held) = self.buffers.get(&(device, segment, lbn)) else {
                return self.fault(format!(
                    "block {lbn} was written from segment {segment}, which never held it"
                ));
            };
            self.media.insert((device, to), held);
        }
    }

    /// The host hears of a completion.
    pub fn completed(&mut self, id: RequestId, request: &Request) {
        self.moment += 1;
        self.checked += 1;
        let Some(open) = self.open.remove(&id) else {
            return self.fault(format!("request {} completed, but was not under way", id.0));
        };
        self.check_times(&open, request);
        if request.outcome != Some(Outcome::Ok) {
            if changes(open.command.op) {
                // What it was to write may be on a medium or not.
                self.leaves(&open);
            }
            return;
        }
        match open.command.op {
            Op::Write | WRITE_MEDIUM | WRITE_MEDIUM_AND_UNPIN | PIN_AND_WRITE => {
                self.acknowledge(&open)
            }
            Op::Read => self.check_read(&open),
            Op::Flush => self.flushed(open.issued),
            Op::Trim => self.leaves(&open),
            Op::NvCache(_) => {}
        }
    }

    /// What a trim or a failed request has left is there until a later write replaces it.
    fn leaves(&mut self, open: &Open) {
        let version = open.version;
        for lbn in open.command.lbn.0..open.command.end().0 {
            for entry in self.blocks.get_mut(&lbn).into_iter().flatten() {
                if entry.version == version || entry.trimmed == version {
                    entry.acknowledged.get_or_insert(self.moment);
                }
            }
        }
    }

    /// A flush that was issued at `issued` is complete.
    fn flushed(&mut self, issued: Moment) {
        let (promised, unpromised) = std::mem::take(&mut self.unpromised)
            .into_iter()
            .partition(|write| write.acknowledged < issued);
        self.unpromised = unpromised;
        for Unpromised {
            command, issued, ..
        } in promised
        {
            self.promise(&command, issued);
        }
    }

    /// A write issued at `issued` must survive from now on: buries what it replaced.
    fn promise(&mut self, command: &Command, issued: Moment) {
        for lbn in command.lbn.0..command.end().0 {
            for entry in self.blocks.get_mut(&lbn).into_iter().flatten() {
                entry.buried |= entry.acknowledged.is_some_and(|moment| moment < issued);
            }
        }
    }

    /// The power fails: checks every block written so far. `holders` says which media have the block, and where, `None` for one that
    /// has it nowhere, as before the run: whichever of them is asked for it afterwards must have what was promised.
    pub fn power_cut(&mut self, holders: impl Fn(u64, &mut Vec<Option<(DeviceId, u64)>>)) {
        let mut lbns: Vec<u64> = self.blocks.keys().copied().collect();
        lbns.sort_unstable();
        let mut media = Vec::new();
        for lbn in lbns {
            media.clear();
            holders(lbn, &mut media);
            for place in &media {
                let held = place.and_then(|place| self.media.get(&place).copied());
                let held = held.unwrap_or(0);
                let survives =
                    |entry: &Visible| !entry.buried && (entry.trimmed > 0 || entry.version == held);
                if !self.blocks[&lbn].iter().any(survives) {
                    self.fault(format!(
                        "after the power cut block {lbn} holds version {held}, which a promised write had replaced"
                    ));
                }
            }
        }
    }

    /// The number of the last change that the host has issued: writes and trims are numbered from 1.
    pub fn last_change(&self) -> u64 {
        self.version
    }

    /// Whether a power cut may leave what a change made of a block, or, with 0, what was there before the run.
    pub fn may_be_left(&self, lbn: u64, change: u64) -> bool {
        let entries = self.blocks.get(&lbn);
        entries.is_none_or(|entries| {
            let is_left = |entry: &Visible| entry.trimmed > 0 || entry.version == change;
            entries.iter().any(|entry| !entry.buried && is_left(entry))
        })
    }

    /// The change that a place of a medium holds, by its number; 0 for what was there before the run.
    pub fn held(&self, place: (DeviceId, u64)) -> u64 {
        self.media.get(&place).copied().unwrap_or(0)
    }

    /// The power is to return after the cut that has been checked: whatever the media have of a block is what it holds from now on, and
    /// what no medium has, but is computed from others, may be any version that was not to be replaced.
    pub fn settle(&mut self, holders: impl Fn(u64, &mut Vec<Option<(DeviceId, u64)>>)) {
        self.moment += 1;
        self.unpromised.clear();
        self.buffers.clear();
        let (now, mut media) = (self.moment, Vec::new());
        for (&lbn, visible) in &mut self.blocks {
            media.clear();
            holders(lbn, &mut media);
            let held = |place: &Option<(DeviceId, u64)>| {
                place.and_then(|place| self.media.get(&place).copied())
            };
            let held: Vec<Version> = media.iter().map(|place| held(place).unwrap_or(0)).collect();
            let is_there = |entry: &Visible| {
                held.is_empty() || entry.trimmed > 0 || held.contains(&entry.version)
            };
            visible.retain(|entry| !entry.buried && is_there(entry));
            if visible.is_empty() {
                // That is told of already.
                let left = held.iter().map(|&version| Visible { version, ..INITIAL });
                visible.extend(left);
            }
            for entry in visible {
                (entry.acknowledged, entry.replaced) = (Some(now), None);
            }
        }
    }

    /// A request between devices ends with the power.
    pub(crate) fn forget(&mut self, id: RequestId) {
        self.open.remove(&id);
    }

    /// A device reports that what a request is served of a block may be wrong.
    pub fn excuse(&mut self, id: RequestId, lbn: u64) {
        self.set_content(id, lbn, REPORTED);
    }

    fn check_times(&mut self, open: &Open, request: &Request) {
        let instants = [
            request.arrival,
            request.issue,
            request.acceptance,
            request.start,
            request.completion,
        ];
        if !instants.is_sorted() {
            self.fault(format!(
                "{:?}: instants out of order: {instants:?}",
                open.command
            ));
        }
        let spent = request.completion.saturating_sub(request.start);
        let parts = request.parts.total();
        if spent != parts {
            self.fault(format!(
                "{:?}: took {spent} from its start, but its parts add up to {parts}",
                open.command
            ));
        }
    }

    fn acknowledge(&mut self, open: &Open) {
        let oldest = self
            .open
            .values()
            .map(|open| open.issued)
            .min()
            .unwrap_or(self.moment);
        let must_last =
            open.command.fua || matches!(open.command.op, WRITE_MEDIUM | WRITE_MEDIUM_AND_UNPIN);
        if self.promise == Promise::Durable || must_last {
            self.promise(&open.command, open.issued);
        } else {
            let (command, issued) = (open.command, open.issued);
            self.unpromised.push(Unpromised {
                command,
                issued,
                acknowledged: self.moment,
            });
        }
        for lbn in open.command.lbn.0..open.command.end().0 {
            let visible = self
                .blocks
                .get_mut(&lbn)
                .expect("made when the write was issued");
            for entry in visible.iter_mut() {
                if entry.version == open.version {
                    entry.acknowledged = Some(self.moment);
                } else if entry
                    .acknowledged
                    .is_some_and(|moment| moment < open.issued)
                {
                    entry.replaced.get_or_insert(self.moment);
                }
            }
            // What was replaced before the oldest open request was issued can never be seen rightly again, nor, once
            // buried, be what a power cut leaves.
            visible.retain(|entry| {
                !entry.buried || entry.replaced.is_none_or(|moment| moment > oldest)
            });
        }
    }

    fn check_read(&mut self, open: &Open) {
        let blocks = (open.command.lbn.0..).zip(&open.payload);
        for (lbn, &version) in blocks.filter(|&(_, &version)| version != REPORTED) {
            let fresh = match self.blocks.get(&lbn) {
                None => version == 0,
                Some(visible) => visible.iter().any(|entry| {
                    (entry.version == version || version < entry.trimmed)
                        && entry.replaced.is_none_or(|moment| moment > open.issued)
                }),
            };
            if !fresh {
                let command = open.command;
                self.fault(format!(
                    "{command:?}: block {lbn} was served version {version}, which is stale"
                ));
            }
        }
    }
}

/// What a block held before the run: acknowledged before anything was issued.
const INITIAL: Visible = Visible {
    version: 0,
    acknowledged: Some(0),
    replaced: None,
    buried: false,
    trimmed: 0,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::{Lbn, Time};

    const DISK: DeviceId = DeviceId(0);

    fn command(op: Op, lbn: u64, blocks: u32) -> Command {
        Command {
            op,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
        }
    }
    fn done(command: Command) -> Request {
        let mut request = Request::new(command, Time::ZERO, None, DISK);
        request.outcome = Some(Outcome::Ok);
        request
    }
    fn end(checker: &mut Checker, id: u32, command: Command) {
        checker.completed(RequestId(id), &done(command));
    }

    #[test]
    fn a_read_after_an_acknowledged_write_must_see_it() {
        let mut checker = Checker::default();
        let (write, read) = (command(Op::Write, 10, 2), command(Op::Read, 11, 2));
        checker.issued(RequestId(0), &write);
        checker.wrote(DISK, RequestId(0), 0, 10, 2);
        end(&mut checker, 0, write);
        checker.issued(RequestId(1), &read);
        checker.read(DISK, RequestId(1), 0, 11, 2);
        end(&mut checker, 1, read);
        assert_eq!(checker.faults(), &[] as &[String]);
        // A second read that is served nothing from the medium sees version 0 of block 11: stale.
        checker.issued(RequestId(2), &read);
        end(&mut checker, 2, read);
        assert_eq!(checker.fault_count(), 1);
        assert!(
            checker.faults()[0].contains("block 11"),
            "{:?}",
            checker.faults()
        );
    }

    #[test]
    fn an_acknowledged_write_that_never_reached_the_medium_is_found() {
        let mut checker = Checker::default();
        let (write, read) = (command(Op::Write, 0, 1), command(Op::Read, 0, 1));
        checker.issued(RequestId(0), &write);
        end(&mut checker, 0, write);
        checker.issued(RequestId(1), &read);
        checker.read(DISK, RequestId(1), 0, 0, 1);
        end(&mut checker, 1, read);
        assert_eq!(checker.fault_count(), 1);
    }

    #[test]
    fn writes_outstanding_together_may_take_effect_in_either_order() {
        for order in [[0, 1], [1, 0]] {
            let mut checker = Checker::default();
            let (write, read) = (command(Op::Write, 5, 1), command(Op::Read, 5, 1));
            checker.issued(RequestId(0), &write);
            checker.issued(RequestId(1), &write);
            for id in order {
                checker.wrote(DISK, RequestId(id), 0, 5, 1);
                end(&mut checker, id, write);
            }
            checker.issued(RequestId(2), &read);
            checker.read(DISK, RequestId(2), 0, 5, 1);
            end(&mut checker, 2, read);
            assert_eq!(checker.fault_count(), 0);
        }
    }

    #[test]
    fn a_read_that_overlaps_a_write_may_see_the_old_version_but_a_later_one_may_not() {
        let mut checker = Checker::default();
        let (write, read) = (command(Op::Write, 5, 1), command(Op::Read, 5, 1));
        checker.issued(RequestId(0), &read);
        checker.issued(RequestId(1), &write);
        checker.wrote(DISK, RequestId(1), 0, 5, 1);
        end(&mut checker, 1, write);
        checker.open.get_mut(&RequestId(0)).unwrap().payload[0] = 0;
        end(&mut checker, 0, read);
        assert_eq!(checker.fault_count(), 0);
        checker.issued(RequestId(2), &read);
        checker.open.get_mut(&RequestId(2)).unwrap().payload[0] = 0;
        end(&mut checker, 2, read);
        assert_eq!(checker.fault_count(), 1);
    }

    /// Two writes of a block, the second of which never reaches the medium; then a power cut.
    fn lost_write(promise: Promise, fua: bool, flush: bool) -> u64 {
        let mut checker = Checker::new(promise);
        let write = Command {
            fua,
            ..command(Op::Write, 7, 1)
        };
        checker.issued(RequestId(0), &write);
        checker.wrote(DISK, RequestId(0), 0, 7, 1);
        end(&mut checker, 0, write);
        checker.issued(RequestId(1), &write);
        end(&mut checker, 1, write);
        if flush {
            let flush = command(Op::Flush, 0, 0);
            checker.issued(RequestId(2), &flush);
            end(&mut checker, 2, flush);
        }
        checker.power_cut(|lbn, media| media.push(Some((DISK, lbn))));
        checker.fault_count()
    }

    #[test]
    fn a_power_cut_may_lose_a_write_only_while_it_is_not_promised() {
        assert_eq!(lost_write(Promise::AfterFlush, false, false), 0);
        assert_eq!(lost_write(Promise::AfterFlush, false, true), 1);
        assert_eq!(lost_write(Promise::AfterFlush, true, false), 1);
        assert_eq!(lost_write(Promise::Durable, false, false), 1);
    }

    #[test]
    fn a_flush_promises_what_was_acknowledged_before_it_was_issued_and_nothing_later() {
        let mut checker = Checker::new(Promise::AfterFlush);
        let (write, flush) = (command(Op::Write, 7, 1), command(Op::Flush, 0, 0));
        checker.issued(RequestId(0), &flush);
        checker.issued(RequestId(1), &write);
        end(&mut checker, 1, write);
        end(&mut checker, 0, flush);
        checker.power_cut(|lbn, media| media.push(Some((DISK, lbn))));
        assert_eq!(checker.fault_count(), 0);
    }

    #[test]
    fn parts_that_do_not_add_up_and_second_completions_are_found() {
        let mut checker = Checker::default();
        let read = command(Op::Read, 0, 1);
        checker.issued(RequestId(0), &read);
        let mut request = done(read);
        request.completion = Time::from_ms(1);
        checker.completed(RequestId(0), &request);
        checker.completed(RequestId(0), &request);
        assert_eq!(checker.fault_count(), 2);
    }

    /// A write that a cache keeps, and that a child's request takes to the medium after a newer write came into the cache.
    fn destaged(snapshot: bool) -> Checker {
        const FRAMES: u32 = 9;
        let mut checker = Checker::new(Promise::AfterFlush);
        let write = command(Op::Write, 10, 2);
        checker.issued(RequestId(0), &write);
        checker.buffered(DISK, FRAMES, RequestId(0), 10, 2);
        end(&mut checker, 0, write);
        if snapshot {
            checker.copied(DISK, FRAMES, 1, 10, 2);
        }
        checker.dropped(DISK, FRAMES, 11, 1);
        checker.submitted(RequestId(5), &write);
        let from = if snapshot { 1 } else { FRAMES };
        checker.read_buffered(DISK, from, RequestId(5), 10, 2);
        checker.wrote(DISK, RequestId(5), 0, 10, 2);
        checker.ended(RequestId(5), &done(write));
        checker
    }

    #[test]
    fn a_destage_carries_what_its_segment_had_and_nothing_else() {
        let mut kept = destaged(true);
        let read = command(Op::Read, 11, 1);
        kept.issued(RequestId(1), &read);
        kept.submitted(RequestId(6), &read);
        kept.read(DISK, RequestId(6), 0, 11, 1);
        kept.carried(RequestId(6), RequestId(1), 11, 1);
        kept.ended(RequestId(6), &done(read));
        end(&mut kept, 1, read);
        assert_eq!(kept.faults(), &[] as &[String]);
        assert_eq!(
            kept.checked(),
            2,
            "requests between devices are not the host's"
        );
        let lost = destaged(false);
        assert!(lost.faults()[0].contains("block 11"), "{:?}", lost.faults());
    }

    #[test]
    fn a_request_between_devices_must_add_up_and_be_under_way() {
        let mut checker = Checker::default();
        let read = command(Op::Read, 0, 1);
        checker.submitted(RequestId(0), &read);
        let mut request = done(read);
        request.completion = Time::from_ms(1);
        checker.ended(RequestId(0), &request);
        checker.ended(RequestId(0), &request);
        checker.carried(RequestId(0), RequestId(1), 0, 1);
        assert_eq!(checker.fault_count(), 3);
    }

    /// A read that is served this version of a block: is it found stale?
    fn is_stale(checker: &mut Checker, lbn: u64, version: Version) -> bool {
        let (id, read) = (RequestId(99), command(Op::Read, lbn, 1));
        let before = checker.fault_count();
        checker.issued(id, &read);
        checker.set_content(id, lbn, version);
        end(checker, 99, read);
        checker.fault_count() > before
    }
    fn ends_badly(checker: &mut Checker, id: u32, command: Command) {
        let mut request = done(command);
        request.outcome = Some(Outcome::MediaError);
        checker.completed(RequestId(id), &request);
    }
    /// Writes a block and what the medium has of it.
    fn written(checker: &mut Checker, lbn: u64) {
        let write = command(Op::Write, lbn, 1);
        checker.issued(RequestId(98), &write);
        checker.wrote(DISK, RequestId(98), 0, lbn, 1);
        end(checker, 98, write);
    }

    #[test]
    fn a_failed_write_may_be_seen_until_a_later_one_replaces_it() {
        let mut checker = Checker::default();
        written(&mut checker, 5);
        let write = command(Op::Write, 5, 1);
        checker.issued(RequestId(0), &write);
        ends_badly(&mut checker, 0, write);
        assert!(!is_stale(&mut checker, 5, 1) && !is_stale(&mut checker, 5, 2));
        written(&mut checker, 5);
        assert!(is_stale(&mut checker, 5, 1) && is_stale(&mut checker, 5, 2));
        assert!(!is_stale(&mut checker, 5, 3));
    }

    #[test]
    fn a_failure_or_a_trim_does_not_end_a_write_beside_it() {
        for op in [Op::Write, Op::Trim] {
            let mut checker = Checker::default();
            let (beside, write) = (command(op, 5, 1), command(Op::Write, 5, 1));
            checker.issued(RequestId(0), &beside);
            checker.issued(RequestId(1), &write);
            match op {
                Op::Trim => end(&mut checker, 0, beside),
                _ => ends_badly(&mut checker, 0, beside),
            }
            // This one overlaps with the write, which may come after it.
            written(&mut checker, 5);
            end(&mut checker, 1, write);
            assert!(!is_stale(&mut checker, 5, 2) && !is_stale(&mut checker, 5, 3));
        }
    }

    #[test]
    fn what_a_trim_left_may_be_anything_older_until_a_later_write_replaces_it() {
        let mut checker = Checker::default();
        written(&mut checker, 5);
        let trim = command(Op::Trim, 5, 1);
        checker.issued(RequestId(0), &trim);
        end(&mut checker, 0, trim);
        assert!(!is_stale(&mut checker, 5, 0) && !is_stale(&mut checker, 5, 1));
        written(&mut checker, 5);
        assert!(is_stale(&mut checker, 5, 0) && is_stale(&mut checker, 5, 1));
        assert!(!is_stale(&mut checker, 5, 3));
    }

    #[test]
    fn a_trim_that_is_complete_says_nothing_of_another_one() {
        for outcome in [Outcome::Ok, Outcome::MediaError] {
            let mut checker = Checker::default();
            let trim = command(Op::Trim, 5, 1);
            checker.issued(RequestId(10), &trim);
            checker.issued(RequestId(11), &trim);
            let mut ended = done(trim);
            ended.outcome = Some(outcome);
            checker.completed(RequestId(11), &ended);
            // The first one may take effect after the write.
            written(&mut checker, 5);
            assert!(!is_stale(&mut checker, 5, 0), "{outcome:?}");
            end(&mut checker, 10, trim);
            assert!(!is_stale(&mut checker, 5, 0), "{outcome:?}");
            written(&mut checker, 5);
            assert!(is_stale(&mut checker, 5, 0), "{outcome:?}");
        }
    }

    #[test]
    fn a_block_that_was_never_written_is_empty() {
        let mut checker = Checker::default();
        assert!(!is_stale(&mut checker, 5, 0) && is_stale(&mut checker, 5, 1));
    }

    #[test]
    fn a_power_cut_leaves_what_no_promised_write_has_replaced() {
        let mut checker = Checker::new(Promise::Durable);
        written(&mut checker, 5);
        assert_eq!(checker.last_change(), 1);
        assert!(checker.may_be_left(5, 1) && !checker.may_be_left(5, 0));
        assert!(checker.may_be_left(6, 0));
        let trim = command(Op::Trim, 5, 1);
        checker.issued(RequestId(0), &trim);
        assert!(checker.may_be_left(5, 0), "a trim may leave anything");
        assert_eq!((checker.held((DISK, 5)), checker.held((DISK, 6))), (1, 0));
    }

    /// Blocks 5 and 6: a write that was flushed, and one that was not; then the power fails, and returns.
    fn settled(holders: impl Fn(u64, &mut Vec<Option<(DeviceId, u64)>>)) -> Checker {
        let mut checker = Checker::new(Promise::AfterFlush);
        written(&mut checker, 5);
        let (flush, write) = (command(Op::Flush, 0, 0), command(Op::Write, 5, 2));
        checker.issued(RequestId(0), &flush);
        end(&mut checker, 0, flush);
        checker.issued(RequestId(1), &write);
        end(&mut checker, 1, write);
        checker.power_cut(&holders);
        assert_eq!(checker.faults(), &[] as &[String]);
        checker.settle(holders);
        checker
    }

    #[test]
    fn when_the_power_returns_blocks_are_what_the_media_have() {
        let mut checker = settled(|lbn, media| media.push(Some((DISK, lbn))));
        assert!(!is_stale(&mut checker, 5, 1) && is_stale(&mut checker, 5, 2));
        assert!(!is_stale(&mut checker, 6, 0) && is_stale(&mut checker, 6, 2));
    }

    #[test]
    fn when_the_power_returns_blocks_without_a_medium_are_what_may_be_left() {
        let mut checker = settled(|_, _| {});
        assert!(!is_stale(&mut checker, 5, 1) && !is_stale(&mut checker, 5, 2));
        assert!(is_stale(&mut checker, 5, 0));
        assert!(!is_stale(&mut checker, 6, 0) && !is_stale(&mut checker, 6, 2));
    }

    #[test]
    fn what_a_power_cut_lost_is_told_once() {
        let mut checker = Checker::new(Promise::Durable);
        written(&mut checker, 5);
        let write = command(Op::Write, 5, 1);
        checker.issued(RequestId(0), &write);
        end(&mut checker, 0, write);
        let holders = |lbn, media: &mut Vec<_>| media.push(Some((DISK, lbn)));
        checker.power_cut(holders);
        assert_eq!(checker.fault_count(), 1);
        checker.settle(holders);
        assert!(!is_stale(&mut checker, 5, 1) && is_stale(&mut checker, 5, 2));
    }

    #[test]
    fn a_promised_write_that_is_nowhere_after_a_power_cut_is_found() {
        for place in [None, Some((DISK, 5))] {
            let mut checker = Checker::new(Promise::Durable);
            let write = command(Op::Write, 5, 1);
            checker.issued(RequestId(0), &write);
            end(&mut checker, 0, write);
            checker.power_cut(|_, media| media.push(place));
            assert_eq!(checker.fault_count(), 1, "{place:?}");
            assert!(checker.faults()[0].contains("holds version 0"));
        }
    }

    #[test]
    fn each_block_is_what_its_own_media_have_when_the_power_returns() {
        let mut checker = Checker::new(Promise::AfterFlush);
        // Of two writes of two blocks each has reached the medium with one.
        let write = command(Op::Write, 5, 2);
        for (id, lbn) in [(0, 5), (1, 6)] {
            checker.issued(RequestId(id), &write);
            checker.wrote(DISK, RequestId(id), lbn as u32 - 5, lbn, 1);
            end(&mut checker, id, write);
        }
        let holders = |lbn, media: &mut Vec<_>| media.push(Some((DISK, lbn)));
        checker.power_cut(holders);
        assert_eq!(checker.faults(), &[] as &[String]);
        checker.settle(holders);
        assert!(!is_stale(&mut checker, 5, 1) && is_stale(&mut checker, 5, 2));
        assert!(is_stale(&mut checker, 6, 1) && !is_stale(&mut checker, 6, 2));
    }

    #[test]
    fn segments_are_empty_when_the_power_returns() {
        let mut checker = Checker::new(Promise::AfterFlush);
        let write = command(Op::Write, 5, 1);
        checker.issued(RequestId(0), &write);
        checker.buffered(DISK, 0, RequestId(0), 5, 1);
        end(&mut checker, 0, write);
        checker.settle(|lbn, media| media.push(Some((DISK, lbn))));
        let read = command(Op::Read, 5, 1);
        checker.issued(RequestId(1), &read);
        checker.read_buffered(DISK, 0, RequestId(1), 5, 1);
        assert_eq!(checker.fault_count(), 1);
        assert!(checker.faults()[0].contains("never held it"));
    }

    #[test]
    fn versions_that_can_never_be_seen_again_are_forgotten() {
        let mut checker = Checker::new(Promise::Durable);
        for _ in 0..5 {
            written(&mut checker, 5);
            assert_eq!(checker.blocks[&5].len(), 1);
        }
    }

    #[test]
    fn a_block_of_a_request_carries_what_it_was_given() {
        let mut checker = Checker::default();
        let write = command(Op::Write, 10, 2);
        checker.issued(RequestId(0), &write);
        checker.set_content(RequestId(0), 11, 7);
        let content = [10, 11].map(|lbn| checker.content(RequestId(0), lbn));
        assert_eq!(content, [Some(1), Some(7)]);
        assert_eq!(checker.content(RequestId(1), 10), None);
        checker.submitted(RequestId(2), &write);
        let of_child = checker.content(RequestId(2), 10);
        assert_eq!(
            of_child,
            Some(0),
            "a request to a child carries nothing yet"
        );
        assert_eq!(checker.fault_count(), 0);
        checker.set_content(RequestId(1), 10, 7);
        assert_eq!(checker.fault_count(), 1);
    }

    #[test]
    fn what_a_device_reports_as_wrong_is_not_stale() {
        let mut checker = Checker::default();
        let read = command(Op::Read, 5, 2);
        checker.issued(RequestId(0), &read);
        for lbn in [5, 6] {
            checker.set_content(RequestId(0), lbn, 9);
        }
        checker.excuse(RequestId(0), 6);
        end(&mut checker, 0, read);
        assert_eq!(checker.fault_count(), 1);
        assert!(checker.faults()[0].contains("block 5"));
    }

    #[test]
    fn blocks_move_on_a_medium_and_go() {
        let mut checker = Checker::default();
        // Versions 1 to 3 in blocks 10 to 12.
        (10..13).for_each(|lbn| written(&mut checker, lbn));
        let held = |checker: &Checker, lbns: [u64; 4]| lbns.map(|lbn| checker.held((DISK, lbn)));
        checker.moved_on_medium(DISK, 11, 21, 3);
        assert_eq!(held(&checker, [20, 21, 22, 23]), [0, 2, 3, 0]);
        checker.cleared(DISK, 10, 2);
        assert_eq!(held(&checker, [10, 11, 12, 13]), [0, 0, 3, 0]);
    }

    #[test]
    fn a_segment_gives_and_takes_what_it_has() {
        const SEGMENT: u32 = 3;
        let mut checker = Checker::default();
        let write = command(Op::Write, 10, 2);
        checker.issued(RequestId(0), &write);
        checker.buffered(DISK, SEGMENT, RequestId(0), 10, 2);
        checker.drained(DISK, SEGMENT, 10, 2);
        assert_eq!(
            [9, 10, 11, 12].map(|lbn| checker.held((DISK, lbn))),
            [0, 1, 1, 0]
        );
        end(&mut checker, 0, write);
        checker.filled(DISK, SEGMENT, 11, 2);
        let read = command(Op::Read, 11, 2);
        checker.issued(RequestId(1), &read);
        checker.read_buffered(DISK, SEGMENT, RequestId(1), 11, 2);
        let content = [11, 12].map(|lbn| checker.content(RequestId(1), lbn));
        assert_eq!(content, [Some(1), Some(0)]);
        end(&mut checker, 1, read);
        assert_eq!(checker.fault_count(), 0);
        checker.drained(DISK, SEGMENT, 13, 1);
        assert_eq!(checker.fault_count(), 1, "it never held the block");
    }

    #[test]
    fn a_request_that_ended_with_the_power_may_be_issued_again() {
        let mut checker = Checker::default();
        let read = command(Op::Read, 0, 1);
        checker.submitted(RequestId(0), &read);
        checker.forget(RequestId(0));
        checker.submitted(RequestId(0), &read);
        assert_eq!(checker.fault_count(), 0);
        checker.submitted(RequestId(0), &read);
        assert_eq!(checker.fault_count(), 1);
    }

    #[test]
    fn instants_out_of_order_are_found() {
        let mut checker = Checker::default();
        let read = command(Op::Read, 0, 1);
        checker.issued(RequestId(0), &read);
        let mut request = done(read);
        request.acceptance = Time::from_ms(1);
        checker.completed(RequestId(0), &request);
        assert_eq!(checker.fault_count(), 1);
        assert!(checker.faults()[0].contains("out of order"));
    }

    #[test]
    fn the_first_faults_are_described_and_all_are_counted() {
        let mut checker = Checker::default();
        for number in 0..DESCRIBED + 5 {
            checker.found(format!("fault {number}"));
        }
        assert_eq!(checker.fault_count(), DESCRIBED as u64 + 5);
        assert_eq!(checker.faults().len(), DESCRIBED);
        assert_eq!(checker.faults()[0], "fault 0");
    }
}
