//! What a tier shows in a picture of a run: how often the cache has what is wanted, why lines get no place, and what is at risk, over time.

use serde_json::{Map, Value, json};

use super::Tier;
use super::counters::{Hits, REASONS, Sample};
use crate::base::units::{BLOCK_BYTES, Time};
use crate::metrics::picture::bins::{Bins, Join};

/// The most bins of a run.
const BINS: usize = 600;
/// Requests of a bin, on average: the ratio of its hits is then known to 3 %.
const REQUESTS_PER_BIN: u64 = 256;
/// The fewest bins worth showing.
const FEWEST: u64 = 24;

/// A bin of time.
#[derive(Clone, Debug, Default)]
struct Moment {
    counted: Sample,
    /// Integrals over time, ·ns: blocks that are dirty, and lines that are held.
    dirty_area: u128,
    held_area: u128,
    /// Time that these are integrals over, ns.
    stood: u64,
    /// The most dirty blocks.
    most_dirty: u64,
}

impl Join for Moment {
    fn join(&mut self, next: Moment) {
        self.counted.add(&next.counted);
        self.dirty_area += next.dirty_area;
        self.held_area += next.held_area;
        self.stood += next.stood;
        self.most_dirty = self.most_dirty.max(next.most_dirty);
    }
}

/// Collected while the tier runs.
pub(super) struct TierPicture {
    moments: Bins<Moment>,
    noted: Time,
    /// What was counted when it was last noted, and how many blocks were dirty and lines held.
    counted: Sample,
    dirty: u64,
    held: u64,
}

impl TierPicture {
    fn note(&mut self, now: Time, counted: Sample, dirty: u64, held: u64) {
        self.stand(now);
        let bin = self.moments.at(now);
        bin.counted.add(&counted.since(&self.counted));
        bin.most_dirty = bin.most_dirty.max(dirty);
        (self.counted, self.dirty, self.held) = (counted, dirty, held);
    }

    /// Nothing has changed until now.
    fn stand(&mut self, now: Time) {
        let (dirty, held) = (self.dirty, self.held);
        self.moments.over(self.noted, now, |bin, ns| {
            bin.dirty_area += u128::from(dirty) * u128::from(ns);
            bin.held_area += u128::from(held) * u128::from(ns);
            bin.stood += ns;
            bin.most_dirty = bin.most_dirty.max(dirty);
        });
        self.noted = now;
    }

    fn json(&self, line_blocks: u32, lines: u32) -> Value {
        let all: u64 = self.moments.iter().map(|bin| bin.counted.requests()).sum();
        let wanted = (all / REQUESTS_PER_BIN).max(FEWEST);
        let moments = self.moments.clone().coarsened(wanted as usize);
        let each = |value: &dyn Fn(&Moment) -> Value| moments.iter().map(value).collect::<Value>();
        let hits = |of: fn(&Moment) -> &Hits| {
            json!({
                "requests": each(&|bin| of(bin).requests.into()),
                "hits": each(&|bin| of(bin).whole.into()),
                "partial_hits": each(&|bin| of(bin).partial.into()),
                "blocks": each(&|bin| of(bin).blocks.into()),
                "hit_blocks": each(&|bin| of(bin).held_blocks.into()),
            })
        };
        let reasons = REASONS.iter().enumerate();
        let bypassed = reasons.map(|(index, (_, name))| {
            let counts = each(&|bin| bin.counted.bypassed[index].into());
            ((*name).to_owned(), counts)
        });
        let bytes = |blocks: u64| blocks * BLOCK_BYTES;
        let mean = |area: u128, bin: &Moment| match bin.stood {
            0 => Value::Null,
            ns => (area as f64 / ns as f64).into(),
        };
        let line_bytes = f64::from(line_blocks) * BLOCK_BYTES as f64;
        json!({
            "line_bytes": line_bytes,
            "lines": lines,
            "over_time": {
                "start_s": moments.start().s(),
                "bin_s": moments.width().s(),
                "last_bin_s": moments.last_width(self.noted).s(),
                "read": hits(|bin| &bin.counted.reads),
                "write": hits(|bin| &bin.counted.writes),
                "bypassed": bypassed.collect::<Map<_, _>>(),
                "evictions": each(&|bin| bin.counted.evictions.into()),
                "promoted_bytes": each(&|bin| bytes(bin.counted.promoted_blocks).into()),
                "written_back_bytes": each(&|bin| bytes(bin.counted.written_back_blocks).into()),
                "dirty_bytes": {
                    "mean": each(&|bin| mean(bin.dirty_area * u128::from(BLOCK_BYTES), bin)),
                    "most": each(&|bin| bytes(bin.most_dirty).into()),
                },
                "lines_held": each(&|bin| mean(bin.held_area, bin)),
            },
        })
    }
}

impl Tier {
    /// Collects a picture from now on.
    pub(super) fn begin_picture(&mut self) {
        self.picture = Some(Box::new(TierPicture {
            moments: Bins::new(BINS),
            noted: Time::ZERO,
            counted: self.sample(),
            dirty: self.map.dirty_blocks(),
            held: self.map.held() as u64,
        }));
    }

    fn sample(&self) -> Sample {
        self.counters.sample(self.counts().evictions)
    }

    /// All that happens now has happened, as far as it is known.
    #[inline]
    pub(super) fn note_picture(&mut self, now: Time) {
        if let Some(mut picture) = self.picture.take() {
            let held = self.map.held() as u64;
            picture.note(now, self.sample(), self.map.dirty_blocks(), held);
            self.picture = Some(picture);
        }
    }

    /// The counters have begun anew.
    pub(super) fn recount_picture(&mut self) {
        let counted = self.sample();
        if let Some(picture) = &mut self.picture {
            picture.counted = counted;
        }
    }

    /// What a picture of the run shows: `cache`.
    pub(super) fn picture_json(&self) -> Option<Map<String, Value>> {
        let picture = self.picture.as_ref()?;
        let cache = picture.json(self.map.blocks_per_line(), self.map.frames());
        Some(Map::from_iter([("cache".to_owned(), cache)]))
    }
}
