//! From the records of a trace to accesses of a cache.

use std::ops::Range;
use std::path::Path;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::chunk::{Access, Chunk, OBJECT_BITS, Source};
use crate::base::error::{Error, InputError, Place};
use crate::base::progress::{Progress, tell};
use crate::base::units::{BLOCK_BYTES, Size};
use crate::engine::request::Op;
use crate::workload::{Devices, Record, TraceReader};

/// Bits of an object's key that number the place on its device; the others number the device.
const PLACE_BITS: u32 = 48;
const PLACES: u64 = 1 << PLACE_BITS;
const DEVICES: u64 = 1 << (OBJECT_BITS - PLACE_BITS);

/// What was read of the trace so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    /// Records, whatever they are.
    pub(super) records: u64,
    /// Requests that touch the cache.
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// Flushes and trims, records of other devices, and those the format marks as not to be used.
    pub(super) skipped: u64,
    /// What the requests touch, by reads and by writes.
    pub(super) accesses: [u64; 2],
}

/// The accesses of a trace's reads and writes, in its order.
pub(super) struct Accesses {
    reader: Box<dyn TraceReader>,
    chosen: Option<u32>,
    /// 512-byte blocks in a block of the cache; none where a request is one object.
    block: Option<u64>,
    devices: Devices,
    numbers: Numbers,
    /// What the last record touches and no chunk has taken yet.
    pending: Range<u64>,
    write: bool,
    read: Read,
}

impl Accesses {
    /// Of all devices or the `chosen` one; of blocks of a size, or of objects named by the first block.
    pub(super) fn new(
        reader: Box<dyn TraceReader>,
        chosen: Option<u32>,
        block: Option<Size>,
    ) -> Accesses {
        Accesses {
            reader,
            chosen,
            block: block.map(Size::blocks),
            devices: Devices::default(),
            numbers: Numbers::default(),
            pending: 0..0,
            write: false,
            read: Read::default(),
        }
    }

    /// What was read so far.
    pub(super) fn read(&self) -> Read {
        Read {
            skipped: self.read.skipped + self.reader.discarded(),
            ..self.read
        }
    }

    /// The format's name.
    pub(super) fn format(&self) -> &'static str {
        self.reader.format()
    }

    /// What the user should know of the reading.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.reader.warnings()
    }

    /// What was left out or changed in the reading.
    pub(super) fn notes(&self) -> Vec<String> {
        self.reader.notes()
    }

    /// Tells, after the last access, of a trace that had none.
    ///
    /// # Errors
    /// There was no read or write, of the chosen device if one is.
    pub(super) fn check_found(&self, path: &Path) -> Result<(), Error> {
        if self.read.accesses != [0; 2] {
            return Ok(());
        }
        let error = match self.chosen {
            Some(chosen) => {
                let message = format!("the trace has no read or write of device {chosen}");
                InputError::new(message).help(format!("the devices seen: {}", self.devices))
            }
            None => InputError::new("the trace has no read or write"),
        };
        Err(error.at(Place::File(path.to_owned())).into())
    }

    /// The objects that a read or write touches.
    #[inline]
    fn touched(&mut self, record: &Record) -> Result<Range<u64>, Error> {
        let places = match self.block {
            None => record.lbn.0..record.lbn.0.saturating_add(1),
            Some(block) => {
                if record.blocks == 0 || record.blocks == Record::OVERSIZE {
                    return Err(self.bad_size(record));
                }
                let last = record.lbn.0.saturating_add(u64::from(record.blocks) - 1);
                record.lbn.0 / block..(last / block).saturating_add(1)
            }
        };
        if places.end > PLACES {
            return Err(self.too_far(record));
        }
        let Some(device) = self.numbers.of(record.device) else {
            return Err(self.too_many());
        };
        let base = device << PLACE_BITS;
        Ok(base + places.start..base + places.end)
    }

    #[cold]
    fn bad_size(&self, record: &Record) -> Error {
        let (size, most) = match record.blocks {
            0 => ("no blocks".to_owned(), Record::OVERSIZE - 1),
            blocks => (format!("{blocks} blocks or more"), Record::OVERSIZE - 1),
        };
        InputError::new(format!("the request has {size}: expected 1 to {most}"))
            .at(self.reader.place())
            .help("--granularity object counts requests, whatever their sizes")
            .into()
    }

    #[cold]
    fn too_far(&self, record: &Record) -> Error {
        let end = PLACES.saturating_mul(self.block.unwrap_or(1));
        let message = format!(
            "the request of {} blocks from LBN {} is too far on: expected {BLOCK_BYTES}-byte blocks before {end}",
            record.blocks, record.lbn
        );
        InputError::new(message).at(self.reader.place()).into()
    }

    #[cold]
    fn too_many(&self) -> Error {
        InputError::new(format!("the trace is of more than {DEVICES} devices"))
            .at(self.reader.place())
            .help("choose one of them (--device N)")
            .into()
    }
}

