//! The patterns of addresses: one line each below, one file each beside this one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};
use crate::engine::request::Op;

use super::fio_normal::{FioNormal, FioNormalParams};
use super::fio_pareto::{FioPareto, FioParetoParams};
use super::fio_zipf::{FioZipf, FioZipfParams};
use super::growing::{Growing, GrowingParams};
use super::hot_cold::{HotCold, HotColdParams};
use super::local::{Local, LocalParams};
use super::partly_random::{PartlyRandom, PartlyRandomParams};
use super::places::Places;
use super::scope::Scope;
use super::sequential::{Sequential, SequentialParams};
use super::streams::{Streams, StreamsParams};
use super::strided::{Strided, StridedParams};
use super::strided_zones::{StridedZones, StridedZonesParams};
use super::uniform::{Uniform, UniformParams};
use super::zipf::{Zipf, ZipfParams};
use super::zones::{Zones, ZonesParams};

/// Makes the spec's choice and the generator's dispatch from one list, so that a pattern is one line. One that ends in `by_op`
/// is told what each request asks for, too.
macro_rules! patterns {
    (@next $pattern:ident, $op:ident, $size:ident) => { $pattern.next($size) };
    (@next $pattern:ident, $op:ident, $size:ident, by_op) => { $pattern.next($op, $size) };
    ($($(#[$doc:meta])* $name:ident($params:ty, $pattern:ty $(, $by:ident)?),)*) => {
        /// Where requests go.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum AddressSpec { $($(#[$doc])* $name($params),)* }

        /// Draws addresses.
        pub enum Addresses { $($name($pattern),)* }

        impl Addresses {
            /// Prepares a pattern for requests of `sizes` blocks on a drive of `capacity` blocks.
            ///
            /// # Errors
            /// A range that is not on the drive or holds no request of one of the sizes.
            pub fn new(
                spec: &AddressSpec,
                sizes: &[u32],
                scope: &Scope,
                capacity: u64,
            ) -> Result<Addresses, InputError> {
                let drive = Drive { sizes, scope, capacity };
                match spec {
                    $(AddressSpec::$name(params) => {
                        <$pattern>::new(params, &drive).map(Addresses::$name)
                    })*
                }
            }

            /// The address of the next request, which asks for `op` and has the size of index `size`.
            #[inline]
            pub fn next(&mut self, op: Op, size: usize) -> Lbn {
                match self {
                    $(Addresses::$name(pattern) => patterns!(@next pattern, op, size $(, $by)?),)*
                }
            }
        }
    };
}

patterns! {
    /// Every place in a range as likely as another.
    Uniform(UniformParams, Uniform),
    /// One request after the other, and from the start of the range again after its end.
    Sequential(SequentialParams, Sequential),
    /// The place of rank k as likely as 1/k^theta.
    Zipf(ZipfParams, Zipf),
    /// What fio makes of `random_distribution=zipf`.
    FioZipf(FioZipfParams, FioZipf),
    /// What fio makes of `random_distribution=pareto`.
    FioPareto(FioParetoParams, FioPareto),
    /// What fio makes of `random_distribution=normal`.
    FioNormal(FioNormalParams, FioNormal),
    /// Part of the places gets most of the requests.
    HotCold(HotColdParams, HotCold),
    /// Parts of the range, each with its share of the requests.
    Zones(ZonesParams, Zones),
    /// Several sequential streams in turn, each of which jumps when its run is done.
    Streams(StreamsParams, Streams),
    /// One request after the other at a fixed distance.
    Strided(StridedParams, Strided),
    /// Zones one after the other, each with as much data before the next.
    StridedZones(StridedZonesParams, StridedZones),
    /// Part of the requests at random, the others each behind the one before.
    PartlyRandom(PartlyRandomParams, PartlyRandom, by_op),
    /// Each request near the one before.
    Local(LocalParams, Local),
    /// Over a region that part of the writes make larger.
    Growing(GrowingParams, Growing, by_op),
}

impl Addresses {
    /// The places for the size of index `size`, from the most popular one on; `None` for patterns that do not rank them.
    pub fn popular_places(&self, size: usize) -> Option<impl Iterator<Item = Lbn> + '_> {
        match self {
            Addresses::Zipf(zipf) => Some(zipf.places_by_rank(size)),
            _ => None,
        }
    }

    /// What the user should know of the addresses so far.
    pub fn warning(&self) -> Option<String> {
        match self {
            Addresses::Growing(growing) => growing.warning(),
            _ => None,
        }
    }
}

impl AddressSpec {
    /// Whether requests follow each other.
    pub fn is_sequential(&self) -> bool {
        matches!(self, AddressSpec::Sequential(_))
    }
}

impl Default for AddressSpec {
    fn default() -> AddressSpec {
        AddressSpec::Uniform(UniformParams::default())
    }
}

/// What a pattern is made for.
pub struct Drive<'a> {
    /// The sizes of requests, in blocks; patterns are told an index of this table.
    pub sizes: &'a [u32],
    /// The load that is being made.
    pub scope: &'a Scope,
    /// The drive's capacity in blocks.
    pub capacity: u64,
}

