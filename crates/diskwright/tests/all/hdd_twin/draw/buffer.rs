//! Segmented buffers.

use super::super::specs::{Buffer, Case, Complete, Until};
use super::Draw;

/// Gives the drive of a case a buffer, and sectors of a block.
pub fn buffer(draw: &mut Draw, case: &mut Case) {
    let own_segment = draw.percent(30);
    let until = draw.pick(&[
        Until::None,
        Until::Track,
        Until::Cylinder,
        Until::Segment,
        Until::Segment,
        Until::StreamTrack,
    ]);
    // What is read ahead has room beside a request: two tracks at most where it goes by tracks.
    let tracks = case.drive.layout.zones.iter().map(|zone| zone.per_track);
    let size = match until {
        Until::StreamTrack => 2 * tracks.max().expect("it has a zone") + draw.within(16..=40),
        _ => draw.scaled(4..=80),
    };
    let most = draw.pick(&[0, 100_000, 500_000]);
    let mut time = || match most {
        0 => 0,
        _ => draw.time(most),
    };
    let (hit_after_read, hit_after_write) = (time(), time());
    let (buffered_after_read, buffered_after_write) = (time(), time());
    case.drive.sector = 1;
    case.drive.interface.overlapped = true;
    for zone in &mut case.drive.layout.zones {
        zone.remapped.clear();
        zone.remapped_tracks.clear();
    }
    case.drive.buffer = Some(Buffer {
        segments: draw.within(1 + u64::from(own_segment)..=6),
        size,
        keeps_data: draw.percent(80),
        hits_written_data: draw.percent(50),
        hit_after_read,
        hit_after_write,
        until,
        most: draw.percent(40).then(|| draw.scaled(0..=size - 1)),
        over_requested: false,
        stops_within_sector: draw.percent(30),
        complete: draw.pick(&[
            Complete::OnMedium,
            Complete::Buffered,
            Complete::BufferedAlone,
        ]),
        buffered_after_read,
        buffered_after_write,
        own_segment,
        least_seek: draw.pick(&[0, 0, 700_000]),
    });
}
