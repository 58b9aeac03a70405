//! The drive that is measured: the one that was asked for, or where that is large one with smaller planes.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::base::error::Error;
use crate::base::units::{Size, Time};
use crate::devices::ssd::drive::SsdDescription;
use crate::engine::Engine;
use crate::models::flash::geometry::Geometry;
use crate::runs::simulation::{self, RunOptions, SpecSource};

/// The most slots of a drive that is measured itself: filling it and writing it several times takes seconds.
const MOST_SLOTS: u64 = 1 << 21;
/// Blocks of a plane that a smaller one has, and the fewest pages of its blocks: the smaller they are, the more the figures of cleaning differ.
const BLOCKS: u32 = 64;
const FEWEST_PAGES: u32 = 32;
/// Blocks of a plane that are open: one of the host and one of cleaning, half full in the mean.
const OPEN: f64 = 1.0;

/// The smaller drive that was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulated {
    /// Blocks of a plane, and pages of a block.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u32,
    /// Capacity in 512-byte blocks.
    pub capacity_blocks: u64,
}

/// A drive to measure.
pub struct StandIn {
    drive: String,
    /// The tables that differ from the drive's.
    tables: Map<String, Value>,
    simulated: Option<Simulated>,
    blocks: u64,
    pub page_bytes: u64,
}

impl StandIn {
    /// The drive itself, or one with the same channels, dies, planes and times whose planes have fewer and smaller blocks: as full of data as
    /// the drive's, less what is open or kept free.
    ///
    /// # Errors
    /// A description that cannot be read.
    pub fn of(drive: &str) -> Result<StandIn, Error> {
        let own = SsdDescription::read(&simulation::drive_file(drive, Path::new(""))?)?;
        let geometry = own.flash.build()?;
        let slots = u64::from(geometry.slots());
        let data = slots - own.spare.share.of(slots);
        let mut found = StandIn {
            drive: drive.to_owned(),
            tables: Map::new(),
            simulated: None,
            blocks: data * u64::from(geometry.unit_blocks),
            page_bytes: geometry.unit_bytes() * u64::from(geometry.units),
        };
        if slots > MOST_SLOTS && geometry.blocks > BLOCKS {
            found.shrink(&own, &geometry, data as f64 / slots as f64);
        }
        Ok(found)
    }

    fn shrink(&mut self, own: &SsdDescription, of: &Geometry, data: f64) {
        let mut flash = own.flash;
        flash.blocks = BLOCKS;
        let planes = u64::from(of.all_planes() * of.units * BLOCKS);
        let pages = (MOST_SLOTS / planes) as u32;
        flash.pages = own.flash.pages.min(pages.max(FEWEST_PAGES));
        let share = f64::from(BLOCKS) / f64::from(of.blocks);
        let fewer = |blocks: u32| match blocks {
            0..=4 => blocks,
            _ => (libm::round(f64::from(blocks) * share) as u32).max(3),
        };
        let mut cleaning = own.cleaning.clone();
        (cleaning.begin, cleaning.stop) = (fewer(cleaning.begin), fewer(cleaning.stop));
        if let Some(idle) = &mut cleaning.idle {
            idle.free = fewer(idle.free);
        }
        let mut spare = own.spare;
        spare.reserved = (libm::ceil(f64::from(spare.reserved) * share)) as u32;
        // What can hold data without standing empty for cleaning, and how much of it does.
        let usable = |blocks: u32, reserved: u32, begin: u32| {
            f64::from(blocks - reserved) - f64::from(begin) - OPEN
        };
        let load =
            data * f64::from(of.blocks) / usable(of.blocks, own.spare.reserved, own.cleaning.begin);
        let of_plane = load * usable(BLOCKS, spare.reserved, cleaning.begin);
        let share_spare = 100.0 * (1.0 - of_plane / f64::from(BLOCKS));
        // A block takes as long to erase for each of its pages.
        let mut timing = own.timing.clone();
        let of_pages = f64::from(flash.pages) / f64::from(own.flash.pages);
        timing.erase = Time::from_ns(libm::round(timing.erase.ns() as f64 * of_pages) as u64);
        let slots = planes * u64::from(flash.pages);
        let mut spare = json!(spare);
        spare["share"] = json!(format!("{share_spare} %"));
        self.tables.insert("flash".to_owned(), json!(flash));
        self.tables.insert("cleaning".to_owned(), json!(cleaning));
        self.tables.insert("spare".to_owned(), spare);
        self.tables.insert("timing".to_owned(), json!(timing));
        if let Some(recovery) = own.recovery {
            // As large a part of the drive, and a page of each plane at least.
            let part = slots as f64 / f64::from(of.slots());
            let least = u64::from(of.all_planes() * of.units * of.unit_blocks);
            let blocks = (recovery.checkpoint.blocks() as f64 * part) as u64;
            let checkpoint = Size::from_blocks(blocks.max(least));
            self.tables
                .insert("recovery".to_owned(), json!({ "checkpoint": checkpoint }));
        }
        if let Some(mut slc) = own.slc {
            let of_pages = f64::from(slc.pages) * of_pages;
            let most = flash.pages - 1;
            slc.pages = (libm::round(of_pages) as u32).clamp(1, most.max(1));
            (slc.fixed, slc.dynamic) = (fewer(slc.fixed), fewer(slc.dynamic));
            self.tables.insert("slc".to_owned(), json!(slc));
        }
        let data = slots - libm::round(slots as f64 * share_spare / 100.0) as u64;
        self.blocks = data * u64::from(of.unit_blocks);
        self.simulated = Some(Simulated {
            blocks: BLOCKS,
            pages: flash.pages,
            capacity_blocks: self.blocks,
        });
    }

    /// What was measured in place of the drive.
    pub fn simulated(&self) -> Option<Simulated> {
        self.simulated.clone()
    }

    /// Capacity in 512-byte blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// An engine with the drive, `initial` being what is on it.
    ///
    /// # Errors
    /// A drive that makes no sense.
    pub fn engine(&self, initial: &Value) -> Result<Engine, Error> {
        let mut ssd = self.tables.clone();
        ssd.insert("drive".to_owned(), json!(self.drive));
        ssd.insert("initial".to_owned(), initial.clone());
        let load = json!({ "requests": 1, "arrivals": { "constant": "1 ms" }, "reads": 1.0, "size": "512 B" });
        let spec = json!({ "workload": { "synthetic": load }, "device": { "ssd": ssd } });
        let text = toml::to_string(&spec).expect("tables, texts and numbers");
        let source = SpecSource::Text {
            text,
            base: PathBuf::from("."),
        };
        let options = RunOptions {
            drive: Some(self.drive.clone()),
            ..RunOptions::default()
        };
        let tree = simulation::read_spec(&source, &options)?.devices()?;
        Ok(Engine::new(tree.devices, None))
    }
}
