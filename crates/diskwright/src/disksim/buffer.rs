//! From a drive's electronics to its buffer, its overheads and its interface.

use super::component::Component;
use super::controller::Controller;
use super::syntax::SourceSpan;
use super::warnings::Warnings;
use crate::base::error::InputError;
use crate::base::units::{Size, Time};
use crate::devices::hdd::Overhead;
use crate::devices::hdd::buffer_description::{
    BufferDescription, BusDescription, ExtraDisconnection, PreSeek, ReadAheadDescription,
    ReadAheadEnd, ReadDescription, Water, WriteCompletion, WriteDescription,
};
use crate::devices::hdd::drive::DriveDescription;

/// Puts the electronics of `disk` into its description, and warns of what has no place there.
///
/// # Errors
/// A buffer that makes no sense.
pub(super) fn apply(
    controller: &Controller,
    disk: &Component,
    drive: &mut DriveDescription,
    warnings: &mut Warnings,
) -> Result<(), InputError> {
    let each = |time: Time| controller.per_request + time;
    drive.overhead = Overhead {
        read_after_read: each(controller.read_miss_after_read),
        read_after_write: each(controller.read_miss_after_write),
        write_after_read: each(controller.write_miss_after_read),
        write_after_write: each(controller.write_miss_after_write),
        completion_read: controller.read_completion,
        completion_write: controller.write_completion,
    };
    drive.interface.block_time = Some(controller.read_block_time);
    if controller.write_block_time != controller.read_block_time {
        drive.interface.write_block_time = Some(controller.write_block_time);
    }
    let buffer = buffer(controller);
    buffer
        .check(drive.sector_size.blocks())
        .map_err(|error| error.at(unsound(&buffer, disk).place()))?;
    drive.buffer = Some(buffer);
    warn(controller, disk, warnings);
    Ok(())
}

/// The buffer that the electronics make.
fn buffer(controller: &Controller) -> BufferDescription {
    let each = |time: Time| controller.per_request + time;
    BufferDescription {
        segments: controller.segments,
        segment_size: Size::from_blocks(controller.segment_blocks.into()),
        keeps_data: controller.caching > 0,
        pre_seek: match controller.preseeking {
            0 => PreSeek::AfterCompletion,
            1 => PreSeek::WhileCompleting,
            _ => PreSeek::AfterMedium,
        },
        read: ReadDescription {
            hits_written_data: controller.read_hits_on_writes,
            partial_hits_at_once: controller.immediate_partial_hit,
            hit_after_read: each(controller.read_hit_after_read),
            hit_after_write: each(controller.read_hit_after_write),
            late_hits: None,
        },
        read_ahead: read_ahead(controller),
        write: write(controller),
        bus: BusDescription {
            disconnects: !controller.never_disconnect,
            kept_by_reads: controller.hold_bus_read,
            kept_by_writes: controller.hold_bus_write,
            high_water: controller.high_water,
            low_water: controller.low_water,
            water: match controller.water_by_request {
                true => Water::Request,
                false => Water::Segment,
            },
            preparation: controller.data_preparation,
            reselect: controller.first_reselect,
            reselect_again: controller.other_reselect,
            disconnect_read_after_read: controller.read_disconnect_after_read,
            disconnect_read_after_write: controller.read_disconnect_after_write,
            disconnect_write: controller.write_disconnect,
        },
    }
}

/// How far reading goes on, as DiskSim 4.0 takes the parameters: without read-ahead the least and the most are 0, and
/// the most is never less than the least (`src/disksim_disk.c`, `disk_postpass_perdisk`).
fn read_ahead(controller: &Controller) -> ReadAheadDescription {
    let until = match controller.continuous_read {
        0 => return ReadAheadDescription::default(),
        1 => ReadAheadEnd::Track,
        2 => ReadAheadEnd::Cylinder,
        3 => ReadAheadEnd::Segment,
        _ => ReadAheadEnd::StreamTrack,
    };
    let most = controller.max_read_ahead.max(controller.min_read_ahead);
    // Where the track alone says how far, neither the most nor the request's own blocks count.
    let is_limited = until != ReadAheadEnd::StreamTrack;
    ReadAheadDescription {
        until,
        most: (is_limited && most > 0).then(|| Size::from_blocks(most.into())),
        least: Size::from_blocks(controller.min_read_ahead.into()),
        over_requested: is_limited && most == 0 && controller.read_ahead_over_requested != 0,
        after_hits: controller.read_ahead_on_hit,
        stops_within_sector: controller.stop_in_sector,
        while_waiting: false,
    }
}

