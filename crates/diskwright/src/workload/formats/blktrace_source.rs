//! One file of blktrace's records.
//!
//! A record is `struct blk_io_trace` (version 7, 48 bytes) or `struct blk_io_trace2` (version 8, 64 bytes) of
//! Linux's `include/uapi/linux/blktrace_api.h`, in the byte order of the recording machine, and then `pdu_len` bytes of payload.

use crate::base::error::{Error, InputError, Place};
use crate::base::units::{BLOCK_BYTES, Time};
use crate::workload::input::Input;

use super::blk_events::{self, BlkEvent, EventRequests, Extent, category};

/// The magic number without the version, which is its lowest byte.
pub const MAGIC: u32 = 0x6561_7400;
/// Versions of `struct blk_io_trace` and `struct blk_io_trace2`.
pub const VERSIONS: [u32; 2] = [7, 8];
/// The sizes of their records, without payload.
const SIZES: [usize; 2] = [48, 64];

/// Bits of an action that say what happened; the rest are categories.
const NUMBER: u64 = 0xffff;
/// In the number of an action: the payload begins with the number of a control group.
const CGROUP: u64 = 1 << 8;
const CGROUP_BYTES: usize = 8;
/// The number of the note that tells the wall clock.
const TIMESTAMP: u64 = 1;

/// The records of a file.
pub struct Source {
    input: Input,
    /// The current record's number and offset.
    record: u64,
    offset: u64,
    /// The next record's number.
    next: u64,
    /// The wall clock when the recording began, in seconds since 1970.
    pub started: Option<u32>,
    /// Chosen events that are no requests.
    pub other: u64,
    /// Requests that are not of whole blocks.
    pub widened: u64,
    /// Events that were not recorded, by the gaps in their numbers.
    pub missing: u64,
    last: Option<Numbered>,
}

/// Whose event it was, and its number there.
struct Numbered {
    cpu: u32,
    device: u32,
    sequence: u32,
}

/// The fields of a record that are of use.
struct Fields {
    sequence: u32,
    time: u64,
    sector: u64,
    bytes: u32,
    action: u64,
    device: u32,
    cpu: u32,
    payload: usize,
}

/// A record's bytes, with their order.
struct Bytes<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl Bytes<'_> {
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes[at..at + N]);
        if !self.big {
            array.reverse();
        }
        array
    }
    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.array(at))
    }
    fn u32(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.array(at))
    }
    fn u64(&self, at: usize) -> u64 {
        u64::from_be_bytes(self.array(at))
    }
}

/// Whether a magic number is big-endian, and its version; `None` for any other number.
pub fn version(magic: [u8; 4]) -> Option<(bool, u32)> {
    let orders = [
        (false, u32::from_le_bytes(magic)),
        (true, u32::from_be_bytes(magic)),
    ];
    let found = orders.into_iter().find(|(_, n)| n & !0xff == MAGIC);
    found.map(|(big, number)| (big, number & 0xff))
}

impl Source {
    /// The records of `input`.
    pub fn new(input: Input) -> Source {
        Source {
            offset: input.offset(),
            input,
            record: 0,
            next: 0,
            started: None,
            other: 0,
            widened: 0,
            missing: 0,
            last: None,
        }
    }

    /// The next requests that came by `event`.
    ///
    /// # Errors
    /// The file cannot be read, is a damaged archive, ends within a record, or has something else where a record should be.
    pub fn next(&mut self, event: BlkEvent) -> Result<Option<EventRequests>, Error> {
        while let Some(fields) = self.fields()? {
            let (number, category) = (fields.action & NUMBER & !CGROUP, fields.action >> 16);
            if category & category::NOTIFY != 0 {
                continue;
            }
            self.count_missing(&fields);
            if number != event.number() {
                continue;
            }
            let bytes = u64::from(fields.bytes);
            let extent = Extent {
                at: Time::from_ns(fields.time),
                device: fields.device,
                lbn: fields.sector,
                blocks: bytes.div_ceil(BLOCK_BYTES),
            };
            let Some(requests) = blk_events::event_requests(category, extent) else {
                self.other += 1;
                continue;
            };
            self.widened += u64::from(!bytes.is_multiple_of(BLOCK_BYTES));
            return Ok(Some(requests));
        }
        Ok(None)
    }

    /// The place of the record just read.
    pub fn place(&self) -> Place {
        Place::Record {
            file: self.input.path().to_owned(),
            record: self.record,
            offset: self.offset,
        }
    }

