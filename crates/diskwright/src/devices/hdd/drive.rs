//! A drive's description: the hardware, as its file in `drives/` gives it.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arms_spec::ArmsSpec;
use super::buffer_description::BufferDescription;
use super::interface::Interface;
use super::pool_description::PoolDescription;
use super::ships::ShipsDescription;
use super::{Hardware, Overhead};
use crate::base::document::from_node;
use crate::base::error::{Error, InputError};
use crate::base::units::quantities::{Rate, Rotation, SignedTime};
use crate::base::units::{BLOCK_BYTES, Size, Time};
use crate::devices::drives::{DriveFile, ReadForeign};
use crate::devices::kind::DriveFacts;
use crate::models::geometry::describe::LayoutDescription;
use crate::models::geometry::layout::{Layout, Zone};
use crate::models::geometry::mechanics::Mechanics;
use crate::models::geometry::seek::{SeekCurve, SeekDescription};
use crate::models::geometry::spindle::Spindle;
use crate::models::power::figures::HddPowerFigures;

/// A hard disk drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveDescription {
    /// The kind of device: a hard disk.
    #[serde(default)]
    pub kind: HardDisk,
    /// Maker and model.
    pub name: String,
    /// What kind of drive it is, in a line.
    #[serde(default)]
    pub about: String,
    /// Where the values come from.
    #[serde(default)]
    pub source: Vec<String>,
    /// Which values are estimates, and how they were made.
    #[serde(default)]
    pub estimated: Vec<String>,
    /// The year it came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<u16>,
    /// Size of a physical sector, a whole number of 512-byte blocks.
    #[serde(default = "one_block")]
    pub sector_size: Size,
    /// How fast the platters turn.
    pub rotation: Rotation,
    /// Changing heads and settling.
    pub heads: HeadsDescription,
    /// How long the arm takes.
    pub seek: SeekDescription,
    /// How long the arm takes before a write, settling included; without it as long as before a read, and then `heads.write_settle`. All
    /// its times are longer than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_seek: Option<SeekDescription>,
    /// How long the controller takes.
    #[serde(default)]
    pub overhead: Overhead,
    /// How fast data cross the interface.
    #[serde(default)]
    pub interface: InterfaceDescription,
    /// The buffer; without one every request waits for the medium.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferDescription>,
    /// Its memory, where that is shared by all that it reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolDescription>,
    /// The arms, where there is not just one that can do everything; a drive with arms of its own has no buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arms: Option<ArmsSpec>,
    /// How it is set when it is sold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ships: Option<ShipsDescription>,
    /// What it draws; without it, results tell nothing of its power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<HddPowerFigures>,
    /// Surfaces, cylinders and zones.
    pub layout: LayoutDescription,
}

/// The kind of a hard disk's drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HardDisk {
    /// A hard disk, as it is where a drive names no kind.
    #[default]
    #[serde(rename = "hdd")]
    Hdd,
}

/// A drive, read and built.
pub struct Drive {
    /// What its file says.
    pub description: DriveDescription,
    /// What is built from that.
    pub hardware: Hardware,
    /// What was made of its file otherwise than it is written.
    pub warnings: Vec<String>,
}

impl Drive {
    /// The hard disk of a name, or of a file, whose path starts at `base`.
    ///
    /// # Errors
    /// Those of the file; a drive of another kind.
    pub fn read(name: &str, base: &Path, read_foreign: ReadForeign) -> Result<Drive, Error> {
        Drive::of(&DriveFile::read(name, base, read_foreign)?)
    }

    /// The hard disk that a file describes.
    ///
    /// # Errors
    /// Another kind; keys that it does not have, values that do not fit, with the place.
    pub fn of(file: &DriveFile) -> Result<Drive, Error> {
        file.must_be("hdd")?;
        let description: DriveDescription = from_node(&file.tree)?;
        let hardware = description.hardware();
        let hardware = hardware.map_err(|error| error.at(file.place()))?;
        Ok(Drive {
            description,
            hardware,
            warnings: file.warnings.clone(),
        })
    }

    /// What the drive amounts to, and its description.
    pub fn facts(&self) -> DriveFacts {
        let figures = self.description.summary(&self.hardware);
        DriveFacts {
            figures: serde_json::to_value(figures).expect("plain data"),
            description: serde_json::to_value(&self.description).expect("plain data"),
        }
    }
}