impl Source for Accesses {
    fn fill(&mut self, chunk: &mut Chunk, progress: &mut dyn Progress) -> Result<(), Error> {
        // A request larger than a chunk is told of as often as many small ones.
        if !self.pending.is_empty() && progress.update(self.read.records, None).is_break() {
            return Err(Error::Interrupted);
        }
        while !chunk.is_full() {
            if let Some(object) = self.pending.next() {
                chunk.push(Access::new(object, self.write));
                continue;
            }
            let Some(record) = self.reader.next()? else {
                break;
            };
            self.read.records += 1;
            tell(progress, self.read.records)?;
            let is_other = match self.chosen {
                Some(chosen) => {
                    self.devices.add(record.device);
                    record.device != chosen
                }
                None => false,
            };
            self.write = match record.op {
                Op::Read if !is_other => false,
                Op::Write if !is_other => true,
                Op::Read | Op::Write | Op::Flush | Op::Trim | Op::NvCache(_) => {
                    self.read.skipped += 1;
                    continue;
                }
            };
            self.pending = self.touched(&record)?;
            let count = self.pending.end - self.pending.start;
            self.read.accesses[usize::from(self.write)] += count;
            if self.write {
                self.read.writes += 1;
            } else {
                self.read.reads += 1;
            }
        }
        Ok(())
    }
}

/// Small numbers for devices, in the order in which they are first seen.
#[derive(Default)]
struct Numbers {
    known: HashMap<u32, u64, FixedState>,
    /// The device asked for last, and its number.
    last: Option<(u32, u64)>,
}

impl Numbers {
    #[inline]
    fn of(&mut self, device: u32) -> Option<u64> {
        if let Some((last, number)) = self.last
            && last == device
        {
            return Some(number);
        }
        let next = self.known.len() as u64;
        let number = *self.known.entry(device).or_insert(next);
        self.last = Some((device, number));
        (number < DEVICES).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::formats::testing::reader;

    const TEXT: &str = "time_s,device,lbn,blocks,op\n0,3,5,8,r\n1,7,5,1,w\n2,3,15,2,w\n3,3,0,0,flush\n4,3,9,1,trim\n";

    fn all(text: &str, chosen: Option<u32>, block: Option<u64>) -> Result<(Vec<u64>, Read), Error> {
        let reader = reader(text, &Default::default())?;
        let mut accesses = Accesses::new(reader, chosen, block.map(Size::from_blocks));
        let mut chunk = Chunk::default();
        accesses.fill(&mut chunk, &mut ())?;
        accesses.check_found(Path::new("trace"))?;
        let objects = chunk.accesses().iter().map(|access| access.object());
        Ok((objects.collect(), accesses.read()))
    }

    #[test]
    fn a_request_is_an_object_or_every_block_it_overlaps() {
        let (objects, read) = all(TEXT, None, None).expect("a trace");
        assert_eq!(objects, [5, PLACES + 5, 15]);
        assert_eq!((read.reads, read.writes, read.skipped), (1, 2, 2));
        let (blocks, read) = all(TEXT, None, Some(8)).expect("a trace");
        // LBN 5 to 12, 5, and 15 to 16.
        assert_eq!(blocks, [0, 1, PLACES, 1, 2]);
        assert_eq!(read.accesses, [2, 3]);
        let (blocks, read) = all(TEXT, Some(7), Some(8)).expect("a trace");
        assert_eq!((blocks, read.skipped, read.records), (vec![0], 4, 5));
    }

    #[test]
    fn a_large_request_fills_several_chunks() {
        let text = "time_s,lbn,blocks,op\n0,1,1000000,r\n1,0,1,w\n";
        let reader = reader(text, &Default::default()).expect("a trace");
        let mut accesses = Accesses::new(reader, None, Some(Size::from_blocks(1)));
        let (mut chunk, mut next) = (Chunk::default(), 1);
        loop {
            chunk.clear();
            accesses.fill(&mut chunk, &mut ()).expect("a trace");
            if chunk.is_empty() {
                break;
            }
            for access in chunk.accesses() {
                assert_eq!(access.object(), if access.write() { 0 } else { next });
                next += 1;
            }
        }
        assert_eq!(next, 1_000_002);
    }

    #[test]
    fn what_cannot_be_cached_is_told_with_its_place() {
        let refused = |line: &str, block| {
            let text = format!("time_s,lbn,blocks,op\n{line}\n");
            all(&text, None, block).expect_err(line).to_string()
        };
        for (line, block, message) in [
            ("0,0,0,r", Some(8), "has no blocks"),
            ("0,0,99999999999,r", Some(8), "or more: expected 1 to"),
            ("0,281474976710656,1,r", None, "before 281474976710656"),
            ("0,281474976710655,2,r", Some(1), "before 281474976710656"),
            ("0,36028797018963960,7,r", Some(8), "too far on"),
        ] {
            let error = refused(line, block);
            assert!(
                error.contains(message) && error.contains(":2"),
                "{line}: {error}"
            );
        }
        assert!(
            all(
                "time_s,lbn,blocks,op\n0,281474976710655,1,r\n",
                None,
                Some(1)
            )
            .is_ok()
        );
        assert!(all("time_s,lbn,blocks,op\n0,5,0,r\n", None, None).is_ok());
        let nothing = refused("0,0,0,flush", None);
        assert!(nothing.contains("no read or write"), "{nothing}");
        let other = all(TEXT, Some(1), None).expect_err("no device 1");
        assert!(
            other.to_string().contains("3 (4 requests), 7 (1 request)"),
            "{other}"
        );
    }
}
