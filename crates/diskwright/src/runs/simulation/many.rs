//! Many runs side by side, on all cores.
//!
//! A run depends on its spec alone, so that the results are the same with any number of threads; they come in the order of
//! the jobs. The first failure, in that order too, is what is told: a run that fails stops only those after it, since one
//! before it may yet fail.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::{Outcome, Progress, RunOptions, SpecSource, run};
use crate::base::error::{Error, InputError};

/// The longest time between two words of progress, and until an interruption is noticed.
const TICK: Duration = Duration::from_millis(50);

/// One of many runs.
#[derive(Clone, Debug)]
pub struct Job {
    /// What to run.
    pub spec: SpecSource,
    /// What is added to it.
    pub options: RunOptions,
}

/// A failure, and whose it is.
#[derive(Debug)]
pub struct FailedRun {
    /// The job, counted from 0.
    pub job: usize,
    /// What went wrong.
    pub error: Error,
}

impl FailedRun {
    /// The error, with the name of its run in it.
    pub fn named(self, name: &str) -> Error {
        let with_help = |mut error: InputError| {
            let known = error.help.take();
            let help = known.map_or_else(String::new, |help| help + "; ");
            error
                .help(format!("{help}this is the run of {name}"))
                .into()
        };
        match self.error {
            Error::Input(error) => with_help(*error),
            Error::File { .. } => with_help(InputError::new(self.error.to_string())),
            Error::Simulation(message) => {
                Error::Simulation(format!("in the run of {name}: {message}"))
            }
            Error::Interrupted => Error::Interrupted,
        }
    }
}

/// How far a run is. Requests that it has completed, and how many there will be.
struct Count {
    done: AtomicU64,
    total: AtomicU64,
}

/// A total of a run that has not begun.
const NOT_BEGUN: u64 = u64::MAX;
/// A total that nobody knows.
const UNKNOWN: u64 = u64::MAX - 1;

/// State shared by the runs and the thread that waits for them.
struct Shared {
    is_stopped: AtomicBool,
    /// The first of the jobs that have failed.
    failed: AtomicUsize,
    counts: Vec<Count>,
}

impl Shared {
    fn new(jobs: usize) -> Shared {
        let count = || Count {
            done: AtomicU64::new(0),
            total: AtomicU64::new(NOT_BEGUN),
        };
        Shared {
            is_stopped: AtomicBool::new(false),
            failed: AtomicUsize::new(usize::MAX),
            counts: (0..jobs).map(|_| count()).collect(),
        }
    }

    /// Nobody waits for this job any more.
    fn is_idle(&self, job: usize) -> bool {
        self.is_stopped.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed) < job
    }

    fn count(&self, job: usize, done: u64, total: Option<u64>) {
        let count = &self.counts[job];
        count.done.store(done, Ordering::Relaxed);
        let total = total.map_or(UNKNOWN, |total| total.min(UNKNOWN - 1));
        count.total.store(total, Ordering::Relaxed);
    }

    /// The requests done, and all of them: those that have not begun count as many as the others on average.
    fn sum(&self) -> (u64, Option<u64>) {
        let (mut done, mut total, mut begun) = (0u64, Some(0u64), 0u64);
        for count in &self.counts {
            done = done.saturating_add(count.done.load(Ordering::Relaxed));
            match count.total.load(Ordering::Relaxed) {
                NOT_BEGUN => continue,
                UNKNOWN => total = None,
                known => total = total.map(|total| total.saturating_add(known)),
            }
            begun += 1;
        }
        let all = self.counts.len() as u128;
        let total = total.filter(|_| begun > 0).map(|total| {
            let expected = u128::from(total) * all / u128::from(begun);
            u64::try_from(expected).unwrap_or(u64::MAX)
        });
        (done, total)
    }
}

/// Hears a run's progress, and stops it when nobody waits for it.
struct JobProgress<'a> {
    shared: &'a Shared,
    job: usize,
}

