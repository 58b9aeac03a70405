//! Records as bytes, and devices that go on.
