//! Trace readers as a user meets them: files, compressed or not, whole or damaged.

use std::io::Write;
use std::path::Path;

use diskwright::base::error::Error;
use diskwright::base::units::{Lbn, Time};
use diskwright::engine::request::Op;
use diskwright::workload::{
    CsvOptions, DeviceChoice, FORMATS, FormatOptions, InspectOptions, Output, Record, Workload,
    WorkloadSpec, inspect, open,
};
use proptest::prelude::*;

use crate::support::errors;

fn read(path: &Path, options: &FormatOptions) -> Result<Vec<Record>, Error> {
    let mut reader = open(path, options)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next()? {
        records.push(record);
    }
    Ok(records)
}

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("written");
    file
}

fn read_bytes(bytes: &[u8], options: &FormatOptions) -> Result<Vec<Record>, Error> {
    read(file(bytes).path(), options)
}

/// Wrong input must be an error of the input, say where, and be of bounded length.
fn check_located<T>(result: &Result<T, Error>) {
    assert_eq!(errors::fault(result), None);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("in memory")
}

/// A Parquet trace of 20 requests, as it is written.
fn parquet() -> Vec<u8> {
    let format = FORMATS.iter().find(|f| f.name == "parquet");
    let writing = format.and_then(|f| f.write.as_ref()).expect("written");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("trace");
    let output = Output::create(&path).expect("a file");
    let mut writer = (writing.create)(output).expect("begun");
    for i in 0..20 {
        let record = Record {
            arrival: Time::from_ms(i),
            device: 0,
            op: if i % 2 == 0 { Op::Read } else { Op::Write },
            fua: i % 3 == 0,
            lbn: Lbn(8 * i),
            blocks: 8,
            recorded: None,
        };
        writer.write(&record).expect("written");
    }
    writer.finish().and_then(Output::finish).expect("finished");
    std::fs::read(path).expect("written")
}

/// Whether a format is read from front to back, and so from archives and pipes too.
fn streams(name: &str) -> bool {
    name != "parquet"
}

/// A small valid file of every format.
pub fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let mut srt = b"$$TR_IOREC-1.3\ntracedate = \"Sat May 30 00:03:06 1992\";\ndisks = {\n 0 -> { sectorsize = 256 } };\n\x0c".to_vec();
    for i in 0..20 {
        let words = [
            56,
            0x4_0001,
            i,
            5,
            1,
            100,
            4096,
            i * 64,
            0x0800_0008,
            4,
            1,
            i & 1,
            0,
            0,
        ];
        srt.extend(words.iter().flat_map(|w: &u32| w.to_be_bytes()));
    }
    let mut vscsi = Vec::new();
    for i in 0..20u64 {
        let words = [0x1000 << 32 | i, 0x0100_002a << 32 | 1, i * 8, i * 1_000];
        vscsi.extend(words.iter().flat_map(|w: &u64| w.to_le_bytes()));
    }
    let text = |line: &dyn Fn(u32) -> String| (0..20).map(line).collect::<String>();
    let csv = text(&|i| format!("{i}.5,{},8,{}\n", i * 8, if i % 2 == 0 { "r" } else { "w" }));
    vec![
        ("hp-srt", srt),
        (
            "disksim-ascii",
            text(&|i| format!("{i}.25\t0\t{}\t8\t1\n", i * 8)).into_bytes(),
        ),
        (
            "disksim-recording",
            text(&|i| format!("R Hit {} 8 1000.5 20.0\n", i * 8)).into_bytes(),
        ),
        ("csv", format!("time_s,lbn,blocks,op\n{csv}").into_bytes()),
        (
            // Later than any milliseconds can be, so that it is not DiskSim's.
            "mqsim",
            text(&|i| format!("2000000000{i:04}000 0 {} 8 {}\n", i * 8, i % 2)).into_bytes(),
        ),
        (
            "fio-iolog",
            format!(
                "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n{}",
                text(&|i| format!("{i} /dev/sda read {} 4096\n", i * 4096))
            )
            .into_bytes(),
        ),
        ("vscsi", vscsi),
        (
            "alibaba",
            text(&|i| format!("{i},R,{},4096,15778080000000{i:02}\n", i * 4096)).into_bytes(),
        ),
        (
            "tencent",
            text(&|i| format!("1538323199,{},8,{},{i}\n", i * 8, i % 2)).into_bytes(),
        ),
        (
            "spc",
            text(&|i| {
                format!(
                    "0,{},4096,{},{i}.5\n",
                    i * 8,
                    if i % 2 == 0 { "r" } else { "W" }
                )
            })
            .into_bytes(),
        ),
        (
            "msr",
            text(&|i| format!("{i}0,hm,0,Read,{},4096,{}\n", i * 4096, 500 + i)).into_bytes(),
        ),
        (
            "synthetic-clone",
            "[counts]\nworking_set = { requests = 12, blocks = 96 }\nrandom = { requests = 20, blocks = 160 }\nsequential = { requests = 0, blocks = 0 }\nread = { requests = 11, blocks = 88 }\nwrite = { requests = 9, blocks = 72 }\n"
                .into(),
        ),
        ("blktrace", blktrace()),
        (
            "blkparse",
            text(&|i| {
                format!(
                    "  8,0    0 {i:8}     {i}.000000007   697  Q  WS {} + 8 [a b]\n",
                    i * 8
                )
            })
            .into_bytes(),
        ),
        ("parquet", parquet()),
    ]
}

