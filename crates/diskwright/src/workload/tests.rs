//! A whole workload: each policy on both sides of its edge.

use std::io::Write;

use super::fitted::PROBED;
use super::*;
use crate::base::error::Place;
use crate::base::units::Lbn;
use crate::engine::request::Op;

/// What a workload gave: its requests, its counts, its warnings and notes.
struct Given {
    arrivals: Vec<Arrival>,
    counts: Counts,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// Runs a trace of `arrival_ms device lbn blocks` lines (all reads) with the spec's further lines, on a drive of 100 blocks.
fn run(lines: &str, spec: &str) -> Result<Given, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for line in lines.lines() {
        writeln!(file, "{line} 1").unwrap();
    }
    let mut spec: WorkloadSpec = toml::from_str(spec).unwrap();
    spec.trace = Some(file.path().file_name().unwrap().into());
    spec.format = Some("disksim-ascii".to_owned());
    let base = file.path().parent().unwrap();
    let load = spec.fit(base, 100)?;
    let mut workload = load.open(0)?;
    let mut arrivals = Vec::new();
    while let Some(arrival) = workload.next()? {
        arrivals.push(arrival);
    }
    assert_eq!(load.count(0).unwrap(), Some(arrivals.len() as u64));
    assert!(workload.next().unwrap().is_none());
    Ok(Given {
        arrivals,
        counts: workload.counts(),
        warnings: workload.warnings(),
        notes: workload.notes(),
    })
}

fn extents(given: &Given) -> Vec<(u64, u32)> {
    let extent = |a: &Arrival| (a.command.lbn.0, a.command.blocks);
    given.arrivals.iter().map(extent).collect()
}

fn times(given: &Given) -> Vec<u64> {
    given.arrivals.iter().map(|a| a.at.ns() / 1_000).collect()
}

fn counts(trace: u64, skipped: u64, clipped: u64, mapped: u64) -> Counts {
    Counts {
        trace,
        skipped,
        clipped,
        mapped,
    }
}

/// The error must be at this line of the trace and name this option.
fn refused(lines: &str, spec: &str, line: u64, option: &str) {
    let error = run(lines, spec).err().expect("an error");
    let Error::Input(error) = error else {
        panic!("{error}");
    };
    assert!(
        matches!(error.place, Some(Place::Line { line: l, .. }) if l == line),
        "{error}"
    );
    assert!(error.to_string().contains(option), "{error}");
}

#[test]
fn requests_come_as_they_are() {
    let given = run("1.5 0 92 8\n2 0 0 100", "").unwrap();
    assert_eq!(
        given.arrivals[0],
        Arrival {
            at: Time::from_us(1_500),
            command: Command {
                op: Op::Read,
                fua: false,
                lbn: Lbn(92),
                blocks: 8
            },
            stream: 0,
        }
    );
    assert_eq!(given.counts, counts(2, 0, 0, 0));
    assert!(given.warnings.is_empty());
}

#[test]
fn requests_past_the_end() {
    let lines = "0 0 92 8\n1 0 93 8\n2 0 100 8\n3 0 205 8";
    refused(lines, "", 2, "workload.past_end");
    let given = run(lines, "past_end = 'map'").unwrap();
    assert_eq!(extents(&given), [(92, 8), (92, 8), (0, 8), (5, 8)]);
    assert_eq!(given.counts, counts(4, 0, 0, 3));
    let given = run(lines, "past_end = 'clip'").unwrap();
    assert_eq!(extents(&given), [(92, 8), (93, 7)]);
    assert_eq!(given.counts, counts(4, 2, 1, 0));
    let given = run(lines, "past_end = 'skip'").unwrap();
    assert_eq!(extents(&given), [(92, 8)]);
    assert_eq!(given.counts, counts(4, 3, 0, 0));
    let far = format!("0 0 {} 8", u64::MAX);
    refused(&far, "", 1, "workload.past_end");
    assert_eq!(run(&far, "past_end = 'map'").unwrap().arrivals.len(), 1);
}

#[test]
fn requests_of_impossible_size() {
    let lines = "0 0 0 100\n1 0 0 0\n2 0 0 101\n3 0 0 99999999999";
    refused(lines, "", 2, "workload.bad_size");
    refused("0 0 0 101", "", 1, "workload.bad_size");
    refused("0 0 0 99999999999", "", 1, "4294967295 blocks or more");
    let given = run(lines, "bad_size = 'clip'").unwrap();
    assert_eq!(extents(&given), [(0, 100), (0, 100), (0, 100)]);
    assert_eq!(given.counts, counts(4, 1, 2, 0));
    let given = run(lines, "bad_size = 'skip'").unwrap();
    assert_eq!(given.counts, counts(4, 3, 0, 0));
}

#[test]
fn requests_out_of_order() {
    let lines = "5 0 0 8\n5 0 8 8\n4 0 16 8\n6 0 24 8";
    refused(lines, "", 3, "workload.out_of_order");
    let given = run(lines, "out_of_order = 'map'").unwrap();
    assert_eq!(times(&given), [5_000, 5_000, 5_000, 6_000]);
    assert_eq!(given.counts, counts(4, 0, 0, 1));
    let given = run(lines, "out_of_order = 'skip'").unwrap();
    assert_eq!(times(&given), [5_000, 5_000, 6_000]);
    assert_eq!(given.counts, counts(4, 1, 0, 0));
}

