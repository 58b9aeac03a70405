//! Records as bytes, and devices that go on.

use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::records::{Decoder, Encoder, Entry, Record};
use super::replay::Resumed;
use super::{Log, Replay, identity, path_beside};
use crate::base::error::Error;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Time};
use crate::config::spec::FaultSpec;
use crate::engine::request::{Command, DeviceId, Op};
use crate::engine::{Engine, Injection};
use crate::metrics::Recorder;
use crate::runs::serve::live::Live;
use crate::runs::serve::pace::Pace;
use crate::runs::serve::tests::{Answer, Script, real};
use crate::runs::serve::{engine, spec};
use crate::runs::simulation::{Checked, RunOptions, SpecSource};

const MS: u64 = 1_000_000;

/// Devices with memories of several kinds.
const DEVICES: [&str; 5] = [
    "[device.hdd]\ndrive = \"ibm-18es\"\n",
    "[device.hdd]\ndrive = \"wd-blue-1tb\"\n",
    "[device.ssd]\ndrive = \"slc-classic\"\n",
    "device.array.layout = { raid-5 = { unit = \"128 blocks\" } }\n[[device.array.member]]\nhdd = { drive = \"ibm-18es\" }\n\
     [[device.array.member]]\nhdd = { drive = \"ibm-18es\", angle = 0.3 }\n\
     [[device.array.member]]\nhdd = { drive = \"ibm-18es\", angle = 0.7 }\n",
    "[device.tier]\nwrite_policy = \"write-back\"\nsize = \"4 MiB\"\n[device.tier.cache.ssd]\ndrive = \"slc-classic\"\n\
     [device.tier.backing.hdd]\ndrive = \"ibm-18es\"\n",
];

/// A device of a spec that is new.
fn new_device(text: &str) -> (Checked, Engine) {
    let source = SpecSource::Text {
        text: text.to_owned(),
        base: ".".into(),
    };
    let checked = spec::read(&source, &RunOptions::default()).expect("a spec");
    let mut tree = checked.devices().expect("devices");
    let (engine, _) = engine(&checked, &mut tree, None).expect("an engine");
    (checked, engine)
}

/// Requests that meet each other, in a part of a device.
fn requests(random: &mut Stream, count: u64) -> Vec<Command> {
    let one = |_| {
        let op = match random.below(20) {
            0 => Op::Flush,
            1 => Op::Trim,
            2..9 => Op::Read,
            _ => Op::Write,
        };
        let blocks = 8 * (1 + random.below(16)) as u32;
        Command {
            op,
            fua: op == Op::Write && random.below(8) == 0,
            lbn: Lbn(if op == Op::Flush {
                0
            } else {
                8 * random.below(4000)
            }),
            blocks: if op == Op::Flush { 0 } else { blocks },
        }
    };
    (0..count).map(one).collect()
}

/// A serving of a device: what was answered when, and the log.
fn serving(
    engine: &mut Engine,
    mut script: Script,
    pace: Pace,
    log: Option<Log>,
) -> (Vec<Answer>, String, Option<Log>) {
    let origin = engine.now();
    let mut live = Live::new(&mut script, pace, Recorder::default())
        .from(origin)
        .with_state(log);
    engine.run(&mut live).expect("served");
    let digest = live.finish_recording().0.digest();
    let log = live.take_state();
    (script.answers, digest, log)
}

/// A device that comes back from its state.
fn come_back(path: &Path, text: &str, flushes: bool) -> Result<(Engine, Resumed), Error> {
    let (checked, mut engine) = new_device(text);
    let faults: Vec<Time> = checked
        .spec
        .fault
        .iter()
        .map(|fault: &FaultSpec| fault.at)
        .collect();
    let identity = identity(&checked);
    let mut watcher = ();
    let replay = Replay::open((path, &identity), flushes, &faults, &mut watcher)?;
    let resumed = replay.run(&mut engine)?;
    Ok((engine, resumed))
}

