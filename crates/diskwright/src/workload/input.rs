//! The bytes of a trace: plain, gzip or zstd, told apart by their first bytes, in a bounded buffer.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

use crate::base::error::{Error, InputError, Place};

/// Bytes asked of the source at a time.
const CHUNK: usize = 256 << 10;
/// A line longer than this is not a line of a trace.
pub const MAX_LINE: usize = 1 << 20;

/// A line of more than [`MAX_LINE`] bytes.
#[derive(Debug, thiserror::Error)]
#[error("no end of line within {MAX_LINE} bytes: this is not a text trace")]
struct EndlessLine;

/// A buffered, decompressed trace file.
///
/// The bytes of the record just returned stay where they are until the next one is asked for, so that an error can show
/// them without a copy having been made.
pub struct Input {
    path: PathBuf,
    compression: Option<&'static str>,
    /// What is read, where it can be read anywhere.
    whole: Option<RandomAccessSource>,
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// The next byte to hand out, in `buffer`.
    at: usize,
    /// The end of the bytes read, in `buffer`.
    filled: usize,
    /// Offset in the decompressed file of the first byte of `buffer`.
    base: u64,
    ended: bool,
}

impl Input {
    /// Opens a file; gzip and zstd are recognised by their first bytes, whatever the file is called.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn open(path: &Path) -> Result<Input, Error> {
        let failed = |e| Error::file(path, "open", e);
        let file = File::open(path).map_err(|e| several(path, &e).unwrap_or_else(|| failed(e)))?;
        let is_file = file.metadata().map_err(failed)?.is_file();
        let whole = is_file.then(|| file.try_clone()).transpose();
        let mut input = Input::new(path, Box::new(file))?;
        input.whole = whole.map_err(failed)?.map(RandomAccessSource::File);
        Ok(input)
    }

    /// Reads bytes that are at hand; `path` is only their name in errors.
    ///
    /// # Errors
    /// They begin like an archive, and are none.
    pub fn memory(path: &Path, bytes: Vec<u8>) -> Result<Input, Error> {
        let bytes = Bytes::from(bytes);
        let mut input = Input::new(path, Box::new(io::Cursor::new(bytes.clone())))?;
        input.whole = Some(RandomAccessSource::Memory(bytes));
        Ok(input)
    }

    /// Reads from any source; `path` is only its name in errors.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn new(path: &Path, mut source: Box<dyn Read + Send>) -> Result<Input, Error> {
        let file_error = |e| Error::file(path, "read", e);
        let mut magic = [0; 4];
        let mut known = 0;
        while known < magic.len() {
            match source.read(&mut magic[known..]) {
                Ok(0) => break,
                Ok(n) => known += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(file_error(e)),
            }
        }
        let whole = io::Cursor::new(magic[..known].to_vec()).chain(source);
        let (compression, source): (_, Box<dyn Read + Send>) = match magic {
            [0x1f, 0x8b, ..] => {
                let whole = BufReader::with_capacity(CHUNK, whole);
                let decoder = flate2::bufread::MultiGzDecoder::new(whole);
                (Some("gzip"), Box::new(decoder))
            }
            [0x28, 0xb5, 0x2f, 0xfd] => {
                let decoder = zstd::stream::read::Decoder::new(whole).map_err(file_error)?;
                (Some("zstd"), Box::new(decoder))
            }
            _ => (None, Box::new(whole)),
        };
        Ok(Input {
            path: path.to_owned(),
            compression,
            whole: None,
            source,
            buffer: Vec::new(),
            at: 0,
            filled: 0,
            base: 0,
            ended: false,
        })
    }

    /// The whole file, for `what`, which is not read from front to back.
    ///
    /// # Errors
    /// It is compressed, or can be read only once, such as a pipe.
    pub fn random_access(self, what: &str) -> Result<RandomAccessFile, Error> {
        let wrong = |message, help| {
            let place = Place::File(self.path.clone());
            InputError::new(message).at(place).help(help)
        };
        if let Some(name) = self.compression {
            let message = format!("{what} cannot be read from within a {name} archive");
            return Err(wrong(message, "unpack the file first").into());
        }
        match self.whole {
            Some(whole) => Ok(RandomAccessFile {
                path: self.path,
                whole,
            }),
            None => {
                let message =
                    format!("{what} is not read from front to back, so it cannot come from a pipe");
                Err(wrong(message, "save it as a file first").into())
            }
        }
    }

    /// The file's path, as errors name it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Offset of the next byte in the decompressed file.
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The next `count` bytes, fewer only at the end of the file, without moving on.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.filled - self.at < count && !self.ended {
            self.fill()?;
        }
        let end = self.filled.min(self.at + count);
        Ok(&self.buffer[self.at..end])
    }

    /// Moves on by `count` bytes, which must have been peeked at.
    pub fn skip(&mut self, count: usize) {
        debug_assert!(count <= self.filled - self.at);
        self.at += count;
    }

    /// The next line without its line break, as a range for [`Input::bytes`]; `None` at the end of the file.
    ///
    /// # Errors
    /// The source cannot be read, or the line is longer than `MAX_LINE`.
    #[inline]
    pub fn line(&mut self) -> io::Result<Option<Range<usize>>> {
        let mut searched = 0;
        loop {
            let pending = &self.buffer[self.at + searched..self.filled];
            if let Some(found) = memchr::memchr(b'\n', pending) {
                let (start, mut end) = (self.at, self.at + searched + found);
                self.at = end + 1;
                if end > start && self.buffer[end - 1] == b'\r' {
                    end -= 1;
                }
                return Ok(Some(start..end));
            }
            searched = self.filled - self.at;
            if searched > MAX_LINE {
                return Err(io::Error::new(io::ErrorKind::InvalidData, EndlessLine));
            }
            if self.ended {
                let line = self.at..self.filled;
                self.at = self.filled;
                return Ok((!line.is_empty()).then_some(line));
            }
            self.fill()?;
        }
    }

    /// The bytes of a line, until the next read.
    #[inline]
    pub fn bytes(&self, line: Range<usize>) -> &[u8] {
        self.buffer.get(line).unwrap_or_default()
    }

    /// What a failed read means to the user, at `place`: a damaged archive is wrong input, the rest is the file's fault.
    pub fn fault(&self, error: io::Error, place: Place) -> Error {
        if error
            .get_ref()
            .is_some_and(|inner| inner.is::<EndlessLine>())
        {
            return InputError::new(error.to_string()).at(place).into();
        }
        let damaged = matches!(
            error.kind(),
            io::ErrorKind::UnexpectedEof
                | io::ErrorKind::InvalidData
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::Other
        );
        match self.compression {
            Some(name) if damaged && error.raw_os_error().is_none() => {
                InputError::new(format!("the {name} stream is damaged or cut off: {error}"))
                    .at(place)
                    .into()
            }
            _ => Error::file(&self.path, "read", error),
        }
    }

    /// Reads more, keeping what has not been handed out yet.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.base += self.at as u64;
        self.filled -= self.at;
        self.at = 0;
        if self.buffer.len() < self.filled + CHUNK {
            self.buffer.resize(self.filled + CHUNK, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Ok(count) => {
                    self.filled += count;
                    self.ended = count == 0;
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// What can be read anywhere.
enum RandomAccessSource {
    File(File),
    Memory(Bytes),
}

/// A trace file whose bytes can be had in any order.
pub struct RandomAccessFile {
    path: PathBuf,
    whole: RandomAccessSource,
}

impl RandomAccessFile {
    /// The file's path, as errors name it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Length for RandomAccessFile {
    fn len(&self) -> u64 {
        match &self.whole {
            RandomAccessSource::File(file) => file.len(),
            RandomAccessSource::Memory(bytes) => bytes.len() as u64,
        }
    }
}

impl ChunkReader for RandomAccessFile {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(match &self.whole {
            RandomAccessSource::File(file) => Box::new(file.get_read(start)?),
            RandomAccessSource::Memory(bytes) => {
                let start = start.min(bytes.len() as u64) as usize;
                Box::new(io::Cursor::new(bytes.slice(start..)))
            }
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.len()) {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        match &self.whole {
            // A whole page at once: no buffer between.
            RandomAccessSource::File(file) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(start))?;
                let mut bytes = vec![0; length];
                file.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
            RandomAccessSource::Memory(bytes) => {
                Ok(bytes.slice(start as usize..start as usize + length))
            }
        }
    }
}

/// A pattern for several files where there is no file of that name.
fn several(path: &Path, error: &io::Error) -> Option<Error> {
    let is_pattern = path.to_string_lossy().contains(['*', '?']);
    (is_pattern && error.kind() == io::ErrorKind::NotFound).then(|| {
        InputError::new("no file has this name")
            .at(Place::File(path.to_owned()))
            .help("a trace is one file: join several of them, in the order of their times, and name the result")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(bytes: impl Into<Vec<u8>>) -> Input {
        Input::memory(Path::new("t"), bytes.into()).unwrap()
    }

    fn lines(input: &mut Input) -> io::Result<Vec<Vec<u8>>> {
        let mut lines = Vec::new();
        while let Some(line) = input.line()? {
            lines.push(input.bytes(line).to_vec());
        }
        Ok(lines)
    }

    #[test]
    fn lines_end_in_either_way_and_the_last_need_not() {
        let read = lines(&mut input("a\r\n\nb\nc")).unwrap();
        assert_eq!(read, [&b"a"[..], b"", b"b", b"c"]);
        assert_eq!(lines(&mut input("")).unwrap().len(), 0);
    }

    #[test]
    fn a_line_may_be_long_but_not_endless() {
        let long = vec![b'x'; MAX_LINE];
        assert_eq!(lines(&mut input(long.clone())).unwrap(), [long]);
        let endless = vec![b'x'; MAX_LINE + 2 * CHUNK];
        let error = lines(&mut input(endless)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn an_endless_line_of_a_sound_archive_is_no_damage() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let endless = vec![b'x'; MAX_LINE + 2 * CHUNK];
        std::io::Write::write_all(&mut encoder, &endless).unwrap();
        let mut input = input(encoder.finish().unwrap());
        let error = input.line().unwrap_err();
        let place = Place::Line {
            file: "t".into(),
            line: 1,
            column: None,
            text: "x".to_owned(),
        };
        let told = input.fault(error, place).to_string();
        assert!(
            told.contains("no end of line") && told.contains("t:1"),
            "{told}"
        );
        assert!(!told.contains("damaged"), "{told}");
        let cut = io::Error::from(io::ErrorKind::UnexpectedEof);
        let told = input.fault(cut, Place::File("t".into())).to_string();
        assert!(told.contains("gzip stream is damaged"), "{told}");
    }

    #[test]
    fn lines_across_chunks_are_whole() {
        let text: String = (0..100_000).map(|i| format!("line {i}\n")).collect();
        let read = lines(&mut input(text)).unwrap();
        assert_eq!(read.len(), 100_000);
        assert_eq!(read[54_321], b"line 54321");
    }

    #[test]
    fn peeking_does_not_move() {
        let mut input = input("abcdef");
        assert_eq!(input.peek(3).unwrap(), b"abc");
        input.skip(2);
        assert_eq!(input.offset(), 2);
        assert_eq!(input.peek(10).unwrap(), b"cdef");
    }
}
