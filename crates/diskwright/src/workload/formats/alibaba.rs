//! Alibaba's block traces of January 2020: `device_id,opcode,offset,length,timestamp`, one request a line, no header.
//!
//! Source: the schema of `io_traces.csv` at <https://github.com/alibaba/block-traces>; Li et al., "An In-Depth Analysis of
//! Cloud Block Storage Workloads in Large-Scale Production", IISWC 2020.

use std::io::{self, Write};

use crate::base::error::Error;
use crate::base::units::{BLOCK_BYTES, Lbn, Time};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::whole;
use crate::workload::writing::{Holds, Writing};

use super::fields::{Wrong, commas, number, time};
use super::{Format, FormatOptions, TraceReader, first_line, outward, per_line};

const NAME: &str = "alibaba";
const LINE: &str = "a line is: device number, R or W, offset in bytes, length in bytes, time in µs, separated by commas";
/// Its times are whole microseconds.
const UNIT: Time = Time::from_us(1);

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["csv"],
    summary: "Alibaba block trace: device,R|W,offset in bytes,length in bytes,time in µs",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            time: UNIT,
            // Offsets are counted in bytes, lengths in 32 bits of them.
            lbn: 1 << 54,
            blocks: (u32::MAX as u64 / BLOCK_BYTES) as u32,
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

/// The record, and whether it had to be widened to whole blocks.
#[inline]
fn parse(line: &[u8]) -> Result<(Record, bool), Wrong> {
    let mut row = commas(line);
    let device = row.take("a device number", number)?;
    let op = row.take("R or W", |text| match text {
        b"R" => Some(Op::Read),
        b"W" => Some(Op::Write),
        _ => None,
    })?;
    let offset = row.take("an offset in bytes", whole)?;
    let (lbn, blocks, widened) = row.take("a length in bytes that ends below 16 EiB", |text| {
        outward(offset, whole(text)?)
    })?;
    let arrival = row.take("a time in µs", |text| time(text, UNIT.ns()))?;
    row.end()?;
    let record = Record {
        arrival,
        device,
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks: Record::clamp_blocks(blocks),
        recorded: None,
    };
    Ok((record, widened))
}

fn write_line(output: &mut Output, record: &Record) -> io::Result<()> {
    let op = if record.op == Op::Read { 'R' } else { 'W' };
    let offset = record.lbn.0 * BLOCK_BYTES;
    let length = u64::from(record.blocks) * BLOCK_BYTES;
    let (device, time) = (record.device, record.arrival.ns() / UNIT.ns());
    writeln!(output, "{device},{op},{offset},{length},{time}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn a_line_is_read_as_documented() {
        let text = "419,W,8792731648,16384,1577808144360767\r\n\n725, R,359350272,0,1577808144360768\n0,R,256,512,0";
        let mut reader = reader(text, &FormatOptions::default()).unwrap();
        assert_eq!(reader.format(), NAME);
        assert_eq!(
            reader.next().unwrap(),
            Some(Record {
                arrival: Time::from_us(1_577_808_144_360_767),
                device: 419,
                op: Op::Write,
                fua: false,
                lbn: Lbn(17_173_304),
                blocks: 32,
                recorded: None
            })
        );
        let second = reader.next().unwrap().unwrap();
        assert_eq!(
            (second.op, second.lbn.0, second.blocks),
            (Op::Read, 701_856, 0)
        );
        assert!(reader.notes().is_empty());
        // Half of block 0 and half of block 1.
        let third = reader.next().unwrap().unwrap();
        assert_eq!((third.lbn.0, third.blocks), (0, 2));
        assert_eq!(reader.notes().len(), 1);
        assert_eq!(reader.next().unwrap(), None);
    }

    #[test]
    fn every_field_is_checked_and_located() {
        check_wrong_lines(
            NAME,
            "1,R,0,512,1",
            &[
                ("x,R,0,512,1", 1, "device number, found \"x\""),
                ("4294967296,R,0,512,1", 1, "device"),
                ("1,r,0,512,1", 3, "R or W"),
                ("1,,0,512,1", 3, "found \"\""),
                ("1,R,-1,512,1", 5, "offset"),
                ("1,R,0,1.5,1", 7, "length"),
                ("1,R,18446744073709551615,1,1", 26, "16 EiB"),
                ("1,R,0,512,x", 11, "time in µs"),
                ("1,R,0,512,18446744073709552", 11, "time in µs"),
                ("1,R,0,512", 10, "time in µs, found the end of the line"),
                ("1,R,0,512,1,2", 13, "the end of the line, found \"2\""),
            ],
        );
        // The last address and the last time there are.
        let last = "1,R,18446744073709551614,1,18446744073709551";
        assert!(records(last, &forced(NAME)).is_ok());
    }
}
