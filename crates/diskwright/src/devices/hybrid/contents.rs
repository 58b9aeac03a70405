//! What the NV cache holds: the pinned set of the host, and the unpinned set of the drive.

use super::space::Space;
use crate::base::sorted_map::SortedMap;

/// A run of blocks with a place in the NV cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub blocks: u64,
    /// Where its first block is.
    pub place: u64,
    /// When it got its place: which of the holds of the run's life this is.
    hold: u64,
    /// Its data must be written after this to be the newest: older ones were replaced on the medium.
    since: u64,
    pub is_pinned: bool,
    /// It has the newest data of its blocks; else the medium has them.
    pub is_valid: bool,
    /// When it was written last.
    written: u64,
    /// Requests under way to its place.
    users: u32,
}

impl Cell {
    /// Whether requests to its place are under way.
    pub fn is_used(&self) -> bool {
        self.users > 0
    }

    /// Whether it is pinned, and has had its place since before a tick.
    pub fn is_pinned_since(&self, tick: u64) -> bool {
        self.is_pinned && self.hold < tick
    }

    /// Whether the medium has the same data of it since some tick.
    pub fn is_unchanged(&self, since: u64) -> bool {
        self.since < since
    }
}

/// A request to a part of the NV cache: what [`Contents::end_use`] is told when it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub lbn: u64,
    pub blocks: u64,
    pub place: u64,
    hold: u64,
    /// When it began, in the order of uses and of writes to the medium.
    began: u64,
}

/// A run of a request's blocks, all in the NV cache side by side or all not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub lbn: u64,
    pub blocks: u64,
    pub cell: Option<Cell>,
}

/// The sets, by blocks, and where they are.
pub(super) struct Contents {
    cells: SortedMap<Cell>,
    /// Places that were given up while requests to them were under way, by place.
    leaving: SortedMap<Cell>,
    space: Space,
    pinned: u64,
    /// The number of the next hold, use, or write to the medium.
    next: u64,
}

impl Contents {
    /// An empty NV cache with room for `blocks` blocks.
    pub fn new(blocks: u64) -> Contents {
        Contents {
            cells: SortedMap::default(),
            leaving: SortedMap::default(),
            space: Space::new(blocks),
            pinned: 0,
            next: 0,
        }
    }

    /// Blocks of the pinned set.
    pub fn pinned(&self) -> u64 {
        self.pinned
    }

    /// Blocks with a place.
    pub fn held(&self) -> u64 {
        self.cells.iter().map(|(_, cell)| cell.blocks).sum()
    }

    /// The first run with data of the unpinned set at a block or behind it.
    pub fn unpinned_from(&self, lbn: u64) -> Option<Run> {
        let mut behind = self.cells.iter_from(lbn);
        let (lbn, &cell) = behind.find(|(_, cell)| !cell.is_pinned && cell.is_valid)?;
        Some(Run {
            lbn,
            blocks: cell.blocks,
            cell: Some(cell),
        })
    }

    /// The medium has what a use has read of the unpinned set: that leaves it, but for what has been written since.
    pub fn settle(&mut self, of: &Use) {
        let (mut at, end) = (of.lbn, of.lbn + of.blocks);
        // What has got a place since may reach farther.
        while at < end
            && let Some((start, &cell)) = self.cells.first_from(at)
            && start < end
        {
            at = start + cell.blocks;
            let is_same = cell.hold == of.hold && cell.written < of.began;
            if is_same && cell.users == 0 && !cell.is_pinned {
                self.give_up(start);
            }
        }
    }

