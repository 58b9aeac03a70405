//! Errors that let the user mend what they wrote: where, what was found, what is accepted.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// Everything that can go wrong between a spec and its result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something the user wrote or named is wrong (exit code 2).
    #[error("{0}")]
    Input(Box<InputError>),
    /// A file could not be read or written (exit code 2, or 1 where that showed while it was being written).
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried: "read", "write", "open".
        action: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// A simulation failed, or a check found a fault (exit code 1).
    #[error("{0}")]
    Simulation(String),
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
}

/// "Input/output error": a kind of its own has it nowhere.
const EIO: i32 = 5;

impl Error {
    /// An error of the user's input without a place in a file.
    pub fn input(message: impl Into<String>) -> Error {
        InputError::new(message).into()
    }
    /// A failure to `action` ("read", "open", "write") the file at `path`.
    pub fn file(path: &Path, action: &'static str, source: io::Error) -> Error {
        Error::File {
            path: path.to_owned(),
            action,
            source,
        }
    }
    /// What the operating system said, and the file, where the disk was full or broken when a file was written: nothing
    /// that the user named is wrong.
    pub fn failed_write(&self) -> Option<(&io::Error, &Path)> {
        match self {
            Error::File {
                path,
                action: "write",
                source,
            } => {
                let ended = match source.kind() {
                    io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge
                    | io::ErrorKind::BrokenPipe => true,
                    _ => source.raw_os_error() == Some(EIO),
                };
                ended.then_some((source, path.as_path()))
            }
            _ => None,
        }
    }
    /// The exit code of the command: 2 for wrong input, 1 for a failed simulation.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::File { .. } if self.failed_write().is_some() => 1,
            Error::Input(_) | Error::File { .. } => 2,
            Error::Simulation(_) | Error::Interrupted => 1,
        }
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Error {
        Error::Input(Box::new(error))
    }
}

/// What is wrong, where, and how to mend it.
#[derive(Clone, Debug, PartialEq)]
pub struct InputError {
    /// What was found and what was expected, in one sentence.
    pub message: String,
    /// Where, as exactly as is known.
    pub place: Option<Place>,
    /// What would be accepted, or which option changes the behaviour.
    pub help: Option<String>,
}

impl InputError {
    /// An error without a place or help yet.
    pub fn new(message: impl Into<String>) -> InputError {
        InputError {
            message: message.into(),
            place: None,
            help: None,
        }
    }
    /// Adds the place.
    #[must_use]
    pub fn at(mut self, place: Place) -> InputError {
        self.place = Some(place);
        self
    }
    /// Adds what would be accepted.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> InputError {
        self.help = Some(help.into());
        self
    }
}

/// A place in something the user wrote.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A span of bytes of a text that is at hand, such as a spec.
    Text {
        /// The text and its name.
        source: Arc<Source>,
        /// The bytes concerned.
        span: Range<usize>,
    },
    /// A line of a text that streams by, such as a trace.
    Line {
        /// The file.
        file: PathBuf,
        /// Line number, from 1.
        line: u64,
        /// Column of the field, in characters from 1, where one field is to blame.
        column: Option<u64>,
        /// The line itself, shortened for display.
        text: String,
    },
    /// A record of a binary file.
    Record {
        /// The file.
        file: PathBuf,
        /// Record number, from 0.
        record: u64,
        /// Byte offset of the record in the (decompressed) file.
        offset: u64,
    },
    /// A request that is made from a file, and has no place in it.
    Made {
        /// The file.
        file: PathBuf,
        /// Request number, from 0.
        request: u64,
    },
    /// A whole file.
    File(PathBuf),
}

