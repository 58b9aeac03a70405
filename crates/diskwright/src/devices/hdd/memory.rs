//! What the block cache and the pool have in common: frames, of which the checker is told what they hold, and requests to what is behind
//! them.

use super::transfers::TransferId;
use crate::engine::context::Context;
use crate::engine::request::{Command, RequestId};
use crate::models::cache::block_cache::{BlockState, LinePiece, LinePieces, Trimmed, Victim};
use crate::models::cache::{BlockCache, Frame};

/// Frames, and the checker's names of them. A block is in at most one frame, so all together have one name.
pub(super) struct Memory {
    pub cache: BlockCache,
    names: Names,
}

/// Whose memory it is: the checker has a name for all frames of each, for what passes over regions have taken from them, and for what each
/// of its transfers has. Lower names are those of the segments of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    OfCache,
    OfPool,
}

impl Names {
    /// All frames together.
    fn frames(self) -> u32 {
        match self {
            Names::OfCache => u32::MAX - 1,
            Names::OfPool => u32::MAX,
        }
    }

    /// What passes over regions of the medium have taken from all frames.
    fn passes(self) -> u32 {
        self.frames() - 2
    }

    /// What a transfer has.
    fn transfer(self, id: TransferId) -> u32 {
        match self {
            Names::OfCache => id.0 | 1 << 30,
            Names::OfPool => id.0 | 1 << 31,
        }
    }
}

impl Memory {
    pub fn new(cache: BlockCache, names: Names) -> Memory {
        Memory { cache, names }
    }

    /// The checker's name of all frames together.
    pub fn name(&self) -> u32 {
        self.names.frames()
    }

    /// The checker's name of what passes over regions have taken.
    pub fn name_of_passes(&self) -> u32 {
        self.names.passes()
    }

    /// The checker's name of what a transfer has.
    pub fn name_of(&self, id: TransferId) -> u32 {
        self.names.transfer(id)
    }

    /// The pieces of a command, one for each frame.
    #[inline]
    pub fn pieces(&self, command: &Command) -> LinePieces {
        self.cache.pieces(command.lbn.0, command.blocks)
    }

    /// The run from the first to the last of a command's blocks that its frames do not have.
    #[inline(never)]
    pub fn missing(&self, command: &Command, frames: &[Option<Frame>]) -> Option<(u64, u32)> {
        let mut run: Option<(u64, u64)> = None;
        for (piece, &frame) in self.pieces(command).zip(frames) {
            if let Some((lbn, blocks)) = self.cache.missing(&piece, frame) {
                let (first, _) = run.unwrap_or((lbn, lbn));
                run = Some((first, lbn + u64::from(blocks)));
            }
        }
        run.map(|(first, end)| (first, (end - first) as u32))
    }

    /// Puts into a frame what came from behind, but not over what was written meanwhile.
    #[inline]
    pub fn fill(&mut self, frame: Frame, part: &LinePiece, child: RequestId, cx: &mut Context<'_>) {
        if cx.checker().is_some() {
            self.tell_filled(frame, part, child, cx);
        }
        self.cache.fill(frame, part);
    }

    #[cold]
    fn tell_filled(&self, frame: Frame, part: &LinePiece, child: RequestId, cx: &mut Context<'_>) {
        let line = self.cache.line(frame);
        if let Some((checker, device)) = cx.checker() {
            for (lbn, blocks) in self.cache.runs(line, BlockState::Missing, *part) {
                checker.buffered(device, self.names.frames(), child, lbn, blocks);
            }
        }
    }

    /// A request has put its blocks into frames.
    #[inline]
    pub fn tell_put(&self, request: RequestId, piece: &LinePiece, cx: &mut Context<'_>) {
        if cx.checker().is_some() {
            self.tell_piece_put(request, piece, cx);
        }
    }

    #[cold]
    fn tell_piece_put(&self, request: RequestId, piece: &LinePiece, cx: &mut Context<'_>) {
        if let Some((checker, device)) = cx.checker() {
            checker.buffered(device, self.name(), request, piece.lbn, piece.blocks());
        }
    }

    /// A request has got all its blocks from frames.
    pub fn tell_read(&self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        if let Some((checker, device)) = cx.checker() {
            checker.read_buffered(device, self.name(), request, command.lbn.0, command.blocks);
        }
    }

    /// Tells the checker where a read has got a piece that it went behind the frames for: from its frame, or past the frames.
    #[inline]
    pub fn tell_passed(
        &self,
        request: RequestId,
        child: RequestId,
        piece: (&LinePiece, Option<Frame>),
        cx: &mut Context<'_>,
    ) {
        if cx.checker().is_some() {
            self.tell_piece_passed(request, child, piece, cx);
        }
    }

    #[cold]
    fn tell_piece_passed(
        &self,
        request: RequestId,
        child: RequestId,
        (piece, frame): (&LinePiece, Option<Frame>),
        cx: &mut Context<'_>,
    ) {
        if let Some((checker, device)) = cx.checker() {
            let (lbn, blocks) = (piece.lbn, piece.blocks());
            match frame {
                Some(_) => checker.read_buffered(device, self.name(), request, lbn, blocks),
                None => checker.carried(child, request, lbn, blocks),
            }
        }
    }

    /// Takes a run of blocks out of the frames, dirty or not.
    pub fn trim(&mut self, (lbn, blocks): (u64, u32), cx: &mut Context<'_>) -> Trimmed {
        let name = self.name();
        let gone = |lbn, blocks| {
            if let Some((checker, device)) = cx.checker() {
                checker.dropped(device, name, lbn, blocks);
            }
        };
        self.cache.trim(lbn, blocks, gone)
    }

    /// Gives up the frames of victims.
    #[inline]
    pub fn release(&mut self, victims: &mut Vec<Victim>, cx: &mut Context<'_>) {
        if victims.is_empty() {
            return;
        }
        if cx.checker().is_some() {
            self.tell_dropped(victims, cx);
        }
        while let Some(victim) = victims.pop() {
            self.cache.release(victim);
        }
    }

    #[cold]
    fn tell_dropped(&self, victims: &[Victim], cx: &mut Context<'_>) {
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        for victim in victims {
            let whole = self.cache.whole(victim.key);
            let valid = self.cache.runs(victim.line, BlockState::Valid, whole);
            for (lbn, blocks) in valid {
                checker.dropped(device, self.names.frames(), lbn, blocks);
            }
        }
    }
}

/// What requests to what is behind are for, by their numbers.
pub(super) struct Sent<T> {
    purposes: Vec<Option<T>>,
}

impl<T: Copy> Sent<T> {
    pub fn new() -> Sent<T> {
        Sent {
            purposes: Vec::new(),
        }
    }

    /// A request is sent for something.
    #[inline]
    pub fn note(&mut self, child: RequestId, what: T) {
        let index = child.0 as usize;
        if self.purposes.len() <= index {
            self.lengthen(index + 1);
        }
        self.purposes[index] = Some(what);
    }

    #[cold]
    fn lengthen(&mut self, length: usize) {
        self.purposes.resize(length, None);
    }

    /// Whether a request has been sent and is not complete.
    #[inline]
    pub fn has(&self, child: RequestId) -> bool {
        matches!(self.purposes.get(child.0 as usize), Some(Some(_)))
    }

    /// What a request was sent for that is complete.
    #[inline]
    pub fn take(&mut self, child: RequestId) -> T {
        let purpose = self.purposes[child.0 as usize].take();
        purpose.expect("only what was sent is completed")
    }
}
