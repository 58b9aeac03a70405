//! What a trace is: counts, mix, sizes, sequentiality, working set, arrivals.

use std::collections::BTreeMap;
use std::path::Path;

use foldhash::quality::FixedState;
use hashbrown::HashSet;
use serde::Serialize;

use crate::error::{Error, InputError, Place};
use crate::progress::{Progress, tell};
use crate::request::Op;
use crate::units::Time;

use super::devices::Devices;
use super::extents::Extents;
use super::formats::{FormatOptions, TraceReader, open};
use super::record::Record;

/// How a trace is to be looked at.
#[derive(Clone, Debug, Default)]
pub struct InspectOptions {
    /// What the reader is told.
    pub format: FormatOptions,
    /// Only this device.
    pub device: Option<u32>,
    /// A request is sequential when its first block is at most this many blocks after the end of the same device's previous
    /// request.
    pub threshold: u64,
}

/// What a trace is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The format's name.
    pub format: String,
    /// When the recording began, where the format says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_date: Option<String>,
    /// All devices together: addresses of different devices are different.
    #[serde(flatten)]
    pub all: Summary,
    /// Each device, by its number.
    pub devices: Vec<DeviceSummary>,
    /// Records of other devices, when one was asked for, and those the format marks as not to be used.
    pub skipped: u64,
    /// What was lost or changed in the reading.
    pub warnings: Vec<String>,
}

/// What one device of a trace is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceSummary {
    /// The trace's number for it.
    pub device: u32,
    /// What it is.
    #[serde(flatten)]
    pub summary: Summary,
}

/// The measures of a trace or of one of its devices. Random and sequential requests and the working set are of reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Reads, writes, flushes and trims.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// Reads among reads and writes, 0 to 1.
    pub read_share: f64,
    /// Blocks read and written.
    pub blocks: u64,
    /// Blocks read.
    pub read_blocks: u64,
    /// Blocks written.
    pub write_blocks: u64,
    /// Requests that are not sequential, the first of each device among them.
    pub random_requests: u64,
    /// Their blocks.
    pub random_blocks: u64,
    /// Requests that begin at the end of the same device's previous one, or at most the threshold after it.
    pub sequential_requests: u64,
    /// Their blocks.
    pub sequential_blocks: u64,
    /// Distinct first blocks.
    pub working_set_requests: u64,
    /// Distinct blocks.
    pub working_set_blocks: u64,
    /// The block after the last one that was read or written: a drive must be at least this large.
    pub end_lbn: u64,
    /// Sizes of reads and writes.
    pub sizes: Sizes,
    /// From the first arrival to the last.
    pub duration_s: f64,
    /// The same in days.
    pub days: f64,
    /// First arrival on the trace's clock.
    pub first_arrival_s: f64,
    /// Last arrival on the trace's clock.
    pub last_arrival_s: f64,
    /// Mean gap between arrivals; absent for fewer than two.
    pub interarrival_mean_ms: Option<f64>,
    /// Requests that arrive before the one in front of them.
    pub out_of_order: u64,
}

/// How large requests are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// The smallest.
    pub min_blocks: u32,
    /// The mean.
    pub mean_blocks: f64,
    /// The largest.
    pub max_blocks: u32,
    /// How many different sizes there are.
    pub distinct: u64,
    /// The most common ones, the most common first.
    pub common: Vec<SizeCount>,
}

/// A size and how often it occurs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeCount {
    /// The size.
    pub blocks: u32,
    /// How many requests have it.
    pub requests: u64,
}

/// How many of the most common sizes are listed.
const COMMON: usize = 8;

/// Reads a trace through and measures it. Memory grows with the working set, not with the trace's length.
///
/// # Errors
/// The trace cannot be read, is malformed somewhere, or has nothing of the device asked for; an interruption by `progress`.
pub fn inspect(
    path: &Path,
    options: &InspectOptions,
    progress: &mut dyn Progress,
) -> Result<Inspection, Error> {
    inspect_reader(open(path, &options.format)?, path, options, progress)
}

