//! Hard disks with anything that they can have.

mod arms;

use serde_json::Value;

use super::drive::{self, drive};
use super::{Kind, power, report};
use crate::whole_specs::draw::{Draw, size};
use crate::whole_specs::schema::{Hint, blocks};

/// A hard disk.
pub const KIND: Kind = Kind {
    name: "hdd",
    weight: 5,
    is_branch: false,
    draw,
    hint,
    judge: check,
};

/// The largest drive that a log is kept on, in blocks: making its slots takes time.
const LARGEST_LOG: u64 = 20_000_000;

fn draw(draw: &mut Draw<'_>, _depth: u32) -> (Value, u64) {
    let (name, disk) = drive(draw);
    draw.disk = disk;
    let mut hdd = draw.named("HddSpec");
    hdd["drive"] = name.into();
    if let Some(cache) = hdd.get_mut("cache") {
        let block = draw.scaled(1..=2048);
        let frames = *draw.pick(&[1, 3, 20, 100, 400, 5_000]);
        cache["block_size"] = size(block);
        cache["size"] = size(block * frames);
    }
    // What is said of merged requests needs a threshold.
    if let Some(Value::Object(queue)) = hdd.get_mut("queue")
        && !queue.contains_key("clustering")
    {
        queue.retain(|key, _| key != "slots" && key != "merged_place");
    }
    // The drive's write cache is off beside a block cache, unless its buffer is asked for.
    if !hdd["cache"].is_null()
        && !hdd["buffer"].is_object()
        && hdd["buffer"] != true
        && let Value::Object(hdd) = &mut hdd
    {
        hdd.remove("write_cache");
    }
    // Only a segmented buffer knows when the drive needs the bus.
    if !disk.has_pool && hdd["buffer"].is_object() && hdd["cache"].is_null() && draw.chance(0.5) {
        hdd["bus"] = (*draw.pick(&["one", "other"])).into();
    }
    // Slots that end with their tracks, and parts of the map, take room too.
    let eager = ["eager", "logging"]
        .iter()
        .find_map(|name| hdd["placement"].get(name));
    let is_log = eager.is_some() || hdd["placement"] == "eager" || hdd["placement"] == "logging";
    let reserve = eager
        .and_then(|eager| eager["reserve"].as_f64())
        .unwrap_or(0.01);
    let room = if is_log { 0.4 * (1.0 - reserve) } else { 1.0 };
    (hdd, (disk.blocks as f64 * room) as u64)
}

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    let disk = draw.disk;
    match (owner, key) {
        ("HddSpec", "drive") => "".into(),
        ("HddSpec", "bus") => Hint::Omit,
        ("HddSpec", "power") if draw.chance(0.3) => power::power(draw, power::OF_DISKS).into(),
        ("HddSpec" | "Drive" | "DriveDescription", "power") => Hint::Omit,
        ("HddSpec", "arms") if draw.chance(0.7) => Hint::Omit,
        ("HddSpec", "placement") if disk.blocks > LARGEST_LOG || draw.chance(0.7) => Hint::Omit,
        ("HddSpec", "cache") if draw.chance(0.6) => Hint::Omit,
        ("HddSpec", "buffer") if disk.has_pool => match draw.within(0..=3) {
            0 => true.into(),
            1 if draw.chance(0.3) => false.into(),
            _ => Hint::Omit,
        },
        ("HddSpec", "buffer") => match draw.within(0..=9) {
            0 | 1 => true.into(),
            2 | 3 => false.into(),
            4..=6 => draw.named("BufferDescription").into(),
            _ => Hint::Omit,
        },
        ("QueueSpec", "depth") => draw.scaled(1..=40).into(),
        ("QueueSpec", "clustering") if draw.chance(0.3) => draw.blocks(2..=500).into(),
        ("QueueSpec", "clustering") => Hint::Omit,
        ("BufferDescription", "segments") => draw.scaled(2..=12).into(),
        ("BufferDescription", "segment_size") => {
            blocks(disk.blocks_per_sector.max(1) * draw.scaled(1..=400))
        }
        ("ArmsOfSpec", "arm") => arms::hint(draw),
        ("Split" | "Adaptive", "reads" | "writes") => draw.within(0..=2).into(),
        ("Adaptive", "window") => draw.scaled(2..=100).into(),
        ("EagerSpec", "block") => {
            let most = (disk.shortest_track / 2).max(1);
            blocks(disk.blocks_per_sector.max(1) * draw.scaled(1..=most))
        }
        ("EagerSpec", "reserve") => draw.share(0.0, 0.6).into(),
        ("InitialSpec", "write") => draw.blocks(1..=(disk.blocks / 4).clamp(1, 20_000)).into(),
        _ => drive::hint(draw, owner, key),
    }
}

/// No more waits than the queue holds, and the parts of the arm's time are not longer than the run.
fn check(result: &Value, path: &str, spec: &Value) -> Result<(), String> {
    let disk = report(result, path)?;
    let depth = disk["settings"]["queue_depth"]["value"]
        .as_u64()
        .ok_or("no depth of its queue")?;
    let longest = disk["queue_length_max"]
        .as_u64()
        .ok_or("no queue_length_max")?;
    if longest > depth && spec["queue"]["slots"] != "merged" {
        return Err(format!("{path}: {longest} requests in a queue of {depth}"));
    }
    power::check(result, path, spec)
}
