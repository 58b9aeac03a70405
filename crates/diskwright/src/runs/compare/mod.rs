//! The same workload over varied keys of a spec: what each value changes, and whether that is more than chance.
//!
//! Every variant runs with the same seeds, so that the runs of one seed are pairs: they differ in what is varied alone. A
//! recorded trace is the same whatever the seed; then the seeds vary where the platters stand when it begins.

mod measure;
pub(crate) mod plan;

use std::iter;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::base::error::Error;
use crate::base::progress::Progress;
use crate::metrics::named::{self, Named};
use crate::runs::merged::Messages;
use crate::runs::simulation::many::{FailedRun, Job, run_many};
use crate::runs::simulation::{self, Checked, Outcome, RunOptions, SpecSource};
use measure::Measured;
use plan::{MOST_RUNS, Plan};

pub(crate) use crate::runs::simulation::vary::divided;

/// The version of the comparison's form. Keys never change their meaning.
const SCHEMA: u32 = 1;

const NOTHING_VARIES: &str = "nothing in these runs varies with the seed: there is one run of each variant, and no \
    interval (angle = \"random\" of a hard disk draws where its platters stand at the start)";
const CHANGES_NOTHING: &str =
    "every completion is that of the baseline: what is varied changes nothing here";

/// What to compare, and how.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// `KEY=A,B,…`: keys and the values that they take, in all combinations.
    pub vary: Vec<String>,
    /// `[KEY=]VALUE`: the values of the variant that the others are compared with; the first ones where nothing is said.
    pub baseline: Vec<String>,
    /// The number of seeds, from the spec's on.
    pub seeds: u32,
    /// The quantities to compare, by [name](crate::metrics::named); those with short names when empty.
    pub metrics: Vec<String>,
    /// As in [`RunOptions`].
    pub set: Vec<String>,
    /// As in [`RunOptions`].
    pub drive: Option<String>,
    /// As in [`RunOptions`].
    pub trace: Option<PathBuf>,
    /// As in [`RunOptions`].
    pub check: bool,
    /// How many runs go on at a time; one for each core where it is left out.
    pub threads: Option<NonZeroUsize>,
    /// Of how many variants the first seed's run collects its picture, [`Outcome::picture`]: the baseline's, and those of the
    /// first others.
    pub pictures: usize,
    /// Collects of every run what fio tells of its jobs, [`Outcome::fio_report`].
    pub fio_report: bool,
}

/// What a comparison found.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The object of `compare`, as the command prints it.
    pub json: Value,
    /// The results, for each variant one for each seed.
    pub runs: Vec<Vec<Outcome>>,
}

/// A variant before it runs.
struct Variant {
    options: RunOptions,
    checked: Checked,
}

/// Runs every variant with every seed and compares them.
///
/// # Errors
/// Variations that make no sense; those of [`simulation::run`], of the first run that fails, by variants and then seeds.
pub fn compare(
    source: &SpecSource,
    options: &CompareOptions,
    progress: &mut dyn Progress,
) -> Result<Comparison, Error> {
    let plan = Plan::new(&options.vary, &options.baseline)?;
    let mut variants = plan
        .variants
        .iter()
        .map(|choices| read(source, options, &plan, choices))
        .collect::<Result<Vec<_>, _>>()?;
    check_metrics(&options.metrics, &variants)?;
    let varied = draw_angles(source, &mut variants)?;
    let mut seeds = seeds(variants[0].checked.spec.seed, options.seeds, variants.len())?;
    if varied.is_empty() {
        seeds.truncate(1);
    }
    let mut jobs: Vec<Job> = variants
        .iter()
        .flat_map(|variant| {
            seeds
                .iter()
                .map(|seed| job(source, &variant.options, *seed))
        })
        .collect();
    for variant in pictured(variants.len(), plan.baseline, options.pictures) {
        jobs[variant * seeds.len()].options.picture = true;
    }
    let outcomes = run_many(&jobs, options.threads, progress)
        .map_err(|failed| named(failed, &plan, &seeds))?;
    let mut outcomes = outcomes.into_iter();
    let runs = plan
        .variants
        .iter()
        .map(|_| outcomes.by_ref().take(seeds.len()).collect())
        .collect();
    Ok(comparison(&plan, &options.metrics, seeds, varied, runs))
}

