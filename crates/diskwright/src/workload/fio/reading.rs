//! A job's options, looked up and read.

use std::collections::BTreeSet;

use crate::base::error::{InputError, suggestion, unknown_name};
use crate::base::units::{BLOCK_BYTES, Time};

use super::ini::{Job, JobFile, Setting};
use super::options::{NO_EFFECT, NOT_MODELLED, REFUSED, UNDERSTOOD, names};
use super::values::{Amount, Base, amount, number, time};

/// A job being understood.
pub struct Reading<'a> {
    /// The file, for places.
    pub file: &'a JobFile,
    /// The job.
    pub job: &'a Job,
    /// Blocks of the drive.
    pub capacity: u64,
    /// What `k` stands for in the job.
    pub base: Base,
    /// Line numbers and what to say of them; once each, whatever the number of jobs.
    warnings: &'a mut BTreeSet<(usize, String)>,
}

impl<'a> Reading<'a> {
    /// Looks at every option of `job`.
    ///
    /// # Errors
    /// One that is unknown or stands for a load that cannot be had.
    pub fn new(
        file: &'a JobFile,
        job: &'a Job,
        capacity: u64,
        warnings: &'a mut BTreeSet<(usize, String)>,
    ) -> Result<Reading<'a>, InputError> {
        let mut reading = Reading {
            file,
            job,
            capacity,
            base: Base::Swapped,
            warnings,
        };
        for setting in &job.settings {
            reading.classify(setting)?;
        }
        if let Some(setting) = reading.last(&["kb_base"]) {
            reading.base = match setting.value.as_deref() {
                Some("1000") => Base::Si,
                Some("1024") => Base::Swapped,
                _ => return Err(file.wrong_value(setting, "1000 or 1024")),
            };
        }
        Ok(reading)
    }

    fn classify(&mut self, setting: &Setting) -> Result<(), InputError> {
        let name = setting.name.as_str();
        let told = |list: &[(&'static str, &'static str)]| {
            list.iter().find(|(n, _)| *n == name).map(|(_, why)| *why)
        };
        if UNDERSTOOD.contains(&name) || NO_EFFECT.contains(&name) {
            return Ok(());
        }
        if let Some(instead) = told(NOT_MODELLED) {
            self.not_modelled(setting, instead);
        } else if let Some(help) = told(REFUSED) {
            let message = format!("{} makes a load that cannot be simulated", setting.shown());
            return Err(self.file.wrong_name(setting, message).help(help));
        } else {
            let mut error = unknown_name("fio option", name, UNDERSTOOD);
            if let Some(near) = suggestion(name, names()) {
                error.help = Some(format!(
                    "did you mean {near:?}? what shapes the load: {}",
                    UNDERSTOOD.join(", ")
                ));
            }
            let place = self.file.wrong_name(setting, "").place;
            return Err(InputError { place, ..error });
        }
        Ok(())
    }

    /// Adds a warning about an option.
    pub fn warn(&mut self, setting: &Setting, message: &str) {
        self.warnings
            .insert((setting.line, self.file.warning(setting, message)));
    }

    /// Adds a warning about an option that is not followed.
    pub fn not_modelled(&mut self, setting: &Setting, instead: &str) {
        self.warn(
            setting,
            &format!("not modelled: {}: {instead}", setting.shown()),
        );
    }

    /// The option of one of these names that counts.
    pub fn last(&self, names: &[&str]) -> Option<&'a Setting> {
        let mut settings = self.job.settings.iter().rev();
        settings.find(|setting| names.contains(&setting.name.as_str()))
    }

    /// A whole number, with or without a suffix.
    pub fn count(&self, names: &[&str], least: u64) -> Result<Option<u64>, InputError> {
        let Some(setting) = self.last(names) else {
            return Ok(None);
        };
        let read = setting
            .value
            .as_deref()
            .and_then(|text| number(text, self.base));
        let fits = read.filter(|value| *value >= least);
        let expected = || {
            self.file
                .wrong_value(setting, &format!("a whole number, {least} or more"))
        };
        fits.map(Some).ok_or_else(expected)
    }

    pub fn time(&self, names: &[&str], unit: Time) -> Result<Option<Time>, InputError> {
        let Some(setting) = self.last(names) else {
            return Ok(None);
        };
        let read = setting.value.as_deref().and_then(|text| time(text, unit));
        let expected = || {
            self.file
                .wrong_value(setting, "a time such as 10s, 5ms or 100us")
        };
        read.map(Some).ok_or_else(expected)
    }

    /// An option that is on when it stands alone or is 1.
    pub fn flag(&self, names: &[&str]) -> Result<bool, InputError> {
        match self.last(names) {
            None => Ok(false),
            Some(setting) => match setting.value.as_deref() {
                None | Some("1" | "true") => Ok(true),
                Some("0" | "false") => Ok(false),
                _ => Err(self.file.wrong_value(setting, "1 or 0")),
            },
        }
    }

    pub fn amount(&self, names: &[&str]) -> Result<Option<(&'a Setting, Amount)>, InputError> {
        let Some(setting) = self.last(names) else {
            return Ok(None);
        };
        let read = setting
            .value
            .as_deref()
            .and_then(|text| amount(text, self.base));
        let expected = || self.file.wrong_value(setting, "a size such as 4g or 20%");
        Ok(Some((setting, read.ok_or_else(expected)?)))
    }

    /// Whole blocks.
    pub fn blocks(&self, setting: &Setting, bytes: u64) -> Result<u64, InputError> {
        if bytes.is_multiple_of(BLOCK_BYTES) {
            return Ok(bytes / BLOCK_BYTES);
        }
        let expected = format!("whole blocks of {BLOCK_BYTES} bytes");
        Err(self.file.wrong_value(setting, &expected))
    }
}
