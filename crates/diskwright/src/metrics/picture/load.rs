//! Load, queue and latency over the time of a run.

use serde_json::{Value, json};

use super::bins::{Bins, Join, enough_for};
use crate::base::units::Time;
use crate::metrics::histogram::{LogHistogram, Logarithmic};

/// The most bins of a run.
const BINS: usize = 600;
/// The most columns of a map.
const COLUMNS: usize = 200;

/// Response times of one bin, in ns: a quantile of them is off by at most one part in 32.
type Responses = Logarithmic<4>;

/// What happened in one bin.
#[derive(Clone, Debug, Default)]
struct Moment {
    arrivals: u64,
    completions: u64,
    failed: u64,
    /// Integral of the requests outstanding over time, request·ns.
    outstanding_area: u128,
    outstanding_max: u64,
    response_sum: u128,
    responses: Responses,
    /// The ns for which numbers of requests were outstanding, by these; none is what is left.
    outstanding_ns: LogHistogram,
}

impl Join for Moment {
    fn join(&mut self, next: Moment) {
        self.arrivals += next.arrivals;
        self.completions += next.completions;
        self.failed += next.failed;
        self.outstanding_area += next.outstanding_area;
        self.outstanding_max = self.outstanding_max.max(next.outstanding_max);
        self.response_sum += next.response_sum;
        self.responses.join(&next.responses);
        self.outstanding_ns.join(&next.outstanding_ns);
    }
}

/// Arrivals, completions, requests outstanding and response times, each in the bin in which it happens: a response
/// time in that of its completion. Outstanding is what has arrived and is not complete, in the host or in the device.
#[derive(Clone, Debug)]
pub struct Load {
    bins: Bins<Moment>,
    outstanding: u64,
    since: Time,
    completions: u64,
}

impl Default for Load {
    fn default() -> Load {
        Load {
            bins: Bins::new(BINS),
            outstanding: 0,
            since: Time::ZERO,
            completions: 0,
        }
    }
}

impl Load {
    /// Notes an arrival.
    pub fn arrived(&mut self, now: Time) {
        self.pass(now);
        self.outstanding += 1;
        let moment = self.bins.at(now);
        moment.arrivals += 1;
        moment.outstanding_max = moment.outstanding_max.max(self.outstanding);
    }

    /// Notes a completion, with its response time where it ended well.
    pub fn completed(&mut self, now: Time, response: Option<Time>) {
        self.pass(now);
        self.outstanding = self.outstanding.saturating_sub(1);
        self.completions += 1;
        let moment = self.bins.at(now);
        moment.completions += 1;
        match response {
            Some(response) => {
                moment.response_sum += u128::from(response.ns());
                moment.responses.add(response.ns());
            }
            None => moment.failed += 1,
        }
    }

    /// Notes the number of outstanding requests from the last change until now.
    fn pass(&mut self, now: Time) {
        if self.outstanding > 0 {
            let outstanding = self.outstanding;
            self.bins.over(self.since, now, |moment, ns| {
                moment.outstanding_area += u128::from(ns) * u128::from(outstanding);
                moment.outstanding_max = moment.outstanding_max.max(outstanding);
                moment.outstanding_ns.add_many(outstanding, ns);
            });
        }
        self.since = now;
    }

    /// Where the cells lie, and a list for each property of those that hold a request: the bin of `time`, the least response time `from_ns`
    /// of a bin of four for every doubling, and the `count` of requests that were completed then with such a time.
    pub fn responses_json(&self) -> Value {
        let bins = self.columns();
        cells(&bins, |_, moment| {
            let mut wide = LogHistogram::default();
            for (ns, count) in moment.responses.bins() {
                wide.add_many(ns, count);
            }
            wide.bins().map(|(ns, count)| (ns, json!(count))).collect()
        })
        .json(&bins, ["from_ns", "count"])
    }

    /// The same of requests outstanding: the bin of `time`, the least number `from` of a bin of numbers, exact up to 7 and then four for every
    /// doubling, and the `share` of the bin's time for which as many were outstanding.
    pub fn outstanding_json(&self) -> Value {
        let bins = self.columns();
        let last = bins.len().saturating_sub(1);
        let last_width = bins.last_width(self.since);
        cells(&bins, |index, moment| {
            let width = if index == last {
                last_width
            } else {
                bins.width()
            }
            .ns();
            let busy = moment.outstanding_ns.total();
            let idle = (width > busy).then(|| (0, width - busy));
            (idle.into_iter().chain(moment.outstanding_ns.bins()))
                .map(|(from, ns)| (from, json!(ns as f64 / width.max(1) as f64)))
                .collect()
        })
        .json(&bins, ["from", "share"])
    }

