//! What a spec and a drive's file say becomes an SSD.

use serde_json::json;

use super::ageing::Ageing;
use super::cleaning::Cleaning;
use super::drive::{MOST_AT_ONCE, Parallel, SsdDescription};
use super::failures::Failing;
use super::log_build::logged;
use super::mapping::map_units;
use super::overwrite::{MOST_DRIVE_WRITES, Overwrite};
use super::phases::MultiPlane;
use super::power::DrivePower;
use super::recovery::Recovery;
use super::refusal::Refusal;
use super::spec::SsdSpec;
use super::steady::Steady;
use super::striped_build::striped;
use super::writes::{WriteBuffer, Writes};
use super::{Ssd, SsdParts};
use crate::base::error::{Error, InputError};
use crate::base::random::Stream;
use crate::base::units::{BLOCK_BYTES, Size, Time};
use crate::devices::assembly::{DeviceTree, Site};
use crate::devices::drives::DriveFile;
use crate::devices::kind::{Built, DeviceKind, DriveFacts};
use crate::models::flash::blocks::{BlockRules, Blocks};
use crate::models::flash::geometry::Geometry;
use crate::models::link::Link;
use crate::models::power::PowerControl;
use crate::models::power::figures::no_figures;

/// Bytes for each unit of the host and each slot: its entry in the map.
const PER_ENTRY: u64 = 4;
/// Bytes for each block: what it is, and its place among the free ones.
const PER_BLOCK: u64 = 40;
/// The most entries of a write buffer: 16 GiB of 4 KiB each.
const MOST_ENTRIES: u64 = 1 << 22;
/// The longest time of the controller.
const LONGEST: Time = Time::from_s(10);

impl DeviceKind for SsdSpec {
    const HAS_DRIVE: bool = true;

    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error> {
        let file = DriveFile::read(&self.drive, site.run.base, site.run.read_foreign);
        let drive = file.and_then(|file| Ok((SsdDescription::read(&file)?, file)));
        let (mut drive, file) = drive.map_err(|error| site.locate("drive", error))?;
        tree.warnings.extend(file.warnings);
        self.apply_to(&mut drive);
        let ssd = self.assemble(&drive, site, tree);
        let ssd = ssd.map_err(|(key, error)| site.locate(key, *error))?;
        Ok(Built {
            id: tree.add(site.path, Box::new(ssd)),
            rotation: None,
        })
    }

    fn describe_drive(file: &DriveFile) -> Result<DriveFacts, Error> {
        let drive = SsdDescription::read(file)?;
        let geometry = drive
            .flash
            .build()
            .map_err(|error| error.at(file.place()))?;
        let figures = json!({
            "name": drive.name,
            "capacity_blocks": capacity_blocks(&drive, &geometry),
            "channels": geometry.channels,
            "dies": geometry.channels * geometry.packages * geometry.dies,
            "planes": geometry.all_planes(),
            "page_bytes": geometry.unit_bytes() * u64::from(geometry.units),
            "pages_per_block": geometry.pages,
            "spare_share": drive.spare.share.share(),
        });
        Ok(DriveFacts {
            figures,
            description: serde_json::to_value(&drive).expect("plain data"),
        })
    }
}

impl SsdDescription {
    /// Blocks of 512 bytes that the host sees.
    ///
    /// # Errors
    /// A geometry that cannot be.
    pub fn capacity_blocks(&self) -> Result<u64, InputError> {
        Ok(capacity_blocks(self, &self.flash.build()?))
    }
}

fn capacity_blocks(drive: &SsdDescription, geometry: &Geometry) -> u64 {
    u64::from(units(drive, geometry)) * u64::from(geometry.unit_blocks)
}

/// Units that the host sees: what is not spare, in whole pages of all planes.
fn units(drive: &SsdDescription, geometry: &Geometry) -> u32 {
    let slots = match drive.parity {
        Some(parity) => geometry.slots() - geometry.slots() / parity.stripe.max(1),
        None => geometry.slots(),
    };
    slots - drive.spare.share.of(slots.into()) as u32
}

