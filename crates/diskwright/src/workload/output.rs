//! Where a trace is written: a file that is whole or not there, compressed as its name says.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;

use crate::base::error::Error;
use crate::base::whole_file::WholeFile;

/// Bytes held back before they are written.
const CHUNK: usize = 256 << 10;
/// Gzip's own default; a higher one costs much time for few bytes.
const GZIP_LEVEL: u32 = 6;

/// A trace file being written. Dropped before [`Output::finish`], it leaves nothing behind, and an old file stays as it was.
pub struct Output {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Plain(BufWriter<WholeFile>),
    Gzip(GzEncoder<BufWriter<WholeFile>>),
    Zstd(zstd::Encoder<'static, BufWriter<WholeFile>>),
}

impl Output {
    /// A file that is to be at `path`: gzip where its name ends in `.gz`, zstd where it ends in `.zst`, else plain.
    ///
    /// # Errors
    /// A folder that is not there or cannot be written to, or a path that is a folder.
    pub fn create(path: &Path) -> Result<Output, Error> {
        let sink = || {
            let file = BufWriter::with_capacity(CHUNK, WholeFile::create(path)?);
            Ok(match compression(path) {
                Some("gz") => {
                    Sink::Gzip(GzEncoder::new(file, flate2::Compression::new(GZIP_LEVEL)))
                }
                Some(_) => Sink::Zstd(zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?),
                None => Sink::Plain(file),
            })
        };
        Ok(Output {
            path: path.to_owned(),
            sink: sink().map_err(|e| Error::file(path, "write", e))?,
        })
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what is written is compressed on its way.
    pub fn is_compressed(&self) -> bool {
        !matches!(self.sink, Sink::Plain(_))
    }

    /// Brings all that was written to the disk, and gives the file its name.
    ///
    /// # Errors
    /// The file cannot be written, or not be renamed.
    pub fn finish(self) -> io::Result<()> {
        let file = match self.sink {
            Sink::Plain(file) => file,
            Sink::Gzip(encoder) => encoder.finish()?,
            Sink::Zstd(encoder) => encoder.finish()?,
        };
        file.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .finish()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Plain(file) => file.write(bytes),
            Sink::Gzip(encoder) => encoder.write(bytes),
            Sink::Zstd(encoder) => encoder.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Plain(file) => file.flush(),
            Sink::Gzip(encoder) => encoder.flush(),
            Sink::Zstd(encoder) => encoder.flush(),
        }
    }
}

/// The extension that asks for compression.
fn compression(path: &Path) -> Option<&str> {
    let extension = path.extension()?.to_str()?;
    ["gz", "zst"].into_iter().find(|known| *known == extension)
}

/// The extension of a file's name, without that of its compression.
pub fn extension(path: &Path) -> Option<&str> {
    let stem = path.file_stem().map(Path::new);
    let named = match compression(path) {
        Some(_) => stem?,
        None => path,
    };
    named.extension()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::input::Input;

    #[test]
    fn what_is_written_reads_back_whatever_the_compression() {
        let folder = tempfile::tempdir().unwrap();
        let text: String = (0..200_000).map(|i| format!("{i}\n")).collect();
        for (name, magic) in [
            ("t.csv", &b"0\n"[..]),
            ("t.csv.gz", b"\x1f\x8b"),
            ("t.csv.zst", b"\x28\xb5\x2f\xfd"),
        ] {
            let path = folder.path().join(name);
            let mut output = Output::create(&path).unwrap();
            output.write_all(text.as_bytes()).unwrap();
            assert!(!path.exists());
            output.finish().unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(magic), "{name}");
            let mut input = Input::open(&path).unwrap();
            let read = input.peek(text.len() + 1).unwrap();
            assert!(read == text.as_bytes(), "{name}");
            assert_eq!(extension(&path), Some("csv"));
        }
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = Output::create(&folder.path().join("t.gz")).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn extensions_are_those_below_the_compression() {
        for (name, expected) in [
            ("a.srt", Some("srt")),
            ("a.b.parquet.zst", Some("parquet")),
            ("a.gz", None),
            ("a", None),
            (".gz", None),
        ] {
            assert_eq!(extension(Path::new(name)), expected, "{name}");
        }
    }
}