/// Refuses names of quantities that no variant has.
fn check_metrics(metrics: &[String], variants: &[Variant]) -> Result<(), Error> {
    let named = metrics
        .iter()
        .map(|name| Named::of_option("--metric", name));
    let mut variants = variants.iter();
    named::check(&named.collect::<Vec<_>>(), |left| {
        let streams = left.iter().any(|named| named.is_of_stream());
        let outline = |variant: &Variant| variant.checked.outline(streams);
        variants.next().map(outline).transpose()
    })
}

/// Reads the spec with a variant's values, which must be in it then.
fn read(
    source: &SpecSource,
    options: &CompareOptions,
    plan: &Plan,
    choices: &[usize],
) -> Result<Variant, Error> {
    let assignments = plan
        .choices(choices)
        .map(|(key, choice)| format!("{key}={}", choice.text));
    let run = RunOptions {
        set: options.set.clone(),
        vary: assignments.collect(),
        drive: options.drive.clone(),
        trace: options.trace.clone(),
        check: options.check,
        fio_report: options.fio_report,
        ..RunOptions::default()
    };
    let checked = simulation::read_spec(source, &run)?;
    for (at, (key, choice)) in plan.choices(choices).enumerate() {
        let set = |text: &String| {
            text.split_once('=')
                .is_some_and(|(set, _)| set.trim() == key)
        };
        if options.set.iter().any(set) {
            let message = format!("{key} is set and varied: expected one of --set and --vary");
            return Err(plan.error(at, message).into());
        }
        if checked.given(key).map(|value| value.to_json()).as_ref() != Some(&choice.value) {
            let error = plan.error(
                at,
                format!("{key} is varied, and --drive or --trace replaces it"),
            );
            return Err(error.help("leave that option out").into());
        }
    }
    let options = run;
    Ok(Variant { options, checked })
}

/// Lets the platters of drives start anywhere if a workload is a recorded trace, which has nothing random itself; tells what
/// varies with the seeds.
///
/// All variants get it or none, so that pairs of runs start alike. An angle that the spec gives stays.
fn draw_angles(source: &SpecSource, variants: &mut [Variant]) -> Result<Vec<&'static str>, Error> {
    let is_recorded = |variant: &Variant| variant.checked.spec.workload.trace.is_some();
    let is_made = variants.iter().any(|variant| !is_recorded(variant));
    if variants.iter().any(is_recorded) {
        for variant in variants.iter_mut() {
            let angles = variant
                .checked
                .with_spindles()
                .into_iter()
                .map(|disk| format!("{disk}.angle"));
            let open = angles.filter(|angle| variant.checked.given(angle).is_none());
            let draws: Vec<String> = open.map(|angle| format!("{angle}=\"random\"")).collect();
            variant.options.vary.extend(draws);
            variant.checked = simulation::read_spec(source, &variant.options)?;
        }
    }
    let has_drawn = |variant: &Variant| variant.checked.draws_spindles();
    let varied = [
        ("workload", is_made),
        ("angle", variants.iter().any(has_drawn)),
    ];
    Ok(varied
        .into_iter()
        .filter_map(|(name, varies)| varies.then_some(name))
        .collect())
}

/// `count` seeds from the first on, for each of the variants.
fn seeds(first: u64, count: u32, variants: usize) -> Result<Vec<u64>, Error> {
    let Some(last) = count.checked_sub(1) else {
        return Err(Error::input(
            "with 0 seeds nothing runs: expected 1 or more",
        ));
    };
    if variants.saturating_mul(count as usize) > MOST_RUNS {
        return Err(Error::input(format!(
            "{count} seeds of {variants} variants are more than {MOST_RUNS} runs"
        )));
    }
    match first.checked_add(u64::from(last)) {
        Some(last) => Ok((first..=last).collect()),
        None => Err(Error::input(format!(
            "{count} seeds from {first} on go beyond the largest, {}",
            u64::MAX
        ))),
    }
}

