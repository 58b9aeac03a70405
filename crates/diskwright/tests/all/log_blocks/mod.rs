//! Maps of blocks with log blocks: merges of each kind against a naive count, closed forms, what has no meaning with them, wear and levelling.

mod closed_forms;
mod counts;
mod drive;
mod naive;
mod refusals;
mod rest;
