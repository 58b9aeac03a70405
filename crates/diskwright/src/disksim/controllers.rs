//! From `disksim_ctlr` of types 2 and 3, with `disksim_cachemem` and `disksim_cachedev`, to controllers.

use serde_json::{Value, json};

use super::component::Component;
use super::queue::{BY_LBN, DriverQueue};
use super::times;
use super::topology::Path;
use super::warnings::Warnings;
use crate::base::error::InputError;
use crate::base::units::Time;

/// A message of a controller takes this, times its `Scale for delays`.
const MESSAGE_MS: f64 = 0.5;

/// The controller of types 2 or 3 that a way to a device passes, if there is one: the one that is nearest to the device.
pub(super) fn of(route: &Path) -> Result<Option<&Component>, InputError> {
    for component in route.between.iter().rev() {
        if component.module.name == "disksim_ctlr" && component.integer("type")? != 1 {
            return Ok(Some(component.as_ref()));
        }
    }
    Ok(None)
}

/// The names of the cache device and of the device that it caches, by the controller's cache block, if that is one of a cache device.
pub(super) fn cache_device(controller: &Component) -> Result<Option<(String, String)>, InputError> {
    if controller.integer("type")? != 3 {
        return Ok(None);
    }
    let cache = controller.block("Cache")?;
    match cache.module.name {
        "disksim_cachedev" => Ok(Some((
            cache.text("Cache device")?,
            cache.text("Cached device")?,
        ))),
        _ => Ok(None),
    }
}

/// The names of the devices that cache others.
pub(super) fn caching(routes: &[Path]) -> Result<Vec<String>, InputError> {
    let mut names = Vec::new();
    for route in routes {
        if let Some(controller) = of(route)?
            && let Some((name, _)) = cache_device(controller)?
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    Ok(names)
}

/// A device, as a spec has it, behind a controller, and how many requests the driver gives that at a time, if the controller says so. `caching` is
/// the device that caches it.
///
/// # Errors
/// Parameters that are missing or make no sense.
pub(super) fn behind(
    controller: &Component,
    device: Value,
    caching: Option<Value>,
    warnings: &mut Warnings,
) -> Result<(Value, Option<u32>), InputError> {
    let message = times::scaled(controller, "Scale for delays", MESSAGE_MS)?;
    if controller.integer("type")? == 2 {
        if message == Time::ZERO {
            return Ok((device, None));
        }
        let chip = json!({
            "message": message.to_string(),
            "one_message": true,
            "device": [device],
        });
        return Ok((json!({ "controller": chip }), None));
    }
    let queue = DriverQueue::read(controller.block("Scheduler")?, warnings)?;
    if queue.in_drive.is_some() {
        let at = controller.block("Scheduler")?.at("Scheduling policy");
        warnings.push(at, format_args!("{}: {BY_LBN}", controller.title()));
    }
    for (what, given) in [
        ("priorities", &queue.priority),
        ("timeouts", &queue.timeout),
    ] {
        if given.is_some() {
            let at = controller.block("Scheduler")?.at("Scheduling policy");
            warnings.push(
                at,
                format_args!("the queues of {} have no {what} here", controller.title()),
            );
        }
    }
    let most = controller.count("Maximum queue length")?.saturating_add(1);
    let pending = "Max per-disk pending count";
    let mut spec = json!({
        "queue": most,
        "message": message.to_string(),
        "block": times::time(controller, "Bulk sector transfer time")?.to_string(),
        "scheduler": queue.scheduler,
        "device": [device],
    });
    if controller.item(pending).is_some() {
        spec["outstanding"] = controller.count(pending)?.max(1).into();
    }
    if let Some(join) = queue.join {
        spec["join"] = join;
    }
    let cache = controller.block("Cache")?;
    let largest = cache.integer("Max request size")?;
    if largest > 0 {
        spec["max_request"] = blocks(largest);
    }
    match (cache.module.name, caching) {
        ("disksim_cachemem", _) => spec["memory"] = memory(cache, warnings)?,
        (_, Some(caching)) => spec["cache"] = caching_device(cache, caching, warnings)?,
        (_, None) => {}
    }
    Ok((json!({ "controller": spec }), Some(most)))
}

fn blocks(number: i64) -> Value {
    format!("{number} blocks").into()
}

fn scheme(cache: &Component) -> Result<&'static str, InputError> {
    Ok(match cache.integer("Write scheme")? {
        1 => "synchronous",
        2 => "write-through",
        _ => "write-back",
    })
}

