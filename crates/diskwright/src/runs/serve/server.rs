//! The server: clients' requests in, answers out, in one thread with the simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::contents::{Change, Contents, Journal, Left};
use super::control::Control;
use super::listener::Listener;
use super::live::{Inbox, Incoming, Outside};
use super::nbd::errno::{EIO, ENOSPC};
use super::nbd::{
    Ask, Export, Kind, Step, error_of, reply_block_status, reply_done, reply_error, reply_read,
};
use super::poller::Poller;
use super::watcher::{Status, Watcher};
use crate::base::error::Error;
use crate::base::units::{BLOCK_BYTES, Lbn};
use crate::engine::checker::Checker;
use crate::engine::request::{Command, Op, Outcome};

/// The most connections. A further one is closed at once.
const MOST_CONNECTIONS: usize = 500;
/// What all connections together may hold before their further requests wait, bytes.
const MOST_MEMORY: u64 = 256 << 20;
/// How long a handshake may take, ns.
const HANDSHAKE: u64 = 10_000_000_000;
/// How long a client may stand still that holds memory which others wait for, ns.
const STANDSTILL: u64 = 5_000_000_000;
/// How long clients have to take their last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// The most extents of an answer.
const MOST_EXTENTS: usize = 1024;

/// Names of what the poller looks at; connections follow.
const LISTENER: u64 = 0;
const CONTROL: u64 = 1;
const FIRST: u64 = 2;

/// A request on its way through the device.
struct Pending {
    client: u64,
    ask: Ask,
    /// The number of the change that it makes, where these are counted.
    change: u64,
}

impl Pending {
    /// What it changes, where it does.
    fn change(&self, trims_zeros: bool) -> Option<Change> {
        let is_trim = match self.ask.kind {
            Kind::Write => false,
            Kind::Trim => true,
            Kind::Zero { kept } => trims_zeros && !kept,
            Kind::Read | Kind::Flush | Kind::Status { .. } => return None,
        };
        Some(Change {
            number: self.change,
            lbn: self.ask.offset / BLOCK_BYTES,
            blocks: u64::from(self.ask.length) / BLOCK_BYTES,
            is_trim,
        })
    }

    /// The bytes that it writes; none for zeros.
    fn bytes(&self) -> Option<&[u8]> {
        (self.ask.kind == Kind::Write).then_some(self.ask.payload.as_slice())
    }
}

/// How a server behaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// It never sleeps while a client is there.
    pub busy: bool,
    /// What is made zero may be forgotten: the device has no spindle.
    pub trims_zeros: bool,
    /// It keeps what a power cut would leave.
    pub cuts_power: bool,
    /// What is flushed or written with FUA is on the disk of this machine before it is answered.
    pub syncs: bool,
}

/// What a server has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that were made.
    pub connections: u64,
    /// Those that were closed at once, since there were too many.
    pub turned_away: u64,
    /// Those that were closed for standing still.
    pub stood_still: u64,
    /// Requests whose contents could not be read or written.
    pub contents_failed: u64,
}

/// The server of a device.
pub struct Server<'a> {
    listener: Listener,
    control: Option<Control>,
    poller: Poller,
    contents: Box<dyn Contents>,
    export: Export,
    manner: Manner,
    started: Instant,
    clients: BTreeMap<u64, Connection>,
    next: u64,
    pending: Vec<Option<Pending>>,
    free: Vec<u32>,
    /// What all clients make the server hold, as of the last look, bytes.
    memory: u64,
    /// Clients that have asked for more than could be taken.
    waiting: Vec<u64>,
    /// Clients to which something is to be sent.
    unsent: Vec<u64>,
    counts: Counts,
    /// Where the power may be cut: what it would leave, and the changes that were under way when it was.
    journal: Option<Journal>,
    unacknowledged: BTreeSet<u64>,
    watcher: &'a mut dyn Watcher,
}

