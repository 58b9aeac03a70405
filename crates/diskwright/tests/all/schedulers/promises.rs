//! What schedulers promise about waiting, tried with hostile streams; and that those without a promise keep none.

use diskwright::base::units::Time;
use diskwright::engine::request::Op;
use diskwright::models::queue::Slot;
use diskwright::models::queue::schedulers::Starvation;
use proptest::prelude::*;

use super::common::{BLOCKS, Desk, all, mechanics, scheduler, slowest};

/// A stream that answers each completion with one more request.
type Stream = fn(&Desk<'_>, u64) -> (Op, u64);

/// Requests on the arm's cylinder, all around the track.
fn at_the_arm(desk: &Desk<'_>, step: u64) -> u64 {
    let near = desk.last.saturating_sub(1) / 33 * 33;
    (near + step * 7 % 33).min(BLOCKS - 1)
}

const STREAMS: [Stream; 9] = [
    |desk, step| (Op::Read, at_the_arm(desk, step)),
    |desk, step| (Op::Write, at_the_arm(desk, step)),
    |desk, step| {
        (
            [Op::Read, Op::Write][step as usize % 2],
            at_the_arm(desk, step),
        )
    },
    // A sequential stream, which ends at the edge and begins anew.
    |desk, _| (Op::Read, desk.last % BLOCKS),
    |desk, _| (Op::Write, desk.last.saturating_sub(2)),
    // Alternately on either side of the arm.
    |desk, step| {
        let (up, down) = (desk.last + 300, desk.last.saturating_sub(300));
        (Op::Read, [up, down][step as usize % 2].min(BLOCKS - 1))
    },
    // The edges in turn.
    |_, step| (Op::Read, [0, BLOCKS - 1][step as usize % 2]),
    |_, step| (Op::Read, scattered(step)),
    |_, step| {
        (
            [Op::Read, Op::Write][(scattered(step + 1) % 5 / 4) as usize],
            scattered(step),
        )
    },
];

/// An address that seems random.
fn scattered(step: u64) -> u64 {
    (step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) % BLOCKS
}

/// A request that entered, as the checks want it.
struct Life {
    entered: Time,
    /// Picks and turns before it came.
    picks: u64,
    turns: u64,
    /// Older requests that waited at the same place.
    alike: u64,
    /// When its promise by age began to hold, and within how many picks it must be served from then on.
    due: Option<u64>,
    served: bool,
}

/// Whether the request that waits from the start on a far place is served at all; panics where a promise is broken.
fn run(
    text: &str,
    stream: Stream,
    is_host: bool,
    victim: (Op, u64),
    others: u64,
    steps: u64,
) -> bool {
    let m = mechanics(0);
    let mut desk = Desk::new(&m, text, is_host);
    let promise = desk.scheduler.starvation(slowest(&m));
    let mut lives: Vec<Life> = Vec::new();
    let push = |desk: &mut Desk<'_>, lives: &mut Vec<Life>, picks: u64, (op, lbn): (Op, u64)| {
        let same = |&slot: &Slot| desk.pool.get(slot).command.lbn.0 == lbn;
        lives.push(Life {
            entered: desk.now,
            picks,
            turns: desk.turns,
            alike: desk.pool.by_arrival().filter(same).count() as u64,
            due: None,
            served: false,
        });
        desk.push(op, lbn);
    };
    push(&mut desk, &mut lives, 0, victim);
    for step in 0..others {
        let next = stream(&desk, step);
        push(&mut desk, &mut lives, 0, next);
    }
    let longest = others + 1;
    for picks in 0..steps {
        if is_host {
            // A host's picks take as long as the drive below needs.
            desk.now += Time::from_ms(4);
        }
        if let Starvation::Age {
            after,
            under_way,
            each,
        } = promise
        {
            for (older, slot) in desk.pool.by_arrival().enumerate() {
                let life = &mut lives[desk.pool.get(slot).request.0 as usize];
                if desk.now >= life.entered + after {
                    let within = under_way + (older as u64 + 1) * each;
                    let due = *life.due.get_or_insert(picks + within);
                    assert!(
                        picks < due,
                        "{text}: the oldest but {older} was due at pick {due}, it is {picks}"
                    );
                }
            }
        }
        let oldest = desk.pool.oldest().map(|slot| desk.pool.get(slot).request.0);
        let request = desk.serve().request.0;
        let oldest = oldest.expect("something waits");
        lives[request as usize].served = true;
        let (life, first) = (&lives[request as usize], &lives[oldest as usize]);
        match promise {
            Starvation::Later(span) if request != oldest => {
                assert!(
                    life.entered < first.entered + span,
                    "{text}: {request} was served before {oldest}"
                );
            }
            Starvation::Queues(queues) => {
                let waited = picks + 1 - first.picks;
                assert!(
                    waited <= queues * longest,
                    "{text}: {oldest} waits for {waited} picks"
                );
            }
            Starvation::Turns(turns) => {
                let waiting = desk
                    .pool
                    .oldest()
                    .map(|slot| &lives[desk.pool.get(slot).request.0 as usize]);
                for life in [Some(life), waiting].into_iter().flatten() {
                    let (turned, most) = (desk.turns - life.turns, turns * (life.alike + 1));
                    assert!(
                        turned <= most,
                        "{text}: a request waits for {turned} turns, not for {most}"
                    );
                }
            }
            _ => {}
        }
        let next = stream(&desk, picks + others);
        push(&mut desk, &mut lives, picks + 1, next);
    }
    lives[0].served
}

