//! From sizes to runs: those that are new, each with its place on the device, and how often each kind comes again.
//!
//! A run is a random request and those that follow it sequentially. A run that comes again begins at the first block of one
//! that was new and goes through the same requests, all of them or the first few. So nothing that comes again adds to the
//! working set, and what is new is the working set.

use std::collections::BTreeMap;

use crate::base::error::InputError;
use crate::base::random::Stream;

use super::cells::{Cells, ratio};
use super::lengths::{Lengths, lengths, runs, share_out};
use super::mixture::{AllSizes, Sizes};
use crate::workload::clone_options::Resolved;

/// The shape of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Blocks of the first request.
    pub head: u32,
    /// Blocks of each that follows, but the last.
    pub each: u32,
    /// Blocks of the last that follows.
    pub last: u32,
    /// How many follow.
    pub followers: u32,
}

impl Shape {
    /// Blocks of the request at `index` in the run.
    pub fn blocks(&self, index: u32) -> u32 {
        match index {
            0 => self.head,
            _ if index == self.followers => self.last,
            _ => self.each,
        }
    }

    /// All blocks.
    pub fn extent(&self) -> u64 {
        let between = u64::from(self.followers.saturating_sub(1)) * u64::from(self.each);
        let last = if self.followers > 0 { self.last } else { 0 };
        u64::from(self.head) + between + u64::from(last)
    }
}

/// A run that is new, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct New {
    /// Where it begins.
    pub lbn: u64,
    /// What it is.
    pub shape: Shape,
    /// Whether it is written.
    pub write: bool,
    /// Whether it may come again: the few with a request that is smaller than its mode do not.
    pub whole: bool,
}

/// A kind of run that comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// What is requested.
    pub shape: Shape,
    /// The first request of the run that it repeats: of as many blocks, or, where it has fewer followers than any, more.
    pub head: u32,
    /// Whether it is written.
    pub write: bool,
}

/// All runs of a synthetic clone.
#[derive(Debug)]
pub struct Plan {
    /// The new ones.
    pub new: Vec<New>,
    /// The others, and how many there are of each.
    pub again: Vec<(Kind, u64)>,
}

/// Plans the runs.
///
/// # Errors
/// A table that is too small for its own variety, or a span that is too small for the working set.
pub fn plan(
    cells: &Cells,
    sizes: &AllSizes,
    parameters: &Resolved,
    seed: u64,
) -> Result<Plan, InputError> {
    let modes = &parameters.modes[..];
    let mut new = Vec::new();
    for (direction, write) in [(0, false), (1, true)] {
        let [heads, followers] = [&sizes[0][0][direction], &sizes[0][1][direction]];
        let requests = [0, 1].map(|class| cells[0][class][direction].requests);
        let runs = shared_out(
            followers,
            requests,
            parameters,
            &vec![u64::MAX; modes.len()],
        )?;
        new.extend(new_runs(heads, followers, &runs, modes, write, seed));
    }
    let mut order = Stream::new(seed, "look-alike.order");
    shuffle(&mut new, &mut order);
    let again = again(cells, sizes, parameters, &new)?;
    place(&mut new, parameters, seed)?;
    Ok(Plan { new, again })
}

/// How the followers of each mode are shared out among runs, at most as many runs as there are random requests.
fn shared_out(
    followers: &Sizes,
    [heads, all]: [u64; 2],
    parameters: &Resolved,
    longest: &[u64],
) -> Result<Vec<Lengths>, InputError> {
    let mean = match parameters.run_requests {
        Some(run) => run - 1.0,
        None => 1.0 + ratio(all, heads),
    };
    let mut found: Vec<Lengths> = Vec::new();
    for (mode, &count) in followers.counts.iter().enumerate() {
        if count > 0 && longest[mode] == 0 {
            return Err(too_small(format!(
                "sequential requests of {} blocks come again, and none is new",
                parameters.modes[mode]
            )));
        }
        found.push(lengths(count, mean, longest[mode]));
    }
    let mut sum: u64 = found.iter().map(runs).sum();
    // Rounding, or a mean that leaves no room, may have given a few runs too many: the most numerous are joined.
    while sum > heads {
        let counts = &followers.counts;
        let most = (0..found.len())
            .filter(|&mode| {
                let fewer = runs(&found[mode]).saturating_sub(1);
                fewer > 0 && fewer.saturating_mul(longest[mode]) >= counts[mode]
            })
            .max_by_key(|&mode| runs(&found[mode]));
        let Some(mode) = most else {
            return Err(too_small(format!(
                "{all} sequential requests need {sum} runs, and there are {heads} random requests to begin them"
            )));
        };
        let now = runs(&found[mode]);
        let least = counts[mode].div_ceil(longest[mode]).max(1);
        let wanted = now
            .saturating_sub((sum - heads).div_ceil(2).max(1))
            .max(least);
        found[mode] = share_out(counts[mode], wanted, longest[mode]);
        sum -= now - wanted;
    }
    Ok(found)
}

