//! Damaged files: each error names file, line and column, what was found and what was expected.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use diskwright::disksim::import_from;
use proptest::prelude::*;

use crate::sample::{FIRST, Sample};

/// The error of a sample in which `from` became `to`; it must begin at `place` and tell `told`.
fn damaged(from: &str, to: &str, place: &str, told: &[&str]) {
    let error = Sample::new().replace(from, to).error(&[]);
    assert!(
        error.contains(&format!("{place}\n")),
        "{from} -> {to}: {error}"
    );
    for told in told {
        assert!(error.contains(told), "{from} -> {to}: {error}");
    }
}

#[test]
fn brackets_that_are_missing() {
    damaged(
        "   Print stats = 0\n}",
        "   Print stats = 0\n",
        "a/small.parv:36:1",
        &["found \"BUS0\", expected \",\" or \"}\""],
    );
    damaged(
        "Use queueing in subsystem = 1\n}",
        "Use queueing in subsystem = 1",
        "a/small.parv:28:1",
        &["disksim_bus", "expected"],
    );
    damaged(
        "slips = []",
        "slips = [",
        "a/drive.model:31:13",
        &["found \"=\", expected \",\" or \"]\""],
    );
    damaged(
        "Percent error in rpms = 0.0\n   }\n}",
        "Percent error in rpms = 0.0\n   }\n",
        "a/drive.model:1:21",
        &["end of the text", "to close what begins here"],
    );
    damaged(
        "disk0 []\n",
        "disk0 [\n",
        "a/small.parv:68:10",
        &["found \"]\""],
    );
    damaged(
        "devices = [ disk0 ],",
        "devices = [ disk0 ,",
        "a/small.parv:77:16",
        &["expected \",\" or \"]\""],
    );
    damaged(
        "BUS0 BUS1 {",
        "BUS0 BUS1",
        "a/small.parv:36:11",
        &["expected \"{\""],
    );
}

#[test]
fn commas_and_marks_that_are_wrong() {
    damaged(
        "type = 1,\n   Arb",
        "type = 1\n   Arb",
        "a/small.parv:30:4",
        &["found \"Arbitration\", expected \",\" or \"}\""],
    );
    damaged(
        "Print stats = 1\n}",
        "Print stats = 1,\n}",
        "a/small.parv:43:1",
        &["another entry", "no comma stands before"],
    );
    damaged(
        "Init Seed = 42",
        "Init Seed 42",
        "a/small.parv:2:16",
        &["found \",\", expected \"=\""],
    );
    damaged(
        "Init Seed = 42",
        "Init Seed =",
        "a/small.parv:2:15",
        &["expected a value"],
    );
    damaged(
        "as Stats",
        "Stats",
        "a/small.parv:45:25",
        &["expected \"as\""],
    );
    damaged(
        "topology",
        "= topology",
        "a/small.parv:63:1",
        &["found \"=\", expected a block"],
    );
}

#[test]
fn names_that_nothing_has() {
    damaged(
        "disksim_ctlr CTLR0 {",
        "disksim_ctrl CTLR0 {",
        "a/small.parv:37:1",
        &[
            "unknown component \"disksim_ctrl\"",
            "did you mean \"disksim_ctlr\"?",
        ],
    );
    damaged(
        "as BUS0",
        "as BUSO",
        "a/small.parv:46:25",
        &["unknown block \"BUSO\"", "did you mean \"BUS0\"?"],
    );
    damaged(
        "disksim_disk disk0",
        "disksim_disk disk1",
        "a/small.parv:67:26",
        &["unknown instance \"disk1\"", "did you mean \"disk0\"?"],
    );
    damaged(
        "disksim_disk disk0",
        "disksim_bus disk0",
        "a/small.parv:67:13",
        &["instance of disksim_disk"],
    );
    damaged(
        "simdev = disk0",
        "simdev = disk9",
        "a/small.parv:54:48",
        &["no instance \"disk9\""],
    );
}

