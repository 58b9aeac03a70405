//! VSCSI traces, the binary form in which CloudPhysics published the block traces of virtual disks: records of 32 bytes
//! (version 1) or 40 (version 2), little-endian, without a header.
//!
//! Source: `trace_v1_record_t` and `trace_v2_record_t` of libCacheSim's `vscsi.h` (<https://github.com/1a1a11a/libCacheSim>);
//! Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015, for the traces. Commands: SBC-4 and SPC-5 of INCITS
//! T10.

use std::io::{self, Write};

use crate::base::error::{Error, InputError, Place};
use crate::base::units::{BLOCK_BYTES, Lbn, Time};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::writing::{Holds, TraceWriter, Writing};

use super::{Format, FormatOptions, TraceReader, widened_note};

const NAME: &str = "vscsi";
/// Its times are whole microseconds.
const UNIT: Time = Time::from_us(1);

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["vscsi"],
    summary: "VSCSI binary, as CloudPhysics published it, version 1 or 2",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            time: UNIT,
            devices: None,
            // Lengths are 32 bits of bytes.
            blocks: (u32::MAX as u64 / BLOCK_BYTES) as u32,
            fua: false,
            recorded: false,
            ..Holds::ALL
        },
        extension: Some("vscsi"),
        create: |output| Ok(Box::new(Writer { output, serial: 0 })),
    }),
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    One,
    Two,
}

/// The longest record.
const LONGEST: usize = 40;

impl Version {
    /// Bytes of a record.
    const fn size(self) -> usize {
        match self {
            Version::One => 32,
            Version::Two => 40,
        }
    }
    /// The upper byte of a record's version field.
    const fn number(self) -> u8 {
        match self {
            Version::One => 1,
            Version::Two => 2,
        }
    }
    /// The fields of a whole record, or the version it says it has.
    ///
    /// Version 1: serial number (32 bits), length in bytes (32), scatter-gather elements (32), command (16), version (16), LBN
    /// (64), time in µs (64). Version 2: command (16), version (16), serial number, length and elements (32 each), LBN (64),
    /// time in µs (64), response time (64). The version is in the upper byte of its 16 bits.
    #[inline]
    fn fields(self, record: &[u8]) -> Result<Fields, u8> {
        let (command, version, length) = match self {
            Version::One => (12, 15, 4),
            Version::Two => (0, 3, 8),
        };
        if record[version] != self.number() {
            return Err(record[version]);
        }
        let u32_at = |at: usize| {
            u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        };
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        Ok(Fields {
            command: u16::from_le_bytes([record[command], record[command + 1]]),
            bytes: u32_at(length),
            lbn: u64_at(16),
            micros: u64_at(24),
        })
    }

    /// Whether these first bytes of a file are all records of this version, with commands that SCSI can have.
    fn is_of(self, first: &[u8]) -> bool {
        let plausible = |record| self.fields(record).is_ok_and(|f| f.command <= 0xff);
        let mut records = first.chunks_exact(self.size()).peekable();
        records.peek().is_some() && records.all(plausible)
    }

    /// The version of a file that begins so. Version 1 is asked for first: where it has its version, version 2 has the upper
    /// byte of a number of scatter-gather elements, which is never that large.
    fn of(first: &[u8]) -> Option<Version> {
        [Version::One, Version::Two]
            .into_iter()
            .find(|version| version.is_of(first))
    }
}

/// What of a record is used.
struct Fields {
    command: u16,
    bytes: u32,
    lbn: u64,
    micros: u64,
}

const READ_10: u8 = 0x28;
const READ_16: u8 = 0x88;
const WRITE_10: u8 = 0x2a;
const WRITE_16: u8 = 0x8a;
const SYNCHRONIZE_CACHE_10: u8 = 0x35;
const UNMAP: u8 = 0x42;

/// What a SCSI command asks for, if it is one of those that are requests.
#[inline]
fn op(command: u16) -> Option<Op> {
    Some(match u8::try_from(command).ok()? {
        // READ(6), (10), (12), (16)
        0x08 | READ_10 | 0xa8 | READ_16 => Op::Read,
        // WRITE(6), (10), (12), (16)
        0x0a | WRITE_10 | 0xaa | WRITE_16 => Op::Write,
        // WRITE AND VERIFY(10), (12), (16)
        0x2e | 0xae | 0x8e => Op::Write,
        // SYNCHRONIZE CACHE(10), (16)
        SYNCHRONIZE_CACHE_10 | 0x91 => Op::Flush,
        UNMAP => Op::Trim,
        _ => return None,
    })
}

/// The records that decide on the version.
const PROBED: usize = 64;

fn detect(first: &[u8]) -> bool {
    Version::of(&first[..first.len().min(PROBED * LONGEST)]).is_some()
}

