//! SSDs: small ones with flash of all shapes, on the times of a drive of the library.

use serde_json::{Value, json};

use super::{Kind, never_overbusy, power};
use crate::whole_specs::draw::Draw;
use crate::whole_specs::schema::Hint;

/// An SSD.
pub const KIND: Kind = Kind {
    name: "ssd",
    weight: 2,
    is_branch: false,
    draw,
    hint,
    judge: check,
};

/// Drives of the library.
const DRIVES: [&str; 2] = ["mqsim-clean", "slc-classic"];
/// The most pages of a drive, which is filled before each run.
const MOST_PAGES: u64 = 40_000;
/// What its flash holds at least, in 512-byte blocks: a load's requests fit.
const LEAST_BLOCKS: u64 = 2048;

fn draw(draw: &mut Draw<'_>, _depth: u32) -> (Value, u64) {
    let (channels, packages) = (draw.scaled(1..=8), draw.scaled(1..=3));
    let (dies, planes) = (draw.scaled(1..=2), draw.scaled(1..=3));
    let all_planes = channels * packages * dies * planes;
    let mut blocks = draw.scaled(12..=80);
    let unit = *draw.pick(&[1, 7, 8, 32]);
    let of_page = draw.scaled(1..=4);
    let least = 1 + LEAST_BLOCKS / (all_planes * blocks * unit * of_page);
    let pages = draw.scaled(least..=(MOST_PAGES / all_planes / blocks).max(least));
    let mut ssd = draw.named("SsdSpec");
    ssd["flash"] = json!({
        "channels": channels, "packages": packages, "dies": dies, "planes": planes,
        "blocks": blocks, "pages": pages, "page": format!("{} blocks", unit * of_page),
        "unit": format!("{unit} blocks"),
    });
    if let Some(cleaning) = ssd.get_mut("cleaning").and_then(Value::as_object_mut) {
        // Cleaning has blocks of its own where several are cleaned at a time.
        if cleaning.get("separate") == Some(&json!(false)) {
            cleaning.remove("at_once");
        }
        // An idle drive that cleans does so in the background.
        if cleaning.contains_key("idle") {
            cleaning.remove("background");
        }
    }
    let logs = map_of_blocks(draw, &mut ssd, unit * of_page);
    // Blocks for failures, of which data do not count on all.
    let for_failures = match ssd.pointer("/failures/reserve").and_then(Value::as_u64) {
        Some(reserve) => reserve + 3,
        None => 0,
    };
    blocks += for_failures;
    ssd["flash"]["blocks"] = blocks.into();
    if ssd.pointer("/mapping/cache").is_some() {
        // A drive that can never have the free blocks it wants is refused.
        ssd["cleaning"]["begin"] = draw.within(1..=6).into();
    }
    let reserved = u64::from(ssd.get("recovery").is_some());
    if pages == 1 {
        // Blocks of one page have none to spare.
        ssd.as_object_mut().expect("a table").remove("slc");
    }
    let for_slc = ssd
        .get_mut("slc")
        .map_or(0, |slc| slc_cache(draw, slc, pages));
    // So does one that folds, which the drive itself may not do.
    if ssd.pointer("/slc/fold_after").is_some() {
        match ssd.get_mut("cleaning").and_then(Value::as_object_mut) {
            Some(cleaning) => _ = cleaning.remove("background"),
            None => {
                _ = ssd["slc"]
                    .as_object_mut()
                    .expect("a table")
                    .remove("fold_after")
            }
        }
    }
    // What the planes can hold at most with two streams, whatever the groups: a page a plane is lost where data do not divide evenly.
    let limit = match logs {
        // Whole logical blocks, beside the log blocks and one to merge into.
        Some(logs) => (blocks - reserved - logs - 1) * pages,
        None => (blocks - reserved - for_slc - for_failures - 4) * ((pages - 1) * of_page + 1) - 1,
    };
    let (unit, of_page) = match logs {
        Some(_) => (unit * of_page, 1),
        None => (unit, of_page),
    };
    let units = all_planes * blocks * pages * of_page;
    let room = (all_planes * limit.saturating_sub(of_page)).max(1);
    // A cached map is on flash, too.
    let of_map = match ssd.pointer("/mapping/cache") {
        Some(_) => units.div_ceil(unit * 128),
        None => 0,
    };
    let room = room.saturating_sub(of_map).max(1);
    let wanted = (room as f64 * draw.share(0.3, 1.0)).max(1.0);
    let share = (100.0 - wanted * 100.0 / units as f64).clamp(0.0, 100.0);
    // Rounded up, to a digit that leaves something.
    let share = (share * 1e4).ceil() / 1e4;
    ssd["spare"] = json!({ "share": format!("{share} %"), "reserved": reserved });
    let held = units - (units as f64 * (share / 100.0)).round() as u64;
    (ssd, held * unit)
}

