//! Builds a hard disk with several arms, or a log.

use super::Checked;
use super::memory::Budget;
use crate::base::error::{Error, InputError};
use crate::base::random::Stream;
use crate::base::units::BLOCK_BYTES;
use crate::config::arms::{ArmMotion, ArmParts};
use crate::config::drive::DriveDescription;
use crate::config::placement::{EagerSpec, Recovery};
use crate::config::spec::HddSpec;
use crate::devices::hdd::Hardware;
use crate::devices::hdd::multi::{InitialWrites, MultiHdd, MultiParts, stations};
use crate::models::placement::log::Log;

/// The hard disk at `path` in the tree of devices.
///
/// # Errors
/// Arms or a log that do not fit the drive or one another, with the place.
pub(super) fn device(
    spec: &HddSpec,
    description: &DriveDescription,
    hardware: Hardware,
    path: &str,
    checked: &Checked,
    memory: &mut Budget,
) -> Result<MultiHdd, Error> {
    let locate = |key: &str, error: InputError| {
        checked.locate(&format!("device.{path}.{key}"), error.into())
    };
    let of_spec = spec.arms.clone().unwrap_or_default();
    let arms_spec = of_spec.resolve(description.arms.as_ref());
    let layout = &hardware.mechanics.layout;
    let arms = arms_spec
        .build(layout)
        .map_err(|error| locate("arms.arm", error))?;
    let log_spec = spec.log();
    let motion = arms_spec.motion;
    if log_spec.is_some() {
        check_arms_of_log(&arms, motion, &hardware).map_err(|error| locate("arms", error))?;
    }
    let log = log_spec
        .as_ref()
        .map(|eager| log(eager, &hardware, memory))
        .transpose()
        .map_err(|error| locate("placement", error))?;
    let schedulers = stations(&arms, motion)
        .iter()
        .map(|_| {
            let key = format!("device.{path}.queue.scheduler");
            checked.scheduler(&spec.queue.scheduler, &key)
        })
        .collect::<Result<_, _>>()?;
    let cleaner = log_spec.as_ref().and_then(|eager| eager.cleaner.as_ref());
    let initial = log_spec.as_ref().and_then(|eager| {
        let initial = eager.initial.as_ref()?;
        Some(InitialWrites {
            blocks: initial.write.blocks().div_ceil(eager.block.blocks()),
            gap: initial.gap,
            chance: Stream::new(checked.spec.seed, &format!("{path}.initial")),
        })
    });
    let parts = MultiParts {
        arms,
        motion,
        choice: of_spec.choice.build(),
        schedulers,
        log,
        cleaner: cleaner.map(|cleaner| cleaner.build()),
        initial,
        depth: spec.queue.depth,
    };
    Ok(MultiHdd::new(hardware, parts))
}

/// A log with its slots on a drive.
fn log(eager: &EagerSpec, hardware: &Hardware, memory: &mut Budget) -> Result<Log, InputError> {
    let per_sector = u64::from(hardware.blocks_per_sector);
    let blocks = eager.block.blocks();
    if blocks == 0 || !blocks.is_multiple_of(per_sector) {
        return Err(InputError::new(format!(
            "a placement block of {} on a drive with sectors of {} bytes",
            eager.block,
            per_sector * BLOCK_BYTES
        ))
        .help("give a whole number of sectors"));
    }
    let sectors = u32::try_from(blocks / per_sector).unwrap_or(u32::MAX);
    memory.take(
        Log::memory(&hardware.mechanics.layout, sectors),
        format_args!("a log of slots of {} on this drive", eager.block),
        "give a larger placement block, or write placement = \"in-place\"",
    )?;
    Log::new(
        &hardware.mechanics,
        (sectors, per_sector * BLOCK_BYTES),
        eager.reserve,
        (eager.allocator, eager.ties),
        eager.recovery == Recovery::VirtualLog,
    )
}

/// A block of a log may be anywhere: whoever writes must reach all, and independent arms must read and write all of it.
fn check_arms_of_log(
    arms: &[ArmParts],
    motion: ArmMotion,
    hardware: &Hardware,
) -> Result<(), InputError> {
    let layout = &hardware.mechanics.layout;
    for (number, arm) in arms.iter().enumerate() {
        let must_reach_all = arm.writes || motion == ArmMotion::Independent;
        if must_reach_all && !arm.reach.holds_all(layout) {
            return Err(InputError::new(format!(
                "arm {number} does not reach all of the drive, but a log may put a block anywhere"
            ))
            .help("leave out its surfaces and cylinders, or write placement = \"in-place\""));
        }
    }
    Ok(())
}
