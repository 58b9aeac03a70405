//! How far the medium reads beyond a request.

use super::Buffer;
use super::parameters::ReadAheadEnd;
use crate::geometry::layout::Layout;
use crate::request::Command;

impl Buffer {
    /// The block before which reading ahead ends for a read that uses segment `number`.
    pub(super) fn read_ahead_limit(
        &self,
        layout: &Layout,
        per_sector: u64,
        command: &Command,
        number: u32,
    ) -> u64 {
        let ahead = &self.description.read_ahead;
        let (lbn, end) = (command.lbn.0, command.end().0);
        let capacity = layout.sectors() * per_sector;
        let most = match ahead.most {
            Some(most) => end + most.blocks(),
            None if ahead.over_requested => end + self.segments.size(),
            None => lbn + self.segments.size(),
        };
        let limit = match ahead.until {
            ReadAheadEnd::None => end,
            ReadAheadEnd::Segment => most,
            ReadAheadEnd::Track => most.min(track_end(layout, (end - 1) / per_sector) * per_sector),
            ReadAheadEnd::Cylinder => {
                most.min(cylinder_end(layout, (end - 1) / per_sector) * per_sector)
            }
            ReadAheadEnd::StreamTrack => {
                let sector = (end / per_sector).min(layout.sectors() - 1);
                let run = layout.run(sector, u32::MAX);
                let track_end = sector + u64::from(run.sectors);
                let start = self.segments.get(number).start / per_sector;
                let place = layout.locate(start);
                let is_streaming = (place.cylinder, place.surface)
                    != (run.position.cylinder, run.position.surface);
                let more = if is_streaming {
                    u64::from(run.sectors_per_track)
                } else {
                    0
                };
                (track_end + more) * per_sector
            }
        };
        limit.clamp(end, capacity.max(end))
    }
}

/// The sector behind the last one of a sector's track.
fn track_end(layout: &Layout, sector: u64) -> u64 {
    sector + u64::from(layout.run(sector, u32::MAX).sectors)
}

/// The sector behind the last one of a sector's cylinder.
fn cylinder_end(layout: &Layout, sector: u64) -> u64 {
    let cylinder = layout.cylinder(sector);
    let mut end = track_end(layout, sector);
    while end < layout.sectors() && layout.cylinder(end) == cylinder {
        end = track_end(layout, end);
    }
    end
}
