//! A spec: workload, host, measurement and the tree of devices.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::sweep::SweepSpec;
use crate::base::schema;
use crate::base::units::Time;
use crate::devices::DeviceSpec;
use crate::host::flash_backed::spec::FlashBackedSpec;
use crate::models::queue::SchedulerChoice;
use crate::workload::WorkloadSpec;

/// Everything a run depends on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The seed of every random stream.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Where requests come from.
    pub workload: WorkloadSpec,
    /// How the host hands them over.
    #[serde(default)]
    pub host: HostSpec,
    /// What is measured.
    #[serde(default)]
    pub measure: MeasureSpec,
    /// The device that takes them.
    pub device: DeviceSpec,
    /// What goes wrong, and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<FaultSpec>,
    /// What `diskwright sweep` varies. No run depends on it, so that no result has it.
    #[serde(default, skip_serializing)]
    pub sweep: Option<SweepSpec>,
}

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// When, in simulated time.
    pub at: Time,
    /// What.
    pub kind: FaultKind,
}

/// What can go wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The power fails: requests under way are lost, and the run ends. With the checker on, every promised write must
    /// be on a medium that keeps it.
    PowerCut,
    /// The power of the devices fails and returns: requests under way fail, the host goes on, and what it submits meanwhile waits. Arrays with
    /// redundancy are resynchronised. Of `simple` and `curve`, of hard disks in place without pool and power states, and of arrays of these.
    Outage(OutageSpec),
    /// A device fails for good, with all below it, and the run goes on: the device by its path, as in results, or by that of the
    /// place where it stands, such as `array.member[1]`.
    Fail(String),
    /// Blocks of a device's medium cannot be read any more, until they are written.
    MediaError(MediaErrorSpec),
}

/// Power that returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// How long the devices take no request: until the power is back and they are ready.
    pub lasts: Time,
}

/// Blocks that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediaErrorSpec {
    /// The device by its path, as in results: one that has a medium of its own.
    pub device: String,
    /// The first of the blocks, by the device's own numbers.
    pub from: u64,
    /// How many.
    pub blocks: u64,
}

fn default_seed() -> u64 {
    1
}

/// The host.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostSpec {
    /// The most requests handed to the device at a time; no limit where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// The order in which requests that are held back are handed over.
    pub scheduler: SchedulerChoice,
    /// The host redirects writes that would take longer on a hybrid drive's medium to its NV cache. Without this table it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_backed: Option<FlashBackedSpec>,
}

/// What is measured of a run, and how much of a run there is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureSpec {
    /// How much of the start is left out of the statistics: requests (`1000`), a share (`"10 %"`) or a time (`"5 s"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<WarmUpSpec>,
    /// Take no request that arrives later than this after the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// The most requests that are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// When the run ends.
    #[serde(skip_serializing_if = "MeasureEnd::is_last_completion")]
    pub end: MeasureEnd,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureEnd {
    /// When the last request is complete.
    #[default]
    LastCompletion,
    /// When the last request has arrived, of a load whose requests arrive by themselves. It and all that is outstanding then are in no
    /// statistics.
    LastArrival,
}

impl MeasureEnd {
    fn is_last_completion(&self) -> bool {
        *self == MeasureEnd::LastCompletion
    }
}

/// How much of the start of a run is left out of the statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUpSpec {
    /// A number of requests.
    Requests(u64),
    /// A percentage of the requests.
    Percent(f64),
    /// Requests that arrive within this time of the first.
    Time(Time),
}

const WARM_UP_EXPECTED: &str =
    "a number of requests, a share such as \"10 %\", or a time such as \"5 s\"";

impl<'de> Deserialize<'de> for WarmUpSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WarmUpSpec, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = WarmUpSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(WARM_UP_EXPECTED)
            }
            fn visit_u64<E: de::Error>(self, requests: u64) -> Result<WarmUpSpec, E> {
                Ok(WarmUpSpec::Requests(requests))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<WarmUpSpec, E> {
                let wrong = || E::custom(format!("{text:?} is not {WARM_UP_EXPECTED}"));
                let Some(number) = text.trim().strip_suffix('%') else {
                    return text.parse().map(WarmUpSpec::Time).map_err(|_| wrong());
                };
                let percent: f64 = number.trim().parse().map_err(|_| wrong())?;
                if (0.0..100.0).contains(&percent) {
                    Ok(WarmUpSpec::Percent(percent))
                } else {
                    Err(E::custom(format!(
                        "a warm-up of {percent} % leaves nothing: expected 0 to below 100"
                    )))
                }
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl JsonSchema for WarmUpSpec {
    fn schema_name() -> Cow<'static, str> {
        "WarmUp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": schema::sentence(WARM_UP_EXPECTED),
            "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string" }],
            "examples": [1000, "10 %", "5 s"],
        })
    }
}

impl Serialize for WarmUpSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WarmUpSpec::Requests(requests) => serializer.serialize_u64(*requests),
            WarmUpSpec::Percent(percent) => serializer.collect_str(&format_args!("{percent} %")),
            WarmUpSpec::Time(time) => time.serialize(serializer),
        }
    }
}
