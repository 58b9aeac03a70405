//! What an access of a drive is expected to take, by distance alone: the controller's time, the mean motion over that distance, half a
//! turn, and the transfer at the drive's mean rate. That is what a host measures that knows no angle.

use std::collections::BTreeSet;

use super::hardware::Hardware;
use crate::base::units::Time;
use crate::engine::access_times::{AccessTimes, Point};
use crate::models::geometry::layout::Layout;
use crate::models::geometry::mechanics::HeadPosition;

/// The number of evenly spaced distances, beside the powers of two.
const EVENLY: u64 = 32;
/// The number of evenly spaced places from which a distance is measured.
const PLACES: u64 = 64;

impl Hardware {
    /// The expected times of its accesses.
    pub(super) fn access_times(&self) -> AccessTimes {
        let layout = &self.mechanics.layout;
        let per_sector = u64::from(self.blocks_per_sector);
        let of = |write: bool| {
            let distances = distances(layout.sectors()).into_iter();
            let points = distances.map(|distance| Point {
                distance: distance * per_sector,
                time: self.access_over(distance, write),
            });
            points.collect()
        };
        let turn_ps = self.mechanics.spindle.turn_ns() * 1e3;
        let block_ps = turn_ps / mean_sectors(layout) / per_sector as f64;
        AccessTimes::new(of(false), of(true), libm::round(block_ps) as u64)
    }

    /// The mean access over a distance in sectors, in both directions.
    fn access_over(&self, distance: u64, write: bool) -> Time {
        let mechanics = &self.mechanics;
        let places = mechanics.layout.sectors() - distance;
        let at = |sector: u64| {
            let position = mechanics.layout.locate(sector);
            HeadPosition {
                cylinder: position.cylinder,
                head: position.head,
            }
        };
        let motions = (0..PLACES).map(|number| {
            let low = (places - 1) * number / (PLACES - 1);
            let (low, high) = (at(low), at(low + distance));
            let up = mechanics.motion_time(low, high, write);
            (up + mechanics.motion_time(high, low, write)).ns()
        });
        let motion = motions.sum::<u64>() / (2 * PLACES);
        let half_turn = libm::round(mechanics.spindle.turn_ns() / 2.0) as u64;
        self.overhead.before(write, write)
            + Time::from_ns(motion + half_turn)
            + self.overhead.completion(write)
    }
}

/// None, the powers of two and evenly spaced distances, up to the longest.
fn distances(sectors: u64) -> BTreeSet<u64> {
    let longest = sectors - 1;
    let powers = (0..u64::BITS).map(|bits| 1 << bits);
    let even = (0..=EVENLY)
        .map(|step| (u128::from(longest) * u128::from(step) / u128::from(EVENLY)) as u64);
    powers
        .take_while(|&distance| distance < longest)
        .chain(even)
        .collect()
}

/// Sectors of a track, averaged over all sectors.
fn mean_sectors(layout: &Layout) -> f64 {
    let of_zones = layout.zones_by_lbn().iter();
    let tracks = of_zones.map(|zone| zone.sectors() as f64 / f64::from(zone.sectors_per_track()));
    layout.sectors() as f64 / tracks.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use crate::devices::hdd::drive::Drive;
    use crate::engine::request::Op;
    use std::path::Path;

    #[test]
    fn a_laptops_drive_takes_what_its_data_sheet_lets_expect() {
        let drive = Drive::read("travelstar-5k160", Path::new(""), |_| None).expect("a drive");
        let hardware = drive.hardware;
        let times = hardware.access_times();
        let ms = |op, distance| times.access(op, distance).ms();
        // Half a turn of 11.11 ms and an overhead of 0.5 ms, and then the seek.
        let rest = 60_000.0 / 5400.0 / 2.0 + 0.5;
        let longest = hardware.blocks() - 1;
        assert!((ms(Op::Read, longest) - rest - 20.0).abs() < 0.01);
        assert!((ms(Op::Write, longest) - rest - 21.0).abs() < 0.11);
        // A third of the way is the mean of random seeks, by distance: the mean seek of 11 ms is near.
        assert!((ms(Op::Read, longest / 3) - rest - 11.0).abs() < 1.0);
        // Within a track nothing moves; few sectors cross to the next one.
        assert!((ms(Op::Read, 0) - rest).abs() < 0.1);
        let far = [1 << 12, 1 << 16, 1 << 20, 1 << 24].map(|distance| ms(Op::Write, distance));
        assert!(far.is_sorted(), "{far:?}");
        // The mean of 46 and 23 MB/s, weighted by what lies at each, and the skews not counted.
        let mb_per_s = 512.0 / times.transfer(1_000_000).ns() as f64 * 1e9;
        assert!((34.0..46.0).contains(&mb_per_s), "{mb_per_s}");
    }
}
