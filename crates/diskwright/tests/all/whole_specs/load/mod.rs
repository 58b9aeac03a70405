//! Loads of every kind, and what else a spec says of them: hosts, pace, warm-up, ends, faults.

mod jobs;
mod patterns;
mod planned;
mod processes;
pub mod traces;

use diskwright::base::document::{Node, from_node};
use diskwright::base::error::Source;
use diskwright::models::queue::SchedulerSpec;
use serde_json::{Value, json};

use super::draw::{Draw, size};
use super::schema::Hint;

pub use patterns::{address, sizes};

/// What a workload is made of: how often, and what makes it.
type Kind = (u64, fn(&mut Draw<'_>) -> Value);

/// Every kind of load.
const KINDS: &[Kind] = &[
    (10, synthetic),
    (3, traces::trace),
    (1, traces::synthetic_clone),
    (1, jobs::fio),
    (2, processes::processes),
];

/// The workload for a device of at least `blocks` blocks.
pub fn workload(draw: &mut Draw<'_>, blocks: u64) -> Value {
    draw.region = (0, blocks);
    draw.requests = draw.within(40..=300);
    let total: u64 = KINDS.iter().map(|(weight, _)| weight).sum();
    let mut at = draw.within(0..=total - 1);
    for (weight, make) in KINDS {
        if at < *weight {
            return make(draw);
        }
        at -= weight;
    }
    unreachable!("the weights make up the total")
}

fn synthetic(draw: &mut Draw<'_>) -> Value {
    let mut load = draw.named("SyntheticSpec");
    match load.get_mut("stream").and_then(Value::as_array_mut) {
        Some(streams) => streams
            .iter_mut()
            .for_each(|one| planned::warm_up(draw, one)),
        None => planned::warm_up(draw, &mut load),
    }
    json!({ "synthetic": load })
}

/// What is known of keys beyond their schemas.
pub fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        ("Several", "stream") => streams(draw).into(),
        ("LoadSpec", "arrivals") => arrivals(draw).into(),
        ("LoadSpec", "requests") => draw.requests.into(),
        ("LoadSpec", "name") => Hint::Omit,
        ("LoadSpec", "report_as" | "stage" | "start" | "duration" | "warmup" | "ends_stage")
        | ("ClosedParams", "rate" | "pause" | "refill") => planned::hint(draw, key),
        ("LoadSpec", "reads") => draw.share(0.0, 0.8).into(),
        ("LoadSpec", "trims") => {
            if draw.chance(0.4) {
                draw.share(0.0, 0.1).into()
            } else {
                Hint::Omit
            }
        }
        ("LoadSpec", "flushes") => {
            if draw.chance(0.4) {
                draw.share(0.0, 0.08).into()
            } else {
                Hint::Omit
            }
        }
        ("LoadSpec", "flush_every") => {
            if draw.chance(0.2) {
                draw.scaled(1..=30).into()
            } else {
                Hint::Omit
            }
        }
        ("LoadSpec", "size") => sizes(draw).into(),
        ("LoadSpec", "address") => draw.named("AddressSpec").into(),
        ("ArrivalsSpec", "poisson" | "constant") => draw.time(200, 40_000).into(),
        ("UniformGaps", "min") => draw.time(0, 200).into(),
        ("UniformGaps", "max") => draw.time(200, 40_000).into(),
        ("OnOffParams", "on" | "off") => draw.time(5_000, 2_000_000).into(),
        ("OnOffParams", "gap") => draw.time(200, 40_000).into(),
        ("ClosedParams", "users") => draw.scaled(1..=40).into(),
        ("HostSpec", "outstanding") => {
            if draw.chance(0.4) {
                draw.scaled(1..=40).into()
            } else {
                Hint::Omit
            }
        }
        ("HostSpec", "scheduler") => host_scheduler(draw),
        ("MeasureSpec", "duration") => {
            if draw.chance(0.15) {
                draw.time(20_000, 5_000_000).into()
            } else {
                Hint::Omit
            }
        }
        ("MeasureSpec", "requests") => {
            if draw.chance(0.15) {
                draw.scaled(1..=300).into()
            } else {
                Hint::Omit
            }
        }
        // Where the load is known to be open.
        ("MeasureSpec", "end") => Hint::Omit,
        ("FaultSpec", "at") => draw.time(0, 4_000_000).into(),
        ("FaultKind", "fail") => {
            let paths = draw.paths.0.clone();
            draw.pick(&paths).clone().into()
        }
        ("MediaErrorSpec", "device") => {
            let paths = draw.paths.1.clone();
            draw.pick(&paths).clone().into()
        }
        ("MediaErrorSpec", "from") => draw.first_bad_block().into(),
        ("MediaErrorSpec", "blocks") => draw.bad_blocks().into(),
        ("ProcessesSpec" | "GeneratorSpec", key) => processes::hint(draw, owner, key),
        ("Pace", "scaled") => draw.share(0.1, 8.0).into(),
        _ => patterns::hint(draw, owner, key),
    }
}

/// Two or three loads: often all of them have users, or none.
fn streams(draw: &mut Draw<'_>) -> Vec<Value> {
    draw.users = Some(draw.chance(0.5));
    let count = draw.within(2..=3);
    draw.requests /= count;
    let stream = |_| {
        if draw.chance(0.2) {
            draw.users = Some(draw.chance(0.5));
        }
        draw.named("LoadSpec")
    };
    (0..count).map(stream).collect()
}

