//! Blocks of members become requests.

/// The widest gap over which reads are joined, in blocks.
const GAP: u64 = 32;

/// Consecutive blocks of a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    pub member: usize,
    pub at: u64,
    pub blocks: u64,
}

impl Run {
    /// The block behind the last one.
    pub fn end(&self) -> u64 {
        self.at + self.blocks
    }

    pub fn meets(&self, other: &Run) -> bool {
        self.member == other.member && self.at < other.end() && other.at < self.end()
    }

    pub fn contains(&self, other: &Run) -> bool {
        self.member == other.member && self.at <= other.at && other.end() <= self.end()
    }

    fn all(&self) -> impl Iterator<Item = (usize, u64)> + use<> {
        let member = self.member;
        (self.at..self.end()).map(move |at| (member, at))
    }
}

/// The blocks of runs.
pub fn blocks(runs: &[Run]) -> Vec<(usize, u64)> {
    runs.iter().flat_map(Run::all).collect()
}

/// The runs of these blocks of members, by member and place.
fn joined(mut blocks: Vec<(usize, u64)>, gap: u64) -> Vec<Run> {
    blocks.sort_unstable();
    blocks.dedup();
    let mut runs: Vec<Run> = Vec::new();
    for (member, block) in blocks {
        match runs.last_mut() {
            Some(run) if run.member == member && block - run.end() <= gap => {
                run.blocks = block + 1 - run.at;
            }
            _ => runs.push(Run {
                member,
                at: block,
                blocks: 1,
            }),
        }
    }
    runs
}

/// What is read for these blocks: short gaps too.
pub fn over_gaps(blocks: Vec<(usize, u64)>) -> Vec<Run> {
    joined(blocks, GAP)
}

/// What is written for these blocks: nothing that lies between.
pub fn of(blocks: Vec<(usize, u64)>) -> Vec<Run> {
    joined(blocks, 0)
}

/// The runs of blocks, by `join`; none of them of several rows, if the blocks of a unit are given.
pub fn by_rows(
    join: impl Fn(Vec<(usize, u64)>) -> Vec<Run>,
    blocks: Vec<(usize, u64)>,
    unit: Option<u64>,
) -> Vec<Run> {
    let Some(unit) = unit else {
        return join(blocks);
    };
    let mut rows: Vec<u64> = blocks.iter().map(|(_, at)| at / unit).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut runs = Vec::new();
    for row in rows {
        let of_row = blocks.iter().filter(|(_, at)| at / unit == row);
        runs.extend(join(of_row.copied().collect()));
    }
    runs.sort_by_key(|run| (run.member, run.at));
    runs
}

/// The parts of units that have these blocks.
pub fn parts(blocks: Vec<(usize, u64)>, unit: u64) -> Vec<Run> {
    by_rows(of, blocks, Some(unit))
}
