//! One synthetic load being generated.

use crate::base::error::{Error, InputError};
use crate::base::units::{Lbn, Time};
use crate::engine::request::{Command, Op};

use super::super::Arrival;
use super::address::Addresses;
use super::arrivals::{ArrivalsSpec, Clock};
use super::operations::Operations;
use super::scope::Scope;
use super::size::Sizes;
use super::spec::LoadSpec;
use super::think::{Think, ThinkSpec};

/// A load, and how far it has come.
pub struct Load {
    /// Requests that are left; without a number, as many as there are taken.
    left: u64,
    clock: Clock,
    operations: Operations,
    sizes: Sizes,
    addresses: Addresses,
    think: Think,
    scope: Scope,
}

impl Load {
    /// Prepares the load for a drive of `capacity` blocks.
    ///
    /// # Errors
    /// A value that makes no sense or does not fit the drive; the message names its key.
    pub fn new(spec: &LoadSpec, scope: Scope, capacity: u64) -> Result<Load, InputError> {
        let sizes = Sizes::new(&spec.size, &scope, capacity)?;
        let think = match &spec.arrivals {
            ArrivalsSpec::Closed(closed) => closed.think,
            _ => ThinkSpec::default(),
        };
        Ok(Load {
            left: spec.requests.unwrap_or(u64::MAX),
            clock: Clock::new(&spec.arrivals, &scope)?,
            operations: Operations::new(spec, &scope)?,
            addresses: Addresses::new(&spec.address, sizes.all(), &scope, capacity)?,
            sizes,
            think: Think::new(think, scope.stream("think")),
            scope,
        })
    }

    /// The next request.
    ///
    /// # Errors
    /// The arrivals have run past the end of time.
    pub fn draw(&mut self) -> Result<Option<Arrival>, Error> {
        let mut next = Arrival::default();
        Ok(self.fill(&mut next)?.then_some(next))
    }

    /// [`Self::draw`], written where it is wanted: `false` after the last request.
    ///
    /// # Errors
    /// As [`Self::draw`].
    #[inline]
    pub fn fill(&mut self, next: &mut Arrival) -> Result<bool, Error> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        next.at = self.clock.next().ok_or_else(|| too_long(&self.scope))?;
        let (op, fua) = self.operations.next();
        next.command.op = op;
        if op == Op::Flush {
            next.command.fua = false;
            next.command.lbn = Lbn(0);
            next.command.blocks = 0;
        } else {
            let size = self.sizes.next(op);
            next.command.fua = fua;
            next.command.lbn = self.addresses.next(op, size);
            next.command.blocks = self.sizes.blocks(size);
        }
        next.stream = self.scope.number;
        Ok(true)
    }

    /// The places of its first size, as reads, from the most popular one on, where it prefers some.
    pub fn popular_places(&self) -> Option<impl Iterator<Item = Command> + '_> {
        let places = self.addresses.popular_places(0)?;
        let blocks = self.sizes.blocks(0);
        Some(places.map(move |lbn| Command {
            op: Op::Read,
            fua: false,
            lbn,
            blocks,
        }))
    }

    /// Whether no request is left.
    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.left == 0
    }

    /// Whether the next request is a flush that follows a number of writes.
    #[inline]
    pub fn has_flush_next(&self) -> bool {
        self.operations.has_flush_next()
    }

    /// What the user should know of the requests so far.
    pub fn warning(&self) -> Option<String> {
        self.addresses.warning()
    }

    /// How long a user of the load thinks now.
    #[inline]
    pub fn think(&mut self) -> Time {
        self.think.next()
    }
}

#[cold]
fn too_long(scope: &Scope) -> Error {
    scope
        .wrong(
            "arrivals",
            ": the requests take more than 584 years to arrive",
        )
        .into()
}
