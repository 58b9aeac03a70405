//! From `ssdmodel_ssd` to an SSD.
//!
//! The extension is that of Agrawal, Prabhakaran, Wobber, Davis, Manasse and Panigrahy, "Design tradeoffs for SSD performance", USENIX ATC
//! 2008. Its packages are channels of their own here, its parallel units dies.

use super::component::Component;
use super::times;
use super::topology::Path;
use super::warnings::Warnings;
use crate::base::error::InputError;
use crate::base::units::percent::Percent;
use crate::base::units::quantities::Rate;
use crate::base::units::{BLOCK_BYTES, Size, Time};
use crate::devices::ssd::drive::{
    CleaningDescription, ControllerDescription, Parallel, SolidState, SpareDescription,
    SsdDescription, WearDescription,
};
use crate::devices::ssd::spec::PreconditionSpec;
use crate::models::flash::allocation::{AllocationDescription, Level};
use crate::models::flash::geometry::GeometryDescription;
use crate::models::flash::separation::SeparationSpec;
use crate::models::flash::timing::TimingDescription;
use crate::models::flash::victims::VictimSpec;

/// Bytes that cross a package's pins for 512 bytes of data: those and the spare area.
const BLOCK_ON_PINS: f64 = 528.0;

/// The SSD at the end of a way, full at the start as in the extension.
///
/// # Errors
/// Parameters that are missing, or contradict one another.
pub(super) fn drive(route: &Path, warnings: &mut Warnings) -> Result<SsdDescription, InputError> {
    let ssd = &route.device;
    let flash = flash(ssd)?;
    let (depth, _) = route.depths(warnings)?;
    warn(ssd, depth, warnings)?;
    Ok(SsdDescription {
        kind: SolidState::Ssd,
        name: ssd.kind.clone(),
        about: "an SSD of DiskSim's extension".into(),
        source: vec!["its parameters in DiskSim's files".into()],
        estimated: vec!["wear: the extension takes free blocks in turn".into()],
        year: None,
        queue_depth: depth,
        queues: None,
        timing: timing(ssd)?,
        parallel: match flash.dies {
            1 => Parallel::Packages,
            _ => Parallel::Dies,
        },
        copy_back: ssd.integer("Copy back")? != 0,
        multi_plane: None,
        reads_allocate: false,
        interface: interface(route, warnings)?,
        spare: spare(ssd, &flash)?,
        allocation: allocation(ssd)?,
        cleaning: cleaning(ssd, &flash)?,
        flash,
        wear: WearDescription {
            levelling: false,
            ..WearDescription::default()
        },
        retry: None,
        refresh: None,
        failures: None,
        mapping: None,
        parity: None,
        suspend: None,
        slc: None,
        buffer: None,
        recovery: None,
        power: None,
        initial: PreconditionSpec::default(),
    })
}

/// Packages that share a channel, and channels. Those of a gang that shares its control only have pins of their own.
fn packages(ssd: &Component) -> Result<(u32, u32), InputError> {
    let elements = ssd.count("Flash chip elements")?;
    let gang = ssd.count("Elements per gang")?;
    if !elements.is_multiple_of(gang) {
        let error = ssd.at("Elements per gang").error(format!(
            "gangs of {gang} packages, of which there are {elements}"
        ));
        return Err(error.help("expected a divisor of \"Flash chip elements\""));
    }
    Ok(match ssd.integer("Gang share")? {
        1 => (gang, elements / gang),
        _ => (1, elements),
    })
}

fn flash(ssd: &Component) -> Result<GeometryDescription, InputError> {
    let (packages, channels) = packages(ssd)?;
    let planes = ssd.count("Planes per package")?;
    let blocks = ssd.count("Blocks per plane")?;
    let held = ssd.count("Blocks per element")?;
    if u64::from(held) != u64::from(planes) * u64::from(blocks) {
        let error = ssd.at("Blocks per element").error(format!(
            "{held} blocks in a package of {planes} planes of {blocks} blocks"
        ));
        return Err(error.help("expected the product of both"));
    }
    let dies = ssd.count("Number of parallel units")?;
    if !planes.is_multiple_of(dies) {
        let error = ssd
            .at("Number of parallel units")
            .error(format!("{dies} parallel units of {planes} planes"));
        return Err(error.help("expected a divisor of \"Planes per package\""));
    }
    Ok(GeometryDescription {
        channels,
        packages,
        dies,
        planes: planes / dies,
        blocks,
        // The last page of a block has its summary.
        pages: ssd.count("Pages per block")? - 1,
        page: Size::from_blocks(ssd.count("Page size")?.into()),
        unit: None,
    })
}

