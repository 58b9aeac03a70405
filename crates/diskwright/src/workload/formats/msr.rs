//! The block traces of Microsoft Research Cambridge (SNIA IOTTA 388), and others in their format.
//!
//! The columns are those of the README that comes with the traces: `Timestamp` and `ResponseTime` in units of Windows file
//! times (100 ns; the former since 1601), `Hostname`, `DiskNumber`, `Type` (Read or Write), `Offset` and `Size` in bytes. Described
//! in D. Narayanan, A. Donnelly and A. Rowstron, "Write Off-Loading: Practical Power Management for Enterprise Storage", FAST 2008.

use std::io::{self, Write};

use crate::base::error::{Error, Place};
use crate::base::units::{BLOCK_BYTES, Lbn, Time};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::{Record, Recorded};
use crate::workload::text::{Lines, TimeUnit, shown, whole};
use crate::workload::writing::{Holds, Writing};

use super::fields::{Wrong, commas};
use super::{Format, FormatOptions, TraceReader, first_line, outward, per_line, widened_note};

const NAME: &str = "msr";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["csv"],
    summary: "MSR Cambridge: file time, host, disk, Read or Write, offset, bytes, response time, between commas",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            time: FILE_TIME,
            // What is read is counted in bytes, of which there are at most 2^64.
            lbn: 1 << 54,
            ..Holds::READS_AND_WRITES
        },
        extension: None,
        create: |output| Ok(per_line::writer(output, write_line)),
    }),
};

/// The unit of Windows file times.
const FILE_TIME: Time = Time::from_ns(100);
/// Disk numbers a host has in a trace of several hosts.
const DISKS: u32 = 1 << 16;
/// A name longer than this is not one of a host.
const MAX_NAME: usize = 255;

const HEADER: [&[u8]; 7] = [
    b"Timestamp",
    b"Hostname",
    b"DiskNumber",
    b"Type",
    b"Offset",
    b"Size",
    b"ResponseTime",
];
const HELP: &str = "a line is: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime, Type being Read or Write";

fn detect(first: &[u8]) -> bool {
    let line = first_line(first);
    is_header(line) || parse(line).is_ok()
}

/// Whether a line names the columns of this format.
pub fn is_header(line: &[u8]) -> bool {
    let mut names = commas(line);
    let all = HEADER.iter().all(|name| {
        let is_name = |text: &[u8]| text.eq_ignore_ascii_case(name).then_some(());
        names.take("a column's name", is_name).is_ok()
    });
    all && names.end().is_ok()
}

fn open(input: Input, _: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    let mut lines = Lines::new(input);
    let pending = lines.advance()? && !is_header(lines.current());
    Ok(Box::new(Reader {
        lines,
        pending,
        hosts: Hosts::default(),
        widened: 0,
    }))
}

struct Reader {
    lines: Lines,
    /// The current line has not been returned yet.
    pending: bool,
    hosts: Hosts,
    widened: u64,
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        if !std::mem::take(&mut self.pending) && !self.lines.advance()? {
            return Ok(None);
        }
        let line = self.lines.current();
        let row = parse(line).map_err(|wrong| wrong.error(&self.lines, HELP))?;
        let device = self.hosts.device(row.host, row.disk);
        let device = device.map_err(|message| self.lines.wrong(0, message))?;
        self.widened += u64::from(row.widened);
        Ok(Some(Record {
            device,
            ..row.record
        }))
    }
    fn place(&self) -> Place {
        self.lines.place(None)
    }
    fn format(&self) -> &'static str {
        NAME
    }
    fn notes(&self) -> Vec<String> {
        let hosts = self.hosts.note();
        hosts
            .into_iter()
            .chain(widened_note(self.widened))
            .collect()
    }
}

/// A line's content; the record's device is yet to be found.
struct Row<'a> {
    record: Record,
    host: &'a [u8],
    disk: u32,
    widened: bool,
}

