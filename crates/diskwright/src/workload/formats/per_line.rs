//! Formats of a request on every line and nothing else: what is left to them is how a line is read and written.

use std::io;

use crate::base::error::{Error, Place};
use crate::workload::input::Input;
use crate::workload::output::Output;
use crate::workload::record::Record;
use crate::workload::text::Lines;
use crate::workload::writing::TraceWriter;

use super::fields::Wrong;
use super::{TraceReader, widened_note};

/// A line's request, and whether it had to be widened to whole blocks.
pub struct Parsed {
    record: Record,
    widened: bool,
}

impl From<Record> for Parsed {
    fn from(record: Record) -> Parsed {
        Parsed {
            record,
            widened: false,
        }
    }
}

impl From<(Record, bool)> for Parsed {
    fn from((record, widened): (Record, bool)) -> Parsed {
        Parsed { record, widened }
    }
}

/// A reader of the format called `name`; `help` says what a line is that `parse` understands.
pub fn reader<T: Into<Parsed>>(
    input: Input,
    name: &'static str,
    help: &'static str,
    parse: impl Fn(&[u8]) -> Result<T, Wrong> + Send + 'static,
) -> Box<dyn TraceReader> {
    Box::new(Reader {
        lines: Lines::new(input),
        name,
        help,
        parse: move |line: &[u8]| parse(line).map(Into::into),
        widened: 0,
    })
}

struct Reader<P> {
    lines: Lines,
    name: &'static str,
    help: &'static str,
    parse: P,
    widened: u64,
}

impl<P: Fn(&[u8]) -> Result<Parsed, Wrong> + Send> TraceReader for Reader<P> {
    fn next(&mut self) -> Result<Option<Record>, Error> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        match (self.parse)(self.lines.current()) {
            Ok(Parsed { record, widened }) => {
                self.widened += u64::from(widened);
                Ok(Some(record))
            }
            Err(wrong) => Err(wrong.error(&self.lines, self.help).into()),
        }
    }
    fn place(&self) -> Place {
        self.lines.place(None)
    }
    fn format(&self) -> &'static str {
        self.name
    }
    fn notes(&self) -> Vec<String> {
        widened_note(self.widened).into_iter().collect()
    }
}

/// Writes a record's line.
pub type WriteLine = fn(&mut Output, &Record) -> io::Result<()>;

/// A writer that keeps nothing from one line to the next.
pub fn writer(output: Output, write: WriteLine) -> Box<dyn TraceWriter> {
    Box::new(Writer { output, write })
}

struct Writer {
    output: Output,
    write: WriteLine,
}

impl TraceWriter for Writer {
    fn write(&mut self, record: &Record) -> io::Result<()> {
        (self.write)(&mut self.output, record)
    }
    fn finish(self: Box<Self>) -> io::Result<Output> {
        Ok(self.output)
    }
}