#[test]
fn a_request_changed_twice_counts_once() {
    let lines = "5 0 0 8\n4 0 100 8";
    let given = run(lines, "out_of_order = 'map'\npast_end = 'map'").unwrap();
    assert_eq!(given.counts, counts(2, 0, 0, 1));
}

#[test]
fn several_devices() {
    let lines = "1 3 0 8\n2 7 0 8\n3 3 8 8";
    let error = run(lines, "").err().unwrap().to_string();
    assert!(error.contains("3 (2 requests), 7 (1 request)"), "{error}");
    assert!(error.contains("workload.device"), "{error}");
    let given = run(lines, "device = 3").unwrap();
    assert_eq!(extents(&given), [(0, 8), (8, 8)]);
    assert_eq!(given.counts, counts(3, 1, 0, 0));
    let given = run(lines, "device = 'all'").unwrap();
    assert_eq!(given.counts, counts(3, 0, 0, 0));
    assert_eq!(given.arrivals.len(), 3);
    let error = run(lines, "device = 4").err().unwrap().to_string();
    assert!(error.contains("no request of device 4"), "{error}");
    assert!(error.contains("3 (2 requests), 7 (1 request)"), "{error}");
}

#[test]
fn the_order_of_other_devices_does_not_matter() {
    let given = run("5 0 0 8\n1 1 0 8\n6 0 0 8", "device = 0").unwrap();
    assert_eq!(times(&given), [5_000, 6_000]);
}

#[test]
fn a_second_device_late_in_the_trace_is_refused_at_its_place() {
    let mut lines: String = (0..PROBED).map(|i| format!("{i} 0 0 8\n")).collect();
    lines.push_str("99999999 1 0 8\n");
    refused(&lines, "", PROBED + 1, "workload.device");
}

#[test]
fn a_span_of_time_is_selected_and_shifted() {
    let lines = "1 0 0 8\n2 0 0 8\n3 0 0 8\n4 0 0 8";
    let given = run(lines, "from = '2 ms'\nto = '4 ms'").unwrap();
    assert_eq!(times(&given), [0, 1_000]);
    assert_eq!(given.counts, counts(4, 2, 0, 0));
    assert!(given.warnings.is_empty());
    assert_eq!(times(&run(lines, "to = '2 ms'").unwrap()), [1_000]);
    let nothing = run(lines, "from = '5 ms'").unwrap();
    assert!(nothing.warnings[0].contains("every request"));
    assert_eq!(times(&run(lines, "from = '3 ms'").unwrap()), [0, 1_000]);
}

#[test]
fn a_limit_counts_what_is_yielded() {
    let lines = "1 0 0 8\n2 0 100 8\n3 0 0 8\n4 0 0 8";
    let given = run(lines, "limit = 2\npast_end = 'skip'").unwrap();
    assert_eq!(times(&given), [1_000, 3_000]);
    assert_eq!(given.counts, counts(3, 1, 0, 0));
    assert!(run(lines, "limit = 0").unwrap().arrivals.is_empty());
}

#[test]
fn gaps_are_scaled() {
    let lines = "1 0 0 8\n3 0 0 8";
    let given = run(lines, "pace = { scaled = 2.0 }").unwrap();
    assert_eq!(times(&given), [500, 1_500]);
    let given = run(lines, "pace = { scaled = 0.5 }\nfrom = '1 ms'").unwrap();
    assert_eq!(times(&given), [0, 4_000]);
    refused(lines, "pace = { scaled = 1e-15 }", 1, "workload.pace");
}

#[test]
fn dates_count_from_the_first_request() {
    let lines = "1300000000000 0 0 8\n1300000000001 0 0 8\n1299999999999 0 0 8";
    refused(lines, "", 3, "workload.out_of_order");
    let given = run(lines, "out_of_order = 'map'").unwrap();
    assert_eq!(times(&given), [0, 1_000, 1_000]);
    assert_eq!(given.notes.len(), 1);
    let given = run(lines, "out_of_order = 'map'\nfrom = '1 ms'").unwrap();
    assert_eq!(times(&given)[0], 0);
    let given = run("99999999999 0 0 8", "").unwrap();
    assert_eq!(times(&given), [99_999_999_999_000]);
    assert!(given.notes.is_empty());
}

#[test]
fn pacing_follows_the_spec() {
    let open = |text: &str, base: &Path| {
        let spec: WorkloadSpec = toml::from_str(text).unwrap();
        Workload::open(&spec, base, 0, 100).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t"), "0.0 0 0 1 1\n").unwrap();
    let host = Pacing::Closed { users: None };
    assert_eq!(open("trace = 't'", folder.path()).pacing(), Pacing::Open);
    assert_eq!(
        open("trace = 't'\npace = 'closed'", folder.path()).pacing(),
        host
    );
    let workload = open(
        "synthetic = { requests = 3, arrivals = { closed = {} } }",
        folder.path(),
    );
    assert_eq!((workload.pacing(), workload.total_hint()), (host, Some(3)));
}

#[test]
fn a_trace_that_is_not_there_is_named() {
    let spec: WorkloadSpec = toml::from_str("trace = 'nowhere.srt'").unwrap();
    let error = Workload::open(&spec, Path::new("/base"), 0, 100)
        .err()
        .unwrap();
    assert!(error.to_string().contains("/base/nowhere.srt"), "{error}");
}
