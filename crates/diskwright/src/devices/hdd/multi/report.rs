//! What a drive with several arms, or a log, reports beside what every hard disk does.

use serde_json::{Map, Value, json};

use super::MultiHdd;
use super::recovery::scan_time;

impl MultiHdd {
    pub(super) fn report_arms(&self, report: &mut Map<String, Value>) {
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("busy_ms", self.counters.busy_ms());
        let arms = self.arms.iter().map(super::ArmUnit::report);
        put("arms", arms.collect());
        put("arm_mode_switches", json!(self.choice.switches()));
        let Some(log) = &self.log else {
            return;
        };
        let (free, slots) = (log.free(), log.slots());
        put(
            "placement",
            json!({
                "slots": slots.count(),
                "free_slots": free.count(),
                "mapped_blocks": log.map().mapped(),
                "tracks": slots.tracks().len(),
                "empty_tracks": free.empty_tracks(),
                "rewrites": self.rewrites,
                "wraps": log.edge().wraps,
                "scan_s": scan_time(&self.hardware.mechanics).s(),
            }),
        );
        if self.cleaner.is_some() {
            let cleaning = &self.cleaning;
            put(
                "cleaner",
                json!({
                    "tracks_read": cleaning.loads,
                    "blocks_moved": cleaning.moved,
                    "tracks_emptied": cleaning.emptied,
                }),
            );
        }
        if let Some(recovered) = &self.recovered {
            put(
                "recovery",
                json!({
                    "power_cut_s": recovered.at.s(),
                    "blocks_found": recovered.blocks,
                    "time_s": recovered.time.s(),
                }),
            );
        }
    }
}
