//! Requests, the contract of devices, the event queue, the loop and the checker.

pub mod access_times;
mod breakdown;
pub mod checker;
pub mod children;
pub mod context;
pub mod device;
mod event_loop;
#[cfg(test)]
pub(crate) mod fakes;
mod faults;
mod initiator;
mod lanes;
mod messages;
mod outages;
pub mod request;
mod stalls;
pub mod timeline;
mod token;
pub mod window;

pub use event_loop::Engine;
pub use faults::Injection;
pub(crate) use faults::Ranges;
pub use initiator::{Initiator, Port};
pub use token::Token;

#[cfg(test)]
mod classes_tests;
#[cfg(test)]
pub(crate) mod tests;
