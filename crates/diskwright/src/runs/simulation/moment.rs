//! Moments of a run that are known only when it is over.

use super::{RunOptions, SpecSource, run_once};
use crate::base::error::Error;
use crate::engine::window::ArmTraceFrom;
use crate::host::Progress;

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
}

/// When the moment is: a run before the one that is animated tells, which writes nothing. Where nothing is measured there is no
/// such moment, and the animation begins as if none was asked for.
///
/// # Errors
/// As [`run`](super::run).
pub(super) fn find(
    moment: Moment,
    source: &SpecSource,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<ArmTraceFrom, Error> {
    let options = RunOptions {
        check: false,
        requests: None,
        picture: true,
        arm_trace: ArmTraceFrom::Nowhere,
        moment: None,
        fio_report: false,
        keep_requests: false,
        ..options.clone()
    };
    let outcome = run_once(source, &options, progress)?;
    let at = match moment {
        Moment::Busiest => outcome.busiest(),
        Moment::Slowest => outcome.slowest(),
    };
    Ok(at.map_or(ArmTraceFrom::FirstMeasured, ArmTraceFrom::Instant))
}
