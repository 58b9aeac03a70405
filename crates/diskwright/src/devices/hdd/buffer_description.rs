//! What a drive's description says of its segmented buffer, and of how requests take and leave the bus.
//!
//! The parameters are those of DiskSim 4.0's disk model, which predicts recorded drives closely with them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::InputError;
use crate::base::units::{Size, Time};

/// The buffer of a drive: `[buffer]` in a drive's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferDescription {
    /// Segments, all of one size.
    pub segments: u32,
    /// Size of a segment.
    pub segment_size: Size,
    /// Whether data stay for later requests once they have been read or written.
    #[serde(default = "yes")]
    pub keeps_data: bool,
    /// When the arm may set off for the next request.
    #[serde(default)]
    pub pre_seek: PreSeek,
    /// Reads.
    #[serde(default)]
    pub read: ReadDescription,
    /// What is read beyond a request.
    #[serde(default)]
    pub read_ahead: ReadAheadDescription,
    /// Writes.
    #[serde(default)]
    pub write: WriteDescription,
    /// How requests take and leave the bus.
    #[serde(default)]
    pub bus: BusDescription,
}

/// When the arm may set off for the request after the one that is being served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PreSeek {
    /// Once that one is complete.
    #[default]
    AfterCompletion,
    /// Once its data have crossed the bus, while its completion is under way.
    WhileCompleting,
    /// Once the medium has done with it, while its data still cross the bus.
    AfterMedium,
}

/// How reads are served: `[buffer.read]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadDescription {
    /// Whether blocks that were written may be read from the buffer.
    pub hits_written_data: bool,
    /// Whether the blocks of a read that are in the buffer cross the bus before the others have come; otherwise it
    /// waits for the bus like a miss, unless as many as the high water mark asks for are there.
    pub partial_hits_at_once: bool,
    /// The controller's time for a read that begins in the buffer, after a read.
    pub hit_after_read: Time,
    /// The same after a write.
    pub hit_after_write: Time,
    /// Reads that begin in the buffer and take the controller longer at times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_hits: Option<LateHits>,
}

/// Reads from the buffer that the controller serves late: `[buffer.read.late_hits]`. DiskSim has no such thing; recorded
/// drives do (the hits of the recorded Cheetah 9LP take either of two times).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LateHits {
    /// The share of them that is late, drawn for each.
    pub share: f64,
    /// How much later they are.
    pub by: Time,
}

impl Default for ReadDescription {
    fn default() -> ReadDescription {
        ReadDescription {
            hits_written_data: false,
            partial_hits_at_once: true,
            hit_after_read: Time::ZERO,
            hit_after_write: Time::ZERO,
            late_hits: None,
        }
    }
}

/// What is read beyond a request: `[buffer.read_ahead]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadAheadDescription {
    /// Up to where.
    pub until: ReadAheadEnd,
    /// The most that is read beyond a request; as much as the segment holds where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<Size>,
    /// What must be read beyond a request before another may interrupt.
    pub least: Size,
    /// Whether what is read ahead may take the place of the request's own blocks in the segment, where `most` is not given.
    pub over_requested: bool,
    /// Whether it is resumed after a read that was served from the buffer.
    pub after_hits: bool,
    /// Whether it is given up in the middle of a sector, or of the wait for one; else at the end of that.
    pub stops_within_sector: bool,
    /// Whether sectors further on that pass while the first is waited for are read, too: a track is done one revolution
    /// after the head came to it (zero-latency access).
    pub while_waiting: bool,
}

impl Default for ReadAheadDescription {
    fn default() -> ReadAheadDescription {
        ReadAheadDescription {
            until: ReadAheadEnd::None,
            most: None,
            least: Size::from_blocks(0),
            over_requested: false,
            after_hits: false,
            stops_within_sector: false,
            while_waiting: false,
        }
    }
}

/// Where reading ahead ends at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAheadEnd {
    /// With the request: nothing is read ahead.
    None,
    /// With the track of the request's last block.
    Track,
    /// With the cylinder of the request's last block.
    Cylinder,
    /// Where the segment, or `most`, ends it.
    Segment,
    /// With the track on which the next block is; one track later when the segment holds data from before that track, as
    /// in a sequential stream.
    StreamTrack,
}

/// How writes are served: `[buffer.write]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WriteDescription {
    /// When a write without FUA is complete.
    pub complete: WriteCompletion,
    /// The controller's time for a write that is complete once buffered, after a read.
    pub buffered_after_read: Time,
    /// The same after a write.
    pub buffered_after_write: Time,
    /// Whether the first segment is kept for writes.
    pub own_segment: bool,
    /// Whether a write that goes on where the one before it ended joins it on its way to the medium.
    pub appends: bool,
    /// The shortest motion before the first block of a write, also of one that needs none; of a write that joins the one before it
    /// only if the medium has to wait for it.
    pub least_seek: Time,
    /// What becomes of a write into the segment used last, if it does not go on where that ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_disconnection: Option<ExtraDisconnection>,
}

impl Default for WriteDescription {
    fn default() -> WriteDescription {
        WriteDescription {
            complete: WriteCompletion::OnMedium,
            buffered_after_read: Time::ZERO,
            buffered_after_write: Time::ZERO,
            own_segment: false,
            appends: true,
            least_seek: Time::ZERO,
            extra_disconnection: None,
        }
    }
}

/// When a write without FUA is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCompletion {
    /// When its last block is on the medium.
    OnMedium,
    /// When its last block is in the buffer; one joins another only if nothing else waits.
    BufferedAlone,
    /// When its last block is in the buffer.
    Buffered,
}

