//! A logging drive's memory: the map, the free slots, the end of the log.

use super::allocator::{Allocator, Edge, Ties};
use super::free::FreeSlots;
use super::headers::Headers;
use super::map::BlockMap;
use super::slots::{DriveSlots, SlotId};
use super::soonest::{FreeSlot, Head};
use super::virtual_log::VirtualLog;
use crate::base::error::InputError;
use crate::models::geometry::layout::Layout;
use crate::models::geometry::mechanics::Mechanics;

/// Which slots hold which blocks, and which are free.
///
/// A block is written into a slot that was [taken](Log::take) before; with the end of the write it is
/// [committed](Log::commit), and the slot that held the block before can be [released](Log::release).
#[derive(Clone, Debug)]
pub struct Log {
    slots: DriveSlots,
    free: FreeSlots,
    map: BlockMap,
    headers: Headers,
    virtual_log: Option<VirtualLog>,
    allocator: Allocator,
    ties: Ties,
    edge: Edge,
    blocks: u64,
    /// Slots beyond those that all content needs.
    reserve: u64,
    /// Slots that are taken for content that has none.
    fresh: u64,
}

/// A slot that was allocated, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotAllocation {
    /// The slot.
    pub slot: SlotId,
    /// What is written there.
    pub content: Content,
    /// The block had a slot already.
    moves: bool,
}

/// What a slot is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A logical block.
    Data(u64),
    /// A part of the map.
    Map(u64),
}

impl Log {
    /// Bytes that a log of slots of `sectors` sectors may come to take on a drive, once every slot was written.
    pub fn memory(layout: &Layout, sectors: u32) -> u64 {
        // A slot's header and its place in the map.
        const PER_SLOT: u64 = 20;
        let tables = DriveSlots::memory(layout, sectors) + FreeSlots::memory(layout, sectors);
        tables + layout.sectors() / u64::from(sectors.max(1)) * PER_SLOT
    }

    /// An empty log on a drive, of slots of `sectors` sectors, each of `bytes` bytes, of which the share `reserve` is kept free.
    ///
    /// # Errors
    /// Slots that do not fit the drive, or a reserve that is no share or leaves no room.
    pub fn new(
        mechanics: &Mechanics,
        (sectors, bytes): (u32, u64),
        reserve: f64,
        (allocator, ties): (Allocator, Ties),
        has_virtual_log: bool,
    ) -> Result<Log, InputError> {
        if !(0.0..1.0).contains(&reserve) {
            return Err(InputError::new(format!("a reserve of {reserve}"))
                .help("accepted: the share of all slots that is kept free, from 0 to below 1"));
        }
        let slots = DriveSlots::new(&mechanics.layout, sectors)?;
        let slot_bytes = u64::from(sectors) * bytes;
        // At least one slot is needed to move a block.
        let reserved = (libm::ceil(slots.count() as f64 * reserve) as u64).max(1);
        let room = slots.count().saturating_sub(reserved);
        let blocks = if has_virtual_log {
            VirtualLog::room(slot_bytes, room)
        } else {
            room
        };
        if blocks == 0 {
            return Err(InputError::new(format!(
                "of {} slots none is left for data when {reserved} are kept free",
                slots.count()
            ))
            .help("give a smaller reserve or a smaller placement block"));
        }
        Ok(Log {
            free: FreeSlots::all(&slots, &mechanics.layout),
            slots,
            map: BlockMap::default(),
            headers: Headers::default(),
            virtual_log: has_virtual_log.then(|| VirtualLog::new(slot_bytes)),
            allocator,
            ties,
            edge: Edge::default(),
            blocks,
            reserve: reserved,
            fresh: 0,
        })
    }

    /// Logical blocks that it has room for.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// All slots.
    pub fn slots(&self) -> &DriveSlots {
        &self.slots
    }

    /// The free ones.
    pub fn free(&self) -> &FreeSlots {
        &self.free
    }

    /// Where the log ends.
    pub fn edge(&self) -> Edge {
        self.edge
    }

    /// The map.
    pub fn map(&self) -> &BlockMap {
        &self.map
    }

    /// The block that a slot holds.
    pub fn block_in(&self, slot: SlotId) -> Option<u64> {
        let block = self.headers.get(slot)?.block;
        (self.map.get(block) == Some(slot)).then_some(block)
    }

