//! What the controller holds of writes: entries of units, lists in which they wait for a page, and the pages that are made of them.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::entries::{Entries, Entry, EntryId, EntryList, EntryState};
use super::operations::{Action, OpId, Operation, Phase};
use super::{Ssd, kinds};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, RequestId};
use crate::models::flash::map::Whereabouts;
use crate::models::flash::separation::Separation;

/// A write buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteBuffer {
    /// Entries that it has room for.
    pub entries: u32,
    /// What is in it survives a power cut.
    pub has_capacitor: bool,
    /// How long an entry waits for a page full.
    pub hold: Time,
}

/// A flush that waits.
#[derive(Clone, Copy, Debug)]
struct Flush {
    request: RequestId,
    /// It waits for the entries with lower numbers, and how many of them are not over.
    before: u64,
    left: usize,
}

/// What the controller holds of writes.
pub(super) struct Writes {
    pub buffer: Option<WriteBuffer>,
    pub entries: Entries,
    /// Ready entries by group and stream.
    lists: Vec<EntryList>,
    /// Whether an alarm is set for the first entry of a list.
    has_alarm: Vec<bool>,
    /// Lists that have got an entry, or may not wait any longer.
    touched: Vec<u32>,
    /// Entries may have come, or room, of which pages are to be made when everything else of an event has been done.
    pub may_form: bool,
    /// Pages that wait or are programmed.
    pub pages: u32,
    /// Writes that have not entered.
    waiting: VecDeque<RequestId>,
    flushes: Vec<Flush>,
    /// Writes that wait for entries, where others do not.
    pub urgent: u32,
    separation: Box<dyn Separation>,
    /// Streams of the host.
    pub streams: u32,
}

impl Writes {
    pub fn new(
        buffer: Option<WriteBuffer>,
        separation: Box<dyn Separation>,
        groups: u32,
    ) -> Writes {
        let streams = separation.streams();
        let lists = (groups * streams) as usize;
        Writes {
            buffer,
            entries: Entries::default(),
            lists: vec![EntryList::default(); lists],
            has_alarm: vec![false; lists],
            touched: Vec::new(),
            may_form: false,
            pages: 0,
            waiting: VecDeque::new(),
            flushes: Vec::new(),
            urgent: 0,
            separation,
            streams,
        }
    }

    /// Whether a write is done only when all of it is on flash.
    #[inline]
    pub fn waits_for_flash(&self, command: &Command) -> bool {
        match &self.buffer {
            None => true,
            Some(buffer) => command.fua && !buffer.has_capacitor,
        }
    }

    /// Whether no entry waits for a page full while this write waits.
    #[inline]
    fn is_urgent(&self, command: &Command) -> bool {
        self.buffer.is_some() && self.waits_for_flash(command)
    }

    /// Whether entries wait for a page full.
    #[inline]
    fn may_wait(&self) -> bool {
        self.buffer.is_some() && self.urgent == 0 && self.flushes.is_empty()
    }

    #[inline(never)]
    fn touch_all(&mut self) {
        let lists = (0..).zip(&self.lists).filter(|(_, list)| list.count > 0);
        self.touched.extend(lists.map(|(number, _)| number));
    }
}

impl Ssd {
    /// A write with its data is in the controller.
    #[inline(never)]
    pub(super) fn write_arrived(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let command = self.open[request.0 as usize].command;
        let units = self.units_of(&command);
        let open = &mut self.open[request.0 as usize];
        // One is for the entering itself.
        (open.next, open.remaining) = (units.start, 1);
        if self.writes.is_urgent(&command) {
            self.writes.urgent += 1;
            self.open[request.0 as usize].is_urgent = true;
            self.writes.touch_all();
        }
        if !self.writes.waiting.is_empty() || !self.enter(request, cx) {
            self.writes.waiting.push_back(request);
        }
        self.writes.may_form = true;
    }

