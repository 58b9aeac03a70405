//! The places of members, and which device is at each.

use super::super::Member;

/// A place of a member.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The device that is there, or was until it failed.
    pub member: Member,
    pub state: State,
}

/// What a place has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All that it should have.
    Good,
    /// Nothing.
    Lost,
    /// The first blocks, as many as this.
    Rebuilding(u64),
}

impl Slot {
    /// Whether it has what it should have up to a block.
    pub fn has(&self, end: u64) -> bool {
        match self.state {
            State::Good => true,
            State::Lost => false,
            State::Rebuilding(done) => end <= done,
        }
    }

    /// Whether a write from a block on has to go there too.
    pub fn takes(&self, from: u64) -> bool {
        match self.state {
            State::Good => true,
            State::Lost => false,
            State::Rebuilding(done) => from < done,
        }
    }
}
