//! Parity over dies: pages are written to superblocks, the stripes of which have a page of parity each, and superblocks are cleaned.

mod at_once;
mod cleaning;

use serde_json::{Value, json};

use super::Ssd;
use super::operations::{Action, List, OpId};
use crate::engine::context::Context;
use crate::models::flash::blocks::Writer;
use crate::models::flash::superblocks::Superblocks;
use cleaning::Job;

/// The superblocks of a drive, and what is done with them.
pub(super) struct Striped {
    pub superblocks: Superblocks,
    /// Programs of each set that have no page yet.
    waiting: Vec<List>,
    /// Units of each set whose programs have not ended.
    queued: Vec<u32>,
    /// The next set in turn.
    turn: u32,
    /// The superblocks of each set that are being cleaned.
    jobs: Vec<Vec<Job>>,
}

impl Striped {
    pub fn new(superblocks: Superblocks) -> Striped {
        let sets = superblocks.sets() as usize;
        Striped {
            superblocks,
            waiting: vec![List::default(); sets],
            queued: vec![0; sets],
            turn: 0,
            jobs: std::iter::repeat_with(Vec::new).take(sets).collect(),
        }
    }

    fn job(&mut self, set: u32, leader: u32) -> &mut Job {
        let mut jobs = self.jobs[set as usize].iter_mut();
        let found = jobs.find(|job| job.leader == leader);
        found.expect("it is being cleaned")
    }

    /// Free superblocks of a set that the host leaves to cleaning.
    fn left_to_cleaning(&self, set: u32) -> u32 {
        self.jobs[set as usize].len().max(1) as u32
    }
}

impl Ssd {
    /// Units that a set can take without a standstill of its cleaning.
    fn limit_of_set(&self, striped: &Striped, set: u32) -> u32 {
        let superblocks = &striped.superblocks;
        let usable = self.blocks.usable_of(superblocks.first_plane(set));
        let for_data = usable.saturating_sub(self.blocks.kept());
        (for_data * (self.worth_cleaning(striped) + 1)).saturating_sub(1)
    }

    /// The most valid units of a superblock whose cleaning gains a page.
    fn worth_cleaning(&self, striped: &Striped) -> u32 {
        striped.superblocks.units() - self.geometry.units
    }

    /// Units that all sets can take.
    pub(super) fn room_of_sets(&self, striped: &Striped) -> u64 {
        let sets = 0..striped.superblocks.sets();
        sets.map(|set| u64::from(self.limit_of_set(striped, set)))
            .sum()
    }

    /// Sets whose data leave no superblock beside those being written and the free ones that cleaning wants.
    pub(super) fn crowded_sets(&self, striped: &Striped) -> u32 {
        let superblocks = &striped.superblocks;
        let is_crowded = |&set: &u32| {
            let data = superblocks.valid_of(set, &self.blocks);
            let data = data.div_ceil(superblocks.units());
            let usable = self.blocks.usable_of(superblocks.first_plane(set));
            usable < data + self.blocks.writers() + self.cleaning.begin
        };
        (0..superblocks.sets()).filter(is_crowded).count() as u32
    }

    /// The set to which a page goes: the next one in turn that has room, or just the next one.
    fn choose_set(&mut self) -> u32 {
        let Some(striped) = &self.stripes else {
            return 0;
        };
        let set = self.set_with_room(striped).unwrap_or(striped.turn);
        self.take_turn_of_sets(set);
        set
    }

    fn set_with_room(&self, striped: &Striped) -> Option<u32> {
        let sets = striped.superblocks.sets();
        let mut in_turn = (0..sets).map(|step| (striped.turn + step) % sets);
        in_turn.find(|&set| {
            let valid = striped.superblocks.valid_of(set, &self.blocks);
            valid + striped.queued[set as usize] < self.limit_of_set(striped, set)
        })
    }

    fn take_turn_of_sets(&mut self, set: u32) {
        if let Some(striped) = &mut self.stripes {
            striped.turn = (set + 1) % striped.superblocks.sets();
        }
    }

