//! Values given on the command line, over those in the files.

use std::sync::Arc;

use super::component::{Component, Entry, Item, Value};
use super::loader::Loader;
use super::numbers::{expand, range_word};
use super::parser;
use super::syntax::SourceSpan;
use super::system::{MAX_NAMES, System};
use crate::base::error::{InputError, Source, suggestion};

/// A value for a parameter of some components, as DiskSim's command line takes it: three arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The name of an instance or block, a range of instances such as `disk0 .. disk3`, or `*` for all that know the
    /// parameter.
    pub component: String,
    /// The parameter; in a block that is itself a parameter's value it is written `Scheduler:Scheduling policy`.
    pub parameter: String,
    /// The value, as a file would have it.
    pub value: String,
}

impl Override {
    /// Parses `COMPONENT:PARAMETER=VALUE`, given with `option`. The parameter may be within others, `Scheduler:Scheduling
    /// policy`.
    ///
    /// # Errors
    /// A text of another form.
    pub fn parse(option: &str, text: &str) -> Result<Override, InputError> {
        let parts = text.split_once('=').and_then(|(names, value)| {
            let (component, parameter) = names.split_once(':')?;
            let [component, parameter, value] = [component, parameter, value].map(str::trim);
            let all = [component, parameter, value];
            (!all.contains(&"")).then(|| Override {
                component: component.into(),
                parameter: parameter.into(),
                value: value.into(),
            })
        });
        parts.ok_or_else(|| {
            InputError::new("expected COMPONENT:PARAMETER=VALUE")
                .at(SourceSpan::new(&Source::new(option, text), 0, text.len() as u32).place())
                .help(
                    "for example disk0:Max queue length=32, or disk0:Scheduler:Scheduling policy=8",
                )
        })
    }
}

impl System {
    /// Puts a value over that of the files.
    ///
    /// # Errors
    /// No component of the name, none that knows the parameter, or a text that is no value.
    pub(super) fn put(
        &mut self,
        put: &Override,
        loader: &mut Loader<'_>,
    ) -> Result<(), InputError> {
        let text = format!("{} {} {}", put.component, put.parameter, put.value);
        let words = Source::new("the override", text);
        let component_length = put.component.len() as u32;
        let value_start = component_length + 2 + put.parameter.len() as u32;
        let component_at = SourceSpan::new(&words, 0, component_length);
        let parameter_at = SourceSpan::new(&words, component_length + 1, value_start - 1);
        // A source of its own, so that the value ends where it ends.
        let value = parser::value(
            Source::new("the override's value", put.value.as_str()),
            loader,
        )?;
        let item = Arc::new(self.item(&value)?);
        let path: Vec<&str> = put.parameter.split(':').map(str::trim).collect();
        let mut known = 0;
        for name in self.targets(put, &component_at)? {
            let component = match self.instances.get_mut(&name) {
                Some(instance) => instance,
                None => self
                    .blocks
                    .get_mut(&name)
                    .expect("targets are blocks or instances"),
            };
            known += usize::from(set(Arc::make_mut(component), &path, &parameter_at, &item));
            if known == 0 && put.component.trim() != "*" {
                return Err(unknown(component, &path, &parameter_at));
            }
        }
        match known {
            0 => Err(parameter_at.error(format!("no component knows a parameter {:?}", put.parameter)).help("expected the name of a parameter as in the files, such as \"Scheduler:Scheduling policy\"")),
            _ => Ok(()),
        }
    }

    /// The names that an override is for.
    fn targets(&self, put: &Override, at: &SourceSpan) -> Result<Vec<String>, InputError> {
        let component = put.component.trim();
        if component == "*" {
            return Ok(self.instances.keys().cloned().collect());
        }
        let words: Vec<&str> = component.split_ascii_whitespace().collect();
        let range = match words[..] {
            [first, "..", last] => Some((first, last)),
            [word] => range_word(word),
            _ => None,
        };
        let names: Vec<String> = match range {
            Some((first, last)) => expand(first, last, MAX_NAMES, at)?.collect(),
            None => vec![component.to_owned()],
        };
        for name in &names {
            if !self.instances.contains_key(name) && !self.blocks.contains_key(name) {
                let known = self
                    .instances
                    .keys()
                    .chain(self.blocks.keys())
                    .map(String::as_str);
                let meant = suggestion(name, known)
                    .map_or_else(String::new, |meant| format!("did you mean {meant:?}? "));
                return Err(at.error(format!("no component {name:?}")).help(format!(
                    "{meant}expected an instance, a range of instances or \"*\"; there are {}",
                    self.instances
                        .keys()
                        .take(20)
                        .map(String::as_str)
                        .collect::<Vec<_>>()
                        .join(", ")
                )));
            }
        }
        Ok(names)
    }
}

/// Sets the parameter at the end of a path; whether there is one.
fn set(component: &mut Component, path: &[&str], at: &SourceSpan, item: &Arc<Item>) -> bool {
    let (name, rest) = (path[0], &path[1..]);
    if rest.is_empty() {
        let known = component.module.parameter(name).is_some();
        if known {
            let entry = Entry {
                name_at: at.clone(),
                item: Arc::clone(item),
            };
            component.entries.insert(name.to_owned(), entry);
        }
        return known;
    }
    let Some(entry) = component.entries.get_mut(name) else {
        return false;
    };
    match &mut Arc::make_mut(&mut entry.item).value {
        Value::Block(inner) => set(inner, rest, at, item),
        _ => false,
    }
}

/// That a component does not know a parameter, and which it may have been meant to be.
fn unknown(component: &Component, path: &[&str], at: &SourceSpan) -> InputError {
    let mut component = component;
    let mut path = path;
    while let [outer, rest @ ..] = path
        && !rest.is_empty()
        && let Some(Value::Block(inner)) = component.item(outer).map(|item| &item.value)
    {
        (component, path) = (inner, rest);
    }
    let names = component
        .module
        .parameters
        .iter()
        .map(|parameter| parameter.name);
    let meant = suggestion(path[0], names.clone())
        .map_or_else(String::new, |meant| format!("did you mean {meant:?}? "));
    at.error(format!(
        "{} has no parameter {:?}",
        component.title(),
        path[0]
    ))
    .help(format!(
        "{meant}accepted: {}",
        names.collect::<Vec<_>>().join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_has_three_parts() {
        for (text, component, parameter, value) in [
            (
                "disk0:Max queue length=32",
                "disk0",
                "Max queue length",
                "32",
            ),
            (
                "disk0 .. disk3 : Scheduler:Scheduling policy = 8 ",
                "disk0 .. disk3",
                "Scheduler:Scheduling policy",
                "8",
            ),
            ("*:a=b=c:d", "*", "a", "b=c:d"),
        ] {
            let found = Override::parse("--set", text);
            let expected = Override {
                component: component.into(),
                parameter: parameter.into(),
                value: value.into(),
            };
            assert_eq!(found, Ok(expected), "{text}");
        }
        for text in ["", "a", "a:b", "a=b", "a=b:c", ":b=c", "a:=c", "a:b= "] {
            let error = Override::parse("--set", text).expect_err(text).to_string();
            assert!(error.contains("COMPONENT:PARAMETER=VALUE"), "{error}");
            assert!(error.contains("--set:1:1"), "{error}");
        }
    }
}
