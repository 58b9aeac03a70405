//! A whole synthetic load: what was drawn once is drawn for ever, and every pattern keeps within its range.

use proptest::prelude::*;

use super::*;
use crate::engine::request::Op;

const CAPACITY: u64 = 1_000_000;

fn spec(text: &str) -> SyntheticSpec {
    toml::from_str(text).unwrap()
}

fn generate(spec: &SyntheticSpec, seed: u64) -> Vec<Arrival> {
    let mut load = Synthetic::new(spec, seed, CAPACITY).unwrap();
    std::iter::from_fn(|| load.draw().unwrap()).collect()
}

fn refused(text: &str) -> String {
    Synthetic::new(&spec(text), 1, CAPACITY)
        .err()
        .unwrap()
        .to_string()
}

/// One load with these further keys.
fn one(requests: u64, keys: &str) -> SyntheticSpec {
    spec(&format!(
        "requests = {requests}\narrivals = {{ poisson = '1 ms' }}\n{keys}"
    ))
}

#[test]
fn what_was_drawn_before_is_drawn_again() {
    // A changed value here would change every published digest.
    let drawn = |text: &str, seed| -> Vec<_> {
        let mut load = Synthetic::new(&spec(text), seed, 17_916_240).unwrap();
        let all = std::iter::from_fn(|| load.draw().unwrap());
        all.map(|a| {
            (
                a.at.ns(),
                a.command.op == Op::Read,
                a.command.lbn.0,
                a.command.blocks,
            )
        })
        .collect()
    };
    assert_eq!(
        drawn(
            "requests = 5\narrivals = { poisson = '20 ms' }\nreads = 0.67",
            1
        ),
        [
            (16_583_383, true, 5_115_984, 8),
            (69_568_407, true, 816_920, 8),
            (81_432_417, true, 2_209_024, 8),
            (94_749_703, true, 15_905_976, 8),
            (120_413_643, true, 6_476_312, 8),
        ]
    );
    let sizes = "size = [{ size = '8 blocks', share = 0.7 }, { size = '3 blocks', share = 0.3 }]";
    let address = "address = { uniform = { from = 1000, blocks = 500_000, align = '4 blocks' } }";
    let text =
        format!("requests = 5\narrivals = {{ poisson = '1 ms' }}\nreads = 0.5\n{sizes}\n{address}");
    assert_eq!(
        drawn(&text, 7),
        [
            (121_205, true, 295_252, 3),
            (279_160, true, 275_472, 3),
            (931_189, false, 169_476, 3),
            (4_052_189, true, 391_624, 3),
            (4_121_376, false, 53_100, 8),
        ]
    );
}

#[test]
fn the_same_seed_gives_the_same_load_and_another_another() {
    let one = one(1000, "reads = 0.5");
    assert_eq!(generate(&one, 1), generate(&one, 1));
    assert_ne!(generate(&one, 1), generate(&one, 2));
    assert_eq!(generate(&one, 1).len(), 1000);
}

#[test]
fn one_quantity_does_not_disturb_another() {
    let lbns = |all: &[Arrival]| -> Vec<_> {
        let transfers = all.iter().filter(|a| a.command.op != Op::Flush);
        transfers.map(|a| a.command.lbn).take(80).collect()
    };
    let times = |all: &[Arrival]| all.iter().map(|a| a.at).collect::<Vec<_>>();
    let base = generate(&one(100, "reads = 0.5"), 1);
    let other = spec(
        "requests = 100\narrivals = { on-off = { on = '5 ms', off = '9 ms', gap = '1 ms' } }\nreads = 0.1\nfua = 0.5",
    );
    assert_eq!(lbns(&base), lbns(&generate(&other, 1)));
    let skewed = generate(
        &one(
            100,
            "reads = 0.1\nflushes = 0.1\naddress = { zipf = { theta = 0.5 } }",
        ),
        1,
    );
    assert_eq!(times(&base), times(&skewed));
    // Flushes have no address and take none away from others.
    let flushed = generate(&one(100, "reads = 0.5\nflushes = 0.1"), 1);
    assert_eq!(lbns(&base), lbns(&flushed));
    assert!(
        flushed
            .iter()
            .filter(|a| a.command.op == Op::Flush)
            .all(|a| a.command.blocks == 0)
    );
}

