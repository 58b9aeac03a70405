//! Arrays with redundancy and spares, of which members fail in the middle of a run, some of them while another is rebuilt, some with media errors
//! or after an outage: no read may be wrong, and what cannot be made up for must be told.

use serde_json::{Value, json};

use super::case::Case;
use super::cuts::{Sight, check_cuts, go_wrong_somewhere};
use super::devices;
use super::draw::Draw;
use super::schema::Definitions;

/// The case of a number.
pub fn case(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (device, blocks) = devices::a_spared_array(&mut draw);
    let members = device["array"]["member"].as_array().map_or(0, Vec::len) as u64;
    let restarts = devices::restarts(&device);
    go_wrong_somewhere(
        draw,
        device,
        blocks,
        |_, _| (),
        |draw, end_ns| {
            let mut faults = vec![json!({ "fail": of(draw.within(0..=members - 1)) })];
            if draw.chance(0.3) {
                faults.push(json!({ "fail": of(draw.within(0..=members - 1)) }));
            }
            if draw.chance(0.3) && !draw.paths.1.is_empty() {
                let paths = draw.paths.1.clone();
                let (from, blocks) = (draw.first_bad_block(), draw.bad_blocks());
                faults.push(
                    json!({ "media-error": { "device": draw.pick(&paths), "from": from, "blocks": blocks } }),
                );
            }
            if restarts && draw.chance(0.5) {
                faults.push(json!({ "outage": { "lasts": draw.time(0, 500_000) } }));
            }
            let timed = faults.into_iter().map(|kind| {
                let at = draw.within(0..=end_ns);
                json!({ "at": format!("{at} ns"), "kind": kind })
            });
            timed.collect::<Vec<_>>().into()
        },
    )
}

fn of(member: u64) -> Value {
    format!("array.member[{member}]").into()
}

/// What the runs have.
const SIGHTS: [Sight; 1] = [("/devices/array/rebuilds/0/ended_s", 0.3, "after a rebuild")];

#[test]
fn arrays_whose_members_fail_read_nothing_wrong() {
    check_cuts(0..80, case, &SIGHTS);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_arrays_whose_members_fail_read_nothing_wrong() {
    check_cuts(80..10_080, case, &SIGHTS);
}
