//! A client's connection: its socket, what it has sent, and what is still to be sent to it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use super::nbd::{MOST_BYTES, Session};

/// Bytes that are read at a time.
const PIECE: usize = 1 << 16;
/// The most requests of a connection in flight.
const MOST_REQUESTS: u32 = 1024;
/// The bytes of requests and replies from which on a connection's further requests wait.
const MOST_HELD: u64 = MOST_BYTES as u64;

/// A stream of bytes from and to a client.
pub enum Stream {
    /// By a path.
    Unix(UnixStream),
    /// By an address.
    Tcp(TcpStream),
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(into),
            Stream::Tcp(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(from),
            Stream::Tcp(stream) => stream.write(from),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection.
pub struct Connection {
    stream: Stream,
    /// The protocol's state.
    pub session: Session,
    /// What was sent and not handled yet.
    pub input: Vec<u8>,
    /// What is to be sent, from `sent` on.
    pub out: Vec<u8>,
    sent: usize,
    /// Requests that are not answered yet.
    pub in_flight: u32,
    /// What these hold, and what their answers will: bytes.
    pub held: u64,
    /// When it was made, and when the client last took or sent something, ns of the wall.
    pub made: u64,
    /// When something last went through it.
    pub moved: u64,
    /// It ends once everything is sent.
    pub ends: bool,
    /// What the poller looks for: something to read, room to write.
    pub interest: (bool, bool),
}

impl Connection {
    /// A connection that has just been made.
    pub fn new(stream: Stream, now: u64) -> Connection {
        let mut out = Vec::new();
        let session = Session::new(&mut out);
        Connection {
            stream,
            session,
            input: Vec::new(),
            out,
            sent: 0,
            in_flight: 0,
            held: 0,
            made: now,
            moved: now,
            ends: false,
            interest: (true, false),
        }
    }

    /// The socket.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Bytes that are to be sent.
    pub fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    /// The memory that the client makes it hold, bytes.
    pub fn memory(&self) -> u64 {
        self.held + self.input.len() as u64 + self.unsent() as u64
    }

    /// Whether another request of it may be taken, where all connections together have room for more or not.
    pub fn may_ask(&self, has_room: bool) -> bool {
        let own = self.held + self.unsent() as u64;
        !self.ends && self.in_flight < MOST_REQUESTS && has_room && own < MOST_HELD
    }

    /// Reads what is there, up to a request that is as large as they may be. `false` where the client has gone.
    pub fn receive(&mut self, now: u64) -> io::Result<bool> {
        while self.input.len() < MOST_HELD as usize + PIECE {
            let there = self.input.len();
            self.input.resize(there + PIECE, 0);
            let read = self.stream.read(&mut self.input[there..]);
            self.input.truncate(there + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.moved = now;
                    if count < PIECE {
                        return Ok(true);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Forgets bytes off the front of the input.
    pub fn consume(&mut self, count: usize) {
        self.input.drain(..count);
        if self.input.is_empty() && self.input.capacity() > PIECE {
            self.input = Vec::new();
        }
    }

    /// Sends what the socket takes.
    pub fn send(&mut self, now: u64) -> io::Result<()> {
        while self.unsent() > 0 {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.sent += count;
                    self.moved = now;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.unsent() == 0 {
            self.out.clear();
            self.sent = 0;
            if self.out.capacity() > PIECE {
                self.out = Vec::new();
            }
        } else if self.sent > PIECE && self.sent > self.out.len() / 2 {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }
}
