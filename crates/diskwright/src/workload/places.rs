//! Where the devices of a trace are on the one device that takes the requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::processes::Region;
use super::record::Record;
use crate::base::error::{Error, InputError};
use crate::base::units::{BLOCK_BYTES, Size};

/// Where a device of a trace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DevicePlace {
    /// Its number in the trace.
    pub device: u32,
    /// Where its block 0 is.
    #[serde(default = "none")]
    pub offset: Size,
    /// How large it is; to the end of the device that takes the requests where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// How many bytes a place of the trace is further than the one before: 512 where it counts blocks. A part or a multiple of 512.
    #[serde(default = "block_bytes")]
    pub location_scale: u64,
    /// What the sizes of its requests are multiplied by.
    #[serde(default = "one")]
    pub size_scale: u32,
}

fn none() -> Size {
    Size::from_blocks(0)
}

fn block_bytes() -> u64 {
    BLOCK_BYTES
}

fn one() -> u32 {
    1
}

/// Refuses places that make no sense, or are not on a device of `capacity` blocks.
///
/// # Errors
/// With the number of the trace's device in the message.
pub(super) fn check(devices: &[DevicePlace], capacity: u64) -> Result<(), Error> {
    for (index, place) in devices.iter().enumerate() {
        let device = place.device;
        let scale = place.location_scale;
        let is_sound =
            scale > 0 && (scale.is_multiple_of(BLOCK_BYTES) || BLOCK_BYTES.is_multiple_of(scale));
        let wrong = match () {
            () if devices[..index].iter().any(|other| other.device == device) => {
                "the device is listed twice".to_owned()
            }
            () if !is_sound => format!(
                "location_scale is {scale}: expected a multiple of {BLOCK_BYTES}, or 1, 2, 4, 8, 16, 32, 64, 128 or 256"
            ),
            () if place.size_scale == 0 => "size_scale is 0: expected a number from 1".to_owned(),
            () if place.size == Some(none()) => "a device without blocks".to_owned(),
            () => continue,
        };
        return Err(Error::input(format!(
            "workload.devices: device {device}: {wrong}"
        )));
    }
    for place in devices {
        let size = place.size.map_or(1, Size::blocks);
        let end = place.offset.blocks().saturating_add(size);
        if end > capacity {
            return Err(InputError::new(format!(
                "workload.devices: device {} has blocks to {end} of a device of {capacity}",
                place.device
            ))
            .help("offset + size is at most the capacity of the device that takes the requests")
            .into());
        }
    }
    Ok(())
}

/// Where the devices of processes are on a device of `capacity` blocks; the whole of it is device 0 where nothing is said.
///
/// # Errors
/// As [`check`]; a place whose scales are those of a trace.
pub(super) fn regions(devices: &[DevicePlace], capacity: u64) -> Result<Vec<Region>, Error> {
    check(devices, capacity)?;
    if devices.is_empty() {
        return Ok(vec![Region {
            device: 0,
            begin: 0,
            blocks: capacity,
        }]);
    }
    let region = |place: &DevicePlace| {
        let DevicePlace {
            device,
            location_scale,
            size_scale,
            ..
        } = *place;
        if (location_scale, size_scale) != (BLOCK_BYTES, 1) {
            return Err(Error::input(format!(
                "workload.devices: device {device}: location_scale is {location_scale} and size_scale {size_scale}: expected {BLOCK_BYTES} and 1, for processes count in blocks"
            )));
        }
        let begin = place.offset.blocks();
        Ok(Region {
            device,
            begin,
            blocks: place.size.map_or(capacity - begin, Size::blocks),
        })
    };
    devices.iter().map(region).collect()
}

/// The places of a trace's devices, by their numbers.
pub(super) struct Places(Vec<DevicePlace>, u64);

/// Where a request is.
pub(super) struct Placed {
    /// The first block of its device.
    pub begin: u64,
    /// The blocks of its device.
    pub capacity: u64,
    /// The request's first block, from the first one of its device.
    pub lbn: u64,
    /// Its blocks.
    pub blocks: u32,
}

impl Places {
    /// Those of a spec, on a device of `capacity` blocks.
    pub fn new(devices: &[DevicePlace], capacity: u64) -> Places {
        let mut devices = devices.to_vec();
        devices.sort_unstable_by_key(|place| place.device);
        Places(devices, capacity)
    }

