//! Which column of a CSV trace means what: by its name, or by what the user says.

use crate::base::error::{Error, InputError};
use crate::base::units::Time;
use crate::workload::text::TimeUnit;

use super::csv::CsvOptions;
use super::unix_time::iso_time;

/// Where each quantity stands in a line, and how it is to be understood.
#[derive(Debug)]
pub struct Columns {
    /// Names of the columns, for errors.
    pub names: Vec<String>,
    /// The arrival time.
    pub time: usize,
    /// How it is written.
    pub time_form: TimeForm,
    /// The first block.
    pub address: Quantity,
    /// The length.
    pub length: Quantity,
    /// The operation.
    pub op: usize,
    /// The device, where there are several.
    pub device: Option<usize>,
    /// Force unit access.
    pub fua: Option<usize>,
    /// One more than the last column that is needed.
    pub width: usize,
}

/// How times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeForm {
    /// As numbers of a unit.
    Number(TimeUnit),
    /// As dates with a time of day, by ISO 8601.
    Iso,
}

impl TimeForm {
    /// The form called `name`.
    fn named(name: &str) -> Option<TimeForm> {
        match name {
            ISO => Some(TimeForm::Iso),
            unit => TimeUnit::named(unit).map(TimeForm::Number),
        }
    }

    /// A time that is written so; `None` for anything that is none.
    #[inline]
    pub fn time(self, text: &[u8]) -> Option<Time> {
        match self {
            TimeForm::Number(unit) => unit.time(text),
            TimeForm::Iso => iso_time(text),
        }
    }
}

/// The name of times by ISO 8601.
const ISO: &str = "iso";

/// A column and the bytes in one of its units.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// The column.
    pub column: usize,
    /// Bytes in one unit.
    pub unit: u64,
}

const TIMES: &[&str] = &["time", "timestamp", "arrival", "arrival_time"];
const UNITS: &[&str] = &["s", "sec", "seconds", "ms", "us", "100ns", "ns", ISO];
const LBNS: &[&str] = &["lbn", "lba", "sector", "start_sector", "block"];
const OFFSETS: &[&str] = &["offset_bytes", "byte_offset", "offset_b"];
const BLOCKS: &[&str] = &["blocks", "sectors", "block_count", "sector_count"];
const BYTES: &[&str] = &["bytes", "size_bytes", "length_bytes", "size_b"];
const OPS: &[&str] = &[
    "op",
    "operation",
    "type",
    "rw",
    "opcode",
    "io_type",
    "request_type",
];
const DEVICES: &[&str] = &[
    "device",
    "dev",
    "disk",
    "device_id",
    "disk_number",
    "volume",
];

/// A quantity to find: its option, the names it goes by, what it is.
struct Wanted<'a> {
    key: &'static str,
    chosen: &'a Option<String>,
    names: &'static [&'static str],
}

