//! What a spec and a drive's file say becomes a hard disk.

use super::arms_spec::{ArmMotion, ArmParts};
use super::buffer_description::BufferDescription;
use super::cache::CacheParts;
use super::drive::{Drive, DriveDescription};
use super::interface::Interface;
use super::pool::Regions;
use super::pool_description::PoolDescription;
use super::spec::HddSpec;
use super::spec::buffer::BufferSpec;
use super::spec::cache::CacheSpec;
use super::spec::placement::{EagerSpec, Recovery};
use super::spec::settings::Settings;
use super::{
    DiskParts, DiskPower, Hardware, Hdd, InitialWrites, LogParts, Overhead, PoolParts, arm_groups,
};
use crate::base::error::{Error, InputError};
use crate::base::memory::Budget;
use crate::base::units::BLOCK_BYTES;
use crate::devices::assembly::{DeviceTree, Site};
use crate::devices::drives::DriveFile;
use crate::devices::kind::{Built, DeviceKind, DriveFacts};
use crate::devices::spindles::{AngleSpec, Spindles};
use crate::models::cache::BlockCache;
use crate::models::cache::replacement::{
    ReplacementChoice, ReplacementSpec, Setting, lines_memory,
};
use crate::models::placement::log::Log;
use crate::models::power::PowerControl;
use crate::models::power::figures::no_figures;

/// Bytes for each cylinder of a drive's seek curve: its seek time, the least of that and all longer ones, and both again while they are
/// worked out.
const PER_CYLINDER: u64 = 16;

impl DeviceKind for HddSpec {
    const HAS_DRIVE: bool = true;
    const HAS_SPINDLE: bool = true;

    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error> {
        let drive = Drive::read(&self.drive, site.run.base, site.run.read_foreign);
        let mut drive = drive.map_err(|error| site.locate("drive", error))?;
        tree.warnings.append(&mut drive.warnings);
        let rotation = drive.description.rotation;
        let settings = self.settings(&drive.description, site)?;
        let mut hdd = self.assemble(drive, site, &mut tree.memory)?;
        if let Some(name) = &self.bus {
            let bus = tree.buses.entry(name.clone()).or_default();
            hdd.share(bus).map_err(|error| site.locate("bus", error))?;
        }
        let id = tree.add(site.path, Box::new(hdd));
        tree.tell(id, "settings", settings.json());
        let notes = settings.notes().iter();
        tree.notes
            .extend(notes.map(|note| format!("{}: {note}", site.path)));
        Ok(Built {
            id,
            rotation: Some(rotation),
        })
    }

    /// Its buffer, as far as that does not depend on the drive, and the angle that it has then.
    fn fill_in(&mut self, around: &Spindles) {
        if self.cache.is_some() || self.buffer() != &BufferSpec::Off {
            self.buffer = Some(self.buffer().clone());
        }
        self.angle.get_or_insert(around.angle);
    }

    fn draws_spindles(&self, around: &Spindles) -> bool {
        self.angle == Some(AngleSpec::Random) || around.tolerance > 0.0
    }

    fn describe_drive(file: &DriveFile) -> Result<DriveFacts, Error> {
        Drive::of(file).map(|drive| drive.facts())
    }
}

impl HddSpec {
    /// The hard disk that the spec makes of a drive, whatever drive it names. What it may come to need is taken from `memory`.
    ///
    /// # Errors
    /// Values without sense, each with its place, which [`Site::locate`] adds.
    pub fn assemble(
        &self,
        drive: Drive,
        site: &Site<'_>,
        memory: &mut Budget,
    ) -> Result<Hdd, Error> {
        let Drive {
            description,
            hardware,
            ..
        } = drive;
        let settings = self.settings(&description, site)?;
        let mut hardware = as_specified(self, &description, hardware, site, memory)?;
        settings.switch(&mut hardware.buffer);
        let (overhead, interface) = (hardware.overhead, hardware.interface);
        let mut parts = disk((self, &settings), &description, hardware, site, memory)?;
        let pool = pool(self, &description).map_err(|error| site.locate("buffer", error))?;
        let pool = pool.map(|pool| {
            let with = (settings.write_cache(), overhead, interface);
            pool_parts(&pool, &mut parts, with, site, memory)
        });
        let pool = pool.transpose()?;
        let cache = self.cache.as_ref().map(|cache| {
            let frames = block_cache(cache, parts.blocks(), site, memory)?;
            let parts = CacheParts {
                write_policy: cache.write_policy,
                overhead: cache.hit_overhead.map_or(overhead, Overhead::before_any),
                interface,
            };
            Ok::<_, Error>((frames, parts))
        });
        Ok(Hdd::new(parts, cache.transpose()?, pool))
    }
}

impl HddSpec {
    /// What the spec and the drive together are set to.
    ///
    /// # Errors
    /// A buffer that is not sound, a write cache beside a block cache, each with its place.
    fn settings(&self, drive: &DriveDescription, site: &Site<'_>) -> Result<Settings, Error> {
        self.check_write_cache()
            .map_err(|error| site.locate("write_cache", error))?;
        let locate = |error: InputError| site.locate("buffer", error);
        let buffer = buffer(self, drive).map_err(locate)?;
        let pool = pool(self, drive).map_err(locate)?;
        Ok(Settings::of(self, drive, buffer.as_ref(), pool.as_ref()))
    }
}