impl SsdSpec {
    /// Puts what the spec says over what the drive's file says.
    fn apply_to(&self, drive: &mut SsdDescription) {
        fn over<T: Clone>(own: &mut T, said: Option<&T>) {
            if let Some(said) = said {
                own.clone_from(said);
            }
        }
        over(&mut drive.queue_depth, self.queue_depth.as_ref());
        over(&mut drive.queues, self.queues.clone().map(Some).as_ref());
        over(&mut drive.initial, self.initial.as_ref());
        over(&mut drive.flash, self.flash.as_ref());
        over(&mut drive.timing, self.timing.as_ref());
        over(&mut drive.interface, self.interface.as_ref());
        over(&mut drive.parallel, self.parallel.as_ref());
        over(&mut drive.copy_back, self.copy_back.as_ref());
        over(&mut drive.multi_plane, self.multi_plane.map(Some).as_ref());
        over(&mut drive.reads_allocate, self.reads_allocate.as_ref());
        over(&mut drive.spare, self.spare.as_ref());
        over(&mut drive.allocation, self.allocation.as_ref());
        over(&mut drive.cleaning, self.cleaning.as_ref());
        over(&mut drive.wear, self.wear.as_ref());
        over(&mut drive.retry, self.retry.map(Some).as_ref());
        over(&mut drive.refresh, self.refresh.map(Some).as_ref());
        over(&mut drive.failures, self.failures.map(Some).as_ref());
        over(&mut drive.mapping, self.mapping.map(Some).as_ref());
        over(&mut drive.parity, self.parity.map(Some).as_ref());
        over(&mut drive.suspend, self.suspend.map(Some).as_ref());
        over(&mut drive.slc, self.slc.map(Some).as_ref());
        over(&mut drive.buffer, self.buffer.map(Some).as_ref());
        over(&mut drive.recovery, self.recovery.map(Some).as_ref());
    }