    /// Whether the trace's devices have no places of their own.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where a request is; else what is wrong, and a way out.
    pub fn find(&self, record: &Record) -> Result<Placed, (String, &'static str)> {
        let at = (self.0).binary_search_by_key(&record.device, |place| place.device);
        let Ok(at) = at else {
            let listed = self.0.iter().map(|place| place.device.to_string());
            let listed: Vec<_> = listed.collect();
            return Err((
                format!(
                    "the request is of device {}: workload.devices has {}",
                    record.device,
                    listed.join(", ")
                ),
                "give the device a place: [[workload.devices]] with device and offset",
            ));
        };
        let place = &self.0[at];
        let (lbn, scale) = (record.lbn.0, place.location_scale);
        let lbn = if scale >= BLOCK_BYTES {
            lbn.saturating_mul(scale / BLOCK_BYTES)
        } else {
            let parts = BLOCK_BYTES / scale;
            if !lbn.is_multiple_of(parts) {
                return Err((
                    format!(
                        "the request begins at {lbn} units of {scale} bytes, which is within a block"
                    ),
                    "workload.devices: location_scale says how many bytes the trace counts in",
                ));
            }
            lbn / parts
        };
        let begin = place.offset.blocks();
        let rest = self.1 - begin;
        Ok(Placed {
            begin,
            capacity: place.size.map_or(rest, Size::blocks),
            lbn,
            blocks: match record.blocks {
                Record::OVERSIZE => Record::OVERSIZE,
                blocks => Record::clamp_blocks(u64::from(blocks) * u64::from(place.size_scale)),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::{Lbn, Time};
    use crate::engine::request::Op;

    fn place(device: u32, offset: u64) -> DevicePlace {
        DevicePlace {
            device,
            offset: Size::from_blocks(offset),
            size: None,
            location_scale: 512,
            size_scale: 1,
        }
    }

    fn record(device: u32, lbn: u64, blocks: u32) -> Record {
        Record {
            arrival: Time::ZERO,
            device,
            op: Op::Read,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
            recorded: None,
        }
    }

    #[test]
    fn a_request_is_where_its_device_is() {
        let half = DevicePlace {
            location_scale: 256,
            size: Some(Size::from_blocks(50)),
            ..place(3, 100)
        };
        let large = DevicePlace {
            location_scale: 2_048,
            size_scale: 4,
            ..place(9, 150)
        };
        let places = Places::new(&[large, half, place(0, 0)], 1_000);
        for (record, expected) in [
            (record(0, 7, 8), (0, 1_000, 7, 8)),
            (record(3, 6, 8), (100, 50, 3, 8)),
            (record(9, 5, 2), (150, 850, 20, 8)),
            (
                record(9, 0, Record::OVERSIZE),
                (150, 850, 0, Record::OVERSIZE),
            ),
        ] {
            let Ok(found) = places.find(&record) else {
                panic!("{record:?}")
            };
            let found = (found.begin, found.capacity, found.lbn, found.blocks);
            assert_eq!(found, expected, "{record:?}");
        }
        for (record, told) in [
            (record(1, 0, 1), "device 1: workload.devices has 0, 3, 9"),
            (record(3, 7, 1), "7 units of 256 bytes"),
        ] {
            let Err((message, _)) = places.find(&record) else {
                panic!("{record:?}")
            };
            assert!(message.contains(told), "{message}");
        }
    }

    #[test]
    fn places_without_sense_name_their_device() {
        let with = |change: fn(&mut DevicePlace)| {
            let mut place = place(4, 10);
            change(&mut place);
            check(&[place], 1_000).map_err(|error| error.to_string())
        };
        for bytes in [1, 256, 512, 1_024, 1_536] {
            let mut place = place(4, 10);
            place.location_scale = bytes;
            assert!(check(&[place], 1_000).is_ok(), "{bytes}");
        }
        for (change, told) in [
            (
                (|place| place.location_scale = 0) as fn(&mut DevicePlace),
                "is 0",
            ),
            (|place| place.location_scale = 768, "is 768"),
            (|place| place.location_scale = 3, "is 3"),
            (|place| place.size_scale = 0, "size_scale"),
            (
                |place| place.size = Some(Size::from_blocks(0)),
                "without blocks",
            ),
        ] {
            let error = with(change).expect_err(told);
            assert!(
                error.contains("device 4") && error.contains(told),
                "{error}"
            );
        }
        assert!(check(&[place(4, 0), place(5, 0), place(4, 8)], 1_000).is_err());
    }

    #[test]
    fn places_are_on_the_device() {
        let sized = DevicePlace {
            size: Some(Size::from_blocks(90)),
            ..place(0, 10)
        };
        assert!(check(&[sized], 100).is_ok());
        assert!(check(&[sized], 99).is_err());
        assert!(check(&[place(0, 99)], 100).is_ok());
        assert!(check(&[place(0, 100)], 100).is_err());
    }
}