impl<'a> Server<'a> {
    /// A server that nobody has connected to.
    ///
    /// # Errors
    /// The system has no poller for it.
    pub fn new(
        (listener, control): (Listener, Option<Control>),
        export: Export,
        contents: Box<dyn Contents>,
        manner: Manner,
        watcher: &'a mut dyn Watcher,
    ) -> io::Result<Server<'a>> {
        use std::os::fd::AsFd;
        let poller = Poller::new()?;
        poller.add(listener.as_fd(), LISTENER, (true, false))?;
        if let Some(control) = &control {
            poller.add(control.fd(), CONTROL, (true, false))?;
        }
        Ok(Server {
            listener,
            control,
            poller,
            contents,
            export,
            manner,
            started: Instant::now(),
            clients: BTreeMap::new(),
            next: FIRST,
            pending: Vec::new(),
            free: Vec::new(),
            memory: 0,
            waiting: Vec::new(),
            unsent: Vec::new(),
            counts: Counts::default(),
            journal: manner.cuts_power.then(Journal::default),
            unacknowledged: BTreeSet::new(),
            watcher,
        })
    }

    /// What was counted.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Gives clients their last answers, and brings the contents to where they stay.
    ///
    /// # Errors
    /// The contents cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        let until = Instant::now() + LAST_ANSWERS;
        while self.clients.values().any(|client| client.unsent() > 0) && Instant::now() < until {
            let ready = self.poller.wait(20_000_000)?;
            for ready in ready.iter().filter(|ready| ready.writable) {
                self.unsent.push(ready.name);
            }
            self.send_all();
        }
        self.clients.clear();
        self.contents.finish()
    }

    fn ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    fn accept(&mut self, now: u64) {
        while let Ok(Some(stream)) = self.listener.accept() {
            self.counts.connections += 1;
            if self.clients.len() >= MOST_CONNECTIONS {
                self.counts.turned_away += 1;
                continue;
            }
            let client = Connection::new(stream, now);
            let name = self.next;
            if self.poller.add(client.fd(), name, client.interest).is_ok() {
                self.next += 1;
                self.clients.insert(name, client);
                self.unsent.push(name);
            }
        }
    }

    fn close(&mut self, name: u64) {
        if let Some(client) = self.clients.remove(&name) {
            self.poller.remove(client.fd());
        }
    }

    /// Takes what a client has sent.
    fn receive(&mut self, name: u64, now: u64, inbox: &mut Inbox) {
        let Some(client) = self.clients.get_mut(&name) else {
            return;
        };
        match client.receive(now) {
            Ok(true) => self.handle(name, now, inbox),
            Ok(false) => {
                // What it has asked for before it left is still done.
                self.handle(name, now, inbox);
                self.close(name);
            }
            Err(_) => self.close(name),
        }
    }

    /// Handles what a client has sent, as far as there is room for it.
    fn handle(&mut self, name: u64, now: u64, inbox: &mut Inbox) {
        let Some(mut client) = self.clients.remove(&name) else {
            return;
        };
        let mut at = 0;
        let before = client.memory();
        loop {
            if client.session.is_transmitting()
                && !client.may_ask(self.memory < MOST_MEMORY)
                && at < client.input.len()
            {
                self.waiting.push(name);
                break;
            }
            let (taken, step) =
                client
                    .session
                    .step(&client.input[at..], &self.export, &mut client.out);
            at += taken;
            match step {
                Step::More => break,
                Step::Answered => {}
                Step::Close => {
                    client.ends = true;
                    break;
                }
                Step::Asks(ask) => self.take(name, &mut client, ask, now, inbox),
            }
        }
        client.consume(at);
        self.memory = (self.memory + client.memory()).saturating_sub(before);
        self.unsent.push(name);
        self.clients.insert(name, client);
    }

    /// Takes a request to the device, or answers it.
    fn take(&mut self, name: u64, client: &mut Connection, ask: Ask, now: u64, inbox: &mut Inbox) {
        if let Kind::Status { one } = ask.kind {
            return self.status(client, &ask, one);
        }
        let op = match ask.kind {
            Kind::Read | Kind::Status { .. } => Op::Read,
            Kind::Zero { kept: false } if self.manner.trims_zeros => Op::Trim,
            Kind::Write | Kind::Zero { .. } => Op::Write,
            Kind::Flush => Op::Flush,
            Kind::Trim => Op::Trim,
        };
        let command = Command {
            op,
            fua: ask.fua && op == Op::Write,
            lbn: Lbn(ask.offset / BLOCK_BYTES),
            blocks: (u64::from(ask.length) / BLOCK_BYTES) as u32,
        };
        client.in_flight += 1;
        client.held += held(&ask);
        let pending = Some(Pending {
            client: name,
            ask,
            change: 0,
        });
        let ticket = match self.free.pop() {
            Some(ticket) => {
                self.pending[ticket as usize] = pending;
                ticket
            }
            None => {
                self.pending.push(pending);
                self.pending.len() as u32 - 1
            }
        };
        inbox.requests.push_back(Incoming {
            command,
            ticket,
            at: now,
        });
    }

    fn status(&mut self, client: &mut Connection, ask: &Ask, one: bool) {
        let mut extents: Vec<(u32, bool)> = Vec::new();
        let (mut at, mut left) = (ask.offset, u64::from(ask.length));
        let most = if one { 1 } else { MOST_EXTENTS };
        while left > 0 && extents.len() <= most {
            let Ok((length, is_hole)) = self.contents.extent(at, left) else {
                return reply_error(&mut client.out, true, ask.cookie, EIO);
            };
            // Blocks are told of as a whole: one that is partly a hole is none.
            let block = u64::from(self.export.block);
            let length = match is_hole && length < left {
                true => length / block * block,
                false => length.next_multiple_of(block).min(left),
            };
            let (length, is_hole) = if length == 0 {
                (block, false)
            } else {
                (length, is_hole)
            };
            match extents.last_mut() {
                Some((all, was_hole)) if *was_hole == is_hole => *all += length as u32,
                _ => extents.push((length as u32, is_hole)),
            }
            at += length;
            left -= length;
        }
        extents.truncate(most);
        reply_block_status(&mut client.out, ask.cookie, &extents);
    }

    /// Sends what can be sent, and looks for what can be done next.
    fn send_all(&mut self) {
        let now = self.ns();
        while let Some(name) = self.unsent.pop() {
            let Some(client) = self.clients.get_mut(&name) else {
                continue;
            };
            let is_broken = client.send(now).is_err();
            if is_broken || client.ends && client.unsent() == 0 && client.in_flight == 0 {
                self.close(name);
                continue;
            }
            let full = client.session.is_transmitting() && !client.may_ask(true);
            let interest = (!full && !client.ends, client.unsent() > 0);
            if interest != client.interest {
                client.interest = interest;
                if self.poller.change(client.fd(), name, interest).is_err() {
                    self.close(name);
                }
            }
        }
    }

    /// Looks after clients that stand still.
    fn look_after(&mut self, now: u64) {
        self.memory = self.clients.values().map(Connection::memory).sum();
        let is_tight = self.memory >= MOST_MEMORY;
        let stands = |client: &Connection| {
            let holds = client.unsent() > 0 || !client.input.is_empty();
            !client.session.is_transmitting() && now.saturating_sub(client.made) > HANDSHAKE
                || is_tight && holds && now.saturating_sub(client.moved) > STANDSTILL
        };
        let mut gone: Vec<u64> = (self.clients.iter())
            .filter(|(_, client)| stands(client))
            .map(|(name, _)| *name)
            .collect();
        gone.sort_unstable();
        self.counts.stood_still += gone.len() as u64;
        gone.into_iter().for_each(|name| self.close(name));
    }

    /// Notes what a request changes, where the power may be cut.
    fn note(&mut self, pending: &Pending) -> io::Result<()> {
        match (&mut self.journal, pending.change(self.manner.trims_zeros)) {
            (Some(journal), Some(change)) => {
                journal.note(change, pending.bytes(), &mut *self.contents)
            }
            _ => Ok(()),
        }
    }

    /// After a power cut: makes the contents what the device has left, and tells which of the writes that were answered are gone. `None`
    /// where that is not known.
    ///
    /// # Errors
    /// The contents cannot be written.
    pub fn cut(&mut self, left: impl Fn(u64) -> Left) -> io::Result<Option<Vec<Change>>> {
        let Some(journal) = &mut self.journal else {
            return Ok(None);
        };
        let acknowledged = |number| !self.unacknowledged.contains(&number);
        journal
            .cut(&mut *self.contents, left, acknowledged)
            .map(Some)
    }

    /// Reads or writes what a completed request is about, and answers it.
    fn complete(&mut self, pending: Pending, error: u32) {
        let Pending {
            client: name, ask, ..
        } = pending;
        let mut client = self.clients.get_mut(&name);
        if let Some(client) = &mut client {
            client.in_flight -= 1;
            client.held -= held(&ask);
        }
        let (offset, length) = (ask.offset, u64::from(ask.length));
        let done = match ask.kind {
            _ if error != 0 => Ok(()),
            Kind::Read => {
                let Some(client) = client else {
                    return;
                };
                let (out, structured) = (&mut client.out, client.session.is_structured());
                let before = out.len();
                reply_read(out, structured, ask.cookie, offset, ask.length);
                let from = out.len();
                out.resize(from + ask.length as usize, 0);
                if let Err(error) = self.contents.read(offset, &mut out[from..]) {
                    out.truncate(before);
                    self.counts.contents_failed += 1;
                    reply_error(out, structured, ask.cookie, told(&error));
                }
                return self.unsent.push(name);
            }
            Kind::Write => self.contents.write(offset, &ask.payload),
            Kind::Trim => self.contents.zero(offset, length, false),
            Kind::Zero { kept } => self.contents.zero(offset, length, kept),
            Kind::Flush | Kind::Status { .. } => Ok(()),
        };
        let syncs = self.manner.syncs && (ask.fua || ask.kind == Kind::Flush);
        let done = match done {
            Ok(()) if syncs && error == 0 => self.contents.sync(),
            done => done,
        };
        let error = match done {
            Ok(()) => error,
            Err(failure) => {
                self.counts.contents_failed += 1;
                told(&failure)
            }
        };
        if let Some(client) = client {
            match ask.kind {
                Kind::Read => {
                    let structured = client.session.is_structured();
                    reply_error(&mut client.out, structured, ask.cookie, error);
                }
                _ => reply_done(&mut client.out, ask.cookie, error),
            }
            self.unsent.push(name);
        }
    }
}

