//! Look-alikes of published tables: what is measured of them is what the tables say.

use std::path::{Path, PathBuf};

use diskwright::workload::{FormatOptions, InspectOptions, Inspection, inspect};

fn example(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("examples/look-alike").join(name)
}

fn measured(path: &Path, seed: u64) -> Inspection {
    let mut format = FormatOptions::default();
    format.look_alike.seed = Some(seed);
    let options = InspectOptions {
        format,
        ..InspectOptions::default()
    };
    inspect(path, &options, &mut ()).unwrap()
}

/// Requests and blocks of the working set, of random and sequential requests, of reads and of writes.
type Table = [(u64, u64); 5];

fn table(seen: &Inspection) -> Table {
    let all = &seen.all;
    [
        (all.working_set_requests, all.working_set_blocks),
        (all.random_requests, all.random_blocks),
        (all.sequential_requests, all.sequential_blocks),
        (all.reads, all.read_blocks),
        (all.writes, all.write_blocks),
    ]
}

const SMALLDISKMON: Table = [
    (41_819, 1_956_272),
    (57_166, 1_872_624),
    (15_656, 1_756_502),
    (31_208, 992_172),
    (41_614, 2_636_954),
];
const PCFAT32: Table = [
    (204_386, 7_484_939),
    (437_742, 10_417_692),
    (199_145, 14_561_873),
    (414_498, 14_724_779),
    (222_389, 10_254_786),
];

#[test]
fn the_published_tables_come_back_exactly_from_every_seed() {
    for seed in [1, 2] {
        let seen = measured(&example("smalldiskmon.toml"), seed);
        assert_eq!(
            (table(&seen), seen.format.as_str()),
            (SMALLDISKMON, "look-alike")
        );
    }
    assert_eq!(table(&measured(&example("pcfat32.toml"), 1)), PCFAT32);
}