#[inline]
fn parse(line: &[u8]) -> Result<Row<'_>, Wrong> {
    let mut values = commas(line);
    let arrival = values.take("a Windows file time", |t| TimeUnit::NS100.time(t))?;
    let host = values.take("the name of a host", |text| {
        (1..=MAX_NAME).contains(&text.len()).then_some(text)
    })?;
    let disk = values.take("a disk number below 2^32", |text| {
        whole(text).and_then(|n| u32::try_from(n).ok())
    })?;
    let op = values.take("Read or Write", |text| {
        if text.eq_ignore_ascii_case(b"read") {
            Some(Op::Read)
        } else if text.eq_ignore_ascii_case(b"write") {
            Some(Op::Write)
        } else {
            None
        }
    })?;
    let offset = values.take("an offset in bytes", whole)?;
    let (lbn, blocks, widened) = values.take("a size in bytes, ending below 16 EiB", |text| {
        outward(offset, whole(text)?)
    })?;
    let service = values.take("a response time in units of 100 ns", |t| {
        TimeUnit::NS100.time(t)
    })?;
    values.end()?;
    let record = Record {
        arrival,
        device: 0,
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks: Record::clamp_blocks(blocks),
        // No request takes no time: a trace without response times has zeros.
        recorded: (service > Time::ZERO).then_some(Recorded {
            service: Some(service),
            gap: None,
        }),
    };
    Ok(Row {
        record,
        host,
        disk,
        widened,
    })
}

/// The hosts seen so far, in order.
#[derive(Default)]
struct Hosts {
    names: Vec<Vec<u8>>,
    /// The last one seen.
    last: usize,
    /// The first host has a disk whose number leaves no room for other hosts.
    high: bool,
}

impl Hosts {
    /// The device of a disk: its number, and [`DISKS`] more for every host that was seen before its own.
    #[inline]
    fn device(&mut self, host: &[u8], disk: u32) -> Result<u32, String> {
        if self.names.get(self.last).is_none_or(|name| *name != *host) {
            self.find(host)?;
        }
        if disk >= DISKS {
            if self.names.len() > 1 {
                return Err(self.no_room(&format!("disk {disk}")));
            }
            self.high = true;
        }
        Ok(self.last as u32 * DISKS + disk)
    }

    #[cold]
    fn find(&mut self, host: &[u8]) -> Result<(), String> {
        if let Some(found) = self.names.iter().position(|name| *name == *host) {
            self.last = found;
            return Ok(());
        }
        let full = self.names.len() == DISKS as usize;
        if full || self.high {
            return Err(self.no_room(&format!("host {:?}", shown(host))));
        }
        self.last = self.names.len();
        self.names.push(host.to_owned());
        Ok(())
    }

    #[cold]
    fn no_room(&self, what: &str) -> String {
        format!(
            "no device number is left for {what}: a trace of several hosts has at most {DISKS} of them, with disks below {DISKS}"
        )
    }

    /// Which devices are whose, where there are several hosts.
    fn note(&self) -> Option<String> {
        const LISTED: usize = 32;
        let list = |(i, name): (usize, &Vec<u8>)| {
            let first = i as u64 * u64::from(DISKS);
            format!("{} from {first}", shown(name))
        };
        let names: Vec<_> = self.names.iter().enumerate().map(list).collect();
        (names.len() > 1).then(|| {
            let listed = names[..names.len().min(LISTED)].join(", ");
            let more = if names.len() > LISTED { ", and more" } else { "" };
            format!("the trace is of several hosts, whose disks are numbered one after the other: {listed}{more}")
        })
    }
}

