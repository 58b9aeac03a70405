//! Simulates again what has entered a device, without clients and clocks.

use std::ops::ControlFlow;
use std::path::Path;

use serde_json::Value;

use super::records::{Decoder, Entry, Record};
use super::{Fate, Reader};
use crate::base::error::Error;
use crate::base::units::Time;
use crate::engine::request::{Command, Op, RequestId};
use crate::engine::{Engine, Initiator, Port, Token};
use crate::runs::serve::watcher::{Status, Watcher};

/// A device that goes on.
pub struct Resumed {
    /// The simulated instant.
    pub at: Time,
    /// The requests that it has served.
    pub requests: u64,
    /// The last serving did not end well: what was recorded last may be missing.
    pub is_cut_short: bool,
    /// The bytes of the file, in whole chunks.
    pub whole: u64,
    /// What records are told from.
    pub(super) decoder: Decoder,
    pub(super) fate: Fate,
    /// What has happened since the last record, and is to be recorded.
    pub(super) added: Vec<Record>,
}

/// The host of a device whose past is simulated.
pub struct Replay<'a> {
    reader: Reader,
    next: Option<Record>,
    /// The hash that the completions must have before the next record.
    check: Option<u64>,
    fate: Fate,
    /// When each thing of the spec goes wrong.
    faults: &'a [Time],
    now: Time,
    in_flight: u32,
    requests: u64,
    /// The last record was the end of a serving.
    is_paused: bool,
    is_cut_short: bool,
    /// It is flushed in the end: still to be, or when it was.
    flushes: bool,
    flushed: Option<Time>,
    watcher: &'a mut dyn Watcher,
    failed: Option<Error>,
}

impl<'a> Replay<'a> {
    /// The past that a file tells of a device of this identity. With `flushes` the device is flushed in the end.
    ///
    /// # Errors
    /// As those of [`Reader::open`].
    pub fn open(
        (path, identity): (&Path, &Value),
        flushes: bool,
        faults: &'a [Time],
        watcher: &'a mut dyn Watcher,
    ) -> Result<Replay<'a>, Error> {
        let mut replay = Replay {
            reader: Reader::open(path, identity)?,
            next: None,
            check: None,
            fate: Fate::default(),
            faults,
            now: Time::ZERO,
            in_flight: 0,
            requests: 0,
            is_paused: true,
            is_cut_short: false,
            flushes,
            flushed: None,
            watcher,
            failed: None,
        };
        replay.read()?;
        Ok(replay)
    }

    /// Simulates it on a device that is new.
    ///
    /// # Errors
    /// The file is damaged, or the device does what it has not done.
    pub fn run(mut self, engine: &mut Engine) -> Result<Resumed, Error> {
        let run = engine.run(&mut self);
        if let Some(error) = self.failed {
            return Err(error);
        }
        run?;
        let at = self.now.max(engine.now());
        let mut added = Vec::new();
        if let Some(at) = self.flushed {
            if self.is_cut_short {
                added.push(Record::Pause(at));
            }
            added.push(Record::Enters {
                at,
                begins: true,
                entry: Entry::Command(FLUSH),
            });
        }
        if self.is_cut_short || self.flushed.is_some() {
            added.push(Record::Pause(at));
        }
        Ok(Resumed {
            at,
            requests: self.requests,
            is_cut_short: self.is_cut_short,
            whole: self.reader.whole(),
            decoder: self.reader.decoder,
            fate: self.fate,
            added,
        })
    }

    /// Reads the next record.
    fn read(&mut self) -> Result<(), Error> {
        loop {
            self.next = self.reader.record()?;
            match self.next {
                Some(Record::Check(hash)) => self.check = Some(hash),
                Some(_) => return Ok(()),
                None => {
                    self.is_cut_short = !self.is_paused;
                    return Ok(());
                }
            }
        }
    }

    /// Goes behind a record that is there.
    fn go_on(&mut self) -> Result<(), Error> {
        if let Some(hash) = self.check.take()
            && hash != self.fate.hash()
        {
            return Err(self.reader.differs());
        }
        self.is_paused = matches!(self.next, Some(Record::Pause(_)));
        self.read()
    }

    fn follow(&mut self, next: Option<Time>, is_over: bool) -> Result<Option<Time>, Error> {
        loop {
            match &self.next {
                Some(Record::Enters { at, .. }) => {
                    return Ok(Some(next.map_or(*at, |next| next.min(*at))));
                }
                Some(Record::Pause(at)) => {
                    if let Some(next) = next.filter(|next| next <= at) {
                        return Ok(Some(next));
                    }
                    self.now = self.now.max(*at);
                    self.go_on()?;
                }
                Some(Record::Check(_)) => unreachable!("they are read with the next record"),
                None => break,
            }
        }
        // A fault that is still to come is no reason to go on.
        let waits = |next: &Time| self.in_flight > 0 || !self.faults.contains(next);
        if let Some(next) = next
            .filter(waits)
            .filter(|_| !is_over && (self.is_cut_short || self.flushed.is_some()))
        {
            return Ok(Some(next));
        }
        if self.flushes && self.flushed.is_none() {
            // Behind what is still to happen in this instant.
            return Ok(Some(self.now));
        }
        Ok(None)
    }

    fn enter(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        let now = port.now();
        let mut is_first = true;
        while let Some(Record::Enters { at, begins, entry }) = &self.next
            && *at <= now
            && (is_first || !begins)
        {
            is_first = false;
            match entry.clone() {
                Entry::Command(command) => self.submit(&command, port),
                Entry::Fault(fault) => port.inject(fault),
            }
            self.go_on()?;
        }
        if is_first && self.flushes && self.next.is_none() && self.flushed.is_none() {
            self.flushed = Some(now);
            self.submit(&FLUSH, port);
        }
        Ok(())
    }

    fn submit(&mut self, command: &Command, port: &mut Port<'_>) {
        port.submit(command, port.now(), self.requests);
        self.requests += 1;
        self.in_flight += 1;
    }
}

/// What a device is asked at the end, where what it had not promised is not known.
const FLUSH: Command = Command {
    op: Op::Flush,
    fua: false,
    lbn: crate::base::units::Lbn(0),
    blocks: 0,
};

impl Initiator for Replay<'_> {
    fn start(&mut self, _port: &mut Port<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn alarm(&mut self, token: Token, _port: &mut Port<'_>) -> Result<(), Error> {
        unreachable!("a replay sets no alarm, and {token:?} rang")
    }

    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        self.fate.add(port.request(request));
        self.in_flight -= 1;
        Ok(())
    }

    fn power_lost(&mut self, _now: Time) {
        // A state ends with the power; only a device that does something else than before gets here.
        let error = self.reader.differs();
        self.failed.get_or_insert(error);
    }

    fn tick(&mut self) -> ControlFlow<()> {
        let status = Status {
            answered: self.requests,
            now: self.now,
            ..Status::default()
        };
        self.watcher.watch(&status, 0)
    }

    fn advance(&mut self, next: Option<Time>, is_over: bool) -> Option<Time> {
        match self.follow(next, is_over) {
            Ok(at) => {
                self.now = at.unwrap_or(self.now);
                at
            }
            Err(error) => {
                self.failed.get_or_insert(error);
                None
            }
        }
    }

    fn arrive(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        self.enter(port)
    }
}
