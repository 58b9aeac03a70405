//! Contents in a file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;

use super::Contents;
use crate::base::error::{Error, InputError, Place};

/// An image of the right size that no other server has.
#[derive(Debug)]
pub struct LockedImage(Image);

/// A raw image: the device byte for byte, sparse.
#[derive(Debug)]
pub struct Image {
    file: File,
    can_punch: bool,
}

impl LockedImage {
    /// Opens the image of a device of `size` bytes. One that is not there is made, unless it is only to be read.
    ///
    /// # Errors
    /// A file that cannot be opened, of another size, or that another server has.
    pub fn open(path: &Path, size: u64, read_only: bool) -> Result<LockedImage, Error> {
        let is_new = !path.exists() && !read_only;
        let file = OpenOptions::new()
            .read(true)
            .write(!read_only)
            .create(!read_only)
            .truncate(false)
            .open(path)
            .map_err(|error| Error::file(path, "open", error))?;
        let wrong = |message: String, help: &str| {
            let error = InputError::new(message).at(Place::File(path.to_owned()));
            Err(Error::from(error.help(help)))
        };
        let locked = if read_only {
            file.try_lock_shared()
        } else {
            file.try_lock()
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return wrong(
                    "another server has this image".to_owned(),
                    "end that one first, or serve it with --read-only from both",
                );
            }
            Err(TryLockError::Error(error)) => return Err(Error::file(path, "lock", error)),
        }
        let metadata = file
            .metadata()
            .map_err(|error| Error::file(path, "read", error))?;
        if !metadata.is_file() {
            return wrong("an image is a regular file".to_owned(), "name another file");
        }
        let found = metadata.len();
        if is_new || found == 0 && !read_only {
            if let Err(error) = file.set_len(size) {
                if is_new {
                    // What is wrong is told; an empty file that stays would only be in the way.
                    let _ = std::fs::remove_file(path);
                }
                return wrong(
                    format!("no file of {size} bytes can be made here: {error}"),
                    "ext4 ends at 16 TiB, XFS and Btrfs do not; --memory keeps what is written in memory, --discard-contents nothing",
                );
            }
        } else if found != size {
            return wrong(
                format!("the image has {found} bytes, and the device {size}"),
                "an image belongs to a device of its size: name another file, which is made if it is not there, or the spec that this one is of",
            );
        }
        Ok(LockedImage(Image {
            file,
            can_punch: true,
        }))
    }

    /// The contents.
    pub fn into_contents(self) -> Image {
        self.0
    }
}

/// Zeros that are written at a time.
const ZEROS: &[u8] = &[0; 1 << 16];

impl Image {
    fn fill(&self, mut offset: u64, mut length: u64) -> io::Result<()> {
        while length > 0 {
            let piece = length.min(ZEROS.len() as u64);
            self.file.write_all_at(&ZEROS[..piece as usize], offset)?;
            offset += piece;
            length -= piece;
        }
        Ok(())
    }
}

impl Contents for Image {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.file.write_all_at(from, offset)
    }

    fn zero(&mut self, offset: u64, length: u64, kept: bool) -> io::Result<()> {
        let mode = match kept {
            true => FallocateFlags::ZERO_RANGE,
            false => FallocateFlags::PUNCH_HOLE,
        };
        if self.can_punch {
            match fallocate(&self.file, mode | FallocateFlags::KEEP_SIZE, offset, length) {
                Ok(()) => return Ok(()),
                // Not every file system can.
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.can_punch = kept,
                Err(error) => return Err(error.into()),
            }
        }
        self.fill(offset, length)
    }

    fn extent(&mut self, offset: u64, length: u64) -> io::Result<(u64, bool)> {
        let end = offset + length;
        let data = match seek(&self.file, SeekFrom::Data(offset)) {
            Ok(data) => data,
            Err(Errno::NXIO) => return Ok((length, true)),
            Err(error) => return Err(error.into()),
        };
        if data > offset {
            return Ok((data.min(end) - offset, true));
        }
        let hole = seek(&self.file, SeekFrom::Hole(offset))?;
        Ok((hole.clamp(offset + 1, end) - offset, false))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_is_too_large_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("image");
        let error = LockedImage::open(&path, u64::MAX, false).expect_err("too large");
        assert!(error.to_string().contains("--memory"), "{error}");
        assert!(!path.exists());
        // A file that was there stays.
        std::fs::write(&path, "").expect("written");
        assert!(LockedImage::open(&path, u64::MAX, false).is_err());
        assert!(path.exists());
    }

    #[test]
    fn an_image_has_one_server_and_one_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("image");
        assert!(LockedImage::open(&path, 4096, true).is_err());
        assert!(!path.exists());
        let first = LockedImage::open(&path, 4096, false).expect("a new image");
        let error = LockedImage::open(&path, 4096, false).expect_err("locked");
        assert!(error.to_string().contains("another server"), "{error}");
        assert!(LockedImage::open(&path, 4096, true).is_err());
        drop(first);
        let readers = [true, true].map(|only| LockedImage::open(&path, 4096, only));
        assert!(readers.iter().all(Result::is_ok));
        drop(readers);
        let error = LockedImage::open(&path, 8192, false).expect_err("of another size");
        assert!(error.to_string().contains("4096 bytes"), "{error}");
    }
}
