//! Synthetic load: arrivals, operations, sizes and addresses drawn from named streams, of one load or several at once.
//!
//! A pattern of addresses is one file here and one line in `address`.

mod address;
mod arrivals;
mod exponential_sizes;
mod fio_normal;
mod fio_pareto;
mod fio_zipf;
mod growing;
mod hot_cold;
mod load;
mod local;
mod on_off;
mod operations;
mod permutation;
mod places;
mod scope;
mod sequential;
mod size;
mod spec;
mod streams;
mod strided;
mod think;
mod uniform;
mod zipf;
mod zones;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::base::error::{Error, InputError};
use crate::base::units::Time;
use crate::engine::request::Command;

use self::load::Load;
use self::scope::Scope;
use super::{Arrival, Pacing};

pub use self::address::AddressSpec;
pub use self::arrivals::{ArrivalsSpec, ClosedParams, UniformGaps};
pub use self::exponential_sizes::ExponentialSizes;
pub use self::fio_normal::FioNormalParams;
pub use self::fio_pareto::FioParetoParams;
pub use self::fio_zipf::FioZipfParams;
pub use self::growing::GrowingParams;
pub use self::hot_cold::HotColdParams;
pub use self::local::{Distances, LocalParams};
pub use self::on_off::{Lengths, OnOffParams};
pub use self::sequential::SequentialParams;
pub use self::size::{SizeByOperation, SizeShare, SizeSpec};
pub use self::spec::{LoadSpec, SyntheticSpec};
pub use self::streams::{StreamsParams, Turns};
pub use self::strided::StridedParams;
pub use self::think::ThinkSpec;
pub use self::uniform::UniformParams;
pub(super) use self::zipf::Ranks;
pub use self::zipf::ZipfParams;
pub use self::zones::{Zone, ZonesParams};

/// A synthetic load being generated.
pub struct Synthetic {
    total: u64,
    pacing: Pacing,
    loads: Loads,
    /// The names of several loads.
    names: Vec<String>,
}

enum Loads {
    One(Box<Load>),
    /// Several in order of arrival: each one's next request, and which of them is first.
    Merged {
        loads: Vec<(Load, Option<Arrival>)>,
        order: BinaryHeap<Reverse<(Time, usize)>>,
    },
    /// Several populations of users: each load, and the number of the first user after its own.
    Populations {
        loads: Vec<(Load, u32)>,
        /// Whose turn it is when nobody says.
        turn: u32,
    },
}

impl Synthetic {
    /// Prepares the load for a drive of `capacity` blocks.
    ///
    /// # Errors
    /// A value that makes no sense or does not fit the drive; the message names its key.
    pub fn new(spec: &SyntheticSpec, seed: u64, capacity: u64) -> Result<Synthetic, InputError> {
        match spec {
            SyntheticSpec::One(one) => {
                let load = Load::new(one, Scope::only(seed), capacity)?;
                Ok(Synthetic {
                    total: one.requests,
                    pacing: match &one.arrivals {
                        ArrivalsSpec::Closed(closed) => Pacing::Closed {
                            users: closed.users,
                        },
                        _ => Pacing::Open,
                    },
                    loads: Loads::One(Box::new(load)),
                    names: Vec::new(),
                })
            }
            SyntheticSpec::Several(specs) => Synthetic::several(specs, seed, capacity),
        }
    }

    fn several(specs: &[LoadSpec], seed: u64, capacity: u64) -> Result<Synthetic, InputError> {
        if specs.is_empty() {
            return Err(InputError::new("workload.synthetic.stream has no streams"));
        }
        let mut names = BTreeSet::new();
        let mut loads = Vec::with_capacity(specs.len());
        let mut users = 0u32;
        let closed = |spec: &LoadSpec| matches!(spec.arrivals, ArrivalsSpec::Closed(_));
        for (index, spec) in specs.iter().enumerate() {
            let scope = Scope::among_several(seed, index, spec.name.as_deref());
            if let Some(name) = &spec.name
                && !names.insert(name)
            {
                return Err(scope.wrong(
                    "name",
                    format_args!(" is {name:?}, as that of a stream before"),
                ));
            }
            if closed(spec) != closed(&specs[0]) {
                return Err(scope
                    .wrong(
                        "arrivals",
                        ": streams with users (closed) and streams with arrival times cannot be mixed",
                    )
                    .help("give all of them users, or none"));
            }
            if let ArrivalsSpec::Closed(closed) = &spec.arrivals {
                let own = closed.users.ok_or_else(|| {
                    scope.wrong(
                        "arrivals",
                        ": closed.users is missing: each of several streams has its own",
                    )
                })?;
                users = users.checked_add(own).ok_or_else(|| {
                    scope.wrong(
                        "arrivals",
                        ": closed.users of all streams are more than 4294967295",
                    )
                })?;
            }
            loads.push((Load::new(spec, scope, capacity)?, users));
        }
        let total = specs
            .iter()
            .fold(0u64, |sum, spec| sum.saturating_add(spec.requests));
        let closed = closed(&specs[0]);
        let name = |(index, spec): (usize, &LoadSpec)| match &spec.name {
            Some(name) => name.clone(),
            None => format!("stream[{index}]"),
        };
        Ok(Synthetic {
            names: specs.iter().enumerate().map(name).collect(),
            total,
            pacing: if closed {
                Pacing::Closed { users: Some(users) }
            } else {
                Pacing::Open
            },
            loads: if closed {
                Loads::Populations { loads, turn: 0 }
            } else {
                Loads::merged(loads.into_iter().map(|(load, _)| load))
                    .map_err(|error| InputError::new(error.to_string()))?
            },
        })
    }

