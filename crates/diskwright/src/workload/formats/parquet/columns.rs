//! The columns of a Parquet trace: which they are, and a batch of their values.

use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use super::pages::Pages;
use crate::base::error::InputError;
use crate::base::units::Lbn;
use crate::engine::request::Op;
use crate::workload::input::RandomAccessFile;
use crate::workload::record::Record;
use crate::workload::text::shown;

/// What the columns are called, and what they hold.
const WANTED: &str = "wanted are arrival_ns, lbn and blocks (whole numbers), op (read, write, flush or trim) \
    and, where there are any, device, service_ns and gap_ns (whole numbers) and fua (true or false)";
/// More columns than this are not listed one by one.
const LISTED: usize = 24;
/// Characters of a column's name that an error shows.
const NAME_SHOWN: usize = 40;

/// A row that cannot be a request.
#[derive(Clone)]
pub struct Fault {
    /// Its number in the batch.
    pub row: usize,
    /// What is wrong.
    pub message: String,
}

/// The columns that a trace is made of, and the rows at hand.
pub struct Columns {
    arrival: Integers,
    op: Ops,
    lbn: Integers,
    blocks: Integers,
    device: Option<Integers>,
    fua: Option<Flags>,
    service: Option<Integers>,
    gap: Option<Integers>,
    /// Those of a log.
    log: Option<Log>,
    /// Rows at hand that can be taken.
    good: usize,
    fault: Option<Fault>,
}

/// What only a log has: the order of arrival, and the instants between which a request was served.
struct Log {
    sequence: Integers,
    acceptance: Integers,
    completion: Integers,
}

