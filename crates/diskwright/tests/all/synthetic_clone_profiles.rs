//! Synthetic clones of measured traces: what is measured of them is compared with what was measured of the traces.

use std::path::{Path, PathBuf};

use diskwright::workload::{
    FormatOptions, InspectOptions, LogHistogram, Profile, SizeProfile, inspect,
};

/// The profile of a trace, read back from the file that it is written to.
fn profile(trace: &Path, device: Option<u32>, seed: Option<u64>, file: &Path) -> Profile {
    let mut format = FormatOptions::default();
    format.synthetic_clone.seed = seed;
    let options = InspectOptions {
        format,
        device,
        threshold: 0,
        profile: Some(file.to_owned()),
        ..InspectOptions::default()
    };
    inspect(trace, &options, &mut ()).unwrap();
    toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// The largest distance between two cumulative distributions, 0 to 1 (Kolmogorov and Smirnov's).
fn distance(one: &[(u64, u64)], other: &[(u64, u64)]) -> f64 {
    let total = |bins: &[(u64, u64)]| bins.iter().map(|(_, count)| count).sum::<u64>();
    let (all_one, all_other) = (total(one), total(other));
    if all_one == 0 || all_other == 0 {
        return if all_one == all_other { 0.0 } else { 1.0 };
    }
    let up_to = |bins: &[(u64, u64)], at: u64, all: u64| {
        let below = bins.iter().filter(|(from, _)| *from <= at);
        below.map(|(_, count)| count).sum::<u64>() as f64 / all as f64
    };
    let ends = one.iter().chain(other).map(|(from, _)| *from);
    ends.map(|at| (up_to(one, at, all_one) - up_to(other, at, all_other)).abs())
        .fold(0.0, f64::max)
}

fn bins(histogram: &LogHistogram) -> Vec<(u64, u64)> {
    histogram.bins().collect()
}

fn sizes(sizes: &SizeProfile) -> Vec<(u64, u64)> {
    let exact = sizes
        .exact
        .iter()
        .map(|size| (size.blocks.into(), size.requests));
    let mut all: Vec<_> = exact.chain(sizes.rest_blocks.bins()).collect();
    all.sort_unstable();
    all
}

fn indexed(counts: &[u64]) -> Vec<(u64, u64)> {
    (0..).zip(counts.iter().copied()).collect()
}

/// The error of a distribution that is known from a sample of this size.
fn unsure(counted: &LogHistogram) -> f64 {
    1.0 / (counted.total().max(1) as f64).sqrt()
}

fn off(one: f64, other: f64) -> f64 {
    if one == other {
        0.0
    } else {
        (other / one - 1.0).abs()
    }
}

/// How far a stand-in may be from its trace.
struct Tolerances {
    /// Of the requests and blocks of each class, relative to the trace's.
    classes: f64,
    duration: f64,
    working_set_requests: f64,
    working_set_blocks: f64,
    /// Of distances between cumulative distributions.
    runs: f64,
    sizes: f64,
    gaps: f64,
    bursts: f64,
    distances: f64,
    regions: f64,
    jumps: f64,
    alignment: f64,
    /// Of the index of dispersion, as a factor either way.
    dispersion: f64,
    same_size: f64,
}

/// Every statistic of a stand-in, how far it is off, and how far it may be.
fn compared(real: &Profile, made: &Profile, within: &Tolerances) -> Vec<(String, f64, f64)> {
    let mut rows = Vec::new();
    let mut row = |name: &str, off: f64, within: f64| rows.push((name.to_owned(), off, within));
    let whole = |one: u64, other: u64| {
        if one != other {
            println!("    {other} for {one}");
        }
        off(one as f64, other as f64)
    };
    row("requests", whole(real.requests, made.requests), 0.0);
    row("flushes", whole(real.flushes, made.flushes), 0.0);
    row("trims", whole(real.trims, made.trims), 0.0);
    row(
        "duration",
        off(real.duration_s, made.duration_s),
        within.duration,
    );
    row("end", whole(real.end_lbn, made.end_lbn), 0.0);
    row(
        "working set requests",
        whole(real.working_set_requests, made.working_set_requests),
        within.working_set_requests,
    );
    row(
        "working set blocks",
        whole(real.working_set_blocks, made.working_set_blocks),
        within.working_set_blocks,
    );
    let transfers = real.requests - real.flushes - real.trims;
    let blocks: u64 = {
        let c = &real.classes;
        [
            c.random_reads,
            c.random_writes,
            c.sequential_reads,
            c.sequential_writes,
        ]
        .iter()
        .map(|class| class.blocks)
        .sum()
    };
    for (name, one, other) in [
        (
            "random reads",
            real.classes.random_reads,
            made.classes.random_reads,
        ),
        (
            "random writes",
            real.classes.random_writes,
            made.classes.random_writes,
        ),
        (
            "sequential reads",
            real.classes.sequential_reads,
            made.classes.sequential_reads,
        ),
        (
            "sequential writes",
            real.classes.sequential_writes,
            made.classes.sequential_writes,
        ),
    ] {
        let share = |one: u64, other: u64, all: u64| one.abs_diff(other) as f64 / all as f64;
        row(
            &format!("{name}, requests"),
            share(one.requests, other.requests, transfers),
            within.classes,
        );
        row(
            &format!("{name}, blocks"),
            share(one.blocks, other.blocks, blocks),
            within.classes,
        );
    }
    for (name, one, other) in [
        (
            "random reads",
            &real.sizes.random_reads,
            &made.sizes.random_reads,
        ),
        (
            "random writes",
            &real.sizes.random_writes,
            &made.sizes.random_writes,
        ),
        (
            "sequential reads",
            &real.sizes.sequential_reads,
            &made.sizes.sequential_reads,
        ),
        (
            "sequential writes",
            &real.sizes.sequential_writes,
            &made.sizes.sequential_writes,
        ),
        ("trims", &real.sizes.trims, &made.sizes.trims),
    ] {
        row(
            &format!("sizes of {name}"),
            distance(&sizes(one), &sizes(other)),
            within.sizes,
        );
    }
    let flat = |table: [[u64; 2]; 2]| indexed(&[table[0], table[1]].concat());
    let (one, other) = (&real.directions, &made.directions);
    row(
        "directions, random",
        distance(&flat(one.random), &flat(other.random)),
        within.classes,
    );
    row(
        "directions, sequential",
        distance(&flat(one.sequential), &flat(other.sequential)),
        2.0 * within.classes,
    );
    let (one, other) = (&real.arrivals, &made.arrivals);
    row(
        "gaps",
        distance(&bins(&one.gap_ns), &bins(&other.gap_ns)),
        within.gaps,
    );
    for (one, other) in one.dispersion.iter().zip(&other.dispersion) {
        let ratio = other.index / one.index;
        row(
            &format!(
                "dispersion in {} ms ({:.1} for {:.1})",
                one.window_ms, other.index, one.index
            ),
            ratio.max(1.0 / ratio),
            within.dispersion,
        );
    }
    for (one, other) in one.bursts.iter().zip(&other.bursts) {
        row(
            &format!("bursts at {} us", one.gap_ns / 1_000),
            distance(&bins(&one.members), &bins(&other.members)),
            within.bursts + unsure(&one.members),
        );
    }
    row(
        "runs",
        distance(&bins(&real.run_requests), &bins(&made.run_requests)),
        within.runs,
    );
    let (one, other) = (&real.runs, &made.runs);
    for (name, one, other) in [
        ("first reads", &one.first_reads, &other.first_reads),
        ("first writes", &one.first_writes, &other.first_writes),
        ("repeated reads", &one.again_reads, &other.again_reads),
        ("repeated writes", &one.again_writes, &other.again_writes),
    ] {
        row(
            &format!("runs from {name}"),
            distance(&bins(one), &bins(other)),
            within.runs + unsure(one),
        );
    }
    let (one, other) = (&real.references, &made.references);
    row(
        "first references",
        (one.first_share - other.first_share).abs(),
        within.working_set_requests,
    );
    row(
        "first references at random",
        whole(one.random_first, other.random_first),
        within.working_set_requests,
    );
    row(
        "same sizes",
        (one.same_size.abs_diff(other.same_size)) as f64 / transfers as f64,
        within.same_size,
    );
    row(
        "stack distances",
        distance(&bins(&one.distance_objects), &bins(&other.distance_objects)),
        within.distances,
    );
    row(
        "stack distances at random",
        distance(
            &bins(&one.random_distance_objects),
            &bins(&other.random_distance_objects),
        ),
        within.distances,
    );
    let (one, other) = (&real.space, &made.space);
    assert_eq!(one.bin_blocks, other.bin_blocks);
    row(
        "regions",
        distance(&indexed(&one.bin_requests), &indexed(&other.bin_requests)),
        within.regions,
    );
    row(
        "regions of first references",
        distance(&indexed(&one.bin_first), &indexed(&other.bin_first)),
        within.regions,
    );
    row(
        "alignment",
        distance(&indexed(&one.alignment), &indexed(&other.alignment)),
        within.alignment,
    );
    row(
        "jumps on",
        distance(&bins(&one.forward_blocks), &bins(&other.forward_blocks)),
        within.jumps,
    );
    row(
        "jumps back",
        distance(&bins(&one.backward_blocks), &bins(&other.backward_blocks)),
        within.jumps,
    );
    rows
}

fn check(name: &str, trace: &Path, device: Option<u32>, within: &Tolerances) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let real = profile(trace, device, None, &file("real.toml"));
    let made = profile(&file("real.toml"), None, Some(1), &file("made.toml"));
    let rows = compared(&real, &made, within);
    let mut wrong = Vec::new();
    println!("{name}: {} requests", real.requests);
    for (what, off, within) in &rows {
        println!("  {what}: {off:.4} (at most {within})");
        if off > within {
            wrong.push(what);
        }
    }
    assert!(wrong.is_empty(), "{name}: {wrong:?}");
}

