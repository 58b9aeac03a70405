//! Nothing is dropped without a word: a parameter that is used changes what comes out, and one that is not is either
//! said to have no effect or gives a warning.

use std::collections::BTreeMap;

use diskwright::disksim::parameters;

use super::sample::Sample;
use super::{controllers, ssd, systems};

/// A component, a parameter and a value.
type Put = (&'static str, &'static str, &'static str);

/// An override of another value for every parameter of the modules on the way to a drive. Those with a path are within
/// blocks.
const OTHERS: &[Put] = &[
    ("driver0", "Constant access time", "3"),
    ("driver0", "Use queueing in subsystem", "0"),
    ("bus1", "Arbitration time", "0.5"),
    ("bus1", "Read block transfer time", "0.5"),
    ("bus1", "Write block transfer time", "0.5"),
    ("ctlr0", "Scale for delays", "1"),
    ("IS", "I/O Trace Time Scale", "2.0"),
    ("IS", "I/O Mappings", "[]"),
    ("Global", "Statistic warm-up time", "2.5"),
    ("Global", "Statistic warm-up IOs", "100"),
    ("Global", "Init Seed", "43"),
    ("Global", "Real Seed", "44"),
    ("Global", "Init Seed with time", "1"),
    ("Global", "Real Seed with time", "1"),
    ("Proc", "Number of processors", "4"),
    ("Proc", "Process-Flow Time Scale", "2.0"),
    ("Synthio", "Number of I/O requests to generate", "99"),
    ("Synthio", "Maximum time of trace generated", "999"),
    ("Synthio", "Generators", "[]"),
    ("disk0", "Max queue length", "5"),
    ("disk0", "Bulk sector transfer time", "0.07"),
    ("disk0", "Segment size (in blks)", "65"),
    ("disk0", "Number of buffer segments", "3"),
    ("disk0", "Per-request overhead time", "0.1"),
    ("disk0", "Time scale for overheads", "2"),
    ("disk0", "Hold bus entire read xfer", "1"),
    ("disk0", "Hold bus entire write xfer", "1"),
    ("disk0", "Allow almost read hits", "1"),
    ("disk0", "Allow sneaky full read hits", "1"),
    ("disk0", "Allow sneaky partial read hits", "1"),
    ("disk0", "Allow sneaky intermediate read hits", "1"),
    ("disk0", "Allow read hits on write data", "0"),
    ("disk0", "Allow write prebuffering", "1"),
    ("disk0", "Preseeking level", "1"),
    ("disk0", "Never disconnect", "1"),
    ("disk0", "Use separate write segment", "1"),
    ("disk0", "Low (write) water mark", "0.25"),
    ("disk0", "High (read) water mark", "0.25"),
    ("disk0", "Set watermark by reqsize", "0"),
    ("disk0", "Enable caching in buffer", "0"),
    ("disk0", "Buffer continuous read", "4"),
    ("disk0", "Minimum read-ahead (blks)", "1"),
    ("disk0", "Maximum read-ahead (blks)", "33"),
    ("disk0", "Read-ahead over requested", "-1"),
    ("disk0", "Read-ahead on idle hit", "1"),
    ("disk0", "Fast write level", "2"),
    ("disk0", "Combine seq writes", "0"),
    ("disk0", "Stop prefetch in sector", "0"),
    ("disk0", "Disconnect write if seek", "1"),
    ("disk0", "Write hit stop prefetch", "0"),
    ("disk0", "Read directly to buffer", "0"),
    ("disk0", "Immed transfer partial hit", "0"),
    ("disk0", "Read hit over. after read", "9"),
    ("disk0", "Read hit over. after write", "9"),
    ("disk0", "Read miss over. after read", "9"),
    ("disk0", "Read miss over. after write", "9"),
    ("disk0", "Write miss over. after read", "9"),
    ("disk0", "Write miss over. after write", "9"),
    ("disk0", "Read completion overhead", "9"),
    ("disk0", "Write completion overhead", "9"),
    ("disk0", "Data preparation overhead", "9"),
    ("disk0", "First reselect overhead", "9"),
    ("disk0", "Other reselect overhead", "9"),
    ("disk0", "Read disconnect afterread", "9"),
    ("disk0", "Read disconnect afterwrite", "9"),
    ("disk0", "Write disconnect overhead", "9"),
    ("disk0", "Extra write disconnect", "1"),
    ("disk0", "Minimum seek delay", "9"),
    ("disk0", "Scheduler:Scheduling policy", "8"),
    ("disk0", "Scheduler:Sequential stream scheme", "1"),
    ("disk0", "Scheduler:Overlapping request scheme", "1"),
    ("disk0", "Scheduler:Scheduling priority scheme", "1"),
    ("disk0", "Model:Block count", "781"),
    ("disk0", "Model:Number of data surfaces", "3"),
    ("disk0", "Model:Number of cylinders", "41"),
    ("disk0", "Model:Layout Model:LBN-to-PBN mapping scheme", "1"),
    ("disk0", "Model:Layout Model:Sparing scheme used", "10"),
    ("disk0", "Model:Layout Model:Skew units", "revolutions"),
    (
        "disk0",
        "Model:Mechanical Model:Access time type",
        "constant",
    ),
    ("disk0", "Model:Mechanical Model:Seek type", "constant"),
    (
        "disk0",
        "Model:Mechanical Model:Full seek curve",
        "other.seek",
    ),
    (
        "disk0",
        "Model:Mechanical Model:Add. write settling delay",
        "0.1",
    ),
    ("disk0", "Model:Mechanical Model:Head switch time", "0.5"),
    (
        "disk0",
        "Model:Mechanical Model:Rotation speed (in rpms)",
        "7200",
    ),
];

const SYSTEM_CALLS: &[Put] = &[("Synthio", "System call/return with each request", "1")];
const A_CALL: &[Put] = &[("Synthio", "Think time from call to request", "1")];
const FAST_WRITES: &[Put] = &[("disk0", "Fast write level", "2")];
const EXTRA_DISCONNECTION: &[Put] = &[("disk0", "Extra write disconnect", "1")];

/// Those that count only beside another value.
const BESIDE: &[(&[Put], Put)] = &[
    (
        SYSTEM_CALLS,
        ("Synthio", "Think time from call to request", "1"),
    ),
    (
        SYSTEM_CALLS,
        ("Synthio", "Think time from request to return", "1"),
    ),
    (
        A_CALL,
        ("Synthio", "System call/return with each request", "1"),
    ),
    (FAST_WRITES, ("disk0", "Write hit over. after read", "9")),
    (FAST_WRITES, ("disk0", "Write hit over. after write", "9")),
    (
        EXTRA_DISCONNECTION,
        ("disk0", "Extradisc command overhead", "9"),
    ),
    (
        EXTRA_DISCONNECTION,
        ("disk0", "Extradisc disconnect overhead", "9"),
    ),
    (
        EXTRA_DISCONNECTION,
        ("disk0", "Extradisc inter-disconnect delay", "9"),
    ),
    (
        EXTRA_DISCONNECTION,
        ("disk0", "Extradisc 2nd disconnect overhead", "9"),
    ),
    (EXTRA_DISCONNECTION, ("disk0", "Extradisc seek delta", "9")),
    (
        &[("ctlr0", "type", "2")],
        ("ctlr0", "Bulk sector transfer time", "0.5"),
    ),
    (
        &[("ctlr0", "Bulk sector transfer time", "0.5")],
        ("ctlr0", "type", "2"),
    ),
    (
        &[("bus1", "Arbitration time", "0.5")],
        ("bus1", "type", "2"),
    ),
    (
        &[("disk0", "Scheduler:Scheduling policy", "8")],
        ("disk0", "Scheduler:Cylinder mapping strategy", "1"),
    ),
    (
        &[("disk0", "Scheduler:Scheduling policy", "8")],
        ("disk0", "Scheduler:Write initiation delay", "1"),
    ),
    (
        &[("disk0", "Scheduler:Scheduling policy", "8")],
        ("disk0", "Scheduler:Read initiation delay", "1"),
    ),
    (
        &[("disk0", "Scheduler:Scheduling policy", "14")],
        ("disk0", "Scheduler:Timeout time/weight", "7"),
    ),
    (
        &[("disk0", "Model:Layout Model:Sparing scheme used", "8")],
        ("disk0", "Model:Layout Model:Rangesize for sparing", "5"),
    ),
    (
        &[("disk0", "Model:Mechanical Model:Seek type", "curve")],
        (
            "disk0",
            "Model:Mechanical Model:Single cylinder seek time",
            "0.6",
        ),
    ),
    (
        &[("disk0", "Model:Mechanical Model:Seek type", "curve")],
        ("disk0", "Model:Mechanical Model:Average seek time", "1.6"),
    ),
    (
        &[("disk0", "Model:Mechanical Model:Seek type", "linear")],
        (
            "disk0",
            "Model:Mechanical Model:Full strobe seek time",
            "2.6",
        ),
    ),
    (
        &[("disk0", "Model:Mechanical Model:Seek type", "constant")],
        ("disk0", "Model:Mechanical Model:Constant seek time", "2.6"),
    ),
    (
        &[("disk0", "Model:Mechanical Model:Seek type", "hpl")],
        (
            "disk0",
            "Model:Mechanical Model:HPL seek equation values",
            "[ 20, 1, 0.1, 1.2, 0.01, 0.5 ]",
        ),
    ),
    (
        &[("disk0", "Model:Mechanical Model:Seek type", "hplplus10")],
        (
            "disk0",
            "Model:Mechanical Model:First ten seek times",
            "[ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 ]",
        ),
    ),
];

/// In place of overrides, which do not reach into lists.
const TEXTS: &[(&str, &str, &str)] = &[
    (
        "First cylinder number",
        "First cylinder number = 20",
        "First cylinder number = 21",
    ),
    (
        "Last cylinder number",
        "Last cylinder number = 9",
        "Last cylinder number = 10",
    ),
    (
        "Blocks per track",
        "Blocks per track = 10",
        "Blocks per track = 11",
    ),
    (
        "Offset of first block",
        "Offset of first block = 3",
        "Offset of first block = 4",
    ),
    (
        "Skew units",
        "Skew for track switch = 2",
        "Skew units = revolutions, Skew for track switch = 2",
    ),
    (
        "Empty space at zone front",
        "Empty space at zone front = 10",
        "Empty space at zone front = 11",
    ),
    (
        "Skew for track switch",
        "Skew for track switch = 2",
        "Skew for track switch = 3",
    ),
    (
        "Skew for cylinder switch",
        "Skew for cylinder switch = 5",
        "Skew for cylinder switch = 6",
    ),
    (
        "Number of spares",
        "Number of spares = 10",
        "Number of spares = 11",
    ),
    ("slips", "slips = [ 30, 25 ]", "slips = [ 30, 26 ]"),
    ("defects", "defects = [ 40, 395 ]", "defects = [ 41, 395 ]"),
    ("tracedev", "tracedev = 0x0e", "tracedev = 0x0f"),
    ("simdev", "simdev = disk0", "simdev = disk1"),
    ("locScale", "locScale = 512", "locScale = 1024"),
    ("sizeScale", "sizeScale = 1", "sizeScale = 2"),
    ("offset", "offset = 0", "offset = 9"),
    (
        "Storage capacity per device",
        "Storage capacity per device = 700",
        "Storage capacity per device = 600",
    ),
    ("devices", "devices = [ org0 ]", "devices = [ disk1 ]"),
    (
        "Blocking factor",
        "Blocking factor = 8",
        "Blocking factor = 4",
    ),
    (
        "Probability of sequential access",
        "sequential access = 0.2",
        "sequential access = 0.1",
    ),
    (
        "Probability of local access",
        "local access = 0.3",
        "local access = 0.1",
    ),
    (
        "Probability of read access",
        "read access = 0.66",
        "read access = 0.67",
    ),
    (
        "Probability of time-critical request",
        "time-critical request = 0.25",
        "time-critical request = 0.2",
    ),
    (
        "Probability of time-limited request",
        "time-limited request = 0.35",
        "time-limited request = 0.3",
    ),
    (
        "Time-limited think times",
        "[ normal, 30.0, 100.0 ]",
        "[ normal, 30.0, 10.0 ]",
    ),
    (
        "General inter-arrival times",
        "[ exponential, 0.0, 50.0 ]",
        "[ exponential, 0.0, 51.0 ]",
    ),
    (
        "Sequential inter-arrival times",
        "[ uniform, 0.0, 60.0 ]",
        "[ uniform, 0.0, 61.0 ]",
    ),
    (
        "Local inter-arrival times",
        "[ poisson, 1.0, 40 ]",
        "[ poisson, 1.0, 41 ]",
    ),
    (
        "Local distances",
        "[ normal, 0.0, 4000.0 ]",
        "[ normal, 0.0, 4001.0 ]",
    ),
    (
        "Sizes",
        "[ twovalue, 8, 16.0, 0.125 ]",
        "[ twovalue, 8, 16.0, 0.25 ]",
    ),
    ("Zones", "Blocks per track = 10", "Blocks per track = 12"),
    (
        "Model",
        "Number of cylinders = 40",
        "Number of cylinders = 42",
    ),
    (
        "Scheduler",
        "Scheduling policy = 1,\n      Cylinder mapping strategy = 4",
        "Scheduling policy = 4,\n      Cylinder mapping strategy = 4",
    ),
    (
        "Layout Model",
        "Number of spares = 10",
        "Number of spares = 12",
    ),
    (
        "Mechanical Model",
        "Head switch time = 0.25",
        "Head switch time = 0.5",
    ),
];

const STRIPED: Put = ("org0", "Distribution scheme", "Striped");
const MIRRORED: Put = ("org0", "Redundancy scheme", "Shadowed");
const ROTATED: Put = ("org0", "Redundancy scheme", "Parity_rotated");
const JOINING: Put = ("driver0", "Scheduler:Sequential stream scheme", "1");
const TIMED: Put = ("driver0", "Scheduler:Scheduling timeout scheme", "1");
const URGENT: Put = ("driver0", "Scheduler:Scheduling priority scheme", "1");

/// What matters in a system of four disks only, beside other overrides.
const OF_SYSTEMS: &[(&[Put], Put)] = &[
    (&[STRIPED], ("org0", "Addressing mode", "Array")),
    (&[], STRIPED),
    (&[], MIRRORED),
    (&[], ("org0", "devices", "[ disk1 ]")),
    (&[STRIPED], ("org0", "Stripe unit", "32")),
    (&[MIRRORED], ("org0", "Number of copies", "4")),
    (&[MIRRORED], ("org0", "Copy choice on read", "1")),
    (
        &[STRIPED, ROTATED],
        ("org0", "Synch writes for safety", "1"),
    ),
    (&[STRIPED, ROTATED], ("org0", "RMW vs. reconstruct", "0.9")),
    (&[STRIPED, ROTATED], ("org0", "Parity stripe unit", "128")),
    (&[STRIPED, ROTATED], ("org0", "Parity rotation type", "3")),
    (&[], JOINING),
    (
        &[JOINING],
        ("driver0", "Scheduler:Maximum concat size", "64"),
    ),
    (&[], TIMED),
    (&[TIMED], ("driver0", "Scheduler:Timeout time/weight", "7")),
    (&[TIMED], ("driver0", "Scheduler:Timeout scheduling", "1")),
    (&[], URGENT),
    (&[URGENT], ("driver0", "Scheduler:Priority scheduling", "1")),
];

const LONGER: Put = ("disk0", "Max queue length", "4");

/// What matters in a system of simple disks.
const OF_SIMPLE_DISKS: &[(&[Put], Put)] = &[
    (&[], LONGER),
    (&[LONGER], ("disk0", "Scheduler:Scheduling policy", "3")),
    (&[], ("disk0", "Block count", "999")),
    (&[], ("disk0", "Bus transaction latency", "0.1")),
    (&[], ("disk0", "Bulk sector transfer time", "0.1")),
    (&[], ("disk0", "Command overhead", "0.1")),
    (&[], ("disk0", "Constant access time", "0.1")),
];

const PERIODIC: Put = ("ctlr0", "Cache:Flush policy", "1");

/// What matters with a memory cache in the controller.
const OF_MEMORY: &[(&[Put], Put)] = &[
    (&[], ("ctlr0", "Maximum queue length", "5")),
    (&[], ("ctlr0", "Max per-disk pending count", "2")),
    (&[], ("ctlr0", "Scheduler:Maximum concat size", "64")),
    (&[], ("ctlr0", "Cache:Cache size", "1024")),
    (&[], ("ctlr0", "Cache:SLRU segments", "[ 128, 384 ]")),
    (&[], ("ctlr0", "Cache:Line size", "32")),
    (&[], ("ctlr0", "Cache:Bit granularity", "2")),
    (&[], ("ctlr0", "Cache:Lock granularity", "8")),
    (&[], ("ctlr0", "Cache:Shared read locks", "0")),
    (&[], ("ctlr0", "Cache:Max request size", "128")),
    (&[], ("ctlr0", "Cache:Replacement policy", "1")),
    (&[], ("ctlr0", "Cache:Allocation policy", "1")),
    (&[], ("ctlr0", "Cache:Write scheme", "1")),
    (&[], PERIODIC),
    (&[PERIODIC], ("ctlr0", "Cache:Flush period", "30")),
    (&[], ("ctlr0", "Cache:Flush idle delay", "5")),
    (&[], ("ctlr0", "Cache:Flush max line cluster", "4")),
    (&[], ("ctlr0", "Cache:Read prefetch type", "1")),
    (&[], ("ctlr0", "Cache:Write prefetch type", "1")),
    (&[], ("ctlr0", "Cache:Line-by-line fetches", "0")),
    (&[], ("ctlr0", "Cache:Max gather", "3")),
];

/// What matters with a cache device behind the controller.
const OF_CACHE_DEVICE: &[(&[Put], Put)] = &[
    (&[], ("ctlr0", "Cache:Cache size", "400")),
    (&[], ("ctlr0", "Cache:Max request size", "128")),
    (&[], ("ctlr0", "Cache:Write scheme", "1")),
    (&[], PERIODIC),
    (&[], ("ctlr0", "Cache:Flush idle delay", "5")),
    (&[], ("ctlr0", "Cache:Cache device", "disk0")),
    (&[], ("ctlr0", "Cache:Cached device", "disk1")),
];

/// What matters of an SSD.
const OF_SSDS: &[(&[Put], Put)] = &[
    (&[], ("ssd0", "Flash chip elements", "4")),
    (&[], ("ssd0", "Page size", "16")),
    (&[], ("ssd0", "Pages per block", "128")),
    (&[], ("ssd0", "Blocks per element", "16385")),
    (&[], ("ssd0", "Element stride pages", "2")),
    (&[], ("ssd0", "Chip xfer latency", "0.00005")),
    (&[], ("ssd0", "Page read latency", "0.05")),
    (&[], ("ssd0", "Page write latency", "0.3")),
    (&[], ("ssd0", "Block erase latency", "2")),
    (&[], ("ssd0", "Write policy", "1")),
    (&[], ("ssd0", "Reserve pages percentage", "10")),
    (&[], ("ssd0", "Minimum free blocks percentage", "4")),
    (&[], ("ssd0", "Cleaning policy", "3")),
    (&[], ("ssd0", "Planes per package", "4")),
    (&[], ("ssd0", "Blocks per plane", "1024")),
    (&[], ("ssd0", "Copy back", "0")),
    (&[], ("ssd0", "Number of parallel units", "2")),
    (&[], ("ssd0", "Elements per gang", "2")),
    (
        &[("ssd0", "Elements per gang", "2")],
        ("ssd0", "Gang share", "2"),
    ),
    (&[], ("ssd0", "Cleaning in background", "1")),
    (&[], ("ssd0", "Allocation pool logic", "2")),
    (&[], ("ssd0", "Command overhead", "0.1")),
    (&[], ("ssd0", "Max queue length", "5")),
    (&[], ("ssd0", "Bulk sector transfer time", "0.1")),
];

/// What an import comes to; the electronics as DiskSim has them would differ with every parameter.
fn outcome(sample: &Sample, overrides: &[(&str, &str, &str)]) -> String {
    match sample.import(overrides) {
        Ok(import) => format!(
            "{:?} {:?} {:?}",
            import.drive, import.settings, import.warnings
        ),
        Err(error) => format!("{error}"),
    }
}

fn last(path: &str) -> &str {
    path.rsplit(':').next().expect("a part")
}

#[test]
fn every_parameter_that_counts_changes_something() {
    let sample = Sample::new().with_load();
    let mut changed: BTreeMap<&str, bool> = BTreeMap::new();
    let plain = outcome(&sample, &[]);
    for &put in OTHERS {
        let differs = outcome(&sample, &[put]) != plain;
        assert!(differs, "{put:?} changes nothing");
        changed.insert(last(put.1), true);
    }
    for &(beside, put) in BESIDE {
        let all: Vec<_> = beside.iter().copied().chain([put]).collect();
        assert!(
            outcome(&sample, &all) != outcome(&sample, beside),
            "{put:?} changes nothing"
        );
        changed.insert(last(put.1), true);
    }
    for &(name, from, to) in TEXTS {
        assert!(
            outcome(&sample.clone().replace(from, to), &[]) != plain,
            "{name} changes nothing"
        );
        changed.insert(name, true);
    }
    let simple = systems::simple(&systems::several(2));
    let [memory, cache_device] = controllers::with_caches();
    assert!(systems::outcome(&memory, &[]) != systems::outcome(&cache_device, &[]));
    changed.insert("Cache", true);
    let of_systems = [
        (memory, OF_MEMORY),
        (cache_device, OF_CACHE_DEVICE),
        (systems::several(4), OF_SYSTEMS),
        (simple.clone(), OF_SIMPLE_DISKS),
        (
            simple.replace("Constant access time = 9.5", "Access time = 9.5"),
            &[(&[], ("disk0", "Access time", "8.5"))],
        ),
    ];
    for (sample, puts) in of_systems {
        for &(beside, put) in puts {
            let all: Vec<_> = beside.iter().copied().chain([put]).collect();
            assert!(
                systems::outcome(&sample, &all) != systems::outcome(&sample, beside),
                "{put:?} changes nothing"
            );
            changed.insert(last(put.1), true);
        }
    }
    for &(beside, put) in OF_SSDS {
        let all: Vec<_> = beside.iter().copied().chain([put]).collect();
        assert!(
            ssd::outcome(&all) != ssd::outcome(beside),
            "{put:?} changes nothing"
        );
        changed.insert(last(put.1), true);
    }
    for row in parameters() {
        let matters = row.used || row.warned;
        assert!(
            !matters || changed.contains_key(row.parameter),
            "{} {} is not tried",
            row.module,
            row.parameter
        );
        assert!(
            row.used || !row.because.is_empty(),
            "{} {}",
            row.module,
            row.parameter
        );
    }
}

#[test]
fn unknown_parameters_are_ignored_with_a_warning() {
    let import = Sample::new()
        .replace("Init Seed = 42", "Init Sead = 42")
        .sound(&[]);
    let told: Vec<_> = import
        .warnings
        .iter()
        .filter(|warning| warning.contains("Init Sead"))
        .collect();
    assert_eq!(
        told,
        [
            "a/small.parv:2:4: disksim_global knows no parameter \"Init Sead\", which is ignored; did you mean \"Init Seed\"?"
        ]
    );
}

#[test]
fn what_is_defined_twice_counts_once() {
    let import = Sample::new()
        .replace(
            "BUS0 BUS1 {",
            "disksim_bus BUS0 { type = 7 }\nBUS0 BUS1 { Read block transfer time = 0.9, ",
        )
        .replace(
            "instantiate [ ctlr0 ]",
            "instantiate [ bus1 ] as BUS0\ninstantiate [ ctlr0 ]",
        )
        .sound(&[]);
    assert_eq!(
        import.drive.interface.block_time.map(|time| time.ns()),
        Some(50_000)
    );
    for told in [
        "a second block of the name \"BUS0\"",
        "a second instance of the name \"bus1\"",
        "\"Read block transfer time\" replaces its value at a/small.parv:36:13",
    ] {
        assert!(
            import.warnings.iter().any(|warning| warning.contains(told)),
            "{told}: {:?}",
            import.warnings
        );
    }
}
