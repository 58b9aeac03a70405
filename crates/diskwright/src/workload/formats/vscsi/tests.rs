//! VSCSI records: both versions, each command, damage, and what is written.

use super::super::testing::*;
use super::*;

/// A record of version 1.
fn one(command: u16, bytes: u32, lbn: u64, micros: u64) -> Vec<u8> {
    let mut record = Vec::new();
    // A serial number and a count of elements as they occur.
    record.extend(0x8000_00f4_u32.to_le_bytes());
    record.extend(bytes.to_le_bytes());
    record.extend(2_u32.to_le_bytes());
    record.extend(command.to_le_bytes());
    record.extend(0x0100_u16.to_le_bytes());
    record.extend(lbn.to_le_bytes());
    record.extend(micros.to_le_bytes());
    record
}

/// A record of version 2.
fn two(command: u16, bytes: u32, lbn: u64, micros: u64) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(command.to_le_bytes());
    record.extend(0x0200_u16.to_le_bytes());
    record.extend(7_u32.to_le_bytes());
    record.extend(bytes.to_le_bytes());
    record.extend(1_u32.to_le_bytes());
    record.extend(lbn.to_le_bytes());
    record.extend(micros.to_le_bytes());
    record.extend(350_u64.to_le_bytes());
    record
}

fn read(bytes: &[Vec<u8>]) -> Result<Vec<Record>, Error> {
    records(bytes.concat(), &FormatOptions::default())
}

#[test]
fn a_record_of_either_version_is_read_as_documented() {
    let expected = Record {
        arrival: Time::from_us(5_633_898_368_802),
        device: 0,
        op: Op::Write,
        fua: false,
        lbn: Lbn(42_932_745),
        blocks: 13,
        recorded: None,
    };
    for make in [one, two] {
        let (micros, lbn) = (5_633_898_368_802, 42_932_745);
        let record = make(0x2a, 6_656, lbn, micros);
        assert_eq!(read(std::slice::from_ref(&record)).unwrap(), [expected]);
        let many = vec![record; 200];
        assert_eq!(read(&many).unwrap(), [expected; 200]);
        let last = read(&[make(0x28, u32::MAX, u64::MAX, u64::MAX / 1_000)]).unwrap();
        assert_eq!((last[0].lbn.0, last[0].blocks), (u64::MAX, 8_388_608));
    }
}

#[test]
fn commands_are_told_apart() {
    for (command, op) in [
        (0x08, Some(Op::Read)),
        (0x28, Some(Op::Read)),
        (0xa8, Some(Op::Read)),
        (0x88, Some(Op::Read)),
        (0x0a, Some(Op::Write)),
        (0x2a, Some(Op::Write)),
        (0xaa, Some(Op::Write)),
        (0x8a, Some(Op::Write)),
        (0x2e, Some(Op::Write)),
        (0xae, Some(Op::Write)),
        (0x8e, Some(Op::Write)),
        (0x35, Some(Op::Flush)),
        (0x91, Some(Op::Flush)),
        (0x42, Some(Op::Trim)),
        // TEST UNIT READY, INQUIRY, VERIFY(10), WRITE SAME(10)
        (0x00, None),
        (0x12, None),
        (0x2f, None),
        (0x41, None),
    ] {
        for make in [one, two] {
            let bytes = [make(command, 512, 9, 1), make(0x28, 1_024, 3, 2)].concat();
            let mut reader = reader(bytes, &FormatOptions::default()).unwrap();
            if let Some(op) = op {
                let record = reader.next().unwrap().unwrap();
                let extent = if op == Op::Flush { (0, 0) } else { (9, 1) };
                assert_eq!(
                    (record.op, (record.lbn.0, record.blocks)),
                    (op, extent),
                    "{command:#x}"
                );
            }
            assert_eq!(reader.next().unwrap().unwrap().lbn.0, 3);
            assert_eq!(reader.next().unwrap(), None);
            let left_out = u64::from(op.is_none());
            assert_eq!(reader.discarded(), left_out, "{command:#x}");
            assert_eq!(reader.notes().len() as u64, left_out);
        }
    }
}

