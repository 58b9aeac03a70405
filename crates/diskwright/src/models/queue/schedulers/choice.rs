//! A scheduler as a spec chooses it: one of the registry's, or one that the program brings along.

use super::{Scheduler, SchedulerSpec};
use crate::base::choice::{Choice, CustomPolicies, Family, family_of};
use crate::base::error::InputError;

/// The scheduler of a queue.
pub type SchedulerChoice = Choice<SchedulerSpec>;

/// Schedulers that a program brings along, by name.
pub type CustomSchedulers = CustomPolicies<SchedulerSpec>;

impl Family for SchedulerSpec {
    type Policy = dyn Scheduler;
    type Setting = ();
    const WORD: &'static str = "scheduler";
    const DEFINITION: &'static str = "Scheduler";
    const DESCRIPTION: &'static str = "Which of the waiting requests is next.";
    const HOW: &'static str =
        "run the spec from Python, with schedulers={…}, or from Rust, with RunOptions::schedulers";
    family_of!(SchedulerSpec);
    fn build(&self, (): &()) -> Box<dyn Scheduler> {
        SchedulerSpec::build(self)
    }
}

impl SchedulerChoice {
    /// The scheduler, ready to run.
    ///
    /// # Errors
    /// `custom` has none of the name.
    pub fn build(&self, custom: &CustomSchedulers) -> Result<Box<dyn Scheduler>, InputError> {
        self.build_for(&(), custom)
    }
}

impl CustomSchedulers {
    /// Brings a scheduler along; `make` is asked for one by each queue that wants it.
    ///
    /// # Errors
    /// The name is one of the registry's, or empty.
    pub fn add(
        &mut self,
        name: &str,
        make: impl Fn() -> Box<dyn Scheduler> + Send + Sync + 'static,
    ) -> Result<(), InputError> {
        self.add_for(name, move |()| make())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::registry::CUSTOM;

    fn read(text: &str) -> Result<SchedulerChoice, InputError> {
        let source = crate::base::error::Source::new("spec", format!("it = {text}"));
        let tree = crate::base::document::Node::parse(&source).expect("TOML");
        crate::base::document::from_node(tree.get("it").expect("the key"))
    }

    fn custom() -> CustomSchedulers {
        let mut custom = CustomSchedulers::default();
        let fcfs = || SchedulerSpec::default().build();
        custom.add("mine", fcfs).expect("a free name");
        for taken in ["", "fcfs", "sptf", CUSTOM] {
            let error = custom.add(taken, fcfs).expect_err(taken);
            assert!(error.to_string().contains("batch-satf"), "{error}");
        }
        custom
    }

    #[test]
    fn a_choice_is_the_registrys_or_the_programs() {
        for (text, name, written) in [
            ("'sptf'", "satf", r#""satf""#),
            (
                "{ v-scan = { r = 0.5 } }",
                "v-scan",
                r#"{"v-scan":{"r":0.5,"by":"cylinder"}}"#,
            ),
            ("{ custom = 'mine' }", "mine", r#"{"custom":"mine"}"#),
        ] {
            let choice = read(text).expect(text);
            assert_eq!(choice.name(), name);
            assert_eq!(serde_json::to_string(&choice).expect("plain data"), written);
            assert!(choice.build(&custom()).is_ok());
        }
    }

    #[test]
    fn what_nobody_brought_along_is_told() {
        for (text, custom, words) in [
            (
                "{ custom = 'mine' }",
                CustomSchedulers::default(),
                "schedulers={…}",
            ),
            ("{ custom = 'mne' }", custom(), "did you mean \"mine\""),
        ] {
            let error = read(text).expect(text).build(&custom).err().expect(text);
            assert!(error.to_string().contains(words), "{error}");
        }
        for text in [
            "'mine'",
            "'custom'",
            "{ custom = 1 }",
            "{ fcfs = { r = 1 } }",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
