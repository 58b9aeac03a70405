//! What both programs are given: a small disk with several arms, and requests.

use std::fmt::Write as _;

use diskwright::engine::request::Op;

use crate::hdd_twin::places::Place;
use crate::hdd_twin::specs;

/// A disk with its load, and its arms.
#[derive(Clone, Debug)]
pub struct Case {
    pub disk: specs::Case,
    pub is_independent: bool,
    pub choice: Choice,
    pub arms: Vec<ArmSpec>,
    pub log: Option<LogSpec>,
}

/// A log in which data are.
#[derive(Clone, Copy, Debug)]
pub struct LogSpec {
    /// Sectors of a slot.
    pub sectors: u64,
    pub allocator: Allocator,
    pub ties: Ties,
    /// The share of slots that is kept free, in 64ths.
    pub reserve: u64,
    pub has_virtual_log: bool,
    pub cleaner: Option<Cleaner>,
    /// The first logical blocks, written before time zero without gaps.
    pub initial: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    Soonest,
    NearestCylinder,
    Edge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    Outward,
    Emptier,
    Inward,
}

/// What makes tracks empty; shares of all tracks in 64ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaner {
    /// When the drive has been idle for so long, ns.
    Idle {
        after: u64,
        empty: u64,
    },
    Watermark {
        low: u64,
        high: u64,
    },
}

/// Which arm serves an access; arms by their numbers.
#[derive(Clone, Copy, Debug)]
pub enum Choice {
    Soonest,
    Nearest,
    Split { reads: usize, writes: usize },
    Adaptive(Adaptive),
}

/// When arms change between both ways: requests of a window, the margin in 64ths, and the arms that read and write where there is a log.
#[derive(Clone, Copy, Debug)]
pub struct Adaptive {
    pub window: u64,
    pub margin: u64,
    pub reads: usize,
    pub writes: usize,
}

/// An arm: the first and the last of what it reaches.
#[derive(Clone, Copy, Debug)]
pub struct ArmSpec {
    /// In 64ths of a turn.
    pub angle: u64,
    pub reads: bool,
    pub writes: bool,
    pub surfaces: (u64, u64),
    pub cylinders: (u64, u64),
    pub start: u64,
}

impl ArmSpec {
    pub fn can(&self, op: Op) -> bool {
        match op {
            Op::Write => self.writes,
            _ => self.reads,
        }
    }

    pub fn reaches(&self, place: &Place) -> bool {
        let is_in = |(first, last): (u64, u64), at: u64| first <= at && at <= last;
        is_in(self.surfaces, place.head) && is_in(self.cylinders, place.cylinder)
    }

    /// Whether two arms serve the same requests.
    pub fn is_like(&self, other: &ArmSpec) -> bool {
        let serves = |arm: &ArmSpec| (arm.reads, arm.writes, arm.surfaces, arm.cylinders);
        serves(self) == serves(other)
    }
}

impl LogSpec {
    /// Its keys, in the table of arms of a drive with sectors of so many blocks.
    fn text(&self, sector: u64) -> String {
        let name = |debug: String| debug.to_lowercase();
        let allocator = match self.allocator {
            Allocator::NearestCylinder => "nearest-cylinder".to_owned(),
            other => name(format!("{other:?}")),
        };
        let share = |of: u64| of as f64 / 64.0;
        let cleaner = match self.cleaner {
            None => String::new(),
            Some(Cleaner::Idle { after, empty }) => format!(
                "cleaner = {{ idle = {{ after = \"{after} ns\", empty = {:?} }} }}\n",
                share(empty)
            ),
            Some(Cleaner::Watermark { low, high }) => format!(
                "cleaner = {{ watermark = {{ low = {:?}, high = {:?} }} }}\n",
                share(low),
                share(high)
            ),
        };
        let initial = match self.initial {
            0 => String::new(),
            blocks => format!(
                "initial = {{ write = \"{} blocks\", gap = \"0 ms\" }}\n",
                blocks * self.sectors * sector
            ),
        };
        format!(
            "[device.hdd.placement.eager]\nblock = \"{} blocks\"\nallocator = \"{allocator}\"\nties = \"{}\"\nreserve = {:?}\n\
             recovery = \"{}\"\n{cleaner}{initial}",
            self.sectors * sector,
            name(format!("{:?}", self.ties)),
            share(self.reserve),
            if self.has_virtual_log {
                "virtual-log"
            } else {
                "headers"
            },
        )
    }
}

impl Case {
    /// The spec, for a drive's file and a trace in these places.
    pub fn spec(&self, drive: &str, trace: &str) -> String {
        let mut text = self.disk.spec(drive, trace);
        let choice = match self.choice {
            Choice::Soonest => "\"soonest\"".to_owned(),
            Choice::Nearest => "\"nearest\"".to_owned(),
            Choice::Split { reads, writes } => {
                format!("{{ split = {{ reads = {reads}, writes = {writes} }} }}")
            }
            Choice::Adaptive(Adaptive {
                window,
                margin,
                reads,
                writes,
            }) => format!(
                "{{ adaptive = {{ window = {window}, margin = {:?}, reads = {reads}, writes = {writes} }} }}",
                margin as f64 / 64.0
            ),
        };
        let motion = match self.is_independent {
            true => "independent",
            false => "one-at-a-time",
        };
        _ = write!(
            text,
            "[device.hdd.arms]\nmotion = \"{motion}\"\nchoice = {choice}\n"
        );
        text += &self
            .log
            .map_or(String::new(), |log| log.text(self.disk.drive.sector));
        for arm in &self.arms {
            let ArmSpec {
                reads,
                writes,
                surfaces,
                cylinders,
                start,
                ..
            } = arm;
            _ = write!(
                text,
                "[[device.hdd.arms.arm]]\nangle = {:?}\nreads = {reads}\nwrites = {writes}\nsurfaces = [{}, {}]\ncylinders = [{}, {}]\n\
                 start = {start}\n",
                arm.angle as f64 / 64.0,
                surfaces.0,
                surfaces.1,
                cylinders.0,
                cylinders.1,
            );
        }
        text
    }

    /// All of it, to look into a difference.
    pub fn shown(&self) -> String {
        format!(
            "# drive.toml\n{}\n# spec.toml\n{}\n# trace.csv\n{}",
            self.disk.drive.text(),
            self.spec("drive.toml", "trace.csv"),
            self.disk.trace()
        )
    }
}
