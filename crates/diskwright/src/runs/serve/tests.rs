//! A device under clients that are scripted, by a clock that is set.
