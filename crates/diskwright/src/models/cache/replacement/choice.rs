//! A replacement policy as a spec chooses it: one of the registry's, or one that the program brings along.

use super::{Replacement, ReplacementSpec, Setting};
use crate::base::choice::{Choice, CustomPolicies, Family, family_of};

/// The replacement policy of a cache.
pub type ReplacementChoice = Choice<ReplacementSpec>;

/// Replacement policies that a program brings along, by name.
pub type CustomReplacements = CustomPolicies<ReplacementSpec>;

impl Family for ReplacementSpec {
    type Policy = dyn Replacement;
    type Setting = Setting;
    const WORD: &'static str = "replacement policy";
    const DEFINITION: &'static str = "Replacement";
    const DESCRIPTION: &'static str = "Which block leaves the cache when another needs its place.";
    const HOW: &'static str = "run it from Python, with replacements={…}, or from Rust, with a CustomReplacements among the options";
    family_of!(ReplacementSpec);
    fn build(&self, setting: &Setting) -> Box<dyn Replacement> {
        ReplacementSpec::build(self, setting)
    }
}