    /// The number of an instant, in the order of uses and of writes to the medium.
    pub fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The runs of a request, in order.
    pub fn runs(&self, lbn: u64, blocks: u64) -> impl Iterator<Item = Run> + '_ {
        let end = lbn + blocks;
        let mut at = lbn;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let first = at;
            // Most requests meet one cell or none: the last one before their end tells.
            let last = self.cells.last_before(end);
            let last = last.filter(|&(start, cell)| start + cell.blocks > at);
            let inside = match last {
                Some((start, _)) if start > at => {
                    let before = self.cells.last_before(at + 1);
                    before.filter(|&(start, cell)| start + cell.blocks > at)
                }
                _ => last,
            };
            let (until, cell) = match inside {
                Some((start, cell)) => {
                    let part = Cell {
                        place: cell.place + (at - start),
                        ..*cell
                    };
                    (start + cell.blocks, Some(part))
                }
                None if last.is_none() => (end, None),
                None => {
                    let next = self.cells.first_from(at);
                    (next.map_or(end, |(start, _)| start), None)
                }
            };
            at = until.min(end);
            let blocks = at - first;
            Some(Run {
                lbn: first,
                blocks,
                cell: cell.map(|cell| Cell { blocks, ..cell }),
            })
        })
    }

    /// Whether a block of a run has a place.
    fn meets(&self, lbn: u64, blocks: u64) -> bool {
        let last = self.cells.last_before(lbn + blocks);
        last.is_some_and(|(start, cell)| start + cell.blocks > lbn)
    }

    /// Divides the cells that the ends of a run lie within.
    fn divide(&mut self, lbn: u64, end: u64) {
        self.split(lbn);
        self.split(end);
    }

    /// Divides the cell that a block lies within.
    fn split(&mut self, lbn: u64) {
        let Some((start, cell)) = self.cells.last_before_mut(lbn) else {
            return;
        };
        let first = lbn - start;
        if cell.blocks <= first {
            return;
        }
        let rest = Cell {
            blocks: cell.blocks - first,
            place: cell.place + first,
            ..*cell
        };
        cell.blocks = first;
        self.cells.insert(lbn, rest);
    }

    /// Gives a run places as far as it has none, as part of the pinned set or of the unpinned one; what is pinned stays so. `false`, and
    /// nothing changes, where there is no room.
    pub fn hold(&mut self, lbn: u64, blocks: u64, is_pinned: bool) -> bool {
        let mut meets = self.meets(lbn, blocks);
        let missing: u64 = match meets {
            true => (self.runs(lbn, blocks))
                .filter(|run| run.cell.is_none())
                .map(|run| run.blocks)
                .sum(),
            false => blocks,
        };
        if missing > self.space.free() {
            return false;
        }
        let (hold, end) = (self.tick(), lbn + blocks);
        if meets {
            self.divide(lbn, end);
        }
        let mut at = lbn;
        while at < end {
            if meets && let Some(cell) = self.cells.get_mut(at) {
                if is_pinned && !cell.is_pinned {
                    cell.is_pinned = true;
                    self.pinned += cell.blocks;
                }
                at += cell.blocks;
                continue;
            }
            let next = match meets {
                true => self.cells.first_from(at).filter(|next| next.0 < end),
                false => None,
            };
            meets = next.is_some();
            let most = next.map_or(end, |(start, _)| start) - at;
            let (place, blocks) = self.space.take(most);
            let cell = Cell {
                blocks,
                place,
                hold,
                since: hold,
                is_pinned,
                is_valid: false,
                written: 0,
                users: 0,
            };
            self.cells.insert(at, cell);
            self.pinned += if is_pinned { blocks } else { 0 };
            at += blocks;
        }
        true
    }

    /// Removes a run from the pinned set, with its data; the unpinned set keeps what it has.
    pub fn unpin(&mut self, lbn: u64, blocks: u64) {
        if !self.meets(lbn, blocks) {
            return;
        }
        self.divide(lbn, lbn + blocks);
        let mut at = lbn;
        while let Some((start, &cell)) = self.cells.first_from(at)
            && start < lbn + blocks
        {
            at = start + cell.blocks;
            if cell.is_pinned {
                self.give_up(start);
            }
        }
    }

    /// The medium has newer data of a run, and it is unpinned: it leaves both sets.
    pub fn supersede_and_unpin(&mut self, lbn: u64, blocks: u64) {
        // Most such runs are one cell.
        if let Some(cell) = (self.cells).remove_if(lbn, |cell| cell.blocks == blocks) {
            return self.has_left(cell);
        }
        if !self.meets(lbn, blocks) {
            return;
        }
        self.divide(lbn, lbn + blocks);
        let mut at = lbn;
        while let Some((start, cell)) = self.cells.first_from(at)
            && start < lbn + blocks
        {
            at = start + cell.blocks;
            self.give_up(start);
        }
    }

    /// The cell that begins at a block leaves both sets, with its data.
    fn give_up(&mut self, start: u64) {
        let cell = self.cells.remove(start).expect("a cell begins there");
        self.has_left(cell);
    }

    /// A cell is in neither set any more.
    fn has_left(&mut self, cell: Cell) {
        if cell.is_pinned {
            self.pinned -= cell.blocks;
        }
        match cell.users {
            0 => self.space.give_back(cell.place, cell.blocks),
            _ => _ = self.leaving.insert(cell.place, cell),
        }
    }

    /// A request to the place of a run begins; the run is a whole one of [`runs`](Self::runs).
    pub fn begin_use(&mut self, run: &Run) -> Use {
        let began = self.tick();
        let is_whole = |cell: &&mut Cell| cell.blocks == run.blocks;
        if self
            .cells
            .get_mut(run.lbn)
            .filter(is_whole)
            .map(|cell| cell.users += 1)
            .is_none()
        {
            self.divide(run.lbn, run.lbn + run.blocks);
            let cell = self.cells.get_mut(run.lbn).expect("it has a place");
            cell.users += 1;
        }
        let cell = run.cell.expect("it has a place");
        Use {
            lbn: run.lbn,
            blocks: run.blocks,
            place: cell.place,
            hold: cell.hold,
            began,
        }
    }

    /// It has ended; `has_written` if it has brought the run's data. What was released in between is free now, and what the medium has
    /// replaced stays void.
    pub fn end_use(&mut self, of: &Use, has_written: bool) {
        let now = self.tick();
        let ends = |cell: &mut Cell| {
            if cell.hold != of.hold {
                return;
            }
            cell.users -= 1;
            if has_written && of.began >= cell.since {
                (cell.is_valid, cell.written) = (true, now);
            }
        };
        let (mut at, end) = (of.lbn, of.lbn + of.blocks);
        while at < end
            && let Some((start, cell)) = self.cells.first_from_mut(at)
            && start < end
        {
            at = start + cell.blocks;
            ends(cell);
        }
        if self.leaving.is_empty() {
            return;
        }
        let (mut at, end) = (of.place, of.place + of.blocks);
        while at < end
            && let Some((place, cell)) = self.leaving.first_from_mut(at)
            && place < end
        {
            at = place + cell.blocks;
            if cell.hold != of.hold {
                continue;
            }
            cell.users -= 1;
            if cell.users == 0 {
                let blocks = cell.blocks;
                self.leaving.remove(place);
                self.space.give_back(place, blocks);
            }
        }
    }

    /// The medium has newer data of a run: those in the NV cache are void. The places of pinned blocks stay theirs.
    pub fn supersede(&mut self, lbn: u64, blocks: u64) {
        if !self.meets(lbn, blocks) {
            return;
        }
        self.divide(lbn, lbn + blocks);
        let since = self.tick();
        let mut at = lbn;
        while let Some((start, cell)) = self.cells.first_from_mut(at)
            && start < lbn + blocks
        {
            at = start + cell.blocks;
            if cell.is_pinned {
                (cell.is_valid, cell.since) = (false, since);
            } else {
                self.give_up(start);
            }
        }
    }

    /// Where the newest data of a block are in the NV cache, if they are there.
    pub fn place_of(&self, lbn: u64) -> Option<u64> {
        let run = self.runs(lbn, 1).next()?;
        run.cell.filter(|cell| cell.is_valid).map(|cell| cell.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn only(contents: &Contents, lbn: u64, blocks: u64) -> Run {
        let runs: Vec<Run> = contents.runs(lbn, blocks).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0]
    }

    #[test]
    fn pinned_blocks_are_valid_once_written_and_void_once_the_medium_is() {
        let mut contents = Contents::new(16);
        assert!(contents.hold(100, 8, true));
        assert_eq!((contents.pinned(), contents.place_of(100)), (8, None));
        let written = contents.begin_use(&only(&contents, 102, 4));
        contents.end_use(&written, true);
        let found: Vec<bool> = (98..110)
            .map(|lbn| contents.place_of(lbn).is_some())
            .collect();
        let expected: Vec<bool> = (98..110).map(|lbn| (102..106).contains(&lbn)).collect();
        assert_eq!(found, expected);
        contents.supersede(104, 10);
        assert_eq!(contents.place_of(103), Some(3));
        assert_eq!((contents.place_of(104), contents.pinned()), (None, 8));
        contents.unpin(0, 200);
        assert_eq!((contents.pinned(), contents.held()), (0, 0));
    }

    #[test]
    fn a_write_that_began_before_one_to_the_medium_is_void() {
        let mut contents = Contents::new(16);
        assert!(contents.hold(0, 8, true));
        let old = contents.begin_use(&only(&contents, 0, 8));
        contents.supersede(0, 4);
        let new = contents.begin_use(&only(&contents, 0, 2));
        contents.end_use(&old, true);
        let valid = |contents: &Contents| -> Vec<u64> {
            (0..8)
                .filter(|&lbn| contents.place_of(lbn).is_some())
                .collect()
        };
        assert_eq!(valid(&contents), [4, 5, 6, 7]);
        contents.end_use(&new, true);
        assert_eq!(valid(&contents), [0, 1, 4, 5, 6, 7]);
    }

    #[test]
    fn a_place_in_use_is_not_given_to_others() {
        let mut contents = Contents::new(8);
        assert!(contents.hold(0, 8, true));
        let under_way = contents.begin_use(&only(&contents, 2, 4));
        contents.unpin(0, 8);
        // Places 2 to 5 are waited for.
        assert!(!contents.hold(100, 5, true));
        assert!(contents.hold(100, 4, true));
        contents.end_use(&under_way, true);
        assert!(contents.hold(200, 4, true));
        let places: Vec<u64> = contents
            .runs(200, 4)
            .map(|run| run.cell.expect("held").place)
            .collect();
        assert_eq!(places, [2]);
        assert_eq!(contents.place_of(200), None);
    }

    #[test]
    fn what_reaches_farther_than_what_is_settled_stays() {
        let mut contents = Contents::new(16);
        assert!(contents.hold(2, 4, false));
        let gathered = contents.begin_use(&only(&contents, 2, 4));
        contents.end_use(&gathered, false);
        contents.supersede(4, 2);
        assert!(contents.hold(4, 8, false));
        let written = contents.begin_use(&only(&contents, 4, 8));
        contents.end_use(&written, true);
        contents.settle(&gathered);
        assert_eq!(contents.held(), 8);
        assert_eq!(contents.unpinned_from(0).map(|run| run.lbn), Some(4));
    }

    #[test]
    fn what_is_pinned_beside_what_is_not() {
        let mut contents = Contents::new(16);
        assert!(contents.hold(0, 8, false));
        assert!(contents.hold(4, 8, true));
        assert_eq!((contents.pinned(), contents.held()), (8, 12));
        assert_eq!(contents.unpinned_from(0), None, "it has no data yet");
        let written = contents.begin_use(&only(&contents, 0, 4));
        contents.end_use(&written, true);
        let unpinned = contents.unpinned_from(0).expect("some");
        assert_eq!((unpinned.lbn, unpinned.blocks), (0, 4));
        assert_eq!(contents.unpinned_from(1), None);
        // What is written while it is read to be settled stays.
        let gathered = contents.begin_use(&unpinned);
        let part = only(&contents, 1, 2);
        let newer = contents.begin_use(&part);
        contents.end_use(&gathered, false);
        contents.end_use(&newer, true);
        contents.settle(&gathered);
        let left: Vec<bool> = (0..4).map(|lbn| contents.place_of(lbn).is_some()).collect();
        assert_eq!(left, [false, true, true, false]);
        // Void data of the unpinned set have no use.
        contents.supersede(0, 12);
        assert_eq!((contents.pinned(), contents.held()), (8, 8));
    }

    proptest! {
        /// Superseding and unpinning in one step leaves what the two leave one after the other, also of what is under way.
        #[test]
        fn one_step_leaves_what_two_leave(steps in prop::collection::vec((0u32..6, 0u64..40, 1u64..12), 1..60)) {
            let (mut one, mut two) = (Contents::new(24), Contents::new(24));
            let mut uses: Vec<(Use, Use)> = Vec::new();
            for (what, lbn, blocks) in steps {
                match what {
                    0 | 1 => prop_assert_eq!(one.hold(lbn, blocks, what == 0), two.hold(lbn, blocks, what == 0)),
                    2 => {
                        let begin = |contents: &mut Contents| {
                            let run = contents.runs(lbn, blocks).find(|run| run.cell.is_some());
                            run.map(|run| contents.begin_use(&run))
                        };
                        uses.extend(begin(&mut one).zip(begin(&mut two)));
                    }
                    3 if !uses.is_empty() => {
                        let (of_one, of_two) = uses.swap_remove(lbn as usize % uses.len());
                        one.end_use(&of_one, blocks > 3);
                        two.end_use(&of_two, blocks > 3);
                    }
                    4 => {
                        one.unpin(lbn, blocks);
                        two.unpin(lbn, blocks);
                    }
                    _ => {
                        one.supersede_and_unpin(lbn, blocks);
                        two.supersede(lbn, blocks);
                        two.unpin(lbn, blocks);
                    }
                }
                let content = |contents: &Contents| -> Vec<_> {
                    let of = |(lbn, cell): (u64, &Cell)| (lbn, cell.blocks, cell.place, cell.is_pinned, cell.is_valid, cell.users);
                    contents.cells.iter().map(of).collect()
                };
                prop_assert_eq!(content(&one), content(&two));
                // What data they had has no meaning any more.
                let leaving = |contents: &Contents| -> Vec<_> {
                    let of = |(place, cell): (u64, &Cell)| (place, cell.blocks, cell.users);
                    contents.leaving.iter().map(of).collect()
                };
                prop_assert_eq!(leaving(&one), leaving(&two));
                prop_assert_eq!((one.pinned, one.space.free()), (two.pinned, two.space.free()));
            }
        }
    }
}
