//! What a trace is: counts, mix, sizes, sequentiality, working set, arrivals.

mod arrivals;
pub mod bursts;
mod portrait;
mod space;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use foldhash::quality::FixedState;
use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, InputError, Place};
use crate::base::progress::{Progress, tell};
use crate::base::units::Time;
use crate::engine::request::Op;

use crate::base::whole_file::WholeFile;

use super::devices::Devices;
use super::extents::Extents;
use super::formats::{FormatOptions, TraceReader, open};
use super::record::Record;

use self::portrait::Portrait;

pub use self::arrivals::Dispersion;
pub use self::bursts::BurstProfile;
pub use self::portrait::{
    ArrivalProfile, Class, ClassSizes, Classes, DirectionProfile, Profile, ReferenceProfile,
    RunProfile, SCHEMA, SizeProfile, SpaceProfile,
};
pub use self::space::ALIGNMENTS;
pub use crate::metrics::histogram::LogHistogram;

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
    /// Writes the profile of the trace's device here, in TOML.
    pub profile: Option<PathBuf>,
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
    /// What makes the figures doubtful.
    pub warnings: Vec<String>,
    /// What was left out or changed in the reading because of what the format is.
    pub notes: Vec<String>,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
/// The trace cannot be read, is malformed somewhere, or has nothing of the device asked for; a profile cannot be written, or
/// is asked for of a trace of several devices; an interruption by `progress`.
pub fn inspect(
    path: &Path,
    options: &InspectOptions,
    progress: &mut dyn Progress,
) -> Result<Inspection, Error> {
    let failed = |path: &Path, error| Error::file(path, "write", error);
    // A path that cannot be written is known at once.
    let file = options.profile.as_deref().map(|path| {
        let file = WholeFile::create(path).map_err(|error| failed(path, error))?;
        Ok::<_, Error>((path, file))
    });
    let file = file.transpose()?;
    let reader = open(path, &options.format)?;
    let (inspection, profile) = inspect_reader(reader, path, options, progress)?;
    if let (Some((path, mut file)), Some(profile)) = (file, profile) {
        let text = toml::to_string(&profile).expect("a profile is plain data");
        let written = file.write_all(text.as_bytes());
        written
            .and_then(|()| file.finish())
            .map_err(|error| failed(path, error))?;
    }
    Ok(inspection)
}

fn inspect_reader(
    mut reader: Box<dyn TraceReader>,
    path: &Path,
    options: &InspectOptions,
    progress: &mut dyn Progress,
) -> Result<(Inspection, Option<Profile>), Error> {
    let mut read = 0;
    let mut portrait = options.profile.is_some().then(Portrait::default);
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
        if let Some(portrait) = &mut portrait {
            portrait.add(&record, measure.end, options.threshold);
        }
        measure.add(&record, options.threshold);
        if portrait.is_some() && measures.len() > 1 {
            return Err(several(&*reader, &measures));
        }
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
    let devices: Vec<DeviceSummary> = devices.collect();
    let profile = portrait.map(|portrait| {
        let nothing = Summary::default();
        let (device, summary) = devices
            .first()
            .map_or((0, &nothing), |d| (d.device, &d.summary));
        portrait.finish(reader.format(), device, options.threshold, summary)
    });
    let inspection = Inspection {
        format: reader.format().to_owned(),
        start_date: reader.start_date().map(str::to_owned),
        all: all.summary(&arrivals),
        devices,
        skipped: skipped + reader.discarded(),
        warnings: reader.warnings(),
        notes: reader.notes(),
    };
    Ok((inspection, profile))
}

/// The profile of a trace of one device, for tests of what is made of it.
#[cfg(test)]
pub fn of_reader(reader: Box<dyn TraceReader>) -> Profile {
    let options = InspectOptions {
        profile: Some(PathBuf::new()),
        ..InspectOptions::default()
    };
    let measured = inspect_reader(reader, Path::new("trace"), &options, &mut ());
    measured.expect("a trace").1.expect("a profile")
}

