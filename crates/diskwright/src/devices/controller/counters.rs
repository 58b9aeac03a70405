//! What a controller counts, and how it reports it.

use serde_json::{Map, Value, json};

use super::work::Work;
use super::{Cache, Controller};
use crate::engine::request::{Command, Op, Outcome};

/// Counts over a run.
#[derive(Default)]
pub(super) struct ControllerCounters {
    /// Those that are complete.
    requests: u64,
    reads: u64,
    writes: u64,
    /// Pieces beyond the first of each request.
    pieces: u64,
    /// Reads and writes that were complete without a device below.
    read_hits: u64,
    write_hits: u64,
    failed: u64,
    pub fetches: u64,
    pub fetched_blocks: u64,
    pub write_backs: u64,
    pub written_back_blocks: u64,
    /// Lines with dirty blocks that had to leave the memory cache.
    pub dirty_victims: u64,
    /// Lines that got no place in the memory cache.
    pub bypassed: u64,
    pub populated_blocks: u64,
    /// Runs that were written because the devices were idle.
    pub idle_runs: u64,
    devices: Vec<OfDevice>,
}

/// What a device was asked.
#[derive(Clone, Copy, Default)]
struct OfDevice {
    reads: u64,
    read_blocks: u64,
    writes: u64,
    written_blocks: u64,
    /// Operations that went to it with another one.
    joined: u64,
}

impl ControllerCounters {
    /// Of a controller with so many devices.
    pub fn new(devices: usize) -> ControllerCounters {
        ControllerCounters {
            devices: vec![OfDevice::default(); devices],
            ..ControllerCounters::default()
        }
    }

    /// Counts anew.
    pub fn forget(&mut self) {
        *self = ControllerCounters::new(self.devices.len());
    }

    /// A request goes on with another piece.
    pub fn cut(&mut self) {
        self.pieces += 1;
    }

    /// A request is complete.
    pub fn completed(&mut self, work: &Work) {
        self.requests += 1;
        self.reads += u64::from(work.command.op == Op::Read);
        self.writes += u64::from(work.command.op == Op::Write);
        let is_good = work.outcome == Outcome::Ok;
        self.failed += u64::from(!is_good);
        let is_hit = is_good && !work.has_missed;
        self.read_hits += u64::from(is_hit && work.command.op == Op::Read);
        self.write_hits += u64::from(is_hit && work.command.op == Op::Write);
    }

    /// A device is asked something.
    pub fn asked(&mut self, command: &Command, child: usize) {
        let device = &mut self.devices[child];
        let blocks = u64::from(command.blocks);
        match command.op {
            Op::Read => {
                (device.reads, device.read_blocks) =
                    (device.reads + 1, device.read_blocks + blocks);
            }
            Op::Write => {
                (device.writes, device.written_blocks) =
                    (device.writes + 1, device.written_blocks + blocks);
            }
            _ => {}
        }
    }

    /// Operations go to a device as one.
    pub fn sent(&mut self, child: usize, parts: usize) {
        self.devices[child].joined += parts as u64 - 1;
    }

    /// Everything, for the results.
    pub fn report(&self, of: &Controller) -> Map<String, Value> {
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("reads", json!(self.reads));
        put("writes", json!(self.writes));
        put("failed", json!(self.failed));
        put("further_pieces", json!(self.pieces));
        match &of.cache {
            Cache::None => {}
            Cache::Memory(memory) => {
                put("read_hits", json!(self.read_hits));
                put("write_hits", json!(self.write_hits));
                put("bypassed_lines", json!(self.bypassed));
                put("fetches", json!(self.fetches));
                put("fetched_blocks", json!(self.fetched_blocks));
                put("dirty_victims", json!(self.dirty_victims));
                put("write_backs", json!(self.write_backs));
                put("written_back_blocks", json!(self.written_back_blocks));
                put("idle_write_backs", json!(self.idle_runs));
                put("lines_at_end", json!(memory.cache.held()));
                put("dirty_blocks_at_end", json!(memory.cache.dirty_blocks()));
                put("lost_blocks", json!(of.lost_blocks));
            }
            Cache::Device(device) => {
                put("read_hits", json!(self.read_hits));
                put("write_hits", json!(self.write_hits));
                put("populated_blocks", json!(self.populated_blocks));
                put("write_backs", json!(self.write_backs));
                put("written_back_blocks", json!(self.written_back_blocks));
                put("idle_write_backs", json!(self.idle_runs));
                put("cached_blocks_at_end", json!(device.valid_blocks()));
                put("dirty_blocks_at_end", json!(device.dirty_blocks()));
                put("lost_blocks", json!(device.lost_blocks()));
            }
        }
        let devices = self.devices.iter().enumerate().map(|(index, device)| {
            let name = match index < of.addressed {
                true => format!("device[{index}]"),
                false => "cache_device".to_owned(),
            };
            let counts = json!({
                "reads": device.reads,
                "read_blocks": device.read_blocks,
                "writes": device.writes,
                "written_blocks": device.written_blocks,
                "joined": device.joined,
            });
            (name, counts)
        });
        put("devices", devices.collect::<Map<_, _>>().into());
        report
    }
}
