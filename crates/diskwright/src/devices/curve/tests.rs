//! Access times by distance.

use super::*;
use crate::engine::fakes::command;

fn curve(chance: Option<Stream>) -> Curve {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/data/curve.csv");
    let table = || Table::read(&path, true).expect("sound");
    Curve {
        read: table(),
        write: table(),
        rate: Rate::from_bytes_per_s(51_200_000),
        chance,
        end: Lbn(0),
    }
}

#[test]
fn distance_counts_from_the_end_of_the_last_request() {
    let mut curve = curve(None);
    let mut of = |lbn, blocks| {
        let parts = curve.time(&command(Op::Read, lbn, blocks));
        let (access, bytes) = (parts.get(Part::Positioning), parts.get(Part::Transfer));
        assert_eq!(bytes, Time::from_us(10 * u64::from(blocks)));
        assert_eq!(parts.total(), access + bytes);
        assert_eq!(parts.access(), access);
        access.ns()
    };
    // The first one from block 0; then in either direction.
    assert_eq!(of(0, 8), 0);
    assert_eq!(of(8, 92), 0);
    assert_eq!(of(1_100, 1), 2_000_000);
    assert_eq!(of(101, 1), 2_000_000);
    assert_eq!(of(602, 1), 1_000_000);
}

#[test]
fn spread_access_times_are_uniform_between_their_ends() {
    let mut curve = curve(Some(Stream::new(1, "curve")));
    let mut drawn: Vec<u64> = (0..20_000)
        .map(|_| {
            curve.end = Lbn(0);
            let parts = curve.time(&command(Op::Write, 1_000, 1));
            parts.get(Part::Positioning).ns()
        })
        .collect();
    drawn.sort_unstable();
    // From 1 to 4 ms at this distance; the standard error of the mean is 3 ms/√12/√20000.
    let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
    assert!((mean - 2_500_000.0).abs() < 4.0 * 6_124.0, "{mean}");
    assert!(drawn[0] >= 1_000_000 && drawn[drawn.len() - 1] <= 4_000_000);
    // The largest distance of the distribution from the uniform one, Kolmogorov and Smirnov: 1.63/√n at 1 %.
    let farthest = drawn.iter().enumerate().map(|(rank, &ns)| {
        let expected = (ns - 1_000_000) as f64 / 3e6;
        (rank as f64 / drawn.len() as f64 - expected).abs()
    });
    assert!(farthest.fold(0.0, f64::max) < 1.63 / 141.4);
}