    /// The places of the only load, from the most popular one on, where it prefers some.
    pub fn popular_places(&self) -> Option<impl Iterator<Item = Command> + '_> {
        match &self.loads {
            Loads::One(load) => load.popular_places(),
            Loads::Merged { .. } | Loads::Populations { .. } => None,
        }
    }

    /// How the host is to pull.
    pub fn pacing(&self) -> Pacing {
        self.pacing
    }

    /// The names of the loads, where there are several.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many requests there are in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What the user should know of the requests so far.
    pub fn warnings(&self) -> Vec<String> {
        match &self.loads {
            Loads::One(load) => load.warning().into_iter().collect(),
            Loads::Merged { loads, .. } => loads
                .iter()
                .filter_map(|(load, _)| load.warning())
                .collect(),
            Loads::Populations { loads, .. } => loads
                .iter()
                .filter_map(|(load, _)| load.warning())
                .collect(),
        }
    }

    /// The next request; of several loads with users, the users take turns.
    ///
    /// # Errors
    /// The arrivals have run past the end of time.
    #[inline]
    pub fn draw(&mut self) -> Result<Option<Arrival>, Error> {
        match &mut self.loads {
            Loads::One(load) => load.draw(),
            Loads::Merged { loads, order } => merge(loads, order),
            Loads::Populations { loads, turn } => take_turns(loads, turn),
        }
    }

    /// Writes the next request of a user, from 0, where it is wanted: `false` when the user's load is at its end; of loads without users that of
    /// [`Self::draw`].
    ///
    /// # Errors
    /// As [`Self::draw`].
    #[inline(always)]
    pub fn fill_for(&mut self, user: u32, next: &mut Arrival) -> Result<bool, Error> {
        match &mut self.loads {
            Loads::One(load) => load.fill(next),
            Loads::Populations { loads, .. } => owner(loads, user).fill(next),
            Loads::Merged { .. } => Ok(next.becomes(self.draw()?)),
        }
    }

    /// How long a user thinks now.
    #[inline]
    pub fn think(&mut self, user: u32) -> Time {
        match &mut self.loads {
            Loads::One(load) => load.think(),
            Loads::Merged { .. } => Time::ZERO,
            Loads::Populations { loads, .. } => owner(loads, user).think(),
        }
    }
}

impl Loads {
    fn merged(loads: impl Iterator<Item = Load>) -> Result<Loads, Error> {
        let mut order = BinaryHeap::new();
        let loads = loads.enumerate().map(|(index, mut load)| {
            let next = load.draw()?;
            order.extend(next.map(|next| Reverse((next.at, index))));
            Ok((load, next))
        });
        Ok(Loads::Merged {
            loads: loads.collect::<Result<_, Error>>()?,
            order,
        })
    }
}

/// The earliest request; of several at one instant, that of the load that stands first.
fn merge(
    loads: &mut [(Load, Option<Arrival>)],
    order: &mut BinaryHeap<Reverse<(Time, usize)>>,
) -> Result<Option<Arrival>, Error> {
    let Some(Reverse((_, index))) = order.pop() else {
        return Ok(None);
    };
    let (load, next) = &mut loads[index];
    let first = next.take();
    *next = load.draw()?;
    order.extend(next.map(|next| Reverse((next.at, index))));
    Ok(first)
}

/// The load that a user belongs to.
#[inline]
fn owner(loads: &mut [(Load, u32)], user: u32) -> &mut Load {
    let index = loads.partition_point(|(_, end)| *end <= user);
    let last = loads.len() - 1;
    &mut loads[index.min(last)].0
}

/// The request of the next user whose load is not at its end.
fn take_turns(loads: &mut [(Load, u32)], turn: &mut u32) -> Result<Option<Arrival>, Error> {
    let users = loads.last().map_or(0, |(_, end)| *end);
    for _ in 0..users {
        let user = *turn;
        *turn = (user + 1) % users;
        if let Some(arrival) = owner(loads, user).draw()? {
            return Ok(Some(arrival));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
