//! The picture of an SSD: operations of the dies at work take what flash takes, workers and channels do one thing at a time, and what is
//! shown over time adds up to the results.

use crate::ssd_options::{PAGE, PROGRAM, Plane, READ, outcome_with};
use crate::support::{Outcome, RunOptions, from_text, outcome_of};
use diskwright::base::units::Time;
use diskwright::engine::window::ArmTraceFrom;
use serde_json::{Value, json};

/// A closed loop of `users` users: what is read, written, and how large.
fn closed(users: u32, requests: u32, load: &str, device: &str) -> String {
    format!(
        "seed = 3\n[workload.synthetic]\nrequests = {requests}\narrivals = {{ closed = {{ users = {users}, think = \"0 ms\" }} }}\n\
         {load}\n[host]\noutstanding = {users}\n[measure]\nwarmup = 0\n[device.ssd]\n{device}"
    )
}

fn pictured(trace: ArmTraceFrom) -> RunOptions {
    RunOptions {
        picture: true,
        arm_trace: trace,
        ..RunOptions::default()
    }
}

fn run(text: &str, trace: ArmTraceFrom) -> Outcome {
    outcome_of(&from_text(text.to_owned()), &pictured(trace)).expect("a run that goes well")
}

fn drawn(outcome: &Outcome) -> &Value {
    &outcome.picture().expect("a picture was asked for")["devices"]["ssd"]
}

fn film(text: &str) -> Value {
    drawn(&run(text, ArmTraceFrom::FirstMeasured))["film"].clone()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a whole number")
}

fn sum(value: &Value) -> f64 {
    list(value).iter().filter_map(Value::as_f64).sum()
}

/// The sum of lists under several names.
fn sums(value: &Value) -> f64 {
    value
        .as_object()
        .expect("lists by their names")
        .values()
        .map(sum)
        .sum()
}

fn is_near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs().max(1e-12)
}

/// The names of an operation's legs with their times.
fn steps(film: &Value, operation: &Value) -> Vec<(String, u64)> {
    let leg = |step: &Value| {
        let leg = &list(&film["legs"])[number(&step[0]) as usize];
        let name = leg["name"].as_str().expect("a name");
        (name.to_owned(), number(&step[1]))
    };
    list(&operation["steps"]).iter().map(leg).collect()
}

fn named(steps: &[(&str, u64)]) -> Vec<(String, u64)> {
    let steps = steps.iter();
    steps.map(|&(name, ns)| (name.to_owned(), ns)).collect()
}

/// A read of a page of 4 KiB that is on flash: command, array, and eight blocks out.
#[test]
fn a_lone_read_takes_command_array_and_transfer() {
    let device = "drive = \"mqsim-clean\"\ninitial = { fill = \"80 %\" }\n";
    let load =
        "reads = 1.0\nsize = \"4 KiB\"\naddress = { uniform = { from = 0, blocks = 8000000 } }";
    let film = film(&closed(1, 20, load, device));
    let first = &list(&film["operations"])[0];
    assert_eq!(
        (&first["action"], &first["cause"], &first["request"]),
        (&json!("read"), &json!("reads"), &json!(0))
    );
    assert_eq!(
        steps(&film, first),
        named(&[("command", 290), ("read", 75_000), ("data out", 8 * 1_536)])
    );
    assert_eq!(number(&film["to_ns"]) - number(&film["from_ns"]), 1_000_000);
    assert_eq!(film["ended_by"], "time");
    // The next one begins when the link and the host have had the data of this one.
    let second = &list(&film["operations"])[1];
    let took = number(&second["start_ns"]) - number(&first["start_ns"]);
    assert_eq!(took, 88_905, "the response time of a read");
}

#[test]
fn a_lone_write_takes_command_transfer_and_array() {
    let load = "reads = 0.0\nsize = \"4 KiB\"\naddress = \"uniform\"";
    let film = film(&closed(1, 20, load, "drive = \"mqsim-clean\"\n"));
    let first = &list(&film["operations"])[0];
    assert_eq!(
        (&first["action"], &first["cause"], &first["request"]),
        (&json!("program"), &json!("writes"), &json!(0))
    );
    assert_eq!(
        steps(&film, first),
        named(&[
            ("command", 361),
            ("data in", 8 * 1_536),
            ("program", 750_000)
        ])
    );
    assert_eq!(first["page"], 0);
}

