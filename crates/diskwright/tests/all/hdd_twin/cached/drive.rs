//! What a cache needs of the drive that it is in front of.

use super::super::specs::{Asked, Case};
use super::Cache;

/// A drive with a cache in front of its queue. Requests have numbers: first those of the host, then those that the cache makes.
pub trait CachedDrive<'a>: Sized {
    fn disk(&self) -> &'a Case;

    fn now(&self) -> u64;

    fn cached(&self) -> &Cache<'a>;

    fn cached_mut(&mut self) -> &mut Cache<'a>;

    fn requests(&self) -> &[Asked];

    /// Adds a request that the cache makes: its number.
    fn add_request(&mut self, asked: Asked) -> usize;

    /// Requests that have ended in this instant, and of which those who made them have not heard yet.
    fn unheard(&self) -> Vec<usize>;

    /// How many slots of the queue are taken.
    fn taken_slots(&self) -> u64;

    /// A request comes to the drive's queue.
    fn comes_to_disk(&mut self, request: usize);

    /// The cache will have served a request of the host at an instant.
    fn served_from_cache_at(&mut self, end: u64, request: usize);

    fn complete(&mut self, request: usize);

    fn count(&mut self, name: &'static str, by: u64);
}
