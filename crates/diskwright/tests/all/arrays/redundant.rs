//! Arrays with redundancy as specs have them: members that fail in the middle of a run, spares, scrubs, and what is refused.

use serde_json::Value;

use super::common::number;
use crate::support::{RunOptions, run, try_run_with};

const MEMBER: &str = "{ simple = { capacity = \"4 MiB\", read = \"4 ms\", write = \"5 ms\", rate = \"20 MB/s\", parallel = 1 } }";

/// Requests at random instants to an array of small devices.
fn spec(requests: u32, reads: &str, layout: &str, members: usize, more: &str) -> String {
    let members = vec![MEMBER; members].join(", ");
    let more = more.replace("MEMBER", MEMBER);
    format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ poisson = \"12 ms\" }}\nreads = {reads}\nsize = \"8 blocks\"\n\
         [measure]\nwarmup = 0\n[device.array]\nlayout = {layout}\nmember = [{members}]\n{more}\n"
    )
}

fn fault(at: &str, kind: &str) -> String {
    format!("[[fault]]\nat = \"{at}\"\nkind = {kind}\n")
}

const FIVE: &str = "{ raid-5 = { unit = \"64 blocks\" } }";
const SPARE: &str = "spare = [MEMBER]\nrebuild = { rate = \"2 MB/s\", step = \"64 KiB\" }";

#[test]
fn a_member_that_fails_in_the_middle_is_rebuilt_and_no_read_is_wrong() {
    for layout in [
        FIVE,
        "{ raid-5 = { unit = \"64 blocks\", rotation = \"right-asymmetric\", parity_unit = \"128 blocks\" } }",
        "{ raid-4 = { unit = \"16 blocks\" } }",
        "{ parity-striping = { unit = \"64 blocks\", rotation = \"right\" } }",
        "{ raid-6 = { unit = \"64 blocks\" } }",
        "{ raid-10 = { unit = \"64 blocks\" } }",
        "\"mirror\"",
    ] {
        let text = spec(1000, "0.6", layout, 4, SPARE);
        let result = run(&format!(
            "{text}{}",
            fault("4 s", "{ fail = \"array.member[1]\" }")
        ));
        assert_eq!(number(&result, "requests.failed"), 0.0, "{layout}");
        let array = &result["devices"]["array"];
        let rebuild = &array["rebuilds"][0];
        assert_eq!(rebuild["complete"], Value::from(true), "{layout}");
        assert_eq!([&rebuild["member"], &rebuild["spare"]], [1, 0]);
        // 4 MiB at 2 MB/s, and the last step.
        let took = rebuild["ended_s"].as_f64().expect("it has") - 4.0;
        assert!((2.0..4.0).contains(&took), "{layout}: {took} s");
        let counts = ["healthy", "rebuilding", "rebuilt"]
            .map(|condition| number(array, &format!("response_ms.{condition}.requests")));
        assert!(
            counts.iter().all(|&count| count > 50.0),
            "{layout}: {counts:?}"
        );
        assert_eq!(counts.iter().sum::<f64>(), 1000.0);
    }
}

#[test]
fn two_lost_members_and_an_unreadable_sector_are_made_up_for_by_raid_6() {
    let layout = "{ raid-6 = { unit = \"64 blocks\" } }";
    let spares = "spare = [MEMBER, MEMBER]\nrebuild = { step = \"64 KiB\" }";
    let text = spec(1200, "0.6", layout, 6, spares);
    let one = fault("3 s", "{ fail = \"array.member[2]\" }");
    let spoilt = fault(
        "2.9 s",
        "{ media-error = { device = \"array.member[0]\", from = 7000, blocks = 40 } }",
    );
    // An unreadable sector while one member is rebuilt.
    let result = run(&format!("{text}{one}{spoilt}"));
    assert_eq!(number(&result, "requests.failed"), 0.0);
    assert!(number(&result, "devices.array.repaired_blocks") >= 40.0);
    // A second member, lost while the first is rebuilt.
    let two = fault("3.2 s", "{ fail = \"array.member[5]\" }");
    let result = run(&format!("{text}{one}{two}"));
    assert_eq!(number(&result, "requests.failed"), 0.0);
    let rebuilds = result["devices"]["array"]["rebuilds"]
        .as_array()
        .expect("a list");
    assert_eq!(rebuilds.len(), 2);
    assert!(rebuilds.iter().all(|rebuild| rebuild["complete"] == true));
    // Both, and the sector: it may be lost, and the reads of it fail; none is wrong.
    let result = run(&format!("{text}{one}{two}{spoilt}"));
    let lost = result["devices"]["array"]["lost_blocks"].as_f64();
    assert!(number(&result, "requests.failed") == 0.0 || lost > Some(0.0));
}

