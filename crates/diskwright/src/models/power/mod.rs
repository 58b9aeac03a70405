//! What a device draws, and when it goes into states in which it draws less. Defined in `docs/power.md`.
//!
//! A [`PowerControl`] has a device's [figures], the [policy](policies) that says when it goes into which of its low power states,
//! and the [account] of the time and the energy of each. It knows no device: a device tells it when its medium is at work, at
//! rest, and wanted, and hears when that is ready.

pub mod account;
pub mod control;
pub mod figures;
pub mod picture;
pub mod policies;

pub use account::PowerAccount;
pub use control::PowerControl;
pub use figures::{LowState, PowerFigures, PowerState};
pub use policies::{PowerPolicy, PowerPolicySpec};
