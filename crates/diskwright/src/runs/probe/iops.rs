//! Random reads by queue depth and scheduler: a closed loop that keeps a fixed number of requests outstanding.

use serde::Serialize;
use serde_json::Value;

use crate::base::error::{Error, InputError, unknown_name};
use crate::base::registry::present_name;
use crate::models::queue::{SchedulerChoice, SchedulerSpec};
use crate::runs::simulation::{self, RunOptions, SpecSource};

use super::ProbeOptions;
use super::load::rate;
use super::meter::Meter;

/// Random reads at one depth of the queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RandomReads {
    /// The drive's scheduler.
    pub scheduler: &'static str,
    /// It is the one that the drive ships with, with its parameters.
    pub ships: bool,
    /// Requests outstanding, all of them in the drive's queue.
    pub depth: u32,
    /// Reads a second: the depth divided by the mean response time (Little's law), as each completion brings the next
    /// request at once.
    pub iops: f64,
    /// The 95 % confidence interval of `iops`; `None` where that of the mean response time cannot be told.
    pub iops_ci95: Option<[f64; 2]>,
    /// Mean response time, ms.
    pub response_mean_ms: f64,
    /// Its 95 % confidence interval, ms.
    pub response_ci95_ms: Option<[f64; 2]>,
    /// 99 % of the response times are no longer, ms.
    pub response_p99_ms: f64,
}

/// The word for the scheduler that a drive ships with.
pub const SHIPPED: &str = "shipped";

/// A scheduler that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Its name.
    pub name: &'static str,
    /// The drive ships with it, and it is as it ships.
    pub ships: bool,
}

/// The spec of one point; the drive is named beside it. A scheduler that is left out is the drive's.
fn spec(options: &ProbeOptions, scheduler: Measured, depth: u32) -> String {
    let ProbeOptions {
        seed, reads, size, ..
    } = options;
    let scheduler = match scheduler.ships {
        true => String::new(),
        false => format!("scheduler = \"{}\"\n", scheduler.name),
    };
    format!(
        "seed = {seed}\n\
         [workload.synthetic]\n\
         requests = {reads}\n\
         arrivals = {{ closed = {{ users = {depth} }} }}\n\
         reads = 1.0\n\
         size = \"{size}\"\n\
         [measure]\n\
         warmup = \"10 %\"\n\
         [device.hdd.queue]\n\
         depth = {depth}\n\
         {scheduler}"
    )
}

fn number(result: &Value, key: &str) -> f64 {
    result[key].as_f64().expect("a number of every result")
}

fn interval(value: &Value) -> Option<[f64; 2]> {
    Some([value.get(0)?.as_f64()?, value.get(1)?.as_f64()?])
}

/// Runs every depth with every scheduler; a seed draws the same addresses for all of them.
///
/// # Errors
/// Those of [`simulation::run`].
pub fn measure(
    drive: &str,
    options: &ProbeOptions,
    schedulers: &[Measured],
    meter: &mut Meter<'_>,
) -> Result<Vec<RandomReads>, Error> {
    let mut points = Vec::with_capacity(schedulers.len() * options.depths.len());
    for &scheduler in schedulers {
        for &depth in &options.depths {
            let source = SpecSource::Text {
                text: spec(options, scheduler, depth),
                base: ".".into(),
            };
            let run = RunOptions {
                drive: Some(drive.to_owned()),
                ..RunOptions::default()
            };
            let result = simulation::run(&source, &run, meter)?.json();
            let response = &result["response_ms"];
            let (mean, ci95) = (number(response, "mean"), interval(&response["ci95"]));
            let (iops, iops_ci95) = rate(depth, mean, ci95);
            points.push(RandomReads {
                scheduler: scheduler.name,
                ships: scheduler.ships,
                depth,
                iops,
                iops_ci95,
                response_mean_ms: mean,
                response_ci95_ms: ci95,
                response_p99_ms: number(response, "p99"),
            });
            meter.advance(options.reads)?;
        }
    }
    Ok(points)
}

