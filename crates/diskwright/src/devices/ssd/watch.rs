//! Whether cleaning gains anything on a drive with a cached map: what it moves changes the map, whose units are written to flash, which is to be
//! cleaned again. On a small or nearly full drive that may never end.

use super::Ssd;
use super::entries::EntryList;
use crate::base::units::Time;
use crate::engine::context::Context;

/// Erases of a plane since something came from outside.
#[derive(Clone, Copy, Default)]
struct Stretch {
    /// Which stretch they are of.
    number: u64,
    erases: u32,
}

/// How much is erased for nothing that the host has asked for.
pub(super) struct CleaningWatch {
    /// Stretches begun: by a request, by a page of the host, by a refresh.
    number: u64,
    planes: Vec<Stretch>,
    /// When it was found to clean for its map alone.
    found: Option<Time>,
}

impl CleaningWatch {
    pub fn new(planes: u32) -> CleaningWatch {
        CleaningWatch {
            number: 0,
            planes: vec![Stretch::default(); planes as usize],
            found: None,
        }
    }

    /// Something has come from outside that cleaning may be for.
    pub fn begin_anew(&mut self) {
        self.number += 1;
    }

    /// A block of a plane has been erased; whether that is one more than there may be of a stretch.
    fn erased(&mut self, plane: u32, most: u32) -> bool {
        let stretch = &mut self.planes[plane as usize];
        if stretch.number != self.number {
            *stretch = Stretch {
                number: self.number,
                erases: 0,
            };
        }
        stretch.erases += 1;
        stretch.erases > most
    }
}

impl Ssd {
    /// A request, or a refresh, may be what cleaning is for.
    #[inline]
    pub(super) fn watch_anew(&mut self) {
        if let Some(mapping) = &mut self.mapping {
            mapping.watch.begin_anew();
        }
    }

    /// A worker begins a page: one with data of the host is what cleaning is for, and what a refresh waited for.
    #[inline(never)]
    pub(super) fn note_host_page(&mut self, worker: u32, entries: EntryList) {
        let mut at = entries.first();
        while let Some(id) = at {
            at = self.writes.entries.after(id);
            if !self.is_of_map(self.writes.entries.get(id).unit) {
                self.watch_anew();
                self.workers[worker as usize].owes_program = false;
            }
        }
    }

    /// A block of a plane has been erased. A block whose cleaning gains a page gains a block after as many as it has pages: twice what it takes to
    /// have all the free blocks that are wanted, and all blocks once, are more than cleaning alone ever does. A drive that does more cleans for its
    /// map: it can only be read.
    pub(super) fn watch_cleaning(&mut self, plane: u32, cx: &mut Context<'_>) {
        let most = self.most_erases();
        let Some(mapping) = &mut self.mapping else {
            return;
        };
        if mapping.watch.erased(plane, most) && self.read_only_since.is_none() {
            mapping.watch.found = Some(cx.now());
            self.turn_read_only(cx);
        }
    }

    /// The most erases of a plane that bring it the free blocks that it is to have.
    fn most_erases(&self) -> u32 {
        let of_idle = self.cleaning.idle.map_or(0, |(_, free)| free);
        let wanted = self.cleaning.begin.max(self.cleaning.stop).max(of_idle);
        let wanted = wanted.max(1 + self.blocks.reserve());
        let wanted = wanted.min(self.geometry.blocks);
        let erases = (2 * self.geometry.pages).saturating_mul(wanted);
        erases.saturating_add(self.geometry.blocks)
    }

    /// What results say of a drive whose cleaning gained nothing.
    pub(super) fn doubt_of_cleaning(&self) -> Option<String> {
        let at = self.mapping.as_ref()?.watch.found?;
        Some(format!(
            "at {at} cleaning fed itself: what it moves changes the cached map, and the map units that are written take all the room that it makes; from then on the drive could \
             only be read. A larger mapping.cache, a larger spare.share, less initial.fill, a smaller cleaning.begin or a larger wear.static.every ends that"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_erase_more_than_a_stretch_may_have_is_found() {
        let mut watch = CleaningWatch::new(2);
        assert!((0..10).all(|_| !watch.erased(1, 10)));
        assert!(!watch.erased(0, 10), "planes are counted by themselves");
        assert!(watch.erased(1, 10));
    }

    #[test]
    fn what_comes_from_outside_begins_a_new_stretch() {
        let mut watch = CleaningWatch::new(1);
        assert!((0..10).all(|_| !watch.erased(0, 10)));
        watch.begin_anew();
        assert!((0..10).all(|_| !watch.erased(0, 10)));
        assert!(watch.erased(0, 10));
    }
}
