//! A faster interface makes no request of a disk later: an access that begins earlier never ends later, whatever the angle. It holds where requests
//! are served in the order in which they arrive, at instants that do not depend on completions, one at a time; not with a buffer, a write cache or a log, of
//! which an earlier instant changes what is in them, nor where the overhead of a request depends on the one before it: trims are not in the order.

use serde_json::json;

use super::{each_as, judge_changed, plain};
use crate::whole_specs::{Case, Definitions, Draw, Verdict, devices, is_closed};

/// A made-up disk in place without a memory, under an open load.
pub fn a_drive(definitions: &Definitions, number: u64) -> Case {
    for again in 0.. {
        let mut draw = Draw::new(definitions, number * 1_000 + again);
        let (mut device, blocks) = devices::a_disk(&mut draw);
        let disk = &mut device["hdd"];
        let name = disk["drive"].as_str().expect("a name").to_owned();
        if !draw.case.files.contains_key(&name) {
            continue;
        }
        let rate = draw.scaled(2..=300);
        let drive = &mut draw.case.files[&name]["drive"];
        if drive.get("arms").is_some() {
            continue;
        }
        drive.as_object_mut().expect("a table").remove("overhead");
        let interface = drive["interface"].take();
        let mut interface = interface.as_object().cloned().unwrap_or_default();
        interface.retain(|key, _| !key.ends_with("block_time"));
        interface.insert("rate".to_owned(), format!("{rate} MB/s").into());
        drive["interface"] = interface.into();
        *disk =
            json!({ "drive": name, "buffer": false, "queue": { "depth": 1, "scheduler": "fcfs" } });
        let mut case = plain(draw, device, blocks);
        // Nor does an end at an instant let each request be complete.
        let keys = case.spec.as_object_mut().expect("a table");
        keys.retain(|key, _| !["host", "measure"].contains(&key.as_str()));
        if !is_closed(&case.spec) {
            return case;
        }
    }
    unreachable!("some are drawn")
}

/// Judges a case by one whose interface is twice as fast.
pub fn a_faster_interface_is_never_slower(case: &Case) -> Verdict {
    let change = |case: &mut Case| {
        let name = case.spec["device"]["hdd"]["drive"].as_str();
        let file = name.and_then(|name| case.files.get_mut(name));
        let rate = file.and_then(|file| file.pointer_mut("/drive/interface/rate"));
        // While a case is made small, it may lose its drive.
        let Some(rate) = rate else { return };
        let number = rate.as_str().and_then(|rate| rate.split(' ').next());
        let number: u64 = number.and_then(|rate| rate.parse().ok()).unwrap_or(1);
        *rate = format!("{} MB/s", 2 * number).into();
    };
    judge_changed(case, change, |one, other| {
        each_as(one, other, |one, other| other <= one, "a faster interface")
    })
}