fn write_line(output: &mut Output, record: &Record) -> io::Result<()> {
    let time = record.arrival.ns() / FILE_TIME.ns();
    let op = if record.op == Op::Read {
        "Read"
    } else {
        "Write"
    };
    let (disk, lbn) = (record.device, record.lbn.0);
    let (offset, bytes) = (lbn * BLOCK_BYTES, u64::from(record.blocks) * BLOCK_BYTES);
    writeln!(output, "{time},host,{disk},{op},{offset},{bytes},0")
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const LINE: &str = "128166372003061629,hm,1,Read,383496192,32768,58000\n";

    #[test]
    fn a_line_is_read_as_documented() {
        let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n";
        for text in [
            LINE.to_owned(),
            format!("{header}{LINE}"),
            header.to_lowercase() + &LINE.to_uppercase(),
        ] {
            let read = records(text, &FormatOptions::default()).unwrap();
            assert_eq!(
                read,
                [Record {
                    arrival: Time::from_ns(12_816_637_200_306_162_900),
                    device: 1,
                    op: Op::Read,
                    fua: false,
                    lbn: Lbn(749_016),
                    blocks: 64,
                    recorded: Some(Recorded {
                        service: Some(Time::from_us(5_800)),
                        gap: None
                    })
                }]
            );
        }
        let read = records("1,hm,0,Write,512,0,0", &FormatOptions::default()).unwrap();
        assert_eq!(
            (read[0].op, read[0].blocks, read[0].recorded),
            (Op::Write, 0, None)
        );
    }

    #[test]
    fn a_header_alone_is_a_trace_of_nothing() {
        let header = HEADER.join(&b","[..]);
        assert!(
            records(header, &FormatOptions::default())
                .unwrap()
                .is_empty()
        );
        assert!(!is_header(
            b"Timestamp,Hostname,DiskNumber,Type,Offset,Size"
        ));
        assert!(!is_header(
            b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime,More"
        ));
    }

    #[test]
    fn every_field_is_checked_and_located() {
        check_wrong_lines(
            NAME,
            LINE.trim_end(),
            &[
                ("x,hm,0,Read,0,512,1", 1, "file time"),
                ("184467440737095517,hm,0,Read,0,512,1", 1, "file time"),
                ("1,,0,Read,0,512,1", 3, "host"),
                ("1,hm,-1,Read,0,512,1", 6, "disk number"),
                ("1,hm,4294967296,Read,0,512,1", 6, "disk number"),
                ("1,hm,0,R,0,512,1", 8, "Read or Write, found \"R\""),
                ("1,hm,0,Read,x,512,1", 13, "offset"),
                ("1,hm,0,Read,1,18446744073709551615,1", 15, "16 EiB"),
                ("1,hm,0,Read,0,-1,1", 15, "size"),
                ("1,hm,0,Read,0,512,x", 19, "response time"),
                ("1,hm,0,Read,0,512", 18, "response time"),
                ("1,hm,0,Read,0,512,1,2", 21, "end of the line"),
            ],
        );
    }

    #[test]
    fn file_times_end_with_the_engines_time() {
        let read = records("184467440737095516,h,0,Read,0,512,1", &forced(NAME)).unwrap();
        assert_eq!(read[0].arrival.ns(), u64::MAX - u64::MAX % 100);
    }

    #[test]
    fn hosts_have_their_own_disks() {
        let text = "1,hm,1,Read,0,512,1\n2,src1,1,Read,0,512,1\n3,hm,0,Read,0,512,1\n4,usr,65535,Read,0,512,1\n";
        let mut reader = reader(text, &FormatOptions::default()).unwrap();
        for device in [1, 65_537, 0, 3 * 65_536 - 1] {
            assert_eq!(reader.next().unwrap().unwrap().device, device);
        }
        let warnings = reader.notes();
        assert!(
            warnings[0].contains("hm from 0, src1 from 65536, usr from 131072"),
            "{warnings:?}"
        );
    }

    #[test]
    fn disks_of_one_host_may_have_any_number_and_those_of_several_may_not() {
        let high = "1,hm,4294967295,Read,0,512,1\n";
        let read = records(high, &FormatOptions::default()).unwrap();
        assert_eq!(read[0].device, u32::MAX);
        let low = "1,src1,0,Read,0,512,1\n";
        for text in [
            format!("{high}{low}"),
            format!("{low}{}", high.replace("4294967295", "65536")),
        ] {
            let error = located(records(text, &FormatOptions::default()).unwrap_err());
            assert!(error.message.contains("no device number"), "{error}");
            assert!(matches!(error.place, Some(Place::Line { line: 2, .. })));
        }
    }

    #[test]
    fn odd_bytes_widen_and_are_told() {
        let mut reader = reader("1,hm,0,Read,100,512,1", &FormatOptions::default()).unwrap();
        assert_eq!(reader.next().unwrap().unwrap().blocks, 2);
        assert_eq!(reader.notes().len(), 1);
    }
}
