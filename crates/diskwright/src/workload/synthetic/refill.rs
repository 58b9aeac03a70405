//! When the users of a stream issue again, where they wait for one another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;

use super::scope::Scope;

/// Once every user has a request outstanding, none issues its next one before a number of requests has completed: the queue is filled in
/// batches. As fio's `iodepth_batch_complete_min` and `iodepth_low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RefillSpec {
    /// Completions are taken in groups of this number.
    pub completions: u32,
    /// The users issue again when a group has been taken and at most this number of requests is outstanding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<u32>,
}

impl Default for RefillSpec {
    fn default() -> RefillSpec {
        RefillSpec {
            completions: 1,
            low: None,
        }
    }
}

/// Tells how many users may issue.
#[derive(Clone, Debug)]
pub struct Refill {
    completions: u32,
    low: u32,
    users: u32,
    /// Users that have issued and are not ready for their next request.
    busy: u32,
    /// Users that are ready, and wait.
    ready: u32,
    /// All users have issued since they last waited.
    is_full: bool,
}

impl Refill {
    /// # Errors
    /// Numbers that can never be reached; the message names their key.
    pub(super) fn new(
        spec: RefillSpec,
        users: Option<u32>,
        scope: &Scope,
    ) -> Result<Refill, InputError> {
        let RefillSpec { completions, low } = spec;
        let wrong = |key: &str, found: u32, expected: std::fmt::Arguments<'_>| {
            let what = format_args!(": closed.refill.{key} is {found}: expected {expected}");
            Err(scope.wrong("arrivals", what))
        };
        if completions == 0 {
            return wrong("completions", 0, format_args!("1 or more"));
        }
        if let Some(users) = users {
            if completions > users {
                let most = format_args!("at most {users}, the number of users");
                return wrong("completions", completions, most);
            }
            if let Some(low) = low.filter(|low| *low >= users) {
                let most = format_args!("less than {users}, the number of users");
                return wrong("low", low, most);
            }
        }
        Ok(Refill {
            completions,
            low: low.unwrap_or(u32::MAX),
            users: 0,
            busy: 0,
            ready: 0,
            is_full: false,
        })
    }

    /// The stream begins with a number of users.
    pub fn begin(&mut self, users: u32) {
        self.users = users;
    }

    /// A user issues a request.
    pub fn issue(&mut self) {
        self.busy += 1;
        self.is_full |= self.busy == self.users;
    }

    /// A user is ready for its next request: how many may issue now.
    pub fn ready(&mut self) -> u32 {
        self.busy -= 1;
        self.ready += 1;
        let is_group = self.ready.is_multiple_of(self.completions) || self.busy == 0;
        if self.is_full && !(is_group && self.busy <= self.low) {
            return 0;
        }
        self.is_full = false;
        std::mem::take(&mut self.ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refill(completions: u32, low: Option<u32>, users: u32) -> Refill {
        let spec = RefillSpec { completions, low };
        let mut refill = Refill::new(spec, Some(users), &Scope::only(1)).unwrap();
        refill.begin(users);
        (0..users).for_each(|_| refill.issue());
        refill
    }

    /// How many may issue after each of a number of completions.
    fn after(completions: u32, low: Option<u32>, users: u32) -> Vec<u32> {
        let mut refill = refill(completions, low, users);
        let steps = (0..8).map(|_| {
            let freed = refill.ready();
            (0..freed).for_each(|_| refill.issue());
            freed
        });
        steps.collect()
    }

    #[test]
    fn completions_are_taken_in_groups() {
        assert_eq!(after(1, None, 4), [1; 8]);
        assert_eq!(after(2, None, 4), [0, 2, 0, 2, 0, 2, 0, 2]);
        assert_eq!(after(4, None, 4), [0, 0, 0, 4, 0, 0, 0, 4]);
    }

    #[test]
    fn the_queue_drains_to_its_low_mark() {
        assert_eq!(after(1, Some(3), 4), [1; 8]);
        assert_eq!(after(1, Some(1), 4), [0, 0, 3, 0, 0, 3, 0, 0]);
        assert_eq!(after(1, Some(0), 4), [0, 0, 0, 4, 0, 0, 0, 4]);
        // Groups of two: with three left too many, with one left enough.
        assert_eq!(after(2, Some(2), 5), [0, 0, 0, 4, 0, 0, 0, 4]);
        // The last request is no group.
        assert_eq!(after(2, Some(0), 5), [0, 0, 0, 0, 5, 0, 0, 0]);
    }

    #[test]
    fn users_that_were_held_back_wait_for_nobody() {
        let mut refill = refill(2, None, 4);
        assert_eq!((refill.ready(), refill.ready()), (0, 2));
        refill.issue();
        // Three of four have issued: the queue is not full.
        assert_eq!(refill.ready(), 1);
    }

    #[test]
    fn numbers_can_be_reached() {
        for (completions, low, part) in [
            (0, None, "completions is 0: expected 1 or more"),
            (5, None, "completions is 5: expected at most 4"),
            (1, Some(4), "low is 4: expected less than 4"),
        ] {
            let spec = RefillSpec { completions, low };
            let error = Refill::new(spec, Some(4), &Scope::only(1)).unwrap_err();
            let key = "workload.synthetic.arrivals: closed.refill.";
            assert!(error.message.contains(key), "{}", error.message);
            assert!(error.message.contains(part), "{}", error.message);
            assert!(completions == 0 || Refill::new(spec, None, &Scope::only(1)).is_ok());
        }
    }
}
