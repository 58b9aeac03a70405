//! Which parts of a map are in the controller's memory, where not all of it is: the least recently looked up leaves.

/// No map unit.
const NONE: u32 = u32::MAX;

/// A map unit in memory, or not.
#[derive(Clone, Copy, Debug)]
struct MapUnit {
    newer: u32,
    older: u32,
    is_in_memory: bool,
    has_changed: bool,
}

/// What a look-up finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUp {
    /// It is in memory.
    Found,
    /// It comes into memory, and another one leaves, if that was full: which, where it has changed in memory.
    Brought {
        /// The one that leaves and must be written.
        changed: Option<u32>,
    },
}

/// The map units that are in memory, in the order of their last look-ups.
pub struct MapCache {
    units: Vec<MapUnit>,
    newest: u32,
    oldest: u32,
    room: u32,
}

impl MapCache {
    /// An empty cache with room for `room` of `units` map units.
    pub fn new(units: u32, room: u32) -> MapCache {
        let absent = MapUnit {
            newer: NONE,
            older: NONE,
            is_in_memory: false,
            has_changed: false,
        };
        MapCache {
            units: vec![absent; units as usize],
            newest: NONE,
            oldest: NONE,
            room,
        }
    }

    /// Looks a map unit up, which may change it.
    pub fn look_up(&mut self, number: u32, changes: bool) -> LookUp {
        let is_there = self.units[number as usize].is_in_memory;
        let mut changed = None;
        if is_there {
            self.take_out(number);
        } else if self.room > 0 {
            self.room -= 1;
        } else {
            let oldest = self.oldest;
            self.take_out(oldest);
            let leaves = &mut self.units[oldest as usize];
            leaves.is_in_memory = false;
            changed = std::mem::take(&mut leaves.has_changed).then_some(oldest);
        }
        self.put_first(number);
        self.units[number as usize].is_in_memory = true;
        self.units[number as usize].has_changed |= changes;
        match is_there {
            true => LookUp::Found,
            false => LookUp::Brought { changed },
        }
    }

    fn take_out(&mut self, number: u32) {
        let MapUnit { newer, older, .. } = self.units[number as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.units[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.units[older as usize].newer = newer,
        }
    }

    fn put_first(&mut self, number: u32) {
        let before = std::mem::replace(&mut self.newest, number);
        let unit = &mut self.units[number as usize];
        (unit.newer, unit.older) = (NONE, before);
        match before {
            NONE => self.oldest = number,
            before => self.units[before as usize].newer = number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_looked_up_leaves_and_is_written_if_it_has_changed() {
        let mut cache = MapCache::new(5, 2);
        let brought = |changed| LookUp::Brought { changed };
        assert_eq!(cache.look_up(0, true), brought(None));
        assert_eq!(cache.look_up(1, false), brought(None));
        assert_eq!(cache.look_up(0, false), LookUp::Found);
        assert_eq!(cache.look_up(2, false), brought(None));
        assert_eq!(cache.look_up(3, false), brought(Some(0)));
        assert_eq!(cache.look_up(0, false), brought(None));
        // What has been written has not changed since.
        assert_eq!(cache.look_up(0, false), LookUp::Found);
        assert_eq!(cache.look_up(1, false), brought(None));
        assert_eq!(cache.look_up(2, false), brought(None));
    }
}