/// The schedulers as the registry names them. The one that the drive ships with is left out where its file does not say, unless nothing
/// else is asked for; where it has no parameters, its own name means it, too.
///
/// # Errors
/// An unknown name, with a suggestion; a drive that does not say what it ships with where nothing else is asked for.
pub fn schedulers(
    names: &[String],
    ships: Option<&SchedulerChoice>,
) -> Result<Vec<Measured>, Error> {
    let plain =
        ships.filter(|choice| serde_json::to_value(choice).is_ok_and(|value| value.is_string()));
    let mut measured: Vec<Measured> = Vec::with_capacity(names.len());
    for name in names {
        let found = match (name.as_str(), ships) {
            (SHIPPED, Some(choice)) => Measured {
                name: known(choice.name())?,
                ships: true,
            },
            (SHIPPED, None) => continue,
            (name, _) => {
                let name = known(name)?;
                Measured {
                    name,
                    ships: plain.is_some_and(|choice| choice.name() == name),
                }
            }
        };
        if !measured.contains(&found) {
            measured.push(found);
        }
    }
    if measured.is_empty() && !names.is_empty() {
        let error = InputError::new("the drive's file does not say which scheduler it ships with");
        return Err(error.help("name a scheduler, such as fcfs").into());
    }
    Ok(measured)
}

