//! What options list: `A,B,…`, each entry with its place.

use std::ops::Range;
use std::sync::Arc;

use crate::base::error::{InputError, Place, Source};
use crate::runs::compare::divided;

/// One entry of a list.
pub(super) struct Entry {
    source: Arc<Source>,
    span: Range<usize>,
}

impl Entry {
    /// The entries of what an option was given. Commas within braces, brackets and quotes belong to an entry.
    ///
    /// # Errors
    /// An empty entry, or a bracket or quote that is never closed.
    pub(super) fn all(option: &str, text: &str) -> Result<Vec<Entry>, InputError> {
        let source = Source::new(option, text);
        let entry = |span: Range<usize>| Entry {
            source: Arc::clone(&source),
            span,
        };
        let spans =
            divided(text, 0).map_err(|open| entry(open..open + 1).error("this is never closed"))?;
        let mut entries = Vec::with_capacity(spans.len());
        for span in spans {
            let written = &text[span.clone()];
            let trimmed = written.trim();
            let start = span.start + (written.len() - written.trim_start().len());
            let found = entry(start..start + trimmed.len());
            if trimmed.is_empty() {
                return Err(found.error("an empty entry"));
            }
            entries.push(found);
        }
        Ok(entries)
    }

    /// As it was written.
    pub(super) fn text(&self) -> &str {
        &self.source.text[self.span.clone()]
    }

    /// An error about the entry.
    pub(super) fn error(&self, message: impl Into<String>) -> InputError {
        self.blamed(InputError::new(message))
    }

    /// An error at the entry's place.
    pub(super) fn blamed(&self, error: InputError) -> InputError {
        error.at(Place::Text {
            source: Arc::clone(&self.source),
            span: self.span.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_braces_do_not_divide() {
        let entries = Entry::all("--policies", "lru, { a = { b = [1, 2] } } ,\"x,y\"");
        let entries = entries.expect("three");
        let texts: Vec<&str> = entries.iter().map(Entry::text).collect();
        assert_eq!(texts, ["lru", "{ a = { b = [1, 2] } }", "\"x,y\""]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, message, place) in [
            ("", "an empty entry", "--policies:1:1"),
            ("lru,,fifo", "an empty entry", "--policies:1:5"),
            ("lru, ", "an empty entry", "--policies:1:6"),
            ("lru,{ a", "never closed", "--policies:1:5"),
        ] {
            let error = Entry::all("--policies", text).err().expect(text);
            let error = error.to_string();
            assert!(
                error.contains(message) && error.contains(place),
                "{text}: {error}"
            );
        }
    }
}
