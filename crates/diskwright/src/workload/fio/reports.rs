//! The jobs of a file as results tell of them: their names, their groups, their options.

use std::collections::{BTreeMap, BTreeSet};

use crate::workload::synthetic::{LoadSpec, SyntheticSpec};

use super::ini::{Job, Setting};

/// A job, or a clone of one, that has become a load.
pub struct JobClone<'a> {
    pub job: &'a Job,
    pub load: LoadSpec,
    /// Its reporting group.
    pub group: u32,
    /// It is reported with those before it in its group: `group_reporting`.
    pub together: bool,
}

/// A job of a file as results tell of it: one, a clone, or, with `group_reporting`, several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioJob {
    /// The name in results, which is unique.
    pub name: String,
    /// The job's name in the file.
    pub job: String,
    /// Its reporting group.
    pub group: u32,
    /// What the global sections say, and what the job itself does.
    pub global: Vec<(String, String)>,
    /// See `global`.
    pub options: Vec<(String, String)>,
}

/// The loads with the names of their jobs, with a number where one name is not enough, and what is reported of them.
pub fn named(clones: Vec<JobClone<'_>>) -> (SyntheticSpec, Vec<FioJob>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for clone in &clones {
        *counts.entry(&clone.job.name).or_default() += 1;
    }
    let taken: BTreeSet<&str> = counts.keys().copied().collect();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut loads: Vec<LoadSpec> = Vec::with_capacity(clones.len());
    let mut jobs: Vec<FioJob> = Vec::new();
    let mut before = None;
    for JobClone {
        job,
        mut load,
        group,
        together,
    } in clones
    {
        let own = job.name.as_str();
        let name = if counts[own] == 1 {
            own.to_owned()
        } else {
            let number = numbers.entry(own).or_default();
            loop {
                let numbered = format!("{own}.{number}");
                *number += 1;
                if !taken.contains(numbered.as_str()) {
                    break numbered;
                }
            }
        };
        if !(together && before == Some(group)) {
            // The first of a group gives it the name of its job, if no other report has it.
            let is_free = together && jobs.iter().all(|other| other.name != own);
            jobs.push(FioJob {
                name: if is_free {
                    own.to_owned()
                } else {
                    name.clone()
                },
                job: own.to_owned(),
                group,
                global: written(&job.settings[..job.global]),
                options: written(&job.settings[job.global..]),
            });
        }
        before = Some(group);
        let report = jobs.last().map(|job| job.name.clone());
        load.report_as = report.filter(|report| *report != name);
        load.name = Some(name);
        loads.push(load);
    }
    let only = |loads: &mut Vec<LoadSpec>| (loads.len() == 1).then(|| loads.pop()).flatten();
    let synthetic = match only(&mut loads) {
        Some(load) => SyntheticSpec::One(Box::new(load)),
        None => SyntheticSpec::Several(loads),
    };
    (synthetic, jobs)
}

/// Options by name; of one that is given several times the last. fio writes 1 for one without a value.
fn written(settings: &[Setting]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for setting in settings {
        let value = setting.value.clone().unwrap_or_else(|| "1".to_owned());
        match all.iter_mut().find(|(name, _)| *name == setting.name) {
            Some((_, before)) => *before = value,
            None => all.push((setting.name.clone(), value)),
        }
    }
    all
}
