//! Policies of a program's own, where caches are simulated.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use crate::support::{RunOptions, from_text, simulation::read_spec};
use diskwright::base::random::Stream;
use diskwright::models::cache::replacement::{Access, CustomReplacements, Replacement, Setting};
use diskwright::models::cache::{Frame, Pins};
use diskwright::runs::miss_ratio::{MissRatioOptions, miss_ratio};

/// First in, first out, by the book.
#[derive(Default)]
struct PlainFifo(VecDeque<Frame>);

impl Replacement for PlainFifo {
    fn hit(&mut self, _frame: Frame, access: &Access) {
        assert_eq!(access.next, u64::MAX, "it is not told of the future");
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let at = self.0.iter().position(|&frame| !pins.holds(frame))?;
        self.0.remove(at)
    }
    fn insert(&mut self, frame: Frame, _access: &Access) {
        self.0.push_back(frame);
    }
    fn remove(&mut self, frame: Frame) {
        self.0.retain(|&other| other != frame);
    }
}

/// `mine`, and the capacities that it was built for, in their order.
fn mine() -> (CustomReplacements, Arc<Mutex<Vec<u32>>>) {
    let capacities = Arc::new(Mutex::new(Vec::new()));
    let built = Arc::clone(&capacities);
    let mut custom = CustomReplacements::default();
    let make = move |setting: &Setting| -> Box<dyn Replacement> {
        built.lock().expect("none panics").push(setting.capacity);
        Box::new(PlainFifo::default())
    };
    custom.add_for("mine", make).expect("a free name");
    (custom, capacities)
}

#[test]
fn every_cache_has_one_of_its_own() {
    let mut stream = Stream::new(1, "test");
    let mut text = "time_s,device,lbn,blocks,op\n".to_owned();
    for at in 0..5_000 {
        let lbn = stream.below(400).min(stream.below(400)) * 8;
        let op = if stream.below(3) == 0 { "w" } else { "r" };
        writeln!(text, "{at},0,{lbn},8,{op}").expect("a text takes what it is given");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.csv");
    fs::write(&path, text).expect("written");
    for (sample, threads) in [(None, 1), (None, 3), (Some(0.5), 2)] {
        let (replacements, capacities) = mine();
        let options = MissRatioOptions {
            // One beside it that is told of the future.
            policies: "mine,fifo,belady".to_owned(),
            capacities: "20,100,50%".to_owned(),
            sample,
            sample_seeds: 2,
            threads: NonZeroUsize::new(threads),
            replacements,
            ..MissRatioOptions::default()
        };
        let found = miss_ratio(&path, &options, &mut ()).expect("a trace");
        let (mine, rest) = found.points.split_at(3);
        for (mine, fifo) in mine.iter().zip(rest) {
            assert_eq!(
                (mine.policy.as_str(), fifo.policy.as_str()),
                ("mine", "fifo")
            );
            assert!(mine.misses > 0 && mine.misses < mine.requests);
            assert_eq!(
                (mine.read_misses, mine.write_misses),
                (fifo.read_misses, fifo.write_misses)
            );
        }
        let expected = match sample {
            None => vec![20, 100, found.points[2].capacity as u32],
            // The whole trace's capacities, halved, in each sample.
            Some(_) => {
                let half = found.points[2].capacity.div_ceil(2) as u32;
                [[10, 50, half]; 2].concat()
            }
        };
        assert_eq!(*capacities.lock().expect("none panics"), expected);
    }
}

#[test]
fn a_spec_is_told_where_it_names_one_that_no_program_has_added() {
    let (replacements, capacities) = mine();
    let options = RunOptions {
        replacements,
        ..RunOptions::default()
    };
    let built = |policy: &str| {
        let text = format!(
            "[workload.synthetic]\nrequests = 1\nsize = '4 KiB'\narrivals = {{ poisson = '1 ms' }}\n\
             [device.hdd]\ndrive = 'ibm-18es'\n[device.hdd.cache]\nsize = '28 KiB'\npolicy = {policy}\n"
        );
        let checked = read_spec(&from_text(&text), &options)?;
        checked.devices().map(|tree| tree.paths)
    };
    assert_eq!(built("'lru'").expect("a spec"), ["hdd"]);
    assert!(built("{ custom = 'mine' }").is_ok());
    assert_eq!(*capacities.lock().expect("none panics"), [7]);
    let error = built("{ custom = 'mien' }").expect_err("not added");
    let error = error.to_string();
    for words in ["did you mean \"mine\"", "spec:9:"] {
        assert!(error.contains(words), "{error}");
    }
}
