//! DiskSim's modules and their parameters: for each one line with its type, what it may be, and what becomes of it.
//!
//! Names, types, bounds and which parameters are required are those of DiskSim 4.0's module specifications
//! (`src/modules/*.modspec`, `diskmodel/modules/*.modspec`; Bucy et al., "The DiskSim simulation environment version
//! 4.0 reference manual", CMU-PDL-08-101).

mod disk;
mod drive;
mod host;
mod ssd;

pub(super) use disk::DISK;
pub(super) use drive::{DM_DISK, LAYOUT, MECHANICS, ZONE};
pub(super) use host::{BUS, CONTROLLER, DRIVER, GLOBAL, IOMAP, IOSIM, LOGORG, QUEUE};

/// A module and its parameters.
#[derive(Debug)]
pub(super) struct Module {
    /// Its name in files.
    pub(super) name: &'static str,
    /// The parameters it knows.
    pub(super) parameters: &'static [Parameter],
    /// Why it and all its parameters, which are not listed, are left alone.
    pub(super) ignored: Option<&'static str>,
}

/// A parameter of a module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    pub(super) effect: Effect,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A whole number, from least to most.
    Integer(i64, i64),
    /// A number, whole or not, from least to most.
    Float(f64, f64),
    /// A text or number.
    Text,
    /// A list.
    List,
    /// A block of one of these modules.
    Block(&'static [&'static str]),
}

/// What becomes of a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// The conversion reads it.
    Used,
    /// It has no effect on the timing of a single drive, because of this.
    None(&'static str),
    /// It is not converted, which matters, in the way that is told, unless it is this number.
    Unless(f64, &'static str),
}

const fn new(name: &'static str, kind: Kind) -> Parameter {
    Parameter {
        name,
        kind,
        required: true,
        effect: Effect::Used,
    }
}
const fn int(name: &'static str, least: i64, most: i64) -> Parameter {
    new(name, Kind::Integer(least, most))
}
/// A whole number from 0.
const fn count(name: &'static str) -> Parameter {
    int(name, 0, i64::MAX)
}
const fn flag(name: &'static str) -> Parameter {
    int(name, 0, 1)
}
const fn float(name: &'static str, least: f64, most: f64) -> Parameter {
    new(name, Kind::Float(least, most))
}
/// A time in ms.
const fn time(name: &'static str) -> Parameter {
    float(name, 0.0, f64::MAX)
}
const fn text(name: &'static str) -> Parameter {
    new(name, Kind::Text)
}
const fn list(name: &'static str) -> Parameter {
    new(name, Kind::List)
}
const fn block(name: &'static str, modules: &'static [&'static str]) -> Parameter {
    new(name, Kind::Block(modules))
}

impl Parameter {
    const fn optional(mut self) -> Parameter {
        self.required = false;
        self
    }
    const fn effect(mut self, effect: Effect) -> Parameter {
        self.effect = effect;
        self
    }
    const fn none(self, because: &'static str) -> Parameter {
        self.effect(Effect::None(because))
    }
    const fn unless(self, neutral: f64, because: &'static str) -> Parameter {
        self.effect(Effect::Unless(neutral, because))
    }
}

const fn ignored(name: &'static str, because: &'static str) -> Module {
    Module {
        name,
        parameters: &[],
        ignored: Some(because),
    }
}

const PRINTED: &str = "it says what is printed";
const OTHER: &str = "it is no part of a single drive";

/// All modules of DiskSim 4.0.
pub(super) static MODULES: &[&Module] = &[
    &GLOBAL,
    &ignored("disksim_stats", PRINTED),
    &ignored("disksim_iodriver_stats", PRINTED),
    &ignored("disksim_bus_stats", PRINTED),
    &ignored("disksim_ctlr_stats", PRINTED),
    &ignored("disksim_device_stats", PRINTED),
    &ignored("disksim_pf_stats", PRINTED),
    &DRIVER,
    &BUS,
    &CONTROLLER,
    &DISK,
    &QUEUE,
    &DM_DISK,
    &LAYOUT,
    &ZONE,
    &MECHANICS,
    &ignored("dm_layout_g2", OTHER),
    &ignored("dm_layout_g2_zone", OTHER),
    &ignored("dm_layout_g4", OTHER),
    &IOSIM,
    &IOMAP,
    &LOGORG,
    &host::PROCESSES,
    &host::LOAD,
    &host::GENERATOR,
    &host::SYNCSET,
    &host::SIMPLE_DISK,
    &host::CACHE_MEMORY,
    &host::CACHE_DEVICE,
    &ignored("memsmodel_mems", OTHER),
    &ssd::SSD,
];

/// The module of a name.
pub(super) fn find(name: &str) -> Option<&'static Module> {
    MODULES.iter().copied().find(|module| module.name == name)
}

impl Module {
    /// Its parameter of a name.
    pub(super) fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
    }
}

/// What becomes of a parameter of DiskSim's: a row of the documentation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ParameterRow {
    /// The module.
    pub module: &'static str,
    /// The parameter.
    pub parameter: &'static str,
    /// Whether every block of the module must have it.
    pub required: bool,
    /// Whether the import reads it.
    pub used: bool,
    /// Whether there is a warning when its value matters, although the import does not read it.
    pub warned: bool,
    /// Why it is not read, or what the warning says.
    pub because: &'static str,
}

/// What becomes of every parameter, by module.
pub fn parameters() -> Vec<ParameterRow> {
    let rows = MODULES.iter().flat_map(|module| {
        module.parameters.iter().map(|parameter| ParameterRow {
            module: module.name,
            parameter: parameter.name,
            required: parameter.required,
            used: matches!(parameter.effect, Effect::Used),
            warned: matches!(parameter.effect, Effect::Unless(..)),
            because: match parameter.effect {
                Effect::Used => "",
                Effect::None(because) | Effect::Unless(_, because) => because,
            },
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_blocks_are_of_known_modules() {
        let names: BTreeSet<_> = MODULES.iter().map(|module| module.name).collect();
        assert_eq!(names.len(), MODULES.len());
        for module in MODULES {
            let names: BTreeSet<_> = module.parameters.iter().map(|p| p.name).collect();
            assert_eq!(names.len(), module.parameters.len(), "{}", module.name);
            for parameter in module.parameters {
                if let Kind::Block(modules) = parameter.kind {
                    assert!(modules.iter().all(|name| find(name).is_some()));
                }
            }
        }
    }
}
