//! Writes of a drive that makes extra disconnections, and the shortest motion before a write, worked out by hand.
//!
//! The platter turns in 10 ms past 100 sectors, and a block takes 0.1 ms on the bus, as long as a sector. Tracks have no skew, so that
//! sector 0 of each passes at every multiple of 10 ms. Nothing else takes time but the seek of 1 ms and what a test gives.

use crate::support::{RunOptions, SpecSource, simulation};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;

/// When requests complete, ms: each an arrival in ms, a letter, a block and a count.
fn completions(write: &str, requests: &[(f64, char, u64, u32)]) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let drive = format!(
        "name = \"by hand\"\nrotation = \"6000 rpm\"\nheads = {{ switch = \"0 ms\" }}\nseek = {{ constant = \"1 ms\" }}\n\
         interface = {{ block_time = \"0.1 ms\" }}\n\
         [layout]\nsurfaces = 1\ncylinders = 50\nzone = [{{ cylinders = [0, 49], sectors_per_track = 100 }}]\n\
         [buffer]\nsegments = 2\nsegment_size = \"60 blocks\"\n[buffer.write]\n{write}\n"
    );
    std::fs::write(path("drive.toml"), drive).expect("written");
    let line = |&(ms, op, lbn, blocks): &(f64, char, u64, u32)| {
        format!("{ms} 0 {lbn} {blocks} {}\n", u32::from(op == 'R'))
    };
    let trace: String = requests.iter().map(line).collect();
    std::fs::write(path("trace.ascii"), trace).expect("written");
    let text = format!(
        "[workload]\ntrace = \"{}\"\nformat = \"disksim-ascii\"\npace = \"recorded\"\n[measure]\nwarmup = 0\n\
         [device.hdd]\ndrive = \"{}\"\nbuffer = true\n",
        path("trace.ascii"),
        path("drive.toml")
    );
    let source = SpecSource::Text {
        text,
        base: ".".into(),
    };
    let options = RunOptions {
        check: true,
        keep_requests: true,
        ..RunOptions::default()
    };
    let outcome = simulation::run(&source, &options, &mut ());
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    let batches = outcome.requests().expect("kept").batches();
    let [batch] = &batches[..] else {
        panic!("a short trace is one batch")
    };
    let column = |name| {
        let column = batch.column_by_name(name).expect("a column of the log");
        column.as_primitive::<UInt64Type>().values().to_vec()
    };
    let mut rows: Vec<_> = column("sequence")
        .into_iter()
        .zip(column("completion_ns"))
        .collect();
    rows.sort_unstable();
    rows.into_iter().map(|(_, ns)| ns as f64 / 1e6).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    let is_close = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-4;
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(is_close),
        "{found:?}, not {expected:?}"
    );
}

const EXTRA: &str = "extra_disconnection = { command = \"0 ms\", disconnect = \"0 ms\", pause = \"0 ms\", second = \"0 ms\", seek = \"0 ms\" }";

/// A first write has no extra disconnection, for its segment holds nothing, but waits for as many blocks as one that has.
#[test]
fn a_drive_with_extra_disconnections_waits_for_ten_blocks_of_every_write() {
    // The arm is on the first track, and blocks come as fast as sectors pass. Sector 3 passes at 0.3 ms, when three blocks have come.
    let twelve = [(0.0, 'W', 3, 12)];
    close(&completions("", &twelve), &[0.3 + 1.2]);
    // The tenth has come at 1.0 ms: a revolution is lost.
    close(&completions(EXTRA, &twelve), &[10.3 + 1.2]);
    // Sector 12 passes later than that.
    close(&completions(EXTRA, &[(0.0, 'W', 12, 12)]), &[1.2 + 1.2]);
    // Of 45 blocks 15 must have come, and those have at 1.5 ms.
    close(&completions("", &[(0.0, 'W', 12, 45)]), &[1.2 + 4.5]);
    close(&completions(EXTRA, &[(0.0, 'W', 12, 45)]), &[11.2 + 4.5]);
    close(&completions(EXTRA, &[(0.0, 'W', 16, 45)]), &[1.6 + 4.5]);
    // Of five blocks all five.
    close(&completions(EXTRA, &[(0.0, 'W', 6, 5)]), &[0.6 + 0.5]);
    close(&completions(EXTRA, &[(0.0, 'W', 4, 5)]), &[10.4 + 0.5]);
}

/// A read first, so that the arm is on the track; then a write of a sector that comes by soon, which needs no motion at all.
#[test]
fn the_shortest_motion_is_that_of_every_write() {
    // The read of sector 0 of the second track ends at 10.1 ms, and has crossed at 10.2 ms. Sector 50 passes 3 ms after the write comes.
    let requests = [(0.0, 'R', 100, 1), (12.0, 'W', 150, 1)];
    let with = |least: &str| completions(&format!("least_seek = \"{least}\""), &requests);
    close(&with("0 ms"), &[10.2, 15.1]);
    close(&with("2.9 ms"), &[10.2, 15.1]);
    close(&with("3.1 ms"), &[10.2, 25.1]);
    // A write that goes on where the request before it ended is no exception.
    let requests = [(0.0, 'R', 100, 50), (37.0, 'W', 150, 1)];
    let with = |least: &str| completions(&format!("least_seek = \"{least}\""), &requests);
    close(&with("7.9 ms"), &[15.1, 45.1]);
    close(&with("8.1 ms"), &[15.1, 55.1]);
    // Reads are.
    let read = [(0.0, 'R', 100, 1), (12.0, 'R', 150, 1)];
    let lengthened = completions("least_seek = \"8.1 ms\"", &read);
    assert_eq!(completions("", &read), lengthened);
}

/// A write that goes on to the next track: only its beginning is lengthened.
#[test]
fn a_change_of_track_within_a_write_is_not_lengthened() {
    // The arm is there at 1 ms, and sector 95 passes at 9.5 ms. The next track is reached 1 ms after 10 ms, and its sector 0 passes at
    // 20 ms.
    let crossing = [(0.0, 'W', 195, 10)];
    close(&completions("", &crossing), &[20.5]);
    // A revolution later, but only one.
    close(&completions("least_seek = \"10.4 ms\"", &crossing), &[30.5]);
}

/// A write that joins the one before it, and to which the medium turns at once.
#[test]
fn a_write_that_joins_another_is_not_lengthened() {
    let buffered = |least: &str| {
        let write = format!("complete = \"buffered\"\nleast_seek = \"{least}\"");
        let requests = [(0.0, 'W', 50, 5), (2.0, 'W', 55, 5), (17.0, 'R', 60, 1)];
        completions(&write, &requests)
    };
    // Sectors 50 to 59 pass from 5 to 6 ms, and 55 to 59 once more, to 16 ms; sector 60 next at 26 ms.
    close(&buffered("0 ms"), &[0.5, 2.5, 26.2]);
    // The first write begins at 15 ms, and both are written at 16 ms, the second one once more at 26 ms, just before the read's sector.
    close(&buffered("9.6 ms"), &[0.5, 2.5, 26.2]);
    // With the motion lengthened after 16 ms, sector 55 would have been missed at 25.5 ms.
}
