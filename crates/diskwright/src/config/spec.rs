//! A spec: workload, host, measurement and the tree of devices.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::array::ArraySpec;
use super::buffer::BufferSpec;
use super::cache::CacheSpec;
use super::overhead::OverheadSpec;
use super::placement::{EagerSpec, PlacementSpec};
use super::sweep::SweepSpec;
use crate::base::error::{Error, InputError};
use crate::base::random::Stream;
use crate::base::schema;
use crate::base::units::angle::Angle;
use crate::base::units::{Size, Time};
use crate::devices::hdd::arms_spec::ArmsOfSpec;
use crate::models::queue::SchedulerChoice;
use crate::models::queue::clustering::{Clustering, MergedPlace, Slots};
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
    /// A device fails for good, with all below it, and the run goes on: the device by its path, as in results, or by that of the
    /// place where it stands, such as `array.member[1]`.
    Fail(String),
    /// Blocks of a device's medium cannot be read any more, until they are written.
    MediaError(MediaErrorSpec),
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
    /// Take at most so many requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
}

/// A device and its parts; the one key says what it is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceSpec {
    /// A hard disk.
    Hdd(Box<HddSpec>),
    /// Several devices as one.
    Array(ArraySpec),
}

impl DeviceSpec {
    /// Whether the seed decides how any of the spindles in it turns.
    pub fn draws_spindles(&self) -> bool {
        match self {
            DeviceSpec::Hdd(disk) => disk.angle == Some(AngleSpec::Random),
            DeviceSpec::Array(array) => array.draws_spindles(),
        }
    }

    /// Fills in what follows from other keys where it is not given.
    pub fn fill_in(&mut self) {
        match self {
            DeviceSpec::Hdd(disk) => disk.fill_in(AngleSpec::default()),
            DeviceSpec::Array(array) => array.fill_in(),
        }
    }
}

/// A hard disk.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HddSpec {
    /// The name of a drive, or the path of a drive's TOML file or of a `.parv` file of DiskSim's.
    #[schemars(extend("format" = "drive"))]
    pub drive: String,
    /// Where the platters stand at time zero: at 0 unless said, or in an array as its `spindles` have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle: Option<AngleSpec>,
    /// The drive's queue.
    #[serde(default)]
    pub queue: QueueSpec,
    /// The drive's buffer: `true` for the one that the drive has, `false` for none, or a table of what is to differ from
    /// the drive's. Without it, none where a cache, arms or a log are given, and else the drive's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSpec>,
    /// How long the controller takes for a command: a time before every command, or a table of what is to differ from the
    /// drive's; the drive's own where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<OverheadSpec>,
    /// A block cache in front of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheSpec>,
    /// The drive's arms; its own, or a single one, where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arms: Option<ArmsOfSpec>,
    /// Where data go: to their place, or wherever the head is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementSpec>,
}

impl HddSpec {
    /// Fills in what follows from other keys where it is not given: its buffer, and the angle that it has then.
    pub(super) fn fill_in(&mut self, angle: AngleSpec) {
        self.buffer = Some(self.buffer().clone());
        self.angle.get_or_insert(angle);
    }

    /// Its buffer, said or not.
    pub fn buffer(&self) -> &BufferSpec {
        let is_plain = self.cache.is_none() && self.arms.is_none() && self.log().is_none();
        match &self.buffer {
            Some(buffer) => buffer,
            None if is_plain => &BufferSpec::Drive,
            None => &BufferSpec::Off,
        }
    }

    /// How it keeps a log, where it does.
    pub fn log(&self) -> Option<EagerSpec> {
        self.placement.as_ref()?.build()
    }
}

/// The angle of a drive's platters at time zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AngleSpec {
    /// This one.
    At(Angle),
    /// One drawn from the spec's seed.
    Random,
}

impl Default for AngleSpec {
    fn default() -> AngleSpec {
        AngleSpec::At(Angle::default())
    }
}