/// The drive's hardware, as far as the spec does not change it.
fn as_specified(
    spec: &HddSpec,
    description: &DriveDescription,
    mut hardware: Hardware,
    site: &Site<'_>,
    memory: &mut Budget,
) -> Result<Hardware, Error> {
    let cylinders = hardware.mechanics.layout.cylinders();
    let curves = 1 + u64::from(description.write_seek.is_some());
    memory
        .take(
            u64::from(cylinders) * PER_CYLINDER * curves,
            format_args!("the seek times of a drive of {cylinders} cylinders"),
            "simulate fewer drives, or drives with fewer cylinders",
        )
        .map_err(|error| site.locate("drive", error))?;
    let buffer = buffer(spec, description);
    hardware.buffer = buffer.map_err(|error| site.locate("buffer", error))?;
    if let Some(overhead) = &spec.overhead {
        hardware.overhead = overhead.resolve(hardware.overhead);
    }
    hardware.chance = site.stream("");
    let rotation = description.rotation;
    let spindle = site
        .spindles
        .build(rotation, spec.angle, site.run.seed, site.path);
    hardware.mechanics.spindle = spindle;
    Ok(hardware)
}

/// The pool of a hard disk, if it has one: the drive's, as far as the spec does not change it.
///
/// # Errors
/// A key that a pool does not have, or a value that does not fit it.
pub(super) fn pool(
    spec: &HddSpec,
    drive: &DriveDescription,
) -> Result<Option<PoolDescription>, InputError> {
    let said = spec.buffer.as_ref().unwrap_or(&BufferSpec::Drive);
    let is_pool = drive.pool.is_some() || said.is_of_pool();
    if !is_pool || said.is_segmented() || !spec.takes_pool() {
        return Ok(None);
    }
    let pool = said.resolve(drive.pool.clone())?;
    if let Some(pool) = &pool {
        pool.check(drive.sector_size.blocks())?;
    }
    Ok(pool)
}

/// A pool in front of a disk, its frames apart; the disk leaves the interface and the controller to it.
fn pool_parts(
    pool: &PoolDescription,
    disk: &mut DiskParts,
    (write_cache, overhead, interface): (bool, Overhead, Interface),
    site: &Site<'_>,
    memory: &mut Budget,
) -> Result<(BlockCache, PoolParts), Error> {
    let locate = |error: InputError| site.locate("buffer", error);
    let (frames, per_frame) = pool.frames();
    let keys = disk.blocks().div_ceil(per_frame.into());
    let of_policy = match &pool.policy {
        ReplacementChoice::Known(policy) => policy.memory(frames, keys),
        ReplacementChoice::Custom(_) => 0,
    };
    memory
        .take(
            lines_memory(frames, per_frame, keys) + of_policy,
            format_args!("a pool of {frames} extents of {}", pool.extent),
            "give the pool a smaller size or larger extents",
        )
        .map_err(locate)?;
    let setting = Setting {
        capacity: frames,
        chance: site.stream(".pool"),
    };
    let policy = site.replacement(&pool.policy, "buffer", &setting)?;
    let region = pool.persistent.as_ref().and_then(|kept| kept.region);
    if let Some(region) = &region {
        Regions::check(&disk.hardware, region, per_frame).map_err(locate)?;
    }
    let depth = std::mem::replace(&mut disk.depth, u32::MAX);
    disk.is_behind_memory = true;
    disk.hardware.interface = Interface::INSTANT;
    let parts = PoolParts {
        depth,
        most_dirty: pool.most_dirty(write_cache),
        is_persistent: !write_cache,
        region,
        destaging: pool.write_cache.clone().unwrap_or_default(),
        read_ahead: pool.read_ahead.clone(),
        hit_overhead: pool.hit_overhead,
        overhead,
        interface,
    };
    let cache = BlockCache::new(frames, per_frame, policy);
    // Dirty extents are pinned. A draw of `random` depends on whether pins last.
    let cache = match &pool.policy {
        ReplacementChoice::Known(ReplacementSpec::Lru(_) | ReplacementSpec::Fifo(_)) => {
            cache.with_lasting_pins()
        }
        _ => cache,
    };
    Ok((cache, parts))
}

/// The segmented buffer of a hard disk: the drive's, as far as the spec does not change it.
fn buffer(
    spec: &HddSpec,
    drive: &DriveDescription,
) -> Result<Option<BufferDescription>, InputError> {
    let buffer = spec.buffer();
    if !buffer.is_segmented() && (drive.pool.is_some() || buffer.is_of_pool()) {
        return Ok(None);
    }
    let buffer = spec.buffer().resolve(drive.buffer.clone())?;
    if let Some(buffer) = &buffer {
        buffer.check(drive.sector_size.blocks())?;
    }
    Ok(buffer)
}

