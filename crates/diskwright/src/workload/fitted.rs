//! A load that fits the device that it is for: checked, and with what a job file stands for in its place.

use std::path::{Path, PathBuf};

use super::clone_options::SyntheticCloneOptions;
use super::devices::Devices;
use super::formats::FormatOptions;
use super::processes::{Processes, Region};
use super::selection::{CHOOSE_DEVICE, Selection};
use super::synthetic::Synthetic;
use super::{DeviceChoice, Pace, Pacing, Source, Workload, WorkloadSpec};
use super::{fio, opening, places, synthetic_clone};
use crate::base::error::{Error, InputError, Place};

/// A load that has been checked for a device, and can be [opened](Self::open) as often as it is needed.
#[derive(Clone, Debug)]
pub struct FittedWorkload {
    spec: WorkloadSpec,
    /// The trace, if it is of one.
    path: PathBuf,
    /// Where the devices of processes are.
    regions: Vec<Region>,
    /// Blocks of the device.
    capacity: u64,
}

impl FittedWorkload {
    /// The spec, in which the synthetic load stands that a job file says.
    pub fn spec(&self) -> &WorkloadSpec {
        &self.spec
    }

    /// Begins with the requests.
    ///
    /// # Errors
    /// A trace that cannot be read; a synthetic load that does not fit the device.
    pub fn open(&self, seed: u64) -> Result<Workload, Error> {
        let FittedWorkload { spec, capacity, .. } = self;
        if let Some(synthetic) = &spec.synthetic {
            let synthetic = Synthetic::new(synthetic, seed, *capacity)?;
            return Ok(Workload {
                pacing: synthetic.pacing(),
                source: Source::Synthetic(Box::new(synthetic)),
                notes: spec.notes.clone(),
            });
        }
        if let Some(processes) = &spec.processes {
            let processes = Processes::new(processes, seed, &self.regions)?;
            return Ok(Workload {
                pacing: Pacing::Processes,
                source: Source::Processes(Box::new(processes)),
                notes: Vec::new(),
            });
        }
        Ok(Workload {
            pacing: match spec.pace {
                Pace::Closed => Pacing::Closed { users: None },
                Pace::Recorded | Pace::Scaled(_) => Pacing::Open,
            },
            source: Source::Trace {
                reader: opening::open_seeded(&self.path, &spec.format_options(), seed)?,
                selection: Box::new(Selection::new(spec, *capacity)),
            },
            notes: Vec::new(),
        })
    }

    /// How many requests [`Workload::next`] will yield; of a trace, by reading all of it. `None` where durations end the load.
    ///
    /// # Errors
    /// Those of [`Self::open`] and [`Workload::next`].
    pub fn count(&self, seed: u64) -> Result<Option<u64>, Error> {
        let mut workload = self.open(seed)?;
        if let Some(total) = workload.total_hint() {
            return Ok(Some(total));
        }
        if workload.pacing() == Pacing::Planned {
            return Ok(None);
        }
        let mut count = 0;
        while workload.next()?.is_some() {
            count += 1;
        }
        Ok(Some(count))
    }
}

impl WorkloadSpec {
    /// What the reader of the trace is told.
    fn format_options(&self) -> FormatOptions {
        if let Some(made) = &self.synthetic_clone {
            let synthetic_clone = SyntheticCloneOptions {
                seed: None,
                parameters: made.parameters.clone(),
            };
            return FormatOptions {
                format: Some(synthetic_clone::NAME.to_owned()),
                synthetic_clone,
                ..FormatOptions::default()
            };
        }
        FormatOptions {
            format: self.format.clone(),
            csv: self.csv.clone(),
            blktrace: self.blktrace,
            sector_bytes: self.sector_bytes,
            synthetic_clone: SyntheticCloneOptions::default(),
        }
    }

