//! What the headers of sectors say, so that the map can be found again.
//!
//! Each slot's header holds the number of the block it was written for and a sequence number, as in Loge (English and
//! Stepanov, "Loge: a self-organizing storage device", USENIX Winter 1992). They are written with the data and cost no time;
//! after a loss of power a scan of the whole medium finds, for every block, the slot with the highest sequence number.

use super::map::BlockMap;
use super::slots::SlotId;

/// Slots a page.
const PAGE: usize = 4096;

/// A slot's header; sequence numbers begin at 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The logical block.
    pub block: u64,
    /// The turn of the write among all writes; 0 where nothing was ever written.
    pub sequence: u64,
}

/// The headers of all slots, as they are on the medium.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    pages: Vec<Option<Box<[Header; PAGE]>>>,
    sequence: u64,
}

impl Headers {
    /// A slot is written for a block.
    pub fn write(&mut self, slot: SlotId, block: u64) {
        self.sequence += 1;
        let number = slot as usize / PAGE;
        if self.pages.len() <= number {
            self.pages.resize(number + 1, None);
        }
        let page = self.pages[number].get_or_insert_with(|| Box::new([Header::default(); PAGE]));
        page[slot as usize % PAGE] = Header {
            block,
            sequence: self.sequence,
        };
    }

    /// A slot's header; `None` where nothing was ever written.
    pub fn get(&self, slot: SlotId) -> Option<Header> {
        let page = self.pages.get(slot as usize / PAGE)?.as_ref()?;
        let header = page[slot as usize % PAGE];
        (header.sequence > 0).then_some(header)
    }

    /// The map that a scan of all headers finds.
    pub fn scan(&self) -> BlockMap {
        let mut map = BlockMap::default();
        let pages = (0u64..).zip(&self.pages);
        for (number, page) in pages.filter_map(|(number, page)| Some((number, page.as_ref()?))) {
            let first = (number * PAGE as u64) as SlotId;
            for (slot, header) in (first..).zip(page.iter()) {
                if header.sequence == 0 {
                    continue;
                }
                let newest = map.get(header.block).and_then(|other| self.get(other));
                if newest.is_none_or(|newest| newest.sequence < header.sequence) {
                    map.set(header.block, Some(slot));
                }
            }
        }
        map
    }
}