/// Records of queued writes, each with a payload.
fn blktrace() -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..20u32 {
        // Magic number, sequence, time and sector (64 bits each), bytes, action, process, device, CPU, payload's length (high).
        let words = [
            0x6561_7407,
            i,
            i * 1_000,
            0,
            i * 8,
            0,
            4096,
            0x12_0001,
            697,
            8 << 20,
            0,
            8 << 16,
        ];
        bytes.extend(words.iter().flat_map(|w: &u32| w.to_le_bytes()));
        bytes.extend([7; 8]);
    }
    bytes
}

#[test]
fn every_format_has_a_sample_and_is_found_by_its_content() {
    let samples = samples();
    for format in FORMATS {
        let (_, bytes) = samples
            .iter()
            .find(|(name, _)| *name == format.name)
            .expect("a sample");
        let sample = file(bytes);
        let reader = open(sample.path(), &FormatOptions::default()).expect("opened");
        assert_eq!(reader.format(), format.name);
        assert_eq!(
            read(sample.path(), &FormatOptions::default())
                .expect("read")
                .len(),
            20
        );
    }
}

#[test]
fn compressed_traces_are_read_as_plain_ones() {
    let options = FormatOptions::default();
    for (name, bytes) in samples() {
        let plain = read_bytes(&bytes, &options).expect("read");
        let (head, tail) = bytes.split_at(bytes.len() / 2);
        for (how, compressed) in [
            ("gzip", gzip(&bytes)),
            ("zstd", zstd(&bytes)),
            ("gzip in two members", [gzip(head), gzip(tail)].concat()),
            ("zstd in two frames", [zstd(head), zstd(tail)].concat()),
        ] {
            let read = read_bytes(&compressed, &options);
            if streams(name) {
                assert_eq!(read.expect("read"), plain, "{name}, {how}");
            } else {
                check_located(&read);
                let error = read.expect_err("refused").to_string();
                assert!(error.contains("archive"), "{name}, {how}: {error}");
            }
        }
    }
}

#[test]
fn archives_cut_off_anywhere_are_refused() {
    for (name, bytes) in samples() {
        for compressed in [gzip(&bytes), zstd(&bytes)] {
            for length in 4..compressed.len() {
                let result = read_bytes(&compressed[..length], &FormatOptions::default());
                assert!(
                    result.is_err(),
                    "{name} cut at {length} of {}",
                    compressed.len()
                );
                check_located(&result);
            }
        }
    }
}

#[test]
fn an_error_deep_in_an_archive_names_the_line() {
    let mut text: String = (0..50_000).map(|i| format!("{i}.0 0 {i} 8 1\n")).collect();
    text.push_str("50000.0 0 x 8 1\n");
    let error =
        read_bytes(&gzip(text.as_bytes()), &FormatOptions::default()).expect_err("line 50001");
    let shown = error.to_string();
    assert!(shown.contains(":50001:11"), "{shown}");
    assert!(shown.contains("expected an LBN, found \"x\""), "{shown}");
}

