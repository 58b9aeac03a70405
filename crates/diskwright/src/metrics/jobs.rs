//! What fio tells of its jobs and results of streams do not: latencies in parts, bandwidth over time, depths. Collected only where a
//! report in fio's form is asked for.
//!
//! The names and meanings are those of fio's JSON output (version 3; fio's HOWTO, "JSON+ output" and "Interpreting the output").

use serde_json::{Map, Value, json};

use super::series::Series;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::request::{Op, Request};

/// The directions of a job, by fio's names, and the operations that they are.
const DIRECTIONS: [(&str, Op); 4] = [
    ("read", Op::Read),
    ("write", Op::Write),
    ("trim", Op::Trim),
    ("sync", Op::Flush),
];
/// Bandwidth is sampled over this time: fio's default of `bwavgtime` and `iopsavgtime`.
const SAMPLE: Time = Time::from_ms(500);
/// fio's default list of percentiles.
const PERCENTILES: [(&str, f64); 17] = [
    ("1.000000", 0.01),
    ("5.000000", 0.05),
    ("10.000000", 0.10),
    ("20.000000", 0.20),
    ("30.000000", 0.30),
    ("40.000000", 0.40),
    ("50.000000", 0.50),
    ("60.000000", 0.60),
    ("70.000000", 0.70),
    ("80.000000", 0.80),
    ("90.000000", 0.90),
    ("95.000000", 0.95),
    ("99.000000", 0.99),
    ("99.500000", 0.995),
    ("99.900000", 0.999),
    ("99.950000", 0.9995),
    ("99.990000", 0.9999),
];
/// The bounds of the classes of latency, in ns, in µs and in ms: each up to its bound, without it.
const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// The classes of queue depth, by their least.
const DEPTHS: [(&str, u32); 7] = [
    ("1", 1),
    ("2", 2),
    ("4", 4),
    ("8", 8),
    ("16", 16),
    ("32", 32),
    (">=64", 64),
];

/// Times of one kind, with the shortest.
#[derive(Default)]
struct Latency {
    series: Series,
    min: Option<Time>,
}

impl Latency {
    fn add(&mut self, time: Time) {
        self.series.add(time);
        self.min = Some(self.min.map_or(time, |min| min.min(time)));
    }

    /// In ns; with percentiles where they are wanted and there is something.
    fn json(&self, has_percentiles: bool) -> Value {
        let mut object = json!({
            "min": self.min.unwrap_or_default().ns(),
            "max": self.series.max_ns(),
            "mean": self.series.mean_ms() * 1e6,
            "stddev": self.series.std_ms() * 1e6,
            "N": self.series.count(),
        });
        if has_percentiles && self.series.count() > 0 {
            let wanted = PERCENTILES.map(|(_, quantile)| quantile);
            let found = self.series.quantiles_ns(&wanted);
            let names = PERCENTILES.iter().map(|(name, _)| (*name).to_owned());
            let percentiles = names.zip(found).map(|(name, ns)| (name, json!(ns)));
            object["percentile"] = percentiles.collect::<Map<_, _>>().into();
        }
        object
    }
}

/// Samples of a rate: what was counted in every whole [`SAMPLE`] that had something.
#[derive(Default)]
struct Samples {
    /// The sample that is being counted, and what it has.
    number: u64,
    bytes: u64,
    requests: u64,
    /// Of closed samples, in bytes and requests a sample.
    bandwidth: Moments,
    iops: Moments,
}

#[derive(Default)]
struct Moments {
    count: u64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        let is_first = self.count == 0;
        self.min = if is_first { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    fn deviation(&self) -> f64 {
        let n = self.count as f64;
        if self.count < 2 {
            return 0.0;
        }
        libm::sqrt(((self.squares - self.sum * self.sum / n) / (n - 1.0)).max(0.0))
    }
}

impl Samples {
    /// Counts a completion, this long after the first measured instant.
    fn add(&mut self, at: Time, bytes: u64) {
        let number = at.ns() / SAMPLE.ns();
        if number > self.number {
            self.close();
            self.number = number;
        }
        self.bytes += bytes;
        self.requests += 1;
    }

