//! Sizes for the cells: how many requests of each have each mode.
//!
//! Of all mixtures with a cell's mean the one nearest to the weights is taken: shares in proportion to
//! weight × exp(−λ × size), with λ from the mean (E. T. Jaynes, "Information theory and statistical mechanics", Physical Review
//! 106(4), 1957). A share of small requests is met in the same way, with a factor on the weights of the small modes that all
//! cells share. Rounded to whole requests, one request of a cell has fewer blocks than its mode where the cell's blocks need it.

use serde::Serialize;

use crate::base::error::InputError;
use crate::workload::profile::Class;

use super::cells::{CLASSES, Cells, DIRECTIONS, PARTS, bisect};
use crate::workload::clone_options::Resolved;

/// The sizes of a cell's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Requests of each mode.
    pub counts: Vec<u64>,
    /// The mode, by its index, of the one request that has fewer blocks, and how many fewer.
    pub trimmed: Option<(usize, u32)>,
}

impl Sizes {
    /// Requests of a mode that have all its blocks.
    pub fn untrimmed(&self, mode: usize) -> u64 {
        let trimmed = self.trimmed.is_some_and(|(of, _)| of == mode);
        self.counts[mode] - u64::from(trimmed)
    }
}

/// What was chosen for a table of counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mixture {
    /// The sizes in blocks.
    pub modes: Vec<u32>,
    /// The share of requests of at most `small_blocks`.
    pub small_share: f64,
    /// The largest size that counts as small.
    pub small_blocks: u64,
    /// Each cell with its sizes; cells without requests are left out.
    pub cells: Vec<Cell>,
}

/// A cell of the table with its sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// `"first"` or `"again"`: whether the first block had been the first of a request before.
    pub part: &'static str,
    /// `"random"` or `"sequential"`.
    pub class: &'static str,
    /// `"read"` or `"write"`.
    pub direction: &'static str,
    /// Its requests.
    pub requests: u64,
    /// Their blocks.
    pub blocks: u64,
    /// Requests of each mode.
    pub counts: Vec<u64>,
    /// The number of blocks by which one of the requests is smaller than its mode.
    pub trimmed_blocks: u32,
}

/// The sizes of every cell: `sizes[part][class][direction]`.
pub type AllSizes = [[[Sizes; 2]; 2]; 2];

/// The sizes of every cell.
///
/// # Errors
/// A share of small requests that no mixture with these means has.
pub fn solve(cells: &Cells, parameters: &Resolved) -> Result<AllSizes, InputError> {
    let is_small = |mode: &u32| u64::from(*mode) <= parameters.small_blocks;
    let small = parameters
        .modes
        .iter()
        .filter(|mode| is_small(mode))
        .count();
    let all = || {
        cells
            .iter()
            .flatten()
            .flatten()
            .filter(|cell| cell.requests > 0)
    };
    let share_at = |tilt: f64| {
        let small_in = |cell: &Class| {
            let shares = shares(cell, parameters, small, tilt);
            cell.requests as f64 * shares[..small].iter().sum::<f64>()
        };
        let requests: u64 = all().map(|cell| cell.requests).sum();
        all().map(small_in).sum::<f64>() / requests as f64
    };
    let mut tilt = 0.0;
    if let Some(wanted) = parameters.small_share {
        let (least, most) = (share_at(-STEEPEST), share_at(STEEPEST));
        if !(least..=most).contains(&wanted) {
            return Err(InputError::new(format!(
                "small_share is {wanted}: with these means {:.4} to {:.4} of the requests can have {} blocks or fewer",
                libm::ceil(least * 1e4) / 1e4,
                libm::floor(most * 1e4) / 1e4,
                parameters.small_blocks
            )));
        }
        tilt = bisect(-STEEPEST, STEEPEST, |tilt| share_at(tilt) < wanted);
    }
    let modes = &parameters.modes[..];
    let mut found = AllSizes::default();
    for (part, class, direction) in every_cell() {
        let cell = &cells[part][class][direction];
        let shares = shares(cell, parameters, small, tilt);
        found[part][class][direction] = whole(cell, &shares, modes).ok_or_else(|| {
            InputError::new(format!(
                "counts: {} {} requests have {} blocks, which no sizes of {modes:?} blocks give",
                cell.requests, CLASSES[class], cell.blocks
            ))
        })?;
    }
    // Repeated sequential requests follow as new ones did: each of their modes must be among the new ones.
    let [new, again] = &mut found;
    let lacking: Vec<usize> = (0..modes.len())
        .filter(|&mode| again[1].iter().any(|sizes| sizes.counts[mode] > 0))
        .filter(|&mode| new[1].iter().all(|sizes| sizes.untrimmed(mode) == 0))
        .collect();
    if !lacking.is_empty() {
        let direction = usize::from(cells[0][1][1].requests > cells[0][1][0].requests);
        let cell = &cells[0][1][direction];
        let shares = shares(cell, parameters, small, tilt);
        new[1][direction] = whole_with(cell, &shares, modes, &lacking).ok_or_else(|| {
            let sizes: Vec<u32> = lacking.iter().map(|&mode| modes[mode]).collect();
            InputError::new(format!(
                "counts: sequential requests of {sizes:?} blocks come again, and the {} that are new have {} blocks and no room for any",
                cell.requests, cell.blocks
            ))
            .help("with fewer or other parameters.modes the table may be met")
        })?;
    }
    Ok(found)
}

