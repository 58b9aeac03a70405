//! A parent that sees whether a disk has stopped, and tells it to.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use diskwright::base::error::Error;
use diskwright::base::memory::Budget;
use diskwright::base::units::{Lbn, Time};
use diskwright::devices::assembly::{RunSettings, Site};
use diskwright::devices::hdd::drive::Drive;
use diskwright::devices::hdd::spec::HddSpec;
use diskwright::devices::spindles::Spindles;
use diskwright::engine::context::Context;
use diskwright::engine::device::{Device, DeviceStatus};
use diskwright::engine::request::{Command, DeviceId, Op, Part, RequestId};
use diskwright::engine::{Engine, Initiator, Port, Token};
use diskwright::models::cache::replacement::CustomReplacements;
use diskwright::models::queue::CustomSchedulers;
use serde_json::{Map, Value};

/// What the parent does at an instant, ms.
#[derive(Clone, Copy)]
enum Act {
    Look,
    StandBy,
    Read,
}

/// Instants, in ms, at which it looked, and what it saw; and those of completions, with the time that they have waited for the medium.
#[derive(Default)]
struct Seen {
    downs: Vec<(u64, bool)>,
    ends: Vec<(Time, Time)>,
}

struct Parent {
    acts: Vec<(u64, Act)>,
    seen: Arc<Mutex<Seen>>,
}

const CHILD: DeviceId = DeviceId(0);

impl Device for Parent {
    fn children(&self) -> Vec<DeviceId> {
        vec![CHILD]
    }
    fn prepare(&mut self, cx: &mut Context<'_>) {
        for (number, &(ms, _)) in (0..).zip(&self.acts) {
            cx.alarm(Time::from_ms(ms), Token::new(0, number));
        }
    }
    fn accept(&mut self, _request: RequestId, _cx: &mut Context<'_>) {
        unreachable!("the host submits nothing");
    }
    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        let (ms, act) = self.acts[token.value() as usize];
        match act {
            Act::StandBy => cx.stand_by(CHILD),
            Act::Look => {
                let is_down = cx.status(CHILD).is_down;
                self.seen.lock().expect("whole").downs.push((ms, is_down));
            }
            Act::Read => {
                let command = Command {
                    op: Op::Read,
                    lbn: Lbn(0),
                    blocks: 1,
                    ..Command::default()
                };
                cx.submit(CHILD, command);
            }
        }
    }
    fn child_completed(&mut self, _child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let request = cx.request(request);
        assert_eq!(request.parts.total(), request.completion - request.start);
        let waited = request.parts.get(Part::Wake);
        let mut seen = self.seen.lock().expect("whole");
        seen.ends.push((request.completion, waited));
    }
    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        0
    }
    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        unreachable!("it has no parent")
    }
    fn blocks(&self) -> u64 {
        1
    }
    fn measure_from(&mut self, _now: Time) {}
    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        Map::new()
    }
}

/// A host that asks for nothing.
struct Nobody;

impl Initiator for Nobody {
    fn start(&mut self, _port: &mut Port<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn alarm(&mut self, _token: Token, _port: &mut Port<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn completed(&mut self, _request: RequestId, _port: &mut Port<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn power_lost(&mut self, _now: Time) {}
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn see(policy: &str, acts: &[(u64, Act)]) -> Seen {
    let text = format!(
        "drive = 'ibm-18es-linear'\nbuffer = false\n[power]\n{policy}\n[power.figures]\nidle = '1 W'\n\
         standby_z = {{ power = '0 W', enter = {{ time = '1 s' }}, leave = {{ time = '3 s' }} }}\n"
    );
    let spec: HddSpec = toml::from_str(&text).expect("a spec");
    let drive = Drive::read(&spec.drive, Path::new("."), |_| None).expect("a drive");
    let (schedulers, replacements) = (CustomSchedulers::default(), CustomReplacements::default());
    let run = RunSettings {
        seed: 0,
        base: Path::new("."),
        schedulers: &schedulers,
        replacements: &replacements,
        memory: None,
        read_foreign: |_| None,
        locate: &|_, error| error,
        warming: &|_, _, _| Ok(()),
        loses_power: false,
    };
    let spindles = Spindles::alone();
    let site = Site {
        path: "hdd",
        spindles: &spindles,
        run: &run,
    };
    let disk = spec
        .assemble(drive, &site, &mut Budget::default())
        .expect("a disk");
    let seen = Arc::new(Mutex::new(Seen::default()));
    let parent = Parent {
        acts: acts.to_vec(),
        seen: seen.clone(),
    };
    let mut engine = Engine::new(vec![Box::new(disk), Box::new(parent)], None);
    engine.run(&mut Nobody).expect("it runs");
    std::mem::take(&mut *seen.lock().expect("whole"))
}

#[test]
fn a_disk_is_down_from_the_timeout_until_it_is_wanted() {
    let acts = [
        (9_999, Act::Look),
        (10_001, Act::Look),
        (20_000, Act::Look),
        (20_001, Act::Read),
        (20_002, Act::Look),
        (40_000, Act::Look),
    ];
    let seen = see("policy = { fixed = { standby_z = '10 s' } }", &acts);
    let downs: Vec<bool> = seen.downs.iter().map(|&(_, is_down)| is_down).collect();
    assert_eq!(downs, [false, true, true, false, true]);
    assert_eq!(seen.ends[0].1, Time::from_s(3));
}

#[test]
fn a_disk_that_is_told_to_stop_does_so_once_it_has_nothing_to_do() {
    // At rest: at once, without any policy. A read wakes it, and it does not stop again by itself.
    let acts = [
        (1_000, Act::StandBy),
        (1_001, Act::Look),
        (5_000, Act::Read),
        (5_001, Act::Look),
        (60_000, Act::Look),
    ];
    let seen = see("", &acts);
    assert_eq!(seen.downs, [(1_001, true), (5_001, false), (60_000, false)]);
    assert_eq!(seen.ends[0].1, Time::from_s(3));
    // At work: behind that; and a request that comes first cancels it.
    let acts = [
        (1_000, Act::Read),
        (1_000, Act::StandBy),
        (1_000, Act::Look),
        (1_100, Act::Look),
    ];
    assert_eq!(see("", &acts).downs, [(1_000, false), (1_100, true)]);
    let acts = [
        (1_000, Act::Read),
        (1_000, Act::StandBy),
        (1_001, Act::Read),
        (1_100, Act::Look),
    ];
    assert_eq!(see("", &acts).downs, [(1_100, false)]);
}
