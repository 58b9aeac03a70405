//! Victims: which block of a plane is cleaned.

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random_greedy;

use super::blocks::{Block, BlockState};
use crate::base::random::Stream;
use crate::base::registry::{policies, schema_of_family};

policies! {
    /// A rule that chooses victims and its parameters, as a spec names it.
    pub enum VictimSpec of "victim policy" builds Box<dyn Victims> {
        Greedy = "greedy" [] in greedy::Greedy,
        Fifo = "fifo" [] in fifo::Fifo,
        CostBenefit = "cost-benefit" [] in cost_benefit::CostBenefit,
        RandomGreedy = "random-greedy" [] in random_greedy::RandomGreedy,
        DChoices = "d-choices" [] in d_choices::DChoices,
    }
}

schema_of_family!(VictimSpec, "Victims", "Which block of a plane is cleaned.");

impl Default for VictimSpec {
    fn default() -> VictimSpec {
        VictimSpec::Greedy(greedy::Greedy {})
    }
}

/// The blocks of a plane, as a policy sees them.
pub struct Candidates<'a> {
    /// All blocks of the plane.
    pub blocks: &'a [Block],
    /// Units of a block.
    pub units: u32,
    /// The most valid units of a block that is worth cleaning: with more, moving them takes as many pages as it frees.
    pub most: u32,
    /// Blocks that were sealed so far on the whole drive.
    pub clock: u64,
}

impl Candidates<'_> {
    /// Whether a block may be cleaned: it is sealed, and a page at least is gained.
    #[inline]
    fn may_be(&self, block: &Block) -> bool {
        block.state == BlockState::Sealed && block.valid <= self.most
    }

    /// Those that may be cleaned, with their numbers in the plane.
    fn possible(&self) -> impl Iterator<Item = (u32, &Block)> {
        (0..)
            .zip(self.blocks)
            .filter(|(_, block)| self.may_be(block))
    }
}

/// A rule that chooses which block is cleaned.
pub trait Victims: Send {
    /// The number in the plane of the block to clean; `None` where none may be.
    fn choose(&mut self, candidates: &Candidates<'_>, chance: &mut Stream) -> Option<u32>;
}