impl Columns {
    /// The columns of a file, by their names.
    ///
    /// # Errors
    /// One is missing, or of another type; the error lists those there are.
    pub fn find(metadata: &ParquetMetaData) -> std::result::Result<Columns, InputError> {
        let schema = metadata.file_metadata().schema_descr();
        let find = |name: &str| {
            let mut columns = schema.columns().iter().enumerate();
            // Columns within others are no columns of ours.
            let found = columns.find(|(_, c)| c.path().parts() == [name]);
            found.map(|(index, descr)| Leaf::new(index, descr.clone()))
        };
        let missing: Vec<_> = ["arrival_ns", "op", "lbn", "blocks"]
            .into_iter()
            .filter(|name| find(name).is_none())
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "the Parquet file has no column {}; it has {}",
                missing.join(", "),
                list(schema)
            );
            return Err(InputError::new(message).help(WANTED));
        }
        let integers = |name: &str, most: u64| match find(name) {
            Some(leaf) => Integers::new(leaf, most).map(Some),
            None => Ok(None),
        };
        let needed = |name: &str| integers(name, u64::MAX).map(|c| c.expect("not missing"));
        let log = match (
            integers("sequence", u64::MAX)?,
            integers("acceptance_ns", u64::MAX)?,
            integers("completion_ns", u64::MAX)?,
        ) {
            (Some(sequence), Some(acceptance), Some(completion)) => Some(Log {
                sequence,
                acceptance,
                completion,
            }),
            _ => None,
        };
        let columns = Columns {
            arrival: needed("arrival_ns")?,
            op: Ops::new(find("op").expect("not missing"))?,
            lbn: needed("lbn")?,
            blocks: needed("blocks")?,
            device: integers("device", u32::MAX.into())?,
            fua: find("fua").map(Flags::new).transpose()?,
            service: integers("service_ns", u64::MAX)?,
            gap: integers("gap_ns", u64::MAX)?,
            log,
            good: 0,
            fault: None,
        };
        columns.check_compression(metadata)?;
        Ok(columns)
    }

    /// Refuses early what would otherwise end the reading with a word that says less.
    fn check_compression(&self, metadata: &ParquetMetaData) -> std::result::Result<(), InputError> {
        let columns = metadata.row_groups().iter().flat_map(|g| g.columns());
        for column in columns {
            let name = match column.compression() {
                Compression::BROTLI(_) => "brotli",
                Compression::LZO => "lzo",
                _ => continue,
            };
            let message = format!("the columns of the Parquet file are compressed with {name}");
            return Err(InputError::new(message)
                .help("read are zstd, snappy, gzip, lz4, and plain columns"));
        }
        Ok(())
    }

    /// Begins a row group.
    pub fn begin(
        &mut self,
        source: &Arc<RandomAccessFile>,
        group: &RowGroupMetaData,
    ) -> Result<()> {
        self.op.texts.begin(source, group)?;
        if let Some(fua) = &mut self.fua {
            fua.values.begin(source, group)?;
        }
        for column in self.integers_mut() {
            column.begin(source, group)?;
        }
        Ok(())
    }

    /// Decodes the next `rows` rows of the row group in place of those at hand.
    pub fn read(&mut self, rows: usize) -> Result<()> {
        (self.good, self.fault) = (0, None);
        let mut faults = vec![self.op.read(rows)?];
        if let Some(fua) = &mut self.fua {
            fua.read(rows)?;
        }
        for column in self.integers_mut() {
            faults.push(column.read(rows)?);
        }
        for column in [&self.arrival, &self.lbn, &self.blocks]
            .into_iter()
            .chain(self.sequence())
        {
            faults.push(column.null());
        }
        self.fault = faults.into_iter().flatten().min_by_key(|f| f.row);
        self.good = self.fault.as_ref().map_or(rows, |fault| fault.row);
        Ok(())
    }

    fn integers_mut(&mut self) -> impl Iterator<Item = &mut Integers> {
        let log = self.log.iter_mut();
        let log = log.flat_map(|l| [&mut l.sequence, &mut l.acceptance, &mut l.completion]);
        [&mut self.arrival, &mut self.lbn, &mut self.blocks]
            .into_iter()
            .chain(&mut self.device)
            .chain(&mut self.service)
            .chain(&mut self.gap)
            .chain(log)
    }

    /// How many of the rows at hand can be taken.
    pub fn good(&self) -> usize {
        self.good
    }
    /// What is wrong with the row after those.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.clone()
    }
    /// The order of arrival, where the file is a log.
    pub fn sequence(&self) -> Option<&Integers> {
        self.log.as_ref().map(|log| &log.sequence)
    }
    #[inline]
    pub fn arrival_ns(&self, row: usize) -> u64 {
        self.arrival.get(row)
    }
    #[inline]
    pub fn op(&self, row: usize) -> Op {
        self.op.ops[row]
    }
    #[inline]
    pub fn fua(&self, row: usize) -> bool {
        self.fua.as_ref().is_some_and(|fua| fua.values.values[row])
    }
    #[inline]
    pub fn device(&self, row: usize) -> u32 {
        // At most `u32::MAX`, for larger ones are faults.
        self.device
            .as_ref()
            .map_or(0, |device| device.get(row) as u32)
    }
    /// The first block: 0 for a flush, whatever the file says.
    #[inline]
    pub fn lbn(&self, row: usize) -> Lbn {
        match self.op(row) {
            Op::Flush => Lbn(0),
            _ => Lbn(self.lbn.get(row)),
        }
    }
    /// Likewise the number of blocks.
    #[inline]
    pub fn blocks(&self, row: usize) -> u32 {
        match self.op(row) {
            Op::Flush => 0,
            _ => Record::clamp_blocks(self.blocks.get(row)),
        }
    }
    /// The recorded service time: in a log that of the simulation, from acceptance to completion.
    #[inline]
    pub fn service_ns(&self, row: usize) -> Option<u64> {
        if let Some(service) = &self.service {
            return service.optional(row);
        }
        let log = self.log.as_ref()?;
        let (start, end) = (log.acceptance.optional(row)?, log.completion.optional(row)?);
        end.checked_sub(start)
    }
    /// The recorded gap.
    #[inline]
    pub fn gap_ns(&self, row: usize) -> Option<u64> {
        self.gap.as_ref()?.optional(row)
    }
}

/// The columns of a file, for people.
fn list(schema: &SchemaDescriptor) -> String {
    let columns = schema.columns();
    let mut listed: Vec<_> = columns.iter().take(LISTED).map(describe).collect();
    match columns.len().saturating_sub(LISTED) {
        0 if listed.is_empty() => return "none".to_owned(),
        0 => {}
        more => listed.push(format!("and {more} more")),
    }
    listed.join(", ")
}

/// A column's name and type.
fn describe(column: &ColumnDescPtr) -> String {
    let path = column.path().string();
    let name: String = shown(path.as_bytes()).chars().take(NAME_SHOWN).collect();
    let meaning = match (column.logical_type_ref(), column.converted_type()) {
        (Some(logical), _) => format!(" {logical:?}"),
        (None, ConvertedType::NONE) => String::new(),
        (None, converted) => format!(" {converted}"),
    };
    format!("{name} ({}{meaning})", column.physical_type())
}