    fn close(&mut self) {
        if self.requests > 0 {
            self.bandwidth.add(self.bytes as f64 / 1024.0 / SAMPLE.s());
            self.iops.add(self.requests as f64 / SAMPLE.s());
        }
        (self.bytes, self.requests) = (0, 0);
    }

    /// The keys of fio: bandwidth in KiB/s; `share` is that of the direction in the bandwidth of its group.
    fn write(&self, object: &mut Value, share: f64) {
        let Samples {
            bandwidth, iops, ..
        } = self;
        object["bw_min"] = json!(bandwidth.min as u64);
        object["bw_max"] = json!(bandwidth.max as u64);
        object["bw_agg"] = json!(share * 100.0);
        object["bw_mean"] = json!(bandwidth.mean());
        object["bw_dev"] = json!(bandwidth.deviation());
        object["bw_samples"] = json!(bandwidth.count);
        object["iops_min"] = json!(iops.min as u64);
        object["iops_max"] = json!(iops.max as u64);
        object["iops_mean"] = json!(iops.mean());
        object["iops_stddev"] = json!(iops.deviation());
        object["iops_samples"] = json!(iops.count);
    }
}

/// What is measured of one direction of a job.
#[derive(Default)]
struct Direction {
    bytes: u64,
    /// From arrival to issue, from issue to completion, and both.
    submission: Latency,
    completion: Latency,
    total: Latency,
    samples: Samples,
}

/// What is measured of a job.
#[derive(Default)]
struct Job {
    directions: [Direction; DIRECTIONS.len()],
    /// Requests by depth at their arrival, with themselves.
    depths: [u64; DEPTHS.len()],
    /// Requests by completion latency: in ns, µs, ms, and 2 s or more.
    classes: [[u64; BOUNDS.len()]; 3],
    two_seconds: u64,
    longer: u64,
    from: Option<Time>,
    begin: Option<Time>,
    to: Time,
}

/// The jobs of a run.
#[derive(Default)]
pub struct Jobs {
    /// Which job each stream is.
    job_of: Vec<u32>,
    /// Requests of each stream that have arrived and are not complete.
    under_way: Vec<u32>,
    all: Vec<Job>,
}

impl Jobs {
    /// The jobs of streams with these names, of which those with the same name are one job; a load without streams is one.
    pub fn new(names: &[String]) -> Jobs {
        let mut different: Vec<&String> = Vec::new();
        let mut job_of = Vec::with_capacity(names.len().max(1));
        for name in names {
            let known = different.iter().position(|other| *other == name);
            job_of.push(known.unwrap_or(different.len()) as u32);
            if known.is_none() {
                different.push(name);
            }
        }
        if names.is_empty() {
            job_of.push(0);
        }
        Jobs {
            under_way: vec![0; job_of.len()],
            all: (0..different.len().max(1))
                .map(|_| Job::default())
                .collect(),
            job_of,
        }
    }

    fn job(&mut self, stream: u32) -> Option<&mut Job> {
        let job = *self.job_of.get(stream as usize)?;
        self.all.get_mut(job as usize)
    }

    /// A stream begins, and is measured from an instant on.
    pub(super) fn stream_begins(&mut self, stream: u32, now: Time, measured_from: Time) {
        if let Some(job) = self.job(stream) {
            let earlier =
                |before: Option<Time>, at: Time| before.map_or(at, |before| before.min(at));
            job.begin = Some(earlier(job.begin, now));
            job.from = Some(earlier(job.from, measured_from));
        }
    }

    /// A request arrives.
    pub(super) fn arrived(&mut self, stream: u32, is_measured: bool) {
        let Some(under_way) = self.under_way.get_mut(stream as usize) else {
            return;
        };
        *under_way += 1;
        let depth = *under_way;
        if is_measured && let Some(job) = self.job(stream) {
            let class = DEPTHS.iter().rposition(|(_, least)| depth >= *least);
            job.depths[class.unwrap_or(0)] += 1;
        }
    }

