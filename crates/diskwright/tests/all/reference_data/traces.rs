//! The reference traces, where they are: what they are known to be, whatever reads them.

use std::path::Path;

use crate::support::reference::reference;
use diskwright::workload::{
    DeviceChoice, FormatOptions, InspectOptions, Workload, WorkloadSpec, inspect, open,
};

/// What a trace is: counted by another program than this one.
struct Known {
    /// Its path in the folder of reference traces.
    path: &'static str,
    format: &'static str,
    /// The format must be named, for the content could be of another.
    named: bool,
    devices: usize,
    requests: u64,
    reads: u64,
    read_blocks: u64,
    write_blocks: u64,
    sequential_requests: u64,
    working_set_requests: u64,
    working_set_blocks: u64,
    first_arrival_ns: u64,
    duration_ns: u64,
}

const KNOWN: &[Known] = &[
    Known {
        path: "disksim/ajw.1week.srt",
        format: "hp-srt",
        named: false,
        devices: 2,
        requests: 44_519,
        reads: 13_040,
        read_blocks: 120_170,
        write_blocks: 394_098,
        sequential_requests: 602,
        working_set_requests: 4853,
        working_set_blocks: 53_230,
        first_arrival_ns: 0,
        duration_ns: 603_064_588_892_000,
    },
    Known {
        path: "disksim/ascii.trace",
        format: "disksim-ascii",
        named: false,
        devices: 14,
        requests: 100_000,
        reads: 79_634,
        read_blocks: 806_397,
        write_blocks: 210_281,
        sequential_requests: 8475,
        working_set_requests: 92_907,
        working_set_blocks: 872_014,
        first_arrival_ns: 13_191_135,
        duration_ns: 1_532_935_854_228,
    },
    Known {
        path: "disksim/cheetah9LP.trace",
        format: "disksim-recording",
        named: false,
        devices: 1,
        requests: 10_000,
        reads: 6594,
        read_blocks: 41_352,
        write_blocks: 21_844,
        sequential_requests: 2033,
        working_set_requests: 9817,
        working_set_blocks: 61_716,
        first_arrival_ns: 0,
        duration_ns: 497_607_519_000,
    },
    Known {
        path: "disksim/ibm18es.trace",
        format: "disksim-recording",
        named: false,
        devices: 1,
        requests: 10_000,
        reads: 6582,
        read_blocks: 40_912,
        write_blocks: 21_412,
        sequential_requests: 1999,
        working_set_requests: 9817,
        working_set_blocks: 60_764,
        first_arrival_ns: 0,
        duration_ns: 496_156_067_000,
    },
    Known {
        path: "disksim/hp_c3323a.trace",
        format: "disksim-recording",
        named: false,
        devices: 1,
        requests: 9074,
        reads: 6113,
        read_blocks: 99_215,
        write_blocks: 50_129,
        sequential_requests: 2315,
        working_set_requests: 9044,
        working_set_blocks: 143_895,
        first_arrival_ns: 0,
        duration_ns: 269_212_929_049,
    },
    Known {
        path: "libcachesim/cloudPhysicsIO.vscsi",
        format: "vscsi",
        named: false,
        devices: 1,
        requests: 113_872,
        reads: 46_974,
        read_blocks: 3_510_571,
        write_blocks: 4_704_230,
        sequential_requests: 29_558,
        working_set_requests: 48_974,
        working_set_blocks: 2_125_107,
        first_arrival_ns: 5_633_898_368_802_000,
        duration_ns: 7_200_089_885_000,
    },
    Known {
        path: "mqsim/tpcc-small.trace",
        format: "mqsim",
        named: true,
        devices: 16,
        requests: 6999,
        reads: 4381,
        read_blocks: 70_928,
        write_blocks: 45_710,
        sequential_requests: 87,
        working_set_requests: 6994,
        working_set_blocks: 116_038,
        first_arrival_ns: 938_513_000,
        duration_ns: 136_489_000,
    },
    Known {
        path: "mqsim/wsrch-small.trace",
        format: "mqsim",
        named: true,
        devices: 6,
        requests: 24_783,
        reads: 24_779,
        read_blocks: 746_260,
        write_blocks: 64,
        sequential_requests: 2380,
        working_set_requests: 24_780,
        working_set_blocks: 744_069,
        first_arrival_ns: 11_413_000,
        duration_ns: 60_055_212_000,
    },
];

#[test]
#[cfg_attr(
    not(reference = "all"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn every_trace_is_what_it_is_known_to_be() {
    for known in KNOWN {
        let path = reference(known.path);
        let mut options = InspectOptions::default();
        if known.named {
            let error = inspect(&path, &options, &mut ()).expect_err("two formats");
            assert!(error.to_string().contains(known.format), "{error}");
            options.format.format = Some(known.format.to_owned());
        }
        let seen = inspect(&path, &options, &mut ()).expect("inspected");
        let all = &seen.all;
        let name = known.path;
        assert_eq!(seen.format, known.format, "{name}");
        assert_eq!(seen.devices.len(), known.devices, "{name}");
        assert_eq!(
            (all.requests, all.reads),
            (known.requests, known.reads),
            "{name}"
        );
        assert_eq!(all.writes, known.requests - known.reads, "{name}");
        assert_eq!(
            (all.blocks, all.read_blocks, all.write_blocks),
            (
                known.read_blocks + known.write_blocks,
                known.read_blocks,
                known.write_blocks
            ),
            "{name}"
        );
        assert_eq!(all.sequential_requests, known.sequential_requests, "{name}");
        assert_eq!(
            (all.working_set_requests, all.working_set_blocks),
            (known.working_set_requests, known.working_set_blocks),
            "{name}"
        );
        let seconds = |ns: u64| ns as f64 / 1e9;
        assert_eq!(all.duration_s, seconds(known.duration_ns), "{name}");
        assert_eq!(
            all.first_arrival_s,
            seconds(known.first_arrival_ns),
            "{name}"
        );
        assert_eq!((all.out_of_order, seen.skipped), (0, 0), "{name}");
        assert!(seen.warnings.is_empty(), "{name}: {:?}", seen.warnings);
    }
}

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn the_hp_week_is_of_two_devices() {
    let path = reference("disksim/ajw.1week.srt");
    let seen = inspect(&path, &InspectOptions::default(), &mut ()).expect("inspected");
    assert_eq!(seen.start_date.as_deref(), Some("1992-05-30T00:03:06"));
    let per_device: Vec<_> = seen
        .devices
        .iter()
        .map(|d| (d.device, d.summary.requests))
        .collect();
    assert_eq!(per_device, [(0, 42_252), (1, 2_267)]);
    // Its sectors are of 256 bytes: the first request is of 4 KiB at sector 1056.
    let mut reader = open(&path, &FormatOptions::default()).expect("opened");
    let first = reader.next().expect("read").expect("a record");
    assert_eq!((first.lbn.0, first.blocks), (528, 8));

    let mut spec = WorkloadSpec {
        trace: Some(path),
        ..WorkloadSpec::default()
    };
    let error = Workload::open(&spec, Path::new(""), 0, 1 << 30)
        .err()
        .expect("two devices");
    assert!(
        error
            .to_string()
            .contains("0 (42252 requests), 1 (2267 requests)"),
        "{error}"
    );
    spec.device = DeviceChoice::Number(1);
    let mut workload = Workload::open(&spec, Path::new(""), 0, 1 << 30).expect("opened");
    while workload.next().expect("read").is_some() {}
    let counts = workload.counts();
    assert_eq!((counts.trace, counts.skipped), (44_519, 42_252));
}
