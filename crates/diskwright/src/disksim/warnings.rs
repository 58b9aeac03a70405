//! What an import does otherwise than is written.

use std::fmt::Display;

use super::syntax::SourceSpan;

/// The most warnings that are told one by one: to find a line's number takes time.
const MOST: usize = 100;

/// Warnings in the order in which they came up.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    messages: Vec<String>,
    /// How many there are beyond those.
    more: usize,
}

impl Warnings {
    /// Warns of something at a place.
    pub(super) fn push(&mut self, at: &SourceSpan, message: impl Display) {
        match self.messages.len() < MOST {
            true => self.push_text(format!("{at}: {message}")),
            false => self.more += 1,
        }
    }

    /// Warns of something, once.
    pub(super) fn push_text(&mut self, message: String) {
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    /// The warnings as texts.
    pub(super) fn texts(self) -> Vec<String> {
        let mut texts = self.messages;
        if self.more > 0 {
            texts.push(format!("and {} more warnings", self.more));
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Source;

    #[test]
    fn many_are_counted() {
        let at = SourceSpan::new(&Source::new("t", "\n x"), 2, 3);
        let mut warnings = Warnings::default();
        for number in 0..MOST {
            warnings.push(&at, number);
        }
        assert_eq!(
            warnings.messages.last().map(String::as_str),
            Some("t:2:2: 99")
        );
        assert_eq!(warnings.more, 0);
        warnings.push(&at, "one");
        warnings.push(&at, "two");
        let texts = warnings.texts();
        assert_eq!(texts.len(), MOST + 1);
        assert_eq!(texts[MOST], "and 2 more warnings");
    }
}
