//! What a picture of a trace is drawn from: collected in constant memory while it is read, only where it is asked for.

use serde_json::{Value, json};

use crate::engine::request::{Command, DeviceId, Op, Request};
use crate::metrics::histogram::LogHistogram;
use crate::metrics::picture::SCHEMA;
use crate::metrics::picture::bins::{Bins, Join, enough_for};
use crate::metrics::picture::map::Map;
use crate::workload::record::Record;

/// The most bins of time.
const BINS: usize = 600;

/// What arrived in one bin.
#[derive(Clone, Debug, Default)]
struct Moment {
    reads: u64,
    writes: u64,
    others: u64,
    read_blocks: u64,
    write_blocks: u64,
}

impl Join for Moment {
    fn join(&mut self, next: Moment) {
        self.reads += next.reads;
        self.writes += next.writes;
        self.others += next.others;
        self.read_blocks += next.read_blocks;
        self.write_blocks += next.write_blocks;
    }
}

/// What the requests of a trace leave for a picture, those of all devices together.
#[derive(Clone, Debug)]
pub struct Picture {
    bins: Bins<Moment>,
    map: Map,
    count: u64,
    last: Option<Record>,
    gaps: LogHistogram,
    forward: LogHistogram,
    backward: LogHistogram,
    read_blocks: LogHistogram,
    write_blocks: LogHistogram,
}

impl Default for Picture {
    fn default() -> Picture {
        Picture {
            bins: Bins::new(BINS),
            map: Map::new(0),
            count: 0,
            last: None,
            gaps: LogHistogram::default(),
            forward: LogHistogram::default(),
            backward: LogHistogram::default(),
            read_blocks: LogHistogram::default(),
            write_blocks: LogHistogram::default(),
        }
    }
}

impl Picture {
    /// Adds a request; `end` is the block after the previous one of the same device.
    pub fn add(&mut self, record: &Record, end: Option<u64>) {
        if let Some(last) = &self.last {
            self.gaps
                .add(record.arrival.saturating_sub(last.arrival).ns());
        } else {
            self.map.begin(record.arrival);
        }
        self.last = Some(*record);
        self.count += 1;
        let blocks = u64::from(record.blocks);
        let moment = self.bins.at(record.arrival);
        match record.op {
            Op::Read => {
                moment.reads += 1;
                moment.read_blocks += blocks;
                self.read_blocks.add(blocks);
            }
            Op::Write => {
                moment.writes += 1;
                moment.write_blocks += blocks;
                self.write_blocks.add(blocks);
            }
            Op::Flush | Op::Trim => {
                moment.others += 1;
                return;
            }
            Op::NvCache(command) => command.is_in_no_workload(),
        }
        if let Some(end) = end {
            let (distances, by) = match record.lbn.0.checked_sub(end) {
                Some(by) => (&mut self.forward, by),
                None => (&mut self.backward, end - record.lbn.0),
            };
            distances.add(by);
        }
        // The map has requests where they end; those of a trace have no times but their arrivals.
        let command = Command {
            op: record.op,
            fua: record.fua,
            lbn: record.lbn,
            blocks: record.blocks,
        };
        self.map
            .add(&Request::new(command, record.arrival, None, DeviceId(0)));
    }

    /// The object that is drawn: `arrivals` by bins of time, the `map` of places and times, and the counts of the ns between arrivals
    /// (`gaps_ns`), of the blocks between the end of a request and the start of the device's next one (`distances`), and of the
    /// `sizes` in blocks.
    pub fn json(&self) -> Value {
        let bins = self.bins.clone().coarsened(enough_for(self.count));
        let list =
            |value: &dyn Fn(&Moment) -> u64| -> Vec<u64> { bins.iter().map(value).collect() };
        let end = self.last.map_or_else(Default::default, |last| last.arrival);
        json!({
            "schema": SCHEMA,
            "arrivals": {
                "start_s": bins.start().s(),
                "bin_s": bins.width().s(),
                "last_bin_s": bins.last_width(end).s(),
                "reads": list(&|moment| moment.reads),
                "writes": list(&|moment| moment.writes),
                "others": list(&|moment| moment.others),
                "read_blocks": list(&|moment| moment.read_blocks),
                "write_blocks": list(&|moment| moment.write_blocks),
            },
            "map": self.map.json(),
            "gaps_ns": self.gaps,
            "distances": { "forward": self.forward, "backward": self.backward },
            "sizes": { "reads": self.read_blocks, "writes": self.write_blocks },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::{Lbn, Time};

    fn record(op: Op, us: u64, lbn: u64, blocks: u32) -> Record {
        Record {
            arrival: Time::from_us(us),
            device: 0,
            op,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
            recorded: None,
        }
    }

    fn sum(list: &Value) -> u64 {
        let list = list.as_array().expect("a list");
        list.iter().filter_map(Value::as_u64).sum()
    }

    #[test]
    fn every_request_is_where_it_belongs() {
        let mut picture = Picture::default();
        picture.add(&record(Op::Read, 5, 100, 8), None);
        picture.add(&record(Op::Read, 7, 108, 8), Some(108));
        picture.add(&record(Op::Write, 7, 50, 4), Some(116));
        picture.add(&record(Op::Flush, 9, 0, 0), Some(54));
        let json = picture.json();
        let arrivals = &json["arrivals"];
        assert_eq!(arrivals["start_s"], 5e-6);
        assert_eq!(arrivals["reads"], json!([1, 0, 1, 0, 0]));
        assert_eq!(arrivals["writes"], json!([0, 0, 1, 0, 0]));
        assert_eq!(arrivals["others"], json!([0, 0, 0, 0, 1]));
        assert_eq!(arrivals["read_blocks"], json!([8, 0, 8, 0, 0]));
        assert_eq!(json["distances"]["forward"]["from"], json!([0]));
        // 66 blocks back lie in the bin from 64 on.
        assert_eq!(json["distances"]["backward"]["from"], json!([64]));
        assert_eq!(json["gaps_ns"]["from"], json!([0, 1792]));
        assert_eq!(json["gaps_ns"]["count"], json!([1, 2]));
        assert_eq!(sum(&json["map"]["count"]), 3);
        assert_eq!(json["sizes"]["writes"]["from"], json!([4]));
    }

    #[test]
    fn longer_traces_have_no_longer_lists() {
        let mut picture = Picture::default();
        for request in 0..50_000 {
            picture.add(&record(Op::Write, request * 997, request % 7_919, 1), None);
        }
        let json = picture.json();
        assert!(json["arrivals"]["writes"].as_array().unwrap().len() <= BINS);
        assert_eq!(sum(&json["arrivals"]["writes"]), 50_000);
        assert_eq!(sum(&json["map"]["count"]), 50_000);
    }

    #[test]
    fn an_empty_trace_has_no_bins() {
        assert_eq!(
            Picture::default().json()["arrivals"]["reads"],
            json!([] as [u64; 0])
        );
    }
}
