//! The I/O logs of fio, versions 2 and 3, told apart by their first line.
//!
//! Source: "Trace file format v2" and "v3" of fio's `HOWTO.rst`, and `iolog.c` (<https://github.com/axboe/fio>). The unit of
//! version 3's times is in `iolog.c` only: `log_io_u` writes microseconds since the start, and `iolog_delay` waits as many.

use std::io::{self, Write};

use foldhash::quality::FixedState;
use hashbrown::HashMap;

use crate::base::error::{Error, InputError, Place};
use crate::base::units::{BLOCK_BYTES, Lbn, Time};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::{Lines, shown, whole};
use crate::workload::writing::{Holds, TraceWriter, Writing};

use super::fields::{Wrong, blanks, time};
use super::{Format, FormatOptions, TraceReader, first_line, outward, widened_note};

const NAME: &str = "fio-iolog";
/// Its times are whole microseconds.
const UNIT: Time = Time::from_us(1);

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["iolog", "log"],
    summary: "fio I/O log, version 2 or 3",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            time: UNIT,
            // Each number has its file, and each file a line.
            devices: Some(u16::MAX as u32),
            // Offsets are counted in bytes, lengths in 32 bits of them.
            lbn: 1 << 54,
            blocks: (u32::MAX as u64 / BLOCK_BYTES) as u32,
            fua: false,
            recorded: false,
            ..Holds::ALL
        },
        extension: Some("iolog"),
        create,
    }),
};

#[derive(Clone, Copy, PartialEq)]
enum Version {
    /// No times, but waits between requests.
    Two,
    /// A time in front of every line.
    Three,
}

impl Version {
    /// What a line is.
    fn help(self) -> &'static str {
        match self {
            Version::Two => {
                "a line is: file name and add, open or close; or file name, read, write, trim, sync, datasync or wait, offset (of a wait, µs), length in bytes"
            }
            Version::Three => {
                "a line is: time in µs, file name and add, open or close; or time in µs, file name, read, write, trim, sync or datasync, offset and length in bytes"
            }
        }
    }
}

/// The version's digits of a log's first line.
fn version(line: &[u8]) -> Option<&[u8]> {
    line.trim_ascii()
        .strip_prefix(b"fio version ")?
        .strip_suffix(b" iolog")
}

fn detect(first: &[u8]) -> bool {
    version(first_line(first)).is_some()
}

fn open(input: Input, _: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    let mut lines = Lines::new(input);
    if !lines.advance()? {
        return Err(InputError::new("the trace is empty: not even a first line")
            .at(lines.file())
            .into());
    }
    let version = match version(lines.current()) {
        Some(b"2") => Version::Two,
        Some(b"3") => Version::Three,
        _ => {
            let message = format!(
                "expected \"fio version 2 iolog\" or \"fio version 3 iolog\", found {:?}",
                shown(lines.current())
            );
            return Err(lines.wrong(0, message).into());
        }
    };
    Ok(Box::new(Reader {
        lines,
        version,
        devices: HashMap::with_hasher(FixedState::default()),
        clock: Time::ZERO,
        waited: false,
        requests: 0,
        discarded: 0,
        widened: 0,
    }))
}

struct Reader {
    lines: Lines,
    version: Version,
    /// The number of each file named so far.
    devices: HashMap<Box<[u8]>, u32, FixedState>,
    /// In version 2, the sum of the waits so far.
    clock: Time,
    waited: bool,
    requests: u64,
    discarded: u64,
    widened: u64,
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        loop {
            if !self.lines.advance()? {
                return Ok(None);
            }
            let line = match parse(self.lines.current(), self.version) {
                Ok(line) => line,
                Err(wrong) => {
                    return Err(wrong.error(&self.lines, self.version.help()).into());
                }
            };
            let device = match self.devices.get(line.file) {
                Some(device) => *device,
                // Where a wait stands, there need not be a file.
                None if matches!(line.action, Action::Wait(_)) => 0,
                None => {
                    let next = u32::try_from(self.devices.len()).unwrap_or(u32::MAX);
                    self.devices.insert(line.file.into(), next);
                    next
                }
            };
            match line.action {
                Action::Manage => {}
                Action::Ignored => self.discarded += 1,
                Action::Wait(time) => {
                    self.waited = true;
                    self.clock = self.clock.checked_add(time).ok_or_else(|| {
                        self.lines
                            .wrong(0, "the waits add up to more than 584 years")
                    })?;
                }
                Action::Request {
                    op,
                    lbn,
                    blocks,
                    widened,
                } => {
                    self.requests += 1;
                    self.widened += u64::from(widened);
                    return Ok(Some(Record {
                        arrival: line.time.unwrap_or(self.clock),
                        device,
                        op,
                        fua: false,
                        lbn: Lbn(lbn),
                        blocks: Record::clamp_blocks(blocks),
                        recorded: None,
                    }));
                }
            }
        }
    }
    fn place(&self) -> Place {
        self.lines.place(None)
    }
    fn format(&self) -> &'static str {
        NAME
    }
    fn discarded(&self) -> u64 {
        self.discarded
    }
    fn warnings(&self) -> Vec<String> {
        let timeless = self.version == Version::Two && self.requests > 0 && !self.waited;
        let timeless = timeless.then(|| {
            "the fio log has no times: all its requests arrive at 0, which suits workload.pace = \"closed\""
                .to_owned()
        });
        timeless.into_iter().collect()
    }
    fn notes(&self) -> Vec<String> {
        let discarded = (self.discarded > 0).then(|| {
            format!(
                "{} sync_file_range lines, which fio itself does not replay, were left out",
                self.discarded
            )
        });
        discarded
            .into_iter()
            .chain(widened_note(self.widened))
            .collect()
    }
}

