//! What a redundant array counts, and how it reports it.

use serde_json::{Map, Value, json};

use super::plan::Plan;
use super::resync::ResyncRecord;
use crate::base::units::Time;
use crate::engine::request::{Command, Op};
use crate::metrics::histogram::Logarithmic;

/// How an array is when a request comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// All members are there, and none has been replaced.
    #[default]
    Healthy,
    /// A member is missing.
    Degraded,
    /// A member is missing, and a spare is being filled in its place.
    Rebuilding,
    /// All members are there again.
    Rebuilt,
    /// All members are there, and redundancy is made anew after an outage.
    Resyncing,
    /// That has been done.
    Resynced,
}

impl Condition {
    const ALL: [(Condition, &str); 6] = [
        (Condition::Healthy, "healthy"),
        (Condition::Degraded, "degraded"),
        (Condition::Rebuilding, "rebuilding"),
        (Condition::Rebuilt, "rebuilt"),
        (Condition::Resyncing, "resyncing"),
        (Condition::Resynced, "resynced"),
    ];
}

/// Response times of requests.
#[derive(Clone, Default)]
struct Responses {
    count: u64,
    total: Time,
    most: Time,
    /// In microseconds.
    all: Logarithmic<5>,
}

/// What a place of a member was sent.
#[derive(Clone, Copy, Default)]
struct OfMember {
    pieces: u64,
    blocks: u64,
}

/// A rebuild that has ended, or not.
#[derive(Clone, Debug)]
pub struct RebuildRecord {
    pub member: usize,
    pub spare: usize,
    pub begun: Time,
    pub ended: Option<Time>,
    /// Blocks that the spare was written.
    pub blocks: u64,
    pub is_complete: bool,
}

/// Counts of requests and of what they became.
#[derive(Default)]
pub struct Counters {
    requests: u64,
    reads: u64,
    writes: u64,
    split: u64,
    pub waited: u64,
    pub pre_reads: u64,
    pub parity_writes: u64,
    pub modified: u64,
    pub reconstructed: u64,
    pub full: u64,
    pub trims_kept: u64,
    pub recovered: u64,
    pub repaired: u64,
    pub lost: u64,
    /// Blocks that were computed from redundancy that may not fit, and reads that were served some of them.
    pub holes: u64,
    pub hole_reads: u64,
    /// Writes that waited for marks of the bitmap, and marks that were taken away.
    pub waited_for_bitmap: u64,
    pub cleared_regions: u64,
    pub bitmap_writes: u64,
    /// Requests to the journal for writes, their blocks, and writes of which it has no data because they are too large.
    pub log_writes: u64,
    pub logged_blocks: u64,
    pub not_logged: u64,
    /// Rows whose redundancy was made anew, because it may not have fitted.
    pub set_right: u64,
    /// Passes of the scrub, and blocks of each member that it has read.
    pub passes: u64,
    pub scrubbed: u64,
    members: Vec<OfMember>,
    spares: Vec<OfMember>,
    responses: [Responses; 6],
}

impl Counters {
    pub fn new(members: usize, spares: usize) -> Counters {
        Counters {
            members: vec![OfMember::default(); members],
            spares: vec![OfMember::default(); spares],
            ..Counters::default()
        }
    }

    /// Counts anew.
    pub fn forget(&mut self) {
        *self = Counters::new(self.members.len(), self.spares.len());
    }

    /// A request has come.
    pub fn came(&mut self, command: &Command) {
        self.requests += 1;
        self.reads += u64::from(command.op == Op::Read);
        self.writes += u64::from(command.op == Op::Write);
    }

    /// Blocks of the request are on more than one member.
    pub fn split(&mut self) {
        self.split += 1;
    }

    /// A device is sent something: a member, or a spare behind these.
    pub fn sent(&mut self, device: usize, blocks: u64) {
        let members = self.members.len();
        let member = match device.checked_sub(members) {
            None => &mut self.members[device],
            Some(spare) => &mut self.spares[spare],
        };
        member.pieces += 1;
        member.blocks += blocks;
    }

    /// A request has ended well.
    pub fn responded(&mut self, condition: Condition, response: Time) {
        let responses = &mut self.responses[condition as usize];
        responses.count += 1;
        responses.total += response;
        responses.most = responses.most.max(response);
        responses.all.add(response.ns() / 1000);
    }

