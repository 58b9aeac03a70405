//! The requests that a device is warmed with before the run.

use super::Checked;
use crate::base::error::{Error, InputError};
use crate::devices::assembly::WarmingLoad;
use crate::engine::request::Command;
use crate::workload::{Workload, WorkloadSpec};

impl Checked {
    /// Gives the requests of a load to `wanted`, in order, until that says that it wants no more.
    ///
    /// # Errors
    /// A trace that cannot be read; popular places of a load that has none.
    pub(super) fn warm(
        &self,
        load: &WarmingLoad<'_>,
        capacity: u64,
        wanted: &mut dyn FnMut(&Command) -> bool,
    ) -> Result<(), Error> {
        let spec = match load {
            WarmingLoad::Own | WarmingLoad::Ranks if self.is_served => {
                let error =
                    InputError::new("there is no load to warm with: requests come from clients");
                return Err(error.help("accepted: a trace, or no warming").into());
            }
            WarmingLoad::Trace(path) => WorkloadSpec {
                trace: Some(path.to_path_buf()),
                ..WorkloadSpec::default()
            },
            WarmingLoad::Own | WarmingLoad::Ranks => self.spec.workload.clone(),
        };
        let mut workload = Workload::open(&spec, &self.base, self.spec.seed, capacity)?;
        if let WarmingLoad::Ranks = load {
            let places = workload.popular_places().ok_or_else(|| {
                let error = InputError::new("the load has no ranks of popularity");
                Error::from(error.help("accepted: one synthetic load whose address is zipf"))
            })?;
            places.take_while(|command| wanted(command)).for_each(drop);
            return Ok(());
        }
        if workload.is_endless() {
            let error = InputError::new(
                "only durations end the load: it has no number of requests to warm with",
            );
            return Err(error.help("give the load requests, too").into());
        }
        while let Some(arrival) = workload.next()? {
            if !wanted(&arrival.command) {
                break;
            }
        }
        Ok(())
    }
}
