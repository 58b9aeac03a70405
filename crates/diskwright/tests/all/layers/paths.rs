//! The paths that a source file names: those of its `use` declarations, taken apart, and those in its code.

/// A path, and by which name it is known where a `use` declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub path: Vec<String>,
    pub name: Option<String>,
}

/// What stands in the paths of a text: names, `::`, braces, commas, `*` and `;`. All else parts one path from another.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if !token.trim().is_empty() {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// One tree of a `use` from its first token on, behind a prefix; what is left of the tokens.
fn tree<'a>(mut tokens: &'a [&'a str], prefix: &[String], found: &mut Vec<Named>) -> &'a [&'a str] {
    let mut path = prefix.to_vec();
    while let Some((&token, rest)) = tokens.split_first() {
        match token {
            "::" => tokens = rest,
            "{" => {
                tokens = rest;
                while let Some((&token, rest)) = tokens.split_first() {
                    tokens = match token {
                        "}" => return rest,
                        ";" => return tokens,
                        "," => rest,
                        _ => tree(tokens, &path, found),
                    };
                }
                return tokens;
            }
            "as" => {
                let name = rest.first().map(|name| (*name).to_owned());
                found.push(Named { path, name });
                return rest.get(1..).unwrap_or_default();
            }
            "," | "}" | ";" => break,
            "self" if !path.is_empty() => tokens = rest,
            word => {
                path.push(word.to_owned());
                tokens = rest;
            }
        }
    }
    let name = path.last().cloned();
    found.push(Named { path, name });
    tokens
}

/// All paths of a text without comments.
pub fn paths(text: &str) -> Vec<Named> {
    let tokens = tokens(text);
    let mut tokens = &tokens[..];
    let mut found = Vec::new();
    let mut before = ";";
    while let Some((&token, rest)) = tokens.split_first() {
        // In a text, there is another word in front of it.
        let is_first = matches!(before, ";" | "{" | "}" | "]" | ")" | "pub");
        before = token;
        tokens = match token {
            "use" if is_first => tree(rest, &[], &mut found),
            "crate" | "super" | "self" if rest.first() == Some(&"::") => {
                let mut path = vec![token.to_owned()];
                let mut rest = rest;
                while let [separator, word, after @ ..] = rest
                    && *separator == "::"
                    && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
                {
                    path.push((*word).to_owned());
                    rest = after;
                }
                found.push(Named { path, name: None });
                rest
            }
            _ => rest,
        };
    }
    found
}

#[test]
fn paths_are_taken_apart() {
    let text = "pub use super::a::{self, b::{C, D as E}, f::*};\nuse std::fmt;\nfn g() { crate::h::i(self.j, super::K::L) }";
    let found = paths(text);
    let shown = found.iter().map(|named| {
        let name = named.name.as_deref().unwrap_or("-");
        format!("{} {name}", named.path.join("::"))
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "super::a a",
            "super::a::b::C C",
            "super::a::b::D E",
            "super::a::f::* *",
            "std::fmt fmt",
            "crate::h::i -",
            "super::K::L -",
        ]
    );
}
