//! A log finds a free slot for every write, however long its heads settle and however short its seeks are.

use crate::support::run;
use proptest::prelude::*;

/// Requests a second apart on a drive of 300 cylinders of 20 sectors, with this seek and settling time, and this placement.
fn log(surfaces: u32, (seek_us, settle_us, switch_us): (u64, u64, u64), rpm: u32, placement: &str) {
    let drive = tempfile::Builder::new().suffix(".toml").tempfile();
    let drive = drive.expect("a temporary file");
    let text = format!(
        "name = \"small\"\nrotation = \"{rpm} rpm\"\nheads = {{ switch = \"{switch_us} us\", write_settle = \"{settle_us} us\" }}\n\
         seek = {{ constant = \"{seek_us} us\" }}\n\
         [layout]\nsurfaces = {surfaces}\ncylinders = 300\nzone = [{{ cylinders = [0, 299], sectors_per_track = 20 }}]\n"
    );
    std::fs::write(drive.path(), text).expect("written");
    let found = run(&format!(
        "[workload.synthetic]\nrequests = 50\nreads = 0.5\nsize = \"8 blocks\"\narrivals = {{ constant = \"1 s\" }}\n\
         [measure]\nwarmup = 0\n[device.hdd]\ndrive = \"{}\"\n[device.hdd.placement.eager]\n{placement}\n",
        drive.path().display()
    ));
    assert_eq!(found["requests"]["completed"], 50);
}

/// A seek that takes no time has no settling behind it, so that a write may be sooner than the settling alone.
#[test]
fn settling_of_more_than_a_turn_behind_seeks_of_no_time() {
    log(1, (0, 9_000, 0), 7_200, "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_slot_is_found_for_every_write(
        surfaces in 1u32..4,
        seek_us in prop_oneof![Just(0), 0u64..30_000],
        settle_us in prop_oneof![Just(0), 0u64..40_000],
        switch_us in prop_oneof![Just(0), 0u64..20_000],
        rpm in 1_200u32..16_000,
        placement in prop::sample::select(vec![
            "", "ties = \"inward\"", "ties = \"emptier\"", "allocator = \"nearest-cylinder\"", "allocator = \"edge\"",
            "initial = { write = \"90 %\" }", "reserve = 0.0\nrecovery = \"virtual-log\"",
        ]),
    ) {
        let placement = placement.replace("90 %", "4000 blocks");
        log(surfaces, (seek_us, settle_us, switch_us), rpm, &placement);
    }
}

/// Three arms that write parts of the same few blocks, of which most have no slot yet, with a slot more than there are blocks.
#[test]
fn arms_that_write_the_same_blocks_find_slots() {
    let drive = tempfile::Builder::new().suffix(".toml").tempfile();
    let drive = drive.expect("a temporary file");
    let text = "name = \"tiny\"\nrotation = \"7200 rpm\"\nheads.switch = \"1 ms\"\nseek.constant = \"1 ms\"\n\
                [layout]\nsurfaces = 1\ncylinders = 3\nzone = [{ cylinders = [0, 2], sectors_per_track = 20 }]\n";
    std::fs::write(drive.path(), text).expect("written");
    for recovery in ["headers", "virtual-log"] {
        let found = run(&format!(
            "[workload.synthetic]\nrequests = 400\nreads = 0.3\nsize = \"3 blocks\"\naddress = \"uniform\"\n\
             arrivals = {{ closed = {{ users = 8 }} }}\n[measure]\nwarmup = 0\n\
             [device.hdd]\ndrive = \"{}\"\n[device.hdd.placement.eager]\nreserve = 0.0\nrecovery = \"{recovery}\"\n\
             [device.hdd.arms]\nmotion = \"independent\"\narm = [{{}}, {{ angle = 0.3 }}, {{ angle = 0.6 }}]\n",
            drive.path().display()
        ));
        assert_eq!(found["requests"]["completed"], 400, "{recovery}");
    }
}
