//! A scheduler that the program brings along may be named in a spec as those of the registry are.

use crate::config::tree::{Entry, Node, Value};
use crate::queue::CustomSchedulers;
use crate::queue::schedulers::CUSTOM;

/// Writes `scheduler = "mine"` as `scheduler = { custom = "mine" }` wherever the program has brought `"mine"` along.
pub fn resolve(node: &mut Node, brought: &CustomSchedulers) {
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(|item| resolve(item, brought)),
        Value::Table(entries) => entries.iter_mut().for_each(|entry| {
            if entry.key == "scheduler" {
                name(&mut entry.node, brought);
            } else {
                resolve(&mut entry.node, brought);
            }
        }),
        _ => {}
    }
}

fn name(node: &mut Node, brought: &CustomSchedulers) {
    let named = matches!(&node.value, Value::String(name) if brought.contains(name));
    if named {
        let entry = Entry {
            key: CUSTOM.to_owned(),
            key_origin: node.origin.clone(),
            node: node.clone(),
        };
        node.value = Value::Table(vec![entry]);
    }
}