/// What a request holds while it is under way, or its answer will, bytes.
fn held(ask: &Ask) -> u64 {
    match ask.kind {
        Kind::Read | Kind::Write => u64::from(ask.length),
        Kind::Flush | Kind::Trim | Kind::Zero { .. } | Kind::Status { .. } => 0,
    }
}

/// What a client is told where the contents fail.
fn told(error: &io::Error) -> u32 {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ENOSPC
        }
        _ => EIO,
    }
}

impl Outside for Server<'_> {
    fn now(&mut self) -> u64 {
        self.ns()
    }

    fn wait(&mut self, until: u64, inbox: &mut Inbox) -> Result<(), Error> {
        let failed =
            |error: io::Error| Error::Simulation(format!("cannot wait for clients: {error}"));
        for name in std::mem::take(&mut self.waiting) {
            let now = self.ns();
            self.handle(name, now, inbox);
        }
        self.send_all();
        loop {
            let now = self.ns();
            let left = match inbox.requests.is_empty() && inbox.faults.is_empty() {
                true => until.saturating_sub(now),
                false => 0,
            };
            let spins = self.manner.busy && !self.clients.is_empty();
            let ready = self
                .poller
                .wait(if spins { 0 } else { left })
                .map_err(failed)?;
            let now = self.ns();
            for ready in &ready {
                match ready.name {
                    LISTENER => self.accept(now),
                    CONTROL => {
                        if let Some(control) = &mut self.control {
                            control.hear(now, inbox);
                        }
                    }
                    name => {
                        if ready.readable {
                            self.receive(name, now, inbox);
                        }
                        if ready.writable {
                            self.unsent.push(name);
                        }
                    }
                }
            }
            self.send_all();
            if !spins
                || left == 0
                || !inbox.requests.is_empty()
                || !inbox.faults.is_empty()
                || now >= until
            {
                return Ok(());
            }
        }
    }

    fn entered(&mut self, ticket: u32, change: Option<u64>) {
        if let (Some(Some(pending)), Some(change)) = (self.pending.get_mut(ticket as usize), change)
        {
            pending.change = change;
        }
    }

    fn answer(
        &mut self,
        ticket: u32,
        outcome: Outcome,
        checker: Option<&Checker>,
    ) -> Result<(), Error> {
        if let Some(pending) = self.pending[ticket as usize].take() {
            self.free.push(ticket);
            let kind = pending.ask.kind;
            let noted = match outcome {
                Outcome::Ok => self.note(&pending),
                _ => Ok(()),
            };
            let error = noted.map_or_else(|error| told(&error), |()| error_of(outcome));
            self.complete(pending, error);
            self.send_all();
            if let (Some(journal), Some(checker)) = (&mut self.journal, checker)
                && (kind == Kind::Flush || journal.is_due())
            {
                journal.forget(|lbn, change| checker.may_be_left(lbn, change));
            }
        }
        Ok(())
    }

    fn power_lost(&mut self) {
        // Whoever has written and not been answered does not know what became of it.
        let under_way = std::mem::take(&mut self.pending);
        for pending in under_way.into_iter().flatten() {
            if pending.change > 0 && pending.change(self.manner.trims_zeros).is_some() {
                self.unacknowledged.insert(pending.change);
                if self.note(&pending).is_err() {
                    self.counts.contents_failed += 1;
                }
            }
        }
        self.clients.clear();
        self.free.clear();
    }

    fn tick(&mut self, status: &Status) -> ControlFlow<()> {
        let now = self.ns();
        self.look_after(now);
        self.watcher.watch(status, self.clients.len())
    }
}
