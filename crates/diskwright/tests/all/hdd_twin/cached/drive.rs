//! What a cache needs of the drive that it is in front of.

use super::super::front::Front;

/// A drive that may have a cache in front of its queue. Requests have numbers: first those of the host, then those that the cache makes.
pub trait CachedDrive<'a>: Sized {
    fn now(&self) -> u64;

    fn front(&self) -> &Front<'a>;

    fn front_mut(&mut self) -> &mut Front<'a>;

    /// How many slots of the queue are taken.
    fn taken_slots(&self) -> u64;

    /// A request comes to the drive's queue.
    fn comes_to_disk(&mut self, request: usize);

    /// The cache will have served a request of the host at an instant.
    fn served_from_cache_at(&mut self, end: u64, request: usize);

    fn count(&mut self, name: &'static str, by: u64);
}
