//! The twin: what it knows, in lists.

use super::blocks::{Place, Plane};
use super::checkpoints::Checkpoints;
use super::heat::Heat;
use super::maps_of_blocks::{LogPlane, Merges};
use super::operations::{Reading, Running};
use super::parity::{Set, Target, Task};
use super::power::Power;
use super::queues::Arbiter;
use super::specs::{Asked, Case, Drive};

/// What is foreseen.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A request arrives.
    Arrive(usize),
    /// The controller is ready for a write's data.
    Data(usize),
    /// A request is in the controller, with its data, and its place in the map is known.
    Mapped(usize),
    Complete(usize),
    /// What a worker's operation had the channel for is over, and what follows on the array.
    StepDone(usize),
    ChannelFree,
    /// An operation has been suspended.
    Suspended(usize),
    /// The first entries of groups may have been ready for long enough.
    Held,
    /// The drive looks for old blocks.
    Patrol,
    /// The drive may have been idle for long enough to fold, or to be cleaned.
    Fold,
    Idle,
    /// A low power state is due, or the drive is back from one: the alarm of this number.
    Power(u64),
}

/// A unit of a write in the controller's memory.
pub struct Entry {
    pub unit: usize,
    /// The blocks of the unit that it has.
    pub from: u64,
    pub until: u64,
    /// The size of the write that made it.
    pub written_by: u64,
    /// The write that waits for it.
    pub request: Option<usize>,
    pub ready_at: u64,
    /// Its program has begun.
    pub has_begun: bool,
    pub is_over: bool,
}

/// A page of entries that is merged, waits or is programmed.
pub struct Page {
    pub group: usize,
    pub stream: usize,
    pub entries: Vec<usize>,
    /// Merges that are not over.
    pub merges: usize,
    /// It has been programmed.
    pub is_over: bool,
    pub plane: Option<usize>,
}

/// A map unit that is read, and requests that wait for it.
pub struct Load {
    pub number: usize,
    pub waiting: Vec<usize>,
    pub is_over: bool,
}

/// What waits for a worker to be programmed.
#[derive(Clone, Copy, Debug)]
pub enum Programming {
    /// A page of entries.
    Page(usize),
    /// A page of a checkpoint, the one of this number in its block, which is erased first.
    OfMap { page: usize, erases: bool },
}