    /// Reads one record; `None` at the end of the file.
    fn fields(&mut self) -> Result<Option<Fields>, Error> {
        self.record = self.next;
        self.next += 1;
        self.offset = self.input.offset();
        let mut bytes = [0; SIZES[1]];
        let have = match self.input.peek(SIZES[1]) {
            Ok(first) => {
                bytes[..first.len()].copy_from_slice(first);
                first.len()
            }
            Err(e) => return Err(self.input.fault(e, self.place())),
        };
        if have == 0 {
            return Ok(None);
        }
        let magic = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if have < magic.len() {
            return Err(self.cut_off(SIZES[0], have));
        }
        let Some((big, version)) = version(magic) else {
            return Err(self.wrong_magic(magic));
        };
        let Some(known) = VERSIONS.iter().position(|v| *v == version) else {
            let [old, new] = VERSIONS;
            let message = format!("record version {version}: expected {old} or {new}");
            return Err(self.wrong(message).into());
        };
        let size = SIZES[known];
        if have < size {
            return Err(self.cut_off(size, have));
        }
        let bytes = Bytes { bytes: &bytes, big };
        let fields = Fields::new(&bytes, version);
        let whole = size + fields.payload;
        let (have, started) = match self.input.peek(whole) {
            Ok(bytes) => {
                let started = fields.timestamp(bytes.get(size..whole), big);
                (bytes.len(), started)
            }
            Err(e) => return Err(self.input.fault(e, self.place())),
        };
        if have < whole {
            return Err(self.cut_off(whole, have));
        }
        self.started = self.started.or(started);
        self.input.skip(whole);
        Ok(Some(fields))
    }

    /// Events of a CPU and device are numbered one by one, so that one after the other in a file have numbers that follow.
    #[inline]
    fn count_missing(&mut self, fields: &Fields) {
        if let Some(last) = &self.last
            && (last.cpu, last.device) == (fields.cpu, fields.device)
        {
            let step = fields.sequence.wrapping_sub(last.sequence);
            // A step back is a new recording, or disorder.
            if step < 1 << 31 {
                self.missing += u64::from(step.saturating_sub(1));
            }
        }
        self.last = Some(Numbered {
            cpu: fields.cpu,
            device: fields.device,
            sequence: fields.sequence,
        });
    }

    #[cold]
    fn wrong(&self, message: String) -> InputError {
        InputError::new(message).at(self.place())
    }
    #[cold]
    fn cut_off(&self, expected: usize, found: usize) -> Error {
        let message =
            format!("the file ends within a record: {found} bytes of at least {expected}");
        self.wrong(message).into()
    }
    #[cold]
    fn wrong_magic(&self, magic: [u8; 4]) -> Error {
        let [a, b, c, d] = magic;
        let message = format!(
            "expected the magic number of a record, {:#010x}, in either byte order, found the bytes {a:02x} {b:02x} {c:02x} {d:02x}",
            MAGIC | VERSIONS[0]
        );
        self.wrong(message).into()
    }
}

impl Fields {
    #[inline]
    fn new(bytes: &Bytes<'_>, version: u32) -> Fields {
        let (action, device) = if version == VERSIONS[0] {
            (u64::from(bytes.u32(28)), 36)
        } else {
            (bytes.u64(32), 40)
        };
        Fields {
            sequence: bytes.u32(4),
            time: bytes.u64(8),
            sector: bytes.u64(16),
            bytes: bytes.u32(24),
            action,
            device: bytes.u32(device),
            cpu: bytes.u32(device + 4),
            payload: usize::from(bytes.u16(device + 10)),
        }
    }

    /// The seconds that a note of the wall clock tells.
    #[inline]
    fn timestamp(&self, payload: Option<&[u8]>, big: bool) -> Option<u32> {
        let note = category::NOTIFY << 16 | TIMESTAMP;
        if self.action & !CGROUP != note {
            return None;
        }
        let skipped = if self.action & CGROUP != 0 {
            CGROUP_BYTES
        } else {
            0
        };
        let bytes = payload?.get(skipped..skipped + 8)?;
        Some(Bytes { bytes, big }.u32(0))
    }
}

#[cfg(test)]
pub mod made {
    //! Records put together for tests.
    use super::category::{QUEUE, WRITE};

    /// The number of the queue event.
    pub const Q: u64 = 1;
    const SYNC: u64 = 1 << 3;

