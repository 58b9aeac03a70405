//! How each kind of device is drawn: a folder and a line each.

mod array;
mod controller;
mod curve;
mod drive;
mod driver;
mod hdd;
mod hybrid;
pub mod power;
mod simple;
mod ssd;
mod tier;

use serde_json::{Value, json};

use super::case::Case;
use super::draw::{Draw, size};
use super::schema::Hint;

/// A kind of device.
pub struct Kind {
    /// Its key in a spec.
    pub name: &'static str,
    /// How often it is drawn, beside the others.
    pub weight: u64,
    /// Whether it has devices below it.
    pub is_branch: bool,
    /// What stands under its key, and how many blocks the device has at least. `depth` levels may be below it.
    pub draw: fn(&mut Draw<'_>, depth: u32) -> (Value, u64),
    /// What is known of keys of its definitions beyond their schemas.
    pub hint: fn(&mut Draw<'_>, owner: &str, key: &str) -> Hint,
    /// What must hold of what it reports, or what is wrong: of the device at a path, its report and its part of the spec.
    pub judge: fn(result: &Value, path: &str, spec: &Value) -> Result<(), String>,
}

/// Every kind.
pub const KINDS: &[Kind] = &[
    hdd::KIND,
    array::KIND,
    driver::KIND,
    simple::KIND,
    curve::KIND,
    ssd::KIND,
    tier::KIND,
    hybrid::KIND,
    controller::KIND,
];

/// A device with at most `depth` levels below it, and how many blocks it has at least.
pub fn device(draw: &mut Draw<'_>, depth: u32) -> (Value, u64) {
    let possible: Vec<&Kind> = KINDS
        .iter()
        .filter(|kind| depth > 0 || !kind.is_branch)
        .collect();
    let total: u64 = possible.iter().map(|kind| kind.weight).sum();
    let mut at = draw.within(0..=total - 1);
    let chosen = possible.iter().find(|kind| {
        let here = at < kind.weight;
        at = at.wrapping_sub(kind.weight);
        here
    });
    let kind = chosen.expect("the weights make up the total");
    let (device, blocks) = drawn(kind, draw, depth);
    (json!({ kind.name: device }), blocks)
}

/// A device of a kind, and how many blocks it has at least.
fn drawn(kind: &Kind, draw: &mut Draw<'_>, depth: u32) -> (Value, u64) {
    let (device, blocks) = (kind.draw)(draw, depth);
    if !kind.is_branch {
        draw.capacity = blocks;
        draw.least_medium = draw.least_medium.min(blocks);
    }
    (device, blocks)
}

/// A hard disk with a pool, its write cache enabled or disabled, with regions or without, and how many blocks it has at least.
pub fn with_pool(draw: &mut Draw<'_>, (write_cache, has_regions): (bool, bool)) -> (Value, u64) {
    loop {
        draw.case = Case::default();
        let (mut disk, blocks) = drawn(&hdd::KIND, draw, 0);
        let pool = drive::keeping_pool(draw, has_regions);
        let name = disk["drive"].as_str().expect("a name");
        // A drive of the library has what it has.
        let Some(drive) = draw.case.files.get_mut(name) else {
            continue;
        };
        let drive = drive["drive"].as_object_mut().expect("a made-up drive");
        drive.remove("buffer");
        drive.insert("pool".to_owned(), pool);
        let keys = disk.as_object_mut().expect("a table");
        keys.retain(|key, _| !["cache", "buffer", "bus"].contains(&key.as_str()));
        keys.insert("write_cache".to_owned(), write_cache.into());
        return (json!({ hdd::KIND.name: disk }), blocks);
    }
}

/// A hard disk, and how many blocks it has at least.
pub fn a_disk(draw: &mut Draw<'_>) -> (Value, u64) {
    let (disk, blocks) = drawn(&hdd::KIND, draw, 0);
    (json!({ hdd::KIND.name: disk }), blocks)
}

/// An SSD, and how many blocks it has.
pub fn an_ssd(draw: &mut Draw<'_>) -> (Value, u64) {
    let (ssd, blocks) = drawn(&ssd::KIND, draw, 0);
    (json!({ ssd::KIND.name: ssd }), blocks)
}

pub use ssd::with_parity;

/// A cache tier of devices without others below them, and how many blocks it has at least.
pub fn a_tier(draw: &mut Draw<'_>) -> (Value, u64) {
    let (tier, blocks) = drawn(&tier::KIND, draw, 1);
    (json!({ tier::KIND.name: tier }), blocks)
}

/// A hybrid drive of devices without others below them, of whose medium a host can know its access times; and how many blocks it has at
/// least.
pub fn a_hybrid(draw: &mut Draw<'_>) -> (Value, u64) {
    loop {
        draw.case = Case::default();
        let (hybrid, blocks) = drawn(&hybrid::KIND, draw, 1);
        let medium = &hybrid["media"];
        let is_log = medium["hdd"].get("placement").is_some();
        if medium.get("ssd").is_none() && !is_log {
            return (json!({ hybrid::KIND.name: hybrid }), blocks);
        }
    }
}

/// An array with redundancy and a spare, and how many blocks it has at least. Where the power of its members may return, it is ready for that in
/// each of the ways that arrays have.
pub fn a_spared_array(draw: &mut Draw<'_>) -> (Value, u64) {
    loop {
        draw.case = Case::default();
        let (mut array, mut blocks) = drawn(&array::KIND, draw, 1);
        if array.get("spare").is_none() || blocks < LEAST_SPARED {
            continue;
        }
        if draw.chance(0.5) {
            let spare = array["spare"][0].clone();
            array["spare"] = json!([spare, spare]);
        }
        let device = json!({ array::KIND.name: array });
        let layout = array["layout"].to_string();
        let of_parity = ["raid-4", "raid-5", "raid-6"]
            .iter()
            .any(|name| layout.contains(name));
        if restarts(&device) {
            match draw.within(0..=3) {
                0 => array["resync"] = draw.named("ResyncRules"),
                1 => {
                    array["bitmap"] = draw.named("BitmapRules");
                    let members = array["member"].as_array().map_or(0, Vec::len) as u64;
                    blocks = blocks.saturating_sub(members * LARGEST_BITMAP);
                }
                2 if of_parity => array["journal"] = array["spare"][0].clone(),
                _ => {}
            }
        }
        if let Some(scrub) = array.get_mut("scrub") {
            // Passes without a pause, for as long as a rebuild takes, take minutes.
            if scrub.get("every").is_some() {
                scrub["every"] = "20 s".into();
            }
            refresh_seldom(&mut array);
        }
        rebuild_in_steps(&mut array);
        return (json!({ array::KIND.name: array }), blocks);
    }
}

/// Blocks of an array with spares, at least, so that something is left beside a bitmap.
const LEAST_SPARED: u64 = 500;
/// The most blocks of a member that a bitmap takes.
const LARGEST_BITMAP: u64 = 40;
/// Reads of a block, at least, before SSDs below a scrub refresh it: the scrub reads all again and again, each time for a few blocks.
const LEAST_READS: u64 = 200;

/// The smallest step of a rebuild, in blocks: in smaller ones it takes minutes, in which a crowded SSD cleans all the time.
const LEAST_STEP: u64 = 32;

fn rebuild_in_steps(array: &mut Value) {
    let Some(step) = array.pointer_mut("/rebuild/step") else {
        return;
    };
    let drawn = step.as_str().and_then(|text| text.split(' ').next());
    let blocks = drawn.and_then(|blocks| blocks.parse::<u64>().ok());
    if blocks.is_some_and(|blocks| blocks < LEAST_STEP) {
        *step = size(LEAST_STEP);
    }
}

fn refresh_seldom(array: &mut Value) {
    let parts = ["member", "spare"];
    let devices = array.as_object_mut().into_iter().flatten();
    let lists = devices.filter(|(key, _)| parts.contains(&key.as_str()));
    for device in lists.flat_map(|(_, list)| list.as_array_mut().into_iter().flatten()) {
        if let Some(reads) = device.pointer_mut("/ssd/refresh/reads") {
            *reads = reads.as_u64().unwrap_or_default().max(LEAST_READS).into();
        }
    }
}

/// Whether it is certain of all members of an array that their power may return.
pub fn restarts(array: &Value) -> bool {
    let members = array["array"]["member"].as_array().into_iter().flatten();
    let mut kinds = members.flat_map(|member| member.as_object().into_iter().flatten());
    kinds.all(|(kind, _)| [simple::KIND.name, curve::KIND.name].contains(&kind.as_str()))
}

/// A controller of devices without others below them, and how many blocks it has at least.
pub fn a_controller(draw: &mut Draw<'_>) -> (Value, u64) {
    let (controller, blocks) = drawn(&controller::KIND, draw, 1);
    (json!({ controller::KIND.name: controller }), blocks)
}

pub use hybrid::flash_backed;

/// What a kind knows of a key.
pub fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    for kind in KINDS {
        let hint = (kind.hint)(draw, owner, key);
        if !matches!(hint, Hint::Schema) {
            return hint;
        }
    }
    Hint::Schema
}

/// Which of a device's counts of what came to it and of what was done must agree.
pub enum Counted {
    /// All of it.
    All,
    /// What was done is no more than what came: a step of a scrub may be under way when the run ends.
    AtMost,
    /// None: it may be on its way in the instant in which the warm-up ends, and when a run is given up.
    Part,
}

impl Counted {
    pub fn of(result: &Value) -> Counted {
        let spec = &result["spec"];
        let all = spec.get("fault").is_none()
            && spec["measure"].get("warmup").is_none()
            && spec["measure"].get("end").is_none()
            && spec["workload"].get("processes").is_none()
            && !spec["workload"].to_string().contains("\"warmup\":");
        match all {
            true if spec["device"].to_string().contains("\"scrub\":") => Counted::AtMost,
            true => Counted::All,
            false => Counted::Part,
        }
    }