impl Columns {
    /// Finds the columns among the names of the header line. Where nothing says in which form times are, `first` tells how the first one is written,
    /// by its column.
    ///
    /// # Errors
    /// A quantity that is needed has no column or several, or no unit; the message names the option that says which.
    pub fn find(
        names: Vec<String>,
        options: &CsvOptions,
        first: impl FnOnce(usize) -> Vec<u8>,
    ) -> Result<Columns, Error> {
        let plain: Vec<String> = names.iter().map(|n| normal(n)).collect();
        let finder = Finder {
            names: &names,
            plain: &plain,
        };
        let (time, named_unit) = finder.time(options)?;
        let time_form = match (&options.time_unit, named_unit) {
            (Some(unit), _) => TimeForm::named(unit).ok_or_else(|| {
                InputError::new(format!("workload.csv.time_unit is {unit:?}"))
                    .help(format!("accepted: {}", UNITS.join(", ")))
            })?,
            (None, Some(unit)) => TimeForm::Number(unit),
            (None, None) if iso_time(&first(time)).is_some() => TimeForm::Iso,
            (None, None) => {
                return Err(InputError::new(format!(
                    "column {:?} does not say in which unit its times are",
                    names[time]
                ))
                .help("say it with workload.csv.time_unit = \"us\" (or s, ms, 100ns, ns, iso); on the command line --columns time_unit=us")
                .into());
            }
        };
        let block = match options.block_bytes {
            Some(0) => return Err(Error::input("workload.csv.block_bytes is 0")),
            Some(bytes) => u64::from(bytes),
            None => crate::base::units::BLOCK_BYTES,
        };
        let in_blocks = |key, chosen, names| Wanted { key, chosen, names };
        let address = finder.either(
            (in_blocks("lbn", &options.lbn, LBNS), block),
            (in_blocks("offset_bytes", &options.offset_bytes, OFFSETS), 1),
        )?;
        let length = finder.either(
            (in_blocks("blocks", &options.blocks, BLOCKS), block),
            (in_blocks("bytes", &options.bytes, BYTES), 1),
        )?;
        let op = Wanted {
            key: "op",
            chosen: &options.op,
            names: OPS,
        };
        let op = finder.one(&op)?.ok_or_else(|| finder.missing("op"))?;
        let device = Wanted {
            key: "device",
            chosen: &options.device,
            names: DEVICES,
        };
        let device = finder.one(&device)?;
        let fua = Wanted {
            key: "fua",
            chosen: &options.fua,
            names: &["fua"],
        };
        let fua = finder.one(&fua)?;
        let needed = [
            Some(time),
            Some(address.column),
            Some(length.column),
            Some(op),
            device,
            fua,
        ];
        let width = needed.into_iter().flatten().max().unwrap_or(0) + 1;
        Ok(Columns {
            names,
            time,
            time_form,
            address,
            length,
            op,
            device,
            fua,
            width,
        })
    }
}

struct Finder<'a> {
    names: &'a [String],
    plain: &'a [String],
}

