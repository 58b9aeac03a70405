//! When a device that is idle goes into which low power state.

mod adaptive;
mod apst;
mod fixed;
mod oracle;

use super::figures::PowerFigures;
use crate::base::error::InputError;
use crate::base::registry::{policies, schema_of_family};
use crate::base::units::Time;

policies! {
    /// A rule that chooses low power states, and its parameters, as a spec names it.
    pub enum PowerPolicySpec of "power policy" builds Result<Box<dyn PowerPolicy>, InputError>,
    for (figures: &PowerFigures) as |parameters| { parameters.build(figures) } {
        Fixed = "fixed" [] in fixed::FixedTimeouts,
        Adaptive = "adaptive" [] in adaptive::AdaptiveTimeout,
        Apst = "apst" [] in apst::ApstTable,
        Oracle = "oracle" [] in oracle::OracleTimeout,
    }
}

schema_of_family!(
    PowerPolicySpec,
    "PowerPolicy",
    "When an idle device goes into which low power state."
);

/// A state to go into once a device has been idle for so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// After how long.
    pub after: Time,
    /// The place of the state in the device's [figures](PowerFigures::low).
    pub state: usize,
}

/// Chooses low power states for the idle periods of a device. It changes nothing but its own memory.
pub trait PowerPolicy: Send {
    /// An idle period begins: adds the states to go into, in the order of their times; a state that is not deeper than the one before is
    /// passed over.
    fn plan(&mut self, timeouts: &mut Vec<Timeout>);

    /// An idle period is over, of this length: from when the device had nothing to do until it was wanted.
    fn ended(&mut self, _length: Time) {}

    /// Whether it has no timeouts, but chooses the state of an idle period when it knows the period's length.
    fn knows_length(&self) -> bool {
        false
    }
}

/// The state of a name, where the device has it.
fn known_state(figures: &PowerFigures, name: &str) -> Result<usize, InputError> {
    let place = figures.low.iter().position(|low| low.state.name() == name);
    place.ok_or_else(|| {
        let known: Vec<&str> = figures.low.iter().map(|low| low.state.name()).collect();
        let known = match known.is_empty() {
            true => "it has no low power state".to_owned(),
            false => format!("it has {}", known.join(", ")),
        };
        InputError::new(format!("the drive has no figures of {name}: {known}")).help(format!(
            "name a state that it has, or give its figures: figures.{name} = {{ power = \"…\", … }} beside policy"
        ))
    })
}
