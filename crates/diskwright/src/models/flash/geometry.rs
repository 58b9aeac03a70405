//! How a drive's flash is divided, and how its parts are numbered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::divide::ShortDivisor;
use crate::base::error::InputError;
use crate::base::units::Size;

/// How the flash of a drive is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometryDescription {
    /// Channels, each of which moves the data of one page at a time.
    pub channels: u32,
    /// Packages that share a channel.
    #[serde(default = "one")]
    pub packages: u32,
    /// Dies of a package.
    #[serde(default = "one")]
    pub dies: u32,
    /// Planes of a die.
    #[serde(default = "one")]
    pub planes: u32,
    /// Blocks of a plane, those that are bad from the start among them.
    pub blocks: u32,
    /// Pages of a block that hold data.
    pub pages: u32,
    /// Size of a page.
    pub page: Size,
    /// The unit of the drive's map: a page, or an equal part of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Size>,
}

fn one() -> u32 {
    1
}

/// The most channels, and the most planes of one channel: each has a bit in a word.
const MOST_CHANNELS: u32 = 64;
/// A slot's number fits 31 bits.
const MOST_SLOTS: u64 = 1 << 31;
/// The largest page, in blocks of 512 bytes: 1 MiB.
const LARGEST_PAGE: u64 = 2048;
/// The most units of a page.
const MOST_UNITS: u64 = 256;

/// How the flash of a drive is divided, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Packages of a channel.
    pub packages: u32,
    /// Dies of a package.
    pub dies: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u32,
    /// Units of a page.
    pub units: u32,
    /// 512-byte blocks of a unit.
    pub unit_blocks: u32,
    by: Divisors,
}

/// What numbers of units, slots and planes are divided by again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisors {
    units: ShortDivisor,
    pages: ShortDivisor,
    units_of_block: ShortDivisor,
    units_of_plane: ShortDivisor,
    planes_of_channel: ShortDivisor,
}

impl GeometryDescription {
    /// Checks it.
    ///
    /// # Errors
    /// A count of none, more than can be numbered, a page that is no whole number of units, a unit that is no whole number of 512-byte blocks.
    pub fn build(&self) -> Result<Geometry, InputError> {
        for (count, what, least) in [
            (self.channels, "channels", 1),
            (self.packages, "packages", 1),
            (self.dies, "dies", 1),
            (self.planes, "planes", 1),
            (self.blocks, "blocks", 4),
            (self.pages, "pages", 1),
        ] {
            if count < least {
                let error = InputError::new(format!("flash with {what} = {count}"));
                let help = match what {
                    "blocks" => {
                        "a plane needs blocks for data, for what is written and for cleaning: 4 or more"
                    }
                    _ => "accepted: 1 or more",
                };
                return Err(error.help(help));
            }
        }
        let page = self.page.blocks();
        let unit = self.unit.unwrap_or(self.page).blocks();
        if !(1..=LARGEST_PAGE).contains(&page) {
            return Err(InputError::new(format!("a page of {}", self.page))
                .help("accepted: 512 B to 1 MiB"));
        }
        if unit == 0 || !page.is_multiple_of(unit) || page / unit > MOST_UNITS {
            let unit = self.unit.unwrap_or(self.page);
            return Err(
                InputError::new(format!("a unit of {unit} in a page of {}", self.page))
                    .help("a page is a whole number of units, 256 at most"),
            );
        }
        if self.channels > MOST_CHANNELS {
            return Err(
                InputError::new(format!("{} channels", self.channels)).help("accepted: 1 to 64")
            );
        }
        let of_channel = u64::from(self.packages) * u64::from(self.dies) * u64::from(self.planes);
        if of_channel > u64::from(MOST_CHANNELS) {
            return Err(
                InputError::new(format!("{of_channel} planes on one channel"))
                    .help("accepted: 1 to 64"),
            );
        }
        let slots = u128::from(of_channel)
            * u128::from(self.channels)
            * u128::from(self.blocks)
            * u128::from(self.pages)
            * u128::from(page / unit);
        if slots >= u128::from(MOST_SLOTS) {
            return Err(InputError::new(format!("flash for {slots} units"))
                .help("less than 2147483648 can be numbered: a larger unit, or less flash"));
        }
        let units = (page / unit) as u32;
        let units_of_block = self.pages * units;
        let by = Divisors {
            units: ShortDivisor::new(units),
            pages: ShortDivisor::new(self.pages),
            units_of_block: ShortDivisor::new(units_of_block),
            units_of_plane: ShortDivisor::new(self.blocks * units_of_block),
            planes_of_channel: ShortDivisor::new(of_channel as u32),
        };
        Ok(Geometry {
            channels: self.channels,
            packages: self.packages,
            dies: self.dies,
            planes: self.planes,
            blocks: self.blocks,
            pages: self.pages,
            units,
            unit_blocks: unit as u32,
            by,
        })
    }
}

impl Geometry {
    /// Planes of the whole drive.
    pub fn all_planes(&self) -> u32 {
        self.channels * self.packages * self.dies * self.planes
    }

    /// Planes of one channel.
    pub fn planes_of_channel(&self) -> u32 {
        self.packages * self.dies * self.planes
    }

    /// Blocks of the whole drive.
    pub fn all_blocks(&self) -> u32 {
        self.all_planes() * self.blocks
    }

    /// Units of a block.
    pub fn units_of_block(&self) -> u32 {
        self.pages * self.units
    }

    /// The most valid units of a block whose cleaning gains a page.
    pub fn worth_cleaning(&self) -> u32 {
        (self.pages - 1) * self.units
    }

    /// Units of a plane, were all its blocks used.
    pub fn units_of_plane(&self) -> u32 {
        self.blocks * self.units_of_block()
    }

    /// Slots of the whole drive.
    pub fn slots(&self) -> u32 {
        self.all_planes() * self.units_of_plane()
    }

    /// Bytes of a unit.
    pub fn unit_bytes(&self) -> u64 {
        u64::from(self.unit_blocks) * crate::base::units::BLOCK_BYTES
    }

    /// The block of a slot.
    #[inline]
    pub fn block_of(&self, slot: u32) -> u32 {
        self.by.units_of_block.quotient(slot)
    }

    /// The page of a slot, counted through the whole drive.
    #[inline]
    pub fn page_of(&self, slot: u32) -> u32 {
        self.by.units.quotient(slot)
    }

    /// The number in its block of the page of a slot.
    #[inline]
    pub fn page_in_block(&self, slot: u32) -> u32 {
        self.by.pages.remainder(self.page_of(slot))
    }

    /// Whether a slot is the first of its block.
    #[inline]
    pub fn is_first_of_block(&self, slot: u32) -> bool {
        self.by.units_of_block.remainder(slot) == 0
    }

    /// Whether the page that begins at a slot is the last of its block.
    #[inline]
    pub fn is_last_page(&self, slot: u32) -> bool {
        self.by.units_of_block.remainder(slot) + self.units == self.units_of_block()
    }

    /// The plane of a slot.
    #[inline]
    pub fn plane_of(&self, slot: u32) -> u32 {
        self.by.units_of_plane.quotient(slot)
    }

    /// The channel of a plane.
    #[inline]
    pub fn channel_of(&self, plane: u32) -> u32 {
        self.by.planes_of_channel.quotient(plane)
    }
}