/// Scripts of some servings, each with its pace.
fn servings(random: &mut Stream, is_array: bool) -> Vec<(Script, Pace)> {
    let mut servings = Vec::new();
    for number in 0..3u64 {
        let list = requests(random, 150);
        let (mut script, pace) = match number {
            0 => (Script::closed(1, &list), Pace::Fast { depth: 1 }),
            1 => {
                let mut at = 0;
                let sends = list.iter().map(|command| {
                    at += random.below(12) * MS;
                    (at, *command)
                });
                (Script::new(&sends.collect::<Vec<_>>()), real(1.0))
            }
            _ => (Script::closed(4, &list), Pace::Fast { depth: 4 }),
        };
        if number == 1 {
            let fault = match is_array {
                true => Injection::Fail(DeviceId(0)),
                false => Injection::MediaError {
                    device: DeviceId(0),
                    blocks: 100..132,
                },
            };
            script.fault = Some((200 * MS, fault));
        }
        servings.push((script, pace));
    }
    servings
}

#[test]
fn a_device_that_comes_back_is_the_same() {
    for (text, seed) in DEVICES.iter().zip(1..) {
        let folder = TempDir::new().expect("a folder");
        let path = path_beside(&folder.path().join("image"));
        let all = |seed| servings(&mut Stream::new(seed, "state"), text.contains("array"));
        // One that is never left.
        let (_, mut never_left) = new_device(text);
        let expected = all(seed).into_iter().map(|(script, pace)| {
            let (answers, digest, _) = serving(&mut never_left, script, pace, None);
            (answers, digest, never_left.now())
        });
        let expected: Vec<_> = expected.collect();
        for ((script, pace), number) in all(seed).into_iter().zip(0..) {
            let (mut engine, log) = if number == 0 {
                let (checked, engine) = new_device(text);
                let log = Log::of_new_device(&path, &identity(&checked)).expect("a log");
                (engine, log)
            } else {
                let (engine, resumed) = come_back(&path, text, false).expect("it comes back");
                assert!(!resumed.is_cut_short);
                assert_eq!(resumed.at, expected[number - 1].2, "{text}");
                let log = Log::going_on(&path, resumed).expect("a log");
                (engine, log)
            };
            let (answers, digest, log) = serving(&mut engine, script, pace, Some(log));
            assert_eq!(answers, expected[number].0, "{text}, serving {number}");
            assert_eq!(digest, expected[number].1, "{text}, serving {number}");
            log.expect("a log").finish(engine.now()).expect("written");
        }
    }
}

/// The state of a device that was served once, in a folder.
fn served_once(text: &str) -> (TempDir, std::path::PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let path = path_beside(&folder.path().join("image"));
    let (checked, mut engine) = new_device(text);
    let mut log = Log::of_new_device(&path, &identity(&checked)).expect("a log");
    let mut random = Stream::new(5, "state");
    for _ in 0..3 {
        let script = Script::closed(2, &requests(&mut random, 60));
        let pace = Pace::Fast { depth: 2 };
        let (.., kept) = serving(&mut engine, script, pace, Some(log));
        log = kept.expect("a log");
        log.write_out().expect("written");
    }
    log.finish(engine.now()).expect("written");
    (folder, path)
}

#[test]
fn one_that_was_left_at_once_comes_back_earlier() {
    let text = DEVICES[0];
    let (_folder, path) = served_once(text);
    let whole = std::fs::read(&path).expect("a file");
    let (_, all) = come_back(&path, text, false).expect("it comes back");
    let head = whole
        .iter()
        .position(|&byte| byte == b'\n')
        .expect("a line")
        + 1;
    let mut came_back = Vec::new();
    let lengths = (head..whole.len()).step_by(97).chain([whole.len() - 1]);
    for length in lengths {
        for tail in [0, 50] {
            let mut bytes = whole[..length].to_vec();
            bytes.resize(length + tail, 0);
            std::fs::write(&path, bytes).expect("written");
            let (engine, resumed) = come_back(&path, text, true).expect("it comes back");
            assert!(resumed.at <= all.at + Time::from_ms(100));
            came_back.push(resumed.requests);
            // It goes on from there, and so does the next one.
            let (requests, at) = (resumed.requests, resumed.at);
            let log = Log::going_on(&path, resumed).expect("a log");
            log.finish(engine.now()).expect("written");
            let (_, again) = come_back(&path, text, false).expect("it comes back");
            assert_eq!((again.requests, again.at), (requests, at), "{length}");
            assert!(!again.is_cut_short);
        }
    }
    // Whole chunks, of sixty requests each, and the flush.
    came_back.dedup();
    assert_eq!(came_back, [1, 61, 121, 181]);
}

