//! Drives that are like another one: `like = "NAME"` in a drive's file, which then has only what is different.
//!
//! Tables of the file are laid over those of the other drive, key by key; what is no table takes the place of what stood there, and
//! so does a seek curve as a whole, which has one form. A key such as `"zone[2]"` is laid over that element of an array. `without` takes
//! keys of the other drive away.

use std::path::Path;

use super::{DriveFile, ReadForeign};
use crate::base::document::{Entry, Node, Value};
use crate::base::error::{Error, InputError};

/// The keys of a file that say what it is like, and what of that it has not.
const LIKE: &str = "like";
const WITHOUT: &str = "without";
/// A table of which one key is the form of what it describes: it is replaced and not laid over.
const ONE_FORM: &str = "seek";
/// How many files may be like one another in turn.
const MOST: usize = 8;

/// The drive of a file, with what it has of the one that it is like. Paths start at `base`.
///
/// # Errors
/// A `like` that is no name of a drive, or leads back to the file; a key that leads nowhere; those of the other file.
pub fn resolved(
    file: DriveFile,
    base: &Path,
    read_foreign: ReadForeign,
) -> Result<DriveFile, Error> {
    resolved_within(file, base, read_foreign, MOST)
}

fn resolved_within(
    file: DriveFile,
    base: &Path,
    read_foreign: ReadForeign,
    left: usize,
) -> Result<DriveFile, Error> {
    let Some(named) = file.tree.get(LIKE) else {
        return match file.tree.get(WITHOUT) {
            Some(node) => Err(node
                .error("nothing to take away from")
                .help("a file with `without` says with `like` which drive it has the rest from")
                .into()),
            None => Ok(file),
        };
    };
    let Value::String(name) = &named.value else {
        let error = named.error(format!("like is {}", named.value.describe()));
        return Err(error
            .help("expected the name of a drive, or the path of its file")
            .into());
    };
    if left == 0 {
        let error = named.error(format!(
            "more than {MOST} drives are like one another in turn"
        ));
        return Err(error
            .help("expected a drive whose file does not lead back to this one")
            .into());
    }
    let other =
        DriveFile::unresolved(name, base, read_foreign).map_err(|error| placed(error, named))?;
    let folder = DriveFile::folder(name, base);
    let other = resolved_within(other, &folder, read_foreign, left - 1)?;
    let mut tree = other.tree;
    if let Some(paths) = file.tree.get(WITHOUT) {
        take_away(&mut tree, paths)?;
    }
    let origin = file.tree.origin.clone();
    lay_over(&mut tree, file.tree.clone(), "")?;
    tree.remove(LIKE);
    tree.remove(WITHOUT);
    tree.origin = origin;
    Ok(DriveFile {
        tree,
        source: file.source,
        warnings: [other.warnings, file.warnings].concat(),
    })
}

/// An error of a name, which stands where the name does.
fn placed(error: Error, named: &Node) -> Error {
    match error {
        Error::Input(error) if error.place.is_none() => (*error).at(named.origin.place()).into(),
        error => error,
    }
}

/// Removes what `paths` name.
fn take_away(tree: &mut Node, paths: &Node) -> Result<(), InputError> {
    let expected =
        "expected a list of keys of the other drive, such as [\"buffer.read_ahead.most\"]";
    let Value::Array(items) = &paths.value else {
        let error = paths.error(format!("without is {}", paths.value.describe()));
        return Err(error.help(expected));
    };
    for item in items {
        let Value::String(path) = &item.value else {
            return Err(item
                .error(format!("{} is no key", item.value.describe()))
                .help(expected));
        };
        if tree.get(path).is_none() {
            return Err(item.error(format!("the other drive has no {path:?}")));
        }
        tree.remove(path);
    }
    Ok(())
}

/// Puts the entries of a table over those of another.
fn lay_over(under: &mut Node, over: Node, key: &str) -> Result<(), InputError> {
    let is_table = |node: &Node| matches!(node.value, Value::Table(_));
    if key == ONE_FORM || !is_table(under) || !is_table(&over) {
        *under = over;
        return Ok(());
    }
    let Value::Table(entries) = over.value else {
        unreachable!("a table");
    };
    for Entry {
        key,
        key_origin,
        node,
    } in entries
    {
        if key.contains('[') {
            let Some(element) = element(under, &key) else {
                let error = InputError::new(format!("the other drive has no {key:?} here"));
                return Err(error.at(key_origin.place()));
            };
            lay_over(element, node, "")?;
            continue;
        }
        let Value::Table(there) = &mut under.value else {
            unreachable!("a table");
        };
        match there.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => {
                entry.key_origin = key_origin;
                lay_over(&mut entry.node, node, &key)?;
            }
            None => there.push(Entry {
                key,
                key_origin,
                node,
            }),
        }
    }
    Ok(())
}

