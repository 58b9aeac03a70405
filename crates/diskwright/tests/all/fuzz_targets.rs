//! Every trace format has a fuzz target, so that a new one is not forgotten; so have DiskSim's parameter files.

use std::collections::BTreeSet;
use std::path::Path;

use diskwright::workload::FORMATS;

#[test]
fn every_format_has_a_fuzz_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let text = |path: &Path| std::fs::read_to_string(path).expect("a file of the repository");
    let mut expected = BTreeSet::from(["parv", "round_trip"].map(str::to_owned));
    for format in FORMATS {
        let target = format.name.replace('-', "_");
        let source = text(&fuzz.join("fuzz_targets").join(format!("{target}.rs")));
        assert!(source.contains(&format!("reader!(\"{}\")", format.name)));
        expected.insert(target);
    }
    let manifest: toml::Table = text(&fuzz.join("Cargo.toml")).parse().expect("TOML");
    let targets = manifest["bin"].as_array().expect("targets");
    let names = targets.iter().filter_map(|target| target["name"].as_str());
    assert_eq!(names.map(str::to_owned).collect::<BTreeSet<_>>(), expected);
}
