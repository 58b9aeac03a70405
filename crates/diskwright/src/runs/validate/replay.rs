//! The host of a validation: issues the requests of a recording as the recorded host did.
//!
//! One request is outstanding at a time. Each arrives its predecessor's recorded gap after the simulated completion of that,
//! so what the drive does between requests has the time that it had.

use std::ops::ControlFlow;

use super::tally::ReplayedRequest;
use crate::base::error::{Error, InputError, Place};
use crate::base::units::Time;
use crate::engine::request::{Command, Op, Outcome, RequestId};
use crate::engine::{Initiator, Port, Token};
use crate::host::Progress;
use crate::workload::{Record, TraceReader};

/// Requests that were left out because they do not fit the drive.
#[derive(Clone, Debug, Default)]
pub struct OutOfRange {
    /// How many.
    pub requests: u64,
    /// Where the first one is, for people.
    pub first: String,
}

/// A request of the recording.
struct RecordedRequest {
    command: Command,
    recorded: Time,
    gap: Time,
    /// From the completion of the request before it, or from time 0.
    wait: Time,
}

/// The host, and who hears of each request that was served.
pub struct Replay<'a> {
    reader: Box<dyn TraceReader>,
    capacity: u64,
    served: &'a mut dyn FnMut(ReplayedRequest),
    progress: &'a mut dyn Progress,
    /// The request that is to arrive, or is outstanding.
    current: Option<RecordedRequest>,
    after: Option<Op>,
    completed: u64,
    pub out_of_range: OutOfRange,
}

impl<'a> Replay<'a> {
    /// At the start of a recording, for a drive of `capacity` blocks.
    pub fn new(
        reader: Box<dyn TraceReader>,
        capacity: u64,
        served: &'a mut dyn FnMut(ReplayedRequest),
        progress: &'a mut dyn Progress,
    ) -> Replay<'a> {
        Replay {
            reader,
            capacity,
            served,
            progress,
            current: None,
            after: None,
            completed: 0,
            out_of_range: OutOfRange::default(),
        }
    }

    /// What the reader has to say at the end.
    pub fn warnings(&self) -> Vec<String> {
        self.reader.warnings()
    }

    /// What was left out or changed in the reading.
    pub fn notes(&self) -> Vec<String> {
        self.reader.notes()
    }

    /// Requests that were served.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// The next request that fits the drive, `wait` after the completion of the one before it. The time of one that does not
    /// passes as it was recorded.
    fn pull(&mut self, mut wait: Time) -> Result<Option<RecordedRequest>, Error> {
        while let Some(record) = self.reader.next()? {
            let (recorded, gap) = self.times(&record)?;
            let command = Command {
                op: record.op,
                fua: record.fua,
                lbn: record.lbn,
                blocks: record.blocks,
            };
            if matches!(record.op, Op::Read | Op::Write) && record.blocks == 0 {
                let error = InputError::new("a request of no blocks: expected 1 or more");
                return Err(error.at(self.reader.place()).into());
            }
            if self.fits(&record) {
                return Ok(Some(RecordedRequest {
                    command,
                    recorded,
                    gap,
                    wait,
                }));
            }
            if self.out_of_range.requests == 0 {
                self.out_of_range.first = described(&self.reader.place());
            }
            self.out_of_range.requests += 1;
            let passed = wait
                .checked_add(recorded)
                .and_then(|time| time.checked_add(gap));
            wait = passed.unwrap_or(Time::MAX);
        }
        Ok(None)
    }

    fn fits(&self, record: &Record) -> bool {
        let end = record.lbn.0.checked_add(record.blocks.into());
        record.blocks != Record::OVERSIZE && end.is_some_and(|end| end <= self.capacity)
    }

    /// The recorded service time, and the gap to the next request.
    fn times(&self, record: &Record) -> Result<(Time, Time), Error> {
        let recorded = record.recorded.as_ref();
        let both = recorded.and_then(|recorded| recorded.service.zip(recorded.gap));
        both.ok_or_else(|| {
            let message = format!(
                "a trace of format {} does not tell the service time of every request and the gap after it",
                self.reader.format()
            );
            InputError::new(message)
                .at(self.reader.place())
                .help("expected the recording of a drive: format disksim-recording")
                .into()
        })
    }

    /// Sets the alarm for the next request, a gap from now.
    fn next(&mut self, gap: Time, port: &mut Port<'_>) -> Result<(), Error> {
        self.current = self.pull(gap)?;
        if let Some(current) = &self.current {
            let at = port.now().checked_add(current.wait).unwrap_or(Time::MAX);
            port.alarm(at, Token::new(0, 0));
        }
        Ok(())
    }
}

/// A place in the recording, in a few words.
fn described(place: &Place) -> String {
    match place {
        Place::Line { line, .. } => format!("line {line}"),
        Place::Record { record, .. } => format!("record {record}"),
        Place::Made { request, .. } => format!("request {request}"),
        Place::Text { .. } | Place::File(_) => place.to_string(),
    }
}

impl Initiator for Replay<'_> {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        self.next(Time::ZERO, port)
    }

    fn alarm(&mut self, _token: Token, port: &mut Port<'_>) -> Result<(), Error> {
        let current = self.current.as_ref().expect("the alarm of a request");
        port.submit(&current.command, port.now(), self.completed);
        Ok(())
    }

    fn completed(&mut self, request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        let current = self.current.take().expect("one request is outstanding");
        let request = port.request(request);
        if request.outcome != Some(Outcome::Ok) {
            return Err(Error::Simulation(format!(
                "request {} of the recording failed on the simulated drive",
                self.completed
            )));
        }
        (self.served)(ReplayedRequest {
            op: request.command.op,
            by: request.served_by,
            after: self.after,
            lbn: request.command.lbn.0,
            blocks: request.command.blocks,
            recorded: current.recorded,
            simulated: request.response(),
        });
        self.after = Some(request.command.op);
        self.completed += 1;
        self.next(current.gap, port)
    }

    fn power_lost(&mut self, _now: Time) {}

    fn tick(&mut self) -> ControlFlow<()> {
        self.progress.update(self.completed, None)
    }
}
