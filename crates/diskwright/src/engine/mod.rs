//! Requests, the contract of devices, the event queue, the loop and the checker.

pub mod checker;
pub mod device;
mod event_loop;
pub mod request;
mod stalls;
pub mod timeline;

pub use event_loop::{Engine, Initiator, Port};