/// Arrivals; of several loads, with users or without as was drawn.
fn arrivals(draw: &mut Draw<'_>) -> Value {
    loop {
        let drawn = draw.named("ArrivalsSpec");
        let users = drawn == "closed" || drawn.get("closed").is_some();
        match draw.users {
            None => return drawn,
            // Each of several has to say how many.
            Some(wanted) if wanted == users && drawn != "closed" => return drawn,
            Some(_) => {}
        }
    }
}

fn host_scheduler(draw: &mut Draw<'_>) -> Hint {
    lbn_scheduler(draw).into()
}

/// A scheduler for a queue that knows LBNs only, such as a host's.
pub fn lbn_scheduler(draw: &mut Draw<'_>) -> Value {
    loop {
        let drawn = draw.named("Scheduler");
        let text = toml::to_string(&json!({ "scheduler": drawn })).expect("plain data");
        let node = Node::parse(&Source::new("drawn", text)).expect("TOML");
        let spec: Result<SchedulerSpec, _> =
            from_node(node.get("scheduler").expect("the key above"));
        if spec.is_ok_and(|spec| !spec.build().needs_geometry()) {
            return drawn;
        }
    }
}

/// The paths of a device and of all below it: of all, and of those with a medium of their own.
fn paths(device: &Value, prefix: &str, found: &mut (Vec<String>, Vec<String>)) {
    for (kind, spec) in device.as_object().expect("a device has a kind") {
        let path = format!("{prefix}{kind}");
        match spec["member"].as_array() {
            _ if kind == "controller" => {
                for (number, device) in spec["device"].as_array().into_iter().flatten().enumerate()
                {
                    paths(device, &format!("{path}.device[{number}]."), found);
                }
                if let Some(cache) = spec.get("cache") {
                    paths(&cache["device"], &format!("{path}.cache.device."), found);
                }
            }
            _ if kind == "tier" || kind == "hybrid" => {
                let roles = match kind.as_str() {
                    "tier" => ["cache", "backing"],
                    _ => ["media", "nvcache"],
                };
                for role in roles {
                    paths(&spec[role], &format!("{path}.{role}."), found);
                }
            }
            _ if kind == "driver" => {
                paths(&spec["device"], &format!("{path}.device."), found);
            }
            None => found.1.push(path.clone()),
            Some(members) => {
                for (number, member) in members.iter().enumerate() {
                    paths(member, &format!("{path}.member[{number}]."), found);
                }
            }
        }
        found.0.push(path);
    }
}

/// The whole spec.
pub fn spec(draw: &mut Draw<'_>) -> Value {
    let (device, blocks) = super::devices::device(draw, 2);
    spec_of(draw, device, blocks)
}

/// Whether requests of a spec wait for others to end, or for the plans of streams.
pub fn is_closed(spec: &Value) -> bool {
    is_closed_load(&spec["workload"]) || planned::is_planned(&spec["workload"])
}

fn is_closed_load(workload: &Value) -> bool {
    workload["pace"] == "closed"
        || workload.get("processes").is_some()
        || workload.to_string().contains("\"closed\"")
}

/// The whole spec of a device of at least `blocks` blocks.
pub fn spec_of(draw: &mut Draw<'_>, device: Value, blocks: u64) -> Value {
    let mut spec = json!({ "seed": draw.within(0..=u64::from(u32::MAX)) });
    let workload = workload(draw, blocks);
    let host = draw.named("HostSpec");
    if is_closed_load(&workload) {
        spec["host"] = json!({ "outstanding": draw.scaled(1..=40) });
    }
    if let Value::Object(host) = host
        && !host.is_empty()
    {
        for (key, value) in host {
            spec["host"][key] = value;
        }
    }
    spec["workload"] = workload;
    let mut measure = draw.named("MeasureSpec");
    // By time or by requests it is often longer than the run.
    if measure.get("warmup").is_some() && draw.chance(0.8) {
        measure["warmup"] = format!("{} %", draw.within(0..=60)).into();
    }
    planned::fit(draw, &spec["workload"], &mut measure);
    if !is_closed(&spec) && draw.chance(0.15) {
        measure["end"] = "last-arrival".into();
    }
    if measure.as_object().is_some_and(|keys| !keys.is_empty()) {
        spec["measure"] = measure;
    }
    draw.paths = (Vec::new(), Vec::new());
    paths(&device, "", &mut draw.paths);
    let is_hybrid = device.get("hybrid").is_some();
    spec["device"] = device;
    if is_hybrid && draw.chance(0.6) {
        let is_closed = is_closed(&spec);
        spec["host"]["flash_backed"] = super::devices::flash_backed(draw, is_closed);
    }
    if draw.chance(0.15) {
        spec["fault"] = json!([fault(draw)]);
        // The paper's order loses what it should lose.
        if let Some(order) = spec.pointer_mut("/host/flash_backed/order") {
            *order = json!("durable-first");
        }
    }
    spec
}

/// Something that goes wrong. Power that returns is for few devices: in place of it the run ends.
pub fn fault(draw: &mut Draw<'_>) -> Value {
    let mut fault = draw.named("FaultSpec");
    if fault["kind"].get("outage").is_some() {
        fault["kind"] = "power-cut".into();
    }
    fault
}

/// A number of blocks, as specs write it.
fn hinted(blocks: u64) -> Hint {
    Hint::Value(size(blocks))
}
