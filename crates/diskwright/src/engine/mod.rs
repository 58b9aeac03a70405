//! Requests, the contract of devices, the event queue, the loop and the checker.

pub mod checker;
pub mod device;
mod event_loop;
pub mod request;
pub mod timeline;
mod token;

pub use event_loop::{Engine, Initiator, Port};
pub use token::Token;
