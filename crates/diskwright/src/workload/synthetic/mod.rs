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
mod partly_random;
mod permutation;
mod places;
mod plan;
mod rate;
mod refill;
mod scope;
mod sequential;
mod size;
mod spec;
mod start;
mod streams;
mod strided;
mod strided_zones;
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
pub use self::partly_random::PartlyRandomParams;
pub use self::plan::{PauseSpec, Source, StreamPlan};
pub use self::rate::{RateClock, RateSpec};
pub use self::refill::{Refill, RefillSpec};
pub use self::sequential::SequentialParams;
pub use self::size::{SizeByOperation, SizeShare, SizeSpec};
pub use self::spec::{LoadSpec, SyntheticSpec};
pub use self::start::StartSpec;
pub use self::streams::{StreamsParams, Turns};
pub use self::strided::StridedParams;
pub use self::strided_zones::StridedZonesParams;
pub use self::think::ThinkSpec;
pub use self::uniform::UniformParams;
pub(super) use self::zipf::Ranks;
pub use self::zipf::ZipfParams;
pub use self::zones::{Zone, ZonesParams};

/// A synthetic load being generated.
pub struct Synthetic {
    /// The number of requests, where it is known.
    total: Option<u64>,
    /// A load has no number of requests.
    is_endless: bool,
    pacing: Pacing,
    loads: Loads,
    /// Under which names the loads are reported, where they have some.
    names: Vec<String>,
    /// When each begins and ends, where that is planned.
    plans: Vec<StreamPlan>,
}

