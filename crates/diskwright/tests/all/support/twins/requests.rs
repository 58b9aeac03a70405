//! Requests that a trace brings.

use std::fmt::Write as _;

use diskwright::engine::request::Op;

/// A request of the host; a flush has no blocks.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// When it arrives in an open load, ns.
    pub at: u64,
    pub op: Op,
    pub fua: bool,
    pub lbn: u64,
    pub blocks: u64,
}

impl Asked {
    /// One of a kind, perhaps forced to the medium, of blocks from one on, which are nothing to a flush.
    pub fn new(at: u64, (op, fua): (Op, bool), (lbn, blocks): (u64, u64)) -> Asked {
        let (lbn, blocks) = match op {
            Op::Flush => (0, 0),
            _ => (lbn, blocks),
        };
        Asked {
            at,
            op,
            fua,
            lbn,
            blocks,
        }
    }
}

/// The load of a spec: all requests of a trace, as they were recorded or with a number of them outstanding.
pub fn load(trace: &str, users: Option<u64>) -> String {
    let pace = match users {
        Some(users) => format!("pace = \"closed\"\n[host]\noutstanding = {users}\n"),
        None => "pace = \"recorded\"\n".to_owned(),
    };
    format!("[workload]\ntrace = \"{trace}\"\nformat = \"csv\"\n{pace}[measure]\nwarmup = 0\n")
}

/// Blocks in their order as runs: the first of each, and the one behind its last.
pub fn runs(blocks: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for block in blocks {
        match runs.last_mut() {
            Some((_, end)) if *end == block => *end += 1,
            _ => runs.push((block, block + 1)),
        }
    }
    runs
}

/// Requests as a trace.
pub fn trace(requests: &[Asked]) -> String {
    let mut text = "time_ns,op,lbn,blocks,fua\n".to_owned();
    for asked in requests {
        let Asked {
            at,
            op,
            fua,
            lbn,
            blocks,
        } = asked;
        let (op, fua) = (op.name(), u8::from(*fua));
        _ = writeln!(text, "{at},{op},{lbn},{blocks},{fua}");
    }
    text
}
