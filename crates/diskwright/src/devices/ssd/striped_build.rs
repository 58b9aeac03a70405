//! What a spec and a drive's file say of parity over dies, checked against all that has no meaning with it.

use super::drive::SsdDescription;
use super::refusal::Refusal;
use super::striped::Striped;
use crate::base::error::InputError;
use crate::models::flash::allocation::Allocation;
use crate::models::flash::geometry::Geometry;
use crate::models::flash::superblocks::Superblocks;

/// The superblocks of a drive; `None` of one without parity. Blocks without a counterpart on the other dies become bad.
///
/// # Errors
/// Stripes that the planes cannot form; what has no meaning with them.
pub(super) fn striped(
    drive: &SsdDescription,
    geometry: &Geometry,
    allocation: &Allocation,
    streams: u32,
    is_bad: &mut [bool],
) -> Result<Option<Box<Striped>>, Refusal> {
    let Some(parity) = drive.parity else {
        return Ok(None);
    };
    refuse(drive)?;
    let all = geometry.all_planes();
    if parity.stripe < 2 || !all.is_multiple_of(parity.stripe) {
        let error = InputError::new(format!(
            "stripes of {} pages on {all} planes",
            parity.stripe
        ));
        let help = "accepted: 2 or more, of which the number of planes is a multiple";
        return Err(("parity", error.help(help).into()));
    }
    let planes: Vec<u32> = (0..all).map(|at| allocation.plane_at(at)).collect();
    for set in planes.chunks(parity.stripe as usize) {
        let mut dies: Vec<u32> = set.iter().map(|plane| plane / geometry.planes).collect();
        dies.sort_unstable();
        if let Some(twice) = dies.windows(2).find(|pair| pair[0] == pair[1]) {
            let error = InputError::new(format!(
                "stripes of {} pages, two of them on die {}",
                parity.stripe, twice[0]
            ));
            let help = "a smaller stripe, or an allocation.order that goes round all dies before it goes to another plane of one";
            return Err(("parity", error.help(help).into()));
        }
    }
    let superblocks = Superblocks::new(*geometry, planes, parity.stripe, streams, is_bad);
    Ok(Some(Box::new(Striped::new(superblocks))))
}

/// Refuses what needs blocks that are written and erased by themselves.
fn refuse(drive: &SsdDescription) -> Result<(), Refusal> {
    let refused = [
        (drive.slc.is_some(), "slc", "an SLC cache"),
        (
            drive.failures.is_some(),
            "failures",
            "failures of programs and erases",
        ),
        (
            drive.refresh.is_some(),
            "refresh",
            "blocks that are refreshed",
        ),
        (
            drive.wear.levelled_by.is_some(),
            "wear",
            "static wear levelling",
        ),
        (
            drive.mapping.is_some(),
            "mapping",
            "a map that is not all in memory, or of blocks",
        ),
        (drive.copy_back, "copy_back", "moves inside a plane"),
        (
            drive.reads_allocate,
            "reads_allocate",
            "reads that allocate",
        ),
        (
            !drive.cleaning.separate,
            "cleaning",
            "cleaning that shares the host's blocks",
        ),
        (
            drive.allocation.fixed != 0,
            "allocation",
            "pages that are bound to planes",
        ),
    ];
    for (is_there, key, what) in refused {
        if is_there {
            let error = InputError::new(format!("{what} on a drive with parity over its dies"));
            let help = match key {
                "allocation" => "accepted with parity: allocation.fixed = 0",
                "cleaning" => "accepted with parity: cleaning.separate = true",
                _ => {
                    "parity is for drives without it, whose blocks are written and erased in superblocks only"
                }
            };
            return Err((key, error.help(help).into()));
        }
    }
    Ok(())
}
