//! Accesses in a temporary file, to be read again, forwards or from the end.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::chunk::{Access, Chunk, Source};
use super::sample::Sample;
use crate::base::error::Error;
use crate::base::progress::Progress;

/// Bytes of an access or of a number.
const WORD: usize = 8;
/// Words that are read or written at a time.
const BATCH: usize = 1 << 16;

/// A file of words in the folder of temporary files. It has no name there, so that it goes with the process, however that ends.
struct Words {
    file: File,
    bytes: Vec<u8>,
}

fn failed(action: &'static str, error: io::Error) -> Error {
    Error::file(&std::env::temp_dir(), action, error)
}

impl Words {
    fn new() -> Result<Words, Error> {
        let file = tempfile::tempfile().map_err(|error| failed("write", error))?;
        let bytes = Vec::new();
        Ok(Words { file, bytes })
    }

    fn seek(&mut self, word: u64) -> Result<(), Error> {
        let to = SeekFrom::Start(word * WORD as u64);
        self.file.seek(to).map_err(|error| failed("read", error))?;
        Ok(())
    }

    fn write(&mut self, words: impl Iterator<Item = u64>) -> Result<(), Error> {
        self.bytes.clear();
        words.for_each(|word| self.bytes.extend_from_slice(&word.to_le_bytes()));
        let written = self.file.write_all(&self.bytes);
        written.map_err(|error| failed("write", error))
    }

    /// The next `count` words.
    fn read(&mut self, count: usize) -> Result<impl Iterator<Item = u64> + '_, Error> {
        self.bytes.resize(count * WORD, 0);
        let read = self.file.read_exact(&mut self.bytes);
        read.map_err(|error| failed("read", error))?;
        let (words, _) = self.bytes.as_chunks::<WORD>();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)))
    }
}

/// The accesses of a trace, and when each one's object is accessed next, where that was asked for.
pub(super) struct Spool {
    accesses: Words,
    next: Option<Words>,
    length: u64,
    /// How many were read again.
    read: u64,
}

impl Spool {
    /// An empty one.
    ///
    /// # Errors
    /// There is no temporary file to be had.
    pub(super) fn new() -> Result<Spool, Error> {
        Ok(Spool {
            accesses: Words::new()?,
            next: None,
            length: 0,
            read: 0,
        })
    }

    /// Adds accesses.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&mut self, accesses: &[Access]) -> Result<(), Error> {
        self.length += accesses.len() as u64;
        self.accesses.write(accesses.iter().map(|access| access.0))
    }

    /// Begins to read from the first access.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn rewind(&mut self) -> Result<(), Error> {
        self.read = 0;
        self.accesses.seek(0)?;
        self.next.as_mut().map_or(Ok(()), |next| next.seek(0))
    }

    /// Finds out, from the last access to the first, when the object of each is accessed next. Memory is that of a table of the
    /// distinct objects.
    ///
    /// # Errors
    /// The files cannot be read or written; an interruption by `progress`.
    pub(super) fn look_ahead(&mut self, progress: &mut dyn Progress) -> Result<(), Error> {
        let mut next = Words::new()?;
        let mut seen: HashMap<u64, u64, FixedState> = HashMap::default();
        let mut batch = Vec::with_capacity(BATCH);
        let mut end = self.length;
        while end > 0 {
            let start = end.saturating_sub(BATCH as u64);
            self.accesses.seek(start)?;
            batch.clear();
            batch.extend(self.accesses.read((end - start) as usize)?);
            for (word, number) in batch.iter_mut().rev().zip((start..end).rev()) {
                let object = Access(*word).object();
                *word = seen.insert(object, number).unwrap_or(u64::MAX);
            }
            next.seek(start)?;
            next.write(batch.iter().copied())?;
            if progress
                .update(self.length - end, Some(self.length))
                .is_break()
            {
                return Err(Error::Interrupted);
            }
            end = start;
        }
        self.next = Some(next);
        Ok(())
    }
}

