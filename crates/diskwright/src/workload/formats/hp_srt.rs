//! HP's SRT traces of the early nineties: a text header, a form feed, then big-endian 32-bit words.

use crate::base::error::{Error, InputError, Place};
use crate::base::units::{Lbn, Time};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::record::{Record, Recorded};

use super::hp_header::{Header, MAX_HEADER};
use super::{Format, FormatOptions, TraceReader, outward, widened_note};

const NAME: &str = "hp-srt";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["srt"],
    summary: "HP SRT binary, record versions 1 to 4",
    detect,
    open,
    write: None,
};

const SIGNATURE: &[u8] = b"$$TR_IOREC";
const FORM_FEED: u8 = 0x0c;
/// The longest record: version 4, suspect.
const LONGEST: usize = 60;
/// The header's sector sizes are this at most; anything larger is a damaged header.
const MAX_SECTOR: u32 = 1 << 16;

fn detect(first: &[u8]) -> bool {
    let text = |b: &u8| b.is_ascii_graphic() || b.is_ascii_whitespace();
    let header = memchr::memchr(FORM_FEED, first).map(|end| &first[..end]);
    first.starts_with(SIGNATURE)
        || header
            .is_some_and(|h| h.iter().all(text) && memchr::memmem::find(h, b"tracedate").is_some())
}

fn open(mut input: Input, options: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    let file = Place::File(input.path().to_owned());
    let first = match input.peek(MAX_HEADER) {
        Ok(first) => first,
        Err(e) => return Err(input.fault(e, file)),
    };
    let Some(end) = memchr::memchr(FORM_FEED, first) else {
        return Err(InputError::new(
            "the header of an HP trace ends with a form feed, and there is none",
        )
        .at(file)
        .into());
    };
    let header = Header::parse(&String::from_utf8_lossy(&first[..end]));
    input.skip(end + 1);
    if let Some(bytes) = options.sector_bytes
        && !(1..=MAX_SECTOR).contains(&bytes)
    {
        return Err(InputError::new(format!(
            "workload.sector_bytes is {bytes}: expected 1 to {MAX_SECTOR}"
        ))
        .into());
    }
    Ok(Box::new(Reader {
        offset: input.offset(),
        input,
        header,
        sector_bytes: options.sector_bytes,
        record: 0,
        next: 0,
        discarded: 0,
        widened: 0,
    }))
}

struct Reader {
    input: Input,
    header: Header,
    /// The user's word on the size of a sector.
    sector_bytes: Option<u32>,
    /// The current record's number and offset.
    record: u64,
    offset: u64,
    /// The next record's number.
    next: u64,
    discarded: u64,
    widened: u64,
}

/// What a record is for.
#[derive(PartialEq)]
enum Kind {
    Request,
    /// The tracing system itself doubted it.
    Suspect,
}

