//! Addresses all as likely as each other.

use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::random::Stream;
use crate::units::{Lbn, Size};

use super::address::Drive;

/// The range, and where in it requests may begin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UniformParams {
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Requests begin at multiples of this; of their own size when not given. `"1 block"` is anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
}

/// The places a request of one size may begin at: `first`, `first + 1`, … times `align`.
struct Places {
    first: u64,
    count: u64,
    align: u64,
}

/// Draws uniform addresses.
pub struct Uniform {
    places: Vec<Places>,
    stream: Stream,
}

impl Uniform {
    /// # Errors
    /// The range is not on the drive or has no aligned place for one of the sizes.
    pub fn new(params: &UniformParams, drive: &Drive<'_>) -> Result<Uniform, InputError> {
        let (start, end) = drive.range("uniform", params.from, params.blocks)?;
        let places = drive.sizes.iter().map(|size| {
            let size = u64::from(*size);
            let align = params.align.map_or(size, Size::blocks);
            if align == 0 {
                return Err(InputError::new("workload.synthetic.address: uniform.align is 0 blocks"));
            }
            let first = start.div_ceil(align);
            let last = (end - size) / align;
            if last < first {
                return Err(InputError::new(format!(
                    "workload.synthetic.address: from block {start} to {end} there is no place for {size} blocks that begins at a multiple of {align}"
                )));
            }
            Ok(Places { first, count: last - first + 1, align })
        });
        Ok(Uniform {
            places: places.collect::<Result<_, _>>()?,
            stream: drive.stream(),
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let Places {
            first,
            count,
            align,
        } = self.places[size];
        Lbn((first + self.stream.below(count)) * align)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(sizes: &[u32]) -> Drive<'_> {
        Drive {
            sizes,
            seed: 1,
            capacity: 100,
        }
    }

    fn seen(params: &UniformParams, size: u32) -> Vec<u64> {
        let mut pattern = Uniform::new(params, &drive(&[size])).unwrap();
        let mut all: Vec<_> = (0..5_000).map(|_| pattern.next(0).0).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn every_aligned_place_is_reached_and_no_other() {
        let expected: Vec<_> = (0..12).map(|i| i * 8).collect();
        assert_eq!(seen(&UniformParams::default(), 8), expected);
        let part = UniformParams {
            from: Lbn(9),
            blocks: Some(23),
            align: None,
        };
        assert_eq!(seen(&part, 8), [16, 24]);
        let anywhere = UniformParams {
            from: Lbn(9),
            blocks: Some(10),
            align: Some(Size::from_blocks(1)),
        };
        assert_eq!(seen(&anywhere, 8), [9, 10, 11]);
        assert_eq!(
            seen(
                &UniformParams {
                    from: Lbn(92),
                    ..UniformParams::default()
                },
                4
            ),
            [92, 96]
        );
    }

    #[test]
    fn the_mean_is_the_middle() {
        let sizes = [1];
        let drive = Drive {
            sizes: &sizes,
            seed: 9,
            capacity: 1_000_001,
        };
        let mut pattern = Uniform::new(&UniformParams::default(), &drive).unwrap();
        let sum: u64 = (0..100_000).map(|_| pattern.next(0).0).sum();
        // The standard error is 1,000,000/√12/√100,000, about 913.
        assert!((sum / 100_000).abs_diff(500_000) < 4 * 913);
    }

    #[test]
    fn ranges_off_the_drive_name_the_key() {
        for (from, blocks, align) in [
            (100, None, None),
            (0, Some(101), None),
            (50, Some(51), None),
            (0, Some(7), None),
            (1, Some(14), None),
            (0, None, Some(Size::from_blocks(0))),
        ] {
            let params = UniformParams {
                from: Lbn(from),
                blocks,
                align,
            };
            let error = Uniform::new(&params, &drive(&[8])).err().unwrap();
            assert!(
                error.message.contains("workload.synthetic.address"),
                "{error}"
            );
        }
        for (from, blocks) in [(0, Some(100)), (50, Some(50)), (1, Some(15))] {
            let params = UniformParams {
                from: Lbn(from),
                blocks,
                align: None,
            };
            Uniform::new(&params, &drive(&[8])).unwrap();
        }
    }
}
