//! What a run leaves behind: distributions, intervals, counts and the digest.

pub mod digest;
pub mod interval;
pub mod recorder;
pub mod series;

pub use recorder::Recorder;
pub use series::Series;
