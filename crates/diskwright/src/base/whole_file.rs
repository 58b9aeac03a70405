//! A file that takes its name when it is whole, or leaves no trace.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

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
        } = self
        else {
            return Ok(());
        };
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.as_file().sync_all()?;
        file.persist(target).map_err(|failed| failed.error)?;
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
