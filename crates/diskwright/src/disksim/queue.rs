//! From `disksim_ioqueue` to our schedulers.

use serde_json::{Value, json};

use super::component::Component;
use super::topology::DeviceKind;
use super::warnings::Warnings;
use crate::base::error::InputError;
use crate::models::queue::{SchedulerChoice, SchedulerSpec};

/// Whose queue it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The driver's, which knows LBNs only.
    Host,
    /// The drive's.
    Drive,
}

/// How the requests that wait in a queue are chosen from. A queue that holds one request at most chooses nothing, and
/// says so by `chooses`.
///
/// # Errors
/// A policy that has no counterpart.
pub(super) fn scheduler(
    queue: &Component,
    place: Place,
    chooses: bool,
    warnings: &mut Warnings,
) -> Result<SchedulerChoice, InputError> {
    if !chooses {
        return Ok(SchedulerChoice::default());
    }
    let name = "Scheduling policy";
    let policy = queue.integer(name)?;
    let weight = queue.integer("Timeout time/weight")?;
    let Some((spec, loss)) = counterpart(policy, weight) else {
        let error = queue.at("Timeout time/weight").error(format!(
            "scheduling policy {policy} with a weight of {weight}"
        ));
        return Err(error.help("expected a weight above 0"));
    };
    let at = queue.at(name);
    if let Some(loss) = loss {
        warnings.push(at, format_args!("scheduling policy {policy}: {loss}"));
    }
    if by_position(policy) {
        for delay in ["Read initiation delay", "Write initiation delay"] {
            if queue.float(delay)? != 0.0 {
                warnings.push(queue.at(delay), format_args!("{delay:?} is left out: positioning times are predicted with the drive's own command overheads"));
            }
        }
    }
    if by_cylinder(policy) {
        let mapping = "Cylinder mapping strategy";
        match place {
            Place::Host => warnings.push(
                at,
                format_args!(
                    "scheduling policy {policy} goes by cylinder; a driver's queue goes by LBN"
                ),
            ),
            Place::Drive if queue.integer(mapping)? != 4 => warnings.push(
                queue.at(mapping),
                "a drive knows its cylinders exactly, as with mapping strategy 4",
            ),
            Place::Drive => {}
        }
    }
    for (name, reason) in [
        (
            "Sequential stream scheme",
            "requests are neither joined nor kept in order",
        ),
        (
            "Overlapping request scheme",
            "requests that overlap are served each by itself",
        ),
        ("Scheduling priority scheme", "requests have no priorities"),
    ] {
        if queue.integer(name)? != 0 {
            warnings.push(
                queue.at(name),
                format_args!("{name:?} is left out: {reason}"),
            );
        }
    }
    let spec: SchedulerSpec = serde_json::from_value(spec).map_err(|error| {
        at.error(format!(
            "scheduling policy {policy} with weight {weight}: {error}"
        ))
    })?;
    Ok(SchedulerChoice::Known(spec))
}

/// A driver's queue, as a spec has it.
#[derive(Debug)]
pub(super) struct DriverQueue {
    /// The scheduler, by LBN.
    pub(super) scheduler: Value,
    /// The one that a drive's own queue can have in its place, where the policy needs to know positions.
    pub(super) in_drive: Option<Value>,
    /// Which requests are joined.
    pub(super) join: Option<Value>,
    /// That of the urgent requests.
    pub(super) priority: Option<Value>,
    /// When requests have waited too long, in a run of processes.
    pub(super) timeout: Option<Value>,
}

impl DriverQueue {
    /// Reads that of a driver, with DiskSim's own ways of its policies.
    ///
    /// # Errors
    /// A policy that has no counterpart in a queue that knows LBNs only.
    pub(super) fn read(
        queue: &Component,
        warnings: &mut Warnings,
    ) -> Result<DriverQueue, InputError> {
        let streams = queue.integer("Sequential stream scheme")?;
        let most = queue.integer("Maximum concat size")?;
        let join = (streams & 3 != 0 && most > 1).then(|| {
            json!({
                "most": format!("{most} blocks"),
                "reads": streams & 1 != 0,
                "writes": streams & 2 != 0,
            })
        });
        if streams & !3 != 0 {
            let at = queue.at("Sequential stream scheme");
            warnings.push(at, "the order of sequential streams is not kept: of \"Sequential stream scheme\" the joining of requests is taken");
        }
        if queue.integer("Overlapping request scheme")? != 0 {
            warnings.push(
                queue.at("Overlapping request scheme"),
                "\"Overlapping request scheme\" is left out: requests that overlap are served each by itself",
            );
        }
        let priority = match queue.integer("Scheduling priority scheme")? {
            0 => None,
            _ => Some(json!({ "scheduler": by_lbn(queue, "Priority scheduling", warnings)? })),
        };
        let timeout = match queue.integer("Scheduling timeout scheme")? {
            1 => {
                let after = queue.integer("Timeout time/weight")?;
                let mut timeout = json!({ "after": format!("{after} s") });
                if priority.is_none() {
                    timeout["scheduler"] = by_lbn(queue, "Timeout scheduling", warnings)?;
                }
                Some(timeout)
            }
            _ => None,
        };
        let policy = "Scheduling policy";
        let is_one_queue = join.is_none() && priority.is_none() && timeout.is_none();
        let (scheduler, in_drive) = match needs_positions(queue.integer(policy)?) && is_one_queue {
            true => {
                let chosen = self::scheduler(queue, Place::Drive, true, warnings)?;
                let chosen = serde_json::to_value(chosen).expect("a scheduler is plain data");
                (nearest(), Some(chosen))
            }
            false => (by_lbn(queue, policy, warnings)?, None),
        };
        Ok(DriverQueue {
            scheduler,
            in_drive,
            join,
            priority,
            timeout,
        })
    }

