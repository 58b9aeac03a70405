//! What the results of a spec will tell, before it runs.

use serde_json::{Map, Value, json};

use super::Checked;
use super::outcome::{device_reports, leave_parts_of};
use crate::base::error::Error;
use crate::base::units::Time;
use crate::metrics::Recorder;
use crate::workload::{Counts, Workload};

impl Checked {
    /// An object with the keys of this spec's results, and numbers that mean nothing: all that a run can tell, but for what devices tell
    /// only where it happens. Without the load's streams, unless they are asked for.
    ///
    /// # Errors
    /// What is found when the devices are built, and where streams are asked for, when the load is opened.
    pub fn outline(&self, streams: bool) -> Result<Map<String, Value>, Error> {
        let tree = self.devices()?;
        let spec = &self.spec;
        let names = match streams {
            false => Vec::new(),
            true => {
                let capacity = tree.devices.last().expect("a spec has a device").blocks();
                let load = Workload::open(&spec.workload, &self.base, spec.seed, capacity);
                load.map_err(|error| self.locate_in_workload(error))?
                    .streams()
            }
        };
        let (measurements, _) = Recorder::default().with_streams(names).finish();
        let mut outline = Map::new();
        let mut requests = Counts::default().json();
        requests.insert("issued".into(), json!(0));
        requests.append(&mut measurements.counts());
        outline.insert("requests".into(), requests.into());
        measurements.outline(&mut outline);
        leave_parts_of(&tree.devices, &mut outline);
        let devices = device_reports(
            (&tree.paths, &tree.facts),
            &tree.devices,
            (Time::ZERO, Time::ZERO),
        );
        outline.insert("devices".into(), devices.into());
        for key in ["wall_s", "requests_per_wall_s", "peak_rss_mib", "checked"] {
            outline.insert(key.into(), json!(0));
        }
        Ok(outline)
    }
}
