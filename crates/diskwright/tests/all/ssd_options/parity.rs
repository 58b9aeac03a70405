//! Parity over dies: where pages go, how long they take, what a drive holds, and what is refused.

use serde_json::Value;

use super::{ERASE, PAGE, PROGRAM, READ, times};
use crate::support::{run, try_run};

/// A drive of four dies, each on a channel of its own, with stripes of four pages: one set of planes.
pub fn drive(blocks: u32, pages: u32, spare: &str, more: &str) -> String {
    format!(
        "kind = 'ssd'\nname = 'small'\nqueue_depth = 32\nparity = {{ stripe = 4 }}\n\
         [flash]\nchannels = 4\nblocks = {blocks}\npages = {pages}\npage = '4 KiB'\n\
         [timing]\nread = ['{READ} ns']\nprogram = ['{PROGRAM} ns']\nerase = '{ERASE} ns'\nblock = '100 ns'\n\
         [allocation]\nfixed = 0\n[spare]\nshare = '{spare}'\n{more}\n"
    )
}

const EMPTY: &str = "[cleaning]\nbegin = 2\n[initial]\nfill = '0 %'";

fn count(result: &Value, pointer: &str) -> u64 {
    let value = result.pointer(pointer);
    value.and_then(Value::as_u64).expect("a count")
}

#[test]
fn parity_is_programmed_behind_the_last_page_of_a_stripe() {
    let drive = drive(12, 4, "50 %", EMPTY);
    // Two stripes at once: the first one's parity is on the last die, where it goes before the last page of the second one. The second one's is on the
    // third die, behind a page of the first one, and nobody waits for it.
    let writes: Vec<_> = (0..6).map(|page| (0, "write", page)).collect();
    let (took, result) = times(&drive, &writes);
    let once = PAGE + PROGRAM;
    assert_eq!(took, [once, once, once, 2 * once, 2 * once, 2 * once]);
    assert_eq!(count(&result, "/parity/pages"), 2);
    assert_eq!(count(&result, "/parity/stripe"), 4);
    assert_eq!(count(&result, "/host_pages"), 6);
    assert_eq!(count(&result, "/flash_pages"), 8);
    assert_eq!(result["write_amplification"], 8.0 / 6.0);
}

#[test]
fn a_stripe_that_is_not_full_has_no_parity_yet() {
    let drive = drive(12, 4, "50 %", EMPTY);
    for (pages, parity) in [(2, 0), (3, 1), (5, 1), (6, 2)] {
        let writes: Vec<_> = (0..pages).map(|page| (0, "write", page)).collect();
        let (_, result) = times(&drive, &writes);
        assert_eq!(count(&result, "/parity/pages"), parity, "{pages} pages");
    }
}

#[test]
fn a_read_waits_for_the_parity_on_its_die() {
    let drive = drive(12, 4, "50 %", EMPTY);
    // Three pages; then, while the parity is programmed on the fourth die, the fourth page there, and a read of it.
    let mut acts: Vec<_> = (0..3).map(|page| (0, "write", page)).collect();
    let begin = PAGE + PROGRAM;
    acts.extend([
        (1_000, "write", 3),
        (1_000, "write", 4),
        (1_000, "write", 5),
    ]);
    acts.push((3 * begin, "read", 5));
    let (took, _) = times(&drive, &acts);
    // Parity took the fourth die from 0 on, the last page behind it: both are over before the read comes.
    assert_eq!(took[5], 2 * begin - 1_000);
    assert_eq!(took[6], READ + PAGE);
}

#[test]
fn a_drive_holds_what_parity_leaves() {
    // 12 blocks of 4 pages on 4 planes: 192 pages, of which 144 hold data; a third of these is spare.
    let text = |page: u64, parity: &str| {
        let share = if parity.is_empty() {
            "50 %"
        } else {
            "33.3333333 %"
        };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("drive.toml");
        let text = drive(12, 4, share, EMPTY).replace("parity = { stripe = 4 }\n", parity);
        std::fs::write(&path, text).expect("written");
        let address = format!("{{ sequential = {{ from = {}, blocks = 8 }} }}", page * 8);
        let spec = format!(
            "[workload.synthetic]\nrequests = 1\narrivals = {{ constant = \"20 ms\" }}\nsize = \"8 blocks\"\naddress = {address}\n\
             [measure]\nwarmup = 0\n[device.ssd]\ndrive = \"{}\"\n",
            path.display()
        );
        try_run(&spec).map_err(|error| error.to_string())
    };
    for parity in ["", "parity = { stripe = 4 }\n"] {
        let fits = text(95, parity);
        assert!(fits.is_ok(), "{:?}", fits.err());
        let error = text(96, parity).expect_err("one page too many");
        assert!(error.contains("768"), "{error}");
    }
}

