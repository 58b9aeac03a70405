//! The example load of DiskSim's SSD extension, and the means of its own output.

use super::{mean_ms, near, run};

/// The load: gaps uniform on 0 to 1 ms, sizes of mean 8 blocks rounded up to pages, on part of the drive.
fn example(requests: u32, reads: f64, is_sequential: bool, drive: &str) -> f64 {
    let blocks = 7_018_904;
    let address = if is_sequential {
        format!("{{ sequential = {{ blocks = {blocks} }} }}")
    } else {
        format!("{{ uniform = {{ blocks = {blocks}, align = '4 KiB' }} }}")
    };
    let result = run(&format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ uniform = {{ max = '1 ms' }} }}\nreads = {reads}\n\
         size = {{ exponential = '8 blocks', multiple = '8 blocks' }}\naddress = {address}\n\
         [measure]\nwarmup = 0\n[device.ssd]\ndrive = 'slc-classic'\n{drive}"
    ));
    mean_ms(&result)
}

/// Rows without cleaning: of the drive only what the load touches need be filled.
const PARTLY_FULL: &str = "initial = { fill = '13 %' }";

#[test]
fn the_rows_without_cleaning_come_out() {
    for (reads, is_sequential, expected) in [
        (1.0, true, 0.132511),
        (0.0, true, 0.310895),
        (1.0, false, 0.136118),
        (0.0, false, 0.329458),
    ] {
        let found = example(250_000, reads, is_sequential, PARTLY_FULL);
        near(
            &format!("reads {reads}, sequential {is_sequential}"),
            found,
            expected,
            0.05,
        );
    }
}

#[test]
#[ignore = "takes minutes"]
fn the_rows_with_cleaning_come_out() {
    for (is_sequential, expected) in [(true, 0.334365), (false, 0.593438)] {
        let found = example(5_000_000, 0.0, is_sequential, "");
        near(
            &format!("5 M writes, sequential {is_sequential}"),
            found,
            expected,
            0.05,
        );
    }
}
