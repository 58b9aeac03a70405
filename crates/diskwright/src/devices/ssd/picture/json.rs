//! The picture of an SSD as it stands in that of a run.

use serde_json::{Map, Value, json};

use super::moment::{KINDS, Moment, Written};
use super::wear::wear;
use super::{Done, Served, SsdPicture, moment_of, spans};
use crate::base::units::{BLOCK_BYTES, Time};
use crate::devices::ssd::PARTS;
use crate::devices::ssd::legs::Cause;
use crate::metrics::picture::bins::{Bins, enough_for};
use crate::models::flash::blocks::Blocks;

/// The most columns of the map of what channels and workers do.
const COLUMNS: usize = 200;

impl SsdPicture {
    /// `use`, as other devices have it: the share of time that workers were busy on average, and the mean number of requests in service;
    /// `flash`, and `film`, where a trace was wanted.
    ///
    /// `flash` has the `shape` of the drive; `over_time` what was written, what was free, and the shares of time of what channels and workers
    /// did; `busy` how busy each of them was over time; `measured` for how many seconds each was busy since the warm-up; `wear`; and
    /// the mean `parts` of the time of requests since the warm-up, ms.
    pub fn json(&self, blocks: &Blocks) -> Map<String, Value> {
        let end = self.ended();
        let mut moments = self.moments.clone();
        let mut done = self.done.clone();
        self.finish(end, &mut moments, &mut done);
        let moments = moments.coarsened(enough_for(self.events));
        let series = Series::new(&moments, end);
        let busy = moments.clone().coarsened(COLUMNS);
        let busy = Series::new(&busy, end);
        let mut picture = Map::new();
        let mut put = |key: &str, value: Value| picture.insert(key.to_owned(), value);
        put("use", self.usage(&series));
        put(
            "flash",
            json!({
                "shape": self.shape(),
                "over_time": self.over_time(&series),
                "busy": self.busy(&busy),
                "measured": self.measured(&done),
                "wear": wear(&self.shape, blocks),
                "parts": { "read": self.reads.json(), "write": self.writes.json() },
            }),
        );
        if let Some(trace) = &self.trace {
            put("film", trace.json(&self.shape));
        }
        picture
    }

    /// The last instant that it shows.
    pub fn ended(&self) -> Time {
        self.noted.unwrap_or_default()
    }

    /// Adds what is under way at the end.
    fn finish(&self, end: Time, moments: &mut Bins<Moment>, done: &mut Done) {
        for (worker, &doing) in (0..).zip(&self.doing) {
            for span in spans(doing, end) {
                span.add_to(
                    self.shape.rows_of(worker),
                    moments,
                    done,
                    self.measured_from,
                );
            }
        }
        if let Some(since) = self.noted {
            moments.over(since, end, moment_of(self.serving, self.all_free));
        }
    }

    fn shape(&self) -> Value {
        let geometry = &self.shape.geometry;
        json!({
            "channels": geometry.channels,
            "packages": geometry.packages,
            "dies": geometry.dies,
            "planes": geometry.planes,
            "blocks": geometry.blocks,
            "pages": geometry.pages,
            "page_bytes": self.page_bytes(),
            "worker": self.shape.worker(),
            "workers": self.shape.workers(),
        })
    }

    fn page_bytes(&self) -> u64 {
        let geometry = &self.shape.geometry;
        u64::from(geometry.units * geometry.unit_blocks) * BLOCK_BYTES
    }

    fn usage(&self, series: &Series<'_>) -> Value {
        let workers = f64::from(self.shape.workers());
        let mut usage = series.times();
        usage["utilisation"] =
            series.shares(|moment| moment.worked.iter().sum::<u64>() as f64 / workers);
        usage["queue_mean"] = series.shares(|moment| moment.serving_area as f64);
        usage
    }

