//! From the records of a trace to the requests of one drive: what is left out, what is changed, what is refused.
//!
//! Whatever a policy leaves out or changes is counted, once a request; what no policy covers is an error.

use crate::base::error::{Error, InputError};
use crate::base::units::{Lbn, Time};
use crate::engine::request::{Command, Op};

use super::devices::Devices;
use super::formats::TraceReader;
use super::places::Places;
use super::record::Record;
use super::spec::{BadSize, DeviceChoice, OutOfOrder, Pace, PastEnd, WorkloadSpec};
use super::{Arrival, Counts};

/// A first arrival later than this (three years) is a date and not the time since a trace began.
const CALENDAR: Time = Time::from_s(100_000_000);

/// The spec's choices, and how far the trace has come.
pub struct Selection {
    device: DeviceChoice,
    devices: Devices,
    /// The device of the first record, where only one is expected.
    single: Option<u32>,
    places: Places,
    capacity: u64,
    speed: Option<f64>,
    from: Time,
    to: Time,
    limit: u64,
    past_end: PastEnd,
    out_of_order: OutOfOrder,
    bad_size: BadSize,
    /// What the trace's clock shows at time 0; known from the first request of the chosen device on.
    origin: Option<Time>,
    /// The latest arrival selected.
    last: Time,
    yielded: u64,
    counts: Counts,
}

