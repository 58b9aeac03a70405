//! A host in front of a device that does what a test wants.

use std::path::Path;

use super::{Extent, Host, HostPolicy};
use crate::base::units::Time;
use crate::engine::Engine;
use crate::engine::fakes::{Fake, asked, reported};
use crate::engine::window::WarmUp;
use crate::metrics::Recorder;
use crate::models::queue::schedulers::SchedulerSpec;
use crate::workload::{Workload, WorkloadSpec};

/// What a device is asked by a closed load, and what of the next request it knew when each arrived.
fn run(users: u32, think: &str, extent: Extent, looks_ahead: bool) -> (Vec<String>, Vec<String>) {
    let arrivals = format!("{{ closed = {{ users = {users}, think = '{think}' }} }}");
    let text = format!(
        "synthetic = {{ requests = 40, arrivals = {arrivals}, reads = 0.5, size = '4 KiB' }}"
    );
    let spec: WorkloadSpec = toml::from_str(&text).expect("a sound load");
    let workload = Workload::open(&spec, Path::new(""), 7, 8000).expect("a sound load");
    let fcfs: SchedulerSpec = serde_json::from_str("{\"fcfs\": {}}").expect("an order");
    let policy = HostPolicy {
        outstanding: None,
        scheduler: fcfs.build(),
        extent,
    };
    let device = Box::new(Fake::new(8000, 1));
    let mut engine = Engine::new(vec![device], None);
    let progress = &mut ();
    let mut host = Host::new(workload, policy, Recorder::new(WarmUp::None), progress)
        .looking_ahead(looks_ahead);
    engine.run(&mut host).expect("it runs");
    (asked(&engine, 0), reported(&engine, 0, "foreseen"))
}

const WHOLE: Extent = Extent {
    requests: None,
    duration: None,
    ends_with_last_arrival: false,
};

/// Where a request begins, of one as the device reports it.
fn first_block(request: &str) -> &str {
    let (_, run) = request.split_once(' ').expect("operation and blocks");
    run.split_once('+').expect("first block and how many").0
}

#[test]
fn a_device_that_looks_ahead_knows_where_the_next_request_begins() {
    let (asked, foreseen) = run(1, "1 ms", WHOLE, true);
    assert_eq!((asked.len(), foreseen.len()), (40, 40));
    let next = asked[1..].iter().map(|request| first_block(request));
    let expected: Vec<&str> = next.chain(["none"]).collect();
    assert_eq!(foreseen, expected);
}

#[test]
fn a_device_that_does_not_look_ahead_knows_nothing() {
    let (_, foreseen) = run(1, "1 ms", WHOLE, false);
    assert!(foreseen.iter().all(|next| next == "none"));
}

#[test]
fn the_same_is_asked_of_a_device_that_looks_ahead() {
    let some = |requests, ms: Option<u64>| Extent {
        requests,
        duration: ms.map(Time::from_ms),
        ends_with_last_arrival: false,
    };
    let extents = [
        (some(None, None), 40),
        (some(Some(40), None), 40),
        (some(Some(17), None), 17),
        (some(Some(1), None), 1),
        (some(None, Some(9)), 0),
    ];
    for (extent, expected) in extents {
        for users in [1, 3, 50] {
            for think in ["0 s", "2 ms"] {
                let extent = || Extent { ..extent };
                let (ahead, _) = run(users, think, extent(), true);
                let (plain, _) = run(users, think, extent(), false);
                assert_eq!(ahead, plain, "{users} users, {think}");
                assert!(expected == 0 || plain.len() == expected, "{}", plain.len());
            }
        }
    }
}
