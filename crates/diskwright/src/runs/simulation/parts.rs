//! What a spec and a drive's file say of arms and placement becomes parts of a hard disk.

use super::Checked;
use super::memory::Budget;
use crate::base::error::{Error, InputError};
use crate::base::random::Stream;
use crate::base::units::BLOCK_BYTES;
use crate::config::drive::DriveDescription;
use crate::config::placement::{EagerSpec, Recovery};
use crate::config::spec::HddSpec;
use crate::devices::hdd::arms_spec::{ArmMotion, ArmParts};
use crate::devices::hdd::{DiskParts, Hardware, InitialWrites, LogParts, arm_groups};
use crate::models::placement::log::Log;
use crate::models::queue::Clustering;

/// The parts of the hard disk at `path` in the tree of devices.
///
/// # Errors
/// Arms, a log or a buffer that do not fit the drive or one another, with the place.
pub(super) fn disk(
    spec: &HddSpec,
    description: &DriveDescription,
    mut hardware: Hardware,
    clustering: Option<Clustering>,
    path: &str,
    checked: &Checked,
    memory: &mut Budget,
) -> Result<DiskParts, Error> {
    let locate = |key: &str, error: InputError| {
        checked.locate(&format!("device.{path}.{key}"), error.into())
    };
    let of_spec = spec.arms.clone().unwrap_or_default();
    let arms_spec = of_spec.resolve(description.arms.as_ref());
    let arms = arms_spec
        .build(&hardware.mechanics.layout)
        .map_err(|error| locate("arms.arm", error))?;
    let log_spec = spec.log();
    let motion = arms_spec.motion;
    if log_spec.is_some() {
        check_arms_of_log(&arms, motion, &hardware).map_err(|error| locate("arms", error))?;
    }
    if hardware.buffer.is_some() {
        check_buffer(&arms, log_spec.is_some()).map_err(|error| locate("buffer", error))?;
        hardware.mechanics.spindle = hardware.mechanics.spindle.seen_from(arms[0].angle);
    }
    let log = log_spec
        .as_ref()
        .map(|eager| log_parts(eager, &hardware, path, checked, memory))
        .transpose()
        .map_err(|error| locate("placement", error))?;
    let schedulers = arm_groups(&arms, motion)
        .iter()
        .map(|_| {
            let key = format!("device.{path}.queue.scheduler");
            checked.scheduler(&spec.queue.scheduler, &key)
        })
        .collect::<Result<_, _>>()?;
    Ok(DiskParts {
        hardware,
        depth: spec.queue.depth,
        clustering,
        reports_arms: spec.arms.is_some() || description.arms.is_some() || log.is_some(),
        arms,
        motion,
        choice: of_spec.choice.build(),
        schedulers,
        log,
    })
}

/// A segmented buffer is the firmware of a drive with one arm that does everything, and data in place.
fn check_buffer(arms: &[ArmParts], has_log: bool) -> Result<(), InputError> {
    let wrong = match arms {
        _ if has_log => "data in a log",
        [_] => return Ok(()),
        _ => "several arms",
    };
    Err(InputError::new(format!(
        "a segmented buffer on a drive with {wrong}: it is the firmware of drives with one arm and data in place"
    ))
    .help("write buffer = false, and give the drive a block cache ([device.….cache]) if it is to have memory"))
}

/// A placement in a log, with all that belongs to it.
fn log_parts(
    eager: &EagerSpec,
    hardware: &Hardware,
    path: &str,
    checked: &Checked,
    memory: &mut Budget,
) -> Result<LogParts, InputError> {
    let initial = eager.initial.as_ref().map(|initial| InitialWrites {
        blocks: initial.write.blocks().div_ceil(eager.block.blocks()),
        gap: initial.gap,
        chance: Stream::new(checked.spec.seed, &format!("{path}.initial")),
    });
    Ok(LogParts {
        log: log(eager, hardware, memory)?,
        cleaner: eager.cleaner.as_ref().map(|cleaner| cleaner.build()),
        initial,
    })
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
