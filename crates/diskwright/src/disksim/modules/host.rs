//! What stands around a drive: driver, buses, controllers, queues, organisations and loads.

use super::{Module, block, count, flag, float, int, list, text, time};

const ONE_OWNER: &str =
    "drives that share a bus get it in the order in which they ask for it, as with 2";
const DECORATION: &str = "it says where something is written";

/// `disksim_global`.
pub(in crate::disksim) static GLOBAL: Module = Module {
    name: "disksim_global",
    ignored: None,
    parameters: &[
        int("Init Seed", i64::MIN, i64::MAX).optional(),
        flag("Init Seed with time").optional(),
        int("Real Seed", i64::MIN, i64::MAX).optional(),
        flag("Real Seed with time").optional(),
        time("Statistic warm-up time").optional(),
        count("Statistic warm-up IOs").optional(),
        text("Stat definition file").none(super::PRINTED),
        text("Output file for trace of I/O requests simulated")
            .optional()
            .none(DECORATION),
        text("Detailed execution trace").optional().none(DECORATION),
    ],
};

/// `disksim_iodriver`.
pub(in crate::disksim) static DRIVER: Module = Module {
    name: "disksim_iodriver",
    ignored: None,
    parameters: &[
        count("type").none("the run decides how the driver works, not this value"),
        float("Constant access time", -3.0, f64::MAX).unless(
            0.0,
            "DiskSim takes access times from it or from the trace, here the drive is simulated",
        ),
        flag("Use queueing in subsystem"),
        block("Scheduler", &["disksim_ioqueue"]),
    ],
};

/// `disksim_bus`.
pub(in crate::disksim) static BUS: Module = Module {
    name: "disksim_bus",
    ignored: None,
    parameters: &[
        int("type", 1, 2),
        int("Arbitration type", 1, 2).none(ONE_OWNER),
        time("Arbitration time"),
        time("Read block transfer time"),
        time("Write block transfer time"),
        int("Print stats", i64::MIN, i64::MAX).none(super::PRINTED),
    ],
};

/// `disksim_ctlr`.
pub(in crate::disksim) static CONTROLLER: Module = Module {
    name: "disksim_ctlr",
    ignored: None,
    parameters: &[
        int("type", 1, 3),
        time("Scale for delays"),
        time("Bulk sector transfer time"),
        count("Maximum queue length"),
        flag("Print stats").none(super::PRINTED),
        block("Scheduler", &["disksim_ioqueue"]).optional(),
        block("Cache", &["disksim_cachemem", "disksim_cachedev"]).optional(),
        count("Max per-disk pending count").optional(),
    ],
};

/// `disksim_ioqueue`.
pub(in crate::disksim) static QUEUE: Module = Module {
    name: "disksim_ioqueue",
    ignored: None,
    parameters: &[
        int("Scheduling policy", 1, 28),
        int("Cylinder mapping strategy", 0, 6),
        time("Write initiation delay"),
        time("Read initiation delay"),
        count("Sequential stream scheme"),
        count("Maximum concat size"),
        int("Overlapping request scheme", 0, 2),
        count("Sequential stream diff maximum")
            .none("only a sequential stream scheme uses it, and of that there is a warning"),
        int("Scheduling timeout scheme", i64::MIN, i64::MAX),
        count("Timeout time/weight"),
        count("Timeout scheduling"),
        flag("Scheduling priority scheme"),
        count("Priority scheduling"),
    ],
};

/// `disksim_iosim`.
pub(in crate::disksim) static IOSIM: Module = Module {
    name: "disksim_iosim",
    ignored: None,
    parameters: &[
        float("I/O Trace Time Scale", f64::MIN, f64::MAX).optional(),
        list("I/O Mappings").optional(),
    ],
};

/// `disksim_iomap`.
pub(in crate::disksim) static IOMAP: Module = Module {
    name: "disksim_iomap",
    ignored: None,
    parameters: &[
        int("tracedev", i64::MIN, i64::MAX),
        text("simdev"),
        int("locScale", 1, i64::MAX),
        int("sizeScale", 1, i64::MAX),
        count("offset").optional(),
    ],
};

