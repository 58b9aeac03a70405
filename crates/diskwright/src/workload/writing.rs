//! Traces out: what a format holds of a record, and what is lost of those it does not hold.

use std::io;

use serde::Serialize;

use crate::base::error::InputError;
use crate::base::units::{Lbn, Time};
use crate::engine::request::Op;

use super::output::Output;
use super::record::Record;

/// A trace being written, one record after the other.
pub trait TraceWriter: Send {
    /// Adds a record, which the format [holds](Holds::fit).
    ///
    /// # Errors
    /// The file cannot be written.
    fn write(&mut self, record: &Record) -> io::Result<()>;

    /// Writes what is left and hands the file back, to be finished.
    ///
    /// # Errors
    /// The file cannot be written.
    fn finish(self: Box<Self>) -> io::Result<Output>;
}

/// How a format is written.
pub struct Writing {
    /// What it holds.
    pub holds: Holds,
    /// The extension, without the dot, by which a file is meant to be of this format; no two formats have the same.
    pub extension: Option<&'static str>,
    /// Begins to write.
    pub create: Create,
}

/// How a format begins to write.
pub type Create = fn(Output) -> io::Result<Box<dyn TraceWriter>>;

/// What a format holds of a record. Records are made to fit it, and what that costs is counted.
#[derive(Clone, Copy, Debug)]
pub struct Holds {
    /// The unit of its times: arrivals are rounded to it, halves up.
    pub time: Time,
    /// The latest arrival it can tell.
    pub latest: Time,
    /// The largest device number; `None` where it is of one device and names none.
    pub devices: Option<u32>,
    /// The largest first block.
    pub lbn: u64,
    /// The fewest blocks of a read, write or trim.
    pub least_blocks: u32,
    /// The most blocks.
    pub blocks: u32,
    /// Whether it knows flushes.
    pub flushes: bool,
    /// Whether it knows trims.
    pub trims: bool,
    /// Whether it knows force unit access.
    pub fua: bool,
    /// Whether it keeps the recorded service time and gap.
    pub recorded: bool,
}

impl Holds {
    /// Everything a record says.
    pub const ALL: Holds = Holds {
        time: Time::from_ns(1),
        latest: Time::MAX,
        devices: Some(u32::MAX),
        lbn: u64::MAX,
        least_blocks: 0,
        blocks: Record::OVERSIZE - 1,
        flushes: true,
        trims: true,
        fua: true,
        recorded: true,
    };

    /// Reads and writes, and nothing else of them than when, where and how large.
    pub const READS_AND_WRITES: Holds = Holds {
        flushes: false,
        trims: false,
        fua: false,
        recorded: false,
        ..Holds::ALL
    };

    /// The record as the format holds it, or `None` if it holds nothing of it.
    ///
    /// # Errors
    /// A quantity is out of the format's range, so that the request would become another one.
    pub fn fit(&self, record: &Record, losses: &mut Losses) -> Result<Option<Record>, InputError> {
        let mut fitted = *record;
        match record.op {
            Op::Flush if !self.flushes => {
                losses.flushes += 1;
                return Ok(None);
            }
            Op::Trim if !self.trims => {
                losses.trims += 1;
                return Ok(None);
            }
            Op::Flush => (fitted.lbn, fitted.blocks) = (Lbn(0), 0),
            _ => self.check_extent(record)?,
        }
        fitted.arrival = self.rounded(record.arrival)?;
        losses.rounded += u64::from(fitted.arrival != record.arrival);
        match self.devices {
            Some(most) if record.device > most => {
                return Err(out_of_range(
                    "device number",
                    record.device.into(),
                    most.into(),
                ));
            }
            Some(_) => {}
            None => {
                losses.devices += u64::from(record.device != 0);
                fitted.device = 0;
            }
        }
        if record.fua && !self.fua {
            losses.fua += 1;
            fitted.fua = false;
        }
        if record.recorded.is_some() && !self.recorded {
            losses.recorded += 1;
            fitted.recorded = None;
        }
        Ok(Some(fitted))
    }

    fn check_extent(&self, record: &Record) -> Result<(), InputError> {
        if record.lbn.0 > self.lbn {
            return Err(out_of_range("first block", record.lbn.0, self.lbn));
        }
        if record.blocks > self.blocks {
            return Err(out_of_range(
                "number of blocks",
                record.blocks.into(),
                self.blocks.into(),
            ));
        }
        if record.blocks < self.least_blocks {
            return Err(InputError::new(
                "the request has no blocks, which the format written does not know",
            ));
        }
        Ok(())
    }

    fn rounded(&self, arrival: Time) -> Result<Time, InputError> {
        let unit = self.time.ns();
        let (whole, rest) = (arrival.ns() / unit, arrival.ns() % unit);
        let units = whole + u64::from(rest >= unit - rest);
        match units.checked_mul(unit).map(Time::from_ns) {
            Some(rounded) if rounded <= self.latest => Ok(rounded),
            _ => Err(InputError::new(format!(
                "the request arrives at {arrival}: the format written has times up to {}",
                self.latest
            ))),
        }
    }
}