/// What happens after the arm has arrived, or without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadsDescription {
    /// Time to another head's track in the same cylinder; during a seek it passes unnoticed.
    pub switch: Time,
    /// What a write settles longer than a read after a switch, and after a seek where the drive has no `write_seek`; may be negative.
    #[serde(default)]
    pub write_settle: SignedTime,
}

/// The interface to the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceDescription {
    /// Time of a 512-byte block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_time: Option<Time>,
    /// The same on its way to the drive, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_block_time: Option<Time>,
    /// Rate, in place of `block_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Whether blocks cross while others are still read or written.
    pub overlapped: bool,
}

impl Default for InterfaceDescription {
    fn default() -> InterfaceDescription {
        InterfaceDescription {
            block_time: None,
            write_block_time: None,
            rate: None,
            overlapped: true,
        }
    }
}

impl InterfaceDescription {
    /// The interface; one that takes no time where neither time nor rate is given.
    fn build(&self) -> Interface {
        let block_ps = match (self.block_time, self.rate) {
            (Some(time), _) => time.ns() * 1000,
            (None, Some(rate)) => BLOCK_BYTES * 1_000_000_000_000 / rate.bytes_per_s(),
            (None, None) => 0,
        };
        let write = self.write_block_time.map(|time| time.ns() * 1000);
        Interface {
            block_ps,
            write_block_ps: write.unwrap_or(block_ps),
            overlapped: self.overlapped,
        }
    }
}

fn one_block() -> Size {
    Size::from_blocks(1)
}

/// The largest physical sector, in blocks: 64 KiB.
const LARGEST_SECTOR: u64 = 128;
/// The longest head switch and the longest settling: as long as the longest seek.
const LONGEST_SWITCH_NS: u64 = 4_000_000_000;
/// The longest time of a block on the interface: 512 bytes a second.
const LONGEST_BLOCK: Time = Time::from_s(1);

impl DriveDescription {
    /// Checks everything and builds the hardware that is described.
    ///
    /// # Errors
    /// A value that makes no sense, a layout with gaps or overlaps, a seek curve that gives no time for some distance.
    pub fn hardware(&self) -> Result<Hardware, InputError> {
        self.hardware_with(Layout::build(&self.layout)?)
    }

    /// The same with a layout that was built from this description's before: it is what takes longest.
    ///
    /// # Errors
    /// As [`Self::hardware`], but for the layout.
    pub fn hardware_with(&self, layout: Layout) -> Result<Hardware, InputError> {
        self.check()?;
        if let Some(arms) = &self.arms {
            arms.build(&layout)?;
        }
        let cylinders = layout.cylinders();
        let mut mechanics = Mechanics::new(
            layout,
            SeekCurve::build(&self.seek, cylinders)?,
            Spindle::new(self.rotation),
            self.heads.switch,
            self.heads.write_settle.ns(),
        );
        if let Some(curve) = &self.write_seek {
            mechanics = mechanics.with_write_seek(&SeekCurve::build(curve, cylinders)?)?;
        }
        Ok(Hardware::new(
            mechanics,
            self.sector_size.blocks() as u32,
            self.overhead,
            self.interface.build(),
            self.buffer.clone(),
        ))
    }

    /// Checks what is not the layout's or the seek curve's own.
    fn check(&self) -> Result<(), InputError> {
        if self.name.trim().is_empty() {
            return Err(
                InputError::new("a drive without a name").help("write name = \"maker and model\"")
            );
        }
        if !(1..=LARGEST_SECTOR).contains(&self.sector_size.blocks()) {
            return Err(
                InputError::new(format!("sector_size of {}", self.sector_size)).help(format!(
                    "accepted: 1 to {LARGEST_SECTOR} blocks, such as \"512 B\" or \"4 KiB\""
                )),
            );
        }
        let (switch, settle) = (self.heads.switch.ns(), self.heads.write_settle.ns());
        if switch > LONGEST_SWITCH_NS || settle.unsigned_abs() > LONGEST_SWITCH_NS {
            return Err(InputError::new(format!(
                "heads that switch in {} and settle in {} ms",
                self.heads.switch,
                settle as f64 / 1e6
            ))
            .help("each takes at most 4 s"));
        }
        if self.interface.block_time.is_some() && self.interface.rate.is_some() {
            return Err(
                InputError::new("the interface has both block_time and rate")
                    .help("write the time of a 512-byte block or the rate, not both"),
            );
        }
        if self.arms.is_some() && self.buffer.is_some() {
            return Err(InputError::new("a drive with both arms and a buffer")
                .help("a buffer belongs to a drive with one arm"));
        }
        if let Some(buffer) = &self.buffer {
            buffer.check(self.sector_size.blocks())?;
        }
        if let Some(pool) = &self.pool {
            if self.buffer.is_some() {
                return Err(
                    InputError::new("a drive with both a pool and a segmented buffer")
                        .help("a drive has [pool] or [buffer], not both"),
                );
            }
            pool.check(self.sector_size.blocks())?;
        }
        if let Some(ships) = &self.ships {
            ships.check()?;
        }
        if let Some(power) = &self.power {
            power.figures()?;
        }
        let interface = &self.interface;
        for time in [interface.block_time, interface.write_block_time] {
            if let Some(time) = time.filter(|&time| time > LONGEST_BLOCK) {
                return Err(
                    InputError::new(format!("an interface that takes {time} for a block"))
                        .help(format!("it takes at most {LONGEST_BLOCK}")),
                );
            }
        }
        Ok(())
    }