    fn over_time(&self, series: &Series<'_>) -> Value {
        let workers = f64::from(self.shape.workers());
        let channels = f64::from(self.shape.geometry.channels);
        let mut all = series.times();
        let amplification = |written: &Written| {
            let flash = written.all_pages() * self.page_bytes();
            let host = written.host_blocks * BLOCK_BYTES;
            (host > 0).then(|| flash as f64 / host as f64)
        };
        let mut so_far = Written::default();
        all["write_amplification"] = json!({
            "of_bin": series.each(|moment| json!(amplification(&moment.written))),
            "so_far": series.each(|moment| {
                so_far.join(&moment.measured);
                json!(amplification(&so_far))
            }),
        });
        all["host_bytes"] = series.each(|moment| json!(moment.written.host_blocks * BLOCK_BYTES));
        let pages = ["host", "moved", "map", "parity"].into_iter().enumerate();
        let shown = if self.shape.has_parity { 4 } else { 3 };
        all["flash_bytes"] = pages
            .take(shown)
            .map(|(cause, name)| {
                let bytes = |moment: &Moment| moment.written.pages[cause] * self.page_bytes();
                (name.to_owned(), series.each(|moment| json!(bytes(moment))))
            })
            .collect::<Map<_, _>>()
            .into();
        let mean = |moment: &Moment| {
            (moment.stood > 0).then(|| moment.free_area as f64 / moment.stood as f64)
        };
        all["free_blocks"] = json!({
            "mean": series.each(|moment| json!(mean(moment))),
            "least": series.each(|moment| json!(moment.least_free)),
            "at_end": self.all_free,
            "cleaned_below": u64::from(self.shape.cleaned_below) * u64::from(self.shape.geometry.all_planes()),
        });
        all["channels"] =
            causes(|cause| series.shares(|moment| moment.carried[cause] as f64 / channels));
        all["workers"] = kinds(|kind| series.shares(|moment| moment.worked[kind] as f64 / workers));
        all
    }

    fn busy(&self, series: &Series<'_>) -> Value {
        let mut busy = series.times();
        let channels = self.done.channels.len();
        busy["channels"] = (0..channels)
            .map(|row| series.shares(|moment| at(&moment.channels, row)))
            .collect();
        busy["workers"] = (0..self.done.workers.len())
            .map(|row| {
                let count = self.workers_in(row);
                series.shares(|moment| at(&moment.workers, row) / count)
            })
            .collect();
        busy["workers_of_row"] = self.shape.workers_of_row().into();
        busy
    }

    /// Workers that share a row.
    fn workers_in(&self, row: usize) -> f64 {
        let each = self.shape.workers_of_row();
        f64::from(each.min(self.shape.workers() - row as u32 * each))
    }

    fn measured(&self, done: &Done) -> Value {
        let s = |ns: u64| Time::from_ns(ns).s();
        json!({
            "channels": causes(|cause| {
                done.channels.iter().map(|carried| s(carried[cause])).collect()
            }),
            "workers": kinds(|kind| {
                let rows = done.workers.iter().enumerate();
                rows.map(|(row, worked)| s(worked[kind]) / self.workers_in(row)).collect()
            }),
            "workers_of_row": self.shape.workers_of_row(),
        })
    }
}

fn kinds(value: impl Fn(usize) -> Value) -> Value {
    let all = KINDS.into_iter().enumerate();
    all.map(|(kind, name)| (name.to_owned(), value(kind)))
        .collect::<Map<_, _>>()
        .into()
}

fn causes(value: impl Fn(usize) -> Value) -> Value {
    let all = Cause::ALL.into_iter();
    all.map(|cause| (cause.name().to_owned(), value(cause as usize)))
        .collect::<Map<_, _>>()
        .into()
}

fn at(list: &[u64], place: usize) -> f64 {
    list.get(place).copied().unwrap_or(0) as f64
}

impl Served {
    /// How many, and the mean parts of their time, ms.
    fn json(&self) -> Value {
        let parts = PARTS.iter().map(|part| {
            let mean = self.parts.get(*part).ms() / self.count.max(1) as f64;
            (part.name().to_owned(), json!(mean))
        });
        json!({ "count": self.count, "mean_ms": parts.collect::<Map<_, _>>() })
    }
}

/// Bins of a run that ended at some instant.
struct Series<'a> {
    bins: &'a Bins<Moment>,
    last_width: Time,
}

impl<'a> Series<'a> {
    fn new(bins: &'a Bins<Moment>, end: Time) -> Series<'a> {
        Series {
            bins,
            last_width: bins.last_width(end),
        }
    }

    fn times(&self) -> Value {
        json!({
            "start_s": self.bins.start().s(),
            "bin_s": self.bins.width().s(),
            "last_bin_s": self.last_width.s(),
        })
    }

    fn each(&self, value: impl FnMut(&Moment) -> Value) -> Value {
        self.bins.iter().map(value).collect()
    }

    /// Integrals over the time of each bin as means.
    fn shares(&self, area: impl Fn(&Moment) -> f64) -> Value {
        let last = self.bins.len().saturating_sub(1);
        let shares = self.bins.iter().enumerate().map(|(place, moment)| {
            let width = match place == last {
                true => self.last_width,
                false => self.bins.width(),
            };
            json!(area(moment) / width.ns().max(1) as f64)
        });
        shares.collect()
    }
}
