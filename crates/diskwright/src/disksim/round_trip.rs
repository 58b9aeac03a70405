//! What is written is what is read: random statements are printed, with blanks and comments at random, and parsed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::loader::Loader;
use super::numbers::range_word;
use super::parser;
use super::syntax::{self, Block, Data, Node, Statement};

/// A value without its place.
#[derive(Clone, Debug, PartialEq)]
enum Plain {
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Plain>),
    Range(String, String),
    Block(PlainBlock),
}

#[derive(Clone, Debug, PartialEq)]
struct PlainBlock {
    kind: String,
    name: Option<String>,
    parameters: Vec<(Vec<String>, Plain)>,
}

#[derive(Clone, Debug, PartialEq)]
struct PlainNode(String, String, Vec<PlainNode>);

#[derive(Clone, Debug, PartialEq)]
enum PlainStatement {
    Define(PlainBlock),
    Instantiate(Vec<Plain>, String),
    Topology(PlainNode),
}

fn value(value: &syntax::Value) -> Plain {
    match &value.data {
        Data::Integer(number) => Plain::Integer(*number),
        Data::Float(number) => Plain::Float(*number),
        Data::Text(text) => Plain::Text(text.clone()),
        Data::List(values) => Plain::List(values.iter().map(self::value).collect()),
        Data::Range(first, last) => Plain::Range(first.text.clone(), last.text.clone()),
        Data::Block(inner) => Plain::Block(block(inner)),
    }
}

fn block(block: &Block) -> PlainBlock {
    let parameters = block.parameters.iter().map(|parameter| {
        let names = parameter.names.iter().map(|name| name.text.clone());
        (names.collect(), value(&parameter.value))
    });
    PlainBlock {
        kind: block.kind.text.clone(),
        name: block.name.as_ref().map(|name| name.text.clone()),
        parameters: parameters.collect(),
    }
}

fn node(node: &Node) -> PlainNode {
    let children = node.children.iter().map(self::node).collect();
    PlainNode(node.module.text.clone(), node.name.text.clone(), children)
}

fn plain_statement(statement: &Statement) -> PlainStatement {
    match statement {
        Statement::Define(inner) => PlainStatement::Define(block(inner)),
        Statement::Instantiate { names, of } => {
            PlainStatement::Instantiate(names.iter().map(value).collect(), of.text.clone())
        }
        Statement::Topology(root) => PlainStatement::Topology(node(root)),
    }
}

/// Prints with blanks, line ends and comments at random wherever they mean nothing.
struct Printer<'r> {
    text: String,
    blanks: std::iter::Cycle<std::slice::Iter<'r, u8>>,
}

impl Printer<'_> {
    /// Some blanks, which may be none.
    fn loose(&mut self) {
        let blanks = ["", " ", "\n", "\t\r\n ", "# a { comment ] = ,\n", "  #\n "];
        let which = usize::from(*self.blanks.next().expect("a cycle")) % blanks.len();
        self.text.push_str(blanks[which]);
    }
    /// A mark or words, and blanks after it.
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.loose();
    }
    /// A word that another follows.
    fn word(&mut self, word: &str) {
        self.text.push_str(word);
        self.text.push(' ');
        self.loose();
    }
    fn commas<T>(&mut self, items: &[T], print: impl Fn(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.put(",");
            }
            print(self, item);
        }
    }
    fn value(&mut self, value: &Plain) {
        match value {
            Plain::Integer(number) => self.put(&number.to_string()),
            Plain::Float(number) => self.put(&format!("{number:?}")),
            Plain::Text(text) => self.put(text),
            Plain::Range(first, last) => self.put(&format!("{first} .. {last}")),
            Plain::List(items) => {
                self.put("[");
                self.commas(items, Self::value);
                self.put("]");
            }
            Plain::Block(block) => {
                // On one line, or the kind would be a value that ends there.
                let name = block
                    .name
                    .as_ref()
                    .map_or_else(String::new, |name| format!(" {name}"));
                self.put(&format!("{}{name}", block.kind));
                self.parameters(&block.parameters);
            }
        }
    }
    fn parameters(&mut self, parameters: &[(Vec<String>, Plain)]) {
        self.put("{");
        self.commas(parameters, |printer, (names, value)| {
            match &names[..] {
                [name] => printer.put(name),
                names => {
                    printer.put("[");
                    printer.commas(names, |printer, name| printer.put(name));
                    printer.put("]");
                }
            }
            printer.put("=");
            printer.value(value);
        });
        self.put("}");
    }
    fn node(&mut self, PlainNode(module, name, children): &PlainNode) {
        self.word(module);
        self.put(name);
        self.put("[");
        self.commas(children, Self::node);
        self.put("]");
    }
    fn statement(&mut self, statement: &PlainStatement) {
        match statement {
            PlainStatement::Define(block) => {
                self.word(&block.kind);
                self.put(block.name.as_deref().expect("a defined block has a name"));
                self.parameters(&block.parameters);
            }
            PlainStatement::Instantiate(names, of) => {
                self.put("instantiate");
                self.put("[");
                self.commas(names, Self::value);
                self.put("]");
                self.word("as");
                self.word(of);
            }
            PlainStatement::Topology(root) => {
                self.word("topology");
                self.node(root);
            }
        }
    }
}

