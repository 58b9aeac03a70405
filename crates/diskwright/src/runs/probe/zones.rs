//! Bandwidth by zone, and what the change of tracks costs a stream.

use serde::Serialize;

use crate::base::error::Error;
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::request::{Op, Part};
use crate::models::geometry::layout::{Layout, Zone};

use super::bench::{Bench, ProbedRequest};
use super::meter::Meter;

/// The most tracks of a zone that are streamed.
const TRACKS: u64 = 20_000;
/// The most tracks that are looked at for a long run without a gap.
const TRACKS_FOR_A_RUN: usize = 64;

/// A zone's place and speed. MB are 10^6 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZoneSpeed {
    /// Number of the zone, in LBN order.
    pub zone: usize,
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder.
    pub last_cylinder: u32,
    /// First surface of the zone's access range.
    pub first_surface: u32,
    /// Last surface of the zone's access range.
    pub last_surface: u32,
    /// First 512-byte block.
    pub first_lbn: u64,
    /// Last 512-byte block.
    pub last_lbn: u64,
    /// Sectors on a track.
    pub sectors_per_track: u32,
    /// Rate at which data pass under the head on one track.
    pub media_mb_per_s: f64,
    /// Rate of a long read at the medium: all changes of tracks and cylinders included, neither overheads nor interface.
    pub sustained_mb_per_s: f64,
    /// Rate of a long read at the host: as `sustained_mb_per_s`, held up by the interface where that is slower.
    pub host_mb_per_s: f64,
    /// From the end of a track's last sector to the start of the next track's first one, in the same cylinder, ms; `None`
    /// where a cylinder has one track.
    pub track_switch_ms: Option<f64>,
    /// The same from a cylinder's last track to the next cylinder, ms; `None` where the zone has one cylinder.
    pub cylinder_switch_ms: Option<f64>,
}

/// A sector that is read twice, the second time as soon as the first is complete, and a longer read that does the same.
struct Stream {
    short: ProbedRequest,
    long: ProbedRequest,
}

impl Stream {
    /// Both the second short read and the long one begin when the first sector has just passed, and find the head over
    /// its track: what the long one takes longer is what its other sectors take.
    fn read(bench: &mut Bench, first: u64, sectors: u32) -> Result<Stream, Error> {
        bench.read(first)?;
        let short = bench.read(first)?;
        let long = bench.request(Time::ZERO, Op::Read, first, sectors)?;
        Ok(Stream { short, long })
    }

    /// At the medium.
    fn mechanical(&self) -> Time {
        self.long
            .mechanical()
            .saturating_sub(self.short.mechanical())
    }

    /// At the host.
    fn response(&self) -> Time {
        self.long.response.saturating_sub(self.short.response)
    }

    /// Where no sector passes.
    fn gap(&self) -> Time {
        self.long
            .parts
            .access()
            .saturating_sub(self.short.parts.access())
    }
}

fn mb_per_s(bench: &Bench, sectors: u64, time: Time) -> f64 {
    let bytes = sectors * u64::from(bench.blocks_per_sector()) * BLOCK_BYTES;
    bytes as f64 / time.s() / 1e6
}

/// The sectors of a zone that are streamed, as the first one and the first one after them: whole cylinders, as many as
/// the limit lets, so that all changes of tracks have their share; the whole zone where that holds no two cylinders.
fn stretch(layout: &Layout, zone: &Zone, blocks_per_sector: u32) -> (u64, u64) {
    let first = zone.first_sector();
    let end = first + zone.sectors();
    let surfaces = u64::from(zone.surfaces());
    let per_cylinder = surfaces * u64::from(zone.sectors_per_track());
    // A command counts its blocks in 32 bits; one sector more is read than is counted.
    let countable = u64::from(u32::MAX / blocks_per_sector) - 1;
    let cylinders = (TRACKS / surfaces).min(countable / per_cylinder).max(1) as u32;
    let start = layout.locate(first);
    let last = zone
        .last_cylinder()
        .min(start.cylinder.saturating_add(cylinders));
    let alike = |cylinder| {
        let sector = layout.sector_at(cylinder, start.surface, start.sector)?;
        (first < sector && sector < end && sector - first <= countable).then_some(sector)
    };
    let whole = (start.cylinder + 1..=last).rev().find_map(alike);
    (
        first,
        whole.unwrap_or(first + (end - first - 1).min(countable)),
    )
}

