//! Where the table is on the cache device, and what of it has room in a block of the table.

use crate::base::units::BLOCK_BYTES;

/// Blocks of the device of a block of the table: 4 KiB, which is written as one.
pub(super) const TABLE_BLOCK: u32 = 8;
/// The bytes of an entry beside its masks: the number of the line.
const ENTRY_BYTES: u64 = 8;

/// The area behind the places: a superblock, then the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Its first block on the cache device.
    first: u64,
    /// Entries of a block of the table.
    entries: u32,
    /// Blocks of the table.
    blocks: u64,
}

impl Area {
    /// The area of `places` places of `per_line` blocks. An entry is the number of a line and two bits for each block of it.
    pub fn behind(places: u64, per_line: u32) -> Area {
        let entry = ENTRY_BYTES + 2 * u64::from(per_line.div_ceil(8));
        let entries = u64::from(TABLE_BLOCK) * BLOCK_BYTES / entry;
        let data = places * u64::from(per_line);
        Area {
            first: data.next_multiple_of(TABLE_BLOCK.into()),
            entries: entries as u32,
            blocks: places.div_ceil(entries),
        }
    }

    /// The block of the device behind it.
    pub fn end(&self) -> u64 {
        self.first + self.length()
    }

    /// Where it begins on the device, and its blocks there.
    pub fn whole(&self) -> (u64, u64) {
        (self.first, self.length())
    }

    fn length(&self) -> u64 {
        (1 + self.blocks) * u64::from(TABLE_BLOCK)
    }

    /// Which block of the table has the entry of a place.
    pub fn block_of(&self, place: u32) -> u32 {
        place / self.entries
    }

    /// Where a block of the table is on the device.
    pub fn at(&self, block: u32) -> u64 {
        self.first + (1 + u64::from(block)) * u64::from(TABLE_BLOCK)
    }
}

/// The most places on a device of `blocks` blocks that leave room for the area.
pub(super) fn most_places(blocks: u64, per_line: u32) -> u64 {
    let (mut fit, mut too_many) = (0, blocks / u64::from(per_line) + 1);
    while too_many - fit > 1 {
        let middle = fit + (too_many - fit) / 2;
        let area = Area::behind(middle, per_line);
        if area.end() <= blocks {
            fit = middle;
        } else {
            too_many = middle;
        }
    }
    fit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_fill_blocks_of_the_table() {
        // 8 bytes and two masks of a byte: 409 entries in 4 KiB.
        let area = Area::behind(1000, 8);
        assert_eq!(area.whole(), (8000, (1 + 3) * 8));
        assert_eq!(
            [0, 408, 409, 999].map(|place| area.block_of(place)),
            [0, 0, 1, 2]
        );
        assert_eq!((area.at(0), area.at(2)), (8008, 8024));
        // Places that do not end where 4 KiB end.
        assert_eq!(Area::behind(3, 3).whole(), (16, 16));
        // The longest lines.
        assert_eq!(Area::behind(8, 2048).whole(), (16384, 24));
    }

    #[test]
    fn the_most_places_leave_room_for_the_area_and_for_no_more() {
        for blocks in [0, 1, 23, 24, 25, 1000, 12_345, 1 << 30] {
            for per_line in [1, 3, 8, 2048] {
                let most = most_places(blocks, per_line);
                assert!(most == 0 || Area::behind(most, per_line).end() <= blocks);
                assert!(
                    Area::behind(most + 1, per_line).end() > blocks,
                    "{blocks} {per_line}"
                );
            }
        }
    }
}
