//! What both programs are given: an array of simple devices, faults, and requests.

use std::fmt::Write as _;

use crate::support::twins::trace;
pub use crate::support::twins::{Asked, Simple};

/// How the parity of rows is written.
#[derive(Clone, Copy, Debug)]
pub struct Parity {
    /// The number of units from which on a row is reconstructed; without it, whatever reads fewer units.
    pub threshold: Option<usize>,
    /// Writes wait for the pre-reads of their own chain only.
    pub own_chain: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Layout {
    Stripe {
        unit: u64,
    },
    Mirror {
        read: &'static str,
    },
    Concat,
    Raid4 {
        unit: u64,
        parity: Parity,
    },
    Raid5 {
        unit: u64,
        rows_of_parity: Option<u64>,
        rotation: &'static str,
        parity: Parity,
    },
    Raid6 {
        unit: u64,
        rotation: &'static str,
        parity: Parity,
    },
    Raid10 {
        unit: u64,
        copies: usize,
        read: &'static str,
    },
    ParityStriping {
        unit: u64,
        rotation: &'static str,
        parity: Parity,
    },
}

/// How a spare is filled.
#[derive(Clone, Copy, Debug)]
pub struct Rebuild {
    /// The least time for each block, ns.
    pub per_block: u64,
    /// In blocks.
    pub step: u64,
    /// ns.
    pub delay: u64,
}

/// What happens to a device: a member, or behind the last one a spare.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    Fails(usize),
    /// The member, the first block and the number of blocks that become unreadable.
    Unreadable(usize, u64, u64),
}

/// An array and its load.
#[derive(Clone, Debug)]
pub struct Case {
    pub layout: Layout,
    pub members: Vec<Simple>,
    pub spares: Vec<Simple>,
    /// With spares.
    pub rebuild: Option<Rebuild>,
    pub faults: Vec<(u64, Fault)>,
    pub requests: Vec<Asked>,
}

fn parity_keys(parity: Parity) -> String {
    let mut keys = String::new();
    if let Some(threshold) = parity.threshold {
        _ = write!(keys, ", writes = {{ threshold = {threshold} }}");
    }
    if parity.own_chain {
        keys += ", waits = \"own-chain\"";
    }
    keys
}

impl Layout {
    fn text(&self) -> String {
        match *self {
            Layout::Stripe { unit } => format!("{{ stripe = {{ unit = \"{unit} blocks\" }} }}"),
            Layout::Mirror { read } => format!("{{ mirror = {{ read = \"{read}\" }} }}"),
            Layout::Concat => "\"concat\"".to_owned(),
            Layout::Raid4 { unit, parity } => {
                let keys = parity_keys(parity);
                format!("{{ raid-4 = {{ unit = \"{unit} blocks\"{keys} }} }}")
            }
            Layout::Raid5 {
                unit,
                rows_of_parity,
                rotation,
                parity,
            } => {
                let keys = parity_keys(parity);
                let parity_unit = rows_of_parity.map_or(String::new(), |rows| {
                    format!(", parity_unit = \"{} blocks\"", rows * unit)
                });
                format!(
                    "{{ raid-5 = {{ unit = \"{unit} blocks\", rotation = \"{rotation}\"{parity_unit}{keys} }} }}"
                )
            }
            Layout::Raid6 {
                unit,
                rotation,
                parity,
            }
            | Layout::ParityStriping {
                unit,
                rotation,
                parity,
            } => {
                let name = match self {
                    Layout::Raid6 { .. } => "raid-6",
                    _ => "parity-striping",
                };
                let keys = parity_keys(parity);
                format!(
                    "{{ {name} = {{ unit = \"{unit} blocks\", rotation = \"{rotation}\"{keys} }} }}"
                )
            }
            Layout::Raid10 { unit, copies, read } => format!(
                "{{ raid-10 = {{ unit = \"{unit} blocks\", copies = {copies}, read = \"{read}\" }} }}"
            ),
        }
    }
}

impl Case {
    /// A member, or behind the last one a spare.
    pub fn device(&self, number: usize) -> Simple {
        let mut all = self.members.iter().chain(&self.spares);
        *all.nth(number).expect("a device of the array")
    }

    pub fn trace(&self) -> String {
        trace(&self.requests)
    }

    pub fn spec(&self, trace: &str) -> String {
        let mut text = format!(
            "[workload]\ntrace = '{trace}'\n[measure]\nwarmup = 0\n[device.array]\nlayout = {}\n",
            self.layout.text()
        );
        if let Some(rebuild) = self.rebuild {
            let rate = match rebuild.per_block {
                0 => String::new(),
                ns => format!("rate = \"{} kB/s\", ", 512_000_000 / ns),
            };
            _ = writeln!(
                text,
                "rebuild = {{ {rate}step = \"{} blocks\", delay = \"{} ns\" }}",
                rebuild.step, rebuild.delay
            );
        }
        let members = self.members.iter().map(|device| ("member", device));
        let spares = self.spares.iter().map(|device| ("spare", device));
        for (role, device) in members.chain(spares) {
            text += &format!("[[device.array.{role}]]\n");
            text += &device.text(&format!("device.array.{role}"));
        }
        for (at, fault) in &self.faults {
            let path = |device: usize| match device.checked_sub(self.members.len()) {
                None => format!("array.member[{device}].simple"),
                Some(spare) => format!("array.spare[{spare}].simple"),
            };
            let kind = match *fault {
                Fault::Fails(device) => format!("{{ fail = \"{}\" }}", path(device)),
                Fault::Unreadable(device, from, blocks) => format!(
                    "{{ media-error = {{ device = \"{}\", from = {from}, blocks = {blocks} }} }}",
                    path(device)
                ),
            };
            _ = writeln!(text, "[[fault]]\nat = \"{at} ns\"\nkind = {kind}");
        }
        text
    }

    pub fn shown(&self) -> String {
        format!("{}\n{}", self.spec("trace.csv"), self.trace())
    }
}
