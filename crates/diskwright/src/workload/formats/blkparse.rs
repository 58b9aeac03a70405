//! The text that blkparse writes in its default format: a line an event, then a summary.
//!
//! A line is device, CPU, sequence number, seconds, process id, action and letters (`"%D %2c %8s %5T.%9t %5p %2a %3d "`), then
//! what the action is about: blkparse(1) and `process_default` in its `blkparse_fmt.c`.

use std::io::{self, Write};

use crate::base::error::{Error, InputError, Place};
use crate::base::units::Time;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::{Field, Fields, Lines, TimeUnit, whole};
use crate::workload::writing::{Holds, TraceWriter, Writing};

use super::blk_events::{self, BlkEvent, EventRequests, Extent};
use super::{Format, FormatOptions, TraceReader, lines_of};

/// The format's name.
pub const NAME: &str = "blkparse";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["blkparse", "txt"],
    summary: "blkparse's text in its default format",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            least_blocks: 1,
            recorded: false,
            ..Holds::ALL
        },
        extension: Some("blkparse"),
        create: |output| {
            Ok(Box::new(Writer {
                output,
                sequence: 0,
            }))
        },
    }),
};

fn detect(first: &[u8]) -> bool {
    let mut lines = lines_of(first).filter(|line| !line.starts_with(INPUT));
    lines
        .next()
        .is_some_and(|line| is_event(line) && Header::parse(line).is_ok())
}

fn open(input: Input, options: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    Ok(Box::new(Reader {
        lines: Lines::new(input),
        event: options.blktrace.event,
        summary: false,
        second: None,
        other: 0,
        odd: 0,
    }))
}

/// What blkparse says of the files it reads, before or after all else.
const INPUT: &[u8] = b"Input file ";

struct Reader {
    lines: Lines,
    event: BlkEvent,
    /// The lines are those of a summary.
    summary: bool,
    /// The other request of the current line.
    second: Option<Record>,
    /// Chosen events that are no requests.
    other: u64,
    /// Lines in a summary that are not blkparse's.
    odd: u64,
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        if let Some(second) = self.second.take() {
            return Ok(Some(second));
        }
        while self.lines.advance()? {
            let line = self.lines.current();
            if !is_event(line) {
                self.pass_over()?;
                continue;
            }
            self.summary = false;
            match parse(line, self.event) {
                Ok(Content::Request(requests)) => {
                    self.second = requests.second;
                    return Ok(Some(requests.first));
                }
                Ok(Content::OtherEvent) => {}
                Ok(Content::OtherCommand) => self.other += 1,
                Err(wrong) => return Err(wrong.error(&self.lines).into()),
            }
        }
        Ok(None)
    }
    fn place(&self) -> Place {
        self.lines.place(None)
    }
    fn format(&self) -> &'static str {
        NAME
    }
    fn discarded(&self) -> u64 {
        self.other
    }
    fn warnings(&self) -> Vec<String> {
        let odd = (self.odd > 0).then(|| {
            format!(
                "{} lines are neither events nor of blkparse's summary and were passed over",
                self.odd
            )
        });
        odd.into_iter().collect()
    }
    fn notes(&self) -> Vec<String> {
        blk_events::other_note(self.other).into_iter().collect()
    }
}

impl Reader {
    /// Takes a line that is no event, if it can be one of a summary.
    #[cold]
    fn pass_over(&mut self) -> Result<(), Error> {
        let line = self.lines.current().trim_ascii_end();
        if line.starts_with(INPUT) {
            return Ok(());
        }
        // The parts of a summary: of a CPU, or of a process.
        let part = line.starts_with(b"CPU") || names_process(line);
        let known = [
            &b" "[..],
            b"Total (",
            b"Throughput (",
            b"Events (",
            b"Skips: ",
        ];
        if part {
            self.summary = true;
        } else if !self.summary {
            return Err(self
                .lines
                .expected(0, "a device, as in 8,0")
                .help(HELP)
                .into());
        } else if !known.iter().any(|known| line.starts_with(known)) {
            self.odd += 1;
        }
        Ok(())
    }
}

