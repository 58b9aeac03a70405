//! Flash: packages, dies, planes, blocks and pages; where logical units are on them, which blocks are free, and which is cleaned next.
//! No time passes here: what a device does with it, and when, is defined in `docs/model/flash.md`.
//!
//! The place of a piece of data is a *slot*: a page holds one unit of the mapping or several, each in a slot of its own. Slots are
//! numbered by plane, block, page and place in the page.

pub mod allocation;
pub mod blocks;
pub mod failures;
pub mod geometry;
pub mod log_blocks;
pub mod map;
pub mod map_cache;
pub mod separation;
pub mod superblocks;
pub mod timing;
pub mod victims;

#[cfg(test)]
mod tests;