    /// A record to be put together, by its number in the file.
    #[derive(Clone, Copy)]
    pub struct Made {
        pub version: u32,
        pub big: bool,
        pub time: u64,
        pub sector: u64,
        pub bytes: u32,
        pub action: u64,
        pub device: u32,
        pub cpu: u32,
        pub payload: &'static [u8],
    }

    pub const MADE: Made = Made {
        version: 7,
        big: false,
        time: 5,
        sector: 1000,
        bytes: 4096,
        action: Q | (QUEUE | WRITE | SYNC) << 16,
        device: 8 << 20,
        cpu: 0,
        payload: b"",
    };

    impl Made {
        /// Each field on its own, as the header has them.
        pub fn record(&self, sequence: u32) -> Vec<u8> {
            let mut out = Vec::new();
            let mut put = |bytes: &[u8]| match self.big {
                true => out.extend(bytes),
                false => out.extend(bytes.iter().rev()),
            };
            put(&(0x6561_7400 | self.version).to_be_bytes());
            put(&sequence.to_be_bytes());
            put(&self.time.to_be_bytes());
            put(&self.sector.to_be_bytes());
            put(&self.bytes.to_be_bytes());
            let pid = 697u32.to_be_bytes();
            if self.version == 8 {
                put(&pid);
                put(&self.action.to_be_bytes());
            } else {
                put(&u32::try_from(self.action).unwrap().to_be_bytes());
                put(&pid);
            }
            put(&self.device.to_be_bytes());
            put(&self.cpu.to_be_bytes());
            put(&0u16.to_be_bytes());
            put(&(self.payload.len() as u16).to_be_bytes());
            if self.version == 8 {
                put(&[0; 12]);
            }
            out.extend(self.payload);
            out
        }
    }

