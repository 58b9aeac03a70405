//! What is told of small traces, counted by hand.

use super::*;
use crate::workload::formats::testing::reader;
use crate::workload::profile::{Class, LogHistogram, SizeCount};

fn measured(text: &str, options: &InspectOptions) -> Result<Inspection, Error> {
    profiled(text, options).map(|(inspection, _)| inspection)
}

fn profiled(text: &str, options: &InspectOptions) -> Result<(Inspection, Option<Profile>), Error> {
    let reader = reader(text, &options.format)?;
    inspect_reader(reader, Path::new("trace"), options, &mut ())
}

const TEXT: &str = "time_s,device,lbn,blocks,op\n1,0,0,8,r\n2,0,8,8,w\n2,1,8,2,r\n4,0,17,4,r\n3,0,0,8,r\n5,0,0,0,flush\n6,0,9,1,trim\n";

#[test]
fn everything_is_measured() {
    let seen = measured(TEXT, &InspectOptions::default()).unwrap();
    let all = &seen.all;
    assert_eq!(
        (all.requests, all.reads, all.writes, all.flushes, all.trims),
        (7, 4, 1, 1, 1)
    );
    assert_eq!((all.blocks, all.read_blocks, all.write_blocks), (30, 22, 8));
    assert_eq!((all.sequential_requests, all.sequential_blocks), (1, 8));
    assert_eq!((all.random_requests, all.random_blocks), (4, 22));
    assert_eq!((all.working_set_requests, all.working_set_blocks), (4, 22));
    assert_eq!(
        (all.duration_s, all.first_arrival_s, all.last_arrival_s),
        (5.0, 1.0, 6.0)
    );
    assert_eq!((all.end_lbn, all.out_of_order), (21, 1));
    assert_eq!(
        (
            all.sizes.min_blocks,
            all.sizes.mean_blocks,
            all.sizes.max_blocks
        ),
        (2, 6.0, 8)
    );
    assert_eq!(
        all.sizes.common[0],
        SizeCount {
            blocks: 8,
            requests: 3
        }
    );
    assert_eq!(seen.devices.len(), 2);
    assert_eq!(seen.devices[1].summary.requests, 1);
    assert_eq!(seen.devices[1].summary.interarrival_mean_ms, None);
    assert_eq!(seen.devices[0].summary.interarrival_mean_ms, Some(1_000.0));
}

#[test]
fn the_threshold_is_inclusive_and_only_ahead() {
    for (threshold, sequential) in [(0, 1), (1, 2), (2, 2)] {
        let options = InspectOptions {
            threshold,
            ..InspectOptions::default()
        };
        let seen = measured(TEXT, &options).unwrap();
        assert_eq!(seen.all.sequential_requests, sequential, "{threshold}");
    }
}

#[test]
fn one_device_can_be_chosen() {
    let options = InspectOptions {
        device: Some(1),
        ..InspectOptions::default()
    };
    let seen = measured(TEXT, &options).unwrap();
    assert_eq!(
        (seen.all.requests, seen.skipped, seen.devices.len()),
        (1, 6, 1)
    );
    let options = InspectOptions {
        device: Some(9),
        ..InspectOptions::default()
    };
    let error = measured(TEXT, &options).unwrap_err().to_string();
    assert!(error.contains("0 (6 requests), 1 (1 request)"), "{error}");
}

#[test]
fn the_json_has_the_totals_at_its_top() {
    let seen = measured(TEXT, &InspectOptions::default()).unwrap();
    let json = serde_json::to_value(&seen).unwrap();
    assert_eq!(json["format"], "csv");
    assert_eq!(json["requests"], 7);
    assert_eq!(json["devices"][1]["device"], 1);
    assert_eq!(json["devices"][1]["working_set_blocks"], 2);
    assert_eq!(json["sizes"]["common"][0]["blocks"], 8);
}

#[test]
fn a_trace_of_nothing_is_measured_too() {
    let seen = measured("time_s,lbn,blocks,op\n", &InspectOptions::default()).unwrap();
    assert_eq!(seen.all, Summary::default());
}

/// Measures a profile too; nothing is written, for that is not the reader's part.
fn with_profile(device: Option<u32>) -> InspectOptions {
    InspectOptions {
        device,
        profile: Some(PathBuf::new()),
        ..InspectOptions::default()
    }
}

