//! Makes a case that fails small: keys and items go, subtrees give way to their children, numbers are halved, as long as it still
//! fails in the same way.

use serde_json::{Map, Value};

use super::case::Case;

/// The most candidates that are tried.
const MOST_TRIES: u32 = 3_000;

/// The smallest case found that still fails.
pub fn shrink(case: &Case, still_fails: impl Fn(&Case) -> bool) -> Case {
    let mut best = case.whole();
    let mut tries = 0;
    'smaller: loop {
        for pointer in pointers(&best) {
            for candidate in candidates(&best, &pointer) {
                tries += 1;
                if tries > MOST_TRIES {
                    break 'smaller;
                }
                let Some(case) = Case::of(candidate) else {
                    continue;
                };
                if case.whole() != best && still_fails(&case) {
                    best = case.whole();
                    continue 'smaller;
                }
            }
        }
        break;
    }
    Case::of(best).expect("it was a case")
}

/// JSON pointers of all that is in a value, from the top downwards, so that much goes at once.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut at = 0;
    while at < found.len() {
        let pointer = found[at].clone();
        match value.pointer(&pointer).expect("it was found there") {
            Value::Object(entries) => found.extend(
                entries
                    .keys()
                    .map(|key| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))),
            ),
            Value::Array(items) => {
                found.extend((0..items.len()).map(|index| format!("{pointer}/{index}")))
            }
            _ => {}
        }
        at += 1;
    }
    found.remove(0);
    found
}

/// Smaller values in which what stands at `pointer` is gone or smaller.
fn candidates(whole: &Value, pointer: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let here = whole.pointer(pointer).expect("it was found there");
    let mut replaced = |by: Value| {
        let mut copy = whole.clone();
        *copy.pointer_mut(pointer).expect("it was found there") = by;
        found.push(copy);
    };
    match here {
        // Much of a list at once.
        Value::Array(items) => {
            let mut length = items.len() / 2;
            while length > 0 {
                for start in (0..items.len()).step_by(length) {
                    let end = (start + length).min(items.len());
                    replaced([&items[..start], &items[end..]].concat().into());
                }
                length /= 2;
            }
        }
        Value::Object(entries) => {
            let mut children = Vec::new();
            descendants(here, 3, &mut children);
            children.into_iter().for_each(&mut replaced);
            // A policy with parameters, without them.
            if let Some(name) = only_key(entries) {
                replaced(name.into());
            }
        }
        Value::Number(number) => {
            if let Some(number) = number.as_u64().filter(|&number| number > 0) {
                [0, 1, 8, number / 2, number - 1]
                    .into_iter()
                    .filter(|&less| less < number)
                    .for_each(|less| replaced(less.into()));
            } else if let Some(number) = number
                .as_f64()
                .filter(|&number| number != 0.0 && number != 1.0)
            {
                [0.0, 1.0, libm::round(number * 10.0) / 10.0]
                    .into_iter()
                    .filter(|&less| less != number)
                    .for_each(|less| replaced(less.into()));
            }
        }
        Value::String(text) => {
            if pointer.ends_with("/drive") && text != PLAIN {
                replaced(PLAIN.into());
            }
            // Of a quantity the number, of a text a line.
            if let Some((number, unit)) = text.split_once(' ')
                && let Ok(number) = number.parse::<u64>()
            {
                [0, 1, 8, number / 2]
                    .into_iter()
                    .filter(|&less| less < number)
                    .for_each(|less| replaced(format!("{less} {unit}").into()));
            } else if text.contains('\n') {
                let lines: Vec<&str> = text.lines().collect();
                for at in 0..lines.len() {
                    replaced([&lines[..at], &lines[at + 1..]].concat().join("\n").into());
                }
            }
        }
        _ => {}
    }
    let (above, key) = pointer.rsplit_once('/').expect("no pointer is empty");
    let mut copy = whole.clone();
    if let Some(Value::Object(entries)) = copy.pointer_mut(above) {
        entries.shift_remove(&key.replace("~1", "/").replace("~0", "~"));
        found.insert(0, copy);
    }
    found
}

/// A drive that needs no file.
const PLAIN: &str = "ibm-18es-linear";

fn only_key(entries: &Map<String, Value>) -> Option<&str> {
    let mut keys = entries.keys();
    let first = keys.next()?;
    keys.next().is_none().then_some(first)
}

/// The tables within a few levels below a value.
fn descendants(value: &Value, levels: u32, found: &mut Vec<Value>) {
    if levels == 0 {
        return;
    }
    let below: Vec<&Value> = match value {
        Value::Object(entries) => entries.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    for child in below {
        if child.is_object() {
            found.push(child.clone());
        }
        descendants(child, levels - 1, found);
    }
}
