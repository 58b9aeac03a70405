//! How large the requests of a synthetic load are.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::base::error::InputError;
use crate::base::random::Stream;
use crate::base::units::Size;
use crate::engine::request::Op;

use super::exponential_sizes::ExponentialSizes;
use super::scope::Scope;

/// One size, `"8 blocks"`, several with their shares, `[{ size = "8 blocks", share = 0.7 }, …]`, exponentially distributed ones,
/// `{ exponential = "8 blocks" }`, or different ones for reads and writes, `{ reads = …, writes = … }`.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeSpec {
    /// Every request is this large.
    One(Size),
    /// Each request has one of these.
    Several(Vec<SizeShare>),
    /// Each request has a size of its own.
    Exponential(ExponentialSizes),
    /// It depends on what is asked.
    ByOperation(Box<SizeByOperation>),
}

/// A size and the share of requests that have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// The size.
    pub size: Size,
    /// The share of the requests; all together they make 1.
    pub share: f64,
}

/// Sizes that differ between reads and writes; none of them differs once more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeByOperation {
    /// The sizes of reads.
    pub reads: SizeSpec,
    /// The sizes of writes.
    pub writes: SizeSpec,
    /// The sizes of trims; those of writes when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<SizeSpec>,
}

impl Default for SizeSpec {
    fn default() -> SizeSpec {
        SizeSpec::One(Size::from_blocks(8))
    }
}

impl JsonSchema for SizeSpec {
    fn schema_name() -> Cow<'static, str> {
        "SizeSpec".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One size, several with their shares, exponentially distributed ones, or different ones for reads and writes.",
            "anyOf": [
                generator.subschema_for::<Size>(),
                generator.subschema_for::<Vec<SizeShare>>(),
                generator.subschema_for::<ExponentialSizes>(),
                generator.subschema_for::<SizeByOperation>(),
            ],
        })
    }
}

impl Serialize for SizeSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SizeSpec::One(size) => size.serialize(serializer),
            SizeSpec::Several(sizes) => sizes.serialize(serializer),
            SizeSpec::Exponential(sizes) => sizes.serialize(serializer),
            SizeSpec::ByOperation(sizes) => sizes.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SizeSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sizes;
        impl<'de> Visitor<'de> for Sizes {
            type Value = SizeSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"8 blocks\", a list such as [{ size = \"8 blocks\", share = 1.0 }], { exponential = \"8 blocks\" }, or { reads = …, writes = … }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SizeSpec, E> {
                Size::deserialize(StrDeserializer::new(text)).map(SizeSpec::One)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<SizeSpec, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(SizeSpec::Several)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SizeSpec, A::Error> {
                Keys::deserialize(MapAccessDeserializer::new(map))?.spec()
            }
        }
        deserializer.deserialize_any(Sizes)
    }
}

/// The keys of all forms that are tables, of which one is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    reads: Option<SizeSpec>,
    writes: Option<SizeSpec>,
    trims: Option<SizeSpec>,
    exponential: Option<Size>,
    multiple: Option<Size>,
    most: Option<Size>,
}

impl Keys {
    fn spec<E: de::Error>(self) -> Result<SizeSpec, E> {
        if let Some(exponential) = self.exponential {
            if self.reads.is_some() || self.writes.is_some() || self.trims.is_some() {
                return Err(E::custom(
                    "sizes are exponential, or differ between reads and writes: not both in one table",
                ));
            }
            return Ok(SizeSpec::Exponential(ExponentialSizes {
                multiple: self.multiple.unwrap_or(ExponentialSizes::one_block()),
                exponential,
                most: self.most,
            }));
        }
        if self.multiple.is_some() || self.most.is_some() {
            return Err(E::missing_field("exponential"));
        }
        Ok(SizeSpec::ByOperation(Box::new(SizeByOperation {
            reads: self.reads.ok_or_else(|| E::missing_field("reads"))?,
            writes: self.writes.ok_or_else(|| E::missing_field("writes"))?,
            trims: self.trims,
        })))
    }
}

/// Draws sizes, as indices of a list of all there are.
pub struct Sizes {
    blocks: Vec<u32>,
    tables: Vec<Table>,
    /// Which table holds the sizes of reads, of writes and of trims.
    of_reads: usize,
    of_writes: usize,
    of_trims: usize,
    stream: Stream,
}

