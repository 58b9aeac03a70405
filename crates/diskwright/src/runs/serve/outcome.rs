//! What is told of a device that was served.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::contents::Change;
use super::lateness::Lateness;
use super::live::{Live, Outside};
use super::pace::Pace;
use super::server::Counts;
use crate::base::memory;
use crate::base::units::Time;
use crate::devices::assembly::DeviceTree;
use crate::engine::Engine;
use crate::metrics::{Measurements, Picture};
use crate::runs::simulation::Checked;
use crate::runs::simulation::outcome::{Outcome, SCHEMA, device_reports, leave_parts_of, named};

/// The most writes that a result names as lost.
const MOST_LOST: usize = 100;

/// What the live host has to tell.
pub struct Told {
    issued: u64,
    short: u64,
    power_cut: Option<(Time, u32)>,
    lateness: Value,
    mean_lateness: Lateness,
    pace: Pace,
}

impl Told {
    /// What a host has to tell at its end.
    pub fn of<O: Outside>(live: &mut Live<'_, O>, pace: Pace) -> Told {
        let lateness = live.take_lateness();
        Told {
            issued: live.issued(),
            short: live.short(),
            power_cut: live.power_cut(),
            lateness: lateness.json(),
            mean_lateness: lateness,
            pace,
        }
    }

    /// Whether the power was cut.
    pub fn is_cut(&self) -> bool {
        self.power_cut.is_some()
    }

    fn notes(&self) -> Vec<String> {
        let cut = self.power_cut.map(|(at, lost)| {
            format!("the power was cut at {at}: {lost} requests under way were lost")
        });
        let short = match self.pace {
            Pace::Fast { depth } if self.short > 0 => Some(format!(
                "{} times fewer than {depth} requests were in flight, and no more came: time moved on to the next completion",
                self.short
            )),
            _ => None,
        };
        cut.into_iter().chain(short).collect()
    }

    fn object(&self, counts: Counts, lost: Option<&[Change]>) -> Value {
        let pace = match self.pace {
            Pace::Real(speed) => json!({ "speed": speed.factor() }),
            Pace::Fast { depth } => json!({ "as_fast_as_possible": { "depth": depth } }),
        };
        let mut object = json!({
            "pace": pace,
            "connections": counts.connections,
            "turned_away": counts.turned_away,
            "stood_still": counts.stood_still,
            "contents_failed": counts.contents_failed,
        });
        if let Some((at, under_way)) = self.power_cut {
            object["power_cut"] = json!({ "at_s": at.s(), "under_way": under_way });
            if let Some(lost) = lost {
                let write = |write: &Change| json!({ "change": write.number, "lbn": write.lbn, "blocks": write.blocks });
                object["power_cut"]["lost_writes"] = json!(lost.len());
                object["power_cut"]["first_lost"] =
                    lost.iter().take(MOST_LOST).map(write).collect();
            }
        }
        if let Pace::Real(_) = self.pace {
            object["lateness_ms"] = self.lateness.clone();
        }
        object
    }
}

/// A serving that ended well.
pub struct Finished<'a> {
    /// The spec.
    pub checked: &'a Checked,
    /// The devices.
    pub engine: &'a Engine,
    /// Their paths, and what is known of them.
    pub tree: &'a DeviceTree,
    /// What was measured.
    pub measurements: Measurements,
    /// What a picture is drawn from.
    pub picture: Option<Box<Picture>>,
    /// What the live host has to tell.
    pub told: Told,
    /// What the server has counted.
    pub counts: Counts,
    /// After a power cut: the answered writes that are gone, where that is known.
    pub lost: Option<Vec<Change>>,
    /// How long it was served.
    pub wall: Duration,
}

impl Finished<'_> {
    /// Its object of results, with the keys of a run's and `served`.
    pub fn outcome(self) -> Outcome {
        let (tree, devices) = (self.tree, self.engine.devices());
        let measurements = &self.measurements;
        let mut result = Map::new();
        result.insert("schema".into(), json!(SCHEMA));
        let mut requests = Map::new();
        requests.insert("issued".into(), json!(self.told.issued));
        requests.append(&mut measurements.counts());
        result.insert("requests".into(), requests.into());
        measurements.statistics(&mut result);
        leave_parts_of(devices, &mut result);
        let window = measurements.measured_window();
        let reports = device_reports((&tree.paths, &tree.facts), devices, window);
        result.insert("devices".into(), reports.into());
        let wall_s = self.wall.as_secs_f64();
        result.insert("wall_s".into(), json!(wall_s));
        let rate = measurements.completed() as f64 / wall_s.max(1e-9);
        result.insert("requests_per_wall_s".into(), json!(rate));
        result.insert("peak_rss_mib".into(), json!(memory::peak_rss_mib()));
        result.insert("digest".into(), json!(measurements.digest()));
        if let Some(checker) = self.engine.checker() {
            result.insert("checked".into(), json!(checker.checked()));
        }
        result.insert(
            "served".into(),
            self.told.object(self.counts, self.lost.as_deref()),
        );
        result.insert("notes".into(), json!(self.notes()));
        result.insert("warnings".into(), json!(self.warnings(&result)));
        let mut spec = serde_json::to_value(&self.checked.spec).expect("a spec is plain data");
        if let Some(spec) = spec.as_object_mut() {
            spec.retain(|key, _| key != "workload" && key != "host");
        }
        result.insert("spec".into(), spec);
        Outcome::of(result, self.drawn())
    }

    fn drawn(&self) -> Option<Value> {
        let mut picture = self.picture.as_ref()?.json();
        self.measurements.add_curves(&mut picture);
        let devices = self.tree.paths.iter().zip(self.engine.devices());
        let devices: Map<String, Value> = devices
            .filter_map(|(path, device)| Some((path.clone(), device.picture()?.into())))
            .collect();
        picture["devices"] = devices.into();
        Some(picture)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.checked.notes.clone();
        notes.extend(self.told.notes());
        notes.extend(self.lost.as_ref().map(|lost| match lost.len() {
            0 => "every write that was answered is still there".to_owned(),
            count => format!("{count} writes that were answered and not yet safe are gone"),
        }));
        for (path, device) in self.tree.paths.iter().zip(self.engine.devices()) {
            notes.extend(named(path, device.notes()));
        }
        notes
    }

    fn warnings(&self, result: &Map<String, Value>) -> Vec<String> {
        let mut warnings = self.checked.warnings.clone();
        for (path, device) in self.tree.paths.iter().zip(self.engine.devices()) {
            warnings.extend(named(path, device.warnings()));
            for (part, texts) in device.part_warnings() {
                warnings.extend(named(&format!("{path}.{part}"), texts));
            }
        }
        if self.measurements.completed() > 0 {
            warnings.extend(self.measurements.warnings());
        }
        if let Pace::Real(speed) = self.told.pace {
            let service = result["service_ms"]["mean"].as_f64().unwrap_or(0.0) * 1e6;
            warnings.extend(self.told.mean_lateness.warning(service / speed.factor()));
        }
        let Counts {
            turned_away,
            stood_still,
            contents_failed,
            ..
        } = self.counts;
        let counted = [
            (
                turned_away,
                "connections were turned away: there were too many",
            ),
            (
                stood_still,
                "connections were closed: their clients stood still",
            ),
            (
                contents_failed,
                "requests failed because the contents could not be read or written",
            ),
        ];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        warnings.extend(counted.map(|(count, what)| format!("{count} {what}")));
        warnings
    }
}
