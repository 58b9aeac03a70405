//! What a picture of a run is drawn from: collected in constant memory while it goes on, only where it is asked for.
//!
//! Distributions leave the warm-up and failed requests out, as the statistics do. What is drawn over time shows the whole run, and
//! when the warm-up ended.

pub mod bins;
pub mod by_size;
pub mod depth;
pub mod distribution;
pub mod load;
pub mod map;
pub mod slowest;

use serde_json::{Value, json};

use self::by_size::BySize;
use self::depth::Depth;
use self::distribution::Times;
use self::load::Load;
use self::map::Map;
use self::slowest::Slowest;
use super::histogram::LogHistogram;
use crate::base::units::Time;
use crate::engine::request::{Op, Outcome, Request};
use crate::engine::window::ArmTraceWindow;
use crate::engine::window::WarmUp;

/// The version of the picture's form.
pub const SCHEMA: u32 = 1;

/// What the host's requests leave for a picture.
#[derive(Clone, Debug)]
pub struct Picture {
    warm_up: WarmUp,
    arrivals: u64,
    measured_from: Option<Time>,
    reads: Times,
    writes: Times,
    load: Load,
    depth: Depth,
    map: Map,
    by_size: BySize,
    slowest: Slowest,
    read_blocks: LogHistogram,
    write_blocks: LogHistogram,
    window: Option<ArmTraceWindow>,
}

impl Picture {
    /// An empty picture of a run on a device of `blocks` blocks.
    pub fn new(warm_up: WarmUp, blocks: u64) -> Picture {
        Picture {
            warm_up,
            arrivals: 0,
            measured_from: None,
            reads: Times::default(),
            writes: Times::default(),
            load: Load::default(),
            depth: Depth::default(),
            map: Map::new(blocks),
            by_size: BySize::default(),
            slowest: Slowest::default(),
            read_blocks: LogHistogram::default(),
            write_blocks: LogHistogram::default(),
            window: None,
        }
    }

    /// Tells the window of the disks' arm traces which request is the first measured one.
    pub fn with_window(self, window: Option<ArmTraceWindow>) -> Picture {
        Picture { window, ..self }
    }

    /// The first measured request arrives now, where no warm-up of the whole load tells when.
    pub fn measures_from(&mut self, now: Time) {
        self.measured_from = Some(now);
    }

    /// Notes an arrival.
    pub fn arrived(&mut self, now: Time) {
        if self.arrivals == 0 {
            self.map.begin(now);
            if let WarmUp::Time(time) = self.warm_up {
                self.measured_from = now.checked_add(time);
            }
        }
        let first = match self.warm_up {
            WarmUp::None => 0,
            WarmUp::Requests(requests) => requests,
            WarmUp::Time(_) | WarmUp::ByStream => u64::MAX,
        };
        if self.arrivals == first {
            self.measured_from = Some(now);
        }
        if let Some(window) = &self.window {
            window.arrived(self.arrivals, now, self.measured_from);
        }
        self.arrivals += 1;
        self.load.arrived(now);
        self.depth.arrived(now, self.measured_from);
    }

    /// Notes a completion; `measured` where it belongs into the statistics.
    pub fn completed(&mut self, request: &Request, measured: bool) {
        let ok = request.outcome == Some(Outcome::Ok);
        let response = request.response();
        self.load
            .completed(request.completion, ok.then_some(response));
        self.depth.completed(request.completion, self.measured_from);
        if ok {
            self.map.add(request);
        }
        if measured {
            self.by_size.add(request);
            self.slowest.add(request);
        }
        let (times, blocks) = match request.command.op {
            Op::Read => (&mut self.reads, &mut self.read_blocks),
            Op::Write => (&mut self.writes, &mut self.write_blocks),
            Op::Flush | Op::Trim | Op::NvCache(_) => return,
        };
        blocks.add(u64::from(request.command.blocks));
        if measured {
            times.add(response);
        }
    }

    /// The first moment at which the most requests were outstanding, after the warm-up; `None` where nothing was measured.
    pub fn busiest(&self) -> Option<Time> {
        self.depth.busiest().map(|(at, _)| at)
    }

    /// When the device began with the slowest request; `None` where nothing was measured.
    pub fn slowest(&self) -> Option<Time> {
        self.slowest.first().map(|request| request.start)
    }

    /// The object that is drawn, without the curves of what the recorder keeps itself.
    pub fn json(&self) -> Value {
        json!({
            "schema": SCHEMA,
            "measured_from_s": self.measured_from.map(Time::s),
            "response": { "reads": self.reads.json(), "writes": self.writes.json() },
            "load": self.load.json(),
            "response_map": self.load.responses_json(),
            "outstanding_map": self.load.outstanding_json(),
            "outstanding": self.depth.json(),
            "busiest": self.depth.busiest().map(|(at, most)| json!({ "at_ns": at.ns(), "outstanding": most })),
            "by_size": self.by_size.json(),
            "slowest": self.slowest.json(),
            "map": self.map.json(),
            "sizes": { "reads": self.read_blocks, "writes": self.write_blocks },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured_from(warm_up: WarmUp, arrivals: u64) -> Value {
        let mut picture = Picture::new(warm_up, 1000);
        (1..=arrivals).for_each(|second| picture.arrived(Time::from_s(second)));
        picture.json()["measured_from_s"].clone()
    }

    #[test]
    fn the_warm_up_ends_at_the_first_arrival_after_it() {
        assert_eq!(measured_from(WarmUp::None, 5), 1.0);
        assert_eq!(measured_from(WarmUp::Requests(3), 5), 4.0);
        assert_eq!(measured_from(WarmUp::Requests(5), 5), Value::Null);
        assert_eq!(measured_from(WarmUp::Time(Time::from_ms(1500)), 5), 2.5);
        assert_eq!(measured_from(WarmUp::None, 0), Value::Null);
    }
}