/// The sizes of an operation: a run of the list.
struct Table {
    first: usize,
    /// For every size but the last, the sum of the shares up to and with it.
    below: Vec<f64>,
}

impl Sizes {
    /// # Errors
    /// No size, one of no blocks or larger than the drive, shares that do not make 1.
    pub fn new(spec: &SizeSpec, scope: &Scope, capacity: u64) -> Result<Sizes, InputError> {
        let mut sizes = Sizes {
            blocks: Vec::new(),
            tables: Vec::new(),
            of_reads: 0,
            of_writes: 0,
            of_trims: 0,
            stream: scope.stream("size"),
        };
        let mut add = |key: &str, spec: &SizeSpec| sizes.add(spec, key, scope, capacity);
        let [reads, writes, trims] = match spec {
            SizeSpec::ByOperation(by) => {
                let reads = add("size.reads", &by.reads)?;
                let writes = add("size.writes", &by.writes)?;
                let trims = match &by.trims {
                    Some(trims) => add("size.trims", trims)?,
                    None => writes,
                };
                [reads, writes, trims]
            }
            same => [add("size", same)?; 3],
        };
        (sizes.of_reads, sizes.of_writes, sizes.of_trims) = (reads, writes, trims);
        Ok(sizes)
    }

    /// Adds a table and tells its index.
    fn add(
        &mut self,
        spec: &SizeSpec,
        key: &str,
        scope: &Scope,
        capacity: u64,
    ) -> Result<usize, InputError> {
        let (sizes, below) = match spec {
            SizeSpec::One(size) => (vec![size.blocks()], Vec::new()),
            SizeSpec::Several(table) => several(table, key, scope)?,
            SizeSpec::Exponential(sizes) => sizes.table().map_err(|what| scope.wrong(key, what))?,
            SizeSpec::ByOperation(_) => {
                return Err(scope.wrong(key, ": expected a size or a list of sizes and shares"));
            }
        };
        let first = self.blocks.len();
        for size in sizes {
            let small = u32::try_from(size).ok();
            let fits = small.filter(|b| *b > 0 && u64::from(*b) <= capacity);
            self.blocks.push(fits.ok_or_else(|| {
                let most = capacity.min(u64::from(u32::MAX));
                let size = Size::from_blocks(size);
                let error = scope.wrong(key, format!(" is {size}: expected 1 to {most} blocks"));
                match spec {
                    SizeSpec::Exponential(_) => {
                        error.help("the largest of sizes that are exponential is `most`")
                    }
                    _ => error,
                }
            })?);
        }
        self.tables.push(Table { first, below });
        Ok(self.tables.len() - 1)
    }

    /// Every size there is, in blocks; the same one may occur twice.
    pub fn all(&self) -> &[u32] {
        &self.blocks
    }

    /// The size of index `index`, in blocks.
    #[inline]
    pub fn blocks(&self, index: usize) -> u32 {
        self.blocks[index]
    }

    /// Draws the index of a size for a read, write or trim.
    #[inline]
    pub fn next(&mut self, op: Op) -> usize {
        let table = match op {
            Op::Read => self.of_reads,
            Op::Trim => self.of_trims,
            Op::Write | Op::Flush => self.of_writes,
            Op::NvCache(command) => command.is_in_no_workload(),
        };
        let Table { first, below } = &self.tables[table];
        if below.is_empty() {
            return *first;
        }
        let drawn = self.stream.unit();
        first + below.partition_point(|b| drawn >= *b)
    }
}

