//! The drive that is validated: its description, as far as the caller does not change it.

use crate::base::document::from_node;
use crate::base::document::{Node, Override, Value};
use crate::base::error::{Error, Place, Source};
use crate::devices::hdd::drive::{Drive, DriveDescription};
use crate::runs::simulation;

/// The key that takes `false`, too: no buffer, as in a spec.
const BUFFER: &str = "buffer";

/// A drive by name or path, with `KEY=VALUE` put over its description in turn.
///
/// # Errors
/// Those of the drive alone; a text that is no assignment, a key that a drive does not have, a value that does not fit.
pub fn drive(name: &str, set: &[String]) -> Result<Drive, Error> {
    let named = simulation::drive(name)?;
    if set.is_empty() {
        return Ok(named);
    }
    let text = toml::to_string(&named.description).expect("a description is plain data");
    let source = Source::new(format!("{name}, with --set"), text);
    let mut tree = Node::parse(&source)?;
    for assignment in set {
        let change = Override::parse("--set", assignment).map_err(|mut error| {
            error.help = Some("a key of the drive, for example buffer.segments=7".to_owned());
            error
        })?;
        if change.path == BUFFER && change.node.value == Value::Boolean(false) {
            tree.remove(BUFFER);
        } else {
            tree.set(change)?;
        }
    }
    let description: DriveDescription = from_node(&tree)?;
    let hardware = description.hardware().map_err(|mut error| {
        error.place.get_or_insert_with(|| settings(set));
        error
    })?;
    Ok(Drive {
        description,
        hardware,
        warnings: named.warnings,
    })
}

/// All that was set, where no single one is known to be to blame.
fn settings(set: &[String]) -> Place {
    let text = set.join(" ");
    let span = 0..text.len();
    Place::Text {
        source: Source::new("--set", text),
        span,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[&str]) -> Result<DriveDescription, String> {
        let set: Vec<String> = set.iter().map(|&text| text.to_owned()).collect();
        drive("cheetah-9lp", &set)
            .map(|drive| drive.description)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_set_stays_as_it_is() {
        let own = with(&[]).expect("a drive of the library");
        let again = with(&["buffer.segments=3"]).expect("sound");
        assert_eq!(own, again);
    }

    #[test]
    fn values_stand_over_the_drives_in_turn() {
        let drive = with(&[
            "buffer.segments=5",
            "buffer.segments=7",
            "buffer.write.complete=on-medium",
            "heads.switch=\"2 ms\"",
            "layout.zone[1].track_skew=0",
        ])
        .expect("sound");
        let own = with(&[]).expect("sound");
        let buffer = drive.buffer.expect("a buffer");
        assert_eq!(buffer.segments, 7);
        assert_eq!(drive.heads.switch.ns(), 2_000_000);
        assert_eq!(drive.layout.zones[1].track_skew, 0);
        assert_eq!(drive.layout.zones[0], own.layout.zones[0]);
        assert_eq!(with(&["buffer=false"]).expect("sound").buffer, None);
    }

    #[test]
    fn what_does_not_fit_is_refused_where_it_was_said() {
        for (set, words) in [
            ("buffer.segments", &["KEY=VALUE", "buffer.segments=7"][..]),
            ("buffer.segmnts=7", &["segmnts", "segments", "--set"]),
            ("buffer.segments=many", &["many", "--set"]),
            ("buffer=true", &["--set", "buffer=true"]),
            ("layout.zone[99].track_skew=0", &["zone", "elements"]),
            ("sector_size=\"1 MiB\"", &["sector_size", "--set"]),
        ] {
            let error = with(&[set]).expect_err(set);
            for word in words {
                assert!(error.contains(word), "{set}: {error}");
            }
        }
        let error = drive("cheetah", &[]).err().expect("no such drive");
        assert!(error.to_string().contains("cheetah-9lp"), "{error}");
    }
}
