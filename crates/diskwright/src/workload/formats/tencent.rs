//! Tencent's cloud block storage traces of October 2018: `Timestamp,Offset,Size,IOType,VolumeID`, one request a line, no header.
//!
//! Source: the README of the trace set, in the SNIA IOTTA repository (<http://iotta.snia.org/traces/parallel>); Zhang et al., "OSCA: An Online-Model Based Cache Allocation Scheme in Cloud Block
//! Storage Systems", USENIX ATC 2020.

use std::io::{self, Write};

use crate::base::error::Error;
use crate::base::units::{Lbn, Time};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::whole;
use crate::workload::writing::{Holds, Writing};

use super::fields::{Wrong, commas, number, time};
use super::{Format, FormatOptions, TraceReader, first_line, per_line};

const NAME: &str = "tencent";
const LINE: &str = "a line is: time in s, offset in sectors, size in sectors, 0 (read) or 1 (write), volume number, separated by commas";
/// Its times are whole seconds.
const UNIT: Time = Time::from_ns(1_000_000_000);

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["csv"],
    summary: "Tencent block storage trace: time in s,offset and size in 512-byte sectors,0 (read) or 1 (write),volume",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            time: UNIT,
            ..Holds::READS_AND_WRITES
        },
        extension: None,
        create: |output| Ok(per_line::writer(output, write_line)),
    }),
};

fn detect(first: &[u8]) -> bool {
    parse(first_line(first)).is_ok()
}

fn open(input: Input, _: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    Ok(per_line::reader(input, NAME, LINE, parse))
}

#[inline]
fn parse(line: &[u8]) -> Result<Record, Wrong> {
    let mut row = commas(line);
    let arrival = row.take("a time in whole seconds", |text| time(text, UNIT.ns()))?;
    let lbn = row.take("an offset in sectors", whole)?;
    let blocks = row.take("a size in sectors", whole)?;
    let op = row.take("0 (read) or 1 (write)", |text| match text {
        b"0" => Some(Op::Read),
        b"1" => Some(Op::Write),
        _ => None,
    })?;
    let device = row.take("a volume number", number)?;
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
    let (time, lbn, blocks) = (record.arrival.ns() / UNIT.ns(), record.lbn.0, record.blocks);
    let (op, volume) = (u8::from(record.op == Op::Write), record.device);
    writeln!(output, "{time},{lbn},{blocks},{op},{volume}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn a_line_is_read_as_documented() {
        let text =
            "1538323199,105352008,584,1,1576\n 1538323200 ,18446744073709551615,4294967296,0,2\r\n";
        let read = records(text, &FormatOptions::default()).unwrap();
        assert_eq!(
            read[0],
            Record {
                arrival: Time::from_ms(1_538_323_199_000),
                device: 1576,
                op: Op::Write,
                fua: false,
                lbn: Lbn(105_352_008),
                blocks: 584,
                recorded: None
            }
        );
        assert_eq!(
            (read[1].op, read[1].lbn.0, read[1].blocks),
            (Op::Read, u64::MAX, Record::OVERSIZE)
        );
    }

    #[test]
    fn every_field_is_checked_and_located() {
        check_wrong_lines(
            NAME,
            "1,0,8,0,1",
            &[
                ("1.5,0,8,0,1", 1, "whole seconds, found \"1.5\""),
                ("18446744074,0,8,0,1", 1, "whole seconds"),
                ("1,x,8,0,1", 3, "offset"),
                ("1,0,-8,0,1", 5, "size"),
                ("1,0,8,2,1", 7, "0 (read) or 1 (write)"),
                ("1,0,8,R,1", 7, "0 (read) or 1 (write)"),
                ("1,0,8,0,4294967296", 9, "volume"),
                ("1,0,8,0", 8, "volume number, found the end of the line"),
                ("1,0,8,0,1,", 11, "the end of the line"),
            ],
        );
    }
}
