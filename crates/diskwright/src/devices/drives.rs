//! Drives by name or by file. Those that come with diskwright are the files of `drives/`, each under its name without `.toml`: hard disks in
//! the folder itself, others in the folder of their kind. A file that is `like` another one says what is different.

mod like;

use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use crate::base::document::{Node, Value};
use crate::base::error::{Error, InputError, Place, Source, unknown_name};
use crate::base::small_file;

static DRIVES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../drives");

/// The folders of other kinds of drives than hard disks.
const FOLDERS: [&str; 1] = ["ssd"];

/// The names of all drives: hard disks, then the other kinds, each sorted.
pub fn names() -> Vec<&'static str> {
    kinds().flat_map(names_of).collect()
}

/// The kinds of devices that drives are of.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    [KIND.1].into_iter().chain(FOLDERS)
}

/// The names of all drives of a kind, sorted; none of a kind that has no drives.
pub fn names_of(kind: &str) -> Vec<&'static str> {
    let folder = if kind == KIND.1 {
        Some(&DRIVES)
    } else {
        DRIVES.get_dir(kind)
    };
    let files = folder.into_iter().flat_map(Dir::files);
    let mut names: Vec<_> = files
        .filter_map(|file| file.path().file_name()?.to_str()?.strip_suffix(".toml"))
        .collect();
    names.sort_unstable();
    names
}

/// The description of a drive as written, or `None` for an unknown name.
pub fn text(name: &str) -> Option<&'static str> {
    let of_kind = |folder: &&str| DRIVES.get_file(format!("{folder}/{name}.toml"));
    let file = DRIVES.get_file(format!("{name}.toml"));
    file.or_else(|| FOLDERS.iter().find_map(of_kind))?
        .contents_utf8()
}

/// Reads the drive of a file that another program has made: the description as our own files have it, and what was made of it
/// otherwise than it is written. `None` for files that are none of these.
pub type ReadForeign = fn(&Path) -> Option<Result<DriveFile, Error>>;

/// The text of a drive's file, read.
#[derive(Clone, Debug)]
pub struct DriveFile {
    /// The description.
    pub tree: Node,
    /// What it was read from: the name of a file.
    pub source: String,
    /// What was made of it otherwise than it is written.
    pub warnings: Vec<String>,
}

/// The key by which a drive names its kind, and the kind of those that name none.
const KIND: (&str, &str) = ("kind", "hdd");
/// The endings of files that describe drives: our own, and DiskSim's.
const ENDINGS: [&str; 2] = [".toml", ".parv"];

/// What stands between the file of a system of DiskSim's and the name of one of its drives.
const SYSTEM: &str = ".parv#";

/// Whether a drive is named by its file.
pub fn is_file(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending)) || name.contains(SYSTEM)
}

impl DriveFile {
    /// The file of a drive by its name, or by its path, which starts at `base`.
    ///
    /// # Errors
    /// An unknown name, with a suggestion; a file that cannot be read or is no TOML, with the place.
    pub fn read(name: &str, base: &Path, read_foreign: ReadForeign) -> Result<DriveFile, Error> {
        let file = DriveFile::unresolved(name, base, read_foreign)?;
        let folder = DriveFile::folder(name, base);
        like::resolved(file, &folder, read_foreign)
    }

    /// Where the paths in the file of a drive start.
    fn folder(name: &str, base: &Path) -> PathBuf {
        let path = base.join(name);
        match (text(name), path.parent()) {
            (None, Some(folder)) => folder.to_owned(),
            _ => PathBuf::new(),
        }
    }

    /// The file as it is written.
    fn unresolved(name: &str, base: &Path, read_foreign: ReadForeign) -> Result<DriveFile, Error> {
        if let Some(text) = text(name) {
            return DriveFile::parse(format!("{name}.toml"), text.to_owned());
        }
        let path = base.join(name);
        if !is_file(name) {
            let mut error = unknown_name("drive", name, &names());
            error.help = error.help.map(|help| {
                format!(
                    "{help}; or the path of a drive's .toml file or of a .parv file of DiskSim's"
                )
            });
            return Err(error.into());
        }
        if let Some(drive) = read_foreign(&path) {
            return drive;
        }
        let text = small_file::read_text(&path)?;
        DriveFile::parse(path.display().to_string(), text)
    }

    /// The drive that a TOML text describes, which must be whole: one that is `like` another is left as it is written.
    ///
    /// # Errors
    /// Those of TOML, with the place.
    pub fn parse(source: String, text: String) -> Result<DriveFile, Error> {
        let tree = Node::parse(&Source::new(source.clone(), text))?;
        Ok(DriveFile {
            tree,
            source,
            warnings: Vec::new(),
        })
    }

    /// The file, for errors that stand nowhere else in it.
    pub fn place(&self) -> Place {
        Place::File(self.source.clone().into())
    }

    /// The kind of device that it is a drive of, as it is written.
    ///
    /// # Errors
    /// What is written is not text, with the place.
    pub fn kind(&self) -> Result<&str, InputError> {
        let (key, usual) = KIND;
        match self.tree.get(key).map(|node| (node, &node.value)) {
            None => Ok(usual),
            Some((_, Value::String(kind))) => Ok(kind),
            Some((node, _)) => {
                let error = InputError::new("the kind of a drive is a name, such as \"hdd\"");
                Err(error.at(node.origin.place()))
            }
        }
    }

    /// Refuses the drive of another kind.
    ///
    /// # Errors
    /// It is of another kind, with the place.
    pub fn must_be(&self, kind: &str) -> Result<(), InputError> {
        let found = self.kind()?;
        if found == kind {
            return Ok(());
        }
        let error = InputError::new(format!(
            "a drive of the kind {found:?}, where one of the kind {kind:?} is wanted"
        ));
        Err(error.at(self.place_of_kind()))
    }

    /// Where it says its kind.
    pub fn place_of_kind(&self) -> Place {
        let node = self.tree.get(KIND.0);
        node.map_or_else(|| self.place(), |node| node.origin.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> String {
        let file = DriveFile::parse(format!("{name}.toml"), text(name).expect(name).to_owned());
        file.expect(name).kind().expect(name).to_owned()
    }

    #[test]
    fn every_drive_is_listed_with_its_kind() {
        let mut all = 0;
        for folder in DRIVES.dirs() {
            assert!(FOLDERS.iter().any(|kind| folder.path() == Path::new(kind)));
        }
        for of in kinds() {
            let names = names_of(of);
            assert!(!names.is_empty(), "{of}");
            assert!(names.iter().all(|name| kind(name) == of), "{names:?}");
            all += names.len();
        }
        let mut names = names();
        assert_eq!(names.len(), all);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "a name stands for one drive");
        assert!(names_of("array").is_empty());
    }
}