impl Source for Spool {
    fn fill(&mut self, chunk: &mut Chunk, progress: &mut dyn Progress) -> Result<(), Error> {
        let count = (self.length - self.read).min(BATCH as u64) as usize;
        let accesses = self.accesses.read(count)?;
        chunk.accesses_mut().extend(accesses.map(Access));
        if let Some(next) = &mut self.next {
            chunk.next_mut().extend(next.read(count)?);
        }
        self.read += count as u64;
        if progress.update(self.read, Some(self.length)).is_break() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

/// Accesses that go into a spool as they are read.
pub(super) struct Spooled<'a> {
    pub(super) source: &'a mut dyn Source,
    pub(super) spool: &'a mut Spool,
    /// Only those of objects in one of these samples, if there are any.
    pub(super) samples: &'a [Sample],
}

impl Source for Spooled<'_> {
    fn fill(&mut self, chunk: &mut Chunk, progress: &mut dyn Progress) -> Result<(), Error> {
        let is_in = |access: &Access| {
            let takes = |sample: &Sample| sample.takes(access.object());
            self.samples.is_empty() || self.samples.iter().any(takes)
        };
        loop {
            self.source.fill(chunk, progress)?;
            // An empty chunk is the end, which a stretch without samples is not.
            let is_end = chunk.is_empty();
            chunk.accesses_mut().retain(is_in);
            if is_end || !chunk.is_empty() {
                break;
            }
        }
        self.spool.write(chunk.accesses())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out objects, no more than a few at a time.
    struct Given<'a>(&'a [Access]);

    impl Source for Given<'_> {
        fn fill(&mut self, chunk: &mut Chunk, _: &mut dyn Progress) -> Result<(), Error> {
            let (now, later) = self.0.split_at(self.0.len().min(50_000));
            chunk.accesses_mut().extend_from_slice(now);
            self.0 = later;
            Ok(())
        }
    }

    fn spooled(accesses: &[Access], samples: &[Sample]) -> Spool {
        let mut spool = Spool::new().expect("a temporary file");
        let mut given = Given(accesses);
        let mut chunk = Chunk::default();
        loop {
            let (source, spool) = (&mut given, &mut spool);
            let done = source.0.is_empty();
            let mut source = Spooled {
                source,
                spool,
                samples,
            };
            chunk.clear();
            source.fill(&mut chunk, &mut ()).expect("written");
            if done {
                break;
            }
        }
        spool
    }

    fn read(spool: &mut Spool) -> (Vec<Access>, Vec<u64>) {
        spool.rewind().expect("read");
        let (mut accesses, mut next) = (Vec::new(), Vec::new());
        let mut chunk = Chunk::default();
        loop {
            chunk.clear();
            spool.fill(&mut chunk, &mut ()).expect("read");
            if chunk.is_empty() {
                return (accesses, next);
            }
            accesses.extend_from_slice(chunk.accesses());
            next.extend_from_slice(chunk.next());
        }
    }

    #[test]
    fn the_future_is_what_comes() {
        // Longer than a batch, with objects that come again near, far and never.
        let length = 2 * BATCH + 12_345;
        let object = |at: usize| match at % 3 {
            0 => (at % 7) as u64,
            1 => (at % 90_001) as u64,
            _ => (1 << 40) + at as u64,
        };
        let accesses: Vec<Access> = (0..length)
            .map(|at| Access::new(object(at), at % 2 == 0))
            .collect();
        let mut spool = spooled(&accesses, &[]);
        let (again, next) = read(&mut spool);
        assert_eq!((again, next), (accesses.clone(), vec![]));
        spool.look_ahead(&mut ()).expect("read and written");
        let (again, next) = read(&mut spool);
        assert_eq!(again, accesses);
        let mut expected = vec![u64::MAX; length];
        let mut before = HashMap::<u64, usize, FixedState>::default();
        for at in 0..length {
            if let Some(before) = before.insert(object(at), at) {
                expected[before] = at as u64;
            }
        }
        assert_eq!(next, expected);
    }

    #[test]
    fn only_samples_are_kept() {
        let accesses: Vec<Access> = (0..100_000)
            .map(|at| Access::new(at % 999, false))
            .collect();
        let samples = Sample::several(0.1, 2, 1);
        let (kept, _) = read(&mut spooled(&accesses, &samples));
        let is_in = |access: &&Access| samples.iter().any(|s| s.takes(access.object()));
        let expected: Vec<Access> = accesses.iter().filter(is_in).copied().collect();
        assert!(
            kept == expected && kept.len() > 15_000 && kept.len() < 25_000,
            "{}",
            kept.len()
        );
    }

    #[test]
    fn nothing_has_no_future() {
        let mut spool = spooled(&[], &[]);
        spool.look_ahead(&mut ()).expect("nothing to read");
        assert_eq!(read(&mut spool), (vec![], vec![]));
    }
}
