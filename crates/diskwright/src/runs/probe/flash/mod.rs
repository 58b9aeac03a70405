//! What an SSD does: latencies by size and by depth, bandwidth, mixtures, the way from a new drive to its steady state, reads behind programs and erases.
//!
//! Each measurement has a drive of its own, new or half full, that a closed loop of users asks.

mod behind;
mod cliff;
mod rates;
mod sizes;
mod stand_in;
mod subject;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::base::error::{Error, InputError, unknown_name};
use crate::base::units::BLOCK_BYTES;
use crate::host::Progress;

use super::ProbeOptions;
use super::meter::Meter;

pub use behind::Behind;
pub use cliff::{Cliff, Interval};
pub use rates::{AtDepth, Mixture, Rate};
pub use sizes::{Bandwidth, Latency};
pub use stand_in::Simulated;
pub use subject::Times;

use stand_in::StandIn;

/// The measurements that can be asked for; all are made where none is named.
pub const MEASUREMENTS: [&str; 6] = ["latency", "depth", "bandwidth", "mixed", "cliff", "behind"];

/// What was measured of an SSD; what was not asked for is `None`.
#[derive(Clone, Debug, Serialize)]
pub struct FlashProbe {
    /// The version of this form.
    pub schema: u32,
    /// `ssd`.
    pub kind: &'static str,
    /// The drive, as it was asked for.
    pub drive: String,
    /// Maker and model.
    pub name: String,
    /// Capacity in 512-byte blocks.
    pub capacity_blocks: u64,
    /// The seed of the random measurements.
    pub seed: u64,
    /// The smaller drive that was measured in place of a large one; absent where the drive itself was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulated>,
    /// Size of a request where sizes do not vary, bytes.
    pub request_bytes: u64,
    /// One request at a time, by size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Vec<Latency>>,
    /// Random requests by depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<Vec<AtDepth>>,
    /// Bandwidth by size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Vec<Bandwidth>>,
    /// Random reads and writes together, by the share of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed: Option<Vec<Mixture>>,
    /// Random writes over time, from a new drive on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cliff: Option<Cliff>,
    /// Reads alone, beside writes, and while the drive is being cleaned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<Vec<Behind>>,
}

/// Refuses options that ask for nothing or too much.
fn check(options: &ProbeOptions, capacity_blocks: u64) -> Result<(), Error> {
    for name in &options.only {
        if !MEASUREMENTS.contains(&name.as_str()) {
            return Err(unknown_name("measurement of an SSD", name, &MEASUREMENTS).into());
        }
    }
    let wrong = |message: String, help: String| Err(InputError::new(message).help(help).into());
    if options.depths.is_empty() {
        return wrong(
            "requests by depth need a depth".to_owned(),
            "leave depth out of the measurements if they are not wanted".to_owned(),
        );
    }
    if options.depths.contains(&0) {
        return wrong(
            "a queue of depth 0 takes no request".to_owned(),
            "accepted: 1 or more".to_owned(),
        );
    }
    let deepest = options.depths.iter().copied().max().unwrap_or(1);
    let fewest = super::READS_PER_DEPTH * u64::from(deepest);
    if options.reads < fewest {
        return wrong(
            format!(
                "{} requests are too few for a queue of {deepest}",
                options.reads
            ),
            format!(
                "accepted: {fewest} or more, {} times the deepest queue",
                super::READS_PER_DEPTH
            ),
        );
    }
    let most = (capacity_blocks / 64).max(1);
    if !(1..=most).contains(&options.size.blocks()) {
        return wrong(
            format!("requests of {}", options.size),
            format!("accepted: 1 to {most} blocks"),
        );
    }
    Ok(())
}

/// Measures an SSD, by name or path.
///
/// # Errors
/// Those of [`probe`](super::probe).
pub(super) fn probe(
    drive: &str,
    summary: &serde_json::Value,
    options: &ProbeOptions,
    progress: &mut dyn Progress,
) -> Result<FlashProbe, Error> {
    let stand_in = StandIn::of(drive)?;
    check(options, stand_in.blocks())?;
    let wanted =
        |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
    let work = [
        ("latency", sizes::latency_steps(options)),
        ("depth", rates::depth_steps(options)),
        ("bandwidth", sizes::bandwidth_steps(options)),
        ("mixed", rates::mixed_steps(options)),
        ("cliff", cliff::steps(&stand_in, options)),
        ("behind", behind::steps(options)),
    ];
    let total = work.into_iter().filter(|(name, _)| wanted(name));
    let total = total.map(|(_, steps)| steps).fold(0, u64::saturating_add);
    let meter = &mut Meter::new(progress, total);
    let mut found = FlashProbe {
        schema: super::SCHEMA,
        kind: "ssd",
        drive: drive.to_owned(),
        name: summary["name"].as_str().unwrap_or(drive).to_owned(),
        capacity_blocks: summary["capacity_blocks"].as_u64().unwrap_or(0),
        seed: options.seed,
        simulated: stand_in.simulated(),
        request_bytes: options.size.blocks() * BLOCK_BYTES,
        latency: None,
        depth: None,
        bandwidth: None,
        mixed: None,
        cliff: None,
        behind: None,
    };
    if wanted("latency") {
        found.latency = Some(sizes::latency(&stand_in, options, meter)?);
    }
    if wanted("depth") {
        found.depth = Some(rates::by_depth(&stand_in, options, meter)?);
    }
    if wanted("bandwidth") {
        found.bandwidth = Some(sizes::bandwidth(&stand_in, options, meter)?);
    }
    if wanted("mixed") {
        found.mixed = Some(rates::mixed(&stand_in, options, meter)?);
    }
    if wanted("cliff") {
        found.cliff = Some(cliff::measure(&stand_in, options, meter)?);
    }
    if wanted("behind") {
        found.behind = Some(behind::measure(&stand_in, options, meter)?);
    }
    Ok(found)
}