enum Loads {
    One(Box<Load>),
    /// Several in order of arrival: each one's next request, and which of them is first.
    Merged {
        loads: Vec<(Load, Option<Arrival>)>,
        order: BinaryHeap<Reverse<(Time, usize)>>,
    },
    /// Loads with plans, of which the host asks for requests one by one; whose turn it is when it does not say.
    Planned {
        loads: Vec<Load>,
        turn: usize,
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
            SyntheticSpec::One(one) if one.is_planned() => {
                let scope = Scope::only(seed);
                let plan = one.plan(&scope)?;
                let load = Load::new(one, scope, capacity)?;
                Ok(Synthetic {
                    total: total([&**one]),
                    is_endless: one.requests.is_none(),
                    pacing: Pacing::Planned,
                    loads: Loads::Planned {
                        loads: vec![load],
                        turn: 0,
                    },
                    names: one.reported_as().map(str::to_owned).into_iter().collect(),
                    plans: vec![plan],
                })
            }
            SyntheticSpec::One(one) => {
                let load = Load::new(one, Scope::only(seed), capacity)?;
                Ok(Synthetic {
                    total: one.requests,
                    is_endless: false,
                    pacing: match &one.arrivals {
                        ArrivalsSpec::Closed(closed) => Pacing::Closed {
                            users: closed.users,
                        },
                        _ => Pacing::Open,
                    },
                    loads: Loads::One(Box::new(load)),
                    names: one.reported_as().map(str::to_owned).into_iter().collect(),
                    plans: Vec::new(),
                })
            }
            SyntheticSpec::Several(specs) => Synthetic::several(specs, seed, capacity),
        }
    }

    fn several(specs: &[LoadSpec], seed: u64, capacity: u64) -> Result<Synthetic, InputError> {
        if specs.is_empty() {
            return Err(InputError::new("workload.synthetic.stream has no streams"));
        }
        let closed = |spec: &LoadSpec| matches!(spec.arrivals, ArrivalsSpec::Closed(_));
        let mixed = specs.iter().any(|spec| closed(spec) != closed(&specs[0]));
        let planned = mixed || specs.iter().any(LoadSpec::is_planned);
        let mut names = BTreeSet::new();
        let mut loads = Vec::with_capacity(specs.len());
        let mut plans = Vec::new();
        let mut users = 0u32;
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
            if planned {
                plans.push(spec.plan(&scope)?);
            }
            loads.push((Load::new(spec, scope, capacity)?, users));
        }
        let name = |(index, spec): (usize, &LoadSpec)| match spec.reported_as() {
            Some(name) => name.to_owned(),
            None => format!("stream[{index}]"),
        };
        let only = |loads: Vec<(Load, u32)>| loads.into_iter().map(|(load, _)| load);
        let (pacing, loads) = if planned {
            let loads = only(loads).collect();
            (Pacing::Planned, Loads::Planned { loads, turn: 0 })
        } else if closed(&specs[0]) {
            let users = Some(users);
            (
                Pacing::Closed { users },
                Loads::Populations { loads, turn: 0 },
            )
        } else {
            let merged = Loads::merged(only(loads));
            let merged = merged.map_err(|error| InputError::new(error.to_string()))?;
            (Pacing::Open, merged)
        };
        Ok(Synthetic {
            names: specs.iter().enumerate().map(name).collect(),
            total: total(specs),
            is_endless: specs.iter().any(|spec| spec.requests.is_none()),
            pacing,
            loads,
            plans,
        })
    }

    /// The places of the only load, from the most popular one on, where it prefers some.
    pub fn popular_places(&self) -> Option<impl Iterator<Item = Command> + '_> {
        match &self.loads {
            Loads::One(load) => load.popular_places(),
            Loads::Planned { loads, .. } => match loads.as_slice() {
                [load] => load.popular_places(),
                _ => None,
            },
            Loads::Merged { .. } | Loads::Populations { .. } => None,
        }
    }

    /// How the host is to pull.
    pub fn pacing(&self) -> Pacing {
        self.pacing
    }

    /// The plans of the loads, in their order, where they have some.
    pub fn take_plans(&mut self) -> Vec<StreamPlan> {
        std::mem::take(&mut self.plans)
    }

    /// Under which names the loads are reported, in their order; of a single one, if it has a name.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many requests there are in all, unless time decides.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether a load has no number of requests.
    pub fn is_endless(&self) -> bool {
        self.is_endless
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
            Loads::Planned { loads, .. } => loads.iter().filter_map(Load::warning).collect(),
        }
    }

    /// The next request; of several loads with users, the users take turns, and loads with plans do.
    ///
    /// # Errors
    /// The arrivals have run past the end of time.
    #[inline]
    pub fn draw(&mut self) -> Result<Option<Arrival>, Error> {
        match &mut self.loads {
            Loads::One(load) => load.draw(),
            Loads::Merged { loads, order } => merge(loads, order),
            Loads::Populations { loads, turn } => take_turns(loads, turn),
            Loads::Planned { loads, turn } => {
                let count = loads.len();
                for _ in 0..count {
                    let load = &mut loads[*turn];
                    *turn = (*turn + 1) % count;
                    if let Some(arrival) = load.draw()? {
                        return Ok(Some(arrival));
                    }
                }
                Ok(None)
            }
        }
    }

    /// One of the loads with plans.
    #[inline]
    fn planned(&mut self, stream: u32) -> Option<&mut Load> {
        match &mut self.loads {
            Loads::Planned { loads, .. } => loads.get_mut(stream as usize),
            _ => None,
        }
    }

    /// Writes the next request of a load with a plan: `false` after its last one.
    ///
    /// # Errors
    /// As [`Self::draw`].
    #[inline]
    pub fn fill_of(&mut self, stream: u32, next: &mut Arrival) -> Result<bool, Error> {
        self.planned(stream)
            .map_or(Ok(false), |load| load.fill(next))
    }

    /// Whether a load with a plan has no request left.
    #[inline]
    pub fn is_at_end(&mut self, stream: u32) -> bool {
        self.planned(stream).is_none_or(|load| load.is_at_end())
    }

    /// Whether the next request of a load with a plan is a flush that follows a number of writes.
    #[inline]
    pub fn has_flush_next(&mut self, stream: u32) -> bool {
        self.planned(stream)
            .is_some_and(|load| load.has_flush_next())
    }

    /// Whether it is a single load, of which the next request is the same whoever makes it.
    pub fn is_one_load(&self) -> bool {
        matches!(self.loads, Loads::One(_))
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
            _ => self.fill_of_several(user, next),
        }
    }

    /// The same where there is more than one load.
    #[inline(never)]
    fn fill_of_several(&mut self, user: u32, next: &mut Arrival) -> Result<bool, Error> {
        match &mut self.loads {
            Loads::Populations { loads, .. } => owner(loads, user).fill(next),
            _ => Ok(next.becomes(self.draw()?)),
        }
    }

    /// How long a user thinks now; of loads with plans, one of the stream of this number.
    #[inline]
    pub fn think(&mut self, user: u32) -> Time {
        match &mut self.loads {
            Loads::One(load) => load.think(),
            Loads::Merged { .. } => Time::ZERO,
            Loads::Populations { loads, .. } => owner(loads, user).think(),
            Loads::Planned { loads, .. } => loads[user as usize].think(),
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

/// The number of requests of all loads, unless time decides.
fn total<'a>(specs: impl IntoIterator<Item = &'a LoadSpec>) -> Option<u64> {
    let of = |spec: &LoadSpec| spec.requests.filter(|_| spec.duration.is_none());
    let mut all = specs.into_iter().map(of);
    all.try_fold(0u64, |sum, requests| Some(sum.saturating_add(requests?)))
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