impl AngleSpec {
    /// The angle of the drive at `path` in the tree of devices.
    pub fn resolve(self, seed: u64, path: &str) -> Angle {
        match self {
            AngleSpec::At(angle) => angle,
            AngleSpec::Random => {
                Angle::from_bits(Stream::new(seed, &format!("{path}.angle")).bits())
            }
        }
    }
}

const ANGLE_EXPECTED: &str = "a part of a turn from 0 to below 1, such as 0.25, or \"random\"";

impl<'de> Deserialize<'de> for AngleSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AngleSpec, D::Error> {
        struct Turns;
        impl Visitor<'_> for Turns {
            type Value = AngleSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(ANGLE_EXPECTED)
            }
            fn visit_f64<E: de::Error>(self, turns: f64) -> Result<AngleSpec, E> {
                let angle = Angle::from_turns(turns).map(AngleSpec::At);
                angle.ok_or_else(|| {
                    E::custom(format!(
                        "an angle of {turns} turns: expected {ANGLE_EXPECTED}"
                    ))
                })
            }
            fn visit_u64<E: de::Error>(self, turns: u64) -> Result<AngleSpec, E> {
                self.visit_f64(turns as f64)
            }
            fn visit_i64<E: de::Error>(self, turns: i64) -> Result<AngleSpec, E> {
                self.visit_f64(turns as f64)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<AngleSpec, E> {
                match text {
                    "random" => Ok(AngleSpec::Random),
                    _ => Err(E::custom(format!("{text:?} is not {ANGLE_EXPECTED}"))),
                }
            }
        }
        deserializer.deserialize_any(Turns)
    }
}

impl JsonSchema for AngleSpec {
    fn schema_name() -> Cow<'static, str> {
        "Angle".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": schema::sentence(ANGLE_EXPECTED),
            "anyOf": [
                { "type": "number", "minimum": 0, "exclusiveMaximum": 1 },
                { "type": "string", "enum": ["random"] },
            ],
            "examples": [0.25, "random"],
        })
    }
}

impl Serialize for AngleSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AngleSpec::At(angle) => serializer.serialize_f64(angle.turns()),
            AngleSpec::Random => serializer.serialize_str("random"),
        }
    }
}

/// A drive's queue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QueueSpec {
    /// Slots: the active request and those that wait.
    pub depth: u32,
    /// Which request is next.
    pub scheduler: SchedulerChoice,
    /// Requests that continue one another become one of at most this size; without it, none do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clustering: Option<Size>,
    /// What a merged request counts as: `"parts"` unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<Slots>,
    /// The turn of a merged request in the order of arrival: `"oldest"` unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_place: Option<MergedPlace>,
}

impl QueueSpec {
    /// How its requests are merged.
    ///
    /// # Errors
    /// The key and what is wrong with its value: a threshold that no two requests fit, or a key about merged requests where none
    /// are.
    pub fn clustering(&self) -> Result<Option<Clustering>, (&'static str, Error)> {
        let Some(threshold) = self.clustering else {
            let idle = [
                ("slots", self.slots.is_some()),
                ("merged_place", self.merged_place.is_some()),
            ];
            return match idle.iter().find(|(_, is_given)| *is_given) {
                Some(&(key, _)) => {
                    let error = InputError::new(format!(
                        "{key} is about merged requests, and none are merged"
                    ));
                    Err((
                        key,
                        error
                            .help("give a threshold: clustering = \"32 blocks\"")
                            .into(),
                    ))
                }
                None => Ok(None),
            };
        };
        if threshold.blocks() < 2 {
            let error =
                InputError::new(format!("a threshold of {threshold} merges no two requests"));
            return Err((
                "clustering",
                error.help("accepted: 2 blocks or more").into(),
            ));
        }
        Ok(Some(Clustering {
            threshold: threshold.blocks(),
            slots: self.slots.unwrap_or_default(),
            place: self.merged_place.unwrap_or_default(),
        }))
    }
}

impl Default for QueueSpec {
    fn default() -> QueueSpec {
        QueueSpec {
            depth: 32,
            scheduler: SchedulerChoice::default(),
            clustering: None,
            slots: None,
            merged_place: None,
        }
    }
}

/// How much of the start of a run is left out of the statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUpSpec {
    /// So many requests.
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
