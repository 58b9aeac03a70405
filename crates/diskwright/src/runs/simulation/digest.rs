//! What a file holds, by its hash. A file that has not changed is read once a process.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use crate::base::error::{Error, InputError, Place};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// A file's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Content {
    /// The file, from the root.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// XXH3 of 128 bits over its bytes, in hexadecimal.
    pub digest: String,
}

/// A file as it was when it was read.
type Seen = (PathBuf, u64, SystemTime);

/// Digests by file, size and time of the last change.
static KNOWN: Mutex<BTreeMap<Seen, String>> = Mutex::new(BTreeMap::new());

/// The content of a file.
///
/// # Errors
/// It cannot be read, or is no regular file: a pipe gives its bytes only once.
pub fn of_file(path: &Path) -> Result<Content, Error> {
    let failed = |error| Error::file(path, "read", error);
    let path = std::path::absolute(path).map_err(failed)?;
    let metadata = fs::metadata(&path).map_err(failed)?;
    if !metadata.is_file() {
        let error = InputError::new("this is no regular file, and has to be read several times");
        return Err(error
            .at(Place::File(path))
            .help("save it as a file first")
            .into());
    }
    let bytes = metadata.len();
    let seen = (path, bytes, metadata.modified().map_err(failed)?);
    // Held while a file is read, so that two threads do not both read it.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let digest = match known.get(&seen) {
        Some(digest) => digest.clone(),
        None => {
            let digest = read(&seen.0).map_err(|error| Error::file(&seen.0, "read", error))?;
            known.insert(seen.clone(), digest.clone());
            digest
        }
    };
    Ok(Content {
        path: seen.0,
        bytes,
        digest,
    })
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Xxh3::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(format!("{:032x}", hash.digest128())),
            Ok(count) => hash.update(&chunk[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use xxhash_rust::xxh3::xxh3_128;

    #[test]
    fn a_file_is_its_bytes_and_is_read_again_when_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace");
        let at = |bytes: &[u8], seconds: u64| {
            fs::write(&path, bytes).expect("written");
            let file = File::options().write(true).open(&path).expect("opened");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            file.set_modified(time).expect("a time");
            of_file(&path).expect("a digest")
        };
        let long = vec![7; 3 * CHUNK + 5];
        let expected = |bytes: &[u8]| format!("{:032x}", xxh3_128(bytes));
        let first = at(&long, 1_000);
        assert_eq!(
            (first.bytes, &first.digest),
            (long.len() as u64, &expected(&long))
        );
        // The same size and time stand for the same bytes: that is what saves the second reading.
        let mut other = long.clone();
        other[0] = 8;
        assert_eq!(at(&other, 1_000), first);
        assert_eq!(at(&other, 2_000).digest, expected(&other));
        assert_eq!(at(&other[1..], 1_000).digest, expected(&other[1..]));
    }

    #[test]
    fn what_cannot_be_read_twice_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = of_file(folder.path()).expect_err("a folder").to_string();
        assert!(error.contains("no regular file"), "{error}");
        let missing = of_file(&folder.path().join("none"))
            .expect_err("nothing")
            .to_string();
        assert!(missing.contains("cannot read"), "{missing}");
    }
}
