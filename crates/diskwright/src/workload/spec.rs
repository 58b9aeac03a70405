//! The `[workload]` part of a spec.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::base::error::{Error, InputError};
use crate::base::units::Time;

use super::clone_options::SyntheticCloneOptions;
use super::fio::{self, FioJob, FioSpec};
use super::formats::{BlktraceOptions, CsvOptions, FormatOptions};
use super::places::{self, DevicePlace};
use super::processes::ProcessesSpec;
use super::synthetic::SyntheticSpec;
use super::synthetic_clone::{self, SyntheticCloneSpec};

/// Where the requests come from, and what is made of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadSpec {
    /// A trace file; this, `synthetic-clone`, `synthetic` or `fio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub trace: Option<PathBuf>,
    /// A profile or a table of counts that a trace is made from, with the spec's seed; this, `trace`, `synthetic` or `fio`.
    #[serde(rename = "synthetic-clone", skip_serializing_if = "Option::is_none")]
    pub synthetic_clone: Option<SyntheticCloneSpec>,
    /// A synthetic load; this, `trace`, `synthetic-clone` or `fio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<SyntheticSpec>,
    /// A job file of fio's, which becomes a synthetic load; this, `trace`, `synthetic-clone` or `synthetic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fio: Option<FioSpec>,
    /// Processes that make requests on simulated processors, as DiskSim's synthetic generators are; in place of all of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<ProcessesSpec>,
    /// What a job file says and the load that it became does not have.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// The jobs of the job file that the load comes from, as results tell of them.
    #[serde(skip)]
    pub jobs: Vec<FioJob>,
    /// The trace's format, where its content does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Columns and units of a CSV trace.
    #[serde(skip_serializing_if = "is_default")]
    pub csv: CsvOptions,
    /// Which event of a trace of blktrace or blkparse is a request's arrival.
    #[serde(skip_serializing_if = "is_default")]
    pub blktrace: BlktraceOptions,
    /// Bytes in a sector of an HP trace, in place of the number in its header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sector_bytes: Option<u32>,
    /// When the requests are issued.
    pub pace: Pace,
    /// Which of the trace's devices.
    pub device: DeviceChoice,
    /// Where the trace's devices are on the one that the requests are for, each with its number; in place of `device`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DevicePlace>,
    /// Leave out requests that arrive earlier; this instant becomes time 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
    /// Leave out requests that arrive then or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Time>,
    /// At most this many requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// How requests past the end of the drive are treated.
    pub past_end: PastEnd,
    /// How requests that arrive before their predecessor are treated.
    pub out_of_order: OutOfOrder,
    /// How requests without blocks, or with more blocks than the drive, are treated.
    pub bad_size: BadSize,
}

fn is_default<T: Default + PartialEq>(options: &T) -> bool {
    *options == T::default()
}

impl WorkloadSpec {
    /// What the reader of the trace is told.
    pub fn format_options(&self) -> FormatOptions {
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

    /// With the synthetic load that a job file stands for, on a drive of `capacity` blocks, in its place; relative paths
    /// start at `base`. Without a job file nothing changes.
    ///
    /// # Errors
    /// Those of [`Self::check`] and [`fio::convert`].
    pub fn resolved(&self, base: &Path, capacity: u64) -> Result<Cow<'_, WorkloadSpec>, Error> {
        let Some(job_file) = &self.fio else {
            return Ok(Cow::Borrowed(self));
        };
        self.check()?;
        let converted = fio::convert(job_file, base, capacity)?;
        Ok(Cow::Owned(WorkloadSpec {
            fio: None,
            synthetic: Some(converted.synthetic),
            notes: converted.warnings,
            jobs: converted.jobs,
            ..self.clone()
        }))
    }

    /// Refuses what contradicts itself or changes nothing.
    ///
    /// # Errors
    /// The key concerned is in the message.
    pub fn check(&self) -> Result<(), Error> {
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
        places::check(&self.devices)
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

/// When the requests of a trace are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// As recorded.
    #[default]
    Recorded,
    /// As fast as the host's outstanding limit lets them; recorded times decide only `from`, `to` and the order.
    Closed,
    /// The recorded pace times this factor: 2 halves every gap.
    Scaled(f64),
}

/// How requests past the end of the drive are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PastEnd {
    /// The run ends with an error that says which request it was.
    #[default]
    Error,
    /// The LBN modulo the drive's capacity, moved back as far as the request needs to fit; counted as mapped.
    Map,
    /// The part on the drive is done, counted as clipped; a request with no such part is counted as skipped.
    Clip,
    /// Left out and counted as skipped.
    Skip,
}

