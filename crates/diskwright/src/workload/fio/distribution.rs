//! `random_distribution`: where random requests go.

use crate::base::error::InputError;
use crate::base::units::percent::{Percent, Portion};
use crate::base::units::{BLOCK_BYTES, Lbn, Size};
use crate::workload::synthetic::{
    AddressSpec, FioNormalParams, FioParetoParams, FioZipfParams, Zone, ZonesParams,
};

use super::ini::Setting;
use super::job::Range;
use super::reading::Reading;
use super::values::{number, percent, weighted};

const EXPECTED: &str = "random, zipf:THETA, pareto:H or normal:DEVIATION, each perhaps with a centre as in zipf:1.2:0.5, zoned:SHARE/SIZE:… in percent, or zoned_abs:SHARE/SIZE:…";

/// The pattern that the option asks for; `None` for a uniform one.
///
/// # Errors
/// A value that is not understood.
pub fn address(
    reading: &Reading<'_>,
    setting: &Setting,
    align: Option<Size>,
    range: Range,
) -> Result<Option<AddressSpec>, InputError> {
    let wrong = || reading.file.wrong_value(setting, EXPECTED);
    let text = setting.value.as_deref().unwrap_or("");
    // The manual has an equals sign in one place.
    let (name, rest) = match text.split_once([':', '=']) {
        Some((name, rest)) => (name.trim(), Some(rest)),
        None => (text, None),
    };
    let (from, blocks) = (Lbn(range.from), Some(range.blocks));
    if matches!(name, "zoned" | "zoned_abs") {
        let zones = zones(
            reading,
            setting,
            rest.ok_or_else(wrong)?,
            name == "zoned_abs",
        )?;
        return Ok(Some(AddressSpec::Zones(ZonesParams {
            zones,
            from,
            blocks,
            align,
        })));
    }
    let mut numbers = Vec::new();
    for part in rest.into_iter().flat_map(|rest| rest.split(':')) {
        numbers.push(part.trim().parse::<f64>().map_err(|_| wrong())?);
    }
    let (first, center) = match numbers[..] {
        [] => (None, None),
        [first] => (Some(first), None),
        [first, center] if (0.0..=1.0).contains(&center) => (Some(first), Some(center)),
        _ => return Err(wrong()),
    };
    Ok(Some(match name {
        "random" if first.is_none() => return Ok(None),
        "zipf" => {
            let theta = first.unwrap_or(FioZipfParams::default().theta);
            if !(theta.is_finite() && theta >= 0.0) || theta == 1.0 {
                return Err(reading
                    .file
                    .wrong_value(setting, "a theta of 0 or more that is not 1"));
            }
            AddressSpec::FioZipf(FioZipfParams {
                theta,
                center,
                from,
                blocks,
                align,
            })
        }
        "pareto" => {
            let h = first.unwrap_or(FioParetoParams::default().h);
            if !(h > 0.0 && h < 1.0) {
                return Err(reading.file.wrong_value(setting, "a power between 0 and 1"));
            }
            AddressSpec::FioPareto(FioParetoParams {
                h,
                center,
                from,
                blocks,
                align,
            })
        }
        "normal" | "gauss" => {
            let deviation = first.unwrap_or(0.0);
            if !(0.0..100.0).contains(&deviation) {
                return Err(reading
                    .file
                    .wrong_value(setting, "a deviation from 0 to below 100"));
            }
            AddressSpec::FioNormal(FioNormalParams {
                deviation,
                center,
                from,
                blocks,
                align,
            })
        }
        _ => return Err(wrong()),
    }))
}

/// `60/10:30/20:…`: shares and sizes.
fn zones(
    reading: &Reading<'_>,
    setting: &Setting,
    text: &str,
    absolute: bool,
) -> Result<Vec<Zone>, InputError> {
    if text.contains(',') {
        return Err(reading
            .file
            .wrong_value(setting, "the same zones for reads, writes and trims"));
    }
    let wrong = || reading.file.wrong_value(setting, EXPECTED);
    let zone = |(share, size): (&str, Option<&str>)| {
        let share = percent(share).and_then(Percent::new).ok_or_else(wrong)?;
        let size = size.ok_or_else(wrong)?;
        let size = if absolute {
            let bytes =
                number(size, reading.base).filter(|bytes| bytes.is_multiple_of(BLOCK_BYTES));
            Portion::Size(Size::from_blocks(bytes.ok_or_else(wrong)? / BLOCK_BYTES))
        } else {
            Portion::Percent(percent(size).and_then(Percent::new).ok_or_else(wrong)?)
        };
        Ok(Zone { share, size })
    };
    weighted(text).map(zone).collect()
}
