//! The points of a sweep: all combinations of the values of some keys of a spec, each with several seeds.

use serde_json::{Map, Value, json};

use super::vary::{Variation, overlap};
use super::{RunOptions, SpecSource, drive_keys, read_spec, read_tree};
use crate::base::document::from_node;
use crate::base::document::{Node, Override};
use crate::base::error::{Error, InputError};
use crate::config::sweep::{Axis, SweepSpec, axes};
use crate::metrics::named::{self, Named};

/// The most runs of a sweep.
const MOST_RUNS: usize = 1_000_000;

/// What the command line says of a sweep.
#[derive(Clone, Debug, Default)]
pub struct SweepOptions {
    /// `KEY=A,B,…`: keys and their values, in place of those of the spec for the same key, or beside the others.
    pub vary: Vec<String>,
    /// The quantities that its table shows, by [name](crate::metrics::named); what the spec says where there are none.
    pub metrics: Vec<String>,
    /// Runs of each point; what the spec says where it is left out.
    pub seeds: Option<u32>,
    /// What is added to the spec of every run.
    pub run: RunOptions,
}

/// A grid.
#[derive(Clone, Debug)]
pub struct Sweep {
    axes: Vec<Axis>,
    /// The quantities that its table shows, by name.
    pub metrics: Vec<String>,
    /// The seeds of each point's runs.
    pub seeds: Vec<u64>,
}

/// Which point of a sweep a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointChoice {
    /// As [`SweepOptions::vary`].
    pub vary: Vec<String>,
    /// For each of the varied keys, in their order, which of its values; none where nothing is varied.
    pub values: Vec<usize>,
    /// The seed, in place of the spec's.
    pub seed: Option<u64>,
    /// What a job file said in vain that became the load of the spec: [`Point::notes`](super::point::Point::notes).
    pub notes: Vec<String>,
}

impl PointChoice {
    /// Puts the values into a spec, whose table `[sweep]` has had its say then.
    pub(super) fn apply(&self, tree: &mut Node) -> Result<(), Error> {
        if !self.values.is_empty() {
            let axes = varied(tree, &self.vary)?;
            if axes.len() != self.values.len() {
                let (found, expected) = (self.values.len(), axes.len());
                return Err(Error::input(format!(
                    "a point of {found} values, in a sweep of {expected} keys"
                )));
            }
            for (axis, &at) in axes.into_iter().zip(&self.values) {
                let node = axis.values.get(at).cloned();
                let node =
                    node.ok_or_else(|| axis.error(format!("{} has no value {at}", axis.key)))?;
                tree.set(Override {
                    path: axis.key,
                    path_origin: axis.origin,
                    node,
                })?;
            }
        }
        if let Some(seed) = self.seed {
            tree.set(Override::parse("the sweep", &format!("seed={seed}"))?)?;
        }
        tree.remove("sweep");
        Ok(())
    }
}

/// The axes of the spec, and those of the command line.
fn varied(tree: &Node, vary: &[String]) -> Result<Vec<Axis>, Error> {
    let mut found = axes(tree)?;
    let mut from_options: Vec<Axis> = Vec::new();
    for text in vary {
        let axis = of_option(text)?;
        if from_options.iter().any(|other| other.key == axis.key) {
            return Err(axis.error(format!("{} is varied already", axis.key)).into());
        }
        from_options.push(axis.clone());
        match found.iter_mut().find(|other| other.key == axis.key) {
            Some(other) => *other = axis,
            None => found.push(axis),
        }
    }
    Ok(found)
}

/// The axis that a `--vary KEY=A,B,…` says.
fn of_option(text: &str) -> Result<Axis, Error> {
    let variation = Variation::parse(text)?;
    let change = |text: &str| Override::parse("--vary", &format!("{}={text}", variation.key));
    let values = variation.values.iter().map(|choice| change(&choice.text));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let origin = values.first().map(|change| change.path_origin.clone());
    Ok(Axis {
        key: variation.key.clone(),
        origin: origin.expect("what is parsed has a value"),
        values: values.into_iter().map(|change| change.node).collect(),
    })
}

