//! What the numbers of a result have to do with each other.

use serde_json::Value;

use super::devices;

fn number(value: &Value, key: &str) -> Result<f64, String> {
    value[key]
        .as_f64()
        .ok_or_else(|| format!("{key} is {}", value[key]))
}

/// Whether the numbers of a result fit each other.
pub fn plausible(result: &Value) -> Result<(), String> {
    let requests = &result["requests"];
    let count = |key: &str| number(requests, key);
    // Processes end a run at once.
    let gives_up = result["spec"]["measure"].get("end").is_some()
        || result["spec"]["workload"].get("processes").is_some();
    if count("completed")? != count("issued")?
        && !(gives_up && count("completed")? < count("issued")?)
    {
        return Err(format!(
            "{} issued, {} completed",
            count("issued")?,
            count("completed")?
        ));
    }
    if count("measured")? > count("completed")? - count("failed")? {
        return Err("more requests are measured than were completed".to_owned());
    }
    // SSDs fail by themselves when their blocks do, or are worn out.
    let device = result["spec"]["device"].to_string();
    let wears_out = ["\"failures\":", "\"endurance\":"].map(|key| device.contains(key));
    let may_fail = result["spec"].get("fault").is_some() || wears_out.contains(&true);
    if !may_fail && count("failed")? > 0.0 {
        return Err("requests failed though nothing was to".to_owned());
    }
    if count("measured")? > 0.0 {
        let parts = result["parts_ms"].as_object().ok_or("no parts")?.values();
        let parts: f64 = parts.filter_map(Value::as_f64).sum();
        let mean = number(&result["response_ms"], "mean")?;
        if parts > mean + 1e-6 {
            return Err(format!(
                "the parts make {parts} ms of a response of {mean} ms"
            ));
        }
        if number(&result["service_ms"], "mean")? > mean + 1e-9 {
            return Err("the service takes longer than the response".to_owned());
        }
    }
    conserved(result)?;
    sound(
        result["devices"]
            .as_object()
            .map(|_| &result["devices"])
            .ok_or("no devices")?,
        "devices",
    )?;
    devices::judge(result, "", &result["spec"]["device"])
}

/// Two numbers of a result that are the same, but for rounding.
fn same(what: &str, one: f64, other: f64) -> Result<(), String> {
    if (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0) {
        return Ok(());
    }
    Err(format!("{what}: {one} and {other}"))
}

/// Operations make up all requests, and means and numbers the totals. A request is in a disk's queue while it is in service (Little's law).
fn conserved(result: &Value) -> Result<(), String> {
    let measured = number(&result["requests"], "measured")?;
    let by_op = result["by_op"].as_object().ok_or("no operations")?;
    let (mut count, mut total) = (0.0, 0.0);
    for op in by_op.values() {
        count += number(op, "count")?;
        total += number(&op["response_ms"], "total")?;
    }
    same("requests by operation and in all", count, measured)?;
    if measured == 0.0 {
        return Ok(());
    }
    let response = &result["response_ms"];
    same(
        "response times by operation and in all, ms",
        total,
        number(response, "total")?,
    )?;
    same(
        "the mean response time of all requests and their total, ms",
        number(response, "mean")? * measured,
        number(response, "total")?,
    )?;
    let Some(queue) = result["devices"]["hdd"]["queue_length_mean"].as_f64() else {
        return Ok(());
    };
    // A cache has writes of its own behind it.
    if result["spec"]["device"]["hdd"].get("cache").is_some() {
        return Ok(());
    }
    let all_are_measured = measured == number(&result["requests"], "issued")?;
    let queued = queue * number(result, "measured_s")? * 1e3;
    let served = number(&result["service_ms"], "total")?;
    if all_are_measured && queued > served * (1.0 + 1e-9) {
        return Err(format!(
            "requests are in the queue for {queued} ms, in service for {served} ms"
        ));
    }
    Ok(())
}

/// Keys of shares, which are at most 1.
const SHARES: [&str; 3] = ["utilisation", "share", "ratio"];

/// Every number is one, none is negative, and shares are shares.
fn sound(value: &Value, path: &str) -> Result<(), String> {
    match value {
        // An interval of confidence may reach below 0.
        Value::Object(entries) => entries
            .iter()
            .filter(|(key, _)| *key != "ci95")
            .try_for_each(|(key, value)| sound(value, &format!("{path}.{key}"))),
        Value::Array(items) => items.iter().try_for_each(|value| sound(value, path)),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let mut keys = path.split('.');
            let is_share = keys.any(|key| SHARES.iter().any(|share| key.ends_with(share)));
            let most = if is_share { 1.0 + 1e-9 } else { f64::INFINITY };
            if (-1e-9..=most).contains(&number) {
                Ok(())
            } else {
                Err(format!("{path} is {number}"))
            }
        }
        _ => Ok(()),
    }
}