/// A scheduler's name as the registry has it.
fn known(name: &str) -> Result<&'static str, Error> {
    let present = present_name(name, SchedulerSpec::FORMER_NAMES);
    let rows = SchedulerSpec::rows();
    let row = rows
        .iter()
        .find(|row| row.name == present || row.aliases.contains(&present));
    row.map(|row| row.name)
        .ok_or_else(|| unknown_name("scheduler", name, SchedulerSpec::NAMES).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Size;

    fn options(reads: u64, depths: &[u32]) -> ProbeOptions {
        ProbeOptions {
            reads,
            depths: depths.to_vec(),
            ..ProbeOptions::default()
        }
    }

    fn points(
        drive: &str,
        options: &ProbeOptions,
        schedulers: &[&'static str],
    ) -> Vec<RandomReads> {
        let plain = |&name| Measured { name, ships: false };
        let schedulers: Vec<_> = schedulers.iter().map(plain).collect();
        measure(drive, options, &schedulers, &mut Meter::idle()).expect("measured")
    }

    /// One zone, no skew: mean motion, half a revolution, eight of 312 sectors; and overheads and an interface that waits
    /// for the last of them.
    #[test]
    fn one_request_at_a_time_takes_what_the_closed_form_says() {
        let cylinders = 11_474.0;
        let slope = (12.742 - 1.086) / (cylinders - 2.0);
        // Two random cylinders of N are d apart in 2·(N − d) of N² cases, and the same in N, with another head in four
        // of five of those.
        let motion: f64 = (1..11_474)
            .map(|distance| {
                let distance = f64::from(distance);
                let share = 2.0 * (cylinders - distance) / (cylinders * cylinders);
                share * (1.086 + slope * (distance - 1.0))
            })
            .sum::<f64>()
            + 0.8 * 0.062 / cylinders;
        let revolution = 60_000.0 / 7200.0;
        let bare = motion + revolution / 2.0 + 8.0 * revolution / 312.0;
        let text = crate::devices::drives::text("ibm-18es-linear").expect("a drive");
        let slower = text.replace(
            "[interface]\nblock_time = \"0 ms\"",
            "[overhead]\nread_after_read = \"0.7 ms\"\ncompletion_read = \"0.2 ms\"\n\
             [interface]\noverlapped = false\nblock_time = \"0.05 ms\"",
        );
        assert_ne!(slower, text);
        let file = tempfile::Builder::new().suffix(".toml").tempfile();
        let file = file.expect("a temporary file");
        std::fs::write(file.path(), slower).expect("written");
        let path = file.path().to_str().expect("a plain path");
        for (drive, further) in [("ibm-18es-linear", 0.0), (path, 0.7 + 0.2 + 8.0 * 0.05)] {
            let expected = 1e3 / (bare + further);
            let found = &points(drive, &options(60_000, &[1]), &["fcfs"])[0];
            let [low, high] = found.iops_ci95.expect("many requests");
            assert!(low < expected && expected < high, "{expected}: {found:?}");
            assert!((high - low) < 0.01 * expected, "{found:?}");
            assert!((found.iops * found.response_mean_ms - 1e3).abs() < 1e-9);
        }
    }

    /// A longer queue lets all but FCFS choose better, and a better rule chooses better from the same queue.
    #[test]
    fn depth_and_scheduler_count() {
        let found = points(
            "ibm-18es",
            &options(3000, &[1, 4, 32]),
            &["fcfs", "sstf", "satf"],
        );
        let iops = |scheduler, depth| {
            let point = found
                .iter()
                .find(|point| (point.scheduler, point.depth) == (scheduler, depth));
            point.expect("measured").iops
        };
        for scheduler in ["sstf", "satf"] {
            // The only request is the next one whatever the rule.
            assert_eq!(iops(scheduler, 1), iops("fcfs", 1));
            assert!(iops(scheduler, 4) > 1.05 * iops(scheduler, 1), "{found:?}");
            assert!(iops(scheduler, 32) > 1.2 * iops(scheduler, 4), "{found:?}");
        }
        assert!(iops("satf", 32) > 1.2 * iops("sstf", 32), "{found:?}");
        assert!(
            (iops("fcfs", 32) / iops("fcfs", 1) - 1.0).abs() < 0.03,
            "{found:?}"
        );
    }

    #[test]
    fn larger_requests_take_longer() {
        let small = options(500, &[1]);
        let large = ProbeOptions {
            size: Size::from_blocks(1024),
            ..options(500, &[1])
        };
        let iops = |options| points("exos-x20", options, &["fcfs"])[0].iops;
        assert!(iops(&small) > 1.1 * iops(&large));
    }

    #[test]
    fn names_are_those_of_the_registry() {
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let found = schedulers(&names, None)?;
            Ok::<_, Error>(
                found
                    .iter()
                    .map(|measured| measured.name)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(names(&["sptf", "fcfs"]).expect("known"), ["satf", "fcfs"]);
        assert_eq!(names(&["shipped", "fcfs"]).expect("known"), ["fcfs"]);
        let error = names(&["shipped"]).expect_err("not said").to_string();
        assert!(error.contains("does not say"), "{error}");
        let error = names(&["fcsf"]).expect_err("unknown").to_string();
        assert!(error.contains("did you mean \"fcfs\""), "{error}");
    }

    /// As it ships it has its parameters, with which it does something else than by its bare name.
    #[test]
    fn the_shipped_scheduler_has_its_parameters() {
        let drive = crate::runs::simulation::drive("exos-x20").expect("a drive");
        let ships = drive.description.ships.and_then(|ships| ships.scheduler);
        let names = [SHIPPED.to_owned(), "aged-satf".to_owned()];
        let both = schedulers(&names, ships.as_ref()).expect("known");
        assert_eq!(
            both.iter().map(|one| one.ships).collect::<Vec<_>>(),
            [true, false]
        );
        let found = measure("exos-x20", &options(2000, &[32]), &both, &mut Meter::idle());
        let found = found.expect("measured");
        assert_eq!(found[0].scheduler, found[1].scheduler);
        assert_ne!(found[0].iops, found[1].iops);
    }

    #[test]
    fn a_shipped_scheduler_without_parameters_is_measured_once() {
        let names = [SHIPPED, "satf", "fcfs"].map(str::to_owned);
        let ships = SchedulerChoice::default();
        let found = schedulers(&names, Some(&ships)).expect("known");
        let found: Vec<_> = found.iter().map(|one| (one.name, one.ships)).collect();
        assert_eq!(found, [("fcfs", true), ("satf", false)]);
    }
}
