//! What a parameter file says, before it means anything: every piece knows where it was written.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::error::{InputError, Place, Source};

/// Where something was written.
#[derive(Clone)]
pub struct SourceSpan {
    source: Arc<Source>,
    start: u32,
    end: u32,
}

impl SourceSpan {
    pub(super) fn new(source: &Arc<Source>, start: u32, end: u32) -> SourceSpan {
        SourceSpan {
            source: Arc::clone(source),
            start,
            end,
        }
    }

    /// From the start of this to the end of `last`, which was written later in the same text.
    pub(super) fn to(&self, last: &SourceSpan) -> SourceSpan {
        SourceSpan::new(&self.source, self.start, last.end)
    }

    /// Where it begins.
    pub(super) fn start(&self) -> SourceSpan {
        SourceSpan::new(&self.source, self.start, self.start)
    }

    /// The place, for an error.
    pub(super) fn place(&self) -> Place {
        Place::Text {
            source: Arc::clone(&self.source),
            span: self.start as usize..self.end as usize,
        }
    }

    /// An error at this place.
    pub(super) fn error(&self, message: impl Into<String>) -> InputError {
        InputError::new(message).at(self.place())
    }

    /// The folder of the file.
    pub(super) fn folder(&self) -> PathBuf {
        let folder = Path::new(&self.source.name).parent();
        folder.map_or_else(PathBuf::new, Path::to_owned)
    }

    /// The text that stands there.
    pub(super) fn text(&self) -> &str {
        &self.source.text[self.start as usize..self.end as usize]
    }
}

/// `file:line:column`.
impl fmt::Display for SourceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.place(), f)
    }
}

impl fmt::Debug for SourceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A name: of a module, a block, an instance or a parameter. Runs of blanks in it are one blank.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) at: SourceSpan,
}

/// Something that stands in a file by itself.
#[derive(Debug)]
pub(super) enum Statement {
    /// `TYPE NAME { … }`.
    Define(Block),
    /// `instantiate [ … ] as NAME`.
    Instantiate {
        /// The instances' names.
        names: Vec<Value>,
        /// What they are instances of.
        of: Name,
    },
    /// `topology TYPE NAME [ … ]`.
    Topology(Node),
}

/// `TYPE { … }`, or `TYPE NAME { … }`.
#[derive(Debug)]
pub(super) struct Block {
    /// The name of a module, or of an earlier block whose parameters it starts with.
    pub(super) kind: Name,
    /// Its own name; none where it is the value of a parameter.
    pub(super) name: Option<Name>,
    /// Its parameters, as written.
    pub(super) parameters: Vec<Parameter>,
    /// What stands before its brace.
    pub(super) at: SourceSpan,
}

/// `NAME = VALUE`, or `[ NAME, NAME ] = VALUE`.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) names: Vec<Name>,
    pub(super) value: Value,
}

/// The value of a parameter, or an item of a list.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) data: Data,
    pub(super) at: SourceSpan,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Data {
    /// A whole number.
    Integer(i64),
    /// A finite number with a point or an exponent.
    Float(f64),
    /// Anything else that is neither list nor block.
    Text(String),
    /// `[ … ]`.
    List(Vec<Value>),
    /// `disk0 .. disk9`, in a list.
    Range(Name, Name),
    /// A block.
    Block(Box<Block>),
}

/// A component of the system and what hangs on it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) module: Name,
    pub(super) name: Name,
    pub(super) children: Vec<Node>,
}
