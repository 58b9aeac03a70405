//! From words and punctuation to statements, with the files that `source` names read in their place.
//!
//! ```text
//! file      = { statement }
//! statement = "source" FILE | TYPE NAME block | "instantiate" list "as" NAME | "topology" node
//! node      = TYPE NAME "[" [ node { "," node } ] "]"
//! block     = "{" [ parameter { "," parameter } ] "}"
//! parameter = ( NAME | "[" NAME { "," NAME } "]" ) "=" value
//! value     = number | text | list | TYPE [ NAME ] block | "source" FILE
//! list      = "[" [ item { "," item } ] "]"          item = value | NAME ".." NAME
//! ```
//! A name or text is words with the blanks between them; a text ends with its line. Blocks, lists and files nest
//! [`MAX_DEPTH`] deep at most.

use std::path::Path;

use super::lexer::{Lexeme, Lexer, Token};
use super::loader::Loader;
use super::numbers::{range_word, scalar};
use super::syntax::{Block, Data, Name, Node, Parameter, SourceSpan, Statement, Value};
use crate::base::error::{InputError, Source, quoted};

/// How deep blocks, lists, components and files nest; DiskSim's own files nest five deep.
pub(super) const MAX_DEPTH: usize = 64;

/// The longest name, in bytes, blanks included; DiskSim's longest has 51.
const MAX_NAME: usize = 128;
/// The longest text that is a value, in bytes: a long path.
const MAX_TEXT: usize = 4096;

/// Reads all statements of a file and of those that it names.
pub(super) fn statements(
    path: &Path,
    text: String,
    loader: &mut Loader<'_>,
) -> Result<Vec<Statement>, InputError> {
    let mut statements = Vec::new();
    let source = Source::new(path.display().to_string(), text);
    Parser::new(Lexer::new(source), loader, 0).file(&mut statements)?;
    Ok(statements)
}

/// Reads a text that is one value.
pub(super) fn value(
    source: std::sync::Arc<Source>,
    loader: &mut Loader<'_>,
) -> Result<Value, InputError> {
    Parser::new(Lexer::new(source), loader, 0).only_value()
}

struct Parser<'l, 'f> {
    lexer: Lexer,
    ahead: Lexeme,
    loader: &'l mut Loader<'f>,
    depth: usize,
}

impl<'l, 'f> Parser<'l, 'f> {
    fn new(mut lexer: Lexer, loader: &'l mut Loader<'f>, depth: usize) -> Self {
        let ahead = lexer.next();
        Parser {
            lexer,
            ahead,
            loader,
            depth,
        }
    }

    fn bump(&mut self) -> Lexeme {
        std::mem::replace(&mut self.ahead, self.lexer.next())
    }

    fn at(&self, lexeme: Lexeme) -> SourceSpan {
        self.lexer.at(lexeme, lexeme)
    }

    fn sees(&self, mark: u8) -> bool {
        self.ahead.token == Token::Mark(mark)
    }

    fn sees_word(&self, word: &str) -> bool {
        self.ahead.token == Token::Word && self.lexer.text(self.ahead) == word
    }

    fn take(&mut self, mark: u8) -> bool {
        let sees = self.sees(mark);
        if sees {
            self.bump();
        }
        sees
    }

    /// What stands ahead is not what should.
    fn unexpected(&self, expected: &str) -> InputError {
        let found = match self.ahead.token {
            Token::End => "the end of the text".into(),
            _ => quoted(self.lexer.text(self.ahead)),
        };
        self.at(self.ahead)
            .error(format!("found {found}, expected {expected}"))
    }

    fn expect(&mut self, mark: u8, expected: &str) -> Result<Lexeme, InputError> {
        match self.sees(mark) {
            true => Ok(self.bump()),
            false => Err(self.unexpected(expected)),
        }
    }

    /// What has been opened and never closed is told where it was opened.
    fn not_closed(&self, opened: &SourceSpan, bracket: char) -> InputError {
        opened.error(format!(
            "found the end of the text, expected {bracket:?} to close what begins here"
        ))
    }

    /// After an item: whether another follows.
    fn more(&mut self, opened: &SourceSpan, close: u8) -> Result<bool, InputError> {
        let close_text = char::from(close);
        if self.take(b',') {
            if self.sees(close) {
                return Err(self
                    .unexpected("another entry after the comma")
                    .help(format!("no comma stands before {close_text:?}")));
            }
            return Ok(true);
        }
        if self.take(close) {
            return Ok(false);
        }
        match self.ahead.token {
            Token::End => Err(self.not_closed(opened, close_text)),
            _ => Err(self.unexpected(&format!("\",\" or {:?}", close_text.to_string()))),
        }
    }

