//! Job files of fio's.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::whole_specs::draw::Draw;

/// One to three jobs, with rates, think times, starts and ends.
pub fn fio(draw: &mut Draw<'_>) -> Value {
    // The largest requests are of 16 KiB.
    let kib = match draw.region.1 / 2 {
        small @ 0..64 => (small / 16 * 16).max(16),
        kib => (kib / 64 * 64).min(1 << 20),
    };
    let mut text = format!("[global]\nioengine=libaio\nsize={kib}k\n");
    let mut kind = "";
    if draw.chance(0.2) {
        let _ = writeln!(
            text,
            "runtime={}s\ntime_based={}",
            draw.within(1..=3),
            draw.within(0..=1)
        );
        kind = "timed";
    }
    if draw.chance(0.1) {
        // The first requests arrive at its beginning, others later.
        text.push_str("ramp_time=1us\nthinktime=10us\n");
        kind = "ramp";
    }
    if draw.chance(0.2) {
        text.push_str("group_reporting\n");
    }
    for job in 0..draw.within(1..=3) {
        let rw = *draw.pick(&[
            "read",
            "write",
            "rw",
            "randread",
            "randwrite",
            "randrw",
            "randtrim",
        ]);
        let _ = write!(
            text,
            "[job{job}]\nrw={rw}\nbs={}k\nnumber_ios={}\n",
            draw.pick(&[4, 4, 8, 16]),
            draw.within(20..=120)
        );
        match draw.within(0..=4) {
            0 => _ = writeln!(text, "rate_iops={}", draw.within(10..=200)),
            1 => _ = writeln!(text, "rate={}k", draw.within(100..=4_000)),
            _ => _ = writeln!(text, "iodepth={}", draw.scaled(1..=16)),
        }
        for (often, option) in [
            (0.1, "rate_process=poisson"),
            (0.1, "thinktime=1ms\nthinktime_blocks=4"),
            (0.1, "startdelay=1s-2s"),
            (0.2, "stonewall"),
            (0.1, "exitall"),
            (0.1, "numjobs=2"),
        ] {
            if draw.chance(often) {
                let _ = writeln!(text, "{option}");
            }
        }
        if rw.ends_with("rw") {
            let _ = writeln!(text, "rwmixread={}", draw.within(10..=90));
        }
        if matches!(rw, "randread" | "randwrite" | "randrw") && draw.chance(0.5) {
            let by = *draw.pick(&["zipf:1.2", "pareto:0.3", "normal:20"]);
            let _ = writeln!(text, "random_distribution={by}");
        }
        if matches!(rw, "write" | "randwrite") && draw.chance(0.4) {
            let _ = writeln!(text, "fsync={}", draw.within(1..=20));
        }
    }
    let name = draw
        .case
        .add(&format!("{kind}.fio"), json!({ "text": text }));
    json!({ "fio": name })
}
