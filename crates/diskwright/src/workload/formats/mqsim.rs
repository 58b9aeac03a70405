//! MQSim's ASCII traces: `arrival_ns device lba sectors type`, one request a line.
//!
//! Source: `src/host/ASCII_Trace_Definition.h` and `IO_Flow_Trace_Based.cpp` of MQSim
//! (<https://github.com/CMU-SAFARI/MQSim>); Tavakkol et al., "MQSim: A Framework for Enabling Realistic Studies of Modern
//! Multi-Queue SSD Devices", FAST 2018.

use std::io::{self, Write};

use crate::base::error::Error;
use crate::base::units::{Lbn, Time};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::whole;
use crate::workload::writing::{Holds, Writing};

use super::fields::{Wrong, blanks, number, time};
use super::{Format, FormatOptions, TraceReader, disksim_ascii, first_line, lines_of, per_line};

const NAME: &str = "mqsim";
const LINE: &str = "a line is: arrival in whole ns, device, LBA, sectors, 0 (write) or 1 (read)";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["trace"],
    summary: "MQSim ASCII: arrival in ns, device, LBA, 512-byte sectors, 0 (write) or 1 (read)",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            // MQSim reads them as signed numbers.
            latest: Time::from_ns(i64::MAX as u64),
            ..Holds::READS_AND_WRITES
        },
        extension: None,
        create: |output| Ok(per_line::writer(output, write_line)),
    }),
};

/// A line such as `0 0 0 8 1` is DiskSim's as well as MQSim's; one that can only be DiskSim's decides.
fn detect(first: &[u8]) -> bool {
    let only_disksim = |line: &[u8]| parse(line).is_err() && disksim_ascii::is_line(line);
    parse(first_line(first)).is_ok() && !lines_of(first).any(only_disksim)
}

fn open(input: Input, _: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    Ok(per_line::reader(input, NAME, LINE, parse))
}

#[inline]
fn parse(line: &[u8]) -> Result<Record, Wrong> {
    let mut row = blanks(line);
    let arrival = row.take("the arrival time in whole ns", |text| time(text, 1))?;
    let device = row.take("a device number", number)?;
    let lbn = row.take("an LBA", whole)?;
    let blocks = row.take("a number of sectors", whole)?;
    let op = row.take("0 (write) or 1 (read)", |text| match text {
        b"0" => Some(Op::Write),
        b"1" => Some(Op::Read),
        _ => None,
    })?;
    row.end()?;
    Ok(Record {
        arrival,
        device,
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks: Record::clamp_blocks(blocks),
        recorded: None,
    })
}

fn write_line(output: &mut Output, record: &Record) -> io::Result<()> {
    let (arrival, device) = (record.arrival.ns(), record.device);
    let (lbn, blocks) = (record.lbn.0, record.blocks);
    let op = u8::from(record.op == Op::Read);
    writeln!(output, "{arrival} {device} {lbn} {blocks} {op}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn a_line_is_read_as_documented() {
        let text =
            "4851300 1 524288 16 0\r\n\n18446744073709551615\t2  18446744073709551615 4294967296 1";
        let read = records(text, &forced(NAME)).unwrap();
        assert_eq!(
            read[0],
            Record {
                arrival: Time::from_ns(4_851_300),
                device: 1,
                op: Op::Write,
                fua: false,
                lbn: Lbn(524_288),
                blocks: 16,
                recorded: None
            }
        );
        assert_eq!(
            (read[1].op, read[1].arrival, read[1].blocks),
            (Op::Read, Time::MAX, Record::OVERSIZE)
        );
    }

    #[test]
    fn every_field_is_checked_and_located() {
        check_wrong_lines(
            NAME,
            "1 0 1 2 1",
            &[
                ("1.5 0 1 2 1", 1, "whole ns, found \"1.5\""),
                ("18446744073709551616 0 1 2 1", 1, "whole ns"),
                ("1 4294967296 1 2 1", 3, "device"),
                ("1 0 -1 2 1", 5, "LBA"),
                ("1 0 1 x 1", 7, "sectors"),
                ("1 0 1 2 2", 9, "0 (write) or 1 (read)"),
                ("1 0 1 2", 8, "found the end of the line"),
                ("1 0 1 2 1 0", 11, "the end of the line, found \"0\""),
            ],
        );
    }

    #[test]
    fn what_could_be_disksims_too_has_to_be_named() {
        for text in [
            "0 0 0 8 1\n",
            "938513000 4 264719034 16 0\n938828000 3 197570570 16 0\n",
            // A line of neither says nothing.
            "0 0 0 8 1\nnothing\n",
        ] {
            let error = located(reader(text, &FormatOptions::default()).err().unwrap());
            let help = error.help.unwrap();
            assert!(help.contains("mqsim") && help.contains("disksim-ascii"));
            assert!(error.message.contains("several"));
            for name in [NAME, "disksim-ascii"] {
                assert_eq!(reader(text, &forced(name)).unwrap().format(), name);
            }
        }
    }

    #[test]
    fn a_line_of_one_of_them_decides() {
        for (text, format) in [
            ("0.0 0 0 8 1\n", "disksim-ascii"),
            ("0 0 0 8 1\n0.5 0 0 8 1\n", "disksim-ascii"),
            ("0 0 0 8 1\n1e1 0 0 8 1\n", "disksim-ascii"),
            ("0 0 0 8 1\n1 0 0 8 80\n", "disksim-ascii"),
            ("0 0 0 8 1\n1 0 0 8 1 0\n", "disksim-ascii"),
            // 2^64 ns and more, if it were milliseconds.
            ("18446744073710 0 0 8 1\n", NAME),
        ] {
            let reader = reader(text, &FormatOptions::default()).unwrap();
            assert_eq!(reader.format(), format, "{text}");
        }
    }
}