    /// The units of a write become entries, as far as there is room; whether all have.
    fn enter(&mut self, request: RequestId, cx: &mut Context<'_>) -> bool {
        let open = self.open[request.0 as usize];
        let waits = self.writes.waits_for_flash(&open.command);
        let room = (self.writes.buffer).map_or(usize::MAX, |buffer| buffer.entries as usize);
        for unit in open.next..self.units_of(&open.command).end {
            let part = open.part_of(unit, &self.geometry);
            let (from, until) = (part.in_unit, part.in_unit + part.blocks);
            if !waits && self.replace(request, unit, (from, until), cx) {
                continue;
            }
            if self.writes.entries.held() >= room {
                self.open[request.0 as usize].next = unit;
                return false;
            }
            let id = self.add_entry(unit, (from, until), open.command.blocks, cx.now());
            if waits {
                self.writes.entries.get_mut(id).request = Some(request);
                self.open[request.0 as usize].remaining += 1;
            }
            self.tell_buffered(request, id, (from, until), cx);
        }
        self.part_done(request, None, cx);
        true
    }

    /// Puts what a write gives a unit into the unit's newest entry, if that is possible.
    #[inline(never)]
    fn replace(
        &mut self,
        request: RequestId,
        unit: u32,
        (from, until): (u32, u32),
        cx: &mut Context<'_>,
    ) -> bool {
        let Whereabouts::Held(oldest) = self.map.whereabouts(unit) else {
            return false;
        };
        let id = self.writes.entries.newest(EntryId(oldest));
        let entry = self.writes.entries.get_mut(id);
        let is_apart = from > entry.until || until < entry.from;
        if entry.state == EntryState::Begun || entry.request.is_some() || is_apart {
            return false;
        }
        (entry.from, entry.until) = (entry.from.min(from), entry.until.max(until));
        self.counters.replaced_units += 1;
        self.tell_buffered(request, id, (from, until), cx);
        true
    }

    /// What a write gives a unit becomes an entry. Without older ones of its unit it is ready at once.
    pub(super) fn add_entry(
        &mut self,
        unit: u32,
        blocks: (u32, u32),
        written_by: u32,
        now: Time,
    ) -> EntryId {
        let entries = &mut self.writes.entries;
        let home = match self.map.whereabouts(unit) {
            Whereabouts::Held(oldest) => {
                let id = entries.add(unit, blocks, None);
                entries.get_mut(id).written_by = written_by;
                entries.put_behind(EntryId(oldest), id);
                return id;
            }
            Whereabouts::Slot(slot) => Some(slot),
            Whereabouts::Nowhere => None,
        };
        let id = entries.add(unit, blocks, home);
        entries.get_mut(id).written_by = written_by;
        self.map.hold(unit, id.0);
        self.make_ready(id, now);
        id
    }

    /// An entry is the oldest of its unit: it waits for a page.
    fn make_ready(&mut self, id: EntryId, now: Time) {
        let entry = self.writes.entries.get_mut(id);
        (entry.state, entry.ready_at) = (EntryState::Ready, now);
        let (unit, written_by) = (entry.unit, entry.written_by);
        let stream = match self.is_of_map(unit) {
            true => 0,
            false => self.writes.separation.stream(unit, written_by),
        };
        let list = self.allocation.group_of(unit) * self.writes.streams + stream;
        let writes = &mut self.writes;
        writes.entries.push(&mut writes.lists[list as usize], id);
        writes.touched.push(list);
    }

    /// Makes pages of ready entries, wherever it is time to, if an event may have brought some.
    #[inline]
    pub(super) fn form_pages_due(&mut self, cx: &mut Context<'_>) {
        if std::mem::take(&mut self.writes.may_form) {
            self.form_pages(cx);
        }
    }

