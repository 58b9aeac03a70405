//! What is compared of the runs: quantities of their results, and the means, differences and ratios of these over the seeds.

use serde_json::{Map, Value, json};

use crate::base::error::{InputError, unknown_name};
use crate::metrics::interval::ci95;
use crate::metrics::paired::Paired;
use crate::runs::simulation::Outcome;

/// The quantities, by name, and where a result has them.
const METRICS: [(&str, &[&str]); 10] = [
    ("response_mean_ms", &["response_ms", "mean"]),
    ("response_p50_ms", &["response_ms", "p50"]),
    ("response_p95_ms", &["response_ms", "p95"]),
    ("response_p99_ms", &["response_ms", "p99"]),
    ("response_p999_ms", &["response_ms", "p999"]),
    ("response_max_ms", &["response_ms", "max"]),
    ("service_mean_ms", &["service_ms", "mean"]),
    ("access_mean_ms", &["access_ms", "mean"]),
    ("iops", &["iops"]),
    (UTILISATION, &[]),
];

/// The share of the time that a device is busy, for each of them: `utilisation_PATH`.
const UTILISATION: &str = "utilisation";

/// Refuses names of quantities that there are not.
///
/// # Errors
/// The name, with a suggestion.
pub(super) fn check(names: &[String]) -> Result<(), InputError> {
    let known = METRICS.map(|(name, _)| name);
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(unknown_name("metric", name, &known)),
        None => Ok(()),
    }
}

/// The quantities with these names, or all of them, of a run; `None` where it has measured nothing.
fn quantities(names: &[String], outcome: &Outcome) -> Vec<(String, Option<f64>)> {
    let measured = outcome
        .get("requests")
        .and_then(|requests| requests["measured"].as_u64())
        .unwrap_or(0);
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut found = Vec::new();
    for (name, path) in METRICS.iter().filter(|(name, _)| wanted(name)) {
        if let Some((key, rest)) = path.split_first() {
            let value = outcome.get(key);
            let value = rest.iter().fold(value, |value, key| value?.get(key));
            let value = value.and_then(Value::as_f64);
            // The statistics of no request at all are zeros that mean nothing.
            found.push(((*name).to_owned(), value.filter(|_| measured > 0)));
            continue;
        }
        let devices = outcome.get("devices").and_then(Value::as_object);
        for (path, device) in devices.into_iter().flatten() {
            if let Some(share) = device.get(*name) {
                found.push((format!("{name}_{path}"), share.as_f64()));
            }
        }
    }
    found
}

/// What the runs of a variant measured, one for each seed.
pub(super) struct Measured(Vec<Vec<(String, Option<f64>)>>);

impl Measured {
    /// Of a variant's runs in the order of the seeds, of which there is at least one.
    pub fn of(names: &[String], runs: &[Outcome]) -> Measured {
        let runs = runs.iter().map(|outcome| quantities(names, outcome));
        Measured(runs.collect())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let first = self.0.first().into_iter().flatten();
        first.map(|(name, _)| name.as_str())
    }

    /// A quantity in every run.
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Option<f64>> + 'a {
        self.0.iter().map(move |run| {
            let found = run.iter().find(|(known, _)| known == name);
            found.and_then(|(_, value)| *value)
        })
    }

    /// Means over the seeds, with their intervals.
    pub fn means(&self) -> Map<String, Value> {
        let mean = |name: &str| {
            let values: Vec<f64> = self.values(name).flatten().collect();
            let n = values.len();
            let mean = (n > 0).then(|| values.iter().sum::<f64>() / n as f64);
            json!({ "value": mean, "ci95": ci95(&values), "n": n })
        };
        self.names()
            .map(|name| (name.to_owned(), mean(name)))
            .collect()
    }

    /// Differences from and ratios to another variant's, by pairs of the same seed.
    pub fn beside(&self, base: &Measured) -> Map<String, Value> {
        let compared = |name: &str| {
            let pairs = self.values(name).zip(base.values(name));
            let pairs: Vec<(f64, f64)> = pairs.filter_map(|(a, b)| Some((a?, b?))).collect();
            let paired = Paired::of(&pairs);
            json!({
                "value": paired.map(|paired| paired.difference),
                "ci95": paired.and_then(|paired| paired.ci95),
                "ratio": paired.and_then(|paired| paired.ratio),
                "ratio_ci95": paired.and_then(|paired| paired.ratio_ci95),
                "significant": paired.and_then(|paired| paired.is_significant()),
            })
        };
        self.names()
            .map(|name| (name.to_owned(), compared(name)))
            .collect()
    }
}

