//! Part of the places is hot and gets most of the requests; within each part all places are as likely.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::{Lbn, Size};

use super::address::Drive;
use super::permutation::Permutation;
use super::places::Places;
use super::zipf::scattering;
use crate::base::units::percent::{Percent, Portion};

/// How much is hot, and how hot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HotColdParams {
    /// The hot part of the range.
    pub hot: Portion,
    /// The percentage of requests that go to it.
    pub share: Percent,
    /// Hot places are scattered over the range at random; if not, they are its beginning.
    pub scatter: bool,
    /// First block.
    pub from: Lbn,
    /// Number of blocks; to the end of the drive when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Requests begin at multiples of this; of their own size when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
}

impl Default for HotColdParams {
    fn default() -> HotColdParams {
        let percent = |value| Percent::new(value).expect("a percentage");
        HotColdParams {
            hot: Portion::Percent(percent(10.0)),
            share: percent(90.0),
            scatter: true,
            from: Lbn(0),
            blocks: None,
            align: None,
        }
    }
}

/// Draws hot and cold addresses.
pub struct HotCold {
    /// For each size its places, how many of them are hot, and where they are.
    sizes: Vec<(Places, u64, Option<Permutation>)>,
    share: f64,
    stream: Stream,
}

impl HotCold {
    /// # Errors
    /// A part that is empty or everything; a range that is not on the drive or has no aligned place for one of the sizes.
    pub fn new(params: &HotColdParams, drive: &Drive<'_>) -> Result<HotCold, InputError> {
        let (start, end) = drive.range("hot-cold", params.from, params.blocks)?;
        let places = drive.places("hot-cold", params.from, params.blocks, params.align)?;
        let scatter = params.scatter.then(|| scattering(&places, drive));
        let sizes = places.into_iter().map(|places| {
            let hot = match params.hot {
                Portion::Percent(percent) => percent.of(places.count),
                size @ Portion::Size(_) => size.of(end - start) / places.spacing(),
            };
            if hot == 0 || hot >= places.count {
                let all = places.count;
                let what = format_args!(
                    "hot is {}: {hot} of {all} places; expected some, but not all",
                    params.hot
                );
                return Err(drive.wrong("hot-cold", what));
            }
            Ok((places, hot, scatter.map(|all| all.for_up_to(places.count))))
        });
        Ok(HotCold {
            sizes: sizes.collect::<Result<_, _>>()?,
            share: params.share.share(),
            stream: drive.stream(),
        })
    }

    /// The next address for the size of index `size`.
    #[inline]
    pub fn next(&mut self, size: usize) -> Lbn {
        let (places, hot, scatter) = &self.sizes[size];
        let index = if self.stream.unit() < self.share {
            self.stream.below(*hot)
        } else {
            hot + self.stream.below(places.count - hot)
        };
        places.at(match scatter {
            Some(scatter) => scatter.apply(index, places.count),
            None => index,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(params: &HotColdParams) -> Vec<u32> {
        let mut pattern = HotCold::new(params, &Drive::for_test(&[8], 5, 800)).unwrap();
        let mut counts = vec![0; 100];
        for _ in 0..100_000 {
            counts[pattern.next(0).0 as usize / 8] += 1;
        }
        counts
    }

    #[test]
    fn shares_are_kept_and_even_within_each_part() {
        for hot in ["10 %", "80 blocks"] {
            for scatter in [false, true] {
                let mut counts = counts(&HotColdParams {
                    hot: hot.parse().unwrap(),
                    scatter,
                    ..HotColdParams::default()
                });
                if scatter {
                    assert!(
                        counts[..10].iter().any(|c| *c < 5_000),
                        "hot places are scattered"
                    );
                    counts.sort_unstable_by_key(|c| std::cmp::Reverse(*c));
                }
                let total: u32 = counts[..10].iter().sum();
                // Five standard errors of 90,000 ± √(100,000 · 0.9 · 0.1), and likewise of each place.
                assert!(total.abs_diff(90_000) < 5 * 95, "{total}");
                assert!(
                    counts[..10].iter().all(|c| c.abs_diff(9_000) < 5 * 91),
                    "{counts:?}"
                );
                assert!(
                    counts[10..].iter().all(|c| c.abs_diff(111) < 5 * 11),
                    "{counts:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_and_everything_are_not_a_part() {
        for hot in ["0 %", "100 %", "0.1 %", "800 blocks", "7 blocks"] {
            let params = HotColdParams {
                hot: hot.parse().unwrap(),
                ..HotColdParams::default()
            };
            let error = HotCold::new(&params, &Drive::for_test(&[8], 1, 800))
                .err()
                .unwrap();
            assert!(error.message.contains("hot-cold.hot"), "{error}");
        }
    }
}
