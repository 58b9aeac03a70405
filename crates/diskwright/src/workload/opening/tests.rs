//! How formats are found, and what is refused.

use super::*;
use crate::workload::formats::BlkEvent;
use crate::workload::formats::testing::*;

#[test]
fn detection_goes_by_content() {
    for (text, format) in [
        ("13.19\t30\t0\t5\t1\n", "disksim-ascii"),
        ("13.19 30 0 5 1 0\n", "disksim-ascii"),
        ("R Hit 1975456 4 15362.0 56074.0\n", "disksim-recording"),
        ("18446744073710 0 0 8 1\n", "mqsim"),
        ("fio version 2 iolog\n/dev/sda add\n", "fio-iolog"),
        ("fio version 3 iolog\n", "fio-iolog"),
        ("3,R,126703644672,4096,1577808000000626\n", "alibaba"),
        ("1538323199,105352008,584,1,1576\n", "tencent"),
        ("time_s,lbn,blocks,op\n0,1,2,r\n", "csv"),
        ("0,20941264,8192,W,0.551706,Alpha/NT\n", "spc"),
        (
            "128166372003061629,hm,1,Read,383496192,32768,58000\n",
            "msr",
        ),
        (
            "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n",
            "msr",
        ),
        (
            "[counts]\nworking_set = { requests = 1, blocks = 8 }\nrandom = { requests = 1, blocks = 8 }\nsequential = { requests = 0, blocks = 0 }\nread = { requests = 1, blocks = 8 }\nwrite = { requests = 0, blocks = 0 }\n",
            "synthetic-clone",
        ),
        (
            "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n",
            "blkparse",
        ),
    ] {
        assert_eq!(
            reader(text, &FormatOptions::default()).unwrap().format(),
            format
        );
    }
}

#[test]
fn what_is_no_trace_is_refused_with_the_formats_listed() {
    for bytes in [
        &b"hello world\n"[..],
        b"\x7fELF\x02\x01\x01\0\0",
        b"{\"a\": 1}",
        // Tencent's operations are 0 and 1.
        b"1538323199,105352008,584,2,1576\n",
    ] {
        let error = located(reader(bytes, &FormatOptions::default()).err().unwrap());
        let help = error.help.unwrap();
        for format in FORMATS {
            assert!(help.contains(format.name), "{help}");
        }
        assert!(help.contains("workload.format"));
    }
    let error = located(reader("", &FormatOptions::default()).err().unwrap());
    assert!(error.message.contains("empty"));
}

#[test]
fn a_format_is_found_by_its_former_name() {
    assert_eq!(named("look-alike").unwrap().name, "synthetic-clone");
}

#[test]
fn a_misspelt_format_gets_a_suggestion() {
    let error = reader("", &forced("disksim-asci")).err().unwrap();
    assert!(
        error.to_string().contains("did you mean \"disksim-ascii\""),
        "{error}"
    );
}

#[test]
fn options_of_another_format_are_refused() {
    let mut options = FormatOptions {
        sector_bytes: Some(256),
        ..FormatOptions::default()
    };
    let line = "13.19 30 0 5 1\n";
    assert!(
        reader(line, &options)
            .err()
            .unwrap()
            .to_string()
            .contains("workload.sector_bytes")
    );
    options.sector_bytes = None;
    options.blktrace.event = BlkEvent::Issue;
    assert!(
        reader(line, &options)
            .err()
            .unwrap()
            .to_string()
            .contains("workload.blktrace")
    );
    options.blktrace = BlktraceOptions::default();
    options.csv.time = Some("t".to_owned());
    assert!(
        reader(line, &options)
            .err()
            .unwrap()
            .to_string()
            .contains("workload.csv")
    );
    options.csv = CsvOptions::default();
    options.synthetic_clone.seed = Some(1);
    let error = reader(line, &options).err().unwrap().to_string();
    assert!(error.contains("--seed"), "{error}");
}

#[test]
fn what_is_often_taken_for_a_trace_is_named_with_the_remedy() {
    let spec = "seed = 1\n[workload.synthetic]\nrequests = 1\n[device.hdd]\ndrive = \"x\"\n";
    let utf16: Vec<u8> = "time".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, remedy) in [
        (&b"\xfd7zXZ\0\0\x04"[..], "xz --decompress"),
        (b"BZh91AY&SY", "bzip2 --decompress"),
        (b"PK\x03\x04\x14\0", "unzip"),
        (b"\x04\x22\x4d\x18\x64", "lz4 --decompress"),
        (&[b"\xff\xfe", &utf16[..]].concat(), "iconv -f UTF-16"),
        (spec.as_bytes(), "diskwright run"),
    ] {
        let error = located(reader(bytes, &FormatOptions::default()).err().unwrap());
        let help = error.help.unwrap();
        assert!(help.contains(remedy), "{help}");
    }
    // A spec has both a load and a device.
    let half = "[workload.synthetic]\nrequests = 1\n[devices]\n";
    let error = located(reader(half, &FormatOptions::default()).err().unwrap());
    assert!(error.help.unwrap().contains("workload.format"));
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_trace() {
    for text in [
        "13.19\t30\t0\t5\t1\n",
        "time_s,lbn,blocks,op\n0,1,2,r\n",
        "0,20941264,8192,W,0.551706,Alpha/NT\n",
    ] {
        let marked = format!("\u{feff}{text}");
        let read = |text: &str| records(text, &FormatOptions::default()).unwrap();
        assert_eq!(read(&marked), read(text));
    }
}

#[test]
fn a_pattern_for_several_files_is_told_from_a_missing_file() {
    let missing = |name: &str| {
        open(Path::new(name), &FormatOptions::default())
            .err()
            .unwrap()
    };
    let error = missing("/nowhere/week-*.csv").to_string();
    assert!(error.contains("a trace is one file"), "{error}");
    let error = missing("/nowhere/week.csv").to_string();
    assert!(!error.contains("a trace is one file"), "{error}");
}