#[test]
fn a_folder_and_a_missing_file_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for path in [folder.path().to_owned(), folder.path().join("none")] {
        let error = open(&path, &FormatOptions::default())
            .err()
            .expect("an error");
        assert!(
            error.to_string().contains(&path.display().to_string()),
            "{error}"
        );
    }
}

#[test]
fn a_line_without_end_takes_no_memory() {
    let mut bytes = b"0.0 0 0 8 1\n".to_vec();
    bytes.resize(64 << 20, b'7');
    let error = read_bytes(&zstd(&bytes), &FormatOptions::default());
    check_located(&error);
    assert!(error.expect_err("too long").to_string().contains(":2"));
}

fn forced() -> impl Strategy<Value = FormatOptions> {
    let names: Vec<_> = FORMATS.iter().map(|f| Some(f.name.to_owned())).collect();
    let names = names.into_iter().chain([None]).collect::<Vec<_>>();
    (prop::sample::select(names), any::<bool>()).prop_map(|(format, named)| {
        let csv = format.as_deref() == Some("csv") && named;
        let columns = ["time_us", "lbn", "bytes", "op"]
            .map(str::to_owned)
            .to_vec();
        FormatOptions {
            format,
            csv: CsvOptions {
                columns: csv.then_some(columns),
                ..CsvOptions::default()
            },
            ..FormatOptions::default()
        }
    })
}

/// How a valid file is spoilt: bytes overwritten, taken out and put in.
fn mutations() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(&b" \t\n,.-0129eRW\"{}\x0c\0"[..])
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0u8..4, byte), 1..12)
}

fn spoil(bytes: &mut Vec<u8>, mutations: Vec<(prop::sample::Index, u8, u8)>) {
    for (index, what, byte) in mutations {
        if bytes.is_empty() {
            return;
        }
        let at = index.index(bytes.len());
        match what {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => drop(bytes.remove(at)),
            _ => bytes.truncate(at),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        options in forced(),
    ) {
        let result = read_bytes(&bytes, &options);
        check_located(&result);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[RWrw0-9 .,;\t\ne\"-]{0,200}", options in forced()) {
        let result = read_bytes(text.as_bytes(), &options);
        check_located(&result);
    }

    #[test]
    fn spoilt_files_never_panic(
        sample in any::<prop::sample::Index>(),
        mutations in mutations(),
        force in any::<bool>(),
        archive in 0u8..3,
        archive_first in any::<bool>(),
    ) {
        let mut samples = samples();
        let (name, mut bytes) = samples.swap_remove(sample.index(samples.len()));
        let compress = |bytes: Vec<u8>| match archive {
            0 => bytes,
            1 => gzip(&bytes),
            _ => zstd(&bytes),
        };
        if archive_first {
            bytes = compress(bytes);
            spoil(&mut bytes, mutations);
        } else {
            spoil(&mut bytes, mutations);
            bytes = compress(bytes);
        }
        let options = FormatOptions {
            format: force.then(|| name.to_owned()),
            ..FormatOptions::default()
        };
        let spoilt = file(&bytes);
        check_located(&read(spoilt.path(), &options));
        // Whatever can be read must also be measured and selected from without a panic.
        let inspected = inspect(spoilt.path(), &InspectOptions { format: options.clone(), ..InspectOptions::default() }, &mut ());
        check_located(&inspected);
        let spec = WorkloadSpec {
            trace: Some(spoilt.path().to_owned()),
            format: options.format,
            ..lenient()
        };
        if let Ok(mut workload) = Workload::open(&spec, Path::new(""), 0, 64) {
            let mut yielded = 0;
            while let Ok(Some(arrival)) = workload.next() {
                prop_assert!(arrival.command.end().0 <= 64);
                yielded += 1;
            }
            let counts = workload.counts();
            prop_assert!(counts.trace >= counts.skipped + yielded);
        }
    }
}

/// Takes whatever can be made to fit.
fn lenient() -> WorkloadSpec {
    use diskwright::workload::{BadSize, OutOfOrder, PastEnd};
    WorkloadSpec {
        device: DeviceChoice::All,
        past_end: PastEnd::Map,
        out_of_order: OutOfOrder::Map,
        bad_size: BadSize::Clip,
        ..WorkloadSpec::default()
    }
}
