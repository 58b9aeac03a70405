//! The link by its standard: what crosses it, in frames or packets.

use diskwright::engine::request::Op;

use super::model::{Event, Model};
use super::specs::Link;

impl Link {
    /// Bytes a second.
    fn rate(&self) -> u64 {
        match *self {
            Link::Sata { generation, .. } => [150, 300, 600][generation as usize - 1] * 1_000_000,
            Link::Pcie {
                generation, lanes, ..
            } => match generation {
                1 => lanes * 250_000_000,
                2 => lanes * 500_000_000,
                3 => lanes * 1_000_000_000 * 128 / 130,
                4 => lanes * 2_000_000_000 * 128 / 130,
                _ => lanes * 4_000_000_000 * 128 / 130,
            },
        }
    }

    /// The time of bytes, the protocol's among them, to the nearest nanosecond.
    fn of_bytes(&self, bytes: u64) -> u64 {
        let rate = u128::from(self.rate());
        ((u128::from(bytes) * 1_000_000_000 + rate / 2) / rate) as u64
    }

    /// The time of data.
    pub fn of_data(&self, bytes: u64, to_host: bool) -> u64 {
        match *self {
            Link::Sata { handshake, .. } => {
                let frames = bytes.div_ceil(8192);
                // Each frame to the device is asked for by another one.
                let asked = if to_host { 0 } else { 4 + 12 };
                let handshakes = if to_host { frames } else { 2 * frames };
                self.of_bytes(bytes + frames * (4 + 12 + asked)) + handshakes * handshake
            }
            Link::Pcie { payload, .. } => self.of_bytes(bytes + bytes.div_ceil(payload) * 24),
        }
    }

    /// The time of frames or packets by their lengths.
    fn of_all(&self, lengths: &[u64]) -> u64 {
        let around = match *self {
            Link::Sata { .. } => 12,
            Link::Pcie { .. } => 24,
        };
        let handshake = match *self {
            Link::Sata { handshake, .. } => handshake,
            Link::Pcie { .. } => 0,
        };
        let times = lengths
            .iter()
            .map(|length| self.of_bytes(length + around) + handshake);
        times.sum()
    }

    pub fn command(&self) -> u64 {
        match self {
            Link::Sata { .. } => self.of_all(&[20, 20, 28]),
            Link::Pcie { .. } => self.of_all(&[64, 4]),
        }
    }

    pub fn end(&self) -> u64 {
        match self {
            Link::Sata { .. } => self.of_all(&[8]),
            Link::Pcie { .. } => self.of_all(&[16, 4]),
        }
    }

    pub fn latency(&self) -> u64 {
        match *self {
            Link::Sata { .. } => 0,
            Link::Pcie { latency, .. } => latency,
        }
    }
}

impl Model<'_> {
    /// Something crosses the link behind what it carries that way, of Serial ATA either way; until when.
    pub fn crosses(&mut self, to_host: bool, time: u64) -> u64 {
        let is_one = matches!(self.drive().link, Some(Link::Sata { .. }));
        let free = match to_host || is_one {
            true => &mut self.to_host,
            false => &mut self.from_host,
        };
        *free = self.now.max(*free) + time;
        *free
    }

    /// A request is taken: its command crosses the link, and the controller begins with it.
    pub fn takes_over_link(&mut self, request: usize, link: Link) {
        let here = self.crosses(false, link.command()) + link.latency();
        let is_write = self.asked(request).op == Op::Write;
        let (at, event) = match is_write {
            true => (
                here + self.drive().start_write + self.write_delay,
                Event::Data(request),
            ),
            false => (
                here + self.drive().start_read + self.drive().mapping,
                Event::Mapped(request),
            ),
        };
        self.events.push((at, event));
    }

    /// The data of a write cross the link.
    pub fn takes_data(&mut self, request: usize) {
        let time = self.link_time(self.asked(request).blocks, false);
        let link = self.drive().link.expect("it has one");
        let at = self.crosses(false, time) + link.latency() + self.drive().mapping;
        self.events.push((at, Event::Mapped(request)));
    }
}
