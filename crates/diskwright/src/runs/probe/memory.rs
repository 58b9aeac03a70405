//! What a drive has of memory, and which states of its write cache there are.

use serde::Serialize;

use crate::devices::hdd::buffer_description::WriteCompletion;
use crate::devices::hdd::drive::DriveDescription;
use crate::devices::hdd::spec::settings::Memory as Kind;

/// A state of a drive's write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// Enabled: writes are complete in memory, and lost with the power.
    On,
    /// Disabled: every write waits for the medium.
    Off,
    /// Disabled, on a drive with a persistent memory: writes are complete there, and survive without power.
    Persistent,
}

impl WriteCache {
    /// Every state, in the order of the results.
    const ALL: [WriteCache; 3] = [WriteCache::On, WriteCache::Off, WriteCache::Persistent];

    /// How the host's switch is set.
    pub fn is_enabled(self) -> bool {
        self == WriteCache::On
    }

    /// Whether writes are complete before they are at their places on the medium.
    pub fn absorbs(self) -> bool {
        self != WriteCache::Off
    }
}

/// A state that is not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The state.
    pub write_cache: WriteCache,
    /// Why.
    pub reason: &'static str,
}

/// The memory of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// None, a segmented buffer, or a pool.
    pub kind: Kind,
    /// How much there is, bytes.
    pub bytes: u64,
    /// The state of the write cache in which the drive ships; `None` without memory.
    pub write_cache: Option<WriteCache>,
    /// Why nothing is measured, where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// The most that is written until a memory is full, in sizes of the memory.
const MOST_FILLING: u64 = 4;

const WITHOUT: &str = "the drive's file describes no memory: there are no caches to measure";

impl Memory {
    /// That of a drive as it ships.
    pub fn of(drive: &DriveDescription) -> Memory {
        let (kind, bytes) = match (&drive.pool, &drive.buffer) {
            (Some(pool), _) => (Kind::Pool, pool.size.bytes() as u64),
            (None, Some(buffer)) => {
                let bytes = u128::from(buffer.segments) * buffer.segment_size.bytes();
                (Kind::Segmented, bytes as u64)
            }
            (None, None) => (Kind::None, 0),
        };
        let is_without = kind == Kind::None;
        Memory {
            kind,
            bytes,
            write_cache: (!is_without).then(|| shipped(drive)),
            note: is_without.then_some(WITHOUT),
        }
    }

    /// The most writes of a size that are made to fill it.
    pub fn most_filling(&self, request_bytes: u64) -> u64 {
        (MOST_FILLING * self.bytes).div_ceil(request_bytes)
    }

    /// Whether there is any.
    pub fn is_there(&self) -> bool {
        self.kind != Kind::None
    }
}

/// The state in which a drive with memory ships.
fn shipped(drive: &DriveDescription) -> WriteCache {
    let has_cache = lacks(drive, WriteCache::On).is_none();
    let said = drive.ships.as_ref().and_then(|ships| ships.write_cache);
    // A segmented buffer that completes writes early has a write cache that is on.
    let is_enabled = said.unwrap_or(drive.pool.is_none() && has_cache);
    match is_enabled {
        true if has_cache => WriteCache::On,
        false if lacks(drive, WriteCache::Persistent).is_none() => WriteCache::Persistent,
        _ => WriteCache::Off,
    }
}

/// Why a drive with memory does not have a state; `None` for one that it has.
fn lacks(drive: &DriveDescription, state: WriteCache) -> Option<&'static str> {
    let persistent = drive
        .pool
        .as_ref()
        .and_then(|pool| pool.persistent.as_ref());
    match state {
        WriteCache::On => match (&drive.pool, &drive.buffer) {
            (Some(pool), _) if pool.write_cache.is_none() => {
                Some("the drive's file describes no write cache")
            }
            (None, Some(buffer)) if buffer.write.complete == WriteCompletion::OnMedium => {
                Some("the drive's buffer completes no write before the medium does")
            }
            _ => None,
        },
        WriteCache::Off => persistent
            .map(|_| "with the write cache off the drive's persistent memory completes writes"),
        WriteCache::Persistent => match persistent {
            Some(_) => None,
            None => Some("the drive's file describes no persistent memory"),
        },
    }
}

/// The states that a drive with memory has, and those that it does not.
pub fn states(drive: &DriveDescription) -> (Vec<WriteCache>, Vec<Missing>) {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for write_cache in WriteCache::ALL {
        match lacks(drive, write_cache) {
            None => there.push(write_cache),
            Some(reason) => missing.push(Missing {
                write_cache,
                reason,
            }),
        }
    }
    (there, missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::simulation::drive;

    #[test]
    fn states_are_those_of_the_drives() {
        use WriteCache::{Off, On, Persistent};
        for (name, kind, ships, expected) in [
            ("exos-x20", Kind::Pool, On, &[On, Persistent][..]),
            ("ultrastar-hc580", Kind::Pool, On, &[On, Off]),
            ("cheetah-15k7", Kind::Pool, Off, &[On, Off]),
            ("ibm-18es", Kind::Segmented, On, &[On, Off]),
            ("hp-c3323a", Kind::Segmented, Off, &[Off]),
        ] {
            let drive = drive(name).expect("a drive").description;
            let memory = Memory::of(&drive);
            assert_eq!(
                (memory.kind, memory.write_cache),
                (kind, Some(ships)),
                "{name}"
            );
            let (there, missing) = states(&drive);
            assert_eq!(there, expected, "{name}");
            assert_eq!(there.len() + missing.len(), WriteCache::ALL.len());
        }
        let drive = drive("hp-c2249a").expect("a drive").description;
        let memory = Memory::of(&drive);
        assert_eq!((memory.kind, memory.write_cache), (Kind::None, None));
        assert!(memory.note.is_some() && !memory.is_there());
    }

    #[test]
    fn a_drive_that_ships_with_its_write_cache_off_may_keep_writes() {
        let mut drive = drive("exos-x20").expect("a drive").description;
        let ships = drive.ships.as_mut().expect("it says how it ships");
        ships.write_cache = Some(false);
        assert_eq!(Memory::of(&drive).write_cache, Some(WriteCache::Persistent));
        drive.pool.as_mut().expect("a pool").persistent = None;
        assert_eq!(Memory::of(&drive).write_cache, Some(WriteCache::Off));
    }
}