/// Half a page is read, written in full again, and the page goes to another one of the drive.
#[test]
fn a_write_of_a_part_reads_the_page_first() {
    let device = "drive = \"mqsim-clean\"\ninitial = { fill = \"100 %\" }\n";
    let load = "reads = 0.0\nsize = \"2 KiB\"\naddress = \"uniform\"";
    let film = film(&closed(1, 20, load, device));
    let operations = list(&film["operations"]);
    assert_eq!(operations[0]["action"], "merge");
    assert_eq!(operations[0]["cause"], "writes");
    assert_eq!(
        steps(&film, &operations[0]),
        named(&[("command", 290), ("read", 75_000), ("data out", 8 * 1_536)])
    );
    assert_eq!(operations[1]["action"], "program");
}

/// A worn drive that is written: moves within the flash, erases.
#[test]
fn cleaning_moves_pages_and_erases_blocks() {
    let small = "flash = { channels = 2, packages = 1, dies = 2, planes = 1, blocks = 64, pages = 32, page = \"4 KiB\" }\n\
                 spare = { share = \"15 %\" }\ncleaning = { begin = 3, victim = \"greedy\" }\nallocation = { fixed = 0 }\n\
                 initial = { overwrite = 2.0 }\n";
    let load = "reads = 0.0\nsize = \"4 KiB\"\naddress = \"uniform\"";
    let seen = |more: &str, actions: &[(&str, Vec<(String, u64)>)]| {
        for (action, legs) in actions {
            let found = (0..60).any(|ms| {
                let from = ArmTraceFrom::Instant(Time::from_ms(10 * ms));
                let device = format!("drive = \"mqsim-clean\"\n{small}{more}");
                let outcome = run(&closed(8, 2_000, load, &device), from);
                let film = &drawn(&outcome)["film"];
                list(&film["operations"]).iter().any(|operation| {
                    let is = operation["action"] == *action && operation["cause"] == "cleaning";
                    // Without the waits for the channel, and whole.
                    let mut found = steps(film, operation);
                    found.retain(|(name, _)| name != "wait");
                    is && found == *legs
                })
            });
            assert!(found, "{action} {more}");
        }
    };
    let data = 8 * 1_536;
    let erase = named(&[("command", 220), ("erase", 3_800_000)]);
    let moved = named(&[
        ("command", 290),
        ("read", 75_000),
        ("data out", data),
        ("command", 361),
        ("data in", data),
        ("program", 750_000),
    ]);
    seen("", &[("move", moved), ("erase", erase.clone())]);
    let inside = named(&[("command", 651), ("read", 75_000), ("program", 750_000)]);
    seen("copy_back = true\n", &[("move", inside), ("erase", erase)]);
}

#[test]
fn planes_that_work_together_are_one_operation() {
    let device = "drive = \"samsung-850-pro\"\nbuffer = { size = \"0 B\" }\n";
    let load = "reads = 0.0\nsize = \"1 MiB\"\naddress = \"sequential\"";
    let text = closed(4, 60, load, device);
    let outcome = run(&text, ArmTraceFrom::Instant(Time::from_ms(20)));
    let film = &drawn(&outcome)["film"];
    let mut operations = list(&film["operations"]).iter();
    let both = operations
        .find(|operation| operation["planes"] == 2)
        .expect("both planes of a die");
    let page = 32 * 1_280;
    assert_eq!(
        steps(film, both)[..2],
        named(&[("command", 400), ("data in", 2 * page)])
    );
}

