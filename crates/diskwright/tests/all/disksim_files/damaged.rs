//! Damaged files: each error names file, line and column, what was found and what was expected.

use std::path::{Path, PathBuf};

use diskwright::disksim::import_from;
use proptest::prelude::*;

use super::sample::{FIRST, Sample};
use crate::support::errors;

const FILES: [&str; 4] = [FIRST, "a/drive.diskspecs", "a/drive.model", "a/small.seek"];

/// Reads a sample in which `from` became `to`, without its mark `^`: the error must be where the mark was, and tell
/// `told`.
fn damaged(from: &str, to: &str, told: &[&str]) {
    let sample = Sample::new().replace(from, &to.replace('^', ""));
    let marked = Sample::new().replace(from, to);
    let place = FILES.iter().find_map(|file| {
        let text = marked.text(file);
        let (before, _) = text.split_once('^')?;
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        Some(format!("{file}:{line}:{column}\n"))
    });
    let place = place.expect("a mark");
    let error = sample.error(&[]);
    assert!(error.contains(&place), "{from} -> {to}: {place}{error}");
    for told in told {
        assert!(error.contains(told), "{from} -> {to}: {error}");
    }
}

#[test]
fn brackets_that_are_missing() {
    let comma = "expected \",\" or \"}\"";
    damaged(
        "   Print stats = 0\n}\n",
        "   Print stats = 0\n^",
        &["found \"BUS0\"", comma],
    );
    damaged(
        "Use queueing in subsystem = 1\n}\n",
        "Use queueing in subsystem = 1\n^",
        &["found \"disksim_bus\"", comma],
    );
    damaged(
        "slips = [],\n            defects =",
        "slips = [\n            defects ^=",
        &["found \"=\", expected \",\" or \"]\""],
    );
    damaged(
        "      [ Timeout scheduling",
        "      [ ^= Timeout scheduling",
        &["expected the name of a parameter"],
    );
    damaged(
        "]\ndisksim_logorg",
        "\n^disksim_logorg",
        &["found \"disksim_logorg\", expected \",\" or \"]\""],
    );
    damaged(
        "devices = [ disk0 ],\n   Stripe unit =",
        "devices = [ disk0 ,\n   Stripe unit ^=",
        &["expected \",\" or \"]\""],
    );
    damaged("BUS0 BUS1 { Read", "BUS0 BUS1 ^Read", &["expected \"{\""]);
    damaged(
        "disksim_logorg org0 {",
        "disksim_logorg org0 ^{ x = y {",
        &["found the end of the text", "to close what begins here"],
    );
}

#[test]
fn commas_and_marks_that_are_wrong() {
    damaged(
        "type = 1,\n   Arb",
        "type = 1\n   ^Arb",
        &["found \"Arbitration\", expected \",\" or \"}\""],
    );
    damaged(
        "Print stats = 1\n}",
        "Print stats = 1,\n^}",
        &["another entry", "no comma stands before"],
    );
    damaged(
        "Init Seed = 42",
        "Init Seed 42^",
        &["found \",\", expected \"=\""],
    );
    damaged("Init Seed = 42", "Init Seed =^", &["expected a value"]);
    damaged("as Stats", "^Stats", &["expected \"as\""]);
    damaged(
        "topology",
        "^= topology",
        &["found \"=\", expected a block"],
    );
    damaged(
        "simdev = disk0",
        "simdev = ^a b c { }",
        &["expected the module of a block"],
    );
}

#[test]
fn names_that_nothing_has() {
    damaged(
        "disksim_ctlr CTLR0 {",
        "^disksim_ctrl CTLR0 {",
        &[
            "unknown component \"disksim_ctrl\"",
            "did you mean \"disksim_ctlr\"?",
        ],
    );
    damaged(
        "as BUS0",
        "as ^BUSO",
        &["unknown block \"BUSO\"", "did you mean \"BUS0\"?"],
    );
    damaged(
        "disksim_disk disk0",
        "disksim_disk ^disk1",
        &["unknown instance \"disk1\"", "did you mean \"disk0\"?"],
    );
    damaged(
        "disksim_disk disk0",
        "^disksim_bus disk0",
        &["instance of disksim_disk"],
    );
    damaged(
        "simdev = disk0",
        "simdev = ^disk9",
        &["no instance \"disk9\""],
    );
    damaged(
        "simdev = disk0",
        "simdev = ^disk0 .. disk4",
        &["no instance"],
    );
}

