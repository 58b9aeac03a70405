//! The link between a host and a device as a resource that commands, data and completions share: Serial ATA, which carries one direction at a
//! time, and PCI Express, which carries both.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::Time;
use crate::base::units::quantities::Rate;

/// Which way something crosses a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the host to the device.
    ToDevice,
    /// From the device to the host.
    ToHost,
}

/// The link to the host: its rate and what a command costs follow from its standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkDescription {
    /// Serial ATA with native command queueing: one direction at a time.
    Sata(SataDescription),
    /// NVM Express over PCI Express: both directions at once.
    Pcie(PcieDescription),
}

/// A Serial ATA link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SataDescription {
    /// Its generation: 1.5, 3 or 6 Gbit/s.
    #[serde(default = "third")]
    #[schemars(range(min = 1, max = 3))]
    pub generation: u8,
    /// The handshakes of a frame: from when the link is free until the frame begins, and from its end until the link is free.
    #[serde(default = "no_time")]
    pub handshake: Time,
}

/// A PCI Express link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcieDescription {
    /// Its generation: 2.5, 5, 8, 16 or 32 GT/s for each lane.
    #[schemars(range(min = 1, max = 5))]
    pub generation: u8,
    /// How many lanes.
    #[schemars(range(min = 1, max = 16))]
    pub lanes: u8,
    /// The most bytes of data of a packet.
    #[serde(default = "payload")]
    #[schemars(range(min = 128, max = 4096))]
    pub payload: u32,
    /// From when the link has carried something until it is at the other end.
    #[serde(default = "no_time")]
    pub latency: Time,
}

fn third() -> u8 {
    3
}

fn payload() -> u32 {
    256
}

fn no_time() -> Time {
    Time::ZERO
}

/// The longest handshake or latency.
const LONGEST: Time = Time::from_ms(1);
/// Bytes of data of a Serial ATA frame, at most, and what it has beside them: its header. Serial ATA 3.2, 10.5 (Data FIS).
const SATA_PAYLOAD: u32 = 8192;
const SATA_HEADER: u32 = 4;
/// Bytes around every frame: start, checksum and end. Serial ATA 3.2, 9.
const SATA_FRAMING: u32 = 12;
/// The frame with which the device asks for each frame of data: DMA Activate.
const SATA_ACTIVATE: u32 = 4;
/// Frames of a queued command: to the device, the one back that releases the link, and the one that sets up the transfer.
const SATA_COMMAND: [u32; 3] = [20, 20, 28];
/// The frame that ends a queued command: Set Device Bits.
const SATA_END: u32 = 8;
/// Bytes that a packet has beside its data: framing 4, header with an address of 64 bits 16, checksum 4. PCI Express Base 3.0, 2.2 and 4.2.2.
const PCIE_HEADER: u32 = 24;
/// Data of the packets of a command: the entry of the submission queue and the doorbell. NVM Express 1.4, 4.2 and 3.1.
const NVME_COMMAND: [u32; 2] = [64, 4];
/// Data of those of its end: the entry of the completion queue and the interrupt.
const NVME_END: [u32; 2] = [16, 4];

impl LinkDescription {
    /// The link, which carries nothing yet.
    ///
    /// # Errors
    /// A generation, lanes, a packet or a time that the standard does not have.
    pub fn build(&self) -> Result<Link, InputError> {
        match self {
            LinkDescription::Sata(sata) => sata.build(),
            LinkDescription::Pcie(pcie) => pcie.build(),
        }
    }
}

impl SataDescription {
    fn build(&self) -> Result<Link, InputError> {
        if !(1..=3).contains(&self.generation) {
            let error = InputError::new(format!("Serial ATA of generation {}", self.generation));
            return Err(error.help("accepted: 1 to 3"));
        }
        check_time("a handshake", self.handshake)?;
        // Of every ten bits eight are data.
        let rate = rate(150_000_000 << (self.generation - 1));
        let each = |bytes: u32| rate.time(u64::from(bytes + SATA_FRAMING)) + self.handshake;
        let around = SATA_HEADER + SATA_FRAMING;
        Ok(Link {
            payload: SATA_PAYLOAD,
            around: [around + SATA_ACTIVATE + SATA_FRAMING, around],
            handshake: [self.handshake + self.handshake, self.handshake],
            latency: Time::ZERO,
            command: SATA_COMMAND.into_iter().map(each).sum(),
            end: each(SATA_END),
            is_shared: true,
            ..Link::new(rate)
        })
    }
}

