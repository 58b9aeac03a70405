//! Tables in text with named columns: comma, semicolon, tab or bar between them.

use std::io::{self, Write};
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, InputError, Place};
use crate::base::units::Lbn;
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::{Lines, shown, whole};
use crate::workload::writing::{Holds, TraceWriter, Writing};

use super::csv_columns::Columns;
use super::{Format, FormatOptions, TraceReader, lines_of, msr, outward, per_line, widened_note};

const NAME: &str = "csv";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["csv", "tsv"],
    summary: "a table whose first line names its columns, or else workload.csv.columns does: time, LBN or byte offset, blocks or bytes, operation",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            // What is read is counted in bytes, of which there are at most 2^64.
            lbn: 1 << 54,
            recorded: false,
            ..Holds::ALL
        },
        extension: Some("csv"),
        create: write,
    }),
};

/// What a CSV file's columns mean, where their names do not say it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CsvOptions {
    /// Names of the columns of a file without a header line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// The character between columns; found by the first line when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// The column of the arrival time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Its unit: s, ms, us, 100ns or ns; or iso, for dates with a time of day such as `2023-11-14T22:13:20.5Z`, which the first line shows, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<String>,
    /// The column of the first block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lbn: Option<String>,
    /// The column of the first byte, in place of `lbn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_bytes: Option<String>,
    /// The column of the number of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<String>,
    /// The column of the number of bytes, in place of `blocks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// Bytes in one unit of `lbn` and `blocks`; 512 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u32>,
    /// The column of the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// A text in it that means read, besides `r` and `read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// A text in it that means write, besides `w` and `write`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<String>,
    /// The column of the device: its number, or its name, such as sda; names are numbered from 0 in the order in which they first appear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The column that says 1 or true for force unit access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua: Option<String>,
}

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// A first line of names, at least four of them, and a second with as many columns.
fn detect(first: &[u8]) -> bool {
    let mut lines = lines_of(first);
    let header = lines.next().unwrap_or_default();
    // Names that another format has for its own, and that say no units.
    if msr::is_header(header) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(header) else {
        return false;
    };
    let Some(delimiter) = delimiter(header) else {
        return false;
    };
    let names = split(header, delimiter);
    let name = |n: &Range<usize>| {
        let name = text.get(n.clone()).unwrap_or("").trim();
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !name.contains(|c: char| c.is_control() || matches!(c, '{' | '}' | '<' | '>'))
    };
    if names.len() < 4 || !names.iter().all(name) {
        return false;
    }
    lines
        .next()
        .is_none_or(|second| split(second, delimiter).len() == names.len())
}

/// The delimiter that makes the most columns of a header line.
fn delimiter(header: &[u8]) -> Option<u8> {
    let count = |d: &u8| memchr::memchr_iter(*d, header).count();
    let most = DELIMITERS.into_iter().rev().max_by_key(count)?;
    (count(&most) > 0).then_some(most)
}

/// The columns of a line; quotes around one are not part of it.
fn split(line: &[u8], delimiter: u8) -> Vec<Range<usize>> {
    let mut columns = Vec::new();
    let mut at = 0;
    while let Some(column) = column(line, delimiter, &mut at) {
        columns.push(column);
    }
    columns
}

/// The column that starts at `at`, which moves past the delimiter; `None` past the last one.
#[inline]
fn column(line: &[u8], delimiter: u8, at: &mut usize) -> Option<Range<usize>> {
    let start = *at;
    let rest = line.get(start..)?;
    if rest.first() == Some(&b'"')
        && let Some(quote) = memchr::memchr(b'"', &rest[1..])
        && rest.get(quote + 2).is_none_or(|b| *b == delimiter)
    {
        *at = start + quote + 3;
        return Some(start + 1..start + 1 + quote);
    }
    // Columns are a few bytes long, for which a plain loop is the fastest search.
    let length = rest
        .iter()
        .position(|b| *b == delimiter)
        .unwrap_or(rest.len());
    *at = start + length + 1;
    Some(start..start + length)
}

