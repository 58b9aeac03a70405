//! What has no meaning with a map of blocks is refused with its reason.

use crate::support::try_run;

/// A spec of a drive with a map of blocks, and more.
fn spec(mapping: &str, more: &str) -> String {
    format!(
        "[workload.synthetic]\nrequests = 9\narrivals = {{ constant = \"20 ms\" }}\nsize = \"8 blocks\"\n[device.ssd]\ndrive = \"slc-classic\"\nmapping = {{ {mapping} }}\n\
         flash = {{ channels = 1, blocks = 64, pages = 16, page = \"4 KiB\" }}\nspare = {{ share = \"50 %\" }}\n\
         allocation = {{ fixed = 4 }}\nreads_allocate = false\n{more}"
    )
}

#[test]
fn what_has_no_meaning_with_a_map_of_blocks_is_refused() {
    let bast = "scheme = \"bast\"";
    assert!(
        try_run(&spec(bast, "")).is_ok(),
        "{:?}",
        try_run(&spec(bast, "")).err()
    );
    for (mapping, more, words) in [
        (
            bast,
            "flash = { channels = 1, blocks = 64, pages = 16, page = \"8 KiB\", unit = \"4 KiB\" }",
            "log blocks hold whole pages",
        ),
        (bast, "allocation = { fixed = 2 }", "allocation.fixed = 4"),
        (
            bast,
            "allocation = { separation = { by-size = { cold = \"64 blocks\" } } }",
            "single-stream",
        ),
        (
            bast,
            "slc = { pages = 4, fixed = 1, read = \"1 us\", program = \"9 us\" }",
            "no slc",
        ),
        (
            bast,
            "spare = { share = \"50 %\", reserved = 1 }\nrecovery = { checkpoint = \"1 MiB\" }",
            "no recovery",
        ),
        (bast, "reads_allocate = true", "reads_allocate = false"),
        (
            bast,
            "cleaning = { begin = 2 }",
            "mapping.log_blocks and mapping.victim in place of cleaning",
        ),
        ("scheme = \"bast\", cache = \"8 KiB\"", "", "no cache"),
        (
            "scheme = \"bast\", log_blocks = 0",
            "",
            "accepted: 1 or more",
        ),
        (
            "scheme = \"fast\", log_blocks = 1",
            "",
            "accepted: 2 or more",
        ),
        ("scheme = \"fast\", victim = \"lru\"", "", "accepted: fifo"),
        (
            "scheme = \"bast\", log_blocks = 60",
            "",
            "fewer mapping.log_blocks",
        ),
        (
            "log_blocks = 2",
            "",
            "scheme = \"block\", \"bast\" or \"fast\"",
        ),
        (
            "victim = \"lru\"",
            "",
            "scheme = \"block\", \"bast\" or \"fast\"",
        ),
        ("scheme = \"nand\"", "", "bast"),
    ] {
        let mut text = spec(mapping, more);
        // What is said here stands in place of what is said there.
        if let Some((key, _)) = more.split_once(' ') {
            let lines = text.lines().collect::<Vec<_>>();
            let last = lines.len() - more.lines().count();
            let of_key = format!("{key} = ");
            let kept = lines.iter().enumerate();
            let kept = kept.filter(|(at, line)| *at >= last || !line.starts_with(&of_key));
            text = kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
        }
        let error = try_run(&text).expect_err("refused").to_string();
        assert!(error.contains(words), "{mapping} {more}: {error}");
    }
}

/// As many blocks as are needed are enough: 32 of data, the log blocks and one to merge into.
#[test]
fn a_plane_has_its_data_its_log_blocks_and_one_more() {
    assert!(try_run(&spec("scheme = \"bast\", log_blocks = 31", "")).is_ok());
    let error = try_run(&spec("scheme = \"bast\", log_blocks = 32", "")).expect_err("refused");
    let words = "a plane of 64 usable blocks for 32 of data, 32 log blocks and one to merge into";
    assert!(error.to_string().contains(words), "{error}");
}
