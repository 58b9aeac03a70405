//! What the kernel's block events mean, whether in blktrace's records or in blkparse's lines.
//!
//! The categories are those of Linux's `include/uapi/linux/blktrace_api.h`; how they become letters is `fill_rwbs` in
//! `kernel/trace/blktrace.c`, and in blkparse's `blkparse_fmt.c`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::units::{Lbn, Time};
use crate::engine::request::Op;
use crate::workload::record::Record;

/// How blktrace's records and blkparse's lines become requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlktraceOptions {
    /// The event that is a request's arrival.
    pub event: BlkEvent,
}

/// An event that can be a request's arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlkEvent {
    /// Q: the request came to the block layer, before merging, splitting and scheduling.
    #[default]
    Queue,
    /// D: the request was sent to the driver, after them.
    Issue,
}

impl BlkEvent {
    /// The event's letter in blkparse's lines.
    pub const fn letter(self) -> u8 {
        match self {
            BlkEvent::Queue => b'Q',
            BlkEvent::Issue => b'D',
        }
    }
    /// The event's number in blktrace's records: `__BLK_TA_QUEUE` and `__BLK_TA_ISSUE`.
    pub const fn number(self) -> u64 {
        match self {
            BlkEvent::Queue => 1,
            BlkEvent::Issue => 7,
        }
    }
}

/// Categories of an event: the bits `BLK_TC_…`.
pub mod category {
    /// Reads.
    pub const READ: u64 = 1 << 0;
    /// Writes.
    pub const WRITE: u64 = 1 << 1;
    /// A flush goes before; from old kernels, a barrier.
    pub const FLUSH: u64 = 1 << 2;
    /// About queueing.
    pub const QUEUE: u64 = 1 << 4;
    /// A command of another kind than reading and writing blocks, passed through to the device.
    pub const PASSTHROUGH: u64 = 1 << 9;
    /// No event of a request, but a note.
    pub const NOTIFY: u64 = 1 << 10;
    /// Trims.
    pub const DISCARD: u64 = 1 << 13;
    /// Force unit access.
    pub const FUA: u64 = 1 << 15;
    /// Resetting, finishing, opening and closing zones; in records of version 8.
    pub const ZONES: u64 = 0b1_1111 << 17;
}

/// Where and when a request is to be.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The event's time.
    pub at: Time,
    /// The device, by the kernel's own number.
    pub device: u32,
    /// First 512-byte block.
    pub lbn: u64,
    /// Number of blocks.
    pub blocks: u64,
}

/// What an event asks for: the request, and another one that follows it at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRequests {
    /// The first request.
    pub first: Record,
    /// The second.
    pub second: Option<Record>,
}

/// The requests of an event; `None` where it is none that reads, writes, flushes or trims.
///
/// A request with the flush bit is a flush and then, if it has blocks, the rest, which is what the block layer makes of it.
#[inline]
pub fn event_requests(category: u64, extent: Extent) -> Option<EventRequests> {
    use category::{DISCARD, FLUSH, FUA, PASSTHROUGH, READ, WRITE, ZONES};
    if category & (PASSTHROUGH | ZONES) != 0 {
        return None;
    }
    let fua = category & FUA != 0;
    let flush = (category & FLUSH != 0).then_some(Record {
        arrival: extent.at,
        device: extent.device,
        op: Op::Flush,
        fua: fua && extent.blocks == 0,
        lbn: Lbn(0),
        blocks: 0,
        recorded: None,
    });
    let op = if extent.blocks == 0 {
        None
    } else if category & DISCARD != 0 {
        Some(Op::Trim)
    } else if category & WRITE != 0 {
        Some(Op::Write)
    } else {
        (category & READ != 0).then_some(Op::Read)
    };
    let rest = op.map(|op| Record {
        arrival: extent.at,
        device: extent.device,
        op,
        fua,
        lbn: Lbn(extent.lbn),
        blocks: Record::clamp_blocks(extent.blocks),
        recorded: None,
    });
    match (flush, rest) {
        (Some(first), second) => Some(EventRequests { first, second }),
        (None, Some(first)) => Some(EventRequests {
            first,
            second: None,
        }),
        (None, None) => None,
    }
}