    #[inline(never)]
    fn form_pages(&mut self, cx: &mut Context<'_>) {
        if self.read_only_since.is_some() {
            return self.give_up_entries(cx);
        }
        if !self.writes.touched.is_empty() {
            let mut touched = std::mem::take(&mut self.writes.touched);
            if touched.len() > 1 {
                touched.sort_unstable();
                touched.dedup();
            }
            let units = self.geometry.units;
            for &list in &touched {
                while self.writes.lists[list as usize].count >= units {
                    self.form_page(list, cx);
                }
                let is_empty = self.writes.lists[list as usize].count == 0;
                if !is_empty && !self.writes.may_wait() {
                    self.form_page(list, cx);
                } else if !is_empty {
                    self.hold(list, cx);
                }
            }
            touched.clear();
            self.writes.touched = touched;
        }
        // Without a page under way nothing would ever make room.
        if !self.writes.waiting.is_empty() && self.writes.pages == 0 {
            self.form_fullest(cx);
        }
    }

    /// Makes a page of the entries of the list that has most of them.
    #[inline(never)]
    fn form_fullest(&mut self, cx: &mut Context<'_>) {
        let lists = (0..).zip(&self.writes.lists);
        let fullest = lists.min_by_key(|(_, list)| Reverse(list.count));
        if let Some((list, _)) = fullest.filter(|(_, list)| list.count > 0) {
            self.form_page(list, cx);
        }
    }

    /// Sees to it that the entries of a list do not wait for a page full longer than they may.
    #[inline(never)]
    fn hold(&mut self, list: u32, cx: &mut Context<'_>) {
        let (Some(first), Some(buffer)) =
            (self.writes.lists[list as usize].first(), self.writes.buffer)
        else {
            return;
        };
        if !std::mem::replace(&mut self.writes.has_alarm[list as usize], true) {
            let until = self.writes.entries.get(first).ready_at + buffer.hold;
            cx.background_alarm(until, Token::new(kinds::HOLD, list));
        }
    }

    /// The first entry of a list may have waited for long enough, and those of others at the same instant.
    pub(super) fn held_long_enough(&mut self, list: u32, cx: &mut Context<'_>) {
        self.writes.has_alarm[list as usize] = false;
        let Some(buffer) = self
            .writes
            .buffer
            .filter(|_| self.read_only_since.is_none())
        else {
            return;
        };
        for other in 0..self.writes.lists.len() as u32 {
            let first = self.writes.lists[other as usize].first();
            let has_waited = |first| {
                let ready_at = self.writes.entries.get(first).ready_at;
                ready_at + buffer.hold <= cx.now()
            };
            if first.is_some_and(has_waited) {
                self.form_page(other, cx);
            }
        }
        self.hold(list, cx);
    }

    /// Makes a page of the first entries of a list. What they lack of their units is read first.
    fn form_page(&mut self, list: u32, cx: &mut Context<'_>) {
        let writes = &mut self.writes;
        let entries = writes
            .entries
            .take(&mut writes.lists[list as usize], self.geometry.units);
        writes.pages += 1;
        let streams = writes.streams;
        let page = self.operations.add(Action::Program, 0);
        let program = self.operations.get_mut(page);
        (program.unit, program.stream) = (list / streams, list % streams);
        program.entries = entries;
        let mut at = entries.first();
        while let Some(id) = at {
            at = self.writes.entries.after(id);
            let entry = self.writes.entries.get_mut(id);
            entry.state = EntryState::InPage;
            let is_whole = entry.until - entry.from == self.geometry.unit_blocks;
            let (unit, home) = (entry.unit, entry.home());
            let Some(slot) = home.filter(|_| !is_whole) else {
                continue;
            };
            let plane = self.geometry.plane_of(slot);
            let id = self.operations.add(Action::Merge, plane);
            let merge = self.operations.get_mut(id);
            (merge.unit, merge.from, merge.to) = (unit, slot, page.0);
            self.operations.get_mut(page).count += 1;
            self.counters.merged_pages += 1;
            self.enqueue(id, cx);
        }
        if self.operations.get(page).count == 0 {
            self.enqueue_page(page, cx);
        }
    }

