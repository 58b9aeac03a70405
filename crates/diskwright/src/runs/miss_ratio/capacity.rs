//! How large the caches are: a number of objects, a share of the distinct ones, or a size.

use super::listed::Entry;
use crate::base::error::InputError;
use crate::base::units::{BLOCK_BYTES, Size};

/// The option that lists them.
const OPTION: &str = "--capacity";
const ACCEPTED: &str = "accepted: a number of objects or of cache blocks, such as 500; a percentage of the distinct ones, \
    such as 10%; with --granularity block, a size, such as 64MiB";

/// A capacity as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Capacity {
    /// As it was written.
    pub(super) text: String,
    /// What that means.
    pub(super) amount: CapacityAmount,
}

/// What a capacity means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CapacityAmount {
    /// A number of objects.
    Objects(u64),
    /// A percentage of the distinct objects.
    Percent(f64),
}

impl Capacity {
    /// Reads `A,B,…`; an object is a cache block of `block` where it has a size.
    ///
    /// # Errors
    /// An entry that is no capacity, or one of nothing, with its place; one that is there twice.
    pub(super) fn listed(text: &str, block: Option<Size>) -> Result<Vec<Capacity>, InputError> {
        let entries = Entry::all(OPTION, text)?;
        let mut capacities: Vec<Capacity> = Vec::with_capacity(entries.len());
        for entry in &entries {
            let text = entry.text();
            if capacities.iter().any(|other| other.text == text) {
                return Err(entry.error(format!("the capacity {text} is there twice")));
            }
            capacities.push(Capacity {
                text: text.to_owned(),
                amount: read(entry, block)?,
            });
        }
        Ok(capacities)
    }

    /// The capacity in objects, at least one, where the trace has `distinct` objects; `None` where that must be known and is not.
    pub(super) fn objects(&self, distinct: Option<u64>) -> Option<u64> {
        match self.amount {
            CapacityAmount::Objects(objects) => Some(objects),
            CapacityAmount::Percent(percent) => {
                let objects = libm::round(distinct? as f64 * (percent / 100.0));
                Some((objects as u64).max(1))
            }
        }
    }
}

fn read(entry: &Entry, block: Option<Size>) -> Result<CapacityAmount, InputError> {
    let text = entry.text();
    let wrong = |message: String| Err(entry.error(message).help(ACCEPTED));
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.trim().parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent <= 100.0 => {
                Ok(CapacityAmount::Percent(percent))
            }
            _ => wrong(format!(
                "{text} is no share of the distinct objects: expected more than 0% and up to 100%"
            )),
        };
    }
    if let Ok(objects) = text.replace('_', "").parse::<u64>() {
        return match objects {
            0 => wrong("a cache of nothing always misses".to_owned()),
            objects => Ok(CapacityAmount::Objects(objects)),
        };
    }
    if text.ends_with("block") || text.ends_with("blocks") {
        return wrong(format!(
            "{text}: is it cache blocks or blocks of {BLOCK_BYTES} bytes?"
        ));
    }
    let Ok(size) = text.parse::<Size>() else {
        return wrong(format!("{text} is no capacity"));
    };
    let Some(block) = block else {
        return wrong(format!("{text}: objects have no size"));
    };
    match size.blocks() / block.blocks() {
        0 => wrong(format!(
            "{text} is less than one cache block, which is of {block_bytes} bytes",
            block_bytes = block.bytes()
        )),
        objects => Ok(CapacityAmount::Objects(objects)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_numbers_shares_and_sizes() {
        let block = Some(Size::from_blocks(8));
        let found = Capacity::listed("50,1_000, 10 %,0.5%,64MiB,10 KiB", block).expect("all");
        let amount: Vec<CapacityAmount> = found.iter().map(|capacity| capacity.amount).collect();
        let objects = [50, 1_000, 16_384, 2].map(CapacityAmount::Objects);
        assert_eq!(amount[..2], objects[..2]);
        assert_eq!(
            amount[2..4],
            [CapacityAmount::Percent(10.0), CapacityAmount::Percent(0.5)]
        );
        assert_eq!(amount[4..], objects[2..]);
        let counts: Vec<_> = found.iter().map(|c| c.objects(Some(1_234))).collect();
        assert_eq!(counts, [50, 1_000, 123, 6, 16_384, 2].map(Some));
        assert_eq!(found[2].objects(None), None);
        assert_eq!(found[3].objects(Some(10)), Some(1));
    }

    #[test]
    fn what_is_no_capacity_is_told_with_its_place() {
        let block = Some(Size::from_blocks(8));
        for (text, block, message, place) in [
            ("50,0", block, "a cache of nothing", "--capacity:1:4"),
            ("0%", block, "no share", "--capacity:1:1"),
            ("100.1%", block, "no share", "--capacity:1:1"),
            ("nan%", block, "no share", "--capacity:1:1"),
            ("-5", block, "no capacity", "--capacity:1:1"),
            ("1e3", block, "no capacity", "--capacity:1:1"),
            ("5 blocks", block, "cache blocks or", "--capacity:1:1"),
            ("2 KiB", block, "less than one cache", "--capacity:1:1"),
            ("7,64MiB", None, "have no size", "--capacity:1:3"),
        ] {
            let error = Capacity::listed(text, block).expect_err(text).to_string();
            let has = |part: &str| error.contains(part);
            assert!(
                has(message) && has(place) && has("accepted"),
                "{text}: {error}"
            );
        }
        let twice = Capacity::listed("5,10%, 5", block).expect_err("twice");
        assert!(twice.to_string().contains("5 is there twice"), "{twice}");
    }
}
