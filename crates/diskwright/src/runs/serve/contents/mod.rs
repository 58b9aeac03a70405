//! What is on the device that is served: bytes that clients have written.

mod discarded;
mod image;
mod journal;
mod memory;

use std::io;

pub use discarded::Discarded;
pub use image::{Image, LockedImage};
pub use journal::{Change, Journal, Left};
pub use memory::Memory;

/// The bytes of a device. Offsets and lengths lie within it.
pub trait Contents {
    /// Fills a buffer with the bytes from an offset on.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
    /// Writes bytes.
    fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()>;
    /// Makes bytes zero. They take no space afterwards where that can be, unless they are `kept`.
    fn zero(&mut self, offset: u64, length: u64, kept: bool) -> io::Result<()>;
    /// How many bytes from an offset on, at most `length`, are alike in taking space or not, and whether they take none.
    fn extent(&mut self, offset: u64, length: u64) -> io::Result<(u64, bool)>;
    /// Brings everything that is written to where it stays when this machine's power fails.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Brings everything to where it stays when this process is gone.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: usize = 1 << 19;

    /// A change, at an offset, of a length.
    #[derive(Clone, Debug)]
    enum Change {
        Write(u8),
        Zero(bool),
    }

    fn changes() -> impl Strategy<Value = Vec<(Change, usize, usize)>> {
        let change = prop_oneof![
            any::<u8>().prop_map(Change::Write),
            any::<bool>().prop_map(Change::Zero)
        ];
        let place = (0..SIZE / 512, 1..300usize);
        let one = (change, place).prop_map(|(change, (from, length))| {
            let from = from * 512;
            (change, from, (length * 512).min(SIZE - from))
        });
        prop::collection::vec(one, 0..30)
    }

    fn agrees(contents: &mut dyn Contents, changes: &[(Change, usize, usize)]) {
        let mut bytes = vec![0u8; SIZE];
        for (change, from, length) in changes {
            let (range, offset) = (*from..from + length, *from as u64);
            match change {
                Change::Write(byte) => {
                    bytes[range.clone()].fill(*byte);
                    contents.write(offset, &bytes[range]).expect("written");
                }
                Change::Zero(kept) => {
                    bytes[range].fill(0);
                    contents
                        .zero(offset, *length as u64, *kept)
                        .expect("zeroed");
                }
            }
        }
        let mut found = vec![1u8; SIZE];
        contents.read(0, &mut found).expect("read");
        assert!(found == bytes, "contents differ");
        let mut at = 0;
        while at < SIZE as u64 {
            let (length, is_hole) = contents.extent(at, SIZE as u64 - at).expect("an extent");
            assert!(length > 0 && at + length <= SIZE as u64);
            let range = at as usize..(at + length) as usize;
            assert!(!is_hole || bytes[range].iter().all(|&byte| byte == 0));
            at += length;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// Memory and images against a list of bytes.
        #[test]
        fn contents_are_what_was_written(changes in changes()) {
            agrees(&mut Memory::default(), &changes);
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("image");
            let image = LockedImage::open(&path, SIZE as u64, false).expect("an image");
            agrees(&mut image.into_contents(), &changes);
        }
    }

    #[test]
    fn what_was_never_written_takes_no_space() {
        let mut memory = Memory::default();
        assert_eq!(
            memory.extent(0, 1 << 40).expect("an extent"),
            (1 << 40, true)
        );
        memory.write(1 << 30, &[7; 512]).expect("written");
        let (hole, is_hole) = memory.extent(0, 1 << 40).expect("an extent");
        assert!(is_hole && hole <= 1 << 30 && hole > (1 << 30) - (1 << 16));
        memory.zero(0, 1 << 40, false).expect("zeroed");
        assert_eq!(memory.bytes(), 0);
    }

    #[test]
    fn discarded_contents_are_zeros() {
        let mut contents = Discarded;
        contents.write(0, &[9; 4096]).expect("written");
        let mut found = [1; 4096];
        contents.read(0, &mut found).expect("read");
        assert_eq!(found, [0; 4096]);
        assert_eq!(contents.extent(5, 10).expect("an extent"), (10, false));
    }
}
