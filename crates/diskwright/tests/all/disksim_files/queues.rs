//! Queues, warm-up and traces.

use diskwright::base::units::Time;
use diskwright::config::spec::WarmUpSpec;

use super::sample::Sample;

#[test]
fn policies_become_schedulers() {
    let policy = |place: &str, number: i64| {
        let number = number.to_string();
        let put = [
            (place, "Scheduler:Scheduling policy", number.as_str()),
            (place, "Scheduler:Timeout time/weight", "6"),
        ];
        Sample::new().import(&put).map(|import| match place {
            "disk0" => import.settings.queue.scheduler.expect("a set-up has one"),
            _ => import.settings.host.scheduler,
        })
    };
    for (number, expected) in [
        (1, "\"fcfs\""),
        (2, r#"{"look":{"by":"lbn"}}"#),
        (3, r#"{"c-look":{"by":"lbn"}}"#),
        (4, r#"{"sstf":{"by":"lbn"}}"#),
        (5, r#"{"look":{"by":"cylinder"}}"#),
        (6, r#"{"c-look":{"by":"cylinder"}}"#),
        (7, r#"{"sstf":{"by":"cylinder"}}"#),
        (8, "\"satf\""),
        (9, "\"satf\""),
        (10, "\"satf\""),
        (11, r#"{"weighted-satf":{"window":"6 ms"}}"#),
        (12, r#"{"weighted-satf":{"window":"6 ms"}}"#),
        (13, r#"{"weighted-satf":{"window":"6 ms"}}"#),
        (14, r#"{"aged-satf":{"weight":0.006}}"#),
        (15, r#"{"aged-satf":{"weight":0.006}}"#),
        (16, r#"{"aged-satf":{"weight":0.006}}"#),
        (17, r#"{"v-scan":{"r":0.2,"by":"lbn"}}"#),
        (18, r#"{"v-scan":{"r":0.2,"by":"cylinder"}}"#),
        (19, r#"{"v-scan":{"r":0.2,"by":"lbn"}}"#),
        (20, r#"{"aged-satf":{"weight":0.006}}"#),
        (21, r#"{"aged-satf":{"weight":0.006}}"#),
        (22, r#"{"sstf":{"by":"cylinder"}}"#),
        (23, r#"{"sstf":{"by":"cylinder"}}"#),
        (24, "\"satf\""),
        (25, "\"satf\""),
        (26, "\"satf\""),
        (27, "\"satf\""),
        (28, "\"fcfs\""),
    ] {
        let found = policy("disk0", number).unwrap_or_else(|error| panic!("{number}: {error}"));
        assert_eq!(
            serde_json::to_string(&found).expect("JSON"),
            expected,
            "{number}"
        );
    }
    for number in [11, 12, 13] {
        let put = ("disk0", "Scheduler:Timeout time/weight", "0");
        let number = number.to_string();
        let error = Sample::new().error(&[put, ("disk0", "Scheduler:Scheduling policy", &number)]);
        assert!(error.contains("expected a weight above 0"), "{error}");
    }
    for number in [0, 29] {
        let error = policy("disk0", number).expect_err("no policy").to_string();
        assert!(error.contains("from 1 to 28"), "{error}");
    }
}

/// A driver's policy that needs to know positions moves to the drive's own queue, where all requests then wait.
#[test]
fn a_driver_s_policy_that_needs_positions_is_the_drive_s() {
    for (number, in_drive) in [
        ("1", false),
        ("7", false),
        ("8", true),
        ("14", true),
        ("17", true),
        ("28", false),
    ] {
        let import = Sample::new().sound(&[
            ("driver0", "Scheduler:Scheduling policy", number),
            ("disk0", "Scheduler:Scheduling policy", "2"),
        ]);
        let settings = import.settings;
        let own = settings.queue.scheduler.expect("a set-up has one");
        assert_eq!(own.name() != "look", in_drive, "{number}");
        assert_eq!(settings.queue.depth, settings.host.outstanding);
        assert_eq!(settings.queue.depth > Some(4), in_drive, "{number}");
        let told = |warning: &String| warning.contains("is the one of the drive's own queue");
        assert_eq!(import.warnings.iter().any(told), in_drive, "{number}");
    }
}

#[test]
fn a_queue_of_one_chooses_nothing() {
    for put in [
        ("disk0", "Max queue length", "1"),
        ("driver0", "Use queueing in subsystem", "0"),
    ] {
        let import = Sample::new().sound(&[put, ("disk0", "Scheduler:Scheduling policy", "27")]);
        assert_eq!(import.settings.host.outstanding, Some(1), "{put:?}");
        assert_eq!(import.settings.queue.scheduler.expect("one").name(), "fcfs");
    }
    let import = Sample::new().sound(&[("disk0", "Max queue length", "0")]);
    assert_eq!(import.settings.queue.depth, Some(1));
    assert!(
        import
            .warnings
            .iter()
            .any(|warning| warning.contains("taken as one of 1"))
    );
    let import = Sample::new().sound(&[]);
    assert_eq!(
        (
            import.settings.host.outstanding,
            import.settings.queue.depth
        ),
        (Some(4), Some(4))
    );
}

#[test]
fn warm_ups_are_times_or_counts() {
    let warmup = |put: &[_]| Sample::new().sound(put).settings.measure.warmup;
    let (time, count) = (
        ("Global", "Statistic warm-up time", "2.5"),
        ("Global", "Statistic warm-up IOs", "100"),
    );
    assert_eq!(warmup(&[]), None);
    assert_eq!(
        warmup(&[time]),
        Some(WarmUpSpec::Time(Time::from_ms(2_500)))
    );
    assert_eq!(warmup(&[time, count]), Some(WarmUpSpec::Requests(100)));
    assert_eq!(
        warmup(&[
            ("Global", "Statistic warm-up time", "0"),
            ("Global", "Statistic warm-up IOs", "0")
        ]),
        None
    );
}

#[test]
fn traces_are_mapped() {
    let settings = Sample::new()
        .sound(&[("IS", "I/O Trace Time Scale", "0.5")])
        .settings;
    assert_eq!(settings.trace_time_scale, 0.5);
    let [mapping] = &settings.mappings[..] else {
        panic!("{:?}", settings.mappings);
    };
    assert_eq!(
        (
            mapping.device,
            mapping.location_scale,
            mapping.size_scale,
            mapping.offset
        ),
        (14, 512, 1, 0)
    );
    let import = Sample::new().sound(&[("IS", "I/O Trace Time Scale", "-4")]);
    assert_eq!(import.settings.trace_time_scale, 1.0);
    assert!(
        import
            .warnings
            .iter()
            .any(|warning| warning.contains("constant rate"))
    );
    assert!(
        Sample::new()
            .error(&[("IS", "I/O Trace Time Scale", "0")])
            .contains("above 0")
    );
}
