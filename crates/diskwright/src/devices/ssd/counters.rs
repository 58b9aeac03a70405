//! What an SSD counts, and how it reports it.

use serde_json::{Map, Value, json};

use super::mapping::MappingCounts;
use super::{PARTS, Ssd};
use crate::base::units::Time;
use crate::devices::measured::Measured;
use crate::engine::device::Device;
use crate::engine::request::{Op, Part, Parts};
use crate::models::flash::blocks::BlockState;

/// Counts since the warm-up ended.
#[derive(Clone, Default)]
pub(super) struct SsdCounters {
    pub requests: u64,
    pub reads: u64,
    pub writes: u64,
    /// Pages read for the host, pages that were never written, pages that writes of parts of them have read.
    pub read_pages: u64,
    pub unmapped_reads: u64,
    pub merged_pages: u64,
    /// Units whose blocks were read from the buffer, and units written again before they were programmed.
    pub buffered_reads: u64,
    pub replaced_units: u64,
    /// Pages written for the host and by cleaning, and what the host has written of them, in 512-byte blocks.
    pub host_pages: u64,
    pub moved_pages: u64,
    pub map_pages: u64,
    /// Pages of parity, of stripes that the host or cleaning filled.
    pub parity_pages: u64,
    /// Of the host's pages those written in SLC mode, and pages moved out of it.
    pub slc_pages: u64,
    pub folded_pages: u64,
    pub host_blocks: u64,
    pub trimmed_pages: u64,
    parts: Parts,
    measured: Measured<Busy>,
    erases_before: u64,
}

/// How long parts of a drive have been busy.
#[derive(Clone, Copy, Default)]
struct Busy {
    /// All channels, and all workers, together.
    channels: Time,
    workers: Time,
    /// The link, from the host and to it.
    link: [Time; 2],
}

impl SsdCounters {
    pub fn parts(&mut self, parts: &Parts) {
        for &part in &PARTS {
            self.parts.add(part, parts.get(part));
        }
    }
}

const DAY_S: f64 = 86_400.0;
/// Seconds of a year of 365 days.
const YEAR_S: f64 = 365.0 * DAY_S;
/// The years for which makers give a drive's endurance in drive writes per day: the warranty of most SSDs of today.
const WARRANTY_YEARS: f64 = 5.0;

impl Ssd {
    /// Counts begin anew.
    pub(super) fn count_anew(&mut self, now: Time) {
        if let Some(ageing) = &mut self.ageing {
            (ageing.retries, ageing.refreshed) = (0, 0);
        }
        if let Some(failing) = &mut self.failing {
            (failing.programs, failing.erases) = (0, 0);
        }
        if let Some(queues) = &mut self.queues {
            queues.count_anew();
        }
        if let Some(levelling) = &mut self.levelling {
            levelling.levelled = 0;
        }
        if let Some(mapping) = &mut self.mapping {
            mapping.counts = MappingCounts::default();
        }
        if let Some(log) = &mut self.log {
            log.blocks.count_anew();
        }
        if let Some(suspensions) = &mut self.suspensions {
            suspensions.counts = [0; 2];
        }
        let mut measured = Measured::default();
        measured.begin_anew(now, self.busy(now));
        self.counters = SsdCounters {
            measured,
            erases_before: self.blocks.erases(),
            ..SsdCounters::default()
        };
    }

    /// A request arrives.
    pub(super) fn count_request(&mut self, op: Op, now: Time) {
        if self.counters.measured.since().is_none() {
            self.measuring_begins(now);
        }
        let counters = &mut self.counters;
        counters.requests += 1;
        counters.reads += u64::from(op == Op::Read);
        counters.writes += u64::from(op == Op::Write);
    }

    #[cold]
    fn measuring_begins(&mut self, now: Time) {
        let busy = self.busy(now);
        self.counters.measured.begin(now, || busy);
    }

    /// What comes from now on is not measured.
    pub(super) fn count_until(&mut self, now: Time) {
        self.counters.measured.end(now, self.busy(now));
    }

