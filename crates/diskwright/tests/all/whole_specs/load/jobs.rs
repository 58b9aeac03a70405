//! Job files of fio's.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::whole_specs::draw::Draw;

/// One to three jobs, all with rates or all without.
pub fn fio(draw: &mut Draw<'_>) -> Value {
    let rates = draw.chance(0.4);
    let kib = (draw.region.1 / 2 / 64 * 64).clamp(64, 1 << 20);
    let mut text = format!("[global]\nsize={kib}k\n");
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
        if rates {
            let _ = writeln!(text, "rate_iops={}", draw.within(10..=200));
        } else {
            let _ = writeln!(text, "iodepth={}", draw.scaled(1..=16));
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
    let name = draw.case.add(".fio", json!({ "text": text }));
    json!({ "fio": name })
}
