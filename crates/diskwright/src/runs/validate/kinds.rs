//! Kinds of requests: how those of a kind fare on the recorded and on the simulated drive.

use serde_json::{Map, Value, json};

use super::tally::{ReplayedRequest, Tally};
use crate::base::units::BLOCK_BYTES;
use crate::engine::request::{Op, ServedBy};
use crate::models::geometry::layout::Zone;

/// Equal parts of the drive's addresses in the result, and in its picture.
const TENTHS: usize = 10;
const PLACES: usize = 100;
/// Classes of sizes: 1, 2, 3–4, 5–8, … blocks.
const SIZES: usize = 33;

const OPERATIONS: [&str; 4] = ["read", "write", "flush", "trim"];
const SERVICES: [&str; 6] = [
    "read hit",
    "partial hit",
    "read miss",
    "buffered write",
    "media write",
    "other",
];
const PREDECESSORS: [&str; 4] = ["read", "write", "other", "nothing"];

/// The number in [`SERVICES`] of how a request was served.
fn service(served: &ReplayedRequest) -> usize {
    match (served.op, served.by) {
        (Op::Read, ServedBy::Buffer) => 0,
        (Op::Read, ServedBy::Both) => 1,
        (Op::Read, ServedBy::Medium) => 2,
        (Op::Write, ServedBy::Buffer) => 3,
        (Op::Write, _) => 4,
        (Op::Flush | Op::Trim | Op::NvCache(_), _) => 5,
    }
}

/// The number in [`PREDECESSORS`] of what came before a request.
fn predecessor(served: &ReplayedRequest) -> usize {
    match served.after {
        Some(Op::Read) => 0,
        Some(Op::Write) => 1,
        Some(Op::Flush | Op::Trim | Op::NvCache(_)) => 2,
        None => 3,
    }
}

/// One way to sort requests into kinds.
struct Grouping {
    key: &'static str,
    names: Vec<String>,
    tallies: Vec<Tally>,
}

impl Grouping {
    fn new(key: &'static str, names: impl IntoIterator<Item = impl Into<String>>) -> Grouping {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Grouping {
            key,
            tallies: vec![Tally::default(); names.len()],
            names,
        }
    }
}

/// All requests, and all ways to sort them.
pub struct Kinds {
    all: Tally,
    groupings: [Grouping; 7],
    places: Vec<Tally>,
    /// The first block of each zone, and the blocks of the drive.
    zones: Vec<u64>,
    blocks: u64,
}

impl Kinds {
    /// No request yet, of a drive with these zones in LBN order and `blocks` blocks of 512 bytes, `per_sector` to a sector.
    pub fn new(zones: &[Zone], per_sector: u32, blocks: u64) -> Kinds {
        let crossed = SERVICES.iter().flat_map(|service| {
            PREDECESSORS
                .iter()
                .map(move |after| format!("{service} after {after}"))
        });
        let is_divided = zones.iter().any(|zone| zone.first_surface() > 0);
        let zone_names = zones.iter().enumerate().map(|(number, zone)| {
            let (first, last) = (zone.first_cylinder(), zone.last_cylinder());
            let surface = zone.first_surface();
            let surfaces = match is_divided {
                true => format!(", surfaces {surface} to {}", surface + zone.surfaces() - 1),
                false => String::new(),
            };
            format!("zone {number}, cylinders {first} to {last}{surfaces}")
        });
        let tenths = (0..TENTHS)
            .map(|tenth| format!("{} to {} % of the addresses", 10 * tenth, 10 * (tenth + 1)));
        Kinds {
            all: Tally::default(),
            groupings: [
                Grouping::new("operation", OPERATIONS),
                Grouping::new("service", SERVICES),
                Grouping::new(
                    "predecessor",
                    PREDECESSORS.map(|name| format!("after {name}")),
                ),
                Grouping::new("service_and_predecessor", crossed),
                Grouping::new("size", (0..SIZES).map(size_name)),
                Grouping::new("zone", zone_names),
                Grouping::new("place", tenths),
            ],
            places: vec![Tally::default(); PLACES],
            zones: zones
                .iter()
                .map(|zone| zone.first_sector() * u64::from(per_sector))
                .collect(),
            blocks,
        }
    }

