//! DiskSim's ASCII traces: `arrival_ms device lbn blocks flags`, absolute times, one request a line.

use std::io::{self, Write};

use crate::base::error::Error;
use crate::base::units::Lbn;
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::{TimeUnit, whole};
use crate::workload::writing::{Holds, Writing};

use super::fields::{Wrong, blanks, number};
use super::{Format, FormatOptions, TraceReader, first_line, per_line};

const NAME: &str = "disksim-ascii";
const LINE: &str = "a line is: arrival in ms, device, LBN, blocks, hexadecimal flags (1 = read), and optionally a batch number";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["trace", "ascii"],
    summary: "DiskSim ASCII: arrival in ms, device, LBN, blocks, hexadecimal flags",
    detect,
    open,
    write: Some(Writing {
        holds: Holds::READS_AND_WRITES,
        extension: None,
        create: |output| Ok(per_line::writer(output, write_line)),
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
    Ok(per_line::reader(input, NAME, LINE, parse))
}

#[inline]
fn parse(line: &[u8]) -> Result<Record, Wrong> {
    let mut row = blanks(line);
    let arrival = row.take("the arrival time in ms", |text| TimeUnit::MS.time(text))?;
    let device = row.take("a device number", number)?;
    let lbn = row.take("an LBN", whole)?;
    let blocks = row.take("a number of blocks", whole)?;
    let flags = row.take("hexadecimal flags", hex)?;
    row.take_if_any("a batch number or the end of the line", whole)?;
    row.end()?;
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

fn write_line(output: &mut Output, record: &Record) -> io::Result<()> {
    let flags = if record.op == Op::Read { READ } else { 0 };
    let (arrival, device) = (TimeUnit::MS.decimal(record.arrival), record.device);
    let (lbn, blocks) = (record.lbn.0, record.blocks);
    // A decimal point tells the trace from MQSim's, which has whole nanoseconds there.
    let is_whole = record.arrival.ns().is_multiple_of(1_000_000);
    let point = if is_whole { ".0" } else { "" };
    writeln!(output, "{arrival}{point} {device} {lbn} {blocks} {flags:x}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::base::units::Time;

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
        check_wrong_lines(
            NAME,
            "1 0 1 2 1",
            &[
                ("x 0 1 2 1", 1, "arrival"),
                ("-1 0 1 2 1", 1, "arrival"),
                ("1 4294967296 1 2 1", 3, "device"),
                ("1 0 -1 2 1", 5, "LBN"),
                ("1 0 1 2.0 1", 7, "blocks"),
                ("1 0 1 2 g", 9, "flags"),
                ("1 0 1 2", 8, "flags"),
                ("1 0 1 2 1 x", 11, "batch"),
                ("1 0 1 2 1 2 3", 13, "end of the line"),
            ],
        );
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
        let mut output = Output::create(&path).unwrap();
        for record in &records {
            write_line(&mut output, record).unwrap();
        }
        output.finish().unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, "0.0 0 8 8 1\n3.0 0 8 8 1\n3.000001 0 8 8 1\n");
        let first = written.lines().next().unwrap();
        let found = super::super::testing::records(first, &FormatOptions::default());
        assert_eq!(found.unwrap(), records[..1]);
    }
}
