//! How far the medium reads beyond a request.

use super::Buffer;
use crate::devices::hdd::buffer_description::ReadAheadEnd;
use crate::devices::hdd::hardware::Hardware;
use crate::engine::request::Command;
use crate::models::geometry::layout::{Layout, Run};

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
        let first = hardware.sector_of(lbn);
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
            ReadAheadEnd::Track => most.min(track_end(hardware.sector_of(end - 1)) * per_sector),
            ReadAheadEnd::Cylinder => {
                most.min(cylinder_end(layout, hardware.sector_of(end - 1)) * per_sector)
            }
            ReadAheadEnd::StreamTrack => {
                let (from, run) = track_from(hardware.sector_of(end).min(layout.sectors() - 1));
                let start = hardware.sector_of(self.segments.get(number).start);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::{Lbn, Time};
    use crate::devices::drives;
    use crate::devices::hdd::buffer::{Medium, Service};
    use crate::devices::hdd::drive::DriveDescription;
    use crate::engine::request::{Op, Part, Parts};
    use crate::models::geometry::mechanics::HeadPosition;

    /// The first read: so large that its blocks still cross the bus when the medium has read ahead to the limit.
    const LARGE: (u64, u32) = (0, 250);
    /// A hit on what was read ahead, which leaves 3 blocks to read.
    const HIT: (u64, u32) = (250, 3);

    fn hardware() -> Hardware {
        let text = drives::text("hp-c3323a").expect("a drive of the library");
        let description: DriveDescription = toml::from_str(text).expect("a sound description");
        description.hardware().expect("a sound description")
    }

    fn empty(hardware: &Hardware) -> Buffer {
        let description = hardware.buffer.clone().expect("a drive with a buffer");
        Buffer::new(description, hardware.chance.clone())
    }

    /// Serves a request that comes at `now`: when it is complete, and its parts.
    fn serve(
        hardware: &Hardware,
        buffer: &mut Buffer,
        now: Time,
        (op, (lbn, blocks)): (Op, (u64, u32)),
    ) -> (Time, Parts) {
        let command = Command {
            op,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
        };
        buffer.advance_to(hardware, now);
        let service = Service {
            command: &command,
            target: &hardware.target_of(&command),
            accepted: now,
            now,
            bus_free: Time::ZERO,
            after_write: false,
        };
        let mut parts = Parts::default();
        let end = buffer.serve(hardware, service, &mut parts).end;
        (end, parts)
    }

    /// A buffer after the large read, when that is complete, and when the medium has reached the limit.
    fn after_large_read(hardware: &Hardware) -> (Buffer, Time, Time) {
        let mut buffer = empty(hardware);
        let (complete, _) = serve(hardware, &mut buffer, Time::ZERO, (Op::Read, LARGE));
        let Medium::Reading { segment, pass, .. } = buffer.medium else {
            panic!("a read leaves the medium reading ahead");
        };
        let limit = buffer.segments.get(segment).limit;
        assert_eq!(limit, 250 + 256);
        let reached = pass.has_read(&hardware.mechanics, limit);
        assert!(reached < complete, "{reached} {complete}");
        (buffer, complete, reached)
    }

    #[test]
    fn the_medium_is_at_rest_once_the_limit_is_reached() {
        let hardware = hardware();
        let ns = Time::from_ns(1);
        let (_, complete, reached) = after_large_read(&hardware);
        for (now, is_at_rest) in [(reached.saturating_sub(ns), false), (reached, true)] {
            let (mut buffer, ..) = after_large_read(&hardware);
            buffer.advance_to(&hardware, now);
            assert_eq!(buffer.is_at_rest(), is_at_rest, "{now}");
        }
        // A write takes as long as on a drive that has done nothing but to put its arm there.
        let arm = HeadPosition::over(&hardware.mechanics.layout.run(250 + 256 - 1, 1));
        let write = (Op::Write, (600_000, 120));
        for late in 0..20 {
            let now = complete + Time::from_us(late * 1000);
            let (mut buffer, ..) = after_large_read(&hardware);
            let found = serve(&hardware, &mut buffer, now, write);
            assert_eq!(buffer.counters.interruptions, 0);
            let mut other = empty(&hardware);
            other.travel(&hardware, now, arm);
            assert_eq!(found, serve(&hardware, &mut other, now, write), "{now}");
        }
    }

    /// The head does not resume reading for a hit before the overhead of a miss is over; a request that comes sooner waits for it.
    #[test]
    fn reading_ahead_that_a_hit_resumes_is_interrupted_when_it_has_begun() {
        let hardware = hardware();
        let overhead = hardware.overhead.before(false, false);
        let (_, complete, _) = after_large_read(&hardware);
        let hit_at = complete + Time::from_us(838);
        let begins = hit_at + overhead;
        for (now, wait) in [
            (
                begins.saturating_sub(Time::from_us(1114)),
                Time::from_us(1114),
            ),
            (begins.saturating_sub(Time::from_ns(1)), Time::from_ns(1)),
            (begins, Time::ZERO),
        ] {
            let (mut buffer, ..) = after_large_read(&hardware);
            let (end, _) = serve(&hardware, &mut buffer, hit_at, (Op::Read, HIT));
            assert!(end < now && !buffer.is_at_rest());
            let (_, parts) = serve(&hardware, &mut buffer, now, (Op::Write, (600_000, 120)));
            assert_eq!(parts.get(Part::Wait), wait);
            assert_eq!(buffer.counters.interruptions, 1);
        }
    }
}
