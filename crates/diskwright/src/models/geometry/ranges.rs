//! Access ranges: parts of the address space that are each on surfaces of their own.
//!
//! A drive with several actuators on one address space tells the host which LBNs each of them serves: "concurrent
//! positioning ranges" in ATA (ACS-5, log 47h) and SCSI (SBC-5, page B9h), "independent access ranges" in Linux.

use super::describe::LayoutDescription;
use super::stretches::Stretch;
use super::zone::Zone;
use crate::base::error::InputError;

/// How the surfaces of a drive are divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranges {
    /// How many access ranges there are.
    pub(super) count: u32,
    /// Surfaces of each.
    pub(super) surfaces: u32,
}

impl Ranges {
    /// Divides the surfaces of a drive that has at least one.
    ///
    /// # Errors
    /// No range, or surfaces that do not divide equally.
    pub(super) fn new(layout: &LayoutDescription) -> Result<Ranges, InputError> {
        let (count, surfaces) = (layout.access_ranges, layout.surfaces);
        if count == 0 || !surfaces.is_multiple_of(count) {
            let divisors: Vec<String> = (1..=surfaces)
                .filter(|&divisor| surfaces.is_multiple_of(divisor))
                .map(|divisor| divisor.to_string())
                .collect();
            return Err(InputError::new(format!(
                "access_ranges = {count}, but surfaces = {surfaces}"
            ))
            .help(format!(
                "each range has as many surfaces as the others; accepted: {}",
                divisors.join(", ")
            )));
        }
        Ok(Ranges {
            count,
            surfaces: surfaces / count,
        })
    }

    /// Leaves `addressed` of the `held` sectors in the address space, the first ones of each range, and as many of one as of the
    /// others.
    ///
    /// # Errors
    /// A number that the ranges do not hold, or that does not divide equally.
    pub(super) fn cut(
        self,
        addressed: u64,
        held: u64,
        stretches: &mut Vec<Stretch>,
        zones: &mut [Zone],
    ) -> Result<(), InputError> {
        let count = u64::from(self.count);
        let each = zones.len() / self.count as usize;
        let starts: Vec<u64> = zones.iter().step_by(each).map(Zone::first_sector).collect();
        let ends = starts[1..].iter().copied().chain([held]);
        let sizes = starts.iter().zip(ends).map(|(start, end)| end - start);
        let most = sizes.min().expect("there is a range") * count;
        if !(1..=most).contains(&addressed) || !addressed.is_multiple_of(count) {
            let error =
                InputError::new(format!("sectors = {addressed}, but the zones hold {held}"));
            return Err(match count {
                1 => error.help(format!("accepted: 1 to {held}; without it, all of them")),
                _ => error.help(format!(
                    "accepted: multiples of {count} from {count} to {most}, for {count} access ranges of one size; without \
                     it, all of them"
                )),
            });
        }
        let size = addressed / count;
        let range_of = |zone: usize| zone / each;
        stretches.retain_mut(|stretch| {
            let range = range_of(stretch.zone as usize);
            let first = stretch.first - starts[range];
            stretch.first = range as u64 * size + first;
            first < size
        });
        for (number, zone) in zones.iter_mut().enumerate() {
            let range = range_of(number);
            let first = (zone.first - starts[range]).min(size);
            zone.first = range as u64 * size + first;
            zone.sectors = zone.sectors.min(size - first);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::models::geometry::describe::*;
    use crate::models::geometry::layout::Layout;
    use crate::models::geometry::walk::{agree, spare, two_zones};

    #[test]
    fn access_ranges_run_through_all_cylinders_one_after_the_other() {
        let mut layout = two_zones();
        layout.surfaces = 6;
        for order in [
            HeadOrder::Ascending,
            HeadOrder::Alternating,
            HeadOrder::AlternatingInZone,
        ] {
            layout.order = order;
            layout.access_ranges = 1;
            let whole = Layout::build(&layout).expect("sound");
            layout.surfaces = 3;
            let alone = Layout::build(&layout).expect("sound");
            layout.surfaces = 6;
            layout.access_ranges = 2;
            agree(&layout);
            let halves = Layout::build(&layout).expect("sound");
            assert_eq!(halves.sectors(), whole.sectors());
            assert_eq!((halves.zones().len(), halves.zones_by_lbn().len()), (2, 4));
            // Each is the drive of half the surfaces, over again.
            let size = alone.sectors();
            for sector in 0..halves.sectors() {
                let (range, mut expected) =
                    ((sector / size) as u32, alone.run(sector % size, u32::MAX));
                expected.position.surface += 3 * range;
                expected.position.head += 3 * range;
                expected.position.zone += 2 * range;
                assert_eq!(halves.run(sector, u32::MAX), expected, "{sector}");
            }
        }
    }

    #[test]
    fn a_zones_defects_are_counted_through_its_access_ranges() {
        let mut layout = two_zones();
        layout.access_ranges = 3;
        // Five tracks of 7 sectors in each range: the second has its sector 1 and its last one slipped, the third its first.
        layout.zones[0].slipped = vec![36, 69, 70];
        layout.zones[0].spares = spare(SpareUnit::Track, 1);
        layout.zones[0].remapped = vec![(72, 83)];
        agree(&layout);
        let built = Layout::build(&layout).expect("sound");
        let size = 5 * 6 + 5 * 7;
        assert_eq!(built.sectors(), 3 * size);
        assert_eq!(built.locate(size).sector, 0);
        assert_eq!(
            (built.locate(size + 1).sector, built.locate(size + 1).head),
            (2, 1)
        );
        assert_eq!(built.sector_at(0, 1, 1), None);
        // The last sector of the range's zone is the spare of its track, which the slipped one takes.
        assert_eq!(built.locate(size + 29).sector, 5);
        assert_eq!(
            (built.locate(2 * size).sector, built.locate(2 * size).head),
            (1, 2)
        );
        assert_eq!(built.locate(2 * size + 1).sector, 6);
        layout.zones[0].spares = None;
        let built = Layout::build(&layout).expect("sound");
        let sizes: Vec<u64> = built
            .zones_by_lbn()
            .iter()
            .map(|zone| zone.sectors())
            .collect();
        assert_eq!(sizes, [35, 35, 33, 35, 34, 35]);
        // A replacement in the place of other data is named by its number in the whole zone.
        assert!(built.warnings()[0].contains("zone 0 (cylinders 0 to 4): sector 83"));
    }
}
