//! The state of a device beside its image: all that has entered the device since it was new, and when.
//!
//! A device is a function of its spec and of what enters it, to the nanosecond. So a later serving that simulates all of it again has the
//! same device: its caches, map, wear, dirty blocks, random streams and simulated time, whatever its kind.
//!
//! The file begins with a line of text: a magic word and an object of JSON, with the version and the spec. Chunks of records follow, each
//! packed by Zstandard behind its length and its hash, so that a chunk that was cut short shows.

mod log;
mod records;
mod replay;
#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::base::error::{Error, InputError, Place};
use crate::engine::request::{Outcome, Request};
use crate::runs::simulation::Checked;

pub use log::{Log, chunk};
pub use records::{Entry, Record};
pub use replay::Replay;

/// How the file begins.
const MAGIC: &str = "diskwright state 1 ";
/// The most bytes of a chunk before it is packed.
const MOST_BYTES: usize = 1 << 20;
/// The bytes before a chunk: its length, its length before it was packed, its hash.
const HEAD: usize = 16;

/// The file beside an image: `FILE.state`.
pub fn path_beside(image: &Path) -> PathBuf {
    let mut name = image.as_os_str().to_owned();
    name.push(".state");
    PathBuf::from(name)
}

/// What a device is of, as far as its state depends on it.
pub fn identity(checked: &Checked) -> Value {
    let mut spec = serde_json::to_value(&checked.spec).expect("a spec is plain data");
    if let Some(spec) = spec.as_object_mut() {
        spec.retain(|key, _| ["device", "seed", "fault"].contains(&key.as_str()));
    }
    spec
}

/// A hash of the completions so far, which tells whether a replay gives the same device.
#[derive(Clone, Default)]
pub struct Fate(Box<Xxh3>);

impl Fate {
    /// Adds a completed request.
    pub fn add(&mut self, request: &Request) {
        let outcome = match request.outcome {
            None => 0u64,
            Some(Outcome::Ok) => 1,
            Some(Outcome::MediaError) => 2,
            Some(Outcome::FailedDevice) => 3,
            Some(Outcome::Refused) => 4,
        };
        for value in [
            request.command.lbn.0,
            request.start.ns(),
            request.completion.ns(),
            outcome,
        ] {
            self.0.update(&value.to_le_bytes());
        }
    }

    /// The hash.
    pub fn hash(&self) -> u64 {
        self.0.digest()
    }
}

/// Reads a file of state from its beginning to the last whole chunk.
pub struct Reader {
    path: PathBuf,
    input: BufReader<std::fs::File>,
    decoder: records::Decoder,
    /// The bytes of the file that have been read, in whole chunks.
    whole: u64,
    ends: bool,
}

impl Reader {
    /// Opens the state of a device of this identity.
    ///
    /// # Errors
    /// A file that cannot be read, is no state, or that of another device.
    pub fn open(path: &Path, identity: &Value) -> Result<Reader, Error> {
        let file = std::fs::File::open(path).map_err(|error| Error::file(path, "open", error))?;
        let mut input = BufReader::new(file);
        let mut line = Vec::new();
        let read = |error| Error::file(path, "read", error);
        // A spec is never as long as this.
        (&mut input)
            .take(1 << 26)
            .read_until(b'\n', &mut line)
            .map_err(read)?;
        let head = std::str::from_utf8(&line).ok();
        let head = head.and_then(|line| line.strip_suffix('\n')?.strip_prefix(MAGIC));
        let head = head.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        let Some(head) = head else {
            let error =
                InputError::new("no state of a served device").at(Place::File(path.to_owned()));
            return Err(error.help(NEW_DRIVE).into());
        };
        // Texts are compared, for numbers may not come back as they were written.
        let (found, expected) = (
            head.get("spec").and_then(Value::as_str),
            identity.to_string(),
        );
        if found != Some(expected.as_str()) {
            let found = found.and_then(|text| serde_json::from_str(text).ok());
            let key = found.and_then(|found: Value| difference(&found, identity));
            let what = key.map_or_else(String::new, |key| format!(": {key} differs"));
            let error = InputError::new(format!("this is the state of another device{what}"))
                .at(Place::File(path.to_owned()));
            return Err(error
                .help(format!("serve the spec that it is of; {NEW_DRIVE}"))
                .into());
        }
        Ok(Reader {
            path: path.to_owned(),
            input,
            decoder: records::Decoder::default(),
            whole: line.len() as u64,
            ends: false,
        })
    }

