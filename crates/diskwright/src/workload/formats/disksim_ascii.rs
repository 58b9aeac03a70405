//! DiskSim's ASCII traces: `arrival_ms device lbn blocks flags`, absolute times, one request a line.

use std::io::{self, Write};

use crate::error::{Error, InputError, Place};
use crate::request::Op;
use crate::units::Lbn;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::{Field, Fields, Lines, TimeUnit, whole};
use crate::workload::writing::{Holds, TraceWriter, Writing};

use super::{Format, FormatOptions, TraceReader, first_line};

const NAME: &str = "disksim-ascii";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["trace", "ascii"],
    summary: "DiskSim ASCII: arrival in ms, device, LBN, blocks, hexadecimal flags",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            flushes: false,
            trims: false,
            fua: false,
            recorded: false,
            ..Holds::ALL
        },
        extension: None,
        create: |output| Ok(Box::new(Writer { output })),
    }),
};

/// The flag of a read; its absence says write.
const READ: u64 = 0x1;

fn detect(first: &[u8]) -> bool {
    is_line(first_line(first))
}

/// Whether this can be a line of such a trace.
pub fn is_line(line: &[u8]) -> bool {
    parse(line).is_ok()
}

fn open(input: Input, _: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    Ok(Box::new(Reader {
        lines: Lines::new(input),
    }))
}

struct Reader {
    lines: Lines,
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        match parse(self.lines.current()) {
            Ok(record) => Ok(Some(record)),
            Err(wrong) => Err(wrong.error(&self.lines).into()),
        }
    }
    fn place(&self) -> Place {
        self.lines.place(None)
    }
    fn format(&self) -> &'static str {
        NAME
    }
}

/// A field that is missing or wrong: where, and what it should have been.
struct Wrong {
    at: usize,
    expected: &'static str,
}

impl Wrong {
    #[cold]
    fn error(&self, lines: &Lines) -> InputError {
        lines
            .expected(self.at, self.expected)
            .help("a line is: arrival in ms, device, LBN, blocks, hexadecimal flags (1 = read), and optionally a batch number")
    }
}

#[inline]
fn parse(line: &[u8]) -> Result<Record, Wrong> {
    let mut fields = Fields::new(line);
    let mut field = |expected| {
        fields.next().ok_or(Wrong {
            at: line.len(),
            expected,
        })
    };
    let arrival = read(
        field("the arrival time in ms")?,
        "the arrival time in ms",
        |t| TimeUnit::MS.time(t),
    )?;
    let device = read(field("a device number")?, "a device number", |t| {
        whole(t).and_then(|n| u32::try_from(n).ok())
    })?;
    let lbn = read(field("an LBN")?, "an LBN", whole)?;
    let blocks = read(field("a number of blocks")?, "a number of blocks", whole)?;
    let flags = read(field("hexadecimal flags")?, "hexadecimal flags", hex)?;
    if let Some(batch) = fields.next() {
        read(batch, "a batch number or the end of the line", whole)?;
    }
    if let Some(extra) = fields.next() {
        return Err(Wrong {
            at: extra.at,
            expected: "the end of the line",
        });
    }
    Ok(Record {
        arrival,
        device,
        op: if flags & READ != 0 {
            Op::Read
        } else {
            Op::Write
        },
        fua: false,
        lbn: Lbn(lbn),
        blocks: Record::clamp_blocks(blocks),
        recorded: None,
    })
}

#[inline]
fn read<T>(
    field: Field<'_>,
    expected: &'static str,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<T, Wrong> {
    parse(field.text).ok_or(Wrong {
        at: field.at,
        expected,
    })
}

/// A hexadecimal number of at most 32 bits, with or without `0x`.
#[inline]
fn hex(text: &[u8]) -> Option<u64> {
    let digits = text
        .strip_prefix(b"0x")
        .or_else(|| text.strip_prefix(b"0X"))
        .unwrap_or(text);
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    digits.iter().try_fold(0, |value, byte| {
        Some(value << 4 | u64::from((*byte as char).to_digit(16)?))
    })
}