    /// The bins, as wide as columns of a map are.
    fn columns(&self) -> Bins<Moment> {
        let most = enough_for(self.completions).min(COLUMNS);
        self.bins.clone().coarsened(most)
    }

    /// Where the bins lie, and a list for each quantity: counts, the mean and the most requests outstanding, and the
    /// response times in ms, null where nothing was completed.
    pub fn json(&self) -> Value {
        let bins = self.bins.clone().coarsened(enough_for(self.completions));
        let last = bins.len().saturating_sub(1);
        let last_width = bins.last_width(self.since);
        let list =
            |value: &dyn Fn(&Moment) -> Value| -> Vec<Value> { bins.iter().map(value).collect() };
        let quantile = |moment: &Moment, quantile: f64| {
            json!(
                moment
                    .responses
                    .quantile(quantile)
                    .map(|ns| ns as f64 / 1e6)
            )
        };
        let outstanding: Vec<f64> = bins
            .iter()
            .enumerate()
            .map(|(index, moment)| {
                let width = if index == last {
                    last_width
                } else {
                    bins.width()
                };
                moment.outstanding_area as f64 / width.ns().max(1) as f64
            })
            .collect();
        json!({
            "start_s": bins.start().s(),
            "bin_s": bins.width().s(),
            "last_bin_s": last_width.s(),
            "arrivals": list(&|moment| json!(moment.arrivals)),
            "completions": list(&|moment| json!(moment.completions)),
            "failed": list(&|moment| json!(moment.failed)),
            "outstanding_mean": outstanding,
            "outstanding_max": list(&|moment| json!(moment.outstanding_max)),
            "response_mean_ms": list(&|moment| match moment.responses.total() {
                0 => Value::Null,
                count => json!(moment.response_sum as f64 / count as f64 / 1e6),
            }),
            "response_p50_ms": list(&|moment| quantile(moment, 0.5)),
            "response_p99_ms": list(&|moment| quantile(moment, 0.99)),
        })
    }
}

/// Cells of a map, in three lists: the column, what the row begins at, and the value.
#[derive(Default)]
struct Cells {
    time: Vec<usize>,
    from: Vec<u64>,
    value: Vec<Value>,
}

/// The cells of all columns.
fn cells(bins: &Bins<Moment>, of_column: impl Fn(usize, &Moment) -> Vec<(u64, Value)>) -> Cells {
    let mut found = Cells::default();
    for (index, moment) in bins.iter().enumerate() {
        for (from, value) in of_column(index, moment) {
            found.time.push(index);
            found.from.push(from);
            found.value.push(value);
        }
    }
    found
}