    /// What a slot holds; nothing where it is free, or being written.
    pub fn content_of(&self, slot: SlotId) -> Option<Content> {
        let data = self.block_in(slot).map(Content::Data);
        data.or_else(|| Some(Content::Map(self.virtual_log.as_ref()?.part_in(slot)?)))
    }

    /// The slot that holds something.
    pub fn slot_of(&self, content: Content) -> Option<SlotId> {
        match content {
            Content::Data(block) => self.map.get(block),
            Content::Map(part) => self.virtual_log.as_ref()?.slot_of(part),
        }
    }

    /// The part of a map on the medium that changes with a block.
    pub fn part_of(&self, block: u64) -> Option<u64> {
        Some(self.virtual_log.as_ref()?.part_of(block))
    }

    /// Whether a block that has a slot can have another before it gives up the first: all that has none must still find one.
    pub fn can_move(&self) -> bool {
        let taken = self.slots.count() - self.free.count();
        let parts = self
            .virtual_log
            .as_ref()
            .map_or(0, VirtualLog::written_parts);
        taken - (self.map.mapped() + parts + self.fresh) < self.reserve
    }

    /// The slot that a head takes by the log's rule.
    pub fn choose(&self, head: &Head<'_>) -> Option<FreeSlot> {
        self.allocator
            .choose(&self.free, &self.slots, head, self.ties, self.edge)
    }

    /// The slot into which a head of a cleaner moves a block.
    pub fn choose_hole(&self, head: &Head<'_>) -> Option<FreeSlot> {
        self.free.soonest(&self.slots, head, self.ties, 0)
    }

    /// Takes a free slot for what is to be written there.
    pub fn take(
        &mut self,
        mechanics: &Mechanics,
        found: &FreeSlot,
        content: Content,
    ) -> SlotAllocation {
        if self.allocator == Allocator::Edge {
            self.edge.written(found.cylinder());
        }
        self.take_hole(mechanics, found, content)
    }

    /// Takes a free slot behind the end of the log.
    pub fn take_hole(
        &mut self,
        mechanics: &Mechanics,
        found: &FreeSlot,
        content: Content,
    ) -> SlotAllocation {
        self.free.take(&self.slots, &mechanics.layout, found.slot);
        let moves = self.slot_of(content).is_some();
        self.fresh += u64::from(!moves);
        SlotAllocation {
            slot: found.slot,
            content,
            moves,
        }
    }

    /// Frees a slot that was taken and is not wanted.
    pub fn abandon(&mut self, mechanics: &Mechanics, allocated: SlotAllocation) {
        self.fresh -= u64::from(!allocated.moves);
        self.release(mechanics, allocated.slot);
    }

    /// What was to be written into a slot is there; returns the slot that held it before, if any.
    pub fn commit(&mut self, allocated: SlotAllocation) -> Option<SlotId> {
        self.fresh -= u64::from(!allocated.moves);
        match allocated.content {
            Content::Data(block) => {
                self.headers.write(allocated.slot, block);
                self.map.set(block, Some(allocated.slot))
            }
            Content::Map(part) => self.virtual_log.as_mut()?.write(part, allocated.slot),
        }
    }

    /// A block was written again where it is.
    pub fn rewrite(&mut self, block: u64, slot: SlotId) {
        self.headers.write(slot, block);
    }

    /// Frees a slot whose content is no longer wanted.
    pub fn release(&mut self, mechanics: &Mechanics, slot: SlotId) {
        self.free.release(&self.slots, &mechanics.layout, slot);
    }

    /// Forgets a block; returns the slot that held it.
    pub fn discard(&mut self, block: u64) -> Option<SlotId> {
        self.map.get(block)?;
        self.map.set(block, None)
    }

    /// Loses the map and finds it again on the medium: by the headers, or as the parts of it that were written with the data.
    pub fn recover(&mut self) {
        if self.virtual_log.is_none() {
            self.map = self.headers.scan();
        }
    }

    /// The slots of a map on the medium, the newest first; `None` where there is none.
    pub fn map_slots(&self) -> Option<Vec<SlotId>> {
        Some(self.virtual_log.as_ref()?.newest_first())
    }
}
