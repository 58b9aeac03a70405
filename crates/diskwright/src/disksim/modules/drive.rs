//! The drive's hardware: layout and mechanics.

use super::{Module, block, count, float, int, list, text, time};

/// `dm_disk`.
pub(in crate::disksim) static DM_DISK: Module = Module {
    name: "dm_disk",
    ignored: None,
    parameters: &[
        count("Block count"),
        int("Number of data surfaces", 1, i64::MAX),
        int("Number of cylinders", 1, i64::MAX),
        block("Mechanical Model", &["dm_mech_g1"]),
        block("Layout Model", &["dm_layout_g1"]),
    ],
};

/// `dm_layout_g1`.
pub(in crate::disksim) static LAYOUT: Module = Module {
    name: "dm_layout_g1",
    ignored: None,
    parameters: &[
        int("LBN-to-PBN mapping scheme", 0, 2),
        int("Sparing scheme used", 0, 10),
        int("Rangesize for sparing", 1, i64::MAX),
        text("Skew units").optional(),
        list("Zones"),
    ],
};

/// `dm_layout_g1_zone`.
pub(in crate::disksim) static ZONE: Module = Module {
    name: "dm_layout_g1_zone",
    ignored: None,
    parameters: &[
        count("First cylinder number"),
        count("Last cylinder number"),
        int("Blocks per track", 1, i64::MAX),
        float("Offset of first block", f64::MIN, f64::MAX),
        text("Skew units").optional(),
        count("Empty space at zone front"),
        float("Skew for track switch", f64::MIN, f64::MAX).optional(),
        float("Skew for cylinder switch", f64::MIN, f64::MAX).optional(),
        count("Number of spares"),
        list("slips"),
        list("defects"),
    ],
};

/// `dm_mech_g1`.
pub(in crate::disksim) static MECHANICS: Module = Module {
    name: "dm_mech_g1",
    ignored: None,
    parameters: &[
        text("Access time type"),
        time("Constant access time")
            .optional()
            .none("only the access time type \"constant\" uses it, which is refused"),
        text("Seek type"),
        time("Average seek time").optional(),
        time("Constant seek time").optional(),
        time("Single cylinder seek time").optional(),
        time("Full strobe seek time").optional(),
        text("Full seek curve").optional(),
        float("Add. write settling delay", f64::MIN, f64::MAX),
        time("Head switch time"),
        int("Rotation speed (in rpms)", 1, 1_000_000),
        float("Percent error in rpms", 0.0, 100.0)
            .none("DiskSim 4.0 reads it and turns at the nominal speed"),
        list("First ten seek times").optional(),
        list("HPL seek equation values").optional(),
    ],
};
