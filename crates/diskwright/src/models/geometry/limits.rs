//! What a described layout may not be.

use super::describe::{LayoutDescription, ZoneDescription};
use crate::base::error::InputError;

/// The most cylinders a layout may have: a seek table has an entry for each.
pub const MAX_CYLINDERS: u32 = 1 << 24;
/// The most surfaces a layout may have.
pub const MAX_SURFACES: u32 = 1 << 10;
/// The most sectors a track may have.
pub const MAX_SECTORS_PER_TRACK: u32 = 1 << 20;
/// The most sectors a zone may have, with spare ones: an angle is found from them with one multiplication.
pub const MAX_SECTORS_OF_ZONE: u64 = 1 << 42;

/// Refuses a value that is 0 or above the largest.
pub(super) fn check_size(what: &str, value: u32, largest: u32) -> Result<(), InputError> {
    if (1..=largest).contains(&value) {
        return Ok(());
    }
    Err(InputError::new(format!("{value} {what}")).help(format!("accepted: 1 to {largest} {what}")))
}

/// Refuses a zone that has no sense, or begins before the end of the one above.
pub(super) fn check_zone(
    layout: &LayoutDescription,
    zone: &ZoneDescription,
    above: Option<u32>,
) -> Result<(), InputError> {
    let (first, last) = zone.cylinders;
    if first > last {
        return Err(InputError::new("the first cylinder is above the last")
            .help("write cylinders = [first, last], the first one not above the last"));
    }
    if last >= layout.cylinders {
        return Err(
            InputError::new(format!("the drive has no cylinder {last}")).help(format!(
                "its {} cylinders are 0 to {}",
                layout.cylinders,
                layout.cylinders - 1
            )),
        );
    }
    if let Some(above) = above.filter(|&above| first <= above) {
        return Err(InputError::new(format!(
            "it begins before the end of the zone above it, at {above}"
        ))
        .help("zones are listed in the order of their cylinders and do not overlap"));
    }
    check_size(
        "sectors_per_track",
        zone.sectors_per_track,
        MAX_SECTORS_PER_TRACK,
    )?;
    let tracks = u64::from(last - first + 1) * u64::from(layout.surfaces);
    let sectors = tracks * u64::from(zone.sectors_per_track);
    if sectors > MAX_SECTORS_OF_ZONE {
        return Err(InputError::new(format!("a zone of {sectors} sectors"))
            .help(format!("accepted: up to {MAX_SECTORS_OF_ZONE} sectors")));
    }
    for (key, turn) in [
        ("offset", zone.offset),
        ("track_skew", zone.track_skew),
        ("cylinder_skew", zone.cylinder_skew),
    ] {
        if turn > zone.sectors_per_track {
            return Err(InputError::new(format!(
                "{key} of {turn} sectors is more than a revolution"
            ))
            .help(format!("accepted: 0 to {} sectors", zone.sectors_per_track)));
        }
    }
    Ok(())
}

/// Names the zone in an error.
pub(super) fn in_zone(number: usize, zone: &ZoneDescription, mut error: InputError) -> InputError {
    let (first, last) = zone.cylinders;
    error.message = format!(
        "zone {number} (cylinders {first} to {last}): {}",
        error.message
    );
    error
}