    /// The figures a data sheet would show, of the `hardware` that was built from this description.
    pub fn summary(&self, hardware: &Hardware) -> DriveSummary {
        let mechanics = &hardware.mechanics;
        let (layout, seek) = (&mechanics.layout, mechanics.seek());
        let zones = layout.zones();
        let ends = [&zones[0], &zones[zones.len() - 1]];
        DriveSummary {
            name: self.name.clone(),
            capacity_blocks: hardware.blocks(),
            sector_bytes: self.sector_size.blocks() * BLOCK_BYTES,
            rpm: self.rotation.rpm(),
            cylinders: layout.cylinders(),
            surfaces: layout.surfaces(),
            zones: zones.len(),
            sectors_per_track: ends.map(Zone::sectors_per_track).into(),
            sustained_mb_per_s: ends.map(|zone| self.sustained(layout, zone, seek)).into(),
            average_seek_ms: seek.mean_random().ms(),
            full_stroke_ms: seek.full_stroke().ms(),
        }
    }

    /// MB/s of a long read in a zone, of one access range.
    ///
    /// A cylinder's data pass in a revolution for each track and the turn of the skew after each, with as many
    /// further revolutions as the switch to the next track takes longer than that turn.
    fn sustained(&self, layout: &Layout, zone: &Zone, seek: &SeekCurve) -> f64 {
        let period = self.rotation.period_s();
        let switch = self.heads.switch;
        let to_next_cylinder = match layout.cylinders() {
            1 => switch,
            _ => seek.time(1).max(switch),
        };
        let passing = |skew: u32, switch: Time| {
            let turn = f64::from(skew) / f64::from(zone.sectors_per_track());
            turn + libm::ceil((switch.s() / period - turn).max(0.0))
        };
        let tracks = f64::from(zone.surfaces());
        let revolutions = tracks
            + (tracks - 1.0) * passing(zone.track_skew(), switch)
            + passing(zone.cylinder_skew(), to_next_cylinder);
        let bytes = zone.sectors_per_cylinder() * (self.sector_size.blocks() * BLOCK_BYTES) as f64;
        bytes / (revolutions * period) / 1e6
    }
}

/// What a drive amounts to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveSummary {
    /// Maker and model.
    pub name: String,
    /// Capacity in 512-byte blocks.
    pub capacity_blocks: u64,
    /// Bytes in a physical sector.
    pub sector_bytes: u64,
    /// Revolutions a minute.
    pub rpm: f64,
    /// Cylinders.
    pub cylinders: u32,
    /// Recorded surfaces.
    pub surfaces: u32,
    /// Zones.
    pub zones: usize,
    /// Sectors on a track of the first and of the last zone.
    pub sectors_per_track: (u32, u32),
    /// Rate of a long read in the first and in the last zone of an access range, with all switches, in MB/s (10^6 bytes).
    pub sustained_mb_per_s: (f64, f64),
    /// Mean seek between random cylinders, ms.
    pub average_seek_ms: f64,
    /// Seek from the first cylinder to the last, ms.
    pub full_stroke_ms: f64,
}