struct Line<'a> {
    /// In version 3.
    time: Option<Time>,
    file: &'a [u8],
    action: Action,
}

enum Action {
    /// A file is added, opened or closed.
    Manage,
    Wait(Time),
    Request {
        op: Op,
        lbn: u64,
        blocks: u64,
        widened: bool,
    },
    Ignored,
}

#[inline]
fn parse(line: &[u8], version: Version) -> Result<Line<'_>, Wrong> {
    enum Kind {
        Manage,
        Wait,
        Io(Op),
        Ignored,
    }
    let mut row = blanks(line);
    let micros = |text: &[u8]| time(text, UNIT.ns());
    let (stamp, expected) = match version {
        Version::Two => (
            None,
            "add, open, close, read, write, trim, sync, datasync or wait",
        ),
        Version::Three => (
            Some(row.take("a time in whole µs", micros)?),
            "add, open, close, read, write, trim, sync or datasync",
        ),
    };
    let file = row.take("a file name", Some)?;
    let kind = row.take(expected, |text| {
        Some(match text {
            b"read" => Kind::Io(Op::Read),
            b"write" => Kind::Io(Op::Write),
            b"trim" => Kind::Io(Op::Trim),
            b"sync" | b"datasync" => Kind::Io(Op::Flush),
            b"add" | b"open" | b"close" => Kind::Manage,
            b"wait" if version == Version::Two => Kind::Wait,
            b"sync_file_range" => Kind::Ignored,
            _ => return None,
        })
    })?;
    let action = match kind {
        Kind::Manage => Action::Manage,
        Kind::Wait => {
            let time = row.take("a time to wait in whole µs", micros)?;
            row.take("a length", whole)?;
            Action::Wait(time)
        }
        Kind::Ignored | Kind::Io(Op::Flush) => {
            row.take("an offset in bytes", whole)?;
            row.take("a length in bytes", whole)?;
            match kind {
                Kind::Io(op) => Action::Request {
                    op,
                    lbn: 0,
                    blocks: 0,
                    widened: false,
                },
                _ => Action::Ignored,
            }
        }
        Kind::Io(op) => {
            let offset = row.take("an offset in bytes", whole)?;
            let (lbn, blocks, widened) = row
                .take("a length in bytes that ends below 16 EiB", |text| {
                    outward(offset, whole(text)?)
                })?;
            Action::Request {
                op,
                lbn,
                blocks,
                widened,
            }
        }
    };
    row.end()?;
    Ok(Line {
        time: stamp,
        file,
        action,
    })
}

struct Writer {
    output: Output,
    /// Which of the files added so far were opened, by their number.
    opened: Vec<bool>,
    /// The time of the last line.
    time: u64,
}

fn create(mut output: Output) -> io::Result<Box<dyn TraceWriter>> {
    writeln!(output, "fio version 3 iolog")?;
    Ok(Box::new(Writer {
        output,
        opened: Vec::new(),
        time: 0,
    }))
}

impl TraceWriter for Writer {
    fn write(&mut self, record: &Record) -> io::Result<()> {
        let (time, device) = (record.arrival.ns() / UNIT.ns(), record.device as usize);
        self.time = time;
        // Files are numbered in the order in which they are added, so those before this one come first.
        while self.opened.len() <= device {
            writeln!(self.output, "{time} device{} add", self.opened.len())?;
            self.opened.push(false);
        }
        if !std::mem::replace(&mut self.opened[device], true) {
            writeln!(self.output, "{time} device{device} open")?;
        }
        let action = match record.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "sync",
            Op::Trim => "trim",
            Op::NvCache(command) => command.is_in_no_workload(),
        };
        let offset = record.lbn.0 * BLOCK_BYTES;
        let length = u64::from(record.blocks) * BLOCK_BYTES;
        writeln!(
            self.output,
            "{time} device{device} {action} {offset} {length}"
        )
    }
    fn finish(mut self: Box<Self>) -> io::Result<Output> {
        for (device, _) in self
            .opened
            .iter()
            .enumerate()
            .filter(|(_, opened)| **opened)
        {
            writeln!(self.output, "{} device{device} close", self.time)?;
        }
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests;
