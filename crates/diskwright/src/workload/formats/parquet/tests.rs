//! Files made by hand with Arrow's writer, as other tools make them.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, UInt32Array, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;

use super::super::testing::*;
use super::*;
use crate::base::units::Lbn;
use crate::engine::request::Op;

type Column = (&'static str, ArrayRef);

fn file_with(columns: Vec<Column>, properties: WriterProperties) -> Vec<u8> {
    let columns = columns
        .into_iter()
        .map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn file(columns: Vec<Column>) -> Vec<u8> {
    file_with(columns, WriterProperties::default())
}

fn u64s(values: &[u64]) -> ArrayRef {
    Arc::new(UInt64Array::from(values.to_vec()))
}

fn i64s(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// The columns that there must be, of two rows.
fn least() -> Vec<Column> {
    vec![
        ("arrival_ns", u64s(&[5, u64::MAX])),
        ("op", texts(&["read", "trim"])),
        ("lbn", u64s(&[16, 1 << 60])),
        ("blocks", Arc::new(UInt32Array::from(vec![8, u32::MAX]))),
    ]
}

fn with(name: &'static str, column: ArrayRef) -> Vec<Column> {
    let mut columns = least();
    columns.retain(|(there, _)| *there != name);
    columns.push((name, column));
    columns
}

const FIRST: Record = Record {
    arrival: Time::from_ns(5),
    device: 0,
    op: Op::Read,
    fua: false,
    lbn: Lbn(16),
    blocks: 8,
    recorded: None,
};

#[test]
fn the_least_columns_are_enough_and_others_are_passed_over() {
    let second = Record {
        arrival: Time::MAX,
        op: Op::Trim,
        lbn: Lbn(1 << 60),
        blocks: Record::OVERSIZE,
        ..FIRST
    };
    let noise = with("noise", Arc::new(Float64Array::from(vec![0.5, 1.5])));
    for columns in [least(), noise] {
        let read = records(file(columns), &FormatOptions::default()).unwrap();
        assert_eq!(read, [FIRST, second]);
    }
}

#[test]
fn all_columns_are_read() {
    let columns = vec![
        ("arrival_ns", u64s(&[5])),
        ("device", u64s(&[3])),
        ("op", texts(&["write"])),
        ("fua", Arc::new(BooleanArray::from(vec![true])) as ArrayRef),
        ("lbn", u64s(&[16])),
        ("blocks", u64s(&[1 << 40])),
        ("service_ns", u64s(&[70])),
        ("gap_ns", Arc::new(UInt64Array::from(vec![None]))),
    ];
    let expected = Record {
        device: 3,
        op: Op::Write,
        fua: true,
        blocks: Record::OVERSIZE,
        recorded: Some(Recorded {
            service: Some(Time::from_ns(70)),
            gap: None,
        }),
        ..FIRST
    };
    let read = records(file(columns), &FormatOptions::default()).unwrap();
    assert_eq!(read, [expected]);
}

#[test]
fn nulls_are_what_is_missing_where_they_may_be() {
    let columns = vec![
        ("arrival_ns", u64s(&[1, 2, 3])),
        ("op", texts(&["read", "flush", "write"])),
        ("lbn", u64s(&[1, 2, 3])),
        ("blocks", u64s(&[1, 2, 3])),
        (
            "device",
            Arc::new(Int32Array::from(vec![Some(4), None, Some(6)])) as ArrayRef,
        ),
        (
            "fua",
            Arc::new(BooleanArray::from(vec![None, None, Some(true)])),
        ),
        (
            "gap_ns",
            Arc::new(Int64Array::from(vec![None, Some(9), None])),
        ),
    ];
    let read = records(file(columns), &FormatOptions::default()).unwrap();
    let devices: Vec<_> = read.iter().map(|r| (r.device, r.fua)).collect();
    assert_eq!(devices, [(4, false), (0, false), (6, true)]);
    let gaps: Vec<_> = read
        .iter()
        .map(|r| r.recorded.and_then(|r| r.gap))
        .collect();
    assert_eq!(gaps, [None, Some(Time::from_ns(9)), None]);
    // A flush is of no blocks.
    assert_eq!((read[1].lbn, read[1].blocks), (Lbn(0), 0));
}

#[test]
fn other_tools_types_and_encodings_are_read() {
    let dictionary: DictionaryArray<Int32Type> = ["read", "trim"].into_iter().collect();
    for (name, column) in [
        ("op", Arc::new(dictionary) as ArrayRef),
        ("lbn", i64s(&[16, 1 << 60])),
        ("device", Arc::new(Int32Array::from(vec![0, 0]))),
    ] {
        for compression in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(Default::default()),
            Compression::LZ4_RAW,
            Compression::ZSTD(Default::default()),
        ] {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                for dictionaries in [false, true] {
                    let properties = WriterProperties::builder()
                        .set_compression(compression)
                        .set_writer_version(version)
                        .set_dictionary_enabled(dictionaries)
                        .build();
                    let bytes = file_with(with(name, column.clone()), properties);
                    let read = records(bytes, &FormatOptions::default()).unwrap();
                    assert_eq!((read[0], read[1].lbn), (FIRST, Lbn(1 << 60)), "{name}");
                }
            }
        }
    }
}

#[test]
fn missing_and_mistyped_columns_are_named_with_those_there_are() {
    let some = least().into_iter().take(2).collect();
    let error = located(records(file(some), &FormatOptions::default()).unwrap_err());
    assert!(error.message.contains("no column lbn, blocks"), "{error}");
    assert!(error.message.contains("arrival_ns (INT64"), "{error}");
    assert!(error.help.unwrap().contains("service_ns"));
    let float: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.5]));
    for (name, column, expected) in [
        ("arrival_ns", float.clone(), "whole numbers"),
        ("device", texts(&["a", "b"]), "whole numbers"),
        ("op", u64s(&[0, 1]), "texts"),
        ("fua", float, "true or false"),
    ] {
        let result = records(file(with(name, column)), &FormatOptions::default());
        let error = located(result.unwrap_err());
        assert!(
            error.message.contains(name) && error.message.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn a_file_of_very_many_columns_gets_a_short_error() {
    let names: Vec<_> = (0..500)
        .map(|i| format!("{i}-{}", "x".repeat(200)))
        .collect();
    let columns = names.iter().map(|name| (name.as_str(), u64s(&[1])));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    let error = located(records(bytes, &FormatOptions::default()).unwrap_err());
    assert!(error.message.contains("and 476 more"), "{error}");
    assert!(error.to_string().len() < 4_000);
}

#[test]
fn wrong_values_are_located_after_the_rows_before_them() {
    let nulls = |values: [Option<u64>; 2]| Arc::new(UInt64Array::from(values.to_vec())) as ArrayRef;
    for (name, column, expected) in [
        ("arrival_ns", i64s(&[5, -1]), "found -1"),
        ("lbn", i64s(&[16, -9]), "found -9"),
        (
            "device",
            u64s(&[0, 1 << 32]),
            "at most 4294967295, found 4294967296",
        ),
        (
            "blocks",
            nulls([Some(8), None]),
            "column blocks: expected a value, found null",
        ),
        ("op", texts(&["read", "R"]), "found \"R\""),
        (
            "op",
            Arc::new(StringArray::from(vec![Some("read"), None])),
            "column op: expected a value",
        ),
    ] {
        let mut reader = reader(file(with(name, column)), &FormatOptions::default()).unwrap();
        assert_eq!(reader.next().unwrap(), Some(FIRST), "{name}");
        let error = located(reader.next().unwrap_err());
        assert!(error.message.contains(expected), "{error}");
        assert!(
            matches!(
                error.place,
                Some(Place::Record {
                    record: 1,
                    offset: 4,
                    ..
                })
            ),
            "{error}"
        );
        // It stays wrong.
        assert!(reader.next().is_err());
    }
}

/// A log of three requests, the first of which completes last.
fn log(mut more: Vec<Column>) -> Vec<Column> {
    more.extend([
        ("sequence", u64s(&[1, 2, 0])),
        ("acceptance_ns", u64s(&[20, 30, 10])),
        ("completion_ns", u64s(&[21, 32, 40])),
        ("arrival_ns", u64s(&[2, 3, 1])),
        ("op", texts(&["read", "read", "read"])),
        ("lbn", u64s(&[11, 12, 10])),
        ("blocks", u64s(&[8, 8, 8])),
    ]);
    more
}

#[test]
fn a_log_is_read_in_order_of_arrival() {
    let mut reader = reader(file(log(Vec::new())), &FormatOptions::default()).unwrap();
    for (lbn, service, row) in [(10, 30, 2), (11, 1, 0), (12, 2, 1)] {
        let record = reader.next().unwrap().unwrap();
        let served = record.recorded.and_then(|r| r.service);
        assert_eq!(
            (record.lbn, served),
            (Lbn(lbn), Some(Time::from_ns(service)))
        );
        assert!(matches!(reader.place(), Place::Record { record, .. } if record == row));
    }
    assert_eq!(reader.next().unwrap(), None);
    assert!(reader.warnings().is_empty());
    // A column of recorded service times says more than two instants.
    let read = records(
        file(log(vec![("service_ns", u64s(&[7, 8, 9]))])),
        &FormatOptions::default(),
    );
    assert_eq!(
        read.unwrap()[0].recorded.unwrap().service,
        Some(Time::from_ns(9))
    );
}

#[test]
fn a_column_of_numbers_alone_makes_no_log() {
    let columns = log(Vec::new()).into_iter();
    let columns = columns
        .filter(|(name, _)| *name != "completion_ns")
        .collect();
    let read = records(file(columns), &FormatOptions::default()).unwrap();
    assert_eq!(
        read.iter().map(|r| r.lbn.0).collect::<Vec<_>>(),
        [11, 12, 10]
    );
    assert_eq!(read[0].recorded, None);
}

#[test]
fn a_later_version_of_the_columns_is_refused() {
    for (version, fine) in [("1", true), ("2", false), ("0", false), ("one", false)] {
        let note = KeyValue::new(SCHEMA_KEY.to_owned(), version.to_owned());
        let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![note]));
        let read = records(
            file_with(least(), properties.build()),
            &FormatOptions::default(),
        );
        match read {
            Ok(read) => assert!(fine && read.len() == 2),
            Err(error) => assert!(!fine && located(error).message.contains(version)),
        }
    }
}