fn open(input: Input, options: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    let options = &options.csv;
    let mut lines = Lines::new(input);
    let file = lines.file();
    let chosen = match options.delimiter {
        Some(c) => Some(u8::try_from(c).ok().filter(u8::is_ascii).ok_or_else(|| {
            Error::input(format!(
                "workload.csv.delimiter is {c:?}: expected one ASCII character"
            ))
        })?),
        None => None,
    };
    let mut has_line = lines.advance()?;
    let (names, delimiter) = match &options.columns {
        Some(names) => {
            let found = chosen.or_else(|| delimiter(lines.current()));
            (names.clone(), found.unwrap_or(b','))
        }
        None if !has_line => {
            return Err(
                InputError::new("the trace is empty: not even a header line")
                    .at(file)
                    .into(),
            );
        }
        None => {
            let header = lines.current();
            let delimiter = chosen.or_else(|| delimiter(header)).unwrap_or(b',');
            let name =
                |column: Range<usize>| String::from_utf8_lossy(&header[column]).trim().to_owned();
            let names = split(header, delimiter).into_iter().map(name);
            (names.collect::<Vec<_>>(), delimiter)
        }
    };
    let header = lines.place(None);
    if options.columns.is_none() {
        has_line = lines.advance()?;
    }
    let first = |column: usize| {
        let line = if has_line { lines.current() } else { &[] };
        let field = split(line, delimiter).into_iter().nth(column);
        field.map_or_else(Vec::new, |field| line[field].trim_ascii().to_vec())
    };
    let columns = Columns::find(names, options, first).map_err(|error| match error {
        Error::Input(mut error) => {
            error.place.get_or_insert(header);
            Error::Input(error)
        }
        other => other,
    })?;
    let bytes = |text: &Option<String>| text.as_ref().map(|t| t.as_bytes().to_vec());
    Ok(Box::new(Reader {
        fields: vec![0..0; columns.width],
        read: bytes(&options.read),
        write: bytes(&options.write),
        lines,
        columns,
        delimiter,
        pending: has_line,
        devices: Devices::default(),
        widened: 0,
    }))
}

struct Reader {
    lines: Lines,
    columns: Columns,
    delimiter: u8,
    /// The current line has not been returned yet.
    pending: bool,
    /// The columns of the current line, as far as they are needed.
    fields: Vec<Range<usize>>,
    read: Option<Vec<u8>>,
    write: Option<Vec<u8>>,
    devices: Devices,
    widened: u64,
}

/// How the devices of a table are told apart.
#[derive(Default)]
enum Devices {
    /// None was read.
    #[default]
    None,
    /// By their numbers.
    Numbers,
    /// By their names, of which the numbers are the places here.
    Names(Vec<Vec<u8>>),
}

impl Devices {
    /// The number of the device that a text names; `None` where it names none.
    #[inline]
    fn number(&mut self, text: &[u8]) -> Option<u32> {
        if let Devices::Names(names) = self {
            return named(names, text);
        }
        match whole(text).map(u32::try_from) {
            Some(Ok(number)) => {
                *self = Devices::Numbers;
                Some(number)
            }
            None if matches!(self, Devices::None) && is_name(text) => {
                *self = Devices::Names(vec![text.to_vec()]);
                Some(0)
            }
            _ => None,
        }
    }

    /// Which number stands for which name.
    fn note(&self) -> Option<String> {
        let Devices::Names(names) = self else {
            return None;
        };
        let names = names.iter().enumerate();
        let told: Vec<_> = names
            .map(|(number, name)| format!("{} is {number}", String::from_utf8_lossy(name)))
            .collect();
        Some(format!(
            "devices have numbers in place of their names: {}",
            told.join(", ")
        ))
    }
}

/// The place of a name, which a new one gets behind the others.
fn named(names: &mut Vec<Vec<u8>>, text: &[u8]) -> Option<u32> {
    let known = names.iter().position(|name| name == text);
    if known.is_none() && is_name(text) && names.len() < MOST_NAMES {
        names.push(text.to_vec());
        return Some((names.len() - 1) as u32);
    }
    known.map(|place| place as u32)
}

/// The most devices that are told apart by names: a column with more names is no device.
const MOST_NAMES: usize = 1024;

/// Names of devices as systems give them: `sda`, `nvme0n1`, `8:0`, `/dev/sda`, `C:`.
fn is_name(text: &[u8]) -> bool {
    !text.is_empty()
        && text.len() <= 255
        && text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-./:\\".contains(byte))
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        if !std::mem::take(&mut self.pending) && !self.lines.advance()? {
            return Ok(None);
        }
        self.split()?;
        let device = self.device()?;
        self.record(device).map(Some)
    }
    fn place(&self) -> Place {
        self.lines.place(None)
    }
    fn format(&self) -> &'static str {
        NAME
    }
    fn notes(&self) -> Vec<String> {
        let widened = widened_note(self.widened).into_iter();
        widened.chain(self.devices.note()).collect()
    }
}

