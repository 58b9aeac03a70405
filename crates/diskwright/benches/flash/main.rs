//! The speed of SSDs, beside a bare loop that does the same arithmetic of map, dies and channels without an engine.
//!
//! Random requests of 4 KiB on 80 % of `mqsim-clean`, one thread: 2,500,000 reads at 32 outstanding, and as many writes at 16, the last third of them
//! with cleaning. Bare loop and engine take turns; the best of five turns counts.
//!
//! With `--instructions` what each option costs is counted under valgrind instead: instructions do not depend on what else the
//! machine does.

mod bare;
mod instructions;
#[path = "../support/mod.rs"]
mod support;

use std::time::Instant;

use support::results;

/// Requests a run.
const REQUESTS: u64 = 2_500_000;
/// Turns a case.
const TURNS: usize = 5;
/// 80 % of the drive, in pages of 4 KiB.
const PAGES: u64 = bare::PAGES * 93 / 100 * 8 / 10;

/// A row of the table.
struct Case {
    name: &'static str,
    writes: bool,
    outstanding: u32,
    /// Requests a second to reach.
    goal: f64,
}

const CASES: [Case; 2] = [
    Case {
        name: "random reads, 32",
        writes: false,
        outstanding: 32,
        goal: 4e6,
    },
    Case {
        name: "random writes, 16",
        writes: true,
        outstanding: 16,
        goal: 2.9e6,
    },
];

/// What a run of the engine came to.
struct Ran {
    rate: f64,
    mib: f64,
    amplification: f64,
}

/// An option of the drive, beside the drive without it.
struct Choice {
    name: &'static str,
    /// Whether it needs data on the drive, where reads do not put anything there.
    filled: bool,
    /// What both drives have.
    both: &'static [&'static str],
    /// What one of them has.
    tables: &'static str,
}

impl Choice {
    /// The tables of the drive without the option, and with it.
    fn tables(&self) -> (String, String) {
        let filled = if self.filled { FILLED } else { "" };
        let without = format!("{filled}{}", self.both.concat());
        let with = format!("{without}{}", self.tables);
        (without, with)
    }
}

const fn choice(name: &'static str, tables: &'static str) -> Choice {
    Choice {
        name,
        filled: false,
        both: &[],
        tables,
    }
}

/// What is on the drive at the start.
const FILLED: &str = "reads_allocate = false\ninitial = { fill = '80 %' }\n";

/// Room for blocks that an option sets aside.
const MORE_SPARE: &str = "spare = { share = '12 %', reserved = 1 }\n";

/// Maps of blocks are not among them: each random write would merge blocks.
const OPTIONS: [Choice; 14] = [
    choice("link, SATA", "interface = { link = { sata = {} } }\n"),
    choice(
        "link, PCIe",
        "interface = { link = { pcie = { generation = 3, lanes = 4 } } }\n",
    ),
    choice("queues in turn", "queues = { count = 4 }\n"),
    choice(
        "queues, weighted",
        "queues = { count = 4, weights = { high = 4, medium = 2, low = 1 }, classes = ['urgent', 'high', 'medium', 'low'] }\n",
    ),
    choice(
        "power, apst",
        "power = { policy = 'apst', figures = { idle = '1 W', slumber = { power = '40 mW', leave = { time = '1 ms' } } } }\n",
    ),
    choice(
        "suspend",
        "suspend = { program = { cost = '10 us', most = 9 }, erase = { cost = '20 us', most = 9 } }\n",
    ),
    choice("retry", "retry = { time = '1 us', erases = 1, most = 1 }\n"),
    choice(
        "refresh",
        "refresh = { reads = 100_000, age = '1000 s', period = '100 s' }\n",
    ),
    Choice {
        name: "failures",
        filled: false,
        both: &[MORE_SPARE],
        tables: "failures = { program = { worn = '0.0001 %', erases = 3000 } }\n",
    },
    choice(
        "static wear levelling",
        "wear = { static = { spread = 4, every = 16 } }\n",
    ),
    choice("cached map, all of it", "mapping = { cache = '16 MiB' }\n"),
    choice("cached map, half", "mapping = { cache = '4 MiB' }\n"),
    Choice {
        name: "SLC cache",
        filled: true,
        both: &[MORE_SPARE],
        tables: "slc = { pages = 85, fixed = 2, read = '25 us', program = '200 us' }\n",
    },
    Choice {
        name: "parity, 8 dies",
        filled: true,
        // An eighth of the flash is parity: beside the free blocks that this drive wants its data would have no room.
        both: &[
            "allocation = { fixed = 0 }\n",
            MORE_SPARE,
            "cleaning = { begin = 4 }\n",
        ],
        tables: "parity = { stripe = 8 }\n",
    },
];

