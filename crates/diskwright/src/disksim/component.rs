//! A block with all its parameters, inherited ones included, and typed access to them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::modules::{Effect, Kind, Module};
use super::syntax::SourceSpan;
use super::warnings::Warnings;
use crate::base::error::{InputError, quoted, suggestion};

/// A block whose module is known.
#[derive(Clone, Debug)]
pub(super) struct Component {
    pub(super) module: &'static Module,
    /// Its name; that of its module where it has none.
    pub(super) name: String,
    /// The name of the block that it is, or is an instance of.
    pub(super) kind: String,
    pub(super) at: SourceSpan,
    pub(super) entries: BTreeMap<String, Entry>,
}

/// A parameter that has been given a value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name_at: SourceSpan,
    pub(super) item: Arc<Item>,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) at: SourceSpan,
    pub(super) value: Value,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Item>),
    Block(Component),
}

impl Item {
    fn describe(&self) -> String {
        match &self.value {
            Value::Integer(number) => format!("the whole number {number}"),
            Value::Float(number) => format!("the number {number}"),
            Value::Text(text) => format!("the text {}", quoted(text)),
            Value::List(_) => "a list".into(),
            Value::Block(block) => format!("a block of {}", block.module.name),
        }
    }

    /// An error that says what was expected in place of this value.
    pub(super) fn unlike(&self, what: &str, expected: &str) -> InputError {
        self.at.error(format!(
            "{what} is {}, expected {expected}",
            self.describe()
        ))
    }

    /// The value as a whole number.
    pub(super) fn integer(&self, what: &str) -> Result<i64, InputError> {
        match self.value {
            Value::Integer(number) => Ok(number),
            // "0.000000" for 0, as generated files have it.
            Value::Float(number) if libm::trunc(number) == number && libm::fabs(number) < 9e15 => {
                Ok(number as i64)
            }
            _ => Err(self.unlike(what, "a whole number")),
        }
    }

    /// The value as a number.
    pub(super) fn float(&self, what: &str) -> Result<f64, InputError> {
        match self.value {
            Value::Integer(number) => Ok(number as f64),
            Value::Float(number) => Ok(number),
            _ => Err(self.unlike(what, "a number")),
        }
    }

    /// The value as a text, or as the word that a number is.
    pub(super) fn text(&self, what: &str) -> Result<String, InputError> {
        match &self.value {
            Value::Text(text) => Ok(text.clone()),
            // A name of digits is written like a number.
            Value::Integer(_) | Value::Float(_) => Ok(self.at.text().to_owned()),
            Value::List(_) | Value::Block(_) => Err(self.unlike(what, "a text")),
        }
    }

    fn list(&self, what: &str) -> Result<&[Item], InputError> {
        match &self.value {
            Value::List(items) => Ok(items),
            _ => Err(self.unlike(what, "a list such as [ 1, 2 ]")),
        }
    }

    /// The value as a block.
    pub(super) fn block(&self, what: &str) -> Result<&Component, InputError> {
        match &self.value {
            Value::Block(block) => Ok(block),
            _ => Err(self.unlike(what, "a block such as MODULE { … }")),
        }
    }
}

impl Component {
    /// The value of a parameter, if it has one.
    pub(super) fn item(&self, name: &str) -> Option<&Item> {
        self.entries.get(name).map(|entry| entry.item.as_ref())
    }

    /// The value of a parameter that must have one.
    pub(super) fn required(&self, name: &str) -> Result<&Item, InputError> {
        self.item(name).ok_or_else(|| self.missing(&[name]))
    }

    fn missing(&self, names: &[&str]) -> InputError {
        let names: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
        self.at
            .error(format!("{} has no {}", self.title(), names.join(", ")))
            .help(format!(
                "expected a value for it in every block of {}",
                self.module.name
            ))
    }

    /// Its name for people.
    pub(super) fn title(&self) -> String {
        match self.name == self.module.name {
            true => format!("the block of {}", self.name),
            false => format!("{} ({})", self.name, self.module.name),
        }
    }

