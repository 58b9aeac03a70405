//! Files of which all is kept in memory: specs, drives, tables.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::{Error, InputError, Place};

/// The most bytes of such a file.
const MOST: u64 = 64 << 20;

/// The bytes of a file.
///
/// # Errors
/// It cannot be read, or is no small file: a device, for one, may have no end.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    read_at_most(path, MOST)
}

/// The same of a text.
///
/// # Errors
/// Those of [`read`], and bytes that are no text.
pub fn read_text(path: &Path) -> Result<String, Error> {
    String::from_utf8(read(path)?).map_err(|_| {
        let error = io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
        Error::file(path, "read", error)
    })
}

fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::file(path, "read", error);
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let read = file.take(most + 1).read_to_end(&mut bytes);
    if read.map_err(failed)? as u64 > most {
        let error = InputError::new(format!("longer than {most} bytes"))
            .at(Place::File(path.to_owned()))
            .help("expected a spec, a drive, a table or a job file; a trace is named in a spec, by workload.trace");
        return Err(error.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_an_end_are_refused() {
        let error = read_at_most(Path::new("/dev/zero"), 1000).expect_err("no end");
        assert!(matches!(error, Error::Input(_)), "{error}");
        assert!(read_at_most(Path::new("/dev/null"), 0).is_ok());
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), [0xff; 10]).expect("written");
        assert_eq!(read_at_most(file.path(), 10).expect("small").len(), 10);
        assert!(read_at_most(file.path(), 9).is_err());
        assert!(read_text(file.path()).is_err());
    }
}