#[test]
fn parts_of_blocks_are_widened_and_told() {
    let bytes = [one(0x28, 513, 5, 0), one(0x35, 1, 5, 0)].concat();
    let mut reader = reader(bytes, &FormatOptions::default()).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().blocks, 2);
    assert_eq!(reader.next().unwrap().unwrap().op, Op::Flush);
    assert!(reader.notes()[0].contains("1 requests"));
}

#[test]
fn versions_are_told_apart_whatever_the_serial_number() {
    // A serial number whose upper byte is where version 2 has its version.
    let mut record = one(0x28, 512, 5, 0);
    record[..4].copy_from_slice(&[0x28, 0, 0, 2]);
    assert_eq!(Version::of(&record.repeat(2)), Some(Version::One));
    assert_eq!(
        Version::of(&two(0x28, 512, 5, 0).repeat(2)),
        Some(Version::Two)
    );
    for other in [
        &b""[..],
        b"0 0 0 8 1\n",
        &one(0x28, 1, 1, 1)[..31],
        &two(0x28, 1, 1, 1)[..39],
        &one(0x128, 1, 1, 1),
    ] {
        assert_eq!(Version::of(other), None);
        assert!(!detect(other));
    }
}

#[test]
fn damage_is_located() {
    for (make, version) in [
        (one as fn(u16, u32, u64, u64) -> Vec<u8>, 15),
        (two as fn(u16, u32, u64, u64) -> Vec<u8>, 3),
    ] {
        let good = make(0x28, 512, 5, 0);
        let mut bad = good.clone();
        bad[version] = 3;
        let late = make(0x28, 512, 5, u64::MAX / 1_000 + 1);
        for (record, expected) in [(bad, "record version 3"), (late, "584 years")] {
            let error =
                located(records([good.clone(), record].concat(), &forced(NAME)).unwrap_err());
            assert!(error.message.contains(expected), "{error}");
            let at = good.len() as u64;
            assert!(
                matches!(error.place, Some(Place::Record { record: 1, offset, .. }) if offset == at)
            );
        }
        for length in good.len() + 1..2 * good.len() {
            let cut = &good.repeat(2)[..length];
            let error = located(records(cut, &forced(NAME)).unwrap_err());
            assert!(error.message.contains("ends within a record"), "{error}");
        }
    }
    for none in [&b""[..], b"0 0 0 8 1\n", &[0; 100]] {
        let error = located(records(none, &forced(NAME)).unwrap_err());
        assert!(error.message.contains("first record"), "{error}");
    }
}

#[test]
fn what_is_written_is_version_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.vscsi");
    let record = |op, lbn, blocks| Record {
        arrival: Time::from_us(77),
        device: 0,
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks,
        recorded: None,
    };
    let writing = FORMAT.write.unwrap();
    let mut writer = (writing.create)(Output::create(&path).unwrap()).unwrap();
    for record in [
        record(Op::Read, u64::from(u32::MAX), 65_535),
        record(Op::Read, 1 << 32, 1),
        record(Op::Write, 1, 8),
        record(Op::Write, 1, 65_536),
        record(Op::Flush, 0, 0),
        record(Op::Trim, 1, 8),
    ] {
        writer.write(&record).unwrap();
    }
    writer.finish().and_then(Output::finish).unwrap();
    let written = std::fs::read(&path).unwrap();
    let commands: Vec<_> = written.chunks_exact(32).map(|r| r[12]).collect();
    assert_eq!(commands, [0x28, 0x88, 0x2a, 0x8a, 0x35, 0x42]);
    let third: [u8; 32] = [
        2, 0, 0, 0, 0, 0x10, 0, 0, 1, 0, 0, 0, 0x2a, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 77, 0, 0, 0,
        0, 0, 0, 0,
    ];
    assert_eq!(written[64..96], third);
}
