//! From `disksim_synthio`, `disksim_synthgen` and `disksim_pf` to a load of processes.

use super::component::{Component, Item, Value};
use super::system::System;
use super::times::time;
use super::warnings::Warnings;
use crate::base::error::InputError;
use crate::base::units::{Share, Size, Time};
use crate::workload::processes::{
    DistributionSpec, ExponentialDistribution, GeneratorSpec, IdleProcessors, NormalDistribution,
    PoissonDistribution, ProcessesSpec, TwoValueDistribution, UniformDistribution,
};

/// The seed that DiskSim has where a file gives none.
const NO_SEED: i64 = 0;

/// The load that a system's generators are, if it has some. `number` tells the number of a device or an organisation by its name.
///
/// # Errors
/// A generator that makes no sense, with its place.
pub(super) fn processes(
    system: &System,
    number: impl Fn(&str) -> Option<u32>,
    warnings: &mut Warnings,
) -> Result<Option<ProcessesSpec>, InputError> {
    let Some(load) = system.in_force("disksim_synthio").pop() else {
        return Ok(None);
    };
    let mut generators = Vec::new();
    for item in load.list("Generators")? {
        let block = item.block("a generator")?;
        if block.module.name != "disksim_synthgen" {
            return Err(item.unlike("a generator", "a block of disksim_synthgen"));
        }
        generators.push(generator(block, &number)?);
    }
    if generators.is_empty() {
        return Ok(None);
    }
    warn_of_system_calls(load, warnings)?;
    let budget = "Number of I/O requests to generate";
    let most = "Maximum time of trace generated";
    let seconds = load.float(most)?;
    let duration = Time::from_ns_f64(seconds * 1e9).ok_or_else(|| {
        let item = load.required(most);
        item.map_or_else(|error| error, |item| item.unlike(most, "a time in seconds"))
    })?;
    let flow = system.in_force("disksim_pf").pop();
    let spec = ProcessesSpec {
        requests: load.integer(budget)?.max(1) as u64,
        duration: Some(duration),
        processors: flow.map_or(Ok(1), |flow| flow.count("Number of processors"))?,
        idle_processors: IdleProcessors::Lost,
        time_scale: flow.map_or(Ok(1.0), |flow| flow.float("Process-Flow Time Scale"))?,
        first_seed: Some(seed(system, warnings)?),
        later_seed: crate::workload::processes::LATER_SEED,
        generator: generators,
    };
    spec.check()
        .map_err(|error| error.at(load.at("Generators").place()))?;
    Ok(Some(spec))
}

/// The seed of the first requests: the file's real one, or else its initial one.
fn seed(system: &System, warnings: &mut Warnings) -> Result<u64, InputError> {
    let mut found = NO_SEED;
    for global in system.in_force("disksim_global") {
        for name in ["Init Seed with time", "Real Seed with time"] {
            if let Some(item) = global.item(name)
                && item.integer(name)? != 0
            {
                warnings.push(
                    &item.at,
                    format_args!("{name:?} is left out: the same run is the same tomorrow; workload.processes.first_seed gives another"),
                );
            }
        }
        for name in ["Init Seed", "Real Seed"] {
            if let Some(item) = global.item(name) {
                found = item.integer(name)?;
            }
        }
    }
    // The lowest 32 bits count, of a negative number too.
    Ok(u64::from(found as u32))
}

/// Waiting for a call and a return around each critical request is left out.
fn warn_of_system_calls(load: &Component, warnings: &mut Warnings) -> Result<(), InputError> {
    let calls = "System call/return with each request";
    if load.integer(calls)? == 0 {
        return Ok(());
    }
    for name in [
        "Think time from call to request",
        "Think time from request to return",
    ] {
        if time(load, name)? > Time::ZERO {
            warnings.push(
                load.at(name),
                format_args!("{name:?} is left out: processes have no system calls"),
            );
        }
    }
    Ok(())
}

fn generator(
    block: &Component,
    number: &impl Fn(&str) -> Option<u32>,
) -> Result<GeneratorSpec, InputError> {
    let share = |name: &str| -> Result<Share, InputError> {
        let value = block.float(name)?;
        let item = block.required(name)?;
        Share::new(value).ok_or_else(|| item.unlike(name, "a number from 0 to 1"))
    };
    let of = |name: &str| distribution(block, name);
    let devices = "devices";
    let mut numbers = Vec::new();
    for item in block.list(devices)? {
        let name = item.text("a device of a generator")?;
        numbers.push(number(&name).ok_or_else(|| {
            item.at
                .error(format!("no device {name:?}"))
                .help("expected the name of a device in the topology, or of an organisation")
        })?);
    }
    if numbers.is_empty() {
        return Err(block.at(devices).error("a generator without devices"));
    }
    let blocks = |name: &str| -> Result<Size, InputError> {
        Ok(Size::from_blocks(block.integer(name)?.max(0) as u64))
    };
    Ok(GeneratorSpec {
        name: None,
        devices: numbers,
        capacity: Some(blocks("Storage capacity per device")?),
        unit: blocks("Blocking factor")?,
        sequential: share("Probability of sequential access")?,
        local: share("Probability of local access")?,
        reads: share("Probability of read access")?,
        critical: share("Probability of time-critical request")?,
        limited: share("Probability of time-limited request")?,
        limit_ms: Some(of("Time-limited think times")?),
        gap_ms: of("General inter-arrival times")?,
        sequential_gap_ms: Some(of("Sequential inter-arrival times")?),
        local_gap_ms: Some(of("Local inter-arrival times")?),
        distance_blocks: Some(of("Local distances")?),
        size_blocks: of("Sizes")?,
    })
}

const DISTRIBUTIONS: &str = "a list: uniform and two numbers (least, most), normal (mean, standard deviation), exponential or poisson (base, mean), or twovalue and three (default, second, probability of the second)";

/// A distribution, which is a list of its name and two or three numbers.
fn distribution(block: &Component, name: &str) -> Result<DistributionSpec, InputError> {
    let item = block.required(name)?;
    let Value::List(items) = &item.value else {
        return Err(item.unlike(name, DISTRIBUTIONS));
    };
    let unknown = || {
        item.at
            .error(format!("{name:?} is no distribution"))
            .help(format!("expected {DISTRIBUTIONS}"))
    };
    let (kind, numbers) = items.split_first().ok_or_else(unknown)?;
    let numbers: Vec<f64> = numbers
        .iter()
        .map(|number| number.float("a number of a distribution"))
        .collect::<Result<_, _>>()?;
    let spec = match (kind.text("a distribution")?.as_str(), &numbers[..]) {
        ("uniform", &[min, max, ..]) => DistributionSpec::Uniform(UniformDistribution { min, max }),
        ("normal", &[mean, deviation, ..]) => {
            DistributionSpec::Normal(NormalDistribution { mean, deviation })
        }
        ("exponential", &[base, mean, ..]) => {
            DistributionSpec::Exponential(ExponentialDistribution { base, mean })
        }
        ("poisson", &[base, mean, ..]) => {
            DistributionSpec::Poisson(PoissonDistribution { base, mean })
        }
        ("twovalue", &[usual, other, share, ..]) => {
            let share = Share::new(share).ok_or_else(unknown)?;
            DistributionSpec::TwoValue(TwoValueDistribution {
                usual,
                other,
                share,
            })
        }
        _ => return Err(unknown()),
    };
    check(item, name, &spec)?;
    Ok(spec)
}

fn check(item: &Item, name: &str, spec: &DistributionSpec) -> Result<(), InputError> {
    spec.check()
        .map_err(|what| item.at.error(format!("{name:?}: {what}")))
}
