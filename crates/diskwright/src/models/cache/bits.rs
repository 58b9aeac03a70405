//! Runs of ones and zeros in rows of words.

const BITS: usize = u64::BITS as usize;

/// The ones of a word from `from` to below `end`, which is after it.
fn ones(from: usize, end: usize) -> u64 {
    (u64::MAX >> (BITS - (end - from))) << from
}

/// Each word that the bits from `first` to below `end` are in, and which of its bits those are.
fn words(first: usize, end: usize) -> impl Iterator<Item = (usize, u64)> {
    (first / BITS..end.div_ceil(BITS)).map(move |word| {
        let origin = word * BITS;
        let bits = ones(first.max(origin) - origin, end.min(origin + BITS) - origin);
        (word, bits)
    })
}

/// Sets the bits from `first` to below `end`.
pub(super) fn set(row: &mut [u64], first: u32, end: u32) {
    words(first as usize, end as usize).for_each(|(word, bits)| row[word] |= bits);
}

/// Clears the bits from `first` to below `end`.
pub(super) fn clear(row: &mut [u64], first: u32, end: u32) {
    words(first as usize, end as usize).for_each(|(word, bits)| row[word] &= !bits);
}

/// How many bits are set.
pub(super) fn count(row: &[u64]) -> u32 {
    row.iter().map(|word| word.count_ones()).sum()
}

/// The first bit from `first` to below `end` that is set, or that is not.
fn find(row: &[u64], is_set: bool, first: u32, end: u32) -> Option<u32> {
    words(first as usize, end as usize).find_map(|(word, bits)| {
        let found = if is_set { row[word] } else { !row[word] } & bits;
        (found != 0).then(|| (word * BITS) as u32 + found.trailing_zeros())
    })
}

/// The last bit from `first` to below `end` that is not set.
pub(super) fn last_clear(row: &[u64], first: u32, end: u32) -> Option<u32> {
    let mut found = None;
    for (word, bits) in words(first as usize, end as usize) {
        let clear = !row[word] & bits;
        if clear != 0 {
            found = Some((word * BITS) as u32 + clear.ilog2());
        }
    }
    found
}

/// The first run of bits that are set, or that are not, from `first` to below `end`: where it begins and where it ends.
pub(super) fn next_run(row: &[u64], is_set: bool, first: u32, end: u32) -> Option<(u32, u32)> {
    let from = find(row, is_set, first, end)?;
    Some((from, find(row, !is_set, from, end).unwrap_or(end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agree_with_a_row_of_truths(changes in prop::collection::vec((any::<bool>(), 0u32..200, 1u32..200), 1..20)) {
            let (mut row, mut model) = ([0u64; 4], [false; 256]);
            for (is_set, first, blocks) in changes {
                let end = (first + blocks).min(256);
                let change = if is_set { set } else { clear };
                change(&mut row, first, end);
                model[first as usize..end as usize].fill(is_set);
                prop_assert_eq!(count(&row), model.iter().filter(|bit| **bit).count() as u32);
                let within = &model[first as usize..];
                let found = |wanted| within.iter().position(|bit| *bit == wanted).map(|at| first + at as u32);
                let last = within.iter().rposition(|bit| !bit).map(|at| first + at as u32);
                prop_assert_eq!(last_clear(&row, first, 256), last);
                for wanted in [false, true] {
                    let from = found(wanted);
                    let run = from.map(|from| {
                        let rest = model[from as usize..].iter().take_while(|bit| **bit == wanted);
                        (from, from + rest.count() as u32)
                    });
                    prop_assert_eq!(next_run(&row, wanted, first, 256), run);
                }
            }
        }
    }
}