/// The whole drive in order, again and again: superblocks are erased when nothing in them is valid, and every third page has a fourth.
#[test]
fn what_is_written_in_order_costs_the_parity_alone() {
    let spec = |stripe: u32| {
        let flash = "flash = { channels = 8, blocks = 24, pages = 16, page = \"4 KiB\" }";
        let parity = match stripe {
            0 => String::new(),
            _ => format!("parity = {{ stripe = {stripe} }}\n"),
        };
        format!(
            "seed = 1\n[workload.synthetic]\nrequests = 30_000\narrivals = {{ closed = {{ users = 4 }} }}\nreads = 0\nsize = \"8 blocks\"\n\
             address = {{ sequential = {{ blocks = 8192 }} }}\n[measure]\nwarmup = 6000\n\
             [device.ssd]\ndrive = \"slc-classic\"\ncopy_back = false\n{flash}\n{parity}spare = {{ share = \"30 %\" }}\nallocation = {{ fixed = 0 }}\n\
             cleaning = {{ begin = 3 }}\nreads_allocate = false\ninitial = {{ fill = \"0 %\" }}\nparallel = \"dies\"\n"
        )
    };
    for (stripe, expected) in [(0, 1.0), (2, 2.0), (4, 4.0 / 3.0), (8, 8.0 / 7.0)] {
        let result = run(&spec(stripe));
        let ssd = &result["devices"]["ssd"];
        assert_eq!(ssd["moved_pages"], 0, "stripes of {stripe}");
        let amplification = ssd["write_amplification"].as_f64().expect("a number");
        assert!(
            (amplification - expected).abs() < 1e-3,
            "stripes of {stripe}: {amplification}, not {expected}"
        );
    }
}

#[test]
fn what_has_no_meaning_with_parity_is_refused() {
    let spec = |more: &str| {
        let mut tables: Vec<(&str, &str)> = vec![
            (
                "flash",
                "{ channels = 4, planes = 2, blocks = 24, pages = 16, page = \"4 KiB\" }",
            ),
            ("parity", "{ stripe = 4 }"),
            ("spare", "{ share = \"40 %\", reserved = 1 }"),
            ("allocation", "{ fixed = 0 }"),
            ("cleaning", "{ begin = 3 }"),
            ("copy_back", "false"),
            ("reads_allocate", "false"),
        ];
        if let Some((key, value)) = more.split_once(" = ") {
            tables.retain(|(other, _)| *other != key);
            tables.push((key, value));
        }
        let tables: String = tables
            .iter()
            .map(|(key, value)| format!("{key} = {value}\n"))
            .collect();
        format!(
            "[workload.synthetic]\nrequests = 9\narrivals = {{ constant = \"20 ms\" }}\nsize = \"8 blocks\"\n[device.ssd]\ndrive = \"slc-classic\"\n{tables}"
        )
    };
    for fine in [
        "",
        "parity = { stripe = 2 }",
        "recovery = { checkpoint = \"1 MiB\" }",
        "multi_plane = { read = \"1 us\", program = \"1 us\" }",
        "buffer = { size = \"64 KiB\" }",
        "suspend = { program = { cost = \"9 us\", most = 2 } }",
        "retry = { time = \"9 us\", erases = 2, most = 3 }",
    ] {
        let ends = try_run(&spec(fine));
        assert!(ends.is_ok(), "{fine}: {:?}", ends.err());
    }
    for (more, words) in [
        ("parity = { stripe = 1 }", "accepted: 2 or more"),
        ("parity = { stripe = 3 }", "stripes of 3 pages on 8 planes"),
        ("parity = { stripe = 8 }", "two of them on die 0"),
        (
            "allocation = { fixed = 0, order = [\"plane\", \"channel\", \"package\", \"die\"] }",
            "goes round all dies",
        ),
        ("allocation = { fixed = 1 }", "allocation.fixed = 0"),
        ("copy_back = true", "copy_back"),
        ("reads_allocate = true", "reads_allocate"),
        (
            "cleaning = { begin = 3, separate = false }",
            "cleaning.separate = true",
        ),
        (
            "slc = { pages = 4, fixed = 1, read = \"1 us\", program = \"9 us\" }",
            "slc",
        ),
        ("failures = { program = { new = \"1 %\" } }", "failures"),
        ("refresh = { reads = 9 }", "refresh"),
        ("wear = { static = { spread = 2, every = 4 } }", "wear"),
        ("mapping = { cache = \"64 KiB\" }", "mapping"),
        (
            "mapping = { scheme = \"bast\" }",
            "a page has its own place in its block",
        ),
    ] {
        let error = try_run(&spec(more)).expect_err(more).to_string();
        assert!(error.contains(words), "{more}: {error}");
    }
}
