//! The clean configuration of MQSim, and the means and counts of its own output.

use serde_json::Value;

use super::{mean_ms, near, of_drive, run};

/// A closed loop of 4 KiB requests, at random over `share` of the drive or one after the other.
fn closed(users: u32, requests: u32, reads: f64, share: Option<f64>) -> Value {
    /// The drive in pages of 4 KiB, without the 7 % that are spare.
    const PAGES: f64 = 8.0 * 4.0 * 2.0 * 2.0 * 64.0 * 256.0 * 0.93;
    let address = match share {
        None => "'sequential'".to_owned(),
        Some(share) => {
            let pages = libm::floor(PAGES * share);
            format!(
                "{{ uniform = {{ blocks = {}, align = '4 KiB' }} }}",
                pages * 8.0
            )
        }
    };
    run(&format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ closed = {{ users = {users} }} }}\n\
         reads = {reads:?}\nsize = '4 KiB'\naddress = {address}\n\
         [host]\noutstanding = {users}\n[measure]\nwarmup = 0\n[device.ssd]\ndrive = 'mqsim-clean'\n"
    ))
}

#[test]
fn the_rows_before_cleaning_come_out() {
    for (users, reads, share, expected_us) in [
        (1, 1.0, Some(0.8), 88.905),
        (16, 1.0, Some(0.8), 120.3),
        (256, 1.0, Some(0.8), 1018.0),
        (1, 0.0, Some(0.8), 763.964),
        (16, 0.0, Some(0.8), 984.7),
        (16, 1.0, None, 99.885),
        (16, 0.0, None, 763.965),
    ] {
        let found = mean_ms(&closed(users, 200_000, reads, share)) * 1e3;
        near(
            &format!("reads {reads}, {users} outstanding, {share:?}"),
            found,
            expected_us,
            0.02,
        );
    }
}

#[test]
#[ignore = "takes minutes"]
fn cleaning_moves_as_much_and_erases_as_often() {
    let result = closed(16, 2_500_000, 0.0, Some(0.7));
    let erases = result["devices"]["ssd"]["erases"]["total"].as_f64();
    near("erases", erases.expect("a count"), 5_594.0, 0.05);
    near(
        "moved pages",
        of_drive(&result, "moved_pages"),
        557_470.0,
        0.05,
    );
    near(
        "write amplification",
        of_drive(&result, "write_amplification"),
        1.22,
        0.05,
    );
}
