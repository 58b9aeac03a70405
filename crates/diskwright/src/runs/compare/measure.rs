//! What is compared of the runs: quantities of their results, and the means, differences and ratios of these over the seeds.

use serde_json::{Map, Value, json};

use crate::metrics::interval::ci95;
use crate::metrics::named::quantities;
use crate::metrics::paired::Paired;
use crate::runs::simulation::Outcome;

/// What the runs of a variant measured, one for each seed.
pub(super) struct Measured(Vec<Vec<(String, Option<f64>)>>);

impl Measured {
    /// Of a variant's runs in the order of the seeds, of which there is at least one.
    pub fn of(names: &[String], runs: &[Outcome]) -> Measured {
        let runs = runs
            .iter()
            .map(|outcome| quantities(names, outcome.result()));
        Measured(runs.collect())
    }

    /// The names of what any of the runs has.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.0.iter().flatten();
        all.map(|(name, _)| name.as_str())
    }

    /// A quantity in every run.
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Option<f64>> + 'a {
        self.0.iter().map(move |run| {
            let found = run.iter().find(|(known, _)| known == name);
            found.and_then(|(_, value)| *value)
        })
    }

    /// Means over the seeds, with their intervals, of the quantities of these names.
    pub fn means(&self, names: &[&str]) -> Map<String, Value> {
        let mean = |name: &str| {
            let values: Vec<f64> = self.values(name).flatten().collect();
            let n = values.len();
            let mean = (n > 0).then(|| values.iter().sum::<f64>() / n as f64);
            json!({ "value": mean, "ci95": ci95(&values), "n": n })
        };
        let means = names.iter().map(|&name| (name.to_owned(), mean(name)));
        means.collect()
    }

    /// Differences from and ratios to another variant's, by pairs of the same seed.
    pub fn beside(&self, base: &Measured, names: &[&str]) -> Map<String, Value> {
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
        let compared = names.iter().map(|&name| (name.to_owned(), compared(name)));
        compared.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mean = &a.means(&["iops"])["iops"];
        assert_eq!((&mean["value"], &mean["n"]), (&json!(4.0), &json!(2)));
        let beside = &a.beside(&b, &["iops"])["iops"];
        assert_eq!(
            (&beside["value"], &beside["ratio"]),
            (&json!(3.0), &json!(4.0))
        );
        let nothing = measured(&[None]);
        assert_eq!(
            nothing.means(&["iops"])["iops"],
            json!({ "value": null, "ci95": null, "n": 0 })
        );
        let beside = &nothing.beside(&b, &["iops"])["iops"];
        assert!(
            beside
                .as_object()
                .expect("an object")
                .values()
                .all(Value::is_null)
        );
    }
}