/// The sizes of a list in blocks, and for each but the last one the share of those up to and with it.
fn several(
    table: &[SizeShare],
    key: &str,
    scope: &Scope,
) -> Result<(Vec<u64>, Vec<f64>), InputError> {
    let mut below = Vec::new();
    let mut sum = 0.0;
    for SizeShare { share, .. } in table {
        if !(0.0..=1.0).contains(share) {
            return Err(scope.wrong(
                key,
                format!(": share is {share}: expected a number from 0 to 1"),
            ));
        }
        sum += share;
        below.push(sum);
    }
    // Shares written with three decimals may miss 1 by as much.
    if (sum - 1.0).abs() > 0.001 {
        return Err(scope.wrong(key, format!(": the shares add up to {sum}: expected 1")));
    }
    // Rounding must not leave a gap at the top, nor give it to a size of share 0.
    let last = table.iter().rposition(|s| s.share > 0.0).unwrap_or(0);
    below.truncate(last);
    below.iter_mut().for_each(|b| *b /= sum);
    let sizes = table[..=last].iter().map(|size| size.size.blocks());
    Ok((sizes.collect(), below))
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
        let exponential = spec("{ exponential = '16 blocks', most = '1 MiB' }");
        assert!(
            matches!(&exponential, SizeSpec::Exponential(sizes) if sizes.multiple.blocks() == 1)
        );
        let text = toml::to_string(&exponential).unwrap();
        assert_eq!(toml::from_str::<SizeSpec>(&text).unwrap(), exponential);
        for bad in [
            "8",
            "'8'",
            "{ multiple = '4 KiB' }",
            "{ exponential = '4 KiB', reads = '4 KiB', writes = '4 KiB' }",
            "{ exponential = '4 KiB', mean = '4 KiB' }",
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
        let mut sizes = Sizes::new(&several, &Scope::only(5), 1000).unwrap();
        assert_eq!(sizes.all(), [1, 2, 4]);
        let mut counts = [0; 3];
        for _ in 0..100_000 {
            counts[sizes.next(Op::Read)] += 1;
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
            "{ exponential = '0 blocks' }",
            "{ exponential = '100 blocks' }",
            "{ exponential = '100 blocks', most = '1001 blocks' }",
        ] {
            let error = Sizes::new(&spec(text), &Scope::only(0), 1000)
                .err()
                .unwrap();
            assert!(error.message.contains("workload.synthetic.size"), "{text}");
        }
        Sizes::new(&spec("'1000 blocks'"), &Scope::only(0), 1000).unwrap();
    }

    #[test]
    fn exponential_sizes_have_their_shares() {
        let pages = spec("{ exponential = '8 blocks', multiple = '8 blocks' }");
        let mut sizes = Sizes::new(&pages, &Scope::only(5), 1000).unwrap();
        let count = 100_000;
        let mut larger = [0.0; 3];
        for _ in 0..count {
            let index = sizes.next(Op::Read);
            let pages = sizes.blocks(index) / 8;
            for (beyond, larger) in larger.iter_mut().enumerate() {
                *larger += f64::from(u8::from(pages > beyond as u32 + 1));
            }
        }
        for (beyond, larger) in larger.into_iter().enumerate() {
            let expected = libm::exp(-(beyond as f64 + 1.0));
            assert!((larger / f64::from(count) - expected).abs() < 0.006);
        }
    }

    #[test]
    fn reads_and_writes_may_differ() {
        let by = spec(
            "{ reads = '4 KiB', writes = [{ size = '1 block', share = 0.5 }, { size = '2 blocks', share = 0.5 }] }",
        );
        let mut sizes = Sizes::new(&by, &Scope::only(5), 1000).unwrap();
        let mut drawn = |op| -> Vec<u32> {
            let mut all: Vec<_> = (0..100)
                .map(|_| {
                    let index = sizes.next(op);
                    sizes.blocks(index)
                })
                .collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        assert_eq!(drawn(Op::Read), [8]);
        assert_eq!(drawn(Op::Write), [1, 2]);
        assert_eq!(drawn(Op::Trim), [1, 2]);
        let text = toml::to_string(&by).unwrap();
        assert_eq!(toml::from_str::<SizeSpec>(&text).unwrap(), by);
        let trims = spec("{ reads = '1 block', writes = '2 blocks', trims = '64 blocks' }");
        let mut sizes = Sizes::new(&trims, &Scope::only(5), 1000).unwrap();
        let trim = sizes.next(Op::Trim);
        assert_eq!(sizes.blocks(trim), 64);
    }

    #[test]
    fn sizes_by_operation_name_their_key() {
        for (text, key) in [
            ("{ reads = '0 blocks', writes = '1 block' }", "size.reads"),
            ("{ reads = '1 block', writes = [] }", "size.writes"),
            (
                "{ reads = '1 block', writes = '1 block', trims = { reads = '1 block', writes = '1 block' } }",
                "size.trims",
            ),
        ] {
            let error = Sizes::new(&spec(text), &Scope::only(0), 1000)
                .err()
                .unwrap();
            assert!(error.message.contains(key), "{error}");
        }
        assert!(toml::from_str::<Spec>("size = { reads = '1 block' }").is_err());
    }
}
