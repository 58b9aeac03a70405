//! What both programs are given: a driver before a device of constant times, and requests.

use std::fmt::Write as _;

use diskwright::engine::request::{Class, Op};

use crate::hdd_twin::specs::{Join, Scheduler};

/// A request of the host; a flush has no blocks.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// When it arrives, ns.
    pub at: u64,
    pub op: Op,
    pub fua: bool,
    pub lbn: u64,
    pub blocks: u64,
    pub class: Class,
    /// When a process begins to wait for it, ns, if one does.
    pub awaited: Option<u64>,
}

/// The device behind the driver. Times are ns; requests are served in the order of their arrival.
#[derive(Clone, Copy, Debug)]
pub struct Simple {
    pub blocks: u64,
    pub read: u64,
    pub write: u64,
    pub parallel: usize,
}

/// When requests have waited too long, ns; the scheduler is that of their own queue, where they have one.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    pub after: u64,
    pub every: u64,
    pub scheduler: Scheduler,
}

/// A driver and its load.
#[derive(Clone, Debug)]
pub struct Case {
    pub device: Simple,
    pub outstanding: Option<usize>,
    pub scheduler: Scheduler,
    pub join: Option<Join>,
    /// The scheduler of urgent requests, where these are told apart.
    pub priority: Option<Scheduler>,
    pub timeout: Option<Timeout>,
    pub requests: Vec<Asked>,
}

impl Case {
    pub fn spec(&self) -> String {
        // The engine's host is the test's; the load is never made.
        let mut text = "[workload.synthetic]\nrequests = 1\narrivals = { poisson = \"1 ms\" }\n\
                        address = \"uniform\"\nsize = \"1 block\"\n[device.driver]\n"
            .to_owned();
        let outstanding = match self.outstanding {
            Some(most) => most.to_string(),
            None => "\"unlimited\"".to_owned(),
        };
        _ = writeln!(
            text,
            "outstanding = {outstanding}\nscheduler = {}",
            self.scheduler.text()
        );
        if let Some(Join {
            most,
            reads,
            writes,
            ..
        }) = self.join
        {
            _ = writeln!(
                text,
                "join = {{ most = \"{most} blocks\", reads = {reads}, writes = {writes} }}"
            );
        }
        if let Some(scheduler) = self.priority {
            _ = writeln!(text, "priority = {{ scheduler = {} }}", scheduler.text());
        }
        if let Some(timeout) = self.timeout {
            let scheduler = match self.priority {
                Some(_) => String::new(),
                None => format!(", scheduler = {}", timeout.scheduler.text()),
            };
            let Timeout { after, every, .. } = timeout;
            _ = writeln!(
                text,
                "timeout = {{ after = \"{after} ns\", every = \"{every} ns\"{scheduler} }}"
            );
        }
        let Simple {
            blocks,
            read,
            write,
            parallel,
        } = self.device;
        _ = writeln!(
            text,
            "[device.driver.device.simple]\ncapacity = \"{blocks} blocks\"\nread = \"{read} ns\"\nwrite = \"{write} ns\"\nparallel = {parallel}"
        );
        text
    }

    pub fn shown(&self) -> String {
        format!("{}\n{:#?}", self.spec(), self.requests)
    }
}