/// A text and where it came from: a spec, a drive description, an override on the command line.
#[derive(Debug, PartialEq)]
pub struct Source {
    /// The file's path, or `--set KEY=VALUE`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// A shared text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source {
            name: name.into(),
            text: text.into(),
        })
    }
    /// Line and column (characters) of a byte offset, both from 1.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Text { source, span } => {
                let (line, column) = source.line_column(span.start);
                write!(f, "{}:{line}:{column}", source.name)
            }
            Place::Line {
                file,
                line,
                column: Some(column),
                ..
            } => {
                write!(f, "{}:{line}:{column}", file.display())
            }
            Place::Line { file, line, .. } => write!(f, "{}:{line}", file.display()),
            Place::Record {
                file,
                record,
                offset,
            } => {
                write!(f, "{}: record {record} (byte {offset})", file.display())
            }
            Place::Made { file, request } => {
                write!(f, "{}: request {request} made from it", file.display())
            }
            Place::File(file) => write!(f, "{}", file.display()),
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = cut(&self.message, LONGEST_MESSAGE);
        let help = self.help.as_ref().map(|help| cut(help, LONGEST_HELP));
        match &self.place {
            Some(Place::Text { source, span }) => {
                let snippet = Snippet::source(&source.text)
                    .path(&source.name)
                    .annotation(AnnotationKind::Primary.span(shown(source, span)));
                let mut report = Level::ERROR.primary_title(message).element(snippet);
                if let Some(help) = help {
                    report = report.element(Level::HELP.message(help));
                }
                return f.write_str(&Renderer::plain().render(&[report]));
            }
            Some(place @ Place::Line { text, .. }) => {
                write!(f, "error: {message}\n --> {place}\n  | {text}")?;
            }
            Some(place) => write!(f, "error: {message}\n --> {place}")?,
            None => write!(f, "error: {message}")?,
        }
        match help {
            Some(help) => write!(f, "\n  = help: {help}"),
            None => Ok(()),
        }
    }
}

/// The most bytes of a message: what it shows of an input may have any length.
const LONGEST_MESSAGE: usize = 1_000;
/// The same of a help.
const LONGEST_HELP: usize = 2_000;

/// A text, of one that is longer than `most` bytes the beginning.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end]).into()
}

/// A text of an input between quotation marks, of a long one the beginning.
pub fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}

/// The span to underline: on character boundaries, and only its first line.
fn shown(source: &Source, span: &Range<usize>) -> Range<usize> {
    let text = &source.text;
    let clamp = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (start, end) = (clamp(span.start), clamp(span.end.max(span.start)));
    let line_end = text[start..end].find('\n').map_or(end, |i| start + i);
    start..line_end
}

/// The name among `names` that `found` was probably meant to be, by edit distance.
pub fn suggestion<'a>(found: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Time and memory are those of both lengths multiplied, and no name is as long as this.
    const LONGEST: usize = 200;
    if found.len() > LONGEST {
        return None;
    }
    let limit = (found.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&found.to_lowercase(), &name.to_lowercase()),
                name,
            )
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `unknown {kind} "found"`, with a suggestion and the accepted names as help.
pub fn unknown_name(kind: &str, found: &str, names: &[&str]) -> InputError {
    let help = match suggestion(found, names.iter().copied()) {
        Some(name) => format!("did you mean {name:?}? accepted: {}", names.join(", ")),
        None => format!("accepted: {}", names.join(", ")),
    };
    InputError::new(format!("unknown {kind} {}", quoted(found))).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(quoted("a \"b\""), "\"a \\\"b\\\"\"");
        let most = "ü".repeat(60);
        assert_eq!(quoted(&most), format!("\"{most}\""));
        assert_eq!(quoted(&format!("{most}ü")), format!("\"{most}\"…"));
    }

    #[test]
    fn long_messages_and_helps_are_cut() {
        let most = "ü".repeat(LONGEST_MESSAGE / 2);
        let told = |message: &str| InputError::new(message).to_string();
        assert_eq!(told(&most), format!("error: {most}"));
        assert_eq!(
            told(&format!("a{most}")),
            format!("error: a{}…", &most[2..])
        );
        let most = "a".repeat(LONGEST_HELP);
        let told = |help: &str| InputError::new("wrong").help(help).to_string();
        assert_eq!(told(&most), format!("error: wrong\n  = help: {most}"));
        assert_eq!(
            told(&format!("{most}a")),
            format!("error: wrong\n  = help: {most}…")
        );
    }

    /// Edit distances of long texts take time and memory.
    #[test]
    fn long_names_are_meant_to_be_nothing() {
        let long = "hd".repeat(1 << 20);
        assert_eq!(suggestion(&long, ["hdd"]), None);
        assert_eq!(suggestion("hd", ["hdd"]), Some("hdd"));
    }
}
