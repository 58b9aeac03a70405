//! Response times by operation and size.

use serde_json::{Value, json};

use crate::engine::request::{Op, Request};
use crate::metrics::histogram::Logarithmic;

/// Response times of requests of one operation and size, ns: a quantile of them is off by at most one part in 32.
#[derive(Clone, Debug, Default)]
struct Times {
    histogram: Logarithmic<4>,
    sum: u128,
    max: u64,
}

/// Response times of reads and of writes by their size: one distribution for each doubling of the number of blocks.
#[derive(Clone, Debug, Default)]
pub struct BySize {
    reads: Vec<Times>,
    writes: Vec<Times>,
}

impl BySize {
    /// Adds a request that is complete; flushes and trims have no size.
    pub fn add(&mut self, request: &Request) {
        let sizes = match request.command.op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            Op::Flush | Op::Trim | Op::NvCache(_) => return,
        };
        let doubling = request.command.blocks.max(1).ilog2() as usize;
        if sizes.len() <= doubling {
            sizes.resize_with(doubling + 1, Times::default);
        }
        let times = &mut sizes[doubling];
        let ns = request.response().ns();
        times.histogram.add(ns);
        times.sum += u128::from(ns);
        times.max = times.max.max(ns);
    }

    /// For `reads` and for `writes` lists of the sizes that there were: the least number of `blocks` of each doubling, the `count` of
    /// requests, and their response times in ms.
    pub fn json(&self) -> Value {
        json!({ "reads": lists(&self.reads), "writes": lists(&self.writes) })
    }
}

fn lists(sizes: &[Times]) -> Value {
    let some: Vec<(u64, u64, &Times)> = sizes
        .iter()
        .enumerate()
        .map(|(doubling, times)| (1 << doubling, times.histogram.total(), times))
        .filter(|(_, count, _)| *count > 0)
        .collect();
    let list = |value: &dyn Fn(&(u64, u64, &Times)) -> Value| -> Value {
        some.iter().map(value).collect()
    };
    let quantile = |share: f64| {
        list(&|(.., times)| {
            let found = times.histogram.quantile(share);
            // The middle of a bin may be beyond what is in it.
            json!(found.map(|ns| ns.min(times.max) as f64 / 1e6))
        })
    };
    json!({
        "blocks": list(&|(blocks, ..)| json!(blocks)),
        "count": list(&|(_, count, _)| json!(count)),
        "mean_ms": list(&|(_, count, times)| json!(times.sum as f64 / *count as f64 / 1e6)),
        "p50_ms": quantile(0.5),
        "p90_ms": quantile(0.9),
        "p99_ms": quantile(0.99),
        "max_ms": list(&|(.., times)| json!(times.max as f64 / 1e6)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::{Lbn, Time};
    use crate::engine::request::{Command, DeviceId};

    fn add(by_size: &mut BySize, op: Op, blocks: u32, us: u64) {
        let command = Command {
            op,
            fua: false,
            lbn: Lbn(0),
            blocks,
        };
        let mut request = Request::new(command, Time::ZERO, None, DeviceId(0));
        request.completion = Time::from_us(us);
        by_size.add(&request);
    }

    #[test]
    fn each_doubling_has_times_of_its_own() {
        let mut by_size = BySize::default();
        for (blocks, us) in [
            (1, 10),
            (7, 20),
            (8, 30),
            (15, 50),
            (16, 70),
            (u32::MAX, 90),
        ] {
            add(&mut by_size, Op::Read, blocks, us);
        }
        add(&mut by_size, Op::Write, 8, 5);
        add(&mut by_size, Op::Flush, 0, 1);
        let json = by_size.json();
        let reads = &json["reads"];
        assert_eq!(reads["blocks"], json!([1, 4, 8, 16, 1u64 << 31]));
        assert_eq!(reads["count"], json!([1, 1, 2, 1, 1]));
        assert_eq!(reads["mean_ms"], json!([0.01, 0.02, 0.04, 0.07, 0.09]));
        assert_eq!(reads["max_ms"], json!([0.01, 0.02, 0.05, 0.07, 0.09]));
        assert_eq!(json["writes"]["blocks"], json!([8]));
        let median = reads["p50_ms"][2].as_f64().unwrap();
        assert!((median / 0.03 - 1.0).abs() <= 1.0 / 32.0, "{median}");
        // A quantile is never above the largest.
        assert!(reads["p99_ms"][2].as_f64().unwrap() <= 0.05);
    }

    #[test]
    fn no_request_no_size() {
        let json = BySize::default().json();
        assert_eq!(json["reads"]["blocks"], json!([]));
    }
}
