//! Recordings of real drives made for DiskSim's validation: `R|W action lbn blocks service_us gap_us`, one request a line,
//! each issued a gap after the completion of the one before.

use crate::base::error::{Error, Place};
use crate::base::units::{Lbn, Time};
use crate::engine::request::Op;
use crate::workload::input::Input;
use crate::workload::record::{Record, Recorded};
use crate::workload::text::{Fields, Lines, TimeUnit, whole};

use super::{Format, FormatOptions, TraceReader, first_line};

const NAME: &str = "disksim-recording";

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["trace"],
    summary: "DiskSim validation recording: R or W, action, LBN, blocks, service time and gap in µs",
    detect,
    open,
    write: None,
};

fn detect(first: &[u8]) -> bool {
    parse(first_line(first)).is_ok()
}

fn open(input: Input, _: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    Ok(Box::new(Reader {
        lines: Lines::new(input),
        arrival: Time::ZERO,
    }))
}

struct Reader {
    lines: Lines,
    /// Arrival of the next request: where the recorded service times and gaps have led.
    arrival: Time,
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let line = match parse(self.lines.current()) {
            Ok(line) => line,
            Err((at, expected)) => {
                let error = self.lines.expected(at, expected).help(
                    "a line is: R or W, an action such as Hit, LBN, blocks, service time in µs, gap to the next arrival in µs",
                );
                return Err(error.into());
            }
        };
        let arrival = self.arrival;
        let next = arrival
            .checked_add(line.service)
            .and_then(|completion| completion.checked_add(line.gap));
        self.arrival = next.ok_or_else(|| {
            self.lines
                .wrong(0, "the recorded times add up to more than 584 years")
        })?;
        Ok(Some(Record {
            arrival,
            device: 0,
            op: line.op,
            fua: false,
            lbn: Lbn(line.lbn),
            blocks: Record::clamp_blocks(line.blocks),
            recorded: Some(Recorded {
                service: Some(line.service),
                gap: Some(line.gap),
            }),
        }))
    }
    fn place(&self) -> Place {
        self.lines.place(None)
    }
    fn format(&self) -> &'static str {
        NAME
    }
}

struct Line {
    op: Op,
    lbn: u64,
    blocks: u64,
    service: Time,
    gap: Time,
}

/// The line, or the byte offset of what is wrong and what was expected there.
#[inline]
fn parse(line: &[u8]) -> Result<Line, (usize, &'static str)> {
    let mut fields = Fields::new(line);
    let mut field = |expected| {
        fields
            .next()
            .map(|field| (field, (field.at, expected)))
            .ok_or((line.len(), expected))
    };
    let (op, wrong) = field("R or W")?;
    let op = match op.text {
        b"R" => Op::Read,
        b"W" => Op::Write,
        _ => return Err(wrong),
    };
    let (action, wrong) = field("an action such as Hit or Miss")?;
    if !action.text.iter().all(u8::is_ascii_alphabetic) {
        return Err(wrong);
    }
    let (lbn, wrong) = field("an LBN")?;
    let lbn = whole(lbn.text).ok_or(wrong)?;
    let (blocks, wrong) = field("a number of blocks")?;
    let blocks = whole(blocks.text).ok_or(wrong)?;
    let (service, wrong) = field("the service time in µs")?;
    let service = TimeUnit::US.time(service.text).ok_or(wrong)?;
    let (gap, wrong) = field("the gap to the next arrival in µs")?;
    let gap = TimeUnit::US.time(gap.text).ok_or(wrong)?;
    match fields.next() {
        Some(extra) => Err((extra.at, "the end of the line")),
        None => Ok(Line {
            op,
            lbn,
            blocks,
            service,
            gap,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn arrivals_follow_from_service_times_and_gaps() {
        let text = "R Hit 1975456 4 15362.00000 56074.00000\nW Miss 7 1 0.5 0\nR Hit 0 1 1 1\n";
        let read = records(text, &FormatOptions::default()).unwrap();
        let arrivals: Vec<_> = read.iter().map(|r| r.arrival.ns()).collect();
        assert_eq!(arrivals, [0, 71_436_000, 71_436_500]);
        assert_eq!(
            read[0],
            Record {
                arrival: Time::ZERO,
                device: 0,
                op: Op::Read,
                fua: false,
                lbn: Lbn(1_975_456),
                blocks: 4,
                recorded: Some(Recorded {
                    service: Some(Time::from_us(15_362)),
                    gap: Some(Time::from_us(56_074))
                }),
            }
        );
        assert_eq!(read[1].op, Op::Write);
    }

    #[test]
    fn every_field_is_checked_and_located() {
        for (line, column, expected) in [
            ("X Hit 1 2 3 4", 1, "R or W"),
            ("r Hit 1 2 3 4", 1, "R or W"),
            ("R 1 1 2 3 4", 3, "action"),
            ("R Hit x 2 3 4", 7, "LBN"),
            ("R Hit 1 -2 3 4", 9, "blocks"),
            ("R Hit 1 2 x 4", 11, "service"),
            ("R Hit 1 2 3 -4", 13, "gap"),
            ("R Hit 1 2 3", 12, "gap"),
            ("R Hit 1 2 3 4 5", 15, "end of the line"),
        ] {
            let error = located(records(line, &forced(NAME)).unwrap_err());
            assert!(error.message.contains(expected), "{line}: {error}");
            assert!(
                matches!(&error.place, Some(Place::Line { line: 1, column: Some(c), .. }) if *c == column),
                "{error}"
            );
        }
    }

    #[test]
    fn times_past_the_end_of_time_are_refused() {
        let text = "R Hit 1 1 18000000000000000 0\nR Hit 1 1 18000000000000000 0\n";
        let error = located(records(text, &FormatOptions::default()).unwrap_err());
        assert!(error.message.contains("584 years"));
    }
}