    /// The next record.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged before its last chunk.
    pub fn record(&mut self) -> Result<Option<Record>, Error> {
        loop {
            if let Some(record) = self.decoder.record().map_err(|()| self.damaged())? {
                return Ok(Some(record));
            }
            if self.ends || !self.next_chunk()? {
                self.ends = true;
                return Ok(None);
            }
        }
    }

    /// The bytes of the file up to the last whole chunk that was read.
    pub fn whole(&self) -> u64 {
        self.whole
    }

    /// Reads a chunk; `false` where no whole one is left.
    fn next_chunk(&mut self) -> Result<bool, Error> {
        let failed = |error| Error::file(&self.path, "read", error);
        let mut head = [0; HEAD];
        if read_full(&mut self.input, &mut head).map_err(failed)? < HEAD {
            return Ok(false);
        }
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let unpacked = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let hash = u64::from_le_bytes(std::array::from_fn(|index| head[8 + index]));
        if length == 0 || length > 2 * MOST_BYTES || unpacked > 2 * MOST_BYTES {
            return self.is_end();
        }
        let mut packed = vec![0; length];
        if read_full(&mut self.input, &mut packed).map_err(failed)? < length {
            return Ok(false);
        }
        if xxh3_64(&packed) != hash {
            return self.is_end();
        }
        let bytes = zstd::bulk::decompress(&packed, unpacked).map_err(|_| self.damaged())?;
        self.decoder.feed(bytes);
        self.whole += (HEAD + length) as u64;
        Ok(true)
    }

    /// A chunk that is not whole is the last one: `false`. What follows it would be lost.
    fn is_end(&mut self) -> Result<bool, Error> {
        let mut rest = [0; 1];
        let failed = |error| Error::file(&self.path, "read", error);
        // Only zeros follow where this machine's power failed before the data of a longer file were there.
        loop {
            match self.input.read(&mut rest).map_err(failed)? {
                0 => return Ok(false),
                _ if rest[0] == 0 => {}
                _ => return Err(self.damaged()),
            }
        }
    }

    fn damaged(&self) -> Error {
        let error = InputError::new("the state is damaged").at(Place::File(self.path.clone()));
        error.help(NEW_DRIVE).into()
    }

    /// What is said where the replay differs from what was.
    fn differs(&self) -> Error {
        let error = InputError::new(
            "simulated again, the device answers at other times than before: it is not the same one",
        )
        .at(Place::File(self.path.clone()));
        let help = format!(
            "the state needs the version of diskwright and the drive's file that it was made with; {NEW_DRIVE}"
        );
        error.help(help).into()
    }
}

/// The way out.
const NEW_DRIVE: &str =
    "--new-drive keeps the image and begins with the device as the spec describes it";

/// Fills a buffer as far as the input goes; returns how far.
fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut at = 0;
    while at < buffer.len() {
        match input.read(&mut buffer[at..]) {
            Ok(0) => break,
            Ok(count) => at += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}

/// The first line of the file.
fn head(identity: &Value) -> String {
    let head = json!({ "version": env!("CARGO_PKG_VERSION"), "spec": identity.to_string() });
    format!("{MAGIC}{head}\n")
}

/// The path of the first key at which two values differ.
fn difference(one: &Value, other: &Value) -> Option<String> {
    if one == other {
        return None;
    }
    let key = match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys());
            keys.map(|key| (key.clone(), one.get(key), other.get(key)))
                .find(|(_, one, other)| one != other)
        }
        (Value::Array(one), Value::Array(other)) => {
            let indices = 0..one.len().max(other.len());
            indices
                .map(|index| (format!("[{index}]"), one.get(index), other.get(index)))
                .find(|(_, one, other)| one != other)
        }
        _ => None,
    };
    let Some((key, one, other)) = key else {
        return Some(String::new());
    };
    let below = one
        .zip(other)
        .and_then(|(one, other)| difference(one, other));
    Some(match below.as_deref() {
        None | Some("") => key,
        Some(below) if below.starts_with('[') => format!("{key}{below}"),
        Some(below) => format!("{key}.{below}"),
    })
}
