//! Keys of specs that had another name once: a text or an override may still have it, and the tree has the present one.

/// The table that a key stands in, the key's name once, and its present one.
const RENAMED: &[(&str, &str, &str)] = &[
    ("workload", "look-alike", "synthetic-clone"),
    ("slru", "reading", "variant"),
    ("s3-fifo", "reading", "variant"),
];

/// The present name of `key` in the table that stands under the key `table`.
pub(super) fn present_key<'k>(table: &str, key: &'k str) -> &'k str {
    let renamed = RENAMED
        .iter()
        .find(|(within, old, _)| *within == table && *old == key);
    renamed.map_or(key, |&(_, _, new)| new)
}

/// A dotted path with the present names of its keys.
pub(super) fn present_path(path: &str) -> String {
    let mut table = "";
    let keys = path.split('.').map(|step| {
        let key = present_key(table, step);
        table = last_key(step);
        key
    });
    keys.collect::<Vec<_>>().join(".")
}

/// The last key of a dotted path, without the index of an element.
pub(super) fn last_key(path: &str) -> &str {
    let step = path.rsplit('.').next().unwrap_or(path);
    step.split('[').next().unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::document::{Node, Override};
    use crate::base::error::Source;

    #[test]
    fn a_text_and_an_override_may_have_the_former_name() {
        let text = "[workload]\nlook-alike = 'a'\n[x]\npolicy = { slru = { reading = 'paper' } }\n";
        let mut tree = Node::parse(&Source::new("spec.toml", text)).expect("valid TOML");
        for path in ["workload.synthetic-clone", "x.policy.slru.variant"] {
            assert!(tree.get(path).is_some(), "{path}");
        }
        for change in [
            "x.policy.slru.reading=libcachesim",
            "workload={ look-alike = { profile = 'b' } }",
            "workload.look-alike.theta=1",
        ] {
            let change = Override::parse("--set", change).expect(change);
            tree.set(change).expect("a change that fits");
        }
        assert_eq!(
            tree.value.to_json(),
            serde_json::json!({
                "workload": { "synthetic-clone": { "profile": "b", "theta": 1 } },
                "x": { "policy": { "slru": { "variant": "libcachesim" } } },
            })
        );
    }

    #[test]
    fn a_key_of_another_table_keeps_its_name() {
        assert_eq!(present_path("a.reading.look-alike"), "a.reading.look-alike");
        assert_eq!(present_path("a.s3-fifo.reading"), "a.s3-fifo.variant");
    }
}