fn wrong_type(column: &ColumnDescPtr, expected: &str) -> InputError {
    InputError::new(format!(
        "column {} of the Parquet file: expected {expected}",
        describe(column)
    ))
    .help(WANTED)
}

/// A column of a file, and its decoder in the current row group.
struct Leaf {
    index: usize,
    descr: ColumnDescPtr,
}

impl Leaf {
    fn new(index: usize, descr: ColumnDescPtr) -> Leaf {
        Leaf { index, descr }
    }
}

/// A batch of values of one physical type. Nulls have the type's default.
struct Values<T: DataType> {
    leaf: Leaf,
    reader: Option<ColumnReaderImpl<T>>,
    values: Vec<T::T>,
    /// For a column that may have nulls, each row's level.
    levels: Vec<i16>,
    nulls: bool,
}

impl<T: DataType> Values<T> {
    fn new(leaf: Leaf) -> Values<T> {
        Values {
            leaf,
            reader: None,
            values: Vec::new(),
            levels: Vec::new(),
            nulls: false,
        }
    }

    fn begin(&mut self, source: &Arc<RandomAccessFile>, group: &RowGroupMetaData) -> Result<()> {
        let rows = usize::try_from(group.num_rows())?;
        let pages = Pages::new(source, group.column(self.leaf.index), rows)?;
        self.reader = Some(ColumnReaderImpl::new(
            self.leaf.descr.clone(),
            Box::new(pages),
        ));
        Ok(())
    }

    fn read(&mut self, rows: usize) -> Result<()> {
        self.values.clear();
        self.levels.clear();
        let reader = self.reader.as_mut().expect("a row group was begun");
        let (read, values, _) =
            reader.read_records(rows, Some(&mut self.levels), None, &mut self.values)?;
        if read != rows {
            return Err(ParquetError::EOF(format!(
                "column {} ends {} rows early",
                self.leaf.descr.name(),
                rows - read
            )));
        }
        self.nulls = values < rows;
        if self.nulls {
            self.spread(values, rows);
        }
        Ok(())
    }

    /// Moves the values, which come without gaps, to their rows.
    fn spread(&mut self, mut values: usize, rows: usize) {
        self.values.resize(rows, T::T::default());
        for row in (0..rows).rev() {
            if self.is_null(row) {
                self.values[row] = T::T::default();
            } else {
                values -= 1;
                self.values.swap(row, values);
            }
        }
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        self.nulls && self.levels[row] != self.leaf.descr.max_def_level()
    }

    fn first_null(&self) -> Option<usize> {
        self.nulls
            .then(|| (0..self.levels.len()).find(|row| self.is_null(*row)))?
    }
}

/// A column of whole numbers, of whatever width.
pub struct Integers {
    width: Width,
    /// The largest number allowed: above it is also what is negative.
    most: u64,
    signed: bool,
}

enum Width {
    Narrow(Values<Int32Type>, Vec<i64>),
    Wide(Values<Int64Type>),
}

impl Integers {
    fn new(leaf: Leaf, most: u64) -> std::result::Result<Integers, InputError> {
        use ConvertedType as C;
        let descr = &leaf.descr;
        let signed = match (descr.logical_type_ref(), descr.converted_type()) {
            (Some(LogicalType::Integer(int)), _) => Some(int.is_signed),
            (None, C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64) => Some(false),
            (None, C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64) => Some(true),
            _ => None,
        };
        match (signed, descr.physical_type(), descr.max_rep_level()) {
            (Some(signed), kind @ (Type::INT32 | Type::INT64), 0) => Ok(Integers {
                width: match kind {
                    Type::INT32 => Width::Narrow(Values::new(leaf), Vec::new()),
                    _ => Width::Wide(Values::new(leaf)),
                },
                most: if signed {
                    most.min(i64::MAX as u64)
                } else {
                    most
                },
                signed,
            }),
            _ => Err(wrong_type(descr, "whole numbers")),
        }
    }

    fn begin(&mut self, source: &Arc<RandomAccessFile>, group: &RowGroupMetaData) -> Result<()> {
        match &mut self.width {
            Width::Narrow(values, _) => values.begin(source, group),
            Width::Wide(values) => values.begin(source, group),
        }
    }

