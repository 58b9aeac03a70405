//! From `disksim_simpledisk` to a device of constant times.

use serde_json::{Value, json};

use super::times;
use super::topology::Path;
use super::warnings::Warnings;
use crate::base::error::InputError;
use crate::base::units::{BLOCK_BYTES, Time};

/// A device of constant times, as a spec has it, and its blocks.
///
/// After the command's overhead a request takes its access time, and its blocks cross the bus one after the other before or after that.
pub(super) fn device(route: &Path, warnings: &mut Warnings) -> Result<(Value, u64), InputError> {
    let device = &route.device;
    let access = match (
        device.item("Constant access time"),
        device.item("Access time"),
    ) {
        (Some(_), _) => "Constant access time",
        (None, _) => "Access time",
    };
    let constant = times::time(device, "Command overhead")? + times::time(device, access)?;
    let block = route.one_block_time(warnings)?;
    let latency = "Bus transaction latency";
    if device.item(latency).is_some() && device.float(latency)? != 0.0 {
        warnings.push(
            device.at(latency),
            format_args!("{latency:?} of {} is left out", device.title()),
        );
    }
    let (depth, outstanding) = route.depths(warnings)?;
    let policy = device.block("Scheduler")?.integer("Scheduling policy")?;
    if depth.min(outstanding) > 1 && policy != 1 {
        warnings.push(
            device.block("Scheduler")?.at("Scheduling policy"),
            format_args!(
                "{} serves requests in the order of their arrival here",
                device.title()
            ),
        );
    }
    let blocks = device.integer("Block count")?.unsigned_abs();
    let mut simple = json!({
        "capacity": format!("{blocks} blocks"),
        "read": constant.to_string(),
        "write": constant.to_string(),
    });
    if block > Time::ZERO {
        let rate = BLOCK_BYTES as f64 * 1e9 / block.ns() as f64;
        simple["rate"] = json!(format!("{} B/s", libm::round(rate)));
    }
    Ok((json!({ "simple": simple }), blocks))
}
