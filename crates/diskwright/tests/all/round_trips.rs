//! What a format writes it reads back, up to what it says it cannot hold; and so through any two formats.

use std::path::Path;

use diskwright::base::units::{Lbn, Time};
use diskwright::engine::request::Op;
use diskwright::workload::{
    ConvertOptions, FORMATS, Format, FormatOptions, Losses, Output, Record, Recorded, Writing,
    convert, open,
};
use proptest::prelude::*;

fn writable() -> impl Iterator<Item = (&'static Format, &'static Writing)> {
    FORMATS.iter().filter_map(|f| Some((f, f.write.as_ref()?)))
}

fn named(format: &Format) -> FormatOptions {
    FormatOptions {
        format: Some(format.name.to_owned()),
        ..FormatOptions::default()
    }
}

fn write(writing: &Writing, path: &Path, records: &[Record]) {
    let mut writer = (writing.create)(Output::create(path).unwrap()).unwrap();
    for record in records {
        writer.write(record).unwrap();
    }
    writer.finish().and_then(Output::finish).unwrap();
}

fn read(format: &Format, path: &Path) -> Vec<Record> {
    let mut reader = open(path, &named(format)).unwrap_or_else(|e| panic!("{}: {e}", format.name));
    std::iter::from_fn(|| {
        reader
            .next()
            .unwrap_or_else(|e| panic!("{}: {e}", format.name))
    })
    .collect()
}

/// The records as a format holds them; those out of its range left out.
fn fit(writing: &Writing, records: &[Record]) -> Vec<Record> {
    let mut losses = Losses::default();
    let fitted = |r: &Record| writing.holds.fit(r, &mut losses).ok().flatten();
    records.iter().filter_map(fitted).collect()
}

fn record() -> impl Strategy<Value = Record> {
    let op = prop_oneof![4 => Just(Op::Read), 4 => Just(Op::Write), 1 => Just(Op::Flush), 1 => Just(Op::Trim)];
    let lbn = prop_oneof![4 => 0u64..1 << 40, 1 => any::<u64>(), 1 => Just(0)];
    let blocks = prop_oneof![6 => 1u32..4096, 1 => any::<u32>(), 1 => Just(0)];
    let gap = prop_oneof![2 => 0u64..5_000, 4 => 0u64..20_000_000, 1 => 0u64..10_000_000_000_000];
    let service = proptest::option::of(0u64..1_000_000_000);
    (gap, 0u32..4, op, any::<bool>(), lbn, blocks, service).prop_map(
        |(gap, device, op, fua, lbn, blocks, service)| Record {
            arrival: Time::from_ns(gap),
            device,
            op,
            fua,
            lbn: Lbn(lbn),
            blocks,
            recorded: service.map(|ns| Recorded {
                service: Some(Time::from_ns(ns)),
                gap: None,
            }),
        },
    )
}

/// Arrivals in order, as most formats want them.
fn records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec(record(), 0..200).prop_map(|mut records| {
        let mut now = Time::ZERO;
        for record in &mut records {
            now += record.arrival;
            record.arrival = now;
        }
        records
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_format_reads_what_it_writes(records in records()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        for (format, writing) in writable() {
            let fitted = fit(writing, &records);
            write(writing, &path, &fitted);
            if !fitted.is_empty() {
                prop_assert_eq!(read(format, &path), fitted, "{}", format.name);
            }
        }
    }

    #[test]
    fn requests_survive_any_two_formats(records in records()) {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        for (from, writing) in writable() {
            let first = fit(writing, &records);
            // A format of one device refuses a trace of several.
            let single = fit(writing, &records).iter().all(|r| r.device == 0);
            if first.is_empty() {
                continue;
            }
            write(writing, &one, &first);
            for (to, writing) in writable() {
                let second = fit(writing, &first);
                let options = ConvertOptions { format: named(from), to: Some(to.name.to_owned()), device: None };
                match convert(&one, &two, &options, &mut ()) {
                    Ok(conversion) => {
                        prop_assert_eq!(conversion.read, first.len() as u64);
                        prop_assert_eq!(conversion.written, second.len() as u64);
                        prop_assert_eq!(read(to, &two), second, "{} to {}", from.name, to.name);
                    }
                    Err(error) => {
                        let mut losses = Losses::default();
                        let refused = first.iter().any(|r| writing.holds.fit(r, &mut losses).is_err());
                        let several = writing.holds.devices.is_none() && !single;
                        let nothing = second.is_empty();
                        prop_assert!(refused || several || nothing, "{} to {}: {}", from.name, to.name, error);
                    }
                }
            }
        }
    }
}

#[test]
fn no_two_formats_mean_the_same_extension() {
    let mut extensions: Vec<_> = writable().filter_map(|(_, w)| w.extension).collect();
    let all = extensions.len();
    extensions.sort_unstable();
    extensions.dedup();
    assert_eq!(extensions.len(), all);
}
