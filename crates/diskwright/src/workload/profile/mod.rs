//! What a trace is: counts, mix, sizes, sequentiality, working set, arrivals.

mod arrivals;
pub mod bursts;
mod measure;
mod profile_builder;
mod space;
mod summary;

pub use self::arrivals::Dispersion;
pub use self::bursts::BurstProfile;
pub use self::measure::{Arrivals, Measure, Total};
pub use self::profile_builder::{
    ArrivalProfile, Class, ClassSizes, Classes, DirectionProfile, Profile, ProfileBuilder,
    ReferenceProfile, RunProfile, SCHEMA, SizeProfile, SpaceProfile,
};
pub use self::space::ALIGNMENTS;
pub use self::summary::{SizeCount, Sizes, Summary};
pub use crate::metrics::histogram::LogHistogram;
