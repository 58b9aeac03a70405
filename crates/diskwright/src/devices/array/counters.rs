//! What an array counts, and how it reports it.

use serde_json::{Map, Value, json};

use super::MemberPiece;
use crate::engine::request::{Command, Op};

/// Counts of requests and of what they became.
pub(super) struct ArrayCounters {
    requests: u64,
    reads: u64,
    writes: u64,
    /// Requests whose blocks are on more than one member.
    split: u64,
    /// Reads that another member was sent because one could not serve them.
    retried: u64,
    members: Vec<OfMember>,
}

/// What a member was sent.
#[derive(Clone, Copy, Default)]
struct OfMember {
    pieces: u64,
    blocks: u64,
}

impl ArrayCounters {
    pub(super) fn new(members: usize) -> ArrayCounters {
        ArrayCounters {
            requests: 0,
            reads: 0,
            writes: 0,
            split: 0,
            retried: 0,
            members: vec![OfMember::default(); members],
        }
    }

    /// Counts anew.
    pub(super) fn forget(&mut self) {
        *self = ArrayCounters {
            members: std::mem::take(&mut self.members),
            ..ArrayCounters::new(0)
        };
        self.members.fill(OfMember::default());
    }

    /// A request becomes these pieces.
    pub(super) fn count(&mut self, command: &Command, pieces: &[MemberPiece]) {
        self.requests += 1;
        self.reads += u64::from(command.op == Op::Read);
        self.writes += u64::from(command.op == Op::Write);
        let is_split = |piece: &MemberPiece| piece.blocks < command.blocks;
        self.split += u64::from(pieces.first().is_some_and(is_split));
        for piece in pieces {
            self.sent(piece);
        }
    }

    /// A member is sent a piece.
    fn sent(&mut self, piece: &MemberPiece) {
        let member = &mut self.members[piece.member];
        member.pieces += 1;
        member.blocks += u64::from(piece.blocks);
    }

    /// A read goes to another member.
    pub(super) fn retried(&mut self, piece: &MemberPiece) {
        self.retried += 1;
        self.sent(piece);
    }

    /// Everything, for the results.
    pub(super) fn report(&self) -> Map<String, Value> {
        let pieces: u64 = self.members.iter().map(|member| member.pieces).sum();
        let blocks: u64 = self.members.iter().map(|member| member.blocks).sum();
        let share = |part: u64, of: u64| {
            if of == 0 {
                0.0
            } else {
                part as f64 / of as f64
            }
        };
        let members = self.members.iter().enumerate().map(|(index, member)| {
            let counts = json!({
                "pieces": member.pieces,
                "blocks": member.blocks,
                "share": share(member.blocks, blocks),
            });
            (format!("member[{index}]"), counts)
        });
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("reads", json!(self.reads));
        put("writes", json!(self.writes));
        put("split_requests", json!(self.split));
        put("pieces", json!(pieces));
        if self.retried > 0 {
            put("retried_reads", json!(self.retried));
        }
        put("members", members.collect::<Map<_, _>>().into());
        report
    }
}
