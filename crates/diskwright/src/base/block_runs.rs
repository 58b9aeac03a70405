//! Runs of blocks: the first one's number, and how many.

/// What is left of a run without another one.
pub fn without(
    (lbn, blocks): (u64, u32),
    (from, count): (u64, u32),
) -> impl Iterator<Item = (u64, u32)> {
    let (end, to) = (lbn + u64::from(blocks), from + u64::from(count));
    let parts = [(lbn, end.min(from)), (lbn.max(to), end)];
    parts
        .into_iter()
        .filter(|(from, to)| from < to)
        .map(|(from, to)| (from, (to - from) as u32))
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn what_lies_in_another_is_left_out() {
        let left = |other| without((10, 10), other).collect::<Vec<_>>();
        for apart in [(0, 10), (20, 10)] {
            assert_eq!(left(apart), [(10, 10)]);
        }
        assert_eq!(left((12, 1)), [(10, 2), (13, 7)]);
        assert_eq!(left((5, 6)), [(11, 9)]);
        assert_eq!(left((19, 9)), [(10, 9)]);
        assert_eq!(left((10, 10)), []);
    }
}
