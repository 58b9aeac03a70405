//! What the targets share: arbitrary bytes as inputs, and records written and read back.

#[path = "../../crates/diskwright/tests/all/support/errors.rs"]
mod errors;
pub mod inputs;

use std::path::Path;

use arbitrary::Arbitrary;
use diskwright::base::units::{Lbn, Time};
use diskwright::engine::request::Op;
use diskwright::workload::{FORMATS, Format, Losses, Output, Record, Recorded, Writing, open};

/// A target that takes arbitrary bytes as [`inputs::take`] does.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(
            // A panic that a reader catches is no crash; one that it does not catch still is.
            init: drop(std::panic::take_hook()),
            |bytes: &[u8]| $crate::inputs::take($name, bytes)
        );
    };
}

/// A record as the fuzzer makes it up.
#[derive(Arbitrary, Debug)]
pub struct Made {
    gap_ns: u32,
    device: u32,
    op: u8,
    fua: bool,
    lbn: u64,
    blocks: u32,
    service_ns: Option<u32>,
    gap_after_ns: Option<u64>,
}

/// Writes records in every format that can be written; each must read back what it says that it holds.
pub fn round_trip(made: &[Made]) {
    let mut now = Time::ZERO;
    let records: Vec<_> = made
        .iter()
        .map(|made| {
            now += Time::from_ns(made.gap_ns.into());
            record(made, now)
        })
        .collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    for format in FORMATS {
        if let Some(writing) = &format.write {
            check(format, writing, &records, &folder.path().join("trace"));
        }
    }
}

fn record(made: &Made, arrival: Time) -> Record {
    let recorded = Recorded {
        service: made.service_ns.map(|ns| Time::from_ns(ns.into())),
        gap: made.gap_after_ns.map(Time::from_ns),
    };
    Record {
        arrival,
        device: made.device,
        op: [Op::Read, Op::Write, Op::Flush, Op::Trim][usize::from(made.op % 4)],
        fua: made.fua,
        lbn: Lbn(made.lbn),
        blocks: made.blocks,
        recorded: (recorded.service.is_some() || recorded.gap.is_some()).then_some(recorded),
    }
}

fn check(format: &Format, writing: &Writing, records: &[Record], path: &Path) {
    let mut losses = Losses::default();
    let fit = |record: &Record| writing.holds.fit(record, &mut losses).ok().flatten();
    let fitted: Vec<_> = records.iter().filter_map(fit).collect();
    if fitted.is_empty() {
        return;
    }
    let output = Output::create(path).expect("a file");
    let mut writer = (writing.create)(output).expect("begun");
    for record in &fitted {
        writer.write(record).expect("written");
    }
    writer.finish().and_then(Output::finish).expect("finished");
    let mut reader = open(path, &inputs::named(format.name)).expect("what was written can be read");
    for record in &fitted {
        let read = reader.next().expect("what was written can be read");
        assert_eq!(read.as_ref(), Some(record), "{}", format.name);
    }
    assert_eq!(reader.next().expect("the end"), None, "{}", format.name);
}