/// Every drive, read and written: a worker, and a channel, does one thing at a time, and within the window nothing is left out.
#[test]
fn workers_and_channels_do_one_thing_at_a_time() {
    let fill = "initial = { fill = \"100 %\" }\n";
    for (drive, more) in [
        ("mqsim-clean", fill),
        ("mqsim-clean", "parallel = \"planes\"\n"),
        ("samsung-970-pro", ""),
        ("samsung-850-pro", ""),
        ("slc-classic", fill),
    ] {
        let load =
            "reads = 0.5\nsize = \"16 KiB\"\naddress = { uniform = { from = 0, blocks = 400000 } }";
        let device = format!("drive = \"{drive}\"\n{more}");
        let text = closed(32, 8_000, load, &device);
        let outcome = run(&text, ArmTraceFrom::Instant(Time::from_ms(3)));
        let film = &drawn(&outcome)["film"];
        let (from, to) = (number(&film["from_ns"]), number(&film["to_ns"]));
        let operations = list(&film["operations"]);
        assert!(operations.len() > 8, "{device}");
        let (mut workers, mut channels) = (Vec::new(), Vec::new());
        for operation in operations {
            let [channel, worker, mut at] =
                ["channel", "worker", "start_ns"].map(|key| number(&operation[key]));
            let begins = at;
            for step in list(&operation["steps"]) {
                let leg = &list(&film["legs"])[number(&step[0]) as usize];
                let end = at + number(&step[1]);
                if leg["on_channel"] == true {
                    channels.push((channel, at, end));
                }
                at = end;
            }
            assert!(begins < to && at > from, "{operation}");
            // What goes on beyond the window is shown to its end.
            let last = steps(film, operation).pop().expect("steps").0;
            let is_read =
                ["read", "merge"].contains(&operation["action"].as_str().expect("a name"));
            let ends = if is_read { "data out" } else { "program" };
            assert!(
                last == ends || operation["action"] == "erase",
                "{operation}"
            );
            workers.push(((channel, worker), begins, at));
        }
        assert_apart(&mut workers);
        assert_apart(&mut channels);
        // What every worker did in the window: nothing, or one operation behind the other.
        let busy: u64 = workers
            .iter()
            .map(|&(_, begins, ends)| ends.min(to) - begins.max(from))
            .sum();
        assert!(busy > 0);
        assert!(
            busy <= (to - from) * number(&film["workers_of_channel"]) * number(&film["channels"])
        );
    }
}

/// No two stretches of time of the same place overlap.
fn assert_apart<Place: Ord + PartialEq + Copy + std::fmt::Debug>(spans: &mut [(Place, u64, u64)]) {
    spans.sort_unstable();
    for pair in spans.windows(2) {
        let [one, next] = [pair[0], pair[1]];
        assert!(one.0 != next.0 || one.2 <= next.1, "{one:?} and {next:?}");
    }
}

