//! The twin: what it knows, in lists.

use super::blocks::{Place, Plane};
use super::operations::{Reading, Running};
use super::specs::{Asked, Case, Drive};

/// What is foreseen.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A request arrives.
    Arrive(usize),
    /// A request is in the controller, with its data, and its place in the map is known.
    Mapped(usize),
    Complete(usize),
    /// What a worker's operation had the channel for is over, and what follows on the array.
    StepDone(usize),
    ChannelFree,
}

/// A unit of a write in the controller's memory.
pub struct Entry {
    pub unit: usize,
    /// Whether the write gives all blocks of the unit.
    pub is_whole: bool,
    pub request: usize,
    pub is_over: bool,
}

/// A page of entries that is merged, waits or is programmed.
pub struct Page {
    pub group: usize,
    pub entries: Vec<usize>,
    /// Merges that are not over.
    pub merges: usize,
    pub plane: Option<usize>,
}

/// A worker: its queues, and what it does.
#[derive(Default)]
pub struct Worker {
    pub reads: Vec<Reading>,
    /// Pages of entries.
    pub programs: Vec<usize>,
    /// Planes.
    pub cleaning: Vec<usize>,
    pub running: Option<Running>,
    /// Programs that have begun since its last operation of cleaning.
    pub programs_since: usize,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: u64,
    /// Instants, and what happens then; of one instant in the order in which it was foreseen.
    pub events: Vec<(u64, Event)>,
    pub completions: Vec<Option<u64>>,
    /// Requests that have not been taken, in the order of arrival.
    pub waiting: Vec<usize>,
    pub under_way: usize,
    /// What every request still waits for: units of a read, entries of a write.
    pub missing: Vec<usize>,
    /// When the link is free, to the host and from it.
    pub to_host: u64,
    pub from_host: u64,
    /// Where each unit of the host is.
    pub map: Vec<Option<Place>>,
    pub planes: Vec<Plane>,
    /// Blocks that were sealed on the whole drive.
    pub sealed: u64,
    pub freed: u64,
    pub entries: Vec<Entry>,
    /// Ready entries of each group.
    pub ready: Vec<Vec<usize>>,
    pub pages: Vec<Page>,
    /// The place of each group's turn in the list of its planes.
    pub turns: Vec<usize>,
    pub workers: Vec<Worker>,
    /// Until when each channel carries something.
    pub channels: Vec<u64>,
    /// What all channels have carried so far.
    pub carried: u64,
    /// Of each channel, the worker that began last.
    pub began_last: Vec<Option<usize>>,
    /// Requests that are done, and when they are complete.
    pub done: Vec<(usize, u64)>,
    /// Whether an operation has joined another queue while a channel was looked at.
    pub has_changed: bool,
    /// Whether a page has been programmed or a write has entered in this instant.
    pub forms_pages: bool,
    pub host_pages: u64,
    pub moved_pages: u64,
    pub merged_units: u64,
    pub trimmed_units: u64,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        let drive = &case.drive;
        let arrivals = case.requests.iter().enumerate();
        let arrivals = arrivals.map(|(number, asked)| (asked.at, Event::Arrive(number)));
        let mut model = Model {
            case,
            now: 0,
            events: arrivals.collect(),
            completions: vec![None; case.requests.len()],
            waiting: Vec::new(),
            under_way: 0,
            missing: vec![0; case.requests.len()],
            to_host: 0,
            from_host: 0,
            map: vec![None; drive.host_units()],
            planes: (0..drive.planes()).map(|_| Plane::new(drive)).collect(),
            sealed: 0,
            freed: 0,
            entries: Vec::new(),
            ready: vec![Vec::new(); drive.groups()],
            pages: Vec::new(),
            turns: vec![0; drive.groups()],
            workers: (0..drive.workers()).map(|_| Worker::default()).collect(),
            channels: vec![0; drive.counts[0]],
            carried: 0,
            began_last: vec![None; drive.counts[0]],
            done: Vec::new(),
            has_changed: false,
            forms_pages: false,
            host_pages: 0,
            moved_pages: 0,
            merged_units: 0,
            trimmed_units: 0,
        };
        model.fill();
        model
    }

    pub fn drive(&self) -> &'a Drive {
        &self.case.drive
    }

    pub fn asked(&self, request: usize) -> &'a Asked {
        &self.case.requests[request]
    }

    pub fn later(&mut self, ns: u64, event: Event) {
        self.events.push((self.now + ns, event));
    }

    /// The units of a request, those that it covers in part among them.
    pub fn units_of(&self, request: usize) -> std::ops::Range<usize> {
        let asked = self.asked(request);
        let unit = self.drive().unit_blocks;
        (asked.lbn / unit) as usize..(asked.lbn + asked.blocks).div_ceil(unit) as usize
    }

    /// How many blocks of a unit a request covers.
    pub fn covered(&self, request: usize, unit: usize) -> u64 {
        let asked = self.asked(request);
        let size = self.drive().unit_blocks;
        let (from, to) = (unit as u64 * size, (unit as u64 + 1) * size);
        (asked.lbn + asked.blocks).min(to) - asked.lbn.max(from)
    }

    /// What a unit held is not valid any more.
    pub fn forget(&mut self, unit: usize) -> bool {
        let Some(place) = self.map[unit].take() else {
            return false;
        };
        let block = &mut self.planes[place.plane].blocks[place.block];
        block.slots[place.page][place.slot] = None;
        true
    }

    /// A unit is on a page from now on.
    pub fn put(&mut self, unit: usize, place: Place) {
        self.forget(unit);
        let block = &mut self.planes[place.plane].blocks[place.block];
        block.slots[place.page][place.slot] = Some(unit);
        self.map[unit] = Some(place);
    }
}
