//! The queue of a drive or of a host: requests that wait, and who decides which is next.

pub mod bands;
pub mod clustering;
mod neighbours;
pub mod pool;
pub mod schedulers;
pub mod submission;

pub use clustering::Clustering;
pub use pool::{Pending, Pool, Slot};
pub use schedulers::{CustomSchedulers, Scheduler, SchedulerChoice, SchedulerSpec, Space, View};
pub use submission::SubmissionQueues;
