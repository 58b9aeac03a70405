//! Layouts: which member of an array has which blocks.

mod concat;
mod mirror;
mod parity_striping;
mod raid10;
mod raid4;
mod raid5;
mod raid6;
mod stripe;

use super::reads::ReadSpec;
use super::redundant::geometry::Geometry;
use super::redundant::spec::{Rules, Waits, WritesSpec};
use super::{Member, MemberPiece};
use crate::base::error::InputError;
use crate::base::registry::{policies, schema_of_family};
use crate::base::units::{Lbn, Size};
use crate::engine::request::Command;

policies! {
    /// A layout and its parameters, as a spec names it, for at least one member, each with its number of blocks.
    pub enum LayoutSpec of "layout" builds Result<Organisation, InputError>,
    for (members: &[u64]) as |parameters| { parameters.build(members) } {
        Stripe = "stripe" ["raid-0"] in stripe::Stripe,
        Mirror = "mirror" ["raid-1"] in mirror::Mirror,
        Concat = "concat" [] in concat::Concat,
        Raid4 = "raid-4" [] in raid4::Raid4,
        Raid5 = "raid-5" [] in raid5::Raid5,
        Raid6 = "raid-6" [] in raid6::Raid6,
        Raid10 = "raid-10" [] in raid10::Raid10,
        ParityStriping = "parity-striping" [] in parity_striping::ParityStriping,
    }
}

schema_of_family!(
    LayoutSpec,
    "ArrayLayout",
    "Which member of an array has which blocks."
);

/// What a layout makes of members.
pub enum Organisation {
    /// Blocks with a place, or copies, on members that nothing replaces.
    Plain(Box<dyn Layout>),
    /// Rows with redundancy, which is kept and restored.
    Redundant(Geometry, Rules),
}

#[cfg(test)]
impl Organisation {
    /// The layout of one without redundancy that is kept.
    pub(crate) fn plain(self) -> Box<dyn Layout> {
        match self {
            Organisation::Plain(layout) => layout,
            Organisation::Redundant(..) => panic!("it has redundancy"),
        }
    }
}

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

impl LayoutSpec {
    /// The layout for an array with spares, or with what else keeps its redundancy.
    ///
    /// # Errors
    /// That there is no redundancy; those of the layout.
    pub(super) fn kept_up(&self, members: &[u64]) -> Result<Organisation, InputError> {
        let plain = |name: &str| {
            let error = InputError::new(format!(
                "spares, rebuilds, scrubs, bitmaps and journals of a layout without redundancy, {name:?}"
            ));
            Err(error.help("accepted: mirror, raid-4, raid-5, raid-6, raid-10, parity-striping"))
        };
        match self {
            LayoutSpec::Mirror(mirror) => Ok(mirror.kept_up(members)),
            LayoutSpec::Stripe(_) | LayoutSpec::Concat(_) => plain(self.name()),
            _ => self.build(members),
        }
    }
}

/// How many whole units the smallest member has.
fn rows_of(unit: Size, members: &[u64]) -> Result<u64, InputError> {
    let smallest = smallest(members);
    match smallest.checked_div(unit.blocks()) {
        Some(rows) if rows > 0 => Ok(rows),
        _ => Err(InputError::new(format!("units of {unit}")).help(format!(
            "accepted: 1 block to those of the smallest member, {smallest}"
        ))),
    }
}

/// An organisation with parity.
fn with_parity(
    name: &str,
    geometry: Geometry,
    writes: &WritesSpec,
    waits: Waits,
) -> Result<Organisation, InputError> {
    let least = geometry.parities() + 1;
    // Weights of GF(2^8) are different for this many units.
    let most = 255 + geometry.parities();
    if !(least..=most).contains(&geometry.members) {
        let error = InputError::new(format!("{name} of {} members", geometry.members));
        return Err(error.help(format!("accepted: {least} to {most} members")));
    }
    Ok(Organisation::Redundant(
        geometry,
        Rules {
            writes: *writes,
            waits,
            read: ReadSpec::default().build(),
        },
    ))
}

#[cfg(test)]
mod tests;