/// Makes a map of blocks, or of pages, of what was drawn, and leaves out what has no meaning with it; how many log blocks a plane has.
fn map_of_blocks(draw: &mut Draw<'_>, ssd: &mut Value, page: u64) -> Option<u64> {
    let mapping = ssd.get_mut("mapping").and_then(Value::as_object_mut)?;
    let scheme = mapping.get("scheme").and_then(Value::as_str);
    let scheme = scheme.unwrap_or("page").to_owned();
    if scheme == "page" {
        mapping.retain(|key, _| key == "cache" || key == "scheme");
        return None;
    }
    mapping.remove("cache");
    let logs = draw.within(2..=6);
    mapping.insert("log_blocks".to_owned(), logs.into());
    if scheme == "fast" {
        mapping.remove("victim");
    }
    let all = ssd.as_object_mut().expect("a table");
    for key in ["slc", "recovery", "cleaning", "allocation", "failures"] {
        all.remove(key);
    }
    all["flash"]["unit"] = format!("{page} blocks").into();
    if let Some(buffer) = all.get_mut("buffer") {
        buffer["size"] = format!("{} blocks", page * draw.within(1..=30)).into();
    }
    all.insert("reads_allocate".to_owned(), false.into());
    all.insert("allocation".to_owned(), json!({ "fixed": 4 }));
    Some(logs)
}

/// Gives a drive that was drawn parity over its dies, and leaves out what has no meaning with it; the blocks that it then has.
pub fn with_parity(draw: &mut Draw<'_>, ssd: &mut Value) -> u64 {
    for key in [
        "slc",
        "failures",
        "refresh",
        "wear",
        "mapping",
        "copy_back",
        "reads_allocate",
    ] {
        ssd.as_object_mut().expect("a table").remove(key);
    }
    // What the library's drives have of these.
    (ssd["copy_back"], ssd["reads_allocate"]) = (false.into(), false.into());
    ssd["cleaning"]["separate"] = true.into();
    if ssd["cleaning"].get("begin").is_none() {
        ssd["cleaning"]["begin"] = draw.within(0..=10).into();
    }
    let number = |ssd: &Value, key: &str| ssd["flash"][key].as_u64().expect("a number");
    let dies = |ssd: &Value| {
        let all = ["channels", "packages", "dies"].map(|key| number(ssd, key));
        all.into_iter().product::<u64>()
    };
    if dies(ssd) == 1 {
        ssd["flash"]["channels"] = 2.into();
    }
    let dies = dies(ssd);
    let stripes: Vec<u64> = (2..=dies).filter(|&stripe| dies % stripe == 0).collect();
    let stripe = *draw.pick(&stripes);
    ssd["parity"] = json!({ "stripe": stripe });
    // All dies before another plane of one.
    let mut order = vec!["channel", "package", "die"];
    order.rotate_left(draw.within(0..=2) as usize);
    order.push("plane");
    (ssd["allocation"]["order"], ssd["allocation"]["fixed"]) = (json!(order), 0.into());
    let blocks_of = |key: &str| {
        let text = ssd["flash"][key].as_str().expect("a size");
        let number = text
            .split(' ')
            .next()
            .and_then(|number| number.parse().ok());
        number.expect("blocks")
    };
    let (unit, page): (u64, u64) = (blocks_of("unit"), blocks_of("page"));
    let (blocks, pages) = (number(ssd, "blocks"), number(ssd, "pages"));
    let of_page = page / unit;
    let reserved = u64::from(ssd.get("recovery").is_some());
    // With two streams of the host, as in planes.
    let of_set = (blocks - reserved - 4) * ((pages * (stripe - 1) - 1) * of_page + 1) - 1;
    let sets = dies * number(ssd, "planes") / stripe;
    let units = sets * blocks * pages * (stripe - 1) * of_page;
    let room = (sets * of_set.saturating_sub(of_page)).max(1);
    let wanted = (room as f64 * draw.share(0.3, 1.0)).max(1.0);
    let share = (100.0 - wanted * 100.0 / units as f64).clamp(0.0, 100.0);
    let share = (share * 1e4).ceil() / 1e4;
    ssd["spare"] = json!({ "share": format!("{share} %"), "reserved": reserved });
    (units - (units as f64 * (share / 100.0)).round() as u64) * unit
}

/// Fits an SLC cache to blocks of `pages` pages; the blocks of a plane that it keeps from data.
fn slc_cache(draw: &mut Draw<'_>, slc: &mut Value, pages: u64) -> u64 {
    let fixed = draw.scaled(0..=4);
    slc["pages"] = draw.scaled(1..=pages - 1).into();
    slc["fixed"] = fixed.into();
    slc["dynamic"] = draw.scaled(u64::from(fixed == 0)..=8).into();
    for key in ["read", "program", "erase"] {
        slc[key] = format!("{} us", draw.scaled(1..=900)).into();
    }
    fixed.max(1)
}

