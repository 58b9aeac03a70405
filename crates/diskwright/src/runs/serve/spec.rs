//! What serving takes of a spec: the device, what goes wrong, the seed, the warm-up.

use crate::base::document::{Node, Override};
use crate::base::error::Error;
use crate::config::spec::WarmUpSpec;
use crate::engine::window::WarmUp;
use crate::runs::simulation::{Checked, RunOptions, SpecSource, read_adapted};

/// Stands where a spec must have a load.
const NO_LOAD: &str =
    "workload={ synthetic = { requests = 1, arrivals = { constant = \"1 s\" } } }";
/// What serving leaves out.
const LEFT_OUT: [&str; 6] = [
    "workload",
    "host",
    "sweep",
    "measure.duration",
    "measure.requests",
    "measure.end",
];

/// Reads a spec, of which the load may be left out.
///
/// # Errors
/// As those of a run.
pub fn read(source: &SpecSource, options: &RunOptions) -> Result<Checked, Error> {
    let given = std::cell::RefCell::new(Vec::new());
    let adapt = |tree: &mut Node| {
        for path in LEFT_OUT {
            if tree.get(path).is_some() {
                given.borrow_mut().push(path);
                tree.remove(path);
            }
        }
        if let Some(warmup) = tree.get("measure.warmup")
            && let crate::base::document::Value::String(text) = &warmup.value
            && text.trim().ends_with('%')
        {
            given.borrow_mut().push("measure.warmup in percent");
            tree.remove("measure.warmup");
        }
        Ok(tree.set(Override::parse("serve", NO_LOAD)?)?)
    };
    let mut checked = read_adapted(source, options, &adapt)?;
    checked.is_served = true;
    let left_out = given.take();
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        let note =
            format!("left out of the spec: {names}; requests come from clients, at their pace");
        checked.notes.push(note);
    }
    Ok(checked)
}

/// The warm-up, which is no percentage.
pub fn warm_up(checked: &Checked) -> WarmUp {
    match checked.spec.measure.warmup {
        Some(WarmUpSpec::Requests(requests)) => WarmUp::Requests(requests),
        Some(WarmUpSpec::Time(time)) => WarmUp::Time(time),
        Some(WarmUpSpec::Percent(_)) | None => WarmUp::None,
    }
}

/// What the device is, in a few words for clients.
pub fn description(checked: &Checked) -> String {
    let device = serde_json::to_value(&checked.spec.device).expect("a spec is plain data");
    let kinds = device.as_object().into_iter().flatten();
    let names = kinds.map(|(kind, spec)| match spec["drive"].as_str() {
        Some(drive) => format!("{kind} {drive}"),
        None => kind.clone(),
    });
    let names: Vec<String> = names.collect();
    format!("diskwright, simulated: {}", names.join(", "))
}
