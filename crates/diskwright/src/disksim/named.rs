//! Set-ups as they are named: a file, one of its drives, values that are put over those of the files.

use std::path::{Path, PathBuf};

use super::convert::{Imported, device_names, import_named};
use super::overrides::Override;
use super::whole::{Whole, whole};
use crate::base::error::{Error, InputError, Place};

/// Whether a path is that of a set-up, and not of a spec or a drive in TOML.
pub fn is_set_up(path: &Path) -> bool {
    SetUpName::split(path).is_some()
}

/// The file that a path names: of a set-up, without what is written behind it.
pub fn file_of(path: &Path) -> PathBuf {
    SetUpName::split(path).map_or_else(|| path.to_owned(), |(file, _)| file)
}

/// A set-up as it is named: `FILE.parv`, and behind it, each after a `#`, the name of one of its drives and values that are put over those
/// of the files, `COMPONENT:PARAMETER=VALUE`.
#[derive(Clone, Debug)]
pub struct SetUpName {
    /// The file.
    pub file: PathBuf,
    /// The drive.
    pub drive: Option<String>,
    /// The values.
    pub overrides: Vec<Override>,
    /// The values as they are written, each behind a `#`.
    suffix: String,
}

impl SetUpName {
    /// The file of a set-up, and what is written behind it.
    fn split(path: &Path) -> Option<(PathBuf, &str)> {
        let Some((file, rest)) = path.to_str().and_then(|text| text.split_once(".parv#")) else {
            let is_file = path.extension().is_some_and(|ending| ending == "parv");
            return is_file.then(|| (path.to_owned(), ""));
        };
        Some((PathBuf::from(format!("{file}.parv")), rest))
    }

    /// Reads it, where it is the name of a set-up.
    ///
    /// # Errors
    /// Two drives, or a value that is none behind a `#`.
    pub fn read(path: &Path) -> Option<Result<SetUpName, Error>> {
        SetUpName::split(path).map(|(file, rest)| {
            let mut named = SetUpName::of(&file);
            for part in rest.split('#').filter(|part| !part.is_empty()) {
                named.add(part)?;
            }
            Ok(named)
        })
    }

    /// A file, whatever its name.
    pub fn of(file: &Path) -> SetUpName {
        SetUpName {
            file: file.to_owned(),
            drive: None,
            overrides: Vec::new(),
            suffix: String::new(),
        }
    }

    fn add(&mut self, part: &str) -> Result<(), InputError> {
        if part.contains('=') {
            let option = format!("{}#", self.file.display());
            return self.put(&option, part);
        }
        match self.drive.replace(part.to_owned()) {
            None => Ok(()),
            Some(first) => Err(InputError::new(format!("two drives, {first:?} and {part:?}"))
                .at(Place::File(self.file.clone()))
                .help("expected FILE.parv#DRIVE, and values as FILE.parv#COMPONENT:PARAMETER=VALUE")),
        }
    }

    /// The same set-up as it is named in a spec that stands in its folder.
    ///
    /// # Errors
    /// The file's name is not Unicode.
    pub fn beside(&self) -> Result<String, Error> {
        let name = self.file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            InputError::new("the file's name is not Unicode").at(Place::File(self.file.clone()))
        })?;
        let drive = self.drive.iter().map(|drive| format!("#{drive}"));
        Ok(format!(
            "{name}{}{}",
            drive.collect::<String>(),
            self.suffix
        ))
    }

    /// Puts further values over those of the files.
    ///
    /// # Errors
    /// As [`Override::parse`].
    pub fn put(&mut self, option: &str, text: &str) -> Result<(), InputError> {
        self.overrides.push(Override::parse(option, text)?);
        self.suffix.push('#');
        self.suffix.push_str(text);
        Ok(())
    }

    /// The names of its devices, in the order of the topology.
    ///
    /// # Errors
    /// As [`import_named`], but for what is wrong with the devices themselves.
    pub fn devices(&self) -> Result<Vec<String>, Error> {
        device_names(&self.file, &self.overrides)
    }

    /// The drive alone.
    ///
    /// # Errors
    /// As [`import_named`].
    pub fn import(&self) -> Result<Imported, Error> {
        import_named(&self.file, self.drive.as_deref(), &self.overrides)
    }

    /// The whole system, whose drives are named by `drive`.
    ///
    /// # Errors
    /// As [`whole`].
    pub fn whole(&self, drive: &str) -> Result<Whole, Error> {
        whole(&self.file, drive, &self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_up_is_named_with_a_drive_and_values() {
        for (text, file, drive, values, beside) in [
            ("a/b.parv", "a/b.parv", None, 0, "b.parv"),
            ("b.parv#disk0", "b.parv", Some("disk0"), 0, "b.parv#disk0"),
            (
                "a.b/b.parv#disk0:Max queue length=4#disk1#*:x:y=1",
                "a.b/b.parv",
                Some("disk1"),
                2,
                "b.parv#disk1#disk0:Max queue length=4#*:x:y=1",
            ),
        ] {
            let named = SetUpName::read(Path::new(text)).expect(text).expect(text);
            let found = (
                named.file.to_str(),
                named.drive.as_deref(),
                named.overrides.len(),
            );
            assert_eq!(found, (Some(file), drive, values), "{text}");
            assert_eq!(named.beside().expect("Unicode"), beside);
            assert_eq!(file_of(Path::new(text)), Path::new(file));
        }
        for text in ["a.toml", "parv", "a.parv.toml", "a#b"] {
            assert!(!is_set_up(Path::new(text)), "{text}");
            assert_eq!(file_of(Path::new(text)), Path::new(text));
        }
        for (text, told) in [
            ("b.parv#disk0#disk1", "two drives, \"disk0\" and \"disk1\""),
            ("b.parv#disk0=4", "COMPONENT:PARAMETER=VALUE"),
        ] {
            let error = SetUpName::read(Path::new(text))
                .expect(text)
                .expect_err(text);
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