fn open(mut input: Input, _: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    let file = Place::File(input.path().to_owned());
    let first = match input.peek(PROBED * LONGEST) {
        Ok(first) => first,
        Err(e) => return Err(input.fault(e, file)),
    };
    // A damaged record among the first ones is to be told at its place.
    let version = Version::of(first).or_else(|| {
        let whole = |version: &Version| first.len() >= version.size();
        let begins = |version: &Version| version.fields(first).is_ok();
        [Version::One, Version::Two]
            .into_iter()
            .find(|version| whole(version) && begins(version))
    });
    let Some(version) = version else {
        return Err(InputError::new(
            "the first record is none of a VSCSI trace, neither of version 1 (32 bytes) nor of version 2 (40 bytes)",
        )
        .at(file)
        .into());
    };
    Ok(Box::new(Reader {
        offset: input.offset(),
        input,
        version,
        record: 0,
        next: 0,
        discarded: 0,
        widened: 0,
    }))
}

struct Reader {
    input: Input,
    version: Version,
    /// The current record's number and offset.
    record: u64,
    offset: u64,
    /// The next record's number.
    next: u64,
    discarded: u64,
    widened: u64,
}

impl Reader {
    /// The next record's fields; `None` at the end of the file.
    #[inline]
    fn fields(&mut self) -> Result<Option<Fields>, Error> {
        self.record = self.next;
        self.next += 1;
        self.offset = self.input.offset();
        let size = self.version.size();
        let record = match self.input.peek(size) {
            Ok(record) => record,
            Err(e) => return Err(self.input.fault(e, self.place())),
        };
        if record.is_empty() {
            return Ok(None);
        }
        if record.len() < size {
            let found = record.len();
            return Err(self
                .wrong(format!(
                    "the file ends within a record: {found} bytes of {size}"
                ))
                .into());
        }
        match self.version.fields(record) {
            Ok(fields) => {
                self.input.skip(size);
                Ok(Some(fields))
            }
            Err(found) => {
                let expected = self.version.number();
                let message =
                    format!("record version {found}: expected {expected}, as in the first record");
                Err(self.wrong(message).into())
            }
        }
    }

    #[cold]
    fn wrong(&self, message: String) -> InputError {
        InputError::new(message).at(self.place())
    }
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        loop {
            let Some(fields) = self.fields()? else {
                return Ok(None);
            };
            let Some(op) = op(fields.command) else {
                self.discarded += 1;
                continue;
            };
            let Some(ns) = fields.micros.checked_mul(UNIT.ns()) else {
                let message = format!(
                    "time {} µs: expected at most {} µs, which is 584 years",
                    fields.micros,
                    u64::MAX / UNIT.ns()
                );
                return Err(self.wrong(message).into());
            };
            let bytes = u64::from(fields.bytes);
            let (lbn, blocks) = match op {
                Op::Flush => (0, 0),
                _ => {
                    self.widened += u64::from(!bytes.is_multiple_of(BLOCK_BYTES));
                    (fields.lbn, bytes.div_ceil(BLOCK_BYTES))
                }
            };
            return Ok(Some(Record {
                arrival: Time::from_ns(ns),
                device: 0,
                op,
                fua: false,
                lbn: Lbn(lbn),
                blocks: Record::clamp_blocks(blocks),
                recorded: None,
            }));
        }
    }
    fn place(&self) -> Place {
        Place::Record {
            file: self.input.path().to_owned(),
            record: self.record,
            offset: self.offset,
        }
    }
    fn format(&self) -> &'static str {
        NAME
    }
    fn discarded(&self) -> u64 {
        self.discarded
    }
    fn notes(&self) -> Vec<String> {
        let discarded = (self.discarded > 0).then(|| {
            format!(
                "{} SCSI commands that neither read, write, flush nor unmap were left out",
                self.discarded
            )
        });
        discarded
            .into_iter()
            .chain(widened_note(self.widened))
            .collect()
    }
}

/// Writes version 1.
struct Writer {
    output: Output,
    /// The next record's serial number.
    serial: u32,
}

impl TraceWriter for Writer {
    fn write(&mut self, record: &Record) -> io::Result<()> {
        // The shorter commands have 32 bits for the LBN and 16 for the blocks.
        let short = u32::try_from(record.lbn.0).is_ok() && u16::try_from(record.blocks).is_ok();
        let command = match record.op {
            Op::Read if short => READ_10,
            Op::Read => READ_16,
            Op::Write if short => WRITE_10,
            Op::Write => WRITE_16,
            Op::Flush => SYNCHRONIZE_CACHE_10,
            Op::Trim => UNMAP,
            Op::NvCache(command) => command.is_in_no_workload(),
        };
        let bytes = record.blocks * BLOCK_BYTES as u32;
        // Data that is not known to be scattered is in one piece.
        let elements = u32::from(bytes > 0);
        let mut buffer = [0; Version::One.size()];
        buffer[0..4].copy_from_slice(&self.serial.to_le_bytes());
        buffer[4..8].copy_from_slice(&bytes.to_le_bytes());
        buffer[8..12].copy_from_slice(&elements.to_le_bytes());
        buffer[12] = command;
        buffer[15] = Version::One.number();
        buffer[16..24].copy_from_slice(&record.lbn.0.to_le_bytes());
        buffer[24..32].copy_from_slice(&(record.arrival.ns() / UNIT.ns()).to_le_bytes());
        self.serial = self.serial.wrapping_add(1);
        self.output.write_all(&buffer)
    }
    fn finish(self: Box<Self>) -> io::Result<Output> {
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests;
