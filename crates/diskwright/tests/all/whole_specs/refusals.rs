//! What is refused with reason: specs that are drawn like all others, but make no sense, or none yet.

/// Why a spec is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has no physical meaning, or contradicts itself.
    Sense,
    /// The features could be had together, but are not today.
    Exclusion,
}

use Why::{Exclusion, Sense};

/// Words of every message that may refuse a drawn spec.
pub const KNOWN: &[(&str, Why)] = &[
    (
        "a buffer is for a drive with one arm and data in place",
        Exclusion,
    ),
    (
        "clustering is for a drive with one arm and data in place",
        Exclusion,
    ),
    ("may put a block anywhere", Sense),
    ("does not reach all of the drive", Sense),
    ("miss-ratio", Sense),
    // A hot part of no place, where there are few.
    ("expected some, but not all", Sense),
];

/// The words of the reason that is known, in a message.
pub fn known(message: &str) -> Option<&'static str> {
    KNOWN
        .iter()
        .map(|(words, _)| *words)
        .find(|words| message.contains(words))
}
