//! Operations, and the steps that each consists of.

use diskwright::engine::request::Op;

use super::blocks::Place;
use super::model::Model;
use super::parity::{Target, Task};

/// What an operation is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    Read {
        request: usize,
    },
    Merge {
        page: usize,
    },
    MapRead {
        load: usize,
    },
    Program {
        page: usize,
    },
    /// A page of a checkpoint.
    ProgramMap,
    Clean {
        plane: usize,
        block: usize,
    },
    /// A step of a plane with a map of blocks.
    MergeStep {
        plane: usize,
    },
    /// A task of a drive with parity.
    Striped {
        erases: bool,
    },
}

/// A read or a merge in a queue.
#[derive(Clone, Debug)]
pub struct Reading {
    pub work: Work,
    /// The units that it wants.
    pub units: Vec<usize>,
    /// Where the first of them was when it joined the queue.
    pub at: Place,
}

/// A step of an operation, ns.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Channel(u64),
    Array(u64),
    /// A move that has the channel reads another page, or writes.
    Gather,
}

/// The operation that a worker does.
pub struct Running {
    pub work: Work,
    pub units: Vec<usize>,
    /// What is left of it.
    pub steps: Vec<Step>,
    /// Since when it waits for the channel.
    pub waits_since: Option<u64>,
    /// Of all that channels have carried, the number of what was carried last for it.
    pub carried: u64,
    /// The page that it writes.
    pub target: Option<(usize, usize, usize)>,
    /// The plane and block that it reads, if it is a read.
    pub from: Option<(usize, usize)>,
    /// From when on it works, if it programs or erases by now, and when it is to end.
    pub works: Option<(u64, u64)>,
    /// How often it was suspended, and what it had left when it was.
    pub suspensions: usize,
    pub left: u64,
    /// Units that it moves, with the places where they were.
    pub moved: Vec<(usize, Place)>,
    /// What it does on a drive with parity.
    pub task: Option<Task>,
    /// What is done together with it on other planes.
    pub others: Vec<Running>,
}

impl Model<'_> {
    /// The time of some blocks on the channel.
    fn data(&self, blocks: u64) -> u64 {
        blocks * self.drive().block
    }

    fn page_data(&self) -> u64 {
        self.data(self.drive().unit_blocks * self.drive().units as u64)
    }

    /// The array's time of a read that wants so many blocks of a page.
    pub fn array_read(&mut self, plane: usize, block: usize, page: usize, wanted: u64) -> u64 {
        if let (Some(slc), true) = (self.drive().slc, self.planes[plane].blocks[block].is_slc) {
            return slc.read;
        }
        let drive = self.drive();
        let is_part = wanted * 2 < drive.unit_blocks * drive.units as u64;
        let list = match &drive.read_part {
            Some(part) if is_part => part,
            _ => &drive.read,
        };
        list[page % list.len()] + self.retried(plane, block)
    }

    fn array_program(&self, page: usize) -> u64 {
        let drive = self.drive();
        let last = if page + 1 == drive.pages {
            drive.summary
        } else {
            0
        };
        drive.program[page % drive.program.len()] + last
    }

    /// What a read of units of a request sends, or a merge.
    pub fn wanted(&self, work: Work, units: &[usize]) -> u64 {
        let each = units.iter().map(|&unit| match work {
            Work::Read { request } if self.asked(request).op == Op::Read => {
                self.covered(request, unit)
            }
            _ => self.drive().unit_blocks,
        });
        each.sum()
    }

    /// A program of the host: in SLC mode, or in the native one.
    fn array_program_of(&self, plane: usize, block: usize, page: usize) -> u64 {
        match self.drive().slc {
            Some(slc) if self.planes[plane].blocks[block].is_slc => {
                let is_last = page + 1 == slc.pages;
                slc.program + if is_last { self.drive().summary } else { 0 }
            }
            _ => self.array_program(page),
        }
    }

    /// Reads that are done together.
    pub fn steps_of_reads(&mut self, together: &[(Reading, Place)]) -> Vec<Step> {
        let (mut longest, mut data) = (0, 0);
        for (reading, at) in together {
            let wanted = self.wanted(reading.work, &reading.units);
            longest = longest.max(self.array_read(at.plane, at.block, at.page, wanted));
            data += self.data(wanted);
        }
        let command = match (together.len() as u64, self.drive().multi_plane) {
            (count @ 2.., Some([each, _])) => count * each,
            _ => self.drive().read_command,
        };
        vec![
            Step::Channel(command),
            Step::Array(longest),
            Step::Channel(data),
        ]
    }

    pub fn steps_of_program(&self, plane: usize, block: usize, page: usize) -> Vec<Step> {
        self.steps_of_programs(&[(plane, block, page)])
    }

    /// Programs that are done together.
    pub fn steps_of_programs(&self, together: &[Target]) -> Vec<Step> {
        let count = together.len() as u64;
        let times = together.iter();
        let times = times.map(|&(plane, block, page)| self.array_program_of(plane, block, page));
        let command = match (count, self.drive().multi_plane) {
            (2.., Some([_, each])) => count * each,
            _ => self.drive().program_command,
        };
        vec![
            Step::Channel(command + count * self.page_data()),
            Step::Array(times.max().expect("there is one")),
        ]
    }

    /// A page of a checkpoint.
    pub fn steps_of_map_page(&self, page: usize, erases: bool) -> Vec<Step> {
        let drive = self.drive();
        let erase = if erases { drive.erase } else { 0 };
        vec![
            Step::Channel(drive.program_command + self.page_data()),
            Step::Array(self.array_program(page) + erase),
        ]
    }

    pub fn steps_of_erase(&self, plane: usize, block: usize) -> Vec<Step> {
        let drive = self.drive();
        let of_slc = drive.slc.and_then(|slc| slc.erase);
        let erase = match of_slc {
            Some(erase) if self.planes[plane].blocks[block].is_slc => erase,
            _ => drive.erase,
        };
        vec![Step::Channel(drive.erase_command), Step::Array(erase)]
    }

    /// A move reads what is valid of a page, and then decides again.
    pub fn steps_of_reading_on(&mut self, from: Place, units: usize) -> Vec<Step> {
        let wanted = units as u64 * self.drive().unit_blocks;
        vec![
            Step::Channel(self.drive().read_command),
            Step::Array(self.array_read(from.plane, from.block, from.page, wanted)),
            Step::Channel(self.data(wanted)),
            Step::Gather,
        ]
    }

    /// A page of a superblock is read, for so many units.
    pub fn steps_of_move(&mut self, (plane, block, page): Target, units: usize) -> Vec<Step> {
        let wanted = units as u64 * self.drive().unit_blocks;
        vec![
            Step::Channel(self.drive().read_command),
            Step::Array(self.array_read(plane, block, page, wanted)),
            Step::Channel(self.data(wanted)),
        ]
    }

    /// A move of a whole page inside the flash.
    pub fn steps_of_copy(&mut self, from: Place, to: usize) -> Vec<Step> {
        let drive = self.drive();
        let page = drive.unit_blocks * drive.units as u64;
        let read = self.array_read(from.plane, from.block, from.page, page);
        vec![
            Step::Channel(drive.read_command + drive.program_command),
            Step::Array(read + self.array_program(to)),
        ]
    }
}

impl Running {
    pub fn new(work: Work, units: Vec<usize>, steps: Vec<Step>) -> Running {
        Running {
            work,
            units,
            steps,
            waits_since: None,
            carried: 0,
            target: None,
            from: None,
            works: None,
            suspensions: 0,
            left: 0,
            moved: Vec::new(),
            task: None,
            others: Vec::new(),
        }
    }
}
