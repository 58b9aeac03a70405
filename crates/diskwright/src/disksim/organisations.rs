//! From `disksim_logorg` to arrays: which devices are one, and where the blocks of each number are that requests name.

use serde_json::{Value, json};

use super::component::Component;
use super::system::System;
use super::warnings::Warnings;
use crate::base::error::{InputError, suggestion};
use crate::devices::array::{Direction, Geometry, Scheme};

/// A device of the topology, with the driver's queue before it.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its name.
    pub(super) name: String,
    /// Its number among the devices.
    pub(super) number: u32,
    /// How many blocks it has.
    pub(super) blocks: u64,
    /// It as a spec has it.
    pub(super) device: Value,
}

/// Where requests for a number of a device are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The number.
    pub(super) number: u32,
    /// The first block.
    pub(super) offset: u64,
    /// How many blocks.
    pub(super) blocks: u64,
}

/// One or several devices that are one.
#[derive(Clone, Debug)]
pub(super) struct Organised {
    /// It as a spec has it.
    pub(super) device: Value,
    /// How many blocks it has.
    pub(super) blocks: u64,
    /// Which numbers of devices are where in it.
    pub(super) parts: Vec<Part>,
}

/// The devices as the organisations make them, in the order in which these are tried; without organisations each by itself. Those of `caching`
/// cache others, and are left out.
///
/// # Errors
/// Names that no device of the topology has, a device in two organisations, an organisation without a counterpart.
pub(super) fn organise(
    system: &System,
    members: &[Member],
    caching: &[String],
    spindles: &Value,
    warnings: &mut Warnings,
) -> Result<Vec<Organised>, InputError> {
    let mut organisations = system.in_force("disksim_logorg");
    let turn = |name: &str| system.order.iter().position(|other| other == name);
    organisations.sort_by_key(|organisation| turn(&organisation.name));
    if organisations.is_empty() {
        return Ok(members.iter().map(alone).collect());
    }
    let mut taken: Vec<(u32, String)> = Vec::new();
    let mut organised = Vec::new();
    for (index, organisation) in (0..).zip(organisations) {
        let chosen = devices(organisation, members, caching)?;
        for member in &chosen {
            if let Some((_, other)) = taken.iter().find(|(number, _)| *number == member.number) {
                let at = organisation.at("devices");
                let message = format!("{} is in {other}, too", member.name);
                return Err(at
                    .error(message)
                    .help("a device is in one organisation here"));
            }
            taken.push((member.number, organisation.name.clone()));
        }
        organised.append(&mut Reader::new(organisation, index, &chosen, spindles)?.read(warnings)?);
    }
    for member in members {
        if !taken.iter().any(|(number, _)| *number == member.number) {
            warnings.push_text(format!(
                "{} is in no organisation: no request reaches it, and it is left out",
                member.name
            ));
        }
    }
    Ok(organised)
}

/// A device by itself.
fn alone(member: &Member) -> Organised {
    Organised {
        device: member.device.clone(),
        blocks: member.blocks,
        parts: vec![Part {
            number: member.number,
            offset: 0,
            blocks: member.blocks,
        }],
    }
}

/// The devices of an organisation, in its order.
fn devices<'m>(
    organisation: &Component,
    members: &'m [Member],
    caching: &[String],
) -> Result<Vec<&'m Member>, InputError> {
    let mut chosen = Vec::new();
    for item in organisation.list("devices")? {
        let name = item.text("a device")?;
        // It has no blocks of its own.
        if caching.contains(&name) {
            continue;
        }
        let found = members.iter().find(|member| member.name == name);
        let Some(member) = found else {
            let names = members.iter().map(|member| member.name.as_str());
            let meant = suggestion(&name, names);
            let meant = meant.map_or_else(String::new, |meant| format!("did you mean {meant:?}? "));
            return Err(item
                .at
                .error(format!("no device {name:?} in the topology"))
                .help(format!("{meant}expected the names of devices")));
        };
        chosen.push(member);
    }
    match chosen.is_empty() {
        true => Err(organisation
            .at("devices")
            .error("an organisation without devices")),
        false => Ok(chosen),
    }
}