fn too_small(message: String) -> InputError {
    InputError::new(format!("counts: {message}")).help(
        "with fewer parameters.modes, or another parameters.run_requests, the table may be met",
    )
}

/// New runs of one direction: the first requests in a random order, the first of them with followers.
fn new_runs(
    heads: &Sizes,
    followers: &Sizes,
    runs: &[Lengths],
    modes: &[u32],
    write: bool,
    seed: u64,
) -> Vec<New> {
    let mut found: Vec<New> = Vec::new();
    for (&mode, &count) in modes.iter().zip(&heads.counts) {
        let shape = Shape {
            head: mode,
            each: 0,
            last: 0,
            followers: 0,
        };
        let new = New {
            lbn: 0,
            shape,
            write,
            whole: true,
        };
        found.extend(std::iter::repeat_n(new, count as usize));
    }
    let name = if write { "write" } else { "read" };
    let mut stream = Stream::new(seed, &format!("look-alike.runs.{name}"));
    shuffle(&mut found, &mut stream);
    let mut at = 0;
    for (&mode, lengths) in modes.iter().zip(runs) {
        for (&length, &count) in lengths {
            for new in &mut found[at..at + count as usize] {
                new.shape.each = mode;
                new.shape.last = mode;
                new.shape.followers = length as u32;
            }
            at += count as usize;
        }
    }
    if let Some((mode, by)) = followers.trimmed
        && let Some(new) = found[..at]
            .iter_mut()
            .find(|new| new.shape.last == modes[mode])
    {
        new.shape.last -= by;
        new.whole = false;
    }
    if let Some((mode, by)) = heads.trimmed {
        // One without followers rather, from the end.
        let mut backwards = found.iter_mut().rev();
        if let Some(new) = backwards.find(|new| new.shape.head == modes[mode]) {
            new.shape.head -= by;
            new.whole = false;
        }
    }
    found
}

