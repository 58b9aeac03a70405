//! Synthetic load: arrivals, operations, sizes and addresses drawn from named streams.
//!
//! A pattern of addresses is one file here and one line in `address`.

mod address;
mod arrivals;
mod sequential;
mod size;
mod uniform;

use serde::{Deserialize, Serialize};

use crate::error::{Error, InputError};
use crate::random::Stream;
use crate::request::{Command, Op};
use crate::units::Share;

use self::address::Addresses;
use self::arrivals::Clock;
use self::size::Sizes;
use super::{Arrival, Pacing};

pub use self::address::AddressSpec;
pub use self::arrivals::{ArrivalsSpec, ClosedParams};
pub use self::sequential::SequentialParams;
pub use self::size::{SizeShare, SizeSpec};
pub use self::uniform::UniformParams;

/// The `[workload.synthetic]` part of a spec.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticSpec {
    /// How many requests.
    pub requests: u64,
    /// When they arrive.
    pub arrivals: ArrivalsSpec,
    /// The share of reads; the rest are writes.
    #[serde(default = "all_reads")]
    pub reads: Share,
    /// How large they are.
    #[serde(default)]
    pub size: SizeSpec,
    /// Where they are.
    #[serde(default)]
    pub address: AddressSpec,
}

fn all_reads() -> Share {
    Share::new(1.0).expect("1 is a share")
}

/// A synthetic load being generated.
pub struct Synthetic {
    left: u64,
    total: u64,
    clock: Clock,
    reads: f64,
    coin: Stream,
    sizes: Sizes,
    addresses: Addresses,
}

impl Synthetic {
    /// Prepares the load for a drive of `capacity` blocks.
    ///
    /// # Errors
    /// A value that makes no sense or does not fit the drive; the message names its key.
    pub fn new(spec: &SyntheticSpec, seed: u64, capacity: u64) -> Result<Synthetic, InputError> {
        let sizes = Sizes::new(&spec.size, seed, capacity)?;
        let addresses = Addresses::new(&spec.address, sizes.all(), seed, capacity)?;
        Ok(Synthetic {
            left: spec.requests,
            total: spec.requests,
            clock: Clock::new(&spec.arrivals, seed)?,
            reads: spec.reads.value(),
            coin: Stream::new(seed, "workload.reads"),
            sizes,
            addresses,
        })
    }

    /// How the host is to pull.
    pub fn pacing(&self) -> Pacing {
        self.clock.pacing()
    }

    /// How many requests there are in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The next request.
    ///
    /// # Errors
    /// The arrivals have run past the end of time.
    #[inline]
    pub fn draw(&mut self) -> Result<Option<Arrival>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let at = self.clock.next()?;
        let op = if self.coin.unit() < self.reads {
            Op::Read
        } else {
            Op::Write
        };
        let size = self.sizes.next();
        let command = Command {
            op,
            fua: false,
            lbn: self.addresses.next(size),
            blocks: self.sizes.blocks(size),
        };
        Ok(Some(Arrival { at, command }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn spec(text: &str) -> SyntheticSpec {
        toml::from_str(text).unwrap()
    }

    fn generate(spec: &SyntheticSpec, seed: u64) -> Vec<Arrival> {
        let mut load = Synthetic::new(spec, seed, 1_000_000).unwrap();
        std::iter::from_fn(|| load.draw().unwrap()).collect()
    }

    #[test]
    fn defaults_are_written_out() {
        let read = spec("requests = 5\narrivals = { constant = '1 ms' }");
        let text = toml::to_string(&read).unwrap();
        for part in [
            "reads = 1.0",
            "size = \"8 blocks\"",
            "[address.uniform]",
            "from = 0",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(spec(&text), read);
        for bad in [
            "requests = 5",
            "arrivals = { constant = '1 ms' }",
            "requests = 5\narrivals = { constant = '1 ms' }\nsizes = 1",
        ] {
            assert!(toml::from_str::<SyntheticSpec>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_load_and_another_another() {
        let spec = spec("requests = 1000\narrivals = { poisson = '1 ms' }\nreads = 0.5");
        assert_eq!(generate(&spec, 1), generate(&spec, 1));
        assert_ne!(generate(&spec, 1), generate(&spec, 2));
        assert_eq!(generate(&spec, 1).len(), 1000);
    }

    #[test]
    fn one_quantity_does_not_disturb_another() {
        let base = generate(
            &spec("requests = 100\narrivals = { poisson = '1 ms' }\nreads = 0.5"),
            1,
        );
        let other = generate(
            &spec("requests = 100\narrivals = { poisson = '2 ms' }\nreads = 0.1"),
            1,
        );
        let lbns = |all: &[Arrival]| all.iter().map(|a| a.command.lbn).collect::<Vec<_>>();
        assert_eq!(lbns(&base), lbns(&other));
    }

    #[test]
    fn the_read_share_is_kept() {
        for (share, low, high) in [
            ("0.0", 0, 0),
            ("1.0", 100_000, 100_000),
            ("0.67", 66_400, 67_600),
        ] {
            let spec = spec(
                &format!("requests = 100_000\narrivals = 'closed'\nreads = {share}")
                    .replace("'closed'", "{ closed = {} }"),
            );
            let reads = generate(&spec, 3)
                .iter()
                .filter(|a| a.command.op == Op::Read)
                .count();
            assert!((low..=high).contains(&reads), "{share}: {reads}");
        }
    }

    #[test]
    fn everything_is_on_the_drive_and_in_order() {
        let spec = spec(
            "requests = 10_000\narrivals = { poisson = '1 us' }\nsize = [{ size = '8 blocks', share = 0.7 }, { size = '3 blocks', share = 0.3 }]",
        );
        let mut before = Time::ZERO;
        for arrival in generate(&spec, 1) {
            assert!(arrival.at >= before);
            before = arrival.at;
            let command = arrival.command;
            assert!(command.end().0 <= 1_000_000);
            assert_eq!(command.lbn.0 % u64::from(command.blocks), 0);
        }
    }
}
