//! A file that takes its name when it is whole, or leaves no trace.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{Builder, NamedTempFile};

/// Where files are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all files that are being written. None of them can take its name afterwards: this is for a process that is about
/// to end while some thread waits in the operating system.
pub fn discard_unfinished() {
    for path in UNFINISHED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
    {
        // It may have taken its name in this moment.
        let _ = fs::remove_file(path);
    }
}

/// A temporary file's place in the list, which it leaves when it is dropped.
pub(crate) struct Listed(PathBuf);

impl Listed {
    fn new(path: &Path) -> Listed {
        let mut listed = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        listed.push(path.to_owned());
        Listed(path.to_owned())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut listed = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        listed.retain(|path| *path != self.0);
    }
}

/// A file being written, under a temporary name in the folder of its target. Dropped unfinished, it is
/// removed, and an old file of the name stays as it was.
///
/// A target that is there and no regular file, such as a pipe or a device, is written to as it is.
pub(crate) enum WholeFile {
    /// Renamed in the end.
    Temporary {
        /// The file under its temporary name.
        file: NamedTempFile<File>,
        /// The name that it takes.
        target: PathBuf,
        /// The permissions of the file that it replaces.
        permissions: Option<Permissions>,
        /// For [`discard_unfinished`].
        listed: Listed,
    },
    /// Never replaced.
    Direct(File),
}

impl WholeFile {
    /// Opens a file that is to become `path`, through symbolic links.
    pub(crate) fn create(path: &Path) -> io::Result<WholeFile> {
        let target = match fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(path)?,
            found => found?,
        };
        let permissions = match fs::metadata(&target) {
            Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => {
                return File::options()
                    .write(true)
                    .open(&target)
                    .map(WholeFile::Direct);
            }
            Ok(there) => Some(there.permissions()),
            Err(_) => None,
        };
        let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let mut prefix = OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        // Opened here and not by the builder, so that a new file has the permissions that any other would.
        let open = |path: &Path| File::options().write(true).create_new(true).open(path);
        let file = Builder::new().prefix(&prefix).make_in(folder, open)?;
        Ok(WholeFile::Temporary {
            listed: Listed::new(file.path()),
            file,
            target,
            permissions,
        })
    }

    /// Brings all that was written to the disk, and gives the file its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        let WholeFile::Temporary {
            file,
            target,
            permissions,
            listed,
        } = self
        else {
            return Ok(());
        };
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.as_file().sync_all()?;
        file.persist(target).map_err(|failed| failed.error)?;
        drop(listed);
        Ok(())
    }

    fn file(&mut self) -> &mut File {
        match self {
            WholeFile::Temporary { file, .. } => file.as_file_mut(),
            WholeFile::Direct(file) => file,
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_listed_for_as_long_as_it_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = || fs::read_dir(folder.path()).expect("listed").count();
        let mut whole = WholeFile::create(&folder.path().join("whole")).expect("created");
        whole.write_all(b"all").expect("written");
        whole.finish().expect("finished");
        let half = WholeFile::create(&folder.path().join("half")).expect("created");
        assert_eq!(names(), 2);
        // Other tests write files at the same time: only this one's is looked for.
        let WholeFile::Temporary { file, .. } = &half else {
            panic!("a regular file");
        };
        let listed = || {
            UNFINISHED
                .lock()
                .expect("sound")
                .contains(&file.path().to_owned())
        };
        assert!(listed());
        drop(half);
        assert_eq!(names(), 1);
        assert_eq!(fs::read(folder.path().join("whole")).expect("read"), b"all");
    }
}
