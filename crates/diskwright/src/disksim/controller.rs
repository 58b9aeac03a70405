//! What a `disksim_disk` says of its electronics: buffer, bus phases, overheads.

use super::component::Component;
use super::times;
use crate::base::error::InputError;
use crate::base::units::Time;

/// Reads parameters in the types of [`Controller`]'s fields.
struct Reader<'c> {
    disk: &'c Component,
    /// The scale of overheads.
    scale: f64,
}

impl Reader<'_> {
    fn flag(&self, name: &str) -> Result<bool, InputError> {
        self.disk.integer(name).map(|number| number != 0)
    }
    fn count(&self, name: &str) -> Result<u32, InputError> {
        self.disk.count(name)
    }
    fn signed(&self, name: &str) -> Result<i64, InputError> {
        self.disk.integer(name)
    }
    fn share(&self, name: &str) -> Result<f64, InputError> {
        self.disk.float(name)
    }
    fn time(&self, name: &str) -> Result<Time, InputError> {
        times::time(self.disk, name)
    }
    fn overhead(&self, name: &str) -> Result<Time, InputError> {
        times::scaled(self.disk, name, self.scale)
    }
}

/// Declares the fields, each with its parameter and how that is read.
macro_rules! controller {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $read:ident($name:literal),)*) => {
        /// The electronics of a drive as DiskSim describes them, one field a parameter. Sizes are in blocks of 512
        /// bytes; overheads have the scale for overheads applied.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Controller {
            $($(#[$doc])* #[doc = concat!("\n\n`", $name, "`.")] pub $field: $type,)*
            /// Time of a block on its way to the host: the longest of the bus's, the drive's and the adapter's.
            pub read_block_time: Time,
            /// The same from the host.
            pub write_block_time: Time,
        }

        impl Controller {
            /// Reads the parameters of a disk whose blocks cross the bus in these times.
            pub(super) fn read(disk: &Component, read_block_time: Time, write_block_time: Time) -> Result<Controller, InputError> {
                let reader = Reader { disk, scale: disk.float("Time scale for overheads")? };
                Ok(Controller {
                    $($field: reader.$read($name)?,)*
                    read_block_time,
                    write_block_time,
                })
            }
        }
    };
}