impl DriveSummary {
    /// Capacity in GB (10^9 bytes).
    pub fn capacity_gb(&self) -> f64 {
        self.capacity_blocks as f64 * BLOCK_BYTES as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
        name = "a small drive"
        rotation = "6000 rpm"
        [heads]
        switch = "1 ms"
        [seek.constant]
        [layout]
        surfaces = 2
        cylinders = 5
        [[layout.zone]]
        cylinders = [0, 4]
        sectors_per_track = 100
    "#;

    fn small(change: impl Fn(&str) -> String) -> Result<DriveDescription, toml::de::Error> {
        let text = SMALL.replace(
            "[seek.constant]",
            "[seek.linear]\nsingle = \"2 ms\"\nfull = \"5 ms\"",
        );
        toml::from_str(&change(&text))
    }

    fn refused(change: impl Fn(&mut DriveDescription)) -> String {
        let mut drive = small(str::to_owned).expect("sound");
        change(&mut drive);
        let built = drive.hardware().err();
        built.expect("refused").to_string()
    }

    #[test]
    fn a_short_description_has_defaults() {
        let drive = small(str::to_owned).expect("sound");
        let hardware = drive.hardware().expect("sound");
        assert_eq!(hardware.blocks(), 1_000);
        assert_eq!(hardware.blocks_per_sector, 1);
        assert!(hardware.interface.overlapped);
        assert_eq!(hardware.interface.time(100), Time::ZERO);
        assert_eq!(drive.overhead, Overhead::default());
        assert_eq!(drive.heads.write_settle.ns(), 0);
    }

    #[test]
    fn it_reads_back_as_it_was_written() {
        let drive = small(|text| {
            text.replace(
                "[heads]",
                "sector_size = \"4 KiB\"\ninterface = { rate = \"300 MB/s\" }\n[heads]",
            )
        })
        .expect("sound");
        let hardware = drive.hardware().expect("sound");
        // 512 bytes at 300 MB/s are 1706.666 ns.
        assert_eq!(hardware.interface.time(1).ns(), 1_707);
        assert_eq!(hardware.interface.time(1000).ns(), 1_706_666);
        assert_eq!(hardware.blocks(), 8_000);
        let text = toml::to_string(&drive).expect("can be written");
        assert_eq!(
            toml::from_str::<DriveDescription>(&text).as_ref(),
            Ok(&drive)
        );
    }

    #[test]
    fn unknown_keys_are_refused_everywhere() {
        for place in [
            "name =",
            "switch =",
            "single =",
            "surfaces =",
            "sectors_per_track =",
        ] {
            let error = small(|text| text.replace(place, &format!("spin = 1\n{place}")))
                .expect_err(place)
                .to_string();
            assert!(error.contains("spin"), "{place}: {error}");
        }
    }

    #[test]
    fn values_without_sense_are_refused() {
        assert!(refused(|drive| drive.name = " ".into()).contains("without a name"));
        assert!(refused(|drive| drive.sector_size = Size::from_blocks(0)).contains("0 blocks"));
        assert!(refused(|drive| drive.sector_size = Size::from_blocks(129)).contains("4 KiB"));
        assert!(
            refused(|drive| {
                drive.interface.rate = Rate::from_bytes_per_s(1);
                drive.interface.block_time = Some(Time::ZERO);
            })
            .contains("not both")
        );
        assert!(refused(|drive| drive.heads.switch = Time::from_ns(4_000_000_001)).contains("4 s"));
        assert!(
            refused(|drive| drive.heads.write_settle = SignedTime::from_ns(-4_000_000_001))
                .contains("4 s")
        );
        let slow = Some(Time::from_ns(1_000_000_001));
        assert!(refused(|drive| drive.interface.block_time = slow).contains("for a block"));
        assert!(refused(|drive| drive.layout.surfaces = 0).contains("0 surfaces"));
        assert!(
            refused(|drive| drive.seek = SeekDescription::Constant(Time::from_s(5)))
                .contains("distance of 1")
        );
    }

    #[test]
    fn the_sustained_rate_counts_turns_and_missed_revolutions() {
        // 10 ms a revolution; a cylinder is 200 blocks.
        let rate = |track_skew, cylinder_skew| {
            let mut drive = small(str::to_owned).expect("sound");
            drive.layout.zones[0].track_skew = track_skew;
            drive.layout.zones[0].cylinder_skew = cylinder_skew;
            let hardware = drive.hardware().expect("sound");
            drive.summary(&hardware).sustained_mb_per_s.0
        };
        let expected = |revolutions: f64| 200.0 * 512.0 / (revolutions * 0.010) / 1e6;
        for (skews, revolutions) in [
            // Just enough for the 1 ms of the head switch and the 2 ms of the seek, and just not.
            ((10, 20), 2.3),
            ((9, 20), 3.29),
            ((10, 19), 3.29),
            ((0, 0), 4.0),
        ] {
            let found = rate(skews.0, skews.1);
            assert!(
                (found - expected(revolutions)).abs() < 1e-9,
                "{skews:?}: {found}"
            );
        }
    }
}

#[cfg(test)]
#[path = "drives_tests.rs"]
mod library;
