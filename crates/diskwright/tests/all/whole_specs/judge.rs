//! What must hold of every run: it ends, says the same each time and with the checker, and its numbers fit each other.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use diskwright::base::error::Error;
use diskwright::base::units::Time;
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

use super::case::Case;
use super::plausible::plausible;
use super::refusals;
use crate::support::counting::most_held_during;
use crate::support::{Outcome, Progress, RunOptions, SpecSource, outcome_watched};

/// What a case comes to.
pub enum Verdict {
    /// All is as it must be; what went wrong in the run, and was coped with.
    Right(Coped),
    /// Refused for a reason that is known: its words.
    Refused(&'static str),
    Wrong(Fault),
}

/// What a run had to cope with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coped {
    /// Power cuts and outages.
    pub power_cuts: u64,
    /// Devices that failed.
    pub failures: u64,
    /// Members that were rebuilt to the end.
    pub rebuilds: u64,
}

impl Coped {
    /// What the result of a run tells of its faults.
    pub fn of(result: &Value) -> Coped {
        let end_ns = result["simulated_s"].as_f64().unwrap_or_default() * 1e9;
        let faults = result["spec"]["fault"].as_array();
        let in_the_run = |fault: &&Value| {
            let at = fault["at"].as_str().and_then(|at| at.parse::<Time>().ok());
            at.is_some_and(|at| at.ns() as f64 <= end_ns)
        };
        let mut coped = Coped::default();
        for fault in faults.into_iter().flatten().filter(in_the_run) {
            let kind = &fault["kind"];
            if kind == "power-cut" || kind.get("outage").is_some() {
                coped.power_cuts += 1;
            } else if kind.get("fail").is_some() {
                coped.failures += 1;
            }
        }
        let reports = result["devices"].as_object().into_iter().flatten();
        let rebuilds = reports.filter_map(|(_, report)| report["rebuilds"].as_array());
        let complete = rebuilds
            .flatten()
            .filter(|rebuild| rebuild["complete"] == true);
        coped.rebuilds = complete.count() as u64;
        coped
    }
}

/// What is wrong with a case.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The same for cases that are wrong in the same way.
    pub class: String,
    pub message: String,
}

impl Fault {
    pub fn new(kind: &str, message: impl Into<String>) -> Fault {
        let message = message.into();
        // The first fault that the checker found stands in the second line.
        let telling = message
            .lines()
            .find(|line| !line.starts_with("the checker found"))
            .unwrap_or_default();
        let words: String = telling
            .chars()
            .filter(|letter| !letter.is_ascii_digit())
            .take(60)
            .collect();
        Fault {
            class: format!("{kind}: {}", words.trim()),
            message: format!("{kind}: {message}"),
        }
    }
}

/// How long a run of a few hundred requests may compute: what else the machine does meanwhile does not matter.
const LONGEST: Duration = Duration::from_secs(240);
/// The most bytes that a run of a few hundred requests may hold on its thread.
const MOST_HELD: isize = 1 << 30;

/// Stops a run on this thread once it has computed for too long.
struct Deadline(Duration);

impl Deadline {
    fn from_now() -> Self {
        Deadline(computed() + LONGEST)
    }
}

/// How long this thread has computed.
fn computed() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a thread's time is not negative")
}

impl Progress for Deadline {
    fn update(&mut self, _done: u64, _total: Option<u64>) -> ControlFlow<()> {
        if computed() < self.0 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// How a run ended.
pub enum Ended {
    Well(Box<Outcome>),
    Refused(String),
    Badly(Fault),
}

/// Runs a spec, with the checker or without.
pub fn run(source: &SpecSource, check: bool) -> Ended {
    let options = RunOptions {
        check,
        ..RunOptions::default()
    };
    run_with(source, &options)
}

/// Runs a spec with these options.
pub fn run_with(source: &SpecSource, options: &RunOptions) -> Ended {
    let run = || outcome_watched(source, options, &mut Deadline::from_now());
    let (ended, held) = most_held_during(|| catch_unwind(AssertUnwindSafe(run)));
    if held > MOST_HELD {
        let message = format!("the run holds {} MiB", held >> 20);
        return Ended::Badly(Fault::new("memory", message));
    }
    match ended {
        Ok(Ok(outcome)) => Ended::Well(Box::new(outcome)),
        Ok(Err(Error::Input(error))) => Ended::Refused(error.to_string()),
        Ok(Err(Error::Interrupted)) => Ended::Badly(Fault::new("endless", "the run does not end")),
        Ok(Err(error)) => Ended::Badly(Fault::new("error", error.to_string())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            Ended::Badly(Fault::new("panic", text.unwrap_or_default()))
        }
    }
}

/// What is said of a case that did not end well.
pub fn not_well(ended: Ended) -> Verdict {
    match ended {
        Ended::Well(outcome) => Verdict::Right(Coped::of(&outcome.json())),
        Ended::Badly(fault) => Verdict::Wrong(fault),
        Ended::Refused(message) => match refusals::known(&message) {
            Some(words) => Verdict::Refused(words),
            None => Verdict::Wrong(Fault::new("refused", message)),
        },
    }
}

/// Runs a case with the checker on.
pub fn judge_once(case: &Case) -> Verdict {
    judge_seeing(case, |_| ())
}

/// The same; what ends well shows its result.
pub fn judge_seeing(case: &Case, see: impl FnOnce(&Value)) -> Verdict {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(source) = case.place(folder.path()) else {
        return Verdict::Refused("not a case");
    };
    match run(&source, true) {
        Ended::Well(outcome) => {
            let result = outcome.json();
            see(&result);
            Verdict::Right(Coped::of(&result))
        }
        ended => not_well(ended),
    }
}

/// Runs a case, with the checker and at the same time without, and what it says of itself once more.
pub fn judge(case: &Case) -> Verdict {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(source) = case.place(folder.path()) else {
        return Verdict::Refused("not a case");
    };
    let (checked, plain) = thread::scope(|scope| {
        let plain = scope.spawn(|| run(&source, false));
        let checked = run(&source, true);
        (checked, plain.join().expect("its panics are caught"))
    });
    let checked = match checked {
        Ended::Well(outcome) => *outcome,
        ended => return not_well(ended),
    };
    let plain = match plain {
        Ended::Well(outcome) => *outcome,
        Ended::Badly(fault) => return Verdict::Wrong(fault),
        Ended::Refused(message) => {
            return Verdict::Wrong(Fault::new("refused without the checker", message));
        }
    };
    let (mut one, mut other) = (checked.lasting(), plain.lasting());
    let spec = one["spec"].clone();
    let coped = Coped::of(&one);
    for result in [&mut one, &mut other] {
        if let Value::Object(entries) = result {
            entries.remove("checked");
        }
    }
    if one["digest"] != other["digest"] {
        return Verdict::Wrong(Fault::new("digest", "another one without the checker"));
    }
    if one != other {
        return Verdict::Wrong(Fault::new("numbers", "others without the checker"));
    }
    if let Err(message) = plausible(&one) {
        return Verdict::Wrong(Fault::new("implausible", message));
    }
    // The effective spec is the same run.
    let text = toml::to_string(&spec).expect("a spec is plain data");
    match run(&crate::support::from_text_in(text, folder.path()), false) {
        Ended::Well(again) if again.digest() == plain.digest() => Verdict::Right(coped),
        Ended::Well(_) => Verdict::Wrong(Fault::new("effective spec", "another digest")),
        Ended::Refused(message) => Verdict::Wrong(Fault::new("effective spec", message)),
        Ended::Badly(fault) => Verdict::Wrong(Fault::new("effective spec", fault.message)),
    }
}