    /// Checks the load for a device of `capacity` blocks; relative paths start at `base`. A job file becomes the synthetic load that it stands
    /// for.
    ///
    /// # Errors
    /// A spec that contradicts itself; a job file that cannot be read or understood; places of devices that do not fit; a trace that is of
    /// several devices when none is chosen. A trace that cannot be read is no error yet.
    pub fn fit(&self, base: &Path, capacity: u64) -> Result<FittedWorkload, Error> {
        self.check()?;
        if capacity == 0 {
            return Err(Error::input("the drive has no blocks"));
        }
        let mut spec = self.clone();
        if let Some(job_file) = spec.fio.take() {
            let converted = fio::convert(&job_file, base, capacity)?;
            spec.synthetic = Some(converted.synthetic);
            (spec.notes, spec.jobs) = (converted.warnings, converted.jobs);
        }
        let regions = match spec.processes {
            Some(_) => places::regions(&spec.devices, capacity)?,
            None => {
                places::check(&spec.devices, capacity)?;
                Vec::new()
            }
        };
        let profile = spec.synthetic_clone.as_ref().map(|made| &made.profile);
        let file = spec.trace.as_ref().or(profile);
        let path = file.map_or_else(PathBuf::new, |file| base.join(file));
        let is_of_one = spec.device == DeviceChoice::Single && spec.devices.is_empty();
        if spec.trace.is_some() && is_of_one {
            refuse_several_devices(&path, &spec.format_options())?;
        }
        Ok(FittedWorkload {
            spec,
            path,
            regions,
            capacity,
        })
    }

    /// Refuses what contradicts itself or changes nothing.
    ///
    /// # Errors
    /// The key concerned is in the message.
    fn check(&self) -> Result<(), Error> {
        let loads = [
            ("trace", self.trace.is_some()),
            ("synthetic-clone", self.synthetic_clone.is_some()),
            ("synthetic", self.synthetic.is_some()),
            ("fio", self.fio.is_some()),
            ("processes", self.processes.is_some()),
        ];
        let given: Vec<_> = loads
            .iter()
            .filter(|(_, is)| *is)
            .map(|(key, _)| *key)
            .collect();
        match given[..] {
            [] => {
                return Err(InputError::new("workload: no requests to simulate")
                    .help("give workload.trace = \"FILE\", workload.synthetic-clone = \"PROFILE\", a table [workload.synthetic] or [workload.processes], or workload.fio = \"JOB FILE\"")
                    .into());
            }
            [one, other, ..] => {
                return Err(Error::input(format!(
                    "workload.{one} and workload.{other} exclude each other"
                )));
            }
            ["synthetic" | "fio" | "processes"] => return self.check_synthetic(),
            ["synthetic-clone"] => self.check_synthetic_clone()?,
            [_] => {}
        }
        if let Pace::Scaled(speed) = self.pace
            && !(speed.is_finite() && speed > 0.0)
        {
            return Err(Error::input(format!(
                "workload.pace: scaled is {speed}: expected a number above 0 (2 is twice as fast)"
            )));
        }
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from >= to
        {
            return Err(Error::input(format!(
                "workload.from is {from} and workload.to {to}: nothing is between"
            )));
        }
        if !self.devices.is_empty() && self.device != DeviceChoice::Single {
            return Err(Error::input(
                "workload.device and workload.devices exclude each other",
            ));
        }
        Ok(())
    }

    /// The keys that are about files of traces say nothing about a synthetic clone, which is of one device and in order.
    fn check_synthetic_clone(&self) -> Result<(), Error> {
        for (key, touched) in self.about_files() {
            if touched {
                return Err(Error::input(format!(
                    "workload.{key} is about a recorded trace and changes nothing of a synthetic clone"
                )));
            }
        }
        Ok(())
    }

