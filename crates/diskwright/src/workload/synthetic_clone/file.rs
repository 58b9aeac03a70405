//! The file of a synthetic clone: told from other traces by its content, and read.

use serde::Deserialize;

use crate::base::error::{Error, InputError, Place, Source};
use crate::workload::input::Input;
use crate::workload::profile::{ALIGNMENTS, Profile, SCHEMA};

use super::counts::Counts;
use crate::workload::clone_options::{Parameters, Resolved};

/// A file larger than this is none: the largest profiles have some tens of kilobytes.
const LARGEST: usize = 4 << 20;

/// What a file says.
pub enum Contents {
    /// A table of counts.
    Counts(Box<Table>),
    /// A measured profile.
    Measured(Box<Profile>),
}

/// A table of counts, and what it leaves open.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The counts.
    pub counts: Counts,
    /// What they leave open.
    #[serde(default)]
    pub parameters: Parameters,
}

impl Table {
    /// The parameters, those in `over` first, with defaults in place.
    ///
    /// # Errors
    /// A value that is none of its kind.
    pub fn resolve(&self, over: &Parameters) -> Result<Resolved, InputError> {
        over.over(&self.parameters).resolve()
    }
}

/// A measured profile leaves nothing open.
///
/// # Errors
/// A parameter is given.
pub fn refuse_parameters(parameters: &Parameters) -> Result<(), InputError> {
    match parameters.first_given() {
        None => Ok(()),
        Some(name) => Err(InputError::new(format!(
            "{name} is about a table of counts and changes nothing of a measured profile"
        ))),
    }
}

/// Whether the bytes have a line that only the files of synthetic clones have: `[counts]`, or `schema = ` as the first of all.
pub fn detect(first: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(whole_lines(first)) else {
        return false;
    };
    let lines = || {
        text.lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim())
            .filter(|line| !line.is_empty())
    };
    let begins = |line: &str, key: &str| {
        let rest = line.strip_prefix(key).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['=', '.']))
    };
    let is_profile = lines().next().is_some_and(|line| begins(line, "schema"));
    let is_table = |line: &str| {
        let header = line.strip_prefix('[').map(str::trim_start);
        header.is_some_and(|header| header.starts_with("counts")) || begins(line, "counts")
    };
    is_profile || lines().any(is_table)
}

/// Without the last line, where it may be cut off.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    match memchr::memrchr(b'\n', bytes) {
        Some(end) => &bytes[..end],
        None => bytes,
    }
}

/// Reads a file.
///
/// # Errors
/// What is not understood, with its line and column; a profile of another version.
pub fn read(mut input: Input) -> Result<Contents, Error> {
    let file = Place::File(input.path().to_owned());
    let bytes = match input.peek(LARGEST + 1) {
        Ok(bytes) => bytes.to_vec(),
        Err(error) => return Err(input.fault(error, file)),
    };
    if bytes.len() > LARGEST {
        return Err(InputError::new(format!(
            "a synthetic clone's file has at most {LARGEST} bytes"
        ))
        .at(file)
        .into());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        InputError::new(format!("the file is not text: byte {at} is not UTF-8")).at(file)
    })?;
    let source = Source::new(input.path().display().to_string(), text);
    let wrong = |error: toml::de::Error| {
        let span = error.span().unwrap_or(0..0);
        InputError::new(error.message().to_owned()).at(Place::Text {
            source: source.clone(),
            span,
        })
    };
    let table: toml::Table = toml::from_str(&source.text).map_err(wrong)?;
    if table.contains_key("counts") {
        return Ok(Contents::Counts(
            toml::from_str(&source.text).map_err(wrong)?,
        ));
    }
    match table.get("schema").and_then(toml::Value::as_integer) {
        Some(found) if found == i64::from(SCHEMA) => {
            let profile: Profile = toml::from_str(&source.text).map_err(wrong)?;
            let place = Place::File(input.path().to_owned());
            check(&profile).map_err(|error| error.at(place))?;
            Ok(Contents::Measured(Box::new(profile)))
        }
        Some(found) => Err(InputError::new(format!(
            "the profile's schema is {found}: expected {SCHEMA}"
        ))
        .at(Place::File(input.path().to_owned()))
        .help("write the trace's profile again: diskwright inspect TRACE --profile FILE.toml")
        .into()),
        None => Err(InputError::new(
            "the file has neither a table [counts] nor the schema of a profile",
        )
        .at(Place::File(input.path().to_owned()))
        .help("diskwright inspect TRACE --profile FILE.toml writes a profile")
        .into()),
    }
}

/// No number of requests may be larger, so that no sum of them overflows.
const MOST: u64 = 1 << 40;