    fn assemble(
        &self,
        drive: &SsdDescription,
        site: &Site<'_>,
        tree: &mut DeviceTree,
    ) -> Result<Ssd, Refusal> {
        check(drive)?;
        let geometry = drive
            .flash
            .build()
            .map_err(|error| ("flash", error.into()))?;
        drive
            .timing
            .check()
            .map_err(|error| ("timing", error.into()))?;
        let allocation = drive
            .allocation
            .build(&geometry)
            .map_err(|error| ("allocation", error.into()))?;
        let units = units(drive, &geometry);
        let bytes = (u64::from(units) + u64::from(geometry.slots())) * PER_ENTRY
            + u64::from(geometry.all_blocks()) * PER_BLOCK;
        let taken = tree.memory.take(
            bytes,
            "the map of an SSD",
            "a smaller drive, or a larger page",
        );
        taken.map_err(|error| ("flash", error.into()))?;
        let mut bad = site.stream(".bad");
        let mut is_bad: Vec<bool> = (0..geometry.all_blocks())
            .map(|block| {
                bad.unit() < drive.spare.bad.share()
                    || block % geometry.blocks < drive.spare.reserved
            })
            .collect();
        let buffer = buffer(drive, &geometry)?;
        let separation = drive.allocation.separation.build();
        let writes = Writes::new(buffer, separation, allocation.groups());
        let checkpoint = checkpoint(drive, &geometry)?;
        let slc = drive
            .slc
            .map(|slc| slc.build(&geometry, drive.cleaning.background));
        let slc = slc.transpose().map_err(|error| ("slc", error.into()))?;
        let rules = BlockRules {
            levels_wear: drive.wear.levelling,
            streams: writes.streams,
            is_separate: drive.cleaning.separate,
            endurance: drive.wear.endurance,
            slc: slc.map(|slc| slc.rules),
            reserve: drive.failures.map_or(0, |failures| failures.reserve),
        };
        let planes_of_worker = match drive.parallel {
            Parallel::Dies => geometry.planes,
            Parallel::Packages => geometry.planes * geometry.dies,
            Parallel::Planes => 1,
        };
        let workers = geometry.all_planes() / planes_of_worker;
        let suspensions = drive.suspend.map(|suspend| suspend.build(workers));
        let suspensions = suspensions
            .transpose()
            .map_err(|error| ("suspend", error.into()))?;
        let log = logged(self, drive, units, &geometry, &allocation)?;
        let stripes = striped(drive, &geometry, &allocation, writes.streams, &mut is_bad)?;
        let mapping = match (&log, drive.mapping) {
            (None, Some(mapping)) => mapping.build(units, &geometry),
            _ => Ok(None),
        };
        let mapping = mapping.map_err(|error| ("mapping", error.into()))?;
        let map_units = match mapping {
            Some(_) => map_units(units, &geometry),
            None => 0,
        };
        let levelling = (drive.wear.levelled_by).map(|by| by.build(geometry.all_planes()));
        let levelling = levelling
            .transpose()
            .map_err(|error| ("wear", error.into()))?;
        if let Some(retry) = &drive.retry {
            retry.check().map_err(|error| ("retry", error.into()))?;
        }
        if let Some(refresh) = &drive.refresh {
            refresh.check().map_err(|error| ("refresh", error.into()))?;
        }
        let failures = drive.failures.map(|failures| {
            let key = site.stream(".failures").bits();
            failures.build(geometry.blocks, key)
        });
        let failures = failures
            .transpose()
            .map_err(|error| ("failures", error.into()))?;
        let queues = drive.queues.as_ref().map(|queues| queues.build());
        let queues = queues
            .transpose()
            .map_err(|error| ("queues", error.into()))?;
        let round = u64::from(units) * u64::from(geometry.unit_blocks);
        let mut ssd = Ssd::new(SsdParts {
            blocks: Blocks::new(geometry, rules, |block| is_bad[block as usize]),
            planes_of_worker,
            writes,
            recovery: Recovery::new(units + map_units, checkpoint, geometry.all_planes()),
            multi_plane: drive.multi_plane.map(|times| MultiPlane {
                read: times.read,
                program: times.program,
            }),
            reserved: drive.spare.reserved,
            cleaning: cleaning(drive, log.is_some()),
            victims: drive.cleaning.victim.build(),
            chance: site.stream(".cleaning"),
            steady: Steady::new(self.steady_round.of(round)),
            timing: drive.timing.clone(),
            interface: drive.interface.clone(),
            link: link(drive)?,
            copy_back: drive.copy_back,
            reads_allocate: drive.reads_allocate,
            depth: drive.queue_depth,
            queues: queues.map(Box::new),
            endurance: drive.wear.endurance,
            slc,
            suspensions,
            mapping,
            log,
            stripes,
            map_units,
            levelling,
            ageing: Ageing::new(drive.retry, drive.refresh, geometry.all_blocks()),
            failing: failures.map(|rules| Box::new(Failing::new(rules))),
            geometry,
            allocation,
            units,
            power: power(self, drive)?,
        });
        ssd.check_room()?;
        let mut chance: Stream = site.stream(".initial");
        ssd.fill(&drive.initial, self.steady_round, &mut chance)
            .map_err(|error| ("initial", error.into()))?;
        // What was overwritten may have worn out blocks.
        ssd.check_room()?;
        Ok(ssd)
    }
}

/// When planes are cleaned: never where log blocks are merged.
fn cleaning(drive: &SsdDescription, is_logged: bool) -> Cleaning {
    let its = &drive.cleaning;
    match is_logged {
        true => Cleaning {
            begin: 0,
            at_once: 1,
            stop: 0,
            is_throttled: false,
            write_delay: Time::ZERO,
            delay: Time::ZERO,
            is_in_foreground: false,
            idle: None,
        },
        false => Cleaning {
            begin: its.begin,
            at_once: its.at_once as usize,
            stop: its.stop,
            is_throttled: its.throttled,
            write_delay: its.write_delay.unwrap_or(Time::ZERO),
            delay: Time::ZERO,
            is_in_foreground: !its.background,
            idle: its.idle.map(|idle| (idle.after, idle.free)),
        },
    }
}