    /// Counts a request.
    pub fn add(&mut self, served: &ReplayedRequest) {
        self.all.add(served);
        let (service, predecessor) = (service(served), predecessor(served));
        let zone = self.zones.partition_point(|&first| first <= served.lbn);
        let part = |parts: usize| {
            let share = u128::from(served.lbn) * parts as u128 / u128::from(self.blocks.max(1));
            (share as usize).min(parts - 1)
        };
        let kinds = [
            served.op.number(),
            service,
            predecessor,
            service * PREDECESSORS.len() + predecessor,
            size_class(served.blocks),
            zone.saturating_sub(1),
            part(TENTHS),
        ];
        self.places[part(PLACES)].add(served);
        for (grouping, kind) in self.groupings.iter_mut().zip(kinds) {
            grouping.tallies[kind].add(served);
        }
    }

    /// All requests together.
    pub fn all(&self) -> &Tally {
        &self.all
    }

    /// By grouping, the kinds that have requests.
    pub fn json(&self) -> Value {
        let grouping = |grouping: &Grouping| {
            let kinds = grouping.names.iter().zip(&grouping.tallies);
            let found = kinds.filter(|(_, tally)| tally.requests() > 0);
            let rows = found.map(|(name, tally)| tally.json(name, &self.all));
            (grouping.key.to_owned(), rows.collect())
        };
        let groupings: Map<String, Value> = self.groupings.iter().map(grouping).collect();
        groupings.into()
    }

    /// By hundredth of the addresses: the requests and their errors.
    pub fn places(&self) -> Value {
        let list = |value: &dyn Fn(&Tally) -> Value| -> Vec<Value> {
            self.places.iter().map(value).collect()
        };
        let first = |place: usize| self.blocks as f64 * place as f64 / PLACES as f64;
        json!({
            "from_gb": (0..=PLACES).map(|place| first(place) * BLOCK_BYTES as f64 / 1e9).collect::<Vec<_>>(),
            "requests": list(&|tally| tally.requests().into()),
            "error_mean_ms": list(&|tally| tally.error_mean_ms().into()),
            "error_rms_ms": list(&|tally| tally.error_rms_ms().into()),
        })
    }
}

/// The class of a size: the power of two at or above it.
fn size_class(blocks: u32) -> usize {
    match blocks {
        0 | 1 => 0,
        more => (more - 1).ilog2() as usize + 1,
    }
}

