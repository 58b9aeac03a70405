//! Finding and reading the files that parameter files name.

use std::io;
use std::path::{Path, PathBuf};

use super::files::{Files, MAX_BYTES, resolve};
use super::syntax::SourceSpan;
use crate::base::error::InputError;

/// How often a set-up may read a file.
const MAX_READS: usize = 1_000;

/// What has been read for a set-up, and where more would be looked for.
pub(super) struct Loader<'f> {
    files: &'f dyn Files,
    /// Folders to look in, after that of the file which names another.
    search: Vec<PathBuf>,
    /// The files whose reading has begun and not ended, each named by the one before it.
    open: Vec<PathBuf>,
    /// All files read, in order.
    read: Vec<PathBuf>,
    /// Times that a file may still be read.
    reads: usize,
    /// Bytes that may still be read.
    room: u64,
}

impl<'f> Loader<'f> {
    pub(super) fn new(files: &'f dyn Files, search: Vec<PathBuf>) -> Loader<'f> {
        Loader {
            files,
            search,
            open: Vec::new(),
            read: Vec::new(),
            reads: MAX_READS,
            room: MAX_BYTES,
        }
    }

    /// The files read, in order, each once.
    pub(super) fn read(&self) -> &[PathBuf] {
        &self.read
    }

    /// Reads the first file, in whose folder others are looked for.
    pub(super) fn first(&mut self, path: &Path) -> io::Result<String> {
        let bytes = self.files.read(path)?;
        self.search.extend(path.parent().map(Path::to_owned));
        self.room = self.room.saturating_sub(bytes.len() as u64);
        self.open
            .push(resolve(Path::new(""), &path.to_string_lossy()));
        self.read.push(path.to_owned());
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Finds and reads a file that is named at a place in another, and enters it.
    pub(super) fn enter(
        &mut self,
        name: &str,
        at: &SourceSpan,
    ) -> Result<(PathBuf, String), InputError> {
        let (path, text) = self.find(name, at)?;
        if let Some(from) = self.open.iter().position(|open| *open == path) {
            let chain: Vec<_> = self.open[from..]
                .iter()
                .chain([&path])
                .map(|path| path.display().to_string())
                .collect();
            return Err(at
                .error(format!(
                    "{name:?} includes itself: {}",
                    chain.join(" includes ")
                ))
                .help("expected a file that does not lead back to this one"));
        }
        self.open.push(path.clone());
        Ok((path, text))
    }

    /// Leaves the file that was entered last.
    pub(super) fn leave(&mut self) {
        self.open.pop();
    }

    /// Finds and reads a file that is named at a place in another.
    pub(super) fn find(
        &mut self,
        name: &str,
        at: &SourceSpan,
    ) -> Result<(PathBuf, String), InputError> {
        let mut tried: Vec<PathBuf> = Vec::new();
        let folder = at.folder();
        for folder in
            std::iter::once(folder.as_path()).chain(self.search.iter().map(PathBuf::as_path))
        {
            let path = resolve(folder, name);
            if tried.contains(&path) {
                continue;
            }
            match self.files.read(&path) {
                Ok(bytes) => {
                    self.count(&path, bytes.len(), at)?;
                    return Ok((path, String::from_utf8_lossy(&bytes).into_owned()));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => tried.push(path),
                Err(error) => {
                    return Err(at
                        .error(format!("cannot read {}: {error}", path.display()))
                        .help("expected a text file of DiskSim's"));
                }
            }
        }
        let tried: Vec<_> = tried
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        Err(at
            .error(format!("no file {name:?}"))
            .help(format!("looked for {}; files are looked for in the folder of the file that names them and in that of the first file", tried.join(" and "))))
    }

    /// Counts a file against what may be read.
    fn count(&mut self, path: &Path, bytes: usize, at: &SourceSpan) -> Result<(), InputError> {
        let (Some(room), Some(reads)) = (
            self.room.checked_sub(bytes as u64),
            self.reads.checked_sub(1),
        ) else {
            return Err(at
                .error(format!("{} is one file too many", path.display()))
                .help(format!(
                    "a set-up reads at most {MAX_READS} files with {MAX_BYTES} bytes in all"
                )));
        };
        self.reads = reads;
        self.room = room;
        if !self.read.iter().any(|read| read == path) {
            self.read.push(path.to_owned());
        }
        Ok(())
    }
}