/// A warning of runs, and whose it is.
pub(super) struct Warning {
    text: String,
    variants: Vec<usize>,
    runs: usize,
}

/// Warnings of many runs, each once: those that differ in their figures only are one, with the words of the first.
#[derive(Default)]
pub(super) struct Warnings(Vec<Warning>);

impl Warnings {
    /// Adds a warning of some runs of a variant.
    pub fn add(&mut self, text: &str, variant: usize, runs: usize) {
        let same =
            |warning: &&mut Warning| without_figures(&warning.text).eq(without_figures(text));
        let Some(known) = self.0.iter_mut().find(same) else {
            return self.0.push(Warning {
                text: text.to_owned(),
                variants: vec![variant],
                runs,
            });
        };
        known.runs += runs;
        if !known.variants.contains(&variant) {
            known.variants.push(variant);
        }
    }

    /// As a list of objects.
    pub fn json(&self) -> Value {
        let warning = |warning: &Warning| json!({ "text": warning.text, "variants": warning.variants, "runs": warning.runs });
        self.0.iter().map(warning).collect()
    }
}

/// The characters of a text, with one for each run of digits and the signs within it.
fn without_figures(text: &str) -> impl Iterator<Item = char> {
    let mut after_figure = false;
    text.chars().filter_map(move |c| {
        let is_figure = c.is_ascii_digit() || (after_figure && matches!(c, '.' | ','));
        let is_more = is_figure && after_figure;
        after_figure = is_figure;
        match (is_figure, is_more) {
            (_, true) => None,
            (true, false) => Some('0'),
            (false, _) => Some(c),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_that_differ_in_figures_are_one() {
        let mut warnings = Warnings::default();
        warnings.add("12.5 % of 1,000 are late", 0, 1);
        warnings.add("9 % of 20 are late", 0, 1);
        warnings.add("9 % of 20 are late", 2, 1);
        warnings.add("9 % of 20 are early", 1, 3);
        let expected = json!([
            { "text": "12.5 % of 1,000 are late", "variants": [0, 2], "runs": 3 },
            { "text": "9 % of 20 are early", "variants": [1], "runs": 3 },
        ]);
        assert_eq!(warnings.json(), expected);
    }

    fn measured(values: &[Option<f64>]) -> Measured {
        let run = |value: &Option<f64>| vec![("iops".to_owned(), *value)];
        Measured(values.iter().map(run).collect())
    }

    #[test]
    fn what_a_run_did_not_measure_makes_no_pair() {
        let (a, b) = (
            measured(&[Some(3.0), None, Some(5.0)]),
            measured(&[Some(1.0), Some(2.0), Some(1.0)]),
        );
        let mean = &a.means()["iops"];
        assert_eq!((&mean["value"], &mean["n"]), (&json!(4.0), &json!(2)));
        let beside = &a.beside(&b)["iops"];
        assert_eq!(
            (&beside["value"], &beside["ratio"]),
            (&json!(3.0), &json!(4.0))
        );
        let nothing = measured(&[None]);
        assert_eq!(
            nothing.means()["iops"],
            json!({ "value": null, "ci95": null, "n": 0 })
        );
        let beside = &nothing.beside(&b)["iops"];
        assert!(
            beside
                .as_object()
                .expect("an object")
                .values()
                .all(Value::is_null)
        );
    }

    #[test]
    fn a_metric_that_is_not_there_is_refused_with_a_suggestion() {
        let error = check(&["iops".into(), "response_p9_ms".into()]).expect_err("not a metric");
        assert!(
            error
                .help
                .is_some_and(|help| help.contains("response_p99_ms"))
        );
        assert_eq!(check(&[]), Ok(()));
    }
}