/// What `docs/synthetic-clone.md` promises.
const TOLERANCES: Tolerances = Tolerances {
    classes: 0.01,
    duration: 0.02,
    working_set_requests: 0.08,
    working_set_blocks: 0.08,
    runs: 0.01,
    sizes: 0.02,
    gaps: 0.01,
    bursts: 0.02,
    distances: 0.1,
    regions: 0.1,
    jumps: 0.25,
    alignment: 0.1,
    dispersion: 2.5,
    same_size: 0.05,
};

/// Where there are few places, and most requests go to a handful of them: where those come to lie is one draw.
const FEW_PLACES: Tolerances = Tolerances {
    working_set_blocks: 0.25,
    regions: 0.35,
    jumps: 0.4,
    ..TOLERANCES
};

#[test]
fn the_trace_of_the_examples_has_a_synthetic_clone() {
    let trace: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces/debian-guest.csv.zst");
    check("debian-guest", &trace, None, &TOLERANCES);
}

mod reference_data {
    use super::*;
    use crate::support::reference::reference;

    #[test]
    #[cfg_attr(
        not(reference = "disksim"),
        ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
    )]
    fn the_week_of_a_workstation_has_a_synthetic_clone() {
        let trace = reference("disksim/ajw.1week.srt");
        check("HP week, first disk", &trace, Some(0), &TOLERANCES);
        check("HP week, second disk", &trace, Some(1), &FEW_PLACES);
    }

    #[test]
    #[cfg_attr(
        not(reference = "libcachesim"),
        ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
    )]
    fn the_trace_of_a_virtual_disk_has_a_synthetic_clone() {
        let trace = reference("libcachesim/cloudPhysicsIO.vscsi");
        check("CloudPhysics", &trace, None, &TOLERANCES);
    }
}
