//! SPC traces, as those of the UMass Trace Repository (Financial1, WebSearch1 and so on): a request a line, comma-separated.
//!
//! Storage Performance Council, "SPC Trace File Format Specification", revision 1.0.1 (2002): ASU, LBA, size in bytes, opcode,
//! time stamp in seconds, then any number of optional fields. The specification leaves the size of a block to the description
//! of the trace; in all that are public it is 512 bytes.

use std::io::{self, Write};

use crate::base::error::Error;
use crate::base::units::{BLOCK_BYTES, Lbn};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::{TimeUnit, whole};
use crate::workload::writing::{Holds, Writing};

use super::fields::{Wrong, commas};
use super::{Format, FormatOptions, TraceReader, first_line, per_line};

const NAME: &str = "spc";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["spc", "csv"],
    summary: "SPC trace: ASU, LBA, bytes, r or w, seconds, between commas",
    detect,
    open,
    write: Some(Writing {
        holds: Holds::READS_AND_WRITES,
        extension: Some("spc"),
        create: |output| Ok(per_line::writer(output, write_line)),
    }),
};

const HELP: &str =
    "a line is: ASU, LBA in 512-byte blocks, size in bytes, r or w, seconds, and optionally more";

fn detect(first: &[u8]) -> bool {
    parse(first_line(first)).is_ok()
}

fn open(input: Input, _: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    Ok(per_line::reader(input, NAME, HELP, parse))
}

/// The record, and whether its size had to be widened to whole blocks.
#[inline]
fn parse(line: &[u8]) -> Result<(Record, bool), Wrong> {
    let mut values = commas(line);
    let device = values.take("an ASU number below 2^32", |text| {
        whole(text).and_then(|n| u32::try_from(n).ok())
    })?;
    let lbn = values.take("an LBA in blocks", whole)?;
    let bytes = values.take("a size in bytes", whole)?;
    let op = values.take("an opcode, r or w", |text| match text {
        b"r" | b"R" => Some(Op::Read),
        b"w" | b"W" => Some(Op::Write),
        _ => None,
    })?;
    let arrival = values.take("a time stamp in seconds", |t| TimeUnit::S.time(t))?;
    let record = Record {
        arrival,
        device,
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks: Record::clamp_blocks(bytes.div_ceil(BLOCK_BYTES)),
        recorded: None,
    };
    Ok((record, !bytes.is_multiple_of(BLOCK_BYTES)))
}

fn write_line(output: &mut Output, record: &Record) -> io::Result<()> {
    let op = if record.op == Op::Read { 'r' } else { 'w' };
    let bytes = u64::from(record.blocks) * BLOCK_BYTES;
    let (asu, lba) = (record.device, record.lbn.0);
    // The specification wants a whole and a fractional part.
    let (s, ns) = (
        record.arrival.ns() / 1_000_000_000,
        record.arrival.ns() % 1_000_000_000,
    );
    writeln!(output, "{asu},{lba},{bytes},{op},{s}.{ns:09}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::base::units::Time;

    #[test]
    fn the_lines_of_the_specification_are_read_as_documented() {
        // Blanks are allowed between a comma and its field.
        let text = "0,20941264,8192,W,0.551706,Alpha/NT\n1,3436288,15872,W,1.250720,0x123,5.99,test\n0, 303567,\t3584,r,0.026214\r\n";
        let read = records(text, &FormatOptions::default()).unwrap();
        assert_eq!(
            read[0],
            Record {
                arrival: Time::from_ns(551_706_000),
                device: 0,
                op: Op::Write,
                fua: false,
                lbn: Lbn(20_941_264),
                blocks: 16,
                recorded: None
            }
        );
        assert_eq!((read[1].device, read[1].blocks), (1, 31));
        assert_eq!(
            (read[2].op, read[2].lbn.0, read[2].blocks),
            (Op::Read, 303_567, 7)
        );
        assert_eq!(read.len(), 3);
    }

    #[test]
    fn every_field_is_checked_and_located() {
        check_wrong_lines(
            NAME,
            "0,1,512,r,0.0",
            &[
                ("a,1,512,r,0.0", 1, "ASU"),
                ("4294967296,1,512,r,0.0", 1, "ASU"),
                ("0,-1,512,r,0.0", 3, "LBA"),
                ("0, x,512,r,0.0", 4, "LBA in blocks, found \"x\""),
                ("0,1,5.5,r,0.0", 5, "size"),
                ("0,1,512,rw,0.0", 9, "opcode"),
                ("0,1,512,,0.0", 9, "opcode, r or w, found \"\""),
                ("0,1,512,r,-1", 11, "time stamp"),
                ("0,1,512,r", 10, "time stamp in seconds, found the end"),
                ("0", 2, "LBA"),
            ],
        );
    }

    #[test]
    fn sizes_are_widened_to_whole_blocks_and_told() {
        let text = "0,1,0,r,0.0\n0,1,1,r,0.0\n0,1,512,r,0.0\n0,18446744073709551615,18446744073709551615,r,0.0\n";
        let mut reader = reader(text, &FormatOptions::default()).unwrap();
        for blocks in [0, 1, 1, Record::OVERSIZE] {
            assert_eq!(reader.next().unwrap().unwrap().blocks, blocks);
        }
        assert!(reader.notes()[0].contains("2 requests"));
    }
}