/// Reads one organisation.
struct Reader<'a> {
    organisation: &'a Component,
    /// Its number in the file.
    index: u32,
    devices: &'a [&'a Member],
    spindles: &'a Value,
    distribution: String,
    redundancy: String,
    by_parts: bool,
    /// The blocks of the first device: all are taken to be alike.
    part: u64,
    unit: u64,
}

impl<'a> Reader<'a> {
    fn new(
        organisation: &'a Component,
        index: u32,
        devices: &'a [&'a Member],
        spindles: &'a Value,
    ) -> Result<Reader<'a>, InputError> {
        let mode = organisation.text("Addressing mode")?;
        let by_parts = match mode.as_str() {
            "Parts" => true,
            "Array" => false,
            _ => return Err(unlike(organisation, "Addressing mode", &["Parts", "Array"])),
        };
        Ok(Reader {
            organisation,
            index,
            devices,
            spindles,
            distribution: organisation.text("Distribution scheme")?,
            redundancy: organisation.text("Redundancy scheme")?,
            by_parts,
            part: devices[0].blocks,
            unit: organisation.integer("Stripe unit")?.unsigned_abs(),
        })
    }

    fn read(&self, warnings: &mut Warnings) -> Result<Vec<Organised>, InputError> {
        let organisation = self.organisation;
        let is_striped = match self.distribution.as_str() {
            "Asis" => false,
            "Striped" => true,
            // One device is where the blocks are, whichever is drawn.
            "Random" | "Ideal" if self.devices.len() == 1 && self.redundancy == "Noredun" => {
                warnings.push(
                    organisation.at("Distribution scheme"),
                    "\"Distribution scheme\" is left out: DiskSim drops the addresses of requests, here they are kept",
                );
                false
            }
            "Random" | "Ideal" => {
                return Err(organisation
                    .at("Distribution scheme")
                    .error(format!(
                        "{} has the distribution {}, which drops the addresses of requests",
                        organisation.title(),
                        self.distribution
                    ))
                    .help("accepted: Asis, Striped"));
            }
            _ => {
                return Err(unlike(
                    organisation,
                    "Distribution scheme",
                    &["Asis", "Striped"],
                ));
            }
        };
        if !is_striped && !self.by_parts && self.devices.len() > 1 {
            return Err(organisation
                .at("Addressing mode")
                .error("devices as they are (Asis) have no address space in common")
                .help("Distribution scheme = Asis needs Addressing mode = Parts"));
        }
        match self.redundancy.as_str() {
            "Noredun" if !is_striped => Ok(self.as_they_are()),
            "Noredun" => Ok(vec![self.striped(self.devices)]),
            "Shadowed" => self.mirrored(is_striped, warnings),
            "Parity_rotated" if !is_striped => self.parity_striping().map(|one| vec![one]),
            // Devices as they are, with a parity disk: each has one unit, all of it.
            "Parity_disk" | "Parity_rotated" => {
                let unit = if is_striped { self.unit } else { self.part };
                self.with_parity(unit).map(|one| vec![one])
            }
            _ => Err(unlike(
                organisation,
                "Redundancy scheme",
                &["Noredun", "Shadowed", "Parity_disk", "Parity_rotated"],
            )),
        }
    }

    fn as_they_are(&self) -> Vec<Organised> {
        let cut = |member: &&Member| {
            let mut one = alone(member);
            one.parts[0].blocks = member.blocks.min(self.part);
            if !self.by_parts {
                one.parts[0].number = self.index;
            }
            one
        };
        self.devices.iter().map(cut).collect()
    }

    /// The space of an array of `blocks` blocks of which the devices with these numbers have a part each; `whole` is what DiskSim takes it to
    /// have.
    fn parts(&self, blocks: u64, numbers: impl Iterator<Item = u32>, part: u64) -> Vec<Part> {
        if !self.by_parts {
            let whole = part * numbers.count() as u64;
            // The last block of an array is out of reach there.
            return vec![Part {
                number: self.index,
                offset: 0,
                blocks: whole.saturating_sub(1).min(blocks),
            }];
        }
        let parts = (0..).zip(numbers).map(|(index, number): (u64, u32)| Part {
            number,
            offset: index * part,
            blocks: blocks.saturating_sub(index * part).min(part),
        });
        parts.filter(|part| part.blocks > 0).collect()
    }

    fn array(&self, layout: Value, members: Vec<Value>) -> Value {
        json!({ "array": { "layout": layout, "spindles": self.spindles, "member": members } })
    }

    /// Stripes over devices, or one after the other where a stripe's unit is a whole one.
    fn striped(&self, devices: &[&Member]) -> Organised {
        let members = devices.iter().map(|member| member.device.clone()).collect();
        let numbers = devices.iter().map(|member| member.number);
        let sizes = devices.iter().map(|member| member.blocks);
        self.spread(members, sizes.collect(), numbers)
    }

    fn spread(
        &self,
        members: Vec<Value>,
        sizes: Vec<u64>,
        numbers: impl Iterator<Item = u32>,
    ) -> Organised {
        let count = members.len() as u64;
        let smallest = sizes.iter().copied().min().unwrap_or(0);
        let (layout, blocks) = match self.unit >= smallest {
            true => (json!("concat"), sizes.iter().sum()),
            false => (
                json!({ "stripe": { "unit": format!("{} blocks", self.unit) } }),
                smallest / self.unit * self.unit * count,
            ),
        };
        Organised {
            device: self.array(layout, members),
            blocks,
            parts: self.parts(blocks, numbers, self.part),
        }
    }

    fn mirrored(
        &self,
        is_striped: bool,
        warnings: &mut Warnings,
    ) -> Result<Vec<Organised>, InputError> {
        let name = "Number of copies";
        let copies = self.organisation.count(name)? as usize;
        let count = self.devices.len();
        if copies < 2 || !count.is_multiple_of(copies) {
            let message = format!("{copies} copies on {count} devices");
            return Err(self
                .organisation
                .at(name)
                .error(message)
                .help("expected 2 or more, and a whole number of times as many devices"));
        }
        let read = self.read_choice(warnings)?;
        let data = count / copies;
        let mirror = |first: usize| {
            let members = (0..copies).map(|copy| self.devices[first + copy * data]);
            let blocks = members.clone().map(|member| member.blocks).min();
            let devices = members.map(|member| member.device.clone()).collect();
            let layout = json!({ "mirror": { "read": read.clone() } });
            Organised {
                device: self.array(layout, devices),
                blocks: blocks.unwrap_or(0),
                parts: vec![Part {
                    number: self.devices[first].number,
                    offset: 0,
                    blocks: blocks.unwrap_or(0).min(self.part),
                }],
            }
        };
        let mirrors = (0..data).map(mirror).collect::<Vec<_>>();
        if !is_striped {
            return Ok(mirrors);
        }
        if let [one] = &mirrors[..] {
            let mut one = one.clone();
            if !self.by_parts {
                one.parts[0].number = self.index;
            }
            return Ok(vec![one]);
        }
        let numbers = self.devices[..data].iter().map(|member| member.number);
        let (devices, sizes) = mirrors
            .into_iter()
            .map(|one| (one.device, one.blocks))
            .unzip();
        Ok(vec![self.spread(devices, sizes, numbers)])
    }

    fn read_choice(&self, warnings: &mut Warnings) -> Result<Value, InputError> {
        let name = "Copy choice on read";
        Ok(match self.organisation.integer(name)? {
            1 => json!("first"),
            2 => {
                warnings.push(
                    self.organisation.at(name),
                    "copies that are read at random are read in turn here",
                );
                json!("round-robin")
            }
            3 => json!("round-robin"),
            4 => json!("nearest"),
            _ => json!("least-outstanding"),
        })
    }

    /// How rows with parity are written: the keys of a layout.
    ///
    /// # Errors
    /// Parameters that are missing or make no sense; too few devices.
    fn rows_with_parity(&self, unit: u64) -> Result<Value, InputError> {
        let organisation = self.organisation;
        let count = self.devices.len();
        if count < 3 {
            return Err(organisation
                .at("devices")
                .error(format!("parity over {count} devices"))
                .help("expected 3 or more"));
        }
        let share = organisation.float("RMW vs. reconstruct")?;
        // Of devices as they are a write is always of one unit a row, and modifies that.
        let threshold = match self.distribution.as_str() {
            "Striped" => libm::trunc(share * count as f64) as u64,
            _ => count as u64,
        };
        let waits = match organisation.integer("Synch writes for safety")? {
            0 => "own-chain",
            _ => "all",
        };
        Ok(json!({
            "unit": format!("{unit} blocks"),
            "writes": { "threshold": threshold },
            "waits": waits,
        }))
    }

    fn smallest(&self) -> u64 {
        let smallest = self.devices.iter().map(|member| member.blocks).min();
        smallest.unwrap_or(0)
    }

    /// Stripes of units over devices, with parity.
    fn with_parity(&self, unit: u64) -> Result<Organised, InputError> {
        let organisation = self.organisation;
        let count = self.devices.len() as u64;
        let is_rotated = self.redundancy == "Parity_rotated";
        let name = if is_rotated { "raid-5" } else { "raid-4" };
        let mut layout = self.rows_with_parity(unit)?;
        let mut part = self.part;
        if is_rotated {
            let parity = self.parity_unit()?;
            if !parity.is_multiple_of(unit) {
                return Err(organisation
                    .at("Parity stripe unit")
                    .error(format!("{parity}, with a stripe unit of {unit}"))
                    .help("expected a multiple of it"));
            }
            layout["parity_unit"] = json!(format!("{parity} blocks"));
            layout["rotation"] = json!(match organisation.integer("Parity rotation type")? {
                1 => "left-symmetric",
                2 => "left-asymmetric",
                3 => "right-asymmetric",
                _ => "right-symmetric",
            });
            part = part * (count - 1) / count;
        }
        let numbers = self.devices.iter().map(|member| member.number);
        let numbers = numbers.take(if is_rotated { count } else { count - 1 } as usize);
        let members = self.devices.iter().map(|member| member.device.clone());
        let whole = self.smallest() / unit * unit * (count - 1);
        Ok(Organised {
            device: self.array(json!({ name: layout }), members.collect()),
            blocks: whole,
            parts: self.parts(whole, numbers, part),
        })
    }

    fn parity_unit(&self) -> Result<u64, InputError> {
        let parity = self.organisation.integer("Parity stripe unit")?;
        Ok(parity.unsigned_abs())
    }

    /// Devices as they are, with parity that goes round them.
    fn parity_striping(&self) -> Result<Organised, InputError> {
        let organisation = self.organisation;
        let unit = self.parity_unit()?;
        let mut layout = self.rows_with_parity(unit)?;
        let direction = match organisation.integer("Parity rotation type")? {
            1 | 2 => Direction::Left,
            _ => Direction::Right,
        };
        layout["rotation"] = json!(direction);
        let count = self.devices.len();
        let Some(rows @ 1..) = self.smallest().checked_div(unit) else {
            return Err(organisation
                .at("Parity stripe unit")
                .error(format!("{unit} blocks"))
                .help(format!("expected 1 to {}", self.smallest())));
        };
        let geometry = Geometry {
            scheme: Scheme::ByMember(direction),
            members: count,
            unit,
            rows,
        };
        // DiskSim takes each device to have a unit less.
        let part = (self.part * (count as u64 - 1) / count as u64).saturating_sub(unit);
        let parts = self.devices.iter().enumerate().map(|(index, member)| {
            let blocks = geometry.blocks_of(index);
            Part {
                number: member.number,
                offset: blocks.start,
                blocks: part.min(blocks.end - blocks.start),
            }
        });
        let parts = parts.filter(|part| part.blocks > 0).collect();
        let members = self.devices.iter().map(|member| member.device.clone());
        Ok(Organised {
            device: self.array(json!({ "parity-striping": layout }), members.collect()),
            blocks: geometry.blocks(),
            parts,
        })
    }
}

fn unlike(organisation: &Component, name: &str, accepted: &[&str]) -> InputError {
    let expected = format!("one of {}", accepted.join(", "));
    match organisation.required(name) {
        Ok(item) => item.unlike(name, &expected),
        Err(error) => error,
    }
}