    /// Whether it does nothing but to hold requests back in the order of their arrival.
    pub(super) fn is_plain(&self) -> bool {
        let has_more = self.join.is_some() || self.priority.is_some() || self.timeout.is_some();
        !has_more && self.in_drive.is_none() && self.scheduler == json!({ "fcfs": {} })
    }
}

/// The scheduler of a policy's number in a queue that goes by LBN, as DiskSim has it.
fn by_lbn(
    queue: &Component,
    parameter: &str,
    warnings: &mut Warnings,
) -> Result<Value, InputError> {
    let policy = queue.integer(parameter)?;
    let at = queue.at(parameter);
    if matches!(policy, 5..=7 | 22 | 23) {
        warnings.push(
            at,
            format_args!(
                "scheduling policy {policy} goes by cylinder; a driver's queue goes by LBN"
            ),
        );
    } else if needs_positions(policy) {
        warnings.push(at, format_args!("scheduling policy {policy}: {BY_LBN}"));
    }
    Ok(match policy {
        1 => json!({ "fcfs": {} }),
        28 => json!({ "fcfs": {} }),
        2 | 5 => json!({ "look": { "by": "lbn" } }),
        3 | 6 => json!({ "c-look": { "by": "lbn", "from": "start" } }),
        _ => nearest(),
    })
}

/// The depth of a drive's queue that holds all requests, since it has the scheduler of the driver.
pub(super) const ALL: u32 = 1 << 20;

/// What becomes of a driver's policy that needs positions, before a device of a kind.
pub(super) fn told_of_positions(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Disk => {
            "a driver's scheduling policy that needs to know positions is the one of the drive's own queue here, and all requests wait there"
        }
        DeviceKind::Simple | DeviceKind::Ssd => {
            "a driver's scheduling policy that needs to know positions: all are alike here, and requests are served in the order of their arrival"
        }
    }
}

/// What becomes of a policy that needs positions where there are none.
pub(super) const BY_LBN: &str =
    "it needs to know positions; the nearest request by LBN is next here";

fn nearest() -> Value {
    json!({ "sstf": { "by": "lbn", "ties": "alternate" } })
}

/// Whether a policy needs to know more of places than LBNs.
pub(super) fn needs_positions(policy: i64) -> bool {
    !matches!(policy, 1..=7 | 22 | 23 | 28)
}

/// Whether a policy predicts positioning times.
fn by_position(policy: i64) -> bool {
    matches!(policy, 8..=16 | 20 | 21 | 24..=27)
}

/// Whether a policy looks at cylinders.
fn by_cylinder(policy: i64) -> bool {
    matches!(policy, 5..=16 | 18 | 20..=27)
}

/// The scheduler of a policy's number, and what it does otherwise.
fn counterpart(policy: i64, weight: i64) -> Option<(Value, Option<&'static str>)> {
    const BUFFER: &str = "what is in the drive's buffer is not taken into account";
    const TRANSFER: &str = "the time of the transfer is not taken into account";
    const CLASSES: &str = "whether a process waits for a request is not taken into account";
    const ALIKE: &str =
        "the shortest positioning time of all is next, seek and rotation counted alike";
    let aged = json!({ "aged-satf": { "weight": weight as f64 / 1000.0 } });
    let weighted = json!({ "weighted-satf": { "window": format!("{weight} ms") } });
    Some(match policy {
        1 => (json!({ "fcfs": {} }), None),
        2 => (json!({ "look": { "by": "lbn" } }), None),
        3 => (json!({ "c-look": { "by": "lbn" } }), None),
        4 => (json!({ "sstf": { "by": "lbn" } }), None),
        5 => (json!({ "look": { "by": "cylinder" } }), None),
        6 => (json!({ "c-look": { "by": "cylinder" } }), None),
        7 | 23 => (json!({ "sstf": { "by": "cylinder" } }), None),
        22 => (
            json!({ "sstf": { "by": "cylinder" } }),
            Some("distances are from where the arm is"),
        ),
        8 => (json!({ "satf": {} }), None),
        9 => (json!({ "satf": {} }), Some(BUFFER)),
        10 => (json!({ "satf": {} }), Some(TRANSFER)),
        11 if weight > 0 => (weighted, None),
        12 if weight > 0 => (weighted, Some(BUFFER)),
        13 if weight > 0 => (weighted, Some(TRANSFER)),
        14 => (aged, None),
        15 => (aged, Some(BUFFER)),
        16 => (aged, Some(TRANSFER)),
        20 | 21 => (aged, Some(CLASSES)),
        24..=26 => (json!({ "satf": {} }), Some(ALIKE)),
        27 => (
            json!({ "satf": {} }),
            Some("the next request is chosen, not the order of the next ten"),
        ),
        28 => (
            json!({ "fcfs": {} }),
            Some("batches are in the order of arrival, too"),
        ),
        // DiskSim's V-SCANs are V(0.2).
        17 => (json!({ "v-scan": { "by": "lbn", "r": 0.2 } }), None),
        19 => (
            json!({ "v-scan": { "by": "lbn", "r": 0.2 } }),
            Some("classes and ages of requests are not taken into account"),
        ),
        18 => (json!({ "v-scan": { "by": "cylinder", "r": 0.2 } }), None),
        _ => return None,
    })
}