/// The longest of a zone's first runs of sectors without a gap, as its first sector and its length.
fn longest_run(layout: &Layout, zone: &Zone) -> (u64, u32) {
    let end = zone.first_sector() + zone.sectors();
    let mut best = (zone.first_sector(), 1);
    let mut sector = zone.first_sector();
    for _ in 0..TRACKS_FOR_A_RUN {
        if sector == end {
            break;
        }
        let left = (end - sector).min(u64::from(u32::MAX)) as u32;
        let run = layout.run(sector, left);
        if run.sectors == run.span && run.sectors > best.1 {
            best = (sector, run.sectors);
        }
        sector += u64::from(run.sectors);
    }
    best
}

/// The time that a stream loses between two tracks, of one cylinder or of two.
///
/// The least of the first few changes in the zone: at others slipped sectors may stand between.
fn switch(bench: &mut Bench, zone: &Zone, across: bool) -> Result<Option<Time>, Error> {
    let end = zone.first_sector() + zone.sectors();
    let mut sector = zone.first_sector();
    let mut least = None;
    let mut seen = 0;
    for _ in 0..TRACKS_FOR_A_RUN.max(4 * bench.layout().surfaces() as usize) {
        let left = (end - sector).min(u64::from(u32::MAX)) as u32;
        let run = bench.layout().run(sector, left);
        sector += u64::from(run.sectors);
        if sector == end || seen == 4 {
            break;
        }
        let next = bench.layout().locate(sector);
        let (from, to) = (run.position, next);
        let is_wanted = if across {
            to.cylinder == from.cylinder + 1
        } else {
            to.cylinder == from.cylinder && to.surface == from.surface + 1
        };
        if is_wanted {
            let gap = Stream::read(bench, sector - 1, 2)?.gap();
            least = Some(least.map_or(gap, |least: Time| least.min(gap)));
            seen += 1;
        }
    }
    Ok(least)
}

fn measure_zone(bench: &mut Bench, number: usize, zone: &Zone) -> Result<ZoneSpeed, Error> {
    let per_sector = u64::from(bench.blocks_per_sector());
    let (first, after) = stretch(bench.layout(), zone, bench.blocks_per_sector());
    // From the end of the first sector to that of the one after the stretch.
    let sectors = after - first;
    let (sustained, host) = if sectors == 0 {
        // A zone of one sector is read over and over.
        bench.read(first)?;
        let again = bench.read(first)?;
        let rate = mb_per_s(bench, 1, again.mechanical());
        (rate, mb_per_s(bench, 1, again.response))
    } else {
        let stream = Stream::read(bench, first, sectors as u32 + 1)?;
        (
            mb_per_s(bench, sectors, stream.mechanical()),
            mb_per_s(bench, sectors, stream.response()),
        )
    };
    let (run, length) = longest_run(bench.layout(), zone);
    let track = bench.request(Time::ZERO, Op::Read, run, length)?;
    let transfer = track.parts.get(Part::Transfer);
    Ok(ZoneSpeed {
        zone: number,
        first_cylinder: zone.first_cylinder(),
        last_cylinder: zone.last_cylinder(),
        first_surface: zone.first_surface(),
        last_surface: zone.first_surface() + zone.surfaces() - 1,
        first_lbn: zone.first_sector() * per_sector,
        last_lbn: (zone.first_sector() + zone.sectors()) * per_sector - 1,
        sectors_per_track: zone.sectors_per_track(),
        media_mb_per_s: mb_per_s(bench, length.into(), transfer),
        sustained_mb_per_s: sustained,
        host_mb_per_s: host,
        track_switch_ms: switch(bench, zone, false)?.map(Time::ms),
        cylinder_switch_ms: switch(bench, zone, true)?.map(Time::ms),
    })
}

/// Streams every zone that has addresses.
///
/// # Errors
/// Those of [`Bench::request`], and an interruption.
pub fn measure(bench: &mut Bench, meter: &mut Meter<'_>) -> Result<Vec<ZoneSpeed>, Error> {
    let zones = bench.layout().zones_by_lbn().to_vec();
    let mut speeds = Vec::with_capacity(zones.len());
    for (number, zone) in zones.iter().enumerate() {
        if zone.sectors() > 0 {
            speeds.push(measure_zone(bench, number, zone)?);
        }
        meter.advance(1)?;
    }
    Ok(speeds)
}

