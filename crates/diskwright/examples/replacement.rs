//! A replacement policy of one's own, beside LRU, on a trace.

use diskwright::base::error::Error;
use diskwright::models::cache::replacement::{Access, CustomReplacements, Replacement};
use diskwright::models::cache::{Frame, Pins};
use diskwright::runs::miss_ratio::{MissRatioOptions, Point, miss_ratio};
use std::{collections::BTreeMap, path::Path};

/// Of the 64 blocks that were accessed longest ago, the one with the fewest hits leaves.
#[derive(Default)]
struct FewestHits {
    accesses: u64,
    last: BTreeMap<Frame, u64>,
    blocks: BTreeMap<u64, (Frame, u32)>, // by last access, with their hits
}

impl Replacement for FewestHits {
    fn insert(&mut self, frame: Frame, _: &Access) {
        self.accesses += 1;
        self.last.insert(frame, self.accesses);
        self.blocks.insert(self.accesses, (frame, 0));
    }
    fn hit(&mut self, frame: Frame, access: &Access) {
        let block = self.blocks.remove(&self.last[&frame]);
        self.insert(frame, access);
        let hits = block.map_or(0, |(_, hits)| hits) + 1;
        self.blocks.insert(self.accesses, (frame, hits));
    }
    fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        let free = |block: &&(Frame, u32)| !pins.holds(block.0);
        let oldest = self.blocks.values().filter(free).take(64);
        let (frame, _) = *oldest.min_by_key(|(_, hits)| *hits)?;
        self.remove(frame);
        Some(frame)
    }
    fn remove(&mut self, frame: Frame) {
        if let Some(last) = self.last.remove(&frame) {
            self.blocks.remove(&last);
        }
    }
}

/// How often the policies miss.
pub fn compared(trace: &Path) -> Result<Vec<Point>, Error> {
    let mut replacements = CustomReplacements::default();
    replacements.add_for("fewest-hits", |_| Box::new(FewestHits::default()))?;
    let options = MissRatioOptions {
        policies: "lru,fewest-hits".to_owned(),
        capacities: "2000".to_owned(),
        granularity: "object".to_owned(),
        replacements,
        ..MissRatioOptions::default()
    };
    Ok(miss_ratio(trace, &options, &mut ())?.points)
}

fn main() -> Result<(), Error> {
    let trace = std::env::args().nth(1).expect("the name of a trace");
    for point in compared(trace.as_ref())? {
        println!("{} {:.4}", point.policy, point.miss_ratio);
    }
    Ok(())
}
