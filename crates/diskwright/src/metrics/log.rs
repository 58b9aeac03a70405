//! The per-request log: a Parquet file with a row for every request of the host, in order of completion.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Int8Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use serde_json::Value;

use crate::base::error::Error;
use crate::base::units::Time;
use crate::base::whole_file::WholeFile;
use crate::engine::request::{Op, Part, Request};

/// The version of the columns. A column never changes its meaning.
const SCHEMA: u32 = 1;
/// Rows of a row group: what is held back, encoded, before it reaches the file.
pub const ROWS_PER_GROUP: usize = 16_384;
/// Requests kept before they are encoded.
pub(super) const ROWS_PER_BATCH: usize = 4_096;
/// The names of operations, in the order of [`Op`].
pub(crate) const OPS: [&str; 4] = [
    Op::Read.name(),
    Op::Write.name(),
    Op::Flush.name(),
    Op::Trim.name(),
];
/// The names of outcomes, in the order of [`Outcome`](crate::engine::request::Outcome).
const OUTCOMES: [&str; 3] = ["ok", "media-error", "failed-device"];
/// A column's name, and what it takes from a request.
type Instant = (&'static str, fn(&Request) -> Time);
/// The instants of a request.
const INSTANTS: [Instant; 5] = [
    ("arrival_ns", |request| request.arrival),
    ("issue_ns", |request| request.issue),
    ("acceptance_ns", |request| request.acceptance),
    ("start_ns", |request| request.start),
    ("completion_ns", |request| request.completion),
];

/// A Parquet file that grows by a row with every completed request, in constant memory.
///
/// It takes its name in [`finish`](RequestLog::finish); dropped before, it leaves no file. The columns: `sequence`, the
/// order of arrival from 0; `op`, `fua`, `lbn`, `blocks` (of 512 bytes); `arrival_ns`, `issue_ns`, `acceptance_ns`,
/// `start_ns`, `completion_ns`, instants in nanoseconds of simulated time; a duration `<part>_ns` for every
/// [`Part`]; `outcome`. The file's metadata hold `diskwright.schema` and `diskwright.version`.
pub struct RequestLog {
    path: PathBuf,
    writer: ArrowWriter<WholeFile>,
    waiting: Vec<Request>,
}

impl RequestLog {
    /// A log without rows, to be at `path` when it is finished.
    ///
    /// # Errors
    /// A folder that is not there or cannot be written; a path that is a folder.
    pub fn create(path: &Path) -> Result<RequestLog, Error> {
        let file = WholeFile::create(path).map_err(|error| Error::file(path, "write", error))?;
        let columns = batch(&[]).schema();
        let mut writer = ArrowWriter::try_new(file, columns, Some(properties()))
            .map_err(|error| failed(path, error))?;
        note(&mut writer, "schema", SCHEMA.to_string());
        note(&mut writer, "version", env!("CARGO_PKG_VERSION").to_owned());
        Ok(RequestLog {
            path: path.to_owned(),
            writer,
            waiting: Vec::with_capacity(ROWS_PER_BATCH),
        })
    }

    /// Keeps the effective spec, as JSON, in the file's metadata: `diskwright.spec`.
    pub fn describe(&mut self, spec: &Value) {
        note(&mut self.writer, "spec", spec.to_string());
    }

    /// Adds a row. The request must be complete.
    ///
    /// # Errors
    /// The file cannot be written to, for instance because the disk is full.
    #[inline]
    pub fn add(&mut self, request: &Request) -> Result<(), Error> {
        self.waiting.push(request.clone());
        if self.waiting.len() < ROWS_PER_BATCH {
            Ok(())
        } else {
            self.encode()
        }
    }

    /// Writes what is left, brings it to the disk, and gives the file its name.
    ///
    /// # Errors
    /// As [`add`](RequestLog::add); the file cannot be renamed.
    pub fn finish(mut self) -> Result<(), Error> {
        self.encode()?;
        let RequestLog { path, writer, .. } = self;
        let file = writer.into_inner().map_err(|error| failed(&path, error))?;
        file.finish()
            .map_err(|error| Error::file(&path, "write", error))
    }

    #[cold]
    fn encode(&mut self) -> Result<(), Error> {
        self.writer
            .write(&batch(&self.waiting))
            .map_err(|error| failed(&self.path, error))?;
        self.waiting.clear();
        Ok(())
    }
}

/// Numbers are stored as differences from row to row, which suits instants; names as a dictionary.
fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for field in batch(&[])
        .schema()
        .fields()
        .iter()
        .filter(|field| field.data_type().is_integer())
    {
        let column = ColumnPath::from(field.name().as_str());
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

fn note(writer: &mut ArrowWriter<WholeFile>, key: &str, value: String) {
    writer.append_key_value_metadata(KeyValue::new(format!("diskwright.{key}"), value));
}

fn failed(path: &Path, error: ParquetError) -> Error {
    let source = match error {
        ParquetError::External(inner) => inner
            .downcast()
            .map_or_else(io::Error::other, |error| *error),
        error => io::Error::other(error),
    };
    Error::file(path, "write", source)
}

/// The rows of `requests`: the one place that knows the columns.
pub(super) fn batch(requests: &[Request]) -> RecordBatch {
    let times = |time: &dyn Fn(&Request) -> Time| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(
            requests.iter().map(|request| time(request).ns()),
        ))
    };
    let mut columns: Vec<(String, ArrayRef)> = vec![
        (
            "sequence".into(),
            Arc::new(UInt64Array::from_iter_values(
                requests.iter().map(|r| r.sequence),
            )),
        ),
        (
            "op".into(),
            names(&OPS, requests.iter().map(|r| r.command.op.number() as i8)),
        ),
        (
            "fua".into(),
            Arc::new(
                requests
                    .iter()
                    .map(|r| Some(r.command.fua))
                    .collect::<BooleanArray>(),
            ),
        ),
        (
            "lbn".into(),
            Arc::new(UInt64Array::from_iter_values(
                requests.iter().map(|r| r.command.lbn.0),
            )),
        ),
        (
            "blocks".into(),
            Arc::new(UInt32Array::from_iter_values(
                requests.iter().map(|r| r.command.blocks),
            )),
        ),
    ];
    columns.extend(
        INSTANTS
            .iter()
            .map(|(name, instant)| ((*name).to_owned(), times(instant))),
    );
    columns.extend(Part::ALL.iter().map(|part| {
        (
            format!("{}_ns", part.name()),
            times(&|r| r.parts.get(*part)),
        )
    }));
    let outcomes = requests
        .iter()
        .map(|r| r.outcome.expect("a completed request has an outcome") as i8);
    columns.push(("outcome".into(), names(&OUTCOMES, outcomes)));
    let columns = columns
        .into_iter()
        .map(|(name, column)| (name, column, false));
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length, without nulls")
}

/// A column of names, by their numbers.
pub(crate) fn names(names: &[&str], numbers: impl Iterator<Item = i8>) -> ArrayRef {
    let names = Arc::new(StringArray::from_iter_values(names));
    let column = DictionaryArray::<Int8Type>::try_new(Int8Array::from_iter_values(numbers), names);
    Arc::new(column.expect("every number has a name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::request::Outcome;

    #[test]
    fn names_are_those_of_specs() {
        for op in [Op::Read, Op::Write, Op::Flush, Op::Trim] {
            assert_eq!(serde_json::to_value(op).unwrap(), OPS[op.number()]);
        }
        for outcome in [Outcome::Ok, Outcome::MediaError, Outcome::FailedDevice] {
            assert_eq!(
                serde_json::to_value(outcome).unwrap(),
                OUTCOMES[outcome as usize]
            );
        }
    }
}