    /// One level further in.
    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, InputError>,
    ) -> Result<T, InputError> {
        if self.depth == MAX_DEPTH {
            return Err(self
                .at(self.ahead)
                .error(format!("nested more than {MAX_DEPTH} deep"))
                .help(format!("blocks, lists, components and files nest {MAX_DEPTH} deep at most; does a file include itself?")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn file(&mut self, statements: &mut Vec<Statement>) -> Result<(), InputError> {
        while self.ahead.token != Token::End {
            if self.sees_word("source") {
                self.bump();
                self.include(|inner| inner.file(statements))?;
            } else if self.sees_word("instantiate") {
                self.bump();
                statements.push(self.instantiate()?);
            } else if self.sees_word("topology") {
                self.bump();
                statements.push(Statement::Topology(self.node()?));
            } else {
                let kind = self.word(
                    "a block such as \"disksim_bus BUS0 { … }\", or source, instantiate or topology",
                )?;
                let name = self.word("the name of the block")?;
                statements.push(Statement::Define(self.block(kind, Some(name))?));
            }
        }
        Ok(())
    }

    /// Reads the file whose name stands ahead.
    fn include<T>(
        &mut self,
        read: impl FnOnce(&mut Parser<'_, 'f>) -> Result<T, InputError>,
    ) -> Result<T, InputError> {
        if self.ahead.token != Token::Word {
            return Err(self.unexpected("the name of a file"));
        }
        let (at, _) = self.line()?;
        self.deeper(|parser| {
            let (path, text) = parser.loader.enter(at.text(), &at)?;
            let source = Source::new(path.display().to_string(), text);
            let mut inner = Parser::new(Lexer::new(source), parser.loader, parser.depth);
            let result = read(&mut inner);
            parser.loader.leave();
            result
        })
    }

    fn instantiate(&mut self) -> Result<Statement, InputError> {
        let open = self.expect(b'[', "\"[\" and the names of instances")?;
        let names = self.items(open)?;
        if !self.sees_word("as") {
            return Err(self.unexpected("\"as\" and the name of a block"));
        }
        self.bump();
        let of = self.word("the name of a block")?;
        Ok(Statement::Instantiate { names, of })
    }

    fn node(&mut self) -> Result<Node, InputError> {
        let module = self.word("the module of a component, such as disksim_bus")?;
        let name = self.word("the name of an instance")?;
        let open = self.expect(
            b'[',
            "\"[\" and the components behind this one, or \"[]\" for none",
        )?;
        let opened = self.at(open);
        let mut children = Vec::new();
        if !self.take(b']') {
            loop {
                if self.ahead.token == Token::End {
                    return Err(self.not_closed(&opened, ']'));
                }
                children.push(self.deeper(Self::node)?);
                if !self.more(&opened, b']')? {
                    break;
                }
            }
        }
        Ok(Node {
            module,
            name,
            children,
        })
    }

    fn word(&mut self, expected: &str) -> Result<Name, InputError> {
        if self.ahead.token != Token::Word {
            return Err(self.unexpected(expected));
        }
        let lexeme = self.bump();
        let at = self.at(lexeme);
        short(&at, MAX_NAME)?;
        Ok(Name {
            text: self.lexer.text(lexeme).to_owned(),
            at,
        })
    }

    /// The words up to the next mark or the end of the line, of which there is at least one, and how many they are.
    fn line(&mut self) -> Result<(SourceSpan, usize), InputError> {
        let first = self.bump();
        let (mut last, mut words) = (first, 1);
        while self.ahead.token == Token::Word {
            let text = self.lexer.source().text.as_bytes();
            let between = &text[last.end as usize..self.ahead.start as usize];
            if between.contains(&b'\n') {
                break;
            }
            last = self.bump();
            words += 1;
        }
        let at = self.lexer.at(first, last);
        short(&at, MAX_TEXT)?;
        Ok((at, words))
    }

    /// The parameters of a block, whose kind and name have been read.
    fn block(&mut self, kind: Name, name: Option<Name>) -> Result<Block, InputError> {
        let open = self.expect(b'{', "\"{\" and the block's parameters")?;
        let opened = self.at(open);
        let at = kind.at.to(name.as_ref().map_or(&kind.at, |name| &name.at));
        let mut parameters = Vec::new();
        if !self.take(b'}') {
            loop {
                if self.ahead.token == Token::End {
                    return Err(self.not_closed(&opened, '}'));
                }
                parameters.push(self.deeper(Self::parameter)?);
                if !self.more(&opened, b'}')? {
                    break;
                }
            }
        }
        Ok(Block {
            kind,
            name,
            parameters,
            at,
        })
    }

    fn parameter(&mut self) -> Result<Parameter, InputError> {
        let mut names = Vec::new();
        if self.sees(b'[') {
            let open = self.bump();
            let opened = self.at(open);
            loop {
                names.push(self.name()?);
                if !self.more(&opened, b']')? {
                    break;
                }
            }
        } else {
            names.push(self.name()?);
        }
        self.expect(b'=', "\"=\" and a value")?;
        let value = self.value()?;
        Ok(Parameter { names, value })
    }

    /// The name of a parameter: words up to the next mark.
    fn name(&mut self) -> Result<Name, InputError> {
        let Name { mut text, mut at } = self.word("the name of a parameter")?;
        while self.ahead.token == Token::Word {
            let lexeme = self.bump();
            text.push(' ');
            text.push_str(self.lexer.text(lexeme));
            at = at.to(&self.at(lexeme));
            short(&at, MAX_NAME)?;
        }
        Ok(Name { text, at })
    }

    fn value(&mut self) -> Result<Value, InputError> {
        if self.sees(b'[') {
            let open = self.bump();
            let at = self.at(open);
            let data = Data::List(self.items(open)?);
            return Ok(Value { data, at });
        }
        if self.ahead.token != Token::Word {
            return Err(self.unexpected("a value: a number, a text, a list or a block"));
        }
        if self.sees_word("source") {
            self.bump();
            return self.include(|inner| inner.only_value());
        }
        let (at, words) = self.line()?;
        if self.sees(b'{') {
            return self.block_value(&at, words);
        }
        let data = scalar(at.text(), &at)?;
        Ok(Value { data, at })
    }

    /// A block as a value, the words before whose brace have been read.
    fn block_value(&mut self, at: &SourceSpan, words: usize) -> Result<Value, InputError> {
        if words > 2 {
            return Err(at
                .error(format!("found {} before \"{{\", expected the module of a block, or its module and name", quoted(at.text())))
                .help("is a comma or a \"}\" missing before it?"));
        }
        let mut parts = at.text().split_ascii_whitespace().map(|word| Name {
            text: word.to_owned(),
            at: at.clone(),
        });
        let kind = parts.next().expect("a line of words has a first one");
        let block = self.block(kind, parts.next())?;
        Ok(Value {
            data: Data::Block(Box::new(block)),
            at: at.clone(),
        })
    }

    /// A value and nothing after it.
    fn only_value(&mut self) -> Result<Value, InputError> {
        let value = self.value()?;
        match self.ahead.token {
            Token::End => Ok(value),
            _ => Err(self.unexpected("nothing more after the value")),
        }
    }

    /// The items of a list whose bracket has been read, with ranges told from other texts.
    fn items(&mut self, open: Lexeme) -> Result<Vec<Value>, InputError> {
        let opened = self.at(open);
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            if self.ahead.token == Token::End {
                return Err(self.not_closed(&opened, ']'));
            }
            let mut item = self.deeper(Self::value)?;
            if let Data::Text(text) = &item.data
                && let Some((first, last)) = range(text)
            {
                let name = |text: &str| Name {
                    text: text.to_owned(),
                    at: item.at.clone(),
                };
                item.data = Data::Range(name(first), name(last));
            }
            items.push(item);
            if !self.more(&opened, b']')? {
                return Ok(items);
            }
        }
    }
}

/// Refuses a name or text that is longer than any.
fn short(at: &SourceSpan, most: usize) -> Result<(), InputError> {
    let length = at.text().len();
    match length <= most {
        true => Ok(()),
        false => {
            let start = at.start();
            Err(start.error(format!(
                "found a name or text of {length} bytes, expected at most {most}"
            )))
        }
    }
}

/// The ends of a range, `disk0 .. disk9`, with or without blanks.
fn range(text: &str) -> Option<(&str, &str)> {
    let mut words = text.split_ascii_whitespace();
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some(first), Some(".."), Some(last), None) => Some((first, last)),
        (Some(word), None, ..) => range_word(word),
        _ => None,
    }
}
