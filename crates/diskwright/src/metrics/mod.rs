//! What a run leaves behind: distributions, intervals, counts, the digest and the per-request log.

pub mod digest;
pub mod group;
pub mod histogram;
pub mod interval;
pub mod jobs;
pub mod log;
pub mod measurements;
pub mod named;
pub mod paired;
pub mod picture;
pub mod recorder;
pub mod series;
pub mod table;

pub use jobs::Jobs;
pub use log::RequestLog;
pub use measurements::Measurements;
pub use picture::Picture;
pub use recorder::Recorder;
pub use series::Series;
pub use table::RequestTable;