impl PcieDescription {
    fn build(&self) -> Result<Link, InputError> {
        if !(1..=5).contains(&self.generation) {
            let error = InputError::new(format!("PCI Express of generation {}", self.generation));
            return Err(error.help("accepted: 1 to 5"));
        }
        if !(self.lanes.is_power_of_two() && self.lanes <= 16) {
            let error = InputError::new(format!("{} lanes", self.lanes));
            return Err(error.help("accepted: 1, 2, 4, 8 or 16"));
        }
        if !(self.payload.is_power_of_two() && (128..=4096).contains(&self.payload)) {
            let error = InputError::new(format!("packets of {} bytes", self.payload));
            return Err(error.help("accepted: 128, 256, 512, 1024, 2048 or 4096"));
        }
        check_time("a latency", self.latency)?;
        let lanes = u64::from(self.lanes);
        let bytes_per_s = match self.generation {
            // Of every ten bits eight are data.
            1 | 2 => lanes * (250_000_000 << (self.generation - 1)),
            // Of every 130 bits 128 are data.
            _ => lanes * (1_000_000_000 << (self.generation - 3)) * 128 / 130,
        };
        let rate = rate(bytes_per_s);
        let each = |bytes: u32| rate.time(u64::from(bytes + PCIE_HEADER));
        Ok(Link {
            payload: self.payload,
            around: [PCIE_HEADER; 2],
            latency: self.latency,
            command: NVME_COMMAND.into_iter().map(each).sum(),
            end: NVME_END.into_iter().map(each).sum(),
            is_shared: false,
            ..Link::new(rate)
        })
    }
}

fn rate(bytes_per_s: u64) -> Rate {
    Rate::from_bytes_per_s(bytes_per_s).expect("more than none")
}

fn check_time(what: &str, time: Time) -> Result<(), InputError> {
    if time > LONGEST {
        let error = InputError::new(format!("{what} of {time}"));
        return Err(error.help(format!("at most {LONGEST}")));
    }
    Ok(())
}

/// A link, and until when it carries what it was given.
#[derive(Clone, Debug)]
pub struct Link {
    rate: Rate,
    /// The most bytes of data of a frame.
    payload: u32,
    /// Those that a frame costs beside them, and what passes beside these: to the device, to the host.
    around: [u32; 2],
    handshake: [Time; 2],
    /// From when it has carried something until that is at the other end.
    pub latency: Time,
    /// What a command keeps it for.
    pub command: Time,
    /// What the end of a command keeps it for.
    pub end: Time,
    /// Both directions are one.
    is_shared: bool,
    free_at: [Time; 2],
    busy: [Time; 2],
    /// Where both directions are one: which way what it has been given goes, and until when, as far as it was not yet carried.
    given: VecDeque<(Direction, Time)>,
}

impl Link {
    fn new(rate: Rate) -> Link {
        Link {
            rate,
            payload: 1,
            around: [0; 2],
            handshake: [Time::ZERO; 2],
            latency: Time::ZERO,
            command: Time::ZERO,
            end: Time::ZERO,
            is_shared: false,
            free_at: [Time::ZERO; 2],
            busy: [Time::ZERO; 2],
            given: VecDeque::new(),
        }
    }

    /// The time that `bytes` bytes of data occupy the link.
    #[inline]
    pub fn time(&self, direction: Direction, bytes: u64) -> Time {
        let frames = bytes.div_ceil(self.payload.into());
        let around = u64::from(self.around[direction as usize]);
        let time = self.rate.time(bytes + frames * around);
        time + Time::from_ns(self.handshake[direction as usize].ns() * frames)
    }

    /// It carries something behind all that it was given before for this direction, or at all if both are one; until when.
    #[inline]
    pub fn carry(&mut self, direction: Direction, time: Time, now: Time) -> Time {
        self.busy[direction as usize] += time;
        if !self.is_shared {
            let free_at = &mut self.free_at[direction as usize];
            *free_at = now.max(*free_at) + time;
            return *free_at;
        }
        while self.given.front().is_some_and(|&(_, until)| until <= now) {
            self.given.pop_front();
        }
        let until = now.max(self.free_at[0]) + time;
        self.free_at[0] = until;
        self.given.push_back((direction, until));
        until
    }