#[cold]
fn out_of_range(what: &str, found: u64, most: u64) -> InputError {
    InputError::new(format!(
        "the request's {what} is {found}: the format written has at most {most}"
    ))
}

/// What of the records a format could not hold, in requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Losses {
    /// Arrivals that were rounded.
    pub rounded: u64,
    /// Device numbers other than 0 that are not told.
    pub devices: u64,
    /// Flushes left out.
    pub flushes: u64,
    /// Trims left out.
    pub trims: u64,
    /// Writes whose force unit access is not told.
    pub fua: u64,
    /// Recorded service times that are not told.
    pub recorded: u64,
}

impl Losses {
    /// A sentence for each kind of loss that occurred; `holds` is the format written, called `name`.
    pub fn warnings(&self, holds: &Holds, name: &str) -> Vec<String> {
        let unit = holds.time;
        [
            (self.rounded, format!("arrivals were rounded to {unit}")),
            (
                self.devices,
                "requests lost the number of their device".to_owned(),
            ),
            (self.flushes, "flushes were left out".to_owned()),
            (self.trims, "trims were left out".to_owned()),
            (self.fua, "requests lost their force unit access".to_owned()),
            (
                self.recorded,
                "requests lost their recorded service time".to_owned(),
            ),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}: {name} cannot hold them"))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::record::Recorded;

    const FULL: Record = Record {
        arrival: Time::from_ns(1_500),
        device: 7,
        op: Op::Write,
        fua: true,
        lbn: Lbn(9),
        blocks: 8,
        recorded: Some(Recorded {
            service: Some(Time::from_ns(3)),
            gap: None,
        }),
    };

    const LITTLE: Holds = Holds {
        time: Time::from_us(1),
        latest: Time::from_us(10),
        devices: None,
        lbn: 9,
        least_blocks: 1,
        blocks: 8,
        flushes: false,
        trims: false,
        fua: false,
        recorded: false,
    };

    #[test]
    fn what_holds_all_changes_nothing() {
        let mut losses = Losses::default();
        assert_eq!(Holds::ALL.fit(&FULL, &mut losses), Ok(Some(FULL)));
        assert_eq!(losses, Losses::default());
        assert!(losses.warnings(&Holds::ALL, "all").is_empty());
    }

    #[test]
    fn every_loss_is_counted() {
        let mut losses = Losses::default();
        let fitted = LITTLE.fit(&FULL, &mut losses).unwrap().unwrap();
        let expected = Record {
            arrival: Time::from_us(2),
            device: 0,
            fua: false,
            recorded: None,
            ..FULL
        };
        assert_eq!(fitted, expected);
        for op in [Op::Flush, Op::Trim] {
            assert_eq!(LITTLE.fit(&Record { op, ..FULL }, &mut losses), Ok(None));
        }
        let all = Losses {
            rounded: 1,
            devices: 1,
            flushes: 1,
            trims: 1,
            fua: 1,
            recorded: 1,
        };
        assert_eq!(losses, all);
        assert_eq!(losses.warnings(&LITTLE, "little").len(), 6);
        // What fits already stays as it is.
        assert_eq!(LITTLE.fit(&expected, &mut losses), Ok(Some(expected)));
        assert_eq!(losses, all);
    }

    #[test]
    fn halves_are_rounded_up_and_no_further_than_the_latest() {
        for (ns, rounded) in [
            (499, Some(0)),
            (500, Some(1)),
            (10_499, Some(10)),
            (10_500, None),
            (u64::MAX, None),
        ] {
            let record = Record {
                arrival: Time::from_ns(ns),
                ..FULL
            };
            let fitted = LITTLE.fit(&record, &mut Losses::default());
            let arrival = fitted
                .ok()
                .flatten()
                .map(|record| record.arrival.ns() / 1_000);
            assert_eq!(arrival, rounded, "{ns}");
        }
    }

    #[test]
    fn what_would_become_another_request_is_refused() {
        for (record, what) in [
            (
                Record {
                    lbn: Lbn(10),
                    ..FULL
                },
                "first block",
            ),
            (Record { blocks: 9, ..FULL }, "number of blocks"),
            (Record { blocks: 0, ..FULL }, "no blocks"),
        ] {
            let error = LITTLE.fit(&record, &mut Losses::default()).unwrap_err();
            assert!(error.message.contains(what), "{error}");
        }
        let two = Holds {
            devices: Some(6),
            ..LITTLE
        };
        let error = two.fit(&FULL, &mut Losses::default()).unwrap_err();
        assert!(error.message.contains("device number"), "{error}");
    }
}
