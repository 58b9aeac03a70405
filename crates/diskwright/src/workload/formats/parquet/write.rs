//! The writer of Parquet traces.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array, UInt64Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::{SCHEMA, SCHEMA_KEY};
use crate::base::units::Time;
use crate::metrics::log;
use crate::workload::output::Output;
use crate::workload::record::{Record, Recorded};
use crate::workload::writing::TraceWriter;

/// Records kept before they are encoded.
const BATCH: usize = 8_192;
/// Rows of a row group: what is held back, encoded, before it reaches the file.
const ROWS_PER_GROUP: usize = 1 << 18;

/// Begins a file.
///
/// # Errors
/// The file cannot be written, or its name asks for a compression around the columns' own.
pub fn create(output: Output) -> io::Result<Box<dyn TraceWriter>> {
    if output.is_compressed() {
        let message = "the columns of Parquet are compressed already: leave out .gz or .zst";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let columns = batch(&[]).schema();
    let mut writer = ArrowWriter::try_new(output, columns, Some(properties())).map_err(failed)?;
    let mut note = |key: &str, value: String| {
        writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value))
    };
    note(SCHEMA_KEY, SCHEMA.to_string());
    note("diskwright.version", env!("CARGO_PKG_VERSION").to_owned());
    Ok(Box::new(Writer {
        writer,
        waiting: Vec::with_capacity(BATCH),
    }))
}

struct Writer {
    writer: ArrowWriter<Output>,
    waiting: Vec<Record>,
}

impl Writer {
    #[cold]
    fn encode(&mut self) -> io::Result<()> {
        self.writer.write(&batch(&self.waiting)).map_err(failed)?;
        self.waiting.clear();
        Ok(())
    }
}

impl TraceWriter for Writer {
    fn write(&mut self, record: &Record) -> io::Result<()> {
        self.waiting.push(*record);
        if self.waiting.len() < BATCH {
            Ok(())
        } else {
            self.encode()
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<Output> {
        self.encode()?;
        self.writer.into_inner().map_err(failed)
    }
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => inner
            .downcast()
            .map_or_else(io::Error::other, |error| *error),
        error => io::Error::other(error),
    }
}

/// Times are stored as differences from row to row, and addresses as they are; the rest, which has few values, as a
/// dictionary. Of the encodings there are, these read fastest and are among the smallest (`benches/readers.rs`).
fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for (name, encoding) in [
        ("arrival_ns", Encoding::DELTA_BINARY_PACKED),
        ("lbn", Encoding::PLAIN),
        ("service_ns", Encoding::DELTA_BINARY_PACKED),
        ("gap_ns", Encoding::DELTA_BINARY_PACKED),
    ] {
        let column = ColumnPath::from(name);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, encoding);
    }
    properties.build()
}

/// The rows of `records`: the one place that knows the columns.
fn batch(records: &[Record]) -> RecordBatch {
    let whole = |value: &dyn Fn(&Record) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(records.iter().map(value)))
    };
    let small = |value: &dyn Fn(&Record) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(records.iter().map(value)))
    };
    let recorded = |time: &dyn Fn(&Recorded) -> Option<Time>| -> ArrayRef {
        let values = records.iter().map(|r| r.recorded.as_ref().and_then(time));
        Arc::new(values.map(|t| t.map(Time::ns)).collect::<UInt64Array>())
    };
    let fua: BooleanArray = records.iter().map(|r| Some(r.fua)).collect();
    let columns: [(&str, ArrayRef, bool); 8] = [
        ("arrival_ns", whole(&|r| r.arrival.ns()), false),
        ("device", small(&|r| r.device), false),
        (
            "op",
            log::names(&log::OPS, records.iter().map(|r| r.op.number() as i8)),
            false,
        ),
        ("fua", Arc::new(fua), false),
        ("lbn", whole(&|r| r.lbn.0), false),
        ("blocks", small(&|r| r.blocks), false),
        ("service_ns", recorded(&|r| r.service), true),
        ("gap_ns", recorded(&|r| r.gap), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns)
        .expect("columns of one length, with nulls only where they may be")
}