impl Reader {
    fn split(&mut self) -> Result<(), Error> {
        let line = self.lines.current();
        let mut at = 0;
        for (i, field) in self.fields.iter_mut().enumerate() {
            *field = column(line, self.delimiter, &mut at).ok_or_else(|| {
                let name = &self.columns.names[i];
                self.lines.wrong(
                    line.len(),
                    format!("expected column {name:?}, found the end of the line"),
                )
            })?;
        }
        Ok(())
    }

    #[inline]
    fn text(&self, column: usize) -> &[u8] {
        self.lines.current()[self.fields[column].clone()].trim_ascii()
    }

    #[inline]
    fn number(&self, column: usize) -> Result<u64, Error> {
        whole(self.text(column)).ok_or_else(|| self.wrong(column, "a whole number"))
    }

    /// The number of the current line's device.
    #[inline]
    fn device(&mut self) -> Result<u32, Error> {
        let Some(column) = self.columns.device else {
            return Ok(0);
        };
        let line = self.lines.current();
        let text = line[self.fields[column].clone()].trim_ascii();
        let found = self.devices.number(text);
        found.ok_or_else(|| {
            let expected = match self.devices {
                Devices::Numbers => "a device number below 2^32, as before",
                _ => "a device number below 2^32, or a name",
            };
            self.wrong(column, expected)
        })
    }

    fn record(&mut self, device: u32) -> Result<Record, Error> {
        let c = &self.columns;
        let op = self.op(self.text(c.op))?;
        let arrival = c
            .time_form
            .time(self.text(c.time))
            .ok_or_else(|| self.wrong(c.time, "a time"))?;
        let fua = match c.fua {
            Some(column) => self.flag(column)?,
            None => false,
        };
        let (lbn, blocks, widened) = if op == Op::Flush {
            (0, 0, false)
        } else {
            self.extent()?
        };
        self.widened += u64::from(widened);
        Ok(Record {
            arrival,
            device,
            op,
            fua,
            lbn: Lbn(lbn),
            blocks: Record::clamp_blocks(blocks),
            recorded: None,
        })
    }

    /// First block, number of blocks, and whether they had to be widened to whole ones.
    #[inline]
    fn extent(&self) -> Result<(u64, u64, bool), Error> {
        let (address, length) = (self.columns.address, self.columns.length);
        let bytes = |quantity: super::csv_columns::Quantity| {
            self.number(quantity.column)?
                .checked_mul(quantity.unit)
                .ok_or_else(|| self.wrong(quantity.column, "less than 16 EiB"))
        };
        outward(bytes(address)?, bytes(length)?)
            .ok_or_else(|| self.wrong(length.column, "a request that ends before 16 EiB"))
    }

    #[inline]
    fn op(&self, text: &[u8]) -> Result<Op, Error> {
        if self.read.as_deref() == Some(text) {
            return Ok(Op::Read);
        }
        if self.write.as_deref() == Some(text) {
            return Ok(Op::Write);
        }
        for (name, op) in [
            (&b"r"[..], Op::Read),
            (b"w", Op::Write),
            (b"read", Op::Read),
            (b"write", Op::Write),
            (b"f", Op::Flush),
            (b"flush", Op::Flush),
            (b"d", Op::Trim),
            (b"trim", Op::Trim),
            (b"discard", Op::Trim),
        ] {
            if text.eq_ignore_ascii_case(name) {
                return Ok(op);
            }
        }
        let error = self.wrong(
            self.columns.op,
            "an operation: r, w, read, write, flush or trim",
        );
        let Error::Input(error) = error else {
            return Err(error);
        };
        Err(error
            .help("say what other texts mean with workload.csv.read = \"0\" and workload.csv.write = \"1\"; on the command line --columns read=0 --columns write=1")
            .into())
    }

