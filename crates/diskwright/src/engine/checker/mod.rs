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

mod media;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::engine::request::{
    Command, DeviceId, NvCacheCommand, Op, Outcome, Promise, Request, RequestId,
};
use media::{Media, Version};

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
    media: Media,
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

    /// A device has done something with a request that is not there.
    fn not_under_way(&mut self, what: &str, id: RequestId) {
        self.fault(format!("{what} request {}, which is not under way", id.0));
    }

    /// The host issues a request.
    #[inline(never)]
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
    #[inline(never)]
    pub fn submitted(&mut self, id: RequestId, command: &Command) {
        self.begin(id, command, 0);
    }

    /// Blocks of one request become those of another: a child's of its parent's, or the other way.
    #[inline(never)]
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
            None => self.not_under_way("data went to", id),
        }
    }

    /// A device has found that what it holds does not fit together.
    pub fn found(&mut self, what: String) {
        self.fault(what);
    }

    /// A request to a child is complete, and its parent has taken what it wants of it.
    #[inline(never)]
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
            return self.not_under_way("a medium wrote for", id);
        };
        let written = offset as usize..(offset + blocks) as usize;
        self.media.write((medium, lbn), &open.payload[written]);
    }

    /// A medium has read part of a request.
    pub fn read(&mut self, medium: DeviceId, id: RequestId, offset: u32, lbn: u64, blocks: u32) {
        let Some(open) = self.open.get_mut(&id) else {
            return self.not_under_way("a medium read for", id);
        };
        let read = offset as usize..(offset + blocks) as usize;
        self.media.read((medium, lbn), &mut open.payload[read]);
    }

    /// A medium holds nothing in some blocks, as before the run.
    pub fn cleared(&mut self, medium: DeviceId, lbn: u64, blocks: u32) {
        self.media.clear((medium, lbn), blocks);
    }

    /// A medium has what it holds of some blocks elsewhere too.
    pub fn moved_on_medium(&mut self, medium: DeviceId, from: u64, to: u64, blocks: u32) {
        self.media.copy(medium, from, to, blocks);
    }

    /// Blocks of a request are in a segment of a device's buffer, which loses them with the power.
    #[inline(never)]
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
            return self.not_under_way("a buffer took data of", id);
        };
        let versions = &open.payload[open.span(from, blocks)];
        for (lbn, &version) in (to..).zip(versions) {
            self.buffers.insert((device, segment, lbn), version);
        }
    }

    /// Blocks of a request are those of a segment: it is served from there, or writes what is there.
    #[inline(never)]
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
            return self.not_under_way("a buffer served", id);
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
            let held = self.media.held((device, lbn));
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
            self.media.write((device, to), &[held]);
        }
    }

    /// The host hears of a completion.
    #[inline(never)]
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
                let held = place.map_or(0, |place| self.media.held(place));
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
        self.media.held(place)
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
            let held =
                |place: &Option<(DeviceId, u64)>| place.map_or(0, |place| self.media.held(place));
            let held: Vec<Version> = media.iter().map(held).collect();
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
mod tests;
