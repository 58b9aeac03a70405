//! What a state has recorded: commands and faults at their instants, ends of servings, and hashes of what came of it.
//!
//! A record is a byte that says what it is, and numbers of seven bits a byte, lowest first. Instants are told by their distance from the
//! last one, blocks by their distance from the end of the last command.

use crate::base::units::{Lbn, Time};
use crate::engine::Injection;
use crate::engine::request::{Command, DeviceId, Op};

/// What a record's first byte says, in its lowest four bits.
const READ: u8 = 0;
const WRITE: u8 = 1;
const FLUSH: u8 = 2;
const TRIM: u8 = 3;
const FAIL: u8 = 4;
const MEDIA_ERROR: u8 = 5;
const PAUSE: u8 = 6;
const CHECK: u8 = 7;
/// A write has force unit access.
const FUA: u8 = 0x10;
/// It is the first that enters in its instant, or enters behind all that came of those before it; its instant follows.
const BEGINS: u8 = 0x20;
/// It begins where the last command ends.
const NEXT: u8 = 0x40;
/// It has as many blocks as the last command.
const SAME: u8 = 0x80;

/// What enters a device from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A request.
    Command(Command),
    /// Something goes wrong.
    Fault(Injection),
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Something enters at an instant.
    Enters {
        /// When.
        at: Time,
        /// Not together with the record before it.
        begins: bool,
        /// What.
        entry: Entry,
    },
    /// A serving ended at an instant, when nothing was under way.
    Pause(Time),
    /// The hash of the completions so far.
    Check(u64),
}

/// What records are told by their distance from.
#[derive(Default)]
struct Before {
    at: u64,
    end: u64,
    blocks: u64,
}

/// Writes records as bytes.
#[derive(Default)]
pub struct Encoder {
    before: Before,
    bytes: Vec<u8>,
}

impl Encoder {
    /// An encoder that goes on behind what a decoder has read.
    pub fn behind(decoder: Decoder) -> Encoder {
        Encoder {
            before: decoder.before,
            bytes: Vec::new(),
        }
    }

    /// The bytes that are not taken yet.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the bytes.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Adds a record.
    pub fn add(&mut self, record: &Record) {
        match record {
            Record::Enters { at, begins, entry } => match entry {
                Entry::Command(command) => self.command(command, begins.then_some(*at)),
                Entry::Fault(fault) => self.fault(fault, begins.then_some(*at)),
            },
            Record::Pause(at) => {
                self.bytes.push(PAUSE | BEGINS);
                self.instant(*at);
            }
            Record::Check(hash) => {
                self.bytes.push(CHECK);
                self.bytes.extend(hash.to_le_bytes());
            }
        }
    }

    fn instant(&mut self, at: Time) {
        self.number(at.ns() - self.before.at);
        self.before.at = at.ns();
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn command(&mut self, command: &Command, begins_at: Option<Time>) {
        let kind = match command.op {
            Op::Read => READ,
            Op::Write => WRITE,
            Op::Flush => FLUSH,
            Op::Trim => TRIM,
            Op::NvCache(command) => command.is_in_no_workload(),
        };
        let (lbn, blocks) = (command.lbn.0, u64::from(command.blocks));
        let distance = (lbn as i64).wrapping_sub(self.before.end as i64);
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        self.bytes.push(
            kind | flag(command.fua, FUA)
                | flag(begins_at.is_some(), BEGINS)
                | flag(distance == 0, NEXT)
                | flag(blocks == self.before.blocks, SAME),
        );
        begins_at.into_iter().for_each(|at| self.instant(at));
        if distance != 0 {
            // The sign is the lowest bit.
            self.number((distance << 1 ^ distance >> 63) as u64);
        }
        if blocks != self.before.blocks {
            self.number(blocks);
        }
        (self.before.end, self.before.blocks) = (lbn + blocks, blocks);
    }

    fn fault(&mut self, fault: &Injection, begins_at: Option<Time>) {
        let begins = if begins_at.is_some() { BEGINS } else { 0 };
        match fault {
            // What follows a power cut is another state.
            Injection::PowerCut => {}
            Injection::Fail(device) => {
                self.bytes.push(FAIL | begins);
                begins_at.into_iter().for_each(|at| self.instant(at));
                self.number(u64::from(device.0));
            }
            Injection::MediaError { device, blocks } => {
                self.bytes.push(MEDIA_ERROR | begins);
                begins_at.into_iter().for_each(|at| self.instant(at));
                self.number(u64::from(device.0));
                self.number(blocks.start);
                self.number(blocks.end - blocks.start);
            }
            Injection::Outage { .. } => unreachable!("a served device has no outages"),
        }
    }
}

/// Reads records from bytes.
#[derive(Default)]
pub struct Decoder {
    before: Before,
    bytes: Vec<u8>,
    read: usize,
}

impl Decoder {
    /// Adds bytes when those before are read. A record never lies in two pieces.
    pub fn feed(&mut self, bytes: Vec<u8>) {
        (self.bytes, self.read) = (bytes, 0);
    }

    /// The next record, as far as there are bytes. An error is one of the bytes.
    pub fn record(&mut self) -> Result<Option<Record>, ()> {
        let Some(&first) = self.bytes.get(self.read) else {
            return Ok(None);
        };
        self.read += 1;
        let begins = first & BEGINS != 0;
        if begins {
            let distance = self.number()?;
            self.before.at = self.before.at.checked_add(distance).ok_or(())?;
        }
        let at = Time::from_ns(self.before.at);
        let enters = |entry| Record::Enters { at, begins, entry };
        Ok(Some(match first & 0xf {
            READ | WRITE | FLUSH | TRIM => enters(Entry::Command(self.command(first)?)),
            FAIL => {
                let device = self.device()?;
                enters(Entry::Fault(Injection::Fail(device)))
            }
            MEDIA_ERROR => {
                let device = self.device()?;
                let from = self.number()?;
                let end = from.checked_add(self.number()?).ok_or(())?;
                let blocks = from..end;
                enters(Entry::Fault(Injection::MediaError { device, blocks }))
            }
            PAUSE => Record::Pause(at),
            CHECK => {
                let bytes = self.bytes.get(self.read..self.read + 8).ok_or(())?;
                let hash = u64::from_le_bytes(bytes.try_into().map_err(|_| ())?);
                self.read += 8;
                Record::Check(hash)
            }
            _ => return Err(()),
        }))
    }

    fn number(&mut self) -> Result<u64, ()> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.read).ok_or(())?;
            self.read += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(())
    }

    fn device(&mut self) -> Result<DeviceId, ()> {
        let number = u32::try_from(self.number()?);
        number.map(DeviceId).map_err(|_| ())
    }

    fn command(&mut self, first: u8) -> Result<Command, ()> {
        let op = match first & 0xf {
            READ => Op::Read,
            WRITE => Op::Write,
            FLUSH => Op::Flush,
            _ => Op::Trim,
        };
        let distance = match first & NEXT {
            0 => {
                let number = self.number()?;
                (number >> 1) as i64 ^ -((number & 1) as i64)
            }
            _ => 0,
        };
        let lbn = self.before.end.wrapping_add(distance as u64);
        let blocks = match first & SAME {
            0 => self.number()?,
            _ => self.before.blocks,
        };
        let end = lbn.checked_add(blocks).ok_or(())?;
        (self.before.end, self.before.blocks) = (end, blocks);
        Ok(Command {
            op,
            fua: first & FUA != 0,
            lbn: Lbn(lbn),
            blocks: u32::try_from(blocks).map_err(|_| ())?,
        })
    }
}
