//! Arms of every kind: together they read and write every track.

use serde_json::{Value, json};

use crate::whole_specs::draw::Draw;
use crate::whole_specs::schema::Hint;

/// What stands under `arm`.
pub fn hint(draw: &mut Draw<'_>) -> Hint {
    let disk = draw.disk;
    let angle = |draw: &mut Draw<'_>| draw.share(0.0, 0.99);
    let arms: Vec<Value> = match draw.within(0..=6) {
        0 => return Hint::Omit,
        1 => vec![json!({})],
        2 | 3 => {
            let count = draw.within(2..=4);
            let start = draw.within(0..=disk.cylinders - 1);
            (0..count)
                .map(|_| {
                    if draw.chance(0.3) {
                        json!({ "angle": angle(draw), "start": start })
                    } else {
                        json!({ "angle": angle(draw) })
                    }
                })
                .collect()
        }
        4 => vec![
            json!({ "writes": false }),
            json!({ "reads": false, "angle": angle(draw) }),
        ],
        5 if disk.surfaces > 1 => {
            let first = draw.within(0..=disk.surfaces - 2);
            let mut arms = vec![
                json!({ "surfaces": [0, first] }),
                json!({ "surfaces": [first + 1, disk.surfaces - 1], "angle": angle(draw) }),
            ];
            if draw.chance(0.3) {
                arms.push(
                    json!({ "surfaces": [first + 1, disk.surfaces - 1], "angle": angle(draw) }),
                );
            }
            arms
        }
        _ => {
            let first = draw.within(0..=disk.cylinders.max(2) - 2);
            vec![
                json!({ "cylinders": [0, first], "angle": angle(draw) }),
                json!({ "cylinders": [first + 1, disk.cylinders.max(2) - 1] }),
            ]
        }
    };
    arms.into()
}
