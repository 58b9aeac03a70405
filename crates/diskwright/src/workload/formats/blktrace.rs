//! Binary traces of blktrace: the files of each CPU, `NAME.blktrace.N`, merged by time; or one file of all.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Place};
use crate::request::Op;
use crate::units::{BLOCK_BYTES, Time};
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::writing::{Holds, TraceWriter, Writing};

use super::blk_events::{self, Asked, BlkEvent, category};
use super::blktrace_source::{MAGIC, Source, VERSIONS, version};
use super::unix_time::iso_date;
use super::{Format, FormatOptions, TraceReader, widened_warning};

/// The format's name.
pub const NAME: &str = "blktrace";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["blktrace"],
    summary: "Linux blktrace binary, a file of each CPU or one of all",
    detect,
    open,
    write: Some(Writing {
        holds: Holds {
            least_blocks: 1,
            // Sizes are in bytes, in 32 bits.
            blocks: (u32::MAX as u64 / BLOCK_BYTES) as u32,
            recorded: false,
            ..Holds::ALL
        },
        extension: Some("blktrace"),
        create,
    }),
};

fn detect(first: &[u8]) -> bool {
    let magic = first.first_chunk().copied();
    // Versions that never were are not claimed: the bytes could be letters.
    magic
        .and_then(version)
        .is_some_and(|(_, version)| (1..=VERSIONS[1]).contains(&version))
}

fn open(input: Input, options: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    let given = input.path().to_owned();
    let mut sources = Vec::new();
    let mut given_input = Some(input);
    for path in files_beside(&given)? {
        let input = match given_input.take_if(|_| path == given) {
            Some(input) => input,
            None => Input::open(&path)?,
        };
        sources.push(Source::new(input));
    }
    Ok(Box::new(Reader {
        heads: vec![None; sources.len()],
        to_read: (0..sources.len()).rev().collect(),
        order: BinaryHeap::with_capacity(sources.len()),
        current: 0,
        sources,
        event: options.blktrace.event,
        second: None,
        start_date: None,
    }))
}

/// A path that ends in `.blktrace.N`, or that and the extension of a compression, in its parts.
struct PerCpu<'a> {
    /// The name before the number.
    before: &'a str,
    cpu: u32,
    /// What follows the number.
    after: &'a str,
}