impl Cells {
    fn json(self, bins: &Bins<Moment>, [from, value]: [&str; 2]) -> Value {
        json!({
            "start_s": bins.start().s(),
            "bin_s": bins.width().s(),
            "bins": bins.len(),
            "time": self.time,
            from: self.from,
            value: self.value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Stream;

    fn numbers(value: &Value) -> Vec<f64> {
        let list = value.as_array().expect("a list");
        list.iter()
            .map(|item| item.as_f64().unwrap_or(0.0))
            .collect()
    }

    #[test]
    fn one_request() {
        let mut load = Load::default();
        load.arrived(Time::from_ms(10));
        load.completed(Time::from_ms(14), Some(Time::from_ms(4)));
        let json = load.json();
        assert_eq!(json["start_s"], 0.01);
        let sum = |key: &str| numbers(&json[key]).iter().sum::<f64>();
        assert_eq!(
            (sum("arrivals"), sum("completions"), sum("failed")),
            (1.0, 1.0, 0.0)
        );
        assert_eq!(sum("response_mean_ms"), 4.0);
        let outstanding = numbers(&json["outstanding_mean"]);
        assert!(
            outstanding.iter().all(|&mean| (mean - 1.0).abs() < 1e-12),
            "{outstanding:?}"
        );
        assert!(
            numbers(&json["outstanding_max"])
                .iter()
                .all(|&most| most == 1.0)
        );
    }

    #[test]
    fn an_empty_run_has_no_bins() {
        let load = Load::default();
        assert_eq!(load.json()["arrivals"], json!([]));
        assert_eq!(load.responses_json()["time"], json!([]));
        assert_eq!(load.outstanding_json()["bins"], json!(0));
    }

    #[test]
    fn a_map_has_each_response_where_it_ended_and_each_number_as_long_as_it_was() {
        let mut load = Load::default();
        load.arrived(Time::ZERO);
        load.completed(Time::from_us(4), Some(Time::from_us(4)));
        load.arrived(Time::from_us(6));
        load.arrived(Time::from_us(7));
        load.completed(Time::from_us(8), None);
        load.completed(Time::from_us(9), Some(Time::from_us(2)));
        let map = load.responses_json();
        assert_eq!(map["time"], json!([4, 9]));
        // 4,000 and 2,000 lie in the bins from 3,584 and from 1,792 on.
        assert_eq!(map["from_ns"], json!([3584, 1792]));
        assert_eq!(map["count"], json!([1, 1]));
        let map = load.outstanding_json();
        // The last bin has had no time yet.
        assert_eq!(map["time"], json!([0, 1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(map["from"], json!([1, 1, 1, 1, 0, 0, 1, 2, 1]));
        assert!(numbers(&map["share"]).iter().all(|&share| share == 1.0));
    }

    #[test]
    fn the_bins_add_up_to_the_run_and_do_not_grow_with_it() {
        let mut stream = Stream::new(1, "load");
        let mut load = Load::default();
        let (mut now, mut area, mut responses) = (Time::ZERO, 0u128, 0u128);
        let mut under_way: Vec<Time> = Vec::new();
        let (mut most, mut failed) = (0, 0);
        const EVENTS: u64 = 60_000;
        for event in 0..EVENTS {
            let gap = stream.below(3_000_000);
            area += u128::from(gap) * under_way.len() as u128;
            now += Time::from_ns(gap);
            if under_way.is_empty()
                || (stream.below(2) == 0 && event < EVENTS - under_way.len() as u64)
            {
                under_way.push(now);
                load.arrived(now);
            } else {
                let response = now - under_way.swap_remove(0);
                let ok = event % 10 != 0;
                failed += u64::from(!ok);
                responses += if ok { u128::from(response.ns()) } else { 0 };
                load.completed(now, ok.then_some(response));
            }
            most = most.max(under_way.len());
        }
        assert!((BINS / 2..=BINS).contains(&load.bins.len()));
        let kept: u128 = load.bins.iter().map(|moment| moment.outstanding_area).sum();
        assert_eq!(kept, area);
        let kept: u128 = load.bins.iter().map(|moment| moment.response_sum).sum();
        assert_eq!(kept, responses);
        let sum = |value: &dyn Fn(&Moment) -> u64| load.bins.iter().map(value).sum::<u64>();
        assert_eq!(
            sum(&|moment| moment.arrivals) + sum(&|moment| moment.completions),
            EVENTS
        );
        assert_eq!(sum(&|moment| moment.failed), failed);
        let max = load.bins.iter().map(|moment| moment.outstanding_max).max();
        assert_eq!(max, Some(most as u64));
        let map = load.responses_json();
        assert_eq!(
            numbers(&map["count"]).iter().sum::<f64>(),
            numbers(&load.json()["completions"]).iter().sum::<f64>() - failed as f64
        );
        let map = load.outstanding_json();
        assert!(map["bins"].as_u64().unwrap() <= COLUMNS as u64);
        let mut whole = vec![0.0; map["bins"].as_u64().unwrap() as usize];
        for (time, share) in numbers(&map["time"]).iter().zip(numbers(&map["share"])) {
            whole[*time as usize] += share;
        }
        assert!(
            whole.iter().all(|share| (share - 1.0).abs() < 1e-9),
            "{whole:?}"
        );
        let json = load.json();
        let width = json["bin_s"].as_f64().unwrap();
        let mut widths = vec![width; numbers(&json["arrivals"]).len()];
        *widths.last_mut().unwrap() = json["last_bin_s"].as_f64().unwrap();
        let means = numbers(&json["outstanding_mean"]);
        let shown: f64 = means
            .iter()
            .zip(&widths)
            .map(|(mean, width)| mean * width)
            .sum();
        assert!((shown / (area as f64 / 1e9) - 1.0).abs() < 1e-9);
    }
}