/// The element of an array of a table that a key such as `zone[2]` names.
fn element<'n>(table: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let (name, index) = key.split_once('[')?;
    let index: usize = index.strip_suffix(']')?.parse().ok()?;
    let Value::Table(entries) = &mut table.value else {
        return None;
    };
    let entry = entries.iter_mut().find(|entry| entry.key == name)?;
    match &mut entry.node.value {
        Value::Array(items) => items.get_mut(index),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::document::from_node;
    use crate::devices::hdd::drive::DriveDescription;

    /// The drive that a text describes, as far as it goes.
    fn read(text: &str) -> Result<DriveFile, Error> {
        let file = DriveFile::parse("mine.toml".into(), text.into())?;
        resolved(file, Path::new(""), |_| None)
    }

    fn description(file: &DriveFile) -> DriveDescription {
        from_node(&file.tree).expect("a whole drive")
    }

    fn refusal(text: &str) -> String {
        read(text).map(drop).expect_err(text).to_string()
    }

    #[test]
    fn a_file_has_what_it_says_and_the_rest_of_the_other() {
        let other = description(&read("like = \"hp-c3323a\"").expect("nothing else"));
        let text = "like = \"hp-c3323a\"\nwithout = [\"buffer.read_ahead.most\"]\nname = \"mine\"\n\
                    seek = { constant = \"2 ms\" }\n[heads]\nswitch = \"1 ms\"\n\
                    [layout]\n\"zone[1]\" = { track_skew = 15 }\n";
        let mine = description(&read(text).expect("sound"));
        let mut expected = other.clone();
        expected.name = "mine".into();
        expected.seek = toml::from_str("constant = \"2 ms\"").expect("a curve");
        expected.heads.switch = crate::base::units::Time::from_ms(1);
        expected.layout.zones[1].track_skew = 15;
        let ahead = &mut expected.buffer.as_mut().expect("a buffer").read_ahead;
        assert!(ahead.most.take().is_some());
        assert_eq!(mine, expected);
        assert_ne!(mine.layout.zones[1], other.layout.zones[1]);
    }

    #[test]
    fn a_list_takes_the_place_of_the_other() {
        let mine = description(&read("like = \"ibm-18es\"\nsource = [\"me\"]").expect("sound"));
        assert_eq!(mine.source, ["me"]);
    }

    #[test]
    fn what_leads_nowhere_is_refused_where_it_stands() {
        for (text, words) in [
            ("like = \"hp-c3323b\"", "mine.toml:1"),
            ("like = \"hp-c3323b\"", "hp-c3323a"),
            ("like = 3", "mine.toml:1"),
            ("without = [\"seek\"]", "like"),
            ("like = \"ibm-18es\"\nwithout = [\"seke\"]", "mine.toml:2"),
            (
                "like = \"ibm-18es\"\nwithout = 3",
                "expected a list of keys",
            ),
            (
                "like = \"ibm-18es\"\nwithout = [3]",
                "expected a list of keys",
            ),
            (
                "like = \"ibm-18es\"\n[layout]\n\"zone[99]\" = { track_skew = 1 }",
                "mine.toml:3",
            ),
        ] {
            let found = refusal(text);
            assert!(found.contains(words), "{text}: {found}");
        }
    }

    #[test]
    fn files_that_are_like_each_other_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for (one, other) in [("a", "b"), ("b", "a")] {
            let text = format!("like = \"{other}.toml\"\n");
            std::fs::write(folder.path().join(format!("{one}.toml")), text).expect("written");
        }
        let found = DriveFile::read("a.toml", folder.path(), |_| None);
        let error = found.map(drop).expect_err("a circle").to_string();
        assert!(error.contains("does not lead back"), "{error}");
        // Paths start at the folder of the file that has them.
        let text = "like = \"ibm-18es\"\nname = \"b\"\n";
        std::fs::write(folder.path().join("b.toml"), text).expect("written");
        let found = DriveFile::read("a.toml", folder.path(), |_| None).expect("sound");
        assert_eq!(description(&found).name, "b");
    }
}
