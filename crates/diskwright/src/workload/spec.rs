//! The `[workload]` part of a spec.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::base::units::Time;

use super::fio::{FioJob, FioSpec};
use super::formats::{BlktraceOptions, CsvOptions};
use super::places::DevicePlace;
use super::processes::ProcessesSpec;
use super::synthetic::SyntheticSpec;
use super::synthetic_clone::SyntheticCloneSpec;

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
}
