//! Traces in Parquet: diskwright's own format, and the log of requests that a run writes, read as a trace.
//!
//! The container is Apache Parquet's (<https://parquet.apache.org/docs/file-format/>). Columns are read page by page, so that
//! memory does not grow with the row groups of a file.

mod columns;
mod order;
mod pages;
mod write;

use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use crate::base::error::{Error, InputError, Place};
use crate::base::units::Time;
use crate::workload::input::{Input, RandomAccessFile};
use crate::workload::record::{Record, Recorded};
use crate::workload::writing::{Holds, Writing};

use self::columns::{Columns, Fault};
use self::order::{Numbered, Window};
use super::{Format, FormatOptions, TraceReader};

const NAME: &str = "parquet";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["parquet"],
    summary: "Parquet with the columns arrival_ns, op, lbn, blocks and others, such as the log of a run",
    detect: |first| first.starts_with(MAGIC),
    open,
    write: Some(Writing {
        holds: Holds::ALL,
        extension: Some("parquet"),
        create: write::create,
    }),
};

const MAGIC: &[u8] = b"PAR1";
/// The version of the columns. A column never changes its meaning.
const SCHEMA: u32 = 1;
/// Where a file keeps it.
const SCHEMA_KEY: &str = "diskwright.schema";
/// Rows decoded at a time.
const ROWS: usize = 4_096;

fn open(input: Input, _: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    let path = input.path().to_owned();
    let file = Place::File(path);
    let source = Arc::new(input.random_access("a Parquet trace")?);
    let wrong = |error: ParquetError| failed(error, &source, file.clone());
    let read = || ParquetMetaDataReader::new().parse_and_finish(&*source);
    let metadata = pages::guarded(read).map_err(wrong)?;
    check_schema(&metadata, &file)?;
    let columns = Columns::find(&metadata).map_err(|error| error.at(file))?;
    Ok(Box::new(Reader {
        window: columns.sequence().map(|_| Window::default()),
        source,
        metadata,
        columns,
        group: 0,
        groups_begun: 0,
        left: 0,
        at: 0,
        row: 0,
        first: 0,
        returned: 0,
    }))
}

/// Refuses what a later version may mean differently.
fn check_schema(metadata: &ParquetMetaData, file: &Place) -> Result<(), InputError> {
    let notes = metadata.file_metadata().key_value_metadata();
    let schema = notes.into_iter().flatten().find(|n| n.key == SCHEMA_KEY);
    let Some(found) = schema.and_then(|note| note.value.as_deref()) else {
        return Ok(());
    };
    if found
        .parse()
        .is_ok_and(|schema: u32| (1..=SCHEMA).contains(&schema))
    {
        return Ok(());
    }
    let found = super::super::text::shown(found.as_bytes());
    Err(
        InputError::new(format!("{SCHEMA_KEY} is {found:?}: expected 1 to {SCHEMA}"))
            .at(file.clone())
            .help("the file was written by a later version of diskwright, which can read it"),
    )
}

/// What a failure to read or decode means to the user: the system's own errors are the file's, the rest is wrong input.
fn failed(error: ParquetError, source: &RandomAccessFile, place: Place) -> Error {
    let error = match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) if error.raw_os_error().is_some() => {
                return Error::file(source.path(), "read", *error);
            }
            Ok(error) => error.to_string(),
            Err(error) => error.to_string(),
        },
        error => error.to_string(),
    };
    let error = super::super::text::shown(error.as_bytes());
    InputError::new(format!("the Parquet file is damaged or cut off: {error}"))
        .at(place)
        .into()
}

struct Reader {
    source: Arc<RandomAccessFile>,
    metadata: ParquetMetaData,
    columns: Columns,
    /// Puts the rows of a log in order of arrival.
    window: Option<Window>,
    /// The row group that the rows at hand are of.
    group: usize,
    groups_begun: usize,
    /// Rows of it that have not been decoded yet.
    left: u64,
    /// The next row to take, among those at hand.
    at: usize,
    /// Its number in the file.
    row: u64,
    /// The file's number of the first row at hand.
    first: u64,
    /// The row of the record just returned.
    returned: u64,
}

impl Reader {
    /// Decodes more rows; false at the end of the file.
    #[cold]
    fn fill(&mut self) -> Result<bool, Error> {
        if let Some(fault) = self.columns.fault() {
            return Err(self.fault(fault).into());
        }
        while self.left == 0 {
            if self.groups_begun == self.metadata.num_row_groups() {
                return Ok(false);
            }
            self.group = self.groups_begun;
            self.groups_begun += 1;
            let group = self.metadata.row_group(self.group);
            self.left = u64::try_from(group.num_rows()).unwrap_or(0);
            pages::guarded(|| self.columns.begin(&self.source, group))
                .map_err(|error| failed(error, &self.source, self.place_of(self.row)))?;
        }
        let rows = self.left.min(ROWS as u64) as usize;
        pages::guarded(|| self.columns.read(rows))
            .map_err(|error| failed(error, &self.source, self.place_of(self.row)))?;
        self.left -= rows as u64;
        self.at = 0;
        self.first = self.row;
        Ok(true)
    }

    /// The next row of the file.
    #[inline]
    fn next_row(&mut self) -> Result<Option<Numbered>, Error> {
        // A batch may be empty, where its first row is wrong.
        while self.at == self.columns.good() {
            if !self.fill()? {
                return Ok(None);
            }
        }
        let (i, row) = (self.at, self.row);
        self.at += 1;
        self.row += 1;
        let c = &self.columns;
        let service = c.service_ns(i).map(Time::from_ns);
        let gap = c.gap_ns(i).map(Time::from_ns);
        Ok(Some(Numbered {
            sequence: c.sequence().map_or(0, |column| column.get(i)),
            row,
            record: Record {
                arrival: Time::from_ns(c.arrival_ns(i)),
                device: c.device(i),
                op: c.op(i),
                fua: c.fua(i),
                lbn: c.lbn(i),
                blocks: c.blocks(i),
                recorded: (service.is_some() || gap.is_some()).then_some(Recorded { service, gap }),
            },
        }))
    }

    #[cold]
    fn fault(&self, fault: Fault) -> InputError {
        let row = self.first + fault.row as u64;
        InputError::new(fault.message).at(self.place_of(row))
    }

    /// A row, with the first byte of the row group that was read last.
    fn place_of(&self, row: u64) -> Place {
        let group = (self.group < self.metadata.num_row_groups())
            .then(|| self.metadata.row_group(self.group));
        let start = group.and_then(|group| {
            group
                .columns()
                .iter()
                .map(|c| c.dictionary_page_offset().unwrap_or(c.data_page_offset()))
                .min()
        });
        Place::Record {
            file: self.source.path().to_owned(),
            record: row,
            offset: start
                .and_then(|start| u64::try_from(start).ok())
                .unwrap_or(0),
        }
    }
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        let Some(mut window) = self.window.take() else {
            let next = self.next_row()?;
            return Ok(next.map(|next| {
                self.returned = next.row;
                next.record
            }));
        };
        let next = window.next(|| self.next_row());
        self.window = Some(window);
        Ok(next?.map(|next| {
            self.returned = next.row;
            next.record
        }))
    }
    fn place(&self) -> Place {
        self.place_of(self.returned)
    }
    fn format(&self) -> &'static str {
        NAME
    }
    fn warnings(&self) -> Vec<String> {
        self.window.iter().filter_map(Window::warning).collect()
    }
}

#[cfg(test)]
mod tests;