#[test]
fn pipes_and_archives_are_refused() {
    let bytes = file(least());
    let pipe = Box::new(std::io::Cursor::new(bytes.clone()));
    let input = Input::new(std::path::Path::new("pipe"), pipe).unwrap();
    let error = crate::workload::open_input(input, &FormatOptions::default()).err();
    assert!(located(error.unwrap()).message.contains("pipe"));
    let packed = zstd::encode_all(&bytes[..], 1).unwrap();
    let error = located(records(packed, &FormatOptions::default()).unwrap_err());
    assert!(error.message.contains("zstd archive"), "{error}");
}

/// A file with a few of everything: dictionaries, nulls, two row groups, several pages.
fn varied() -> Vec<u8> {
    let n = 300u64;
    let columns = vec![
        ("arrival_ns", u64s(&(0..n).collect::<Vec<_>>())),
        (
            "op",
            texts(
                &(0..n)
                    .map(|i| if i % 3 == 0 { "read" } else { "write" })
                    .collect::<Vec<_>>(),
            ),
        ),
        (
            "lbn",
            u64s(&(0..n).map(|i| i * 7919 % 1000).collect::<Vec<_>>()),
        ),
        (
            "blocks",
            Arc::new(UInt32Array::from_iter_values((0..n).map(|i| i as u32 % 5))) as ArrayRef,
        ),
        (
            "fua",
            Arc::new(
                (0..n)
                    .map(|i| (i % 4 > 0).then_some(i % 2 == 0))
                    .collect::<BooleanArray>(),
            ),
        ),
        (
            "service_ns",
            Arc::new(
                (0..n)
                    .map(|i| (i % 4 > 0).then_some(i))
                    .collect::<UInt64Array>(),
            ),
        ),
    ];
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(200))
        .set_data_page_row_count_limit(50)
        .set_write_batch_size(10)
        .build();
    file_with(columns, properties)
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let bytes = varied();
    assert_eq!(
        records(bytes.clone(), &FormatOptions::default())
            .unwrap()
            .len(),
        300
    );
    for length in 0..bytes.len() {
        located(records(&bytes[..length], &forced(NAME)).unwrap_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_files_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = varied();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        if let Err(error) = records(bytes, &forced(NAME)) {
            prop_assert!(located(error).to_string().len() < 4_000);
        }
    }
}
