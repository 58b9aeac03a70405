//! A client's side of the protocol: bytes in, requests out.

use super::errno::{EINVAL, ENOSPC, EOVERFLOW, EPERM};
use super::options::{self, Agreed, Next};
use super::{Export, MOST_BYTES, Put, Take, reply_done, reply_error};

const MAGIC: &[u8; 8] = b"NBDMAGIC";
const OPTION: &[u8; 8] = b"IHAVEOPT";
const REQUEST: u32 = 0x2560_9513;
const REQUEST_BYTES: usize = 28;
/// The most bytes of an option.
const MOST_OPTION: u32 = 1 << 16;

const FIXED_NEWSTYLE: u32 = 1;
const NO_ZEROES: u32 = 2;

/// Flags of requests.
const FUA: u16 = 1;
const NO_HOLE: u16 = 2;
const DONT_FRAGMENT: u16 = 4;
const REQ_ONE: u16 = 8;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes.
    Read,
    /// Bytes to be kept, which follow.
    Write,
    /// What was written before is to be safe.
    Flush,
    /// Bytes are not needed any more.
    Trim,
    /// Bytes are to be zero, and to keep their space if asked for.
    Zero {
        /// They keep their space.
        kept: bool,
    },
    /// Which bytes take space.
    Status {
        /// The first extent will do.
        one: bool,
    },
}

/// A request that is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What for.
    pub kind: Kind,
    /// The client's name of it.
    pub cookie: u64,
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub length: u32,
    /// It is to be safe when it is answered.
    pub fua: bool,
    /// What is to be written.
    pub payload: Vec<u8>,
}

/// What a step has found.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// More bytes are needed.
    More,
    /// A request, which needs so many bytes of the input.
    Asks(Ask),
    /// Something that was answered.
    Answered,
    /// The connection is over, once what is to be sent is sent.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Flags,
    Options { no_zeroes: bool },
    Transmission,
    Closed,
}

/// A connection's state.
#[derive(Debug)]
pub struct Session {
    phase: Phase,
    agreed: Agreed,
}

impl Session {
    /// A session, and what the server says first.
    pub fn new(out: &mut Vec<u8>) -> Session {
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(OPTION);
        out.u16((FIXED_NEWSTYLE | NO_ZEROES) as u16);
        Session {
            phase: Phase::Flags,
            agreed: Agreed::default(),
        }
    }

    /// Whether reads are answered in chunks.
    pub fn is_structured(&self) -> bool {
        self.agreed.structured
    }

    /// Whether the handshake is over.
    pub fn is_transmitting(&self) -> bool {
        self.phase == Phase::Transmission
    }

    /// Takes the next message off the front of `input`, if it is there as a whole: gives how many bytes it had, and what it was.
    pub fn step(&mut self, input: &[u8], export: &Export, out: &mut Vec<u8>) -> (usize, Step) {
        let (taken, step) = match self.phase {
            Phase::Flags => self.flags(input),
            Phase::Options { no_zeroes } => self.option(input, export, no_zeroes, out),
            Phase::Transmission => self.request(input, export, out),
            Phase::Closed => (input.len(), Step::Close),
        };
        if step == Step::Close {
            self.phase = Phase::Closed;
        }
        (taken, step)
    }

    fn flags(&mut self, input: &[u8]) -> (usize, Step) {
        let Some(flags) = Take(input).u32() else {
            return (0, Step::More);
        };
        if flags & !(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
            return (4, Step::Close);
        }
        self.phase = Phase::Options {
            no_zeroes: flags & NO_ZEROES != 0,
        };
        (4, Step::Answered)
    }

    fn option(
        &mut self,
        input: &[u8],
        export: &Export,
        no_zeroes: bool,
        out: &mut Vec<u8>,
    ) -> (usize, Step) {
        // What is wrong from the first byte on is not waited for.
        let known = input.len().min(OPTION.len());
        if input[..known] != OPTION[..known] {
            return (input.len(), Step::Close);
        }
        let mut front = Take(input);
        let head = (front.u64(), front.u32(), front.u32());
        let (Some(_), Some(option), Some(length)) = head else {
            return (0, Step::More);
        };
        if length > MOST_OPTION {
            return (input.len(), Step::Close);
        }
        let Some(data) = front.bytes(length as usize) else {
            return (0, Step::More);
        };
        let taken = input.len() - front.0.len();
        let next = options::handle(option, data, export, no_zeroes, &mut self.agreed, out);
        let step = match next {
            Next::Option => Step::Answered,
            Next::Transmission => {
                self.phase = Phase::Transmission;
                Step::Answered
            }
            Next::Close => Step::Close,
        };
        (taken, step)
    }

