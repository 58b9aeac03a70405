//! A recording of service times, read as a whole.

use std::path::Path;

use crate::base::error::{Error, InputError, Place};
use crate::base::units::Time;
use crate::engine::request::{Command, Op};
use crate::workload::{FormatOptions, Record, open};

/// A request as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// What was asked.
    pub command: Command,
    /// How long the drive took.
    pub service: Time,
    /// From the recorded completion of the request before it to its arrival; of the first one 0.
    pub wait: Time,
}

/// What was read.
pub struct Recording {
    pub requests: Vec<RecordedRequest>,
    pub left_out: u64,
    pub format: &'static str,
    pub warnings: Vec<String>,
}

/// Reads a recording of a drive of `capacity` blocks.
///
/// The time after each request is the recorded gap, or follows from the arrival of the next one. The time of a request that is left out
/// passes as it was recorded.
pub fn read(trace: &Path, format: Option<&str>, capacity: u64) -> Result<Recording, Error> {
    let options = FormatOptions {
        format: format.map(str::to_owned),
        ..FormatOptions::default()
    };
    let mut reader = open(trace, &options)?;
    let (mut requests, mut left_out, mut overlapping) = (Vec::new(), 0, 0);
    let mut wait = Time::ZERO;
    // When the request before is complete, where no gap after it was recorded.
    let mut complete: Option<Time> = None;
    while let Some(record) = reader.next()? {
        let times = record.recorded.as_ref();
        let Some(service) = times.and_then(|times| times.service) else {
            let format = reader.format();
            let error = InputError::new(format!(
                "a trace of format {format} that does not tell the service time of every request"
            ));
            return Err(error
                .at(reader.place())
                .help("expected a recording: of format disksim-recording, or a log with latencies")
                .into());
        };
        if let Some(complete) = complete {
            overlapping += u64::from(record.arrival < complete);
            wait += record.arrival.saturating_sub(complete);
        }
        let command = Command {
            op: record.op,
            fua: record.fua,
            lbn: record.lbn,
            blocks: record.blocks,
        };
        if is_of_medium(&record, capacity) {
            requests.push(RecordedRequest {
                command,
                service,
                wait,
            });
            wait = Time::ZERO;
        } else {
            left_out += 1;
            wait = wait.checked_add(service).unwrap_or(Time::MAX);
        }
        match times.and_then(|times| times.gap) {
            Some(gap) => wait = wait.checked_add(gap).unwrap_or(Time::MAX),
            None => complete = record.arrival.checked_add(service),
        }
    }
    let place = || Place::File(trace.to_owned());
    if requests.is_empty() {
        let error = InputError::new(format!(
            "none of {left_out} requests of the recording is a read or write within the drive's {capacity} blocks"
        ));
        return Err(error.at(place()).into());
    }
    let mut warnings = reader.warnings();
    if overlapping > 0 {
        let all = requests.len() as u64 + left_out;
        if overlapping * OVERLAPPING_SHARE > all {
            let error = InputError::new(format!(
                "{overlapping} of {all} requests arrived before the one ahead of them was complete"
            ));
            return Err(error
                .at(place())
                .help("a recording to fit a drive to has one request outstanding at a time")
                .into());
        }
        warnings.push(format!(
            "{overlapping} of {all} requests arrived before the one ahead of them was complete, and are taken to have arrived then"
        ));
    }
    Ok(Recording {
        requests,
        left_out,
        format: reader.format(),
        warnings,
    })
}

/// A recording in which more than one in this many requests overlap another one tells nothing of single requests.
const OVERLAPPING_SHARE: u64 = 20;

/// Whether a request is a read or a write of blocks that a drive of `capacity` blocks has.
fn is_of_medium(record: &Record, capacity: u64) -> bool {
    let end = record.lbn.0.checked_add(record.blocks.into());
    matches!(record.op, Op::Read | Op::Write)
        && (1..Record::OVERSIZE).contains(&record.blocks)
        && end.is_some_and(|end| end <= capacity)
}