/// What a drive draws, and its low power states; `None` where neither the spec nor the drive says what it draws.
fn power(spec: &SsdSpec, drive: &SsdDescription) -> Result<Option<Box<DrivePower>>, Refusal> {
    let of_spec = spec.power.clone().unwrap_or_default();
    let figures = match (of_spec.figures, drive.power.clone()) {
        (None, None) if of_spec.policy.is_none() => return Ok(None),
        (None, None) => return Err(("power.policy", Box::new(no_figures("slumber")))),
        (given, of_drive) => given
            .unwrap_or_default()
            .over(&of_drive.unwrap_or_default()),
    };
    let states = figures.figures();
    let states = states.map_err(|error| ("power.figures", error.into()))?;
    let policy = of_spec.policy.map(|policy| policy.build(&states));
    let policy = policy.transpose();
    let policy = policy.map_err(|error| ("power.policy", error.into()))?;
    let control = PowerControl::new(states, policy);
    Ok(Some(Box::new(DrivePower::new(control, &figures))))
}

/// The link to the host, where the drive names its standard.
fn link(drive: &SsdDescription) -> Result<Option<Box<Link>>, Refusal> {
    let interface = &drive.interface;
    let Some(link) = &interface.link else {
        return Ok(None);
    };
    if interface.rate.is_some() || interface.frames > Time::ZERO {
        let error = InputError::new("the interface has a link and its rate or frames");
        let help = "leave rate and frames out: both follow from the link's standard";
        return Err(("interface", error.help(help).into()));
    }
    let link = link.build().map_err(|error| ("interface", error.into()))?;
    Ok(Some(Box::new(link)))
}

/// The write buffer of a drive.
fn buffer(drive: &SsdDescription, geometry: &Geometry) -> Result<Option<WriteBuffer>, Refusal> {
    let Some(buffer) = drive.buffer.filter(|buffer| buffer.size.blocks() > 0) else {
        return Ok(None);
    };
    let entries = buffer.size.blocks() / u64::from(geometry.unit_blocks);
    let error = if !(1..=MOST_ENTRIES).contains(&entries) {
        let unit = Size::from_blocks(geometry.unit_blocks.into());
        InputError::new(format!("a write buffer of {}", buffer.size)).help(format!(
            "accepted: 0, or as much as 1 to {MOST_ENTRIES} times the unit of {unit}"
        ))
    } else if buffer.hold > LONGEST {
        InputError::new(format!("data that wait {} for others", buffer.hold))
            .help(format!("at most {LONGEST}"))
    } else {
        return Ok(Some(WriteBuffer {
            entries: entries as u32,
            has_capacitor: buffer.capacitor,
            hold: buffer.hold,
        }));
    };
    Err(("buffer", error.into()))
}

/// After how many pages a checkpoint begins, and how many units of the map a page has room for.
fn checkpoint(drive: &SsdDescription, geometry: &Geometry) -> Result<Option<(u64, u32)>, Refusal> {
    let Some(recovery) = drive.recovery else {
        return Ok(None);
    };
    let page = geometry.unit_bytes() * u64::from(geometry.units);
    if drive.spare.reserved == 0 {
        let error = InputError::new("checkpoints without blocks that hold them");
        return Err((
            "spare",
            error
                .help("spare.reserved: 1 or more blocks of each plane")
                .into(),
        ));
    }
    let every = recovery.checkpoint.blocks() * BLOCK_BYTES / page;
    if every == 0 {
        let error = InputError::new(format!("a checkpoint after every {}", recovery.checkpoint));
        let least = Size::from_blocks(page / BLOCK_BYTES);
        return Err((
            "recovery",
            error
                .help(format!("accepted: a page, {least}, or more"))
                .into(),
        ));
    }
    Ok(Some((every, (page / PER_ENTRY) as u32)))
}