controller! {
    /// Time before everything else that a request needs.
    per_request: Time = overhead("Per-request overhead time"),
    /// Whether the bus is kept from the first block of a read to the last, also while the medium is waited for.
    hold_bus_read: bool = flag("Hold bus entire read xfer"),
    /// The same for a write.
    hold_bus_write: bool = flag("Hold bus entire write xfer"),
    /// Whether a read whose first block is being read ahead is a hit in part.
    almost_read_hits: bool = flag("Allow almost read hits"),
    /// Whether a read that is in the buffer as a whole overtakes a request at work on the medium.
    sneaky_full_hits: bool = flag("Allow sneaky full read hits"),
    /// The same for a read that is there in part.
    sneaky_partial_hits: bool = flag("Allow sneaky partial read hits"),
    /// Whether waiting reads that are in the buffer use the bus while it is idle.
    sneaky_intermediate_hits: bool = flag("Allow sneaky intermediate read hits"),
    /// Whether reads find what writes left in the buffer.
    read_hits_on_writes: bool = flag("Allow read hits on write data"),
    /// Whether waiting writes send their data while the bus is idle.
    write_prebuffering: bool = flag("Allow write prebuffering"),
    /// When the arm may leave for the next request: 0 after the host has taken the completion, 1 once it is being
    /// sent, 2 after the last sector.
    preseeking: u32 = count("Preseeking level"),
    /// Whether the bus is kept from a request's arrival to its completion.
    never_disconnect: bool = flag("Never disconnect"),
    /// Segments of the buffer.
    segments: u32 = count("Number of buffer segments"),
    /// Segments that may hold data on their way to the medium at a time.
    write_segments: u32 = count("Maximum number of write segments"),
    /// Size of each segment, blocks.
    segment_blocks: u32 = count("Segment size (in blks)"),
    /// Whether one segment takes all writes and no read.
    separate_write_segment: bool = flag("Use separate write segment"),
    /// What may be left to write of a full segment when more data are asked for; a part of the request or segment.
    low_water: f64 = share("Low (write) water mark"),
    /// What must be there of a read before it goes to the host; a part of the request or segment.
    high_water: f64 = share("High (read) water mark"),
    /// Whether the marks are parts of the request, not of the segment.
    water_by_request: bool = flag("Set watermark by reqsize"),
    /// Whether the buffer serves hits: 0 never, 1 and 2 alike.
    caching: u32 = count("Enable caching in buffer"),
    /// How far reading goes on by itself: 0 not at all, 1 to the end of the track, 2 of the cylinder, 3 until the
    /// maximum, 4 to the end of the track and one further in a sequential stream.
    continuous_read: u32 = count("Buffer continuous read"),
    /// Blocks that are read ahead before another request may stop it.
    min_read_ahead: u32 = count("Minimum read-ahead (blks)"),
    /// Blocks that are read ahead at most; 0 for as much as the segment holds.
    max_read_ahead: u32 = count("Maximum read-ahead (blks)"),
    /// What becomes of requested data when the segment is full: 1 read-ahead takes their place, 0 they are kept,
    /// −1 they go when the request completes.
    read_ahead_over_requested: i64 = signed("Read-ahead over requested"),
    /// Whether a hit lets reading ahead go on.
    read_ahead_on_hit: bool = flag("Read-ahead on idle hit"),
    /// Whether sectors before the wanted one are read while waiting for it; DiskSim 4.0 does not.
    read_free_blocks: bool = flag("Read any free blocks"),
    /// When writes complete: 0 when they are on the medium, 1 when they are in the buffer and continue what is there,
    /// 2 when they are in the buffer.
    fast_write: u32 = count("Fast write level"),
    /// Whether reads start with any sector of the track; DiskSim 4.0 waits for the first.
    immediate_read: bool = flag("Immediate buffer read"),
    /// The same for writes.
    immediate_write: bool = flag("Immediate buffer write"),
    /// Whether a write that continues another joins it in its segment.
    combine_writes: bool = flag("Combine seq writes"),
    /// Whether read-ahead stops within a sector, not after it.
    stop_in_sector: bool = flag("Stop prefetch in sector"),
    /// Whether a write that must seek disconnects first.
    disconnect_write_if_seek: bool = flag("Disconnect write if seek"),
    /// Whether a write to what is being read ahead stops that.
    write_hit_stops_read_ahead: bool = flag("Write hit stop prefetch"),
    /// Whether sectors go into the buffer as they pass.
    read_to_buffer: bool = flag("Read directly to buffer"),
    /// Whether a hit in part sends what is there at once.
    immediate_partial_hit: bool = flag("Immed transfer partial hit"),
    /// Command overhead of a read in the buffer, after a read.
    read_hit_after_read: Time = overhead("Read hit over. after read"),
    /// The same after a write.
    read_hit_after_write: Time = overhead("Read hit over. after write"),
    /// Command overhead of a read that needs the medium, after a read.
    read_miss_after_read: Time = overhead("Read miss over. after read"),
    /// The same after a write.
    read_miss_after_write: Time = overhead("Read miss over. after write"),
    /// Command overhead of a fast write, after a read.
    write_hit_after_read: Time = overhead("Write hit over. after read"),
    /// The same after a write.
    write_hit_after_write: Time = overhead("Write hit over. after write"),
    /// Command overhead of a write that completes on the medium, after a read.
    write_miss_after_read: Time = overhead("Write miss over. after read"),
    /// The same after a write.
    write_miss_after_write: Time = overhead("Write miss over. after write"),
    /// From a read's last block to its completion.
    read_completion: Time = overhead("Read completion overhead"),
    /// From a write's end to its completion.
    write_completion: Time = overhead("Write completion overhead"),
    /// Before the first block of every transfer.
    data_preparation: Time = overhead("Data preparation overhead"),
    /// To take the bus again, for the first time in a request.
    first_reselect: Time = overhead("First reselect overhead"),
    /// The same later.
    other_reselect: Time = overhead("Other reselect overhead"),
    /// To leave the bus in a read after a read.
    read_disconnect_after_read: Time = overhead("Read disconnect afterread"),
    /// To leave the bus in a read after a write.
    read_disconnect_after_write: Time = overhead("Read disconnect afterwrite"),
    /// To leave the bus in a write.
    write_disconnect: Time = overhead("Write disconnect overhead"),
    /// Whether a write that does not continue the write before it leaves the bus once more.
    extra_write_disconnect: bool = flag("Extra write disconnect"),
    /// Command overhead of such a write.
    extra_command: Time = overhead("Extradisc command overhead"),
    /// To leave the bus that once more.
    extra_disconnect: Time = overhead("Extradisc disconnect overhead"),
    /// From there to taking it again.
    extra_delay: Time = overhead("Extradisc inter-disconnect delay"),
    /// To leave it then.
    extra_second_disconnect: Time = overhead("Extradisc 2nd disconnect overhead"),
    /// How much later the arm of such a write starts.
    extra_seek_delta: Time = overhead("Extradisc seek delta"),
    /// The shortest seek of a write that is not sequential.
    minimum_seek: Time = time("Minimum seek delay"),
}