    fn busy(&self, now: Time) -> Busy {
        let channels = self.channels.iter();
        let carried = channels.map(|channel| channel.busy - channel.busy_until.saturating_sub(now));
        let workers = self.workers.iter().map(|worker| match worker.current {
            Some(_) => worker.busy + now.saturating_sub(worker.busy_since),
            None => worker.busy,
        });
        let link = self.link.as_ref();
        Busy {
            channels: carried.sum(),
            workers: workers.sum(),
            link: link.map(|link| link.busy(now)).unwrap_or_default(),
        }
    }

    /// The share of a run's time for which `count` parts were busy on average, those that `of` finds.
    fn share(&self, elapsed: Time, count: usize, of: fn(&Busy) -> Time) -> f64 {
        let ns = |busy: &Busy| u128::from(of(busy).ns());
        let last = |end| self.busy(end);
        self.counters.measured.mean(elapsed, last, ns) / count as f64
    }

    pub(super) fn report_all(&self, elapsed: Time) -> Map<String, Value> {
        let counters = &self.counters;
        let elapsed = counters.measured.span(elapsed);
        let moved = counters.moved_pages + counters.folded_pages;
        let flash_pages = counters.host_pages
            + moved
            + counters.map_pages
            + counters.parity_pages
            + self.failed_pages();
        let written = counters.host_blocks as f64;
        let blocks = u64::from(self.geometry.unit_blocks * self.geometry.units);
        let amplification = (written > 0.0).then(|| (flash_pages * blocks) as f64 / written);
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(counters.requests));
        put("reads", json!(counters.reads));
        put("writes", json!(counters.writes));
        put("write_amplification", json!(amplification));
        put("host_pages", json!(counters.host_pages));
        put("flash_pages", json!(flash_pages));
        put("moved_pages", json!(counters.moved_pages));
        put("map_pages", json!(counters.map_pages));
        put("merged_pages", json!(counters.merged_pages));
        put("read_pages", json!(counters.read_pages));
        put("unmapped_reads", json!(counters.unmapped_reads));
        put("buffered_reads", json!(counters.buffered_reads));
        put("replaced_units", json!(counters.replaced_units));
        put("dirty_units_at_end", json!(self.writes.entries.held()));
        put("trimmed_pages", json!(counters.trimmed_pages));
        put("erases", self.erases());
        put("free_blocks", json!(self.blocks.free_of_all()));
        put("bad_blocks", json!(self.bad_blocks()));
        put("wear_years", json!(self.wear_years(elapsed)));
        let drive_writes = self.drive_writes_per_day(elapsed);
        put("drive_writes_per_day", json!(drive_writes));
        put(
            "endured_drive_writes_per_day",
            json!(drive_writes.and_then(|load| {
                let years = f64::from(self.endurance?) / self.erases_a_year(elapsed)?;
                Some(load * years / WARRANTY_YEARS)
            })),
        );
        put("steady", self.steady.json());
        put(
            "read_only_since_s",
            json!(self.read_only_since.map(Time::s)),
        );
        put(
            "utilisation",
            json!(self.share(elapsed, self.workers.len(), |busy| busy.workers)),
        );
        put(
            "channel_utilisation",
            json!(self.share(elapsed, self.channels.len(), |busy| busy.channels)),
        );
        let ms = |part: &Part| {
            (
                part.name().to_owned(),
                json!(counters.parts.get(*part).ms()),
            )
        };
        put(
            "busy_ms",
            PARTS.iter().map(ms).collect::<Map<_, _>>().into(),
        );
        if let Some(queues) = &self.queues {
            put(
                "fetched_by_queue",
                json!(queues.fetched().collect::<Vec<_>>()),
            );
        }
        if self.link.is_some() {
            put(
                "link_utilisation",
                json!({
                    "to_device": self.share(elapsed, 1, |busy| busy.link[0]),
                    "to_host": self.share(elapsed, 1, |busy| busy.link[1]),
                }),
            );
        }
        if let Some(ageing) = &self.ageing {
            put("retries", json!(ageing.retries));
            put("refreshed_blocks", json!(ageing.refreshed));
        }
        if let Some(failures) = self.failures_json() {
            put("failures", failures);
        }
        if let Some(parity) = self.parity_json() {
            put("parity", parity);
        }
        if let Some(levelling) = &self.levelling {
            put("levelled_blocks", json!(levelling.levelled));
        }
        if let Some(mapping) = &self.mapping {
            put("mapping", mapping.json());
        }
        if let Some(logged) = self.logged_json() {
            put("mapping", logged);
        }
        if let Some(suspensions) = &self.suspensions {
            put("suspensions", suspensions.json());
        }
        if let Some(slc) = self.slc_json() {
            put("slc", slc);
        }
        if let Some(recovery) = self.recovery.json() {
            put("recovery", recovery.clone());
        }
        report
    }

    /// How often each block has been erased that could be used at the start.
    fn erases_by_block(&self) -> impl Iterator<Item = u32> {
        let all = self.blocks.all().iter();
        let used = all.filter(|block| block.state != BlockState::Bad || block.erases > 0);
        used.map(|block| block.erases)
    }

    fn erases(&self) -> Value {
        let total = self.blocks.erases();
        json!({
            "total": total,
            "mean": total as f64 / self.erases_by_block().count() as f64,
            "min": self.erases_by_block().min(),
            "max": self.erases_by_block().max(),
        })
    }

    fn bad_blocks(&self) -> usize {
        let bad = self
            .blocks
            .all()
            .iter()
            .filter(|block| matches!(block.state, BlockState::Bad | BlockState::Retired));
        bad.count()
    }

    /// Years until the mean block is worn out, at the rate of the run.
    fn wear_years(&self, elapsed: Time) -> Option<f64> {
        let blocks = self.erases_by_block().count() as f64;
        let left = f64::from(self.endurance?) - self.blocks.erases() as f64 / blocks;
        Some(left.max(0.0) / self.erases_a_year(elapsed)?)
    }

    /// Erases of the mean block in a year, at the rate of the run; none where there were none.
    fn erases_a_year(&self, elapsed: Time) -> Option<f64> {
        let blocks = self.erases_by_block().count() as f64;
        let erases = (self.blocks.erases() - self.counters.erases_before) as f64;
        let a_year = erases / blocks / elapsed.s() * YEAR_S;
        (a_year > 0.0 && a_year.is_finite()).then_some(a_year)
    }

    /// How often the host would write the drive's capacity in a day, at the rate of the run.
    fn drive_writes_per_day(&self, elapsed: Time) -> Option<f64> {
        let written = self.counters.host_blocks as f64 / Device::blocks(self) as f64;
        let a_day = written / elapsed.s() * DAY_S;
        a_day.is_finite().then_some(a_day)
    }

    /// What the results should be doubted for.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        let of_cleaning = self.doubt_of_cleaning();
        if let Some(doubt) = of_cleaning {
            doubts.push(doubt);
        } else if let Some(doubt) = self.doubt_of_failures() {
            doubts.push(doubt);
        } else if let Some(at) = self.read_only_since {
            doubts.push(format!(
                "at {at} the last spare block was worn out: from then on the drive could only be read"
            ));
        }
        let unmapped = self.counters.unmapped_reads;
        if unmapped > 0 {
            doubts.push(format!(
                "{unmapped} pages were read that had never been written or were trimmed, which takes no time of the flash; [device.….initial] fills a drive before the run"
            ));
        }
        if let Some(doubt) = self.steady.doubt() {
            doubts.push(doubt);
        }
        if self.counters.moved_pages > 0 && self.log.is_none() {
            let (crowded, all, what) = match &self.stripes {
                Some(striped) => (
                    self.crowded_sets(striped),
                    striped.superblocks.sets(),
                    "sets of planes",
                ),
                None => {
                    let planes = self.geometry.all_planes();
                    let crowded = (0..planes).filter(|&plane| self.is_crowded(plane)).count();
                    (crowded as u32, planes, "planes")
                }
            };
            if crowded > 0 {
                doubts.push(format!(
                    "the data of {crowded} of {all} {what} leave cleaning no room: it goes on until {} blocks of a plane are free, and so moves almost everything again and again; \
                     a smaller cleaning.begin, a larger spare.share or less initial.fill gives it room",
                    self.cleaning.begin
                ));
            }
        }
        doubts
    }

    /// Whether a plane has no block left beside those that its data fill, those being written, and the free ones that cleaning wants.
    fn is_crowded(&self, plane: u32) -> bool {
        let data = (self.blocks.valid_of(plane)).div_ceil(self.geometry.units_of_block());
        let wanted = data + self.blocks.writers() + self.cleaning.begin;
        self.blocks.usable_of(plane) < wanted
    }
}