/// The baseline and the first other variants, `most` together.
fn pictured(variants: usize, baseline: usize, most: usize) -> impl Iterator<Item = usize> {
    let others = (0..variants).filter(move |variant| *variant != baseline);
    iter::once(baseline).chain(others).take(most)
}

fn job(source: &SpecSource, options: &RunOptions, seed: u64) -> Job {
    let mut options = options.clone();
    options.vary.push(format!("seed={seed}"));
    Job {
        spec: source.clone(),
        options,
    }
}

fn named(failed: FailedRun, plan: &Plan, seeds: &[u64]) -> Error {
    let (variant, seed) = (failed.job / seeds.len(), failed.job % seeds.len());
    let name = plan.name(&plan.variants[variant]);
    failed.named(&format!("{name} with seed {}", seeds[seed]))
}

/// Makes the object of what the runs measured.
fn comparison(
    plan: &Plan,
    metrics: &[String],
    mut seeds: Vec<u64>,
    mut varied: Vec<&'static str>,
    mut runs: Vec<Vec<Outcome>>,
) -> Comparison {
    let same = |runs: &Vec<Outcome>| runs.iter().all(|run| run.digest() == runs[0].digest());
    // A load may be made without a random choice.
    if seeds.len() > 1 && runs.iter().all(same) {
        seeds.truncate(1);
        runs.iter_mut().for_each(|runs| runs.truncate(1));
        varied.clear();
    }
    let measured: Vec<Measured> = runs
        .iter()
        .map(|runs| Measured::of(metrics, runs))
        .collect();
    let digests = |runs: &[Outcome]| runs.iter().map(|run| run.digest().to_owned()).collect();
    let digests: Vec<Vec<String>> = runs.iter().map(|runs| digests(runs)).collect();
    let base = &measured[plan.baseline];
    let messages = || Messages::of_runs(seeds.len() > 1);
    let (mut warnings, mut notes) = (messages(), messages());
    for (index, runs) in runs.iter().enumerate() {
        if varied.is_empty() {
            notes.add(NOTHING_VARIES, index, runs.len());
        }
        if index != plan.baseline && digests[index] == digests[plan.baseline] {
            warnings.add(CHANGES_NOTHING, index, runs.len());
        }
        for run in runs {
            for (key, messages) in [("warnings", &mut warnings), ("notes", &mut notes)] {
                let texts = run.get(key).and_then(Value::as_array);
                for text in texts.into_iter().flatten().filter_map(Value::as_str) {
                    messages.add(text, index, 1);
                }
            }
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for name in measured.iter().flat_map(Measured::names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let variants = plan.variants.iter().zip(&measured).zip(&digests);
    let variants: Vec<Value> = variants
        .map(|((choices, measured), digests)| {
            let values = plan
                .choices(choices)
                .map(|(key, choice)| (key.to_owned(), choice.value.clone()));
            json!({
                "values": values.collect::<Map<_, _>>(),
                "runs": digests,
                "metrics": measured.means(&names),
                "difference": measured.beside(base, &names),
            })
        })
        .collect();
    let keys: Vec<&str> = plan
        .variations
        .iter()
        .map(|variation| variation.key.as_str())
        .collect();
    let json = json!({
        "schema": SCHEMA,
        "varied": keys,
        "seeds": seeds,
        "seeds_vary": varied,
        "baseline": plan.baseline,
        "variants": variants,
        "notes": listed(&notes),
        "warnings": listed(&warnings),
        "spec": runs[plan.baseline][0].get("spec"),
    });
    Comparison { json, runs }
}

/// Messages as a list of objects.
fn listed(messages: &Messages) -> Value {
    let messages = messages.iter();
    let listed = messages.map(|message| json!({ "text": message.text(), "variants": message.variants, "runs": message.runs }));
    listed.collect()
}
