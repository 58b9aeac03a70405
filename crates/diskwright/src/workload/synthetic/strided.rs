//! Addresses at a fixed distance from each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::{Lbn, Size};

use super::address::Drive;

/// The distance, and the range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StridedParams {
    /// From the beginning of a request to the beginning of the next.
    pub stride: Size,
    /// After each pass through the range the next one begins so much further on, until it would begin a stride further on;
    /// the size of the largest request when not given, so that the passes together cover the range. 0 blocks makes every
    /// pass the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Size>,
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
}

impl Default for StridedParams {
    fn default() -> StridedParams {
        StridedParams {
            stride: Size::from_blocks(128),
            shift: None,
            from: Lbn(0),
            blocks: None,
        }
    }
}

/// Tells strided addresses.
pub struct Strided {
    sizes: Vec<u64>,
    start: u64,
    end: u64,
    stride: u64,
    shift: u64,
    /// How far the current pass is shifted, and its next address.
    shifted: u64,
    next: u64,
}

impl Strided {
    /// # Errors
    /// A stride of nothing; a range that is not on the drive, or too small for the largest request.
    pub fn new(params: &StridedParams, drive: &Drive<'_>) -> Result<Strided, InputError> {
        let stride = params.stride.blocks();
        if stride == 0 {
            return Err(drive.wrong("strided", "stride is 0 blocks: expected 1 or more"));
        }
        let (start, end) = drive.range("strided", params.from, params.blocks)?;
        Ok(Strided {
            sizes: drive.sizes.iter().map(|size| u64::from(*size)).collect(),
            start,
            end,
            stride,
            shift: params.shift.map_or(drive.largest(), Size::blocks),
            shifted: 0,
            next: start,
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let size = self.sizes[size];
        let fits = |at: u64| at <= self.end - size;
        if !fits(self.next) {
            self.shifted = self.shifted.saturating_add(self.shift);
            let next = self.start.saturating_add(self.shifted);
            if self.shifted >= self.stride || !fits(next) {
                self.shifted = 0;
            }
            self.next = self.start + self.shifted;
        }
        let lbn = Lbn(self.next);
        self.next = self.next.saturating_add(self.stride);
        lbn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(stride: u64, shift: Option<u64>, from: u64, blocks: u64, count: usize) -> Vec<u64> {
        let params = StridedParams {
            stride: Size::from_blocks(stride),
            shift: shift.map(Size::from_blocks),
            from: Lbn(from),
            blocks: Some(blocks),
        };
        let mut pattern = Strided::new(&params, &Drive::for_test(&[4], 1, 1_000)).unwrap();
        (0..count).map(|_| pattern.next(0).0).collect()
    }

    #[test]
    fn passes_are_shifted_until_they_cover_the_range() {
        assert_eq!(
            drawn(8, None, 100, 20, 7),
            [100, 108, 116, 104, 112, 100, 108]
        );
        // A range that is no multiple of the stride, and a stride that is none of the size.
        let all = drawn(10, None, 0, 64, 19);
        assert_eq!(all[..7], [0, 10, 20, 30, 40, 50, 60]);
        assert_eq!(all[7..13], [4, 14, 24, 34, 44, 54]);
        assert_eq!(all[13..], [8, 18, 28, 38, 48, 58]);
        let mut touched: Vec<_> = all.iter().flat_map(|lbn| *lbn..lbn + 4).collect();
        touched.sort_unstable();
        touched.dedup();
        assert_eq!(touched, (0..64).collect::<Vec<_>>());
    }

    #[test]
    fn the_shift_may_be_any_or_none() {
        assert_eq!(drawn(8, Some(0), 0, 20, 5), [0, 8, 16, 0, 8]);
        assert_eq!(drawn(8, Some(3), 0, 20, 8), [0, 8, 16, 3, 11, 6, 14, 0]);
        // A stride beyond the range only shifts, and stops where no request fits.
        assert_eq!(drawn(1_000_000, Some(5), 0, 20, 5), [0, 5, 10, 15, 0]);
        assert_eq!(drawn(u64::MAX, Some(u64::MAX), 0, 20, 3), [0, 0, 0]);
    }

    #[test]
    fn no_stride_names_its_key() {
        let params = StridedParams {
            stride: Size::from_blocks(0),
            ..StridedParams::default()
        };
        let error = Strided::new(&params, &Drive::for_test(&[4], 1, 1_000))
            .err()
            .unwrap();
        assert!(
            error
                .message
                .contains("workload.synthetic.address: strided.stride"),
            "{error}"
        );
    }
}
