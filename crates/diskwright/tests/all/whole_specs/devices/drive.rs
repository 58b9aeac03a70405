//! Drives, real and made up.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diskwright::base::document::from_node;
use diskwright::base::error::Error;
use diskwright::devices::drives::{self, DriveFile};
use diskwright::devices::hdd::drive::DriveDescription;
use serde_json::{Map, Value, json};

use crate::whole_specs::draw::{Disk, Draw, size};
use crate::whole_specs::schema::{Hint, blocks};

/// The name of a drive in a spec, and what it has.
pub fn drive(draw: &mut Draw<'_>) -> (String, Disk) {
    let of_speed = |name: &&&'static str| match &draw.rotation {
        Some(rotation) => drives::text(name)
            .is_some_and(|text| text.contains(&format!("rotation = \"{rotation}\""))),
        None => true,
    };
    let names = whole();
    let real: Vec<&str> = names.iter().filter(of_speed).copied().collect();
    if !real.is_empty() && draw.chance(0.3) {
        let name = *draw.pick(&real);
        return (name.to_owned(), REAL[name]);
    }
    for _ in 0..MOST_TRIES {
        let made = made_up(draw);
        let text = toml::to_string(&made).expect("plain data");
        let description = described(text.clone()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        // Spares and defects may leave a zone no room; then another is drawn.
        if let Some(disk) = measured(&description).filter(|disk| disk.blocks >= FEWEST) {
            return (draw.case.add(".toml", json!({ "drive": made })), disk);
        }
    }
    panic!("{MOST_TRIES} made-up drives in a row are refused");
}

/// Drives drawn before the generator is called poor.
const MOST_TRIES: u32 = 40;
/// The smallest drive, in blocks.
const FEWEST: u64 = 400;

/// What the library's drives have: building a large one takes time.
static REAL: LazyLock<BTreeMap<&str, Disk>> = LazyLock::new(|| {
    let disk = |name: &&'static str| {
        let description = described(drives::text(name)?.to_owned());
        Some((*name, measured(&description.expect(name))?))
    };
    whole().iter().filter_map(disk).collect()
});

/// The library's drives whose files are whole; those that are like another one differ from it in little.
fn whole() -> Vec<&'static str> {
    let is_whole = |name: &&str| drives::text(name).is_some_and(|text| !text.contains("\nlike = "));
    drives::names_of("hdd")
        .into_iter()
        .filter(is_whole)
        .collect()
}

/// A description, read as a run reads it.
fn described(text: String) -> Result<DriveDescription, Error> {
    Ok(from_node(
        &DriveFile::parse("drive.toml".to_owned(), text)?.tree,
    )?)
}

fn measured(description: &DriveDescription) -> Option<Disk> {
    let hardware = description.hardware().ok()?;
    let layout = &hardware.mechanics.layout;
    let tracks = layout.zones().iter().map(|zone| zone.sectors_per_track());
    Some(Disk {
        blocks: hardware.blocks(),
        blocks_per_sector: hardware.blocks_per_sector.into(),
        surfaces: layout.surfaces().into(),
        cylinders: layout.cylinders().into(),
        shortest_track: tracks.min()?.into(),
        has_pool: description.pool.is_some(),
    })
}

fn made_up(draw: &mut Draw<'_>) -> Value {
    let (surfaces, cylinders) = (draw.within(1..=4), draw.scaled(20..=400));
    draw.disk = Disk {
        surfaces,
        cylinders,
        blocks_per_sector: *draw.pick(&[1, 1, 1, 2, 8]),
        ..Disk::default()
    };
    let mut drive = draw.named("Drive");
    if drive.get("buffer").is_none() && draw.chance(0.5) {
        drive["pool"] = pool(draw);
    }
    drive
}

/// A pool that keeps writes, also without the write cache: in flash, or in regions.
pub fn keeping_pool(draw: &mut Draw<'_>, has_regions: bool) -> Value {
    loop {
        let mut pool = pool(draw);
        if pool["persistent"].is_null() || pool["persistent"]["region"].is_null() == has_regions {
            continue;
        }
        if pool["write_cache"].is_null() {
            pool["write_cache"] = json!({});
        }
        return pool;
    }
}

