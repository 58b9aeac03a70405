//! Where the files that parameter files name come from, and how much of them is read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The most bytes that one file may have: the longest that comes with DiskSim has 28 kB.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// Something that holds files.
pub trait Files {
    /// The content of a file.
    ///
    /// # Errors
    /// There is no such file, or it cannot be read, or it is too long to be one that describes a drive.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// The files of the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        // A pipe would be waited for, and a device has no end.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let mut bytes = Vec::new();
        File::open(path)?
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)?;
        short_enough(bytes)
    }
}

/// Files in memory, by path.
impl Files for BTreeMap<PathBuf, Vec<u8>> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.get(path).ok_or(io::ErrorKind::NotFound)?;
        short_enough(bytes.clone())
    }
}

fn short_enough(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("longer than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}

/// `name` as seen from `folder`, without `.` and without `..` after a name.
pub(super) fn resolve(folder: &Path, name: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(name).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(path.components().next_back(), Some(Component::Normal(_))) =>
            {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_seen_from_a_folder() {
        for (folder, name, expected) in [
            ("a/b", "c.model", "a/b/c.model"),
            ("", "c.model", "c.model"),
            (".", "./c.model", "c.model"),
            ("a/b", "../c.model", "a/c.model"),
            ("", "../c.model", "../c.model"),
            ("..", "../c.model", "../../c.model"),
            ("a", "/x/../c.model", "/c.model"),
        ] {
            let found = resolve(Path::new(folder), name);
            assert_eq!(found, Path::new(expected), "{folder} {name}");
        }
    }

    #[test]
    fn only_short_regular_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Disk.read(folder.path()).is_err());
        assert!(Disk.read(&folder.path().join("none")).is_err());
        for (length, readable) in [(MAX_BYTES, true), (MAX_BYTES + 1, false)] {
            let path = folder.path().join("file");
            std::fs::write(&path, vec![b' '; length as usize]).expect("written");
            let read = Disk.read(&path).map(|bytes| bytes.len() as u64).ok();
            assert_eq!(read, readable.then_some(length));
            let files = BTreeMap::from([(path.clone(), vec![b' '; length as usize])]);
            assert_eq!(files.read(&path).is_ok(), readable);
        }
    }
}
