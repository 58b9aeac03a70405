//! fio's logs: both versions, each line, and what is written.

use std::path::Path;

use super::super::testing::*;
use super::*;

fn line(us: u64, device: u32, op: Op, lbn: u64, blocks: u32) -> Record {
    Record {
        arrival: Time::from_us(us),
        device,
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks,
        recorded: None,
    }
}

#[test]
fn version_3_has_times_and_its_files_are_devices() {
    let text = "fio version 3 iolog\n\
        2 /dev/sdb add\n2 /dev/sdc add\n872 /dev/sdb open\n873 /dev/sdc open\n\
        878 /dev/sdb write 0 16384\n888 /dev/sdc\tread 1024 512\r\n\n891 /dev/sdb sync 16384 0\n\
        900 /dev/sdb trim 4096 8192\n901 /dev/sdb datasync 0 0\n10001677 /dev/sdb close\n";
    let mut reader = reader(text, &FormatOptions::default()).unwrap();
    for expected in [
        line(878, 0, Op::Write, 0, 32),
        line(888, 1, Op::Read, 2, 1),
        line(891, 0, Op::Flush, 0, 0),
        line(900, 0, Op::Trim, 8, 16),
        line(901, 0, Op::Flush, 0, 0),
    ] {
        assert_eq!(reader.next().unwrap(), Some(expected));
    }
    assert_eq!(reader.next().unwrap(), None);
    assert!(reader.warnings().is_empty());
}

#[test]
fn version_2_tells_the_time_by_its_waits() {
    let text = "fio version 2 iolog\na add\na open\na read 0 512\na wait 150 0\na write 512 512\nb wait 99 0\na sync 0 0\na close\nc add\nc read 0 512\n";
    let mut reader = reader(text, &FormatOptions::default()).unwrap();
    for expected in [
        line(0, 0, Op::Read, 0, 1),
        line(150, 0, Op::Write, 1, 1),
        line(249, 0, Op::Flush, 0, 0),
        // A file that only waits is none.
        line(249, 1, Op::Read, 0, 1),
    ] {
        assert_eq!(reader.next().unwrap(), Some(expected));
    }
    assert_eq!(reader.next().unwrap(), None);
    assert!(reader.warnings().is_empty());
}

#[test]
fn a_log_without_times_says_so() {
    let mut timeless = reader(
        "fio version 2 iolog\na add\na read 0 512\na read 512 512\n",
        &FormatOptions::default(),
    )
    .unwrap();
    assert!(timeless.warnings().is_empty());
    while let Some(record) = timeless.next().unwrap() {
        assert_eq!(record.arrival, Time::ZERO);
    }
    assert!(timeless.warnings()[0].contains("workload.pace = \"closed\""));
    let mut empty = reader("fio version 2 iolog\na add\n", &FormatOptions::default()).unwrap();
    assert_eq!(empty.next().unwrap(), None);
    assert!(empty.warnings().is_empty());
}

#[test]
fn a_file_added_twice_stays_the_same_device() {
    let text = "fio version 3 iolog\n0 a add\n0 b add\n0 a add\n1 b read 0 512\n2 c read 0 512\n";
    let read = records(text, &FormatOptions::default()).unwrap();
    assert_eq!([read[0].device, read[1].device], [1, 2]);
}

#[test]
fn odd_bytes_widen_and_what_fio_does_not_replay_is_left_out() {
    let text = "fio version 3 iolog\n0 a add\n1 a read 100 512\n2 a sync_file_range 0 4096\n";
    let mut reader = reader(text, &FormatOptions::default()).unwrap();
    assert_eq!(reader.next().unwrap(), Some(line(1, 0, Op::Read, 0, 2)));
    assert_eq!(reader.next().unwrap(), None);
    assert_eq!((reader.discarded(), reader.notes().len()), (1, 2));
}

#[test]
fn every_field_is_checked_and_located() {
    for (version, line, column, expected) in [
        (3, "x a add", 1, "a time in whole µs, found \"x\""),
        (3, "18446744073709552 a add", 1, "a time in whole µs"),
        (3, "1", 2, "a file name, found the end of the line"),
        (3, "1 a", 4, "sync or datasync, found the end of the line"),
        (3, "1 a wait 5 0", 5, "datasync, found \"wait\""),
        (3, "1 a add 0 0", 9, "the end of the line, found \"0\""),
        (3, "1 a read", 9, "an offset in bytes"),
        (3, "1 a read x 0", 10, "an offset in bytes"),
        (3, "1 a read 0", 11, "a length in bytes"),
        (3, "1 a read 18446744073709551615 1", 31, "16 EiB"),
        (3, "1 a sync", 9, "an offset in bytes"),
        (3, "1 a sync 0 -1", 12, "a length in bytes"),
        (3, "1 a read 0 0 0", 14, "the end of the line"),
        (3, "fio version 3 iolog", 1, "a time in whole µs"),
        (2, "a sleep 0 0", 3, "or wait, found \"sleep\""),
        (2, "a wait 1.5 0", 8, "a time to wait"),
        (2, "a wait 1", 9, "a length"),
        (2, "1 a read 0 0", 3, "or wait, found \"a\""),
    ] {
        let good = if version == 3 { "0 a add" } else { "a add" };
        let text = format!("fio version {version} iolog\n{good}\n{line}\n");
        let error = located(records(text, &forced(NAME)).unwrap_err());
        assert!(error.message.contains(expected), "{line}: {error}");
        assert!(
            matches!(&error.place, Some(Place::Line { line: 3, column: Some(c), text, .. }) if *c == column && text == line),
            "{error}"
        );
    }
}

#[test]
fn waits_beyond_all_time_are_located() {
    let text = "fio version 2 iolog\na wait 18446744073709551 0\na wait 1 0\n";
    let error = located(records(text, &forced(NAME)).unwrap_err());
    assert!(error.message.contains("584 years"), "{error}");
    assert!(matches!(error.place, Some(Place::Line { line: 3, .. })));
}

#[test]
fn other_first_lines_are_refused() {
    for text in [
        "fio version 1 iolog\n",
        "fio version 4 iolog\n",
        "0 a add\n",
        "fio version 33 iolog",
    ] {
        let error = located(records(text, &forced(NAME)).unwrap_err());
        assert!(error.message.contains("fio version 3 iolog"), "{error}");
        assert!(matches!(error.place, Some(Place::Line { line: 1, .. })));
    }
    let error = located(records("", &forced(NAME)).unwrap_err());
    assert!(error.message.contains("empty"), "{error}");
}

/// What is written of these records.
fn written(path: &Path, records: &[Record]) -> String {
    let mut writer = create(Output::create(path).unwrap()).unwrap();
    for record in records {
        writer.write(record).unwrap();
    }
    writer.finish().and_then(Output::finish).unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn files_are_added_in_order_opened_when_used_and_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.iolog");
    let records = [
        line(5, 2, Op::Write, 8, 16),
        line(7, 0, Op::Flush, 0, 0),
        line(9, 2, Op::Trim, 0, 1),
    ];
    assert_eq!(
        written(&path, &records),
        "fio version 3 iolog\n5 device0 add\n5 device1 add\n5 device2 add\n5 device2 open\n\
         5 device2 write 4096 8192\n7 device0 open\n7 device0 sync 0 0\n9 device2 trim 0 512\n\
         9 device0 close\n9 device2 close\n"
    );
    assert_eq!(written(&path, &[]), "fio version 3 iolog\n");
}
