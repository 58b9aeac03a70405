//! What a power cut would leave: of blocks that were written, every version that may still be it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::Contents;
use crate::base::units::BLOCK_BYTES;

/// The bytes of a block; none for zeros.
type Bytes = Option<Box<[u8]>>;

/// A version of a block.
struct Version {
    /// The change that made it, by its number in the run; 0 for what was there before.
    change: u64,
    bytes: Bytes,
    /// It was trimmed.
    is_trim: bool,
}

/// A change of contents: a write, or a trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its number in the run, from 1.
    pub number: u64,
    /// The first block.
    pub lbn: u64,
    /// How many.
    pub blocks: u64,
    /// Blocks are trimmed, and not written.
    pub is_trim: bool,
}

/// What a block has after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// What a change wrote, by its number, or, with 0, what was there before.
    Version(u64),
    /// Nothing.
    Nowhere,
}

/// The versions of blocks that a power cut may leave.
#[derive(Default)]
pub struct Journal {
    blocks: BTreeMap<u64, Vec<Version>>,
    /// The changes that these are of.
    changes: BTreeMap<u64, Change>,
    /// The changes that blocks are left of which only one version is known.
    settled: BTreeMap<u64, u64>,
    /// How many blocks the last look has left.
    kept: usize,
}

/// Below so many blocks nothing is looked for that can be forgotten, unless a flush asks for it.
const FEW: usize = 4096;

fn stored(bytes: &[u8]) -> Bytes {
    let is_zero = bytes.iter().all(|&byte| byte == 0);
    (!is_zero).then(|| bytes.into())
}

impl Journal {
    /// Notes a change before it is made in `contents`; `bytes` are those that it writes, none for zeros.
    ///
    /// # Errors
    /// The contents cannot be read.
    pub fn note(
        &mut self,
        change: Change,
        bytes: Option<&[u8]>,
        contents: &mut dyn Contents,
    ) -> io::Result<()> {
        let size = BLOCK_BYTES as usize;
        for index in 0..change.blocks {
            let lbn = change.lbn + index;
            let versions = self.blocks.entry(lbn).or_default();
            if versions.is_empty() {
                let mut before = vec![0; size];
                contents.read(lbn * BLOCK_BYTES, &mut before)?;
                versions.push(Version {
                    change: self.settled.remove(&lbn).unwrap_or(0),
                    bytes: stored(&before),
                    is_trim: false,
                });
            }
            let from = index as usize * size;
            versions.push(Version {
                change: change.number,
                bytes: bytes.and_then(|bytes| stored(&bytes[from..from + size])),
                is_trim: change.is_trim,
            });
        }
        self.changes.insert(change.number, change);
        Ok(())
    }

    /// Forgets what cannot be left any more: `may_be_left` tells whether a change of a block may.
    pub fn forget(&mut self, may_be_left: impl Fn(u64, u64) -> bool) {
        let settled = &mut self.settled;
        self.blocks.retain(|&lbn, versions| {
            let newest = versions.last().map(|version| version.change);
            versions.retain(|version| {
                Some(version.change) == newest || may_be_left(lbn, version.change)
            });
            if versions.len() == 1 {
                settled.extend(newest.map(|change| (lbn, change)));
            }
            versions.len() > 1
        });
        self.kept = self.blocks.len();
        let first = self.blocks.values().flatten().map(|version| version.change);
        let first = first.filter(|&change| change > 0).min();
        match first {
            Some(first) => self.changes = self.changes.split_off(&first),
            None => self.changes.clear(),
        }
    }

    /// Makes the contents what is left after a power cut, and tells which changes of those that were `acknowledged` are gone, in their order.
    ///
    /// # Errors
    /// The contents cannot be written.
    pub fn cut(
        &mut self,
        contents: &mut dyn Contents,
        left: impl Fn(u64) -> Left,
        acknowledged: impl Fn(u64) -> bool,
    ) -> io::Result<Vec<Change>> {
        let mut lost = BTreeSet::new();
        for (&lbn, versions) in &self.blocks {
            let left = left(lbn);
            let found = match left {
                Left::Version(change) => versions.iter().find(|version| version.change == change),
                Left::Nowhere => (versions.iter().rev().find(|version| version.is_trim))
                    .or_else(|| versions.first()),
            };
            // What is not known any more is what is there already.
            let Some(found) = found else {
                continue;
            };
            let offset = lbn * BLOCK_BYTES;
            match &found.bytes {
                Some(bytes) => contents.write(offset, bytes)?,
                None => contents.zero(offset, BLOCK_BYTES, false)?,
            }
            let gone = versions.iter().filter(|version| {
                version.change > found.change && !version.is_trim && acknowledged(version.change)
            });
            lost.extend(gone.map(|version| version.change));
        }
        let lost = lost.iter().filter_map(|number| self.changes.get(number));
        Ok(lost.copied().collect())
    }