    fn request(&mut self, input: &[u8], export: &Export, out: &mut Vec<u8>) -> (usize, Step) {
        let magic = REQUEST.to_be_bytes();
        let known = input.len().min(magic.len());
        if input[..known] != magic[..known] {
            return (input.len(), Step::Close);
        }
        if input.len() < REQUEST_BYTES {
            return (0, Step::More);
        }
        let mut front = Take(&input[4..REQUEST_BYTES]);
        let head = (
            front.u16(),
            front.u16(),
            front.u64(),
            front.u64(),
            front.u32(),
        );
        let (Some(flags), Some(kind), Some(cookie), Some(offset), Some(length)) = head else {
            return (0, Step::More);
        };
        let mut taken = REQUEST_BYTES;
        let mut payload = &input[..0];
        if kind == 1 {
            // A payload that is too large is not read to its end.
            if length > MOST_BYTES {
                reply_done(out, cookie, EOVERFLOW);
                return (input.len(), Step::Close);
            }
            let Some(bytes) = input.get(taken..taken + length as usize) else {
                return (0, Step::More);
            };
            payload = bytes;
            taken += bytes.len();
        }
        let kind = match kind {
            0 => Kind::Read,
            1 => Kind::Write,
            2 => return (taken, Step::Close),
            3 => Kind::Flush,
            4 => Kind::Trim,
            6 => Kind::Zero {
                kept: flags & NO_HOLE != 0,
            },
            7 => Kind::Status {
                one: flags & REQ_ONE != 0,
            },
            _ => {
                reply_done(out, cookie, EINVAL);
                return (taken, Step::Answered);
            }
        };
        let ask = Ask {
            kind,
            cookie,
            offset,
            length,
            fua: flags & FUA != 0,
            payload: payload.to_vec(),
        };
        if let Some(error) = self.wrong(&ask, flags, export) {
            let in_chunks = matches!(kind, Kind::Read | Kind::Status { .. });
            reply_error(out, in_chunks && self.agreed.structured, cookie, error);
            return (taken, Step::Answered);
        }
        (taken, Step::Asks(ask))
    }

    /// What is wrong with a request.
    fn wrong(&self, ask: &Ask, flags: u16, export: &Export) -> Option<u32> {
        let allowed = match ask.kind {
            Kind::Read => DONT_FRAGMENT,
            Kind::Write | Kind::Trim => FUA,
            Kind::Flush => 0,
            Kind::Zero { .. } => FUA | NO_HOLE,
            Kind::Status { .. } => REQ_ONE,
        };
        // FUA is allowed everywhere, as the protocol has it: where nothing is written it says nothing.
        if flags & !(allowed | FUA) != 0 {
            return Some(EINVAL);
        }
        let writes = matches!(ask.kind, Kind::Write | Kind::Trim | Kind::Zero { .. });
        if writes && export.read_only {
            return Some(EPERM);
        }
        if ask.kind == Kind::Flush {
            return (ask.offset != 0 || ask.length != 0).then_some(EINVAL);
        }
        if matches!(ask.kind, Kind::Status { .. }) && !self.agreed.allocation {
            return Some(EINVAL);
        }
        let block = export.block;
        if ask.length == 0
            || !ask.offset.is_multiple_of(u64::from(block))
            || !ask.length.is_multiple_of(block)
        {
            return Some(EINVAL);
        }
        let end = ask.offset.checked_add(u64::from(ask.length));
        if end.is_none_or(|end| end > export.size) {
            return Some(if writes { ENOSPC } else { EINVAL });
        }
        (ask.kind == Kind::Read && ask.length > MOST_BYTES).then_some(EOVERFLOW)
    }
}
