//! Times, which parameter files give in milliseconds.

use super::component::Component;
use crate::base::error::InputError;
use crate::base::units::Time;

/// The longest time that a parameter may be: beyond all drives, and short enough to be added up.
pub(super) const LONGEST_MS: f64 = 1e6;

/// A parameter that is a time.
pub(super) fn time(block: &Component, name: &str) -> Result<Time, InputError> {
    scaled(block, name, 1.0)
}

/// A parameter that is a time, multiplied by a scale, to the nearest nanosecond.
pub(super) fn scaled(block: &Component, name: &str, scale: f64) -> Result<Time, InputError> {
    let item = block.required(name)?;
    let ms = item.float(name)? * scale;
    match (0.0..=LONGEST_MS).contains(&ms) {
        true => Ok(Time::from_ns_f64(ms * 1e6).expect("within a thousand seconds")),
        false => Err(item
            .unlike(name, "a time in ms, from 0 to a thousand seconds")
            .help(format!("with its scale of {scale} it is {ms} ms"))),
    }
}
