//! What a spec says of a drive's queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, InputError};
use crate::base::units::Size;
use crate::models::queue::SchedulerChoice;
use crate::models::queue::clustering::{Clustering, MergedPlace, Slots};

/// A drive's queue.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QueueSpec {
    /// The slots: the active request and those that wait. Default: as the drive ships, or 32 where its file has no depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The choice of the next request. Default: as the drive ships, or `"fcfs"` where its file has no scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerChoice>,
    /// Requests that continue one another become one of at most this size; without it, none do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clustering: Option<Size>,
    /// The slots of a merged request. Default: `"parts"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<Slots>,
    /// The turn of a merged request in the order of arrival. Default: `"oldest"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_place: Option<MergedPlace>,
}

impl QueueSpec {
    /// How its requests are merged.
    ///
    /// # Errors
    /// The key and what is wrong with its value: a threshold that no two requests fit, or a key about merged requests where none
    /// are.
    pub fn clustering(&self) -> Result<Option<Clustering>, (&'static str, Error)> {
        let Some(threshold) = self.clustering else {
            let idle = [
                ("slots", self.slots.is_some()),
                ("merged_place", self.merged_place.is_some()),
            ];
            return match idle.iter().find(|(_, is_given)| *is_given) {
                Some(&(key, _)) => {
                    let error = InputError::new(format!(
                        "{key} is about merged requests, and none are merged"
                    ));
                    Err((
                        key,
                        error
                            .help("give a threshold: clustering = \"32 blocks\"")
                            .into(),
                    ))
                }
                None => Ok(None),
            };
        };
        if threshold.blocks() < 2 {
            let error =
                InputError::new(format!("a threshold of {threshold} merges no two requests"));
            return Err((
                "clustering",
                error.help("accepted: 2 blocks or more").into(),
            ));
        }
        Ok(Some(Clustering {
            threshold: threshold.blocks(),
            slots: self.slots.unwrap_or_default(),
            place: self.merged_place.unwrap_or_default(),
        }))
    }
}
