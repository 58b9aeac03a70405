//! Streams that begin and end by a plan.

use serde_json::{Value, json};

use crate::whole_specs::draw::Draw;
use crate::whole_specs::schema::Hint;

/// What is known of the keys of plans.
pub fn hint(draw: &mut Draw<'_>, key: &str) -> Hint {
    let often = if key == "report_as" || key == "ends_stage" {
        0.1
    } else {
        0.2
    };
    if key == "warmup" || !draw.chance(often) {
        return Hint::Omit;
    }
    match key {
        "report_as" => "together".into(),
        "stage" => draw.within(0..=2).into(),
        "start" if draw.chance(0.5) => draw.time(1_000, 3_000_000).into(),
        "start" => json!({ "min": draw.time(0, 1_000), "max": draw.time(1_000, 3_000_000) }).into(),
        // Long enough for a request of every load.
        "duration" => draw.time(6_000_000, 20_000_000).into(),
        "ends_stage" => true.into(),
        "rate" => {
            let requests = draw.scaled(5..=5_000);
            match draw.within(0..=2) {
                0 => json!({ "requests": requests }).into(),
                1 => json!({ "poisson-requests": requests }).into(),
                _ => json!({ "bytes": requests * 4_000 }).into(),
            }
        }
        // The most that is right whatever the number of users is.
        "refill" => json!({ "completions": 1, "low": 0 }).into(),
        _ => {
            let mut pause = json!({ "time": draw.time(10, 50_000) });
            let by_requests = draw.chance(0.7);
            if by_requests {
                pause["requests"] = draw.within(1..=20).into();
            }
            if !by_requests || draw.chance(0.3) {
                pause["period"] = draw.time(100, 100_000);
            }
            pause.into()
        }
    }
}

/// Gives a load with arrival times a warm-up that leaves most of it; of users all requests may arrive at once.
pub fn warm_up(draw: &mut Draw<'_>, load: &mut Value) {
    let is_closed = load["arrivals"] == "closed" || load["arrivals"].get("closed").is_some();
    if !is_closed && draw.chance(0.1) {
        load["warmup"] = "100 us".into();
    }
}

/// Whether a load has plans.
pub fn is_planned(workload: &Value) -> bool {
    let keys = [
        "stage",
        "start",
        "duration",
        "warmup",
        "ends_stage",
        "rate",
        "pause",
        "refill",
    ];
    let text = workload.to_string();
    let is_mixed = text.contains("\"closed\"") && text.contains("\"stream\"");
    is_mixed
        || text.contains(".fio\"")
        || keys.iter().any(|key| text.contains(&format!("\"{key}\":")))
}

/// Leaves nothing to be measured that contradicts the load: it has a warm-up of its own, or no number of requests.
pub fn fit(draw: &mut Draw<'_>, workload: &Value, measure: &mut Value) {
    let text = workload.to_string();
    let Some(measure) = measure.as_object_mut() else {
        return;
    };
    if text.contains("\"warmup\":") || text.contains("ramp.fio") {
        measure.remove("warmup");
        measure.remove("requests");
    }
    if text.contains("\"duration\":") || text.contains("timed.fio") {
        if let Some(warmup) = measure.get_mut("warmup") {
            *warmup = draw.within(0..=5).into();
        }
        measure.remove("requests");
    }
}
