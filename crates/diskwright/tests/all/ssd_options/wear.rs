//! How long a drive lasts under the load of a run.

use serde_json::Value;

use super::Plane;

/// Pages of 4 KiB that the host writes, one every 10 ms, over a drive of 40 of them and again.
const WRITES: u64 = 4_000;
const CAPACITY: u64 = 40;
const ENDURANCE: u32 = 3_000;

fn worn(tables: &str) -> Value {
    let plane = Plane {
        blocks: 10,
        pages: 8,
        spare: "50 %",
        more: &format!("[cleaning]\nbegin = 2\n{tables}"),
    };
    let writes = (0..WRITES).map(|number| (number * 10_000_000, "write", number % CAPACITY));
    plane.times(&writes.collect::<Vec<_>>()).1
}

#[test]
fn years_and_drive_writes_a_day_are_those_of_the_erases() {
    let ssd = worn(&format!("[wear]\nendurance = {ENDURANCE}\n"));
    let number = |key: &str| ssd[key].as_f64().unwrap_or_else(|| panic!("{key}: {ssd}"));
    // From the first request to the last completion.
    let days = ((WRITES - 1) as f64 * 0.01 + 0.000_600_8) / 86_400.0;
    let load = WRITES as f64 / CAPACITY as f64 / days;
    assert!((number("drive_writes_per_day") / load - 1.0).abs() < 1e-9);
    let mean = ssd["erases"]["mean"].as_f64().expect("a mean");
    assert!(mean > 40.0, "{mean}");
    let years = f64::from(ENDURANCE) / mean * days / 365.0;
    let left = 1.0 - mean / f64::from(ENDURANCE);
    assert!((number("wear_years") / (years * left) - 1.0).abs() < 1e-9);
    assert!((number("endured_drive_writes_per_day") / (load * years / 5.0) - 1.0).abs() < 1e-9);
    // As makers reckon: programs and erases of all blocks, over what a drive write costs of them, in five years.
    let blocks = 10.0 * f64::from(ENDURANCE) * 8.0 / CAPACITY as f64;
    let amplification = number("write_amplification");
    let reckoned = blocks / amplification / (5.0 * 365.0);
    let found = number("endured_drive_writes_per_day");
    // Blocks that are not full when the run ends are a part of one drive write in a hundred.
    assert!(
        (found / reckoned - 1.0).abs() < 0.03,
        "{found} for {reckoned}"
    );
}

#[test]
fn what_does_not_wear_out_has_no_years() {
    let ssd = worn("");
    assert!(ssd["drive_writes_per_day"].as_f64() > Some(0.0));
    assert!(ssd["wear_years"].is_null() && ssd["endured_drive_writes_per_day"].is_null());
}
