//! Buffers, overheads and what has no place in a drive's description.

use diskwright::base::units::{Size, Time};
use diskwright::devices::hdd::buffer_description::{
    BufferDescription, ExtraDisconnection, ReadAheadDescription, ReadAheadEnd, Water,
    WriteCompletion,
};

use super::sample::Sample;

fn buffer(overrides: &[(&str, &str, &str)]) -> BufferDescription {
    let drive = Sample::new().sound(overrides).drive;
    drive.buffer.expect("every disk of DiskSim's has a buffer")
}

fn disk<'p>(parameter: &'p str, value: &'p str) -> (&'static str, &'p str, &'p str) {
    ("disk0", parameter, value)
}

#[test]
fn the_samples_buffer_is_what_it_describes() {
    let found = buffer(&[]);
    assert_eq!((found.segments, found.segment_blocks()), (2, 64));
    assert!(found.keeps_data && found.read.hits_written_data && found.read.partial_hits_at_once);
    assert_eq!(found.read_ahead.until, ReadAheadEnd::Segment);
    assert_eq!(found.read_ahead.most, Some(Size::from_blocks(32)));
    assert!(found.read_ahead.stops_within_sector && !found.read_ahead.after_hits);
    assert_eq!(found.write.complete, WriteCompletion::OnMedium);
    assert!(found.write.appends && !found.write.own_segment);
    assert!(found.bus.disconnects && !found.bus.kept_by_reads && !found.bus.kept_by_writes);
    assert_eq!((found.bus.high_water, found.bus.low_water), (0.5, 0.5));
    assert_eq!(found.bus.water, Water::Request);
}

/// The least, the most, and what it may replace, as DiskSim takes them together.
#[test]
fn reading_ahead_goes_as_far_as_in_disksim() {
    use ReadAheadEnd::{Cylinder, None as Nothing, Segment, StreamTrack, Track};
    for (continuous, least, most, over, expected) in [
        ("0", "5", "9", "1", (Nothing, 0, None, false)),
        ("1", "0", "9", "1", (Track, 0, Some(9), false)),
        ("2", "0", "0", "1", (Cylinder, 0, None, true)),
        ("2", "0", "0", "0", (Cylinder, 0, None, false)),
        ("3", "0", "0", "-1", (Segment, 0, None, true)),
        ("3", "12", "9", "0", (Segment, 12, Some(12), false)),
        ("3", "12", "0", "1", (Segment, 12, Some(12), false)),
        ("4", "3", "9", "1", (StreamTrack, 3, None, false)),
        ("4", "0", "0", "1", (StreamTrack, 0, None, false)),
    ] {
        let found = buffer(&[
            disk("Buffer continuous read", continuous),
            disk("Minimum read-ahead (blks)", least),
            disk("Maximum read-ahead (blks)", most),
            disk("Read-ahead over requested", over),
        ]);
        let found = found.read_ahead;
        let blocks = |size: Size| size.blocks();
        assert_eq!(
            (
                found.until,
                blocks(found.least),
                found.most.map(blocks),
                found.over_requested
            ),
            expected,
            "{continuous} {least} {most} {over}"
        );
    }
    let none = buffer(&[
        disk("Buffer continuous read", "0"),
        disk("Read-ahead on idle hit", "1"),
    ]);
    assert_eq!(none.read_ahead, ReadAheadDescription::default());
}

#[test]
fn writes_complete_where_the_level_says() {
    for (level, complete, buffered) in [
        ("0", WriteCompletion::OnMedium, (0, 0)),
        ("1", WriteCompletion::BufferedAlone, (500_000, 600_000)),
        ("2", WriteCompletion::Buffered, (500_000, 600_000)),
    ] {
        let found = buffer(&[disk("Fast write level", level)]).write;
        assert_eq!(found.complete, complete, "{level}");
        assert_eq!(
            (
                found.buffered_after_read.ns(),
                found.buffered_after_write.ns()
            ),
            buffered,
            "{level}"
        );
    }
}

#[test]
fn a_buffer_without_caching_keeps_nothing() {
    let put = [
        disk("Enable caching in buffer", "0"),
        disk("Buffer continuous read", "0"),
    ];
    let import = Sample::new().sound(&put);
    assert!(!import.drive.buffer.as_ref().expect("a buffer").keeps_data);
    let told = |put: &[_]| {
        let warnings = Sample::new().sound(put).warnings;
        warnings.iter().any(|warning| warning.contains("caching"))
    };
    assert!(!told(&put));
    // The sample reads ahead.
    assert!(told(&put[..1]));
    assert!(told(&[put[0], put[1], disk("Fast write level", "1")]));
}

