//! What media hold of the host's data.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::engine::request::DeviceId;

/// A write's number, from 1; 0 is what a block held before the run.
pub(super) type Version = u64;

/// Blocks that are kept together: media are written and read in runs.
const CHUNK: usize = 32;
/// A place of a medium.
type Place = (DeviceId, u64);

/// The version of every block of every medium, 0 where nothing has been written.
#[derive(Default)]
pub(super) struct Media {
    /// Runs of [`CHUNK`] blocks with a version in them, by their device and their number on it.
    chunks: HashMap<Place, Box<[Version; CHUNK]>, FixedState>,
    /// What is being copied.
    copied: Vec<Version>,
}

impl Media {
    /// The version of a block.
    pub fn held(&self, (medium, lbn): Place) -> Version {
        let mut version = [0];
        self.read((medium, lbn), &mut version);
        version[0]
    }

    /// The versions of a run of blocks.
    pub fn read(&self, (medium, lbn): Place, versions: &mut [Version]) {
        for (chunk, at, run) in chunks(lbn, versions.len()) {
            match self.chunks.get(&(medium, chunk)) {
                Some(held) => versions[run.clone()].copy_from_slice(&held[at..][..run.len()]),
                None => versions[run].fill(0),
            }
        }
    }

    /// A run of blocks holds these versions from now on.
    pub fn write(&mut self, (medium, lbn): Place, versions: &[Version]) {
        for (chunk, at, run) in chunks(lbn, versions.len()) {
            let versions = &versions[run];
            if versions.iter().all(|&version| version == 0) {
                self.clear_in((medium, chunk), at, versions.len());
            } else {
                let held = self.chunks.entry((medium, chunk));
                let held = held.or_insert_with(|| Box::new([0; CHUNK]));
                held[at..][..versions.len()].copy_from_slice(versions);
            }
        }
    }

    /// A run of blocks holds nothing, as before the run.
    pub fn clear(&mut self, (medium, lbn): Place, blocks: u32) {
        for (chunk, at, run) in chunks(lbn, blocks as usize) {
            self.clear_in((medium, chunk), at, run.len());
        }
    }

    fn clear_in(&mut self, chunk: Place, at: usize, blocks: usize) {
        if blocks == CHUNK {
            self.chunks.remove(&chunk);
        } else if let Some(held) = self.chunks.get_mut(&chunk) {
            held[at..][..blocks].fill(0);
        }
    }

    /// A run of blocks holds what another one of the medium holds.
    pub fn copy(&mut self, medium: DeviceId, from: u64, to: u64, blocks: u32) {
        let mut versions = std::mem::take(&mut self.copied);
        versions.resize(blocks as usize, 0);
        self.read((medium, from), &mut versions);
        self.write((medium, to), &versions);
        self.copied = versions;
    }
}

/// The chunks that a run of blocks lies in: the number of each, where the run begins in it, and which blocks of the run are in it.
fn chunks(lbn: u64, blocks: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let place = lbn + done as u64;
        let at = (place % CHUNK as u64) as usize;
        let run = done..blocks.min(done + CHUNK - at);
        done = run.end;
        (!run.is_empty()).then_some((place / CHUNK as u64, at, run))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::base::random::Stream;

    /// Beside a map of single blocks: random runs on two media, across the edges of chunks.
    #[test]
    fn media_hold_what_a_map_of_blocks_does() {
        let mut random = Stream::new(3, "media");
        let mut draw = |below: u64| random.below(below);
        let (mut media, mut map) = (Media::default(), BTreeMap::new());
        for version in 1..20_000 {
            let medium = DeviceId(draw(2) as u32);
            let (lbn, blocks) = (draw(200), draw(100));
            let run = lbn..lbn + blocks;
            match draw(4) {
                0 => {
                    let versions: Vec<Version> =
                        run.clone().map(|lbn| version * (lbn % 3)).collect();
                    media.write((medium, lbn), &versions);
                    map.extend(run.map(|lbn| (medium.0, lbn)).zip(versions));
                }
                1 => {
                    media.clear((medium, lbn), blocks as u32);
                    map.retain(|&(of, lbn), _| of != medium.0 || !run.contains(&lbn));
                }
                2 => {
                    let to = 300 + draw(200);
                    media.copy(medium, lbn, to, blocks as u32);
                    for (from, to) in run.zip(to..) {
                        let held = map.get(&(medium.0, from)).copied().unwrap_or(0);
                        map.insert((medium.0, to), held);
                    }
                }
                _ => {
                    let mut versions = vec![Version::MAX; 700];
                    media.read((medium, 0), &mut versions);
                    for (lbn, &version) in (0..).zip(&versions) {
                        let expected = map.get(&(medium.0, lbn)).copied().unwrap_or(0);
                        assert_eq!(version, expected, "block {lbn}");
                        assert_eq!(media.held((medium, lbn)), expected);
                    }
                }
            }
        }
    }
}
