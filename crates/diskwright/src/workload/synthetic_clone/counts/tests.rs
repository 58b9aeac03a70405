//! Tables of counts, small and random ones: what cannot be is refused, and all else is met exactly.

use std::collections::HashSet;

use proptest::prelude::*;

use crate::engine::request::Op;
use crate::workload::profile::Class;
use crate::workload::record::Record;

use super::super::counts::Counts;
use super::{Load, mixture};
use crate::workload::clone_options::Parameters;

fn class(requests: u64, blocks: u64) -> Class {
    Class { requests, blocks }
}

/// Counts the records by brute force.
fn counted(records: &[Record]) -> Counts {
    let mut starts = HashSet::new();
    let mut blocks = HashSet::new();
    let mut found = [class(0, 0); 4];
    let mut end = None;
    for record in records {
        let (lbn, size) = (record.lbn.0, u64::from(record.blocks));
        starts.insert(lbn);
        blocks.extend(lbn..lbn + size);
        let sequential = usize::from(end == Some(lbn));
        let direction = 2 + usize::from(record.op == Op::Write);
        for index in [sequential, direction] {
            found[index].requests += 1;
            found[index].blocks += size;
        }
        end = Some(lbn + size);
    }
    let [random, sequential, read, write] = found;
    Counts {
        working_set: class(starts.len() as u64, blocks.len() as u64),
        random,
        sequential,
        read,
        write,
    }
}

fn records(counts: &Counts, parameters: &Parameters, seed: u64) -> Result<Vec<Record>, String> {
    let resolved = parameters.resolve().map_err(|error| error.to_string())?;
    let mut load = Load::new(counts, &resolved, seed).map_err(|error| error.to_string())?;
    Ok(std::iter::from_fn(|| load.next()).collect())
}

fn table() -> Counts {
    Counts {
        working_set: class(600, 30_000),
        random: class(800, 24_000),
        sequential: class(200, 20_001),
        read: class(450, 15_003),
        write: class(550, 28_998),
    }
}

#[test]
fn a_table_is_met_whatever_its_parameters() {
    let counts = table();
    for text in [
        "",
        "theta = 0.0",
        "theta = 3.0",
        "small_share = 0.5",
        "small_share = 0.7",
        "run_requests = 2.0",
        "run_requests = 9.5",
        "random_read_share = 0.4",
        "random_read_share = 0.5",
        "modes = [1, 100, 200]",
        "modes = [7, 50, 300]\nweights = [3.0, 1.0, 0.5]",
        "span = '32000 blocks'\nmodes = [1, 16, 256]",
    ] {
        let parameters: Parameters = toml::from_str(text).unwrap();
        let made = records(&counts, &parameters, 5).unwrap();
        assert_eq!(counted(&made), counts, "{text}");
        assert!(
            made.windows(2)
                .all(|pair| pair[0].arrival <= pair[1].arrival)
        );
        if let Some(span) = parameters.span {
            let ends = made
                .iter()
                .map(|record| record.lbn.0 + u64::from(record.blocks));
            assert!(ends.max() <= Some(span.blocks()), "{text}");
        }
    }
}

