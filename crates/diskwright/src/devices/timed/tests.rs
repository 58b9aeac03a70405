//! Requests that are served some at a time.

use super::*;
use crate::engine::fakes::{command, faults, run_at};

/// As many milliseconds as the request has blocks.
struct PerBlock;

impl Timing for PerBlock {
    const PARTS: &'static [Part] = &[Part::Transfer];

    fn time(&mut self, command: &Command) -> Parts {
        let mut parts = Parts::default();
        parts.add(Part::Transfer, Time::from_ms(command.blocks.into()));
        parts
    }

    fn expected(&self) -> AccessTimes {
        AccessTimes::level(Time::ZERO, Time::ZERO, 1_000_000_000)
    }
}

/// The number of a request, and when it began and ended, ms.
type Span = (u64, u64, u64);

fn run_in(parallel: u32, commands: &[(u64, Command)]) -> (Vec<Span>, Map<String, Value>) {
    let device = Timed::new(PerBlock, 1_000, parallel);
    let ms = |&(at, command): &(u64, Command)| (Time::from_ms(at), command);
    let (engine, ended) = run_at(
        vec![Box::new(device)],
        commands.iter().map(ms).collect(),
        &[],
    );
    assert_eq!(faults(&engine), &[] as &[String]);
    let instants = ended.iter().map(|request| {
        assert_eq!(request.parts.total(), request.completion - request.start);
        let ms = |time: Time| time.ns() / 1_000_000;
        (request.sequence, ms(request.start), ms(request.completion))
    });
    let report = engine.devices()[0].report(engine.now());
    (instants.collect(), report)
}

#[test]
fn others_wait_in_the_order_of_arrival() {
    let commands = [
        (0, command(Op::Write, 0, 10)),
        (1, command(Op::Read, 0, 10)),
        (2, command(Op::Read, 500, 1)),
        (3, command(Op::Flush, 0, 0)),
    ];
    let (one, report) = run_in(1, &commands);
    assert_eq!(one, [(0, 0, 10), (1, 10, 20), (2, 20, 21), (3, 21, 21)]);
    assert_eq!(report["utilisation"], 1.0);
    assert_eq!(report["queue_length_max"], 3);
    // 1 to 10, 2 to 20, 3 to 21.
    assert_eq!(report["queue_length_mean"], (9.0 + 18.0 + 18.0) / 21.0);
    assert_eq!(report["longest_wait_ms"], 18.0);

    let (two, report) = run_in(2, &commands);
    assert_eq!(two, [(0, 0, 10), (1, 1, 11), (2, 10, 11), (3, 11, 11)]);
    assert_eq!(report["utilisation"], 21.0 / 22.0);
    assert_eq!(report["busy_ms"]["transfer"], 21.0);
    assert_eq!(
        (&report["reads"], &report["writes"]),
        (&2.into(), &1.into())
    );

    let (all, report) = run_in(9, &commands);
    assert_eq!(all, [(2, 2, 3), (3, 3, 3), (0, 0, 10), (1, 1, 11)]);
    assert_eq!(report["queue_length_max"], 0);
}