impl Drive<'_> {
    /// The stream from which addresses are drawn.
    pub fn stream(&self) -> Stream {
        self.scope.stream("address")
    }

    /// The range of `blocks` blocks from `from`, or all from there to the end of the drive: first block and the one after
    /// the last.
    ///
    /// # Errors
    /// It is not on the drive, or too small for the largest request.
    pub fn range(
        &self,
        pattern: &str,
        from: Lbn,
        blocks: Option<u64>,
    ) -> Result<(u64, u64), InputError> {
        let wrong = |what: String| self.wrong(pattern, what);
        let capacity = self.capacity;
        if from.0 >= capacity {
            return Err(wrong(format!(
                "from is {from}: the drive has {capacity} blocks"
            )));
        }
        let room = capacity - from.0;
        let blocks = blocks.unwrap_or(room);
        if blocks > room {
            return Err(wrong(format!(
                "blocks is {blocks} from block {from}: the drive has {capacity} blocks"
            )));
        }
        let largest = self.largest();
        if blocks < largest {
            let size = Size::from_blocks(largest);
            return Err(wrong(format!(
                "blocks is {blocks}: the largest request has {size}"
            )));
        }
        Ok((from.0, from.0 + blocks))
    }

    /// The largest request, in blocks.
    pub fn largest(&self) -> u64 {
        u64::from(self.sizes.iter().copied().max().unwrap_or(1))
    }

    /// An error about a parameter of a pattern: `align is 0 blocks`.
    pub fn wrong(&self, pattern: &str, what: impl std::fmt::Display) -> InputError {
        self.scope
            .wrong("address", format_args!(": {pattern}.{what}"))
    }

    /// For each size, where requests may begin in the range of [`Drive::range`]: at multiples of `align`, or of their size.
    ///
    /// # Errors
    /// The range is not on the drive or has no aligned place for one of the sizes.
    pub fn places(
        &self,
        pattern: &str,
        from: Lbn,
        blocks: Option<u64>,
        align: Option<Size>,
    ) -> Result<Vec<Places>, InputError> {
        let (start, end) = self.range(pattern, from, blocks)?;
        self.places_within(pattern, start, end, align)
    }

    /// The same in blocks `start..end`.
    ///
    /// # Errors
    /// There is no aligned place for one of the sizes.
    pub fn places_within(
        &self,
        pattern: &str,
        start: u64,
        end: u64,
        align: Option<Size>,
    ) -> Result<Vec<Places>, InputError> {
        let places = self.sizes.iter().map(|size| {
            let size = u64::from(*size);
            let align = align.map_or(size, Size::blocks);
            if align == 0 {
                return Err(self.wrong(pattern, "align is 0 blocks"));
            }
            Places::new(start, end, size, align).ok_or_else(|| {
                self.scope.wrong(
                    "address",
                    format_args!(": from block {start} to {end} there is no place for {size} blocks that begins at a multiple of {align}"),
                )
            })
        });
        places.collect()
    }

    /// A drive for tests of patterns.
    #[cfg(test)]
    pub fn for_test(sizes: &[u32], seed: u64, capacity: u64) -> Drive<'_> {
        Drive {
            sizes,
            scope: Box::leak(Box::new(Scope::only(seed))),
            capacity,
        }
    }
}