#[test]
fn values_of_the_wrong_type() {
    damaged(
        "Init Seed = 42",
        "Init Seed = blue",
        "a/small.parv:2:16",
        &["the text \"blue\", expected a whole number"],
    );
    damaged(
        "Max queue length = 4",
        "Max queue length = 4.5",
        "a/drive.diskspecs:17:23",
        &["the number 4.5, expected a whole number"],
    );
    damaged(
        "Head switch time = 0.25",
        "Head switch time = [ 1 ]",
        "a/drive.model:50:26",
        &["a list, expected a number"],
    );
    damaged(
        "slips = []",
        "slips = 7",
        "a/drive.model:30:21",
        &["the whole number 7, expected a list"],
    );
    damaged(
        "Model = source drive.model",
        "Model = none",
        "a/drive.diskspecs:2:12",
        &["expected a block"],
    );
    damaged(
        "Layout Model = dm_layout_g1",
        "Layout Model = dm_mech_g1",
        "a/drive.model:5:19",
        &["expected a block of dm_layout_g1"],
    );
    damaged(
        "Fast write level = 0",
        "Fast write level = 3",
        "a/drive.diskspecs:44:23",
        &["expected a whole number from 0 to 2"],
    );
    damaged(
        "Head switch time = 0.25",
        "Head switch time = -1",
        "a/drive.model:50:26",
        &["expected a number from 0"],
    );
    damaged(
        "Init Seed = 42",
        "Init Seed = 99999999999999999999",
        "a/small.parv:2:16",
        &["too large"],
    );
    damaged(
        "slips = [ 30, 25 ]",
        "slips = [ 30, x ]",
        "a/drive.model:19:27",
        &["expected a whole number"],
    );
    damaged(
        "defects = [ 40, 395 ]",
        "defects = [ 40 ]",
        "a/drive.model:20:23",
        &["expected pairs"],
    );
    damaged(
        "Seek type = extracted",
        "Seek type = guessed",
        "a/drive.model:41:19",
        &["expected one of constant, linear"],
    );
    damaged(
        "Access time type = trackSwitchPlusRotation",
        "Access time type = averageRotation",
        "a/drive.model:40:26",
        &["expected trackSwitchPlusRotation"],
    );
}

#[test]
fn values_that_are_missing() {
    damaged(
        "   Never disconnect = 0,\n",
        "",
        "a/drive.diskspecs:1:1",
        &["has no \"Never disconnect\""],
    );
    damaged(
        "      Full seek curve = small.seek,\n",
        "",
        "a/drive.model:39:23",
        &["has no \"Full seek curve\""],
    );
}

#[test]
fn files_that_are_missing_or_include_themselves() {
    let error = Sample::new().without("a/drive.model").error(&[]);
    assert!(error.contains("a/drive.diskspecs:2:19"), "{error}");
    assert!(
        error.contains("no file \"drive.model\"") && error.contains("looked for a/drive.model"),
        "{error}"
    );
    let error = Sample::new().without("a/small.seek").error(&[]);
    assert!(error.contains("a/drive.model:46:25"), "{error}");
    // One that leads back, and one that is itself.
    let error = Sample::new()
        .replace(
            "disksim_disk SMALL {",
            "source ./small.parv\ndisksim_disk SMALL {",
        )
        .error(&[]);
    assert!(error.contains("a/drive.diskspecs:1:8"), "{error}");
    assert!(
        error.contains("a/small.parv includes a/drive.diskspecs includes a/small.parv"),
        "{error}"
    );
    let error = Sample::new()
        .with("a/drive.model", "source drive.model")
        .error(&[]);
    assert!(
        error.contains("a/drive.model:1:8") && error.contains("includes itself"),
        "{error}"
    );
    // The first file itself.
    let error = Sample::new().without(FIRST).error(&[]);
    assert!(error.contains("cannot read a/small.parv"), "{error}");
}

#[test]
fn files_in_other_folders_find_their_own() {
    let sample = Sample::new();
    let (disk, model) = (
        sample.text("a/drive.diskspecs"),
        sample.text("a/drive.model"),
    );
    let moved = sample
        .clone()
        .without("a/drive.diskspecs")
        .without("a/drive.model")
        .with("b/drive.diskspecs", &disk)
        .with("b/drive.model", &model)
        .replace("source drive.diskspecs", "source ../b/drive.diskspecs");
    // The seek file is not beside the model but beside the first file.
    assert_eq!(moved.sound(&[]).drive, sample.sound(&[]).drive);
}

#[test]
fn files_nest_and_repeat_within_bounds() {
    let mut chain = Sample::new().replace("source drive.diskspecs", "source n0");
    for number in 0..70 {
        chain = chain.with(&format!("a/n{number}"), &format!("source n{}", number + 1));
    }
    let error = chain.error(&[]);
    assert!(error.contains("nested more than 64 deep"), "{error}");
    let many = "source empty\n".repeat(2_000);
    let error = Sample::new()
        .with("a/empty", "")
        .replace("source drive.diskspecs", &many)
        .error(&[]);
    assert!(error.contains("one file too many"), "{error}");
    // Each file doubles what is read.
    let mut doubling = Sample::new().replace("source drive.diskspecs", "source d0");
    for number in 0..40 {
        let next = number + 1;
        doubling = doubling.with(
            &format!("a/d{number}"),
            &format!("source d{next}\nsource d{next}\n"),
        );
    }
    let error = doubling.with("a/d40", "").error(&[]);
    assert!(error.contains("one file too many"), "{error}");
}