#[test]
fn streams_are_merged_in_order_of_arrival() {
    let text = "[[stream]]\nrequests = 3\narrivals = { constant = '2 ms' }\naddress = { sequential = {} }\n[[stream]]\nrequests = 4\narrivals = { constant = '1 ms' }\nreads = 0.0\naddress = { sequential = { from = 1000 } }";
    let all = generate(&spec(text), 1);
    let seen: Vec<_> = all
        .iter()
        .map(|a| (a.at.ns() / 1_000_000, a.command.lbn.0))
        .collect();
    // At one instant the stream that stands first is first.
    assert_eq!(
        seen,
        [
            (0, 0),
            (0, 1000),
            (1, 1008),
            (2, 8),
            (2, 1016),
            (3, 1024),
            (4, 16)
        ]
    );
    let load = Synthetic::new(&spec(text), 1, CAPACITY).unwrap();
    assert_eq!((load.total(), load.pacing()), (Some(7), Pacing::Open));
}

#[test]
fn a_stream_with_a_name_draws_the_same_wherever_it_stands() {
    let a = "[[stream]]\nname = 'a'\nrequests = 50\narrivals = { poisson = '2 ms' }\naddress = { uniform = { blocks = 8000 } }\n";
    let b = "[[stream]]\nrequests = 50\narrivals = { poisson = '1 ms' }\naddress = { uniform = { from = 8000 } }\n";
    let of_a = |text: &str| -> Vec<_> {
        let all = generate(&spec(text), 1).into_iter();
        let of_a = all.filter(|r| r.command.lbn.0 < 8000);
        of_a.map(|r| (r.at, r.command)).collect()
    };
    assert_eq!(of_a(a).len(), 50);
    assert_eq!(of_a(a), of_a(&format!("{a}{b}")));
    assert_eq!(of_a(a), of_a(&format!("{b}{a}")));
    // Without names streams of the same kind differ, too.
    let twins = generate(&spec(&format!("{b}{b}")), 1);
    assert!(twins.windows(2).all(|pair| pair[0].at != pair[1].at));
}

#[test]
fn users_draw_from_the_stream_they_belong_to() {
    let text = "[[stream]]\nrequests = 2\narrivals = { closed = { users = 2, think = '1 ms' } }\naddress = { sequential = {} }\n[[stream]]\nrequests = 3\narrivals = { closed = { users = 1, think = '2 ms' } }\naddress = { sequential = { from = 1000 } }";
    let mut load = Synthetic::new(&spec(text), 1, CAPACITY).unwrap();
    assert_eq!(load.pacing(), Pacing::Closed { users: Some(3) });
    let mut lbn = |user| {
        let mut next = Arrival::default();
        let is_there = load.fill_for(user, &mut next).unwrap();
        is_there.then_some(next.command.lbn.0)
    };
    assert_eq!(
        [lbn(2), lbn(0), lbn(1), lbn(0), lbn(1)],
        [Some(1000), Some(0), Some(8), None, None]
    );
    assert_eq!([lbn(2), lbn(2), lbn(2)], [Some(1008), Some(1016), None]);
    assert_eq!(
        [load.think(0), load.think(1), load.think(2)].map(|t| t.ns() / 1_000_000),
        [1, 1, 2]
    );
    let in_turn: Vec<_> = generate(&spec(text), 1)
        .iter()
        .map(|a| a.command.lbn.0)
        .collect();
    assert_eq!(in_turn, [0, 8, 1000, 1008, 1016]);
}