/// How requests that arrive before their predecessor are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutOfOrder {
    /// The run ends with an error that says which request it was.
    #[default]
    Error,
    /// They arrive together with the one in front; counted as mapped.
    Map,
    /// Left out and counted as skipped.
    Skip,
}

/// How requests without blocks, or with more blocks than the drive, are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BadSize {
    /// The run ends with an error that says which request it was.
    #[default]
    Error,
    /// As large as the drive, counted as clipped; one of no blocks is counted as skipped.
    Clip,
    /// Left out and counted as skipped.
    Skip,
}

/// Which of a trace's devices: `0` (its number), `"all"`, or `"single"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The only one there is; a trace of several is an error.
    #[default]
    Single,
    /// This one; the others' requests are counted as skipped.
    Number(u32),
    /// All of them, their addresses folded onto the one drive as they are.
    All,
}

impl JsonSchema for DeviceChoice {
    fn schema_name() -> Cow<'static, str> {
        "DeviceChoice".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Which of a trace's devices: its number, \"all\", or \"single\".",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": u32::MAX },
                { "type": "string", "enum": ["single", "all"] },
                { "type": "string", "pattern": "^[0-9]+$" },
            ],
        })
    }
}

impl Serialize for DeviceChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            DeviceChoice::Single => serializer.serialize_str("single"),
            DeviceChoice::All => serializer.serialize_str("all"),
            DeviceChoice::Number(number) => serializer.serialize_u32(*number),
        }
    }
}

impl<'de> Deserialize<'de> for DeviceChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Choice;
        impl Visitor<'_> for Choice {
            type Value = DeviceChoice;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a device number, \"all\" or \"single\"")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<DeviceChoice, E> {
                let small = u32::try_from(number);
                let unexpected = |_| E::invalid_value(de::Unexpected::Unsigned(number), &self);
                small.map(DeviceChoice::Number).map_err(unexpected)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<DeviceChoice, E> {
                let small = u32::try_from(number);
                let unexpected = |_| E::invalid_value(de::Unexpected::Signed(number), &self);
                small.map(DeviceChoice::Number).map_err(unexpected)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<DeviceChoice, E> {
                match text {
                    "single" => Ok(DeviceChoice::Single),
                    "all" => Ok(DeviceChoice::All),
                    _ => match text.parse() {
                        Ok(number) => Ok(DeviceChoice::Number(number)),
                        Err(_) => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                    },
                }
            }
        }
        deserializer.deserialize_any(Choice)
    }
}

#[cfg(test)]
mod tests {
    use super::super::formats::BlkEvent;
    use super::*;

    fn spec(text: &str) -> WorkloadSpec {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_spec_says_everything_and_reads_back() {
        let text = "trace = 'a.trace'\nformat = 'csv'\npace = { scaled = 2.0 }\ndevice = 3\nfrom = '1 s'\nto = '2 s'\nlimit = 10\npast_end = 'map'\nout_of_order = 'skip'\nbad_size = 'clip'\nsector_bytes = 256\nblktrace = { event = 'issue' }\ncsv = { time = 'when', time_unit = 'us' }\n";
        let read = spec(text);
        assert_eq!(read.pace, Pace::Scaled(2.0));
        assert_eq!(read.device, DeviceChoice::Number(3));
        assert_eq!(read.past_end, PastEnd::Map);
        assert_eq!(read.blktrace.event, BlkEvent::Issue);
        let again = spec(&toml::to_string(&read).unwrap());
        assert_eq!(again, read);
    }

    #[test]
    fn defaults_are_written_out() {
        let text = toml::to_string(&spec("trace = 'a'")).unwrap();
        for line in [
            "pace = \"recorded\"",
            "device = \"single\"",
            "past_end = \"error\"",
            "out_of_order = \"error\"",
            "bad_size = \"error\"",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn devices_are_numbers_or_words() {
        assert_eq!(spec("device = 'all'").device, DeviceChoice::All);
        assert_eq!(spec("device = '7'").device, DeviceChoice::Number(7));
        for bad in [
            "device = 'some'",
            "device = -1",
            "device = 4294967296",
            "device = 1.0",
            "devise = 1",
        ] {
            assert!(toml::from_str::<WorkloadSpec>(bad).is_err(), "{bad}");
        }
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