/// Refuses values that make no sense whatever the geometry.
fn check(drive: &SsdDescription) -> Result<(), Refusal> {
    if drive.queue_depth == 0 {
        let error = InputError::new("a drive that serves 0 requests at a time");
        return Err(("queue_depth", error.help("accepted: 1 or more").into()));
    }
    if drive.wear.endurance == Some(0) {
        let error = InputError::new("blocks that are worn out after 0 erases");
        return Err(("wear", error.help("accepted: 1 or more").into()));
    }
    let most = if drive.cleaning.separate {
        MOST_AT_ONCE
    } else {
        1
    };
    if !(1..=most).contains(&drive.cleaning.at_once) {
        let error = InputError::new(format!("at_once = {}", drive.cleaning.at_once));
        let help = format!(
            "accepted: 1 to {MOST_AT_ONCE} blocks, and with separate = false no more than 1"
        );
        return Err(("cleaning", error.help(help).into()));
    }
    if let Some(delay) = drive.cleaning.write_delay.filter(|&delay| delay > LONGEST) {
        let error = InputError::new(format!("write_delay = {delay}"));
        return Err(("cleaning", error.help(format!("at most {LONGEST}")).into()));
    }
    if !drive.cleaning.background && drive.cleaning.idle.is_some() {
        let error = InputError::new("an idle drive that cleans, and background = false");
        let help = "accepted: background = false without idle: nothing waits in an idle drive";
        return Err(("cleaning", error.help(help).into()));
    }
    if let Overwrite::Times(times) = drive.initial.overwrite
        && !(0.0..=MOST_DRIVE_WRITES).contains(&times)
    {
        let error = InputError::new(format!("overwrite = {times}"));
        let help = format!("accepted: 0 to {MOST_DRIVE_WRITES} drive writes, or \"until-steady\"");
        return Err(("initial", error.help(help).into()));
    }
    let interface = &drive.interface;
    let times = [
        interface.read,
        interface.read_end,
        interface.write,
        interface.write_end,
        interface.mapping,
        interface.frames,
    ];
    match times.into_iter().max() {
        Some(time) if time > LONGEST => {
            let error = InputError::new(format!("a controller that takes {time}"));
            Err(("interface", error.help(format!("at most {LONGEST}")).into()))
        }
        _ => Ok(()),
    }
}

impl Ssd {
    /// Refuses a drive whose data leave its planes no blocks to clean with.
    fn check_room(&self) -> Result<(), Refusal> {
        if self.host_units == 0 {
            let error = InputError::new("an SSD that holds nothing");
            return Err(("spare", error.help("less spare flash").into()));
        }
        if let Some(log) = &self.log {
            return self.check_logs(log);
        }
        if self.mapping.is_some() {
            self.check_cleaning_ends()?;
        }
        for group in 0..self.allocation.groups() {
            let room = self.room_of_group(group);
            if room < self.units_of_group() {
                let error = InputError::new(format!(
                    "{} units of data where {room} leave a plane {} blocks to write and to clean with",
                    self.units_of_group(),
                    self.blocks.kept()
                ));
                let help = "more spare flash ([device.….spare]), more blocks a plane, fewer bad or reserved ones";
                return Err(("spare", error.help(help).into()));
            }
        }
        Ok(())
    }

    /// Refuses a drive with a cached map whose planes can never have the free blocks that end cleaning: what it moves changes the map, which is
    /// written to flash, so that there is always something to clean.
    fn check_cleaning_ends(&self) -> Result<(), Refusal> {
        let usable = (0..self.geometry.all_planes()).map(|plane| self.blocks.usable_of(plane));
        let free = usable
            .min()
            .unwrap_or(0)
            .saturating_sub(self.blocks.writers() + 1);
        if self.cleaning.begin <= free {
            return Ok(());
        }
        let error = InputError::new(format!(
            "begin = {}: a plane never has that many free blocks, and with a cached map cleaning would never end",
            self.cleaning.begin
        ));
        Err((
            "cleaning",
            error.help(format!("accepted: at most {free} here")).into(),
        ))
    }
}
