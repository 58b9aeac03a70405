//! What is noted when an arm has done its work: in the log, and in the checker's checker.

use super::MultiHdd;
use super::arm::Reading;
use super::course::runs;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, RequestId};
use crate::models::placement::log::Content;

impl MultiHdd {
    /// Notes what an arm has written for a request, and tells the checker what the medium did.
    pub(super) fn settle(&mut self, arm: usize, request: RequestId, cx: &mut Context<'_>) {
        let command = cx.request(request).command;
        if self.log.is_none() {
            return self.settle_in_place(arm, request, &command, cx);
        }
        if command.op == Op::Read {
            let reading = &self.arms[arm].course.reading;
            if let Some((checker, medium)) = cx.checker() {
                for piece in reading.iter().filter(|piece| piece.lbn != Reading::NONE) {
                    let offset = (piece.lbn - command.lbn.0) as u32;
                    checker.read(medium, request, offset, piece.medium, piece.blocks);
                }
            }
            return;
        }
        self.settle_writes(arm, request, &command, cx);
    }

    fn settle_writes(
        &mut self,
        arm: usize,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
    ) {
        let per_slot = self.slot_blocks().expect("there is a log");
        let mut taken = std::mem::take(&mut self.arms[arm].course.taken);
        let span = |block: u64| {
            let from = (block * per_slot).max(command.lbn.0);
            (from, ((block + 1) * per_slot).min(command.end().0))
        };
        for taken in taken.drain(..) {
            if let (Content::Data(block), Some((checker, medium))) = (taken.content, cx.checker()) {
                let (from, end) = span(block);
                let to = self.medium_lbn(taken.slot);
                let log = self.log.as_ref().expect("there is a log");
                // The rest of the slot is what the block was, or empty.
                match log.map().get(block) {
                    _ if end - from == per_slot => {}
                    Some(before) => {
                        let before = self.medium_lbn(before);
                        checker.moved_on_medium(medium, before, to, per_slot as u32);
                    }
                    None => checker.cleared(medium, to, per_slot as u32),
                }
                let offset = (from - command.lbn.0) as u32;
                let blocks = (end - from) as u32;
                checker.wrote(medium, request, offset, to + from % per_slot, blocks);
            }
            let log = self.log.as_mut().expect("there is a log");
            if let Some(before) = log.commit(taken) {
                self.release(before);
            }
        }
        self.arms[arm].course.taken = taken;
        let mut rewritten = std::mem::take(&mut self.arms[arm].course.rewritten);
        for (block, slot) in rewritten.drain(..) {
            let log = self.log.as_mut().expect("there is a log");
            // Another arm may have moved it meanwhile: then this write came before that one.
            let now_in = log.map().get(block).unwrap_or(slot);
            log.rewrite(block, now_in);
            let to = self.medium_lbn(now_in);
            if let Some((checker, medium)) = cx.checker() {
                let (from, end) = span(block);
                let offset = (from - command.lbn.0) as u32;
                checker.wrote(
                    medium,
                    request,
                    offset,
                    to + from % per_slot,
                    (end - from) as u32,
                );
            }
        }
        self.arms[arm].course.rewritten = rewritten;
    }

    /// Tells the checker what an arm did for a request, or for its station's share in it, with data in place.
    fn settle_in_place(
        &mut self,
        arm: usize,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
    ) {
        let Some((checker, medium)) = cx.checker() else {
            return;
        };
        let station = &self.stations[self.arms[arm].station];
        let per_sector = u64::from(self.hardware.blocks_per_sector);
        let mut sector = command.lbn.0 / per_sector;
        for run in runs(&self.hardware, command) {
            let from = (sector * per_sector).max(command.lbn.0);
            sector += u64::from(run.sectors);
            let end = (sector * per_sector).min(command.end().0);
            let is_own = self.stations.len() == 1
                || station.reaches(run.position.cylinder, run.position.head);
            let (offset, blocks) = ((from - command.lbn.0) as u32, (end - from) as u32);
            match command.op {
                Op::Write if is_own => checker.wrote(medium, request, offset, from, blocks),
                Op::Read if is_own => checker.read(medium, request, offset, from, blocks),
                _ => {}
            }
        }
    }
}