/// The indices of all cells, new requests before repeated ones.
fn every_cell() -> impl Iterator<Item = (usize, usize, usize)> {
    (0..8).map(|cell| (cell / 4, cell / 2 % 2, cell % 2))
}

/// The exponents that are tried go so far: e to this power tips any balance.
const STEEPEST: f64 = 50.0;

/// The shares of the modes in a cell; the first `small` modes have their weights times e^tilt.
fn shares(cell: &Class, parameters: &Resolved, small: usize, tilt: f64) -> Vec<f64> {
    let modes = &parameters.modes;
    if cell.requests == 0 {
        return vec![0.0; modes.len()];
    }
    let mean = cell.blocks as f64 / cell.requests as f64;
    let (first, last) = (f64::from(modes[0]), f64::from(modes[modes.len() - 1]));
    let at = |steepness: f64| -> Vec<f64> {
        // In logarithms, from the largest down, so that nothing overflows.
        let logs = modes.iter().enumerate().map(|(i, mode)| {
            let extra = if i < small { tilt } else { 0.0 };
            let place = (f64::from(*mode) - first) / (last - first).max(1.0);
            libm::log(parameters.weights[i]) + extra - steepness * place
        });
        let logs: Vec<f64> = logs.collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let raised: Vec<f64> = logs.iter().map(|log| libm::exp(log - top)).collect();
        let sum: f64 = raised.iter().sum();
        raised.iter().map(|share| share / sum).collect()
    };
    let mean_of = |shares: &[f64]| -> f64 {
        let blocks = modes.iter().zip(shares);
        blocks.map(|(mode, share)| f64::from(*mode) * share).sum()
    };
    // The steeper, the smaller the mean. The gap between two modes may be a small part of the whole range.
    let steepest = 2.0 * STEEPEST * (last - first).max(1.0);
    let steepness = bisect(-steepest, steepest, |steepness| {
        mean_of(&at(steepness)) > mean
    });
    at(steepness)
}

/// [`whole`], with at least one request of each of these modes.
fn whole_with(cell: &Class, shares: &[f64], modes: &[u32], needed: &[usize]) -> Option<Sizes> {
    let blocks = needed.iter().map(|&mode| u64::from(modes[mode])).sum();
    let rest = Class {
        requests: cell.requests.checked_sub(needed.len() as u64)?,
        blocks: cell.blocks.checked_sub(blocks)?,
    };
    let mut sizes = whole(&rest, shares, modes)?;
    for &mode in needed {
        sizes.counts[mode] += 1;
    }
    Some(sizes)
}

