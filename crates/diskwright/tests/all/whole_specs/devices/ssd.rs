//! SSDs: small ones with flash of all shapes, on the times of a drive of the library.

use serde_json::{Value, json};

use super::{Kind, never_overbusy};
use crate::whole_specs::draw::Draw;
use crate::whole_specs::schema::Hint;

/// An SSD.
pub const KIND: Kind = Kind {
    name: "ssd",
    weight: 2,
    is_branch: false,
    draw,
    hint,
    judge: never_overbusy,
};

/// Drives of the library.
const DRIVES: [&str; 2] = ["mqsim-clean", "slc-classic"];
/// The most pages of a drive, which is filled before each run.
const MOST_PAGES: u64 = 40_000;

fn draw(draw: &mut Draw<'_>, _depth: u32) -> (Value, u64) {
    let (channels, packages) = (draw.scaled(1..=8), draw.scaled(1..=3));
    let (dies, planes) = (draw.scaled(1..=2), draw.scaled(1..=3));
    let all_planes = channels * packages * dies * planes;
    let blocks = draw.scaled(12..=80);
    let pages = draw.scaled(1..=(MOST_PAGES / all_planes / blocks).max(1));
    let unit = *draw.pick(&[1, 7, 8, 32]);
    let of_page = draw.scaled(1..=4);
    // A plane keeps four blocks, and of each other one all but one unit of a page; a page a plane is lost where data do not divide evenly.
    let lost = 4 * pages * of_page + (blocks - 4) * (of_page - 1) + 2 * of_page;
    let kept = lost as f64 / (blocks * pages * of_page) as f64;
    let share = ((kept * 100.0).ceil() + draw.within(1..=30) as f64).min(97.0);
    let mut ssd = draw.named("SsdSpec");
    ssd["drive"] = (*draw.pick(&DRIVES)).into();
    ssd["flash"] = json!({
        "channels": channels, "packages": packages, "dies": dies, "planes": planes,
        "blocks": blocks, "pages": pages, "page": format!("{} blocks", unit * of_page),
        "unit": format!("{unit} blocks"),
    });
    ssd["spare"] = json!({ "share": format!("{share} %") });
    if ssd.get("recovery").is_some() {
        // One block of the plane, which data do not get.
        ssd["spare"]["reserved"] = 1.into();
        ssd["spare"]["share"] = format!("{} %", (share + 100.0 / blocks as f64).ceil()).into();
    }
    let units = all_planes * blocks * pages * of_page;
    let spare: f64 = ssd["spare"]["share"]
        .as_str()
        .and_then(|share| share.trim_end_matches(" %").parse().ok())
        .expect("a percentage");
    let held = units - (units as f64 * spare / 100.0).round() as u64;
    (ssd, held * unit)
}

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        // These depend on one another.
        ("SsdSpec", "flash" | "spare") => Hint::Omit,
        // Their times are those of real drives.
        ("SsdSpec", "timing" | "interface") => Hint::Omit,
        // Requests fail on a worn-out drive, as they are to.
        ("WearDescription", "endurance") => Hint::Omit,
        ("SsdSpec", "queue_depth") => draw.scaled(1..=100).into(),
        ("InitialSpec", "overwrite") => (draw.within(0..=20) as f64 / 10.0).into(),
        ("AllocationDescription", "order") => {
            let mut order = vec!["channel", "package", "die", "plane"];
            let by = draw.within(0..=3) as usize;
            order.rotate_left(by);
            json!(order).into()
        }
        ("AllocationDescription", "fixed") => draw.within(0..=4).into(),
        ("CleaningDescription", "begin") => draw.within(0..=10).into(),
        ("CleaningDescription", "stop") => draw.within(0..=10).into(),
        ("IdleDescription", "free") => draw.within(0..=12).into(),
        ("RandomGreedy", "of") => draw.within(0..=20).into(),
        _ => Hint::Schema,
    }
}
