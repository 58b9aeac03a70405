//! Random cases of everything, for as long as one has time: `make campaign HOURS=8`.
//!
//! Each [`Family`] numbers its cases; a campaign goes on with the first number that its log does not have, so that none is tried twice. It takes
//! the families in turns, and adds a line to the log after each turn. A case that is wrong is made small and written into a folder of its own.
//!
//! ```sh
//! DISKWRIGHT_CAMPAIGN=array-failures cargo test --profile checked --test all campaign_goes_on -- --ignored --nocapture   # this family only
//! DISKWRIGHT_CAMPAIGN=tier-faults DISKWRIGHT_SPECS=1369 \
//!     cargo test --test all campaign::chosen -- --ignored --nocapture   # this case, or those from one number to another
//! ```

mod bytes;
mod families;
mod found;
mod log;
mod rules;
mod summary;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use families::{Cases, FAMILIES, Family};
use log::{Log, Turn};
use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::support::root;
use crate::support::twins::chosen;
use crate::whole_specs::{Fault, Verdict};

/// How long a family is tried before it is another one's turn, at least.
const TURN: Duration = Duration::from_secs(2);
/// The most turns that each family gets.
const MOST_TURNS: u32 = 60;

/// What came of a turn.
#[derive(Default)]
struct Findings {
    turn: Turn,
    /// By their class: how often, and the first of them.
    wrong: BTreeMap<String, (u64, u64, Fault)>,
}

impl Findings {
    fn add(&mut self, number: u64, verdict: Verdict) {
        let turn = &mut self.turn;
        turn.to = turn.to.max(number + 1);
        match verdict {
            Verdict::Right(coped) => {
                turn.power_cuts += coped.power_cuts;
                turn.failures += coped.failures;
                turn.rebuilds += coped.rebuilds;
            }
            Verdict::Refused(_) => turn.refused += 1,
            Verdict::Wrong(fault) => {
                turn.wrong += 1;
                let class = fault.class.clone();
                self.wrong.entry(class).or_insert((0, number, fault)).0 += 1;
            }
        }
    }
}

/// Tries cases of a family from a number on, on all cores, until the time is over; every case that is begun is ended.
fn try_for(family: &Family, from: u64, time: Duration) -> Findings {
    let begun = Instant::now();
    let mut findings = Findings::default();
    findings.turn.family = family.name.to_owned();
    (findings.turn.from, findings.turn.to) = (from, from);
    let findings = Mutex::new(findings);
    let numbers = (from..).take_while(|_| begun.elapsed() < time);
    numbers.par_bridge().for_each(|number| {
        let verdict = family.attempt(number);
        findings
            .lock()
            .expect("nothing panics with it")
            .add(number, verdict);
    });
    let mut findings = findings.into_inner().expect("nothing panics with it");
    findings.turn.seconds = begun.elapsed().as_secs_f64();
    findings
}

/// The folder of the log and of what is found.
fn folder() -> PathBuf {
    std::env::var_os("DISKWRIGHT_CAMPAIGN_FOLDER")
        .map_or_else(|| root().join("campaign"), PathBuf::from)
}

/// As long as DISKWRIGHT_CAMPAIGN_HOURS says: half a minute without it.
fn time() -> Duration {
    let hours = std::env::var("DISKWRIGHT_CAMPAIGN_HOURS").map_or(30.0 / 3600.0, |hours| {
        hours
            .parse()
            .unwrap_or_else(|_| panic!("HOURS is a number of hours, such as 0.5; found {hours:?}"))
    });
    Duration::from_secs_f64(hours * 3600.0)
}

/// The cases of DISKWRIGHT_CAMPAIGN that DISKWRIGHT_SPECS names, each with the time that it took; one of each kind of fault is made small. A single
/// case is shown first, if it is a spec.
#[test]
#[ignore = "for cases that are looked into"]
fn chosen_cases_are_right() {
    let (Ok(name), Some(chosen)) = (std::env::var("DISKWRIGHT_CAMPAIGN"), chosen()) else {
        return;
    };
    let family = FAMILIES.iter().find(|family| family.name == name);
    let family = family.unwrap_or_else(|| panic!("no family is called {name}"));
    if let (1, Cases::Specs(case, _)) = (chosen.end - chosen.start, &family.cases) {
        println!("{}", case(families::definitions(), chosen.start).shown());
    }
    let mut wrong = BTreeMap::new();
    for number in chosen {
        let begun = Instant::now();
        let verdict = family.attempt(number);
        let seconds = begun.elapsed().as_secs_f64();
        match verdict {
            Verdict::Right(_) => println!("{number}: right ({seconds:.3} s)"),
            Verdict::Refused(words) => println!("{number}: refused, {words} ({seconds:.3} s)"),
            Verdict::Wrong(fault) => {
                println!("{number}: {} ({seconds:.3} s)", fault.message);
                wrong.entry(fault.class.clone()).or_insert((number, fault));
            }
        }
    }
    for (class, (number, fault)) in &wrong {
        let place = found::write(&folder(), family, *number, fault);
        println!("{class}: made small in {}", place.display());
    }
    assert!(wrong.is_empty(), "{} kinds of faults", wrong.len());
}

#[test]
#[ignore = "takes as long as it is told to"]
fn campaign_goes_on() {
    let (time, begun) = (time(), Instant::now());
    let only = std::env::var("DISKWRIGHT_CAMPAIGN").ok();
    let families: Vec<&Family> = FAMILIES
        .iter()
        .filter(|family| only.as_ref().is_none_or(|only| only == family.name))
        .collect();
    assert!(!families.is_empty(), "no family is called {only:?}");
    // Panics are caught and told; the backtraces of those that a case is made small with would bury all else.
    std::panic::set_hook(Box::new(|_| ()));
    let folder = folder();
    let mut log = Log::open(&folder.join("log.jsonl"));
    let turn = TURN.max(time / (MOST_TURNS * families.len() as u32));
    let mut known = BTreeMap::new();
    'campaign: loop {
        for family in &families {
            let left = time.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break 'campaign;
            }
            let findings = try_for(family, log.next(family.name), turn.min(left));
            println!("{}", findings.turn);
            log.add(&findings.turn);
            for (class, (count, number, fault)) in findings.wrong {
                let name = format!("{} {class}", family.name);
                known.entry(name).or_insert_with(|| {
                    println!("{count} of {} are wrong: {}", family.name, fault.message);
                    found::write(&folder, family, number, &fault)
                });
            }
        }
    }
    drop(std::panic::take_hook());
    println!("{}", summary::table(log.turns()));
    let places: Vec<String> = known
        .iter()
        .map(|(class, place)| format!("{class}: {}", place.display()))
        .collect();
    assert!(places.is_empty(), "found: {places:#?}");
}
