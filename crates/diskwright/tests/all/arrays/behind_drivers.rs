//! An array over drivers: which request a driver chooses at a completion on which an array's write has waited.

use crate::support::twins::completions;
use crate::support::{RunOptions, checked, from_text_in, outcome_of};

/// Devices of 10 ms. At 0 ms a small write reads the old data from member 0 and the old parity from member 2; at 1 ms a read far away on
/// member 0 comes.
fn ends(scheduler: &str) -> Vec<Option<u64>> {
    let folder = tempfile::tempdir().expect("a folder");
    // Row 301 has its second unit on member 0.
    let trace = format!("0.0 0 0 8 0\n1.0 0 {} 8 1\n", 603 * 8);
    std::fs::write(folder.path().join("a.trace"), trace).expect("written");
    let member = format!(
        "[[device.array.member]]\n[device.array.member.driver]\nscheduler = {scheduler}\n[device.array.member.driver.device.simple]\n\
         capacity = \"10_000 blocks\"\nread = \"10 ms\"\nwrite = \"10 ms\"\n"
    );
    let text = format!(
        "[workload]\ntrace = \"a.trace\"\nformat = \"disksim-ascii\"\n[device.array]\nlayout = {{ raid-5 = {{ unit = \"8 blocks\", waits = \"own-chain\", writes = {{ threshold = 2 }} }} }}\n{}",
        member.repeat(3)
    );
    let options = RunOptions {
        keep_requests: true,
        ..checked()
    };
    let outcome = outcome_of(&from_text_in(text, folder.path()), &options);
    completions(&outcome.unwrap_or_else(|error| panic!("{error}")), 2)
}

#[test]
fn a_write_that_a_completion_releases_takes_part_in_the_choice() {
    let ms = |ms: u64| Some(ms * 1_000_000);
    // The write is where the head is.
    assert_eq!(ends("\"sstf\""), [ms(20), ms(30)]);
    // The read came first.
    assert_eq!(ends("\"fcfs\""), [ms(30), ms(20)]);
}
