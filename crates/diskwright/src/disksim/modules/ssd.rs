//! The SSD of DiskSim's extension.
//!
//! Names, types and which parameters are required are those of the extension's module specification (Prabhakaran and Wobber, "SSD extension
//! for DiskSim simulation environment", Microsoft Research, 2009).

use super::{Module, block, count, flag, float, int, time};

/// The most packages that the extension has room for.
const MOST_ELEMENTS: i64 = 64;
/// Numbers of blocks and pages, far beyond those of any drive, of which products can be made.
const MOST: i64 = 1 << 30;

/// `ssdmodel_ssd`.
pub(in crate::disksim) static SSD: Module = Module {
    name: "ssdmodel_ssd",
    ignored: None,
    parameters: &[
        block("Scheduler", &["disksim_ioqueue"]),
        count("Max queue length"),
        count("Block count")
            .optional()
            .none("the extension takes what its flash holds"),
        time("Bus transaction latency").optional(),
        time("Bulk sector transfer time"),
        flag("Never disconnect").none("nothing but its own requests uses its bus"),
        flag("Print stats").none(super::PRINTED),
        time("Command overhead"),
        int("Timing model", 1, 1).none("there is one"),
        int("Flash chip elements", 1, MOST_ELEMENTS),
        int("Page size", 1, MOST),
        int("Pages per block", 2, MOST),
        int("Blocks per element", 1, MOST),
        int("Element stride pages", 1, MOST),
        time("Chip xfer latency"),
        time("Page read latency"),
        time("Page write latency"),
        time("Block erase latency"),
        int("Write policy", 2, 2),
        float("Reserve pages percentage", 0.0, 100.0),
        float("Minimum free blocks percentage", 0.0, 100.0),
        int("Cleaning policy", 2, 3),
        int("Planes per package", 1, MOST),
        int("Blocks per plane", 1, MOST),
        int("Plane block mapping", 1, 3)
            .none("it says where data are at the start, and each plane has as much as any other"),
        flag("Copy back"),
        int("Number of parallel units", 1, MOST),
        int("Elements per gang", 1, MOST_ELEMENTS),
        flag("Cleaning in background"),
        int("Gang share", 1, 2),
        int("Allocation pool logic", 0, 2),
    ],
};
