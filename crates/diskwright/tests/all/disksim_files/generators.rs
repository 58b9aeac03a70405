//! The synthetic generators of a set-up, which become a load of processes.

use diskwright::workload::processes::{DistributionSpec, IdleProcessors, TwoValueDistribution};

use super::sample::Sample;

#[test]
fn generators_become_processes() {
    let import = Sample::new().with_load().sound(&[]);
    let processes = import.settings.processes.expect("a load");
    assert_eq!((processes.requests, processes.processors), (100, 5));
    assert_eq!(processes.duration.map(|time| time.s()), Some(1000.0));
    assert_eq!(processes.idle_processors, IdleProcessors::Lost);
    assert_eq!(
        (processes.first_seed, processes.later_seed),
        (Some(42), 1_000_003)
    );
    let [generator] = &processes.generator[..] else {
        panic!("{:?}", processes.generator);
    };
    assert_eq!(generator.devices, [0]);
    assert_eq!(generator.capacity.map(|size| size.blocks()), Some(700));
    assert_eq!(generator.unit.blocks(), 8);
    let shares = [
        generator.sequential,
        generator.local,
        generator.reads,
        generator.critical,
        generator.limited,
    ];
    assert_eq!(
        shares.map(|share| share.value()),
        [0.2, 0.3, 0.66, 0.25, 0.35]
    );
    let DistributionSpec::TwoValue(sizes) = &generator.size_blocks else {
        panic!("{:?}", generator.size_blocks);
    };
    let TwoValueDistribution {
        usual,
        other,
        share,
    } = sizes;
    assert_eq!((*usual, *other, share.value()), (8.0, 16.0, 0.125));
    assert!(matches!(
        generator.limit_ms,
        Some(DistributionSpec::Normal(_))
    ));
    assert!(matches!(generator.gap_ms, DistributionSpec::Exponential(_)));
    assert!(matches!(
        generator.sequential_gap_ms,
        Some(DistributionSpec::Uniform(_))
    ));
    assert!(matches!(
        generator.local_gap_ms,
        Some(DistributionSpec::Poisson(_))
    ));
}

#[test]
fn the_real_seed_goes_before_the_initial_one() {
    let seed = |overrides: &[(&str, &str, &str)]| {
        let import = Sample::new().with_load().sound(overrides);
        import.settings.processes.and_then(|load| load.first_seed)
    };
    assert_eq!(seed(&[("Global", "Real Seed", "7")]), Some(7));
    assert_eq!(seed(&[("Global", "Init Seed", "-1")]), Some(0xFFFF_FFFF));
}

#[test]
fn a_set_up_without_generators_has_no_load() {
    let import = Sample::new()
        .with_load()
        .sound(&[("Synthio", "Generators", "[]")]);
    assert!(import.settings.processes.is_none());
}

#[test]
fn generators_without_sense_are_told_at_their_place() {
    for (from, to, told) in [
        (
            "[ normal, 30.0, 100.0 ]",
            "[ gaussian, 30.0, 100.0 ]",
            "expected a list: uniform",
        ),
        (
            "[ normal, 30.0, 100.0 ]",
            "[ normal, 30.0 ]",
            "is no distribution",
        ),
        ("[ normal, 30.0, 100.0 ]", "[]", "is no distribution"),
        (
            "[ normal, 30.0, 100.0 ]",
            "[ normal, 30.0, -1.0 ]",
            "deviation is -1: expected 0 or more",
        ),
        (
            "[ normal, 30.0, 100.0 ]",
            "[ normal, many, 1.0 ]",
            "expected a number",
        ),
        (
            "[ twovalue, 8, 16.0, 0.125 ]",
            "[ twovalue, 8, 16.0, 1.5 ]",
            "is no distribution",
        ),
        (
            "devices = [ org0 ]",
            "devices = []",
            "a generator without devices",
        ),
        (
            "devices = [ org0 ]",
            "devices = [ disk7 ]",
            "no device \"disk7\"",
        ),
        (
            "time-critical request = 0.25",
            "time-critical request = 0.75",
            "expected at most 1",
        ),
    ] {
        let error = Sample::new().with_load().replace(from, to).import(&[]);
        let error = error.expect_err(to).to_string();
        assert!(
            error.contains(told) && error.contains("a/small.parv:"),
            "{to}: {error}"
        );
    }
}
