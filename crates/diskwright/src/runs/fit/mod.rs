//! A drive's model beside a recording of the drive, request by request: what a fit of its parameters asks over and over.
//!
//! The recording is read once. A question is a change of the drive's description and how the platter is followed; the answer
//! has a row for every request, with the recorded and the predicted service time and its circumstances.
//!
//! A model that errs in one request arrives late or early at the next, and where the wait for the platter hangs on that, two
//! recordings of the same drive are soon as far apart as two drives. So [`Follow::Recorded`] predicts one step ahead: after
//! every completion the platter is put where the recording tells that it was, and the next request is predicted from there.

mod course;
mod prediction;
mod recording;

use std::ops::Range;
use std::path::Path;

use serde_json::Value;

use crate::base::error::{Error, InputError, Place};
use crate::devices::hdd::Hardware;
use crate::devices::hdd::drive::DriveDescription;
use crate::models::geometry::describe::LayoutDescription;
use crate::models::geometry::layout::Layout;
use crate::runs::simulation;
use crate::runs::validate::{Distribution, demerit_ms};

pub use prediction::{Follow, PredictedRequest};
pub use recording::RecordedRequest;

/// A drive's description and a recording, ready to be compared many times.
pub struct Comparison {
    description: Value,
    layout: (LayoutDescription, Layout),
    requests: Vec<RecordedRequest>,
    left_out: u64,
    format: &'static str,
    warnings: Vec<String>,
}

/// Values of the description by their paths, such as `overhead.read_after_read` or `layout.zone[2].track_skew`, which take the place of its
/// own; null removes one.
pub type Changes = serde_json::Map<String, Value>;

impl Comparison {
    /// Reads a drive, a name or a path, and a recording of service times.
    ///
    /// # Errors
    /// A drive that is unknown or cannot be read, or has no segmented buffer; a recording that cannot be read, does not tell the service
    /// times, has requests that overlap in time, or none that fits the drive.
    pub fn open(drive: &str, trace: &Path, format: Option<&str>) -> Result<Comparison, Error> {
        let read = simulation::drive(drive)?;
        if read.description.buffer.is_none() {
            let error = InputError::new(format!("{drive} has no segmented buffer to compare with"))
                .help(
                    "a drive's file describes it in [buffer]: its size, overheads and read-ahead",
                );
            return Err(error.into());
        }
        let recording = recording::read(trace, format, read.hardware.blocks())?;
        let description = serde_json::to_value(&read.description).expect("plain data");
        Ok(Comparison {
            description,
            layout: (read.description.layout, read.hardware.mechanics.layout),
            requests: recording.requests,
            left_out: recording.left_out,
            format: recording.format,
            warnings: [read.warnings, recording.warnings].concat(),
        })
    }

    /// The drive's description, as its file has it, with all defaults.
    pub fn description(&self) -> &Value {
        &self.description
    }

    /// The recorded requests that fit the drive.
    pub fn requests(&self) -> &[RecordedRequest] {
        &self.requests
    }

    /// Requests of the recording that are not compared: beyond the drive's end, or neither read nor write.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The recording's format.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// What the files have against them.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The description with changes.
    ///
    /// # Errors
    /// A path that leads nowhere, a value that does not fit.
    pub fn changed(&self, changes: &Changes) -> Result<DriveDescription, Error> {
        let mut tree = self.description.clone();
        for (path, value) in changes {
            put(&mut tree, path, value)?;
        }
        serde_json::from_value(tree)
            .map_err(|error| InputError::new(format!("a change of the drive: {error}")).into())
    }

    fn hardware(&self, changes: &Changes) -> Result<Hardware, Error> {
        let description = self.changed(changes)?;
        let (described, layout) = &self.layout;
        if description.layout == *described {
            Ok(description.hardware_with(layout.clone())?)
        } else {
            Ok(description.hardware()?)
        }
    }

    /// Predicts all requests of the recording.
    ///
    /// # Errors
    /// Those of [`Self::changed`]; a description that makes no sense.
    pub fn predict(
        &self,
        changes: &Changes,
        follow: Follow,
    ) -> Result<Vec<PredictedRequest>, Error> {
        let hardware = self.hardware(changes)?;
        Ok(prediction::predict(hardware, &self.requests, follow))
    }

    /// The demerit of some of the requests, where the whole recording is replayed as in a validation.
    ///
    /// # Errors
    /// As [`Self::predict`].
    pub fn demerit_ms(&self, changes: &Changes, of: Range<usize>) -> Result<f64, Error> {
        let predicted = self.predict(changes, Follow::Simulated)?;
        let (mut recorded_bins, mut simulated_bins) =
            (Distribution::default(), Distribution::default());
        let pairs = self.requests.iter().zip(&predicted);
        for (recorded, simulated) in pairs.skip(of.start).take(of.len()) {
            recorded_bins.add(recorded.service);
            simulated_bins.add(simulated.predicted);
        }
        Ok(demerit_ms(&recorded_bins, &simulated_bins))
    }
}

/// Sets the value at a path of keys and, in brackets, positions; null takes it away.
fn put(tree: &mut Value, path: &str, value: &Value) -> Result<(), Error> {
    let nowhere = || {
        Error::from(
            InputError::new(format!("the drive has no {path}"))
                .at(Place::File("change of a drive".into())),
        )
    };
    let mut at = tree;
    let mut steps = path.split('.').peekable();
    while let Some(step) = steps.next() {
        let (key, position) = match step.split_once('[') {
            None => (step, None),
            Some((key, rest)) => {
                let position = rest
                    .strip_suffix(']')
                    .and_then(|digits| digits.parse().ok());
                (key, Some(position.ok_or_else(nowhere)?))
            }
        };
        let is_last = steps.peek().is_none();
        let object = at.as_object_mut().ok_or_else(nowhere)?;
        if is_last && position.is_none() {
            match value {
                Value::Null => object.remove(key),
                value => object.insert(key.to_owned(), value.clone()),
            };
            return Ok(());
        }
        at = object
            .entry(key.to_owned())
            .or_insert_with(|| Value::Object(Changes::new()));
        if let Some(position) = position {
            let list = at.as_array_mut().ok_or_else(nowhere)?;
            at = list.get_mut::<usize>(position).ok_or_else(nowhere)?;
            if is_last {
                *at = value.clone();
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
