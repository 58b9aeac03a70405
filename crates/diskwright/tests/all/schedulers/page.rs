//! The manual's page of schedulers has a row for each, with its names, rule, parameters and defaults.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use diskwright::base::units::Time;
use diskwright::models::queue::SchedulerSpec;
use diskwright::models::queue::schedulers::Starvation;
use serde_json::Value;

use super::common::{scheduler, spec};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schedulers.md");
    fs::read_to_string(path).expect("the manual's page")
}

/// The cells of every table row whose first cell is a name in code, by that cell.
fn rows(page: &str) -> BTreeMap<&str, Vec<Vec<&str>>> {
    let mut rows: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        rows.entry(cells[0]).or_default().push(cells);
    }
    rows
}

/// A scheduler's parameters with their defaults, as the page writes them.
fn parameters(name: &str) -> String {
    let built = spec(&format!("{name:?}")).expect("a name of the registry");
    match serde_json::to_value(&built).expect("plain data") {
        Value::Object(map) => {
            let parameters = map[name].as_object().expect("parameters");
            let all = parameters
                .iter()
                .map(|(key, value)| format!("`{key} = {value}`"));
            all.collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

#[test]
fn every_scheduler_has_its_rows() {
    let page = page();
    let rows = rows(&page);
    for row in SchedulerSpec::rows() {
        let name = format!("`{}`", row.name);
        let found = rows.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        let [rule, judgement] = found else {
            panic!("{name} has {} rows, not one in each table", found.len());
        };
        let aliases = row.aliases.iter().map(|alias| format!("`{alias}`"));
        let aliases = aliases.collect::<Vec<_>>().join(", ");
        let expected = [aliases, row.summary.to_owned(), parameters(row.name)];
        assert_eq!(rule[1..], expected, "{name}");

        let built = scheduler(&format!("{:?}", row.name));
        let queue = if built.needs_geometry() {
            "drive"
        } else {
            "drive, host"
        };
        assert_eq!(judgement[1], queue, "{name}");
        let waits = judgement[2];
        let is_unbounded = built.starvation(Time::from_ms(20)) == Starvation::Unbounded;
        assert_eq!(
            waits.starts_with("without limit"),
            is_unbounded,
            "{name}: {waits}"
        );
        assert_eq!(judgement.len(), 6, "{name}");
        assert!(
            judgement[3..5].iter().all(|cell| !cell.is_empty()),
            "{name}"
        );
    }
    let count = SchedulerSpec::rows().len();
    assert_eq!(rows.len(), count, "a row is of no scheduler");
}

#[test]
fn every_parameter_is_explained() {
    let page = page();
    for row in SchedulerSpec::rows() {
        let parameters = parameters(row.name);
        for parameter in parameters.split(", ").filter(|text| !text.is_empty()) {
            let key = parameter.trim_matches('`').split(' ').next();
            let line = format!("- `{}`: ", key.expect("text before the first space"));
            assert!(page.contains(&line), "no line {line:?} for {}", row.name);
        }
    }
}
