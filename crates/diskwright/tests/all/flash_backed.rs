//! Hosts with flash-backed requests over devices of the library.

use serde_json::Value;

use crate::support::run;

/// Single writes of 4 KiB to an SSD, one after the other.
fn alone(drive: &str, initial: &str) -> Value {
    run(&format!(
        "[workload.synthetic]\nrequests = 50\narrivals = {{ constant = '1 s' }}\nreads = 0.0\nsize = '4 KiB'\n\
         [measure]\nwarmup = 0\n[device.ssd]\ndrive = '{drive}'\n{initial}"
    ))
}

/// A host with flash-backed requests takes a write to an SSD for what it takes alone: it redirects where the medium takes longer by
/// two nanoseconds, and does not where it takes less by as many: transfers are rounded up.
#[test]
fn a_host_expects_of_a_write_what_it_takes_alone() {
    for drive in ["mqsim-clean", "slc-classic"] {
        let initial = "initial = { fill = '0 %' }\n";
        let alone = alone(drive, initial);
        let alone_ns =
            (alone["response_ms"]["mean"].as_f64().expect("a mean") * 1e6).round() as u64;
        for (medium_ns, redirected) in [(alone_ns - 2, 0), (alone_ns + 2, 50)] {
            let text = format!(
                "[workload.synthetic]\nrequests = 50\narrivals = {{ constant = '1 s' }}\nreads = 0.0\nsize = '4 KiB'\n\
                 [host.flash_backed]\nfqueue = '10 MiB'\nrule = 'head-only'\n[measure]\nwarmup = 0\n\
                 [device.hybrid.media.simple]\ncapacity = '1 GiB'\nread = '1 ms'\nwrite = '{} ns'\n\
                 [device.hybrid.nvcache.ssd]\ndrive = '{drive}'\n{initial}",
                medium_ns
            );
            let result = run(&text);
            let told = &result["devices"]["host.flash_backed"]["redirected"];
            assert_eq!(told, redirected, "{drive}, {medium_ns}");
        }
    }
}