    /// Everything, for the results.
    pub fn report(
        &self,
        rebuilds: &[RebuildRecord],
        resyncs: &[ResyncRecord],
    ) -> Map<String, Value> {
        let all = || self.members.iter().chain(&self.spares);
        let pieces: u64 = all().map(|member| member.pieces).sum();
        let blocks: u64 = all().map(|member| member.blocks).sum();
        let of = |members: &[OfMember], name: &str| {
            let members = members.iter().enumerate().map(|(index, member)| {
                let share = match blocks {
                    0 => 0.0,
                    _ => member.blocks as f64 / blocks as f64,
                };
                let counts =
                    json!({ "pieces": member.pieces, "blocks": member.blocks, "share": share });
                (format!("{name}[{index}]"), counts)
            });
            Value::from(members.collect::<Map<_, _>>())
        };
        let mut report = Map::new();
        let mut put = |key: &str, value: Value| report.insert(key.to_owned(), value);
        put("requests", json!(self.requests));
        put("reads", json!(self.reads));
        put("writes", json!(self.writes));
        put("split_requests", json!(self.split));
        put("pieces", json!(pieces));
        let parity = [
            ("pre_reads", self.pre_reads),
            ("parity_writes", self.parity_writes),
            ("modified_segments", self.modified),
            ("reconstructed_segments", self.reconstructed),
            ("full_segments", self.full),
            ("waited_for_rows", self.waited),
            ("trims_not_passed_on", self.trims_kept),
            ("recovered_blocks", self.recovered),
            ("repaired_blocks", self.repaired),
            ("lost_blocks", self.lost),
            ("write_hole_blocks", self.holes),
            ("write_hole_reads", self.hole_reads),
            ("rows_set_right", self.set_right),
            ("bitmap_writes", self.bitmap_writes),
            ("waited_for_bitmap", self.waited_for_bitmap),
            ("regions_cleared", self.cleared_regions),
            ("journal_writes", self.log_writes),
            ("journal_blocks", self.logged_blocks),
            ("not_journaled_writes", self.not_logged),
            ("scrub_passes", self.passes),
            ("scrubbed_blocks", self.scrubbed),
        ];
        for (key, count) in parity {
            if count > 0 {
                put(key, json!(count));
            }
        }
        put("members", of(&self.members, "member"));
        if !self.spares.is_empty() {
            put("spares", of(&self.spares, "spare"));
        }
        let is_healthy = self.responses[1..].iter().all(|some| some.count == 0);
        if !is_healthy || !rebuilds.is_empty() || !resyncs.is_empty() {
            put("response_ms", self.responses());
        }
        if !rebuilds.is_empty() {
            let rebuilds = rebuilds.iter().map(|rebuild| {
                json!({
                    "member": rebuild.member,
                    "spare": rebuild.spare,
                    "begun_s": rebuild.begun.s(),
                    "ended_s": rebuild.ended.map(Time::s),
                    "blocks": rebuild.blocks,
                    "complete": rebuild.is_complete,
                })
            });
            put("rebuilds", rebuilds.collect::<Vec<_>>().into());
        }
        if !resyncs.is_empty() {
            let resyncs = resyncs.iter().map(|resync| {
                json!({
                    "begun_s": resync.begun.s(),
                    "ended_s": resync.ended.map(Time::s),
                    "blocks": resync.blocks,
                    "rows_set_right": resync.rows,
                })
            });
            put("resyncs", resyncs.collect::<Vec<_>>().into());
        }
        report
    }

    /// Response times by the condition of the array.
    fn responses(&self) -> Value {
        let some = Condition::ALL.iter().filter_map(|&(condition, name)| {
            let responses = &self.responses[condition as usize];
            let ms = |time: Time| time.ms();
            let p99 = responses.all.quantile(0.99)? as f64 / 1e3;
            let figures = json!({
                "requests": responses.count,
                "mean": ms(responses.total) / responses.count as f64,
                "p99": p99.min(ms(responses.most)),
                "max": ms(responses.most),
            });
            Some((name.to_owned(), figures))
        });
        some.collect::<Map<_, _>>().into()
    }
}

impl Counters {
    /// What was planned has been done.
    pub fn done(&mut self, plan: &Plan) {
        self.modified += plan.modified;
        self.reconstructed += plan.reconstructed;
        self.full += plan.full;
        self.recovered += plan.recovered;
        self.repaired += plan.repaired;
    }
}