impl Selection {
    /// The choices of a spec for a drive of `capacity` blocks.
    pub fn new(spec: &WorkloadSpec, capacity: u64) -> Selection {
        Selection {
            device: spec.device,
            devices: Devices::default(),
            single: None,
            places: Places::new(&spec.devices, capacity),
            capacity,
            speed: match spec.pace {
                Pace::Scaled(speed) => Some(speed),
                Pace::Recorded | Pace::Closed => None,
            },
            from: spec.from.unwrap_or(Time::ZERO),
            to: spec.to.unwrap_or(Time::MAX),
            limit: spec.limit.unwrap_or(u64::MAX),
            past_end: spec.past_end,
            out_of_order: spec.out_of_order,
            bad_size: spec.bad_size,
            origin: None,
            last: Time::ZERO,
            yielded: 0,
            counts: Counts::default(),
        }
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// What makes results doubtful.
    pub fn warnings(&self) -> Vec<String> {
        let empty = (self.counts.trace > 0 && self.counts.trace == self.counts.skipped)
            .then(|| "every request of the trace was left out".to_owned());
        empty.into_iter().collect()
    }

    /// What the user should know of the choices made.
    pub fn notes(&self) -> Vec<String> {
        let origin = self.origin.filter(|origin| *origin > Time::ZERO);
        let moved = origin.map(|origin| {
            format!("the trace's clock shows {origin} at its first request, which was made time 0")
        });
        moved.into_iter().collect()
    }

    /// The next request, or `None` after the last one.
    ///
    /// # Errors
    /// A record that cannot be read, or that a policy refuses, with its place.
    #[inline]
    pub fn next(&mut self, reader: &mut dyn TraceReader) -> Result<Option<Arrival>, Error> {
        while self.yielded < self.limit {
            let Some(record) = reader.next()? else {
                return self.end().map(|()| None);
            };
            self.counts.trace += 1;
            match self.admit(&record, reader)? {
                Some(arrival) => {
                    self.yielded += 1;
                    return Ok(Some(arrival));
                }
                None => self.counts.skipped += 1,
            }
        }
        Ok(None)
    }

    /// A trace without a request of the chosen device is a mistake in the choice.
    fn end(&self) -> Result<(), Error> {
        match self.device {
            DeviceChoice::Number(chosen) if self.origin.is_none() => Err(InputError::new(format!(
                "the trace has no request of device {chosen}"
            ))
            .help(format!(
                "choose another with workload.device; the devices seen: {}",
                self.devices
            ))
            .into()),
            _ => Ok(()),
        }
    }

    /// The record as a request, or `None` if it is left out.
    #[inline]
    fn admit(
        &mut self,
        record: &Record,
        reader: &dyn TraceReader,
    ) -> Result<Option<Arrival>, Error> {
        if !self.chosen(record, reader)? {
            return Ok(None);
        }
        let mut change = Change::default();
        let Some(at) = self.time(record, reader, &mut change)? else {
            return Ok(None);
        };
        let Some((lbn, blocks)) = self.extent(record, reader, &mut change)? else {
            return Ok(None);
        };
        self.last = self.last.max(record.arrival);
        self.counts.clipped += u64::from(change.clipped);
        self.counts.mapped += u64::from(change.mapped);
        let command = Command {
            op: record.op,
            fua: record.fua,
            lbn,
            blocks,
        };
        Ok(Some(Arrival {
            at,
            command,
            stream: 0,
        }))
    }

    #[inline]
    fn chosen(&mut self, record: &Record, reader: &dyn TraceReader) -> Result<bool, Error> {
        match self.device {
            DeviceChoice::All => Ok(true),
            DeviceChoice::Number(chosen) => {
                let found = record.device == chosen;
                if !found && self.origin.is_none() {
                    self.devices.add(record.device);
                }
                Ok(found)
            }
            DeviceChoice::Single if !self.places.is_empty() => Ok(true),
            DeviceChoice::Single => {
                let single = *self.single.get_or_insert(record.device);
                if record.device == single {
                    return Ok(true);
                }
                let message = format!(
                    "the trace is of several devices, {single} and {} among them",
                    record.device
                );
                Err(refused(message, reader, CHOOSE_DEVICE))
            }
        }
    }

    /// When the request arrives in the simulation; `None` if it is left out.
    #[inline]
    fn time(
        &mut self,
        record: &Record,
        reader: &dyn TraceReader,
        change: &mut Change,
    ) -> Result<Option<Time>, Error> {
        let recorded = record.arrival;
        let origin = *self.origin.get_or_insert(match recorded {
            date if date >= CALENDAR => date,
            _ => Time::ZERO,
        });
        // What lies before the origin is out of order, and is dealt with as such.
        let since = recorded.saturating_sub(origin);
        if since >= self.to || (since < self.from && recorded >= origin) {
            return Ok(None);
        }
        let mut arrival = recorded;
        if recorded < self.last.max(origin) {
            match self.out_of_order {
                OutOfOrder::Error => {
                    let message = format!(
                        "the request arrives at {recorded}, before the one in front of it at {}",
                        self.last.max(origin)
                    );
                    return Err(refused(
                        message,
                        reader,
                        "workload.out_of_order = \"map\" lets it arrive with the one in front, \"skip\" leaves it out",
                    ));
                }
                OutOfOrder::Map => {
                    arrival = self.last.max(origin);
                    change.mapped = true;
                }
                OutOfOrder::Skip => return Ok(None),
            }
        }
        let at = arrival.saturating_sub(origin).saturating_sub(self.from);
        let Some(speed) = self.speed else {
            return Ok(Some(at));
        };
        let scaled = Time::from_ns_f64(at.ns() as f64 / speed);
        scaled.map(Some).ok_or_else(|| {
            let message = format!("at {speed} times its pace the request arrives after 584 years");
            refused(
                message,
                reader,
                "workload.pace: scaled is how many times as fast",
            )
        })
    }

    /// The blocks of the request; `None` if it is left out.
    #[inline]
    fn extent(
        &self,
        record: &Record,
        reader: &dyn TraceReader,
        change: &mut Change,
    ) -> Result<Option<(Lbn, u32)>, Error> {
        if record.op == Op::Flush {
            return Ok(Some((Lbn(0), 0)));
        }
        let (mut lbn, mut blocks) = (record.lbn.0, record.blocks);
        let (mut begin, mut capacity) = (0, self.capacity);
        if !self.places.is_empty() {
            let found = self.places.find(record);
            let found = found.map_err(|(message, help)| refused(message, reader, help))?;
            (begin, capacity) = (found.begin, found.capacity);
            (lbn, blocks) = (found.lbn, found.blocks);
        }
        if blocks == 0 || blocks == Record::OVERSIZE || u64::from(blocks) > capacity {
            match self.bad_size {
                BadSize::Error => return Err(bad_size(blocks, capacity, reader)),
                BadSize::Clip if blocks > 0 => {
                    blocks = Record::clamp_blocks(capacity);
                    change.clipped = true;
                }
                BadSize::Clip | BadSize::Skip => return Ok(None),
            }
        }
        let room = capacity.saturating_sub(lbn);
        if u64::from(blocks) > room {
            match self.past_end {
                PastEnd::Error => return Err(past_end(lbn, blocks, capacity, reader)),
                PastEnd::Map => {
                    lbn = (lbn % capacity).min(capacity - u64::from(blocks));
                    change.mapped = true;
                }
                PastEnd::Clip if room > 0 => {
                    blocks = Record::clamp_blocks(room);
                    change.clipped = true;
                }
                PastEnd::Clip | PastEnd::Skip => return Ok(None),
            }
        }
        Ok(Some((Lbn(begin + lbn), blocks)))
    }
}

/// What was done to a request that is kept.
#[derive(Default)]
struct Change {
    clipped: bool,
    mapped: bool,
}

/// The way out of a trace of several devices.
pub const CHOOSE_DEVICE: &str = "choose one with workload.device = 0, or fold all their addresses onto the drive with workload.device = \"all\"";

#[cold]
fn refused(message: String, reader: &dyn TraceReader, help: &str) -> Error {
    InputError::new(message)
        .at(reader.place())
        .help(help)
        .into()
}

#[cold]
fn bad_size(blocks: u32, capacity: u64, reader: &dyn TraceReader) -> Error {
    let size = match blocks {
        Record::OVERSIZE => format!("{} blocks or more", Record::OVERSIZE),
        blocks => format!("{blocks} blocks"),
    };
    let message = format!("the request has {size}: expected 1 to {capacity}, the drive's capacity");
    refused(
        message,
        reader,
        "workload.bad_size = \"clip\" makes it as large as the drive (one of no blocks is left out), \"skip\" leaves it out",
    )
}

#[cold]
fn past_end(lbn: u64, blocks: u32, capacity: u64, reader: &dyn TraceReader) -> Error {
    let message = format!(
        "the request of {blocks} blocks from LBN {lbn} is past the end of the drive, which has {capacity} blocks"
    );
    refused(
        message,
        reader,
        "workload.past_end = \"map\" takes the LBN modulo the capacity, \"clip\" cuts the request off, \"skip\" leaves it out",
    )
}