    /// How long it has carried something until now, from the host and to it.
    pub fn busy(&self, now: Time) -> [Time; 2] {
        let mut busy = self.busy;
        if self.is_shared {
            // It is not idle between two things that it was given and has not yet carried.
            let mut from = now;
            for &(direction, until) in &self.given {
                busy[direction as usize] -= until.saturating_sub(from);
                from = from.max(until);
            }
        } else {
            for (busy, free_at) in busy.iter_mut().zip(self.free_at) {
                *busy -= free_at.saturating_sub(now);
            }
        }
        busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(link: LinkDescription) -> Link {
        link.build().expect("sound")
    }

    #[test]
    fn sata_has_600_mb_a_second_less_its_frames_in_one_direction_at_a_time() {
        let mut link = built(LinkDescription::Sata(SataDescription {
            generation: 3,
            handshake: Time::from_ns(100),
        }));
        // 8192 bytes are one frame, one more two; 16 bytes and a handshake around each, and as much for what asks for it.
        let ns = |bytes: u64| (bytes * 10 + 3) / 6;
        let to_host = |bytes| link.time(Direction::ToHost, bytes).ns();
        assert_eq!(to_host(0), 0);
        assert_eq!(to_host(8192), ns(8192 + 16) + 100);
        assert_eq!(to_host(8193), ns(8193 + 32) + 200);
        let to_device = |bytes| link.time(Direction::ToDevice, bytes).ns();
        assert_eq!(to_device(8192), ns(8192 + 32) + 200);
        assert_eq!(to_device(8193), ns(8193 + 64) + 400);
        assert_eq!(link.command.ns(), 53 + 53 + 67 + 300);
        assert_eq!(link.end.ns(), 33 + 100);
        let (now, time) = (Time::from_us(1), Time::from_ns(700));
        assert_eq!(link.carry(Direction::ToHost, time, now).ns(), 1700);
        assert_eq!(link.carry(Direction::ToDevice, time, now).ns(), 2400);
        // What it will carry later does not count yet.
        let carried = |ns| link.busy(Time::from_ns(ns)).map(Time::ns);
        assert_eq!(carried(1000), [0, 0]);
        assert_eq!(carried(1600), [0, 600]);
        assert_eq!(carried(1800), [100, 700]);
        assert_eq!(carried(2400), [700, 700]);
        let later = link.carry(Direction::ToHost, time, Time::from_ns(2000));
        assert_eq!(later.ns(), 3100);
        assert_eq!(link.busy(Time::from_ns(2500)).map(Time::ns), [700, 800]);
    }

    #[test]
    fn pcie_has_its_lanes_and_both_directions_at_once() {
        for (generation, lanes, mb_per_s) in [
            (1, 1, 250.0),
            (2, 4, 2000.0),
            (3, 4, 3938.46),
            (4, 4, 7876.9),
            (5, 16, 63015.4),
        ] {
            let mut link = built(LinkDescription::Pcie(PcieDescription {
                generation,
                lanes,
                payload: 256,
                latency: Time::from_ns(300),
            }));
            // A MiB is 4096 packets.
            let bytes = f64::from(4096 * (256 + 24));
            let ns = link.time(Direction::ToHost, 1 << 20).ns() as f64;
            assert!((ns - bytes * 1e3 / mb_per_s).abs() <= 2.0, "{ns}");
            let (now, time) = (Time::from_us(1), Time::from_ns(700));
            assert_eq!(link.carry(Direction::ToHost, time, now).ns(), 1700);
            assert_eq!(link.carry(Direction::ToDevice, time, now).ns(), 1700);
            assert_eq!(link.carry(Direction::ToDevice, time, now).ns(), 2400);
            assert_eq!(link.busy(Time::from_ns(1600)).map(Time::ns), [600, 600]);
            assert_eq!(link.busy(Time::from_ns(1900)).map(Time::ns), [900, 700]);
        }
    }

    #[test]
    fn what_no_standard_has_is_refused() {
        let sata = |generation, handshake| {
            LinkDescription::Sata(SataDescription {
                generation,
                handshake,
            })
        };
        let pcie = |generation, lanes, payload, latency| {
            LinkDescription::Pcie(PcieDescription {
                generation,
                lanes,
                payload,
                latency,
            })
        };
        let none = Time::ZERO;
        for (link, told) in [
            (sata(4, none), "Serial ATA of generation 4"),
            (sata(0, none), "generation 0"),
            (sata(3, Time::from_ms(2)), "a handshake of 2 ms"),
            (pcie(6, 4, 256, none), "PCI Express of generation 6"),
            (pcie(3, 3, 256, none), "3 lanes"),
            (pcie(3, 32, 256, none), "32 lanes"),
            (pcie(3, 4, 64, none), "packets of 64 bytes"),
            (pcie(3, 4, 300, none), "packets of 300 bytes"),
            (pcie(3, 4, 256, Time::from_s(1)), "a latency of 1 s"),
        ] {
            let error = link.build().expect_err("refused").to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
