//! When a job's requests arrive, and how many there are.

use crate::base::error::InputError;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::workload::synthetic::{ArrivalsSpec, ClosedParams, ThinkSpec};

use super::ini::Setting;
use super::job::{Pattern, Range, WRITE};
use super::options::SYNCHRONOUS;
use super::reading::Reading;
use super::sizes::Table;
use super::values::{Amount, number, per_direction};

impl Reading<'_> {
    /// From users, or at the job's rate, which may change the mix.
    pub fn arrivals(&mut self, pattern: &mut Pattern) -> Result<ArrivalsSpec, InputError> {
        if let Some(setting) = self.last(&["rate_iops"]) {
            return self.rated(setting, pattern);
        }
        let users = self.count(&["iodepth"], 1)?.unwrap_or(1);
        let think = self
            .time(&["thinktime"], Time::from_us(1))?
            .unwrap_or(Time::ZERO);
        if let Some(setting) = self.last(&["iodepth"])
            && users > 1
        {
            let engine = self
                .last(&["ioengine"])
                .and_then(|s| s.value.as_deref())
                .unwrap_or("psync");
            if SYNCHRONOUS.contains(&engine) {
                let message = format!(
                    "{} is {users} users here; fio's engine {engine} would have 1 request outstanding",
                    setting.shown()
                );
                self.warn(setting, &message);
            } else if think > Time::ZERO {
                let message = format!(
                    "{} is {users} users who think here; fio would have 1 request outstanding",
                    setting.shown()
                );
                self.warn(setting, &message);
            }
            if u32::try_from(users).is_err() {
                return Err(self.file.wrong_value(setting, "4294967295 at most"));
            }
        }
        if let Some(setting) = self.last(&["ioengine"]) {
            self.warn(
                setting,
                &format!("{} has no meaning in a simulation", setting.shown()),
            );
        }
        Ok(ArrivalsSpec::Closed(ClosedParams {
            users: u32::try_from(users).ok(),
            think: ThinkSpec::Constant(think),
            ..ClosedParams::default()
        }))
    }

    /// The rates of the directions that there are add up; of both reads and writes they decide the mix.
    fn rated(
        &mut self,
        setting: &Setting,
        pattern: &mut Pattern,
    ) -> Result<ArrivalsSpec, InputError> {
        let expected = || {
            self.file.wrong_value(
                setting,
                "a number of requests a second above 0 for every direction there is",
            )
        };
        let mut rates = [0.0; 3];
        for (direction, rate) in per_direction(setting.value.as_deref().unwrap_or(""))
            .into_iter()
            .enumerate()
        {
            if pattern.shares[direction] > 0.0 {
                let rate = rate
                    .and_then(|rate| number(rate, self.base))
                    .filter(|rate| *rate > 0);
                rates[direction] = rate.ok_or_else(expected)? as f64;
            }
        }
        let total: f64 = rates.iter().sum();
        let gap = Time::from_ns_f64(1e9 / total)
            .filter(|gap| *gap > Time::ZERO)
            .ok_or_else(expected)?;
        let process = self.last(&["rate_process"]);
        let arrivals = match process.map(|p| p.value.as_deref()) {
            None | Some(Some("linear")) => ArrivalsSpec::Constant(gap),
            Some(Some("poisson")) => ArrivalsSpec::Poisson(gap),
            Some(_) => {
                return Err(self
                    .file
                    .wrong_value(process.expect("it was matched"), "linear or poisson"));
            }
        };
        let mix = rates.map(|rate| rate / total);
        if mix
            .iter()
            .zip(pattern.shares)
            .any(|(mix, share)| (mix - share).abs() > 1e-9)
        {
            let [reads, writes, _] = mix.map(|part| part * 100.0);
            self.warn(
                setting,
                &format!(
                    "{} gives each direction its rate: reads are {reads} % and writes {writes} %",
                    setting.shown()
                ),
            );
        }
        pattern.shares = mix;
        self.warn(
            setting,
            &format!(
                "{} is a rate of arrivals here, kept whatever the drive does; fio's is a limit",
                setting.shown()
            ),
        );
        for names in [&["iodepth"], &["thinktime"], &["ioengine"]] {
            if let Some(other) = self.last(names) {
                self.warn(
                    other,
                    &format!(
                        "{} changes nothing where rate_iops makes requests arrive",
                        other.shown()
                    ),
                );
            }
        }
        Ok(arrivals)
    }

    /// How many requests fio would make: as many as carry the job's bytes, and the flushes among them.
    pub fn requests(
        &mut self,
        pattern: &Pattern,
        tables: &[Table; 3],
        range: Range,
        arrivals: &ArrivalsSpec,
    ) -> Result<u64, InputError> {
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
        let mean_of = |table: &Table| {
            table
                .iter()
                .map(|(blocks, share)| *blocks as f64 * share)
                .sum::<f64>()
        };
        let mean: f64 = tables
            .iter()
            .zip(pattern.shares)
            .map(|(table, share)| share * mean_of(table))
            .sum();
        let mut transfers = (bytes / (mean * BLOCK_BYTES as f64) + 1e-9) as u64;
        if let (false, Some(holes)) = (pattern.random, pattern.modifier) {
            // A sequential job ends where its file does, and holes bring it there sooner.
            let stride = mean + holes as f64 / BLOCK_BYTES as f64;
            transfers = transfers.min(((range.blocks as f64 - mean).max(0.0) / stride) as u64 + 1);
        }
        transfers = transfers.saturating_mul(self.count(&["loops"], 1)?.unwrap_or(1));
        if let Some(most) = self.count(&["number_ios"], 1)? {
            transfers = transfers.min(most);
        }
        let transfers = self.timed(transfers.max(1), arrivals)?;
        let flushes = match self.flush_every()? {
            Some(every) => (transfers as f64 * pattern.shares[WRITE]) as u64 / every,
            None => 0,
        };
        Ok(transfers.saturating_add(flushes))
    }

    /// `runtime` counts where the rate is known.
    fn timed(&mut self, transfers: u64, arrivals: &ArrivalsSpec) -> Result<u64, InputError> {
        let names = ["runtime", "timeout"];
        let runtime = self
            .time(&names, Time::from_s(1))?
            .filter(|time| *time > Time::ZERO);
        let forever = self.flag(&["time_based"])?;
        let (Some(runtime), Some(setting)) = (runtime, self.last(&names)) else {
            return Ok(transfers);
        };
        match arrivals {
            ArrivalsSpec::Constant(gap) | ArrivalsSpec::Poisson(gap) => {
                let arrive = (runtime.ns() / gap.ns()).max(1);
                Ok(if forever {
                    arrive
                } else {
                    arrive.min(transfers)
                })
            }
            _ => {
                let instead = "the load ends after its requests, which number_ios and io_size set; measure.duration ends a run in time";
                self.not_modelled(setting, instead);
                if let Some(setting) = self.last(&["time_based"]) {
                    self.not_modelled(setting, instead);
                }
                Ok(transfers)
            }
        }
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