/// A pool of few extents, so that they are fought for.
fn pool(draw: &mut Draw<'_>) -> Value {
    let mut pool = draw.named("PoolDescription");
    let extent = draw.disk.blocks_per_sector * draw.scaled(1..=16);
    let extents = *draw.pick(&[1, 2, 3, 8, 40, 300]);
    pool["extent"] = size(extent);
    pool["size"] = size(extent * extents);
    if let Some(kept) = pool.get_mut("persistent") {
        let memory = draw.scaled(1..=extents);
        kept["memory"] = size(extent * memory);
        if draw.chance(0.5) {
            let count = draw.within(1..=3);
            let room = (memory + 1 + draw.scaled(0..=100)).next_multiple_of(count);
            kept["region"] = json!({ "count": count, "size": size(extent * room) });
        }
    }
    if let Some(rules) = pool.get_mut("read_ahead") {
        let most = draw.scaled(0..=400);
        rules["most"] = size(most);
        if draw.chance(0.5) {
            rules["least"] = size(draw.scaled(0..=most));
        }
    }
    if let Some(cache) = pool.get_mut("write_cache") {
        let low = draw.share(0.0, 1.0);
        cache["share"] = draw.share(0.001, 1.0).into();
        cache["low"] = low.into();
        cache["high"] = draw.share(low, 1.0).into();
    }
    pool
}

/// What is known of the keys of drives beyond their schemas.
pub fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    let disk = draw.disk;
    match (owner, key) {
        ("Drive", "name") => "made up".into(),
        ("Drive", "about" | "source" | "estimated" | "year") => Hint::Omit,
        // Of a drive's own arms two actuators, each with its access range, are drawn with the layout.
        ("Drive", "arms") => Hint::Omit,
        ("Drive", "buffer") if draw.chance(0.4) => draw.named("BufferDescription").into(),
        ("Drive", "buffer") => Hint::Omit,
        // It is drawn afterwards, where there is no buffer.
        ("Drive", "pool") => Hint::Omit,
        ("PersistentDescription", "region") => Hint::Omit,
        ("StreamsDescription", "streams") => draw.scaled(0..=8).into(),
        ("StreamsDescription", "after") => draw.within(0..=2).into(),
        // They are drawn afterwards: one is not below the other.
        ("StreamsDescription", "most" | "least") => Hint::Omit,
        ("WriteCacheDescription", "longest") => draw.blocks(1..=200).into(),
        ("WriteCacheDescription", "idle") => draw.time(0, 30_000).into(),
        ("WriteCacheDescription", "age") => draw.time(0, 300_000).into(),
        ("ShipsDescription", "queue_depth") => draw.scaled(1..=40).into(),
        ("Drive", "sector_size") => blocks(disk.blocks_per_sector),
        ("HeadsDescription", "switch") => draw.time(0, 3_000).into(),
        ("HeadsDescription", "write_settle") => {
            format!("{} us", draw.within(0..=2_000) as i64 - 200).into()
        }
        ("InterfaceDescription", "block_time" | "write_block_time") if draw.chance(0.5) => {
            draw.time(0, 60).into()
        }
        ("InterfaceDescription", "write_block_time" | "rate") => Hint::Omit,
        ("InterfaceDescription", "block_time") => Hint::Omit,
        ("Drive", "layout") => layout(draw).into(),
        ("Drive", "seek") => Hint::Schema,
        // Longer than any settling that is drawn.
        ("Drive", "write_seek") if draw.chance(0.2) => {
            let (single, full) = (draw.time(2_000, 4_000), draw.time(1_900, 12_000));
            json!({ "linear": { "single": single, "full": full } }).into()
        }
        ("Drive", "write_seek") => Hint::Omit,
        ("SeekDescription", "constant") => draw.time(0, 9_000).into(),
        ("SeekTable", "points_ms") => {
            let (first, last) = (draw.share(0.0, 2.0), draw.share(0.0, 10.0));
            json!([[1, first], [disk.cylinders, first + last]]).into()
        }
        ("LinearSeek", "single") => draw.time(0, 2_000).into(),
        ("LinearSeek", "full") => draw.time(2_000, 12_000).into(),
        ("LinearSeek", "slope_ns") => Hint::Omit,
        ("HpSeek", "boundary") => draw.within(2..=disk.cylinders).into(),
        ("HpSeek", "short_ms") => json!([draw.share(0.0, 2.0), draw.share(0.0, 0.3)]).into(),
        ("HpSeek", "long_ms") => json!([draw.share(2.0, 5.0), draw.share(0.0, 0.01)]).into(),
        ("HpSeek", "first_ms") if draw.chance(0.3) => json!([draw.share(0.0, 2.0)]).into(),
        ("HpSeek", "first_ms") => Hint::Omit,
        ("LeeSeek", "single") => draw.time(500, 2_000).into(),
        ("LeeSeek", "average") => draw.time(5_000, 6_000).into(),
        ("LeeSeek", "full") => draw.time(9_000, 12_000).into(),
        _ => Hint::Schema,
    }
}

