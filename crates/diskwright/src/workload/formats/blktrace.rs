//! Binary traces of blktrace: the files of each CPU, `NAME.blktrace.N`, merged by time; or one file of all.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, Write};

use crate::base::error::{Error, Place};
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::writing::{Holds, TraceWriter, Writing};

use super::blk_events::{self, BlkEvent, EventRequests, category};
use super::blktrace_files::files_beside;
use super::blktrace_source::{MAGIC, Source, VERSIONS, version};
use super::unix_time::iso_date;
use super::{Format, FormatOptions, TraceReader, widened_note};

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

/// The requests of several files, by time, and where that is the same by the files' order.
struct Reader {
    sources: Vec<Source>,
    /// The next requests of each file.
    heads: Vec<Option<EventRequests>>,
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
        let requests = self.heads[file].expect("a file in the order has requests");
        self.second = requests.second;
        Ok(Some(requests.first))
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
        let missing: u64 = self.sources.iter().map(|source| source.missing).sum();
        let missing = (missing > 0).then(|| {
            format!("{missing} events are missing, by the gaps in their numbers: the recording dropped them, or they were filtered out")
        });
        missing.into_iter().collect()
    }
    fn notes(&self) -> Vec<String> {
        let widened = self.sources.iter().map(|source| source.widened).sum();
        let other = blk_events::other_note(self.discarded());
        other.into_iter().chain(widened_note(widened)).collect()
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
            Op::NvCache(command) => command.is_in_no_workload(),
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
    use super::super::blktrace_source::made::{MADE, Made, Q, file};
    use super::super::testing::*;
    use super::*;
    use crate::base::units::Lbn;
    use category::{FLUSH, FUA, NOTIFY, QUEUE, WRITE};
    use proptest::prelude::*;

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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// However the events are spread over CPUs, they come as if all had been sorted.
        #[test]
        fn merged_is_sorted(times in prop::collection::vec(prop::collection::vec(0u64..50, 0..30), 1..6)) {
            let folder = tempfile::tempdir().unwrap();
            let mut expected = Vec::new();
            for (cpu, times) in times.iter().enumerate() {
                let mut times = times.clone();
                times.sort_unstable();
                let sectors = times.iter().zip(0..);
                let all: Vec<_> = sectors.map(|(time, sector)| Made { time: *time, sector, device: cpu as u32, ..MADE }).collect();
                expected.extend(all.iter().map(|made| (made.time, made.device, made.sector)));
                std::fs::write(folder.path().join(format!("x.blktrace.{cpu}")), file(&all)).unwrap();
            }
            expected.sort_unstable();
            let last = folder.path().join(format!("x.blktrace.{}", times.len() - 1));
            let mut reader = crate::workload::open(&last, &forced(NAME)).unwrap();
            let read: Vec<_> = std::iter::from_fn(|| reader.next().unwrap())
                .map(|r| (r.arrival.ns(), r.device, r.lbn.0))
                .collect();
            prop_assert_eq!(read, expected);
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