    /// A page that has all that it is to hold goes to a set, in which it gets its place as soon as there is one.
    #[inline(never)]
    pub(super) fn page_to_set(&mut self, page: OpId, cx: &mut Context<'_>) {
        let set = self.choose_set();
        self.operations.get_mut(page).queued = cx.now();
        self.join_set(page, set);
        self.let_pages_in(set, cx);
    }

    fn join_set(&mut self, page: OpId, set: u32) {
        let units = self.operations.get(page).entries.count;
        if let Some(striped) = &mut self.stripes {
            striped.queued[set as usize] += units;
            let plane = striped.superblocks.first_plane(set);
            self.operations
                .push(&mut striped.waiting[set as usize], page);
            self.operations.get_mut(page).plane = plane;
        }
    }

    /// Pages that wait get places, wherever there are some.
    pub(super) fn let_all_pages_in(&mut self, cx: &mut Context<'_>) {
        let sets = self
            .stripes
            .as_ref()
            .map_or(0, |striped| striped.superblocks.sets());
        for set in 0..sets {
            self.let_pages_in(set, cx);
        }
    }

    /// Pages that wait in a set get places, in their order. One for which there is neither a place nor anything to clean goes to another set that has
    /// room.
    fn let_pages_in(&mut self, set: u32, cx: &mut Context<'_>) {
        while let Some(page) = self.first_waiting(set) {
            let stream = self.operations.get(page).stream;
            if self.can_write_in_set(set, stream, cx) {
                self.take_first_waiting(set);
                self.give_place(page, set, cx);
                continue;
            }
            self.operations.get_mut(page).was_blocked = true;
            if self.cleaning.is_in_foreground {
                // Cleaning that has waited for this may begin.
                self.schedule_all(cx);
            }
            let Some(other) = self.set_for_blocked(set) else {
                return;
            };
            self.take_first_waiting(set);
            self.unqueue(page);
            self.take_turn_of_sets(other);
            self.join_set(page, other);
            // One that has room has a place, or something to clean.
            if self.first_waiting(other) == Some(page) && self.can_write_in_set(other, stream, cx) {
                self.take_first_waiting(other);
                self.give_place(page, other, cx);
            }
        }
    }

    /// Whether a page waits for a place in any set: what must be cleaned for it may stand behind cleaning of another one.
    fn is_page_waiting(&self) -> bool {
        let striped = self.stripes.as_ref();
        striped.is_some_and(|striped| striped.waiting.iter().any(|list| !list.is_empty()))
    }

    fn first_waiting(&self, set: u32) -> Option<OpId> {
        self.stripes.as_ref()?.waiting[set as usize].front()
    }

    fn take_first_waiting(&mut self, set: u32) {
        if let Some(striped) = &mut self.stripes {
            let list = &mut striped.waiting[set as usize];
            if let Some(first) = list.front() {
                self.operations.take(list, None, first);
            }
        }
    }

    /// Another set that has room, where nothing of this one is being cleaned.
    fn set_for_blocked(&self, set: u32) -> Option<u32> {
        let striped = self.stripes.as_ref()?;
        if !striped.jobs[set as usize].is_empty() {
            return None;
        }
        self.set_with_room(striped).filter(|&other| other != set)
    }

    /// A program is over, or is not to be: its units do not count any more among those that are to come.
    pub(super) fn unqueue(&mut self, page: OpId) {
        let operation = self.operations.get(page);
        let (plane, units) = (operation.plane, operation.entries.count);
        match &mut self.stripes {
            Some(striped) => {
                let set = striped.superblocks.set_of(plane);
                striped.queued[set as usize] -= units;
            }
            None => self.queued[plane as usize] -= units,
        }
    }

    /// Whether the host may write the next page of a set. Cleaning begins here, where it is what is missing.
    fn can_write_in_set(&mut self, set: u32, stream: u32, cx: &mut Context<'_>) -> bool {
        let Some(striped) = &self.stripes else {
            return false;
        };
        if !(striped.superblocks).needs_superblock(set, Writer::Host(stream)) {
            return true;
        }
        let free = self.blocks.free_of(striped.superblocks.first_plane(set));
        let has_more = free > striped.left_to_cleaning(set);
        if has_more && free >= self.cleaning.stop {
            return true;
        }
        !self.clean_set(set, cx) && has_more
    }