/// Whole requests near these shares, with the cell's blocks; `None` where no modes give such a sum.
fn whole(cell: &Class, shares: &[f64], modes: &[u32]) -> Option<Sizes> {
    let mut counts = apportion(cell.requests, shares);
    let sum = |counts: &[u64]| -> i128 {
        let blocks = modes.iter().zip(counts);
        blocks
            .map(|(mode, count)| i128::from(*mode) * i128::from(*count))
            .sum()
    };
    let mut missing = i128::from(cell.blocks) - sum(&counts);
    // Requests move from mode to mode, by the widest step that does not lead past the sum.
    loop {
        let step = |from: usize, to: usize| i128::from(modes[to]) - i128::from(modes[from]);
        let steps = (0..modes.len())
            .flat_map(|from| (0..modes.len()).map(move |to| (from, to)))
            .filter(|&(from, to)| counts[from] > 0 && step(from, to) * missing.signum() > 0);
        let fitting = steps
            .clone()
            .filter(|&(from, to)| step(from, to).abs() <= missing.abs())
            .max_by_key(|&(from, to)| step(from, to).abs());
        // Where no step fits and blocks are missing, one leads past the sum, and a request gives back what is too much.
        let step_up = || steps.clone().min_by_key(|&(from, to)| step(from, to));
        let Some((from, to)) = fitting.or_else(|| (missing > 0).then(step_up).flatten()) else {
            break;
        };
        let times = (missing / step(from, to))
            .max(1)
            .min(i128::from(counts[from]));
        counts[from] -= times as u64;
        counts[to] += times as u64;
        missing -= times * step(from, to);
    }
    let by = u32::try_from(-missing).ok()?;
    if by == 0 {
        return Some(Sizes {
            counts,
            trimmed: None,
        });
    }
    let mode = (0..modes.len())
        .rev()
        .find(|&mode| counts[mode] > 0 && modes[mode] > by)?;
    let trimmed = Some((mode, by));
    Some(Sizes { counts, trimmed })
}

/// Divides `requests` requests by shares: each part is rounded down, and the rest goes to the largest remainders.
pub fn apportion(requests: u64, shares: &[f64]) -> Vec<u64> {
    let exact = shares.iter().map(|share| share * requests as f64);
    let mut parts: Vec<(u64, f64)> = exact.map(|x| (x as u64, x - libm::floor(x))).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|&a, &b| parts[b].1.total_cmp(&parts[a].1));
    let mut sum: u64 = parts.iter().map(|(part, _)| part).sum();
    for &i in order.iter().cycle().take(2 * order.len()) {
        if sum < requests {
            parts[i].0 += 1;
            sum += 1;
        } else if sum > requests && parts[i].0 > 0 {
            parts[i].0 -= 1;
            sum -= 1;
        }
    }
    parts.into_iter().map(|(part, _)| part).collect()
}

/// What was chosen, for a page to print.
pub fn summary(cells: &Cells, sizes: &AllSizes, parameters: &Resolved) -> Mixture {
    let mut found = Vec::new();
    let (mut small, mut requests) = (0, 0);
    for (p, c, d) in every_cell() {
        let (cell, sizes) = (&cells[p][c][d], &sizes[p][c][d]);
        let modes = parameters.modes.iter().zip(&sizes.counts);
        small += modes
            .filter(|(mode, _)| u64::from(**mode) <= parameters.small_blocks)
            .map(|(_, count)| count)
            .sum::<u64>();
        requests += cell.requests;
        if cell.requests > 0 {
            found.push(Cell {
                part: PARTS[p],
                class: CLASSES[c],
                direction: DIRECTIONS[d],
                requests: cell.requests,
                blocks: cell.blocks,
                counts: sizes.counts.clone(),
                trimmed_blocks: sizes.trimmed.map_or(0, |(_, by)| by),
            });
        }
    }
    Mixture {
        modes: parameters.modes.clone(),
        small_share: small as f64 / requests as f64,
        small_blocks: parameters.small_blocks,
        cells: found,
    }
}
