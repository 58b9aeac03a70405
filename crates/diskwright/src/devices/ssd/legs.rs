//! What the time of an operation divides into, one thing after the other.

use super::operations::Action;
use crate::base::units::Time;
use crate::engine::request::Part;

/// What an operation has its channel or its array for, or waits for, for a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    /// The channel carries its command.
    Command,
    /// The channel carries data to the flash.
    DataIn,
    /// The channel carries data from the flash.
    DataOut,
    /// The array is read.
    Read,
    /// The array is programmed.
    Program,
    /// The array is erased.
    Erase,
    /// It waits for the channel.
    Wait,
}

impl Leg {
    /// All, in the order of their numbers.
    pub const ALL: [Leg; 7] = [
        Leg::Command,
        Leg::DataIn,
        Leg::DataOut,
        Leg::Read,
        Leg::Program,
        Leg::Erase,
        Leg::Wait,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Leg::Command => "command",
            Leg::DataIn => "data in",
            Leg::DataOut => "data out",
            Leg::Read => "read",
            Leg::Program => "program",
            Leg::Erase => "erase",
            Leg::Wait => "wait",
        }
    }

    /// The part of a request's time that it goes into.
    pub fn part(self) -> Part {
        match self {
            Leg::Command | Leg::DataIn | Leg::DataOut => Part::Channel,
            Leg::Read => Part::FlashRead,
            Leg::Program => Part::Program,
            Leg::Erase => Part::Erase,
            Leg::Wait => Part::Wait,
        }
    }

    /// Whether the channel is busy meanwhile.
    pub fn is_on_channel(self) -> bool {
        self.part() == Part::Channel
    }
}

/// The legs of a phase, one after the other; those of no length are none.
pub(super) type Legs = [(Leg, Time); 4];

/// Legs, the rest of no length.
pub(super) fn legs<const COUNT: usize>(some: [(Leg, Time); COUNT]) -> Legs {
    let mut all = [(Leg::Wait, Time::ZERO); 4];
    all[..COUNT].copy_from_slice(&some);
    all
}

/// What an operation is done for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A read of the host.
    Read,
    /// A write of the host, now or from the buffer.
    Write,
    /// Cleaning.
    Cleaning,
    /// The map: a checkpoint of it, or a part that is read.
    Map,
}

impl From<Action> for Cause {
    fn from(action: Action) -> Cause {
        match action {
            Action::Read => Cause::Read,
            Action::Merge | Action::Program | Action::Parity => Cause::Write,
            Action::Move
            | Action::MoveRead
            | Action::MoveWrite
            | Action::MoveParity
            | Action::Erase => Cause::Cleaning,
            Action::MapRead | Action::MapWrite => Cause::Map,
        }
    }
}

impl Cause {
    /// All, in the order of their numbers.
    pub const ALL: [Cause; 4] = [Cause::Read, Cause::Write, Cause::Cleaning, Cause::Map];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Read => "reads",
            Cause::Write => "writes",
            Cause::Cleaning => "cleaning",
            Cause::Map => "map",
        }
    }
}