    /// A program gets the next page of a set, for which it waits in the queue of the worker; behind the last one of a stripe its parity.
    fn give_place(&mut self, page: OpId, set: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        let stream = self.operations.get(page).stream;
        let writer = Writer::Host(stream);
        let Some(is_first) = self.next_of_set(set, writer, Action::Parity, page, cx) else {
            return;
        };
        let erase = self.timing.erase;
        let entry = self.operations.get_mut(page);
        if entry.was_blocked {
            entry.erase_time = erase.min(now - entry.queued);
        }
        self.clean_set_if_needed(set, is_first, cx);
    }

    /// Has an operation write the next page of a writer, and another one the parity of the stripe that is full with it. Whether the page
    /// is the first of its superblock.
    fn next_of_set(
        &mut self,
        set: u32,
        writer: Writer,
        parity: Action,
        id: OpId,
        cx: &mut Context<'_>,
    ) -> Option<bool> {
        let striped = self.stripes.as_mut()?;
        let chosen = (striped.superblocks).next_page(set, writer, &mut self.blocks)?;
        if chosen.is_first {
            self.touch_set(set);
        }
        self.note_opened(chosen.slot, cx.now());
        let entry = self.operations.get_mut(id);
        (entry.plane, entry.to) = (self.geometry.plane_of(chosen.slot), chosen.slot);
        self.enqueue(id, cx);
        if let Some(slot) = chosen.parity {
            self.note_opened(slot, cx.now());
            let id = (self.operations).add(parity, self.geometry.plane_of(slot));
            self.operations.get_mut(id).to = slot;
            self.enqueue(id, cx);
        }
        Some(chosen.is_first)
    }

    /// The free blocks of all planes of a set may have changed.
    fn touch_set(&mut self, set: u32) {
        if let (Some(picture), Some(striped)) = (&mut self.picture, &self.stripes) {
            for &plane in striped.superblocks.planes_of(set) {
                picture.touch(plane);
            }
        }
    }

    /// A page of a superblock is on flash.
    #[inline(never)]
    pub(super) fn written_in_superblock(&mut self, slot: u32) {
        if let Some(striped) = &mut self.stripes {
            striped.superblocks.written(slot, &mut self.blocks);
        }
    }

    /// A page of parity is on flash.
    #[inline(never)]
    pub(super) fn parity_over(&mut self, id: OpId) {
        let slot = self.operations.get(id).to;
        self.operations.remove(id);
        self.counters.parity_pages += 1;
        self.written_in_superblock(slot);
    }

    /// The operation that a worker begins next.
    #[inline(never)]
    pub(super) fn choose_striped(&mut self, worker: u32, cx: &mut Context<'_>) -> Option<OpId> {
        let state = self.workers[worker as usize];
        let may_clean =
            !self.cleaning.is_in_foreground || state.is_waited_for() || self.is_page_waiting();
        let cleaning = state.cleaning.front().filter(|_| may_clean);
        if let Some(id) = cleaning
            && self.is_urgent(self.operations.get(id).plane, state.passed)
        {
            return Some(id);
        }
        self.choose_read(worker, cx)
            .or_else(|| state.writes.front())
            .or(cleaning)
    }

    /// Programs that have no page yet, which they do not get any more.
    pub(super) fn take_waiting_pages(&mut self) -> Vec<OpId> {
        let mut pages = Vec::new();
        let lists = self
            .stripes
            .iter_mut()
            .flat_map(|striped| &mut striped.waiting);
        for list in lists {
            let mut at = std::mem::take(list).front();
            while let Some(id) = at {
                pages.push(id);
                at = self.operations.after(id);
            }
        }
        pages
    }

    /// What results tell of parity, where there is some.
    pub(super) fn parity_json(&self) -> Option<Value> {
        let striped = self.stripes.as_ref()?;
        Some(json!({
            "stripe": striped.superblocks.width(),
            "pages": self.counters.parity_pages,
        }))
    }
}