/// The warning about chosen events that [`event_requests`] finds no request in.
pub fn other_note(count: u64) -> Option<String> {
    (count > 0).then(|| {
        format!("{count} events are of commands other than read, write, flush and trim and were left out")
    })
}

/// Bits of a device number that are the minor number's.
const MINOR_BITS: u32 = 20;

/// The kernel's number of a device, `MKDEV`: major × 2^20 + minor; `None` where they are too large.
pub fn device(major: u64, minor: u64) -> Option<u32> {
    let fits = major < 1 << (32 - MINOR_BITS) && minor < 1 << MINOR_BITS;
    fits.then_some((major as u32) << MINOR_BITS | minor as u32)
}

/// Major and minor number of a device.
pub fn major_minor(device: u32) -> (u32, u32) {
    (device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1))
}

/// The categories that a field of letters such as `FWFS` tells.
///
/// An F for a flush, then what it is (R, W, D for a trim, DE for a secure one, or N for none), then F for force unit access, A
/// read-ahead, S synchronous, M metadata, U atomic, and, from old kernels, B for a barrier, whose bit is now the flush's. What
/// it is may be missing after a flush.
#[inline]
pub fn categories(letters: &[u8]) -> Option<u64> {
    let (mut all, mut rest) = match letters {
        [b'F', rest @ ..] => (category::FLUSH, rest),
        _ => (0, letters),
    };
    (all, rest) = match rest {
        [b'R', rest @ ..] => (all | category::READ, rest),
        [b'W', rest @ ..] => (all | category::WRITE, rest),
        [b'D', b'E', rest @ ..] | [b'D', rest @ ..] => {
            (all | category::WRITE | category::DISCARD, rest)
        }
        [b'N', rest @ ..] => (all, rest),
        _ if all != 0 => (all, rest),
        _ => return None,
    };
    for letter in rest {
        all |= match letter {
            b'F' => category::FUA,
            b'B' => category::FLUSH,
            b'A' | b'S' | b'M' | b'U' => 0,
            _ => return None,
        };
    }
    Some(all)
}