fn inspect_reader(
    mut reader: Box<dyn TraceReader>,
    path: &Path,
    options: &InspectOptions,
    progress: &mut dyn Progress,
) -> Result<Inspection, Error> {
    let mut read = 0;
    let mut measures: BTreeMap<u32, Measure> = BTreeMap::new();
    let mut arrivals = Arrivals::default();
    let mut others = Devices::default();
    let mut skipped = 0;
    while let Some(record) = reader.next()? {
        read += 1;
        tell(progress, read)?;
        if options.device.is_some_and(|chosen| record.device != chosen) {
            others.add(record.device);
            skipped += 1;
            continue;
        }
        arrivals.add(record.arrival);
        let measure = measures.entry(record.device).or_default();
        measure.add(&record, options.threshold);
    }
    if let Some(chosen) = options.device
        && measures.is_empty()
    {
        return Err(
            InputError::new(format!("the trace has no request of device {chosen}"))
                .at(Place::File(path.to_owned()))
                .help(format!("the devices seen: {others}"))
                .into(),
        );
    }
    let mut all = Total::default();
    let devices = measures.into_iter().map(|(device, measure)| {
        all.add(&measure);
        let arrivals = measure.arrivals;
        let total = Total::of(&measure);
        let summary = total.summary(&arrivals);
        DeviceSummary { device, summary }
    });
    let devices = devices.collect();
    Ok(Inspection {
        format: reader.format().to_owned(),
        start_date: reader.start_date().map(str::to_owned),
        all: all.summary(&arrivals),
        devices,
        skipped: skipped + reader.discarded(),
        warnings: reader.warnings(),
    })
}

/// The arrival times of a stream of requests.
#[derive(Clone, Copy, Default)]
struct Arrivals {
    count: u64,
    first: Time,
    last: Time,
    before: Time,
    out_of_order: u64,
}

impl Arrivals {
    fn add(&mut self, at: Time) {
        if self.count == 0 {
            self.first = at;
        }
        self.out_of_order += u64::from(at < self.before);
        self.count += 1;
        self.before = at;
        self.first = self.first.min(at);
        self.last = self.last.max(at);
    }
}

/// One device's measures while its requests come by.
#[derive(Default)]
struct Measure {
    counts: Summary,
    sizes: BTreeMap<u32, u64>,
    touched: Extents,
    starts: HashSet<u64, FixedState>,
    /// The block after the previous request.
    end: Option<u64>,
    arrivals: Arrivals,
}

impl Measure {
    fn add(&mut self, record: &Record, threshold: u64) {
        self.arrivals.add(record.arrival);
        let counts = &mut self.counts;
        let blocks = u64::from(record.blocks);
        counts.requests += 1;
        match record.op {
            Op::Flush => {
                counts.flushes += 1;
                return;
            }
            Op::Trim => {
                counts.trims += 1;
                return;
            }
            Op::Read => {
                counts.reads += 1;
                counts.read_blocks += blocks;
            }
            Op::Write => {
                counts.writes += 1;
                counts.write_blocks += blocks;
            }
        }
        let start = record.lbn.0;
        let end = start.saturating_add(blocks);
        let gap = self.end.and_then(|before| start.checked_sub(before));
        if gap.is_some_and(|gap| gap <= threshold) {
            counts.sequential_requests += 1;
            counts.sequential_blocks += blocks;
        } else {
            counts.random_requests += 1;
            counts.random_blocks += blocks;
        }
        counts.end_lbn = counts.end_lbn.max(end);
        self.end = Some(end);
        self.touched.add(start, end);
        self.starts.insert(start);
        *self.sizes.entry(record.blocks).or_default() += 1;
    }
}

/// Measures of one device or several, added up.
#[derive(Default)]
struct Total {
    sums: Summary,
    sizes: BTreeMap<u32, u64>,
}

impl Total {
    fn of(measure: &Measure) -> Total {
        let mut total = Total::default();
        total.add(measure);
        total
    }

    fn add(&mut self, measure: &Measure) {
        let (sums, counts) = (&mut self.sums, &measure.counts);
        sums.requests += counts.requests;
        sums.reads += counts.reads;
        sums.writes += counts.writes;
        sums.flushes += counts.flushes;
        sums.trims += counts.trims;
        sums.read_blocks += counts.read_blocks;
        sums.write_blocks += counts.write_blocks;
        sums.random_requests += counts.random_requests;
        sums.random_blocks += counts.random_blocks;
        sums.sequential_requests += counts.sequential_requests;
        sums.sequential_blocks += counts.sequential_blocks;
        sums.working_set_requests += measure.starts.len() as u64;
        sums.working_set_blocks += measure.touched.blocks();
        sums.end_lbn = sums.end_lbn.max(counts.end_lbn);
        for (blocks, count) in &measure.sizes {
            *self.sizes.entry(*blocks).or_default() += count;
        }
    }

