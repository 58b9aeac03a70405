//! From statements to a system: blocks with what they inherit, instances, and what hangs on what.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::component::{Component, Entry, Item, Value};
use super::modules::{self, MODULES};
use super::numbers::expand;
use super::syntax::{self, Block, Data, Name, Node, SourceSpan, Statement};
use super::warnings::Warnings;
use crate::base::error::{InputError, suggestion};

/// The most components a system may have, and the most names a list may hold through ranges.
pub(super) const MAX_NAMES: usize = 10_000;
/// The most parameters all blocks may have together, inherited ones counted.
const MAX_PARAMETERS: usize = 1 << 18;

/// All that the files say.
#[derive(Debug, Default)]
pub(super) struct System {
    /// Blocks by name.
    pub(super) blocks: BTreeMap<String, Arc<Component>>,
    /// Instances by name; each with its own values where overrides gave it some.
    pub(super) instances: BTreeMap<String, Arc<Component>>,
    /// The names of blocks and instances, in the order in which they came up; one that is both comes up twice.
    pub(super) order: Vec<String>,
    /// The root of the topology.
    pub(super) root: Option<Node>,
    pub(super) warnings: Warnings,
    parameters: usize,
    /// Names that ranges have made.
    named: usize,
}

impl System {
    /// Works through statements in their order.
    ///
    /// # Errors
    /// A name that nothing has, a second topology, more components or parameters than there may be.
    pub(super) fn build(statements: Vec<Statement>) -> Result<System, InputError> {
        let mut system = System::default();
        for statement in statements {
            match statement {
                Statement::Define(block) => {
                    let component = system.component(&block)?;
                    system.define(component);
                }
                Statement::Instantiate { names, of } => system.instantiate(&names, &of)?,
                Statement::Topology(root) => {
                    if let Some(first) = &system.root {
                        return Err(root
                            .name
                            .at
                            .error("a second topology")
                            .help(format!("expected one; the first is at {}", first.name.at)));
                    }
                    system.check_node(&root)?;
                    system.root = Some(root);
                }
            }
        }
        Ok(system)
    }

    /// Notes a block under its name; of two of a name the first stays, as in DiskSim.
    fn define(&mut self, component: Component) {
        match self.blocks.get(&component.name) {
            Some(first) => self.warnings.push(
                &component.at,
                format_args!(
                    "a second block of the name {:?} is ignored; the first is at {}",
                    component.name, first.at
                ),
            ),
            None => {
                self.order.push(component.name.clone());
                self.blocks
                    .insert(component.name.clone(), Arc::new(component));
            }
        }
    }

    fn instantiate(&mut self, names: &[syntax::Value], of: &Name) -> Result<(), InputError> {
        let block = self.blocks.get(&of.text).cloned();
        let block = block.ok_or_else(|| unknown("block", of, self.blocks.keys()))?;
        for item in self.texts(names, "the name of an instance")? {
            let (name, at) = item;
            if let Some(first) = self.instances.get(&name) {
                self.warnings.push(
                    &at,
                    format_args!(
                        "a second instance of the name {name:?} is ignored; the first is one of {}",
                        first.title()
                    ),
                );
                continue;
            }
            let mut instance = Component::clone(&block);
            instance.name.clone_from(&name);
            self.count(instance.entries.len(), &at)?;
            self.order.push(name.clone());
            self.instances.insert(name, Arc::new(instance));
        }
        Ok(())
    }

    /// The texts of a list, its ranges expanded, with their places.
    fn texts(
        &mut self,
        items: &[syntax::Value],
        expected: &str,
    ) -> Result<Vec<(String, SourceSpan)>, InputError> {
        let mut texts = Vec::new();
        for item in items {
            match &item.data {
                Data::Range(first, last) => {
                    for name in self.range(first, last)? {
                        texts.push((name, item.at.clone()));
                    }
                }
                Data::Integer(_) | Data::Float(_) | Data::Text(_) => {
                    texts.push((item.at.text().to_owned(), item.at.clone()));
                }
                Data::List(_) | Data::Block(_) => {
                    return Err(item
                        .at
                        .error(format!("found a list or block, expected {expected}")));
                }
            }
        }
        Ok(texts)
    }

    fn range(&mut self, first: &Name, last: &Name) -> Result<Vec<String>, InputError> {
        let room = MAX_NAMES - self.named;
        let names: Vec<_> = expand(&first.text, &last.text, room, &first.at)?.collect();
        self.named += names.len();
        Ok(names)
    }

    /// Counts parameters against what may be.
    fn count(&mut self, parameters: usize, at: &SourceSpan) -> Result<(), InputError> {
        self.parameters += parameters + 1;
        if self.parameters <= MAX_PARAMETERS {
            return Ok(());
        }
        Err(at
            .error("one parameter too many")
            .help(format!("all blocks and instances together have at most {MAX_PARAMETERS}, inherited ones included")))
    }

