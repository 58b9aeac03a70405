//! The `[workload.synthetic]` part of a spec: one load, or several at once.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error as _};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::base::units::{Share, Time};

use super::address::AddressSpec;
use super::arrivals::ArrivalsSpec;
use super::size::SizeSpec;
use super::start::StartSpec;

/// A synthetic load, written with its keys, or several, each in its own `[[workload.synthetic.stream]]`.
#[derive(Clone, Debug, PartialEq)]
pub enum SyntheticSpec {
    /// One load.
    One(Box<LoadSpec>),
    /// Several at once.
    Several(Vec<LoadSpec>),
}

/// One synthetic load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// What it is called among several; its random numbers depend on its name, or on its place when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name under which its requests are reported. Default: its own. Streams with the same name are reported together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_as: Option<String>,
    /// How many requests; without a number, as many as there are in `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// It begins when all streams of lower stages have ended.
    #[serde(default, skip_serializing_if = "is_first")]
    pub stage: u32,
    /// It does not begin before this instant.
    #[serde(default, skip_serializing_if = "StartSpec::is_at_once")]
    pub start: StartSpec,
    /// It issues requests for this time from its beginning, its warm-up included, and none from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Its requests that arrive within this time from its beginning are left out of the statistics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Time>,
    /// When it has ended, the other streams of its stage issue nothing more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_stage: bool,
    /// When they arrive.
    pub arrivals: ArrivalsSpec,
    /// The share of reads; what reads, trims and flushes leave of 1 are writes.
    #[serde(default = "all_reads")]
    pub reads: Share,
    /// The share of trims.
    #[serde(default)]
    pub trims: Share,
    /// The share of flushes.
    #[serde(default)]
    pub flushes: Share,
    /// The number of writes from one flush to the next. Flushes count among the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u64>,
    /// The share of writes that are forced to the medium (FUA).
    #[serde(default)]
    pub fua: Share,
    /// How large they are.
    #[serde(default)]
    pub size: SizeSpec,
    /// Where they are.
    #[serde(default)]
    pub address: AddressSpec,
}

fn is_first(stage: &u32) -> bool {
    *stage == 0
}

fn all_reads() -> Share {
    Share::new(1.0).expect("1 is a share")
}

impl LoadSpec {
    /// Neither a number of requests nor a time ends it.
    fn has_no_end(&self) -> bool {
        self.requests.is_none() && self.duration.is_none()
    }

    /// The name that its requests are reported under.
    pub(super) fn reported_as(&self) -> Option<&str> {
        self.report_as.as_deref().or(self.name.as_deref())
    }

    /// A load of `requests` requests with these arrivals, and the defaults of a spec for everything else.
    pub fn new(requests: u64, arrivals: ArrivalsSpec) -> LoadSpec {
        LoadSpec {
            name: None,
            report_as: None,
            requests: Some(requests),
            stage: 0,
            start: StartSpec::default(),
            duration: None,
            warmup: None,
            ends_stage: false,
            arrivals,
            reads: all_reads(),
            trims: Share::default(),
            flushes: Share::default(),
            flush_every: None,
            fua: Share::default(),
            size: SizeSpec::default(),
            address: AddressSpec::default(),
        }
    }
}

impl SyntheticSpec {
    /// The key of a warm-up that a load has.
    pub fn warmup(&self) -> Option<String> {
        let has = |load: &LoadSpec| load.warmup.is_some_and(|warmup| warmup > Time::ZERO);
        match self {
            SyntheticSpec::One(load) => has(load).then(|| "workload.synthetic.warmup".to_owned()),
            SyntheticSpec::Several(loads) => {
                let index = loads.iter().position(has)?;
                Some(format!("workload.synthetic.stream[{index}].warmup"))
            }
        }
    }
}

/// Every key of one load, none of them needed, and the list of several.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Keys {
    name: Option<String>,
    report_as: Option<String>,
    requests: Option<u64>,
    stage: Option<u32>,
    start: Option<StartSpec>,
    duration: Option<Time>,
    warmup: Option<Time>,
    ends_stage: Option<bool>,
    arrivals: Option<ArrivalsSpec>,
    reads: Option<Share>,
    trims: Option<Share>,
    flushes: Option<Share>,
    flush_every: Option<u64>,
    fua: Option<Share>,
    size: Option<SizeSpec>,
    address: Option<AddressSpec>,
    stream: Option<Vec<LoadSpec>>,
}

