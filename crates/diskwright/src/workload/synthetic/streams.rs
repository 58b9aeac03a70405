//! Several sequential streams at once: requests continue their stream where its previous one ended, and when its run is
//! done, the stream jumps to another place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::places::Places;

/// How many streams, and how long their runs are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StreamsParams {
    /// How many.
    pub count: u32,
    /// How far a stream goes before it jumps: a request that would cross the end of its run begins another one.
    pub run: Size,
    /// Which stream is next.
    pub turns: Turns,
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Runs begin at multiples of this; of the size of the largest request when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
}

/// Which stream is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// One after the other.
    #[default]
    RoundRobin,
    /// Any.
    Random,
}

impl Default for StreamsParams {
    fn default() -> StreamsParams {
        StreamsParams {
            count: 8,
            run: Size::from_blocks(2_048),
            turns: Turns::RoundRobin,
            from: Lbn(0),
            blocks: None,
            align: None,
        }
    }
}

/// Draws addresses of interleaved streams.
pub struct Streams {
    sizes: Vec<u64>,
    /// Where each stream's next request begins, and where its run ends.
    runs: Vec<(u64, u64)>,
    last: usize,
    turns: Turns,
    run: u64,
    /// Where runs begin.
    places: Places,
    stream: Stream,
}

/// More streams than this are a mistake, and would take memory.
const MOST: u32 = 1 << 20;

impl Streams {
    /// # Errors
    /// No streams or too many; a run that is shorter than a request; a range that is not on the drive or has no place for a
    /// run.
    pub fn new(params: &StreamsParams, drive: &Drive<'_>) -> Result<Streams, InputError> {
        let count = params.count;
        if !(1..=MOST).contains(&count) {
            return Err(drive.wrong(
                "streams",
                format_args!("count is {count}: expected 1 to {MOST}"),
            ));
        }
        let (run, largest) = (params.run.blocks(), drive.largest());
        if run < largest {
            let what = format_args!(
                "run is {}: the largest request has {largest} blocks",
                params.run
            );
            return Err(drive.wrong("streams", what));
        }
        let (start, end) = drive.range("streams", params.from, params.blocks)?;
        let align = params.align.map_or(largest, Size::blocks);
        if align == 0 {
            return Err(drive.wrong("streams", "align is 0 blocks"));
        }
        let places = Places::new(start, end, run, align).ok_or_else(|| {
            let what = format_args!(
                "run is {}: from block {start} to {end} there is no place for it that begins at a multiple of {align}",
                params.run
            );
            drive.wrong("streams", what)
        })?;
        Ok(Streams {
            sizes: drive.sizes.iter().map(|size| u64::from(*size)).collect(),
            runs: vec![(0, 0); count as usize],
            last: count as usize - 1,
            turns: params.turns,
            run,
            places,
            stream: drive.stream(),
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        self.last = match self.turns {
            Turns::RoundRobin if self.last + 1 == self.runs.len() => 0,
            Turns::RoundRobin => self.last + 1,
            Turns::Random => self.stream.below(self.runs.len() as u64) as usize,
        };
        let (next, end) = &mut self.runs[self.last];
        let size = self.sizes[size];
        if *end - *next < size {
            *next = self.places.at(self.stream.below(self.places.count)).0;
            *end = *next + self.run;
        }
        let lbn = Lbn(*next);
        *next += size;
        lbn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(params: &StreamsParams, count: usize) -> Vec<u64> {
        let mut pattern = Streams::new(params, &Drive::for_test(&[8], 1, 1_000_000)).unwrap();
        (0..count).map(|_| pattern.next(0).0).collect()
    }

    #[test]
    fn streams_take_turns_and_jump_when_their_run_is_done() {
        let params = StreamsParams {
            count: 3,
            run: Size::from_blocks(35),
            ..StreamsParams::default()
        };
        let all = drawn(&params, 3 * 4 * 50);
        let mut starts = Vec::new();
        for stream in 0..3 {
            let lbns: Vec<u64> = all.iter().copied().skip(stream).step_by(3).collect();
            for run in lbns.chunks(4) {
                assert_eq!(run, [run[0], run[0] + 8, run[0] + 16, run[0] + 24]);
                assert_eq!(run[0] % 8, 0);
                starts.push(run[0]);
            }
        }
        starts.sort_unstable();
        starts.dedup();
        assert!(
            starts.len() >= 148,
            "150 places drawn of 125,000 hardly meet"
        );
    }

    #[test]
    fn random_turns_are_as_likely() {
        let params = StreamsParams {
            count: 4,
            run: Size::from_blocks(100_000),
            turns: Turns::Random,
            ..StreamsParams::default()
        };
        let all = drawn(&params, 40_000);
        // Of four streams a request continues the one before it in a quarter of all cases.
        let same = all.windows(2).filter(|pair| pair[1] == pair[0] + 8).count();
        assert!(same.abs_diff(10_000) < 5 * 87, "{same}");
    }

    #[test]
    fn parameters_that_make_no_sense_name_their_key() {
        let default = StreamsParams::default;
        for (params, key) in [
            (
                StreamsParams {
                    count: 0,
                    ..default()
                },
                "streams.count",
            ),
            (
                StreamsParams {
                    count: MOST + 1,
                    ..default()
                },
                "streams.count",
            ),
            (
                StreamsParams {
                    run: Size::from_blocks(7),
                    ..default()
                },
                "streams.run",
            ),
            (
                StreamsParams {
                    run: Size::from_blocks(1_001),
                    ..default()
                },
                "streams.run",
            ),
            (
                StreamsParams {
                    align: Some(Size::from_blocks(0)),
                    run: Size::from_blocks(8),
                    ..default()
                },
                "streams.align",
            ),
        ] {
            let params = StreamsParams {
                blocks: Some(1_000),
                ..params
            };
            let error = Streams::new(&params, &Drive::for_test(&[8], 1, 1_000_000)).err();
            let error = error.unwrap_or_else(|| panic!("{key}"));
            assert!(error.message.contains(key), "{error}");
        }
    }
}