#[test]
fn a_seed_makes_one_trace_and_another_seed_another() {
    let of = |seed| records(&table(), &Parameters::default(), seed).unwrap();
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn the_mixture_has_the_counts_of_the_table_and_the_share_that_is_asked_for() {
    let counts = table();
    for wanted in [0.5, 0.6, 0.7] {
        let parameters = Parameters {
            small_share: Some(wanted),
            ..Parameters::default()
        };
        let found = mixture(&counts, &parameters.resolve().unwrap()).unwrap();
        assert!((found.small_share - wanted).abs() < 0.01, "{found:?}");
        let made = records(&counts, &parameters, 1).unwrap();
        let small = made.iter().filter(|record| record.blocks <= 16).count();
        assert!((small as f64 / 1_000.0 - found.small_share).abs() < 0.01);
        let mut sum = class(0, 0);
        for cell in &found.cells {
            assert_eq!(cell.counts.iter().sum::<u64>(), cell.requests);
            let modes = found.modes.iter().zip(&cell.counts);
            let blocks: u64 = modes.map(|(mode, count)| u64::from(*mode) * count).sum();
            assert_eq!(blocks - u64::from(cell.trimmed_blocks), cell.blocks);
            sum.requests += cell.requests;
            sum.blocks += cell.blocks;
        }
        assert_eq!(
            (sum.requests, sum.blocks),
            (counts.requests(), counts.blocks())
        );
    }
}

#[test]
fn numbers_that_contradict_each_other_are_named() {
    let good = table();
    let bad = |change: fn(&mut Counts)| {
        let mut counts = good;
        change(&mut counts);
        counts
    };
    for (counts, parameters, expected) in [
        (
            bad(|c| c.read.requests += 1),
            "",
            "read + write 451 + 550 = 1001",
        ),
        (
            bad(|c| c.write.blocks -= 1),
            "",
            "44001 blocks, and read + write",
        ),
        (
            bad(|c| c.working_set.requests = 1_001),
            "",
            "1001 distinct requests, and all requests together only 1000",
        ),
        (
            bad(|c| c.working_set.blocks = 44_002),
            "",
            "44002 distinct blocks",
        ),
        (
            bad(|c| c.working_set.requests = 0),
            "",
            "working_set has 0 requests",
        ),
        (
            bad(|c| c.working_set.requests = 1_000),
            "",
            "all requests but working_set has 14001 blocks in 0 requests",
        ),
        (
            good,
            "modes = [64, 256]",
            "random has 24000 blocks in 800 requests",
        ),
        (
            good,
            "modes = [8, 16]",
            "random has 24000 blocks in 800 requests, and requests of 8 to 16 blocks can have 6393 to 12800",
        ),
        (
            good,
            "small_share = 0.95",
            "small_share is 0.95: with these means",
        ),
        (good, "random_read_share = 0.9", "250 to 450 can be"),
        (good, "span = '30000 blocks'", "span is 30000 blocks"),
        (
            good,
            "mean_gap = '200000 d'\nburst_requests = 1.0",
            "mean_gap is",
        ),
    ] {
        let parameters: Parameters = toml::from_str(parameters).unwrap();
        let error = records(&counts, &parameters, 1).unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let nothing = Counts {
        working_set: class(0, 0),
        random: class(0, 0),
        sequential: class(0, 0),
        read: class(0, 0),
        write: class(0, 0),
    };
    let error = records(&nothing, &Parameters::default(), 1).unwrap_err();
    assert!(error.contains("no requests"), "{error}");
    let only_sequential = Counts {
        random: class(0, 0),
        sequential: class(1_000, 44_001),
        ..good
    };
    let error = records(&only_sequential, &Parameters::default(), 1).unwrap_err();
    assert!(
        error.contains("the first request of all is random"),
        "{error}"
    );
}

#[test]
fn runs_that_come_again_lie_as_deep_as_zipf_has_it() {
    // One size and no sequential requests: the stack of runs is that of requests.
    let counts = Counts {
        working_set: class(200, 1_600),
        random: class(60_000, 480_000),
        sequential: class(0, 0),
        read: class(60_000, 480_000),
        write: class(0, 0),
    };
    for theta in [0.0, 1.0] {
        let parameters: Parameters =
            toml::from_str(&format!("modes = [8]\ntheta = {theta:?}")).unwrap();
        let made = records(&counts, &parameters, 1).unwrap();
        let mut stack: Vec<u64> = Vec::new();
        let mut depths = Vec::new();
        for record in &made {
            if let Some(at) = stack.iter().position(|lbn| *lbn == record.lbn.0) {
                stack.remove(at);
                // The new places come evenly: only where nearly all are there is the law that of all.
                if stack.len() > 180 {
                    depths.push(at);
                }
            }
            stack.insert(0, record.lbn.0);
        }
        let top = depths.iter().filter(|depth| **depth < 10).count() as f64 / depths.len() as f64;
        // Of about 190 places: 10 in 190, and the ratio of the harmonic numbers 2.929 and 5.83.
        let expected = if theta == 0.0 {
            10.0 / 190.0
        } else {
            2.929 / 5.83
        };
        assert!(
            (top / expected - 1.0).abs() < 0.1,
            "{theta}: {top} for {expected}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The table of random requests is met by requests like them, unless it is too small for the variety that is asked for.
    #[test]
    fn a_table_that_is_accepted_is_met(
        draws in prop::collection::vec((0usize..5, prop::bool::ANY, 0u32..100, 0u32..100), 1..400),
        seed in 0u64..5,
    ) {
        let modes = [8u32, 16, 64, 128, 256];
        let mut made: Vec<Record> = Vec::new();
        let mut next = 0;
        for (size, write, sequential, again) in draws {
            let before = made.last().map(|last| last.lbn.0 + u64::from(last.blocks));
            let lbn = match before {
                Some(before) if sequential < 20 => before,
                Some(_) if again < 50 => made[again as usize % made.len()].lbn.0,
                _ => next,
            };
            next = next.max(lbn + 1_000);
            made.push(Record {
                arrival: crate::base::units::Time::ZERO,
                device: 0,
                op: if write { Op::Write } else { Op::Read },
                fua: false,
                lbn: crate::base::units::Lbn(lbn),
                blocks: modes[size],
                recorded: None,
            });
        }
        let counts = counted(&made);
        match records(&counts, &Parameters::default(), seed) {
            Ok(alike) => prop_assert_eq!(counted(&alike), counts),
            Err(error) => prop_assert!(error.contains("counts: "), "{}", error),
        }
    }
}
