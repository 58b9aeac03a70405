//! What a spec says of a driver.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::lanes::{Joins, Lanes, Late};
use super::{Child, Driver};
use crate::base::error::{Error, InputError};
use crate::base::units::{Size, Time};
use crate::devices::assembly::{DeviceTree, Site};
use crate::devices::kind::{AnyDevice, Built, DeviceKind};
use crate::devices::spindles::Spindles;
use crate::models::queue::clustering::{Clustering, MergedPlace, Slots};
use crate::models::queue::{Scheduler, SchedulerChoice};

/// An operating system's queue before one device.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DriverSpec")]
pub struct DriverSpec<D> {
    /// What the device behind it is called, for results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The most requests that the device behind it is given at a time.
    #[serde(default)]
    pub outstanding: Outstanding,
    /// Which of the waiting requests is next. It knows LBNs only.
    #[serde(default)]
    pub scheduler: SchedulerChoice,
    /// Waiting requests that continue one another become one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinSpec>,
    /// Requests that a process waits for, or will wait for after a time, go before all others. Without it they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<PrioritySpec>,
    /// Requests that have waited too long go before others. Without it they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<TimeoutSpec>,
    /// The device behind it.
    pub device: D,
}

/// Which requests are joined while they wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinSpec {
    /// The most that a joined request asks for.
    pub most: Size,
    /// Whether reads are joined.
    #[serde(default = "yes")]
    pub reads: bool,
    /// Whether writes are joined.
    #[serde(default = "yes")]
    pub writes: bool,
}

fn yes() -> bool {
    true
}

/// How urgent requests wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PrioritySpec {
    /// Which of the urgent ones is next.
    pub scheduler: SchedulerChoice,
}

/// When requests have waited too long.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeoutSpec {
    /// After this time they go to the urgent ones, or where these are not told apart to a queue of their own before the others.
    pub after: Time,
    /// They are looked for at the whole multiples of this time.
    #[serde(default = "a_second")]
    pub every: Time,
    /// Which is next of those that have waited too long, where they have a queue of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerChoice>,
}

/// DiskSim counts these timeouts in seconds.
fn a_second() -> Time {
    Time::from_s(1)
}

/// How many requests the device behind a driver is given at a time: a number, or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outstanding {
    /// This number at most.
    Most(u32),
    /// All.
    Unlimited,
}

impl Default for Outstanding {
    fn default() -> Outstanding {
        Outstanding::Most(1)
    }
}

const OUTSTANDING: &str = "a number of requests from 1, or \"unlimited\"";

impl JsonSchema for Outstanding {
    fn schema_name() -> Cow<'static, str> {
        "Outstanding".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of requests from 1, or \"unlimited\".",
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": u32::MAX },
                { "type": "string", "enum": ["unlimited"] },
            ],
        })
    }
}

impl Serialize for Outstanding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Outstanding::Most(most) => serializer.serialize_u32(*most),
            Outstanding::Unlimited => serializer.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for Outstanding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Outstanding;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(OUTSTANDING)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Outstanding, E> {
                match u32::try_from(number) {
                    Ok(most) if most > 0 => Ok(Outstanding::Most(most)),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
                }
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Outstanding, E> {
                let positive = u64::try_from(number);
                let unlike = |_| E::invalid_value(de::Unexpected::Signed(number), &self);
                positive
                    .map_err(unlike)
                    .and_then(|number| self.visit_u64(number))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Outstanding, E> {
                match text {
                    "unlimited" => Ok(Outstanding::Unlimited),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl<D: AnyDevice> DriverSpec<D> {
    fn lanes(&self, site: &Site<'_>) -> Result<Lanes, Error> {
        let joins = self.join.as_ref().map(JoinSpec::rule).transpose();
        let joins = joins.map_err(|(key, error)| site.locate(key, error))?;
        let mut lanes = Lanes::new(scheduler(site, &self.scheduler, "scheduler")?, joins);
        if let Some(priority) = &self.priority {
            let chosen = scheduler(site, &priority.scheduler, "priority.scheduler")?;
            lanes = lanes.with_urgent(chosen);
        }
        let Some(timeout) = &self.timeout else {
            return Ok(lanes);
        };
        if timeout.every == Time::ZERO {
            let error = InputError::new("requests are looked for every 0 ns");
            return Err(site.locate("timeout.every", error.help("accepted: a time above 0")));
        }
        if let (Some(_), Some(_)) = (&self.priority, &timeout.scheduler) {
            let error = InputError::new(
                "requests that have waited too long go to the urgent ones, whose scheduler is that of priority",
            );
            return Err(site.locate(
                "timeout.scheduler",
                error.help("leave this one out, or leave priority out"),
            ));
        }
        let usual = SchedulerChoice::default();
        let chosen = timeout.scheduler.as_ref().unwrap_or(&usual);
        let late = Late {
            after: timeout.after,
            every: timeout.every,
        };
        Ok(lanes.with_late(late, scheduler(site, chosen, "timeout.scheduler")?))
    }
}

/// A scheduler that knows LBNs only.
fn scheduler(
    site: &Site<'_>,
    choice: &SchedulerChoice,
    key: &str,
) -> Result<Box<dyn Scheduler>, Error> {
    let built = site.scheduler(choice, key)?;
    if !built.needs_geometry() {
        return Ok(built);
    }
    let message = format!(
        "a driver's queue knows LBNs only: {:?} needs a drive's geometry",
        choice.name()
    );
    let error = InputError::new(message).help(
        "accepted here: fcfs, look, c-look, sstf and others that need no positions; a drive with a queue of its own can do it, behind a driver with more outstanding",
    );
    Err(site.locate(key, error))
}

impl JoinSpec {
    fn rule(&self) -> Result<Joins, (&'static str, Error)> {
        if self.most.blocks() < 2 {
            let error = InputError::new(format!("{} joins no two requests", self.most));
            let error = error.help("accepted: 2 blocks or more");
            return Err(("join.most", error.into()));
        }
        if !self.reads && !self.writes {
            let error = InputError::new("neither reads nor writes are joined");
            let error = error.help("leave join out, or let one of both be true");
            return Err(("join", error.into()));
        }
        Ok(Joins {
            reads: self.reads,
            writes: self.writes,
            rule: Clustering {
                threshold: self.most.blocks(),
                slots: Slots::Merged,
                place: MergedPlace::Oldest,
            },
        })
    }
}

impl<D: AnyDevice> DeviceKind for DriverSpec<D> {
    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error> {
        let lanes = self.lanes(site)?;
        let prefix = format!("{}.device.", site.path);
        let built = self
            .device
            .build_below(site, &prefix, site.spindles, tree)?;
        let child = Child {
            device: built.id,
            blocks: tree.get(built.id).blocks(),
            promise: tree.get(built.id).promise(),
        };
        let most = match self.outstanding {
            Outstanding::Most(most) => Some(most),
            Outstanding::Unlimited => None,
        };
        let driver = Driver::new(child, most, lanes);
        let id = tree.add(site.path, Box::new(driver));
        if let Some(name) = &self.name {
            tree.tell(id, "name", name.as_str());
        }
        Ok(Built {
            id,
            rotation: built.rotation,
        })
    }

    fn fill_in(&mut self, around: &Spindles) {
        self.device.fill_in(around);
    }

    fn draws_spindles(&self, around: &Spindles) -> bool {
        self.device.draws_spindles(around)
    }
}