    /// Whether so much was done of what came.
    pub fn agree(&self, done: u64, came: u64) -> bool {
        match self {
            Counted::All => done == came,
            Counted::AtMost => done <= came,
            Counted::Part => true,
        }
    }
}

/// Judges the device that `spec` describes, and all below it; `prefix` is what its path in the result begins with.
pub fn judge(result: &Value, prefix: &str, spec: &Value) -> Result<(), String> {
    let (name, inner) = spec
        .as_object()
        .and_then(|entries| entries.iter().next())
        .ok_or("a device without a kind")?;
    let kind = KINDS
        .iter()
        .find(|kind| kind.name == name)
        .ok_or("an unknown kind of device")?;
    (kind.judge)(result, &format!("{prefix}{name}"), inner)
}

/// The report of the device at `path`.
pub fn report<'r>(result: &'r Value, path: &str) -> Result<&'r Value, String> {
    result["devices"]
        .get(path)
        .ok_or_else(|| format!("no device at {path} in the result"))
}

/// A device is never busier than it can be.
fn never_overbusy(result: &Value, path: &str, _spec: &Value) -> Result<(), String> {
    match report(result, path)?["utilisation"].as_f64() {
        Some(utilisation) if utilisation <= 1.0 + 1e-9 => Ok(()),
        other => Err(format!("{path}: a utilisation of {other:?}")),
    }
}
