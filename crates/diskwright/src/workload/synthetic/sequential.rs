//! Addresses one after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::Lbn;

use super::address::Drive;

/// The range to go through, again and again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SequentialParams {
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
}

/// Each request begins where the one before ended, so that none is aligned to anything but the range's first block; one that
/// would cross the range's end goes to its first block instead.
pub struct Sequential {
    sizes: Vec<u64>,
    start: u64,
    end: u64,
    next: u64,
}

impl Sequential {
    /// # Errors
    /// The range is not on the drive, or too small for the largest request.
    pub fn new(params: &SequentialParams, drive: &Drive<'_>) -> Result<Sequential, InputError> {
        let (start, end) = drive.range("sequential", params.from, params.blocks)?;
        Ok(Sequential {
            sizes: drive.sizes.iter().map(|size| u64::from(*size)).collect(),
            start,
            end,
            next: start,
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let size = self.sizes[size];
        if self.end - self.next < size {
            self.next = self.start;
        }
        let lbn = Lbn(self.next);
        self.next += size;
        lbn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(from: u64, blocks: Option<u64>, sizes: &[u32]) -> Result<Sequential, InputError> {
        let drive = Drive::for_test(sizes, 1, 100);
        Sequential::new(
            &SequentialParams {
                from: Lbn(from),
                blocks,
            },
            &drive,
        )
    }

    #[test]
    fn requests_follow_each_other_and_start_again() {
        let mut lbns = pattern(10, Some(20), &[8, 3]).unwrap();
        let seen: Vec<_> = [0, 1, 0, 1, 0]
            .into_iter()
            .map(|size| lbns.next(size).0)
            .collect();
        assert_eq!(seen, [10, 18, 21, 10, 13]);
        let mut lbns = pattern(84, None, &[8]).unwrap();
        assert_eq!(
            [lbns.next(0).0, lbns.next(0).0, lbns.next(0).0],
            [84, 92, 84]
        );
    }

    #[test]
    fn ranges_off_the_drive_name_the_key() {
        for (from, blocks) in [(100, None), (0, Some(101)), (93, None), (0, Some(7))] {
            let error = pattern(from, blocks, &[8]).err().unwrap();
            assert!(error.message.contains("workload.synthetic.address"));
        }
        pattern(92, None, &[8]).unwrap();
    }
}
