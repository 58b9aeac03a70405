//! What each option costs in instructions a request, counted by valgrind.
//!
//! The benchmark runs itself under `cachegrind` with two numbers of requests. The difference leaves out what a run costs before its first request and
//! behind its last.

use std::process::Command;

use crate::{CASES, Case, OPTIONS, engine};

/// The word with which the benchmark calls itself for a single run.
pub const ONE: &str = "--one";

/// The two numbers of requests. Writes clean before the smaller one is reached.
const FEW: u64 = 2_000_000;
const MANY: u64 = 2_400_000;

/// Counts with each option, and those without.
pub fn options() {
    println!("Options: instructions a request, and of those without");
    println!("{:24}{:>26}{:>26}", "", CASES[0].name, CASES[1].name);
    let plain = CASES.each_ref().map(|case| per_request(case, ""));
    println!("{:24}{:18.0}{:26.0}", "none", plain[0], plain[1]);
    for choice in OPTIONS {
        let (without, with) = choice.tables();
        let counts: [String; 2] = std::array::from_fn(|at| {
            let case = &CASES[at];
            let without = if without.is_empty() {
                plain[at]
            } else {
                per_request(case, &without)
            };
            let with = per_request(case, &with);
            format!("{with:18.0}{:8.2}", with / without)
        });
        println!("{:24}{}", choice.name, counts.concat());
    }
}

/// Instructions of one more request.
fn per_request(case: &Case, tables: &str) -> f64 {
    (counted(case, tables, MANY) - counted(case, tables, FEW)) / (MANY - FEW) as f64
}

/// Instructions of a run.
fn counted(case: &Case, tables: &str, requests: u64) -> f64 {
    let itself = std::env::current_exe().expect("the benchmark has a file");
    let ran = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no"])
        .arg("--cachegrind-out-file=/dev/null")
        .arg(itself)
        .args([ONE, case.name, tables, &requests.to_string()])
        .output()
        .expect("valgrind is installed");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let (_, count) = said
        .split_once("refs:")
        .expect("cachegrind says how many instructions there were");
    let count = count.lines().next().unwrap_or_default();
    count
        .trim()
        .replace(',', "")
        .parse()
        .expect("cachegrind gives a number")
}

/// A single run, to be counted.
pub fn one(case: &str, tables: &str, requests: &str) {
    let case = CASES
        .iter()
        .find(|known| known.name == case)
        .expect("a case of the benchmark");
    let requests = requests.parse().expect("a number of requests");
    engine(case, requests, tables);
}