    fn flag(&self, column: usize) -> Result<bool, Error> {
        let text = self.text(column);
        match text {
            b"1" => Ok(true),
            b"0" | b"" => Ok(false),
            _ if text.eq_ignore_ascii_case(b"true") => Ok(true),
            _ if text.eq_ignore_ascii_case(b"false") => Ok(false),
            _ => Err(self.wrong(column, "0, 1, true or false")),
        }
    }

    #[cold]
    fn wrong(&self, column: usize, expected: &str) -> Error {
        let found = shown(self.text(column));
        let name = &self.columns.names[column];
        let message = format!("column {name:?}: expected {expected}, found {found:?}");
        self.lines.wrong(self.fields[column].start, message).into()
    }
}

fn write(mut output: Output) -> io::Result<Box<dyn TraceWriter>> {
    writeln!(output, "time_ns,device,op,fua,lbn,blocks")?;
    Ok(per_line::writer(output, write_line))
}

fn write_line(output: &mut Output, record: &Record) -> io::Result<()> {
    let op = match record.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Flush => "flush",
        Op::Trim => "trim",
        Op::NvCache(command) => command.is_in_no_workload(),
    };
    let (ns, device, fua) = (record.arrival.ns(), record.device, u8::from(record.fua));
    let (lbn, blocks) = (record.lbn.0, record.blocks);
    writeln!(output, "{ns},{device},{op},{fua},{lbn},{blocks}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::base::units::Time;

    fn with(csv: CsvOptions) -> FormatOptions {
        FormatOptions {
            csv,
            ..FormatOptions::default()
        }
    }

    #[test]
    fn a_table_is_read_by_its_header() {
        let text = "op,device,time_us,offset_bytes,bytes,fua\nR,2,10.5,1024,512,0\n\"write\",0,11,0,1024,1\nflush,0,12,,,\nTRIM,0,13,512,512,false\n";
        let read = records(text, &FormatOptions::default()).unwrap();
        assert_eq!(
            read[0],
            Record {
                arrival: Time::from_ns(10_500),
                device: 2,
                op: Op::Read,
                fua: false,
                lbn: Lbn(2),
                blocks: 1,
                recorded: None
            }
        );
        assert_eq!(
            (read[1].op, read[1].fua, read[1].blocks),
            (Op::Write, true, 2)
        );
        assert_eq!((read[2].op, read[2].blocks), (Op::Flush, 0));
        assert_eq!(read[3].op, Op::Trim);
    }

    #[test]
    fn any_usual_delimiter_will_do() {
        for d in [",", ";", "\t", "|"] {
            let text = "\u{feff}time_s,lbn,blocks,op\r\n1,2,3,r\r\n".replace(',', d);
            let read = records(text, &forced(NAME)).unwrap();
            assert_eq!((read[0].lbn.0, read[0].blocks), (2, 3), "{d:?}");
        }
    }

    #[test]
    fn a_table_without_a_header_takes_its_names_from_the_options() {
        let names = [
            "time_100ns",
            "host",
            "disk",
            "op",
            "offset_bytes",
            "bytes",
            "response",
        ];
        let columns = Some(names.map(str::to_owned).to_vec());
        let options = with(CsvOptions {
            columns,
            ..CsvOptions::default()
        });
        let text = "128166372003061629,hm,1,Read,383496192,32768,58000\n128166372016382155,hm,1,Write,2822144,4096,0\n";
        let read = records(text, &options).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(
            (read[0].lbn.0, read[0].blocks, read[0].device),
            (749_016, 64, 1)
        );
    }

    #[test]
    fn numbers_for_operations_need_a_hint() {
        let text = "time_s,lbn,blocks,op\n1,2,3,0\n1,2,3,1\n";
        let error = located(records(text, &FormatOptions::default()).unwrap_err());
        assert!(error.help.unwrap().contains("workload.csv.read"));
        let csv = CsvOptions {
            read: Some("1".to_owned()),
            write: Some("0".to_owned()),
            ..CsvOptions::default()
        };
        let read = records(text, &with(csv)).unwrap();
        assert_eq!([read[0].op, read[1].op], [Op::Write, Op::Read]);
    }

    #[test]
    fn wrong_columns_are_located() {
        for (line, column, expected) in [
            ("x,0,1,2,r", 1, "time_s"),
            ("1,{d},1,2,r", 3, "device"),
            ("1,4294967296,1,2,r", 3, "2^32"),
            ("1,0,1.5,2,r", 5, "lbn"),
            ("1,0,18446744073709551615,2,r", 5, "16 EiB"),
            ("1,0,36028797018963967,2,r", 23, "16 EiB"),
            ("1,0,1,,r", 7, "blocks"),
            ("1,0,1,2,q", 9, "operation"),
            ("1,0,1,2", 8, "expected column \"op\""),
        ] {
            let text = format!("time_s,device,lbn,blocks,op\n{line}\n");
            let error = located(records(text, &forced(NAME)).unwrap_err());
            assert!(error.message.contains(expected), "{line}: {error}");
            assert!(
                matches!(&error.place, Some(Place::Line { line: 2, column: Some(c), .. }) if *c == column),
                "{error}"
            );
        }
    }

    #[test]
    fn a_missing_hint_is_located_at_the_header() {
        let error = located(records("a,b,c,d\n1,2,3,4\n", &FormatOptions::default()).unwrap_err());
        assert!(
            matches!(error.place, Some(Place::Line { line: 1, .. })),
            "{error}"
        );
        let error = located(records("\n", &forced(NAME)).unwrap_err());
        assert!(error.message.contains("empty"));
    }

    #[test]
    fn odd_bytes_widen_and_are_told() {
        let text = "time_s,offset_bytes,bytes,op\n1,100,512,r\n";
        let mut reader = reader(text, &FormatOptions::default()).unwrap();
        assert_eq!(reader.next().unwrap().unwrap().blocks, 2);
        assert_eq!(reader.notes().len(), 1);
    }

    #[test]
    fn devices_by_name_have_numbers() {
        let text =
            "time_s,dev,lbn,blocks,op\n1,sda,1,2,r\n2,/dev/sdb,1,2,r\n3,sda,1,2,r\n4,7,1,2,r\n";
        let mut reader = reader(text, &forced(NAME)).unwrap();
        let mut devices = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            devices.push(record.device);
        }
        assert_eq!(devices, [0, 1, 0, 2]);
        let notes = reader.notes();
        assert!(
            notes[0].ends_with("sda is 0, /dev/sdb is 1, 7 is 2"),
            "{notes:?}"
        );
    }

    #[test]
    fn a_name_among_numbers_is_none() {
        let text = "time_s,dev,lbn,blocks,op\n1,3,1,2,r\n2,sdb,1,2,r\n";
        let error = located(records(text, &forced(NAME)).unwrap_err());
        assert!(
            error.message.contains("as before, found \"sdb\""),
            "{error}"
        );
    }

    #[test]
    fn a_column_of_more_names_than_a_system_has_devices_is_refused() {
        let lines = |count: usize| {
            let lines = (0..count).map(|n| format!("{n},d{n},1,2,r\n"));
            format!("time_s,dev,lbn,blocks,op\n{}", lines.collect::<String>())
        };
        assert_eq!(
            records(lines(MOST_NAMES).as_str(), &forced(NAME))
                .unwrap()
                .len(),
            MOST_NAMES
        );
        assert!(records(lines(MOST_NAMES + 1).as_str(), &forced(NAME)).is_err());
    }

    #[test]
    fn times_by_iso_8601_show_themselves_or_are_named() {
        let rows = "2023-11-14T22:13:20Z,1,2,r\n2023-11-14T22:13:20.25Z,1,2,r\n";
        let shown = records(format!("time,lbn,blocks,op\n{rows}"), &forced(NAME)).unwrap();
        assert_eq!(shown[1].arrival - shown[0].arrival, Time::from_ms(250));
        let csv = CsvOptions {
            columns: Some(["when", "lbn", "blocks", "op"].map(str::to_owned).to_vec()),
            time: Some("when".to_owned()),
            ..CsvOptions::default()
        };
        assert_eq!(records(rows, &with(csv.clone())).unwrap(), shown);
        let named = CsvOptions {
            time_unit: Some("iso".to_owned()),
            ..csv
        };
        assert_eq!(records(rows, &with(named.clone())).unwrap(), shown);
        assert!(records("17,1,2,r\n", &with(named)).is_err());
        let error = located(records("time,lbn,blocks,op\n17,1,2,r\n", &forced(NAME)).unwrap_err());
        assert!(
            error.message.contains("does not say in which unit"),
            "{error}"
        );
        assert!(
            matches!(error.place, Some(Place::Line { line: 1, .. })),
            "{error}"
        );
    }
}