/// The first step is read until 7 ms at least, and written until 15 ms; nothing else is written.
#[test]
fn a_spare_that_fails_in_the_middle_of_a_step_leaves_the_whole_of_it_to_the_next_one() {
    for layout in [
        FIVE,
        "{ raid-6 = { unit = \"64 blocks\" } }",
        "{ raid-10 = { unit = \"64 blocks\" } }",
    ] {
        let spares = "spare = [MEMBER, MEMBER]\nrebuild = { step = \"64 KiB\" }";
        let text = spec(5, "1.0", layout, 4, spares);
        let fails = fault("0 s", "{ fail = \"array.member[0]\" }");
        for ms in 1..20 {
            let again = fault(&format!("{ms} ms"), "{ fail = \"array.spare[0]\" }");
            let result = run(&format!("{text}{fails}{again}"));
            let last = &result["devices"]["array"]["rebuilds"][1];
            assert_eq!(last["complete"], Value::from(true), "{layout}, {ms} ms");
            assert_eq!(number(last, "blocks"), 8192.0);
            let writes = &result["devices"]["array.spare[1].simple"]["writes"];
            assert_eq!(writes, 64, "{layout}, {ms} ms");
        }
    }
}

/// Each copy has an unreadable block, in another unit.
#[test]
fn a_read_of_two_units_has_each_of_them_from_the_copy_that_can_be_read() {
    let layout = "{ raid-10 = { unit = \"4 blocks\", read = \"first\" } }";
    let place = "[measure]";
    let text = spec(1, "1.0", layout, 2, "").replace(
        place,
        &format!("address = {{ uniform = {{ blocks = 8 }} }}\n{place}"),
    );
    let spoilt = [0, 1].map(|member| {
        let from = 4 * member;
        let kind = format!(
            "{{ media-error = {{ device = \"array.member[{member}]\", from = {from}, blocks = 1 }} }}"
        );
        fault("0 s", &kind)
    });
    let result = run(&format!("{text}{}", spoilt.concat()));
    assert_eq!(number(&result, "requests.failed"), 0.0);
    let array = &result["devices"]["array"];
    assert_eq!(number(array, "repaired_blocks"), 4.0);
    // The whole from the first copy, both units from it, one of them from the second copy, and its repair.
    assert_eq!(number(array, "pieces"), 5.0);
    assert_eq!(number(array, "split_requests"), 0.0);
}

/// Of four members the first and the third have the same blocks, and so have the others.
#[test]
fn a_write_that_loses_a_copy_on_its_way_does_not_ask_after_other_groups() {
    let layout = "{ raid-10 = { unit = \"8 blocks\" } }";
    let place = "[measure]";
    let text = spec(100, "0.0", layout, 4, "")
        .replace("{ poisson = \"12 ms\" }", "{ closed = { users = 1 } }")
        .replace(
            place,
            &format!("address = {{ uniform = {{ from = 8, blocks = 8 }} }}\n{place}"),
        );
    let fails =
        |at: &str, member: u32| fault(at, &format!("{{ fail = \"array.member[{member}]\" }}"));
    let first_group = [fails("0 s", 0), fails("0 s", 2)].concat();
    // A write is always under way.
    let result = run(&format!("{text}{first_group}{}", fails("101 ms", 1)));
    assert_eq!(number(&result, "requests.failed"), 0.0);
    let members = &result["devices"]["array"]["members"];
    let pieces = |member: &str| members[member]["pieces"].as_u64().expect("a number");
    assert!((10..50).contains(&pieces("member[1]")));
    assert_eq!(pieces("member[3]"), 100);
}

#[test]
fn what_a_raid_5_cannot_make_up_for_is_lost_and_told() {
    let spoilt = fault(
        "0 s",
        "{ media-error = { device = \"array.member[0]\", from = 0, blocks = 8192 } }",
    );
    let text = spec(300, "1.0", FIVE, 4, SPARE);
    let result = run(&format!(
        "{text}{}{spoilt}",
        fault("10 ms", "{ fail = \"array.member[1]\" }")
    ));
    assert!(number(&result, "devices.array.lost_blocks") > 1000.0);
    assert!(
        result["warnings"]
            .to_string()
            .contains("blocks of the array are lost")
    );
    assert!(number(&result, "requests.failed") > 50.0);
    // Without a spare the second member takes the array along.
    let both =
        [1, 2].map(|member| fault("1 s", &format!("{{ fail = \"array.member[{member}]\" }}")));
    let text = spec(300, "0.0", FIVE, 4, "");
    let result = run(&format!("{text}{}", both.concat()));
    assert!(number(&result, "requests.failed") > 150.0);
}

