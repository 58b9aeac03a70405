//! Traces in every format, and synthetic clones.

use diskwright::engine::request::Op;
use diskwright::workload::{FORMATS, Record};
use serde_json::{Value, json};

use crate::whole_specs::draw::Draw;

/// A trace in one of the formats.
pub fn trace(draw: &mut Draw<'_>) -> Value {
    let formats: Vec<&str> = FORMATS
        .iter()
        .map(|format| format.name)
        .filter(|name| *name != "synthetic-clone")
        .collect();
    let format = *draw.pick(&formats);
    let rows = rows(draw, format);
    let name = draw
        .case
        .add(".trace", json!({ "format": format, "rows": rows }));
    let mut workload = json!({ "trace": name, "format": format });
    keys(draw, &mut workload);
    // Formats with a coarse clock may bring requests that lie past the end, or not in order, by rounding.
    if NUMBERED.contains(&format) && draw.chance(0.4) {
        workload["devices"] = places(draw);
        workload["bad_size"] = "clip".into();
    }
    workload["out_of_order"] = "map".into();
    workload["past_end"] = draw.pick(&["map", "clip", "skip"]).to_string().into();
    workload
}

/// The keys that choose among requests.
fn keys(draw: &mut Draw<'_>, workload: &mut Value) {
    if draw.chance(0.4) {
        workload["pace"] = draw.named("Pace");
    }
    if draw.chance(0.1) {
        workload["from"] = draw.time(1_000, 200_000);
    }
    if draw.chance(0.1) {
        workload["to"] = draw.time(300_000, 5_000_000);
    }
    if draw.chance(0.1) {
        workload["limit"] = draw.scaled(1..=300).into();
    }
}

/// Formats in which what is drawn is of device 0.
const NUMBERED: [&str; 3] = ["disksim-ascii", "hp-srt", "msr"];

/// Where the devices of a trace are; what is drawn is all of device 0.
fn places(draw: &mut Draw<'_>) -> Value {
    let blocks = draw.region.1;
    let offset = draw.within(0..=blocks / 2);
    let mut place = json!({ "device": 0, "offset": format!("{offset} blocks") });
    if draw.chance(0.5) {
        let size = draw.within(1..=blocks - offset);
        place["size"] = format!("{size} blocks").into();
    }
    if draw.chance(0.3) {
        place["location_scale"] = (512 * draw.within(1..=4)).into();
    }
    if draw.chance(0.3) {
        place["size_scale"] = draw.within(1..=3).into();
    }
    json!([place])
}

/// Rows of (time in ns, operation, first LBN, blocks, FUA), for the format whose clock may tick in seconds only.
fn rows(draw: &mut Draw<'_>, format: &str) -> Vec<Value> {
    let blocks = draw.region.1;
    let most = (blocks / 4).clamp(1, 300);
    let slow = if format == "tencent" { 1_000 } else { 1 };
    let mean_us = draw.scaled(100..=30_000) * slow;
    let (mut now, mut end) = (0, 0);
    (0..draw.requests)
        .map(|_| {
            now += draw.scaled(0..=2 * mean_us) * 1_000;
            let op = *draw.pick(&[
                "read", "read", "read", "write", "write", "write", "flush", "trim",
            ]);
            let length = if draw.chance(0.6) {
                8.min(most)
            } else {
                draw.scaled(1..=most)
            };
            let start = if draw.chance(0.4) {
                end
            } else {
                draw.within(0..=blocks - length)
            };
            let start = start.min(blocks - length);
            end = start + length;
            json!([now, op, start, length, draw.chance(0.1)])
        })
        .collect()
}

/// The bytes of formats that nothing in the library writes; `None` for the others.
pub fn by_hand(format: &str, records: &[Record]) -> Option<Vec<u8>> {
    match format {
        "hp-srt" => Some(srt(records)),
        "disksim-recording" => {
            let data = records
                .iter()
                .filter(|record| matches!(record.op, Op::Read | Op::Write));
            let line = |record: &Record| {
                let op = if record.op == Op::Read { "R" } else { "W" };
                format!(
                    "{op} Miss {} {} 5000.5 {}.25\n",
                    record.lbn.0,
                    record.blocks,
                    record.arrival.ns() % 9_000
                )
            };
            Some(data.map(line).collect::<String>().into_bytes())
        }
        _ => None,
    }
}

fn srt(records: &[Record]) -> Vec<u8> {
    let mut bytes = b"$$TR_IOREC-1.3\ntracedate = \"Sat May 30 00:03:06 1992\";\ndisks = {\n 0 -> { sectorsize = 512 } };\n\x0c".to_vec();
    for record in records
        .iter()
        .filter(|record| matches!(record.op, Op::Read | Op::Write))
    {
        let us = record.arrival.ns() / 1_000;
        let words = [
            56,
            0x4_0001,
            (us / 1_000_000) as u32,
            (us % 1_000_000) as u32,
            5,
            100,
            512 * record.blocks,
            record.lbn.0 as u32,
            0x0800_0008,
            4,
            1,
            u32::from(record.op == Op::Read),
            0,
            0,
        ];
        bytes.extend(words.iter().flat_map(|word: &u32| word.to_be_bytes()));
    }
    bytes
}

/// A synthetic clone of a small table of counts.
pub fn synthetic_clone(draw: &mut Draw<'_>) -> Value {
    let (random, sequential) = (draw.within(60..=150), draw.within(0..=60));
    let reads = draw.within(20..=40);
    let text = format!(
        "[counts]\nworking_set = {{ requests = {}, blocks = {} }}\nrandom = {{ requests = {random}, blocks = {} }}\n\
         sequential = {{ requests = {sequential}, blocks = {} }}\nread = {{ requests = {reads}, blocks = {} }}\n\
         write = {{ requests = {}, blocks = {} }}\n",
        random * 3 / 4,
        random * 6,
        random * 8,
        sequential * 8,
        reads * 8,
        random + sequential - reads,
        (random + sequential - reads) * 8,
    );
    let name = draw.case.add(".counts", json!({ "text": text }));
    let mut workload = json!({ "synthetic-clone": name, "past_end": "map" });
    keys(draw, &mut workload);
    workload
}
