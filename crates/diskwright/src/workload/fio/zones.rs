//! `zonemode=strided`: zones one after the other.

use crate::base::error::InputError;
use crate::base::units::{Lbn, Size};
use crate::workload::synthetic::{AddressSpec, StridedZonesParams};

use super::ini::Setting;
use super::job::{Pattern, Range};
use super::reading::Reading;
use super::values::Amount;

/// The pattern of a job that goes through zones; `None` for one without.
///
/// # Errors
/// A mode other than `none` and `strided`; zones without a size; what cannot be combined with them.
pub fn address(
    reading: &mut Reading<'_>,
    pattern: &Pattern,
    align: Option<Size>,
    range: Range,
) -> Result<Option<AddressSpec>, InputError> {
    let size = reading.last(&["zonesize"]);
    let mode = reading.last(&["zonemode"]);
    let setting = match (mode, mode.and_then(|mode| mode.value.as_deref()), size) {
        (Some(mode), Some("strided"), Some(_)) => mode,
        (Some(mode), Some("strided"), None) => {
            let error = reading
                .file
                .wrong_value(mode, "zonesize beside it, the bytes to transfer in a zone");
            return Err(error);
        }
        (Some(_), Some("none"), _) | (None, _, None) => return Ok(None),
        (Some(mode), ..) => return Err(reading.file.wrong_value(mode, "none or strided")),
        // As fio has it where only the size is given.
        (None, _, Some(size)) => size,
    };
    refuse_with(reading, pattern, setting)?;
    let transfer = blocks(reading, "zonesize")?.filter(|transfer| *transfer > 0);
    let transfer = transfer.ok_or_else(|| {
        let size = size.expect("it is given");
        reading.file.wrong_value(size, "1 block or more")
    })?;
    let zone = blocks(reading, "zonerange")?
        .filter(|zone| *zone > 0)
        .unwrap_or(transfer);
    if zone > range.blocks {
        let setting = reading.last(&["zonerange", "zonesize"]).unwrap_or(setting);
        let expected = format!("a zone within the job's {} blocks", range.blocks);
        return Err(reading.file.wrong_value(setting, &expected));
    }
    if pattern.random && !reading.flag(&["norandommap"])? && align.is_none() {
        reading.not_modelled(
            setting,
            "places of a zone may be met more than once, as with norandommap",
        );
    }
    Ok(Some(AddressSpec::StridedZones(StridedZonesParams {
        zone: Size::from_blocks(zone),
        transfer: (transfer != zone).then_some(Size::from_blocks(transfer)),
        skip: Size::from_blocks(blocks(reading, "zoneskip")?.unwrap_or(0)),
        random: pattern.random,
        from: Lbn(range.from),
        blocks: Some(range.blocks),
        align,
    })))
}

/// What fio has in zones and a simulation has not.
fn refuse_with(
    reading: &Reading<'_>,
    pattern: &Pattern,
    setting: &Setting,
) -> Result<(), InputError> {
    let of_several = pattern.shares.iter().filter(|share| **share > 0.0).count() > 1;
    let distribution = reading.last(&["random_distribution"]);
    let is_uniform = distribution.is_none_or(|of| of.value.as_deref() == Some("random"));
    let expected = if !pattern.random && of_several {
        "reads alone or writes alone in zones that are gone through in order: each direction would have a place of its own"
    } else if pattern.modifier.is_some_and(|modifier| modifier > 0) {
        "no number behind rw in zones"
    } else if pattern.partly.is_some() {
        "no percentage_random in zones"
    } else if pattern.random && !is_uniform {
        "no random_distribution in zones"
    } else {
        return Ok(());
    };
    Err(reading.file.wrong_value(setting, expected))
}

/// A size in bytes, as blocks.
fn blocks(reading: &Reading<'_>, name: &str) -> Result<Option<u64>, InputError> {
    match reading.amount(&[name])? {
        None => Ok(None),
        Some((setting, Amount::Bytes(bytes))) => reading.blocks(setting, bytes).map(Some),
        Some((setting, Amount::Percent(_))) => {
            Err(reading.file.wrong_value(setting, "a size such as 4m"))
        }
    }
}