impl<'a> PerCpu<'a> {
    fn new(name: &'a str) -> Option<PerCpu<'a>> {
        const MARK: &str = ".blktrace.";
        let (before, rest) = name.split_at(name.rfind(MARK)? + MARK.len());
        let digits = rest.bytes().position(|b| !b.is_ascii_digit());
        let (number, after) = rest.split_at(digits.unwrap_or(rest.len()));
        let cpu: u32 = number.parse().ok()?;
        // A number with zeros before it is not blktrace's.
        let plain = number.len() == 1 || !number.starts_with('0');
        (plain && matches!(after, "" | ".gz" | ".zst")).then_some(PerCpu { before, cpu, after })
    }
}

/// The file given and, if it is one of a CPU, those of the other CPUs, in their order.
fn files_beside(given: &Path) -> Result<Vec<PathBuf>, Error> {
    let name = given.file_name().and_then(|name| name.to_str());
    let Some(of) = name.and_then(PerCpu::new) else {
        return Ok(vec![given.to_owned()]);
    };
    let folder = match given.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let failed = |e| Error::file(folder, "read", e);
    let mut found = vec![(of.cpu, given.to_owned())];
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let sibling = name.to_str().and_then(PerCpu::new).filter(|other| {
            (other.before, other.after) == (of.before, of.after) && other.cpu != of.cpu
        });
        if let Some(sibling) = sibling {
            found.push((sibling.cpu, given.with_file_name(&name)));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The requests of several files, by time, and where that is the same by the files' order.
struct Reader {
    sources: Vec<Source>,
    /// The next requests of each file.
    heads: Vec<Option<Asked>>,
    /// Files whose next requests are yet to be read.
    to_read: Vec<usize>,
    order: BinaryHeap<Reverse<(Time, usize)>>,
    /// The file of the requests just returned. It is read on only when they are no longer needed, so that it tells their place.
    current: usize,
    event: BlkEvent,
    second: Option<Record>,
    start_date: Option<String>,
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        if let Some(second) = self.second.take() {
            return Ok(Some(second));
        }
        while let Some(file) = self.to_read.pop() {
            self.current = file;
            let source = &mut self.sources[file];
            let head = source.next(self.event)?;
            if self.start_date.is_none() {
                self.start_date = source.started.map(iso_date);
            }
            if let Some(head) = head {
                self.order.push(Reverse((head.first.arrival, file)));
            }
            self.heads[file] = head;
        }
        let Some(Reverse((_, file))) = self.order.pop() else {
            return Ok(None);
        };
        self.current = file;
        self.to_read.push(file);
        let asked = self.heads[file].expect("a file in the order has requests");
        self.second = asked.second;
        Ok(Some(asked.first))
    }
    fn place(&self) -> Place {
        self.sources[self.current].place()
    }
    fn format(&self) -> &'static str {
        NAME
    }
    fn discarded(&self) -> u64 {
        self.sources.iter().map(|source| source.other).sum()
    }
    fn start_date(&self) -> Option<&str> {
        self.start_date.as_deref()
    }
    fn warnings(&self) -> Vec<String> {
        let sum = |of: fn(&Source) -> u64| self.sources.iter().map(of).sum::<u64>();
        let missing = sum(|source| source.missing);
        let missing = (missing > 0).then(|| {
            format!("{missing} events are missing, by the gaps in their numbers: the recording dropped them, or they were filtered out")
        });
        let others = [
            blk_events::other_warning(self.discarded()),
            missing,
            widened_warning(sum(|source| source.widened)),
        ];
        others.into_iter().flatten().collect()
    }
}

struct Writer {
    output: Output,
    /// The number of each device's last event.
    sequences: HashMap<u32, u32>,
}

/// What a record written says.
struct Event {
    sequence: u32,
    time: u64,
    sector: u64,
    bytes: u32,
    /// Categories of requests and notes are in the lower sixteen bits of their words, so that an action has 32.
    action: u64,
    device: u32,
    payload: &'static [u8],
}

impl Event {
    /// Of process 0, on CPU 0, without an error.
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for word in [MAGIC | VERSIONS[0], self.sequence] {
            out.write_all(&word.to_le_bytes())?;
        }
        for word in [self.time, self.sector] {
            out.write_all(&word.to_le_bytes())?;
        }
        for word in [self.bytes, self.action as u32, 0, self.device, 0] {
            out.write_all(&word.to_le_bytes())?;
        }
        for half in [0, self.payload.len() as u16] {
            out.write_all(&half.to_le_bytes())?;
        }
        out.write_all(self.payload)
    }
}

/// A file begins with a note of the name of process 0.
fn create(mut output: Output) -> io::Result<Box<dyn TraceWriter>> {
    let note = Event {
        sequence: 0,
        time: 0,
        sector: 0,
        bytes: 0,
        action: category::NOTIFY << 16,
        device: 0,
        payload: b"diskwright\0\0\0\0\0\0",
    };
    note.write(&mut output)?;
    Ok(Box::new(Writer {
        output,
        sequences: HashMap::new(),
    }))
}

