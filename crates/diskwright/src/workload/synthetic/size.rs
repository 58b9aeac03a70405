//! How large the requests of a synthetic load are.

use std::fmt;

use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::error::InputError;
use crate::random::Stream;
use crate::units::Size;

const KEY: &str = "workload.synthetic.size";

/// One size, `"8 blocks"`, or several with their shares: `[{ size = "8 blocks", share = 0.7 }, …]`.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeSpec {
    /// Every request is this large.
    One(Size),
    /// Each request has one of these.
    Several(Vec<SizeShare>),
}

/// A size and the share of requests that have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// The size.
    pub size: Size,
    /// The share of the requests; all together they make 1.
    pub share: f64,
}

impl Default for SizeSpec {
    fn default() -> SizeSpec {
        SizeSpec::One(Size::from_blocks(8))
    }
}

impl Serialize for SizeSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SizeSpec::One(size) => size.serialize(serializer),
            SizeSpec::Several(sizes) => sizes.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SizeSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sizes;
        impl<'de> Visitor<'de> for Sizes {
            type Value = SizeSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"8 blocks\", or a list such as [{ size = \"8 blocks\", share = 1.0 }]")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SizeSpec, E> {
                Size::deserialize(StrDeserializer::new(text)).map(SizeSpec::One)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<SizeSpec, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(SizeSpec::Several)
            }
        }
        deserializer.deserialize_any(Sizes)
    }
}

/// Draws sizes, as indices of a short table.
pub struct Sizes {
    blocks: Vec<u32>,
    /// For every size but the last, the sum of the shares up to and with it.
    below: Vec<f64>,
    stream: Stream,
}

impl Sizes {
    /// # Errors
    /// No size, one of no blocks or larger than the drive, shares that do not make 1.
    pub fn new(spec: &SizeSpec, seed: u64, capacity: u64) -> Result<Sizes, InputError> {
        let one;
        let table = match spec {
            SizeSpec::One(size) => {
                one = [SizeShare {
                    size: *size,
                    share: 1.0,
                }];
                &one[..]
            }
            SizeSpec::Several(table) => table,
        };
        let mut blocks = Vec::new();
        let mut below = Vec::new();
        let mut sum = 0.0;
        for SizeShare { size, share } in table {
            let small = u32::try_from(size.blocks()).ok();
            let fits = small.filter(|b| *b > 0 && u64::from(*b) <= capacity);
            blocks.push(fits.ok_or_else(|| {
                InputError::new(format!(
                    "{KEY} is {size}: expected 1 to {} blocks",
                    capacity.min(u64::from(u32::MAX))
                ))
            })?);
            if !(0.0..=1.0).contains(share) {
                return Err(InputError::new(format!(
                    "{KEY}: share is {share}: expected a number from 0 to 1"
                )));
            }
            sum += share;
            below.push(sum);
        }
        // Shares written with three decimals may miss 1 by as much.
        if (sum - 1.0).abs() > 0.001 {
            return Err(InputError::new(format!(
                "{KEY}: the shares add up to {sum}: expected 1"
            )));
        }
        // Rounding must not leave a gap at the top, nor give it to a size of share 0.
        let last = table.iter().rposition(|s| s.share > 0.0).unwrap_or(0);
        blocks.truncate(last + 1);
        below.truncate(last);
        below.iter_mut().for_each(|b| *b /= sum);
        Ok(Sizes {
            blocks,
            below,
            stream: Stream::new(seed, "workload.size"),
        })
    }

    /// Every size there is, in blocks.
    pub fn all(&self) -> &[u32] {
        &self.blocks
    }

    /// The size of index `index`, in blocks.
    #[inline]
    pub fn blocks(&self, index: usize) -> u32 {
        self.blocks[index]
    }

    /// Draws the index of a size.
    #[inline]
    pub fn next(&mut self) -> usize {
        if self.below.is_empty() {
            return 0;
        }
        let drawn = self.stream.unit();
        self.below.iter().take_while(|b| drawn >= **b).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Spec {
        size: SizeSpec,
    }

    fn spec(text: &str) -> SizeSpec {
        toml::from_str::<Spec>(&format!("size = {text}"))
            .unwrap()
            .size
    }

    #[test]
    fn sizes_are_a_text_or_a_table() {
        assert_eq!(spec("'4 KiB'"), SizeSpec::default());
        let several =
            spec("[{ size = '4 KiB', share = 0.25 }, { size = '1 block', share = 0.75 }]");
        assert!(matches!(several, SizeSpec::Several(ref s) if s.len() == 2));
        for bad in [
            "8",
            "'8'",
            "[{ size = '4 KiB' }]",
            "[{ size = '4 KiB', part = 1 }]",
        ] {
            assert!(
                toml::from_str::<Spec>(&format!("size = {bad}")).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn shares_are_kept() {
        let several = spec(
            "[{ size = '1 block', share = 0.2 }, { size = '2 blocks', share = 0.3 }, { size = '4 blocks', share = 0.5 }, { size = '8 blocks', share = 0.0 }]",
        );
        let mut sizes = Sizes::new(&several, 5, 1000).unwrap();
        assert_eq!(sizes.all(), [1, 2, 4]);
        let mut counts = [0; 3];
        for _ in 0..100_000 {
            counts[sizes.next()] += 1;
        }
        for (count, expected) in counts.into_iter().zip([20_000, 30_000, 50_000]) {
            assert!(i32::abs(count - expected) < 700, "{counts:?}");
        }
    }

    #[test]
    fn sizes_that_make_no_sense_name_the_key() {
        for text in [
            "'0 blocks'",
            "'1001 blocks'",
            "[]",
            "[{ size = '1 block', share = 0.5 }]",
            "[{ size = '1 block', share = -0.5 }, { size = '1 block', share = 1.5 }]",
        ] {
            let error = Sizes::new(&spec(text), 0, 1000).err().unwrap();
            assert!(error.message.contains(KEY), "{text}");
        }
        Sizes::new(&spec("'1000 blocks'"), 0, 1000).unwrap();
    }
}
