//! What may be seen of a serving while it goes on.

use std::ops::ControlFlow;

use crate::base::units::Time;

/// How far the serving is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    /// Requests answered.
    pub answered: u64,
    /// Bytes read and written by them.
    pub bytes: u64,
    /// The sum of their response times, ns of simulated time.
    pub response: u128,
    /// Requests in the device.
    pub in_flight: u32,
    /// The simulated instant.
    pub now: Time,
}

/// Hears what is going on, some twenty times a second; `Break` ends the serving.
pub trait Watcher {
    /// How far the serving is, and how many clients there are.
    fn watch(&mut self, status: &Status, clients: usize) -> ControlFlow<()>;
}

/// Watches nothing.
impl Watcher for () {
    fn watch(&mut self, _: &Status, _: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