fn link(draw: &mut Draw<'_>) -> Value {
    if draw.chance(0.5) {
        let handshake = format!("{} ns", draw.scaled(0..=2_000));
        return json!({ "sata": { "generation": draw.within(1..=3), "handshake": handshake } });
    }
    json!({ "pcie": {
        "generation": draw.within(1..=5), "lanes": draw.pick(&[1, 2, 4, 8, 16]), "payload": draw.pick(&[128, 256, 512]),
        "latency": format!("{} ns", draw.scaled(0..=2_000)),
    } })
}

/// Failures so rare that a drive keeps its spare blocks.
fn failures(draw: &mut Draw<'_>) -> Value {
    let mut failures = json!({ "reserve": draw.within(0..=2) });
    for key in ["program", "erase"] {
        if draw.chance(0.7) {
            let part = |draw: &mut Draw<'_>| format!("{} %", draw.share(0.0, 0.01));
            let (new, worn) = (part(draw), part(draw));
            failures[key] = json!({ "new": new, "worn": worn, "erases": draw.scaled(1..=20) });
        }
    }
    failures
}

/// Submission queues, with or without classes.
fn queues(draw: &mut Draw<'_>) -> Value {
    let count = draw.within(1..=4);
    let mut queues = json!({ "count": count });
    if draw.chance(0.5) {
        queues["depth"] = draw.scaled(1..=40).into();
    }
    if draw.chance(0.5) {
        queues["burst"] = draw.within(1..=9).into();
    }
    if draw.chance(0.5) {
        let [high, medium, low] = [(); 3].map(|()| draw.within(1..=9));
        queues["weights"] = json!({ "high": high, "medium": medium, "low": low });
        let classes = (0..draw.within(0..=count)).map(|_| draw.named("QueueClass"));
        queues["classes"] = classes.collect();
    }
    queues
}

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        ("SsdSpec", "drive") => Value::from(*draw.pick(&DRIVES)).into(),
        ("MappingDescription", "cache") => format!("{} blocks", draw.scaled(32..=400)).into(),
        ("WriteBufferDescription", "size") => format!("{} blocks", draw.scaled(32..=4000)).into(),
        ("RecoveryDescription", "checkpoint") => {
            format!("{} blocks", draw.scaled(128..=4000)).into()
        }
        ("SsdSpec", "power") if draw.chance(0.3) => power::power(draw, power::OF_SSDS).into(),
        ("SsdSpec", "power") => Hint::Omit,
        // These depend on one another.
        ("SsdSpec", "flash" | "spare") => Hint::Omit,
        ("SsdSpec", "interface") if draw.chance(0.4) => json!({
            "read": format!("{} us", draw.scaled(0..=30)), "write": format!("{} us", draw.scaled(0..=30)),
            "link": link(draw),
        })
        .into(),
        ("SsdSpec", "failures") if draw.chance(0.4) => failures(draw).into(),
        ("SsdSpec", "failures") => Hint::Omit,
        ("SsdSpec", "queues") if draw.chance(0.4) => queues(draw).into(),
        ("SsdSpec", "queues") => Hint::Omit,
        // A family of its own has it.
        ("SsdSpec", "parity") => Hint::Omit,
        // Their times are those of real drives.
        ("SsdSpec", "timing" | "interface") => Hint::Omit,
        // Requests fail on a worn-out drive, as they are to.
        ("RetryDescription", "erases" | "most") => draw.scaled(1..=20).into(),
        // Reads of 50 ms beside an array that scrubs without a pause take half an hour to simulate.
        ("RetryDescription", "time") => format!("{} us", draw.scaled(1..=400)).into(),
        ("RefreshDescription", "reads") => draw.scaled(1..=2000).into(),
        ("RefreshDescription", "period") => format!("{} ms", draw.scaled(100..=90_000)).into(),
        ("RetryDescription", "age") => format!("{} us", draw.scaled(1..=900_000)).into(),
        ("StaticLevellingDescription", "spread") => draw.within(0..=4).into(),
        ("StaticLevellingDescription", "every") => draw.within(2..=9).into(),
        ("WearDescription", "endurance") => Hint::Omit,
        ("SsdSpec", "queue_depth") => draw.scaled(1..=100).into(),
        ("PreconditionSpec", "overwrite") => match draw.within(0..=20) {
            20 => "until-steady".into(),
            tenths => (tenths as f64 / 10.0).into(),
        },
        ("AllocationDescription", "order") => {
            let mut order = vec!["channel", "package", "die", "plane"];
            let by = draw.within(0..=3) as usize;
            order.rotate_left(by);
            json!(order).into()
        }
        ("AllocationDescription", "fixed") => draw.within(0..=4).into(),
        ("CleaningDescription", "begin") => draw.within(0..=10).into(),
        ("CleaningDescription", "at_once") => draw.within(1..=4).into(),
        ("CleaningDescription", "stop") => draw.within(0..=10).into(),
        ("IdleDescription", "free") => draw.within(0..=12).into(),
        ("RandomGreedy", "of") => draw.within(0..=20).into(),
        _ => Hint::Schema,
    }
}

fn check(result: &Value, path: &str, spec: &Value) -> Result<(), String> {
    never_overbusy(result, path, spec)?;
    power::check(result, path, spec)
}
