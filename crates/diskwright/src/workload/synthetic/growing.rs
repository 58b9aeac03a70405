//! Data that grow: part of the writes are new data behind all that is there, and everything else goes to what is there.
//!
//! This is the load of J. Chandy, "A Dual Actuator Logging Disk Architecture", section 3, where the part is called the new write
//! frequency.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Share, Size};
use crate::engine::request::Op;

use super::address::Drive;
use super::places::Places;

/// What is there at the start, and how fast it grows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrowingParams {
    /// First block.
    #[serde(default)]
    pub from: Lbn,
    /// Number of blocks that are there at the start.
    pub blocks: u64,
    /// The share of writes that are new data.
    pub new: Share,
    /// Requests begin at multiples of this; of their own size when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
}

/// Draws addresses in a region that grows.
pub struct Growing {
    /// For each size, in blocks, what its requests are aligned to.
    sizes: Vec<(u64, u64)>,
    start: u64,
    end: u64,
    capacity: u64,
    new: f64,
    stream: Stream,
    coin: Stream,
    writes: u64,
    /// Writes of new data for which the device had no room.
    without_room: u64,
    key: String,
}

impl Growing {
    /// # Errors
    /// The range is not on the drive or has no aligned place for one of the sizes.
    pub fn new(params: &GrowingParams, drive: &Drive<'_>) -> Result<Growing, InputError> {
        let (from, blocks) = (params.from, Some(params.blocks));
        let (start, end) = drive.range("growing", from, blocks)?;
        let places = drive.places_within("growing", start, end, params.align)?;
        let sizes = drive.sizes.iter().zip(&places);
        Ok(Growing {
            sizes: sizes
                .map(|(&size, places)| (u64::from(size), places.spacing()))
                .collect(),
            start,
            end,
            capacity: drive.capacity,
            new: params.new.value(),
            stream: drive.stream(),
            coin: drive.scope.stream("address.new"),
            writes: 0,
            without_room: 0,
            key: drive.scope.key("address"),
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, op: Op, size: usize) -> Lbn {
        let (blocks, align) = self.sizes[size];
        if op == Op::Write {
            self.writes += 1;
            if self.coin.unit() < self.new {
                if let Some(lbn) = self.grow(blocks, align) {
                    return lbn;
                }
                self.without_room += 1;
            }
        }
        let places = Places::new(self.start, self.end, blocks, align)
            .expect("the region had a place at the start and has only grown");
        places.at(self.stream.below(places.count))
    }

    /// The next place behind the region, which then reaches to its end; `None` when it is not on the device.
    fn grow(&mut self, blocks: u64, align: u64) -> Option<Lbn> {
        let at = self.end.checked_next_multiple_of(align)?;
        let end = at.checked_add(blocks)?;
        if end > self.capacity {
            return None;
        }
        self.end = end;
        Some(Lbn(at))
    }

    /// What the user should know of the addresses so far.
    pub fn warning(&self) -> Option<String> {
        let Growing { key, capacity, .. } = self;
        if self.new > 0.0 && self.writes == 0 {
            return Some(format!(
                "{key}: growing.new changes nothing: there are no writes (reads are 1 unless said)"
            ));
        }
        (self.without_room > 0).then(|| {
            format!(
                "{key}: the region that grows has met the end of the device of {capacity} blocks: {} of {} writes were to be of new \
                 data and went to what is there",
                self.without_room, self.writes
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::uniform::{Uniform, UniformParams};
    use super::*;

    fn params(from: u64, blocks: u64, new: f64) -> GrowingParams {
        GrowingParams {
            from: Lbn(from),
            blocks,
            new: Share::new(new).expect("a share"),
            align: None,
        }
    }

    fn growing(params: &GrowingParams, sizes: &[u32], capacity: u64) -> Growing {
        Growing::new(params, &Drive::for_test(sizes, 5, capacity)).expect("it fits")
    }

    #[test]
    fn without_new_data_it_is_uniform() {
        let sizes = [8, 3, 1];
        let mut grows = growing(&params(1_000, 50_000, 0.0), &sizes, 1 << 20);
        let of_uniform = UniformParams {
            from: Lbn(1_000),
            blocks: Some(50_000),
            ..UniformParams::default()
        };
        let drive = Drive::for_test(&sizes, 5, 1 << 20);
        let mut uniform = Uniform::new(&of_uniform, &drive).expect("it fits");
        for (i, op) in [Op::Read, Op::Write, Op::Trim]
            .into_iter()
            .cycle()
            .take(3_000)
            .enumerate()
        {
            assert_eq!(grows.next(op, i % 3), uniform.next(i % 3));
        }
        assert_eq!(grows.warning(), None);
    }

    #[test]
    fn it_grows_by_the_new_share_of_what_is_written() {
        // Of each 4 requests 3 are writes, of 1, 3 and 8 blocks in turn.
        let anywhere = GrowingParams {
            align: Some(Size::from_blocks(1)),
            ..params(0, 1_000, 0.3)
        };
        let mut grows = growing(&anywhere, &[1, 3, 8], u64::MAX);
        let rounds = 40_000u32;
        for _ in 0..rounds {
            for size in 0..3 {
                grows.next(Op::Write, size);
            }
            grows.next(Op::Read, 2);
        }
        let grown = (grows.end - 1_000) as f64;
        // Each size is new in a number of rounds that is binomially distributed.
        let mean = f64::from(rounds) * 0.3 * (1.0 + 3.0 + 8.0);
        let variance = f64::from(rounds) * 0.3 * 0.7 * (1.0 + 9.0 + 64.0);
        assert!(
            (grown - mean).abs() < 4.0 * variance.sqrt(),
            "{grown}, not {mean}"
        );
    }

    #[test]
    fn what_is_there_is_as_likely_everywhere_while_it_grows() {
        let mut grows = growing(&params(8_000, 80_000, 0.5), &[8], u64::MAX);
        let mut bins = [0u32; 20];
        let (mut read, mut updated) = (0, 0);
        for i in 0..200_000u32 {
            let op = if i % 2 == 0 { Op::Read } else { Op::Write };
            let there = grows.end;
            let lbn = grows.next(op, 0).0;
            if lbn == there {
                assert_eq!((op, grows.end), (Op::Write, there + 8));
                continue;
            }
            assert_eq!(grows.end, there);
            assert!(lbn.is_multiple_of(8) && (8_000..=there - 8).contains(&lbn));
            *(if op == Op::Read {
                &mut read
            } else {
                &mut updated
            }) += 1;
            let (index, places) = ((lbn - 8_000) / 8, (there - 8_000) / 8);
            bins[(index * 20 / places) as usize] += 1;
        }
        assert_eq!(read, 100_000);
        // Five standard deviations of a binomial count of 100,000 halves.
        assert!(
            f64::from(updated - 50_000i32).abs() < 5.0 * 158.2,
            "{updated}"
        );
        let expected = f64::from(read + updated) / 20.0;
        let chi: f64 = bins
            .iter()
            .map(|&n| (f64::from(n) - expected).powi(2) / expected)
            .sum();
        // Chi-squared with 19 degrees of freedom exceeds 43.8 once in a thousand.
        assert!(chi < 43.8, "{chi}: {bins:?}");
    }

    #[test]
    fn new_data_begin_at_the_next_place_behind_the_region() {
        let mut grows = growing(&params(4, 20, 1.0), &[8, 3], 60);
        // From block 24 on, at multiples of their sizes.
        let seen: Vec<_> = [0, 1, 1, 0, 0]
            .map(|size| grows.next(Op::Write, size).0)
            .into();
        assert_eq!(seen, [24, 33, 36, 40, 48]);
        assert_eq!(grows.end, 56);
        let aligned = GrowingParams {
            align: Some(Size::from_blocks(16)),
            ..params(0, 20, 1.0)
        };
        let mut grows = growing(&aligned, &[8], 60);
        assert_eq!(
            [grows.next(Op::Write, 0).0, grows.next(Op::Write, 0).0],
            [32, 48]
        );
        assert_eq!(grows.end, 56);
    }

    #[test]
    fn at_the_end_of_the_device_new_data_are_updates_and_counted() {
        let mut grows = growing(&params(0, 16, 1.0), &[8, 3], 27);
        assert_eq!(grows.next(Op::Write, 0).0, 16);
        assert_eq!(grows.warning(), None);
        // Another 8 blocks have no room, 3 have exactly that which is left.
        assert!(grows.next(Op::Write, 0).0 <= 16);
        assert_eq!(grows.next(Op::Write, 1).0, 24);
        assert!(grows.next(Op::Write, 1).0 <= 24);
        let warning = grows.warning().expect("it is full");
        assert!(warning.contains("2 of 4 writes"), "{warning}");
        // Reads and trims never are new.
        let mut whole = growing(&params(0, 16, 1.0), &[8], 16);
        for op in [Op::Read, Op::Trim, Op::Read] {
            assert!(whole.next(op, 0).0 <= 8);
        }
        assert!(
            whole
                .warning()
                .expect("no writes")
                .contains("changes nothing")
        );
        assert!(whole.next(Op::Write, 0).0 <= 8);
        assert!(
            whole
                .warning()
                .expect("it is full")
                .contains("1 of 1 writes")
        );
        // The last block of all addresses does not overflow.
        let mut last = growing(&params(u64::MAX - 20, 16, 1.0), &[8], u64::MAX);
        assert!(last.next(Op::Write, 0).0 < u64::MAX - 8);
    }

    #[test]
    fn regions_off_the_drive_name_the_key() {
        for (from, blocks) in [(100, 1), (0, 101), (0, 7), (0, 0), (1, 14)] {
            let built = Growing::new(&params(from, blocks, 0.5), &Drive::for_test(&[8], 1, 100));
            let error = built.err().expect("off the drive");
            assert!(
                error.message.contains("workload.synthetic.address"),
                "{error}"
            );
        }
        growing(&params(0, 100, 0.5), &[8], 100);
        growing(&params(1, 15, 0.5), &[8], 100);
    }
}