    /// A block with what it inherits.
    fn component(&mut self, block: &Block) -> Result<Component, InputError> {
        let mut component = match (
            modules::find(&block.kind.text),
            self.blocks.get(&block.kind.text),
        ) {
            (Some(module), _) => Component {
                module,
                name: module.name.to_owned(),
                kind: module.name.to_owned(),
                at: block.at.clone(),
                entries: BTreeMap::new(),
            },
            (None, Some(earlier)) => Component::clone(earlier),
            (None, None) => {
                let modules = MODULES.iter().map(|module| module.name);
                let meant = suggestion(
                    &block.kind.text,
                    modules.chain(self.blocks.keys().map(String::as_str)),
                );
                let meant =
                    meant.map_or_else(String::new, |meant| format!("did you mean {meant:?}? "));
                return Err(block
                    .kind
                    .at
                    .error(format!("unknown component {:?}", block.kind.text))
                    .help(format!("{meant}expected a module of DiskSim, such as disksim_disk, or the name of an earlier block")));
            }
        };
        component.at = block.at.clone();
        component.name = match &block.name {
            Some(name) => name.text.clone(),
            None => component.module.name.to_owned(),
        };
        component.kind.clone_from(&component.name);
        self.count(component.entries.len() + block.parameters.len(), &block.at)?;
        let mut own: BTreeMap<&str, &SourceSpan> = BTreeMap::new();
        for parameter in &block.parameters {
            let item = Arc::new(self.item(&parameter.value)?);
            for name in &parameter.names {
                if let Some(first) = own.insert(&name.text, &name.at) {
                    self.warnings.push(
                        &name.at,
                        format_args!("{:?} replaces its value at {first}", name.text),
                    );
                }
                let entry = Entry {
                    name_at: name.at.clone(),
                    item: Arc::clone(&item),
                };
                component.entries.insert(name.text.clone(), entry);
            }
        }
        Ok(component)
    }

    /// A value, its blocks with what they inherit and its ranges expanded.
    pub(super) fn item(&mut self, value: &syntax::Value) -> Result<Item, InputError> {
        let at = value.at.clone();
        let value = match &value.data {
            Data::Integer(number) => Value::Integer(*number),
            Data::Float(number) => Value::Float(*number),
            Data::Text(text) => Value::Text(text.clone()),
            Data::Block(block) => {
                let component = self.component(block)?;
                // A block that is a value may be inherited from, too.
                if block.name.is_some() && !self.blocks.contains_key(&component.name) {
                    self.count(component.entries.len(), &at)?;
                    self.define(component.clone());
                }
                Value::Block(component)
            }
            Data::Range(first, last) => return self.lone_range(first, last, at),
            Data::List(values) => {
                let mut items = Vec::with_capacity(values.len());
                for value in values {
                    match &value.data {
                        Data::Range(first, last) => {
                            for text in self.range(first, last)? {
                                items.push(Item {
                                    at: value.at.clone(),
                                    value: Value::Text(text),
                                });
                            }
                        }
                        _ => items.push(self.item(value)?),
                    }
                }
                Value::List(items)
            }
        };
        Ok(Item { at, value })
    }

    /// A range that is no item of a list names several where one is due.
    fn lone_range(
        &mut self,
        first: &Name,
        last: &Name,
        at: SourceSpan,
    ) -> Result<Item, InputError> {
        Err(at.error(format!(
            "found the range {} .. {}, expected one name",
            first.text, last.text
        )))
    }

    fn check_node(&self, node: &Node) -> Result<(), InputError> {
        let Some(instance) = self.instances.get(&node.name.text) else {
            return Err(unknown("instance", &node.name, self.instances.keys()));
        };
        if instance.module.name != node.module.text {
            return Err(node
                .module
                .at
                .error(format!(
                    "{:?} is an instance of {}, not of {:?}",
                    node.name.text, instance.module.name, node.module.text
                ))
                .help(format!(
                    "expected \"{} {}\"",
                    instance.module.name, node.name.text
                )));
        }
        node.children
            .iter()
            .try_for_each(|child| self.check_node(child))
    }
}

/// That nothing has a name, and what has a similar one.
fn unknown<'n>(
    kind: &str,
    name: &Name,
    names: impl Iterator<Item = &'n String> + Clone,
) -> InputError {
    let meant = suggestion(&name.text, names.clone().map(String::as_str));
    let known: Vec<_> = names.take(20).map(String::as_str).collect();
    let known = match known.is_empty() {
        true => format!("there is no {kind} yet: it must come before"),
        false => format!("known: {}", known.join(", ")),
    };
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean {meant:?}? "));
    name.at
        .error(format!("unknown {kind} {:?}", name.text))
        .help(format!("{meant}{known}"))
}