    pub(super) fn integer(&self, name: &str) -> Result<i64, InputError> {
        self.required(name)?.integer(name)
    }
    pub(super) fn float(&self, name: &str) -> Result<f64, InputError> {
        self.required(name)?.float(name)
    }
    pub(super) fn text(&self, name: &str) -> Result<String, InputError> {
        self.required(name)?.text(name)
    }
    pub(super) fn list(&self, name: &str) -> Result<&[Item], InputError> {
        self.required(name)?.list(name)
    }
    pub(super) fn block(&self, name: &str) -> Result<&Component, InputError> {
        self.required(name)?.block(name)
    }
    /// A number from 0 that fits 32 bits.
    pub(super) fn count(&self, name: &str) -> Result<u32, InputError> {
        let number = self.integer(name)?;
        u32::try_from(number).map_err(|_| {
            self.required(name).map_or_else(
                |error| error,
                |item| item.unlike(name, "a whole number from 0 to 4294967295"),
            )
        })
    }
    /// Where a parameter's value stands, or the block where it has none.
    pub(super) fn at(&self, name: &str) -> &SourceSpan {
        self.item(name).map_or(&self.at, |item| &item.at)
    }

    /// Checks all values against what their module says of them, those of blocks in them too, and warns of what
    /// will have no effect here although it should have one.
    ///
    /// # Errors
    /// A value of the wrong type or out of bounds, or a parameter without a value that must have one.
    pub(super) fn check(&self, warnings: &mut Warnings) -> Result<(), InputError> {
        if self.module.ignored.is_some() {
            return Ok(());
        }
        for (name, entry) in &self.entries {
            let Some(parameter) = self.module.parameter(name) else {
                warnings.push(&entry.name_at, Unknown(self.module, name));
                continue;
            };
            let item = &entry.item;
            check_kind(name, item, parameter.kind)?;
            if let Value::Block(block) = &item.value {
                block.check(warnings)?;
            }
            if let Value::List(items) = &item.value {
                for item in items {
                    if let Value::Block(block) = &item.value {
                        block.check(warnings)?;
                    }
                }
            }
            let because = match parameter.effect {
                Effect::Used | Effect::None(_) => None,
                Effect::Unless(neutral, because) => {
                    (item.float(name)? != neutral).then_some(because)
                }
            };
            if let Some(because) = because {
                warnings.push(
                    &item.at,
                    format_args!("{name:?} of {} is left out: {because}", self.title()),
                );
            }
        }
        let missing: Vec<_> = self
            .module
            .parameters
            .iter()
            .filter(|parameter| parameter.required && !self.entries.contains_key(parameter.name))
            .map(|parameter| parameter.name)
            .collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(self.missing(&missing)),
        }
    }
}

/// That a module knows no parameter of a name; put into words only when told, for that takes time.
struct Unknown<'n>(&'static Module, &'n str);

impl fmt::Display for Unknown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unknown(module, name) = self;
        write!(
            f,
            "{} knows no parameter {name:?}, which is ignored",
            module.name
        )?;
        let names = module.parameters.iter().map(|parameter| parameter.name);
        match suggestion(name, names) {
            Some(meant) => write!(f, "; did you mean {meant:?}?"),
            None => Ok(()),
        }
    }
}

fn check_kind(name: &str, item: &Item, kind: Kind) -> Result<(), InputError> {
    match kind {
        Kind::Integer(least, most) => {
            let number = item.integer(name)?;
            match (least..=most).contains(&number) {
                true => Ok(()),
                false => Err(item.unlike(
                    name,
                    &bounds("a whole number", least, most, i64::MIN, i64::MAX),
                )),
            }
        }
        Kind::Float(least, most) => {
            let number = item.float(name)?;
            match (least..=most).contains(&number) {
                true => Ok(()),
                false => {
                    Err(item.unlike(name, &bounds("a number", least, most, f64::MIN, f64::MAX)))
                }
            }
        }
        Kind::Text => item.text(name).map(drop),
        Kind::List => item.list(name).map(drop),
        Kind::Block(modules) => {
            let block = item.block(name)?;
            match modules.contains(&block.module.name) {
                true => Ok(()),
                false => Err(item.unlike(name, &format!("a block of {}", modules.join(" or ")))),
            }
        }
    }
}

/// `a number from 0 to 1`, without an end that excludes nothing.
fn bounds<T: PartialEq + std::fmt::Display>(
    kind: &str,
    least: T,
    most: T,
    lowest: T,
    highest: T,
) -> String {
    match (least == lowest, most == highest) {
        (true, true) => kind.to_owned(),
        (false, true) => format!("{kind} from {least}"),
        (true, false) => format!("{kind} up to {most}"),
        (false, false) => format!("{kind} from {least} to {most}"),
    }
}
