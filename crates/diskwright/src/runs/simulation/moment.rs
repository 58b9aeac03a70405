//! Moments of a run that are known only when it is over.

use super::{Outcome, RunOptions};
use crate::engine::window::ArmTraceFrom;

/// A moment after the warm-up at which a picture shows the devices at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The first at which the most requests are outstanding.
    Busiest,
    /// When the device begins with the slowest request.
    Slowest,
}

impl Moment {
    /// The moments, by their names.
    pub const ALL: [(&'static str, Moment); 2] =
        [("busiest", Moment::Busiest), ("slowest", Moment::Slowest)];

    /// The moment of a name.
    pub fn named(name: &str) -> Option<Moment> {
        let found = Moment::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, moment)| *moment)
    }

    /// The options of the run that finds the moment, which is not the one that is animated and writes nothing.
    pub(super) fn search(self, options: &RunOptions) -> RunOptions {
        RunOptions {
            check: false,
            requests: None,
            picture: true,
            arm_trace: ArmTraceFrom::Nowhere,
            moment: None,
            fio_report: false,
            keep_requests: false,
            ..options.clone()
        }
    }

    /// The options of the run that shows the moment that another one has found. Where nothing is measured there is no such moment, and the
    /// animation begins as if none was asked for.
    pub(super) fn shown(self, found: &Outcome, options: &RunOptions) -> RunOptions {
        let at = match self {
            Moment::Busiest => found.busiest(),
            Moment::Slowest => found.slowest(),
        };
        RunOptions {
            arm_trace: at.map_or(ArmTraceFrom::FirstMeasured, ArmTraceFrom::Instant),
            moment: None,
            ..options.clone()
        }
    }
}
