//! What is refused with reason: specs that are drawn like all others, but have no physical meaning, or contradict themselves.

/// Words of messages that refuse so few drawn specs that ten thousand may have none.
const RARE: &[&str] = &[
    // An extent larger than a track of its region.
    "sectors in a region with",
    // Regions of a drive that is as small as they are.
    "a region that takes",
    // Aligned requests or runs in a region where none begins.
    "there is no place for",
    // A table of counts with fewer places than its clone would begin again at.
    "come again, and none is new",
    "come again, and no new one has as many",
    // A load that time alone ends, as what a device is warmed with.
    "no number of requests to warm with",
    // A unit larger than the smallest member, of which the capacity is what its drive's layout leaves.
    "accepted: 1 block to those of the smallest member",
    "a stripe's unit of",
    // A generator of processes on a device of hardly a block.
    "expected 2 units of",
    // An oracle below a load of which the pace depends on completions.
    "an oracle must know future requests",
];

/// Words of all others that may refuse a drawn spec.
pub const KNOWN: &[&str] = &[
    "a segmented buffer on a drive with",
    "may put a block anywhere",
    "miss-ratio",
    // A hot part of no place, where there are few.
    "expected some, but not all",
    // A low power state that never pays, or always does, has no break-even time for a timeout to begin with.
    "never takes less energy than idle",
    // A load that the drive's end, or the drawn stretch of it, leaves nothing of; a warm-up of the whole run.
    "the run is empty",
    "nothing is measured",
    // One that ends with its only arrival.
    "when the last one arrives",
    "when its processes end it",
    // A host's scheduler above a medium that it cannot measure.
    "nothing is known of the access times",
];

/// The words of the reason that is known, in a message.
pub fn known(message: &str) -> Option<&'static str> {
    let mut all = KNOWN.iter().chain(RARE).copied();
    all.find(|words| message.contains(words))
}
