//! Layouts: which member of an array has which blocks.

mod concat;
mod mirror;
mod stripe;

use super::{Member, MemberPiece};
use crate::base::error::InputError;
use crate::base::registry::{policies, schema_of_family};
use crate::base::units::Lbn;
use crate::engine::request::Command;

policies! {
    /// A layout and its parameters, as a spec names it, for at least one member, each with its number of blocks.
    pub enum LayoutSpec of "layout" builds Result<Box<dyn Layout>, InputError>,
    for (members: &[u64]) as |parameters| { parameters.build(members) } {
        Stripe = "stripe" ["raid-0"] in stripe::Stripe,
        Mirror = "mirror" ["raid-1"] in mirror::Mirror,
        Concat = "concat" [] in concat::Concat,
    }
}

schema_of_family!(
    LayoutSpec,
    "ArrayLayout",
    "Which member of an array has which blocks."
);

/// Where the blocks of an array are.
///
/// It is asked for blocks that the array has, [`Self::blocks`] of them, and of each there are [`Self::copies`], on different members.
pub trait Layout: Send {
    /// Capacity in blocks.
    fn blocks(&self) -> u64;

    /// How many members have each block.
    fn copies(&self) -> u32 {
        1
    }

    /// The member that has a copy of a block, the copies being counted from 0, and the block's place on it.
    fn place(&self, lbn: Lbn, copy: u32) -> (usize, Lbn);

    /// Which block a member has at a place where it has one, and of how many blocks from that on the places follow each other.
    fn origin(&self, member: usize, at: Lbn) -> (Lbn, u64);

    /// Adds what the members have to do for a read, a write or a trim: at most one piece for each member. A read has each of its blocks
    /// from one member, all else goes to every copy. Where blocks have copies, members that have failed are left out: there may be none.
    fn split(&mut self, command: &Command, members: &[Member], pieces: &mut Vec<MemberPiece>);

    /// What another member has to do for a read that the one of `piece` could not serve; `first` is the member that was asked first.
    /// `None` where none is left that has the blocks.
    fn instead(
        &self,
        piece: &MemberPiece,
        first: usize,
        members: &[Member],
    ) -> Option<MemberPiece> {
        let _ = (piece, first, members);
        None
    }
}

/// The capacity of the smallest member.
fn smallest(members: &[u64]) -> u64 {
    let smallest = members.iter().copied().min();
    smallest.expect("an array has a member")
}

#[cfg(test)]
mod tests;
