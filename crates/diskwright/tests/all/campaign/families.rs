//! The families of cases that a campaign tries.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::LazyLock;

use super::{bytes, rules};
use crate::whole_specs::{
    self, Case, Coped, Definitions, Fault, Verdict, array_failures, controller_cuts, flash_cuts,
    hybrid_cuts, judge, judge_once, power_cuts, tier_cuts,
};
use crate::{
    arms_twin, array_twin, controller_twin, driver_twin, hdd_twin, hybrid_twin, pool_twin,
    ssd_twin, tier_twin, timed_twin,
};

/// Random cases of one kind, by their numbers: the same on every machine.
pub struct Family {
    /// Its name in the log.
    pub name: &'static str,
    /// What its cases are, for the summary.
    pub about: &'static str,
    pub cases: Cases,
}

/// How the cases of a family are made and judged.
pub enum Cases {
    /// Specs, drawn by their number.
    Specs(fn(&Definitions, u64) -> Case, fn(&Case) -> Verdict),
    /// What is wrong in the case of a number, if something is; and the case as a text, as small as it gets.
    Told(fn(u64) -> Option<String>, fn(u64) -> String),
    /// What is wrong after the power cut in the case of a number, unless it has none; and the case as a text, as small as it gets.
    Cuts(fn(u64) -> Option<Vec<String>>, fn(u64) -> String),
}

use Cases::{Cuts, Specs, Told};

const fn family(name: &'static str, about: &'static str, cases: Cases) -> Family {
    Family { name, about, cases }
}

/// All families.
pub const FAMILIES: &[Family] = &[
    family(
        "specs",
        "whole specs of all devices and loads",
        Specs(whole_specs::case, judge),
    ),
    family(
        "checked-specs",
        "other whole specs, of which each runs only once, with the checker",
        Specs(other_case, judge_once),
    ),
    family(
        "pool-cuts",
        "power cuts of disks with pools",
        Specs(power_cuts::case, judge_once),
    ),
    family(
        "ssd-cuts",
        "power cuts of SSDs",
        Specs(flash_cuts::case, judge_once),
    ),
    family(
        "mapped-ssd-cuts",
        "power cuts of SSDs with a cached map",
        Specs(flash_cuts::mapped, judge_once),
    ),
    family(
        "logged-ssd-cuts",
        "power cuts of SSDs with a map of blocks",
        Specs(flash_cuts::logged, judge_once),
    ),
    family(
        "striped-ssd-cuts",
        "power cuts of SSDs with parity over their dies",
        Specs(flash_cuts::striped, judge_once),
    ),
    family(
        "tier-cuts",
        "power cuts of cache tiers",
        Specs(tier_cuts::case, judge_once),
    ),
    family(
        "worn-tier-cuts",
        "power cuts of cache tiers that wear out",
        Specs(tier_cuts::worn, judge_once),
    ),
    family(
        "tier-faults",
        "cache tiers with faults",
        Specs(tier_cuts::with_faults, judge),
    ),
    family(
        "hybrid-cuts",
        "power cuts of hybrid drives",
        Specs(hybrid_cuts::case, judge_once),
    ),
    family(
        "hybrid-command-cuts",
        "power cuts of hybrid drives under all commands",
        Cuts(hybrid_twin::cut, hybrid_twin::small_cut),
    ),
    family(
        "hybrid-faults",
        "hybrid drives with faults",
        Specs(hybrid_cuts::with_faults, judge),
    ),
    family(
        "controller-cuts",
        "power cuts of controllers",
        Specs(controller_cuts::case, judge_once),
    ),
    family(
        "controller-faults",
        "controllers with faults",
        Specs(controller_cuts::with_faults, judge),
    ),
    family(
        "array-failures",
        "arrays whose members fail and are rebuilt",
        Specs(array_failures::case, judge_once),
    ),
    family(
        "pool-twin",
        "pools against their twin",
        Told(pool_twin::difference, pool_twin::small),
    ),
    family(
        "hdd-twin",
        "hard disks against their twin",
        Told(hdd_twin::difference, hdd_twin::small),
    ),
    family(
        "arms-twin",
        "disks with several arms, and logs, against their twin",
        Told(arms_twin::difference, arms_twin::small),
    ),
    family(
        "cached-arms-twin",
        "disks with several arms behind a block cache against their twin",
        Told(arms_twin::cached_difference, arms_twin::small_cached),
    ),
    family(
        "striped-ssd-twin",
        "SSDs with parity over their dies against their twin",
        Told(
            ssd_twin::difference_with_parity,
            ssd_twin::small_with_parity,
        ),
    ),
    family(
        "logged-ssd-twin",
        "SSDs with maps of blocks against their twin",
        Told(
            ssd_twin::difference_with_blocks,
            ssd_twin::small_with_blocks,
        ),
    ),
    family(
        "optioned-ssd-twin",
        "SSDs with streams, multi-plane operations, checkpoints and cleaning side by side, against their twin",
        Told(ssd_twin::difference_with_more, ssd_twin::small_with_more),
    ),
    family(
        "ssd-twin",
        "SSDs against their twin",
        Told(ssd_twin::difference, ssd_twin::small),
    ),
    family(
        "timed-twin",
        "devices of known times against their twin",
        Told(timed_twin::difference, timed_twin::small),
    ),
    family(
        "tier-twin",
        "cache tiers against their twin",
        Told(tier_twin::difference, tier_twin::small),
    ),
    family(
        "hybrid-twin",
        "hybrid drives against their twin",
        Told(hybrid_twin::difference, hybrid_twin::small),
    ),
    family(
        "array-twin",
        "arrays against their twin",
        Told(array_twin::difference, array_twin::small),
    ),
    family(
        "driver-twin",
        "drivers against their twin",
        Told(driver_twin::difference, driver_twin::small),
    ),
    family(
        "controller-twin",
        "controllers against their twin",
        Told(controller_twin::difference, controller_twin::small),
    ),
    family(
        "array-of-one",
        "an array of one device is this device",
        Specs(
            rules::a_device_under_poisson_arrivals,
            rules::an_array_of_one_is_its_member,
        ),
    ),
    family(
        "passed-tier",
        "a tier that is passed by is its backing device",
        Specs(
            rules::a_device_under_an_open_load,
            rules::what_passes_a_tier_by_is_not_delayed,
        ),
    ),
    family(
        "twice-as-long",
        "twice the times are twice as long",
        Specs(
            rules::devices_of_constant_times,
            rules::twice_the_times_are_twice_as_long,
        ),
    ),
    family(
        "faster-interface",
        "a faster interface is never slower",
        Specs(rules::a_drive, rules::a_faster_interface_is_never_slower),
    ),
    family(
        "trace-bytes",
        "damaged traces of all formats",
        Told(bytes::trace_is_wrong, bytes::shown_trace),
    ),
    family(
        "spec-bytes",
        "damaged specs",
        Told(bytes::spec_is_wrong, bytes::spec),
    ),
    family(
        "drive-bytes",
        "damaged files of drives",
        Told(bytes::drive_is_wrong, bytes::shown_drive),
    ),
    family(
        "parameter-bytes",
        "damaged files of DiskSim's parameters",
        Told(bytes::parameters_are_wrong, bytes::shown_parameters),
    ),
];

