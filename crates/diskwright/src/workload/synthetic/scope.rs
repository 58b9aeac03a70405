//! Where in the spec a load stands, and from which random streams it draws.

use crate::base::error::InputError;
use crate::base::random::Stream;

/// One load of a spec.
#[derive(Clone, Debug)]
pub struct Scope {
    seed: u64,
    /// The load's path in the spec.
    path: String,
    /// What the names of its random streams begin with.
    streams: String,
    /// Which of several loads it is.
    pub number: u32,
}

impl Scope {
    /// The only load of a spec.
    pub fn only(seed: u64) -> Scope {
        Scope {
            seed,
            path: "workload.synthetic".to_owned(),
            streams: "workload".to_owned(),
            number: 0,
        }
    }

    /// The load of index `index` among several; `name` decides what it draws, so that others can come and go.
    pub fn among_several(seed: u64, index: usize, name: Option<&str>) -> Scope {
        let streams = match name {
            Some(name) => format!("workload.stream.{name}"),
            None => format!("workload.stream[{index}]"),
        };
        Scope {
            seed,
            path: format!("workload.synthetic.stream[{index}]"),
            streams,
            number: index as u32,
        }
    }

    /// The random stream of one quantity.
    pub fn stream(&self, quantity: &str) -> Stream {
        Stream::new(self.seed, &format!("{}.{quantity}", self.streams))
    }

    /// The path of a key of the load.
    pub fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// An error about a key: `key is 0: expected …`, or `key: what is wrong`.
    pub fn wrong(&self, key: &str, what: impl std::fmt::Display) -> InputError {
        InputError::new(format!("{}{what}", self.key(key)))
    }
}