/// A second disconnection that some drives make during a write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtraDisconnection {
    /// From the command to the decision.
    pub command: Time,
    /// From there to the end of the disconnection.
    pub disconnect: Time,
    /// From there to the reconnection.
    pub pause: Time,
    /// The disconnection after the data.
    pub second: Time,
    /// How much later than `command` the arm may move.
    pub seek: Time,
}

/// How requests take and leave the bus: `[buffer.bus]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BusDescription {
    /// Whether the drive leaves the bus while a request has nothing to transfer.
    pub disconnects: bool,
    /// Whether a read that has begun to transfer keeps the bus to its end.
    pub kept_by_reads: bool,
    /// Whether a write that has begun to transfer keeps the bus to its end.
    pub kept_by_writes: bool,
    /// The share of what the mark counts that must be in the buffer before a read takes the bus; 0 stands for a block.
    pub high_water: f64,
    /// The share of what the mark counts that may be left in the buffer before a write takes the bus again.
    pub low_water: f64,
    /// What the marks count.
    pub water: Water,
    /// Preparing the data before they cross, each time.
    pub preparation: Time,
    /// Taking the bus again.
    pub reselect: Time,
    /// Taking it again after an extra disconnection.
    pub reselect_again: Time,
    /// Leaving the bus in a read that follows a read.
    pub disconnect_read_after_read: Time,
    /// Leaving the bus in a read that follows a write.
    pub disconnect_read_after_write: Time,
    /// Leaving the bus in a write.
    pub disconnect_write: Time,
}

impl Default for BusDescription {
    fn default() -> BusDescription {
        BusDescription {
            disconnects: true,
            kept_by_reads: false,
            kept_by_writes: false,
            high_water: 0.0,
            low_water: 0.0,
            water: Water::Request,
            preparation: Time::ZERO,
            reselect: Time::ZERO,
            reselect_again: Time::ZERO,
            disconnect_read_after_read: Time::ZERO,
            disconnect_read_after_write: Time::ZERO,
            disconnect_write: Time::ZERO,
        }
    }
}

/// What a water mark counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Water {
    /// The blocks of the request, at most those of a segment.
    Request,
    /// The blocks of a segment.
    Segment,
}

impl Water {
    /// The blocks that `share` of `counted` blocks is. 0.58 of 50 is 29, although the product of the nearest binary fractions is less.
    pub(super) fn blocks(self, share: f64, counted: u64) -> u64 {
        // Most drives have one of these.
        if share == 0.0 {
            return 0;
        }
        if share == 1.0 {
            return counted;
        }
        let blocks = counted as f64 * share;
        let nearest = libm::round(blocks);
        match self {
            _ if (blocks - nearest).abs() < 1e-6 => nearest as u64,
            Self::Request => libm::trunc(blocks) as u64,
            Self::Segment => libm::ceil(blocks) as u64,
        }
    }
}

fn yes() -> bool {
    true
}

/// The most segments a buffer may have: the choice of one looks at all.
const MOST_SEGMENTS: u32 = 1024;
/// The largest segment: 8 GiB in blocks.
const LARGEST_SEGMENT: u64 = 1 << 24;
/// The longest time of a controller's step.
const LONGEST_STEP: Time = Time::from_s(10);

impl BufferDescription {
    /// Checks the values, of a drive with physical sectors of `blocks_per_sector` blocks.
    ///
    /// # Errors
    /// Names the value that makes no sense, and what is accepted.
    pub fn check(&self, blocks_per_sector: u64) -> Result<(), InputError> {
        let reads_need = if self.write.own_segment { 2 } else { 1 };
        if !(reads_need..=MOST_SEGMENTS).contains(&self.segments) {
            return Err(InputError::new(format!("a buffer of {} segments", self.segments)).help(
                format!("accepted: {reads_need} to {MOST_SEGMENTS} (write.own_segment takes one away from reads)"),
            ));
        }
        let size = self.segment_size.blocks();
        if !(blocks_per_sector..=LARGEST_SEGMENT).contains(&size) {
            return Err(
                InputError::new(format!("buffer segments of {}", self.segment_size)).help(
                    "accepted: from a physical sector to 8 GiB, such as \"512 blocks\" or \"256 KiB\"",
                ),
            );
        }
        let late = self.read.late_hits;
        for (name, share) in [
            ("bus.high_water", self.bus.high_water),
            ("bus.low_water", self.bus.low_water),
            ("read.late_hits.share", late.map_or(0.0, |late| late.share)),
        ] {
            if !(0.0..=1.0).contains(&share) {
                return Err(InputError::new(format!("{name} of {share}"))
                    .help("expected a share, from 0 to 1"));
            }
        }
        let extra = self.write.extra_disconnection.as_ref();
        let steps = [
            self.read.hit_after_read,
            self.read.hit_after_write,
            late.map_or(Time::ZERO, |late| late.by),
            self.write.buffered_after_read,
            self.write.buffered_after_write,
            self.write.least_seek,
            self.bus.preparation,
            self.bus.reselect,
            self.bus.reselect_again,
            self.bus.disconnect_read_after_read,
            self.bus.disconnect_read_after_write,
            self.bus.disconnect_write,
        ];
        let extra = extra.into_iter().flat_map(|extra| {
            [
                extra.command,
                extra.disconnect,
                extra.pause,
                extra.second,
                extra.seek,
            ]
        });
        if let Some(step) = steps
            .into_iter()
            .chain(extra)
            .find(|&step| step > LONGEST_STEP)
        {
            return Err(
                InputError::new(format!("a step of the buffer that takes {step}"))
                    .help(format!("each takes at most {LONGEST_STEP}")),
            );
        }
        Ok(())
    }

    /// Blocks of a segment.
    #[inline]
    pub fn segment_blocks(&self) -> u64 {
        self.segment_size.blocks()
    }
}
