//! How fast a job goes, and how many requests it makes.

use crate::base::error::InputError;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::workload::synthetic::{
    ArrivalsSpec, ClosedParams, PauseSpec, RateSpec, RefillSpec, ThinkSpec,
};

use super::ini::Setting;
use super::job::{Pattern, Range, WRITE};
use super::options::{NO_DISK, SYNCHRONOUS};
use super::reading::Reading;
use super::sizes::Table;
use super::values::{Amount, number, per_direction};

impl Reading<'_> {
    /// The job's users, its rate, which may change the mix, and its think time.
    ///
    /// # Errors
    /// A value that makes no sense, with its place.
    pub fn arrivals(
        &mut self,
        pattern: &mut Pattern,
        tables: &[Table; 3],
    ) -> Result<ArrivalsSpec, InputError> {
        let users = self.users()?;
        let mut closed = ClosedParams {
            users: Some(users),
            rate: self.rate(pattern, tables)?,
            refill: self.refill(users)?,
            ..ClosedParams::default()
        };
        self.think(&mut closed)?;
        Ok(ArrivalsSpec::Closed(closed))
    }

    /// `iodepth`, which synchronous engines do not follow.
    fn users(&mut self) -> Result<u32, InputError> {
        let engine = self.last(&["ioengine"]);
        let name = engine.and_then(|s| s.value.as_deref()).unwrap_or("psync");
        if let Some(engine) = engine
            && NO_DISK.contains(&name)
        {
            let message = format!("{} makes no requests of a drive", engine.shown());
            let help =
                "choose the other jobs: workload.fio = { file = \"FILE\", jobs = [\"NAME\"] }";
            return Err(self.file.wrong_name(engine, message).help(help));
        }
        let depth = self.count(&["iodepth"], 1)?.unwrap_or(1);
        let Some(setting) = self.last(&["iodepth"]) else {
            return Ok(1);
        };
        let users = u32::try_from(depth)
            .map_err(|_| self.file.wrong_value(setting, "4294967295 at most"))?;
        if users > 1 && SYNCHRONOUS.contains(&name) {
            let which = match engine {
                Some(_) => name.to_owned(),
                None => format!("{name}, fio's default,"),
            };
            let message = format!(
                "{} changes nothing: the engine {which} has 1 request outstanding; ioengine=libaio has {users}",
                setting.shown()
            );
            self.warn(setting, &message);
            return Ok(1);
        }
        Ok(users)
    }

    /// `iodepth_batch_complete_min` and `iodepth_low`: with a full queue fio takes completions in groups, until few enough requests are
    /// outstanding, and then fills the queue. (`iodepth_batch` changes nothing: what is left over is submitted before fio waits, and the host takes
    /// no time.)
    fn refill(&self, users: u32) -> Result<Option<RefillSpec>, InputError> {
        let group = self.count(&["iodepth_batch_complete_min", "iodepth_batch_complete"], 0)?;
        let low = self.count(&["iodepth_low"], 0)?;
        let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let refill = RefillSpec {
            completions: group.map_or(1, narrow).clamp(1, users),
            low: low.map(narrow).filter(|low| (1..users).contains(low)),
        };
        Ok(Some(refill).filter(|refill| *refill != RefillSpec::default()))
    }

    /// `thinktime`: after every `thinktime_blocks` requests, or every `thinktime_iotime`, the job waits for what is under way, and pauses.
    fn think(&mut self, closed: &mut ClosedParams) -> Result<(), InputError> {
        let us = Time::from_us(1);
        let time = self.time(&["thinktime"], us)?.unwrap_or_default();
        let requests = self.count(&["thinktime_blocks"], 1)?;
        let period = self.time(&["thinktime_iotime"], Time::from_s(1))?;
        let period = period.filter(|period| *period > Time::ZERO);
        let spin = self.time(&["thinktime_spin"], us)?;
        if let Some(setting) = self.last(&["thinktime_blocks_type"])
            && !matches!(setting.value.as_deref(), Some("complete" | "issue"))
        {
            return Err(self.file.wrong_value(setting, "complete or issue"));
        }
        if time == Time::ZERO {
            return Ok(());
        }
        if let Some(spin) = spin
            && spin > time
            && let Some(setting) = self.last(&["thinktime_spin"])
        {
            let expected = format!("at most the thinktime, {time}");
            return Err(self.file.wrong_value(setting, &expected));
        }
        let each = requests.is_none_or(|requests| requests == 1) && period.is_none();
        if each && closed.users == Some(1) {
            closed.think = ThinkSpec::Constant(time);
        } else {
            closed.pause = Some(PauseSpec {
                time,
                requests: requests.or(period.is_none().then_some(1)),
                period,
            });
        }
        Ok(())
    }

    /// `rate` or `rate_iops`. Each direction has its own; they add up, and of both reads and writes they decide the mix.
    fn rate(
        &mut self,
        pattern: &mut Pattern,
        tables: &[Table; 3],
    ) -> Result<Option<RateSpec>, InputError> {
        let (bytes, requests) = (self.last(&["rate"]), self.last(&["rate_iops"]));
        let Some(setting) = bytes.or(requests) else {
            return Ok(None);
        };
        if let (Some(_), Some(second)) = (bytes, requests) {
            let message = "rate and rate_iops exclude each other";
            return Err(self
                .file
                .wrong_name(second, message)
                .help("give one of them"));
        }
        let expected = || {
            let what = "a number above 0 for every direction that the job has; without one there is no limit for a direction, which two jobs have";
            self.file.wrong_value(setting, what)
        };
        let mut rates = [0u64; 3];
        let texts = per_direction(setting.value.as_deref().unwrap_or(""));
        for ((rate, share), text) in rates.iter_mut().zip(pattern.shares).zip(texts) {
            if share > 0.0 {
                let read = text.and_then(|text| number(text, self.base));
                *rate = read.filter(|rate| *rate > 0).ok_or_else(expected)?;
            }
        }
        let total = rates
            .iter()
            .try_fold(0u64, |sum, rate| sum.checked_add(*rate));
        let total = total.ok_or_else(expected)?;
        let mean_bytes = |direction: usize| mean_blocks(&tables[direction]) * BLOCK_BYTES as f64;
        // Requests a second of each direction.
        let iops: [f64; 3] = std::array::from_fn(|direction| match bytes {
            Some(_) => rates[direction] as f64 / mean_bytes(direction),
            None => rates[direction] as f64,
        });
        self.mix(setting, pattern, &iops);
        let process = self.last(&["rate_process"]);
        let is_random = match process.map(|setting| (setting, setting.value.as_deref())) {
            None | Some((_, Some("linear"))) => false,
            Some((_, Some("poisson"))) => true,
            Some((setting, _)) => return Err(self.file.wrong_value(setting, "linear or poisson")),
        };
        Ok(Some(match (bytes, is_random) {
            (_, true) => RateSpec::PoissonRequests(libm::round(iops.iter().sum()).max(1.0) as u64),
            (Some(_), false) => RateSpec::Bytes(total),
            (None, false) => RateSpec::Requests(total),
        }))
    }

    /// The mix that rates of directions make.
    fn mix(&mut self, setting: &Setting, pattern: &mut Pattern, iops: &[f64; 3]) {
        let total: f64 = iops.iter().sum();
        let mix = iops.map(|iops| iops / total);
        let differs = mix
            .iter()
            .zip(pattern.shares)
            .any(|(mix, share)| (mix - share).abs() > 1e-9);
        if differs {
            let [reads, writes, _] = mix.map(|part| libm::round(part * 1000.0) / 10.0);
            let message = format!(
                "{} gives each direction its rate: reads are {reads} % and writes {writes} %",
                setting.shown()
            );
            self.warn(setting, &message);
        }
        pattern.shares = mix;
    }

    /// How many requests fio would make: as many as carry the job's bytes, and the flushes among them.
    pub fn requests(
        &mut self,
        pattern: &Pattern,
        tables: &[Table; 3],
        range: Range,
        is_time_based: bool,
    ) -> Result<Option<u64>, InputError> {
        let most = self.count(&["number_ios"], 1)?;
        if is_time_based && most.is_none() {
            return Ok(None);
        }
        let names: &[&str] = if self.last(&["io_size", "io_limit"]).is_some() {
            &["io_size", "io_limit"]
        } else {
            &["size"]
        };
        let bytes = match self.amount(names)? {
            // What a percentage of the drive leaves of its range was cut above.
            Some((_, Amount::Bytes(bytes))) => bytes as f64,
            Some((_, Amount::Percent(percent))) if names.len() > 1 => {
                self.capacity as f64 * percent / 100.0 * BLOCK_BYTES as f64
            }
            _ => range.blocks as f64 * BLOCK_BYTES as f64,
        };
        let mean: f64 = tables
            .iter()
            .zip(pattern.shares)
            .map(|(table, share)| share * mean_blocks(table))
            .sum();
        let mut transfers = (bytes / (mean * BLOCK_BYTES as f64) + 1e-9) as u64;
        if let (false, Some(holes)) = (pattern.random, pattern.modifier) {
            // A sequential job ends where its file does, and holes bring it there sooner.
            let stride = mean + holes as f64 / BLOCK_BYTES as f64;
            transfers = transfers.min(((range.blocks as f64 - mean).max(0.0) / stride) as u64 + 1);
        }
        transfers = transfers.saturating_mul(self.count(&["loops"], 1)?.unwrap_or(1));
        transfers = match most {
            Some(most) if is_time_based => most,
            Some(most) => transfers.min(most).max(1),
            None => transfers.max(1),
        };
        let flushes = match self.flush_every()? {
            Some(every) => (transfers as f64 * pattern.shares[WRITE]) as u64 / every,
            None => 0,
        };
        Ok(Some(transfers.saturating_add(flushes)))
    }

    /// After how many writes a flush follows.
    pub fn flush_every(&self) -> Result<Option<u64>, InputError> {
        let every = |name| Ok(self.count(&[name], 0)?.filter(|every| *every > 0));
        let (fsync, fdatasync): (Option<u64>, Option<u64>) = (every("fsync")?, every("fdatasync")?);
        Ok(match (fsync, fdatasync) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        })
    }
}

/// The mean size of a direction's requests, in blocks.
fn mean_blocks(table: &Table) -> f64 {
    let sizes = table.iter().map(|(blocks, share)| *blocks as f64 * share);
    sizes.sum()
}
