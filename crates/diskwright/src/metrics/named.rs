//! Numbers of results by name: `iops`, `by_op.read.response_ms.p99`, `devices.array.member[0].hdd.cache.hit_ratio`.
//!
//! A name is the path of keys to a number, with dots between them. Keys have dots and brackets of their own where they are paths of devices
//! or names of streams: of several keys that a name may go on with, the longest counts. Ten quantities have short names beside that.

use serde_json::{Map, Value};

use crate::base::error::{Error, InputError, Place, Source, suggestion};

/// The short names, and where a result has what they mean.
const SHORT: [(&str, &str); 10] = [
    ("response_mean_ms", "response_ms.mean"),
    ("response_p50_ms", "response_ms.p50"),
    ("response_p95_ms", "response_ms.p95"),
    ("response_p99_ms", "response_ms.p99"),
    ("response_p999_ms", "response_ms.p999"),
    ("response_max_ms", "response_ms.max"),
    ("service_mean_ms", "service_ms.mean"),
    ("access_mean_ms", "access_ms.mean"),
    ("iops", "iops"),
    (UTILISATION, ""),
];

/// The share of the time that a device is busy, for each of them: `utilisation_PATH`.
const UTILISATION: &str = "utilisation";

/// What is a statistic of the measured requests: of none, these are zeros that mean nothing.
const OF_MEASURED: [&str; 7] = [
    "response_ms",
    "service_ms",
    "access_ms",
    "parts_ms",
    "issue_lag_ms",
    "iops",
    "mb_per_s",
];

/// What devices tell only where it has happened, as the first key behind a device's path.
const IF_IT_HAPPENS: [&str; 4] = ["changes", "changes_s", "recovery", "retried_reads"];

/// The quantities with these names of a run's result, or all that have short names; `None` where the run has measured nothing, or has no
/// such number.
pub fn quantities(names: &[String], result: &Map<String, Value>) -> Vec<(String, Option<f64>)> {
    let mut found = Vec::new();
    let short = SHORT.map(|(name, _)| name);
    let names: Vec<&str> = match names.is_empty() {
        true => short.to_vec(),
        false => names.iter().map(String::as_str).collect(),
    };
    for name in names {
        if name != UTILISATION {
            found.push((name.to_owned(), value(result, name)));
            continue;
        }
        let devices = result.get("devices").and_then(Value::as_object);
        for (path, device) in devices.into_iter().flatten() {
            if let Some(share) = device.get(name) {
                found.push((format!("{name}_{path}"), share.as_f64()));
            }
        }
    }
    found
}

/// A number of a result, by its name; `None` where the result has none of that name, or it is a statistic of no request.
pub fn value(result: &Map<String, Value>, name: &str) -> Option<f64> {
    let short = SHORT.iter().find(|(short, _)| *short == name);
    let name = short.map_or(name, |(_, path)| *path);
    let (key, mut at, mut rest) = first(result, name)?;
    let measured = result.get("requests").map(|requests| &requests["measured"]);
    if OF_MEASURED.contains(&key) && measured == Some(&Value::from(0)) {
        return None;
    }
    while !rest.is_empty() {
        (at, rest) = step(at, rest)?;
    }
    at.as_f64()
}

/// One key further from `at` on the way that a name has still to go.
fn step<'v, 'n>(at: &'v Value, rest: &'n str) -> Option<(&'v Value, &'n str)> {
    match at {
        Value::Object(entries) => first(entries, rest).map(|(_, value, rest)| (value, rest)),
        Value::Array(items) => {
            let (index, rest) = rest.strip_prefix('[')?.split_once(']')?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            Some((item, rest.strip_prefix('.').unwrap_or(rest)))
        }
        _ => None,
    }
}

/// The longest key that a name begins with, what stands there, and what is left of the name.
fn first<'v, 'n>(
    entries: &'v Map<String, Value>,
    name: &'n str,
) -> Option<(&'v str, &'v Value, &'n str)> {
    let fits = |(key, value): (&'v String, &'v Value)| {
        let rest = name.strip_prefix(key.as_str())?;
        let rest = match rest.strip_prefix('.') {
            Some(rest) if !rest.is_empty() => rest,
            None if rest.is_empty() || rest.starts_with('[') => rest,
            _ => return None,
        };
        Some((key.as_str(), value, rest))
    };
    let fitting = entries.iter().filter_map(fits);
    fitting.max_by_key(|(key, _, _)| key.len())
}