    /// A request is complete.
    pub(super) fn completed(&mut self, request: &Request, stream: u32, is_measured: bool) {
        if let Some(under_way) = self.under_way.get_mut(stream as usize) {
            *under_way -= 1;
        }
        let op = request.command.op;
        let Some(number) = DIRECTIONS.iter().position(|(_, of)| *of == op) else {
            return;
        };
        let Some(job) = self.job(stream).filter(|_| is_measured) else {
            return;
        };
        let from = *job.from.get_or_insert(request.arrival);
        job.to = job.to.max(request.completion);
        let completion = request.completion - request.issue;
        let direction = &mut job.directions[number];
        let bytes = u64::from(request.command.blocks) * BLOCK_BYTES;
        direction.bytes += bytes;
        direction.submission.add(request.issue - request.arrival);
        direction.completion.add(completion);
        direction.total.add(request.response());
        direction
            .samples
            .add(request.completion.saturating_sub(from), bytes);
        if op != Op::Flush {
            job.classify(completion);
        }
    }

    /// The jobs as fio writes them, in their order, without names and options. `all` is the time that the run was measured between, for a
    /// load whose streams have no beginning of their own.
    pub fn json(&mut self, all: (Time, Time)) -> Vec<Value> {
        let has_begun = |job: &Job| job.begin.is_some();
        let planned = self.all.iter().any(has_begun);
        self.all
            .iter_mut()
            .map(|job| {
                if !planned {
                    (job.begin, job.from, job.to) = (Some(all.0), Some(all.0), all.1);
                }
                job.json()
            })
            .collect()
    }
}

impl Job {
    /// Counts a latency in its class.
    fn classify(&mut self, latency: Time) {
        let ns = latency.ns();
        let units = [1u64, 1_000, 1_000_000];
        for (counts, unit) in self.classes.iter_mut().zip(units) {
            if let Some(class) = BOUNDS.iter().position(|bound| ns < bound * unit) {
                counts[class] += 1;
                return;
            }
        }
        match ns {
            0..2_000_000_000 => self.two_seconds += 1,
            _ => self.longer += 1,
        }
    }

    fn json(&self) -> Value {
        let from = self.from.unwrap_or_default();
        let span = self.to.saturating_sub(from);
        let whole = self.to.saturating_sub(self.begin.unwrap_or(from));
        let mut object = json!({
            "error": 0,
            "eta": 0,
            "elapsed": libm::ceil(whole.s()) as u64,
        });
        for (index, (name, _)) in DIRECTIONS[..3].iter().enumerate() {
            object[*name] = self.directions[index].json(span);
        }
        let sync = &self.directions[3];
        object["sync"] = json!({
            "total_ios": sync.total.series.count(),
            "lat_ns": sync.total.json(true),
        });
        object["job_runtime"] = json!(span.ns() / 1_000_000);
        for key in ["usr_cpu", "sys_cpu"] {
            object[key] = json!(0.0);
        }
        for key in ["ctx", "majf", "minf"] {
            object[key] = json!(0);
        }
        let depths: u64 = self.depths.iter().sum();
        let counts = DEPTHS.iter().zip(self.depths);
        let levels = counts.map(|((name, _), count)| ((*name).to_owned(), share(count, depths)));
        object["iodepth_level"] = levels.collect::<Map<_, _>>().into();
        // Every request is submitted, and its completion taken, by itself.
        let one_by_one = json!({
            "0": 0.0, "4": if depths > 0 { 100.0 } else { 0.0 }, "8": 0.0, "16": 0.0, "32": 0.0, "64": 0.0, ">=64": 0.0,
        });
        object["iodepth_submit"] = one_by_one.clone();
        object["iodepth_complete"] = one_by_one;
        self.write_classes(&mut object);
        object["latency_depth"] = json!(0);
        object["latency_target"] = json!(0);
        object["latency_percentile"] = json!(100.0);
        object["latency_window"] = json!(0);
        object
    }

