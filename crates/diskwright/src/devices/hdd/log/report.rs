//! What a drive with a log reports beside what every hard disk does.

use serde_json::{Map, Value, json};

use super::LogPlacement;
use super::recovery::scan_time;
use crate::models::geometry::mechanics::Mechanics;

impl LogPlacement {
    /// Counts anew what is done from here on. Slots and tracks are what they are, and a recovery is told in any case.
    pub fn measure_from_here(&mut self) {
        self.rewrites = 0;
        self.wraps_before = self.log.edge().wraps;
        let cleaning = &mut self.cleaning;
        (cleaning.loads, cleaning.moved, cleaning.emptied) = (0, 0, 0);
    }

    /// Adds what is told of the log, its cleaner and a recovery to a report.
    pub fn report(&self, mechanics: &Mechanics, report: &mut Map<String, Value>) {
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        let (free, slots) = (self.log.free(), self.log.slots());
        put(
            "placement",
            json!({
                "slots": slots.count(),
                "free_slots": free.count(),
                "mapped_blocks": self.log.map().mapped(),
                "tracks": slots.tracks().len(),
                "empty_tracks": free.empty_tracks(),
                "rewrites": self.rewrites,
                "wraps": self.log.edge().wraps - self.wraps_before,
                "scan_s": scan_time(mechanics).s(),
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