#[test]
fn values_of_the_wrong_type() {
    damaged(
        "Init Seed = 42",
        "Init Seed = ^blue",
        &["the text \"blue\", expected a whole number"],
    );
    damaged(
        "Max queue length = 4",
        "Max queue length = ^4.5",
        &["the number 4.5, expected a whole number"],
    );
    damaged(
        "Head switch time = 0.25",
        "Head switch time = ^[ 1 ]",
        &["a list, expected a number"],
    );
    damaged(
        "slips = [],",
        "slips = ^7,",
        &["the whole number 7, expected a list"],
    );
    damaged(
        "Model = source drive.model",
        "Model = ^none",
        &["expected a block"],
    );
    damaged(
        "Layout Model = dm_layout_g1",
        "Layout Model = ^dm_mech_g1",
        &["expected a block of dm_layout_g1"],
    );
    damaged(
        "Fast write level = 0",
        "Fast write level = ^3",
        &["expected a whole number from 0 to 2"],
    );
    damaged(
        "Head switch time = 0.25",
        "Head switch time = ^-1",
        &["expected a number from 0"],
    );
    damaged(
        "Init Seed = 42",
        "Init Seed = ^99999999999999999999",
        &["too large"],
    );
    damaged(
        "slips = [ 30, 25 ]",
        "slips = [ 30, ^x ]",
        &["expected a whole number"],
    );
    damaged(
        "slips = [ 30, 25 ]",
        "slips = [ 30, ^-5 ]",
        &["expected a number from 0"],
    );
    damaged(
        "defects = [ 40, 395 ]",
        "defects = ^[ 40 ]",
        &["expected pairs"],
    );
    damaged(
        "Seek type = extracted",
        "Seek type = ^guessed",
        &["expected one of constant, linear"],
    );
    damaged(
        "Access time type = trackSwitchPlusRotation",
        "Access time type = ^averageRotation",
        &["expected trackSwitchPlusRotation"],
    );
    damaged(
        "Head switch time = 0.25",
        "Head switch time = ^1e7",
        &["a thousand seconds"],
    );
    damaged(
        "Number of cylinders = 40",
        "Number of cylinders = ^5000000000",
        &["4294967295"],
    );
    damaged(
        "Skew for track switch = 2",
        "Skew units = ^miles, Skew for track switch = 2",
        &["expected sectors or revolutions"],
    );
    damaged(
        "Skew for track switch = 2",
        "Skew for track switch = ^1e30",
        &["below 9e15"],
    );
    damaged(
        "1, 0.5\n",
        "1, 0.5\n^1, 0.6\n",
        &["distance 1 after distance 1"],
    );
}

#[test]
fn values_that_are_missing() {
    damaged(
        "disksim_disk SMALL {\n   Model =",
        "^disksim_disk SMALL {\n   Modell =",
        &["disk0 (disksim_disk) has no \"Model\""],
    );
    damaged(
        "dm_mech_g1 {\n      Access time type = trackSwitchPlusRotation,\n      Seek type = extracted,",
        "^dm_mech_g1 {\n      Access time type = trackSwitchPlusRotation,",
        &["has no \"Seek type\""],
    );
    damaged(
        "dm_mech_g1 {\n      Access time type = trackSwitchPlusRotation,\n      Seek type = extracted,\n      Single cylinder seek time = 0.5,",
        "^dm_mech_g1 {\n      Access time type = trackSwitchPlusRotation,\n      Seek type = curve,",
        &["has no \"Single cylinder seek time\""],
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
    assert!(error.contains("a/drive.model:41:25"), "{error}");
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
        "[ ^bus1 .. bus9000000 ]",
        &["9000000 components", "at most 10000"],
    );
    damaged(
        "[ bus1 .. bus1 ]",
        "[ ^bus9 .. bus1 ]",
        &["from \"bus9\" down to"],
    );
    damaged(
        "[ bus1 .. bus1 ]",
        "[ ^bus1 .. disk4 ]",
        &["no two numbers of one name"],
    );
    let many = "instantiate [ x0 .. x3999, y0 .. y3999, ^z0 .. z3999 ] as Stats\ntopology";
    damaged("topology", many, &["at most 10000"]);
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let error = Sample::new()
        .replace("slips = [],", &format!("slips = {deep},"))
        .error(&[]);
    assert!(
        error.contains("a/drive.model:") && error.contains("64 deep"),
        "{error}"
    );
    let nodes = format!("{}{}", "disksim_bus bus0 [ ".repeat(100), "]".repeat(100));
    let error = Sample::new()
        .replace("disksim_disk disk0 []", &nodes)
        .error(&[]);
    assert!(error.contains("64 deep"), "{error}");
    // Every instance has all parameters of its block.
    let more = "instantiate [ i0 .. i8999 ] as SMALL\n".to_owned()
        + &(0..20_000)
            .map(|number| format!("SMALL H{number} {{}}\n"))
            .collect::<String>();
    let error = Sample::new()
        .replace("topology", &format!("{more}topology"))
        .error(&[]);
    assert!(error.contains("one parameter too many"), "{error}");
}

