//! From `dm_mech_g1` to rotation, heads and a seek curve's description.

use super::component::{Component, Item};
use super::loader::Loader;
use super::seek_file;
use super::times;
use super::warnings::Warnings;
use crate::base::error::InputError;
use crate::base::units::quantities::{Rotation, SignedTime};
use crate::devices::hdd::drive::HeadsDescription;
use crate::models::geometry::seek::{HpSeek, LeeSeek, SeekDescription, SeekTable};

const SEEK_TYPES: &str = "one of constant, linear, curve, hpl, hplplus10, extracted";

/// The speed of rotation.
pub(super) fn rotation(mechanics: &Component) -> Result<Rotation, InputError> {
    mechanics
        .count("Rotation speed (in rpms)")
        .map(Rotation::Rpm)
}

/// The heads.
pub(super) fn heads(mechanics: &Component) -> Result<HeadsDescription, InputError> {
    let settle = mechanics.required("Add. write settling delay")?;
    let ms = settle.float("Add. write settling delay")?;
    let ns = libm::round(ms * 1e6);
    if libm::fabs(ns) > times::LONGEST_MS * 1e6 {
        return Err(settle.unlike(
            "Add. write settling delay",
            "a time in ms within a thousand seconds",
        ));
    }
    Ok(HeadsDescription {
        switch: times::time(mechanics, "Head switch time")?,
        write_settle: SignedTime::from_ns(ns as i64),
    })
}

/// The seek curve of a drive of `cylinders` cylinders. Each seek type has parameters of its own; those of the others have no effect, as in
/// DiskSim.
pub(super) fn seek(
    mechanics: &Component,
    cylinders: u32,
    loader: &mut Loader<'_>,
    warnings: &mut Warnings,
) -> Result<SeekDescription, InputError> {
    let access = mechanics.text("Access time type")?;
    if access != "trackSwitchPlusRotation" {
        return Err(mechanics
            .required("Access time type")?
            .unlike("Access time type", "trackSwitchPlusRotation")
            .help("drives are simulated with their rotation; neither constant access times nor mean latencies are"));
    }
    let time = |name| times::time(mechanics, name);
    match mechanics.text("Seek type")?.as_str() {
        "extracted" => {
            let name = mechanics.text("Full seek curve")?;
            let (path, text) = loader.find(&name, mechanics.at("Full seek curve"))?;
            seek_file::read(&path, text, warnings).map(SeekDescription::Table)
        }
        "constant" => time("Constant seek time").map(SeekDescription::Constant),
        "linear" => {
            defective(mechanics, warnings);
            let ms = |name| mechanics.float(name);
            let points = [
                (1, ms("Single cylinder seek time")?),
                (cylinders / 3, ms("Average seek time")?),
                (cylinders.max(1) - 1, ms("Full strobe seek time")?),
            ];
            let mut points_ms: Vec<(u32, f64)> = Vec::new();
            for point in points {
                // On a drive of a few cylinders the points meet.
                if points_ms.last().is_none_or(|&(before, _)| before < point.0) {
                    points_ms.push(point);
                }
            }
            Ok(SeekDescription::Table(SeekTable { points_ms }))
        }
        "curve" => {
            defective(mechanics, warnings);
            Ok(SeekDescription::Lee(LeeSeek {
                single: time("Single cylinder seek time")?,
                average: time("Average seek time")?,
                full: time("Full strobe seek time")?,
            }))
        }
        "hpl" => {
            let (hp, single) = hp(mechanics)?;
            let first_ms = if single == -1.0 {
                Vec::new()
            } else {
                vec![single]
            };
            Ok(SeekDescription::Hp(HpSeek { first_ms, ..hp }))
        }
        "hplplus10" => {
            let (hp, _) = hp(mechanics)?;
            let first_ms = numbers(mechanics, "First ten seek times", 10)?;
            Ok(SeekDescription::Hp(HpSeek { first_ms, ..hp }))
        }
        _ => Err(mechanics
            .required("Seek type")?
            .unlike("Seek type", SEEK_TYPES)),
    }
}

fn defective(mechanics: &Component, warnings: &mut Warnings) {
    warnings.push(mechanics.at("Seek type"), "DiskSim 4.0 computes curves of this type wrongly; here the curve is the one its manual describes");
}

/// The curve of Ruemmler and Wilkes without its first distances, and V6, the time of a single cylinder or −1.
fn hp(mechanics: &Component) -> Result<(HpSeek, f64), InputError> {
    let name = "HPL seek equation values";
    let v = numbers(mechanics, name, 6)?;
    // The square root holds below V1, the line from there on.
    let boundary = libm::ceil(v[0]);
    if !(0.0..=f64::from(u32::MAX)).contains(&boundary) {
        return Err(mechanics.required(name)?.at.error(format!(
            "a boundary of {} cylinders, expected a number from 0 to 4294967295",
            v[0]
        )));
    }
    let hp = HpSeek {
        boundary: boundary as u32,
        short_ms: (v[1], v[2]),
        long_ms: (v[3], v[4]),
        first_ms: Vec::new(),
    };
    Ok((hp, v[5]))
}

fn numbers(mechanics: &Component, name: &str, count: usize) -> Result<Vec<f64>, InputError> {
    let items = mechanics.list(name)?;
    if items.len() != count {
        return Err(mechanics.at(name).error(format!(
            "{name:?} has {} numbers, expected {count}",
            items.len()
        )));
    }
    items.iter().map(|item: &Item| item.float(name)).collect()
}
