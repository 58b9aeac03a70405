//! Records what enters a device while it is served.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::records::{Encoder, Entry, Record};
use super::replay::Resumed;
use super::{Fate, MOST_BYTES, head};
use crate::base::error::Error;
use crate::base::units::Time;
use crate::engine::request::Request;

/// Entries between two hashes of what came of them.
const CHECKED: u32 = 4096;
/// The level of Zstandard: what enters at random hardly becomes smaller by a higher one.
const LEVEL: i32 = 1;

/// The file that is written.
pub struct Log {
    path: PathBuf,
    file: File,
    encoder: Encoder,
    fate: Fate,
    unchecked: u32,
    /// What enters next does not enter together with the last ones.
    begins: bool,
}

impl Log {
    /// The log of a device that begins as its spec describes it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn of_new_device(path: &Path, identity: &Value) -> Result<Log, Error> {
        let mut file = File::create(path).map_err(|error| Error::file(path, "write", error))?;
        let written = file.write_all(head(identity).as_bytes());
        written.map_err(|error| Error::file(path, "write", error))?;
        Ok(Log::at(path, file, Encoder::default(), Fate::default()))
    }

    /// The log of a device that goes on.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn going_on(path: &Path, resumed: Resumed) -> Result<Log, Error> {
        let failed = |error| Error::file(path, "write", error);
        let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        // What was cut short is no part of the device that goes on.
        file.set_len(resumed.whole).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut log = Log::at(path, file, Encoder::behind(resumed.decoder), resumed.fate);
        for record in &resumed.added {
            log.encoder.add(record);
        }
        log.write_out()?;
        Ok(log)
    }

    fn at(path: &Path, file: File, encoder: Encoder, fate: Fate) -> Log {
        Log {
            path: path.to_owned(),
            file,
            encoder,
            fate,
            unchecked: 0,
            begins: false,
        }
    }

    /// What enters from now on enters behind all that came of what entered before.
    pub fn begin(&mut self) {
        self.begins = true;
    }

    /// Something enters.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn enters(&mut self, at: Time, entry: Entry) -> Result<(), Error> {
        let begins = std::mem::take(&mut self.begins);
        if begins && self.unchecked >= CHECKED {
            self.check();
        }
        self.unchecked += 1;
        self.encoder.add(&Record::Enters { at, begins, entry });
        match self.encoder.len() {
            ..MOST_BYTES => Ok(()),
            _ => self.write_out(),
        }
    }

    /// A request is complete.
    pub fn completed(&mut self, request: &Request) {
        self.fate.add(request);
    }

    fn check(&mut self) {
        self.unchecked = 0;
        self.encoder.add(&Record::Check(self.fate.hash()));
    }

    /// Writes what was recorded, so that it is there when this process is killed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_out(&mut self) -> Result<(), Error> {
        if self.encoder.len() == 0 {
            return Ok(());
        }
        let failed = |error| Error::file(&self.path, "write", error);
        let bytes = self.encoder.take();
        let chunk = chunk(&bytes).map_err(failed)?;
        self.file.write_all(&chunk).map_err(failed)
    }

    /// The serving ends at an instant at which nothing is under way.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self, at: Time) -> Result<(), Error> {
        self.check();
        self.encoder.add(&Record::Pause(at));
        self.write_out()?;
        let synced = self.file.sync_data();
        synced.map_err(|error| Error::file(&self.path, "write", error))
    }

    /// There is no such device any more.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn discard(self) -> Result<(), Error> {
        let removed = std::fs::remove_file(&self.path);
        removed.map_err(|error| Error::file(&self.path, "remove", error))
    }
}

/// Records as a chunk of the file: their lengths packed and unpacked, a hash, and they themselves, packed.
///
/// # Errors
/// They cannot be packed.
pub fn chunk(records: &[u8]) -> io::Result<Vec<u8>> {
    let packed = zstd::bulk::compress(records, LEVEL)?;
    let mut chunk = Vec::with_capacity(super::HEAD + packed.len());
    chunk.extend((packed.len() as u32).to_le_bytes());
    chunk.extend((records.len() as u32).to_le_bytes());
    chunk.extend(xxh3_64(&packed).to_le_bytes());
    chunk.extend(packed);
    Ok(chunk)
}