impl Finder<'_> {
    /// The column for a quantity: the one the user names, or the only one that goes by one of its names.
    fn one(&self, wanted: &Wanted<'_>) -> Result<Option<usize>, Error> {
        match wanted.chosen {
            Some(name) => self.chosen(wanted.key, name).map(Some),
            None => self.only(wanted.key, |plain| wanted.names.contains(&plain)),
        }
    }

    fn chosen(&self, key: &str, name: &str) -> Result<usize, Error> {
        let found = self.names.iter().position(|n| n == name);
        found.ok_or_else(|| {
            InputError::new(format!(
                "workload.csv.{key} names column {name:?}, and there is none"
            ))
            .help(self.list())
            .into()
        })
    }

    fn only(&self, key: &str, matches: impl Fn(&str) -> bool) -> Result<Option<usize>, Error> {
        let mut found = (0..self.plain.len()).filter(|i| matches(&self.plain[*i]));
        let first = found.next();
        match (first, found.next()) {
            (Some(a), Some(b)) => Err(InputError::new(format!(
                "columns {:?} and {:?} could both be the {key}",
                self.names[a], self.names[b]
            ))
            .help(format!("choose with workload.csv.{key} = \"COLUMN\"; on the command line --columns {key}=COLUMN"))
            .into()),
            _ => Ok(first),
        }
    }

    /// The time's column and the unit in its name.
    fn time(&self, options: &CsvOptions) -> Result<(usize, Option<TimeUnit>), Error> {
        let column = match &options.time {
            Some(name) => Some(self.chosen("time", name)?),
            None => self.only("time", |plain| {
                TIMES.contains(&plain)
                    || split_unit(plain).is_some_and(|(base, _)| TIMES.contains(&base))
            })?,
        };
        let column = column.ok_or_else(|| self.missing("time"))?;
        Ok((
            column,
            split_unit(&self.plain[column]).map(|(_, unit)| unit),
        ))
    }

    /// One of two ways to give a quantity, in blocks or bytes; in blocks where the trace has both.
    fn either(
        &self,
        (blocks, block): (Wanted<'_>, u64),
        (bytes, byte): (Wanted<'_>, u64),
    ) -> Result<Quantity, Error> {
        if blocks.chosen.is_some() && bytes.chosen.is_some() {
            let message = format!(
                "workload.csv.{} and workload.csv.{} exclude each other",
                blocks.key, bytes.key
            );
            return Err(Error::input(message));
        }
        let order = if bytes.chosen.is_some() {
            [(&bytes, byte), (&blocks, block)]
        } else {
            [(&blocks, block), (&bytes, byte)]
        };
        for (wanted, unit) in order {
            if let Some(column) = self.one(wanted)? {
                return Ok(Quantity { column, unit });
            }
        }
        let either = format!("{} (or workload.csv.{})", blocks.key, bytes.key);
        Err(self.missing_as(blocks.key, &either))
    }

    fn missing(&self, key: &str) -> Error {
        self.missing_as(key, key)
    }

    fn missing_as(&self, key: &str, option: &str) -> Error {
        let (option, rest) = option.split_once(' ').unwrap_or((option, ""));
        InputError::new(format!("no column is known to be the {key}"))
            .help(format!(
                "say which with workload.csv.{option} = \"COLUMN\" {rest}; on the command line --columns {option}=COLUMN; {}",
                self.list()
            ))
            .into()
    }

    fn list(&self) -> String {
        format!("the columns are: {}", self.names.join(", "))
    }
}

/// `"Time (ms)"` as `time_ms`.
fn normal(name: &str) -> String {
    let words: Vec<_> = name
        .split(|c: char| !(c.is_alphanumeric()))
        .filter(|w| !w.is_empty())
        .collect();
    words.join("_").to_lowercase()
}

/// `time_ms` as `time` and its unit.
fn split_unit(plain: &str) -> Option<(&str, TimeUnit)> {
    let (base, unit) = plain.rsplit_once('_')?;
    Some((base, TimeUnit::named(unit)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(header: &str, options: &CsvOptions) -> Result<Columns, Error> {
        let names = header.split(',').map(str::to_owned).collect();
        Columns::find(names, options, |_| b"7".to_vec())
    }

    #[test]
    fn names_and_units_are_understood() {
        let found = find(
            "Op,Time (ms),LBA,size_bytes,Disk,FUA,extra",
            &CsvOptions::default(),
        )
        .unwrap();
        assert_eq!(
            (found.op, found.time, found.time_form),
            (0, 1, TimeForm::Number(TimeUnit::MS))
        );
        assert_eq!((found.address.column, found.address.unit), (2, 512));
        assert_eq!((found.length.column, found.length.unit), (3, 1));
        assert_eq!(
            (found.device, found.fua, found.width),
            (Some(4), Some(5), 6)
        );
    }

    #[test]
    fn what_is_missing_is_asked_for_by_its_option() {
        for (header, option) in [
            ("when,lbn,blocks,op", "workload.csv.time = "),
            ("time,lbn,blocks,op", "workload.csv.time_unit"),
            (
                "time_s,where,blocks,op",
                "workload.csv.lbn = \"COLUMN\" (or workload.csv.offset_bytes)",
            ),
            ("time_s,lbn,size,op", "workload.csv.blocks"),
            ("time_s,lbn,blocks,what", "workload.csv.op"),
            ("time_s,timestamp_s,lbn,blocks,op", "workload.csv.time = "),
        ] {
            let error = find(header, &CsvOptions::default())
                .unwrap_err()
                .to_string();
            assert!(error.contains(option), "{header}: {error}");
        }
    }

    #[test]
    fn the_users_word_wins() {
        let options = CsvOptions {
            time: Some("when".to_owned()),
            time_unit: Some("us".to_owned()),
            bytes: Some("size".to_owned()),
            block_bytes: Some(4096),
            ..CsvOptions::default()
        };
        let found = find("time_s,when,lbn,blocks,size,op", &options).unwrap();
        assert_eq!(
            (found.time, found.time_form),
            (1, TimeForm::Number(TimeUnit::US))
        );
        assert_eq!((found.address.unit, found.length.column), (4096, 4));
        let error = find("time_s,lbn,blocks,op", &options)
            .unwrap_err()
            .to_string();
        assert!(error.contains("time_s, lbn, blocks, op"), "{error}");
        for options in [
            CsvOptions {
                time_unit: Some("h".to_owned()),
                ..CsvOptions::default()
            },
            CsvOptions {
                block_bytes: Some(0),
                ..CsvOptions::default()
            },
            CsvOptions {
                lbn: Some("lbn".to_owned()),
                offset_bytes: Some("op".to_owned()),
                ..CsvOptions::default()
            },
        ] {
            assert!(find("time_s,lbn,blocks,op", &options).is_err());
        }
    }
}