#[test]
fn a_scrub_repairs_before_a_member_fails() {
    let spoilt = fault(
        "0 s",
        "{ media-error = { device = \"array.member[0]\", from = 4000, blocks = 64 } }",
    );
    let fails = fault("10 s", "{ fail = \"array.member[1]\" }");
    let failed = |scrub: &str| {
        let text = spec(1000, "1.0", FIVE, 4, scrub);
        let result = run(&format!("{text}{spoilt}{fails}"));
        let passes = result["devices"]["array"].get("scrub_passes").cloned();
        (number(&result, "requests.failed"), passes)
    };
    let (failures, passes) = failed("scrub = { rate = \"1 MB/s\" }");
    assert_eq!((failures, passes), (0.0, Some(1.into())));
}

#[test]
fn a_power_cut_in_the_middle_of_writes_is_told() {
    let text = spec(500, "0.0", FIVE, 4, "");
    // Each write takes 9 ms, of which 5 are those of its members' writes, in one of 12.
    let told = (0..40).filter(|step| {
        let cut = fault(&format!("{} ms", 1000 + 17 * step), "\"power-cut\"");
        let result = run(&format!("{text}{cut}"));
        let rows = result["devices"]["array"]
            .get("rows_open_at_power_cut")
            .is_some();
        assert_eq!(
            rows,
            result["warnings"].to_string().contains("the write hole")
        );
        rows
    });
    let told = told.count();
    assert!((4..40).contains(&told), "{told} of 40");
}

/// The outage of these tests, in the middle of a run of writes.
fn outage() -> String {
    fault("4 s", "{ outage = { lasts = \"500 ms\" } }")
}

#[test]
fn after_an_outage_all_of_it_is_made_anew_or_what_the_bitmap_marks_or_nothing_with_a_journal() {
    let run = |more: &str| {
        let text = spec(800, "0.0", FIVE, 4, more);
        let result = run(&format!("{text}{}", outage()));
        assert_eq!(result["devices"]["array"].get("write_hole_blocks"), None);
        result["devices"]["array"].clone()
    };
    let whole = run("");
    let resync = &whole["resyncs"][0];
    assert_eq!(resync["blocks"], 8192);
    assert_eq!(resync["begun_s"], 4.5);
    let took = |array: &Value| {
        let resync = &array["resyncs"][0];
        number(resync, "ended_s") - number(resync, "begun_s")
    };
    assert!(number(&whole, "rows_open_at_power_cut") > 0.0);
    assert_eq!(whole["rows_set_right"], whole["rows_open_at_power_cut"]);
    // 4 MiB of each member at 1 MB/s.
    let slow = run("resync = { rate = \"1 MB/s\", step = \"64 KiB\" }");
    assert!((4.0..5.0).contains(&took(&slow)), "{}", took(&slow));
    assert!(took(&whole) < 1.0);
    let counts = ["healthy", "resyncing", "resynced"]
        .map(|condition| number(&slow, &format!("response_ms.{condition}.requests")));
    assert!(counts.iter().all(|&count| count > 30.0), "{counts:?}");
    // Regions that are written all the time are marked all the time; those of a load in one place only there.
    let marked = run("bitmap = { region = \"64 KiB\", delay = \"100 ms\" }");
    let blocks = number(&marked["resyncs"][0], "blocks");
    assert!(blocks < 4096.0, "{blocks}");
    assert!(took(&marked) < took(&whole));
    assert!(number(&marked, "bitmap_writes") > 100.0 && number(&marked, "regions_cleared") > 20.0);
    let journal = run(&format!("journal = {MEMBER}"));
    assert_eq!(journal.get("resyncs"), None);
    assert!(number(&journal["replays"][0], "entries") > 0.0);
    assert!(number(&journal, "journal_writes") > 100.0);
}

