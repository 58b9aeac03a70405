//! From the text of a parameter file to words and punctuation.
//!
//! Words are runs of characters between blanks and punctuation; which words make a name or a value is the parser's
//! matter, because names and values may contain blanks.

use std::sync::Arc;

use super::syntax::SourceSpan;
use crate::base::error::Source;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A run of characters that mean nothing by themselves.
    Word,
    /// `{`, `}`, `[`, `]`, `=` or `,`.
    Mark(u8),
    /// The end of the text.
    End,
}

/// A token and the bytes it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The tokens of a text.
pub(super) struct Lexer {
    source: Arc<Source>,
    next: usize,
}

const MARKS: &[u8] = b"{}[]=,";

impl Lexer {
    /// A text of less than 4 GiB.
    pub(super) fn new(source: Arc<Source>) -> Lexer {
        Lexer { source, next: 0 }
    }

    pub(super) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The next token; [`Token::End`] for ever after the last.
    pub(super) fn next(&mut self) -> Lexeme {
        let text = self.source.text.as_bytes();
        loop {
            match text.get(self.next) {
                Some(b'#') => {
                    let rest = &text[self.next..];
                    self.next += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                Some(byte) if byte.is_ascii_whitespace() => self.next += 1,
                _ => break,
            }
        }
        let start = self.next;
        let token = match text.get(start) {
            None => Token::End,
            Some(&mark) if MARKS.contains(&mark) => {
                self.next += 1;
                Token::Mark(mark)
            }
            Some(_) => {
                let ends =
                    |byte: &u8| byte.is_ascii_whitespace() || *byte == b'#' || MARKS.contains(byte);
                let rest = &text[start..];
                self.next += rest.iter().position(ends).unwrap_or(rest.len());
                Token::Word
            }
        };
        Lexeme {
            token,
            start: start as u32,
            end: self.next as u32,
        }
    }

    /// The place from the start of one lexeme to the end of another.
    pub(super) fn at(&self, first: Lexeme, last: Lexeme) -> SourceSpan {
        SourceSpan::new(&self.source, first.start, last.end)
    }

    /// The text of a lexeme.
    pub(super) fn text(&self, lexeme: Lexeme) -> &str {
        &self.source.text[lexeme.start as usize..lexeme.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut lexer = Lexer::new(Source::new("t", text));
        std::iter::from_fn(|| {
            let lexeme = lexer.next();
            (lexeme.token != Token::End).then(|| lexer.text(lexeme).to_owned())
        })
        .collect()
    }

    #[test]
    fn words_end_at_blanks_marks_and_comments() {
        assert_eq!(
            tokens("a{b c=-1.5e3,[x/y.z(w)?]}#, d\ne#f"),
            [
                "a",
                "{",
                "b",
                "c",
                "=",
                "-1.5e3",
                ",",
                "[",
                "x/y.z(w)?",
                "]",
                "}",
                "e"
            ]
        );
        assert_eq!(tokens(""), [] as [&str; 0]);
        assert_eq!(tokens("# only"), [] as [&str; 0]);
        assert_eq!(tokens("\t µ\r\n"), ["µ"]);
    }

    #[test]
    fn the_end_stays_the_end() {
        let mut lexer = Lexer::new(Source::new("t", "a #"));
        let kinds: Vec<Token> = (0..3).map(|_| lexer.next().token).collect();
        assert_eq!(kinds, [Token::Word, Token::End, Token::End]);
        let end = lexer.next();
        assert_eq!((end.start, end.end), (3, 3));
    }
}
