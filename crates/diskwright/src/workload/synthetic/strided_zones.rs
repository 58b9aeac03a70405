//! Zones one after the other, each with as much data before the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::places::Places;

/// The zones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StridedZonesParams {
    /// The size of a zone.
    pub zone: Size,
    /// How much is transferred in a zone before the next one begins; as much as it holds when not given. Less leaves part of it out,
    /// more goes through it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Size>,
    /// The distance from the end of a zone to the start of the next one.
    pub skip: Size,
    /// Requests go to random places of their zone, in place of one behind the other.
    pub random: bool,
    /// First block, where the first zone begins.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given. A zone that does not fit whole is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Random requests begin at multiples of this from the start of their zone on; of their own size when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
}

impl Default for StridedZonesParams {
    fn default() -> StridedZonesParams {
        StridedZonesParams {
            zone: Size::from_blocks(2_048),
            transfer: None,
            skip: Size::from_blocks(0),
            random: false,
            from: Lbn(0),
            blocks: None,
            align: None,
        }
    }
}

/// Tells such addresses.
pub struct StridedZones {
    sizes: Vec<u64>,
    /// The places of each size, from the start of a zone on.
    places: Vec<Places>,
    zone: u64,
    transfer: u64,
    stride: u64,
    start: u64,
    end: u64,
    random: bool,
    stream: Stream,
    /// Where the current zone begins, what was transferred there, and where in it the next request begins.
    at: u64,
    transferred: u64,
    next: u64,
}

impl StridedZones {
    /// # Errors
    /// A zone with nothing in it, or smaller than a request; a range that is not on the drive, or has no room for a zone.
    pub fn new(params: &StridedZonesParams, drive: &Drive<'_>) -> Result<StridedZones, InputError> {
        let pattern = "strided-zones";
        let (start, end) = drive.range(pattern, params.from, params.blocks)?;
        let zone = params.zone.blocks();
        if zone < drive.largest() {
            let what = format_args!(
                "zone is {}: the largest request has {}",
                params.zone,
                Size::from_blocks(drive.largest())
            );
            return Err(drive.wrong(pattern, what));
        }
        if zone > end - start {
            let what = format_args!(
                "zone is {}: the range has {}",
                params.zone,
                Size::from_blocks(end - start)
            );
            return Err(drive.wrong(pattern, what));
        }
        let transfer = params.transfer.unwrap_or(params.zone).blocks();
        if transfer == 0 {
            return Err(drive.wrong(pattern, "transfer is 0 blocks: expected 1 or more"));
        }
        Ok(StridedZones {
            sizes: drive.sizes.iter().map(|size| u64::from(*size)).collect(),
            places: drive.places_within(pattern, 0, zone, params.align)?,
            zone,
            transfer,
            stride: zone.saturating_add(params.skip.blocks()),
            start,
            end,
            random: params.random,
            stream: drive.stream(),
            at: start,
            transferred: 0,
            next: 0,
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let blocks = self.sizes[size];
        if self.transferred >= self.transfer {
            let next = self.at.saturating_add(self.stride);
            let fits = self
                .end
                .checked_sub(next)
                .is_some_and(|room| room >= self.zone);
            (self.at, self.transferred, self.next) = (if fits { next } else { self.start }, 0, 0);
        }
        self.transferred += blocks;
        if self.random {
            let places = self.places[size];
            return Lbn(self.at + places.at(self.stream.below(places.count)).0);
        }
        if self.zone - self.next < blocks {
            self.next = 0;
        }
        let lbn = self.at + self.next;
        self.next += blocks;
        Lbn(lbn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(zone: u64, transfer: Option<u64>, skip: u64) -> StridedZonesParams {
        StridedZonesParams {
            zone: Size::from_blocks(zone),
            transfer: transfer.map(Size::from_blocks),
            skip: Size::from_blocks(skip),
            from: Lbn(100),
            blocks: Some(50),
            ..StridedZonesParams::default()
        }
    }

    fn drawn(params: &StridedZonesParams, count: usize) -> Vec<u64> {
        let mut pattern = StridedZones::new(params, &Drive::for_test(&[4], 1, 1_000)).unwrap();
        (0..count).map(|_| pattern.next(0).0).collect()
    }

    #[test]
    fn zones_follow_each_other_with_gaps_and_start_again() {
        // Zones at 100, 115 and 130; the next one, at 145, does not fit whole.
        assert_eq!(
            drawn(&params(10, Some(8), 5), 8),
            [100, 104, 115, 119, 130, 134, 100, 104]
        );
        assert_eq!(
            drawn(&params(8, None, 0), 13),
            [
                100, 104, 108, 112, 116, 120, 124, 128, 132, 136, 140, 144, 100
            ]
        );
    }

    #[test]
    fn less_leaves_part_of_a_zone_out_and_more_goes_through_it_again() {
        assert_eq!(drawn(&params(20, Some(4), 0), 3), [100, 120, 100]);
        assert_eq!(
            drawn(&params(8, Some(16), 20), 6),
            [100, 104, 100, 104, 128, 132]
        );
        // What is transferred is counted by whole requests.
        assert_eq!(drawn(&params(8, Some(5), 0), 4), [100, 104, 108, 112]);
    }

    #[test]
    fn random_requests_stay_in_their_zone() {
        let params = StridedZonesParams {
            random: true,
            ..params(20, Some(400), 5)
        };
        let seen = drawn(&params, 300);
        for (index, lbn) in seen.iter().enumerate() {
            let start = if index / 100 % 2 == 0 { 100 } else { 125 };
            assert!(
                *lbn >= start && lbn + 4 <= start + 20 && (lbn - start) % 4 == 0,
                "{index}: {lbn}"
            );
        }
        let mut first: Vec<u64> = seen[..100].to_vec();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first, [100, 104, 108, 112, 116]);
    }

    #[test]
    fn zones_that_do_not_fit_are_named() {
        for (params, part) in [
            (params(3, None, 0), "strided-zones.zone is"),
            (params(51, None, 0), "the range has"),
            (params(10, Some(0), 0), "strided-zones.transfer is 0"),
        ] {
            let error = StridedZones::new(&params, &Drive::for_test(&[4], 1, 1_000))
                .err()
                .unwrap();
            assert!(error.message.contains(part), "{error}");
        }
    }
}