/// A word that is neither a keyword nor a range.
fn word() -> impl Strategy<Value = String> {
    "[A-Za-z_][A-Za-z0-9_.()/?:-]{0,8}".prop_filter("a word of no meaning", |word| {
        !["source", "instantiate", "topology", "as"].contains(&word.as_str())
            && range_word(word).is_none()
    })
}

/// Some words with blanks between them.
fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 1..4).prop_map(|words| words.join(" "))
}

fn range() -> impl Strategy<Value = Plain> {
    ("[a-z]{1,4}", 0..9_u32, 0..9_u32).prop_map(|(stem, from, more)| {
        Plain::Range(format!("{stem}{from}"), format!("{stem}{}", from + more))
    })
}

fn parameters(
    values: impl Strategy<Value = Plain>,
) -> impl Strategy<Value = Vec<(Vec<String>, Plain)>> {
    let names = prop::collection::vec(words(), 1..3);
    prop::collection::vec((names, values), 0..4)
}

fn any_value() -> impl Strategy<Value = Plain> {
    let float = any::<f64>().prop_filter("a finite number", |number| number.is_finite());
    let leaf = prop_oneof![
        // The least has no counterpart of the other sign.
        (-i64::MAX..=i64::MAX).prop_map(Plain::Integer),
        float.prop_map(Plain::Float),
        words().prop_map(Plain::Text),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let items = prop_oneof![4 => inner.clone(), 1 => range()];
        prop_oneof![
            prop::collection::vec(items, 0..4).prop_map(Plain::List),
            (word(), prop::option::of(word()), parameters(inner)).prop_map(
                |(kind, name, parameters)| {
                    Plain::Block(PlainBlock {
                        kind,
                        name,
                        parameters,
                    })
                }
            ),
        ]
    })
}

fn any_node() -> impl Strategy<Value = PlainNode> {
    let leaf = (word(), word()).prop_map(|(module, name)| PlainNode(module, name, Vec::new()));
    leaf.prop_recursive(4, 12, 3, |inner| {
        (word(), word(), prop::collection::vec(inner, 0..3))
            .prop_map(|(module, name, children)| PlainNode(module, name, children))
    })
}

fn any_statement() -> impl Strategy<Value = PlainStatement> {
    let names = prop::collection::vec(prop_oneof![word().prop_map(Plain::Text), range()], 0..4);
    prop_oneof![
        (word(), word(), parameters(any_value())).prop_map(|(kind, name, parameters)| {
            PlainStatement::Define(PlainBlock {
                kind,
                name: Some(name),
                parameters,
            })
        }),
        (names, word()).prop_map(|(names, of)| PlainStatement::Instantiate(names, of)),
        any_node().prop_map(PlainStatement::Topology),
    ]
}

fn parse(text: String) -> Vec<PlainStatement> {
    let none: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    let mut loader = Loader::new(&none, Vec::new());
    let statements = parser::statements(Path::new("t"), text.clone(), &mut loader);
    let statements = statements.unwrap_or_else(|error| panic!("{text}\n{error}"));
    statements.iter().map(plain_statement).collect()
}

proptest! {
    #[test]
    fn what_is_printed_is_read(
        statements in prop::collection::vec(any_statement(), 0..5),
        blanks in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let mut printer = Printer { text: String::new(), blanks: blanks.iter().cycle() };
        for statement in &statements {
            printer.statement(statement);
        }
        prop_assert_eq!(parse(printer.text), statements);
    }
}

#[test]
fn names_lose_runs_of_blanks_and_texts_keep_theirs() {
    let found = parse("k n { a  b\n c = d   e }".into());
    let expected = PlainBlock {
        kind: "k".into(),
        name: Some("n".into()),
        parameters: vec![(vec!["a b c".into()], Plain::Text("d   e".into()))],
    };
    assert_eq!(found, [PlainStatement::Define(expected)]);
}

#[test]
fn ranges_in_one_word_are_ranges() {
    let found = parse("instantiate [ a1..a3, b .. c, ../x ] as n".into());
    let range = |first: &str, last: &str| Plain::Range(first.into(), last.into());
    let names = vec![
        range("a1", "a3"),
        range("b", "c"),
        Plain::Text("../x".into()),
    ];
    assert_eq!(found, [PlainStatement::Instantiate(names, "n".into())]);
}
