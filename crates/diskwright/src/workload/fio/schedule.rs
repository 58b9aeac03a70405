//! When a job begins and ends: `startdelay`, `ramp_time`, `runtime`, `time_based`. fio's HOWTO, "Time related parameters".

use crate::base::error::InputError;
use crate::base::units::Time;
use crate::workload::synthetic::{StartSpec, UniformGaps};

use super::reading::Reading;
use super::values::time;

/// When a job begins and ends.
pub struct Schedule {
    /// Not before this instant.
    pub start: StartSpec,
    /// The lead-in that is not measured.
    pub ramp: Option<Time>,
    /// The lead-in and the runtime.
    pub duration: Option<Time>,
    /// The runtime alone ends the job.
    pub is_time_based: bool,
}

impl Reading<'_> {
    /// When the job begins and ends.
    ///
    /// # Errors
    /// A value that makes no sense, with its place.
    pub fn schedule(&mut self) -> Result<Schedule, InputError> {
        let second = Time::from_s(1);
        let some = |time: Option<Time>| time.filter(|time| *time > Time::ZERO);
        let runtime = some(self.time(&["runtime", "timeout"], second)?);
        let ramp = some(self.time(&["ramp_time"], second)?);
        let is_time_based = self.flag(&["time_based"])?;
        if is_time_based
            && runtime.is_none()
            && let Some(setting) = self.last(&["time_based"])
        {
            let message = format!("{} changes nothing without a runtime", setting.shown());
            self.warn(setting, &message);
        }
        let whole = |runtime: Time| runtime.checked_add(ramp.unwrap_or_default());
        Ok(Schedule {
            start: self.start()?,
            ramp,
            duration: runtime.and_then(whole),
            is_time_based: is_time_based && runtime.is_some(),
        })
    }

    /// `startdelay`: a time, or a range such as `1s-5s`.
    fn start(&self) -> Result<StartSpec, InputError> {
        let Some(setting) = self.last(&["startdelay", "start_delay"]) else {
            return Ok(StartSpec::default());
        };
        let second = Time::from_s(1);
        let text = setting.value.as_deref().unwrap_or("");
        let read = match text.split_once('-') {
            None => time(text, second).map(StartSpec::At),
            Some((min, max)) => match (time(min, second), time(max, second)) {
                (Some(min), Some(max)) if min <= max => {
                    Some(StartSpec::Within(UniformGaps { min, max }))
                }
                _ => None,
            },
        };
        let expected = "a time such as 10s, or a range such as 1s-5s";
        read.ok_or_else(|| self.file.wrong_value(setting, expected))
    }

    /// Values of options that are understood, of which some are not followed.
    ///
    /// # Errors
    /// A value that makes no sense, with its place.
    pub fn told(&mut self) -> Result<(), InputError> {
        let through_cache = [("direct", false), ("buffered", true)];
        for (name, cached) in through_cache {
            if let Some(setting) = self.last(&[name])
                && self.flag(&[name])? == cached
            {
                self.not_modelled(
                    setting,
                    "requests go to the drive, as with direct=1: there is no page cache",
                );
            }
        }
        if let Some(setting) = self.last(&["filename"])
            && setting
                .value
                .as_deref()
                .is_some_and(|names| names.replace("\\:", "").contains(':'))
        {
            self.not_modelled(setting, "all jobs work on the one device of the spec");
        }
        if let Some(setting) = self.last(&["nrfiles"])
            && self.count(&["nrfiles"], 1)?.is_some_and(|files| files > 1)
        {
            self.not_modelled(setting, "the job has one range, of its size");
        }
        let exit_what = self.last(&["exit_what"]);
        match exit_what.map(|setting| (setting, setting.value.as_deref())) {
            None | Some((_, Some("group" | "stonewall"))) => {}
            Some((setting, Some("all"))) => {
                self.not_modelled(setting, "jobs behind a stonewall run");
            }
            Some((setting, _)) => {
                let expected = "group, stonewall or all";
                return Err(self.file.wrong_value(setting, expected));
            }
        }
        let rates = self.last(&["rate", "rate_iops"]).is_some();
        let batch = ["iodepth_batch", "iodepth_batch_submit"];
        if let Some(setting) = self.last(&batch)
            && rates
            && self.count(&batch, 1)?.is_some_and(|batch| batch > 1)
        {
            self.not_modelled(setting, "each request is issued when the rate lets it pass");
        }
        if let Some(setting) = self.last(&["rate_ignore_thinktime"])
            && rates
            && self.flag(&["rate_ignore_thinktime"])?
        {
            self.not_modelled(
                setting,
                "a job catches up with its rate after it has thought",
            );
        }
        Ok(())
    }
}
