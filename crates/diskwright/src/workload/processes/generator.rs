//! One generator: its requests, one after the other.

use super::distribution::DistributionSpec;
use super::random::Random48;
use super::spec::GeneratorSpec;
use crate::base::error::InputError;
use crate::engine::request::Class;

/// So many draws in a row of which none can be taken mean that none ever can.
const MOST_DRAWS: u32 = 1_000_000;

/// A request in the generator's own terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draft {
    /// How long the process computes before it, in ms.
    pub gap_ms: f64,
    /// From when on the process waits for it if it is still under way, in ms after it was made; of a time-limited request.
    pub limit_ms: Option<f64>,
    /// Whether, and when, it is waited for.
    pub class: Class,
    /// Which of the generator's devices it is for, from 0.
    pub device: usize,
    /// Its first block, in units.
    pub place: i64,
    /// Its size, in units.
    pub size: i64,
    /// A read; a write otherwise.
    pub is_read: bool,
}

/// A generator and its previous request.
#[derive(Clone, Debug)]
pub struct Generator {
    spec: GeneratorSpec,
    /// Its number, for errors.
    index: usize,
    /// The units of each device.
    units: i64,
    /// The blocks of a unit.
    unit: i64,
    devices: usize,
    previous: Option<Draft>,
}

impl Generator {
    /// The generator of number `index`, which uses `blocks` blocks of each of `devices` devices; its spec has been checked.
    ///
    /// # Errors
    /// A request does not fit.
    pub fn new(
        spec: &GeneratorSpec,
        index: usize,
        devices: usize,
        blocks: u64,
    ) -> Result<Generator, InputError> {
        let unit = spec.unit.blocks();
        let units = blocks / unit;
        // A request ends before the last unit.
        if units < 2 {
            return Err(GeneratorSpec::wrong(
                index,
                format_args!(
                    "capacity is {blocks} blocks: expected 2 units of {unit} blocks or more"
                ),
            ));
        }
        Ok(Generator {
            spec: spec.clone(),
            index,
            units: i64::try_from(units).unwrap_or(i64::MAX),
            unit: unit as i64,
            devices,
            previous: None,
        })
    }

    /// The blocks of a unit.
    pub fn unit(&self) -> u64 {
        self.unit as u64
    }

    /// Draws the next request. The order of the draws is DiskSim's.
    ///
    /// # Errors
    /// A distribution has nothing that fits.
    pub fn next(&mut self, random: &mut Random48) -> Result<Draft, InputError> {
        let mut draft = self.place(random)?;
        let kind = random.uniform() - self.spec.critical.value();
        if kind < 0.0 {
            draft.class = Class::Critical;
        } else if kind < self.spec.limited.value() {
            draft.class = Class::Limited;
            let limit = self.spec.limit_ms.as_ref();
            let limit = limit.expect("a generator with limited requests has their times");
            draft.limit_ms = Some(self.not_negative("limit_ms", limit, random)?);
        }
        self.previous = Some(draft);
        Ok(draft)
    }

    fn place(&self, random: &mut Random48) -> Result<Draft, InputError> {
        let Some(previous) = self.previous else {
            return self.anywhere(random);
        };
        let (sequential, local) = (self.spec.sequential.value(), self.spec.local.value());
        let kind = random.uniform();
        if kind < sequential && previous.place + 2 * previous.size < self.units {
            let gap = self.spec.sequential_gap_ms.as_ref();
            let gap = gap.unwrap_or(&self.spec.gap_ms);
            return Ok(Draft {
                gap_ms: self.not_negative("sequential_gap_ms", gap, random)?,
                place: previous.place + previous.size,
                class: Class::Plain,
                limit_ms: None,
                ..previous
            });
        }
        if sequential <= kind && kind < sequential + local {
            return self.nearby(&previous, random);
        }
        self.anywhere(random)
    }

    /// A request at a distance from the previous one.
    fn nearby(&self, previous: &Draft, random: &mut Random48) -> Result<Draft, InputError> {
        let gap = self.spec.local_gap_ms.as_ref();
        let gap_ms = self.not_negative("local_gap_ms", gap.unwrap_or(&self.spec.gap_ms), random)?;
        let distance = self.spec.distance_blocks.as_ref();
        let distance = distance.expect("a generator with local requests has their distances");
        let (place, size) = self.fitting("distance_blocks and size_blocks", random, |random| {
            let distance = whole(distance.draw(random)) / self.unit;
            previous.place.saturating_add(distance)
        })?;
        Ok(Draft {
            gap_ms,
            limit_ms: None,
            class: Class::Plain,
            device: previous.device,
            place,
            size,
            is_read: random.uniform() < self.spec.reads.value(),
        })
    }

    /// A request anywhere on any device.
    fn anywhere(&self, random: &mut Random48) -> Result<Draft, InputError> {
        let gap_ms = self.not_negative("gap_ms", &self.spec.gap_ms, random)?;
        let device = (random.uniform() * self.devices as f64) as usize;
        let (place, size) = self.fitting("size_blocks", random, |random| {
            whole(random.uniform() * self.units as f64)
        })?;
        Ok(Draft {
            gap_ms,
            limit_ms: None,
            class: Class::Plain,
            device,
            place,
            size,
            is_read: random.uniform() < self.spec.reads.value(),
        })
    }

    /// Draws a place and a size until both fit.
    fn fitting(
        &self,
        keys: &str,
        random: &mut Random48,
        place: impl Fn(&mut Random48) -> i64,
    ) -> Result<(i64, i64), InputError> {
        for _ in 0..MOST_DRAWS {
            let place = place(random);
            let blocks = whole(self.spec.size_blocks.draw(random));
            // Towards zero, as the division of DiskSim's.
            let size = blocks.saturating_add(self.unit - 1) / self.unit;
            let is_small = size <= i64::from(u32::MAX) / self.unit;
            if place >= 0 && size > 0 && is_small && place.saturating_add(size) < self.units {
                return Ok((place, size));
            }
        }
        let (units, unit) = (self.units, self.unit);
        Err(GeneratorSpec::wrong(
            self.index,
            format_args!(
                "{keys}: none of {MOST_DRAWS} draws is a request on {units} units of {unit} blocks: expected sizes above 0 that end before the last unit"
            ),
        ))
    }

    /// Draws until the number is not negative.
    fn not_negative(
        &self,
        key: &str,
        distribution: &DistributionSpec,
        random: &mut Random48,
    ) -> Result<f64, InputError> {
        let mut draws = (0..MOST_DRAWS).map(|_| distribution.draw(random));
        draws.find(|&drawn| drawn >= 0.0).ok_or_else(|| {
            GeneratorSpec::wrong(
                self.index,
                format_args!(
                    "{key}: all of {MOST_DRAWS} draws are negative: expected times of 0 or more"
                ),
            )
        })
    }
}

/// The whole part of a number; the nearest there is of one that is out of range.
fn whole(number: f64) -> i64 {
    number as i64
}
