//! What a spec says of flash-backed requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::foresight::Foresight;
use super::rules::RuleSpec;
use super::times::Times;
use super::{FlashBacked, Parts};
use crate::base::error::{Error, InputError};
use crate::base::units::percent::Percent;
use crate::base::units::quantities::Rate;
use crate::base::units::{Size, Time};
use crate::devices::assembly::DeviceTree;
use crate::engine::access_times::{AccessTimes, block_ps};
use crate::engine::request::DeviceId;
use crate::models::queue::{Scheduler, SchedulerChoice, SchedulerSpec};

/// Flash-backed requests: the host's scheduler writes to the NV cache of a hybrid drive what its medium would take longer for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlashBackedSpec {
    /// How much the FQueue holds, in the host's memory and in the NV cache alike.
    pub fqueue: Size,
    /// The order of the Request Queue: `fcfs`, `sstf` or `c-look`.
    #[serde(default = "c_look")]
    pub queue: SchedulerChoice,
    /// Which writes are redirected.
    #[serde(default)]
    pub rule: RuleSpec,
    /// How a write that covers data in the FQueue is treated.
    #[serde(default)]
    pub overlap: Overlap,
    /// When what has gone to the medium leaves the FQueue.
    #[serde(default)]
    pub order: DropOrder,
    /// When the FQueue is purged while the Request Queue is empty.
    #[serde(default)]
    pub idle: IdleSpec,
    /// What the next request is where the Request Queue is empty.
    #[serde(default)]
    pub next: NextSpec,
    /// Flushing begins when so much of the FQueue is full, or a redirected write has no room.
    #[serde(default = "all")]
    pub high: Percent,
    /// It ends when no more than this is full.
    #[serde(default = "nine_tenths")]
    pub low: Percent,
    /// What the host takes a write to the NV cache for; left out, what the device there lets expect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashTimesSpec>,
}

/// The time of a write to the NV cache.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlashTimesSpec {
    /// Without its bytes.
    pub write: Time,
    /// How fast its bytes are written; they take no time where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

/// What becomes of a write that covers entries of the FQueue wholly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FlashBackedOverlap")]
pub enum Overlap {
    /// It takes their place, where the rule would redirect it.
    #[default]
    Overwrite,
    /// It goes to the medium, and they with it.
    Coalesce,
}

/// When what goes to the medium leaves the FQueue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FlashBackedOrder")]
pub enum DropOrder {
    /// When it is on the medium durably.
    #[default]
    DurableFirst,
    /// Before it is written there, as in the paper: a power cut in between loses it.
    Paper,
}

/// When the FQueue is purged while the Request Queue is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FlashBackedIdle")]
pub enum IdleSpec {
    /// At once.
    #[default]
    Eager,
    /// After it has been empty, and the medium idle, for so long.
    Delay(Time),
    /// Never: only flushing that the high watermark has begun goes on.
    Watermark,
}

/// What the next request is where the Request Queue is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FlashBackedNext")]
pub enum NextSpec {
    /// There is none: both accesses to it take no time.
    #[default]
    NoneIfEmpty,
    /// There is none, and a rule that looks ahead does not redirect.
    NeverRedirect,
    /// The one that arrives next, which no host knows.
    Oracle,
}

fn c_look() -> SchedulerChoice {
    SchedulerChoice::Known(SchedulerSpec::CLook(Default::default()))
}
fn all() -> Percent {
    Percent::new(100.0).expect("a percentage")
}
fn nine_tenths() -> Percent {
    Percent::new(90.0).expect("a percentage")
}

/// The orders that a Request Queue may have: those whose choice depends on nothing but what waits.
const ORDERS: [&str; 3] = ["fcfs", "sstf", "c-look"];

/// A key, and what is wrong there.
type Refusal = (&'static str, Error);

impl FlashBackedSpec {
    /// The scheduler above the root of a tree of devices.
    ///
    /// # Errors
    /// The key and what is wrong there: a root without an NV cache, or with one that is smaller than the FQueue; devices of which no access
    /// times are known; watermarks and orders without sense.
    pub fn build(
        &self,
        tree: &DeviceTree,
        scheduler: Box<dyn Scheduler>,
        foresight: Option<Foresight>,
    ) -> Result<FlashBacked, Refusal> {
        let wrong = |key, message: String, help: &str| {
            Err((key, Error::from(InputError::new(message).help(help))))
        };
        let root = DeviceId(tree.devices.len() as u32 - 1);
        let device = tree.get(root);
        let Some(facts) = device.nv_cache() else {
            return wrong(
                "",
                format!("{:?} has no NV cache", tree.paths[root.0 as usize]),
                "flash-backed requests need a hybrid drive: [device.hybrid]",
            );
        };
        let capacity = self.fqueue.blocks();
        if capacity == 0 || capacity > facts.blocks {
            let room = Size::from_blocks(facts.blocks);
            let help = format!("accepted: 1 block to {room}, which the NV cache has room for");
            return wrong("fqueue", format!("an FQueue of {}", self.fqueue), &help);
        }
        if self.low > self.high {
            let message = format!("flushing from {} down to {}", self.high, self.low);
            return wrong("low", message, "accepted: up to high");
        }
        if !ORDERS.contains(&self.queue.name()) {
            let message = format!("a Request Queue in the order {:?}", self.queue.name());
            return wrong("queue", message, "accepted: fcfs, sstf, c-look");
        }
        let of = |device: DeviceId, what: &str, help: &str| {
            let unknown = || {
                let path = &tree.paths[device.0 as usize];
                let message = format!("nothing is known of the access times of {path:?}, {what}");
                ("flash", Error::from(InputError::new(message).help(help)))
            };
            tree.get(device).access_times().ok_or_else(unknown)
        };
        let medium = of(
            facts.medium,
            "the medium",
            "accepted: a medium of the kinds hdd, curve and simple",
        )?;
        let flash = match &self.flash {
            Some(flash) => AccessTimes::level(flash.write, flash.write, block_ps(flash.rate)),
            None => of(
                facts.flash,
                "the NV cache",
                "write flash = { write = \"1 ms\", rate = \"9 MB/s\" }",
            )?,
        };
        Ok(FlashBacked::new(Parts {
            hybrid: root,
            blocks: device.blocks(),
            promise: device.promise(),
            capacity,
            high: self.high.of(capacity),
            low: self.low.of(capacity),
            scheduler,
            rule: self.rule.build().map_err(|error| ("rule", error.into()))?,
            overlap: self.overlap,
            order: self.order,
            idle: self.idle,
            next: self.next,
            times: Times { medium, flash },
            command: facts.command,
            foresight,
        }))
    }
}