struct Writer {
    output: Output,
}

impl TraceWriter for Writer {
    fn write(&mut self, record: &Record) -> io::Result<()> {
        let flags = if record.op == Op::Read { READ } else { 0 };
        let (arrival, device) = (TimeUnit::MS.decimal(record.arrival), record.device);
        let (lbn, blocks) = (record.lbn.0, record.blocks);
        // A decimal point tells the trace from MQSim's, which has whole nanoseconds there.
        let is_whole = record.arrival.ns().is_multiple_of(1_000_000);
        let point = if is_whole { ".0" } else { "" };
        writeln!(
            self.output,
            "{arrival}{point} {device} {lbn} {blocks} {flags:x}"
        )
    }
    fn finish(self: Box<Self>) -> io::Result<Output> {
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::units::Time;

    #[test]
    fn a_line_is_read_as_documented() {
        let read = records(
            "\n 13.191135\t30\t7\t5\t1\n2.5e1 0 18446744073709551615 4294967296 80\r\n",
            &FormatOptions::default(),
        )
        .unwrap();
        assert_eq!(
            read[0],
            Record {
                arrival: Time::from_ns(13_191_135),
                device: 30,
                op: Op::Read,
                fua: false,
                lbn: Lbn(7),
                blocks: 5,
                recorded: None
            }
        );
        assert_eq!(read[1].arrival, Time::from_ms(25));
        assert_eq!(
            (read[1].op, read[1].lbn.0, read[1].blocks),
            (Op::Write, u64::MAX, Record::OVERSIZE)
        );
    }

    #[test]
    fn every_field_is_checked_and_located() {
        for (line, column, expected) in [
            ("x 0 1 2 1", 1, "arrival"),
            ("-1 0 1 2 1", 1, "arrival"),
            ("1 4294967296 1 2 1", 3, "device"),
            ("1 0 -1 2 1", 5, "LBN"),
            ("1 0 1 2.0 1", 7, "blocks"),
            ("1 0 1 2 g", 9, "flags"),
            ("1 0 1 2", 8, "flags"),
            ("1 0 1 2 1 x", 11, "batch"),
            ("1 0 1 2 1 2 3", 13, "end of the line"),
        ] {
            let text = format!("1 0 1 2 1\n{line}\n");
            let error = located(records(text, &forced(NAME)).unwrap_err());
            assert!(error.message.contains(expected), "{line}: {error}");
            assert!(
                matches!(&error.place, Some(Place::Line { line: 2, column: Some(c), text, .. }) if *c == column && text == line),
                "{error}"
            );
        }
    }

    #[test]
    fn flags_are_hexadecimal() {
        for (flags, op) in [
            ("101", Op::Read),
            ("100", Op::Write),
            ("0x1", Op::Read),
            ("80000001", Op::Read),
        ] {
            let read = records(format!("0 0 0 1 {flags}\n"), &FormatOptions::default()).unwrap();
            assert_eq!(read[0].op, op, "{flags}");
        }
        assert!(records("0 0 0 1 100000001\n", &forced(NAME)).is_err());
    }

    #[test]
    fn what_is_written_can_be_no_other_format() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let records: Vec<_> = [0, 3_000_000, 3_000_001]
            .map(|ns| Record {
                arrival: Time::from_ns(ns),
                device: 0,
                op: Op::Read,
                fua: false,
                lbn: Lbn(8),
                blocks: 8,
                recorded: None,
            })
            .to_vec();
        let mut writer = Writer {
            output: Output::create(&path).unwrap(),
        };
        for record in &records {
            writer.write(record).unwrap();
        }
        writer.output.finish().unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, "0.0 0 8 8 1\n3.0 0 8 8 1\n3.000001 0 8 8 1\n");
        let first = written.lines().next().unwrap();
        let found = super::super::testing::records(first, &FormatOptions::default());
        assert_eq!(found.unwrap(), records[..1]);
    }
}