impl Keys {
    /// The first key of one load that is given.
    fn beside_streams(&self) -> Option<&'static str> {
        [
            ("name", self.name.is_some()),
            ("report_as", self.report_as.is_some()),
            ("requests", self.requests.is_some()),
            ("stage", self.stage.is_some()),
            ("start", self.start.is_some()),
            ("duration", self.duration.is_some()),
            ("warmup", self.warmup.is_some()),
            ("ends_stage", self.ends_stage.is_some()),
            ("arrivals", self.arrivals.is_some()),
            ("reads", self.reads.is_some()),
            ("trims", self.trims.is_some()),
            ("flushes", self.flushes.is_some()),
            ("flush_every", self.flush_every.is_some()),
            ("fua", self.fua.is_some()),
            ("size", self.size.is_some()),
            ("address", self.address.is_some()),
        ]
        .into_iter()
        .find_map(|(key, given)| given.then_some(key))
    }
}

impl<'de> Deserialize<'de> for SyntheticSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SyntheticSpec, D::Error> {
        let keys = Keys::deserialize(deserializer)?;
        if let Some(key) = keys.beside_streams()
            && keys.stream.is_some()
        {
            return Err(D::Error::custom(format!(
                "{key} stands beside streams, each of which has its own: move it into [[workload.synthetic.stream]]"
            )));
        }
        if let Some(loads) = keys.stream {
            if loads.iter().any(LoadSpec::has_no_end) {
                return Err(D::Error::missing_field("requests"));
            }
            return Ok(SyntheticSpec::Several(loads));
        }
        let arrivals = keys
            .arrivals
            .ok_or_else(|| D::Error::missing_field("arrivals"))?;
        let all_else = LoadSpec::new(0, arrivals);
        let load = LoadSpec {
            name: keys.name,
            report_as: keys.report_as,
            requests: keys.requests,
            stage: keys.stage.unwrap_or_default(),
            start: keys.start.unwrap_or_default(),
            duration: keys.duration,
            warmup: keys.warmup,
            ends_stage: keys.ends_stage.unwrap_or_default(),
            reads: keys.reads.unwrap_or(all_else.reads),
            trims: keys.trims.unwrap_or(all_else.trims),
            flushes: keys.flushes.unwrap_or(all_else.flushes),
            flush_every: keys.flush_every,
            fua: keys.fua.unwrap_or(all_else.fua),
            size: keys.size.unwrap_or(all_else.size),
            address: keys.address.unwrap_or(all_else.address),
            arrivals: all_else.arrivals,
        };
        if load.has_no_end() {
            return Err(D::Error::missing_field("requests"));
        }
        Ok(SyntheticSpec::One(Box::new(load)))
    }
}

/// Several synthetic loads at once.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Several")]
struct Streams {
    /// The loads.
    #[expect(dead_code, reason = "it describes what is read")]
    stream: Vec<LoadSpec>,
}

impl JsonSchema for SyntheticSpec {
    fn schema_name() -> Cow<'static, str> {
        "SyntheticSpec".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A synthetic load, written with its keys, or several, each in its own [[workload.synthetic.stream]].",
            "anyOf": [
                generator.subschema_for::<LoadSpec>(),
                generator.subschema_for::<Streams>(),
            ],
        })
    }
}

impl Serialize for SyntheticSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SyntheticSpec::One(load) => load.serialize(serializer),
            SyntheticSpec::Several(loads) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("stream", loads)?;
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SyntheticSpec, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn defaults_are_written_out() {
        let one = read("requests = 5\narrivals = { constant = '1 ms' }").unwrap();
        let text = toml::to_string(&one).unwrap();
        for part in [
            "reads = 1.0",
            "trims = 0.0",
            "flushes = 0.0",
            "fua = 0.0",
            "size = \"8 blocks\"",
            "[address.uniform]",
            "from = 0",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(read(&text).unwrap(), one);
    }

    #[test]
    fn several_loads_are_a_list() {
        let several = read(
            "[[stream]]\nname = 'a'\nrequests = 5\narrivals = { constant = '1 ms' }\n[[stream]]\nrequests = 7\narrivals = { poisson = '1 ms' }\nreads = 0.5\nflush_every = 3",
        )
        .unwrap();
        assert!(matches!(&several, SyntheticSpec::Several(loads) if loads.len() == 2));
        assert_eq!(read(&toml::to_string(&several).unwrap()).unwrap(), several);
    }

    #[test]
    fn keys_that_miss_or_are_too_many_are_named() {
        for (text, key) in [
            ("requests = 5", "arrivals"),
            ("arrivals = { constant = '1 ms' }", "requests"),
            (
                "requests = 5\narrivals = { constant = '1 ms' }\nsizes = 1",
                "sizes",
            ),
            ("requests = 5\nstream = []", "requests"),
            ("fua = 0.5\nstream = []", "fua"),
            ("[[stream]]\nrequests = 5", "arrivals"),
            (
                "[[stream]]\nrequests = 5\narrivals = { constant = '1 ms' }\nstream = []",
                "stream",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(key), "{text}: {error}");
        }
    }
}
