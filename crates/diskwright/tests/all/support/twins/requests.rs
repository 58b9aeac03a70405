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
