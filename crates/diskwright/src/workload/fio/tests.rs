//! Job files such as people write, and what becomes of them.

use super::*;
use crate::workload::{Pacing, Workload, WorkloadSpec};

/// Blocks of the drive: 1 GiB.
const CAPACITY: u64 = 2 << 20;

fn converted(text: &str) -> Converted {
    of_text(Path::new("job.fio"), text, None, CAPACITY)
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn refused(text: &str) -> String {
    of_text(Path::new("job.fio"), text, None, CAPACITY)
        .expect_err(text)
        .to_string()
}

/// The load that a spec's keys make.
fn load(keys: &str) -> SyntheticSpec {
    toml::from_str(keys).unwrap_or_else(|error| panic!("{keys}\n{error}"))
}

/// A job of these options becomes a load of these keys.
fn becomes(options: &str, keys: &str) {
    let text = format!("[job]\n{}\n", options.replace(' ', "\n"));
    let found = converted(&text).synthetic;
    assert_eq!(
        found,
        load(&format!("name = 'job'\n{keys}")),
        "{options}\nbecame\n{}",
        toml::to_string(&found).unwrap()
    );
}

#[test]
fn full_queues_are_refilled_in_batches() {
    for (options, refill) in [
        ("iodepth_batch=4\niodepth_batch_complete_max=8", ""),
        ("iodepth_low=8", ""),
        ("iodepth_low=0", ""),
        ("iodepth_low=3", ", refill = { low = 3 }"),
        ("iodepth_batch_complete_min=0", ""),
        ("iodepth_batch_complete=4", ", refill = { completions = 4 }"),
        (
            "iodepth_batch_complete_min=40\niodepth_low=2",
            ", refill = { completions = 8, low = 2 }",
        ),
    ] {
        let text = format!(
            "[job]\nrw=randread\nioengine=libaio\niodepth=8\nnorandommap\nsize=1m\n{options}\n"
        );
        let Converted {
            synthetic,
            warnings,
            ..
        } = converted(&text);
        let users = format!(
            "name = 'job'\nrequests = 256\nreads = 1.0\narrivals = {{ closed = {{ users = 8{refill} }} }}\naddress = {{ uniform = {{ blocks = 2048 }} }}"
        );
        assert_eq!(synthetic, load(&users), "{options}");
        assert_eq!(warnings, [""; 0]);
    }
    let paced = "[job]\nioengine=libaio\niodepth=8\niodepth_batch=4\nrate_iops=100\n";
    assert_eq!(
        converted(paced).warnings,
        [
            "job.fio:4: not modelled: iodepth_batch=4: each request is issued when the rate lets it pass"
        ]
    );
    let alone = "[job]\niodepth_low=4\niodepth_batch_complete=4\n";
    assert_eq!(converted(alone).warnings, [""; 0]);
}

const ONE: &str = "arrivals = { closed = { users = 1 } }";

#[test]
fn a_usual_job_file_becomes_its_load() {
    let text = "; a database\n[global]\nioengine=libaio ; asynchronous\ndirect=1\nbs=4k\nruntime=60\ntime_based\nramp_time=5\n\n[db]\nfilename=/dev/sdb\nrw=randrw\nrwmixread=70\niodepth=32\nnorandommap\nsize=512m\nverify=crc32c\n";
    let Converted {
        synthetic,
        warnings,
        jobs,
    } = converted(text);
    assert_eq!(
        synthetic,
        load(
            "name = 'db'\nduration = '65 s'\nwarmup = '5 s'\narrivals = { closed = { users = 32 } }\nreads = 0.7\naddress = { uniform = { blocks = 1_048_576 } }"
        )
    );
    assert_eq!(
        warnings,
        ["job.fio:17: not modelled: verify=crc32c: nothing is read back"]
    );
    let job = &jobs[0];
    assert_eq!(
        (job.name.as_str(), job.job.as_str(), job.group),
        ("db", "db", 0)
    );
    assert_eq!(job.global[0], ("ioengine".to_owned(), "libaio".to_owned()));
    assert!(
        job.global
            .contains(&("time_based".to_owned(), "1".to_owned()))
    );
    assert_eq!(job.options[3], ("iodepth".to_owned(), "32".to_owned()));
}

#[test]
fn directions_and_mixes() {
    let sequential = "address = { sequential = { blocks = 2_097_152 } }";
    let once = "address = { uniform = { blocks = 2_097_152, once = true } }";
    for (options, keys) in [
        ("", format!("reads = 1.0\n{sequential}")),
        ("rw=read", format!("reads = 1.0\n{sequential}")),
        ("readwrite=write", format!("reads = 0.0\n{sequential}")),
        ("rw=trim", format!("reads = 0.0\ntrims = 1.0\n{sequential}")),
        ("rw=rw", format!("reads = 0.5\n{sequential}")),
        (
            "rw=readwrite rwmixwrite=25",
            format!("reads = 0.75\n{sequential}"),
        ),
        ("rw=randread", format!("reads = 1.0\n{once}")),
        ("rw=randwrite", format!("reads = 0.0\n{once}")),
        ("rw=randtrim", format!("reads = 0.0\ntrims = 1.0\n{once}")),
        ("rw=randrw rwmixread=90", format!("reads = 0.9\n{once}")),
        // The later of the two counts.
        (
            "rw=randrw rwmixread=90 rwmixwrite=50",
            format!("reads = 0.5\n{once}"),
        ),
        (
            "rw=randread percentage_random=0",
            format!("reads = 1.0\n{sequential}"),
        ),
    ] {
        becomes(options, &format!("requests = 262_144\n{ONE}\n{keys}"));
    }
}

#[test]
fn sizes_and_amounts() {
    let small = "address = { sequential = { blocks = 2_048 } }";
    for (options, keys) in [
        ("size=1m", format!("requests = 256\n{small}")),
        ("size=1m bs=512", format!("requests = 2048\nsize = '1 block'\n{small}")),
        ("size=1m blocksize=64k", format!("requests = 16\nsize = '64 KiB'\n{small}")),
        ("size=1m io_size=10m", format!("requests = 2560\n{small}")),
        ("size=1m io_limit=64k", format!("requests = 16\n{small}")),
        ("filesize=1m size=2m", format!("requests = 512\n{small}")),
        ("size=1m number_ios=10", format!("requests = 10\n{small}")),
        ("size=1m number_ios=1000", format!("requests = 256\n{small}")),
        ("size=1m loops=3", format!("requests = 768\n{small}")),
        ("size=1m offset=1m", "requests = 256\naddress = { sequential = { from = 2048, blocks = 2048 } }".to_owned()),
        ("size=50% offset=50%", "requests = 131_072\naddress = { sequential = { from = 1_048_576, blocks = 1_048_576 } }".to_owned()),
        ("size=100% offset=50%", "requests = 131_072\naddress = { sequential = { from = 1_048_576, blocks = 1_048_576 } }".to_owned()),
        ("offset=1023m", "requests = 256\naddress = { sequential = { from = 2_095_104, blocks = 2048 } }".to_owned()),
        // Of reads the first, of writes the second; only what is there shows.
        ("rw=read bs=8k,64k size=1m", format!("requests = 128\nsize = '8 KiB'\n{small}")),
        ("rw=write bs=8k,64k size=1m", format!("requests = 16\nreads = 0.0\nsize = '64 KiB'\n{small}")),
        ("rw=rw bs=4k,12k size=1m", format!("requests = 128\nreads = 0.5\nsize = {{ reads = '4 KiB', writes = '12 KiB' }}\n{small}")),
        ("rw=rw bs=,12k size=1m", format!("requests = 128\nreads = 0.5\nsize = {{ reads = '4 KiB', writes = '12 KiB' }}\n{small}")),
        ("bssplit=4k/50:12k/50 size=1m", format!("requests = 128\nsize = [{{ size = '4 KiB', share = 0.5 }}, {{ size = '12 KiB', share = 0.5 }}]\n{small}")),
        ("bssplit=4k/50:8k/:16k/ size=1m", format!("requests = 128\nsize = [{{ size = '4 KiB', share = 0.5 }}, {{ size = '8 KiB', share = 0.25 }}, {{ size = '16 KiB', share = 0.25 }}]\n{small}")),
        ("rw=rw bssplit=4k/100,12k/100 size=1m", format!("requests = 128\nreads = 0.5\nsize = {{ reads = '4 KiB', writes = '12 KiB' }}\n{small}")),
    ] {
        becomes(options, &format!("{ONE}\n{keys}"));
    }
    becomes(
        "kb_base=1000 size=1mi bs=4ki",
        &format!("requests = 256\n{ONE}\n{small}"),
    );
}

#[test]
fn users_rates_and_think_times() {
    let at = "size = '4 KiB'\naddress = { sequential = { blocks = 2_048 } }";
    for (options, closed) in [
        ("iodepth=8 ioengine=libaio", "users = 8"),
        // fio's default engine has one request outstanding.
        ("iodepth=8", "users = 1"),
        ("iodepth=8 ioengine=sync", "users = 1"),
        ("thinktime=250", "users = 1, think = '250 us'"),
        (
            "thinktime=2ms iodepth=4 ioengine=io_uring",
            "users = 4, pause = { time = '2 ms', requests = 1 }",
        ),
        (
            "thinktime=2ms thinktime_blocks=8 thinktime_spin=1ms",
            "users = 1, pause = { time = '2 ms', requests = 8 }",
        ),
        (
            "thinktime=1s thinktime_iotime=9",
            "users = 1, pause = { time = '1 s', period = '9 s' }",
        ),
        (
            "thinktime=1s thinktime_iotime=9s thinktime_blocks=100",
            "users = 1, pause = { time = '1 s', requests = 100, period = '9 s' }",
        ),
        ("thinktime_blocks=8", "users = 1"),
        ("rate_iops=100", "users = 1, rate = { requests = 100 }"),
        (
            "rate_iops=1k iodepth=4 ioengine=libaio",
            "users = 4, rate = { requests = 1024 }",
        ),
        (
            "rate_iops=100 rate_process=poisson",
            "users = 1, rate = { poisson-requests = 100 }",
        ),
        ("rate=1m", "users = 1, rate = { bytes = 1_048_576 }"),
        ("rate=1000", "users = 1, rate = { bytes = 1000 }"),
        (
            "rate=1m rate_process=poisson",
            "users = 1, rate = { poisson-requests = 256 }",
        ),
    ] {
        becomes(
            &format!("{options} size=1m"),
            &format!("requests = 256\narrivals = {{ closed = {{ {closed} }} }}\n{at}"),
        );
    }
    // Each direction has its rate, and they decide the mix.
    for (rate, reads, closed) in [
        ("rate_iops=100", 0.5, "requests = 200"),
        ("rate_iops=300,100", 0.75, "requests = 400"),
        ("rate=3m,1m", 0.75, "bytes = 4_194_304"),
    ] {
        becomes(
            &format!("rw=rw {rate} size=1m"),
            &format!(
                "requests = 256\nreads = {reads}\narrivals = {{ closed = {{ users = 1, rate = {{ {closed} }} }} }}\n{at}"
            ),
        );
    }
    let warnings = converted("[a]\niodepth=8\n[b]\nrw=rw\nrate_iops=300,100\n").warnings;
    let expected = [
        "job.fio:2: iodepth=8 changes nothing: the engine psync, fio's default, has 1 request outstanding; ioengine=libaio has 8",
        "job.fio:5: rate_iops=300,100 gives each direction its rate: reads are 75 % and writes 25 %",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn times_begin_and_end_jobs() {
    let at = format!("{ONE}\naddress = {{ sequential = {{ blocks = 2_048 }} }}");
    for (options, keys) in [
        ("runtime=1", "requests = 256\nduration = '1 s'"),
        ("runtime=10m time_based", "duration = '600 s'"),
        (
            "runtime=10 time_based=0",
            "requests = 256\nduration = '10 s'",
        ),
        (
            "runtime=10 time_based number_ios=7",
            "requests = 7\nduration = '10 s'",
        ),
        ("runtime=0", "requests = 256"),
        ("time_based", "requests = 256"),
        ("ramp_time=3", "requests = 256\nwarmup = '3 s'"),
        (
            "runtime=10 ramp_time=3 time_based",
            "duration = '13 s'\nwarmup = '3 s'",
        ),
        ("startdelay=2", "requests = 256\nstart = '2 s'"),
        (
            "startdelay=1s-5s",
            "requests = 256\nstart = { min = '1 s', max = '5 s' }",
        ),
    ] {
        becomes(&format!("{options} size=1m"), &format!("{keys}\n{at}"));
    }
    assert_eq!(
        converted("[a]\ntime_based\n").warnings,
        ["job.fio:2: time_based changes nothing without a runtime"]
    );
}

#[test]
fn stone_walls_make_stages_and_groups_make_reports() {
    let text = "[global]\nsize=1m\n[a]\nstonewall\nnumjobs=2\ngroup_reporting\n[b]\nexitall\n[c]\nstonewall\n[d]\nwait_for_previous\nnumjobs=2\n[e]\nnew_group\ngroup_reporting\n";
    let Converted {
        synthetic,
        jobs,
        warnings,
    } = converted(text);
    assert_eq!(warnings, [""; 0]);
    let SyntheticSpec::Several(loads) = synthetic else {
        panic!("several jobs");
    };
    let found: Vec<_> = loads
        .iter()
        .map(|load| {
            let report = load.report_as.as_deref().unwrap_or("");
            (
                load.name.as_deref().unwrap_or(""),
                report,
                load.stage,
                load.ends_stage,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("a.0", "a", 0, true),
            ("a.1", "a", 0, true),
            ("b", "", 0, true),
            ("c", "", 1, true),
            ("d.0", "", 2, true),
            ("d.1", "", 2, true),
            ("e", "", 2, true),
        ]
    );
    let reports: Vec<_> = jobs
        .iter()
        .map(|job| (job.name.as_str(), job.job.as_str(), job.group))
        .collect();
    assert_eq!(
        reports,
        [
            ("a", "a", 0),
            ("b", "b", 0),
            ("c", "c", 1),
            ("d.0", "d", 2),
            ("d.1", "d", 2),
            ("e", "e", 3)
        ]
    );
    // With the option, jobs of a group are one report, named after its first.
    let grouped = converted("[global]\ngroup_reporting\nsize=1m\n[a]\n[b]\n[c]\nstonewall\n");
    let reports: Vec<_> = grouped.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(reports, ["a", "c"]);
    // The first job waits for nobody.
    let SyntheticSpec::One(load) = converted("[a]\nstonewall\n").synthetic else {
        panic!("one job");
    };
    assert_eq!(load.stage, 0);
}

#[test]
fn what_cannot_matter_is_not_told_and_what_can_is() {
    let quiet = "[a]\ndirect=1\nioengine=libaio\ninvalidate=1\nfilename=/dev/sdb\nnrfiles=1\nname=x\nbuffered=0\nthread\nrefill_buffers\nexit_what=group\nrate_ignore_thinktime=1\n";
    assert_eq!(converted(quiet).warnings, [""; 0]);
    for (option, part) in [
        ("direct=0", "no page cache"),
        ("buffered=1", "no page cache"),
        ("filename=/dev/sda:/dev/sdb", "one device"),
        ("nrfiles=4", "one range"),
        ("rate_min=1m", "too slow"),
        ("exit_what=all", "stonewall"),
        ("cmdprio_percentage=10", "priority"),
    ] {
        let warnings = converted(&format!("[a]\n{option}\n")).warnings;
        let expected = format!("job.fio:2: not modelled: {option}: ");
        assert!(
            warnings.len() == 1 && warnings[0].starts_with(&expected) && warnings[0].contains(part),
            "{option}: {warnings:?}"
        );
    }
}

#[test]
fn distributions() {
    for (options, address) in [
        (
            "random_distribution=random",
            "uniform = { blocks = 2048, once = true }",
        ),
        ("norandommap", "uniform = { blocks = 2048 }"),
        ("norandommap=0", "uniform = { blocks = 2048, once = true }"),
        ("ba=8k", "uniform = { blocks = 2048, align = '8 KiB' }"),
        (
            "random_distribution=zipf:1.2",
            "fio-zipf = { theta = 1.2, blocks = 2048 }",
        ),
        (
            "random_distribution=zipf:1.2:0.25",
            "fio-zipf = { theta = 1.2, center = 0.25, blocks = 2048 }",
        ),
        ("random_distribution=zipf", "fio-zipf = { blocks = 2048 }"),
        (
            "random_distribution=pareto:0.9 ba=8k",
            "fio-pareto = { h = 0.9, blocks = 2048, align = '8 KiB' }",
        ),
        (
            "random_distribution=normal:20",
            "fio-normal = { deviation = 20.0, blocks = 2048 }",
        ),
        (
            "random_distribution=zoned:60/10:40/90",
            "zones = { zones = [{ share = '60 %', size = '10 %' }, { share = '40 %', size = '90 %' }], blocks = 2048 }",
        ),
        (
            "random_distribution=zoned_abs:60/64k:40/128k",
            "zones = { zones = [{ share = '60 %', size = '64 KiB' }, { share = '40 %', size = '128 KiB' }], blocks = 2048 }",
        ),
        (
            "rw=randread:8",
            "streams = { count = 1, run = '32 KiB', align = '4 KiB', blocks = 2048 }",
        ),
    ] {
        becomes(
            &format!("rw=randread {options} size=1m"),
            &format!("requests = 256\n{ONE}\naddress = {{ {address} }}"),
        );
    }
    becomes(
        "rw=randwrite percentage_random=30 norandommap size=1m",
        &format!(
            "requests = 256\n{ONE}\nreads = 0.0\naddress = {{ partly-random = {{ random = 0.3, blocks = 2048 }} }}"
        ),
    );
    becomes(
        "rw=randrw percentage_random=0,50 norandommap size=1m",
        &format!(
            "requests = 256\n{ONE}\nreads = 0.5\naddress = {{ partly-random = {{ random = 0.0, writes = 0.5, trims = 0.5, blocks = 2048 }} }}"
        ),
    );
    becomes(
        "rw=randread percentage_random=100,0 size=1m",
        &format!(
            "requests = 256\n{ONE}\naddress = {{ uniform = {{ blocks = 2048, once = true }} }}"
        ),
    );
    becomes(
        "rw=read:4k size=1m",
        &format!(
            "requests = 128\n{ONE}\naddress = {{ strided = {{ stride = '8 KiB', shift = '0 blocks', blocks = 2048 }} }}"
        ),
    );
    let several = converted("[a]\nrw=randread\nbssplit=4k/50:8k/50\n");
    assert!(
        several.warnings[0].starts_with("job.fio:3: not modelled: bssplit"),
        "{several:?}"
    );
}

#[test]
fn zones_one_after_the_other() {
    for (options, address) in [
        ("rw=read zonesize=64k", "zone = '64 KiB', blocks = 2048"),
        (
            "rw=read zonemode=strided zonesize=64k zonerange=256k zoneskip=128k",
            "zone = '256 KiB', transfer = '64 KiB', skip = '128 KiB', blocks = 2048",
        ),
        (
            "rw=randread norandommap zonemode=strided zonesize=512k zonerange=128k",
            "zone = '128 KiB', transfer = '512 KiB', random = true, blocks = 2048",
        ),
    ] {
        becomes(
            &format!("{options} size=1m"),
            &format!("requests = 256\n{ONE}\naddress = {{ strided-zones = {{ {address} }} }}"),
        );
    }
    // Without a mode of zones their sizes are ignored.
    becomes(
        "rw=read zonemode=none zonesize=64k size=1m",
        &format!("requests = 256\n{ONE}\naddress = {{ sequential = {{ blocks = 2048 }} }}"),
    );
    let warned = converted("[a]\nrw=randread\nzonesize=64k\nsize=1m\n");
    assert!(
        warned.warnings[0].starts_with("job.fio:3: not modelled: zonesize"),
        "{warned:?}"
    );
}

#[test]
fn durability() {
    let base = "reads = 0.0\naddress = { sequential = { blocks = 2_048 } }";
    for (options, keys) in [
        ("fsync=32", "requests = 264\nflush_every = 32"),
        ("fdatasync=1", "requests = 512\nflush_every = 1"),
        ("fsync=0", "requests = 256"),
        ("sync=1", "requests = 256\nfua = 1.0"),
        ("sync=dsync", "requests = 256\nfua = 1.0"),
        ("sync=none", "requests = 256"),
        ("writefua=1", "requests = 256\nfua = 1.0"),
    ] {
        becomes(
            &format!("rw=write {options} size=1m"),
            &format!("{ONE}\n{keys}\n{base}"),
        );
    }
    // Reads are not flushed.
    becomes(
        "rw=read sync=1 size=1m",
        &format!("requests = 256\n{ONE}\naddress = {{ sequential = {{ blocks = 2_048 }} }}"),
    );
}

#[test]
fn jobs_and_clones_are_streams() {
    let text = "[global]\nsize=1m\nioengine=libaio\n[read]\nrw=read\niodepth=2\n[clones]\nrw=write\nnumjobs=2\noffset_increment=10m\n";
    let at = |from| format!("address = {{ sequential = {{ from = {from}, blocks = 2048 }} }}");
    let users = |users| format!("requests = 256\narrivals = {{ closed = {{ users = {users} }} }}");
    let expected = format!(
        "[[stream]]\nname = 'read'\n{}\n{}\n[[stream]]\nname = 'clones.0'\n{}\nreads = 0.0\n{}\n[[stream]]\nname = 'clones.1'\n{}\nreads = 0.0\n{}",
        users(2),
        at(0),
        users(1),
        at(0),
        users(1),
        at(20_480)
    );
    assert_eq!(converted(text).synthetic, load(&expected));
    // What a global section says is told once.
    let told = converted(&text.replace("size=1m", "size=1m\nend_fsync=1")).warnings;
    assert_eq!(told.len(), 1);
    let chosen = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        of_text(Path::new("job.fio"), text, Some(&names), CAPACITY)
    };
    assert!(matches!(
        chosen(&["read"]).unwrap().synthetic,
        SyntheticSpec::One(_)
    ));
    let error = chosen(&["raed"]).unwrap_err().to_string();
    assert!(error.contains("did you mean \"read\""), "{error}");
    assert!(
        chosen(&[])
            .unwrap_err()
            .to_string()
            .contains("workload.fio.jobs")
    );
}

#[test]
fn what_is_wrong_is_shown_at_its_place() {
    for (options, place, part) in [
        ("blokcsize=4k", "job.fio:2:1", "did you mean \"blocksize\""),
        ("verfy=md5", "job.fio:2:1", "did you mean \"verify\""),
        ("xyzzy=1", "job.fio:2:1", "unknown fio option \"xyzzy\""),
        (
            "bs=4q",
            "job.fio:2:4",
            "bs is \"4q\": expected sizes above 0",
        ),
        ("bs=0", "job.fio:2:4", "above 0"),
        ("bs=100", "job.fio:2:4", "whole blocks of 512 bytes"),
        ("size=1mi", "job.fio:2:6", "whole blocks of 512 bytes"),
        ("bs", "job.fio:2:1", "expected a size"),
        ("rw=readd", "job.fio:2:4", "one of read, write"),
        ("rw=trimwrite", "job.fio:2:4", "one of read, write"),
        ("rw=randread:x", "job.fio:2:4", "one of read, write"),
        ("rw=", "job.fio:2:4", "one of read, write"),
        ("rwmixread=101", "job.fio:2:11", "0 to 100"),
        ("iodepth=0", "job.fio:2:9", "1 or more"),
        ("iodepth=5000000000", "job.fio:2:9", "4294967295"),
        ("numjobs=0", "job.fio:2:9", "1 or more"),
        ("numjobs=100k", "job.fio:2:9", "65536 at most"),
        ("thinktime=x", "job.fio:2:11", "a time such as"),
        ("rate_iops=0", "job.fio:2:11", "above 0"),
        ("rate_iops=,100", "job.fio:2:11", "every direction"),
        ("rate=0", "job.fio:2:6", "above 0"),
        ("rate=1m\nrate_iops=5", "job.fio:3:1", "exclude each other"),
        (
            "rate_iops=5\nrate_process=even",
            "job.fio:3:14",
            "linear or poisson",
        ),
        ("runtime=x", "job.fio:2:9", "a time such as"),
        ("startdelay=5-1", "job.fio:2:12", "a range such as"),
        (
            "thinktime=1\nthinktime_blocks=0",
            "job.fio:3:18",
            "1 or more",
        ),
        (
            "thinktime=1\nthinktime_blocks_type=x",
            "job.fio:3:23",
            "complete or issue",
        ),
        (
            "thinktime=1\nthinktime_spin=2",
            "job.fio:3:16",
            "at most the thinktime",
        ),
        ("ioengine=cpuio", "job.fio:2:1", "no requests of a drive"),
        ("wait_for=a", "job.fio:2:1", "stonewall"),
        ("exit_what=some", "job.fio:2:11", "group, stonewall or all"),
        ("size=2g", "job.fio:2:6", "1 to 2097152 blocks"),
        ("size=0", "job.fio:2:6", "1 to 2097152 blocks"),
        ("size=120%", "job.fio:2:6", "20%"),
        ("offset=1g", "job.fio:2:8", "2097152 blocks"),
        ("bssplit=4k/50:8k/60", "job.fio:2:9", "make 100"),
        ("bssplit=4k/50:8k/40", "job.fio:2:9", "make 100"),
        ("bsrange=4k-8k", "job.fio:2:1", "bssplit"),
        ("zonemode=zbd", "job.fio:2:10", "none or strided"),
        ("zonemode=strided", "job.fio:2:10", "zonesize"),
        ("zonesize=0", "job.fio:2:10", "1 block or more"),
        ("zonesize=2g", "job.fio:2:10", "within the job's 2097152"),
        ("rw=rw\nzonesize=1m", "job.fio:3:10", "reads alone"),
        (
            "zonesize=1m\npercentage_random=50",
            "job.fio:2:10",
            "no percentage_random",
        ),
        (
            "zonesize=1m\nrandom_distribution=zipf",
            "job.fio:2:10",
            "no random_distribution",
        ),
        ("percentage_random=101", "job.fio:2:19", "0 to 100"),
        ("percentage_random=1,2,3,4", "job.fio:2:19", "0 to 100"),
        (
            "percentage_random=50\nrandom_distribution=zipf",
            "job.fio:3:21",
            "uniform",
        ),
        (
            "rw=randread:8\npercentage_random=50",
            "job.fio:3:19",
            "runs of its own",
        ),
        ("read_iolog=a.log", "job.fio:2:1", "workload.trace"),
        ("norandommap=2", "job.fio:2:13", "1 or 0"),
        ("kb_base=1", "job.fio:2:9", "1000 or 1024"),
        ("sync=maybe", "job.fio:2:6", "none, sync"),
        ("ba=4k,8k", "job.fio:2:4", "one size"),
        ("random_distribution=zipf:1.0", "job.fio:2:21", "not 1"),
        (
            "random_distribution=pareto:2",
            "job.fio:2:21",
            "between 0 and 1",
        ),
        (
            "random_distribution=normal:100",
            "job.fio:2:21",
            "below 100",
        ),
        (
            "random_distribution=zoned:60",
            "job.fio:2:21",
            "zoned:SHARE",
        ),
        ("random_distribution=cauchy:2", "job.fio:2:21", "zipf:THETA"),
    ] {
        // What a direction needs: a random job, and one that writes for `sync`.
        let rest = if options.starts_with("sync") {
            "rw=write"
        } else {
            "rw=randread"
        };
        let rest = if options.starts_with("rw=") {
            "direct=1"
        } else {
            rest
        };
        let error = refused(&format!("[job]\n{options}\n{rest}\n"));
        assert!(
            error.contains(place) && error.contains(part),
            "{options}: {error}"
        );
    }
}

#[test]
fn a_workload_can_be_a_job_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("a.fio"),
        "[a]\nrw=randread\nsize=1m\nverify=md5\n[b]\nrw=write\nsize=64k\n",
    )
    .unwrap();
    let open = |text: &str| {
        let spec: WorkloadSpec = toml::from_str(text).unwrap();
        let again: WorkloadSpec = toml::from_str(&toml::to_string(&spec).unwrap()).unwrap();
        assert_eq!(again, spec);
        Workload::open(&spec, folder.path(), 1, CAPACITY)
    };
    let mut all = open("fio = 'a.fio'").unwrap();
    assert_eq!(
        (all.pacing(), all.total_hint()),
        (Pacing::Closed { users: Some(2) }, Some(272))
    );
    assert!(
        all.warnings()[0].contains("a.fio:4: not modelled: verify=md5"),
        "{:?}",
        all.warnings()
    );
    let mut lbns = Vec::new();
    while let Some(arrival) = all.next_for(0).unwrap() {
        lbns.push(arrival.command.lbn.0);
    }
    // Without norandommap every block is met once.
    lbns.sort_unstable();
    assert_eq!(lbns, (0..256).map(|i| i * 8).collect::<Vec<_>>());
    let one = open("fio = { file = 'a.fio', jobs = ['b'] }").unwrap();
    assert_eq!(one.total_hint(), Some(16));
    assert!(open("fio = 'b.fio'").is_err());
    assert!(toml::from_str::<WorkloadSpec>("fio = 3").is_err());
    assert!(toml::from_str::<WorkloadSpec>("fio = { jobs = ['a'] }").is_err());
}