#[test]
fn names_and_texts_have_bounds() {
    let sound = |from: &str, to: &str| Sample::new().replace(from, to).sound(&[]);
    let long = |length: usize| "x".repeat(length);
    sound("Init Seed = 42", &format!("{} = 42", long(128)));
    damaged(
        "Init Seed = 42",
        &format!("^{} = 42", long(129)),
        &["129 bytes, expected at most 128"],
    );
    damaged(
        "Init Seed = 42",
        &format!("^{} y = 42", long(127)),
        &["129 bytes, expected at most 128"],
    );
    sound("= statdefs", &format!("= {}", long(4096)));
    damaged(
        "= statdefs",
        &format!("= ^{}", long(4097)),
        &["4097 bytes, expected at most 4096"],
    );
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
        "disksim_disk disk0 [], ^disksim_disk disk0 []",
        &["2 devices (disk0, disk0)"],
    );
    damaged(
        "disksim_bus bus1 [\n            disksim_disk disk0 []",
        "^disksim_bus bus1 [",
        &["nothing stands behind bus1"],
    );
    damaged(
        "disksim_disk disk0 []",
        "^disksim_bus bus0 [ disksim_disk disk0 [] ]",
        &["bus0 (disksim_bus) stands behind bus1", "in turn"],
    );
    damaged(
        "disksim_disk disk0 []",
        "disksim_disk disk0 [ ^disksim_bus bus0 [] ]",
        &["bus0 stands behind a disk"],
    );
    damaged(
        "topology disksim_iodriver driver0",
        "topology ^disksim_bus bus0",
        &["begins with a disksim_bus"],
    );
    damaged(
        "topology",
        "topology disksim_iodriver driver0 []\ntopology disksim_iodriver ^driver0 []\ntopology",
        &["a second topology"],
    );
    let error = Sample::new().error(&[("ctlr0", "type", "4")]);
    assert!(error.contains("1 to 3"), "{error}");
    let lone = Sample::new().text("a/drive.diskspecs");
    let error = Sample::new().with(FIRST, &lone).error(&[]);
    assert!(
        error.contains("no topology") && error.contains(FIRST),
        "{error}"
    );
}

#[test]
fn layouts_without_sense_are_refused_where_they_stand() {
    let second = "dm_layout_g1_zone {\n            First cylinder number = 20,\n            Last cylinder number = ";
    damaged(
        &format!("{second}39,"),
        &format!("^{second}19,"),
        &["above the last"],
    );
    let error = Sample::new().replace("39, 2.4", "39, 9000").error(&[]);
    assert!(
        error.contains("a/drive.model:1:1") && error.contains("4000 ms"),
        "{error}"
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
        prop_assert_eq!(errors::fault(&sample.with(path, &text).import(&[])), None);
    }

    /// Any bytes at all.
    #[test]
    fn bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let files = std::collections::BTreeMap::from([(PathBuf::from("x"), bytes)]);
        prop_assert!(import_from(&files, Path::new("x"), &[], &[]).is_err());
    }
}