/// The time of each request comes before whatever a request begins with, and is scaled like the others.
#[test]
fn the_overhead_of_each_request_is_part_of_every_beginning() {
    let put = [
        disk("Per-request overhead time", "0.1"),
        disk("Time scale for overheads", "2"),
        disk("Fast write level", "2"),
        disk("Extra write disconnect", "1"),
        disk("Extradisc command overhead", "0.03"),
        disk("Extradisc disconnect overhead", "0.04"),
    ];
    let drive = Sample::new().sound(&put).drive;
    let us = Time::from_us;
    let overhead = drive.overhead;
    assert_eq!(
        (overhead.read_after_read, overhead.read_after_write),
        (us(200 + 600), us(200 + 800))
    );
    assert_eq!(
        (overhead.write_after_read, overhead.write_after_write),
        (us(200 + 1_400), us(200 + 1_600))
    );
    assert_eq!(
        (overhead.completion_read, overhead.completion_write),
        (us(20), us(40))
    );
    let buffer = drive.buffer.expect("a buffer");
    assert_eq!(
        (buffer.read.hit_after_read, buffer.read.hit_after_write),
        (us(200 + 200), us(200 + 400))
    );
    assert_eq!(
        (
            buffer.write.buffered_after_read,
            buffer.write.buffered_after_write
        ),
        (us(200 + 1_000), us(200 + 1_200))
    );
    let extra = buffer.write.extra_disconnection.expect("asked for");
    assert_eq!(
        extra,
        ExtraDisconnection {
            command: us(200 + 60),
            disconnect: us(80),
            ..extra.clone()
        }
    );
}

#[test]
fn what_has_no_place_is_told_where_it_matters() {
    for (put, told) in [
        (&[disk("Preseeking level", "1")][..], None),
        (&[disk("Hold bus entire write xfer", "1")], None),
        (
            &[
                disk("Hold bus entire write xfer", "1"),
                disk("First reselect overhead", "0.2"),
            ],
            Some("Hold bus entire write xfer"),
        ),
        (
            &[
                disk("Hold bus entire write xfer", "1"),
                disk("First reselect overhead", "0.2"),
                disk("Fast write level", "2"),
            ],
            None,
        ),
        (
            &[disk("Write hit stop prefetch", "0")],
            Some("Write hit stop prefetch"),
        ),
        (
            &[
                disk("Write hit stop prefetch", "0"),
                disk("Buffer continuous read", "0"),
            ],
            None,
        ),
        (
            &[disk("Read-ahead over requested", "-1")],
            Some("over requested"),
        ),
        (&[disk("Maximum number of write segments", "9")], None),
        (&[disk("Minimum seek delay", "9")], None),
        (&[disk("Read any free blocks", "1")], None),
    ] {
        let found = Sample::new().sound(put).warnings;
        let found: Vec<_> = found
            .iter()
            .filter(|warning| !warning.contains("Block count"))
            .collect();
        match told {
            None => assert!(found.is_empty(), "{put:?}: {found:?}"),
            Some(told) => {
                assert_eq!(found.len(), 1, "{put:?}: {found:?}");
                assert!(found[0].contains(told), "{put:?}: {found:?}");
                assert!(found[0].contains(" of disk0 (disksim_disk) is left out"));
            }
        }
    }
}

#[test]
fn a_warning_names_its_place() {
    let warnings = Sample::new()
        .replace("Allow almost read hits = 0", "Allow almost read hits = 1")
        .sound(&[])
        .warnings;
    assert!(
        warnings.iter().any(
            |warning| warning.starts_with("a/drive.diskspecs:7:29: \"Allow almost read hits\"")
        ),
        "{warnings:?}"
    );
}

#[test]
fn a_buffer_without_sense_is_refused_at_its_value() {
    for (from, to, message, place) in [
        (
            "Number of buffer segments = 2",
            "Number of buffer segments = 0",
            "a buffer of 0 segments",
            "a/drive.diskspecs:26:32",
        ),
        (
            "Segment size (in blks) = 64",
            "Segment size (in blks) = 16777217",
            "buffer segments of",
            "a/drive.diskspecs:28:29",
        ),
        (
            "Read hit over. after read = 0.1",
            "Read hit over. after read = 10001",
            "takes at most",
            "a/drive.diskspecs:1:",
        ),
    ] {
        let error = Sample::new().replace(from, to).error(&[]);
        assert!(error.contains(message), "{error}");
        assert!(error.contains(place), "{error}");
    }
}