/// The kinds of runs that come again.
fn again(
    cells: &Cells,
    sizes: &AllSizes,
    parameters: &Resolved,
    new: &[New],
) -> Result<Vec<(Kind, u64)>, InputError> {
    let modes = &parameters.modes[..];
    // The longest of those that may come again, by first request and followers.
    let mut longest: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for new in new.iter().filter(|new| new.whole) {
        let there = longest.entry((new.shape.head, new.shape.each)).or_default();
        *there = (*there).max(new.shape.followers.into());
    }
    let reach = |head: u32, each: u32| longest.get(&(head, each)).copied().unwrap_or(0);
    let mut kinds = Vec::new();
    for (direction, write) in [(0, false), (1, true)] {
        let [heads, followers] = [&sizes[1][0][direction], &sizes[1][1][direction]];
        let requests = [0, 1].map(|class| cells[1][class][direction].requests);
        let most: Vec<u64> = modes
            .iter()
            .map(|&each| {
                modes
                    .iter()
                    .map(|&head| reach(head, each))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let runs = shared_out(followers, requests, parameters, &most)?;
        let mut left = heads.counts.clone();
        // Long ones first, for the fewest new runs are as long.
        let mut by_length: Vec<(u64, usize, u64)> = runs
            .iter()
            .enumerate()
            .flat_map(|(mode, lengths)| lengths.iter().map(move |(&l, &count)| (l, mode, count)))
            .collect();
        by_length.sort_unstable_by(|a, b| b.cmp(a));
        let mut trimmed = followers.trimmed;
        for (length, mode, count) in by_length {
            let each = modes[mode];
            let able: Vec<bool> = modes
                .iter()
                .map(|&head| reach(head, each) >= length)
                .collect();
            let Some(shares) = shared_among(count, &left, &able) else {
                return Err(too_small(format!(
                    "no new runs have {length} requests of {each} blocks behind a first one of a size that is left"
                )));
            };
            for (head, mut number) in shares.into_iter().enumerate() {
                if number == 0 {
                    continue;
                }
                left[head] -= number;
                let mut kind = Kind {
                    shape: Shape {
                        head: modes[head],
                        each,
                        last: each,
                        followers: length as u32,
                    },
                    head: modes[head],
                    write,
                };
                if let Some((of, by)) = trimmed
                    && of == mode
                {
                    trimmed = None;
                    kind.shape.last -= by;
                    kinds.push((kind, 1));
                    kind.shape.last += by;
                    number -= 1;
                }
                kinds.push((kind, number));
            }
        }
        let mut trimmed = heads.trimmed;
        let mut lone = |blocks: u32, number: u64| -> Result<(), InputError> {
            // A first request of the same size, or the next larger one, of which only the beginning comes again.
            let able = new
                .iter()
                .filter(|new| new.whole && new.shape.head >= blocks);
            let Some(head) = able.map(|new| new.shape.head).min() else {
                return Err(too_small(format!(
                    "requests of {blocks} blocks come again, and no new one has as many"
                )));
            };
            let shape = Shape {
                head: blocks,
                each: 0,
                last: 0,
                followers: 0,
            };
            kinds.push((Kind { shape, head, write }, number));
            Ok(())
        };
        for (mode, mut number) in left.into_iter().enumerate() {
            if let Some((of, by)) = trimmed
                && of == mode
                && number > 0
            {
                trimmed = None;
                lone(modes[mode] - by, 1)?;
                number -= 1;
            }
            if number > 0 {
                lone(modes[mode], number)?;
            }
        }
        if trimmed.is_some() {
            return Err(too_small(
                "of the random requests that come again none is without followers".to_owned(),
            ));
        }
    }
    kinds.retain(|(_, number)| *number > 0);
    Ok(kinds)
}

/// Shares a number out among those that are able, in proportion to what is left of each; `None` where that is too little.
fn shared_among(number: u64, left: &[u64], able: &[bool]) -> Option<Vec<u64>> {
    let open = |i: usize| if able[i] { left[i] } else { 0 };
    let room: u64 = (0..left.len()).map(open).sum();
    if room < number {
        return None;
    }
    let mut shares: Vec<u64> = (0..left.len())
        .map(|i| (u128::from(number) * u128::from(open(i)) / u128::from(room.max(1))) as u64)
        .collect();
    let mut missing = number - shares.iter().sum::<u64>();
    while missing > 0 {
        let roomiest = (0..left.len()).max_by_key(|&i| open(i) - shares[i])?;
        shares[roomiest] += 1;
        missing -= 1;
    }
    Some(shares)
}

/// Gives every new run a place: all in a random order, with random gaps, none next to another.
fn place(new: &mut [New], parameters: &Resolved, seed: u64) -> Result<(), InputError> {
    let unit = parameters
        .modes
        .iter()
        .fold(0, |a, &b| gcd(a, u64::from(b)));
    // At least one block between neighbours, so that none follows another by chance.
    let units_of = |new: &New| new.shape.extent() / unit + 1;
    let needed: u64 = new.iter().map(units_of).sum();
    let blocks: u64 = new.iter().map(|new| new.shape.extent()).sum();
    let span = parameters
        .span_blocks
        .unwrap_or_else(|| (2 * blocks).max(needed * unit));
    let Some(slack) = (span / unit).checked_sub(needed) else {
        return Err(InputError::new(format!(
            "span is {span} blocks: the working set, with a gap behind every run, needs {}",
            needed * unit
        )));
    };
    let mut stream = Stream::new(seed, "look-alike.places");
    let mut gaps: Vec<u64> = new.iter().map(|_| stream.below(slack + 1)).collect();
    gaps.sort_unstable();
    let mut order: Vec<u32> = (0..new.len() as u32).collect();
    shuffle(&mut order, &mut stream);
    let mut used = 0;
    for (index, gap) in order.into_iter().zip(gaps) {
        let new = &mut new[index as usize];
        new.lbn = (used + gap) * unit;
        used += units_of(new);
    }
    Ok(())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// R. A. Fisher and F. Yates' shuffle, in R. Durstenfeld's form (Communications of the ACM 7(7), 1964).
fn shuffle<T>(items: &mut [T], stream: &mut Stream) {
    for last in (1..items.len()).rev() {
        let other = stream.below(last as u64 + 1) as usize;
        items.swap(last, other);
    }
}