    fn summary(self, arrivals: &Arrivals) -> Summary {
        let sums = self.sums;
        let transfers = sums.reads + sums.writes;
        let blocks = sums.read_blocks + sums.write_blocks;
        let duration = arrivals.last - arrivals.first;
        let gaps = arrivals.count.saturating_sub(1);
        Summary {
            read_share: ratio(sums.reads, transfers),
            blocks,
            sizes: sizes(&self.sizes, ratio(blocks, transfers)),
            duration_s: duration.s(),
            days: duration.s() / 86_400.0,
            first_arrival_s: arrivals.first.s(),
            last_arrival_s: arrivals.last.s(),
            interarrival_mean_ms: (gaps > 0).then(|| duration.ms() / gaps as f64),
            out_of_order: arrivals.out_of_order,
            ..sums
        }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

fn sizes(counts: &BTreeMap<u32, u64>, mean_blocks: f64) -> Sizes {
    let mut common: Vec<_> = counts
        .iter()
        .map(|(&blocks, &requests)| SizeCount { blocks, requests })
        .collect();
    common.sort_by_key(|size| std::cmp::Reverse(size.requests));
    common.truncate(COMMON);
    Sizes {
        min_blocks: counts.keys().next().copied().unwrap_or(0),
        mean_blocks,
        max_blocks: counts.keys().next_back().copied().unwrap_or(0),
        distinct: counts.len() as u64,
        common,
    }
}

#[cfg(test)]
mod tests {
    use super::super::formats::testing::reader;
    use super::*;

    fn measured(text: &str, options: &InspectOptions) -> Result<Inspection, Error> {
        inspect_reader(
            reader(text, &options.format)?,
            Path::new("trace"),
            options,
            &mut (),
        )
    }

    const TEXT: &str = "time_s,device,lbn,blocks,op\n1,0,0,8,r\n2,0,8,8,w\n2,1,8,2,r\n4,0,17,4,r\n3,0,0,8,r\n5,0,0,0,flush\n6,0,9,1,trim\n";

    #[test]
    fn everything_is_measured() {
        let seen = measured(TEXT, &InspectOptions::default()).unwrap();
        let all = &seen.all;
        assert_eq!(
            (all.requests, all.reads, all.writes, all.flushes, all.trims),
            (7, 4, 1, 1, 1)
        );
        assert_eq!((all.blocks, all.read_blocks, all.write_blocks), (30, 22, 8));
        assert_eq!((all.sequential_requests, all.sequential_blocks), (1, 8));
        assert_eq!((all.random_requests, all.random_blocks), (4, 22));
        assert_eq!((all.working_set_requests, all.working_set_blocks), (4, 22));
        assert_eq!(
            (all.duration_s, all.first_arrival_s, all.last_arrival_s),
            (5.0, 1.0, 6.0)
        );
        assert_eq!((all.end_lbn, all.out_of_order), (21, 1));
        assert_eq!(
            (
                all.sizes.min_blocks,
                all.sizes.mean_blocks,
                all.sizes.max_blocks
            ),
            (2, 6.0, 8)
        );
        assert_eq!(
            all.sizes.common[0],
            SizeCount {
                blocks: 8,
                requests: 3
            }
        );
        assert_eq!(seen.devices.len(), 2);
        assert_eq!(seen.devices[1].summary.requests, 1);
        assert_eq!(seen.devices[1].summary.interarrival_mean_ms, None);
        assert_eq!(seen.devices[0].summary.interarrival_mean_ms, Some(1_000.0));
    }

    #[test]
    fn the_threshold_is_inclusive_and_only_ahead() {
        for (threshold, sequential) in [(0, 1), (1, 2), (2, 2)] {
            let options = InspectOptions {
                threshold,
                ..InspectOptions::default()
            };
            let seen = measured(TEXT, &options).unwrap();
            assert_eq!(seen.all.sequential_requests, sequential, "{threshold}");
        }
    }

    #[test]
    fn one_device_can_be_chosen() {
        let options = InspectOptions {
            device: Some(1),
            ..InspectOptions::default()
        };
        let seen = measured(TEXT, &options).unwrap();
        assert_eq!(
            (seen.all.requests, seen.skipped, seen.devices.len()),
            (1, 6, 1)
        );
        let options = InspectOptions {
            device: Some(9),
            ..InspectOptions::default()
        };
        let error = measured(TEXT, &options).unwrap_err().to_string();
        assert!(error.contains("0 (6 requests), 1 (1 request)"), "{error}");
    }

    #[test]
    fn the_json_has_the_totals_at_its_top() {
        let seen = measured(TEXT, &InspectOptions::default()).unwrap();
        let json = serde_json::to_value(&seen).unwrap();
        assert_eq!(json["format"], "csv");
        assert_eq!(json["requests"], 7);
        assert_eq!(json["devices"][1]["device"], 1);
        assert_eq!(json["devices"][1]["working_set_blocks"], 2);
        assert_eq!(json["sizes"]["common"][0]["blocks"], 8);
    }

    #[test]
    fn a_trace_of_nothing_is_measured_too() {
        let seen = measured("time_s,lbn,blocks,op\n", &InspectOptions::default()).unwrap();
        assert_eq!(seen.all, Summary::default());
    }
}