    /// What an entry lacked of its unit is in the controller.
    #[inline(never)]
    pub(super) fn merge_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        let merge = *self.operations.get(id);
        self.operations.remove(id);
        let page = OpId(merge.to);
        let entry = self.operations.get_mut(page);
        entry.count -= 1;
        if entry.count == 0 {
            // Of several merges the last one is what the page has waited for.
            (entry.channel_time, entry.read_time) = (merge.channel_time, merge.read_time);
            self.enqueue_page(page, cx);
        }
    }

    /// A page has all that it is to hold: it waits to be programmed.
    fn enqueue_page(&mut self, page: OpId, cx: &mut Context<'_>) {
        if self.read_only_since.is_some() {
            return self.give_up_page(page, cx);
        }
        if self.stripes.is_some() {
            return self.page_to_set(page, cx);
        }
        let operation = self.operations.get(page);
        let (group, units) = (operation.unit, operation.entries.count);
        let plane = self.choose_plane(group);
        self.queued[plane as usize] += units;
        let operation = self.operations.get_mut(page);
        (operation.plane, operation.phase) = (plane, Phase::Queued);
        self.enqueue(page, cx);
    }

    /// A page of entries is being programmed: they are what they are.
    pub(super) fn begin_entries(&mut self, entries: EntryList) {
        let mut at = entries.first();
        while let Some(id) = at {
            at = self.writes.entries.after(id);
            self.writes.entries.get_mut(id).state = EntryState::Begun;
        }
    }

    /// A page of entries is on flash.
    pub(super) fn program_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        if self.failing.is_some() && self.program_fails(id, cx) {
            return;
        }
        let Operation {
            plane, to, entries, ..
        } = *self.operations.get(id);
        match (&self.log, &self.stripes) {
            (None, None) => self.blocks.written(to),
            (None, Some(_)) => self.written_in_superblock(to),
            _ => {}
        }
        self.unqueue(id);
        self.counters.host_pages += 1;
        self.writes.pages -= 1;
        let mut slot = to;
        let mut at = entries.first();
        while let Some(entry) = at {
            at = self.writes.entries.after(entry);
            self.tell_programmed(entry, slot, cx);
            if let Some(mapping) = &mut self.mapping
                && self.writes.entries.get(entry).unit >= self.host_units
            {
                mapping.counts.writes += 1;
            }
            self.put_in_slot(self.writes.entries.get(entry).unit, slot);
            self.remove_entry(entry, cx.now());
            self.entry_over(entry, Some(id), cx);
            slot += 1;
        }
        self.note_programmed(cx);
        self.operations.remove(id);
        self.go_on_with_writes(cx);
        self.fold_on(plane, cx);
    }

    /// There may be room for writes that wait, and entries for pages.
    #[inline]
    fn go_on_with_writes(&mut self, cx: &mut Context<'_>) {
        if !self.writes.waiting.is_empty() {
            self.let_writes_enter(cx);
        }
        self.writes.may_form = true;
    }

    #[inline(never)]
    fn let_writes_enter(&mut self, cx: &mut Context<'_>) {
        while let Some(&request) = self.writes.waiting.front() {
            if !self.enter(request, cx) {
                break;
            }
            self.writes.waiting.pop_front();
        }
    }

    /// The oldest entry of a unit leaves the controller. The next one of the unit is ready.
    fn remove_entry(&mut self, id: EntryId, now: Time) {
        let entry = self.writes.entries.get(id);
        let (unit, home) = (entry.unit, entry.home());
        match self.writes.entries.remove(id) {
            Some(newer) => {
                self.map.hold(unit, newer.0);
                self.make_ready(newer, now);
            }
            None => self.map.point(unit, home),
        }
    }

    /// An entry is no longer in the controller: requests that wait for it go on.
    fn entry_over(&mut self, id: EntryId, page: Option<OpId>, cx: &mut Context<'_>) {
        // Its place is free, but nothing has taken it yet.
        let Entry {
            request, number, ..
        } = *self.writes.entries.get(id);
        if let Some(request) = request {
            self.part_done(request, page, cx);
        }
        if !self.writes.flushes.is_empty() {
            self.flushes_hear(number);
        }
    }

    /// Flushes hear of an entry that is over.
    #[inline(never)]
    fn flushes_hear(&mut self, number: u64) {
        for flush in &mut self.writes.flushes {
            flush.left -= usize::from(number < flush.before);
        }
        let done = self
            .writes
            .flushes
            .extract_if(.., |flush| flush.left == 0)
            .map(|flush| flush.request);
        self.done.extend(done);
    }

    /// A flush is in the controller.
    #[inline(never)]
    pub(super) fn flush_arrived(&mut self, request: RequestId) {
        let waits = (self.writes.buffer).is_some_and(|buffer| !buffer.has_capacitor);
        let left = self.writes.entries.held();
        if !waits || left == 0 {
            self.done.push(request);
            return;
        }
        if self.read_only_since.is_some() {
            self.open[request.0 as usize].has_failed = true;
            self.done.push(request);
            return;
        }
        let before = self.writes.entries.made();
        self.writes.flushes.push(Flush {
            request,
            before,
            left,
        });
        self.writes.touch_all();
        self.writes.may_form = true;
    }

    /// The drive can only be read from now on: what has not begun to be written is given up.
    pub(super) fn give_up_writes(&mut self, pages: &[OpId], cx: &mut Context<'_>) {
        for &page in pages {
            match self.operations.get(page).action {
                Action::Program => {
                    self.unqueue(page);
                    self.give_up_page(page, cx);
                }
                _ => self.operations.remove(page),
            }
        }
        self.writes.touch_all();
        self.give_up_entries(cx);
        for request in std::mem::take(&mut self.writes.waiting) {
            self.open[request.0 as usize].has_failed = true;
            self.part_done(request, None, cx);
        }
        for flush in std::mem::take(&mut self.writes.flushes) {
            self.open[flush.request.0 as usize].has_failed = true;
            self.done.push(flush.request);
        }
    }

    #[cold]
    pub(super) fn give_up_page(&mut self, page: OpId, cx: &mut Context<'_>) {
        let mut at = self.operations.get(page).entries.first();
        self.operations.remove(page);
        self.writes.pages -= 1;
        while let Some(id) = at {
            at = self.writes.entries.after(id);
            self.give_up_entry(id, cx);
        }
        self.give_up_entries(cx);
    }

    /// Gives up the entries that are ready.
    #[cold]
    fn give_up_entries(&mut self, cx: &mut Context<'_>) {
        while let Some(list) = self.writes.touched.pop() {
            let writes = &mut self.writes;
            let given_up = writes
                .entries
                .take(&mut writes.lists[list as usize], u32::MAX);
            let mut at = given_up.first();
            while let Some(id) = at {
                at = self.writes.entries.after(id);
                self.give_up_entry(id, cx);
            }
        }
    }

    /// An entry will not be written. In a buffer it stays, and so do all that came for its unit later; else it is as if the write had never come.
    fn give_up_entry(&mut self, id: EntryId, cx: &mut Context<'_>) {
        let stays = self.writes.buffer.is_some();
        let mut at = Some(id);
        while let Some(id) = at {
            let request = self.writes.entries.get_mut(id).request.take();
            if let Some(request) = request {
                self.open[request.0 as usize].has_failed = true;
                self.part_done(request, None, cx);
            }
            at = self.writes.entries.newer(id).filter(|_| stays);
        }
        if !stays {
            self.remove_entry(id, cx.now());
        }
    }
}