    /// Whether twice as many blocks have versions as after the last look: of a device that promises writes at once no flush tells.
    pub fn is_due(&self) -> bool {
        self.blocks.len() >= FEW.max(2 * self.kept)
    }

    /// How many blocks have more than one version.
    #[cfg(test)]
    fn versioned(&self) -> usize {
        self.blocks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;

    fn change(number: u64, lbn: u64, blocks: u64) -> Change {
        Change {
            number,
            lbn,
            blocks,
            is_trim: false,
        }
    }

    /// Notes and makes a change that fills blocks with a byte.
    fn write(journal: &mut Journal, contents: &mut Memory, change: Change, byte: u8) {
        let bytes = vec![byte; (change.blocks * BLOCK_BYTES) as usize];
        journal.note(change, Some(&bytes), contents).expect("noted");
        contents
            .write(change.lbn * BLOCK_BYTES, &bytes)
            .expect("written");
    }

    fn first_bytes(contents: &mut Memory, blocks: std::ops::Range<u64>) -> Vec<u8> {
        let byte = |lbn| {
            let mut bytes = [0; 512];
            contents.read(lbn * BLOCK_BYTES, &mut bytes).expect("read");
            bytes[0]
        };
        blocks.map(byte).collect()
    }

    #[test]
    fn a_cut_leaves_what_the_device_has() {
        let (mut journal, mut contents) = (Journal::default(), Memory::default());
        contents.write(0, &[9; 2048]).expect("written");
        write(&mut journal, &mut contents, change(1, 0, 3), 1);
        write(&mut journal, &mut contents, change(2, 1, 3), 2);
        assert_eq!(first_bytes(&mut contents, 0..4), [1, 2, 2, 2]);
        let left = |lbn| Left::Version([1, 0, 1, 2][lbn as usize]);
        let lost = journal.cut(&mut contents, left, |_| true).expect("a cut");
        assert_eq!(first_bytes(&mut contents, 0..4), [1, 9, 1, 2]);
        assert_eq!(lost, [change(1, 0, 3), change(2, 1, 3)]);
    }

    #[test]
    fn what_was_not_acknowledged_is_not_lost() {
        let (mut journal, mut contents) = (Journal::default(), Memory::default());
        write(&mut journal, &mut contents, change(1, 0, 1), 1);
        write(&mut journal, &mut contents, change(2, 0, 1), 2);
        let lost = journal.cut(&mut contents, |_| Left::Version(0), |number| number == 1);
        assert_eq!(lost.expect("a cut"), [change(1, 0, 1)]);
        assert_eq!(first_bytes(&mut contents, 0..1), [0]);
    }

    #[test]
    fn what_is_trimmed_and_nowhere_is_zero() {
        let (mut journal, mut contents) = (Journal::default(), Memory::default());
        contents.write(0, &[9; 1024]).expect("written");
        let trim = Change {
            is_trim: true,
            ..change(1, 0, 1)
        };
        journal.note(trim, None, &mut contents).expect("noted");
        contents.zero(0, 512, false).expect("zeroed");
        write(&mut journal, &mut contents, change(2, 1, 1), 2);
        let lost = journal.cut(&mut contents, |_| Left::Nowhere, |_| true);
        // The second block was nowhere before either: it is what it was.
        assert_eq!(first_bytes(&mut contents, 0..2), [0, 9]);
        assert_eq!(lost.expect("a cut"), [change(2, 1, 1)]);
    }

    #[test]
    fn what_was_settled_is_still_known_by_its_change() {
        let (mut journal, mut contents) = (Journal::default(), Memory::default());
        write(&mut journal, &mut contents, change(1, 0, 1), 1);
        journal.forget(|_, _| false);
        assert_eq!(journal.versioned(), 0);
        write(&mut journal, &mut contents, change(2, 0, 1), 2);
        journal.forget(|_, number| number == 1);
        let lost = journal.cut(&mut contents, |_| Left::Version(1), |_| true);
        assert_eq!(lost.expect("a cut"), [change(2, 0, 1)]);
        assert_eq!(first_bytes(&mut contents, 0..1), [1]);
    }

    #[test]
    fn what_cannot_be_left_is_forgotten() {
        let (mut journal, mut contents) = (Journal::default(), Memory::default());
        write(&mut journal, &mut contents, change(1, 0, 2), 1);
        write(&mut journal, &mut contents, change(2, 1, 1), 2);
        journal.forget(|_, number| number == 1);
        // Of the first block the newest alone is left.
        assert_eq!(journal.versioned(), 1);
        journal.forget(|_, _| false);
        assert_eq!(journal.versioned(), 0);
        assert!(journal.changes.is_empty());
    }
}