/// A program makes way for a read: it has a first leg that the read ends, and is shown again, with the way back and the rest.
#[test]
fn a_suspended_program_goes_on_behind_the_read() {
    let (cost, resume, gap) = (5_000, 3_000, 70_000);
    let drive = Plane {
        blocks: 16,
        pages: 8,
        spare: "60 %",
        more: &format!(
            "[cleaning]\nbegin = 2\n[initial]\nfill = '0 %'\n\
             [suspend.program]\ncost = '{cost} ns'\nresume = '{resume} ns'\ngap = '{gap} ns'\nmost = 1"
        ),
    };
    let (second, at) = (1_000_000, 1_000_000 + PAGE + gap);
    let requests = [(0, "write", 0), (second, "write", 1), (at, "read", 0)];
    let options = pictured(ArmTraceFrom::Instant(Time::from_ns(second)));
    let outcome = outcome_with(&drive.text(), "", &requests, &options);
    let film = &drawn(&outcome)["film"];
    let shown = list(&film["operations"]).iter().map(|operation| {
        let start = number(&operation["start_ns"]);
        (start, operation["action"].clone(), steps(film, operation))
    });
    let read_at = at + cost;
    let resumed = read_at + READ + PAGE;
    let expected = [
        (
            second,
            "program",
            &[("data in", PAGE), ("program", gap)][..],
        ),
        (read_at, "read", &[("read", READ), ("data out", PAGE)]),
        (resumed, "program", &[("program", resume + PROGRAM - gap)]),
    ];
    let expected = expected.map(|(start, action, legs)| (start, json!(action), named(legs)));
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

/// Half of a run is the same as all of it: operations that began before the window, and those that end behind it, are shown.
#[test]
fn what_reaches_into_the_window_is_shown() {
    let load = "reads = 0.0\nsize = \"4 KiB\"\naddress = \"uniform\"";
    let text = closed(1, 20, load, "drive = \"mqsim-clean\"\n");
    let whole = film(&text);
    let from = number(&whole["from_ns"]);
    let first = list(&whole["operations"])[0].clone();
    let inside = Time::from_ns(from + 400_000);
    let outcome = run(&text, ArmTraceFrom::Instant(inside));
    let later = &drawn(&outcome)["film"];
    assert_eq!(list(&later["operations"])[0], first);
    // One that is over when it begins is not, not even one that is over in that instant.
    let over: u64 = list(&first["steps"])
        .iter()
        .map(|step| number(&step[1]))
        .sum();
    let over = number(&first["start_ns"]) + over;
    for (behind, shown) in [(over - 1, 0), (over, 1), (from + 763_970, 1)] {
        let outcome = run(&text, ArmTraceFrom::Instant(Time::from_ns(behind)));
        let later = &drawn(&outcome)["film"];
        let request = &list(&later["operations"])[0]["request"];
        assert_eq!(request, shown, "from {behind}");
    }
}

/// A large drive shows its first channels, and a limited number of operations.
#[test]
fn a_trace_is_bounded() {
    let fast = "drive = \"mqsim-clean\"\nflash = { channels = 32, packages = 4, dies = 2, planes = 2, blocks = 16, pages = 64, page = \"4 KiB\" }\n\
                timing = { read = [\"2 us\"], program = [\"2 us\"], erase = \"1 ms\", block = \"10 ns\" }\n\
                cleaning = { begin = 2 }\nspare = { share = \"40 %\" }\ninterface = {}\n";
    let load = "reads = 1.0\nsize = \"4 KiB\"\naddress = \"uniform\"";
    let film = film(&closed(2_000, 60_000, load, fast));
    assert_eq!(
        (&film["channels"], &film["all_channels"]),
        (&json!(16), &json!(32))
    );
    assert_eq!(film["ended_by"], "operations");
    let count = list(&film["operations"]).len();
    assert!((1_900..=2_000).contains(&count), "{count}");
    let length = number(&film["to_ns"]) - number(&film["from_ns"]);
    assert!((1_000..1_000_000).contains(&length), "{length}");
}

#[test]
fn a_window_that_never_comes() {
    let load = "reads = 1.0\nsize = \"4 KiB\"\naddress = \"uniform\"";
    let text = closed(1, 20, load, "drive = \"mqsim-clean\"\n");
    let outcome = run(&text, ArmTraceFrom::Instant(Time::from_s(7_200)));
    let late = &drawn(&outcome)["film"];
    assert!(list(&late["operations"]).is_empty());
    assert!(number(&late["from_ns"]) > number(&late["run_end_ns"]));
    // Without a trace there is none.
    assert_eq!(drawn(&run(&text, ArmTraceFrom::Nowhere)).get("film"), None);
}

/// Writes that a buffer takes are programmed when the load is over already: what of that is within the measured time is counted, no more.
#[test]
fn programs_after_the_load_are_not_of_its_utilisation() {
    let load = "reads = 0.0\nsize = \"64 KiB\"\naddress = \"sequential\"";
    let text = closed(1, 40, load, "drive = \"samsung-970-pro\"\n");
    let outcome = run(&text, ArmTraceFrom::FirstMeasured);
    let (result, drawn) = (outcome.json(), drawn(&outcome));
    let film = &drawn["film"];
    let end = (result["measured_s"].as_f64().expect("a time") * 1e9).round() as u64;
    let (mut within, mut after) = (0, 0);
    for operation in list(&film["operations"]) {
        let start = number(&operation["start_ns"]);
        let took: u64 = steps(film, operation).iter().map(|&(_, ns)| ns).sum();
        let before = (start + took).min(end).saturating_sub(start);
        within += before;
        after += took - before;
    }
    assert!(after > 0 && within > 0, "{within} ns, {after} ns");
    let workers = number(&drawn["flash"]["shape"]["workers"]);
    let expected = within as f64 / end as f64 / workers as f64;
    let found = result["devices"]["ssd"]["utilisation"]
        .as_f64()
        .expect("a share");
    assert!(is_near(found, expected), "{found}, {expected}");
}

/// A run at the end of which nothing is under way, so that what is shown as busy is what was counted.
#[test]
fn utilisations_are_busy_times() {
    for (load, drive) in [
        (
            "reads = 0.7\nsize = \"8 KiB\"\naddress = \"uniform\"",
            "mqsim-clean",
        ),
        (
            "reads = 0.0\nsize = \"64 KiB\"\naddress = \"sequential\"",
            "slc-classic",
        ),
    ] {
        let device = format!("drive = \"{drive}\"\n");
        let outcome = run(&closed(16, 4_000, load, &device), ArmTraceFrom::Nowhere);
        let (result, picture) = (outcome.json(), drawn(&outcome));
        let report = &result["devices"]["ssd"];
        let s = result["measured_s"].as_f64().expect("a time");
        let (flash, shape) = (&picture["flash"], &picture["flash"]["shape"]);
        let count = |key: &str| shape[key].as_f64().expect("a count");
        let of_report = |key: &str| report[key].as_f64().expect("a share");
        let (workers, channels) = (count("workers"), count("channels"));
        let measured = &flash["measured"];
        assert_eq!(measured["workers_of_row"], 1);
        let busy = sums(&measured["workers"]) / s / workers;
        assert!(is_near(busy, of_report("utilisation")), "{busy} {report}");
        let carried = sums(&measured["channels"]) / s / channels;
        assert!(
            is_near(carried, of_report("channel_utilisation")),
            "{carried}"
        );
        // The same over time: shares times the widths of bins.
        let area = |series: &Value, times: &Value| {
            let mut widths = vec![times["bin_s"].as_f64().expect("a width"); list(series).len()];
            *widths.last_mut().expect("bins") = times["last_bin_s"].as_f64().expect("a width");
            let shares = list(series).iter().filter_map(Value::as_f64);
            shares.zip(widths).map(|(share, s)| share * s).sum::<f64>()
        };
        let used = area(&picture["use"]["utilisation"], &picture["use"]);
        assert!(
            is_near(used, sums(&measured["workers"]) / workers),
            "{used}"
        );
        let over = &flash["over_time"];
        for (kinds, count) in [("workers", workers), ("channels", channels)] {
            for (kind, series) in over[kinds].as_object().expect("kinds") {
                let of_kind = sum(&measured[kinds][kind]) / count;
                let found = area(series, over);
                assert!((found - of_kind).abs() < 1e-9, "{kind}: {found}, {of_kind}");
            }
            let rows = list(&flash["busy"][kinds]).iter();
            let all: f64 = rows.map(|row| area(row, &flash["busy"])).sum();
            assert!(is_near(all, sums(&measured[kinds])), "{kinds}: {all}");
        }
        // A request in service holds a slot: as many of them as complete in a second, times how long each is in service.
        let queue = area(&picture["use"]["queue_mean"], &picture["use"]);
        let service = result["service_ms"]["mean"].as_f64().expect("a mean") * 1e-3;
        assert!(is_near(queue, service * 4_000.0), "{queue}");
        // And where its time went.
        for (op, group) in result["by_op"].as_object().expect("operations") {
            let parts = &flash["parts"][op];
            assert_eq!(parts["count"], group["count"]);
            let means = parts["mean_ms"].as_object().expect("parts").values();
            let all: f64 = means.filter_map(Value::as_f64).sum();
            let service = group["service_ms"]["mean"].as_f64().expect("a mean");
            assert!((all / service - 1.0).abs() < 1e-6, "{op}: {all} {service}");
        }
    }
}

/// The parts of a lone request are its time; of requests that never were they are 0.
#[test]
fn parts_of_one_request_and_of_none() {
    let load = "reads = 1.0\nsize = \"4 KiB\"\naddress = \"uniform\"";
    let device = "drive = \"mqsim-clean\"\ninitial = { fill = \"100 %\" }\n";
    let outcome = run(&closed(1, 1, load, device), ArmTraceFrom::Nowhere);
    let parts = &drawn(&outcome)["flash"]["parts"];
    let means = |op: &str| -> Vec<f64> {
        let means = parts[op]["mean_ms"].as_object().expect("parts").values();
        means.map(|mean| mean.as_f64().expect("a number")).collect()
    };
    assert_eq!(
        (&parts["read"]["count"], &parts["write"]["count"]),
        (&json!(1), &json!(0))
    );
    assert!(is_near(means("read").iter().sum(), 0.088905));
    assert!(means("write").iter().all(|&mean| mean == 0.0));
}

/// A small drive that is written until it is cleaned, and has a warm-up.
fn written() -> Outcome {
    let small = "drive = \"mqsim-clean\"\nflash = { channels = 2, packages = 1, dies = 2, planes = 1, blocks = 64, pages = 32, page = \"4 KiB\" }\n\
                 spare = { share = \"15 %\", reserved = 1 }\ncleaning = { begin = 3 }\nrecovery = { checkpoint = \"1 MiB\" }\n\
                 initial = { overwrite = 1.0 }\n";
    let load = "reads = 0.2\nsize = \"4 KiB\"\naddress = \"uniform\"";
    let text = closed(8, 12_000, load, small).replace("warmup = 0", "warmup = 3000");
    run(&text, ArmTraceFrom::Nowhere)
}

#[test]
fn what_is_written_over_time_ends_at_the_counters() {
    let outcome = written();
    let (result, picture) = (outcome.json(), drawn(&outcome));
    let (report, over) = (&result["devices"]["ssd"], &picture["flash"]["over_time"]);
    let last = |series: &Value| list(series).last().and_then(Value::as_f64);
    let amplification = report["write_amplification"].as_f64();
    assert!(amplification > Some(1.1));
    assert_eq!(last(&over["write_amplification"]["so_far"]), amplification);
    assert_eq!(over["free_blocks"]["at_end"], report["free_blocks"]);
    // The whole run: with the warm-up more than what is counted, and the map too.
    for (name, key) in [
        ("host", "host_pages"),
        ("moved", "moved_pages"),
        ("map", "map_pages"),
    ] {
        let bytes = sum(&over["flash_bytes"][name]);
        let counted = report[key].as_f64().expect("a count") * 4096.0;
        assert!(
            counted > 0.0 && bytes > counted && bytes < 2.5 * counted,
            "{name}"
        );
    }
    let least = list(&over["free_blocks"]["least"]).iter();
    let means = list(&over["free_blocks"]["mean"]).iter();
    for (least, mean) in least.zip(means) {
        let (least, mean) = (least.as_f64().expect("bins"), mean.as_f64().expect("bins"));
        assert!(least <= mean && mean < 4.0 * 20.0, "{least} {mean}");
    }
}

#[test]
fn the_wear_map_is_of_all_blocks() {
    let outcome = written();
    let (result, picture) = (outcome.json(), drawn(&outcome));
    let (erases, wear) = (
        &result["devices"]["ssd"]["erases"],
        &picture["flash"]["wear"],
    );
    // One block a cell: the reserved one of each plane has none.
    assert_eq!(
        (&wear["planes_of_row"], &wear["blocks_of_column"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(wear["mean"], {
        let rows = list(&wear["most"]).iter();
        let floats = |row: &Value| -> Value {
            let cells = list(row).iter();
            cells.map(|cell| json!(cell.as_f64())).collect()
        };
        rows.map(floats).collect::<Value>()
    });
    let total: f64 = list(&wear["most"]).iter().map(sum).sum();
    assert!(total > 0.0 && total == erases["total"].as_f64().expect("a count"));
    let nulls = list(&wear["most"]).iter().map(|row| {
        assert_eq!(row[0], Value::Null);
        list(row).iter().filter(|cell| cell.is_null()).count()
    });
    assert_eq!(nulls.collect::<Vec<_>>(), [1, 1, 1, 1]);
    // A large drive has as many cells as can be told apart.
    let load = "reads = 1.0\nsize = \"4 KiB\"\naddress = \"uniform\"";
    let large = run(
        &closed(1, 10, load, "drive = \"samsung-970-pro\"\n"),
        ArmTraceFrom::Nowhere,
    );
    let wear = &drawn(&large)["flash"]["wear"];
    assert_eq!(wear["blocks_of_column"], 64);
    assert_eq!(list(&wear["mean"]).len(), 16);
    assert_eq!(list(&wear["mean"][0]).len(), 128);
}

#[test]
fn a_picture_changes_nothing() {
    let load = "reads = 0.3\nsize = \"8 KiB\"\naddress = \"uniform\"";
    for device in [
        "drive = \"mqsim-clean\"\ninitial = { fill = \"90 %\" }\n",
        "drive = \"samsung-850-pro\"\n",
        "drive = \"slc-classic\"\n",
    ] {
        let text = closed(24, 3_000, load, device);
        let with = run(&text, ArmTraceFrom::FirstMeasured);
        let source = from_text(text);
        let without = outcome_of(&source, &RunOptions::default()).expect("a run that goes well");
        assert_eq!(with.digest(), without.digest());
        assert_eq!(with.get("devices"), without.get("devices"));
    }
}
