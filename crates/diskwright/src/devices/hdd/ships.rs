//! What a drive's file says of how the drive is set when it is sold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::choice::Choice;
use crate::base::error::InputError;
use crate::models::queue::SchedulerChoice;

/// How a drive is set when it is sold; a spec may set it otherwise.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShipsDescription {
    /// Requests that it can hold, the active one among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Which of them is next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerChoice>,
    /// Whether its write cache is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<bool>,
}

/// Schedulers are equal that are written alike.
impl PartialEq for ShipsDescription {
    fn eq(&self, other: &ShipsDescription) -> bool {
        let written = |ships| serde_json::to_value(ships).expect("plain data");
        written(self) == written(other)
    }
}

impl ShipsDescription {
    /// Refuses what no drive ships with.
    ///
    /// # Errors
    /// A queue without slots; a scheduler that only some program has.
    pub fn check(&self) -> Result<(), InputError> {
        if self.queue_depth == Some(0) {
            return Err(InputError::new("a drive that ships with a queue of 0")
                .help("expected queue_depth = 1 or more"));
        }
        if let Some(Choice::Custom(name)) = &self.scheduler {
            let message = format!("a drive that ships with {name:?}, a scheduler of some program");
            return Err(InputError::new(message)
                .help("give it in a spec: [device.hdd.queue] scheduler = { custom = … }"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::document::{Node, from_node};
    use crate::base::error::Source;

    fn ships(text: &str) -> ShipsDescription {
        let tree = Node::parse(&Source::new("drive", text)).expect(text);
        from_node(&tree).expect(text)
    }

    #[test]
    fn it_reads_back_as_it_was_written() {
        for text in [
            "",
            "queue_depth = 128\nwrite_cache = false\n",
            "scheduler = \"satf\"\n",
            "queue_depth = 1\n\n[scheduler.aged-satf]\nweight = 0.04\n",
        ] {
            let read = ships(text);
            assert_eq!(toml::to_string(&read).expect("plain data"), text);
            assert!(read.check().is_ok());
        }
        assert_eq!(ships("scheduler = 'sptf'"), ships("scheduler = 'satf'"));
        assert_ne!(ships("scheduler = 'satf'"), ships("scheduler = 'fcfs'"));
    }

    #[test]
    fn what_no_drive_ships_with_is_refused() {
        for (text, words) in [
            ("queue_depth = 0", ["queue of 0", "1 or more"]),
            (
                "scheduler = { custom = 'mine' }",
                ["\"mine\"", "[device.hdd.queue]"],
            ),
        ] {
            let error = ships(text).check().expect_err(text).to_string();
            for word in words {
                assert!(error.contains(word), "{error}");
            }
        }
    }
}
