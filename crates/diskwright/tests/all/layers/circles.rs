//! Circles: modules side by side in a folder, each of which uses the next, and the last the first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::paths::{Named, paths};

/// A module by the names of the folders above it and its own.
pub type Module = Vec<String>;

/// The modules of a crate, and what each names.
#[derive(Default)]
pub struct Modules {
    folders: BTreeSet<Module>,
    names: BTreeMap<Module, Vec<Named>>,
}

/// A module that uses another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    from: Module,
    to: Module,
}

/// Modules side by side each of which uses all others, by way of others where not itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Circle {
    /// Their paths.
    pub modules: Vec<String>,
    /// A use for each pair that is tied.
    pub uses: Vec<String>,
}

impl Modules {
    /// Adds the file of a module, by its path below the crate's root, and its code without tests and comments.
    pub fn add(&mut self, file: &Path, code: &str) {
        let mut module: Module = file
            .with_extension("")
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        if module
            .last()
            .is_some_and(|name| name == "mod" || name == "lib")
        {
            module.pop();
            self.folders.insert(module.clone());
        }
        self.names.insert(module, paths(code));
    }

    /// The module in which a path ends that a module names, as far as re-exports tell.
    fn target(&self, from: &Module, path: &[String], depth: u32) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let (mut at, mut rest) = match first.as_str() {
            "crate" => (Module::new(), rest),
            "self" => (from.clone(), rest),
            "super" => (from[..from.len().checked_sub(1)?].to_vec(), rest),
            // A `use` of a child, in the file of its parent.
            _ => (from.clone(), path),
        };
        while let Some((name, after)) = rest.split_first() {
            if name == "super" {
                at.pop()?;
            } else {
                let mut child = at.clone();
                child.push(name.clone());
                if !self.names.contains_key(&child) {
                    break;
                }
                at = child;
            }
            rest = after;
        }
        let is_own = at == *from && !matches!(first.as_str(), "self" | "crate" | "super");
        if is_own && rest.len() == path.len() {
            return None;
        }
        // What a module hands on is another's.
        if let (Some(name), true) = (rest.first(), depth > 0)
            && let Some(named) = self
                .names
                .get(&at)
                .into_iter()
                .flatten()
                .find(|named| named.name.as_ref() == Some(name))
            && let Some(beyond) = self.target(&at, &named.path, depth - 1)
        {
            return Some(beyond);
        }
        Some(at)
    }

    /// Who uses whom.
    pub fn uses(&self) -> BTreeSet<Use> {
        let mut uses = BTreeSet::new();
        for (from, names) in &self.names {
            for named in names {
                if let Some(to) = self.target(from, &named.path, 4)
                    && to != *from
                {
                    uses.insert(Use {
                        from: from.clone(),
                        to,
                    });
                }
            }
        }
        uses
    }

    /// The circles with at least one folder among them.
    pub fn circles(&self) -> Vec<Circle> {
        // By the folder above: who uses whom beside it, and by which use.
        let mut beside: BTreeMap<Module, Ties> = BTreeMap::new();
        for used in self.uses() {
            let common = used.from.iter().zip(&used.to);
            let common = common.take_while(|(from, to)| from == to).count();
            // Who names what is above it, or in it, stands beside nobody.
            if common < used.from.len() && common < used.to.len() {
                let ends = (used.from[..=common].to_vec(), used.to[..=common].to_vec());
                let ties = beside.entry(used.from[..common].to_vec()).or_default();
                ties.entry(ends).or_insert(used);
            }
        }
        let all = beside.values().flat_map(circles_of);
        let with_folder = all.filter(|(modules, _)| !modules.is_disjoint(&self.folders));
        let circles = with_folder.map(|(modules, uses)| Circle {
            modules: modules.iter().map(|module| module.join("/")).collect(),
            uses: uses
                .iter()
                .map(|used| format!("{} uses {}", used.from.join("/"), used.to.join("/")))
                .collect(),
        });
        circles.collect()
    }
}

/// Who uses whom, both below one folder, and one of the uses that say so.
type Ties = BTreeMap<(Module, Module), Use>;

/// All that a module uses, by way of others or itself.
fn reached(from: &Module, ties: &Ties) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        let next = ties.keys().filter(|(from, _)| from == at);
        open.extend(
            next.map(|(_, to)| to)
                .filter(|to| reached.insert((*to).clone())),
        );
    }
    reached
}

/// The modules of each circle, and what ties them.
fn circles_of(ties: &Ties) -> Vec<(BTreeSet<Module>, Vec<Use>)> {
    let reach: BTreeMap<&Module, BTreeSet<Module>> = ties
        .keys()
        .map(|(from, _)| (from, reached(from, ties)))
        .collect();
    let mut circles: Vec<(BTreeSet<Module>, Vec<Use>)> = Vec::new();
    for (module, reached) in &reach {
        let is_done = circles.iter().any(|(circle, _)| circle.contains(*module));
        if is_done || !reached.contains(*module) {
            continue;
        }
        let back = reached
            .iter()
            .filter(|other| reach.get(other).is_some_and(|all| all.contains(*module)));
        let circle: BTreeSet<Module> = back.cloned().collect();
        let tied = ties
            .iter()
            .filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
        let uses = tied.map(|(_, used)| used.clone()).collect();
        circles.push((circle, uses));
    }
    circles
}

fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let mut modules = Modules::default();
    for (file, code) in files {
        modules.add(Path::new(file), code);
    }
    modules
        .circles()
        .into_iter()
        .flat_map(|circle| circle.uses)
        .collect()
}

#[test]
fn circles_are_found_at_any_depth_and_through_what_is_handed_on() {
    // A file and a folder beside it.
    let found = circles(&[
        ("a/mod.rs", "pub mod b; pub mod c;"),
        ("a/b/mod.rs", "mod d;"),
        ("a/b/d.rs", "use super::super::c::C;"),
        ("a/c.rs", "use super::b::B;"),
    ]);
    assert_eq!(found, ["a/b/d uses a/c", "a/c uses a/b"]);
    // Through the parent, which hands on what is in the folder.
    let found = circles(&[
        ("a/mod.rs", "pub use b::B; mod b; mod c;"),
        ("a/b/mod.rs", "use crate::a::c;"),
        ("a/c.rs", "use super::{B, Q};"),
    ]);
    assert_eq!(found, ["a/b uses a/c", "a/c uses a/b"]);
    // Three folders.
    let found = circles(&[
        ("a/mod.rs", "use crate::b::B;"),
        ("b/mod.rs", "fn f() { crate::c::d() }"),
        ("c/mod.rs", ""),
        ("c/e.rs", "use crate::a::A;"),
        ("a/x.rs", ""),
        ("b/x.rs", ""),
    ]);
    assert_eq!(found, ["a uses b", "b uses c", "c/e uses a"]);
}

#[test]
fn files_side_by_side_and_parents_are_no_circle() {
    let files = [
        ("a/mod.rs", "mod b; mod c; pub use b::B;"),
        ("a/b.rs", "use super::c::C; use super::S;"),
        ("a/c.rs", "use super::b::B;"),
        ("d/mod.rs", "use crate::a::B;"),
        ("d/e.rs", "use super::D;"),
    ];
    assert_eq!(circles(&files), [] as [String; 0]);
}