impl TraceWriter for Writer {
    fn write(&mut self, record: &Record) -> io::Result<()> {
        let sequence = self.sequences.entry(record.device).or_insert(0);
        *sequence = sequence.wrapping_add(1);
        let kind = match record.op {
            Op::Read => category::READ,
            Op::Write => category::WRITE,
            Op::Flush => category::WRITE | category::FLUSH,
            Op::Trim => category::WRITE | category::DISCARD,
        };
        let fua = if record.fua { category::FUA } else { 0 };
        let event = Event {
            sequence: *sequence,
            time: record.arrival.ns(),
            sector: record.lbn.0,
            bytes: (u64::from(record.blocks) * BLOCK_BYTES) as u32,
            action: (category::QUEUE | kind | fua) << 16 | BlkEvent::Queue.number(),
            device: record.device,
            payload: b"",
        };
        event.write(&mut self.output)
    }
    fn finish(self: Box<Self>) -> io::Result<Output> {
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::error::InputError;
    use crate::units::Lbn;
    use crate::workload::formats::BlktraceOptions;
    use category::{DISCARD, FLUSH, FUA, NOTIFY, PASSTHROUGH, QUEUE, READ, WRITE};

    const SYNC: u64 = 1 << 3;
    const ISSUE: u64 = 1 << 6;
    const Q: u64 = 1;
    const D: u64 = 7;
    const COMPLETE: u64 = 8;
    const REMAP: u64 = 15;
    const IN_CGROUP: u64 = 1 << 8;

    /// A record to be put together, by its number in the file.
    #[derive(Clone, Copy)]
    struct Made {
        version: u32,
        big: bool,
        time: u64,
        sector: u64,
        bytes: u32,
        action: u64,
        device: u32,
        cpu: u32,
        payload: &'static [u8],
    }

    const MADE: Made = Made {
        version: 7,
        big: false,
        time: 5,
        sector: 1000,
        bytes: 4096,
        action: Q | (QUEUE | WRITE | SYNC) << 16,
        device: 8 << 20,
        cpu: 0,
        payload: b"",
    };

    impl Made {
        /// Each field on its own, as the header has them.
        fn record(&self, sequence: u32) -> Vec<u8> {
            let mut out = Vec::new();
            let mut put = |bytes: &[u8]| match self.big {
                true => out.extend(bytes),
                false => out.extend(bytes.iter().rev()),
            };
            put(&(0x6561_7400 | self.version).to_be_bytes());
            put(&sequence.to_be_bytes());
            put(&self.time.to_be_bytes());
            put(&self.sector.to_be_bytes());
            put(&self.bytes.to_be_bytes());
            let pid = 697u32.to_be_bytes();
            if self.version == 8 {
                put(&pid);
                put(&self.action.to_be_bytes());
            } else {
                put(&u32::try_from(self.action).unwrap().to_be_bytes());
                put(&pid);
            }
            put(&self.device.to_be_bytes());
            put(&self.cpu.to_be_bytes());
            put(&0u16.to_be_bytes());
            put(&(self.payload.len() as u16).to_be_bytes());
            if self.version == 8 {
                put(&[0; 12]);
            }
            out.extend(self.payload);
            out
        }
    }

    fn file(made: &[Made]) -> Vec<u8> {
        let numbered = made.iter().zip(1..);
        numbered.flat_map(|(made, n)| made.record(n)).collect()
    }

    fn options(event: BlkEvent) -> FormatOptions {
        FormatOptions {
            blktrace: BlktraceOptions { event },
            ..FormatOptions::default()
        }
    }

    fn drain(reader: &mut dyn TraceReader) -> Vec<Record> {
        std::iter::from_fn(|| reader.next().unwrap()).collect()
    }

    #[test]
    fn records_of_both_versions_and_orders_are_read() {
        for version in [7, 8] {
            for big in [false, true] {
                let bytes = file(&[Made {
                    version,
                    big,
                    ..MADE
                }]);
                assert_eq!(bytes.len(), if version == 7 { 48 } else { 64 });
                let first = if big { 0x65 } else { version as u8 };
                assert_eq!(bytes[0], first);
                let read = records(bytes, &FormatOptions::default()).unwrap();
                let expected = Record {
                    arrival: Time::from_ns(5),
                    device: 8 << 20,
                    op: Op::Write,
                    fua: false,
                    lbn: Lbn(1000),
                    blocks: 8,
                    recorded: None,
                };
                assert_eq!(read, [expected], "{version} {big}");
            }
        }
    }

    #[test]
    fn only_the_event_asked_for_is_an_arrival() {
        let note = |number: u64, payload| Made {
            action: number | NOTIFY << 16,
            payload,
            ..MADE
        };
        let of = |number: u64, categories: u64, bytes: u32| Made {
            action: number | categories << 16,
            bytes,
            ..MADE
        };
        let bytes = file(&[
            note(0, b"kjournald\0\0\0\0\0\0\0"),
            note(1, b"\x00\xf1\x53\x65\x05\0\0\0"),
            note(2 | IN_CGROUP, b"\x01\0\0\0\0\0\0\0a message"),
            of(Q, QUEUE | READ, 4096),
            Made {
                payload: &[0; 16],
                ..of(REMAP, QUEUE | READ, 4096)
            },
            Made {
                payload: &[0; 8],
                ..of(Q | IN_CGROUP, QUEUE | WRITE | FUA, 1000)
            },
            of(Q, QUEUE | WRITE | DISCARD, 8192),
            of(Q, QUEUE | WRITE | FLUSH, 0),
            of(Q, QUEUE | WRITE | FLUSH | FUA, 512),
            of(Q, QUEUE | WRITE, 0),
            Made {
                payload: b"\x12\0\0\0\x24\0",
                ..of(D, ISSUE | READ | PASSTHROUGH, 36)
            },
            of(D, ISSUE | WRITE, 4096),
            of(D, ISSUE | READ | FLUSH, 0),
            of(COMPLETE, 1 << 7 | WRITE, 4096),
        ]);
        let mut queued = reader(bytes.clone(), &FormatOptions::default()).unwrap();
        let seen = |read: &[Record]| -> Vec<_> {
            read.iter()
                .map(|r| (r.op, r.fua, r.lbn.0, r.blocks))
                .collect()
        };
        assert_eq!(
            seen(&drain(&mut *queued)),
            [
                (Op::Read, false, 1000, 8),
                (Op::Write, true, 1000, 2),
                (Op::Trim, false, 1000, 16),
                (Op::Flush, false, 0, 0),
                (Op::Flush, false, 0, 0),
                (Op::Write, true, 1000, 1),
            ]
        );
        assert_eq!(queued.start_date(), Some("2023-11-14T22:13:20"));
        assert_eq!(queued.discarded(), 1);
        let warnings = queued.warnings();
        assert!(warnings[0].contains("1 events"), "{warnings:?}");
        assert!(warnings[1].contains("1 requests"), "{warnings:?}");
        let mut issued = reader(bytes, &options(BlkEvent::Issue)).unwrap();
        let read = drain(&mut *issued);
        assert_eq!(
            seen(&read),
            [(Op::Write, false, 1000, 8), (Op::Flush, false, 0, 0)]
        );
        assert_eq!(issued.discarded(), 1);
    }

    #[test]
    fn a_files_end_within_a_record_is_located() {
        let whole = file(&[
            MADE,
            Made {
                payload: b"abc",
                ..MADE
            },
        ]);
        for length in 48..whole.len() {
            let result = records(&whole[..length], &FormatOptions::default());
            if length == 48 {
                assert_eq!(result.unwrap().len(), 1);
                continue;
            }
            let error = located(result.unwrap_err());
            assert!(error.message.contains("ends within a record"), "{error}");
            assert!(matches!(
                error.place,
                Some(Place::Record {
                    record: 1,
                    offset: 48,
                    ..
                })
            ));
        }
    }

    #[test]
    fn what_is_no_record_is_located() {
        let wrong = |bytes: &[u8]| -> InputError {
            let mut all = file(&[MADE]);
            all.extend(bytes);
            let error = located(records(all, &forced(NAME)).unwrap_err());
            assert!(matches!(
                error.place,
                Some(Place::Record {
                    record: 1,
                    offset: 48,
                    ..
                })
            ));
            error
        };
        let error = wrong(b"\0tae, and more");
        assert!(error.message.contains("record version 0"), "{error}");
        let error = wrong(&Made { version: 6, ..MADE }.record(2));
        assert!(error.message.contains("record version 6"), "{error}");
        let error = wrong(b"text");
        assert!(
            error.message.contains("0x65617407") && error.message.contains("74 65 78 74"),
            "{error}"
        );
    }

    #[test]
    fn words_are_not_taken_for_records() {
        for (bytes, is) in [
            (&b"\x07tae"[..], true),
            (b"eat\x07", true),
            (b"eat\x08", true),
            // An old version is told what it is when it is read.
            (b"eat\x05", true),
            (b"eat\0", false),
            (b"eat\t", false),
            (b"eat ", false),
            (b"\x07ta", false),
        ] {
            assert_eq!(detect(bytes), is, "{bytes:?}");
        }
    }

    #[test]
    fn gaps_in_the_numbers_are_told() {
        let numbered = |numbers: &[u32]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| MADE.record(*n)).collect();
            let mut reader = reader(bytes, &FormatOptions::default()).unwrap();
            drain(&mut *reader);
            reader.warnings()
        };
        assert!(numbered(&[7, 8, 9]).is_empty());
        assert!(numbered(&[u32::MAX, 0, 1]).is_empty());
        // Disorder, and the same number again, are no gaps.
        assert!(numbered(&[3, 2, 3, 3]).is_empty());
        assert!(numbered(&[1, 2, 5, 7])[0].starts_with("3 events"));
        // In a merged file the records between may be of other CPUs.
        let others =
            [(0, 1), (1, 5), (0, 9), (0, 10)].map(|(cpu, n)| Made { cpu, ..MADE }.record(n));
        let mut reader = reader(others.concat(), &FormatOptions::default()).unwrap();
        drain(&mut *reader);
        assert!(reader.warnings().is_empty());
    }

    #[test]
    fn files_of_cpus_are_known_by_their_names() {
        for (name, known) in [
            ("sda.blktrace.0", Some(("sda.blktrace.", 0, ""))),
            (
                "a.blktrace.1.blktrace.12.gz",
                Some(("a.blktrace.1.blktrace.", 12, ".gz")),
            ),
            ("sda.blktrace.3.zst", Some(("sda.blktrace.", 3, ".zst"))),
            (".blktrace.0", Some((".blktrace.", 0, ""))),
            ("sda.blktrace.00", None),
            ("sda.blktrace.", None),
            ("sda.blktrace.0.txt", None),
            ("sda.blktrace.0x", None),
            ("sda.blktrace", None),
            ("sda.blktrace.99999999999", None),
        ] {
            let found = PerCpu::new(name).map(|f| (f.before, f.cpu, f.after));
            assert_eq!(found, known, "{name}");
        }
    }

    /// Files of four CPUs, one of them idle; what each reads alone, and all together.
    #[test]
    fn the_files_of_all_cpus_are_one_trace() {
        let folder = tempfile::tempdir().unwrap();
        let times = [vec![10, 40, 40, 70], vec![], vec![5, 40, 90], vec![40]];
        let made = |cpu: usize, time: u64| Made {
            time,
            sector: cpu as u64,
            cpu: cpu as u32,
            ..MADE
        };
        for (cpu, times) in times.iter().enumerate() {
            let all: Vec<_> = times.iter().map(|t| made(cpu, *t)).collect();
            let name = format!("sda.blktrace.{}", cpu * 5);
            std::fs::write(folder.path().join(name), file(&all)).unwrap();
        }
        // Of another device, of no CPU, and compressed: not of these.
        for name in ["sdb.blktrace.1", "sda.blktrace.x", "sda.blktrace.2.gz"] {
            std::fs::write(folder.path().join(name), file(&[MADE])).unwrap();
        }
        let mut expected: Vec<_> = times
            .iter()
            .enumerate()
            .flat_map(|(cpu, times)| times.iter().map(move |t| (*t, cpu as u64)))
            .collect();
        expected.sort_unstable();
        for cpu in [0, 10, 15] {
            let path = folder.path().join(format!("sda.blktrace.{cpu}"));
            let mut reader = crate::workload::open(&path, &FormatOptions::default()).unwrap();
            let mut read = Vec::new();
            while let Some(record) = reader.next().unwrap() {
                let of = record.lbn.0;
                let Place::Record {
                    file,
                    record: n,
                    offset,
                } = reader.place()
                else {
                    panic!("a record has its place");
                };
                let name = format!("sda.blktrace.{}", of * 5);
                assert_eq!(file, folder.path().join(name));
                assert_eq!(offset, n * 48);
                assert_eq!(record.arrival.ns(), times[of as usize][n as usize]);
                read.push((record.arrival.ns(), of));
            }
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn a_fault_in_another_cpus_file_names_that_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |cpu: u32| folder.path().join(format!("sda.blktrace.{cpu}"));
        std::fs::write(path(0), file(&[MADE, MADE])).unwrap();
        std::fs::write(path(1), &file(&[MADE])[..47]).unwrap();
        let mut reader = crate::workload::open(&path(0), &FormatOptions::default()).unwrap();
        let error = located(reader.next().unwrap_err());
        assert!(matches!(error.place, Some(Place::Record { file, .. }) if file == path(1)));
    }

    #[test]
    fn what_is_written_is_the_kernels_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.blktrace");
        let output = Output::create(&path).unwrap();
        let mut writer = (FORMAT.write.unwrap().create)(output).unwrap();
        let record = Record {
            arrival: Time::from_ns(5),
            device: 8 << 20,
            op: Op::Write,
            fua: true,
            lbn: Lbn(1000),
            blocks: 8,
            recorded: None,
        };
        let flush = Record {
            op: Op::Flush,
            lbn: Lbn(0),
            blocks: 0,
            device: 0,
            ..record
        };
        for record in [&record, &flush, &record] {
            writer.write(record).unwrap();
        }
        writer.finish().and_then(Output::finish).unwrap();
        let of = |categories: u64, sequence: u32| {
            let made = Made {
                action: Q | (QUEUE | categories) << 16,
                ..MADE
            };
            let mut bytes = made.record(sequence);
            // No process.
            bytes[32..36].fill(0);
            bytes
        };
        let name = Made {
            time: 0,
            sector: 0,
            bytes: 0,
            action: NOTIFY << 16,
            device: 0,
            payload: b"diskwright\0\0\0\0\0\0",
            ..MADE
        };
        let mut name = name.record(0);
        name[32..36].fill(0);
        // Devices are numbered each on its own; a flush has no sector and no bytes.
        let mut second = of(WRITE | FLUSH | FUA, 1);
        second[16..28].fill(0);
        second[36..40].fill(0);
        let expected = [name, of(WRITE | FUA, 1), second, of(WRITE | FUA, 2)].concat();
        assert_eq!(std::fs::read(&path).unwrap(), expected);
    }
}