impl Sweep {
    /// Reads what a spec and the command line vary.
    ///
    /// # Errors
    /// A spec that cannot be read, or sweeps nothing; keys or values that make no sense, with their places.
    pub fn read(source: &SpecSource, options: &SweepOptions) -> Result<Sweep, Error> {
        let (mut tree, _, _) = read_tree(source)?;
        let mut set = Vec::new();
        for assignment in &options.run.set {
            let change = Override::parse("--set", assignment)?;
            set.push(change.path.clone());
            tree.set(change)?;
        }
        let table = tree.get("sweep").map(from_node::<SweepSpec>).transpose()?;
        if table.is_none() && options.vary.is_empty() && options.seeds.is_none() {
            return Err(InputError::new("nothing is swept: the spec has no table [sweep]")
                .help("add one, with seeds = 5 and [sweep.vary] \"KEY\" = [A, B, …], or give --vary KEY=A,B,…")
                .into());
        }
        let axes = varied(&tree, &options.vary)?;
        check(&axes, &set, &tree, &options.run)?;
        let table = table.unwrap_or_default();
        let count = options.seeds.unwrap_or(table.seeds);
        let metrics = metrics(&options.metrics, &table, &tree);
        let mut sweep = Sweep {
            axes,
            metrics: metrics.iter().map(|named| named.name.clone()).collect(),
            seeds: Vec::new(),
        };
        if sweep.points().saturating_mul(count as usize) > MOST_RUNS {
            let error = InputError::new(format!("more than {MOST_RUNS} runs are swept"));
            return Err(error
                .help("vary fewer keys at a time, or take fewer seeds")
                .into());
        }
        let run = RunOptions {
            point: Some(sweep.choice(&options.vary, 0)),
            ..options.run.clone()
        };
        let first = read_spec(source, &run)?.spec.seed;
        let last = count.checked_sub(1).ok_or_else(|| {
            let error = InputError::new("with 0 seeds nothing runs: expected 1 or more");
            match tree.get("sweep.seeds") {
                Some(seeds) if options.seeds.is_none() => error.at(seeds.origin.place()),
                _ => error,
            }
        })?;
        let last = first.checked_add(u64::from(last)).ok_or_else(|| {
            Error::input(format!(
                "{count} seeds from {first} on go beyond the largest, {}",
                u64::MAX
            ))
        })?;
        sweep.seeds = (first..=last).collect();
        let mut points = 0..sweep.points();
        named::check(&metrics, |left| {
            let Some(point) = points.next() else {
                return Ok(None);
            };
            let run = RunOptions {
                point: Some(sweep.choice(&options.vary, point)),
                ..options.run.clone()
            };
            let streams = left.iter().any(|named| named.is_of_stream());
            read_spec(source, &run)?.outline(streams).map(Some)
        })?;
        Ok(sweep)
    }

    /// The varied keys.
    pub fn keys(&self) -> Vec<&str> {
        self.axes.iter().map(|axis| axis.key.as_str()).collect()
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        let counts = self.axes.iter().map(|axis| axis.values.len());
        counts.fold(1, usize::saturating_mul)
    }

    /// The point at a place of the grid, whose last key changes fastest.
    pub fn choice(&self, vary: &[String], point: usize) -> PointChoice {
        let mut rest = point;
        let mut values = vec![0; self.axes.len()];
        for (value, axis) in values.iter_mut().zip(&self.axes).rev() {
            *value = rest % axis.values.len();
            rest /= axis.values.len();
        }
        PointChoice {
            vary: vary.to_vec(),
            values,
            ..PointChoice::default()
        }
    }

    /// The keys, the seeds, and for each point its values by key and their places in the lists.
    pub fn json(&self) -> Value {
        let points = (0..self.points()).map(|point| {
            let choice = self.choice(&[], point);
            let values = self.axes.iter().zip(&choice.values);
            let values =
                values.map(|(axis, &at)| (axis.key.clone(), axis.values[at].value.to_json()));
            json!({ "values": values.collect::<Map<_, _>>(), "choice": choice.values })
        });
        json!({
            "varied": self.keys(),
            "seeds": self.seeds,
            "metrics": self.metrics,
            "points": points.collect::<Vec<_>>(),
        })
    }
}

/// The quantities that the command line asks for, or else the spec.
fn metrics(from_options: &[String], table: &SweepSpec, tree: &Node) -> Vec<Named> {
    let of_option = |name: &String| Named::of_option("--metric", name);
    if !from_options.is_empty() {
        return from_options.iter().map(of_option).collect();
    }
    let of_spec = |(index, name): (usize, &String)| {
        let node = tree.get(&format!("sweep.metrics[{index}]"));
        Named {
            place: node.expect("it was read from there").origin.place(),
            name: name.clone(),
        }
    };
    table.metrics.iter().enumerate().map(of_spec).collect()
}

/// Refuses keys of which something else takes the place, or that take it themselves.
fn check(axes: &[Axis], set: &[String], tree: &Node, run: &RunOptions) -> Result<(), Error> {
    let options = [
        ("--drive", run.drive.is_some(), drive_keys(tree)),
        (
            "--trace",
            run.trace.is_some(),
            ["trace", "synthetic", "fio"]
                .map(|load| format!("workload.{load}"))
                .to_vec(),
        ),
    ];
    for (at, axis) in axes.iter().enumerate() {
        let key = axis.key.as_str();
        if key == "seed" || overlap(key, "sweep") {
            let error = axis.error(format!(
                "{key} cannot be varied: every point runs with the same seeds"
            ));
            return Err(error
                .help("sweep.seeds, or --seeds N, says how many there are")
                .into());
        }
        if let Some(other) = axes[..at].iter().find(|other| overlap(&other.key, key)) {
            return Err(axis
                .error(format!("{} is varied already", other.key))
                .into());
        }
        let is_below = |path: &String| overlap(path, key) && path.len() >= key.len();
        if set.iter().any(is_below) {
            let message = format!("{key} is set and varied: expected one of --set and --vary");
            return Err(axis.error(message).into());
        }
        for (option, is_given, paths) in &options {
            if *is_given && paths.iter().any(|path| overlap(path, key)) {
                let error = axis.error(format!("{key} is varied, and {option} replaces it"));
                return Err(error.help("leave that option out").into());
            }
        }
    }
    Ok(())
}
