//! How long how many requests were outstanding, and when they were the most.

use serde_json::{Value, json};

use crate::base::units::Time;
use crate::metrics::histogram::LogHistogram;

/// The time that each number of requests was outstanding, after the warm-up; and the moment with the most of them. Outstanding is what
/// has arrived and is not complete, in the host or in the device.
#[derive(Clone, Debug, Default)]
pub struct Depth {
    outstanding: u64,
    since: Time,
    /// The ns for which numbers were outstanding, by these.
    ns: LogHistogram,
    most: u64,
    most_at: Time,
}

impl Depth {
    /// Notes an arrival; what is measured began at `measured_from`, where that is known.
    pub fn arrived(&mut self, now: Time, measured_from: Option<Time>) {
        self.pass(now, measured_from);
        self.outstanding += 1;
        if measured_from.is_some_and(|from| from <= now) {
            self.notice(now);
        }
    }

    /// Notes a completion.
    pub fn completed(&mut self, now: Time, measured_from: Option<Time>) {
        self.pass(now, measured_from);
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    /// Notes the time since the last change, as far as it is measured.
    fn pass(&mut self, now: Time, measured_from: Option<Time>) {
        let from = measured_from.map_or(now, |from| from.max(self.since));
        self.since = now;
        if from >= now {
            return;
        }
        self.ns.add_many(self.outstanding, (now - from).ns());
        self.notice(from);
    }

    fn notice(&mut self, at: Time) {
        if self.outstanding > self.most {
            (self.most, self.most_at) = (self.outstanding, at);
        }
    }

    /// The first moment at which the most requests were outstanding, and how many; `None` where none was measured.
    pub fn busiest(&self) -> Option<(Time, u64)> {
        (self.most > 0).then_some((self.most_at, self.most))
    }

    /// The least number `from` of each bin of numbers, and for how long, `s`, as many were outstanding: exact numbers up to 7, then
    /// four bins for every doubling.
    pub fn json(&self) -> Value {
        let (from, s): (Vec<u64>, Vec<f64>) = (self.ns.bins())
            .map(|(from, ns)| (from, Time::from_ns(ns).s()))
            .unzip();
        json!({ "from": from, "s": s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    #[test]
    fn each_number_has_its_time() {
        let mut depth = Depth::default();
        let from = Some(ms(10));
        depth.arrived(ms(10), from);
        depth.arrived(ms(13), from);
        depth.completed(ms(20), from);
        depth.completed(ms(21), from);
        depth.arrived(ms(30), from);
        depth.completed(ms(31), from);
        let json = depth.json();
        assert_eq!(json["from"], json!([0, 1, 2]));
        assert_eq!(json["s"], json!([0.009, 0.005, 0.007]));
        assert_eq!(depth.busiest(), Some((ms(13), 2)));
    }

    #[test]
    fn the_warm_up_is_left_out() {
        let mut depth = Depth::default();
        depth.arrived(ms(0), None);
        depth.arrived(ms(1), None);
        assert_eq!(depth.busiest(), None);
        // It ends between two events: two are outstanding from then on.
        depth.completed(ms(8), Some(ms(5)));
        depth.completed(ms(9), Some(ms(5)));
        assert_eq!(depth.json()["s"], json!([0.001, 0.003]));
        assert_eq!(depth.busiest(), Some((ms(5), 2)));
    }

    #[test]
    fn many_at_one_instant_are_all_outstanding() {
        let mut depth = Depth::default();
        for _ in 0..100 {
            depth.arrived(ms(4), Some(ms(4)));
        }
        assert_eq!(depth.busiest(), Some((ms(4), 100)));
        assert_eq!(depth.json()["from"], json!([]));
    }
}
