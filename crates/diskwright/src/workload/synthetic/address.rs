//! The patterns of addresses: one line each below, one file each beside this one.

use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::random::Stream;
use crate::units::{Lbn, Size};

use super::sequential::{Sequential, SequentialParams};
use super::uniform::{Uniform, UniformParams};

/// Makes the spec's choice and the generator's dispatch from one list, so that a pattern is one line.
macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident($params:ty, $pattern:ty),)*) => {
        /// Where requests go.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
                seed: u64,
                capacity: u64,
            ) -> Result<Addresses, InputError> {
                let drive = Drive { sizes, seed, capacity };
                match spec {
                    $(AddressSpec::$name(params) => {
                        <$pattern>::new(params, &drive).map(Addresses::$name)
                    })*
                }
            }

            /// The address of the next request, which has the size of index `size`.
            #[inline]
            pub fn next(&mut self, size: usize) -> Lbn {
                match self { $(Addresses::$name(pattern) => pattern.next(size),)* }
            }
        }
    };
}

patterns! {
    /// Every place in a range as likely as another.
    Uniform(UniformParams, Uniform),
    /// One request after the other, and from the start of the range again after its end.
    Sequential(SequentialParams, Sequential),
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
    /// The spec's seed.
    pub seed: u64,
    /// The drive's capacity in blocks.
    pub capacity: u64,
}

impl Drive<'_> {
    /// The stream from which addresses are drawn.
    pub fn stream(&self) -> Stream {
        Stream::new(self.seed, "workload.address")
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
        let wrong =
            |what: String| InputError::new(format!("workload.synthetic.address: {pattern}.{what}"));
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
        let largest = self.sizes.iter().copied().max().unwrap_or(1);
        if blocks < u64::from(largest) {
            let size = Size::from_blocks(u64::from(largest));
            return Err(wrong(format!(
                "blocks is {blocks}: the largest request has {size}"
            )));
        }
        Ok((from.0, from.0 + blocks))
    }
}
