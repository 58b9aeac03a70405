//! Files that are no traces but are often taken for one: what they are, and the way to a trace.

use std::path::Path;

/// Archives that are not read: first bytes, name, the command that unpacks one.
const ARCHIVES: [(&[u8], &str, &str); 6] = [
    (b"\xfd7zXZ\0", "xz", "xz --decompress --keep"),
    (b"BZh", "bzip2", "bzip2 --decompress --keep"),
    (b"\x04\x22\x4d\x18", "LZ4", "lz4 --decompress"),
    (b"PK\x03\x04", "zip", "unzip"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z x"),
    (b"\x5d\0\0", "LZMA", "xz --decompress --keep"),
];

/// What a file is that no format knows, and what to do with it, where its first bytes tell.
pub fn remedy(first: &[u8], path: &Path) -> Option<String> {
    let path = path.display();
    for (magic, name, command) in ARCHIVES {
        if first.starts_with(magic) {
            return Some(format!(
                "it is packed with {name}, which is not read: unpack it with `{command} {path}`; gzip and zstd are read as they are"
            ));
        }
    }
    if first.starts_with(b"\xff\xfe") || first.starts_with(b"\xfe\xff") {
        return Some(format!(
            "it is text in UTF-16: convert it with `iconv -f UTF-16 -t UTF-8 {path}`"
        ));
    }
    is_spec(first)
        .then(|| format!("it is a spec, not a trace: `diskwright run {path}` simulates it"))
}

/// Whether a text has a table of a spec that every spec has.
fn is_spec(first: &[u8]) -> bool {
    let has_table = |name: &[u8]| {
        let mut lines = first.split(|byte| *byte == b'\n');
        lines.any(|line| {
            let rest = line.trim_ascii_start().strip_prefix(name);
            rest.is_some_and(|rest| matches!(rest.first(), Some(b'.' | b']')))
        })
    };
    has_table(b"[workload") && has_table(b"[device")
}