/// Refuses numbers that no trace has.
fn check(profile: &Profile) -> Result<(), InputError> {
    let small = |name: &str, count: u64| match count {
        count if count > MOST => Err(InputError::new(format!(
            "{name} counts {count}: expected at most {MOST}"
        ))),
        _ => Ok(()),
    };
    let all = |name: &str, counts: &[u64]| {
        let sum = counts
            .iter()
            .fold(0u64, |sum, count| sum.saturating_add(*count));
        small(name, sum)
    };
    let Profile {
        classes,
        sizes,
        directions,
        arrivals,
        runs,
        references,
        space,
        ..
    } = profile;
    for (name, count) in [
        ("requests", profile.requests),
        ("flushes", profile.flushes),
        ("trims", profile.trims),
        ("classes.random_reads", classes.random_reads.requests),
        ("classes.random_writes", classes.random_writes.requests),
        (
            "classes.sequential_reads",
            classes.sequential_reads.requests,
        ),
        (
            "classes.sequential_writes",
            classes.sequential_writes.requests,
        ),
        ("references.first", references.first),
        ("references.same_size", references.same_size),
    ] {
        small(name, count)?;
    }
    for (name, sizes) in [
        ("sizes.random_reads", &sizes.random_reads),
        ("sizes.random_writes", &sizes.random_writes),
        ("sizes.sequential_reads", &sizes.sequential_reads),
        ("sizes.sequential_writes", &sizes.sequential_writes),
        ("sizes.trims", &sizes.trims),
    ] {
        let exact: Vec<u64> = sizes.exact.iter().map(|size| size.requests).collect();
        all(name, &exact)?;
        small(name, sizes.rest_blocks.total())?;
    }
    for (name, table) in [
        ("directions.random", directions.random),
        ("directions.sequential", directions.sequential),
    ] {
        all(name, &table.concat())?;
    }
    let bursts = arrivals.bursts.iter();
    let bursts = bursts.map(|burst| ("arrivals.bursts", &burst.members));
    let histograms = [
        ("arrivals.gap_ns", &arrivals.gap_ns),
        ("run_requests", &profile.run_requests),
        ("runs.first_reads", &runs.first_reads),
        ("runs.first_writes", &runs.first_writes),
        ("runs.again_reads", &runs.again_reads),
        ("runs.again_writes", &runs.again_writes),
        ("references.distance_objects", &references.distance_objects),
        (
            "references.random_distance_objects",
            &references.random_distance_objects,
        ),
        ("space.forward_blocks", &space.forward_blocks),
        ("space.backward_blocks", &space.backward_blocks),
    ];
    for (name, histogram) in histograms.into_iter().chain(bursts) {
        small(name, histogram.total())?;
    }
    for (name, counts) in [
        ("arrivals.slice_requests", &arrivals.slice_requests),
        ("space.bin_requests", &space.bin_requests),
        ("space.bin_first", &space.bin_first),
        ("space.alignment", &space.alignment),
    ] {
        all(name, counts)?;
    }
    if space.alignment.len() > ALIGNMENTS {
        return Err(InputError::new(format!(
            "space.alignment has {} powers of two: expected at most {ALIGNMENTS}",
            space.alignment.len()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn contents(text: &str) -> Result<Contents, String> {
        let input = Input::memory(Path::new("l.toml"), text.into()).unwrap();
        read(input).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_told_by_their_content() {
        for (text, is) in [
            ("# A title\n\n[counts]\n", true),
            (
                "[parameters]\ntheta = 1.0\n[ counts.random ]\nrequests = 1\n",
                true,
            ),
            ("counts = { }\n", true),
            ("counts.random = { }\n", true),
            ("schema = 2\nformat = \"csv\"\n", true),
            ("schema=2\n", true),
            ("[workload]\nschema = 1\n", false),
            ("accounts = 3\n", false),
            ("time,lbn,counts,op\n", false),
            ("schematic = 1\n", false),
            ("", false),
        ] {
            assert_eq!(detect(text.as_bytes()), is, "{text}");
        }
        assert!(!detect(b"[counts]\xff\n"));
        // A character that the end of what is looked at cuts in two.
        assert!(detect(b"[counts]\n# \xe2\x82"));
    }

    #[test]
    fn numbers_that_no_trace_has_are_refused() {
        let good: Profile = {
            let reader = crate::workload::formats::testing::reader;
            let trace = reader(
                "time_s,lbn,blocks,op\n0,0,8,r\n1,8,8,w\n",
                &Default::default(),
            );
            crate::workload::inspection::of_reader(trace.unwrap())
        };
        check(&good).unwrap();
        let text = toml::to_string(&good).unwrap();
        assert!(contents(&text).is_ok());
        type Change = fn(&mut Profile);
        let changes: [(Change, &str); 4] = [
            (|p| p.flushes = MOST + 1, "flushes counts"),
            (
                |p| p.space.bin_requests = vec![MOST, 1],
                "space.bin_requests counts",
            ),
            (|p| p.run_requests.add_many(1, MOST), "run_requests counts"),
            (
                |p| p.space.alignment = vec![1; 13],
                "space.alignment has 13",
            ),
        ];
        for (change, expected) in changes {
            let mut bad = good.clone();
            change(&mut bad);
            let error = contents(&toml::to_string(&bad).unwrap()).err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let class = "{ requests = 1, blocks = 8 }";
        for (text, expected) in [
            ("[counts]\nrandom = 3\n", "l.toml:2:10"),
            (
                "[counts]\nrandom = { requests = -1, blocks = 2 }\n",
                "l.toml:2:23",
            ),
            (
                "[counts]\nrandom = { requests = 1, blocks = 2, bytes = 3 }\n",
                "bytes",
            ),
            ("[counts]\nworking_set = { requests = 1 }\n", "blocks"),
            (
                &format!("[counts]\nrandom = {class}\n"),
                "missing field `working_set`",
            ),
            ("[counts\n", "l.toml:1:8"),
            ("schema = 1\n", "schema is 1: expected 2"),
            ("schema = 2\n", "missing field"),
            ("a = 1\n", "neither"),
        ] {
            let error = contents(text).err().unwrap();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