/// One to three zones, from the outside inwards, with skews, spares and defects.
fn layout(draw: &mut Draw<'_>) -> Value {
    let disk = draw.disk;
    let zones = draw.within(1..=3.min(disk.cylinders / 4));
    let mut sectors = draw.within(24..=120);
    let mut first = 0;
    let mut drawn = Vec::new();
    for zone in 0..zones {
        let last = if zone + 1 == zones {
            disk.cylinders - 1
        } else {
            first + draw.within(1..=disk.cylinders / zones - 1)
        };
        drawn.push(self::zone(draw, (first, last), sectors));
        first = last + 1;
        sectors = (sectors - draw.within(0..=sectors / 4)).max(8);
    }
    let mut layout = Map::new();
    layout.insert("surfaces".into(), disk.surfaces.into());
    layout.insert("cylinders".into(), disk.cylinders.into());
    if draw.chance(0.5) {
        layout.insert("order".into(), draw.named("HeadOrder"));
    }
    if disk.surfaces.is_multiple_of(2) && draw.chance(0.15) {
        layout.insert("access_ranges".into(), 2.into());
    }
    layout.insert("zone".into(), drawn.into());
    layout.into()
}

fn zone(draw: &mut Draw<'_>, (first, last): (u64, u64), sectors: u64) -> Value {
    let mut zone = json!({ "cylinders": [first, last], "sectors_per_track": sectors });
    for (key, most) in [
        ("offset", sectors - 1),
        ("front", 3 * sectors),
        ("track_skew", sectors - 1),
        ("cylinder_skew", sectors - 1),
    ] {
        if draw.chance(0.5) {
            zone[key] = draw.within(0..=most).into();
        }
    }
    let tracks = (last - first + 1) * draw.disk.surfaces;
    if draw.chance(0.4) {
        let mut spares = json!({ "per": draw.named("SpareUnit"), "sectors": draw.within(1..=6) });
        if let Some(cylinders) = spares["per"].get_mut("cylinders") {
            *cylinders = draw.within(1..=last - first + 1).into();
        }
        for (key, name) in [("at", "SparePlace"), ("slips", "SlipCost")] {
            if draw.chance(0.5) {
                spares[key] = draw.named(name);
            }
        }
        zone["spares"] = spares;
        if draw.chance(0.5) {
            let count = draw.within(1..=4);
            let mut slipped: Vec<u64> = (0..count)
                .map(|_| draw.within(0..=tracks * sectors / 2))
                .collect();
            slipped.sort_unstable();
            slipped.dedup();
            zone["slipped"] = slipped.into();
        }
    } else if draw.chance(0.2) {
        zone["slipped_tracks"] = json!([draw.within(0..=tracks - 1)]);
        zone["spares"] = json!({ "per": "zone", "tracks": 2 });
    }
    zone
}