fn size_name(class: usize) -> String {
    match class {
        0 => "1 block".to_owned(),
        1 => "2 blocks".to_owned(),
        class => format!(
            "{} to {} blocks",
            (1_u64 << (class - 1)) + 1,
            1_u64 << class
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Time;
    use crate::runs::simulation::hardware;

    fn read(lbn: u64, recorded_us: u64, simulated_us: u64) -> ReplayedRequest {
        ReplayedRequest {
            op: Op::Read,
            by: ServedBy::Medium,
            after: Some(Op::Write),
            lbn,
            blocks: 8,
            recorded: Time::from_us(recorded_us),
            simulated: Time::from_us(simulated_us),
        }
    }

    fn kinds() -> (Kinds, u64) {
        let hardware = hardware("cheetah-9lp").expect("a drive of the library");
        let blocks = hardware.blocks();
        let zones = hardware.mechanics.layout.zones();
        (Kinds::new(zones, 1, blocks), blocks)
    }

    #[test]
    fn sizes_fall_into_classes_at_powers_of_two() {
        for (blocks, name) in [
            (1, "1 block"),
            (2, "2 blocks"),
            (3, "3 to 4 blocks"),
            (4, "3 to 4 blocks"),
            (5, "5 to 8 blocks"),
            (8, "5 to 8 blocks"),
            (9, "9 to 16 blocks"),
            (u32::MAX, "2147483649 to 4294967296 blocks"),
        ] {
            assert_eq!(size_name(size_class(blocks)), name);
        }
        assert!(size_class(u32::MAX) < SIZES);
    }

    #[test]
    fn means_and_errors_are_worked_out_by_hand() {
        let (mut kinds, blocks) = kinds();
        kinds.add(&read(0, 1_000, 4_000));
        kinds.add(&read(0, 5_000, 1_000));
        let mut write = read(blocks - 8, 2_000, 2_000);
        (write.op, write.by, write.after) = (Op::Write, ServedBy::Buffer, None);
        kinds.add(&write);
        assert!((kinds.all().error_mean_ms() + 1.0 / 3.0).abs() < 1e-12);
        assert!((kinds.all().error_rms_ms() - libm::sqrt(25.0 / 3.0)).abs() < 1e-12);
        let json = kinds.json();
        let reads = json!({
            "name": "read", "requests": 2, "recorded_mean_ms": 3.0, "simulated_mean_ms": 2.5,
            "error_rms_ms": libm::sqrt(12.5e12) / 1e6, "share_of_squared_error": 1.0,
        });
        assert_eq!(json["operation"][0], reads);
        let name = |key: &str, kind: usize| json[key][kind]["name"].as_str();
        assert_eq!(name("service", 0), Some("read miss"));
        assert_eq!(name("service", 1), Some("buffered write"));
        assert_eq!(name("predecessor", 0), Some("after write"));
        assert_eq!(name("predecessor", 1), Some("after nothing"));
        assert_eq!(
            name("service_and_predecessor", 0),
            Some("read miss after write")
        );
        assert_eq!(name("size", 0), Some("5 to 8 blocks"));
        assert_eq!(name("zone", 0), Some("zone 0, cylinders 0 to 846"));
        assert_eq!(name("place", 1), Some("90 to 100 % of the addresses"));
        let places = kinds.places();
        assert_eq!(
            (&places["requests"][0], &places["requests"][99]),
            (&json!(2), &json!(1))
        );
    }

    /// Whatever the grouping, every request is in one kind, and the shares add up to 1.
    #[test]
    fn every_grouping_has_every_request_once() {
        let (mut kinds, blocks) = kinds();
        let mut zones = Vec::new();
        for step in 0..1_000 {
            let mut served = read(blocks * step / 1_000, 1_000 + step, 2_000);
            served.blocks = 1 << (step % 20);
            served.op = [Op::Read, Op::Write, Op::Flush, Op::Trim][step as usize % 4];
            served.by = [ServedBy::Medium, ServedBy::Both, ServedBy::Buffer][step as usize % 3];
            served.after =
                [None, Some(Op::Read), Some(Op::Write), Some(Op::Trim)][step as usize / 4 % 4];
            zones.push(served.lbn);
            kinds.add(&served);
        }
        let json = kinds.json();
        for (key, rows) in json.as_object().expect("groupings") {
            let rows = rows.as_array().expect("kinds");
            let requests: u64 = rows.iter().filter_map(|row| row["requests"].as_u64()).sum();
            assert_eq!(requests, 1_000, "{key}");
            let shares: f64 = rows
                .iter()
                .filter_map(|row| row["share_of_squared_error"].as_f64())
                .sum();
            assert!((shares - 1.0).abs() < 1e-9, "{key}: {shares}");
        }
        // As many in each zone as the layout itself finds there.
        let hardware = hardware("cheetah-9lp").expect("a drive of the library");
        let layout = &hardware.mechanics.layout;
        for (zone, row) in layout
            .zones()
            .iter()
            .zip(json["zone"].as_array().expect("zones"))
        {
            let inside = |&&lbn: &&u64| {
                (zone.first_cylinder()..=zone.last_cylinder()).contains(&layout.cylinder(lbn))
            };
            assert_eq!(row["requests"], json!(zones.iter().filter(inside).count()));
        }
    }
}
