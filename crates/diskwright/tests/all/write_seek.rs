//! Drives whose writes have a seek curve of their own.

use serde_json::Value;

use crate::support::run;

/// The result of a load on a drive of 400 cylinders, which has these heads, curves and further parts.
fn on(drive: &str, load: &str, device: &str) -> Value {
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let file = file.expect("a temporary file");
    let text = format!(
        "name = \"small\"\nrotation = \"7200 rpm\"\n{drive}\n\
         [layout]\nsurfaces = 2\ncylinders = 400\nzone = [{{ cylinders = [0, 399], sectors_per_track = 50 }}]\n"
    );
    std::fs::write(file.path(), text).expect("written");
    run(&format!(
        "{load}\n[device.hdd]\ndrive = \"{}\"\n{device}\n",
        file.path().display()
    ))
}

fn synthetic(requests: u32, reads: f64, arrivals: &str, size: &str) -> String {
    format!(
        "[workload.synthetic]\nrequests = {requests}\nreads = {reads}\nsize = \"{size}\"\narrivals = {arrivals}\n[measure]\nwarmup = 0"
    )
}

const READS: &str = "[seek.linear]\nsingle = \"0.5 ms\"\nslope_ns = 20_000\n";
const POOL: &str =
    "[pool]\nsize = \"1 MiB\"\n[pool.write_cache]\n[pool.persistent]\nmemory = \"64 KiB\"\n";

/// With the settling in it, the curve of reads is that of writes, whoever moves the arm.
#[test]
fn a_curve_that_says_the_same_changes_nothing() {
    let arms = "arms = { arm = [{}, { angle = 0.5 }] }";
    for (parts, device) in [
        ("", "[device.hdd.queue]\nscheduler = \"satf\""),
        (
            "",
            "[device.hdd.queue]\nscheduler = { aged-satf = { weight = 0.1 } }",
        ),
        ("", arms),
        (
            "",
            "arms = { arm = [{ writes = false }, { angle = 0.5, reads = false }] }",
        ),
        (
            "",
            "placement = { eager = { initial = { write = \"20_000 blocks\" } } }",
        ),
        (
            "",
            "placement = { eager = { allocator = \"nearest-cylinder\" } }",
        ),
        (POOL, "[device.hdd.queue]\nscheduler = \"satf\""),
        (POOL, "write_cache = false"),
        (
            "[pool]\nsize = \"1 MiB\"\n[pool.persistent]\nmemory = \"64 KiB\"\nregion = { count = 2, size = \"128 KiB\" }\n",
            "write_cache = false",
        ),
        (
            "[buffer]\nsegments = 3\nsegment_size = \"32 KiB\"\nwrite = { complete = \"buffered\" }\n",
            "",
        ),
    ] {
        for settle_us in [700, -200] {
            let heads =
                format!("heads = {{ switch = \"0.9 ms\", write_settle = \"{settle_us} us\" }}\n");
            let writes = format!(
                "[write_seek.linear]\nsingle = \"{} us\"\nslope_ns = 20_000\n",
                500 + settle_us
            );
            let load = synthetic(800, 0.4, "{ closed = { users = 9 } }", "12 blocks");
            let found = ["", &writes].map(|writes| {
                let drive = format!("{heads}{READS}{writes}{parts}");
                on(&drive, &load, device)
            });
            assert_eq!(
                found[0]["digest"], found[1]["digest"],
                "{parts}{device} {settle_us}"
            );
            assert_eq!(
                found[0]["parts_ms"], found[1]["parts_ms"],
                "{parts}{device} {settle_us}"
            );
        }
    }
}

/// Between random cylinders a distance d of N has the probability 2(N − d)/N²; what is on the same cylinder is under the same head or not.
#[test]
fn random_writes_move_as_long_as_their_curve_says() {
    let points = [(1u32, 0.4), (30, 2.2), (399, 6.0)];
    let drive = format!(
        "heads = {{ switch = \"0.3 ms\", write_settle = \"0.05 ms\" }}\n{READS}[write_seek.table]\npoints_ms = [[1, 0.4], [30, 2.2], [399, 6.0]]\n"
    );
    let time = |distance: u32| {
        let pair = points.windows(2).find(|pair| distance <= pair[1].0);
        let [(near, near_ms), (far, far_ms)] = pair.expect("a point further away")[..] else {
            unreachable!("windows of two")
        };
        near_ms + (far_ms - near_ms) * f64::from(distance - near) / f64::from(far - near)
    };
    let cylinders = 400.0;
    // Half of what stays on its cylinder changes heads, and settles.
    let at_home = 0.5 * 0.35 / cylinders;
    let away = (1..400u32).map(|distance| {
        2.0 * (cylinders - f64::from(distance)) / (cylinders * cylinders) * time(distance)
    });
    let expected = at_home + away.sum::<f64>();
    let load = synthetic(60_000, 0.0, "{ constant = \"1 s\" }", "1 block");
    let found = on(&drive, &load, "");
    let part = |name: &str| found["parts_ms"][name].as_f64().expect("a mean");
    let motion = part("seek") + part("head_switch") + part("settle");
    assert!(
        (motion / expected - 1.0).abs() < 0.006,
        "{motion} {expected}"
    );
}

#[test]
fn a_curve_of_writes_below_the_settling_is_refused() {
    let drive = format!(
        "name = \"small\"\nrotation = \"7200 rpm\"\nheads = {{ switch = \"1 ms\", write_settle = \"1 ms\" }}\n{READS}\
         [write_seek]\nconstant = \"1 ms\"\n[layout]\nsurfaces = 2\ncylinders = 4\nzone = [{{ cylinders = [0, 3], sectors_per_track = 50 }}]\n"
    );
    let drive: diskwright::devices::hdd::drive::DriveDescription =
        toml::from_str(&drive).expect("sound keys");
    let error = drive.hardware().err().expect("refused").to_string();
    assert!(error.contains("seeks 1 ms over 1 cylinders"), "{error}");
}
