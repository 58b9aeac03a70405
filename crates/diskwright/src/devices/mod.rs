//! The kinds of devices. None knows another: a device that is made of devices knows their contract alone.

pub mod array;
pub mod hdd;
