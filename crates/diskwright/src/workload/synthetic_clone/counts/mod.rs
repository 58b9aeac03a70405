//! Synthetic clones of tables as papers print them: exact counts of requests and blocks.

mod arrivals;
mod cells;
mod lengths;
mod load;
mod mixture;
mod plan;

use crate::base::error::InputError;

use crate::workload::clone_options::Resolved;

pub use self::cells::Counts;
pub use self::load::Load;
pub use self::mixture::{Cell, Mixture};

/// What is chosen for a table: the sizes of all its requests, whatever the seed.
///
/// # Errors
/// Numbers that contradict each other.
pub fn mixture(counts: &Counts, parameters: &Resolved) -> Result<Mixture, InputError> {
    let cells = counts.cells(parameters)?;
    let sizes = mixture::solve(&cells, parameters)?;
    Ok(mixture::summary(&cells, &sizes, parameters))
}

#[cfg(test)]
mod tests;