fn engine(case: &Case, requests: u64, option: &str) -> Ran {
    let reads = if case.writes { "0.0" } else { "1.0" };
    let text = format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ closed = {{ users = {} }} }}\nreads = {reads}\nsize = \"4 KiB\"\n\
         address = {{ uniform = {{ blocks = {}, align = \"4 KiB\" }} }}\n[measure]\nwarmup = 0\n[device.ssd]\ndrive = \"mqsim-clean\"\n{option}",
        case.outstanding,
        PAGES * 8
    );
    let outcome = results(text);
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
    Ran {
        rate: number(&outcome["requests_per_wall_s"]),
        mib: number(&outcome["peak_rss_mib"]),
        amplification: number(&outcome["devices"]["ssd"]["write_amplification"]),
    }
}

fn main() {
    // Cargo adds a word of its own.
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let words: Vec<String> = words.collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => seconds(),
        ["--instructions"] => instructions::options(),
        [instructions::ONE, case, option, requests] => instructions::one(case, option, requests),
        _ => panic!("no words, or --instructions"),
    }
}

/// Requests a second: those of the drive without options, then what each option costs.
fn seconds() {
    println!("SSDs: requests per second, million; engine / bare loop in the same run");
    println!(
        "{:24}{:>8}{:>8}{:>8}{:>8}{:>16}{:>8}{:>10}",
        "", "engine", "goal", "bare", "ratio", "amplification", "bare", "peak MiB"
    );
    for case in &CASES {
        let (mut best, mut bare_best, mut memory) = (0.0f64, 0.0f64, 0.0f64);
        let (mut amplification, mut bare_amplification) = (f64::NAN, f64::NAN);
        for _ in 0..TURNS {
            let ran = engine(case, REQUESTS, "");
            (best, memory) = (best.max(ran.rate), memory.max(ran.mib));
            amplification = ran.amplification;
            let started = Instant::now();
            let mut bare = bare::Flash::new();
            let pages = bare.run(case.writes, case.outstanding, PAGES, REQUESTS);
            bare_best = bare_best.max(REQUESTS as f64 / started.elapsed().as_secs_f64());
            bare_amplification = if case.writes {
                pages as f64 / REQUESTS as f64
            } else {
                f64::NAN
            };
        }
        println!(
            "{:24}{:8.2}{:8.2}{:8.2}{:8.2}{:16.3}{:8.3}{:10.1}",
            case.name,
            best / 1e6,
            case.goal / 1e6,
            bare_best / 1e6,
            best / bare_best,
            amplification,
            bare_amplification,
            memory
        );
    }
    options();
}

/// What each option costs: requests a second with it, divided by those without, which take turns; the best of each.
fn options() {
    println!("\nOptions: requests per second, of those without");
    println!("{:24}{:>20}{:>20}", "", CASES[0].name, CASES[1].name);
    for choice in OPTIONS {
        let (one, other) = choice.tables();
        let ratios = CASES.each_ref().map(|case| {
            let (mut with, mut without) = (0.0f64, 0.0f64);
            for _ in 0..TURNS {
                without = without.max(engine(case, REQUESTS, &one).rate);
                with = with.max(engine(case, REQUESTS, &other).rate);
            }
            with / without
        });
        println!("{:24}{:20.2}{:20.2}", choice.name, ratios[0], ratios[1]);
    }
}
