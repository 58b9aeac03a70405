//! What arrives next, for a rule that is told of it: no host knows that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::base::units::Lbn;
use crate::engine::request::{Command, Op};

/// No request is known to come.
const NONE: u64 = u64::MAX;
/// The bit of a write, above the blocks.
const WRITE: u64 = 1 << 32;

/// The next read or write of an open load; all copies are the same one.
#[derive(Clone, Debug)]
pub struct Foresight(Arc<Foreseen>);

#[derive(Debug)]
struct Foreseen {
    lbn: AtomicU64,
    shape: AtomicU64,
}

impl Default for Foresight {
    fn default() -> Foresight {
        Foresight(Arc::new(Foreseen {
            lbn: AtomicU64::new(NONE),
            shape: AtomicU64::new(0),
        }))
    }
}

impl Foresight {
    /// The next request is this one, or there is none.
    pub fn note(&self, next: Option<&Command>) {
        let known = next.filter(|next| matches!(next.op, Op::Read | Op::Write));
        let (lbn, shape) = known.map_or((NONE, 0), |next| {
            let write = if next.op == Op::Write { WRITE } else { 0 };
            (next.lbn.0, u64::from(next.blocks) | write)
        });
        self.0.lbn.store(lbn, Relaxed);
        self.0.shape.store(shape, Relaxed);
    }

    /// The next request, if it is known and accesses blocks.
    pub fn next(&self) -> Option<Command> {
        let (lbn, shape) = (self.0.lbn.load(Relaxed), self.0.shape.load(Relaxed));
        (lbn != NONE).then_some(Command {
            op: if shape & WRITE > 0 {
                Op::Write
            } else {
                Op::Read
            },
            fua: false,
            lbn: Lbn(lbn),
            blocks: shape as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fakes::command;

    #[test]
    fn all_copies_know_the_next_request() {
        let host = Foresight::default();
        let rule = host.clone();
        assert_eq!(rule.next(), None);
        for next in [command(Op::Write, 7, 8), command(Op::Read, 9, 1)] {
            host.note(Some(&next));
            assert_eq!(rule.next(), Some(next));
        }
        host.note(Some(&command(Op::Flush, 0, 0)));
        assert_eq!(rule.next(), None);
    }
}