    fn write_classes(&self, object: &mut Value) {
        let classified = self.classes.iter().flatten().sum::<u64>();
        let total = classified + self.two_seconds + self.longer;
        for (unit, counts) in ["latency_ns", "latency_us", "latency_ms"]
            .iter()
            .zip(self.classes)
        {
            let counts = BOUNDS.iter().zip(counts);
            let mut classes: Map<String, Value> = counts
                .map(|(bound, count)| (bound.to_string(), share(count, total)))
                .collect();
            if *unit == "latency_ms" {
                classes.insert("2000".to_owned(), share(self.two_seconds, total));
                classes.insert(">=2000".to_owned(), share(self.longer, total));
            }
            object[*unit] = classes.into();
        }
    }
}

/// A share in percent.
fn share(count: u64, total: u64) -> Value {
    json!(100.0 * count as f64 / total.max(1) as f64)
}

impl Direction {
    fn json(&self, span: Time) -> Value {
        let count = self.total.series.count();
        let a_second = |amount: f64| match span {
            Time::ZERO => 0.0,
            span => amount / span.s(),
        };
        let bytes_a_second = a_second(self.bytes as f64);
        let runtime = if count > 0 { span.ns() / 1_000_000 } else { 0 };
        let mut object = json!({
            "io_bytes": self.bytes,
            "io_kbytes": self.bytes / 1024,
            "bw_bytes": bytes_a_second as u64,
            "bw": (bytes_a_second / 1024.0) as u64,
            "iops": a_second(count as f64),
            "runtime": runtime,
            "total_ios": count,
            "short_ios": 0,
            "drop_ios": 0,
            "slat_ns": self.submission.json(false),
            "clat_ns": self.completion.json(true),
            "lat_ns": self.total.json(true),
        });
        let of_group = if count > 0 { 1.0 } else { 0.0 };
        self.samples.write(&mut object, of_group);
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_counted_below_their_bounds() {
        let mut job = Job::default();
        for ns in [
            0,
            1,
            2,
            999,
            1_000,
            1_999,
            999_999,
            1_000_000,
            2_000_000,
            999_999_999,
        ] {
            job.classify(Time::from_ns(ns));
        }
        job.classify(Time::from_s(1));
        job.classify(Time::from_ns(1_999_999_999));
        job.classify(Time::from_s(2));
        let mut object = json!({});
        job.write_classes(&mut object);
        let percent = |unit: &str, bound: &str| {
            let share = object[unit][bound].as_f64().expect("a share") * 13.0 / 100.0;
            libm::round(share) as u64
        };
        assert_eq!(
            (percent("latency_ns", "2"), percent("latency_ns", "4")),
            (2, 1)
        );
        assert_eq!(
            (percent("latency_ns", "1000"), percent("latency_us", "2")),
            (1, 2)
        );
        assert_eq!(
            (percent("latency_us", "1000"), percent("latency_ms", "2")),
            (1, 1)
        );
        assert_eq!(
            (percent("latency_ms", "4"), percent("latency_ms", "1000")),
            (1, 1)
        );
        assert_eq!(
            (
                percent("latency_ms", "2000"),
                percent("latency_ms", ">=2000")
            ),
            (2, 1)
        );
    }

    #[test]
    fn samples_are_of_whole_half_seconds_that_have_something() {
        let mut samples = Samples::default();
        for (ms, kib) in [
            (0, 4),
            (499, 4),
            (500, 16),
            (1_700, 4),
            (1_999, 4),
            (2_001, 400),
        ] {
            samples.add(Time::from_ms(ms), kib * 1024);
        }
        // 8 KiB, 16 KiB, nothing, 8 KiB in half a second each; the last one is not whole.
        let bandwidth = &samples.bandwidth;
        assert_eq!(
            (bandwidth.count, bandwidth.min, bandwidth.max),
            (3, 16.0, 32.0)
        );
        assert!((bandwidth.mean() - 64.0 / 3.0).abs() < 1e-9);
        assert!((bandwidth.deviation() - libm::sqrt(256.0 / 3.0)).abs() < 1e-9);
        assert_eq!((samples.iops.min, samples.iops.max), (2.0, 4.0));
    }
}