    fn read(&mut self, rows: usize) -> Result<Option<Fault>> {
        match &mut self.width {
            Width::Narrow(narrow, wide) => {
                narrow.read(rows)?;
                wide.clear();
                if self.signed {
                    wide.extend(narrow.values.iter().map(|v| i64::from(*v)));
                } else {
                    wide.extend(narrow.values.iter().map(|v| i64::from(*v as u32)));
                }
            }
            Width::Wide(values) => values.read(rows)?,
        }
        if self.most == u64::MAX {
            return Ok(None);
        }
        let outside = |value: &i64| *value as u64 > self.most;
        Ok(self.values().iter().position(outside).map(|row| Fault {
            row,
            message: format!(
                "column {}: expected a whole number of at most {}, found {}",
                self.name(),
                self.most,
                self.values()[row]
            ),
        }))
    }

    #[inline]
    fn values(&self) -> &[i64] {
        match &self.width {
            Width::Narrow(_, wide) => wide,
            Width::Wide(values) => &values.values,
        }
    }

    fn name(&self) -> &str {
        match &self.width {
            Width::Narrow(values, _) => values.leaf.descr.name(),
            Width::Wide(values) => values.leaf.descr.name(),
        }
    }

    /// The fault of a null where none may be.
    fn null(&self) -> Option<Fault> {
        let row = match &self.width {
            Width::Narrow(values, _) => values.first_null(),
            Width::Wide(values) => values.first_null(),
        };
        Some(no_null(row?, self.name()))
    }

    /// The value of a row at hand, 0 where it is null.
    #[inline]
    pub fn get(&self, row: usize) -> u64 {
        self.values()[row] as u64
    }

    #[inline]
    fn optional(&self, row: usize) -> Option<u64> {
        let null = match &self.width {
            Width::Narrow(values, _) => values.is_null(row),
            Width::Wide(values) => values.is_null(row),
        };
        (!null).then(|| self.get(row))
    }
}

fn no_null(row: usize, name: &str) -> Fault {
    let message = format!("column {name}: expected a value, found null");
    Fault { row, message }
}

/// The column of operations.
struct Ops {
    texts: Values<ByteArrayType>,
    ops: Vec<Op>,
}

impl Ops {
    fn new(leaf: Leaf) -> std::result::Result<Ops, InputError> {
        let text = matches!(
            leaf.descr.logical_type_ref(),
            None | Some(LogicalType::String | LogicalType::Enum)
        );
        if leaf.descr.physical_type() != Type::BYTE_ARRAY || leaf.descr.max_rep_level() > 0 || !text
        {
            return Err(wrong_type(&leaf.descr, "texts"));
        }
        Ok(Ops {
            texts: Values::new(leaf),
            ops: Vec::new(),
        })
    }

    fn read(&mut self, rows: usize) -> Result<Option<Fault>> {
        self.texts.read(rows)?;
        self.ops.clear();
        for (row, text) in self.texts.values.iter().enumerate() {
            // A null has no bytes to look at.
            let known = if self.texts.is_null(row) {
                None
            } else {
                op(text)
            };
            match known {
                Some(op) => self.ops.push(op),
                None => break,
            }
        }
        let row = self.ops.len();
        let Some(wrong) = self.texts.values.get(row) else {
            return Ok(None);
        };
        if self.texts.is_null(row) {
            return Ok(Some(no_null(row, "op")));
        }
        let found = shown(wrong.data());
        let message = format!("column op: expected read, write, flush or trim, found {found:?}");
        Ok(Some(Fault { row, message }))
    }
}

#[inline]
fn op(text: &ByteArray) -> Option<Op> {
    match text.data() {
        b"read" => Some(Op::Read),
        b"write" => Some(Op::Write),
        b"flush" => Some(Op::Flush),
        b"trim" => Some(Op::Trim),
        _ => None,
    }
}

/// A column of flags; null is false.
struct Flags {
    values: Values<BoolType>,
}

impl Flags {
    fn new(leaf: Leaf) -> std::result::Result<Flags, InputError> {
        if leaf.descr.physical_type() != Type::BOOLEAN || leaf.descr.max_rep_level() > 0 {
            return Err(wrong_type(&leaf.descr, "true or false"));
        }
        Ok(Flags {
            values: Values::new(leaf),
        })
    }

    fn read(&mut self, rows: usize) -> Result<()> {
        self.values.read(rows)
    }
}
