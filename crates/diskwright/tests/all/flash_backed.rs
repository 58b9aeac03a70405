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

/// A purge that is due before the medium stops takes place; one that is due later does not wake it.
#[test]
fn a_purge_does_not_wake_the_medium() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.csv");
    let rows = "time_ns,device,op,fua,lbn,blocks\n0,0,read,0,0,8\n1000000000,0,write,0,5000,8\n\
                100000000000,0,read,0,5000,8\n";
    std::fs::write(&trace, rows).expect("written");
    for (delay, flushed) in [("5 s", 1), ("20 s", 0)] {
        let result = run(&format!(
            "[workload]\ntrace = '{}'\n[measure]\nwarmup = 0\n\
             [host.flash_backed]\nfqueue = '1 MiB'\nrule = 'always'\nidle = {{ delay = '{delay}' }}\n\
             [device.hybrid.media.hdd]\ndrive = 'travelstar-5k160'\nbuffer = false\n\
             power = {{ policy = {{ fixed = {{ standby_z = '10 s' }} }} }}\n\
             [device.hybrid.nvcache.simple]\ncapacity = '16 MiB'\nread = '1 ms'\nwrite = '1 ms'\n",
            trace.display()
        ));
        let (host, disk) = (
            &result["devices"]["host.flash_backed"],
            &result["devices"]["hybrid.media.hdd"],
        );
        assert_eq!(host["flushed_entries"], flushed, "{delay}");
        assert_eq!(host["fqueue_bytes_at_end"], 4096 * (1 - flushed), "{delay}");
        // The last read is served from memory, or else by the medium.
        assert_eq!(disk["spin_ups"], flushed, "{delay}");
    }
}
