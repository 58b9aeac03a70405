//! The speed of the trace readers: one thread, from a file, every format that can be written.
//!
//! 1,000,000 requests from fixed random streams, 67 % reads: exponential gaps, sizes of 1 to 256 blocks, most of them 4 KiB,
//! half of the addresses sequential. Formats take turns, so that none has the machine's best minute to itself; the best
//! of five turns counts.

use std::path::{Path, PathBuf};
use std::time::Instant;

use diskwright::base::random::Stream;
use diskwright::base::units::{Lbn, Time};
use diskwright::engine::request::Op;
use diskwright::workload::{
    FORMATS, Format, FormatOptions, Losses, Output, Record, Recorded, open,
};

/// Requests of the trace.
const REQUESTS: u64 = 1_000_000;
/// Turns a format.
const TURNS: usize = 5;
/// The addresses are below this: a drive of 1 TiB.
const BLOCKS: u64 = 1 << 31;

/// The trace's requests, one after the other.
struct Load {
    gaps: Stream,
    sizes: Stream,
    addresses: Stream,
    ops: Stream,
    now: Time,
    end: u64,
}

impl Load {
    fn new() -> Load {
        let stream = |name| Stream::new(1, name);
        Load {
            gaps: stream("readers.gaps"),
            sizes: stream("readers.sizes"),
            addresses: stream("readers.addresses"),
            ops: stream("readers.ops"),
            now: Time::ZERO,
            end: 0,
        }
    }

    fn next(&mut self) -> Record {
        self.now += self.gaps.exponential(Time::from_ms(1));
        let blocks = match self.sizes.below(4) {
            0 => 1 + self.sizes.below(256),
            _ => 8,
        };
        let random = self.addresses.below(2) == 0 || self.end + blocks > BLOCKS;
        let lbn = if random {
            self.addresses.below((BLOCKS - blocks) / 8) * 8
        } else {
            self.end
        };
        self.end = lbn + blocks;
        Record {
            arrival: self.now,
            device: 0,
            op: if self.ops.unit() < 0.67 {
                Op::Read
            } else {
                Op::Write
            },
            fua: false,
            lbn: Lbn(lbn),
            blocks: blocks as u32,
            recorded: Some(Recorded {
                service: Some(Time::from_us(100 + blocks * 20)),
                gap: None,
            }),
        }
    }
}

/// A format with a trace in it.
struct Case {
    format: &'static Format,
    path: PathBuf,
    bytes: u64,
    best_s: f64,
}

/// Million requests a second to reach.
fn goal(format: &Format) -> f64 {
    if format.name == "parquet" { 10.0 } else { 2.0 }
}

fn written(format: &'static Format, folder: &Path) -> Option<Case> {
    let writing = format.write.as_ref()?;
    let path = folder.join(format.name);
    let output = Output::create(&path).expect("a file in a temporary folder");
    let mut writer = (writing.create)(output).expect("begun");
    let (mut load, mut losses) = (Load::new(), Losses::default());
    for _ in 0..REQUESTS {
        let fitted = writing.holds.fit(&load.next(), &mut losses);
        let record = fitted.expect("within every format's range");
        writer
            .write(&record.expect("a read or a write"))
            .expect("written");
    }
    writer.finish().and_then(Output::finish).expect("finished");
    let bytes = path.metadata().expect("written").len();
    Some(Case {
        format,
        path,
        bytes,
        best_s: f64::INFINITY,
    })
}

fn read(case: &mut Case) {
    let options = FormatOptions {
        format: Some(case.format.name.to_owned()),
        ..FormatOptions::default()
    };
    let started = Instant::now();
    let mut reader = open(&case.path, &options).expect("opened");
    let (mut requests, mut blocks) = (0, 0);
    while let Some(record) = reader.next().expect("read") {
        requests += 1;
        blocks += u64::from(record.blocks);
    }
    std::hint::black_box(blocks);
    assert_eq!(requests, REQUESTS);
    case.best_s = case.best_s.min(started.elapsed().as_secs_f64());
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let written = |format| written(format, folder.path());
    let mut cases: Vec<_> = FORMATS.iter().filter_map(written).collect();
    for _ in 0..TURNS {
        cases.iter_mut().for_each(read);
    }
    println!("reading traces, one thread; bytes are those of the file");
    println!(
        "{:24}{:>14}{:>8}{:>10}{:>16}",
        "", "M requests/s", "goal", "MB/s", "bytes/request"
    );
    for case in &cases {
        println!(
            "{:24}{:14.2}{:8.1}{:10.1}{:16.2}",
            case.format.name,
            REQUESTS as f64 / case.best_s / 1e6,
            goal(case.format),
            case.bytes as f64 / case.best_s / 1e6,
            case.bytes as f64 / REQUESTS as f64
        );
    }
}