#[test]
fn a_member_that_fails_after_an_outage_takes_no_data_along_but_through_the_write_hole() {
    let fails = fault("4600 ms", "{ fail = \"array.member[1]\" }");
    let holes = |more: &str| {
        let text = spec(900, "0.4", FIVE, 4, more);
        let result = run(&format!("{text}{}{fails}", outage()));
        let told = result["warnings"].to_string().contains("since a power cut");
        let blocks = result["devices"]["array"].get("write_hole_blocks").cloned();
        assert_eq!(told, blocks.is_some());
        blocks
    };
    // Rows that nobody sets right are a hole for the member that is rebuilt; a resynchronisation that is over, or a journal, leaves none.
    let spare = "spare = [MEMBER]";
    assert!(holes(&format!("resync = {{ automatic = false }}\n{spare}")).is_some());
    assert_eq!(
        holes(&format!(
            "bitmap = {{ region = \"64 KiB\", delay = \"50 ms\" }}\n{spare}"
        )),
        None
    );
    assert_eq!(holes(&format!("journal = {MEMBER}\n{spare}")), None);
}

#[test]
fn a_scrub_finds_what_an_outage_has_left_between_data_and_parity() {
    let more = "resync = { automatic = false }\nscrub = { rate = \"4 MB/s\", at = \"5 s\" }";
    let text = spec(1500, "0.4", FIVE, 4, more);
    let result = run(&format!("{text}{}", outage()));
    let array = &result["devices"]["array"];
    assert_eq!(array["rows_set_right"], array["rows_open_at_power_cut"]);
    assert_eq!(array["scrub_passes"], 1);
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    for (layout, members, more, words) in [
        (
            FIVE,
            1,
            "",
            &["raid-5 of 1 members", "accepted: 2 to 256 members"][..],
        ),
        (
            "{ raid-6 = { unit = \"8 blocks\" } }",
            2,
            "",
            &["raid-6 of 2 members", "3 to 257"],
        ),
        (
            "{ raid-10 = { unit = \"8 blocks\" } }",
            3,
            "",
            &["2 copies on 3 members", "divides"],
        ),
        (
            "{ raid-5 = { unit = \"8193 blocks\" } }",
            3,
            "",
            &["units of 8193 blocks", "smallest member, 8192"],
        ),
        (
            "{ raid-5 = { unit = \"0 blocks\" } }",
            3,
            "",
            &["units of 0 blocks"],
        ),
        (
            "{ raid-5 = { unit = \"8 blocks\", parity_unit = \"12 blocks\" } }",
            3,
            "",
            &["units of parity of 12 blocks", "a multiple of the unit"],
        ),
        (
            "{ stripe = { unit = \"8 blocks\" } }",
            3,
            SPARE,
            &["without redundancy", "raid-10"],
        ),
        (
            "\"concat\"",
            3,
            "scrub = { rate = \"1 MB/s\" }",
            &["without redundancy, \"concat\""],
        ),
        (
            "{ raid-10 = { unit = \"8 blocks\" } }",
            4,
            "journal = MEMBER",
            &[
                "a journal of a layout without parity",
                "raid-4, raid-5, raid-6, parity-striping",
            ],
        ),
        (
            FIVE,
            3,
            "journal = { simple = { capacity = \"32 KiB\", read = \"1 ms\", write = \"1 ms\" } }",
            &["a journal of 64 blocks", "128 blocks or more"],
        ),
        (
            FIVE,
            3,
            "bitmap = { region = \"0 blocks\" }",
            &["regions of 0 blocks", "1 block or more"],
        ),
        (
            FIVE,
            3,
            "resync = { step = \"0 blocks\" }",
            &["steps of 0 blocks", "1 block to 1 GiB"],
        ),
        (
            FIVE,
            3,
            "rebuild = { step = \"0 blocks\" }",
            &["steps of 0 blocks", "1 block to 1 GiB"],
        ),
        (
            FIVE,
            3,
            "spare = [{ simple = { capacity = \"1 MiB\", read = \"1 ms\", write = \"1 ms\" } }]",
            &[
                "a spare of 2048 blocks",
                "8192 of each member are used",
                "spec:",
            ],
        ),
    ] {
        let text = spec(10, "0.5", layout, members, more);
        let error = try_run_with(&text, &RunOptions::default()).expect_err(layout);
        let message = error.to_string();
        assert_eq!(error.exit_code(), 2, "{message}");
        for word in words {
            assert!(
                message.contains(word),
                "{layout}: {word:?} is not in\n{message}"
            );
        }
    }
}
