//! What both programs are given: a hybrid drive, and requests.

use diskwright::engine::request::Op;

/// A request or a command of the host.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// When it arrives, ns.
    pub at: u64,
    pub op: Op,
    pub lbn: u64,
    pub blocks: u64,
}

/// A device of constant times, ns, that serves requests in the order of their arrival.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub blocks: u64,
    pub read: u64,
    pub write: u64,
    /// For each block.
    pub per_block: u64,
    pub parallel: usize,
}

/// A motor, ns: it stops when nothing has been read or written for `timeout`, or when it is told to.
#[derive(Clone, Copy, Debug)]
pub struct Motor {
    pub timeout: Option<u64>,
    pub down: u64,
    pub up: u64,
}

/// A hybrid drive and its load.
#[derive(Clone, Debug)]
pub struct Case {
    pub medium: Times,
    pub motor: Option<Motor>,
    pub flash: Times,
    pub command: u64,
    pub power_mode: bool,
    pub high_power: u64,
    pub requests: Vec<Asked>,
}
