//! The per-request log says what the result says, and is whole or not there.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::support::{Progress, RunOptions, from_text, outcome_watched};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use diskwright::base::error::Error;
use diskwright::engine::request::Part;
use diskwright::metrics::log::ROWS_PER_GROUP;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;
use serde_json::Value;

/// More requests than a row group holds, completed in another order than they arrived in.
const REQUESTS: usize = 70_000;

fn run(requests: &Path, progress: &mut dyn Progress) -> Result<Value, Error> {
    let text = format!(
        "seed = 3\n[workload.synthetic]\nrequests = {REQUESTS}\narrivals = {{ closed = {{ users = 16, think = \"1 ms\" }} }}\n\
         reads = 0.5\nsize = \"8 blocks\"\n[device.hdd]\ndrive = \"cheetah-9lp\"\n[device.hdd.queue]\ndepth = 8\n\
         scheduler = \"satf\"\n"
    );
    let source = from_text(text);
    let options = RunOptions {
        requests: Some(requests.to_owned()),
        ..RunOptions::default()
    };
    outcome_watched(&source, &options, progress).map(|outcome| outcome.json())
}

struct Log {
    metadata: ParquetMetaData,
    batches: Vec<RecordBatch>,
}

impl Log {
    fn read(path: &Path) -> Log {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        let metadata = builder.metadata().as_ref().clone();
        Log {
            metadata,
            batches: builder.build().unwrap().collect::<Result<_, _>>().unwrap(),
        }
    }

    fn numbers(&self, name: &str) -> Vec<u64> {
        let columns = self
            .batches
            .iter()
            .map(|batch| batch.column_by_name(name).expect(name));
        columns
            .flat_map(|column| column.as_primitive::<UInt64Type>().values().to_vec())
            .collect()
    }

    fn names(&self, name: &str) -> Vec<String> {
        let columns = self
            .batches
            .iter()
            .map(|batch| batch.column_by_name(name).expect(name));
        columns
            .flat_map(|column| {
                let column = column.as_dictionary::<Int8Type>();
                let names = column.values().as_string::<i32>();
                column
                    .keys()
                    .values()
                    .iter()
                    .map(|&key| names.value(key as usize).to_owned())
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    fn note(&self, key: &str) -> String {
        let notes = self
            .metadata
            .file_metadata()
            .key_value_metadata()
            .expect("notes");
        let note = notes
            .iter()
            .find(|note| note.key == key)
            .unwrap_or_else(|| panic!("no {key}"));
        note.value.clone().expect("a value")
    }
}

/// A folder, the path of a log in it, and what is in it.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.parquet");
    (folder, log)
}

fn entries(folder: &Path) -> Vec<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_log_says_what_the_result_says() {
    let (folder, path) = folder();
    let result = run(&path, &mut ()).unwrap();
    assert_eq!(entries(folder.path()), ["log.parquet"]);
    let log = Log::read(&path);

    assert_eq!(log.metadata.file_metadata().num_rows(), REQUESTS as i64);
    assert_eq!(
        log.metadata.num_row_groups(),
        REQUESTS.div_ceil(ROWS_PER_GROUP),
        "rows do not pile up in memory"
    );
    let mut sequence = log.numbers("sequence");
    assert!(!sequence.is_sorted(), "the order is that of completion");
    sequence.sort_unstable();
    assert!(
        sequence.into_iter().eq(0..REQUESTS as u64),
        "every request has one row"
    );

    let life = [
        "arrival_ns",
        "issue_ns",
        "acceptance_ns",
        "start_ns",
        "completion_ns",
    ]
    .map(|name| log.numbers(name));
    for pair in life.windows(2) {
        assert!(
            pair[0]
                .iter()
                .zip(&pair[1])
                .all(|(before, after)| before <= after)
        );
    }
    let [arrival, _, _, start, completion] = &life;
    assert!(completion.is_sorted());
    let mut parts = vec![0; REQUESTS];
    for part in Part::ALL {
        let column = log.numbers(&format!("{}_ns", part.name()));
        parts
            .iter_mut()
            .zip(column)
            .for_each(|(sum, time)| *sum += time);
    }
    assert!(
        parts
            .iter()
            .zip(start)
            .zip(completion)
            .all(|((parts, start), completion)| *parts == completion - start)
    );

    let response: u64 = arrival
        .iter()
        .zip(completion)
        .map(|(arrival, completion)| completion - arrival)
        .sum();
    let mean_ms = response as f64 / REQUESTS as f64 / 1e6;
    let expected_ms = result["response_ms"]["mean"].as_f64().unwrap();
    assert!(
        (mean_ms - expected_ms).abs() < 1e-9 * expected_ms,
        "{mean_ms} ms, not {expected_ms} ms"
    );

    let counted = |ops: &[String], name| Value::from(ops.iter().filter(|op| *op == name).count());
    let ops = log.names("op");
    assert_eq!(counted(&ops, "read"), result["requests"]["reads"]);
    assert_eq!(counted(&ops, "write"), result["requests"]["writes"]);
    assert!(log.names("outcome").iter().all(|outcome| outcome == "ok"));
    for batch in &log.batches {
        assert!(
            batch["blocks"]
                .as_primitive::<UInt32Type>()
                .values()
                .iter()
                .all(|&blocks| blocks == 8)
        );
        assert_eq!(batch["fua"].as_boolean().true_count(), 0);
        assert_eq!(batch["lbn"].null_count(), 0);
    }

    assert_eq!(log.note("diskwright.schema"), "1");
    assert_eq!(log.note("diskwright.version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(
        serde_json::from_str::<Value>(&log.note("diskwright.spec")).unwrap(),
        result["spec"]
    );
}

/// Stops a run.
struct Stop;

impl Progress for Stop {
    fn update(&mut self, _done: u64, _total: Option<u64>) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn a_run_that_fails_leaves_the_folder_as_it_was() {
    let (folder, path) = folder();
    assert!(matches!(run(&path, &mut Stop), Err(Error::Interrupted)));
    assert_eq!(entries(folder.path()), [""; 0]);

    fs::write(&path, "an older log").unwrap();
    assert!(matches!(run(&path, &mut Stop), Err(Error::Interrupted)));
    assert_eq!(entries(folder.path()), ["log.parquet"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "an older log");
}

#[test]
fn a_path_that_cannot_be_written_is_named_before_the_run() {
    let (folder, _) = folder();
    for path in [
        folder.path().join("not-there/log.parquet"),
        folder.path().to_owned(),
    ] {
        // A run would end as interrupted.
        let error = run(&path, &mut Stop).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
        assert!(
            error
                .to_string()
                .contains(&format!("cannot write {}: ", path.display())),
            "{error}"
        );
    }
    assert_eq!(entries(folder.path()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn the_log_goes_through_links_and_keeps_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, path) = folder();
    let link = folder.path().join("link.parquet");
    fs::write(&path, "an older log").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    run(&link, &mut ()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(
        Log::read(&path).metadata.file_metadata().num_rows(),
        REQUESTS as i64
    );
}
