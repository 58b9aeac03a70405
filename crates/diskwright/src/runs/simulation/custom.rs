//! A spec may name a scheduler or a replacement policy of the program's own as it names those of the registry.

use crate::base::document::{Entry, Node, Value};
use crate::base::registry::CUSTOM;
use crate::models::cache::replacement::CustomReplacements;
use crate::models::queue::CustomSchedulers;

/// The key of a scheduler.
pub const SCHEDULER: &str = "scheduler";
/// The key of a replacement policy.
pub const REPLACEMENT: &str = "policy";

/// Writes `scheduler = "mine"` as `scheduler = { custom = "mine" }` wherever the program has a scheduler `"mine"`,
/// and `policy = "mine"` likewise where it has a replacement policy of that name.
pub fn resolve(node: &mut Node, schedulers: &CustomSchedulers, replacements: &CustomReplacements) {
    match &mut node.value {
        Value::Array(items) => {
            for item in items {
                resolve(item, schedulers, replacements);
            }
        }
        Value::Table(entries) => {
            for Entry { key, node, .. } in entries {
                match key.as_str() {
                    SCHEDULER => name(node, |name| schedulers.contains(name)),
                    REPLACEMENT => name(node, |name| replacements.contains(name)),
                    _ => resolve(node, schedulers, replacements),
                }
            }
        }
        _ => {}
    }
}

fn name(node: &mut Node, is_custom: impl Fn(&str) -> bool) {
    let named = matches!(&node.value, Value::String(name) if is_custom(name));
    if named {
        let entry = Entry {
            key: CUSTOM.to_owned(),
            key_origin: node.origin.clone(),
            node: node.clone(),
        };
        node.value = Value::Table(vec![entry]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Source;
    use crate::models::cache::replacement::ReplacementSpec;
    use crate::models::queue::SchedulerSpec;

    #[test]
    fn a_name_is_what_its_key_says() {
        let mut schedulers = CustomSchedulers::default();
        let fcfs = || SchedulerSpec::default().build();
        let mut replacements = CustomReplacements::default();
        let lru = |setting: &_| ReplacementSpec::default().build(setting);
        for name in ["both", "queue's"] {
            schedulers.add(name, fcfs).expect("a free name");
        }
        for name in ["both", "cache's"] {
            replacements.add_for(name, lru).expect("a free name");
        }
        let text = "\
            [device.hdd.queue]\nscheduler = 'both'\n[device.hdd.cache]\npolicy = 'both'\n\
            [[device.array.member]]\nscheduler = \"queue's\"\npolicy = \"queue's\"\n\
            [[device.array.member]]\nscheduler = \"cache's\"\npolicy = \"cache's\"\n\
            [[device.array.member]]\nscheduler = 'satf'\npolicy = { slru = { protected = 0.5 } }\nname = 'both'\n";
        let mut tree = Node::parse(&Source::new("spec", text)).expect("TOML");
        let before = tree.clone();
        resolve(&mut tree, &schedulers, &replacements);
        for (path, custom) in [
            ("device.hdd.queue.scheduler", Some("both")),
            ("device.hdd.cache.policy", Some("both")),
            ("device.array.member[0].scheduler", Some("queue's")),
            ("device.array.member[0].policy", None),
            ("device.array.member[1].scheduler", None),
            ("device.array.member[1].policy", Some("cache's")),
            ("device.array.member[2].scheduler", None),
            ("device.array.member[2].policy", None),
            ("device.array.member[2].name", None),
        ] {
            let found = tree.get(path).expect(path);
            let Some(custom) = custom else {
                assert_eq!(found.value, before.get(path).expect(path).value, "{path}");
                continue;
            };
            let inner = found.get(CUSTOM).expect(path);
            assert_eq!(inner.value, Value::String(custom.to_owned()), "{path}");
            let place = before.get(path).expect(path).origin.place();
            assert_eq!(inner.origin.place(), place, "{path}");
        }
    }
}
