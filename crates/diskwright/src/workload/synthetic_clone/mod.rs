//! Synthetic clones: traces made from what a trace was measured to be, or from a table of counts, and from a seed.
//!
//! A file in TOML says what the trace looks like: a profile that `diskwright inspect --profile` wrote, or a table `[counts]`.
//! It is read as a trace of the format `synthetic-clone`; the same file and seed give the same requests on every machine.
//! Its random streams keep their former names, `look-alike.…`, because the requests follow from them.

mod counts;
mod file;
mod measured;
mod spec;
mod urn_sampler;

use std::path::{Path, PathBuf};

use crate::base::error::{Error, Place};

use super::clone_options::{Parameters, SyntheticCloneOptions};
use super::formats::{Format, FormatOptions, TraceReader};
use super::input::Input;
use super::record::Record;

use self::file::{Contents, detect};

pub use self::counts::{Cell, Counts, Mixture};
pub use self::spec::SyntheticCloneSpec;

/// The format's name.
pub const NAME: &str = "synthetic-clone";
/// The seed where nothing gives one.
const SEED: u64 = 1;

/// The registry's line.
pub const FORMAT: Format = Format {
    name: NAME,
    extensions: &["toml"],
    summary: "synthetic clone: a profile or a table of counts in TOML, from which requests are made",
    detect,
    open,
    write: None,
};

fn open(input: Input, options: &FormatOptions) -> Result<Box<dyn TraceReader>, Error> {
    let path = input.path().to_owned();
    let contents = file::read(input)?;
    let SyntheticCloneOptions { seed, parameters } = &options.synthetic_clone;
    let seed = seed.unwrap_or(SEED);
    let source = match contents {
        Contents::Counts(table) => {
            let resolved = table.resolve(parameters);
            let load =
                resolved.and_then(|resolved| counts::Load::new(&table.counts, &resolved, seed));
            Source::Counts(Box::new(
                load.map_err(|error| error.at(Place::File(path.clone())))?,
            ))
        }
        Contents::Measured(profile) => {
            file::refuse_parameters(parameters)
                .map_err(|error| error.at(Place::File(path.clone())))?;
            Source::Measured(Box::new(measured::Load::new(&profile, seed)))
        }
    };
    Ok(Box::new(Reader {
        path,
        source,
        yielded: 0,
    }))
}

/// The sizes that are chosen for a table of counts, which no seed changes; `over` are parameters over those of the file.
///
/// # Errors
/// A file that cannot be read or is no table of counts; numbers that contradict each other.
pub fn mixture(path: &Path, over: &Parameters) -> Result<Mixture, Error> {
    let file = Place::File(path.to_owned());
    match file::read(Input::open(path)?)? {
        Contents::Counts(table) => {
            let resolved = table.resolve(over);
            let found = resolved.and_then(|resolved| counts::mixture(&table.counts, &resolved));
            Ok(found.map_err(|error| error.at(file))?)
        }
        Contents::Measured(_) => Err(crate::base::error::InputError::new(
            "a measured profile has its sizes in it, and none are chosen: expected a table [counts]",
        )
        .at(file)
        .into()),
    }
}

enum Source {
    Counts(Box<counts::Load>),
    Measured(Box<measured::Load>),
}

/// The requests of a synthetic clone as the records of a trace.
struct Reader {
    path: PathBuf,
    source: Source,
    yielded: u64,
}

impl TraceReader for Reader {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        let record = match &mut self.source {
            Source::Counts(load) => load.next(),
            Source::Measured(load) => load.next(),
        };
        self.yielded += u64::from(record.is_some());
        Ok(record)
    }

    /// No request has a place of its own in the file; its number tells it from the others.
    fn place(&self) -> Place {
        match self.yielded {
            0 => Place::File(self.path.clone()),
            yielded => Place::Made {
                file: self.path.clone(),
                request: yielded - 1,
            },
        }
    }

    fn format(&self) -> &'static str {
        NAME
    }
}