#[test]
fn what_is_wrong_with_a_state_is_said() {
    let text = DEVICES[0];
    let (_folder, path) = served_once(text);
    let whole = std::fs::read(&path).expect("a file");
    let said = |bytes: &[u8], text: &str| {
        std::fs::write(&path, bytes).expect("written");
        let error = come_back(&path, text, false)
            .map(|_| ())
            .expect_err("wrong");
        let error = error.to_string();
        assert!(error.contains("--new-drive"), "{error}");
        error
    };
    let other = text.replace("ibm-18es", "cheetah-9lp");
    assert!(said(&whole, &other).contains("device.hdd.drive differs"));
    assert!(said(b"a text\n", text).contains("no state"));
    let mut damaged = whole.clone();
    let head = whole
        .iter()
        .position(|&byte| byte == b'\n')
        .expect("a line")
        + 1;
    damaged[head + 40] ^= 1;
    assert!(said(&damaged, text).contains("damaged"));
    // The same spec, and a drive that answers at other times.
    let line = String::from_utf8(whole[..head].to_vec()).expect("text");
    let slow = "[device.hdd]\ndrive = \"ibm-18es\"\noverhead = \"3 ms\"\n";
    let (checked, _) = new_device(slow);
    let mut forged = super::head(&identity(&checked)).into_bytes();
    assert_ne!(forged, line.as_bytes());
    forged.extend(&whole[head..]);
    assert!(said(&forged, slow).contains("not the same one"));
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let op = prop::sample::select(vec![Op::Read, Op::Write, Op::Flush, Op::Trim]);
    let lbn = prop_oneof![0u64..100, any::<u64>().prop_map(|lbn| lbn >> 8)];
    let command = (
        op,
        any::<bool>(),
        lbn,
        prop_oneof![Just(8u32), any::<u32>()],
    );
    let command = command.prop_map(|(op, fua, lbn, blocks)| {
        Entry::Command(Command {
            op,
            fua,
            lbn: Lbn(lbn),
            blocks,
        })
    });
    let fail = any::<u32>().prop_map(|device| Entry::Fault(Injection::Fail(DeviceId(device))));
    let spoiled = (any::<u32>(), 0u64..1 << 40, 1u64..1000).prop_map(|(device, from, blocks)| {
        Entry::Fault(Injection::MediaError {
            device: DeviceId(device),
            blocks: from..from + blocks,
        })
    });
    let entry = prop_oneof![8 => command, 1 => fail, 1 => spoiled];
    let enters = (entry, any::<bool>()).prop_map(|(entry, begins)| Record::Enters {
        at: Time::ZERO,
        begins,
        entry,
    });
    let pause = Just(Record::Pause(Time::ZERO));
    let record = prop_oneof![8 => enters, 1 => pause, 1 => any::<u64>().prop_map(Record::Check)];
    let gap = prop_oneof![Just(0u64), 0u64..1 << 40];
    prop::collection::vec((record, gap), 0..60).prop_map(|list| {
        let mut now = 0;
        let timed = list.into_iter().map(|(mut record, gap)| {
            if let Record::Enters { begins: true, .. } | Record::Pause(_) = record {
                now += gap;
            }
            if let Record::Enters { at, .. } | Record::Pause(at) = &mut record {
                *at = Time::from_ns(now);
            }
            record
        });
        timed.collect()
    })
}

proptest! {
    #[test]
    fn records_come_back(records in records(), cut in any::<prop::sample::Index>()) {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        let split = cut.index(records.len() + 1);
        let mut found = Vec::new();
        for part in [&records[..split], &records[split..]] {
            part.iter().for_each(|record| encoder.add(record));
            decoder.feed(encoder.take());
            while let Some(record) = decoder.record().expect("records") {
                found.push(record);
            }
        }
        prop_assert_eq!(found, records);
    }

    #[test]
    fn whatever_bytes_are_no_more_than_wrong(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut decoder = Decoder::default();
        decoder.feed(bytes);
        while let Ok(Some(_)) = decoder.record() {}
    }
}
