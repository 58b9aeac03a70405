//! The integration tests, as one program.

mod golden;
mod support;