/// A whole spec that the family of `specs` does not have.
fn other_case(definitions: &Definitions, number: u64) -> Case {
    whole_specs::case(definitions, number + OTHERS)
}

/// Where the numbers of other whole specs begin: no campaign gets that far.
const OTHERS: u64 = 1 << 40;

pub fn definitions() -> &'static Definitions {
    static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(Definitions::read);
    &DEFINITIONS
}

impl Family {
    /// Runs the case of a number.
    pub fn attempt(&self, number: u64) -> Verdict {
        let attempt = || match &self.cases {
            Specs(case, judge) => judge(&case(definitions(), number)),
            Told(difference, _) => match difference(number) {
                None => Verdict::Right(Coped::default()),
                Some(how) => Verdict::Wrong(Fault::new("twin", how)),
            },
            Cuts(cut, _) => match cut(number) {
                None => Verdict::Right(Coped::default()),
                Some(faults) if faults.is_empty() => Verdict::Right(Coped {
                    power_cuts: 1,
                    ..Coped::default()
                }),
                Some(faults) => Verdict::Wrong(Fault::new("power cut", faults.join("\n"))),
            },
        };
        catch_unwind(AssertUnwindSafe(attempt))
            .unwrap_or_else(|_| Verdict::Wrong(Fault::new("panic", "outside of a run")))
    }

    /// Writes the case of a number that is wrong into a folder, as small as it gets; as it was drawn until it is small.
    pub fn write_small(&self, number: u64, fault: &Fault, folder: &Path) {
        match &self.cases {
            Specs(case, judge) => {
                let case = case(definitions(), number);
                case.write(folder);
                whole_specs::small(fault, &case, judge).write(folder);
            }
            Told(_, small) | Cuts(_, small) => {
                std::fs::write(folder.join("case.txt"), small(number)).expect("written");
            }
        }
    }
}