fn victims() -> [(Op, u64); 4] {
    let (first, last) = (0, BLOCKS - 1);
    [
        (Op::Read, last),
        (Op::Write, last),
        (Op::Read, first),
        (Op::Write, BLOCKS / 2),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_promised_is_kept(
        stream in prop::sample::select(STREAMS.to_vec()), victim in prop::sample::select(victims().to_vec()), others in 0u64..20,
    ) {
        for name in all() {
            run(&name, stream, false, victim, others, 1_500);
            if !scheduler(&name).needs_geometry() {
                run(&name, stream, true, victim, others, 1_500);
            }
        }
    }
}

#[test]
fn without_a_promise_some_stream_starves_some_request() {
    for name in all() {
        let starves = STREAMS.iter().any(|&stream| {
            let mut victims = victims().into_iter();
            victims.any(|victim| !run(&name, stream, false, victim, 8, 4_000))
        });
        let promise = scheduler(&name).starvation(slowest(&mechanics(0)));
        // A stream at the arm's own place holds up an elevator, and keeps its promise.
        if !matches!(promise, Starvation::Turns(_)) {
            assert_eq!(
                starves,
                promise == Starvation::Unbounded,
                "{name} {promise:?}"
            );
        }
    }
}

#[test]
fn the_promises_are_these() {
    let slowest = Time::from_ms(12);
    let promise = |text: &str| scheduler(text).starvation(slowest);
    let age = |after, under_way, each| Starvation::Age {
        after,
        under_way,
        each,
    };
    for (text, expected) in [
        ("\"fcfs\"", age(Time::ZERO, 0, 1)),
        ("\"ncq\"", age(Time::from_s(2), 0, 1)),
        ("\"weighted-satf\"", age(Time::from_s(2), 0, 1)),
        // Two batches of reads and one of writes for each, after the rest of the present batch.
        ("\"deadline\"", age(Time::from_s(5), 15, 48)),
        (
            "{ deadline = { fifo_batch = 0, writes_starved = 1 } }",
            age(Time::from_s(5), 0, 2),
        ),
        ("\"batch-satf\"", Starvation::Queues(2)),
        // 12 ms of positioning are worth 24 ms of waiting.
        (
            "{ aged-satf = { weight = 0.5 } }",
            Starvation::Later(Time::from_ms(24)),
        ),
        ("\"look\"", Starvation::Turns(1)),
        ("\"scan\"", Starvation::Turns(1)),
        ("{ v-scan = { r = 1.0 } }", Starvation::Turns(1)),
        ("\"c-look\"", Starvation::Turns(3)),
        ("\"c-scan\"", Starvation::Turns(3)),
        ("\"sstf\"", Starvation::Unbounded),
        ("\"satf\"", Starvation::Unbounded),
        ("\"v-scan\"", Starvation::Unbounded),
        ("{ aged-satf = { weight = 0.0 } }", Starvation::Unbounded),
        (
            "{ weighted-satf = { window = \"0 ms\" } }",
            Starvation::Unbounded,
        ),
        ("{ ncq = { timeout = \"0 ms\" } }", Starvation::Unbounded),
        (
            "{ deadline = { writes_starved = 0 } }",
            Starvation::Unbounded,
        ),
    ] {
        assert_eq!(promise(text), expected, "{text}");
    }
}