#[test]
fn ranges_and_nests_have_bounds() {
    damaged(
        "[ bus1 .. bus1 ]",
        "[ bus1 .. bus9000000 ]",
        "a/small.parv:47:15",
        &["9000000 components", "at most 10000"],
    );
    damaged(
        "[ bus1 .. bus1 ]",
        "[ bus9 .. bus1 ]",
        "a/small.parv:47:15",
        &["down to"],
    );
    damaged(
        "[ bus1 .. bus1 ]",
        "[ bus1 .. disk4 ]",
        "a/small.parv:47:15",
        &["no two numbers of one name"],
    );
    let mut many = String::from("instantiate [ ");
    for number in 0..3 {
        write!(many, "x{number}n0 .. x{number}n3999, ").expect("a string");
    }
    many.push_str("y ] as Stats\ntopology");
    damaged("topology", &many, "a/small.parv:63:53", &["at most 10000"]);
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let error = Sample::new()
        .replace("slips = []", &format!("slips = {deep}"))
        .error(&[]);
    assert!(
        error.contains("a/drive.model:30:") && error.contains("64 deep"),
        "{error}"
    );
    let heirs: String = (0..200)
        .map(|number| format!("SMALL H{number} {{}}\n"))
        .collect();
    let heirs =
        format!("{heirs}instantiate [ i0 .. i9999 ] as SMALL\ninstantiate [ j0 .. j9 ] as SMALL\n");
    let error = Sample::new()
        .replace("topology", &format!("{heirs}\ntopology"))
        .error(&[]);
    assert!(error.contains("at most 10000"), "{error}");
}

#[test]
fn overrides_that_are_wrong() {
    let error = |put| Sample::new().error(&[put]);
    let told = error(("disk9", "Max queue length", "2"));
    assert!(
        told.contains("no component \"disk9\"") && told.contains("\"disk0\""),
        "{told}"
    );
    let told = error(("disk0", "Max queue lenght", "2"));
    assert!(
        told.contains("the override:1:7") && told.contains("did you mean \"Max queue length\"?"),
        "{told}"
    );
    let told = error(("disk0", "Scheduler:Scheduling polcy", "2"));
    assert!(
        told.contains("did you mean \"Scheduling policy\"?"),
        "{told}"
    );
    let told = error(("*", "No such thing", "2"));
    assert!(told.contains("no component knows"), "{told}");
    let told = error(("disk0", "Max queue length", "two"));
    assert!(told.contains("expected a whole number"), "{told}");
    let told = error(("disk0", "Max queue length", "{"));
    assert!(told.contains("expected a value"), "{told}");
    let told = error(("disk0 .. disk5", "Max queue length", "2"));
    assert!(told.contains("no component \"disk1\""), "{told}");
    let told = error(("", "", ""));
    assert!(told.contains("expected a value"), "{told}");
}

#[test]
fn systems_that_are_no_single_drive() {
    damaged(
        "disksim_disk disk0 []",
        "disksim_disk disk0 [], disksim_disk disk0 []",
        "a/small.parv:67:36",
        &["2 devices (disk0, disk0)"],
    );
    damaged(
        "disksim_disk disk0 []",
        "",
        "a/small.parv:66:10",
        &["nothing stands behind bus1"],
    );
    damaged(
        "disksim_disk disk0 []",
        "disksim_bus bus0 [ disksim_disk disk0 [] ]",
        "a/small.parv:67:13",
        &["bus0 (disksim_bus) stands behind bus1", "in turn"],
    );
    let error = Sample::new().error(&[("ctlr0", "type", "3")]);
    assert!(error.contains("a cache and a queue of its own"), "{error}");
    let lone = Sample::new().text("a/drive.diskspecs");
    let error = Sample::new().with(FIRST, &lone).error(&[]);
    assert!(
        error.contains("no topology") && error.contains(FIRST),
        "{error}"
    );
    let error = Sample::new()
        .replace("topology", "topology disksim_iodriver driver0 []\ntopology")
        .error(&[]);
    assert!(error.contains("a second topology"), "{error}");
}

#[test]
fn layouts_without_sense_are_refused_where_they_stand() {
    damaged(
        "Last cylinder number = 39",
        "Last cylinder number = 40",
        "a/drive.diskspecs:1:1",
        &[],
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever becomes of a byte or a line, reading ends, and an error has a place and is short.
    #[test]
    fn mutations_are_read_or_refused(
        which in 0..4_usize,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, "[ \\n{}\\[\\]=,#.a-z0-9-]{0,6}"), 1..4),
    ) {
        let path = ["a/small.parv", "a/drive.diskspecs", "a/drive.model", "a/small.seek"][which];
        let sample = Sample::new();
        let mut text = sample.text(path);
        for (start, length, insert) in cuts {
            let start = start.index(text.len() + 1);
            text.replace_range(start..(start + length).min(text.len()), &insert);
        }
        if let Err(error) = sample.with(path, &text).import(&[]) {
            let error = error.to_string();
            prop_assert!(error.contains("-->"), "no place: {error}");
            prop_assert!(error.len() < 4_000, "long: {error}");
        }
    }

    /// Any bytes at all.
    #[test]
    fn bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let files = std::collections::BTreeMap::from([(PathBuf::from("x"), bytes)]);
        prop_assert!(import_from(&files, Path::new("x"), &[], &[]).is_err());
    }
}
