//! Processes on simulated processors.

use serde_json::{Value, json};

use crate::whole_specs::draw::Draw;
use crate::whole_specs::schema::Hint;

/// A load of processes.
pub fn processes(draw: &mut Draw<'_>) -> Value {
    let load = draw.named("ProcessesSpec");
    json!({ "processes": load })
}

/// What is known of the keys of processes and of their generators.
pub fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        ("ProcessesSpec", "requests") => draw.requests.into(),
        // Long enough for a request of every load.
        ("ProcessesSpec", "duration") if draw.chance(0.2) => draw.time(2_000_000, 8_000_000).into(),
        ("ProcessesSpec", "processors") if draw.chance(0.8) => draw.scaled(1..=6).into(),
        ("ProcessesSpec", "time_scale") if draw.chance(0.2) => draw.share(0.1, 3.0).into(),
        ("ProcessesSpec", "first_seed" | "later_seed") if draw.chance(0.3) => {
            draw.within(0..=u64::from(u32::MAX)).into()
        }
        ("ProcessesSpec", "generator") => {
            let count = draw.within(1..=5);
            let generators = (0..count).map(|_| generator(draw));
            generators.collect::<Vec<_>>().into()
        }
        (
            "ProcessesSpec",
            "duration" | "processors" | "time_scale" | "first_seed" | "later_seed",
        )
        | ("GeneratorSpec", "name" | "devices") => Hint::Omit,
        _ => Hint::Schema,
    }
}

/// A generator whose keys fit one another and the device.
fn generator(draw: &mut Draw<'_>) -> Value {
    let unit = 1 << draw.within(0..=4);
    let blocks = draw.region.1;
    // Two units and more, and sizes that fit them.
    let unit = if blocks / unit < 40 { 1 } else { unit };
    let largest = (blocks / unit / 4).clamp(1, 16) * unit;
    let (sequential, critical) = (draw.share(0.0, 0.6), draw.share(0.0, 1.0));
    let mut made = json!({
        "unit": format!("{unit} blocks"),
        "reads": draw.share(0.0, 1.0),
        "sequential": sequential,
        "critical": critical,
        "gap_ms": time(draw),
        "size_blocks": { "uniform": { "min": 1.0, "max": largest } },
    });
    if draw.chance(0.5) {
        made["capacity"] = format!("{} blocks", blocks - draw.within(0..=blocks / 4)).into();
    }
    if draw.chance(0.4) {
        made["size_blocks"] = json!({ "exponential": { "mean": largest as f64 / 4.0 } });
    }
    if draw.chance(0.5) {
        made["local"] = draw.share(0.0, 1.0 - sequential).into();
        let deviation = draw.scaled(1..=blocks / 2 + 1);
        made["distance_blocks"] = json!({ "normal": { "mean": 0.0, "deviation": deviation } });
    }
    if draw.chance(0.5) {
        made["limited"] = draw.share(0.0, 1.0 - critical).into();
        made["limit_ms"] = time(draw);
    }
    for key in ["sequential_gap_ms", "local_gap_ms"] {
        if draw.chance(0.3) {
            made[key] = time(draw);
        }
    }
    made
}

/// Times of some ms.
fn time(draw: &mut Draw<'_>) -> Value {
    let ms = draw.share(0.0, 20.0);
    match draw.within(0..=4) {
        0 => json!({ "uniform": { "min": -ms, "max": 2.0 * ms } }),
        1 => json!({ "normal": { "mean": ms, "deviation": ms } }),
        2 => json!({ "poisson": { "base": 0.0, "mean": ms } }),
        3 => json!({ "two-value": { "usual": 0.0, "other": ms, "share": draw.share(0.0, 1.0) } }),
        _ => json!({ "exponential": { "mean": ms } }),
    }
}
