//! What the devices are asked.

use diskwright::engine::request::Op;

use super::instants::{Alarm, Message};
use super::model::Model;
use super::specs::{Cache, Case};
use crate::driver_twin::queues::Queue;
use crate::hdd_twin::queue::Waiting;

/// What a device is asked for some work: by the controller's blocks.
#[derive(Clone, Debug)]
pub struct Operation {
    pub work: usize,
    pub device: usize,
    pub op: Op,
    pub lbn: u64,
    pub blocks: u64,
    /// Its data come from the memory cache or go there, and not the host's.
    pub is_of_memory: bool,
    pub is_under_way: bool,
    /// Others that were under way at the same time and have blocks in common with it.
    pub meets: Vec<usize>,
}

/// Operations that a device has been given as one: by its own blocks.
#[derive(Clone, Debug)]
pub struct Group {
    pub device: usize,
    pub entry: Waiting,
}

/// What waits for a device, and how many groups it has.
pub struct OperationQueue {
    pub waiting: Queue,
    pub under_way: usize,
}

impl OperationQueue {
    pub fn new(case: &Case) -> OperationQueue {
        let mut waiting = Queue::new(case.scheduler);
        waiting.stays_at_others = true;
        OperationQueue {
            waiting,
            under_way: 0,
        }
    }

    pub fn is_idle(&self) -> bool {
        self.waiting.len() == 0 && self.under_way == 0
    }
}

impl Model<'_> {
    /// The devices that have the controller's blocks are asked for some of these.
    pub fn ask(&mut self, work: usize, op: Op, fua: bool, (from, end): (u64, u64)) {
        let mut base = 0;
        let mut asked = 0;
        for (device, simple) in self.case.devices.iter().enumerate() {
            let run = (from.max(base), end.min(base + simple.blocks));
            if run.0 < run.1 {
                self.ask_device(work, device, op, fua, run);
                asked += 1;
            }
            base += simple.blocks;
        }
        self.meet("what is divided where devices meet", asked > 1);
    }

    /// One device is asked for a run of the controller's blocks; work waits for that.
    pub fn ask_device(
        &mut self,
        work: usize,
        device: usize,
        op: Op,
        fua: bool,
        (from, end): (u64, u64),
    ) {
        let is_addressed = device < self.case.devices.len();
        let base = match is_addressed {
            true => self.case.devices[..device]
                .iter()
                .map(|one| one.blocks)
                .sum(),
            false => 0,
        };
        let blocks = end - from;
        self.operations.push(Operation {
            work,
            device,
            op,
            lbn: from,
            blocks,
            is_of_memory: false,
            is_under_way: true,
            meets: Vec::new(),
        });
        self.note_what_meets();
        let entry = Waiting {
            parts: vec![self.operations.len() - 1],
            op,
            fua,
            lbn: from.saturating_sub(base),
            blocks,
            since: self.now,
            cylinder: 0,
        };
        let met = self.queues[device].waiting.enter(entry, self.case.join);
        self.met.extend(met);
        if is_addressed {
            let set = self.alarms.len();
            self.alarms.retain(|(_, alarm)| *alarm != Alarm::Idle);
            self.meet("idleness that ends early", self.alarms.len() < set);
        }
        self.works[work].left += 1;
        let names = match op {
            Op::Read => ("reads", "read_blocks"),
            Op::Write => ("writes", "written_blocks"),
            _ => return,
        };
        self.add_of_device(device, names.0, 1);
        self.add_of_device(device, names.1, blocks);
    }

    /// Notes what changes blocks on a device while others read them from there, of the last operation and those under way.
    fn note_what_meets(&mut self) {
        let last = self.operations.len() - 1;
        for other in 0..last {
            let (one, two) = (&self.operations[last], &self.operations[other]);
            let overlap = one.lbn < two.lbn + two.blocks && two.lbn < one.lbn + one.blocks;
            if two.is_under_way && overlap {
                self.operations[last].meets.push(other);
                self.operations[other].meets.push(last);
            }
        }
    }

    fn add_of_device(&mut self, device: usize, name: &'static str, count: u64) {
        *self.of_devices.entry((device, name)).or_default() += count;
    }

    /// The devices get what they can take.
    pub fn give_to_devices(&mut self) {
        let most = self.case.outstanding.unwrap_or(usize::MAX);
        for device in 0..self.queues.len() {
            let blocks = self.case.device(device).blocks;
            while self.queues[device].waiting.len() > 0 && self.queues[device].under_way < most {
                let queue = &mut self.queues[device];
                if queue.waiting.len() > 1 {
                    self.met.insert(queue.waiting.scheduler.name());
                }
                let entry = queue.waiting.take(self.now, blocks);
                queue.under_way += 1;
                self.add_of_device(device, "joined", entry.parts.len() as u64 - 1);
                self.groups.push(Group { device, entry });
                let group = self.groups.len() - 1;
                match self.message() {
                    Some(at) => self.alarm(at, Alarm::Sent(group)),
                    None => self.messages.push(Message::ToDevice(group)),
                }
            }
        }
    }

    /// A device has ended a group.
    pub fn comes_back(&mut self, group: usize) {
        match self.message() {
            Some(at) => self.alarm(at, Alarm::Answered(group)),
            None => self.answered(group),
        }
    }

    /// The controller has heard of it.
    pub fn answered(&mut self, group: usize) {
        // Its acknowledgement.
        self.message();
        let Group { device, entry } = self.groups[group].clone();
        self.queues[device].under_way -= 1;
        if device < self.case.devices.len() && self.rests() {
            self.idle.since = Some(self.now);
        }
        for part in entry.parts {
            let operation = self.operations[part].clone();
            let work = operation.work;
            match self.case.cache {
                Cache::None => {}
                Cache::Memory(_) => self.memory_operation_ended(part),
                Cache::Device(_) => self.cache_device_operation_ended(operation),
            }
            self.operations[part].is_under_way = false;
            self.one_less(work);
        }
    }
}
