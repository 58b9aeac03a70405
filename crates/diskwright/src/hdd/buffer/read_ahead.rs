//! How far the medium reads beyond a request.

use super::Buffer;
use super::parameters::ReadAheadEnd;
use crate::geometry::layout::{Layout, Run};
use crate::hdd::hardware::Hardware;
use crate::request::Command;

impl Buffer {
    /// The block before which reading ahead ends for a read that uses segment `number`; `track` is that of its first
    /// sector, from that sector on.
    pub(super) fn read_ahead_limit(
        &self,
        hardware: &Hardware,
        (command, track): (&Command, &Run),
        number: u32,
    ) -> u64 {
        let layout = &hardware.mechanics.layout;
        let per_sector = u64::from(hardware.blocks_per_sector);
        let ahead = &self.description.read_ahead;
        let (lbn, end) = (command.lbn.0, command.end().0);
        let first = lbn / per_sector;
        let capacity = layout.sectors() * per_sector;
        let most = match ahead.most {
            Some(most) => end + most.blocks(),
            None if ahead.over_requested => end + self.segments.size(),
            None => lbn + self.segments.size(),
        };
        // The track of a sector of the read, or of the one behind it, from some sector up to its end.
        let track_from = |sector: u64| {
            if sector < first + u64::from(track.sectors) {
                (first, *track)
            } else {
                (sector, layout.run(sector, u32::MAX))
            }
        };
        let track_end = |sector: u64| {
            let (from, run) = track_from(sector);
            from + u64::from(run.sectors)
        };
        let limit = match ahead.until {
            ReadAheadEnd::None => end,
            ReadAheadEnd::Segment => most,
            ReadAheadEnd::Track => most.min(track_end((end - 1) / per_sector) * per_sector),
            ReadAheadEnd::Cylinder => {
                most.min(cylinder_end(layout, (end - 1) / per_sector) * per_sector)
            }
            ReadAheadEnd::StreamTrack => {
                let (from, run) = track_from((end / per_sector).min(layout.sectors() - 1));
                let start = self.segments.get(number).start / per_sector;
                let is_streaming = start != from && {
                    let place = layout.locate(start);
                    (place.cylinder, place.surface) != (run.position.cylinder, run.position.surface)
                };
                let more = if is_streaming {
                    u64::from(run.sectors_per_track)
                } else {
                    0
                };
                (from + u64::from(run.sectors) + more) * per_sector
            }
        };
        limit.clamp(end, capacity.max(end))
    }
}

/// The sector behind the last one of a sector's cylinder.
fn cylinder_end(layout: &Layout, sector: u64) -> u64 {
    let cylinder = layout.cylinder(sector);
    let track_end = |sector: u64| sector + u64::from(layout.run(sector, u32::MAX).sectors);
    let mut end = track_end(sector);
    while end < layout.sectors() && layout.cylinder(end) == cylinder {
        end = track_end(end);
    }
    end
}