#[test]
fn streams_that_do_not_go_together_name_their_key() {
    let open = "[[stream]]\nrequests = 1\narrivals = { constant = '1 ms' }\n";
    let closed = "[[stream]]\nrequests = 1\narrivals = { closed = { users = 1 } }\n";
    let anybody = "[[stream]]\nrequests = 1\narrivals = { closed = {} }\n";
    let many = "[[stream]]\nrequests = 1\narrivals = { closed = { users = 4294967295 } }\n";
    for (text, part) in [
        ("stream = []".to_owned(), "has no streams"),
        (
            format!("{open}{anybody}"),
            "stream[1].arrivals: closed.users is missing",
        ),
        (
            format!("{closed}{anybody}"),
            "stream[1].arrivals: closed.users is missing",
        ),
        (
            format!("{closed}{many}"),
            "stream[1].arrivals: closed.users of all",
        ),
        (
            format!("{open}name = 'a'\n{open}name = 'a'"),
            "stream[1].name is \"a\"",
        ),
        (
            format!("{open}{open}address = {{ uniform = {{ from = 1000000 }} }}"),
            "stream[1].address: uniform.from",
        ),
        (
            format!("{open}size = '0 blocks'"),
            "workload.synthetic.stream[0].size",
        ),
    ] {
        let error = refused(&text);
        assert!(error.contains(part), "{text}\n{error}");
    }
}

#[test]
fn arrivals_past_the_end_of_time_are_an_error() {
    let text = format!(
        "requests = 3\narrivals = {{ constant = '{} ns' }}",
        u64::MAX
    );
    let mut load = Synthetic::new(&spec(&text), 1, CAPACITY).unwrap();
    assert!(load.draw().unwrap().is_some() && load.draw().unwrap().is_some());
    let error = load.draw().err().unwrap().to_string();
    assert!(error.contains("workload.synthetic.arrivals"), "{error}");
}

#[test]
fn the_longest_form_reads_back_as_written() {
    for keys in [
        "address = { zipf = { theta = 0.8, scatter = false, from = 8, blocks = 100, align = '1 block' } }",
        "address = { fio-zipf = { theta = 1.2, center = 0.5 } }",
        "address = { fio-pareto = { h = 0.3 } }",
        "address = { fio-normal = { deviation = 20.0, center = 0.1 } }",
        "address = { hot-cold = { hot = '20 %', share = '80 %', scatter = false } }",
        "address = { zones = { zones = [{ share = '60 %', size = '10 %' }, { share = '40 %', size = '1 MiB' }] } }",
        "address = { streams = { count = 4, run = '1 MiB', turns = 'random' } }",
        "address = { strided = { stride = '64 KiB', shift = '4 KiB' } }",
        "address = { local = { distance = '1 MiB', distances = 'normal', jumps = '5 %' } }",
        "address = { uniform = { once = true } }",
        "reads = 0.5\naddress = { growing = { from = 8, blocks = 800, new = 0.25, align = '4 blocks' } }",
        "size = { reads = '4 KiB', writes = { exponential = '8 KiB', multiple = '4 KiB', most = '1 MiB' } }",
        "size = { reads = '4 KiB', writes = [{ size = '8 KiB', share = 1.0 }] }\nreads = 0.5\ntrims = 0.1\nflushes = 0.1\nflush_every = 7\nfua = 0.25",
    ] {
        let read = one(1, keys);
        let again = spec(&toml::to_string(&read).unwrap());
        assert_eq!(again, read, "{keys}");
        assert_eq!(generate(&again, 1).len(), 1);
    }
    for arrivals in [
        "{ on-off = { on = '1 ms', off = '2 ms', gap = '10 us', periods = 'constant', gaps = 'constant' } }",
        "{ uniform = { min = '1 us', max = '1 ms' } }",
        "{ closed = { users = 3, think = { exponential = '1 ms' } } }",
    ] {
        let read = spec(&format!("requests = 1\narrivals = {arrivals}"));
        assert_eq!(spec(&toml::to_string(&read).unwrap()), read);
    }
}