/// A worker: its queues, and what it does.
#[derive(Default)]
pub struct Worker {
    pub reads: Vec<Reading>,
    pub programs: Vec<Programming>,
    /// Programs, and cleaning, of a drive with parity.
    pub tasks: Vec<Task>,
    pub cleaning_tasks: Vec<Task>,
    /// Planes, and the block of each that is cleaned.
    pub cleaning: Vec<(usize, usize)>,
    /// Planes with maps of blocks.
    pub merging: Vec<usize>,
    pub running: Option<Running>,
    /// An operation that makes way for reads, and what is left of it, ns.
    pub suspended: Option<(Running, u64)>,
    /// Programs that have begun since its last operation of cleaning.
    pub programs_since: usize,
    /// Whether no program, or none of the reads, has begun since a block of its planes was last to be refreshed.
    pub owes_program: bool,
    pub owes_read: bool,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: u64,
    /// Instants, and what happens then; of one instant in the order in which it was foreseen.
    pub events: Vec<(u64, Event)>,
    /// Requests have arrived in this instant.
    pub are_arriving: bool,
    pub completions: Vec<Option<u64>>,
    /// Requests that have not been taken, in the order of arrival.
    pub waiting: Vec<usize>,
    pub arbiter: Arbiter,
    pub under_way: usize,
    /// How long writes are delayed now.
    pub write_delay: u64,
    /// When it had no request under way any more.
    pub idle_since: u64,
    /// What every request still waits for: units of a read, entries of a write.
    pub missing: Vec<usize>,
    /// When the link is free, to the host and from it.
    pub to_host: u64,
    pub from_host: u64,
    /// Where each unit of the host is, and behind them each map unit.
    pub map: Vec<Option<Place>>,
    /// Map units in memory, the one looked up last first, and whether each was changed.
    pub in_memory: Vec<(usize, bool)>,
    pub loads: Vec<Load>,
    pub retries: u64,
    pub refreshed: u64,
    pub levelled_blocks: u64,
    pub look_ups: u64,
    pub misses: u64,
    pub written_map_units: u64,
    pub planes: Vec<Plane>,
    /// Of a drive with parity, its sets of planes, and the next one in turn.
    pub sets: Vec<Set>,
    pub turn_of_sets: usize,
    pub parity_pages: u64,
    /// Of a drive with a map of blocks, what each plane's has, and writes of the host so far.
    pub logs: Vec<LogPlane>,
    pub merge_counts: Merges,
    pub host_writes: u64,
    /// An operation has ended in the event that happens.
    pub has_ended_operation: bool,
    /// Blocks that were sealed on the whole drive.
    pub sealed: u64,
    pub freed: u64,
    pub entries: Vec<Entry>,
    /// Ready entries of each group and stream.
    pub ready: Vec<Vec<usize>>,
    /// How often units were written, for their streams.
    pub heat: Heat,
    pub checkpoints: Checkpoints,
    pub power: Power,
    /// Programs that have ended.
    pub programs_ended: u64,
    /// When it could only be read from then on: nothing else of it is known here.
    pub read_only_since: Option<u64>,
    /// Erases of each plane since a request was taken, a page with a unit of the host begun, or a block refreshed.
    pub erases_for_itself: Vec<usize>,
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
    /// Requests that are done.
    pub done: Vec<usize>,
    /// Whether an operation has joined another queue while a channel was looked at.
    pub has_changed: bool,
    /// Writes that have not entered in whole, with the next unit of each.
    pub entering: Vec<(usize, usize)>,
    /// Writes that wait for flash beside a buffer, and flushes with the entries that each waits for.
    pub urgent: Vec<usize>,
    pub flushes: Vec<(usize, Vec<usize>)>,
    pub failed_programs: u64,
    pub failed_erases: u64,
    pub host_pages: u64,
    pub moved_pages: u64,
    /// How often programs and erases were suspended.
    pub suspensions: [u64; 2],
    pub slc_pages: u64,
    pub folded_pages: u64,
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
            are_arriving: false,
            completions: vec![None; case.requests.len()],
            waiting: Vec::new(),
            arbiter: Arbiter::default(),
            under_way: 0,
            write_delay: 0,
            idle_since: 0,
            missing: vec![0; case.requests.len()],
            to_host: 0,
            from_host: 0,
            map: vec![None; drive.host_units() + drive.map_units()],
            in_memory: Vec::new(),
            loads: Vec::new(),
            retries: 0,
            refreshed: 0,
            levelled_blocks: 0,
            look_ups: 0,
            misses: 0,
            written_map_units: 0,
            planes: (0..drive.planes()).map(|_| Plane::new(drive)).collect(),
            sets: drive.sets(),
            turn_of_sets: 0,
            parity_pages: 0,
            logs: Vec::new(),
            merge_counts: Merges::default(),
            host_writes: 0,
            has_ended_operation: false,
            sealed: 0,
            freed: 0,
            entries: Vec::new(),
            ready: vec![Vec::new(); drive.groups() * drive.streams()],
            heat: Heat::new(drive),
            checkpoints: Checkpoints::new(drive),
            power: Power::default(),
            programs_ended: 0,
            read_only_since: None,
            erases_for_itself: vec![0; drive.planes()],
            pages: Vec::new(),
            turns: vec![0; drive.groups()],
            workers: (0..drive.workers()).map(|_| Worker::default()).collect(),
            channels: vec![0; drive.counts[0]],
            carried: 0,
            began_last: vec![None; drive.counts[0]],
            done: Vec::new(),
            has_changed: false,
            entering: Vec::new(),
            urgent: Vec::new(),
            flushes: Vec::new(),
            failed_programs: 0,
            failed_erases: 0,
            host_pages: 0,
            moved_pages: 0,
            suspensions: [0; 2],
            slc_pages: 0,
            folded_pages: 0,
            merged_units: 0,
            trimmed_units: 0,
        };
        model.prepare_logs();
        model.fill();
        model.is_in_a_checkpoint();
        model.foresees_patrol();
        model.is_idle();
        model.follows_power();
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

    /// The blocks of a unit that a request covers, as they are numbered in the unit.
    pub fn part_of(&self, request: usize, unit: usize) -> std::ops::Range<u64> {
        let asked = self.asked(request);
        let size = self.drive().unit_blocks;
        let (from, to) = (unit as u64 * size, (unit as u64 + 1) * size);
        asked.lbn.max(from) - from..(asked.lbn + asked.blocks).min(to) - from
    }

    /// How many blocks of a unit a request covers.
    pub fn covered(&self, request: usize, unit: usize) -> u64 {
        let part = self.part_of(request, unit);
        part.end - part.start
    }

    /// What a unit held is not valid any more.
    pub fn forget(&mut self, unit: usize) -> bool {
        let Some(place) = self.map[unit].take() else {
            return false;
        };
        let block = &mut self.planes[place.plane].blocks[place.block];
        block.slots[place.page][place.slot] = None;
        self.changes_part_of(unit);
        true
    }

    /// Units are on a page from now on, the first one in its first slot.
    pub fn put_all(
        &mut self,
        (plane, block, page): Target,
        units: impl IntoIterator<Item = usize>,
    ) {
        for (slot, unit) in units.into_iter().enumerate() {
            let place = Place {
                plane,
                block,
                page,
                slot,
            };
            self.put(unit, place);
        }
    }

    /// A unit is on a page from now on.
    pub fn put(&mut self, unit: usize, place: Place) {
        self.forget(unit);
        let block = &mut self.planes[place.plane].blocks[place.block];
        block.slots[place.page][place.slot] = Some(unit);
        self.map[unit] = Some(place);
        self.changes_part_of(unit);
    }
}
