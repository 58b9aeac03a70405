//! What is varied: `KEY=A,B,…`.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::base::document::Override;
use crate::base::error::{InputError, Place, Source};

/// A key and the values that it takes.
#[derive(Debug)]
pub(crate) struct Variation {
    pub key: String,
    pub values: Vec<Choice>,
    source: Arc<Source>,
}

/// One value of a key.
#[derive(Debug)]
pub(crate) struct Choice {
    /// As it was written.
    pub text: String,
    /// As it was understood.
    pub value: Value,
}

pub(crate) const EXAMPLE: &str = "for example device.hdd.queue.scheduler=fcfs,sstf,satf";

impl Variation {
    /// Parses one `KEY=A,B,…`. Values are TOML; what is not is a string. Commas within braces, brackets and quotes belong to
    /// a value.
    ///
    /// # Errors
    /// No key, an empty value, one that is there twice, an unclosed bracket or quote.
    pub fn parse(text: &str) -> Result<Variation, InputError> {
        let source = Source::new("--vary", text);
        let wrong = |message: &str, span| {
            let source = Arc::clone(&source);
            InputError::new(message).at(Place::Text { source, span })
        };
        let Some(equals) = text.find('=') else {
            return Err(wrong("expected KEY=A,B,…", 0..text.len()).help(EXAMPLE));
        };
        let key = text[..equals].trim().to_owned();
        if key.is_empty() {
            return Err(wrong("a key is missing: expected KEY=A,B,…", 0..equals).help(EXAMPLE));
        }
        let mut values: Vec<Choice> = Vec::new();
        for span in divided(text, equals + 1)
            .map_err(|open| wrong("this is never closed", open..open + 1))?
        {
            let written = text[span.clone()].trim();
            if written.is_empty() {
                return Err(wrong("an empty value", span).help("\"\" is an empty string"));
            }
            let value = understood(&key, written)?;
            if values.iter().any(|choice| choice.value == value) {
                let message = format!("the value {written} is there twice");
                return Err(wrong(&message, span));
            }
            values.push(Choice {
                text: written.to_owned(),
                value,
            });
        }
        Ok(Variation {
            key,
            values,
            source,
        })
    }

    /// [`Self::parse`] of a key that is compared, which has two values or more.
    ///
    /// # Errors
    /// Those of [`Self::parse`]; a single value.
    pub fn compared(text: &str) -> Result<Variation, InputError> {
        let variation = Variation::parse(text)?;
        if variation.values.len() < 2 {
            let source = Arc::clone(&variation.source);
            let after = text.find('=').map_or(0, |equals| equals + 1);
            let span = after..text.len();
            return Err(InputError::new("one value is nothing to compare")
                .at(Place::Text { source, span })
                .help("give two or more, separated by commas; --set KEY=VALUE is for one"));
        }
        Ok(variation)
    }

    /// An error about the key.
    pub fn error(&self, message: impl Into<String>) -> InputError {
        InputError::new(message).at(Place::Text {
            source: Arc::clone(&self.source),
            span: 0..self.key.len(),
        })
    }

    /// Which of the values a text says.
    pub fn position(&self, written: &str) -> Option<usize> {
        let value = understood(&self.key, written).ok()?;
        self.values.iter().position(|choice| choice.value == value)
    }
}

/// What a text says as the value of a key.
fn understood(key: &str, written: &str) -> Result<Value, InputError> {
    let change = Override::parse("--vary", &format!("{key}={written}"))?;
    Ok(change.node.value.to_json())
}

/// The parts of a text, from `start` on, that commas divide; or where the bracket or quote stands that is never closed.
pub(crate) fn divided(text: &str, start: usize) -> Result<Vec<Range<usize>>, usize> {
    let mut parts = Vec::new();
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut from = start;
    let mut characters = text[start..].char_indices();
    while let Some((at, c)) = characters.next() {
        let at = start + at;
        match (c, open.last().map(|(closing, _)| *closing)) {
            // Within a string only its end counts, and an escaped quote is none.
            ('\\', Some('"')) => _ = characters.next(),
            (c, Some(closing)) if c == closing => _ = open.pop(),
            (_, Some('"' | '\'')) => {}
            ('"' | '\'', _) => open.push((c, at)),
            ('{', _) => open.push(('}', at)),
            ('[', _) => open.push((']', at)),
            (',', None) => {
                parts.push(from..at);
                from = at + 1;
            }
            _ => {}
        }
    }
    match open.first() {
        Some((_, at)) => Err(*at),
        None => {
            parts.push(from..text.len());
            Ok(parts)
        }
    }
}

/// Whether one of two keys is the other or stands above it.
pub(crate) fn overlap(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.strip_prefix(short)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values(text: &str) -> Vec<Value> {
        let parsed = Variation::parse(text).expect(text);
        parsed
            .values
            .into_iter()
            .map(|choice| choice.value)
            .collect()
    }

    #[test]
    fn commas_divide_except_within_braces_brackets_and_quotes() {
        assert_eq!(values("a.b=fcfs, satf"), [json!("fcfs"), json!("satf")]);
        assert_eq!(values("a=1,2.5,true"), [json!(1), json!(2.5), json!(true)]);
        assert_eq!(
            values(r#"a={ ncq = { timeout = "1 s", x = [1, 2] } },satf"#),
            [
                json!({"ncq": {"timeout": "1 s", "x": [1, 2]}}),
                json!("satf")
            ]
        );
        assert_eq!(
            values(r#"a="x,y","say \"a,b\"",'c,"d'"#),
            [json!("x,y"), json!("say \"a,b\""), json!("c,\"d")]
        );
        assert_eq!(
            values("a=[{ b = \"]\" }, 2],[]"),
            [json!([{"b": "]"}, 2]), json!([])]
        );
        assert_eq!(values("a=é,ü"), [json!("é"), json!("ü")]);
    }

    #[test]
    fn what_cannot_be_compared_is_told_with_its_place() {
        for (text, message, place) in [
            ("a.b", "expected KEY=A,B", "--vary:1:1"),
            ("=1,2", "a key is missing", "--vary:1:1"),
            ("a=1", "one value is nothing to compare", "--vary:1:3"),
            ("a=1,,2", "an empty value", "--vary:1:5"),
            ("a=", "an empty value", "--vary:1:3"),
            ("a=1,2,", "an empty value", "--vary:1:7"),
            ("a=x,\"x\"", "\"x\" is there twice", "--vary:1:5"),
            ("a={ b = 1,2", "never closed", "--vary:1:3"),
            ("a=1,\"2,3", "never closed", "--vary:1:5"),
        ] {
            let error = Variation::compared(text).expect_err(text).to_string();
            assert!(
                error.contains(message) && error.contains(place),
                "{text}: {error}"
            );
        }
    }
}