/// The letters of a record that [`event_requests`] makes.
pub fn letters(record: &Record) -> &'static str {
    match (record.op, record.fua) {
        (Op::Read, false) => "R",
        (Op::Read, true) => "RF",
        (Op::Write, false) => "W",
        (Op::Write, true) => "WF",
        (Op::Trim, false) => "D",
        (Op::Trim, true) => "DF",
        (Op::Flush, false) => "FW",
        (Op::Flush, true) => "FWF",
        (Op::NvCache(command), _) => command.is_in_no_workload(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use category::*;

    const AT: Extent = Extent {
        at: Time::from_ns(5),
        device: 8 << 20,
        lbn: 100,
        blocks: 8,
    };

    #[test]
    fn letters_become_categories() {
        for (text, expected) in [
            ("R", Some(READ)),
            ("RA", Some(READ)),
            ("RAM", Some(READ)),
            ("WS", Some(WRITE)),
            ("WSM", Some(WRITE)),
            ("WFSM", Some(WRITE | FUA)),
            ("FWS", Some(FLUSH | WRITE)),
            ("FWFS", Some(FLUSH | WRITE | FUA)),
            ("D", Some(WRITE | DISCARD)),
            ("DS", Some(WRITE | DISCARD)),
            ("DES", Some(WRITE | DISCARD)),
            ("N", Some(0)),
            ("NS", Some(0)),
            ("FN", Some(FLUSH)),
            ("F", Some(FLUSH)),
            ("FF", Some(FLUSH | FUA)),
            ("FS", Some(FLUSH)),
            ("WBS", Some(WRITE | FLUSH)),
            ("WU", Some(WRITE)),
            ("", None),
            ("S", None),
            ("RW", None),
            ("WR", None),
            ("X", None),
            ("FX", None),
            ("r", None),
        ] {
            assert_eq!(categories(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn every_mix_of_bits_is_what_the_kernel_makes_of_it() {
        for bits in 0..32u64 {
            let bit = |i: u32, to: u64| (bits >> i & 1) * to;
            let category =
                bit(0, FLUSH) | bit(1, DISCARD) | bit(2, FUA) | bit(3, WRITE) | bit(4, READ);
            let (flush, fua) = (category & FLUSH != 0, category & FUA != 0);
            let none = event_requests(category, Extent { blocks: 0, ..AT });
            assert_eq!(none.is_some(), flush);
            if let Some(none) = none {
                assert_eq!(
                    (none.first.op, none.first.fua, none.first.lbn),
                    (Op::Flush, fua, Lbn(0))
                );
                assert_eq!(none.second, None);
            }
            let ops = event_requests(category, AT).map(|a| (a.first.op, a.second.map(|s| s.op)));
            let op = match category {
                c if c & DISCARD != 0 => Some(Op::Trim),
                c if c & WRITE != 0 => Some(Op::Write),
                c if c & READ != 0 => Some(Op::Read),
                _ => None,
            };
            let expected = if flush {
                Some((Op::Flush, op))
            } else {
                op.map(|op| (op, None))
            };
            assert_eq!(ops, expected, "{category:b}");
        }
    }

    #[test]
    fn a_write_behind_a_flush_keeps_its_force_unit_access() {
        let both = event_requests(FLUSH | WRITE | FUA, AT).unwrap();
        let second = both.second.unwrap();
        assert_eq!((both.first.blocks, both.first.fua), (0, false));
        assert_eq!((second.lbn.0, second.blocks, second.fua), (100, 8, true));
        assert_eq!(both.first.arrival, second.arrival);
    }

    #[test]
    fn other_commands_are_none() {
        assert_eq!(event_requests(READ | PASSTHROUGH, AT), None);
        for bit in 17..22 {
            assert_eq!(event_requests(WRITE | 1 << bit, AT), None, "{bit}");
        }
        // Appending to a zone and writing zeros are writes.
        for bit in [16, 22] {
            assert!(event_requests(WRITE | 1 << bit, AT).is_some(), "{bit}");
        }
    }

    #[test]
    fn the_letters_written_are_those_read() {
        for op in [Op::Read, Op::Write, Op::Flush, Op::Trim] {
            for fua in [false, true] {
                let blocks = if op == Op::Flush { 0 } else { 8 };
                let lbn = Lbn(if op == Op::Flush { 0 } else { 100 });
                let record = Record {
                    arrival: AT.at,
                    device: AT.device,
                    op,
                    fua,
                    lbn,
                    blocks,
                    recorded: None,
                };
                let category = categories(letters(&record).as_bytes()).unwrap();
                let extent = Extent {
                    blocks: blocks.into(),
                    ..AT
                };
                let requests = event_requests(category, extent).unwrap();
                assert_eq!((requests.first, requests.second), (record, None));
            }
        }
    }

    #[test]
    fn device_numbers_are_the_kernels() {
        assert_eq!(device(8, 0), Some(8_388_608));
        assert_eq!(device(259, 3), Some(271_581_187));
        assert_eq!(device(4095, 0xf_ffff), Some(u32::MAX));
        assert_eq!(device(4096, 0), None);
        assert_eq!(device(0, 1 << 20), None);
        for number in [0, 1, 8_388_624, u32::MAX] {
            let (major, minor) = major_minor(number);
            assert_eq!(device(major.into(), minor.into()), Some(number));
        }
    }
}
