//! What is mutated, and which tests are its own.

/// A part of the engine with its tests.
pub struct Area {
    pub name: &'static str,
    /// Files, and folders with all their files, below `crates/diskwright/src`.
    pub sources: &'static [&'static str],
    /// Beginnings of names of the library's unit tests.
    pub units: &'static [&'static str],
    /// Beginnings of names of integration tests.
    pub integrations: &'static [&'static str],
}

/// Files that describe, build or report only: their tests are those of specs and of reports.
pub const LEFT_OUT: [&str; 10] = [
    "build.rs",
    "counters.rs",
    "fakes.rs",
    "link.rs",
    "log_build.rs",
    "pictured.rs",
    "power.rs",
    "queues.rs",
    "spec.rs",
    "watch.rs",
];

pub const AREAS: [Area; 4] = [
    Area {
        name: "checker",
        sources: &["engine/checker", "engine/stalls.rs"],
        units: &["engine::"],
        integrations: &["checked_runs::", "checked_arrays::"],
    },
    Area {
        name: "cache",
        sources: &["models/cache", "devices/hdd/cache"],
        units: &["models::cache::", "devices::hdd::cache"],
        integrations: &[
            "replacement::",
            "drive_cache::",
            "miss_ratio::",
            "cache_memory::",
            "hdd_twin::",
            "tier_twin::",
        ],
    },
    Area {
        name: "flash",
        sources: &["models/flash", "devices/ssd"],
        units: &["models::flash::", "devices::ssd::"],
        integrations: &[
            "log_blocks::",
            "ssd_options::",
            "ssd_references::",
            "ssd_twin::",
            "die_trace::",
            "picture::",
        ],
    },
    Area {
        name: "arrays",
        sources: &["devices/array"],
        units: &["devices::array::"],
        integrations: &["arrays::", "checked_arrays::", "array_twin::"],
    },
];