/// A profile is of one device.
#[cold]
fn several(reader: &dyn TraceReader, measures: &BTreeMap<u32, Measure>) -> Error {
    let devices: Vec<_> = measures.keys().map(u32::to_string).collect();
    let devices = devices.join(" and ");
    InputError::new(format!(
        "the trace is of several devices, {devices}, and a profile is of one"
    ))
    .at(reader.place())
    .help("choose one of the devices (--device N)")
    .into()
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

/// The most common size first, of equally common ones the smaller.
fn by_frequency(counts: &BTreeMap<u32, u64>) -> Vec<SizeCount> {
    let mut sizes: Vec<_> = counts
        .iter()
        .map(|(&blocks, &requests)| SizeCount { blocks, requests })
        .collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(size.requests));
    sizes
}

fn sizes(counts: &BTreeMap<u32, u64>, mean_blocks: f64) -> Sizes {
    let mut common = by_frequency(counts);
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
        profiled(text, options).map(|(inspection, _)| inspection)
    }

    fn profiled(
        text: &str,
        options: &InspectOptions,
    ) -> Result<(Inspection, Option<Profile>), Error> {
        let reader = reader(text, &options.format)?;
        inspect_reader(reader, Path::new("trace"), options, &mut ())
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

    /// Measures a profile too; nothing is written, for that is not the reader's part.
    fn with_profile(device: Option<u32>) -> InspectOptions {
        InspectOptions {
            device,
            profile: Some(PathBuf::new()),
            ..InspectOptions::default()
        }
    }

    #[test]
    fn a_profile_is_counted_by_hand() {
        let (_, profile) = profiled(TEXT, &with_profile(Some(0))).unwrap();
        let profile = profile.unwrap();
        // Of device 0: a read at 0 of 8, a write at 8 of 8, a read at 17 of 4, a read at 0 of 8, a flush, a trim.
        let class = |requests, blocks| Class { requests, blocks };
        assert_eq!(profile.classes.random_reads, class(3, 20));
        assert_eq!(profile.classes.random_writes, class(0, 0));
        assert_eq!(profile.classes.sequential_reads, class(0, 0));
        assert_eq!(profile.classes.sequential_writes, class(1, 8));
        let shares = (
            profile.classes.random_read_share,
            profile.classes.sequential_read_share,
        );
        assert_eq!(shares, (1.0, 0.0));
        let bins = |histogram: &LogHistogram| histogram.bins().collect::<Vec<_>>();
        // The second follows the first; the other two are alone.
        assert_eq!(bins(&profile.run_requests), [(1, 2), (2, 1)]);
        // Block 0 again, after 8 and 17.
        assert_eq!(profile.references.first, 3);
        assert_eq!(profile.references.first_share, 0.75);
        assert_eq!(bins(&profile.references.distance_objects), [(2, 1)]);
        // From 8 to 8, from 16 to 17; from 21 back to 0.
        assert_eq!(bins(&profile.space.forward_blocks), [(0, 1), (1, 1)]);
        assert_eq!(bins(&profile.space.backward_blocks), [(20, 1)]);
        assert_eq!(profile.space.bin_blocks, 1);
        assert_eq!(profile.space.bin_requests.len(), 18);
        assert_eq!(profile.sizes.random_reads.exact[0].requests, 2);
        assert_eq!(profile.sizes.sequential_writes.exact.len(), 1);
        assert_eq!(profile.sizes.trims.exact[0].blocks, 1);
        // Read, write, read, read; only the write is sequential.
        assert_eq!(profile.directions.random, [[2, 0], [1, 0]]);
        assert_eq!(profile.directions.sequential, [[0, 1], [0, 0]]);
        assert_eq!(bins(&profile.runs.first_reads), [(1, 1), (2, 1)]);
        assert_eq!(bins(&profile.runs.again_reads), [(1, 1)]);
        assert_eq!(bins(&profile.runs.first_writes), []);
        // The first in a slice of its own, 6 slices of a 64th of the 5 seconds for each second.
        let slices = &profile.arrivals.slice_requests;
        assert_eq!((slices[0], slices.iter().sum::<u64>()), (1, 6));
        let references = &profile.references;
        assert_eq!((references.random_first, references.same_size), (2, 1));
        assert_eq!(
            references.random_distance_objects,
            references.distance_objects
        );
        assert_eq!(profile.space.bin_first.iter().sum::<u64>(), 3);
        assert_eq!(
            profile.space.bin_first.len(),
            profile.space.bin_requests.len()
        );
        // 0 and 8, and 17.
        assert_eq!(
            profile.space.alignment,
            [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
        );
        // 1, 2, 4, 3 (as if at 4), 5, 6.
        assert_eq!(profile.arrivals.gap_ns.total(), 5);
        assert_eq!(profile.arrivals.out_of_order, 1);
    }

    #[test]
    fn a_profile_is_of_one_device() {
        let error = profiled(TEXT, &with_profile(None)).unwrap_err().to_string();
        assert!(
            error.contains("several devices, 0 and 1") && error.contains("--device"),
            "{error}"
        );
    }

    #[test]
    fn many_sizes_are_counted_together() {
        let lines: String = (1..=100).map(|i| format!("{i},0,{i},r\n")).collect();
        let text = format!("time_s,lbn,blocks,op\n{lines}");
        let (seen, profile) = profiled(&text, &with_profile(None)).unwrap();
        let reads = profile.unwrap().sizes.random_reads;
        assert_eq!((reads.exact.len(), reads.rest_blocks.total()), (64, 36));
        assert_eq!(seen.all.sizes.distinct, 100);
    }

    #[test]
    fn a_profile_of_nothing_is_written_too() {
        let (_, profile) = profiled("time_s,lbn,blocks,op\n", &with_profile(None)).unwrap();
        let text = toml::to_string(&profile.unwrap()).unwrap();
        assert!(text.starts_with("schema = 2\n"), "{text}");
    }

    proptest::proptest! {
        #[test]
        fn the_totals_of_a_profile_are_those_of_the_inspection(
            requests in proptest::collection::vec((0u64..3_000, 0u64..200, 1u32..20, proptest::bool::ANY), 1..200),
            threshold in 0u64..4,
        ) {
            let line = |(ms, lbn, blocks, read): &(u64, u64, u32, bool)| {
                format!("{ms},{lbn},{blocks},{}\n", if *read { "r" } else { "w" })
            };
            let lines: String = requests.iter().map(line).collect();
            let options = InspectOptions { threshold, ..with_profile(None) };
            let (seen, profile) = profiled(&format!("time_ms,lbn,blocks,op\n{lines}"), &options).unwrap();
            let (all, profile) = (seen.all, profile.unwrap());
            let c = &profile.classes;
            proptest::prop_assert_eq!(c.random_reads.requests + c.random_writes.requests, all.random_requests);
            proptest::prop_assert_eq!(c.random_reads.blocks + c.random_writes.blocks, all.random_blocks);
            proptest::prop_assert_eq!(c.sequential_reads.blocks + c.sequential_writes.blocks, all.sequential_blocks);
            proptest::prop_assert_eq!(c.random_reads.requests + c.sequential_reads.requests, all.reads);
            proptest::prop_assert_eq!(profile.run_requests.total(), all.random_requests);
            proptest::prop_assert_eq!(profile.references.first, all.working_set_requests);
            let again = profile.references.distance_objects.total();
            proptest::prop_assert_eq!(profile.references.first + again, all.requests);
            proptest::prop_assert_eq!(profile.space.bin_requests.iter().sum::<u64>(), all.requests);
            let jumps = profile.space.forward_blocks.total() + profile.space.backward_blocks.total();
            proptest::prop_assert_eq!(jumps, all.requests - 1);
            proptest::prop_assert_eq!(profile.arrivals.gap_ns.total(), all.requests - 1);
        }
    }
}