/// `disksim_logorg`.
pub(in crate::disksim) static LOGORG: Module = Module {
    name: "disksim_logorg",
    ignored: None,
    parameters: &[
        text("Addressing mode"),
        text("Distribution scheme"),
        text("Redundancy scheme"),
        text("Components")
            .optional()
            .none("DiskSim 4.0 reads it and does nothing"),
        list("devices"),
        int("Stripe unit", 1, i64::MAX),
        flag("Synch writes for safety"),
        int("Number of copies", 1, i64::MAX),
        int("Copy choice on read", 1, 6),
        float("RMW vs. reconstruct", 0.0, 1.0),
        int("Parity stripe unit", 1, i64::MAX),
        int("Parity rotation type", 1, 4),
        time("Time stamp interval").optional().none(DECORATION),
        time("Time stamp start time").optional().none(DECORATION),
        time("Time stamp stop time").optional().none(DECORATION),
        text("Time stamp file name").optional().none(DECORATION),
    ],
};

/// `disksim_pf`.
pub(super) static PROCESSES: Module = Module {
    name: "disksim_pf",
    ignored: None,
    parameters: &[
        int("Number of processors", 1, i64::MAX),
        time("Process-Flow Time Scale"),
    ],
};

/// `disksim_synthio`.
pub(super) static LOAD: Module = Module {
    name: "disksim_synthio",
    ignored: None,
    parameters: &[
        count("Number of I/O requests to generate"),
        time("Maximum time of trace generated"),
        flag("System call/return with each request"),
        time("Think time from call to request"),
        time("Think time from request to return"),
        list("Generators"),
    ],
};

/// `disksim_synthgen`.
pub(super) static GENERATOR: Module = Module {
    name: "disksim_synthgen",
    ignored: None,
    parameters: &[
        int("Storage capacity per device", 1, i64::MAX),
        list("devices"),
        int("Blocking factor", 1, i64::MAX),
        float("Probability of sequential access", 0.0, 1.0),
        float("Probability of local access", 0.0, 1.0),
        float("Probability of read access", 0.0, 1.0),
        float("Probability of time-critical request", 0.0, 1.0),
        float("Probability of time-limited request", 0.0, 1.0),
        list("Time-limited think times"),
        list("General inter-arrival times"),
        list("Sequential inter-arrival times"),
        list("Local inter-arrival times"),
        list("Local distances"),
        list("Sizes"),
    ],
};

/// `disksim_syncset`.
pub(super) static SYNCSET: Module = Module {
    name: "disksim_syncset",
    ignored: None,
    parameters: &[
        // DiskSim's own synthraid5.parv leaves it out.
        text("type")
            .none("every drive starts at angle 0")
            .optional(),
        list("devices").none("every drive starts at angle 0"),
    ],
};

/// `disksim_simpledisk`.
pub(super) static SIMPLE_DISK: Module = Module {
    name: "disksim_simpledisk",
    ignored: None,
    parameters: &[
        block("Scheduler", &["disksim_ioqueue"]),
        count("Max queue length"),
        int("Block count", 1, i64::MAX),
        time("Bus transaction latency").optional(),
        time("Bulk sector transfer time"),
        flag("Never disconnect").none("nothing but its own requests uses its bus"),
        flag("Print stats").none(super::PRINTED),
        time("Command overhead"),
        time("Constant access time").optional(),
        time("Access time").optional(),
    ],
};

/// `disksim_cachemem`.
pub(super) static CACHE_MEMORY: Module = Module {
    name: "disksim_cachemem",
    ignored: None,
    parameters: &[
        count("Cache size"),
        list("SLRU segments").optional(),
        count("Line size"),
        int("Bit granularity", 1, i64::MAX),
        int("Lock granularity", 1, i64::MAX),
        flag("Shared read locks"),
        count("Max request size"),
        int("Replacement policy", 1, 4),
        flag("Allocation policy"),
        int("Write scheme", 1, 3),
        flag("Flush policy"),
        time("Flush period"),
        float("Flush idle delay", -1.0, f64::MAX),
        count("Flush max line cluster"),
        int("Read prefetch type", 0, 3),
        int("Write prefetch type", 0, 3),
        flag("Line-by-line fetches"),
        count("Max gather"),
    ],
};

/// `disksim_cachedev`.
pub(super) static CACHE_DEVICE: Module = Module {
    name: "disksim_cachedev",
    ignored: None,
    parameters: &[
        count("Cache size"),
        count("Max request size"),
        int("Write scheme", 1, 3),
        flag("Flush policy"),
        time("Flush period").none("a cache device is not flushed periodically, in DiskSim either"),
        float("Flush idle delay", -1.0, f64::MAX),
        text("Cache device"),
        text("Cached device"),
    ],
};