#[test]
fn a_profile_is_counted_by_hand() {
    let (_, profile) = profiled(TEXT, &with_profile(Some(0))).unwrap();
    let profile = profile.unwrap();
    // Of device 0: a read at 0 of 8, a write at 8 of 8, a read at 17 of 4, a read at 0 of 8, a flush, a trim.
    let class = |requests, blocks| Class { requests, blocks };
    assert_eq!(profile.classes.random_reads, class(3, 20));
    assert_eq!(profile.classes.random_writes, class(0, 0));
    assert_eq!(profile.classes.sequential_reads, class(0, 0));
    assert_eq!(profile.classes.sequential_writes, class(1, 8));
    let shares = (
        profile.classes.random_read_share,
        profile.classes.sequential_read_share,
    );
    assert_eq!(shares, (1.0, 0.0));
    let bins = |histogram: &LogHistogram| histogram.bins().collect::<Vec<_>>();
    // The second follows the first; the other two are alone.
    assert_eq!(bins(&profile.run_requests), [(1, 2), (2, 1)]);
    // Block 0 again, after 8 and 17.
    assert_eq!(profile.references.first, 3);
    assert_eq!(profile.references.first_share, 0.75);
    assert_eq!(bins(&profile.references.distance_objects), [(2, 1)]);
    // From 8 to 8, from 16 to 17; from 21 back to 0.
    assert_eq!(bins(&profile.space.forward_blocks), [(0, 1), (1, 1)]);
    assert_eq!(bins(&profile.space.backward_blocks), [(20, 1)]);
    assert_eq!(profile.space.bin_blocks, 1);
    assert_eq!(profile.space.bin_requests.len(), 18);
    assert_eq!(profile.sizes.random_reads.exact[0].requests, 2);
    assert_eq!(profile.sizes.sequential_writes.exact.len(), 1);
    assert_eq!(profile.sizes.trims.exact[0].blocks, 1);
    // Read, write, read, read; only the write is sequential.
    assert_eq!(profile.directions.random, [[2, 0], [1, 0]]);
    assert_eq!(profile.directions.sequential, [[0, 1], [0, 0]]);
    assert_eq!(bins(&profile.runs.first_reads), [(1, 1), (2, 1)]);
    assert_eq!(bins(&profile.runs.again_reads), [(1, 1)]);
    assert_eq!(bins(&profile.runs.first_writes), []);
    // The first in a slice of its own, 6 slices of a 64th of the 5 seconds for each second.
    let slices = &profile.arrivals.slice_requests;
    assert_eq!((slices[0], slices.iter().sum::<u64>()), (1, 6));
    let references = &profile.references;
    assert_eq!((references.random_first, references.same_size), (2, 1));
    assert_eq!(
        references.random_distance_objects,
        references.distance_objects
    );
    assert_eq!(profile.space.bin_first.iter().sum::<u64>(), 3);
    assert_eq!(
        profile.space.bin_first.len(),
        profile.space.bin_requests.len()
    );
    // 0 and 8, and 17.
    assert_eq!(
        profile.space.alignment,
        [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    );
    // 1, 2, 4, 3 (as if at 4), 5, 6.
    assert_eq!(profile.arrivals.gap_ns.total(), 5);
    assert_eq!(profile.arrivals.out_of_order, 1);
}

#[test]
fn a_profile_is_of_one_device() {
    let error = profiled(TEXT, &with_profile(None)).unwrap_err().to_string();
    assert!(
        error.contains("several devices, 0 and 1") && error.contains("--device"),
        "{error}"
    );
}

#[test]
fn many_sizes_are_counted_together() {
    let lines: String = (1..=100).map(|i| format!("{i},0,{i},r\n")).collect();
    let text = format!("time_s,lbn,blocks,op\n{lines}");
    let (seen, profile) = profiled(&text, &with_profile(None)).unwrap();
    let reads = profile.unwrap().sizes.random_reads;
    assert_eq!((reads.exact.len(), reads.rest_blocks.total()), (64, 36));
    assert_eq!(seen.all.sizes.distinct, 100);
}

#[test]
fn a_profile_of_nothing_is_written_too() {
    let (_, profile) = profiled("time_s,lbn,blocks,op\n", &with_profile(None)).unwrap();
    let text = toml::to_string(&profile.unwrap()).unwrap();
    assert!(text.starts_with("schema = 2\n"), "{text}");
}

proptest::proptest! {
    #[test]
    fn the_totals_of_a_profile_are_those_of_the_inspection(
        requests in proptest::collection::vec((0u64..3_000, 0u64..200, 1u32..20, proptest::bool::ANY), 1..200),
        threshold in 0u64..4,
    ) {
        let line = |(ms, lbn, blocks, read): &(u64, u64, u32, bool)| {
            format!("{ms},{lbn},{blocks},{}\n", if *read { "r" } else { "w" })
        };
        let lines: String = requests.iter().map(line).collect();
        let options = InspectOptions { threshold, ..with_profile(None) };
        let (seen, profile) = profiled(&format!("time_ms,lbn,blocks,op\n{lines}"), &options).unwrap();
        let (all, profile) = (seen.all, profile.unwrap());
        let c = &profile.classes;
        proptest::prop_assert_eq!(c.random_reads.requests + c.random_writes.requests, all.random_requests);
        proptest::prop_assert_eq!(c.random_reads.blocks + c.random_writes.blocks, all.random_blocks);
        proptest::prop_assert_eq!(c.sequential_reads.blocks + c.sequential_writes.blocks, all.sequential_blocks);
        proptest::prop_assert_eq!(c.random_reads.requests + c.sequential_reads.requests, all.reads);
        proptest::prop_assert_eq!(profile.run_requests.total(), all.random_requests);
        proptest::prop_assert_eq!(profile.references.first, all.working_set_requests);
        let again = profile.references.distance_objects.total();
        proptest::prop_assert_eq!(profile.references.first + again, all.requests);
        proptest::prop_assert_eq!(profile.space.bin_requests.iter().sum::<u64>(), all.requests);
        let jumps = profile.space.forward_blocks.total() + profile.space.backward_blocks.total();
        proptest::prop_assert_eq!(jumps, all.requests - 1);
        proptest::prop_assert_eq!(profile.arrivals.gap_ns.total(), all.requests - 1);
    }
}