/// A pattern, and what its range and alignment are: the pattern's own keys, and whether it takes `align`.
fn pattern() -> impl Strategy<Value = (String, bool)> {
    let name = |text: &str| text.to_owned();
    prop_oneof![
        any::<bool>().prop_map(|once| (format!("uniform = {{ once = {once}"), true)),
        (0.0..3.0f64, any::<bool>()).prop_map(|(theta, scatter)| (format!("zipf = {{ theta = {theta:?}, scatter = {scatter}"), true)),
        (0.0..0.99f64).prop_map(|theta| (format!("fio-zipf = {{ theta = {theta:?}"), true)),
        (1.01..3.0f64, 0.0..=1.0f64).prop_map(|(theta, center)| (format!("fio-zipf = {{ theta = {theta:?}, center = {center:?}"), true)),
        (0.01..0.99f64).prop_map(|h| (format!("fio-pareto = {{ h = {h:?}"), true)),
        (0.0..99.0f64, 0.0..=1.0f64).prop_map(|(d, center)| (format!("fio-normal = {{ deviation = {d:?}, center = {center:?}"), true)),
        (1u32..99, 0u32..=100, any::<bool>())
            .prop_map(|(hot, share, scatter)| (format!("hot-cold = {{ hot = '{hot} %', share = '{share} %', scatter = {scatter}"), true)),
        (0u32..=100, 1u32..99).prop_map(|(share, size)| {
            let rest = 100 - share;
            (format!("zones = {{ zones = [{{ share = '{share} %', size = '{size} %' }}, {{ share = '{rest} %', size = '1 %' }}]"), true)
        }),
        (1u32..20, 0u64..200, any::<bool>()).prop_map(|(count, more, random)| {
            let turns = if random { "random" } else { "round-robin" };
            (format!("streams = {{ count = {count}, run = '{} blocks', turns = '{turns}'", 16 + more), false)
        }),
        (1u64..5_000, 0u64..50).prop_map(|(stride, shift)| (format!("strided = {{ stride = '{stride} blocks', shift = '{shift} blocks'"), false)),
        (0u64..100_000, any::<bool>(), 0u32..=100).prop_map(|(distance, normal, jumps)| {
            let distances = if normal { "normal" } else { "exponential" };
            (format!("local = {{ distance = '{distance} blocks', distances = '{distances}', jumps = '{jumps} %'"), true)
        }),
        Just((name("sequential = { "), false)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn every_pattern_keeps_to_its_range_and_alignment(
        (pattern, aligned) in pattern(),
        seed: u64,
        from in 0u64..900_000,
        blocks in 1u64..100_000,
        sizes in prop::collection::vec(1u32..=16, 1..4),
        align in prop::option::of(1u64..=32),
    ) {
        let table: Vec<_> = sizes
            .iter()
            .map(|size| format!("{{ size = '{size} blocks', share = {:?} }}", 1.0 / sizes.len() as f64))
            .collect();
        let separator = if pattern.ends_with("{ ") { "" } else { ", " };
        let keys = match align {
            Some(align) if aligned => format!(", align = '{align} blocks'"),
            _ => String::new(),
        };
        let address = format!("address = {{ {pattern}{separator}from = {from}, blocks = {blocks}{keys} }} }}");
        let text = format!("requests = 200\narrivals = {{ closed = {{}} }}\nsize = [{}]\n{address}", table.join(", "));
        let spec = spec(&text);
        // What does not fit is refused by its key; whatever is accepted keeps to its word.
        match Synthetic::new(&spec, seed, CAPACITY) {
            Err(error) => prop_assert!(error.message.contains("workload.synthetic.address"), "{text}\n{error}"),
            Ok(mut load) => {
                for _ in 0..200 {
                    let command = load.draw().unwrap().unwrap().command;
                    let end = command.end().0;
                    prop_assert!(command.lbn.0 >= from && end <= from + blocks, "{text}\n{command:?}");
                    if aligned {
                        let align = align.unwrap_or(u64::from(command.blocks));
                        prop_assert_eq!(command.lbn.0 % align, 0, "{}\n{:?}", text, command);
                    }
                }
                prop_assert!(load.draw().unwrap().is_none());
                prop_assert_eq!(generate_some(&spec, seed), generate_some(&spec, seed));
            }
        }
    }
}

fn generate_some(spec: &SyntheticSpec, seed: u64) -> Vec<Arrival> {
    let mut load = Synthetic::new(spec, seed, CAPACITY).unwrap();
    (0..20).filter_map(|_| load.draw().unwrap()).collect()
}
