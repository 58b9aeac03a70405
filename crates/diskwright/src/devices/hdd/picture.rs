//! What a hard disk shows in a picture of a run: how far its arm moved, and how it was used over time.

use serde_json::{Map, Value, json};

use crate::base::units::Time;
use crate::metrics::histogram::LogHistogram;
use crate::metrics::picture::bins::{Bins, Join, enough_for};

/// The most bins of a run.
const BINS: usize = 600;
/// Equal bins of the distance over which an arm can move.
const DISTANCES: u32 = 64;

/// How the disk was used in one bin of time.
#[derive(Clone, Debug, Default)]
struct Usage {
    busy: u64,
    /// Integral of the queue's length over time, request·ns.
    queue_area: u128,
}

impl Join for Usage {
    fn join(&mut self, next: Usage) {
        self.busy += next.busy;
        self.queue_area += next.queue_area;
    }
}

/// Collected while the disk runs.
pub struct HddPicture {
    uses: Bins<Usage>,
    end: Time,
    /// When it was busy last; not in the bins yet, since the run may end before that does.
    busy: (Time, Time),
    /// Accesses in the whole run.
    accesses: u64,
    /// Distances of accesses, cylinders, in bins that grow with the distance.
    seeks: LogHistogram,
    /// The same in equal bins.
    even_seeks: Vec<u64>,
    cylinders_per_bin: u32,
}

impl HddPicture {
    /// An empty picture of a disk of `cylinders` cylinders.
    pub fn new(cylinders: u32) -> HddPicture {
        HddPicture {
            uses: Bins::new(BINS),
            end: Time::ZERO,
            busy: (Time::ZERO, Time::ZERO),
            accesses: 0,
            seeks: LogHistogram::default(),
            even_seeks: vec![0; DISTANCES as usize],
            cylinders_per_bin: cylinders.div_ceil(DISTANCES).max(1),
        }
    }

    /// An access over `cylinders` cylinders.
    pub fn access(&mut self, cylinders: u32) {
        self.accesses += 1;
        self.seeks.add(cylinders.into());
        let bin = (cylinders / self.cylinders_per_bin).min(DISTANCES - 1);
        self.even_seeks[bin as usize] += 1;
    }

    /// Distances begin anew; what is shown over time shows the whole run.
    pub fn measure_from_here(&mut self) {
        self.seeks.clear();
        self.even_seeks.fill(0);
    }

    /// The arm and the platters are at work.
    pub fn busy(&mut self, from: Time, to: Time) {
        let (from, to) = std::mem::replace(&mut self.busy, (from, to));
        self.uses.over(from, to, |bin, ns| bin.busy += ns);
        self.end = self.end.max(to);
    }

    /// `requests` requests held a queue slot.
    pub fn queued(&mut self, from: Time, to: Time, requests: usize) {
        if requests > 0 {
            let requests = requests as u128;
            self.uses.over(from, to, |bin, ns| {
                bin.queue_area += u128::from(ns) * requests;
            });
            self.end = self.end.max(to);
        }
    }

    /// `seek_cylinders`, distances of accesses in bins that grow, by the least distance of each, and in `even_bins`;
    /// `use`, the share of time the disk was busy and its mean queue over the time of the run, which ended at `ended`.
    pub fn json(&self, ended: Time) -> Map<String, Value> {
        let mut uses = self.uses.clone();
        let (from, to) = (self.busy.0, self.busy.1.min(ended));
        if to > from {
            uses.over(from, to, |bin, ns| bin.busy += ns);
        }
        let bins = uses.coarsened(enough_for(self.accesses));
        let last = bins.len().saturating_sub(1);
        let last_width = bins.last_width(self.end.max(to));
        let width = |bin: usize| {
            if bin == last {
                last_width
            } else {
                bins.width()
            }
        };
        let share = |value: &dyn Fn(&Usage) -> f64| -> Vec<f64> {
            let bins = bins.iter().enumerate();
            bins.map(|(index, bin)| value(bin) / width(index).ns().max(1) as f64)
                .collect()
        };
        let mut picture = Map::new();
        let mut put = |key: &str, value: Value| picture.insert(key.to_owned(), value);
        let even = json!({ "bin_cylinders": self.cylinders_per_bin, "count": self.even_seeks });
        put(
            "seek_cylinders",
            json!({ "bins": self.seeks, "even_bins": even }),
        );
        let uses = json!({
            "start_s": bins.start().s(),
            "bin_s": bins.width().s(),
            "last_bin_s": last_width.s(),
            "utilisation": share(&|bin| bin.busy as f64),
            "queue_mean": share(&|bin| bin.queue_area as f64),
        });
        put("use", uses);
        picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_fall_into_both_kinds_of_bins() {
        let mut picture = HddPicture::new(6_400);
        for distance in [0, 0, 1, 99, 100, 6_399] {
            picture.access(distance);
        }
        let json = picture.json(Time::from_s(10));
        let seeks = &json["seek_cylinders"];
        assert_eq!(seeks["bins"]["from"], json!([0, 1, 96, 6_144]));
        assert_eq!(seeks["bins"]["count"], json!([2, 1, 2, 1]));
        let even = seeks["even_bins"]["count"].as_array().unwrap();
        assert_eq!(seeks["even_bins"]["bin_cylinders"], 100);
        assert_eq!(
            (&even[0], &even[1], &even[63]),
            (&json!(4), &json!(1), &json!(1))
        );
    }

    #[test]
    fn a_disk_at_work_half_of_the_time() {
        let mut picture = HddPicture::new(10);
        for ms in (0..2_000).step_by(2) {
            let (from, to) = (Time::from_ms(ms), Time::from_ms(ms + 1));
            picture.access(1);
            picture.busy(from, to);
            picture.queued(from, to, 3);
            picture.queued(to, to + Time::from_ms(1), 1);
        }
        let json = picture.json(Time::from_s(10));
        let list = |key: &str| -> Vec<f64> {
            let list = json["use"][key].as_array().unwrap();
            list.iter().filter_map(Value::as_f64).collect()
        };
        let (utilisation, queue) = (list("utilisation"), list("queue_mean"));
        assert!(
            (24..=62).contains(&utilisation.len()),
            "{}",
            utilisation.len()
        );
        // The edges of bins do not fall on whole ms, least of all the end of the last one.
        let is_near = |values: &[f64], mean: f64| {
            let whole = &values[..values.len() - 1];
            whole.iter().all(|value| (value / mean - 1.0).abs() < 0.05)
        };
        assert!(is_near(&utilisation, 0.5), "{utilisation:?}");
        assert!(is_near(&queue, 2.0), "{queue:?}");
        let width = json["use"]["bin_s"].as_f64().unwrap();
        let last = json["use"]["last_bin_s"].as_f64().unwrap();
        let busy: f64 = utilisation.iter().map(|share| share * width).sum();
        let busy = busy - utilisation.last().unwrap() * (width - last);
        assert!((busy - 1.0).abs() < 1e-9, "{busy}");
    }

    #[test]
    fn a_disk_never_used() {
        assert_eq!(
            HddPicture::new(1).json(Time::ZERO)["use"]["utilisation"],
            json!([])
        );
    }
}
