//! Parts of the range one after the other, each with its share of the requests; within a part all places are as likely.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::places::Places;
use crate::base::units::percent::{Percent, Portion};

/// The parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ZonesParams {
    /// Them, from the beginning of the range.
    pub zones: Vec<Zone>,
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Requests begin at multiples of this; of their own size when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
}

/// A part of the range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// The percentage of requests that go to it; all together they make 100 %.
    pub share: Percent,
    /// How much of the range it is; all together they make it up, or leave a rest that nothing goes to.
    pub size: Portion,
}

/// Draws addresses by zones.
pub struct Zones {
    /// For each size, the places in each zone that requests go to.
    sizes: Vec<Vec<Places>>,
    /// For every zone but the last, the sum of the shares up to and with it.
    below: Vec<f64>,
    stream: Stream,
}

impl Zones {
    /// # Errors
    /// No zones, or more of them than the range has room for; shares that do not make 100 %; a range that is not on the
    /// drive; a zone that has no aligned place for one of the sizes.
    pub fn new(params: &ZonesParams, drive: &Drive<'_>) -> Result<Zones, InputError> {
        let (start, end) = drive.range("zones", params.from, params.blocks)?;
        let shares = params.zones.iter().map(|zone| zone.share.value());
        // An empty sum is −0 and would be shown so.
        let sum = 0.0 + shares.sum::<f64>();
        // Shares written with one decimal may miss 100 by as much.
        if (sum - 100.0).abs() > 0.1 + 1e-9 {
            let what = format_args!("zones: the shares add up to {sum} %: expected 100 %");
            return Err(drive.wrong("zones", what));
        }
        let mut sizes = vec![Vec::new(); drive.sizes.len()];
        let (mut at, mut drawn, mut below) = (start, 0.0, Vec::new());
        let mut percent = 0.0;
        for (index, zone) in params.zones.iter().enumerate() {
            // Percentages are added up before they are rounded, so that 100 % end where the range ends.
            let next = match zone.size {
                Portion::Percent(part) if at == start + portion(percent, start, end) => {
                    percent += part.value();
                    start.saturating_add(portion(percent, start, end))
                }
                size => at.saturating_add(size.of(end - start)),
            };
            if next > end {
                let what =
                    format_args!("zones[{index}] ends at block {next}: the range ends at {end}");
                return Err(drive.wrong("zones", what));
            }
            if zone.share.value() > 0.0 {
                drawn += zone.share.value();
                below.push(drawn / sum);
                let pattern = format!("zones.zones[{index}]");
                let places = drive.places_within(&pattern, at, next, params.align)?;
                for (all, places) in sizes.iter_mut().zip(places) {
                    all.push(places);
                }
            }
            at = next;
        }
        below.pop();
        Ok(Zones {
            sizes,
            below,
            stream: drive.stream(),
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let drawn = self.stream.unit();
        let zone = self.below.partition_point(|below| *below <= drawn);
        let places = self.sizes[size][zone];
        places.at(self.stream.below(places.count))
    }
}

/// `percent` percent, perhaps more than 100, of the blocks from `start` to `end`.
fn portion(percent: f64, start: u64, end: u64) -> u64 {
    libm::round((end - start) as f64 * percent / 100.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zones(list: &[(&str, &str)], capacity: u64) -> Result<Zones, InputError> {
        let zone = |(share, size): &(&str, &str)| Zone {
            share: share.parse().unwrap(),
            size: size.parse().unwrap(),
        };
        let params = ZonesParams {
            zones: list.iter().map(zone).collect(),
            ..ZonesParams::default()
        };
        Zones::new(&params, &Drive::for_test(&[1, 4], 1, capacity))
    }

    #[test]
    fn each_zone_gets_its_share() {
        let mut pattern = zones(
            &[
                ("60 %", "10 %"),
                ("30 %", "20 %"),
                ("0 %", "1 block"),
                ("10 %", "699 blocks"),
            ],
            1_000,
        )
        .unwrap();
        let mut counts = [0u32; 4];
        for _ in 0..100_000 {
            let lbn = pattern.next(1).0;
            counts[match lbn {
                0..100 => 0,
                100..300 => 1,
                300 => 2,
                _ => 3,
            }] += 1;
            assert!(lbn.is_multiple_of(4) && lbn + 4 <= 1_000);
        }
        for (count, expected) in counts.into_iter().zip([60_000, 30_000, 0, 10_000]) {
            assert!(count.abs_diff(expected) < 5 * 155, "{counts:?}");
        }
    }

    #[test]
    fn thirds_fill_the_range() {
        let thirds = [("33.3 %", "33.33333333333333 %"); 3];
        let mut pattern = zones(&thirds, 100_000_003).unwrap();
        assert!((0..10_000).all(|_| pattern.next(0).0 < 100_000_003));
    }

    #[test]
    fn zones_that_do_not_fit_are_named() {
        for (list, part) in [
            (&[][..], "add up to 0 %"),
            (&[("50 %", "10 %")], "add up to 50 %"),
            (
                &[("50 %", "60 %"), ("50 %", "60 %")],
                "zones[1] ends at block 1200",
            ),
            (&[("50 %", "1000 blocks"), ("50 %", "1 block")], "zones[1]"),
            (
                &[("50 %", "3 blocks"), ("50 %", "10 %")],
                "no place for 4 blocks",
            ),
        ] {
            let error = zones(list, 1_000).err().unwrap();
            assert!(
                error.message.contains("workload.synthetic.address"),
                "{error}"
            );
            assert!(error.message.contains(part), "{error}");
        }
    }
}