fn write(controller: &Controller) -> WriteDescription {
    let each = |time: Time| controller.per_request + time;
    let plain = WriteDescription {
        own_segment: controller.separate_write_segment,
        appends: controller.combine_writes,
        least_seek: controller.minimum_seek,
        extra_disconnection: controller
            .extra_write_disconnect
            .then(|| ExtraDisconnection {
                command: each(controller.extra_command),
                disconnect: controller.extra_disconnect,
                pause: controller.extra_delay,
                second: controller.extra_second_disconnect,
                seek: controller.extra_seek_delta,
            }),
        ..WriteDescription::default()
    };
    let complete = match controller.fast_write {
        0 => return plain,
        1 => WriteCompletion::BufferedAlone,
        _ => WriteCompletion::Buffered,
    };
    WriteDescription {
        complete,
        buffered_after_read: each(controller.write_hit_after_read),
        buffered_after_write: each(controller.write_hit_after_write),
        ..plain
    }
}

/// Where the value stands that makes a buffer unsound: that with a sound one in its place it would be sound.
fn unsound<'c>(buffer: &BufferDescription, disk: &'c Component) -> &'c SourceSpan {
    let fewer = BufferDescription {
        segments: 2,
        ..buffer.clone()
    };
    let smaller = BufferDescription {
        segment_size: Size::from_blocks(1),
        ..buffer.clone()
    };
    for (mended, name) in [
        (fewer, "Number of buffer segments"),
        (smaller, "Segment size (in blks)"),
    ] {
        if mended.check(1).is_ok() {
            return disk.at(name);
        }
    }
    &disk.at
}

/// Warns of values that matter and have no place in a drive's description.
fn warn(controller: &Controller, disk: &Component, warnings: &mut Warnings) {
    let stops_within_write = controller.hold_bus_write
        && controller.fast_write == 0
        && controller.write_disconnect + controller.first_reselect > Time::ZERO;
    for (name, matters, reason) in [
        (
            "Hold bus entire write xfer",
            stops_within_write,
            "a write leaves the bus while the medium is waited for",
        ),
        (
            "Allow almost read hits",
            controller.almost_read_hits,
            "a read whose first block is not in the buffer is a miss",
        ),
        (
            "Allow sneaky full read hits",
            controller.sneaky_full_hits,
            SNEAKY,
        ),
        (
            "Allow sneaky partial read hits",
            controller.sneaky_partial_hits,
            SNEAKY,
        ),
        (
            "Allow sneaky intermediate read hits",
            controller.sneaky_intermediate_hits,
            SNEAKY,
        ),
        (
            "Allow write prebuffering",
            controller.write_prebuffering,
            "the data of a write that waits stay with the host",
        ),
        (
            "Read-ahead over requested",
            controller.read_ahead_over_requested < 0,
            "the data of a completed read stay in the buffer",
        ),
        (
            "Disconnect write if seek",
            controller.disconnect_write_if_seek,
            "a write sends its data while the arm moves",
        ),
        (
            "Write hit stop prefetch",
            !controller.write_hit_stops_read_ahead && controller.continuous_read > 0,
            "a write to what is being read ahead ends that",
        ),
        (
            "Read directly to buffer",
            !controller.read_to_buffer,
            "sectors go into the buffer as they pass",
        ),
        (
            "Enable caching in buffer",
            controller.caching == 0 && controller.continuous_read + controller.fast_write > 0,
            "DiskSim runs no drive that reads ahead or buffers writes without it; here it does, and keeps nothing",
        ),
    ] {
        if matters {
            warnings.push(
                disk.at(name),
                format_args!("{name:?} of {} is left out: {reason}", disk.title()),
            );
        }
    }
}

const SNEAKY: &str =
    "a read waits for the request at work on the medium, also where the buffer has its data";