/// Whether a line begins as events do: two numbers and a comma between them.
#[inline]
fn is_event(line: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().position(|b| !b.is_ascii_digit());
    let line = line.trim_ascii_start();
    match digits(line) {
        Some(comma) if comma > 0 && line[comma] == b',' => {
            line.get(comma + 1).is_some_and(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// Whether a line ends with the number of a process in parentheses: `(697)`, or `(697, ...)` for several of one name.
fn names_process(line: &[u8]) -> bool {
    let number = line
        .strip_suffix(b")")
        .and_then(|line| Some(&line[memchr::memrchr(b'(', line)? + 1..]));
    number.is_some_and(|n| {
        n.first().is_some_and(u8::is_ascii_digit)
            && n.iter().all(|b| b.is_ascii_digit() || b", .".contains(b))
    })
}

const HELP: &str = "a line is blkparse's default: 8,0 3 1 0.000000000 697 Q W 223490 + 8 [name]; formats of one's own (-f, -F) are not read";

/// A field that is missing or wrong: where, and what it should have been.
struct Wrong {
    at: usize,
    expected: &'static str,
}

impl Wrong {
    #[cold]
    fn error(&self, lines: &Lines) -> InputError {
        lines.expected(self.at, self.expected).help(HELP)
    }
}

/// What all events begin with.
struct Header<'a> {
    device: u32,
    at: Time,
    action: &'a [u8],
    rest: Rest<'a>,
}

/// The fields of a line that are still to be read.
struct Rest<'a> {
    fields: Fields<'a>,
    end: usize,
}

impl<'a> Rest<'a> {
    #[inline]
    fn field(&mut self, expected: &'static str) -> Result<Field<'a>, Wrong> {
        let at = self.end;
        self.fields.next().ok_or(Wrong { at, expected })
    }
    #[inline]
    fn value<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&'a [u8]) -> Option<T>,
    ) -> Result<T, Wrong> {
        let field = self.field(expected)?;
        parse(field.text).ok_or(Wrong {
            at: field.at,
            expected,
        })
    }
}

impl<'a> Header<'a> {
    #[inline]
    fn parse(line: &'a [u8]) -> Result<Header<'a>, Wrong> {
        let mut rest = Rest {
            fields: Fields::new(line),
            end: line.len(),
        };
        let device = rest.value("a device, as in 8,0", |text| {
            let comma = text.iter().position(|b| *b == b',')?;
            blk_events::device(whole(&text[..comma])?, whole(&text[comma + 1..])?)
        })?;
        rest.value("a CPU's number", whole)?;
        // blkparse shows large sequence numbers as negative ones.
        rest.value("a sequence number", |text| {
            whole(text.strip_prefix(b"-").unwrap_or(text))
        })?;
        let at = rest.value("a time in seconds", |text| TimeUnit::S.time(text))?;
        rest.value("a process id", whole)?;
        let action = rest.value("an action, such as Q", |text| {
            text.iter().all(u8::is_ascii_alphabetic).then_some(text)
        })?;
        Ok(Header {
            device,
            at,
            action,
            rest,
        })
    }
}

/// What a line of an event says.
enum Content {
    Request(EventRequests),
    /// Not the event asked for.
    OtherEvent,
    /// The event asked for, of a command that is none of the engine's.
    OtherCommand,
}

#[inline]
fn parse(line: &[u8], event: BlkEvent) -> Result<Content, Wrong> {
    let header = Header::parse(line)?;
    let mut rest = header.rest;
    if header.action != [event.letter()] {
        return Ok(Content::OtherEvent);
    }
    let category = rest.value("letters of the kind of request, such as R or FWS", |text| {
        blk_events::categories(text)
    })?;
    let bracketed = |text: &[u8]| text.starts_with(b"[") || text.starts_with(b"(");
    let first = rest.field("a sector or a name in brackets")?;
    // A request of no blocks has no sector.
    let (lbn, blocks) = if bracketed(first.text) {
        (0, 0)
    } else {
        let lbn = whole(first.text).ok_or(Wrong {
            at: first.at,
            expected: "a sector",
        })?;
        let plus = rest.field("a + before the number of blocks")?;
        if bracketed(plus.text) {
            // A command passed through to the device: its bytes, and what it is.
            return Ok(Content::OtherCommand);
        }
        if plus.text != b"+" {
            return Err(Wrong {
                at: plus.at,
                expected: "a + before the number of blocks",
            });
        }
        let blocks = rest.value("a number of blocks", whole)?;
        // A line that ends here may have lost the end of this number.
        rest.value("a name in brackets", |text| bracketed(text).then_some(()))?;
        (lbn, blocks)
    };
    let extent = Extent {
        at: header.at,
        device: header.device,
        lbn,
        blocks,
    };
    Ok(match blk_events::event_requests(category, extent) {
        Some(requests) => Content::Request(requests),
        None => Content::OtherCommand,
    })
}

struct Writer {
    output: Output,
    sequence: u64,
}

impl TraceWriter for Writer {
    fn write(&mut self, record: &Record) -> io::Result<()> {
        self.sequence += 1;
        let (major, minor) = blk_events::major_minor(record.device);
        let (s, ns) = (
            record.arrival.ns() / 1_000_000_000,
            record.arrival.ns() % 1_000_000_000,
        );
        let (letters, lbn, blocks) = (blk_events::letters(record), record.lbn.0, record.blocks);
        write!(
            self.output,
            "{major:3},{minor:<3} {:2} {:8} {s:5}.{ns:09} {:5} {:>2} {letters:>3} ",
            0, self.sequence, 0, 'Q'
        )?;
        if blocks == 0 {
            writeln!(self.output, "[diskwright]")
        } else {
            writeln!(self.output, "{lbn} + {blocks} [diskwright]")
        }
    }
    fn finish(self: Box<Self>) -> io::Result<Output> {
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::base::units::Lbn;
    use crate::engine::request::Op;
    use crate::workload::formats::BlktraceOptions;

    /// As blkparse writes it, from a trace of one CPU.
    const TEXT: &str = "\
  8,0    0        0     0.000000000     0  m   N hello [world] 1
  8,0    0        1     0.000001000   697  Q  WS 1000 + 8 [kjournald]
  8,0    0        2     0.000002000   697  A   W 1008 + 8 <- (8,1) 9
  8,0    0        3     0.000003000   697  Q FWS [kjournald]
  8,0    0        4     0.000004000   697  Q FWFS 1024 + 8 [k [2] d]
  8,0    0        5     0.000005000   697  Q RAM 1032 + 16 [kjournald]
259,1    0        6     0.000006000   697  Q   D 1040 + 16 [kjournald]
  8,0    0        7     0.000007000   697  D   R 36 (12 00 00 00 24 00 ..) [kjournald]
  8,0    0        8     0.000008000   697  D   W 1056 + 8 (     123) [kjournald]
  8,0    0        9     0.000009000   697  D  FN [kjournald]
  8,0    0       10     0.000010000   697  C   W 1072 + 8 [0]
  8,0    0       11     0.000011000   697  P   N [kjournald]
  8,0    0       12     0.000012000   697  U   N [kjournald] 3
  8,0    0       14     0.000014000   697  Q   N [kjournald]
kjournald (697)
 Reads Queued:           4,       17KiB\t Writes Queued:           8,       32KiB

CPU0 (sda):
 Reads Queued:           2,        8KiB\t Writes Queued:           4,       16KiB

Total (sda):
 Timer unplugs:           0

Throughput (R/W): 0KiB/s / 0KiB/s
Events (sda): 30 entries
Skips: 0 forward (0 -   0.0%)
Input file sda.blktrace.0 added
";

    fn issued() -> FormatOptions {
        FormatOptions {
            blktrace: BlktraceOptions {
                event: BlkEvent::Issue,
            },
            ..FormatOptions::default()
        }
    }

    /// Time in µs, operation, force unit access, first block, blocks.
    fn seen(records: &[Record]) -> Vec<(u64, Op, bool, u64, u32)> {
        let of = |r: &Record| (r.arrival.ns() / 1_000, r.op, r.fua, r.lbn.0, r.blocks);
        records.iter().map(of).collect()
    }

    #[test]
    fn what_was_queued_is_read_as_documented() {
        let mut reader = reader(TEXT, &FormatOptions::default()).unwrap();
        let mut read = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            read.push(record);
        }
        assert_eq!(
            seen(&read),
            [
                (1, Op::Write, false, 1000, 8),
                (3, Op::Flush, false, 0, 0),
                (4, Op::Flush, false, 0, 0),
                (4, Op::Write, true, 1024, 8),
                (5, Op::Read, false, 1032, 16),
                (6, Op::Trim, false, 1040, 16),
            ]
        );
        assert_eq!((read[0].device, read[5].device), (8 << 20, 259 << 20 | 1));
        assert_eq!(reader.discarded(), 1);
        assert_eq!(reader.notes().len(), 1, "{:?}", reader.notes());
    }

    #[test]
    fn what_was_issued_is_read_as_documented() {
        let mut reader = reader(TEXT, &issued()).unwrap();
        let mut read = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            read.push(record);
        }
        assert_eq!(
            seen(&read),
            [(8, Op::Write, false, 1056, 8), (9, Op::Flush, false, 0, 0)]
        );
        assert_eq!(reader.discarded(), 1);
        assert!(reader.notes()[0].contains("1 events"));
    }

    #[test]
    fn the_line_of_the_manual_is_an_event() {
        let manual = "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n";
        assert!(detect(manual.as_bytes()));
        assert!(detect(
            format!("Input file sda.blktrace.0 added\n{manual}").as_bytes()
        ));
        assert!(
            records(manual, &FormatOptions::default())
                .unwrap()
                .is_empty()
        );
        let queued = manual.replace('G', "Q").replace("       1 ", "-2147483648");
        let read = records(queued, &FormatOptions::default()).unwrap();
        assert_eq!((read[0].lbn, read[0].blocks), (Lbn(223_490), 8));
    }

    #[test]
    fn fields_are_checked_and_located() {
        check_wrong_lines(
            NAME,
            "8,0 0 1 0.5 1 Q R 1 + 8 [a]",
            &[
                (
                    "8,x 0 1 0.5 1 Q R 1 + 8 [a]",
                    1,
                    "expected a device, as in 8,0, found \"8,x\"",
                ),
                ("4096,0 0 1 0.5 1 Q R 1 + 8 [a]", 1, "device"),
                ("8,0 x 1 0.5 1 Q R 1 + 8 [a]", 5, "CPU"),
                ("8,0 0 x 0.5 1 Q R 1 + 8 [a]", 7, "sequence"),
                ("8,0 0 1 x 1 Q R 1 + 8 [a]", 9, "time"),
                ("8,0 0 1 0.5 x Q R 1 + 8 [a]", 13, "process id"),
                ("8,0 0 1 0.5 1 [a]", 15, "action"),
                ("8,0 0 1 0.5 1 Q X 1 + 8 [a]", 17, "letters"),
                ("8,0 0 1 0.5 1 Q R -1 + 8 [a]", 19, "sector"),
                ("8,0 0 1 0.5 1 Q R 1 - 8 [a]", 21, "a + before"),
                ("8,0 0 1 0.5 1 Q R 1", 20, "a + before"),
                ("8,0 0 1 0.5 1 Q R 1 + x [a]", 23, "number of blocks"),
                ("8,0 0 1 0.5 1 Q R 1 + 8", 24, "name in brackets"),
                ("8,0 0 1 0.5 1 Q R", 18, "a sector or a name"),
                ("8,0 0 1 0.5", 12, "process id"),
                ("hello", 1, "device"),
                ("hello (world)", 1, "device"),
            ],
        );
    }

    #[test]
    fn what_is_no_part_of_a_summary_is_told() {
        let text = format!("{TEXT}something else\n{TEXT}");
        let mut reader = reader(text, &FormatOptions::default()).unwrap();
        let mut count = 0;
        while reader.next().unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 12);
        assert!(reader.warnings()[0].contains("1 lines"));
    }

    #[test]
    fn processes_are_named_with_their_numbers() {
        for (line, is) in [
            ("kjournald (697)", true),
            ("a b (1, 2)", true),
            ("fio (1, ...)", true),
            ("fio ()", false),
            ("fio (x)", false),
            ("fio 1)", false),
        ] {
            assert_eq!(names_process(line.as_bytes()), is, "{line}");
        }
    }
}