/// Refuses names of quantities that no run can have: `outline` tells the keys of the results of runs, one after the other, `None` behind
/// the last.
///
/// # Errors
/// Those of `outline`; the first name that none has, as the first run has it told.
pub fn check(
    names: &[Named],
    mut outline: impl FnMut(&[&Named]) -> Result<Option<Map<String, Value>>, Error>,
) -> Result<(), Error> {
    let mut left: Vec<(&Named, Option<InputError>)> = names
        .iter()
        .filter(|named| !named.is_short())
        .map(|named| (named, None))
        .collect();
    while !left.is_empty() {
        let names: Vec<&Named> = left.iter().map(|(named, _)| *named).collect();
        let Some(outline) = outline(&names)? else {
            break;
        };
        left.retain_mut(|(named, error)| match named.check(&outline) {
            Ok(()) => false,
            Err(found) => {
                error.get_or_insert(found);
                true
            }
        });
    }
    match left.into_iter().find_map(|(_, error)| error) {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

/// A name of a quantity, and where it was written.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
}

impl Named {
    /// One that an option of the command line gives.
    pub fn of_option(option: &str, name: &str) -> Named {
        let (source, span) = (Source::new(option, name), 0..name.len());
        Named {
            name: name.to_owned(),
            place: Place::Text { source, span },
        }
    }

    /// Whether it is one of the short names, which every run has.
    fn is_short(&self) -> bool {
        SHORT.iter().any(|(short, _)| *short == self.name)
    }

    /// Whether it names a number of a stream of the load.
    pub fn is_of_stream(&self) -> bool {
        self.name.starts_with("by_stream")
    }

    /// Refuses a name of nothing that a run can have, of which `outline` tells the keys.
    ///
    /// # Errors
    /// The name, with its place and a suggestion.
    pub fn check(&self, outline: &Map<String, Value>) -> Result<(), InputError> {
        if self.is_short() {
            return Ok(());
        }
        let short = SHORT.map(|(name, _)| name);
        let mut nothing = Value::Null;
        let mut at = &Value::Null;
        let mut rest = self.name.as_str();
        if let Some((_, value, left)) = first(outline, rest) {
            (at, rest) = (value, left);
        } else {
            nothing = outline.clone().into();
        }
        let mut depth = 1;
        let is_of_device = self.name.starts_with("devices.");
        while !rest.is_empty() && nothing.is_null() {
            let (key, _) = rest.split_once(['.', '[']).unwrap_or((rest, ""));
            let is_open = at.as_object().is_some_and(Map::is_empty)
                || is_of_device && depth == 2 && IF_IT_HAPPENS.contains(&key);
            match step(at, rest) {
                Some((value, left)) => (at, rest) = (value, left),
                None if is_open => return Ok(()),
                None => nothing = at.clone(),
            }
            depth += 1;
        }
        let above = &self.name[..self.name.len() - rest.len()];
        if nothing.is_null() {
            return match at {
                Value::Number(_) | Value::Null => Ok(()),
                other => Err(self.no_number(other)),
            };
        }
        let mut known = Vec::new();
        leaves(&nothing, "", &mut known);
        if above.is_empty() {
            known.extend(short.map(str::to_owned));
        }
        let near = suggestion(rest, known.iter().map(String::as_str));
        let mut accepted = keys(&nothing);
        let what = match above.trim_end_matches('.') {
            "" => {
                accepted.splice(0..0, short.map(str::to_owned));
                format!("unknown metric {:?}", self.name)
            }
            above => format!("unknown metric {:?}: {above} has no {rest:?}", self.name),
        };
        accepted.dedup();
        let accepted = match accepted.is_empty() {
            true => "it is a number itself".to_owned(),
            false => format!("accepted: {}", accepted.join(", ")),
        };
        let help = match near {
            Some(near) => format!("did you mean {:?}? {accepted}", format!("{above}{near}")),
            None => accepted,
        };
        Err(InputError::new(what).at(self.place.clone()).help(help))
    }

    /// A name of something that is no number.
    fn no_number(&self, found: &Value) -> InputError {
        let error = InputError::new(format!("the metric {:?} is no number", self.name));
        let accepted = keys(found);
        let error = error.at(self.place.clone());
        match accepted.is_empty() {
            true => error,
            false => error.help(format!(
                "write one of its keys behind it: {}",
                accepted.join(", ")
            )),
        }
    }
}

/// The keys of an object, or what the items of a list are called.
fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(entries) => entries.keys().cloned().collect(),
        Value::Array(items) => (0..items.len()).map(|index| format!("[{index}]")).collect(),
        _ => Vec::new(),
    }
}

