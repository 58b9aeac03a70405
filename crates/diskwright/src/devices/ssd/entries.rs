//! What the controller holds of writes: entries of units, in the order in which those of one unit came, and lists of those that wait for a page.

use crate::base::units::Time;
use crate::engine::request::RequestId;

/// The number of an entry; reused when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryId(pub u32);

const NONE: u32 = u32::MAX;

/// How far an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryState {
    /// An older entry of its unit is not over.
    Behind,
    /// It waits for a page.
    Ready,
    /// It is of a page that waits to be programmed.
    InPage,
    /// Its page is programmed.
    Begun,
}

/// Blocks of a unit that the host has written and that are not on flash yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub unit: u32,
    /// Its 512-byte blocks in the unit.
    pub from: u32,
    pub until: u32,
    pub state: EntryState,
    /// The write that is done when this is over, if one waits.
    pub request: Option<RequestId>,
    /// How large the write was that brought it, in 512-byte blocks.
    pub written_by: u32,
    /// When it became ready.
    pub ready_at: Time,
    /// Its place in the order of all entries.
    pub number: u64,
    /// Where the unit is on flash; known of a unit's oldest entry.
    home: u32,
    /// The next one of the unit, and of the oldest one the newest.
    newer: u32,
    newest: u32,
    /// The next one in its list or page.
    next: u32,
}

impl Entry {
    /// Whether it holds a block of its unit.
    #[inline]
    pub fn holds(&self, block: u32) -> bool {
        (self.from..self.until).contains(&block)
    }

    /// Where the unit is on flash; of a unit's oldest entry.
    #[inline]
    pub fn home(&self) -> Option<u32> {
        (self.home != NONE).then_some(self.home)
    }
}

/// All entries.
#[derive(Default)]
pub(super) struct Entries {
    slab: Vec<Entry>,
    free: Vec<u32>,
    made: u64,
}

/// Entries in the order in which they came, at one after the other of which a page is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryList {
    first: u32,
    last: u32,
    pub count: u32,
}

impl Default for EntryList {
    fn default() -> EntryList {
        EntryList {
            first: NONE,
            last: NONE,
            count: 0,
        }
    }
}

impl EntryList {
    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<EntryId> {
        (self.first != NONE).then_some(EntryId(self.first))
    }
}

impl Entries {
    /// How many are not over.
    #[inline]
    pub fn held(&self) -> usize {
        self.slab.len() - self.free.len()
    }

    /// How many there have been: the number of the next one.
    pub fn made(&self) -> u64 {
        self.made
    }

    #[inline]
    pub fn get(&self, id: EntryId) -> &Entry {
        &self.slab[id.0 as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, id: EntryId) -> &mut Entry {
        &mut self.slab[id.0 as usize]
    }

    /// Adds the first entry of a unit, which is on flash in a slot or nowhere.
    #[inline]
    pub fn add(&mut self, unit: u32, blocks: (u32, u32), home: Option<u32>) -> EntryId {
        let entry = Entry {
            unit,
            from: blocks.0,
            until: blocks.1,
            state: EntryState::Behind,
            request: None,
            written_by: 0,
            ready_at: Time::ZERO,
            number: self.made,
            home: home.unwrap_or(NONE),
            newer: NONE,
            newest: NONE,
            next: NONE,
        };
        self.made += 1;
        let index = match self.free.pop() {
            Some(index) => {
                self.slab[index as usize] = entry;
                index
            }
            None => {
                self.slab.push(entry);
                self.slab.len() as u32 - 1
            }
        };
        self.slab[index as usize].newest = index;
        EntryId(index)
    }

    /// Puts an entry behind all others of its unit, the oldest of which is given.
    pub fn put_behind(&mut self, oldest: EntryId, id: EntryId) {
        let newest = self.newest(oldest);
        self.get_mut(newest).newer = id.0;
        self.get_mut(oldest).newest = id.0;
    }

    /// The newest entry of a unit, the oldest of which is given.
    #[inline]
    pub fn newest(&self, oldest: EntryId) -> EntryId {
        EntryId(self.get(oldest).newest)
    }

    /// The next newer entry of the unit.
    #[inline]
    pub fn newer(&self, id: EntryId) -> Option<EntryId> {
        let newer = self.get(id).newer;
        (newer != NONE).then_some(EntryId(newer))
    }

    /// The entries of a unit from its oldest one on.
    pub fn of_unit(&self, oldest: EntryId) -> impl Iterator<Item = EntryId> {
        std::iter::successors(Some(oldest), |&id| self.newer(id))
    }

    /// The unit is on flash in another slot; `id` is its oldest entry.
    #[inline]
    pub fn set_home(&mut self, id: EntryId, slot: Option<u32>) {
        self.get_mut(id).home = slot.unwrap_or(NONE);
    }

    /// The oldest entry of a unit is over. The next one is the oldest from now on.
    #[inline]
    pub fn remove(&mut self, id: EntryId) -> Option<EntryId> {
        let Entry { newest, home, .. } = *self.get(id);
        let newer = self.newer(id);
        if let Some(newer) = newer {
            let entry = self.get_mut(newer);
            (entry.newest, entry.home) = (newest, home);
        }
        self.free.push(id.0);
        newer
    }

    /// Puts an entry at the end of a list.
    #[inline]
    pub fn push(&mut self, list: &mut EntryList, id: EntryId) {
        self.get_mut(id).next = NONE;
        match list.last {
            NONE => list.first = id.0,
            last => self.slab[last as usize].next = id.0,
        }
        list.last = id.0;
        list.count += 1;
    }

    /// Takes at most `count` entries from the front of a list; they stay linked to one another.
    #[inline]
    pub fn take(&mut self, list: &mut EntryList, count: u32) -> EntryList {
        let mut taken = EntryList::default();
        while taken.count < count
            && let Some(id) = list.first()
        {
            list.first = self.after(id).map_or(NONE, |next| next.0);
            list.count -= 1;
            self.push(&mut taken, id);
        }
        if list.first == NONE {
            list.last = NONE;
        }
        taken
    }

    /// The one that stands behind another in its list or page.
    #[inline]
    pub fn after(&self, id: EntryId) -> Option<EntryId> {
        let next = self.get(id).next;
        (next != NONE).then_some(EntryId(next))
    }
}