#[cfg(test)]
mod tests {
    use super::super::bench::tests::bench;
    use super::*;
    use crate::devices::drives;
    use crate::devices::hdd::Hardware;
    use crate::runs::simulation::hardware;

    /// Revolutions from the end of a track to the start of the next: the skew, and one more for each that the switch
    /// takes longer.
    fn turns(hardware: &Hardware, zone: &Zone, skew: u32, switch: Time) -> f64 {
        let turn = f64::from(skew) / f64::from(zone.sectors_per_track());
        let period = hardware.mechanics.spindle.period().s();
        turn + (switch.s() / period - turn).max(0.0).ceil()
    }

    /// The two of a zone: within a cylinder, and to the next one.
    fn both(hardware: &Hardware, zone: &Zone) -> (f64, f64) {
        let switch = hardware.mechanics.head_switch;
        let step = hardware.mechanics.seek().time(1);
        let next = match zone.surfaces() {
            1 => step,
            _ => step.max(switch),
        };
        (
            turns(hardware, zone, zone.track_skew(), switch),
            turns(hardware, zone, zone.cylinder_skew(), next),
        )
    }

    fn close(found: f64, expected: f64, tolerance: f64) -> bool {
        (found / expected - 1.0).abs() < tolerance
    }

    #[test]
    fn every_zone_has_the_speed_that_went_in() {
        for name in drives::names_of("hdd") {
            let (mut bench, hardware) = (bench(name), hardware(name).expect("a drive"));
            let period = hardware.mechanics.spindle.period().s();
            let sector = f64::from(hardware.blocks_per_sector) * 512.0;
            let speeds = measure(&mut bench, &mut Meter::idle()).expect("measured");
            assert!(!speeds.is_empty());
            for speed in speeds {
                let zone = &hardware.mechanics.layout.zones_by_lbn()[speed.zone];
                let surfaces = f64::from(zone.surfaces());
                let bytes = f64::from(zone.sectors_per_track()) * sector;
                let media = bytes / period / 1e6;
                assert!(close(speed.media_mb_per_s, media, 1e-4), "{name} {speed:?}");
                let (track, cylinder) = both(&hardware, zone);
                let revolutions = surfaces + (surfaces - 1.0) * track + cylinder;
                // The library's spares are at the ends of zones, and its other cylinders full but for slipped sectors.
                let sustained = surfaces * bytes / (revolutions * period) / 1e6;
                let found = speed.sustained_mb_per_s;
                assert!(
                    close(found, sustained, 2e-4),
                    "{name} {sustained} {speed:?}"
                );
                for (found, turns) in [
                    (speed.track_switch_ms, track),
                    (speed.cylinder_switch_ms, cylinder),
                ] {
                    if let Some(found) = found {
                        let expected = turns * period * 1e3;
                        assert!(close(found, expected, 1e-3), "{name} {expected} {speed:?}");
                    }
                }
            }
        }
    }

    /// What the host sees is what the slower of medium and interface lets through.
    #[test]
    fn a_slow_interface_holds_the_host_up() {
        let speeds = |name| measure(&mut bench(name), &mut Meter::idle()).expect("measured");
        // 0.101 ms for 512 bytes.
        for speed in speeds("ibm-18es") {
            assert!(close(speed.host_mb_per_s, 0.512 / 0.101, 1e-3), "{speed:?}");
        }
        // 600 MB/s are enough for anything that passes under a head.
        for speed in speeds("exos-x20") {
            assert!(
                close(speed.host_mb_per_s, speed.sustained_mb_per_s, 1e-3),
                "{speed:?}"
            );
        }
    }

    /// Zones begin and end where the layout says, one after the other.
    #[test]
    fn zones_follow_each_other() {
        for name in drives::names_of("hdd") {
            let mut bench = bench(name);
            let blocks = bench.layout().sectors() * u64::from(bench.blocks_per_sector());
            let speeds = measure(&mut bench, &mut Meter::idle()).expect("measured");
            let mut next = 0;
            for speed in speeds {
                assert_eq!(speed.first_lbn, next, "{name}");
                next = speed.last_lbn + 1;
            }
            assert_eq!(next, blocks, "{name}");
        }
    }
}