impl Reader {
    /// Reads one record's words into `words`; `None` at the end of the file.
    fn words(&mut self, words: &mut [u32; LONGEST / 4]) -> Result<Option<Kind>, Error> {
        self.record = self.next;
        self.next += 1;
        self.offset = self.input.offset();
        let record = match self.input.peek(LONGEST) {
            Ok(record) => record,
            Err(e) => return Err(self.input.fault(e, self.place())),
        };
        if record.is_empty() {
            return Ok(None);
        }
        let have = record.len();
        for (word, bytes) in words.iter_mut().zip(record.chunks_exact(4)) {
            *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        if have < 8 {
            return Err(self.cut_off(8, have).into());
        }
        let (version, kind) = (words[1] >> 16, words[1] & 0xffff);
        let basic = match version {
            1..=3 => 52,
            4 => 56,
            _ => {
                return Err(self
                    .wrong(format!("record version {version}: expected 1 to 4"))
                    .into());
            }
        };
        let (kind, expected) = match kind {
            1 => (Kind::Request, basic),
            4 => (Kind::Suspect, basic + 4),
            _ => {
                let message =
                    format!("record type {kind}: expected 1 (short I/O) or 4 (suspect I/O)");
                return Err(self.wrong(message).into());
            }
        };
        if words[0] != expected {
            let message = format!(
                "record size {} bytes: expected {expected} for version {version}",
                words[0]
            );
            return Err(self.wrong(message).into());
        }
        let size = expected as usize;
        if have < size {
            return Err(self.cut_off(size, have).into());
        }
        self.input.skip(size);
        Ok(Some(kind))
    }

    fn record(&mut self, words: &[u32; LONGEST / 4]) -> Result<Record, Error> {
        let device = words[8] >> 8 & 0xff;
        let sector_bytes = match self
            .sector_bytes
            .or_else(|| self.header.sector_bytes(device))
        {
            Some(bytes) if (1..=MAX_SECTOR).contains(&bytes) => bytes,
            Some(bytes) => {
                let message = format!("the header gives device {device} sectors of {bytes} bytes");
                return Err(self.sector_error(message).into());
            }
            None => {
                let message =
                    format!("the header does not say how large the sectors of device {device} are");
                return Err(self.sector_error(message).into());
            }
        };
        let arrival = u64::from(words[2]) * 1_000_000_000 + u64::from(words[3]) * 1_000;
        let first_byte = u64::from(words[7]) * u64::from(sector_bytes);
        let (lbn, blocks, widened) = outward(first_byte, u64::from(words[6]))
            .ok_or_else(|| self.wrong("the request ends past the last address".to_owned()))?;
        self.widened += u64::from(widened);
        let service = words[5].checked_sub(words[4]);
        Ok(Record {
            arrival: Time::from_ns(arrival),
            device,
            op: if words[11] & 1 != 0 {
                Op::Read
            } else {
                Op::Write
            },
            fua: false,
            lbn: Lbn(lbn),
            blocks: Record::clamp_blocks(blocks),
            recorded: Some(Recorded {
                service: service.map(|us| Time::from_us(u64::from(us))),
                gap: None,
            }),
        })
    }

    #[cold]
    fn wrong(&self, message: String) -> InputError {
        InputError::new(message).at(self.place())
    }
    #[cold]
    fn cut_off(&self, expected: usize, found: usize) -> InputError {
        self.wrong(format!(
            "the file ends within a record: {found} bytes of at least {expected}"
        ))
    }
    #[cold]
    fn sector_error(&self, message: String) -> InputError {
        self.wrong(message)
            .help("give the sector size, such as 512 (--sector-bytes N, or workload.sector_bytes in a spec)")
    }
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        let mut words = [0; LONGEST / 4];
        loop {
            match self.words(&mut words)? {
                None => return Ok(None),
                Some(Kind::Request) => return self.record(&words).map(Some),
                Some(Kind::Suspect) => self.discarded += 1,
            }
        }
    }
    fn place(&self) -> Place {
        Place::Record {
            file: self.input.path().to_owned(),
            record: self.record,
            offset: self.offset,
        }
    }
    fn format(&self) -> &'static str {
        NAME
    }
    fn discarded(&self) -> u64 {
        self.discarded
    }
    fn start_date(&self) -> Option<&str> {
        self.header.start_date.as_deref()
    }
    fn warnings(&self) -> Vec<String> {
        let suspect = (self.discarded > 0).then(|| {
            format!(
                "{} records are marked suspect in the trace and were left out",
                self.discarded
            )
        });
        suspect.into_iter().collect()
    }
    fn notes(&self) -> Vec<String> {
        widened_note(self.widened).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const HEADER: &str = "$$TR_IOREC-1.3\ntracedate = \"Sat May 30 00:03:06 1992\";\ndisks = {\n 0 -> { sectorsize = 256, },\n 1 -> { sectorsize = 512 } };\n\x0c";

    /// A record's words, with the parts the tests vary.
    fn words(
        version: u32,
        kind: u32,
        bytes: u32,
        sector: u32,
        device: u32,
        flags: u32,
    ) -> Vec<u32> {
        let mut words = vec![
            0,
            version << 16 | kind,
            1,
            500_000,
            174,
            19_687,
            bytes,
            sector,
        ];
        words.extend([0x0800_0008 | device << 8, 4, 1, flags, 0]);
        if version == 4 {
            words.push(1);
        }
        if kind == 4 {
            words.push(0);
        }
        words[0] = words.len() as u32 * 4;
        words
    }

    fn file(header: &str, records: &[Vec<u32>]) -> Vec<u8> {
        let words = records.iter().flatten().flat_map(|w| w.to_be_bytes());
        header.bytes().chain(words).collect()
    }

    fn read(header: &str, all: &[Vec<u32>]) -> Result<Vec<Record>, Error> {
        records(file(header, all), &FormatOptions::default())
    }

    #[test]
    fn a_record_is_read_as_documented() {
        let read = read(
            HEADER,
            &[
                words(4, 1, 4096, 1056, 0, 0x101),
                words(1, 1, 512, 7, 1, 0x100),
            ],
        )
        .unwrap();
        assert_eq!(
            read[0],
            Record {
                arrival: Time::from_ms(1_500),
                device: 0,
                op: Op::Read,
                fua: false,
                lbn: Lbn(528),
                blocks: 8,
                recorded: Some(Recorded {
                    service: Some(Time::from_us(19_513)),
                    gap: None
                }),
            }
        );
        assert_eq!(
            (read[1].device, read[1].lbn.0, read[1].blocks, read[1].op),
            (1, 7, 1, Op::Write)
        );
    }

    #[test]
    fn every_version_has_its_length_and_suspect_records_are_left_out() {
        let all: Vec<_> = (1..=4)
            .flat_map(|v| [words(v, 1, 512, 2, 0, 1), words(v, 4, 512, 2, 0, 1)])
            .collect();
        let mut reader = reader(file(HEADER, &all), &FormatOptions::default()).unwrap();
        let mut count = 0;
        while reader.next().unwrap().is_some() {
            count += 1;
        }
        assert_eq!((count, reader.discarded()), (4, 4));
        assert_eq!(reader.start_date(), Some("1992-05-30T00:03:06"));
        assert!(reader.warnings()[0].contains("4 records"));
    }

    #[test]
    fn half_blocks_are_widened_and_told() {
        let mut reader = reader(
            file(HEADER, &[words(4, 1, 512, 3, 0, 1)]),
            &FormatOptions::default(),
        )
        .unwrap();
        let record = reader.next().unwrap().unwrap();
        assert_eq!((record.lbn.0, record.blocks), (1, 2));
        assert!(reader.notes()[0].contains("1 requests"));
    }

    #[test]
    fn wrong_records_are_located() {
        let good = words(4, 1, 512, 2, 0, 1);
        for (change, expected) in [
            ((0, 52), "record size 52"),
            ((1, 5 << 16 | 1), "version 5"),
            ((1, 1), "version 0"),
            ((1, 4 << 16 | 2), "type 2"),
            ((8, 2 << 8), "device 2"),
        ] {
            let mut bad = good.clone();
            bad[change.0] = change.1;
            let error = located(read(HEADER, &[good.clone(), bad]).unwrap_err());
            assert!(error.message.contains(expected), "{error}");
            let at = HEADER.len() as u64 + 56;
            assert!(
                matches!(error.place, Some(Place::Record { record: 1, offset, .. }) if offset == at)
            );
        }
    }

    #[test]
    fn a_file_cut_anywhere_in_a_record_is_located() {
        let whole = file(HEADER, &[words(4, 1, 512, 2, 0, 1)]);
        for length in HEADER.len() + 1..whole.len() {
            let error = located(records(&whole[..length], &FormatOptions::default()).unwrap_err());
            assert!(
                error.message.contains("ends within a record"),
                "{length}: {error}"
            );
        }
        assert!(
            records(&whole[..HEADER.len()], &FormatOptions::default())
                .unwrap()
                .is_empty()
        );
        let error =
            located(records(&whole[..HEADER.len() - 1], &FormatOptions::default()).unwrap_err());
        assert!(error.message.contains("form feed"));
    }

    #[test]
    fn the_sector_size_can_be_given() {
        let options = FormatOptions {
            sector_bytes: Some(512),
            ..FormatOptions::default()
        };
        let read = records(file(HEADER, &[words(4, 1, 512, 1056, 9, 1)]), &options).unwrap();
        assert_eq!(read[0].lbn.0, 1056);
        let options = FormatOptions {
            sector_bytes: Some(0),
            ..FormatOptions::default()
        };
        let error = records(file(HEADER, &[]), &options).unwrap_err();
        assert!(error.to_string().contains("workload.sector_bytes"));
    }
}