/// The names of all numbers below a value.
fn leaves(value: &Value, above: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let dot = if above.is_empty() { "" } else { "." };
                leaves(value, &format!("{above}{dot}{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, &format!("{above}[{index}]"), found);
            }
        }
        Value::Number(_) | Value::Null => found.push(above.to_owned()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result() -> Map<String, Value> {
        let result = json!({
            "requests": { "measured": 3 },
            "iops": 5.5,
            "response_ms": { "mean": 1.5, "p90": 2.0, "p99": 3.0, "ci95": null },
            "by_stream": { "a": { "iops": 1 }, "a.b": { "iops": 2 } },
            "devices": {
                "array": { "members": { "member[0]": { "share": 0.5 } } },
                "array.member[0].hdd": { "utilisation": 0.25, "arms": [{ "busy_ms": 7 }, { "busy_ms": 8 }], "merge_sizes": {} },
                "array.member[0].hdd.cache": { "reads": 9 },
            },
            "digest": "x",
        });
        result.as_object().expect("an object").clone()
    }

    #[test]
    fn the_longest_key_counts() {
        for (name, expected) in [
            ("iops", Some(5.5)),
            ("response_mean_ms", Some(1.5)),
            ("response_ms.p99", Some(3.0)),
            ("requests.measured", Some(3.0)),
            ("by_stream.a.iops", Some(1.0)),
            ("by_stream.a.b.iops", Some(2.0)),
            ("devices.array.members.member[0].share", Some(0.5)),
            ("devices.array.member[0].hdd.utilisation", Some(0.25)),
            ("devices.array.member[0].hdd.arms[1].busy_ms", Some(8.0)),
            ("devices.array.member[0].hdd.cache.reads", Some(9.0)),
            ("devices.array.member[0].hdd.cache.writes", None),
            ("devices.array.member[0].hdd.arms[2].busy_ms", None),
            ("response_ms", None),
            ("response_ms.", None),
            ("response_ms.ci95", None),
            ("iops.mean", None),
            ("digest", None),
            ("", None),
        ] {
            assert_eq!(value(&result(), name), expected, "{name}");
        }
        let mut nothing = result();
        nothing["requests"]["measured"] = 0.into();
        assert_eq!(value(&nothing, "response_ms.p99"), None);
        assert_eq!(value(&nothing, "requests.measured"), Some(0.0));
    }

    #[test]
    fn names_of_nothing_are_refused_with_a_suggestion() {
        for (name, message, help) in [
            ("response_p9_ms", "unknown metric", "response_p99_ms"),
            ("iop", "unknown metric", "\"iops\""),
            (
                "response_ms.p9",
                "response_ms has no \"p9\"",
                "\"response_ms.p90\"",
            ),
            ("response_ms", "is no number", "mean, p90"),
            ("iops.mean", "iops has no \"mean\"", "a number itself"),
            (
                "devices.array.member[0].hdd.utilization",
                "devices.array.member[0].hdd has no",
                "\"devices.array.member[0].hdd.utilisation\"",
            ),
            (
                "devices.array.member[1].hdd.utilisation",
                "devices.array has no",
                "members",
            ),
            (
                "devices.hdd.cache.reads",
                "devices has no",
                "array.member[0].hdd.cache",
            ),
            (
                "by_stream.b.iops",
                "by_stream has no",
                "\"by_stream.a.iops\"",
            ),
            ("digest", "is no number", ""),
        ] {
            let error = Named::of_option("--metric", name)
                .check(&result())
                .expect_err(name);
            let text = error.to_string();
            assert!(text.contains(message), "{name}: {text}");
            assert!(
                error.help.unwrap_or_default().contains(help),
                "{name}: {text}"
            );
            assert!(error.place.is_some(), "{name}");
        }
        for name in [
            "iops",
            "utilisation",
            "response_ms.ci95",
            "devices.array.member[0].hdd.merge_sizes.2",
            "devices.array.member[0].hdd.recovery.time_s",
            "devices.array.retried_reads",
        ] {
            assert_eq!(
                Named::of_option("--metric", name).check(&result()),
                Ok(()),
                "{name}"
            );
        }
    }
}
