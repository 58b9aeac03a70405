//! What a prediction wants to know of the way of a request: its parts, and how long the first wait for the platter was.

use crate::base::units::Time;
use crate::devices::hdd::tally::Tally;
use crate::engine::request::{Part, Parts};

/// The parts of a request's time.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// All of them.
    pub parts: Parts,
    /// The first wait for a sector to come by, where there was one.
    pub first_wait: Option<Time>,
}

impl Tally for Course {
    #[inline]
    fn add(&mut self, part: Part, time: Time) {
        if part == Part::Rotation && self.first_wait.is_none() {
            self.first_wait = Some(time);
        }
        self.parts.add(part, time);
    }

    #[inline]
    fn each(&self, visit: impl FnMut(Part, Time)) {
        Tally::each(&self.parts, visit);
    }
}
