//! Where DiskSim puts a block, by its own rules for each sparing scheme, against where the imported layout has it.

use diskwright::models::geometry::layout::Layout;
use proptest::prelude::*;

use super::sample::Sample;

const SURFACES: u64 = 2;
const SECTORS: u64 = 20;
const CYLINDERS: u64 = 10;
const CYLINDER: u64 = SURFACES * SECTORS;

/// A zone of the sample's shape.
#[derive(Clone, Debug)]
struct Zone {
    scheme: u32,
    spares: u64,
    range: u64,
    front: u64,
    /// Sectors, or with scheme 1 tracks; ascending.
    slips: Vec<u64>,
    defects: Vec<(u64, u64)>,
}

impl Zone {
    /// Blocks that the zone holds.
    fn blocks(&self) -> u64 {
        let slips = self.slips.len() as u64;
        CYLINDERS * CYLINDER
            - self.front
            - match self.scheme {
                1 => self.spares * SECTORS,
                2 => self.spares * CYLINDERS,
                3 => self.spares * CYLINDERS * SURFACES,
                4 => self.spares * CYLINDERS + slips,
                7 => slips,
                8 => self.spares * (CYLINDERS / self.range),
                9 => self.spares,
                10 => self.spares + slips,
                other => unreachable!("{other}"),
            }
    }

    /// The place of a block, counted in sectors from the zone's start.
    fn place(&self, block: u64) -> u64 {
        let n = block + self.front;
        let moved = |place: u64| {
            let defect = self.defects.iter().find(|&&(from, _)| from == place);
            defect.map_or(place, |&(_, to)| to)
        };
        match self.scheme {
            1 => {
                let mut track = n / SECTORS;
                for &slip in &self.slips {
                    track += u64::from(slip <= track);
                }
                moved(track) * SECTORS + n % SECTORS
            }
            3 => {
                let (track, mut rest) = (n / (SECTORS - self.spares), n % (SECTORS - self.spares));
                for &slip in &self.slips {
                    let first = track * SECTORS;
                    rest += u64::from(slip >= first && slip - first <= rest);
                }
                moved(track * SECTORS + rest)
            }
            2 | 4 | 7 => {
                let held = CYLINDER - if self.scheme == 7 { 0 } else { self.spares };
                let (cylinder, mut rest) = (n / held, n % held);
                let first = cylinder * CYLINDER;
                let to_end = self.scheme != 2;
                let mut passed = 0;
                for &slip in &self.slips {
                    let before = to_end && slip / CYLINDER < cylinder;
                    let here = slip >= first && slip - first <= rest + passed;
                    passed += u64::from(before || here);
                }
                rest += passed;
                match self.scheme {
                    2 => moved(first + rest),
                    // Pushed data go on in the next cylinder, after its spares' share.
                    _ => moved((cylinder + rest / held) * CYLINDER + rest % held),
                }
            }
            8 => {
                let size = CYLINDER * self.range;
                let (range, rest) = (n / (size - self.spares), n % (size - self.spares));
                let first = range * size;
                let mut passed = 0;
                for &slip in &self.slips {
                    passed += u64::from(slip >= first && slip - first <= rest + passed);
                }
                moved(first + rest + passed)
            }
            _ => {
                let mut passed = 0;
                for &slip in &self.slips {
                    passed += u64::from(slip <= n + passed);
                }
                moved(n + passed)
            }
        }
    }

    fn layout(&self) -> Layout {
        let list = |numbers: &[u64]| {
            let numbers: Vec<_> = numbers.iter().map(u64::to_string).collect();
            format!("[ {} ]", numbers.join(", "))
        };
        let pairs: Vec<_> = self
            .defects
            .iter()
            .flat_map(|&(from, to)| [from, to])
            .collect();
        let put = |name: &str, number: &str| {
            (
                "disk0",
                format!("Model:Layout Model:{name}"),
                number.to_owned(),
            )
        };
        let puts = [
            put("Sparing scheme used", &self.scheme.to_string()),
            put("Rangesize for sparing", &self.range.to_string()),
        ];
        let puts: Vec<_> = puts
            .iter()
            .map(|(component, name, value)| (*component, name.as_str(), value.as_str()))
            .collect();
        let import = Sample::new()
            .replace(
                "Number of spares = 10",
                &format!("Number of spares = {}", self.spares),
            )
            .replace(
                "space at zone front = 10",
                &format!("space at zone front = {}", self.front),
            )
            .replace(
                "slips = [ 30, 25 ]",
                &format!("slips = {}", list(&self.slips)),
            )
            .replace(
                "defects = [ 40, 395 ]",
                &format!("defects = {}", list(&pairs)),
            )
            .sound(&puts);
        Layout::build(&import.drive.layout).expect("sound")
    }

    fn check(&self) {
        let layout = self.layout();
        assert_eq!(layout.zones()[0].sectors(), self.blocks(), "{self:?}");
        for block in 0..self.blocks() {
            let at = layout.locate(block);
            let track = u64::from(at.cylinder) * SURFACES + u64::from(at.surface);
            let found = track * SECTORS + u64::from(at.sector);
            assert_eq!(found, self.place(block), "block {block} of {self:?}");
        }
    }
}

/// At most `most` different numbers below `below`, ascending.
fn some(below: u64, most: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::btree_set(0..below, 0..=most).prop_map(|set| set.into_iter().collect())
}

proptest! {
    #[test]
    fn tracks_are_spared(slips in some(17, 3), front in 0..25_u64) {
        Zone { scheme: 1, spares: 3, range: 1, front, slips, defects: Vec::new() }.check();
    }

    #[test]
    fn zones_are_spared(scheme in 9..=10_u32, slips in some(380, 6), front in 0..50_u64) {
        Zone { scheme, spares: 8, range: 1, front, slips, defects: Vec::new() }.check();
    }

    #[test]
    fn ranges_are_spared(range in 1..=10_u64, slips in some(400, 3), front in 0..50_u64) {
        // A range that is short at the zone's end has no spares for its slips.
        let full = CYLINDERS / range * range * CYLINDER;
        let slips = slips.into_iter().filter(|&slip| slip < full).collect();
        Zone { scheme: 8, spares: 5, range, front, slips, defects: Vec::new() }.check();
    }

    #[test]
    fn cylinders_and_tracks_are_spared(scheme in 2..=3_u32, slips in some(400, 3), front in 0..50_u64) {
        Zone { scheme, spares: 4, range: 1, front, slips, defects: Vec::new() }.check();
    }

    /// A slip that no data are pushed past has nothing to do with another cylinder.
    #[test]
    fn slips_shrink_the_zone(slips in some(350, 4), front in 0..50_u64) {
        let apart = slips.iter().all(|slip| slip % CYLINDER >= 8);
        prop_assume!(apart);
        Zone { scheme: 7, spares: 0, range: 1, front, slips, defects: Vec::new() }.check();
    }

    #[test]
    fn defects_are_elsewhere(scheme in 9..=10_u32, from in 50..300_u64, to in 392..400_u64) {
        Zone { scheme, spares: 8, range: 1, front: 10, slips: vec![20], defects: vec![(from, to)] }.check();
    }
}