    /// The keys about the file of a trace, and whether they are given.
    fn about_files(&self) -> [(&'static str, bool); 8] {
        let untouched = WorkloadSpec::default();
        [
            ("format", self.format.is_some()),
            ("csv", self.csv != untouched.csv),
            ("blktrace", self.blktrace != untouched.blktrace),
            ("sector_bytes", self.sector_bytes.is_some()),
            ("device", self.device != untouched.device),
            ("devices", !self.devices.is_empty()),
            ("out_of_order", self.out_of_order != untouched.out_of_order),
            ("bad_size", self.bad_size != untouched.bad_size),
        ]
    }

    /// The keys that are about traces say nothing about a synthetic load.
    fn check_synthetic(&self) -> Result<(), Error> {
        let untouched = WorkloadSpec::default();
        let about_requests = [
            ("pace", self.pace != untouched.pace),
            ("from", self.from.is_some()),
            ("to", self.to.is_some()),
            ("limit", self.limit.is_some()),
            ("past_end", self.past_end != untouched.past_end),
        ];
        for (key, touched) in self.about_files().into_iter().chain(about_requests) {
            // Processes make requests for devices, too.
            let is_known = key == "devices" && self.processes.is_some();
            if touched && !is_known {
                return Err(Error::input(format!(
                    "workload.{key} is about a trace and changes nothing of a synthetic load"
                )));
            }
        }
        Ok(())
    }
}

/// The records in which a second device is looked for before anything is simulated.
pub(super) const PROBED: u64 = 65_536;

/// Finds out early what would otherwise end a run in its middle.
///
/// A trace that can be read only once, such as a pipe, is not looked at; nor does anything else that is wrong with the trace
/// matter here, for the reading proper will tell of it at its place.
fn refuse_several_devices(path: &Path, options: &FormatOptions) -> Result<(), Error> {
    if !path.is_file() {
        return Ok(());
    }
    let mut reader = opening::open(path, options)?;
    let mut devices = Devices::default();
    for _ in 0..PROBED {
        let Ok(Some(record)) = reader.next() else {
            break;
        };
        devices.add(record.device);
    }
    if devices.several() {
        return Err(
            InputError::new(format!("the trace is of several devices: {devices}"))
                .at(Place::File(path.to_owned()))
                .help(CHOOSE_DEVICE)
                .into(),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> WorkloadSpec {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_job_file_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let job = folder.path().join("job");
        std::fs::write(&job, "[a]\nrw=randread\nbs=4k\nsize=40k\n").unwrap();
        let load = spec("fio = 'job'").fit(folder.path(), 1_000).unwrap();
        std::fs::remove_file(job).unwrap();
        assert!(load.spec().fio.is_none() && load.spec().synthetic.is_some());
        for _ in 0..2 {
            assert_eq!(load.count(7).unwrap(), Some(10));
            assert!(load.open(7).unwrap().next().unwrap().is_some());
        }
        assert!(spec("fio = 'job'").fit(folder.path(), 1_000).is_err());
        let error = load.spec().fit(folder.path(), 0).unwrap_err();
        assert!(error.to_string().contains("no blocks"), "{error}");
    }

    #[test]
    fn contradictions_name_their_key() {
        let synthetic = "synthetic = { requests = 1, arrivals = { constant = '1 ms' } }\n";
        for (text, key) in [
            (String::new(), "workload.trace"),
            (format!("trace = 'a'\n{synthetic}"), "workload.synthetic"),
            ("trace = 'a'\nfio = 'b'".to_owned(), "workload.fio"),
            (format!("fio = 'a'\n{synthetic}"), "workload.fio"),
            ("fio = 'a'\nlimit = 1".to_owned(), "workload.limit"),
            (
                "synthetic-clone = 'a'\ntrace = 'b'".to_owned(),
                "workload.trace and workload.synthetic-clone",
            ),
            (
                format!("synthetic-clone = 'a'\n{synthetic}"),
                "workload.synthetic",
            ),
            (
                "synthetic-clone = 'a'\nformat = 'csv'".to_owned(),
                "workload.format",
            ),
            (
                "synthetic-clone = 'a'\ndevice = 0".to_owned(),
                "workload.device",
            ),
            (
                "synthetic-clone = 'a'\nout_of_order = 'map'".to_owned(),
                "workload.out_of_order",
            ),
            (
                "synthetic-clone = 'a'\nbad_size = 'clip'".to_owned(),
                "workload.bad_size",
            ),
            (
                "synthetic-clone = 'a'\npace = { scaled = 0.0 }".to_owned(),
                "workload.pace",
            ),
            (
                "trace = 'a'\npace = { scaled = 0.0 }".to_owned(),
                "workload.pace",
            ),
            (
                "trace = 'a'\npace = { scaled = inf }".to_owned(),
                "workload.pace",
            ),
            (
                "trace = 'a'\nfrom = '1 s'\nto = '1 s'".to_owned(),
                "workload.from",
            ),
            (format!("pace = 'closed'\n{synthetic}"), "workload.pace"),
            (format!("device = 'all'\n{synthetic}"), "workload.device"),
            (format!("limit = 1\n{synthetic}"), "workload.limit"),
            (
                format!("blktrace = {{ event = 'issue' }}\n{synthetic}"),
                "workload.blktrace",
            ),
        ] {
            let error = spec(&text).check().unwrap_err().to_string();
            assert!(error.contains(key), "{text}: {error}");
        }
        for text in [
            "trace = 'a'\npace = { scaled = 0.5 }\nfrom = '1 s'\nto = '2 s'",
            "synthetic-clone = 'a'\npace = 'closed'\nfrom = '1 s'\nlimit = 3\npast_end = 'map'",
            "synthetic-clone = { profile = 'a', theta = 0.5 }",
            synthetic,
        ] {
            spec(text).check().unwrap();
        }
    }
}