    pub fn file(made: &[Made]) -> Vec<u8> {
        let numbered = made.iter().zip(1..);
        numbered.flat_map(|(made, n)| made.record(n)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::super::{BlktraceOptions, FormatOptions, TraceReader};
    use super::made::{MADE, Made, Q, file};
    use super::*;
    use crate::base::units::Lbn;
    use crate::engine::request::Op;
    use crate::workload::record::Record;
    use category::{DISCARD, FLUSH, FUA, NOTIFY, PASSTHROUGH, QUEUE, READ, WRITE};

    const ISSUE: u64 = 1 << 6;
    const D: u64 = 7;
    const COMPLETE: u64 = 8;
    const REMAP: u64 = 15;
    const IN_CGROUP: u64 = 1 << 8;

    fn options(event: BlkEvent) -> FormatOptions {
        FormatOptions {
            blktrace: BlktraceOptions { event },
            ..FormatOptions::default()
        }
    }

    fn drain(reader: &mut dyn TraceReader) -> Vec<Record> {
        std::iter::from_fn(|| reader.next().unwrap()).collect()
    }

    #[test]
    fn records_of_both_versions_and_orders_are_read() {
        for version in [7, 8] {
            for big in [false, true] {
                let bytes = file(&[Made {
                    version,
                    big,
                    ..MADE
                }]);
                assert_eq!(bytes.len(), if version == 7 { 48 } else { 64 });
                let first = if big { 0x65 } else { version as u8 };
                assert_eq!(bytes[0], first);
                let read = records(bytes, &FormatOptions::default()).unwrap();
                let expected = Record {
                    arrival: Time::from_ns(5),
                    device: 8 << 20,
                    op: Op::Write,
                    fua: false,
                    lbn: Lbn(1000),
                    blocks: 8,
                    recorded: None,
                };
                assert_eq!(read, [expected], "{version} {big}");
            }
        }
    }

    #[test]
    fn only_the_event_asked_for_is_an_arrival() {
        let note = |number: u64, payload| Made {
            action: number | NOTIFY << 16,
            payload,
            ..MADE
        };
        let of = |number: u64, categories: u64, bytes: u32| Made {
            action: number | categories << 16,
            bytes,
            ..MADE
        };
        let bytes = file(&[
            note(0, b"kjournald\0\0\0\0\0\0\0"),
            note(1, b"\x00\xf1\x53\x65\x05\0\0\0"),
            note(2 | IN_CGROUP, b"\x01\0\0\0\0\0\0\0a message"),
            of(Q, QUEUE | READ, 4096),
            Made {
                payload: &[0; 16],
                ..of(REMAP, QUEUE | READ, 4096)
            },
            Made {
                payload: &[0; 8],
                ..of(Q | IN_CGROUP, QUEUE | WRITE | FUA, 1000)
            },
            of(Q, QUEUE | WRITE | DISCARD, 8192),
            of(Q, QUEUE | WRITE | FLUSH, 0),
            of(Q, QUEUE | WRITE | FLUSH | FUA, 512),
            of(Q, QUEUE | WRITE, 0),
            Made {
                payload: b"\x12\0\0\0\x24\0",
                ..of(D, ISSUE | READ | PASSTHROUGH, 36)
            },
            of(D, ISSUE | WRITE, 4096),
            of(D, ISSUE | READ | FLUSH, 0),
            of(COMPLETE, 1 << 7 | WRITE, 4096),
        ]);
        let mut queued = reader(bytes.clone(), &FormatOptions::default()).unwrap();
        let seen = |read: &[Record]| -> Vec<_> {
            read.iter()
                .map(|r| (r.op, r.fua, r.lbn.0, r.blocks))
                .collect()
        };
        assert_eq!(
            seen(&drain(&mut *queued)),
            [
                (Op::Read, false, 1000, 8),
                (Op::Write, true, 1000, 2),
                (Op::Trim, false, 1000, 16),
                (Op::Flush, false, 0, 0),
                (Op::Flush, false, 0, 0),
                (Op::Write, true, 1000, 1),
            ]
        );
        assert_eq!(queued.start_date(), Some("2023-11-14T22:13:20"));
        assert_eq!(queued.discarded(), 1);
        let notes = queued.notes();
        assert!(notes[0].contains("1 events"), "{notes:?}");
        assert!(notes[1].contains("1 requests"), "{notes:?}");
        let mut issued = reader(bytes, &options(BlkEvent::Issue)).unwrap();
        let read = drain(&mut *issued);
        assert_eq!(
            seen(&read),
            [(Op::Write, false, 1000, 8), (Op::Flush, false, 0, 0)]
        );
        assert_eq!(issued.discarded(), 1);
    }

    #[test]
    fn a_files_end_within_a_record_is_located() {
        let whole = file(&[
            MADE,
            Made {
                payload: b"abc",
                ..MADE
            },
        ]);
        for length in 48..whole.len() {
            let result = records(&whole[..length], &FormatOptions::default());
            if length == 48 {
                assert_eq!(result.unwrap().len(), 1);
                continue;
            }
            let error = located(result.unwrap_err());
            assert!(error.message.contains("ends within a record"), "{error}");
            assert!(matches!(
                error.place,
                Some(Place::Record {
                    record: 1,
                    offset: 48,
                    ..
                })
            ));
        }
    }

    #[test]
    fn what_is_no_record_is_located() {
        let wrong = |bytes: &[u8]| -> InputError {
            let mut all = file(&[MADE]);
            all.extend(bytes);
            let error = located(records(all, &forced("blktrace")).unwrap_err());
            assert!(matches!(
                error.place,
                Some(Place::Record {
                    record: 1,
                    offset: 48,
                    ..
                })
            ));
            error
        };
        let error = wrong(b"\0tae, and more");
        assert!(error.message.contains("record version 0"), "{error}");
        let error = wrong(&Made { version: 6, ..MADE }.record(2));
        assert!(error.message.contains("record version 6"), "{error}");
        let error = wrong(b"text");
        assert!(
            error.message.contains("0x65617407") && error.message.contains("74 65 78 74"),
            "{error}"
        );
    }

    #[test]
    fn gaps_in_the_numbers_are_told() {
        let numbered = |numbers: &[u32]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| MADE.record(*n)).collect();
            let mut reader = reader(bytes, &FormatOptions::default()).unwrap();
            drain(&mut *reader);
            reader.warnings()
        };
        assert!(numbered(&[7, 8, 9]).is_empty());
        assert!(numbered(&[u32::MAX, 0, 1]).is_empty());
        // Disorder, and the same number again, are no gaps.
        assert!(numbered(&[3, 2, 3, 3]).is_empty());
        assert!(numbered(&[1, 2, 5, 7])[0].starts_with("3 events"));
        // In a merged file the records between may be of other CPUs.
        let others =
            [(0, 1), (1, 5), (0, 9), (0, 10)].map(|(cpu, n)| Made { cpu, ..MADE }.record(n));
        let mut reader = reader(others.concat(), &FormatOptions::default()).unwrap();
        drain(&mut *reader);
        assert!(reader.warnings().is_empty());
    }
}