impl Progress for JobProgress<'_> {
    fn update(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        self.shared.count(self.job, done, total);
        if self.shared.is_idle(self.job) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Runs the jobs on `threads` threads, or one for each core; `progress`, which hears of all their requests together, is called
/// in the caller's thread. Until the last run has begun, the total is an estimate.
///
/// # Errors
/// The first failure in the order of the jobs, as of [`run`]; an interruption by `progress`.
pub fn run_many(
    jobs: &[Job],
    threads: Option<NonZeroUsize>,
    progress: &mut dyn Progress,
) -> Result<Vec<Outcome>, FailedRun> {
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    outcomes.resize_with(jobs.len(), || None);
    run_each(jobs, threads, progress, &mut |job, outcome| {
        outcomes[job] = Some(outcome);
        Ok(())
    })?;
    Ok(outcomes.into_iter().flatten().collect())
}

/// As [`run_many`], but hands over each result when its run ends, in the caller's thread and whatever the order, and keeps
/// none. Those before the first failure are all handed over, and perhaps some after it.
///
/// # Errors
/// As [`run_many`]; the first that `finished` returns, which stops all runs.
pub fn run_each(
    jobs: &[Job],
    threads: Option<NonZeroUsize>,
    progress: &mut dyn Progress,
    finished: &mut dyn FnMut(usize, Outcome) -> Result<(), Error>,
) -> Result<(), FailedRun> {
    let wanted = threads.or_else(|| thread::available_parallelism().ok());
    let threads = wanted.map_or(1, NonZeroUsize::get).min(jobs.len()).max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| FailedRun {
        job: 0,
        error: Error::Simulation(format!("cannot start {threads} threads: {error}")),
    })?;
    let shared = Shared::new(jobs.len());
    let mut first: Option<FailedRun> = None;
    let mut refusal: Option<FailedRun> = None;
    let (sender, receiver) = mpsc::channel();
    pool.in_place_scope_fifo(|scope| {
        for (job, what) in jobs.iter().enumerate() {
            let (shared, sender) = (&shared, sender.clone());
            scope.spawn_fifo(move |_| {
                if let Some(answer) = attempt(job, what, shared) {
                    // The receiver waits until the last sender is gone.
                    let _ = sender.send((job, answer));
                }
            });
        }
        drop(sender);
        loop {
            let stop = || shared.is_stopped.store(true, Ordering::Relaxed);
            match receiver.recv_timeout(TICK) {
                Ok((job, Ok(outcome))) if refusal.is_none() => {
                    if let Err(error) = finished(job, outcome) {
                        refusal = Some(FailedRun { job, error });
                        stop();
                    }
                }
                Ok((job, Err(error))) => {
                    if first.as_ref().is_none_or(|first| job < first.job) {
                        first = Some(FailedRun { job, error });
                    }
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let is_stopped = shared.is_stopped.load(Ordering::Relaxed);
            let (done, total) = shared.sum();
            if !is_stopped && progress.update(done, total).is_break() {
                stop();
            }
        }
    });
    match (refusal, first) {
        (Some(refusal), _) => Err(refusal),
        (None, _) if shared.is_stopped.into_inner() => Err(FailedRun {
            job: 0,
            error: Error::Interrupted,
        }),
        // Every job before the first failure has an answer, and nothing behind it matters.
        (None, Some(first)) => Err(first),
        (None, None) => Ok(()),
    }
}

/// Runs a job, unless nobody waits for it.
fn attempt(job: usize, what: &Job, shared: &Shared) -> Option<Result<Outcome, Error>> {
    if shared.is_idle(job) {
        return None;
    }
    let answer = run(&what.spec, &what.options, &mut JobProgress { shared, job });
    match &answer {
        Ok(outcome) => {
            let completed = outcome.completed();
            shared.count(job, completed, Some(completed));
        }
        Err(_) => _ = shared.failed.fetch_min(job, Ordering::Relaxed),
    }
    Some(answer)
}