fn timing(ssd: &Component) -> Result<TimingDescription, InputError> {
    let block = times::scaled(ssd, "Chip xfer latency", BLOCK_ON_PINS)?;
    let program = times::time(ssd, "Page write latency")?;
    Ok(TimingDescription {
        read: vec![times::time(ssd, "Page read latency")?],
        read_part: None,
        program: vec![program],
        erase: times::time(ssd, "Block erase latency")?,
        read_command: Time::ZERO,
        program_command: Time::ZERO,
        erase_command: Time::ZERO,
        block,
        summary: block + program,
    })
}

fn interface(route: &Path, warnings: &mut Warnings) -> Result<ControllerDescription, InputError> {
    let overhead = times::time(&route.device, "Command overhead")?;
    let block = route.one_block_time(warnings)?;
    let rate = BLOCK_BYTES as f64 * 1e9 / block.ns() as f64;
    Ok(ControllerDescription {
        read: overhead,
        write: overhead,
        rate: match block {
            Time::ZERO => None,
            _ => Rate::from_bytes_per_s(libm::round(rate) as u64),
        },
        ..ControllerDescription::default()
    })
}

/// Blocks of each plane by a percentage, as the extension counts them.
fn share_of(ssd: &Component, name: &str, blocks: u32) -> Result<u32, InputError> {
    let share = ssd.float(name)? * f64::from(blocks) / 100.0;
    Ok(libm::floor(share) as u32)
}

fn spare(ssd: &Component, flash: &GeometryDescription) -> Result<SpareDescription, InputError> {
    let spare = share_of(ssd, "Reserve pages percentage", flash.blocks)?;
    let share = f64::from(spare) / f64::from(flash.blocks) * 100.0;
    Ok(SpareDescription {
        share: Percent::new(share).expect("a part of the blocks"),
        reserved: 0,
        bad: Percent::default(),
    })
}

fn allocation(ssd: &Component) -> Result<AllocationDescription, InputError> {
    let pool = "Allocation pool logic";
    let by_plane = ssd.integer(pool)? == 2;
    if by_plane && ssd.integer("Copy back")? == 0 {
        let error = ssd
            .at(pool)
            .error("a pool for each plane without copy back");
        return Err(error.help("expected 0 or 1, or \"Copy back = 1\""));
    }
    // The packages of a gang follow one another, then the gangs.
    Ok(AllocationDescription {
        order: vec![Level::Package, Level::Channel, Level::Die, Level::Plane],
        fixed: if by_plane { 4 } else { 2 },
        separation: SeparationSpec::default(),
    })
}

fn cleaning(
    ssd: &Component,
    flash: &GeometryDescription,
) -> Result<CleaningDescription, InputError> {
    let (least, reserve) = ("Minimum free blocks percentage", "Reserve pages percentage");
    if ssd.float(least)? >= ssd.float(reserve)? {
        return Err(ssd
            .at(least)
            .error("cleaning is to keep free what is not spare")
            .help(format!("expected less than {reserve:?}")));
    }
    Ok(CleaningDescription {
        begin: share_of(ssd, least, flash.blocks)? + 1,
        at_once: 1,
        write_delay: None,
        stop: 0,
        throttled: false,
        background: ssd.integer("Cleaning in background")? != 0,
        idle: None,
        victim: VictimSpec::default(),
        separate: false,
    })
}

/// Tells what works otherwise here.
fn warn(ssd: &Component, depth: u32, warnings: &mut Warnings) -> Result<(), InputError> {
    let title = ssd.title();
    if ssd.integer("Cleaning policy")? == 3 {
        warnings.push(
            ssd.at("Cleaning policy"),
            format_args!("cleaning of {title} does not look at wear here"),
        );
    }
    if ssd.integer("Element stride pages")? != 1 {
        warnings.push(
            ssd.at("Element stride pages"),
            format_args!("each page of {title} is in another package than the one before it here"),
        );
    }
    if ssd.integer("Elements per gang")? > 1 {
        warnings.push(
            ssd.at("Elements per gang"),
            format_args!(
                "the packages of a gang of {title} read and write pages each by itself here"
            ),
        );
    }
    let latency = "Bus transaction latency";
    if ssd.item(latency).is_some() && ssd.float(latency)? != 0.0 {
        warnings.push(
            ssd.at(latency),
            format_args!("{latency:?} of {title} is left out"),
        );
    }
    let queue = ssd.block("Scheduler")?;
    if depth > 1 && queue.integer("Scheduling policy")? != 1 {
        warnings.push(
            queue.at("Scheduling policy"),
            format_args!("{title} serves requests in the order of their arrival here"),
        );
    }
    Ok(())
}
