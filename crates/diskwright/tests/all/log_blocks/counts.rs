//! Merges by kind, pages moved and erases for sequential, random and mixed writes: the drive's are those of the naive count.

use diskwright::base::random::Stream;
use serde_json::Value;

use super::drive::{Act, Drive};
use super::naive::{Counts, Naive};

fn of(ssd: &Value) -> Counts {
    let count = |place: &str| ssd.pointer(place).and_then(Value::as_u64).expect("a count");
    Counts {
        switch: count("/mapping/merges/switch"),
        partial: count("/mapping/merges/partial"),
        full: count("/mapping/merges/full"),
        dropped: count("/mapping/dropped_log_blocks"),
        moved: count("/moved_pages"),
        erases: count("/erases/total"),
        logs: count("/mapping/log_blocks_at_end"),
    }
}

/// Writes of a kind over `all` pages.
fn acts(kind: &str, all: usize, pages: usize, chance: &mut Stream) -> Vec<Act> {
    let mut below = |most: usize| chance.below(most as u64) as usize;
    let mut acts = Vec::new();
    while acts.len() < 1200 {
        match kind {
            "sequential" => acts.push(Act::Write(acts.len() % all)),
            "random" => acts.push(Act::Write(below(all))),
            // Runs from anywhere, whole blocks, single pages of a few blocks.
            _ => {
                let (from, length) = match below(4) {
                    0 => (below(all), 1 + below(2 * pages)),
                    1 => (below(all / pages) * pages, pages),
                    2 => (below(3 * pages), 1),
                    _ => (below(all), 1),
                };
                let run = (from..(from + length).min(all)).map(Act::Write);
                acts.extend(run);
                if kind == "trimmed" && below(3) == 0 {
                    let from = below(all);
                    acts.extend((from..(from + pages).min(all)).map(Act::Trim));
                }
            }
        }
    }
    acts.truncate(1200);
    acts
}

#[test]
fn merges_by_kind_are_those_of_the_naive_count() {
    let mut chance = Stream::new(1, "merges by kind");
    for scheme in ["block", "bast", "fast"] {
        for kind in ["sequential", "random", "mixed", "trimmed"] {
            for (log_blocks, victim) in [(2, None), (3, Some("lru")), (5, Some("fifo")), (1, None)]
            {
                if scheme == "fast" && (log_blocks < 2 || victim == Some("lru")) {
                    continue;
                }
                for filled in [false, true] {
                    let drive = Drive {
                        scheme,
                        log_blocks,
                        victim,
                        pages: 8,
                        data: 12,
                        more: 1,
                        filled,
                        tables: "",
                    };
                    let acts = acts(kind, drive.data * drive.pages, drive.pages, &mut chance);
                    let (_, ssd) = drive.does(&acts);
                    let expected = Naive::counts(&drive, &acts);
                    assert_eq!(of(&ssd), expected, "{kind}: {drive:?}");
                    let (written, moved) =
                        (ssd["host_pages"].as_u64(), ssd["moved_pages"].as_u64());
                    let (written, moved) = (written.expect("a count"), moved.expect("a count"));
                    let amplification = ssd["write_amplification"].as_f64().expect("a number");
                    assert!(
                        (amplification * written as f64 - (written + moved) as f64).abs() < 1e-6
                    );
                    if filled && victim.is_none() && log_blocks == 2 {
                        println!("{scheme} {kind}: {expected:?}, WA {amplification:.2}");
                    }
                }
            }
        }
    }
}

/// A random drive and random acts: what a number gives.
fn random(number: u64) {
    let mut chance = Stream::new(number, "merges at random");
    let mut below = |most: u64| chance.below(most) as usize;
    let scheme = ["block", "bast", "fast"][below(3)];
    let victim =
        [None, Some("fifo"), Some("lru")][if scheme == "fast" { below(2) } else { below(3) }];
    let mut drive = Drive {
        scheme,
        log_blocks: below(6) + if scheme == "fast" { 2 } else { 1 },
        victim,
        pages: below(12) + 1,
        data: below(20) + 1,
        more: below(3),
        filled: below(2) == 0,
        tables: "",
    };
    // A plane has four blocks or more.
    drive.more += 4usize.saturating_sub(drive.blocks());
    let kind = ["sequential", "random", "mixed", "trimmed"][below(4)];
    let all = drive.data * drive.pages;
    let acts = acts(kind, all.max(1), drive.pages, &mut chance);
    let (_, ssd) = drive.does(&acts);
    assert_eq!(
        of(&ssd),
        Naive::counts(&drive, &acts),
        "{number} {kind}: {drive:?}"
    );
}

#[test]
fn merges_of_random_drives_are_those_of_the_naive_count() {
    (0..60).for_each(random);
}

#[test]
#[ignore = "takes minutes"]
fn merges_of_ten_thousand_random_drives_are_those_of_the_naive_count() {
    (60..10_060).for_each(random);
}
