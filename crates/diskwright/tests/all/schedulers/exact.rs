//! The schedulers that weigh positioning times, against plain searches through everything.

use diskwright::base::units::Time;
use diskwright::engine::request::Op;
use diskwright::models::queue::{Pending, Slot, Space};
use proptest::prelude::*;

use super::common::{Desk, Writes, mechanics, mechanics_of, reads_and_writes};

/// The request with the least score of its positioning time; the oldest of equals.
fn brute_force<S: Ord>(desk: &Desk<'_>, score: impl Fn(u64, &Pending) -> S) -> Slot {
    let Space::Disk(disk) = desk.space() else {
        panic!("a drive's queue")
    };
    let rank = |slot: &Slot| {
        let pending = desk.pool.get(*slot);
        let positioning = disk.positioning(pending.target.as_ref().expect("a target"));
        (score(positioning.ns(), pending), pending.ticket)
    };
    let all = desk.pool.by_arrival();
    all.min_by_key(rank).expect("something waits")
}

type Model<S> = fn(&Desk<'_>, u64, &Pending, u64) -> S;

/// Runs a scheduler while requests keep coming, several in the same instant, and compares every choice. Where `start` is odd, some fall back
/// behind younger ones, as merged requests may.
fn compare<S: Ord>(
    arrivals: &[(Op, u64)],
    writes: Writes,
    start: u64,
    text: &str,
    parameter: u64,
    model: Model<S>,
) -> Result<(), TestCaseError> {
    let m = mechanics_of(writes);
    let mut desk = Desk::drive(&m, text);
    desk.now = Time::from_ns(start);
    let mut left = arrivals.iter().enumerate().peekable();
    loop {
        while let Some((number, &(op, lbn))) = left.next_if(|_| desk.pool.len() < 40) {
            desk.push(op, lbn);
            if number % 3 == 0 {
                break;
            }
        }
        if start % 2 == 1
            && desk.pool.len() % 3 == 2
            && let Some(oldest) = desk.pool.oldest()
        {
            desk.pool.make_newest(oldest);
        }
        if desk.pool.is_empty() {
            return Ok(());
        }
        let expected = brute_force(&desk, |positioning, pending| {
            model(&desk, positioning, pending, parameter)
        });
        let slot = desk.pick();
        prop_assert_eq!(slot, expected, "{}", text);
        desk.remove(slot);
    }
}

fn waited(desk: &Desk<'_>, pending: &Pending) -> u64 {
    (desk.now - pending.entered).ns()
}

/// Curves of writes that are shorter and longer than those of reads, and one that crosses and falls as that does.
fn writes() -> impl Strategy<Value = Writes> {
    let curves = vec![
        None,
        Some("[[1, 0.6], [119, 4.0]]"),
        Some("[[1, 1.6], [30, 6.0], [119, 9.0]]"),
        Some("[[1, 0.7], [3, 2.9], [40, 0.8], [60, 5.0], [119, 3.3]]"),
    ];
    let settles = vec![-400_000, 0, 500_000];
    let drawn = (prop::sample::select(settles), prop::sample::select(curves));
    drawn.prop_map(|(settle, curve)| Writes { settle, curve })
}

proptest! {
    #[test]
    fn satf_picks_what_brute_force_picks(arrivals in reads_and_writes(), writes in writes(), start in 0u64..1 << 50) {
        compare(&arrivals, writes, start, "\"satf\"", 0, |_, positioning, _, _| positioning)?;
    }

    /// Weights that are whole 128ths, so that the model's arithmetic is exact in another way.
    #[test]
    fn aged_satf_picks_what_brute_force_picks(
        arrivals in reads_and_writes(), writes in writes(), start in 0u64..1 << 50,
        parts in prop::sample::select(vec![0u64, 1, 13, 64, 128, 1280, 128_000]),
    ) {
        let text = format!("{{ aged-satf = {{ weight = {:?} }} }}", parts as f64 / 128.0);
        compare(&arrivals, writes, start, &text, parts, |desk, positioning, pending, parts| {
            i128::from(positioning) * 128 - i128::from(parts) * i128::from(waited(desk, pending))
        })?;
    }

    #[test]
    fn weighted_satf_picks_what_brute_force_picks(
        arrivals in reads_and_writes(), writes in writes(), start in 0u64..1 << 50,
        window in prop::sample::select(vec![1u64, 20, 200, 5_000]),
    ) {
        let text = format!("{{ weighted-satf = {{ window = \"{window} ms\" }} }}");
        compare(&arrivals, writes, start, &text, window, |desk, positioning, pending, window| {
            let left = (window * 1_000_000).saturating_sub(waited(desk, pending));
            u128::from(positioning) * u128::from(left)
        })?;
    }

    #[test]
    fn aged_and_weighted_without_age_are_satf(arrivals in reads_and_writes(), writes in writes(), start in 0u64..1 << 50) {
        for text in ["{ aged-satf = { weight = 0.0 } }", "{ weighted-satf = { window = \"0 ms\" } }"] {
            compare(&arrivals, writes, start, text, 0, |_, positioning, _, _| positioning)?;
        }
    }

    /// The batch is kept as a list of requests, and the best of it found by looking at all.
    #[test]
    fn batch_satf_serves_a_batch_in_the_order_of_satf(arrivals in reads_and_writes(), writes in writes(), at_a_time in 1usize..4) {
        let m = mechanics_of(writes);
        let mut desk = Desk::drive(&m, "\"batch-satf\"");
        let (mut left, mut batch) = (arrivals.iter(), Vec::new());
        loop {
            for &(op, lbn) in left.by_ref().take(at_a_time) {
                desk.push(op, lbn);
            }
            if desk.pool.is_empty() {
                break;
            }
            if batch.is_empty() {
                batch = desk.pool.by_arrival().map(|slot| desk.pool.get(slot).ticket).collect();
            }
            let expected = brute_force(&desk, |positioning, pending| (!batch.contains(&pending.ticket), positioning));
            let slot = desk.pick();
            prop_assert_eq!(slot, expected);
            let ticket = desk.remove(slot).ticket;
            batch.retain(|&other| other != ticket);
        }
    }

    #[test]
    fn batch_satf_with_one_batch_is_satf(arrivals in reads_and_writes()) {
        let m = mechanics(0);
        let order = |text: &str| {
            let mut desk = Desk::drive(&m, text);
            for &(op, lbn) in &arrivals {
                desk.push(op, lbn);
            }
            desk.drain()
        };
        prop_assert_eq!(order("\"batch-satf\""), order("\"satf\""));
    }

    #[test]
    fn weighted_satf_is_fcfs_when_all_are_overdue(arrivals in reads_and_writes()) {
        let m = mechanics(0);
        let mut desk = Desk::drive(&m, "{ weighted-satf = { window = \"1 ns\" } }");
        for &(op, lbn) in &arrivals {
            desk.push(op, lbn);
        }
        desk.now += Time::from_ns(1);
        prop_assert_eq!(desk.drain(), arrivals.iter().map(|&(_, lbn)| lbn).collect::<Vec<_>>());
        prop_assert_eq!(desk.scheduler.promotions(), arrivals.len() as u64);
    }
}