/// The delay of an idle flush, if there is one.
fn idle_flush(cache: &Component) -> Result<Option<Value>, InputError> {
    let name = "Flush idle delay";
    match cache.float(name)? < 0.0 {
        true => Ok(None),
        false => Ok(Some(times::time(cache, name)?.to_string().into())),
    }
}

/// `disksim_cachemem`.
fn memory(cache: &Component, warnings: &mut Warnings) -> Result<Value, InputError> {
    let count = |name: &str| cache.integer(name);
    let prefetch = |name: &str| {
        Ok(match cache.integer(name)? {
            1 => "front",
            2 => "rest",
            3 => "line",
            _ => "none",
        })
    };
    let size = count("Cache size")?;
    let mut memory = json!({
        "size": blocks(size),
        "line": blocks(count("Line size")?),
        "policy": policy(cache, size, warnings)?,
        "victims": if count("Allocation policy")? == 0 { "any" } else { "clean" },
        "grain": blocks(count("Bit granularity")?),
        "lock": blocks(count("Lock granularity")?),
        "shared_reads": count("Shared read locks")? != 0,
        "writes": scheme(cache)?,
        "read_prefetch": prefetch("Read prefetch type")?,
        "write_prefetch": prefetch("Write prefetch type")?,
        "line_by_line": count("Line-by-line fetches")? != 0,
        "cluster": count("Flush max line cluster")?.max(1),
    });
    let gather = count("Max gather")?;
    if gather > 0 {
        memory["gather"] = gather.into();
    }
    if count("Flush policy")? != 0 {
        memory["flush_period"] = times::time(cache, "Flush period")?.to_string().into();
    }
    if let Some(delay) = idle_flush(cache)? {
        memory["idle_flush"] = delay;
    }
    Ok(memory)
}

/// The replacement policy.
fn policy(cache: &Component, size: i64, warnings: &mut Warnings) -> Result<Value, InputError> {
    let name = "SLRU segments";
    Ok(match cache.integer("Replacement policy")? {
        1 => json!("fifo"),
        3 => json!("random"),
        4 => json!("lifo"),
        _ => {
            let segments = match cache.item(name) {
                Some(_) => cache.list(name)?,
                None => &[],
            };
            if segments.len() < 2 {
                return Ok(json!("lru"));
            }
            let sizes: Vec<i64> = segments
                .iter()
                .map(|size| size.integer(name))
                .collect::<Result<_, _>>()?;
            if sizes[2..].iter().any(|size| *size != sizes[1]) {
                warnings.push(
                    cache.at(name),
                    format_args!("{name:?}: all segments but the lowest are equal here"),
                );
            }
            let lowest = sizes[0] as f64 / sizes.iter().sum::<i64>().max(1) as f64;
            if sizes.iter().sum::<i64>() != size {
                warnings.push(
                    cache.at(name),
                    format_args!("{name:?} are taken as parts of the whole cache"),
                );
            }
            json!({ "slru": { "segments": sizes.len(), "protected": (1.0 - lowest).clamp(0.0, 1.0) } })
        }
    })
}

/// `disksim_cachedev`.
fn caching_device(
    cache: &Component,
    device: Value,
    warnings: &mut Warnings,
) -> Result<Value, InputError> {
    if cache.integer("Flush policy")? != 0 {
        warnings.push(
            cache.at("Flush policy"),
            "a cache device is not flushed periodically, as in DiskSim",
        );
    }
    let mut caching = json!({
        "device": device,
        "size": blocks(cache.integer("Cache size")?),
        "writes": scheme(cache)?,
    });
    if let Some(delay) = idle_flush(cache)? {
        caching["idle_flush"] = delay;
    }
    Ok(caching)
}
