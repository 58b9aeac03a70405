//! Which of a drive's arms serves an access.

mod adaptive;
mod nearest;
mod soonest;
mod split;

use crate::base::registry::{policies, schema_of_family};
use crate::base::units::Time;
use crate::engine::request::Op;

policies! {
    /// A rule that chooses an arm, and its parameters, as a spec names it.
    pub enum ArmChoiceSpec of "arm choice" builds Box<dyn ArmChoice> {
        Soonest = "soonest" [] in soonest::Soonest,
        Nearest = "nearest" [] in nearest::Nearest,
        Split = "split" [] in split::Split,
        Adaptive = "adaptive" [] in adaptive::Adaptive,
    }
}

schema_of_family!(
    ArmChoiceSpec,
    "ArmChoice",
    "Which of several arms serves an access."
);

impl Default for ArmChoiceSpec {
    fn default() -> ArmChoiceSpec {
        ArmChoiceSpec::Soonest(soonest::Soonest::default())
    }
}

/// An arm that could serve an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number.
    pub arm: usize,
    /// Seek, head switch and settling.
    pub motion: Time,
    /// The motion and the wait for the first sector.
    pub positioning: Time,
}

/// Where a write goes on a drive with a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Where the block was.
    InPlace,
    /// Into the log.
    Log,
}

/// Chooses the arm for every access. It changes nothing but its own memory.
pub trait ArmChoice: Send {
    /// One of the candidates, of which there is at least one, by its place in the list; they are in the order of their numbers.
    fn choose(&mut self, op: Op, candidates: &[Candidate]) -> usize;

    /// The arm that serves, where the rule knows it without a comparison; it counts only if that arm can.
    fn named(&self, _op: Op) -> Option<usize> {
        None
    }

    /// How a drive with a log writes at present.
    fn mode(&self) -> WriteMode {
        WriteMode::Log
    }

    /// A request took `latency` from its start to the end of its transfer.
    fn served(&mut self, _op: Op, _latency: Time) {}

    /// How often it changed the [mode](Self::mode).
    fn switches(&self) -> u64 {
        0
    }
}

/// The candidate that is best by a measure; the first of equals.
fn least<K: Ord>(candidates: &[Candidate], key: impl Fn(&Candidate) -> K) -> usize {
    let numbered = candidates.iter().enumerate();
    let best = numbered.min_by_key(|&(number, candidate)| (key(candidate), number));
    best.map_or(0, |(number, _)| number)
}

#[cfg(test)]
fn candidate(arm: usize, motion_us: u64, positioning_us: u64) -> Candidate {
    Candidate {
        arm,
        motion: Time::from_us(motion_us),
        positioning: Time::from_us(positioning_us),
    }
}