/// The cache in front of a drive of `blocks` blocks.
fn block_cache(
    spec: &CacheSpec,
    blocks: u64,
    site: &Site<'_>,
    memory: &mut Budget,
) -> Result<BlockCache, Error> {
    let locate = |key: &str, error: Error| site.locate(&format!("cache.{key}"), error);
    let (frames, per_frame) = spec.frames().map_err(|(key, error)| locate(key, error))?;
    let needs = spec.memory(frames, per_frame, blocks);
    memory
        .take(
            needs.frames,
            format_args!("a cache of {frames} frames of {}", spec.block_size),
            "write a smaller size, or a larger block_size",
        )
        .map_err(|error| locate("size", error.into()))?;
    memory
        .take(
            needs.policy,
            format_args!("{:?} for {frames} cache blocks", spec.policy.name()),
            "give the policy fewer ghosts or the cache a smaller size",
        )
        .map_err(|error| locate("policy", error.into()))?;
    let setting = Setting {
        capacity: frames,
        chance: site.stream(".cache"),
    };
    let policy = site.replacement(&spec.policy, "cache.policy", &setting)?;
    Ok(BlockCache::new(frames, per_frame, policy))
}

/// The parts of the disk behind the cache.
fn disk(
    (spec, settings): (&HddSpec, &Settings),
    description: &DriveDescription,
    mut hardware: Hardware,
    site: &Site<'_>,
    memory: &mut Budget,
) -> Result<DiskParts, Error> {
    if settings.queue_depth.value == 0 {
        let error = Error::input("a queue of depth 0 takes no request: expected 1 or more");
        return Err(site.locate("queue.depth", error));
    }
    let clustering = spec
        .queue
        .clustering()
        .map_err(|(key, error)| site.locate(&format!("queue.{key}"), error))?;
    let of_spec = spec.arms.clone().unwrap_or_default();
    let arms_spec = of_spec.resolve(description.arms.as_ref());
    let arms = arms_spec
        .build(&hardware.mechanics.layout)
        .map_err(|error| site.locate("arms.arm", error))?;
    let log_spec = spec.log();
    let motion = arms_spec.motion;
    if log_spec.is_some() {
        check_arms_of_log(&arms, motion, &hardware).map_err(|error| site.locate("arms", error))?;
    }
    if hardware.buffer.is_some() {
        check_buffer(&arms, log_spec.is_some()).map_err(|error| site.locate("buffer", error))?;
        hardware.mechanics.spindle = hardware.mechanics.spindle.seen_from(arms[0].angle);
    }
    let log = log_spec
        .as_ref()
        .map(|eager| log_parts(eager, &hardware, site, memory))
        .transpose()
        .map_err(|error| site.locate("placement", error))?;
    let schedulers = arm_groups(&arms, motion)
        .iter()
        .map(|_| site.scheduler(&settings.scheduler.value, "queue.scheduler"))
        .collect::<Result<_, _>>()?;
    Ok(DiskParts {
        hardware,
        depth: settings.queue_depth.value,
        clustering,
        reports_arms: spec.arms.is_some() || description.arms.is_some() || log.is_some(),
        arms,
        motion,
        choice: of_spec.choice.build(),
        schedulers,
        log,
        power: power(spec, description, site)?,
        is_behind_memory: false,
    })
}

/// What a disk draws, and its low power states; `None` where neither the spec nor the drive says what it draws.
fn power(
    spec: &HddSpec,
    description: &DriveDescription,
    site: &Site<'_>,
) -> Result<Option<Box<DiskPower>>, Error> {
    let of_spec = spec.power.clone().unwrap_or_default();
    let of_drive = description.power.clone();
    let (given, is_silent) = (of_spec.figures, of_drive.is_none());
    let figures = match (given, of_drive) {
        (None, None) if of_spec.policy.is_none() => return Ok(None),
        (None, None) => {
            let error = no_figures("standby_z");
            return Err(site.locate("power.policy", error));
        }
        (given, of_drive) => {
            let drive = of_drive.unwrap_or_default();
            given.unwrap_or_default().over(&drive)
        }
    };
    let place = if is_silent || spec.power.is_some() {
        "power.figures"
    } else {
        "drive"
    };
    let states = figures
        .figures()
        .map_err(|error| site.locate(place, error))?;
    let policy = of_spec.policy.map(|policy| policy.build(&states));
    let policy = policy
        .transpose()
        .map_err(|error| site.locate("power.policy", error))?;
    let control = PowerControl::new(states, policy);
    Ok(Some(Box::new(DiskPower::new(control, &figures))))
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
    site: &Site<'_>,
    memory: &mut Budget,
) -> Result<LogParts, InputError> {
    let initial = eager.initial.as_ref().map(|initial| InitialWrites {
        blocks: initial.write.blocks().div_ceil(eager.block.blocks()),
        gap: initial.gap,
        chance: site.stream(".initial"),
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

/// A block of a log may be anywhere: arms that write must reach all of it, and independent arms must read and write all of it.
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
